"use strict";
// The labelling page. Verdicts are on the server's disk before the page shows them. Kept here: the place, and notes on
// pairs without a verdict, which are saved with it.

// A site that has this page among others says where to ask, and knows by itself who asks.
const site = document.querySelector("[data-api]");
const api = site ? site.dataset.api : "api";
const token = site ? "" : location.hash.slice(1);
const at = (id) => document.getElementById(id);
const judge = document.querySelector("footer.judge");
const verdictButtons = [...document.querySelectorAll("[data-verdict]")];

let state = null; // what the server says
let shown = null; // the pair on screen: verdicts are about this one
let here = 0; // the number of the pair that is wanted: another one while it is on its way
let visit = 0; // counts the moves from pair to pair
let leaving = false; // a label is being saved, and then another pair comes
let blind = true;
let sending = Promise.resolve();
let noteWanted = false; // asked for while another pair is on its way
const drafts = new Map(); // notes on pairs that have no verdict yet, by number
const taken = []; // for undo: {number, before: what was said before, visit}
const cache = new Map();

const ask = async (path, body) => {
  const answer = await fetch(`${api}/${path}`, {
    method: body ? "POST" : "GET",
    headers: { ...(token ? { Authorization: `Bearer ${token}` } : {}), ...(body ? { "Content-Type": "application/json" } : {}) },
    body: body ? JSON.stringify(body) : undefined,
    cache: "no-store",
  });
  const found = await answer.json().catch(() => ({ error: `the server answers ${answer.status}` }));
  if (!answer.ok) throw new Error(found.error || found.detail || `the server answers ${answer.status}`);
  return found;
};

const trouble = (error) => {
  at("trouble").hidden = !error;
  at("trouble").textContent = error ? `${error.message === "Failed to fetch" ? "The server does not answer: is neardup still running? What is shown as labelled is saved" : error.message}.`.replace(/\.\.$/, ".") : "";
};

const pairOf = (number) => {
  if (!cache.has(number)) {
    const coming = ask(`pairs/${number}`);
    cache.set(number, coming);
    coming.catch(() => cache.delete(number));
    if (cache.size > 8) cache.delete(cache.keys().next().value);
  }
  return cache.get(number);
};

const said = (number = shown.number) => state.labels[number];

// Whether the pair on screen is the one that is wanted. What is typed while another one comes would be about a pair that
// nobody has seen yet, or that was done with: it counts for nothing.
const settled = () => shown !== null && shown.number === here && !leaving;

// Children as element() takes them: null is nothing, not the word.
const fill = (node, ...children) => node.replaceChildren(...element("div", {}, ...children).childNodes);

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
  fill(at("place"), element("span", { class: "word" }, "Pair "), `${count(shown.number + 1)} of ${count(state.labels.length)}`);
  at("undo").disabled = !taken.length;
  at("back").disabled = here === 0;
  at("forward").disabled = here === state.labels.length - 1;
  at("open").disabled = state.open === null;
  const done = state.open === null;
  at("end").hidden = !done;
  if (done)
    fill(
      at("end"),
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
    one("threshold", `${state.truth.unit} ${state.truth.threshold}` + (state.truth.same_site ? `, on one host ${state.truth.same_site}` : "")),
    element("span", {}, p.sites),
  ];
};

const drawFacts = () => {
  const line = document.querySelector(".facts");
  if (line) fill(line, facts());
};

const drawPair = () => {
  const who = (role, id, url) =>
    element("div", {}, element("span", { class: "role" }, role), named(id), url ? element("bdi", { class: "name note" }, plain(url)) : null);
  const { cut, left_out: left } = shown;
  const long = [["removed", left.first], ["kept", left.second]].filter(([, bytes]) => bytes !== null);
  fill(
    at("pair"),
    element("div", { class: "who" }, who("Removed", shown.first, shown.first_url), who("Kept in its place", shown.second, shown.second_url)),
    element("p", { class: "facts" }, facts()),
    long.length
      ? element("p", { class: "trouble" }, `The text of the ${long.map(([role, bytes]) => `${role} document (${count(bytes)} bytes)`).join(" and the ")} is too long to be shown here, so there are no differences to look at. Judge by the documents themselves, or say undecided.`)
      : diffView(shown.segments, ["in the removed one", "in the kept one"]),
    cut.first || cut.second ? element("p", { class: "note" }, "Long texts: only their beginnings are compared here.") : null,
    element("div", { class: "below" }, element("button", { id: "texts", "aria-expanded": "false", on: { click: wholeTexts } }, "Whole texts", element("span", { class: "word" }, " (w)"))),
  );
};

const wholeTexts = async () => {
  if (!shown) return;
  const button = at("texts");
  const open = document.querySelector(".whole");
  if (open) {
    open.remove();
    button.setAttribute("aria-expanded", "false");
    return;
  }
  const { number } = shown;
  try {
    const texts = await ask(`texts/${number}`);
    if (number !== shown.number || document.querySelector(".whole")) return;
    const side = (role, text, length) =>
      element("div", {}, element("h3", {}, role), text === null ? element("p", { class: "note" }, `${count(length)} bytes, too many to be kept here.`) : quoted(text, "div"), text !== null && length > text.length ? element("p", { class: "note" }, `${count(length - text.length)} more characters are not kept here.`) : null);
    at("pair").append(
      element("div", { class: "whole" }, side("Removed", texts.first, texts.first_length), side("Kept", texts.second, texts.second_length)),
    );
    button.setAttribute("aria-expanded", "true");
  } catch (error) {
    trouble(error);
  }
};

// Reasons and note: once there is a verdict, or a note on the way to one.
const drawWhy = () => {
  at("why").hidden = !said() && !at("note").value && document.activeElement !== at("note");
};

const drawJudge = () => {
  const now = said();
  judge.hidden = false;
  for (const button of verdictButtons) button.setAttribute("aria-pressed", String(now?.verdict === button.dataset.verdict));
  if (document.activeElement !== at("note")) at("note").value = (now ? now.note : drafts.get(shown.number)) || "";
  drawWhy();
  at("on").hidden = !now;
  fill(
    at("reasons"),
    now && state.reasons[now.verdict].map(([name, words], i) =>
      element("button", { "data-reason": name, "aria-pressed": String(now.reason === name), on: { click: () => because(i) } }, element("kbd", {}, i + 1), ` ${words}`),
    ),
  );
};

const drawComing = () => {
  const coming = shown !== null && !settled();
  at("pair").setAttribute("aria-busy", String(coming));
  judge.setAttribute("aria-busy", String(coming));
  if (noteWanted && settled()) writeNote();
};

const draw = () => {
  drawProgress();
  drawJudge();
  drawFacts();
  drawComing();
};

const go = async (number) => {
  if (number < 0 || number >= state.labels.length) return;
  here = number;
  drawComing();
  try {
    const found = await pairOf(number);
    if (number !== here) return;
    at("note").blur(); // a note that is being written is the old pair's
    shown = found;
    visit += 1;
    trouble(null);
    drawPair();
    draw();
    window.scrollTo(0, 0);
    if (number + 1 < state.labels.length) pairOf(number + 1).catch(() => {});
  } catch (error) {
    if (number === here && shown !== null) here = shown.number;
    drawComing();
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

// One after the other, in the order in which they were given. What is said is worked out from what was said before when
// its turn comes (`words`; null: nothing). The promise tells whether all is well.
const send = (number, words, { moves = false, during = visit } = {}) => {
  leaving = leaving || moves;
  sending = sending.then(async () => {
    try {
      const before = said(number);
      const label = words(before);
      if (label && label !== before) {
        const labeller = at("labeller").value.trim(); // a server that knows who asks passes over it
        state = await ask("labels", { pair: number, verdict: label.verdict, reason: label.reason, note: label.note, labeller });
        drafts.delete(number);
        // Verdict, reason and note that were given while a pair was on screen are one step back.
        if (during !== null && taken.at(-1)?.visit !== during) taken.push({ number, before, visit: during });
        trouble(null);
      }
      if (moves) leaving = false;
      if (moves && label && number === here) onward();
      draw();
      return true;
    } catch (error) {
      if (moves) leaving = false;
      draw();
      trouble(error);
      return false;
    }
  });
  drawComing();
  return sending;
};

const give = (verdict) => {
  if (!settled()) return;
  const { number } = shown;
  const note = (now) => (now ? now.note : drafts.get(number)) || "";
  send(number, (now) => ({ verdict, reason: now?.verdict === verdict ? now.reason : null, note: note(now) }));
};

// The reason with this number, of those for the verdict; and on.
const because = (place) => {
  const words = (now) => {
    const reason = now && state.reasons[now.verdict][place];
    return reason ? { ...now, reason: reason[0] } : null;
  };
  if (settled()) send(shown.number, words, { moves: true });
};

const undo = async () => {
  await sending;
  const step = taken.pop();
  if (!step) return;
  if (!(await send(step.number, () => step.before || { verdict: null }, { during: null }))) {
    taken.push(step);
    draw();
  } else if (step.number !== here) await go(step.number);
};

const withNote = () => {
  const note = at("note").value;
  const { number } = shown;
  return (now) => {
    if (!now) drafts.set(number, note);
    return now && note !== (now.note || "") ? { ...now, note } : now;
  };
};

// What follows are words, and no keys: they wait for the field where another pair is on its way.
const writeNote = () => {
  noteWanted = !settled();
  if (noteWanted) return;
  at("why").hidden = false;
  at("note").focus();
};

// The note stands below the pair on screen, whatever is on its way.
const noted = () => send(shown.number, withNote());

const finish = () => {
  if (settled()) send(shown.number, withNote(), { moves: true });
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
  c: () => give("correct"),
  i: () => give("incorrect"),
  u: () => give("undecided"),
  j: () => go(here + 1),
  k: () => go(here - 1),
  ArrowRight: () => go(here + 1),
  ArrowLeft: () => go(here - 1),
  n: () => state.open !== null && go(state.open),
  z: undo,
  b: turnBlind,
  w: wholeTexts,
  o: writeNote,
  Enter: finish,
  "?": help,
};

document.addEventListener("keydown", (event) => {
  if (!state || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (event.target === at("labeller")) return;
  if (event.target === at("note")) {
    if (event.key === "Enter") {
      event.preventDefault();
      at("note").blur();
      finish();
    } else if (event.key === "Escape") at("note").blur();
    return;
  }
  if (noteWanted) {
    if (event.key === "Escape") noteWanted = false;
    event.preventDefault();
    return;
  }
  if (event.key === "Enter" && event.target.tagName === "BUTTON") return; // it presses the button
  if (event.key === "Escape" && !at("keys").hidden) help();
  const act = /^[1-9]$/.test(event.key) ? () => because(Number(event.key) - 1) : KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

for (const button of verdictButtons) button.addEventListener("click", () => give(button.dataset.verdict));
at("note").addEventListener("change", noted);
at("note").addEventListener("blur", drawWhy);
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
    row(["o"], "Write a note, before the verdict or after it; Enter or Esc ends it"),
    row(["→", "←"], "Next pair, pair before (j, k)"),
    row(["n"], "First pair without a verdict"),
    row(["z"], "Take the last label back"),
    row(["w"], "Whole texts"),
    row(["b"], "Hide or show scores before the verdict"),
    row(["?"], "This help"),
  ),
  element("p", { class: "note" }, "Every verdict is saved as soon as it is given. You can close the page and go on another day."),
);

// Who labels, where the server does not know: the browser remembers what was typed, if it may.
const NAME = "neardup-labeller";
const remembered = (name) => {
  try {
    if (name !== undefined) localStorage.setItem(NAME, name);
    return localStorage.getItem(NAME) || "";
  } catch {
    return "";
  }
};
at("labeller").addEventListener("change", () => remembered(at("labeller").value.trim()));

const start = async () => {
  try {
    state = await ask("state");
    at("asked-name").hidden = Boolean(state.labeller);
    at("labeller").value = remembered();
    await go(state.open ?? 0);
  } catch (error) {
    trouble(error);
  }
};
start();
