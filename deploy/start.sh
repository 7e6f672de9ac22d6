#!/bin/sh
# Start neardup with the kernels that the image build compiled.
#
# numba takes a cache only from a folder that it can write, and the image is read-only, so the 10 MB are copied to
# NUMBA_CACHE_DIR first: a tmpfs (20 ms), private to this user, because the files are pickles and a user who may write them
# may run code.
set -eu
umask 077
if [ ! -e "$NUMBA_CACHE_DIR" ]; then
  mkdir -p "$NUMBA_CACHE_DIR"
  cp -R /opt/neardup/kernels/. "$NUMBA_CACHE_DIR"
fi
exec neardup "$@"
