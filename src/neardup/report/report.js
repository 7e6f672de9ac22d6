"use strict";
// The report. All data is in the element `report`; documents are shown by textContent alone (dom.js).
(() => {
  const data = carried("report");
  const counts = data.counts;
  const at = (id) => document.getElementById(id);
  const fill = (id, ...children) => at(id).replaceChildren(...children.flat(Infinity).filter(Boolean));
  const note = (...children) => element("p", { class: "note" }, ...children);
  const many = (n, one, more = one + "s") => `${count(n)} ${n === 1 ? one : more}`;
  const size = (bytes) => {
    let n = bytes;
    for (const unit of ["bytes", "kB", "MB", "GB"]) {
      if (n < 1000 || unit === "GB") return `${unit === "bytes" ? count(n) : n.toFixed(1)} ${unit}`;
      n /= 1000;
    }
  };
  // A score as people write it: whole where it is counted, three digits where it is a share.
  const score = (x) => (x === null ? "–" : data.histogram.counted && x > 1 ? String(x) : x.toFixed(3));
  const hundredths = (x) => (data.histogram.counted ? String(x) : x.toFixed(2));
  // What a document is called: by its address where it has one, and then its id beside it, smaller.
  const called = (d) => named(d.url || d.id);
  const id = (d) => (d.url && d.id !== d.url ? element("bdi", { class: "id" }, plain(d.id)) : null);
  const both = (d) => [called(d), " ", id(d)];
  const linked = (d) => [address(d.url) || named(d.id), " ", id(d)];
  const whichPart = ({ parts, of }) =>
    of === 1 ? "the beginning" : parts === of ? `the beginnings of all ${count(of)} parts` : `the beginnings of ${count(parts)} of ${count(of)} parts (the first, and others drawn at random)`;
  const partRead = data.part ? `Texts are read from ${whichPart(data.part)} of the input: ${count(data.part.documents)} of ${many(counts.documents, "document")}. ` : "";
  const table = (heads, rows, className = "") =>
    element(
      "div",
      { class: "scroll" },
      element(
        "table",
        { class: className },
        element("thead", {}, element("tr", {}, heads.map(([text, kind]) => (text ? element("th", { class: kind, scope: "col" }, text) : element("td", { class: kind }))))),
        element("tbody", {}, rows),
      ),
    );

  // ---- the verdict

  const head = () => {
    at("title").textContent = counts.removed
      ? `${count(counts.removed)} of ${many(counts.documents, "document")} removed`
      : `Nothing removed from ${many(counts.documents, "document")}`;
    const how = {
      identity: "same tokens", exact: "measured exactly", estimate: "estimated", containment: "containment estimated",
      "b-similarity": "equal features", "c-similarity": "equal bits", lists: "equal lists", bloom: "equal filters",
    };
    fill(
      "headline",
      element("div", { class: "split", role: "img", "aria-label": `${share(counts.removed, counts.documents)} removed`, style: { "--share": `${(100 * counts.removed) / Math.max(1, counts.documents)}%` } }, element("span")),
      element(
        "ul",
        { class: "figures" },
        element("li", {}, element("span", { class: "swatch" }), element("b", {}, count(counts.removed)), ` removed (${share(counts.removed, counts.documents)})`),
        element("li", {}, element("span", { class: "swatch faint" }), element("b", {}, count(counts.kept)), " kept"),
        data.proof.map((p) => element("li", {}, element("b", {}, count(p.documents)), ` ${how[p.how]}`)),
        element("li", {}, element("b", {}, count(counts.skipped)), " skipped"),
      ),
    );
    const look = data.checks.filter((c) => c.level === "look").length;
    at("judgement").textContent = look
      ? `${look === 1 ? "One thing" : look + " things"} to check before you use the result.`
      : "Nothing here speaks against using the result.";
    const words = { good: "fine", look: "check", note: "note" };
    fill(
      "checks",
      data.checks.map((c) =>
        element(
          "li",
          {},
          element("span", { class: `level ${c.level}` }, words[c.level]),
          element("span", {}, plain(c.text), " ", c.link && c.level !== "good" ? element("a", { href: `#${c.link}`, on: c.groups ? { click: () => browser.show(c.groups) } : {} }, "Show") : null),
        ),
      ),
    );
    fill("next", next());
  };

  // Commands that lead on, to be copied. A folder that is not known is called OUT.
  const next = () => {
    const out = data.out || "OUT";
    const commands = [
      [`neardup audit ${out}`, "measures how many pairs were missed"],
      [`neardup audit ${out} --label`, "shows you pairs to judge: how many removals are right"],
      [`neardup explain ${out} ID`, "tells why a document was kept or removed"],
    ];
    return commands.map(([command, what]) => {
      const code = element("code", {}, command);
      const copy = element("button", { type: "button", "aria-label": `Copy ${command}`, on: { click: () => copied() } }, "Copy");
      const copied = async () => {
        getSelection().selectAllChildren(code); // for keys, where pages may not write to the clipboard
        try {
          await navigator.clipboard.writeText(command);
          copy.textContent = "Copied";
        } catch {
          copy.textContent = "Selected";
        }
      };
      return element("li", {}, code, " ", copy, element("span", { class: "note" }, ` ${what}`));
    });
  };

  // ---- how much was removed

  // As long as the whole is large, filled as far as it was removed.
  const bar = (part, whole, length = 1) =>
    element("span", { class: "bar", "aria-hidden": "true", style: { "--length": `${Math.max(2, 100 * length)}%` } }, element("span", { style: { "--share": `${(100 * part) / Math.max(1, whole)}%` } }));

  const breakdown = (title, part, what) => {
    if (!part || !part.rows.length) return null;
    const rows = [...part.rows, ...(part.others ? [{ ...part.others, others: true }] : [])];
    if (part.unknown) rows.push({ name: "no URL", others: true, ...part.unknown });
    const most = Math.max(...part.rows.map((r) => r.documents), 1);
    return element(
      "div",
      {},
      element("h3", {}, title),
      table(
        [[what, ""], ["", "less"], ["documents", "number"], ["removed", "number"], ["share", "number"]],
        rows.map((r) =>
          element(
            "tr",
            { class: r.others ? "others" : null },
            element("td", {}, r.plain ? r.name : named(r.name)),
            element("td", { class: "less" }, r.others ? null : bar(r.removed, r.documents, r.documents / most)),
            element("td", { class: "number" }, count(r.documents)),
            element("td", { class: "number" }, count(r.removed)),
            element("td", { class: r.documents >= 20 && r.removed > r.documents / 2 && !r.others ? "number look" : "number" }, share(r.removed, r.documents)),
          ),
        ),
        "bars",
      ),
    );
  };

  const relations = () => {
    const meaning = {
      identical: "the same tokens as the kept one", near: "similar, and neither contains the other",
      contained: "all of it is in the kept one", contains: "all of the kept one is in it",
    };
    const part = data.by_relation;
    if (!part.rows.length) return null;
    return element(
      "div",
      {},
      element("h3", {}, "By relation to the kept document"),
      table(
        [["relation", ""], ["", "less"], ["removed", "number"], ["share", "number"]],
        part.rows.map((r) =>
          element(
            "tr",
            {},
            element("td", {}, element("b", {}, r.name), element("span", { class: "note" }, ` ${meaning[r.name]}`)),
            element("td", { class: "less" }, bar(r.removed, counts.removed)),
            element("td", { class: "number" }, count(r.removed)),
            element("td", { class: "number" }, share(r.removed, counts.removed)),
          ),
        ),
        "bars",
      ),
    );
  };

  const removed = () =>
    fill(
      "breakdowns",
      element("div", {}, breakdown("By input file", data.by_source, "file"), relations(), breakdown("By length", { rows: data.by_length.rows.map((r) => ({ ...r, plain: true })) }, "tokens")),
      element("div", {}, data.by_site ? breakdown("By site", data.by_site, "site") : note("No document has a URL, so there is nothing to tell by site.")),
    );

  // ---- similarity and the slider

  const drawnFrom = () => {
    const t = data.thresholds;
    return t.sample < t.kept ? `estimated from ${count(t.sample)} of ${count(t.kept)}` : "all of them";
  };

  const similarity = () => {
    const h = data.histogram;
    const others = counts.removed - h.same_tokens;
    at("similarity-caption").textContent =
      `Bars: ${many(others, "removed document")} by ${h.unit} to the kept one` +
      (h.same_tokens ? `; ${count(h.same_tokens)} more have the same tokens and are not drawn` : "") + ". " +
      (data.thresholds.lower.length ? (data.thresholds.nearest.length ? `Pale bars: kept documents by their nearest kept one, ${drawnFrom()}. ` : `No kept document resembles another by ${hundredths(data.thresholds.lower.at(-1)[0])} or more. `) : "") +
      (h.threshold ? `Dashed: the threshold ${h.threshold}. ` : "") +
      (data.thresholds.same_site ? `Two pages of one host need ${data.thresholds.same_site}${data.thresholds.nearest ? " whatever the threshold, and make no pale bars" : ""}. ` : "") +
      (data.run.curve && h.unit === "resemblance" ? "Line: the share of pairs of that resemblance that the features find, computed." : "");
    if (data.no_charts) {
      at("similarity-caption").before(
        note(data.no_charts),
        table([[h.unit, ""], ["removed documents", "number"]], h.bins.filter((b) => b[2]).map(([a, , n]) => element("tr", {}, element("td", {}, `${hundredths(a)}`), element("td", { class: "number" }, count(n))))),
      );
    }
  };

  const slider = () => {
    const t = data.thresholds;
    const steps = [...t.lower.map(([x, n, low, high]) => ({ x, more: n, low, high })).reverse(), ...t.higher.map(([x, n]) => ({ x, still: n }))];
    if (steps.length < 2 || !counts.documents) {
      fill("slider", note(t.higher.length ? "There is no other threshold: scores have one step." : "This recipe measures nothing, so there is no threshold to move."));
      return;
    }
    const own = t.lower.length;
    const input = element("input", { type: "range", id: "threshold", min: 0, max: steps.length - 1, step: 1, value: own, "aria-describedby": "threshold-answer" });
    const output = element("output", { for: "threshold" });
    const answer = element("div", { id: "threshold-answer", "aria-live": "polite" });
    const bar = element("div", { class: "split", role: "img" }, element("span"));
    const show = () => {
      const step = steps[Number(input.value)];
      const here = Number(input.value) === own;
      output.textContent = hundredths(step.x) + (here ? " (this run)" : "");
      input.setAttribute("aria-valuetext", `${t.unit} ${hundredths(step.x)}`);
      const n = step.still !== undefined ? step.still : counts.removed + step.more;
      bar.style.setProperty("--share", `${(100 * n) / counts.documents}%`);
      bar.setAttribute("aria-label", `${share(n, counts.documents)} removed`);
      const tag = (text) => element("span", { class: "tag" }, text);
      const lines = [];
      if (here) lines.push(element("p", {}, element("b", {}, `${count(n)} removed`), `, ${share(n, counts.documents)} of the collection.`));
      else if (step.still !== undefined) {
        lines.push(element("p", {}, element("b", {}, `about ${count(n)} removed`), `, ${share(n, counts.documents)}: ${count(counts.removed - n)} fewer.`, tag("counted")));
        lines.push(note(`So many removed documents reach ${hundredths(step.x)} with the one kept for them. A run at this threshold may differ a little: another kept document may be near enough, or one that now stays may take others with it.`));
      } else {
        lines.push(element("p", {}, element("b", {}, `about ${count(n)} removed`), `, ${share(n, counts.documents)}: ${count(step.more)} more (${count(step.low)} to ${count(step.high)}).`, tag("estimated")));
        const drawn = t.sample < t.kept ? `From ${many(t.sample, "kept document")} drawn at random (of ${count(t.kept)})` : `All ${many(t.kept, "kept document")}`;
        const how =
          t.measured >= 1
            ? ", the pairs then measured exactly"
            : t.measured > 0
              ? `; ${share(t.measured, 1)} of the pairs were then measured exactly, the others are estimates corrected by such`
              : "";
        lines.push(
          note(
            `${drawn}, looked for among all kept ones by their sketches${how}. ` +
              (t.sample < t.kept ? "The drawing alone puts the truth into this range 19 times out of 20. " : "") +
              (t.same_site ? `Two pages of one host need ${t.same_site} at any threshold. ` : "") +
              "Who of two goes depends on the order, which is taken as random.",
          ),
        );
      }
      answer.replaceChildren(bar, ...lines);
      changed.hidden = step.still === undefined || here;
      changed.textContent = `Show groups with documents below ${hundredths(step.x)}`;
    };
    const changed = element("button", { type: "button", hidden: true, on: { click: () => browser.below(steps[Number(input.value)].x) } });
    input.addEventListener("input", show);
    fill(
      "slider",
      element("h3", {}, "What another threshold would have removed"),
      element(
        "div",
        { class: "threshold" },
        element("label", { for: "threshold" }, `Threshold (${t.unit})`, output),
        input,
        element("div", { class: "ends" }, element("span", {}, own ? `${hundredths(steps[0].x)} removes more` : `${hundredths(steps[0].x)}, this run`), element("span", {}, `${hundredths(steps[steps.length - 1].x)} removes less`)),
        answer,
        changed,
        t.why_not_lower ? note(plain(t.why_not_lower)) : null,
        element(
          "details",
          {},
          element("summary", {}, "As a table"),
          table(
            [[t.unit, ""], ["removed", "number"], ["of all", "number"], ["", ""]],
            steps.filter((_, i) => i === own || (i - own) % Math.ceil(steps.length / 16) === 0).map((s) => {
              const n = s.still !== undefined ? s.still : counts.removed + s.more;
              const kind = s === steps[own] ? "this run" : s.still !== undefined ? "counted" : `estimated, ${count(counts.removed + s.low)} to ${count(counts.removed + s.high)}`;
              return element("tr", {}, element("td", {}, hundredths(s.x)), element("td", { class: "number" }, count(n)), element("td", { class: "number" }, share(n, counts.documents)), element("td", {}, kind));
            }),
          ),
        ),
      ),
    );
    show();
  };

  // ---- groups

  const groups = data.groups.map((group, number) => ({
    ...group,
    number,
    weakest: Math.min(...group.members.map((m) => (m.measured === "identity" ? Infinity : m.score))),
    words: [group.kept.id, group.kept.url, group.kept.text, ...group.members.flatMap((m) => [m.id, m.url, ...(m.diff || []).map((s) => s[2])])].filter(Boolean).join("\n").toLowerCase(),
  }));
  const bySize = (a, b) => b.size - a.size || a.number - b.number;

  const sizes = () => {
    const list = data.group_sizes;
    at("sizes-caption").textContent = list.length ? `${many(counts.groups, "group")} of two or more; the largest has ${many(counts.largest_group, "document")}.` : "There are no groups.";
    if (list.length && data.no_charts)
      at("sizes-caption").before(table([["documents in a group", "number"], ["groups", "number"]], list.slice(0, 40).map(([s, n]) => element("tr", {}, element("td", { class: "number" }, count(s)), element("td", { class: "number" }, count(n))))));
    const top = groups.filter((g) => g.strata.includes("biggest")).sort(bySize).slice(0, 20);
    fill(
      "biggest",
      top.length
        ? table(
            [["kept document", ""], ["documents", "number"], ["share", "number"]],
            top.map((g) =>
              element(
                "tr",
                {},
                element("td", {}, element("a", { href: "#browser-title", on: { click: () => browser.open(g) } }, called(g.kept)), id(g.kept), g.kept.text ? element("span", { class: "quoted clip", dir: "auto" }, g.kept.text.slice(0, 160)) : null),
                element("td", { class: "number" }, count(g.size)),
                element("td", { class: "number" }, share(g.size, counts.documents)),
              ),
            ),
          )
        : note("None."),
    );
  };

  const browser = (() => {
    const of = (kind) => groups.filter((g) => kind === "all" || g.strata.includes(kind));
    const kinds = { all: "All", biggest: "Biggest", edge: "Near the threshold", random: "Random" };
    if (of("site").length) kinds.site = "Pages of one site";
    let shown = groups;
    let current = null;
    let limit = null;
    let kind = "all";
    const search = element("input", { type: "search", placeholder: "Search id, URL or text", "aria-label": "Search groups by id, URL or text" });
    const list = element("ul", { class: "list", "aria-label": "Groups" });
    const view = element("div", { class: "shown", "aria-live": "polite" });
    const found = element("p", { class: "note", role: "status" });
    const tabs = Object.entries(kinds).map(([name, text]) =>
      element("button", { type: "button", "aria-pressed": String(name === kind), on: { click: () => choose(name) } }, `${text} ${count(of(name).length)}`),
    );

    const choose = (name) => {
      kind = name;
      limit = null;
      current = null;
      Object.keys(kinds).forEach((key, i) => tabs[i].setAttribute("aria-pressed", String(key === kind)));
      refresh();
    };

    const refresh = () => {
      const text = search.value.trim().toLowerCase();
      shown = of(kind)
        .filter((g) => (limit === null || g.weakest < limit) && (!text || g.words.includes(text)))
        .sort(kind === "edge" || kind === "site" || limit !== null ? (a, b) => a.weakest - b.weakest : kind === "random" ? (a, b) => a.number - b.number : bySize);
      list.replaceChildren(
        ...shown.map((g) =>
          element(
            "li",
            {},
            element(
              "button",
              { type: "button", "data-group": g.number, on: { click: () => open(g) } },
              element("span", { class: "first" }, named((g.kept.url || g.kept.id).replace(/^https?:\/\//i, "")), element("span", { class: "note" }, many(g.size, "doc"), g.weakest < Infinity ? ` · ${score(g.weakest)}` : " · same")),
              id(g.kept),
              element("span", { class: "quoted clip", dir: "auto" }, (g.kept.text || "").slice(0, 120)),
            ),
          ),
        ),
      );
      found.textContent =
        `${many(shown.length, "group")} shown of ${count(groups.length)} here` +
        (groups.length < counts.groups ? `, a sample of ${count(counts.groups)} in all (seed ${data.seed})` : ", which are all") +
        (limit !== null ? `; with a document below ${hundredths(limit)}` : "") + `. ${partRead}`;
      if (!shown.includes(current)) open(shown[0] || null, false);
      else mark();
    };

    const mark = () => {
      for (const button of list.querySelectorAll("button")) {
        const here = current !== null && Number(button.dataset.group) === current.number;
        button.setAttribute("aria-current", String(here));
        if (here) {
          const box = button.parentElement;
          if (box.offsetTop - list.offsetTop < list.scrollTop || box.offsetTop - list.offsetTop + box.offsetHeight > list.scrollTop + list.clientHeight)
            list.scrollTop = box.offsetTop - list.offsetTop - list.clientHeight / 2;
        }
      }
    };

    const numbers = (m) =>
      m.measured === "identity" ? "same" : m.resemblance !== null ? m.resemblance.toFixed(3) : score(m.score);

    const difference = (group, m) => {
      const box = element("div", { class: "difference" });
      const facts = [];
      if (m.measured !== "identity") facts.push(`${data.histogram.unit} ${score(m.score)} (${m.measured})`);
      if (m.in_kept !== null && m.measured !== "identity") facts.push(`${share(m.in_kept, 1)} of it is in the kept one`, `${share(m.kept_in, 1)} of the kept one is in it`);
      if (facts.length) box.append(note(facts.join(" · ")));
      if (m.url && !m.diff) box.append(note(address(m.url)));
      if (m.measured === "identity") box.append(element("p", {}, "The same tokens, so nothing differs but case, punctuation or spacing."));
      else if (m.diff) {
        box.append(diffView(m.diff, [element("span", {}, "kept ", linked(group.kept)), element("span", {}, "removed ", linked(m))]));
        if (m.cut) box.append(note("The beginnings of these long documents are compared here."));
      } else box.append(note(data.texts ? "The texts could not be read again." : m.beyond ? "Not in the part of the input whose texts were read: neardup report with another --seed reads another part." : "There was no room for this text on the page."));
      return box;
    };

    const open = (group, focus = true) => {
      current = group;
      mark();
      if (group === null) {
        view.replaceChildren(note(groups.length ? "No group matches." : "There are no groups."));
        return;
      }
      const place = shown.indexOf(group);
      const turn = (by) => {
        const next = shown[place + by];
        if (next) {
          open(next);
          view.querySelector(by > 0 ? "[data-turn=next]" : "[data-turn=previous]")?.focus();
        }
      };
      const button = (by, text, name) => element("button", { type: "button", "data-turn": name, disabled: shown[place + by] === undefined, on: { click: () => turn(by) } }, text);
      const details = element("div");
      const rows = group.members.map((m) => {
        const opener = element("button", { type: "button", "aria-expanded": "false", on: { click: () => showMember(m, opener) } }, both(m));
        return { m, opener, row: element("tr", {}, element("td", {}, opener), element("td", {}, m.relation), element("td", { class: "number" }, numbers(m)), element("td", { class: "number less" }, count(m.tokens))) };
      });
      const showMember = (m, opener) => {
        const again = opener.getAttribute("aria-expanded") === "true";
        rows.forEach((r) => r.opener.setAttribute("aria-expanded", "false"));
        details.replaceChildren();
        if (again) return;
        opener.setAttribute("aria-expanded", "true");
        details.replaceChildren(difference(group, m));
      };
      const parts = [
        element("div", { class: "head" }, element("h4", {}, `Group of ${many(group.size, "document")}`), element("div", { class: "turn" }, button(-1, "Previous", "previous"), button(1, "Next", "next"))),
        element(
          "div",
          { class: "kept" },
          element("p", {}, element("b", {}, "Kept: "), linked(group.kept)),
          note(`${many(group.kept.tokens, "token")}. Kept because it is ${plain(data.kept_because)}.`),
          group.kept.text === null ? null : element("div", { class: "excerpt", dir: "auto", tabindex: 0 }, group.kept.text + (group.kept.cut ? " …" : "")),
        ),
        group.size - 1 > group.members.length ? note(`${count(group.members.length)} of ${count(group.size - 1)} removed documents: the least similar, and others drawn at random.`) : null,
        element("div", { class: "scroll" }, table([["removed", ""], ["relation", ""], [data.histogram.unit, "number"], ["tokens", "number less"]], rows.map((r) => r.row), "members")),
        details,
      ];
      view.replaceChildren(...parts.filter(Boolean));
      const first = rows.find((r) => r.m.diff) || rows[0];
      if (first) showMember(first.m, first.opener);
    };

    const start = () => {
      if (!groups.length) {
        fill("browser", note("There are no groups: nothing was removed."));
        return;
      }
      search.addEventListener("input", refresh);
      list.addEventListener("keydown", (event) => {
        const by = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1 }[event.key];
        const next = by && current ? shown[shown.indexOf(current) + by] : null;
        if (!next) return;
        event.preventDefault();
        open(next);
        list.querySelector(`[data-group="${next.number}"]`).focus({ preventScroll: true });
      });
      fill("browser", element("div", { class: "tools" }, search, tabs), found, element("div", { class: "browser" }, list, view));
      refresh();
    };

    return {
      start,
      open: (group) => {
        search.value = "";
        choose("all");
        open(group);
      },
      // Groups of this kind; those near the threshold where the page carries none of it.
      show: (wanted) => {
        search.value = "";
        choose([wanted, "edge"].find((name) => of(name).length) || "all");
      },
      below: (x) => {
        search.value = "";
        choose("all");
        limit = x;
        current = null;
        refresh();
        at("browser-title").scrollIntoView();
        at("browser-title").focus({ preventScroll: true });
      },
    };
  })();

  // ---- templates and mirrors

  const folded = (first, all, what) => [
    all.slice(0, first),
    all.length > first ? element("details", {}, element("summary", {}, `${count(all.length - first)} more ${what}`), all.slice(first)) : null,
  ];

  const templates = () => {
    const t = data.templates;
    if (!t) {
      fill("passages", note("No texts were read, so there is nothing to tell."));
      return;
    }
    fill(
      "passages",
      note(`Passages of eight words and more that many documents share, from ${many(t.sample, "document")} drawn at random (seed ${data.seed}); those that take the most room first. ${partRead}`,
        t.passages.length ? `Passages like these make up ${share(t.covered, 1)} of the words, and more than half of ${share(t.mostly, 1)} of the documents.${t.main ? "" : " Where they matter, compare the main content (--extract main)."}` : ""),
      t.passages.length
        ? folded(8, t.passages.map((p) =>
            element(
              "div",
              { class: "passage" },
              element("p", {}, element("b", {}, `about ${share(p.share[0], 1)}`), ` of documents (${share(p.share[1], 1)} to ${share(p.share[2], 1)}) · ${many(p.words, "word")} · ${many(p.groups, "group")}`),
              element("div", { class: "excerpt", dir: "auto", tabindex: 0 }, p.text + (p.cut ? " …" : "")),
              note("For example:"),
              element("ul", { class: "examples" }, p.examples.map((d) => element("li", {}, both(d)))),
            ),
          ), "passages")
        : element("p", {}, "No passage occurs in one document of a hundred."),
    );
  };

  const mirrors = () => {
    if (data.mirrors === null) fill("hosts", note("No document has a URL, so there is nothing to tell."));
    else if (!data.mirrors.length) fill("hosts", element("p", {}, "No two hosts share two documents under the same path."));
    else
      fill(
        "hosts",
        note("Pairs of hosts: documents of the first that were removed for one on the other (or the other way round), and how many have the same path on both. Counted, not sampled."),
        table(
          [["copy", ""], ["of", ""], ["pairs", "number"], ["same path", "number"], ["documents", "number less"]],
          data.mirrors.map((m) =>
            element(
              "tr",
              {},
              element("td", {}, named(m.copy), element("span", { class: "clip" }, "e. g. ", plain(m.example.removed || ""))),
              element("td", {}, named(m.origin), element("span", { class: "clip" }, plain(m.example.kept || ""))),
              element("td", { class: "number" }, count(m.pairs)),
              element("td", { class: "number" }, share(m.same_path, m.pairs, 0)),
              element("td", { class: "number less" }, `${count(m.copy_documents)} / ${count(m.origin_documents)}`),
            ),
          ),
        ),
      );
  };

  // ---- what was done

  const done = () => {
    const run = data.run;
    const total = run.steps.reduce((sum, s) => sum + s.seconds, 0);
    const pairs = [
      ["recipe", element("span", {}, run.recipe_name ? `${run.recipe_name} ` : "", element("code", {}, run.recipe_id))],
      run.filter ? ["features", `${run.filter.r} of ${run.filter.k} must agree, each of ${run.filter.s} min-hashes`] : null,
      ["candidates", `${count(counts.candidates)} documents share a key with another`],
      ["measured", `${count(counts.pairs_measured)} pairs, in ${many(run.rounds, "round")}`],
      ["text", `${size(counts.text_bytes)}, of which ${size(counts.text_bytes_removed)} removed`],
      ["time", `${total.toFixed(1)} s on ${many(run.threads, "thread")}`],
      ["version", `neardup ${data.version}`],
    ].filter(Boolean);
    fill(
      "run",
      element("dl", {}, pairs.map(([name, value]) => [element("dt", {}, name), element("dd", {}, value)])),
      element(
        "div",
        { class: "columns" },
        element(
          "div",
          {},
          element("h3", {}, "Steps"),
          table(
            [["step", ""], ["seconds", "number"], ["CPU", "number"], ["documents", "number less"], ["memory", "number"]],
            run.steps.map((s) => element("tr", {}, element("td", {}, s.name), element("td", { class: "number" }, s.seconds.toFixed(2)), element("td", { class: "number" }, s.cpu_seconds.toFixed(2)), element("td", { class: "number less" }, s.documents ? count(s.documents) : ""), element("td", { class: "number" }, size(s.peak_memory_bytes)))),
          ),
          element("h3", {}, "Inputs"),
          table([["file", ""], ["format", ""], ["size", "number"]], run.inputs.map((f) => element("tr", {}, element("td", {}, named(f.path)), element("td", {}, f.format), element("td", { class: "number" }, f.bytes ? size(f.bytes) : "")))),
          run.inputs_in_all > run.inputs.length ? note(`The first ${count(run.inputs.length)} of ${count(run.inputs_in_all)}.`) : null,
        ),
        element("div", {}, element("h3", {}, "Recipe"), element("pre", { tabindex: 0 }, run.toml)),
      ),
      run.curve
        ? element(
            "details",
            {},
            element("summary", {}, "The filter's curve as numbers"),
            table([["resemblance", ""], ["pairs that are found", "number"]], run.curve.filter((_, i) => i % 10 === 0).map(([x, p]) => element("tr", {}, element("td", {}, x.toFixed(2)), element("td", { class: "number" }, share(p, 1, 2))))),
          )
        : null,
    );
    at("made").textContent = `Made by neardup ${data.version}. This page is one file, loads nothing and sends nothing.`;
  };

  [head, removed, similarity, slider, sizes, browser.start, templates, mirrors, done].forEach((part) => part());
  addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((box) => (box.open = true)));
  document.documentElement.dataset.ready = "true";
})();
