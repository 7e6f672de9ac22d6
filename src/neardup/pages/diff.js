"use strict";
// Two documents with their differences marked. Segments are those of comparing.marked: [kind, first, second, tokens].
//
// diffView(segments, [nameOfFirst, nameOfSecond]) → an element: side by side where there is room, one below the other's
// words where there is not. What only one has stands in <del> or <ins>, which are struck out, underlined and coloured.

const diffView = (segments, names = ["first", "second"]) => {
  // Stretches that are passed over cut the texts into pieces; both sides of a piece begin at the same height.
  const pieces = [[]];
  const gaps = [0];
  for (const [kind, first, second, tokens] of segments) {
    if (kind === "passed") {
      pieces.push([]);
      gaps.push(tokens);
    } else pieces[pieces.length - 1].push({ differs: kind === "differs", first, second });
  }
  // White space at the end of a difference is not marked: it would show as a stain at the beginning of a line.
  const part = (tag, text) => {
    if (!text) return null;
    const end = tag === "span" ? text.length : text.trimEnd().length || text.length;
    return [quoted(text.slice(0, end), tag), end < text.length ? quoted(text.slice(end), "span") : null];
  };
  const side = (piece, which, tag) =>
    piece.map((s) => part(s.differs ? tag : "span", s[which]));
  const inline = (piece) =>
    piece.map((s) => (s.differs ? [part("del", s.second ? s.first.trimEnd() : s.first), s.second && s.first ? " " : null, part("ins", s.second)] : part("span", s.second || s.first)));
  const gap = (tokens, last) =>
    tokens
      ? element("p", { class: "gap" }, `${count(tokens)} ${tokens === 1 ? "token" : "tokens"} not shown${last ? "" : ", the same in both"}`)
      : null;
  const made = element(
    "div",
    { class: "diff" },
    element(
      "div",
      { class: "diff-heads" },
      element("div", {}, element("del", { class: "key" }, "only here"), " ", names[0]),
      element("div", {}, element("ins", { class: "key" }, "only here"), " ", names[1]),
    ),
  );
  pieces.forEach((piece, i) => {
    const end = i === pieces.length - 1 && !piece.length;
    const between = gap(gaps[i], end);
    if (between) made.append(between);
    if (!piece.length) return;
    made.append(
      element(
        "div",
        { class: "diff-piece" },
        element("div", { class: "diff-side" }, side(piece, "first", "del")),
        element("div", { class: "diff-side" }, side(piece, "second", "ins")),
        element("div", { class: "diff-inline" }, inline(piece)),
      ),
    );
  });
  if (!segments.some(([kind]) => kind === "differs")) made.append(element("p", { class: "gap" }, "No token differs."));
  return made;
};
