"use strict";
// It is asked for again until it is there; without this script by a link.
setTimeout(() => location.reload(), 2000);
