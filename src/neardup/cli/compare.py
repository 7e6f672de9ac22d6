"""neardup compare A B."""

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer
from typing import TYPE_CHECKING, Any

import click

from neardup.cli.options import Given, without_unneeded

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from neardup.comparing.report import Difference, PairReport, Passage, Side
    from neardup.comparing.systems import Score, System

_WIDE, _NARROW = 112, 78
"""Columns from which on the table of systems has its words in full, and all of its columns."""

_LONG = 4.0
_WAIT = "Still at it: the first run on a machine compiles for a minute or two, and long documents take their time."

_NOT_PLAIN = re.compile("[\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""What JSON may hold as it is and a terminal may obey."""


@click.command(no_args_is_help=True)
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.option(
    "--recipe",
    metavar="NAME",
    help="Whose tokens and shingles the exact numbers are made with: see `neardup recipes`, or a TOML file.",
)
@click.option("-w", "--width", type=int, help="Tokens in a shingle.  [default: 5]")
@click.option(
    "--tokens",
    type=click.Choice(["words", "chars", "lines"]),
    help="What a document is a sequence of.  [default: words]",
)
@click.option(
    "--extract",
    type=click.Choice(["all", "main", "web"]),
    help="Of HTML pages: all visible text, the main content, or web terms with images.  [default: all]",
)
@click.option(
    "-t", "--threshold", default=0.8, show_default=True, help="Resemblance from which on the documents are near."
)
@click.option(
    "--contained",
    default=0.9,
    show_default=True,
    help="Share of a document's shingles from which on it is contained in the other.",
)
@click.option("--passage", default=20, show_default=True, help="Tokens in a row that make a shared passage.")
@click.option("--url-a", metavar="URL", help="Where A is from.  [default: A, if it is a URL]")
@click.option("--url-b", metavar="URL", help="Where B is from.  [default: B, if it is a URL]")
@click.option("--html/--no-html", default=None, help="Read both as HTML pages, or as texts.  [default: by their look]")
@click.option("--max-document-bytes", default=64 << 20, show_default=True, help="Longer documents are errors.")
@click.option(
    "--show",
    type=click.IntRange(0),
    default=10,
    show_default=True,
    metavar="N",
    help="Passages and differences shown, of each; --json has up to 10,000.",
)
@click.option("--json", "as_json", is_flag=True, help="Everything as one JSON object.")
def command(a: str, b: str, show: int, as_json: bool, **given: Any) -> None:
    """Compare two documents by every system, and show what they share.

    A and B are files (text or HTML, .gz .zst .bz2 .xz too), URLs, or - for standard input.

    The exact resemblance and containment, then what each published system says of the pair and what was to be
    expected of it, then the passages that both have and the places where they differ: [-gone-] from A, {+new+} in B.
    """
    without_unneeded()
    from neardup.comparing.report import compare

    with _patience():
        report = compare(Given(a), Given(b), **given)
    if not report.minimal:
        click.echo(
            "The documents are long: their diff is cut at passages that both have once, and may not be a shortest one.",
            err=True,
        )
    if as_json:
        text = json.dumps(report.to_dict(), ensure_ascii=False, indent=2)
        click.echo(_NOT_PLAIN.sub(lambda c: f"\\u{ord(c.group()):04x}", text))
        return
    _print(report, show)


@contextmanager
def _patience() -> Iterator[None]:
    """A word to people who wait: compiling all systems' kernels for the first time takes longer than comparing."""
    timer = Timer(_LONG, lambda: click.echo(_WAIT, err=True))
    timer.daemon = True
    if sys.stderr.isatty():
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _print(report: "PairReport", show: int) -> None:
    from rich.console import Console
    from rich.text import Text

    if hasattr(sys.stdout, "reconfigure"):  # a terminal that cannot show a character still gets the rest
        sys.stdout.reconfigure(errors="backslashreplace")
    console = Console(highlight=False, markup=False, emoji=False)
    with console.capture() as captured:
        _headline(console, report)
        console.print()
        console.print(_systems(report, console.width))
        console.print()
        for line in _notes(report):
            console.print(Text(line, style="dim"))
        if report.relation != "identical":
            _passages(console, report, show)
            _differences(console, report, show)
    # Tables fill their lines with spaces, which nobody needs in a file.
    sys.stdout.write(re.sub(r" +(?=\n)", "", captured.get()))


def _headline(console: "Console", report: "PairReport") -> None:
    from rich.table import Table
    from rich.text import Text

    sides = Table.grid(padding=(0, 2, 0, 0))
    for letter, side in (("A", report.first), ("B", report.second)):
        sides.add_row(Text(letter, style="bold"), Text(_described(side, report)))
    console.print(sides)
    console.print()
    sentence = Text(_relation(report), style=f"bold {_STYLES[report.relation]}")
    console.print(sentence.append(_numbers(report), style="not bold default"))


_STYLES = {
    "identical": "green",
    "near": "green",
    "contains": "cyan",
    "contained": "cyan",
    "passage": "yellow",
    "different": "red",
}


def _described(side: "Side", report: "PairReport") -> str:
    from neardup.comparing.documents import inert

    kind = "HTML, " if side.html else ""
    return (
        f"{inert(side.name)}  ({kind}{side.bytes:,} bytes, {side.tokens:,} {report.tokens}, "
        f"{side.shingles:,} {_plural('shingle', side.shingles)} of {report.width})"
    )


def _relation(report: "PairReport") -> str:
    return {
        "identical": f"Identical: the same {report.tokens} in the same order",
        "near": "Near-duplicates",
        "contains": "A contains B",
        "contained": "A is contained in B",
        "passage": "They share a passage",
        "different": "Different",
    }[report.relation]


def _numbers(report: "PairReport") -> str:
    if report.relation == "identical":
        return "."
    longest = ""
    if report.relation == "passage" and report.passages:
        longest = f" of {report.passages[0].tokens:,} {report.tokens}"
    about = "" if report.minimal else "at most "
    return (
        f"{longest}: resemblance {report.resemblance:.4f}; {_percent(report.first_in_second)} of A's shingles are in "
        f"B, {_percent(report.second_in_first)} of B's in A; {about}{report.term_difference:,} {report.tokens} differ "
        f"({report.deleted:,} only in A, {report.inserted:,} only in B); {report.edits:,} edits by Pugh's measure."
    )


def _percent(share: float) -> str:
    """To a tenth, but never 0 or 100 for what is not."""
    if 0.0 < share < 0.0005:
        return "<0.1%"
    if 0.9995 <= share < 1.0:
        return ">99.9%"
    return f"{share:.1%}" if 0.0 < share < 1.0 else f"{share:.0%}"


def _systems(report: "PairReport", width: int) -> "Table":
    from rich.table import Table
    from rich.text import Text

    wide, narrow = width >= _WIDE, width < _NARROW
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("system", no_wrap=True)
    table.add_column("measured", no_wrap=True)
    table.add_column("from", justify="right", no_wrap=True)
    for title, justify in (("exact", "left"), ("expected", "left"), ("pass", "right"))[2 if narrow else 0 :]:
        table.add_column(title, justify="right" if justify == "right" else "left", no_wrap=True)
    if wide:
        table.add_column("says", no_wrap=True)
    for system in report.systems:
        style = "green" if system.similar else "red"
        name = Text(f"{'✓' if system.similar else '✗'} {_name(system)}", style=style)
        says = Text("similar" if system.similar else "not similar", style=style)
        if not system.scores:
            table.add_row(name, Text("no tokens", style="dim"), *[""] * (2 if narrow else 4), *([says] if wide else []))
        for place, score in enumerate(system.scores):
            row = _row(score, wide=wide)
            row = [*row[:2], row[-1]] if narrow else row
            table.add_row(Text() if place else name, *row, *([Text() if place else says] if wide else []))
    return table


def _name(system: "System") -> str:
    from neardup.comparing.documents import inert

    name = inert(system.name)
    return name if len(name) <= 11 else name[:10] + "…"


def _row(score: "Score", *, wide: bool) -> list["Text"]:
    from rich.text import Text

    value = (
        f"{score.value:.4f}" if score.full == 1.0 and score.measure != "lists" else f"{score.value:g} of {score.full:g}"
    )
    reached = Text(f"{score.measure} {value}", style="" if score.similar else "red")
    expected = "" if score.expected is None else _expected(score)
    passes = "" if score.passes is None else _percent(score.passes)
    cells = [f"{score.similar_from:g}", _exact(score, wide=wide), expected, passes]
    return [reached, *(Text(cell, style="dim" if at else "") for at, cell in enumerate(cells))]


def _exact(score: "Score", *, wide: bool) -> str:
    """The exact quantity: in full, or as short as it can be said."""
    name, value = score.exact, score.exact_value
    if name == "Pugh's edits":
        return f"{value:,.0f} edits" if wide or value < 1e4 else f"{value / 1000:,.0f}k edits"
    if score.measure == "bloom":
        return f"{_percent(value)} of {name.rpartition(' ')[2]} chunks" if wide else f"{value:.0%} chunks"
    if wide:
        return f"{name}: {value:.4f}"
    if name.startswith("cosine"):
        return f"{value:.4f} cos"
    return f"{value:.4f} {name.rpartition(', ')[2].replace(' ', '')}" if ", w" in name else f"{value:.4f}"


def _expected(score: "Score") -> str:
    if score.deviation == 0.0 and score.value == score.exact_value:
        return "exact"
    digits = 3 if score.full == 1.0 else 1
    text = f"{score.expected:.{digits}f}"
    return text if score.deviation is None else f"{text} ± {score.deviation:.{digits}f}"


def _notes(report: "PairReport") -> list[str]:
    lines = [
        "measured: by the sketches of this pair, similar from so much on. exact: of the whole documents, under the "
        "system's own tokens and shingles. expected: the average score at that exact value, ± its standard deviation. "
        "pass: the share of such pairs that reach it, where there is a formula."
    ]
    for system in report.systems:
        said = [system.note] if system.note else []
        if system.scores and system.similar and not system.candidate:
            said.append("the sketches share no key, so that it would not look at this pair in a collection")
        if said:
            lines.append(f"{_name(system)}: {'; '.join(said)}.")
    return lines


def _passages(console: "Console", report: "PairReport", show: int) -> None:
    from rich.text import Text

    if not report.passages_found:
        return
    unit = report.tokens
    title = f"{report.passages_found:,} shared {_plural('passage', report.passages_found)}"
    order = ", the longest first" if report.passages_found > 1 else ""
    console.print(Text(f"\n{title} of {report.passage_from} or more {unit}{order}", style="bold"))
    rows = [_passage(passage, report, console.width) for passage in report.passages[:show]]
    console.print(_list([unit, "in A", "in B", ""], rows))
    _more(console, report.passages_found - len(rows))


def _passage(passage: "Passage", report: "PairReport", width: int) -> list["Text"]:
    from rich.text import Text

    text = Text(_shown(passage.text, max(40, 2 * (width - 24)), report))
    if passage.moved:
        text = Text("(moved) ", style="yellow").append_text(text.copy())
        text.stylize("default", len("(moved) "))
    places = (passage.first.token_start + 1, passage.second.token_start + 1)
    return [Text(f"{passage.tokens:,}"), *(Text(f"{place:,}", style="dim") for place in places), text]


def _differences(console: "Console", report: "PairReport", show: int) -> None:
    from rich.text import Text

    if not report.differences_found:
        return
    places = _plural("place", report.differences_found)
    text = Text(f"\n{report.differences_found:,} differing {places}, in order: ", style="bold")
    text.append("[-only in A-]", style="red").append(" ").append("{+only in B+}", style="green")
    console.print(text)
    rows = [_difference(difference, report, console.width) for difference in report.differences[:show]]
    console.print(_list(["in A", "in B", ""], rows))
    _more(console, report.differences_found - len(rows))


def _difference(difference: "Difference", report: "PairReport", width: int) -> list["Text"]:
    from rich.text import Text

    room = max(40, 2 * (width - 20))
    text = Text(_shown(difference.before, 60, report), style="dim")
    for words, signs, style in ((difference.gone, "[--]", "red"), (difference.new, "{++}", "green")):
        if words:
            text.append(" " if text else "").append(
                f"{signs[:2]}{_shown(words, room, report)}{signs[2:]}", f"not dim {style}"
            )
    text.append(" ").append(_shown(difference.after, 60, report))
    places = (difference.first.token_start + 1, difference.second.token_start + 1)
    return [*(Text(f"{place:,}", style="dim") for place in places), text]


def _shown(text: str, most: int, report: "PairReport") -> str:
    """Inert, on one line, and without its middle where it is long."""
    from rich.cells import cell_len

    from neardup.comparing.documents import inert
    from neardup.comparing.report import shortened

    if report.tokens == "lines":
        text = text.replace("\n", " ↵ ")
    text = inert(text)
    columns = max(1, cell_len(text))  # of a terminal: an ideograph takes two
    return shortened(text, 0, len(text), most * len(text) // columns)


def _list(titles: list[str], rows: list[list["Text"]]) -> "Table":
    """Numbers on the left, text that may take several lines on the right."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_edge=False, header_style="dim")
    for title in titles[:-1]:
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column(titles[-1], overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


def _more(console: "Console", left: int) -> None:
    from rich.text import Text

    if left > 0:
        console.print(Text(f"… and {left:,} more (--show N shows more, --json all)", style="dim"))


def _plural(word: str, number: int) -> str:
    return word if number == 1 else f"{word}s"
