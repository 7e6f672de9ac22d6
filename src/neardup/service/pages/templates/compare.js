"use strict";
// Files are read here, in the browser; and a passage leads to its twin.
(() => {
  const form = document.getElementById("compare");
  const LONGEST = Number(form?.dataset.longest); // bytes that the service takes
  const ROOM = 200_000; // characters of a field: browsers take seconds to lay out more, and show what nobody edits
  const ROOM_OF_NAMES = 200; // bytes of all other fields of the form
  const PAGES = /\.x?html?$/i;
  const held = new Map(); // long documents, by the name of their field; they go into the form when it is sent

  const said = (name, text) => {
    document.querySelector(`[data-said="${name}"]`).textContent = text;
  };

  const read = async (name, file) => {
    if (file.size > LONGEST) {
      said(name, `${plain(file.name)} has ${count(file.size)} bytes; ${count(LONGEST)} can be compared here.`);
      return;
    }
    let text;
    try {
      text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    } catch {
      said(name, `${plain(file.name)} is not a text in UTF-8.`);
      return;
    }
    take(name, text);
    form.elements[name + "_kind"].value = PAGES.test(file.name) ? "html" : "auto";
    said(name, `${plain(file.name)}, ${count(file.size)} bytes. It is sent when you press Compare.`);
  };

  const take = (name, text) => {
    const long = text.length > ROOM;
    const field = document.getElementById(name);
    if (long) held.set(name, text);
    else held.delete(name);
    field.value = long ? "" : text;
    field.hidden = field.disabled = long;
    document.querySelector(`[data-held="${name}"]`).hidden = !long;
  };

  // Both documents go in one body, in which signs that are no letters or digits take the room of three.
  form?.addEventListener("submit", (event) => {
    const both = [...form.querySelectorAll("textarea")].map((field) => held.get(field.name) ?? field.value);
    const sizes = both.map((text) => new URLSearchParams({ text }).toString().length);
    const most = Number(form.dataset.body);
    if (sizes[0] + sizes[1] + ROOM_OF_NAMES <= most) return;
    event.preventDefault();
    const larger = sizes[0] >= sizes[1] ? "first" : "second";
    said(larger, `Too long to be sent with the other one: ${count(sizes[0] + sizes[1])} bytes as a form, and ${count(most)} are allowed (--max-body).`);
    document.querySelector(`[data-said="${larger}"]`).scrollIntoView({ block: "nearest" });
  });

  form?.addEventListener("formdata", ({ formData }) => {
    for (const [name, text] of held) formData.set(name, text);
  });

  for (const chosen of document.querySelectorAll("input[type=file]")) {
    const name = chosen.dataset.for;
    const field = document.getElementById(name);
    const side = chosen.closest("fieldset");
    chosen.closest(".file").hidden = false;
    chosen.addEventListener("change", () => chosen.files.length && read(name, chosen.files[0]));
    side.querySelector("[data-held] button").addEventListener("click", () => {
      take(name, "");
      chosen.value = "";
      said(name, "");
      field.focus();
    });
    field.addEventListener("paste", (event) => {
      const text = event.clipboardData.getData("text/plain");
      if (text.length <= ROOM) return;
      event.preventDefault();
      take(name, field.value.slice(0, field.selectionStart) + text + field.value.slice(field.selectionEnd));
      said(name, `${count(held.get(name).length)} characters. They are sent when you press Compare.`);
    });
    side.addEventListener("dragover", (event) => {
      if (!event.dataTransfer.types.includes("Files")) return;
      event.preventDefault();
      field.classList.add("over");
    });
    side.addEventListener("dragleave", () => field.classList.remove("over"));
    side.addEventListener("drop", (event) => {
      field.classList.remove("over");
      if (!event.dataTransfer.files.length) return;
      event.preventDefault();
      read(name, event.dataTransfer.files[0]);
      const other = document.querySelector(`input[type=file]:not([data-for="${name}"])`);
      if (event.dataTransfer.files.length > 1) read(other.dataset.for, event.dataTransfer.files[1]);
    });
  }

  // What was typed is at the end of the page, folded.
  document.getElementById("change")?.addEventListener("click", () => {
    document.getElementById("again").open = true;
  });

  // A way back to the page that led here.
  const back = document.getElementById("back");
  if (back && document.referrer.startsWith(`${location.origin}/`)) {
    back.href = document.referrer;
    back.parentElement.hidden = false;
  }

  const calm = matchMedia("(prefers-reduced-motion: reduce)");

  // To the twin: both are shown, and the keyboard goes on from there.
  const lead = (mark) => {
    const twin = document.getElementById(mark.dataset.twin);
    for (const other of document.querySelectorAll("mark.here")) other.classList.remove("here");
    mark.classList.add("here");
    twin.classList.add("here");
    twin.focus({ preventScroll: true });
    twin.scrollIntoView({ block: "nearest", behavior: calm.matches ? "auto" : "smooth" });
  };

  for (const mark of document.querySelectorAll("mark[data-twin]")) {
    mark.addEventListener("click", (event) => {
      if (!getSelection().isCollapsed && !event.target.closest("a")) return; // somebody selects text
      event.preventDefault();
      lead(mark);
    });
  }
})();
