"""neardup audit OUT."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.atomic import check_writable, local_place
from neardup.cli.options import without_unneeded
from neardup.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from neardup.audit import LabellingSession, Precision, RecallAudit
    from neardup.audit.intervals import Share

_OF_LABEL = ("pairs", "labeller", "port", "open_browser", "seed")
_OF_MEASURING = ("sample", "seed")
_OF_EXPORT = ("overwrite",)


@click.command(no_args_is_help=True)
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--label", is_flag=True, help="Serve the page on which people judge pairs, until Ctrl-C.")
@click.option("--precision", is_flag=True, help="Only say what the labels amount to so far; measure nothing.")
@click.option("--export", type=local_place, metavar="FILE", help="Write labelled pairs for `neardup evaluate`.")
@click.option("--overwrite", is_flag=True, default=None, help="Let --export write over a file that is there.")
@click.option(
    "--sample",
    type=click.IntRange(1),
    help="How many documents are compared with all others, and how many removed ones are measured again.  [default: "
    "1000; 5000 where sketches are 8-bit samples]",
)
@click.option("--pairs", type=click.IntRange(1), help="How many pairs are drawn for people.  [default: 200]")
@click.option("--labeller", metavar="NAME", help="Who judges; written beside every label.")
@click.option("--port", type=click.IntRange(0, 65535), help="Of the page, on 127.0.0.1.  [default: a free one]")
@click.option("--open", "open_browser", is_flag=True, default=None, help="Open the page in a browser.")
@click.option("--seed", type=click.IntRange(0), help="Of the random samples.  [default: 1]")
@click.option(
    "--confidence",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Of the intervals.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors.")
def command(out: Path, **given: Any) -> None:
    """Measure how right a finished run in OUT is.

    Recall is measured: a random sample of documents is compared with the whole collection, by brute force on the
    sketches and then by the recipe's own rule. Removed documents are measured again.

    Precision is for people to say: --label draws pairs, shows them side by side with their differences, and saves
    every verdict as it is given. Run it again to go on.

    \b
    OUT/audit/recall.json   what was measured
    OUT/audit/pairs.jsonl   the pairs that were drawn for people
    OUT/audit/labels.jsonl  what they said
    """
    without_unneeded()
    _check(given)
    if given["label"]:
        _label(out, given)
    elif given["precision"] or given["export"]:
        _labels_so_far(out, given)
    else:
        _measure(out, given)


def _check(given: dict[str, Any]) -> None:
    """Every option that is given does something."""
    modes = [f"--{name}" for name in ("label", "precision", "export") if given[name]]
    if given["label"] and len(modes) > 1:
        raise UsageError(f"{' and '.join(modes)}: one after the other.")
    used = _OF_LABEL if given["label"] else () if modes else _OF_MEASURING
    if given["export"]:
        used = (*used, *_OF_EXPORT)
    measurement = "the measurement, which is made without " + " or ".join(modes)
    owners = {"--label": _OF_LABEL, measurement: _OF_MEASURING, "--export": _OF_EXPORT}
    for where, names in owners.items():
        for name in names:
            if given[name] is not None and name not in used:
                option = "open" if name == "open_browser" else name
                raise UsageError(f"--{option} has no effect here; it belongs to {where}.")
    if given["export"] and given["export"].exists() and not given["overwrite"]:
        raise UsageError(f"{given['export']} is there already; choose another name, or give --overwrite.")


def _measure(out: Path, given: dict[str, Any]) -> None:
    from neardup.atomic import appearing
    from neardup.audit import LabellingSession, measure_recall
    from neardup.audit.recall import SAMPLE
    from neardup.cli.show import Talk
    from neardup.result import Result

    talk = Talk(quiet=given["quiet"])
    with talk:
        result = Result.open(out, talk)
        check_writable(out / "audit")
        found = measure_recall(
            result,
            sample=given["sample"],
            removed=given["sample"] or SAMPLE,
            seed=1 if given["seed"] is None else given["seed"],
            confidence=given["confidence"],
        )
    facts = found.to_dict()
    with appearing(out / "audit" / "recall.json") as draft:
        draft.write_text(json.dumps(facts, indent=1) + "\n")
    labelled = all((out / "audit" / name).exists() for name in ("pairs.jsonl", "labels.jsonl"))
    session = LabellingSession(out / "audit") if labelled else None
    if session and not session.of_run(result):
        talk.say(f"{session.folder} {session.of_another_run}")
        session = None
    people = session.precision(confidence=given["confidence"]) if session else None
    if given["as_json"]:
        _print_json({"measured": facts, "labelled": people.to_dict() if people else None})
    elif not given["quiet"]:
        console = _console()
        _show_recall(console, found)
        if session and people:
            console.print()
            _show_precision(console, session, people)
        else:
            console.print(f"\n[dim]What people think of the removals: neardup audit {_quoted(out)} --label[/dim]")


def _labels_so_far(out: Path, given: dict[str, Any]) -> None:
    from neardup.audit import LabellingSession
    from neardup.cli.show import Talk
    from neardup.errors import InputError, WorkError
    from neardup.result import Result

    session = LabellingSession(out / "audit")
    talk = Talk(quiet=given["quiet"])
    ours = True
    try:
        result = Result.open(out)
        ours = session.of_run(result)
        if given["precision"] or given["as_json"]:
            session.check_run(result)
    except (InputError, WorkError) as error:  # what people said is of use without the run too
        talk.say(f"Whether these are labels of the run in {out} cannot be told. {error}")
    if given["export"]:
        number = session.export(given["export"])
        talk.say(f"{_many(number, 'labelled pair')} in {given['export']}")
        if not ours:
            talk.say(
                f"They are of another run than the one in {out} now (recipe {session.head['recipe']}): verdicts hold, "
                f"weights are about that one. Move {session.folder} away to draw new pairs."
            )
            return
    people = session.precision(confidence=given["confidence"])
    if given["as_json"]:
        _print_json(people.to_dict())
    elif given["precision"] or not given["quiet"]:
        _show_precision(_console(stderr=not given["precision"]), session, people)


def _label(out: Path, given: dict[str, Any]) -> None:
    import webbrowser

    from neardup.audit import LabellingSession, serve
    from neardup.cli.show import Talk
    from neardup.result import Result

    talk = Talk(quiet=given["quiet"])
    with talk:
        session = LabellingSession.begin(
            Result.open(out, talk),
            out / "audit",
            pairs=given["pairs"],
            seed=given["seed"],
            labeller=given["labeller"] or "",
        )
    if session.labels.cut:
        talk.say("The last line of labels.jsonl is cut off and was never acknowledged; it is passed over.")

    def ready(url: str) -> None:
        talk.say(f"{_many(len(session.pairs), 'pair')}, {len(session.labels.current):,} labelled. Ctrl-C ends it.")
        click.echo(url)
        if given["open_browser"]:
            webbrowser.open(url)

    serve(session, port=given["port"] or 0, ready=ready)
    if given["as_json"]:
        _print_json(session.precision(confidence=given["confidence"]).to_dict())
    elif not given["quiet"]:
        _show_precision(_console(stderr=True), session, session.precision(confidence=given["confidence"]))


def _show_recall(console: "Console", found: "RecallAudit") -> None:
    """As a person reads it: the two answers, the numbers behind them, the pairs that were missed."""
    from rich.table import Table

    truth = found.truth
    how = "measured exactly" if truth.exact else "by the sketches"
    more = "" if truth.same_site is None else f" ({truth.same_site:g} for two pages of one host)"
    of = "All" if found.sampled == found.texts else f"A random {found.sampled:,} of"
    console.print("[bold]What this run found and missed[/bold]")
    console.print(
        f"[dim]{of} {found.texts:,} different texts, compared with all others. A pair: {truth.unit} ≥ "
        f"{truth.threshold:g}{more}, {how}.[/dim]"
    )
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold")
    table.add_column(justify="right")
    table.add_column(style="dim")
    if found.missed_removals is None:
        why = "cannot be measured: these sketches see only pairs that share a feature"
        table.add_row("removals", "–", why)
        table.add_row("pairs", "–", why)
    else:
        missed, low, high = found.missed_removals
        between = "" if found.sampled == found.texts else f" ({low:,.0f} to {high:,.0f})"
        table.add_row(
            "removals", _share(found.removals), f"of the texts that should go are gone; {missed:,.0f}{between} left"
        )
        table.add_row(
            "pairs", _share(found.features),
            "of the true pairs share a feature" + (f"; {found.predicted:.1%} predicted" if found.predicted else ""),
        )  # fmt: skip
    precision = found.precision
    if precision.threshold is not None and precision.sampled:
        table.add_row(
            "measured again", _share(precision.passing),
            f"of {_many(precision.sampled, 'removed document')}: {precision.unit} ≥ {precision.threshold:g}{more} with "
            "the kept one",
        )  # fmt: skip
    elif precision.sampled:
        q = precision.quantiles
        table.add_row(
            "measured again", f"{q['0.5']:.2f}",
            f"median {precision.unit} of {_many(precision.sampled, 'removed document')} with the kept one; 5 % below "
            f"{q['0.05']:.2f}",
        )  # fmt: skip
    if precision.copies:
        have = "removed document has" if precision.copies == 1 else "removed documents have"
        table.add_row("copies", f"{precision.copies:,}", f"{have} the same words as the kept one")
    if found.blind:
        table.add_row(
            "[yellow]blind[/yellow]",
            f"{found.blind:,}",
            f"{'text has a sketch' if found.blind == 1 else 'texts have sketches'} too small to find neighbours by; "
            "left out",
        )
    if found.partly:
        table.add_row(
            "[yellow]crowded[/yellow]",
            f"{found.partly:,}",
            "sampled texts have so many neighbours that only some are judged: this may report too few as left",
        )
    if found.against_index:
        table.add_row(
            "[yellow]not looked at[/yellow]",
            f"{found.against_index:,}",
            "documents were removed for a document of the index: nothing is said of them here",
        )
    console.print(table)
    _show_ranges(console, found)
    _show_missed(console, found)


def _show_ranges(console: "Console", found: "RecallAudit") -> None:
    from rich.table import Table

    if not any(r.judged for r in found.ranges):
        more = "" if found.sampled == found.texts else "; raise --sample to be surer"
        console.print(f"\nNo pair of the sample is one, so there is nothing to miss{more}.")
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in (found.truth.unit, "pairs", "share a feature", "predicted"):
        table.add_column(name, justify="left" if name == found.truth.unit else "right", no_wrap=True)
    for r in found.ranges:
        table.add_row(
            f"{r.low:g} to {r.high:g}", f"{r.judged:,}", _share(r.share),
            "–" if r.predicted is None else f"{r.predicted:.1%}",
        )  # fmt: skip
    console.print()
    console.print(table)


def _show_missed(console: "Console", found: "RecallAudit") -> None:
    from rich.table import Table
    from rich.text import Text

    if not found.missed:
        return
    shown = found.missed[:10]
    more = f", {len(shown)} of {len(found.missed)} in recall.json" if len(found.missed) > len(shown) else ""
    console.print(f"\n[bold]Missed pairs[/bold] [dim](the most similar{more})[/dim]")
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in (found.truth.unit, "first", "second", "why", ""):
        table.add_column(name, overflow="fold")
    for pair in shown:
        names = (Text(_plain(name)) for name in (pair.first, pair.second))
        table.add_row(f"{pair.value:.4g}", *names, pair.why, "both kept" if pair.both_kept else "")
    console.print(table)


def _show_precision(console: "Console", session: "LabellingSession", found: "Precision") -> None:
    from rich.table import Table

    console.print(
        "[bold]What people say of the removals[/bold]\n"
        f"[dim]{found.labelled:,} of {_many(found.drawn, 'pair')} labelled: "
        f"{found.correct:,} correct, {found.incorrect:,} incorrect, {found.undecided:,} undecided.[/dim]"
    )
    if not found.labelled:
        console.print("[dim]Nothing is labelled yet.[/dim]")
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("", "correct", "if undecided ones were"):
        table.add_column(name, justify="left" if not name else "right", no_wrap=True)
    table.add_row("[bold]all removals[/bold]", _share(found.low), _share(found.high))
    for name, (low, high) in {**found.by_site, **found.by_relation}.items():
        if low.value is not None and name != "any site":
            table.add_row(f"  {name}", _share(low), _share(high))
    console.print(table)
    for name, number in list(found.reasons.items())[:8]:
        console.print(f"[dim]  {number:>4,}  {name}[/dim]")
    if found.covered < 0.9995:
        console.print(
            f"[dim]This is about {found.covered:.1%} of the removals: the other strata have no label yet.[/dim]"
        )
    agreed, several = session.agreement()
    if several == 1:
        console.print(f"[dim]1 pair has two judges or more, who {'agree' if agreed else 'do not agree'}.[/dim]")
    elif several:
        console.print(f"[dim]{several:,} pairs have two judges or more, who agree on {agreed:,}.[/dim]")


def _many(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def _share(share: "Share") -> str:
    if share.value is None:
        return "–"
    if share.low == share.high:
        return f"{share.value:.1%}"
    return f"{share.value:.1%} ({share.low:.1%} to {share.high:.1%})"


def _plain(name: str) -> str:
    """An id on a terminal."""
    from neardup.comparing.documents import inert

    shown = inert(name)
    return shown if len(shown) <= 80 else shown[:79] + "…"


def _quoted(out: Path) -> str:
    import shlex

    return shlex.quote(str(out))


def _console(*, stderr: bool = False) -> "Console":
    from rich.console import Console

    console = Console(stderr=stderr, highlight=False)
    return console if console.is_terminal else Console(stderr=stderr, highlight=False, width=160)


def _print_json(value: Any) -> None:
    json.dump(value, sys.stdout, indent=1)
    sys.stdout.write("\n")
