"use strict";
// The labelling page. Verdicts are on the server's disk before the page shows them; nothing is kept here but the place.

const token = location.hash.slice(1);
const at = (id) => document.getElementById(id);
const judge = document.querySelector("footer.judge");
const verdictButtons = [...document.querySelectorAll("[data-verdict]")];

let state = null; // what the server says
let here = 0; // the number of the pair that is shown
let shown = null; // that pair
let blind = true;
let sending = Promise.resolve();
const taken = []; // for undo: [number, what was said before]
const cache = new Map();

const ask = async (path, body) => {
  const answer = await fetch(path, {
    method: body ? "POST" : "GET",
    headers: { Authorization: `Bearer ${token}`, ...(body ? { "Content-Type": "application/json" } : {}) },
    body: body ? JSON.stringify(body) : undefined,
    cache: "no-store",
  });
  const found = await answer.json().catch(() => ({ error: `the server answers ${answer.status}` }));
  if (!answer.ok) throw new Error(found.error || `the server answers ${answer.status}`);
  return found;
};

const trouble = (error) => {
  at("trouble").hidden = !error;
  at("trouble").textContent = error ? `${error.message === "Failed to fetch" ? "The server does not answer: is neardup audit still running? What is shown as labelled is saved" : error.message}.`.replace(/\.\.$/, ".") : "";
};

const pairOf = (number) => {
  if (!cache.has(number)) {
    const coming = ask(`api/pairs/${number}`);
    cache.set(number, coming);
    coming.catch(() => cache.delete(number));
    if (cache.size > 8) cache.delete(cache.keys().next().value);
  }
  return cache.get(number);
};

const said = (number = here) => state.labels[number];

const percent = (x) => (x === null || x === undefined ? "–" : `${(100 * x).toFixed(1)}\u00a0%`);

const interval = (share) =>
  share.value === null ? "–" : `${percent(share.value)} (${percent(share.low)} to ${percent(share.high)})`;

// Progress

const drawProgress = () => {
  const p = state.precision;
  const bar = document.querySelector(".progress");
  for (const verdict of ["correct", "incorrect", "undecided"])
    bar.querySelector(`.${verdict}`).style.setProperty("width", `${(100 * p[verdict]) / p.drawn}%`);
  bar.setAttribute("aria-valuemax", p.drawn);
  bar.setAttribute("aria-valuenow", p.labelled);
  at("tally").textContent =
    `${count(p.labelled)} of ${count(p.drawn)} labelled: ${count(p.correct)} correct, ${count(p.incorrect)} incorrect, ` +
    `${count(p.undecided)} undecided` + (state.labeller ? ` · ${plain(state.labeller)}` : "");
  at("place").replaceChildren(element("span", { class: "word" }, "Pair "), `${count(here + 1)} of ${count(state.labels.length)}`);
  at("undo").disabled = !taken.length;
  at("back").disabled = here === 0;
  at("forward").disabled = here === state.labels.length - 1;
  at("open").disabled = state.open === null;
  const done = state.open === null;
  at("end").hidden = !done;
  if (done)
    at("end").replaceChildren(
      element("h2", {}, "Every pair has a verdict"),
      element("p", {}, `Of the ${count(p.removed)} removals of this run, ${interval(p.low)} are correct` + (p.undecided ? ` if undecided ones are not, and ${interval(p.high)} if they are.` : ".")),
      element("p", { class: "note" }, "You can still go back and change labels. To use them: neardup audit OUT --export truth.jsonl"),
    );
};

// The pair

const facts = () => {
  const p = shown;
  if (blind && !said()) return [element("span", {}, "Scores are hidden until you give a verdict.")];
  const one = (name, value) => element("span", {}, `${name} `, element("b", {}, value));
  const number = (x) => (x === null ? null : x.toFixed(4).replace(/0+$/, "").replace(/\.$/, ""));
  return [
    one("relation", p.relation),
    p.resemblance === null ? one(p.measured, number(p.score)) : one(p.measured === "estimate" ? "estimated resemblance" : "resemblance", number(p.resemblance)),
    p.first_in_second === null ? null : one("removed in kept", percent(p.first_in_second)),
    p.second_in_first === null ? null : one("kept in removed", percent(p.second_in_first)),
    one("threshold", `${state.truth.unit} ${state.truth.threshold}`),
    element("span", {}, p.sites),
  ].filter(Boolean);
};

const drawFacts = () => document.querySelector(".facts")?.replaceChildren(...facts());

const drawPair = () => {
  const who = (role, id, url) =>
    element("div", {}, element("span", { class: "role" }, role), named(id), url ? element("bdi", { class: "name note" }, plain(url)) : null);
  const cut = shown.cut.first || shown.cut.second;
  const parts = [
    element("div", { class: "who" }, who("Removed", shown.first, shown.first_url), who("Kept in its place", shown.second, shown.second_url)),
    element("p", { class: "facts" }, facts()),
    diffView(shown.segments, ["in the removed one", "in the kept one"]),
    cut ? element("p", { class: "note" }, "Long texts: only their beginnings are compared here.") : null,
    element("div", { class: "below" }, element("button", { id: "texts", "aria-expanded": "false", on: { click: wholeTexts } }, "Whole texts", element("span", { class: "word" }, " (w)"))),
  ];
  at("pair").replaceChildren(...parts.filter(Boolean));
};

const wholeTexts = async () => {
  const button = at("texts");
  const open = document.querySelector(".whole");
  if (open) {
    open.remove();
    button.setAttribute("aria-expanded", "false");
    return;
  }
  const number = here;
  try {
    const texts = await ask(`api/texts/${number}`);
    if (number !== here || document.querySelector(".whole")) return;
    const side = (role, text, length) =>
      element("div", {}, element("h3", {}, role), quoted(text, "div"), length > text.length ? element("p", { class: "note" }, `${count(length - text.length)} more characters are not kept here.`) : null);
    at("pair").append(
      element("div", { class: "whole" }, side("Removed", texts.first, texts.first_length), side("Kept", texts.second, texts.second_length)),
    );
    button.setAttribute("aria-expanded", "true");
  } catch (error) {
    trouble(error);
  }
};

const drawJudge = () => {
  const now = said();
  judge.hidden = false;
  for (const button of verdictButtons) button.setAttribute("aria-pressed", String(now?.verdict === button.dataset.verdict));
  at("why").hidden = !now;
  if (!now) return;
  at("reasons").replaceChildren(
    ...state.reasons[now.verdict].map(([name, words], i) =>
      element("button", { "data-reason": name, "aria-pressed": String(now.reason === name), on: { click: () => give({ reason: name }, true) } }, element("kbd", {}, i + 1), ` ${words}`),
    ),
  );
  if (document.activeElement !== at("note")) at("note").value = now.note || "";
};

const draw = () => {
  drawProgress();
  drawJudge();
  drawFacts();
};

const go = async (number) => {
  if (number < 0 || number >= state.labels.length) return;
  here = number;
  try {
    const found = await pairOf(number);
    if (number !== here) return;
    shown = found;
    trouble(null);
    at("note").blur();
    drawPair();
    draw();
    window.scrollTo(0, 0);
    if (number + 1 < state.labels.length) pairOf(number + 1).catch(() => {});
  } catch (error) {
    trouble(error);
  }
};

// To the next pair without a verdict behind this one; else the first one; else just on.
const onward = () => {
  const next = state.labels.findIndex((label, i) => i > here && !label);
  if (next >= 0) return go(next);
  if (state.open !== null) return go(state.open);
  draw();
  window.scrollTo(0, 0);
  return undefined;
};

// Labels

// One after the other, in the order in which they were given.
const send = (number, label, before, moves) => {
  sending = sending.then(async () => {
    try {
      state = await ask("api/labels", { pair: number, ...label });
      // Verdict, reason and note of one pair are one step back.
      if (before !== undefined && taken.at(-1)?.[0] !== number) taken.push([number, before]);
      trouble(null);
      if (moves && number === here) await onward();
      else draw();
    } catch (error) {
      trouble(error);
    }
  });
  return sending;
};

const give = (what, moves = false) => {
  const before = said();
  const now = before ?? { verdict: null, reason: null, note: "" };
  const verdict = what.verdict ?? now.verdict;
  if (!verdict) return undefined;
  const same = verdict === now.verdict;
  const label = { verdict, reason: what.reason ?? (same ? now.reason : null), note: what.note ?? now.note ?? "" };
  return send(here, label, before, moves);
};

const undo = async () => {
  if (!taken.length) return;
  const [number, before] = taken.pop();
  const label = before ? { verdict: before.verdict, reason: before.reason, note: before.note } : { verdict: null };
  await send(number, label, undefined, false);
  if (number !== here) await go(number);
};

const noted = () => {
  const now = said();
  if (now && at("note").value !== (now.note || "")) return give({ note: at("note").value });
  return sending;
};

const finish = async () => {
  const from = here;
  await noted();
  if (here === from) onward();
};

// Keys

const help = () => {
  const open = at("keys").hidden;
  at("keys").hidden = !open;
  at("help").setAttribute("aria-expanded", String(open));
};

const turnBlind = () => {
  blind = !blind;
  at("blind").setAttribute("aria-pressed", String(blind));
  drawFacts();
};

const KEYS = {
  c: () => give({ verdict: "correct" }),
  i: () => give({ verdict: "incorrect" }),
  u: () => give({ verdict: "undecided" }),
  j: () => go(here + 1),
  k: () => go(here - 1),
  ArrowRight: () => go(here + 1),
  ArrowLeft: () => go(here - 1),
  n: () => state.open !== null && go(state.open),
  z: undo,
  b: turnBlind,
  w: wholeTexts,
  o: () => !at("why").hidden && at("note").focus(),
  Enter: () => said() && finish(),
  "?": help,
};

document.addEventListener("keydown", (event) => {
  if (!state || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (event.target === at("note")) {
    if (event.key === "Enter") {
      event.preventDefault();
      at("note").blur();
      finish();
    } else if (event.key === "Escape") at("note").blur();
    return;
  }
  if (event.key === "Enter" && event.target.tagName === "BUTTON") return; // it presses the button
  if (event.key === "Escape" && !at("keys").hidden) help();
  const reasons = [...at("reasons").children];
  const act = /^[1-9]$/.test(event.key) ? !at("why").hidden && reasons[Number(event.key) - 1] && (() => reasons[Number(event.key) - 1].click()) : KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

for (const button of verdictButtons) button.addEventListener("click", () => give({ verdict: button.dataset.verdict }));
at("note").addEventListener("change", noted);
at("on").addEventListener("click", finish);
at("back").addEventListener("click", () => go(here - 1));
at("forward").addEventListener("click", () => go(here + 1));
at("open").addEventListener("click", KEYS.n);
at("undo").addEventListener("click", undo);
at("blind").addEventListener("click", turnBlind);
at("help").addEventListener("click", help);

const row = (keys, words) => [element("dt", {}, keys.map((key) => [element("kbd", {}, key), " "])), element("dd", {}, words)];
at("keys").append(
  element("h2", {}, "What the verdicts mean"),
  element(
    "dl",
    {},
    row(["c"], "Correct: to a reader the same. They differ by a time stamp, counter, session id, address, invisibly, or by a small edit."),
    row(["i"], "Incorrect: their main content differs, as with two products on pages of one shop."),
    row(["u"], "Undecided: a prefilled form, a minor item, or a pair that you cannot evaluate."),
  ),
  element("h2", {}, "Keys"),
  element(
    "dl",
    {},
    row(["1", "…"], "Give the reason, and go on to the next open pair"),
    row(["Enter"], "Go on without a reason"),
    row(["o"], "Write a note"),
    row(["→", "←"], "Next pair, pair before (j, k)"),
    row(["n"], "First pair without a verdict"),
    row(["z"], "Take the last label back"),
    row(["w"], "Whole texts"),
    row(["b"], "Hide or show scores before the verdict"),
    row(["?"], "This help"),
  ),
  element("p", { class: "note" }, "Every verdict is saved as soon as it is given. You can close the page and go on another day."),
);

const start = async () => {
  try {
    state = await ask("api/state");
    await go(state.open ?? 0);
  } catch (error) {
    trouble(error);
  }
};
start();
