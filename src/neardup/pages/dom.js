"use strict";
// Elements, and text that is shown as text. Documents are untrusted: nothing here takes HTML.

// The value that the page carries under this id.
const carried = (id) => JSON.parse(document.getElementById(id).textContent);

// element("p", {class: "note"}, "text", another, …); an attribute that is null or false is left out.
const element = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") for (const [event, act] of Object.entries(value)) made.addEventListener(event, act);
    else if (name === "style") for (const [property, set] of Object.entries(value)) made.style.setProperty(property, set);
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
};

// Ids, URLs and file names: characters that cannot be seen, or that turn the direction of others, are shown by number.
const plain = (text) =>
  String(text).replace(
    /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
    (found) => "⟨U+" + found.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0") + "⟩",
  );

// What comes from a document or names one, apart from the sentence around it.
const quoted = (text, kind = "bdi") => element(kind, { class: "quoted", dir: "auto" }, text);

const named = (id) => element("bdi", { class: "name" }, plain(id));

// A URL as text; a link only where it is http or https.
const address = (url) =>
  url === null || url === undefined
    ? null
    : /^https?:\/\//i.test(url)
      ? element("a", { href: url, rel: "noreferrer noopener", target: "_blank", class: "name" }, plain(url))
      : element("bdi", { class: "name" }, plain(url));

const count = (n) => Number(n).toLocaleString("en-US");

const share = (part, whole, digits = 1) => {
  if (!whole) return "–";
  const x = (100 * part) / whole;
  if (part > 0 && x < 0.05) return "< 0.1%";
  if (part < whole && x > 99.95) return "> 99.9%";
  return x.toFixed(x === 0 || x === 100 ? 0 : digits) + "%";
};
