"use strict";
// Sliders beside the numbers; the curve is asked for again while they move. Without this script a button does the same.
(() => {
  const at = (id) => document.getElementById(id);
  let latest = 0; // of several questions the last one counts, whichever is answered first
  let waiting = null;
  let drawn = location.search;

  const sliders = () => [...document.querySelectorAll("input[data-for]")];

  const prepare = () => {
    for (const slider of sliders()) {
      slider.hidden = false;
      slider.value = at(slider.dataset.for).value;
    }
    at("apply").hidden = true;
    read();
  };

  const address = () => "/tune?" + new URLSearchParams(new FormData(at("tune")));

  // The same page, asked for again: of it, the parts with these ids come in place of those that are here.
  const draw = async (asked, parts) => {
    const mine = ++latest;
    for (const part of parts) at(part).setAttribute("aria-busy", "true");
    let page;
    try {
      const answer = await fetch(asked);
      page = new DOMParser().parseFromString(await answer.text(), "text/html");
    } catch {
      page = null;
    }
    if (mine !== latest) return false;
    if (!page?.getElementById("tuner")) {
      location.assign(asked); // what is wrong is told by the page itself
      return false;
    }
    const place = at("at")?.value;
    const said = page.getElementById("said").textContent;
    for (const part of parts) at(part).replaceWith(page.getElementById(part));
    at("said").textContent = said;
    if (place !== undefined && at("at")) at("at").value = place;
    drawn = new URL(asked, location.href).search;
    return true;
  };

  // One step back leads to what was there before this parameter was touched.
  const moved = (name) => {
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
      const asked = address();
      if (!(await draw(asked, ["picture", "answer", "starts"]))) return;
      if (history.state === name) history.replaceState(name, "", asked);
      else history.pushState(name, "", asked);
      prepare();
    }, 60);
  };

  addEventListener("popstate", async () => {
    clearTimeout(waiting);
    if (location.search !== drawn && (await draw(location.pathname + location.search, ["tuner"]))) prepare();
  });

  // The curve, read at a point: by the slider below it, or under the pointer.
  const read = () => {
    const reader = at("at");
    if (!reader) return;
    reader.closest(".read").hidden = false;
    const points = JSON.parse(reader.dataset.points);
    const heads = JSON.parse(reader.dataset.heads);
    const [height, ...values] = points[reader.value];
    const words = heads.map((head, i) => `${head} ${values[i]}`).join(", ");
    at("read").textContent = words;
    reader.setAttribute("aria-valuetext", words);
    for (const picture of document.querySelectorAll(".curve")) {
      const [left, top, width, tall] = picture.dataset.box.split(" ").map(Number);
      const x = left + (width * reader.value) / (points.length - 1);
      const group = picture.querySelector(".reader");
      group.setAttribute("visibility", "visible");
      const [line, dot] = group.children;
      line.setAttribute("x1", x);
      line.setAttribute("x2", x);
      dot.setAttribute("cx", x);
      dot.setAttribute("cy", top + tall * (1 - (height ?? 0)));
      dot.setAttribute("visibility", height === null ? "hidden" : "inherit");
    }
  };

  const point = (event) => {
    const picture = event.target.closest?.(".curve");
    if (!picture) return;
    const [left, , width] = picture.dataset.box.split(" ").map(Number);
    const box = picture.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * picture.viewBox.baseVal.width;
    at("at").value = Math.round(((x - left) / width) * at("at").max);
    read();
  };
  document.addEventListener("pointermove", point);
  document.addEventListener("pointerdown", point);

  document.addEventListener("input", ({ target }) => {
    if (target.id === "at") read();
    else if (target.dataset.for) {
      at(target.dataset.for).value = target.value;
      moved(target.dataset.for);
    } else if (target.form?.id === "tune") {
      const { badInput, rangeUnderflow, rangeOverflow } = target.validity;
      if (target.value === "" || badInput || rangeUnderflow || rangeOverflow) return; // it is being typed
      for (const slider of sliders()) if (slider.dataset.for === target.name) slider.value = target.value;
      moved(target.name);
    }
  });

  // What was typed and cannot be is told when the field is left.
  document.addEventListener("change", ({ target }) => {
    if (target.type === "number" && target.form?.id === "tune") target.reportValidity();
  });

  document.addEventListener("click", async ({ target }) => {
    if (target.id !== "copy") return;
    try {
      await navigator.clipboard.writeText(at("recipe").textContent);
      at("copied").textContent = "Copied.";
    } catch {
      getSelection().selectAllChildren(at("recipe"));
      at("copied").textContent = "Selected: copy it with Ctrl-C.";
    }
  });

  const offer = () => at("copy") && (at("copy").hidden = false);
  new MutationObserver(offer).observe(document.querySelector("main"), { childList: true, subtree: true });
  offer();
  prepare();
})();
