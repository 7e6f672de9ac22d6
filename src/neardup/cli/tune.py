"""neardup tune: parameters for what is wanted, or what given parameters do; with the curve.

Four forms, told apart by what is given: a wish (--threshold, --recall), a filter (-k, -s, -r), edits (--edits), and a
Bloom filter (--bloom-error). Each becomes an `Answer`, and one function prints, draws and writes answers.
"""

import json
import sys
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from neardup.analysis.filters import PERMUTATIONS
from neardup.atomic import local_place
from neardup.cli.answers import Answer, bloom_answer, filter_answer, flag, lists_answer
from neardup.cli.curve import decades, draw
from neardup.cli.terminal import tell
from neardup.errors import UsageError

_FORMS = {
    "edits": ("edits", "lists", "repetitions", "needed"),
    "bloom": ("bloom_error", "document_bytes", "chunk"),
    "filter": ("threshold", "permutations", "k", "s", "r", "bytes_", "documents", "base"),
}
"""Options that belong to one form only."""


@click.command(no_args_is_help=True)
@click.option("-t", "--threshold", type=float, help="Resemblance from which on pairs are wanted.")
@click.option(
    "--recall", type=float, help="Share of the wanted pairs that must be found.  [default: 0.99; with --edits 0.9]"
)
@click.option(
    "--reject", type=(float, float), metavar="AT MOST", help="At the lower resemblance AT, at most this share passes."
)
@click.option("--permutations", type=int, help=f"Longest sketch that may be chosen.  [default: {PERMUTATIONS}]")
@click.option("--bytes", "bytes_", type=int, help="Most bytes of features per document.")
@click.option("-k", type=int, help="Features of a document: describe this filter.")
@click.option("-s", type=int, help="Min-hashes in a feature.")
@click.option("-r", type=int, help="Features that a pair must share.")
@click.option(
    "--from",
    "base",
    metavar="NAME",
    help="Published recipe whose other settings the written one has.  [default: default]",
)
@click.option("--documents", type=float, help="Size of the collection, for collisions.  [default: 200e6]")
@click.option("--edits", type=int, help="Words that differ: choose lists of words instead of a filter.")
@click.option("--lists", type=int, help="Lists of words per document.")
@click.option("--repetitions", type=int, help="Times the lists are made, with another hash each.")
@click.option("--needed", type=int, help="Repetitions in which a pair must share a fingerprint.")
@click.option("--bloom-error", type=float, help="Share of bits that may match by accident: choose a Bloom filter.")
@click.option("--document-bytes", type=int, help="Largest document of a Bloom filter.  [default: 65536]")
@click.option("--chunk", type=int, help="Expected bytes of a chunk.  [default: 256]")
@click.option(
    "-o",
    "--output",
    "pictures",
    multiple=True,
    type=local_place,
    metavar="FILE",
    help="Draw the curve as .svg or .png; can be given again.",
)
@click.option(
    "--scale",
    type=click.Choice(["linear", "log", "both"]),
    help="Of the probability.  [default: linear in the terminal, both in pictures]",
)
@click.option("--recipe-out", type=local_place, metavar="FILE", help="Write the filter as a recipe.")
@click.option("--json", "as_json", is_flag=True, help="All numbers and the curve, instead of the table.")
def command(**given: Any) -> None:
    """Choose parameters for a threshold and a recall, or say what given ones do.

    \b
    neardup tune --threshold 0.8 --recall 0.99           the sharpest filter
    neardup tune -t 0.9 --reject 0.6 0.01                the cheapest that does both
    neardup tune -k 6 -s 14 -r 2                         what this filter does
    neardup tune --edits 10 --recall 0.9                 lists of words
    neardup tune --bloom-error 0.01                      a Bloom filter of chunks
    """
    form = _form(given)
    for path in given["pictures"]:
        if path.suffix.lower() not in (".svg", ".png"):
            raise UsageError(f"{path}: a picture ends in .svg or .png; try {path.with_suffix('.svg')}.")
    answer = {"filter": filter_answer, "edits": lists_answer, "bloom": bloom_answer}[form](given)
    if given["recipe_out"]:
        _write_recipe(answer, given["recipe_out"])
    if given["pictures"]:
        _paint(answer, given["pictures"], given["scale"] or "both")
    if given["as_json"]:
        json.dump(answer.numbers, sys.stdout, ensure_ascii=False, indent=1)
        sys.stdout.write("\n")
    else:
        _print(answer, given["scale"] or "linear")


def _form(given: dict[str, Any]) -> str:
    """Which form is meant; options of two forms contradict each other."""
    named = {form: [o for o in options if given[o] is not None] for form, options in _FORMS.items()}
    meant = [form for form, options in named.items() if options]
    if len(meant) > 1:
        first, second = (flag(named[form][0]) for form in meant[:2])
        raise UsageError(
            f"{first} and {second} are of two kinds: --threshold, -k, -s, -r tune a filter of resemblances, --edits "
            "tunes lists of words, --bloom-error a Bloom filter; ask for one."
        )
    if not meant:
        raise UsageError("say what is wanted: --threshold 0.8, -k 6 -s 14, --edits 10 or --bloom-error 0.01.")
    if meant == ["bloom"] and (given["recall"] is not None or given["reject"] is not None):
        raise UsageError("a Bloom filter has no recall and no --reject; its error is --bloom-error.")
    return meant[0]


def _write_recipe(answer: Answer, path: Path) -> None:
    from neardup.atomic import appearing

    made = answer.recipe()
    if made is None:
        raise UsageError(
            f"{path}: a recipe has a threshold; add --threshold, for example the half point "
            f"{answer.numbers['half_point']:.3f}."
        )
    with appearing(path) as draft:
        draft.write_text(made.to_toml())
    tell(f"{path}: recipe {made.id}")


def _paint(answer: Answer, paths: tuple[Path, ...], scale: Any) -> None:
    from neardup.charts import Line, curve_chart, save

    chart = curve_chart(
        answer.points,
        title=answer.title,
        subtitle=answer.why,
        x_title=answer.x_title,
        y_title=answer.y_title,
        marks=[Line(m.at, m.name) for m in answer.marks],
        scale=scale,
        decades=decades(answer.curve, 0.0, answer.end),
        counted=answer.counted,
    )
    for path in paths:
        save(chart, path)
        tell(f"{path}: the curve of {answer.title}")


def _print(answer: Answer, scale: str) -> None:
    """The numbers and the curve are the data: they go to stdout."""
    console = Console(highlight=False)
    console.print(f"[bold]{escape(answer.title)}[/bold]")
    if answer.why:
        console.print(answer.why, style="dim")
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold")
    grid.add_column(justify="right", style="cyan")
    grid.add_column(style="dim")
    for row in answer.facts:
        grid.add_row(*row)
    console.print()
    console.print(grid)
    for table in answer.tables:
        console.print()
        console.print(table)
    for logarithmic in {"linear": (False,), "log": (True,), "both": (False, True)}[scale]:
        console.print()
        console.print(
            draw(
                answer.curve,
                start=0.0,
                end=answer.end,
                width=console.width,
                log=logarithmic,
                marks=answer.marks,
                x_title=answer.x_title,
                y_title=answer.y_title,
            )
        )
