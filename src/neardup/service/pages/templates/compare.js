"use strict";
// Files are read here, in the browser, into the fields; and a passage leads to its twin.
(() => {
  const LONGEST = Number(document.getElementById("compare")?.dataset.longest); // bytes that the service takes
  const PAGES = /\.x?html?$/i;

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
    const field = document.getElementById(name);
    field.value = text;
    field.form.elements[name + "_kind"].value = PAGES.test(file.name) ? "html" : "auto";
    said(name, `${plain(file.name)}, ${count(file.size)} bytes. It is sent when you press Compare.`);
  };

  for (const chosen of document.querySelectorAll("input[type=file]")) {
    const name = chosen.dataset.for;
    const field = document.getElementById(name);
    chosen.closest(".file").hidden = false;
    chosen.addEventListener("change", () => chosen.files.length && read(name, chosen.files[0]));
    field.addEventListener("dragover", (event) => {
      if (!event.dataTransfer.types.includes("Files")) return;
      event.preventDefault();
      field.classList.add("over");
    });
    field.addEventListener("dragleave", () => field.classList.remove("over"));
    field.addEventListener("drop", (event) => {
      field.classList.remove("over");
      if (!event.dataTransfer.files.length) return;
      event.preventDefault();
      read(name, event.dataTransfer.files[0]);
    });
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
