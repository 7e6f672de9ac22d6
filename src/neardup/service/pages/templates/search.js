"use strict";
// The slider: results are grouped anew while it moves. Without this script the button does the same.
(() => {
  const form = document.getElementById("search");
  const slider = document.getElementById("threshold");
  const shown = document.getElementById("threshold-shown");
  let latest = 0; // of several questions the last one counts, whichever is answered first
  let asking = null;
  let drawn = location.search;

  const address = () => "/search?" + new URLSearchParams(new FormData(form));

  const draw = async () => {
    const mine = ++latest;
    const asked = address();
    document.getElementById("results").setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(asked);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (mine !== latest) return;
      document.getElementById("results").replaceWith(page.getElementById("results"));
      document.getElementById("said").replaceChildren(...page.getElementById("said").childNodes);
    } catch {
      if (mine === latest) location.assign(asked); // what is wrong is told by the page itself
      return;
    }
    drawn = new URL(asked, location.href).search;
    slider.defaultValue = new URLSearchParams(drawn).get("threshold");
    // One step back leads to what was there before the slider was touched.
    if (history.state === "slid") history.replaceState("slid", "", asked);
    else history.pushState("slid", "", asked);
  };

  slider.addEventListener("input", () => {
    shown.textContent = slider.value + "%";
    if (!new URLSearchParams(drawn).get("q")) return;
    clearTimeout(asking);
    asking = setTimeout(draw, 80);
  });

  // What was unfolded is unfolded when one comes back.
  const unfolded = () => `neardup-unfolded:${location.search}`;
  const numbers = () => [...document.querySelectorAll("#results details")].flatMap((each, i) => (each.open ? [i] : []));
  document.addEventListener(
    "toggle",
    () => {
      try {
        sessionStorage.setItem(unfolded(), JSON.stringify(numbers()));
      } catch {
        // a browser that keeps nothing
      }
    },
    true,
  );
  const unfold = () => {
    try {
      const groups = document.querySelectorAll("#results details");
      for (const i of JSON.parse(sessionStorage.getItem(unfolded()) || "[]")) if (groups[i]) groups[i].open = true;
    } catch {
      // a browser that keeps nothing
    }
  };
  unfold();

  addEventListener("popstate", () => {
    if (location.search !== drawn) location.reload();
  });

  // A page that comes back from the browser's memory has the slider where it was left, and the results of before.
  addEventListener("pageshow", () => {
    slider.value = slider.defaultValue;
    shown.textContent = slider.value + "%";
  });
})();
