"""The evaluation as one HTML file: offline, without a script of its own, for a screen, a phone and paper.

write_page   our own exhibits, the summary tables, then the exhibits paper by paper, each with picture, words and data

Names of queries, kinds of difference and reasons come from people and documents: all text is made inert and escaped,
pictures have theirs as XML text, and the page's policy lets nothing run or be fetched that is not ours (`pages`).
"""

import re
from collections.abc import Sequence
from html import escape
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from neardup.atomic import appearing
from neardup.comparing.documents import inert
from neardup.errors import MissingExtra
from neardup.evaluating.exhibit import Exhibit
from neardup.evaluating.figures import BLUE, INK, LINE, SOFT
from neardup.pages import document

MOST_ROWS = 400
"""Rows of an exhibit's data on the page; the files beside it have all."""

_PLACE = re.compile(", (?=table|figure|section)")
"""After the paper's name in an exhibit's source: "Henzinger, table 1"; "Jain, Dahlin, Tewari, figures 6 and 7"."""

_STYLE = """
main { padding-top: 1.5rem; padding-bottom: 3rem; }
section { margin: 2.5rem 0 0; border-top: 1px solid var(--line); padding-top: 1rem; }
.exhibits { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 30rem), 1fr)); gap: 2rem 2.5rem; }
.exhibit { min-width: 0; break-inside: avoid; }
.exhibit h3 { margin: 0; }
table { width: auto; min-width: min(100%, 24rem); }
.exhibit table { font-size: .87rem; }
.exhibit td:first-child { white-space: nowrap; }
.exhibit.large { grid-column: 1 / -1; }
.exhibit.large .parts { display: flex; flex-wrap: wrap; gap: .5rem 2.5rem; }
.exhibit.large .parts > svg { flex: 1 1 20rem; }
.exhibit.large .parts > div { flex: 0 1 auto; min-width: 0; }
.exhibit svg { display: block; width: 100%; max-width: 30rem; height: auto; margin: .6rem 0; align-self: flex-start; }
.exhibit .source { color: var(--soft); font-size: .82rem; margin: 0 0 .3rem; }
summary { cursor: pointer; color: var(--accent); font-size: .87rem; }
details .scroll { max-height: 24rem; overflow: auto; }
td, th { vertical-align: baseline; }
th, td { padding-right: .7rem; }
th, th.number { vertical-align: bottom; white-space: normal; }
td small { font-size: .82em; color: var(--soft); }
@media (max-width: 76rem) { td small { display: block; line-height: 1.2; } }
@media (max-width: 46rem) {
  table, .exhibit table { font-size: .82rem; }
  th { font-size: .74rem; }
  th, td { padding-right: .4rem; }
  td small { font-size: .62rem; letter-spacing: -.02em; }
  .exhibit td:first-child { white-space: normal; }
}
@media print { .exhibits { gap: 1rem 1.5rem; } details:not([open]) { display: none; } }
"""


class Table(NamedTuple):
    """A table of text; numbers are written by whoever made it."""

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""


def write_page(
    path: Path, *, title: str, summary: Sequence[Table], exhibits: Sequence[Exhibit], notes: Sequence[str] = ()
) -> None:
    """One file, whole or not at all. Without the extra `charts` it has the data alone, and says what to install."""
    remarks = list(notes)
    pictures, missing = _pictures(exhibits)
    if missing:
        remarks.append(missing)
    parts = [f"<h1>{_text(title)}</h1>"]
    parts += [f'<p class="note">{_text(remark)}</p>' for remark in remarks]
    sections = {
        paper: _exhibits(paper, list(found), pictures)
        for paper, found in groupby(exhibits, key=lambda exhibit: _PLACE.split(exhibit.source)[0])
    }
    parts += [_section("Side by side", sections.pop(""))] if "" in sections else []
    parts += [_section(table.title, _table(table.headings, table.rows) + _note(table.note)) for table in summary]
    parts += [_section(f"After {paper}", body) for paper, body in sections.items()]
    page = document(inert(title), f"<main>{''.join(parts)}</main>", style=_STYLE)
    with appearing(path) as draft:
        draft.write_text(page, "utf-8")


def _exhibits(paper: str, exhibits: Sequence[Exhibit], pictures: dict[str, str]) -> str:
    """Of one paper; those without data are listed with the reason."""
    body = "".join(_exhibit(e, pictures.get(e.key, "")) for e in exhibits if e.rows)
    absent = "".join(
        f"<li><b>{_text(e.source.removeprefix(paper + ', '))}</b> {_text(e.title)}: {_text(e.note)}</li>"
        for e in exhibits
        if not e.rows
    )
    left = f"<h3>Not in this collection</h3><ul class='note'>{absent}</ul>" if absent else ""
    return f'<div class="exhibits">{body}</div>{left}'


def _pictures(exhibits: Sequence[Exhibit]) -> tuple[dict[str, str], str]:
    """SVG by the exhibit's key, and what is missing to draw them."""
    try:
        return {e.key: _inlined(e.svg(alone=False), e) for e in exhibits if e.chart is not None}, ""
    except MissingExtra as error:
        return {}, str(error)


def _inlined(svg: str, exhibit: Exhibit) -> str:
    """To stand among others on a page: ids of its own, the page's colours of text and lines, and a name."""
    prefix = re.sub(r"[^a-z0-9]+", "-", exhibit.key.lower())
    svg = re.sub(r'(?<= id=")(?=[^"]+")|(?<=url\(#)', f"{prefix}-", svg)
    for colour, variable in ((INK, "--ink"), (SOFT, "--soft"), (LINE, "--line"), (BLUE, "--accent")):
        svg = svg.replace(f'="{colour}"', f'="var({variable})"')
    return svg.replace("<svg ", f'<svg role="img" aria-label="{_text(exhibit.title)}" ', 1)


def _exhibit(exhibit: Exhibit, picture: str) -> str:
    names, rows = exhibit.table()
    data = _table(names, rows[:MOST_ROWS])
    if len(rows) > MOST_ROWS:
        data += _note(f"The first {MOST_ROWS} of {len(rows):,} rows.")
    if picture and not exhibit.key.startswith("table"):
        data = f"<details><summary>The data, {len(rows):,} rows</summary>{data}</details>"
    wide = " large" if len(names) > (4 if picture else 5) and "<details>" not in data else ""
    source = f'<p class="source">{_text(exhibit.source)}</p>' if exhibit.source else ""
    return (
        f'<article class="exhibit{wide}" id="{_text(exhibit.key)}"><h3>{_text(exhibit.title)}</h3>'
        f"{source}{_note(exhibit.caption)}"
        f'<div class="parts">{picture}{data}</div>{_note(exhibit.note)}</article>'
    )


def _section(title: str, body: str) -> str:
    return f"<section><h2>{_text(title)}</h2>{body}</section>"


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns in which every cell begins with a digit or sign stand to the right, but not the first."""
    right = [i > 0 and all(_NUMBER.match(row[i]) for row in rows) for i in range(len(headings))]
    kinds = [' class="number"' if r else "" for r in right]
    head = "".join(f"<th{kind}>{_text(name)}</th>" for kind, name in zip(kinds, headings, strict=True))
    body = "".join(
        "<tr>" + "".join(f"<td{kind}>{_cell(cell)}</td>" for kind, cell in zip(kinds, row, strict=True)) + "</tr>"
        for row in rows
    )
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _cell(text: str) -> str:
    """An interval stands beside its number, or below it where there is little room."""
    found = _MEASURED.fullmatch(text)
    return f"{_text(found[1])} <small>{_text(found[2])}</small>" if found else _text(text)


def _note(text: str) -> str:
    return f'<p class="note">{_text(text)}</p>' if text else ""


_NUMBER = re.compile(r"[-−+]?[\d.,]|–$|$")
_MEASURED = re.compile(r"([-−+]?[\d.,]+ ?%?) ([\[(][^\])]*–[^\])]*[\])])")
"""A number and its interval: 0.951 [0.861–1.000]."""


def _text(text: str) -> str:
    """As text of the page, whatever it is."""
    return escape(inert(text))
