"""neardup evaluate INPUT… --truth FILE."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.atomic import check_writable, local_place
from neardup.cli.options import Given, reading_of, reading_options, without_unneeded
from neardup.cli.terminal import tell
from neardup.errors import UsageError

if TYPE_CHECKING:
    from neardup.evaluating import Evaluation
    from neardup.evaluating.page import Table


@click.command(no_args_is_help=True)
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option(
    "--truth",
    required=True,
    metavar="FILE",
    help="Labelled pairs or clusters: .tsv, .csv, .jsonl or .parquet, compressed or not.",
)
@click.option(
    "--recipe",
    "recipes",
    multiple=True,
    metavar="NAME",
    help="A published system, a TOML file, or all; may be repeated.  [default: default, web, alg-b, alg-c, combined]",
)
@click.option("--base", metavar="NAME", help="The recipe that R is relative to.  [default: alg-b, or the first]")
@click.option("-o", "--output", "out", type=local_place, metavar="OUT", help="Folder for tables, figures and the page.")
@click.option(
    "--unlisted",
    type=click.Choice(["incorrect", "unknown"]),
    help="What a found pair is that the truth does not list.  [default: unknown; of clusters, incorrect]",
)
@click.option("--correct-from", type=float, help="Grade from which on a pair is correct.  [default: 0.9]")
@click.option("--incorrect-below", type=float, help="Grade below which a pair is incorrect.  [default: 0.5]")
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="ROLE=NAME",
    help="A column of the truth: first, second, verdict, grade, id, cluster, kind, weight or reason.  "
    "[default: guessed]",
)
@click.option("--splits", is_flag=True, help="Show the measures by site, similarity, difference, length and script.")
@click.option(
    "--papers/--no-papers", default=True, show_default=True, help="Make the papers' tables and figures in OUT."
)
@click.option(
    "--lists",
    metavar="FILE",
    help="Ranked results of queries, for the papers' figures in OUT: a table with query, id and perhaps rank.",
)
@click.option(
    "--sample",
    type=click.IntRange(1),
    default=2000,
    show_default=True,
    help="Of how many pairs the texts are compared, for kinds of differences.",
)
@click.option("--level", type=float, default=0.95, show_default=True, help="Of the confidence intervals.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of everything random.")
@click.option(
    "--sites",
    type=click.Choice(["henzinger", "public-suffix"]),
    default="henzinger",
    show_default=True,
    help="How the site of a URL is told.",
)
@click.option(
    "--most",
    type=click.IntRange(1),
    default=10_000,
    show_default=True,
    help="With how many earlier candidates a document is compared at the most.",
)
@reading_options
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors.")
@click.option("-v", "--verbose", is_flag=True, help="Say what every step took.")
def command(**given: Any) -> None:
    """Measure recipes against labelled truth, side by side.

    INPUT: files, folders, globs or URLs as for `neardup dedup`. The truth is a file of pairs of ids with a verdict
    (correct, incorrect, undecided) or a grade, or of ids with a cluster; `neardup audit --export` and
    `neardup sample` write such.

    Every number has its confidence interval: connected documents are drawn again together, for pairs of one cluster
    are not independent.
    """
    without_unneeded()
    from neardup.cli.show import Talk
    from neardup.evaluating import RECIPES, evaluate

    out = None if given["out"] is None else str(given["out"])
    _check(given["inputs"], out)
    if out is not None:
        check_writable(Path(out))
    talk = Talk(quiet=given["quiet"], verbose=given["verbose"])
    further = bool(out) or given["as_json"]
    if given["lists"] and not further:
        raise UsageError("--lists is for the papers' figures: name a folder for them with -o OUT, or take --json.")
    with talk:
        evaluation = evaluate(
            [Given(i) for i in given["inputs"]],
            given["truth"],
            recipes=given["recipes"] or RECIPES,
            base=given["base"],
            unlisted=given["unlisted"],
            columns=dict(_role(text) for text in given["columns"]),
            correct_from=given["correct_from"],
            incorrect_below=given["incorrect_below"],
            splits=given["splits"] or further,
            papers=given["papers"] and further,
            lists=given["lists"],
            sample=given["sample"],
            level=given["level"],
            seed=given["seed"],
            sites=given["sites"],
            most=given["most"],
            **reading_of(given),
            watcher=talk,
        )
        if out:
            evaluation.write(out)
    if given["as_json"]:
        click.echo(_inert(json.dumps(evaluation.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)))
    else:
        _show(evaluation, splits=given["splits"])
    if not given["quiet"]:
        _tell(evaluation, out)


def _check(inputs: tuple[str, ...], out: str | None) -> None:
    """Inputs are read by every recipe, and nothing of the user's is written over."""
    if "-" in inputs:
        raise UsageError("evaluate reads its inputs once for every recipe: write standard input to a file first.")
    if out is None:
        return
    target = Path(out).resolve()
    for name in inputs:
        source = Path(name).resolve()
        if "://" not in name and (target == source or source in target.parents):
            raise UsageError(f"--output {out} lies in the input {name}; choose another place.")
    if target.exists() and not target.is_dir():
        raise UsageError(f"--output {out} is a file; name a folder.")
    if target.is_dir() and any(target.iterdir()):
        from neardup.evaluating.write import is_ours

        if not is_ours(target):
            raise UsageError(f"--output {out} holds other files; choose another folder, or empty it.")


def _role(text: str) -> tuple[str, str]:
    role, equals, name = text.partition("=")
    if not equals or not role or not name:
        raise UsageError(f"--column {text}: write ROLE=NAME, such as verdict=label.")
    return role.strip(), name


def _show(evaluation: "Evaluation", *, splits: bool) -> None:
    """Tables on standard output."""
    from rich.console import Console

    from neardup.evaluating.write import best, split_table, summary

    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=160)
    pairs, groups = summary(evaluation)[:2]
    counts = _only(pairs, ("recipe", "pairs", "correct", "incorrect", "undecided", "unknown"))
    _print(console, counts._replace(note=""), "What was found")
    _print(console, _only(pairs, ("recipe", "precision", "recall", "F1", "R")), "Pairs")
    _print(console, _only(groups, ("recipe", "F1", "adjusted Rand", "exact sets", "B-cubed F1")), "Groups")
    name = best(evaluation)
    for split in evaluation.split_results if splits else ():
        table = split_table(evaluation, split.key, (name,))
        columns = ("part", "precision", "recall", "correct", "incorrect", "undecided", "missed")
        _print(console, _only(table, columns), f"{table.title} · {name}")


def _only(table: "Table", headings: tuple[str, ...]) -> "Table":
    places = [list(table.headings).index(h) for h in headings]
    return table._replace(headings=headings, rows=[[row[i] for i in places] for row in table.rows])


def _print(console: Any, table: "Table", title: str) -> None:
    from rich.table import Table as Drawn
    from rich.text import Text

    drawn = Drawn(box=None, padding=(0, 2, 0, 0), title=Text(title, style="bold"), title_justify="left")
    for i, heading in enumerate(table.headings):
        drawn.add_column(heading, justify="left" if i == 0 else "right", header_style="dim", no_wrap=i > 0)
    for row in table.rows:
        drawn.add_row(*(Text(_plain(cell)) for cell in row))
    console.print(drawn)
    if table.note:
        console.print(Text(table.note, style="dim"))
    console.print()


def _plain(cell: str) -> str:
    """What a truth's column holds may not steer the terminal."""
    return "".join(c if c.isprintable() else "�" for c in cell)


def _inert(made: str) -> str:
    """JSON with what may steer a terminal as escapes: control characters (C1 too) and marks of direction.

    They stand in strings alone, so it is the same data.
    """
    return "\n".join(
        line if line.isprintable() else "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in line)
        for line in made.split("\n")
    )


def _tell(evaluation: "Evaluation", out: str | None) -> None:
    from neardup.evaluating.write import about

    tell(about(evaluation))
    if out:
        tell(f"{Path(out) / 'evaluation.html'}  tables and figures; the data lies beside it")
