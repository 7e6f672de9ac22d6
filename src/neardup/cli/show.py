"""What a person sees while the command runs, and at its end. All of it on stderr."""

import shlex
import time
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from neardup.analysis.filters import Filter
from neardup.cli.terminal import harmless
from neardup.clusters.settings import MOST
from neardup.kernels.groups import ODD, SITES
from neardup.recipe import Recipe
from neardup.recipes import name_of
from neardup.result import Result
from neardup.sketches.base import Comparison
from neardup.sources.problems import COMPARED_ANYWAY

if TYPE_CHECKING:
    from neardup.spark.result import SparkResult

_TITLES = {
    "sketch": "Reading and sketching",
    "candidates": "Finding candidates",
    "verify": "Measuring candidates",
    "write": "Writing",
    "report": "Making the report",
    "compare": "Comparing by sketches",
    "measure": "Measuring pairs",
    "texts": "Reading texts",
}
"""Steps that get a bar; the others take no time worth one."""


def _console() -> Console:
    """On stderr. Where nobody looks, lines are not folded."""
    console = Console(stderr=True, highlight=False)
    return console if console.is_terminal else Console(stderr=True, highlight=False, width=240)


class _Rate(ProgressColumn):
    """Documents and megabytes per second."""

    def render(self, task: Task) -> Text:
        elapsed = task.elapsed or 1e-9
        documents, text = task.fields["documents"], task.fields["text"]
        parts = [f"{documents / elapsed:,.0f} documents/s"] if documents else []
        if text:
            parts.append(f"{text / elapsed / 1e6:,.0f} MB/s")
        return Text(" · ".join(parts), style="cyan", no_wrap=True)


class Talk:
    """Progress bars on a terminal, sentences anywhere, nothing when quiet."""

    def __init__(self, *, quiet: bool = False, verbose: bool = False) -> None:
        self.console = _console()
        self.quiet, self.verbose = quiet, verbose
        self._bars = Progress(
            TextColumn("{task.description:<22}"),
            BarColumn(14),
            _Rate(),
            TimeRemainingColumn(compact=True),
            console=self.console,
            disable=quiet or not self.console.is_terminal,
        )
        self._task: TaskID | None = None
        self._step, self._since = "", 0.0

    def __enter__(self) -> "Talk":
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def begin(self, step: str, total: int) -> None:
        """A new bar."""
        self._step, self._since = step, time.perf_counter()
        if step in _TITLES:
            self._task = self._bars.add_task(_TITLES[step], total=total or None, documents=0, text=0)

    def advance(self, done: int, documents: int, text: int) -> None:
        """Move it."""
        if self._task is not None and not self._bars.disable:
            task = self._bars.tasks[self._task]
            self._bars.update(
                self._task,
                advance=done,
                documents=task.fields["documents"] + documents,
                text=task.fields["text"] + text,
            )

    def end(self) -> None:
        """Fill it."""
        if self._task is not None:
            task = self._bars.tasks[self._task]
            total = task.total or 1
            self._bars.update(self._task, total=total, completed=total)
            self._task = None
        if self.verbose:
            self.say(f"{self._step}: {time.perf_counter() - self._since:.2f} s")

    def say(self, sentence: str) -> None:
        """A line of its own."""
        if not self.quiet:
            self.console.print(Text(harmless(sentence), style="dim"))


def many(number: int, word: str) -> str:
    """A number of things."""
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def in_bytes(n: float) -> str:
    """A number of bytes, for people."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if n < 1000 or unit == "GB":
            return f"{n:,.0f} {unit}" if unit == "bytes" else f"{n:,.1f} {unit}"
        n /= 1000
    raise AssertionError


def summary(
    result: "Result | SparkResult", out: Path | str, *, corpus: bool, annotate: bool, report: bool, verbose: bool
) -> None:
    """A few lines at the end: what went, what stays, how sure, where to look."""
    console = _console()
    counts, recipe = result.counts, result.recipe
    total = max(1, counts["documents"])
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold")
    table.add_column(justify="right")
    table.add_column(style="dim")
    table.add_row("documents", f"{counts['documents']:,}", in_bytes(counts["text_bytes"]) + " of text")
    table.add_row("[green]kept[/green]", f"{counts['kept']:,}", f"{counts['kept'] / total:.1%}")
    table.add_row(
        "[red]removed[/red]", f"{counts['removed']:,}",
        f"{counts['removed'] / total:.1%}, {in_bytes(counts['text_bytes_removed'])} of text",
    )  # fmt: skip
    for relation, number in counts["removed_by_relation"].items():
        if number:
            table.add_row(f"  {relation}", f"{number:,}", _meaning(relation, recipe))
    if counts["removed_against_index"]:
        known = f"{counts['removed_against_index']:,}"
        how = sorted(set(result.known_by))
        table.add_row("  known", known, f"of all these, for a document of the index: by {', '.join(how)}")
    if counts["groups"]:
        table.add_row("groups", f"{counts['groups']:,}", f"the largest has {counts['largest_group']:,} documents")
    if counts["empty"]:
        table.add_row("empty", f"{counts['empty']:,}", "no letters or digits; not compared, kept")
    if counts["short"]:
        table.add_row(
            "short", f"{counts['short']:,}", f"fewer than {recipe.shingles.width} tokens; compared as a whole"
        )
    problems = counts["skipped_by_kind"]
    if problems:
        table.add_row("[yellow]problems[/yellow]", f"{sum(problems.values()):,}", "listed in skipped.parquet")
    for kind, number in problems.items():
        table.add_row(f"  {kind}", f"{number:,}", "compared like others" if kind in COMPARED_ANYWAY else "not compared")
    if counts["crowded"]:
        table.add_row("[yellow]crowded[/yellow]", f"{counts['crowded']:,}", crowded(counts, recipe))
    console.print()
    console.print(table)
    seconds = sum(s.seconds for s in result.steps)
    estimated = result.known_by.count("estimate")
    console.print(f"\n[dim]{judged(recipe, estimated)} · {seconds:.1f} s · {named(recipe)}{_chances(recipe)}[/dim]")
    if verbose and recipe.filter:
        console.print(_curve(recipe, recipe.filter))
    folder = escape(harmless(str(out)))
    if corpus:
        console.print(f"[bold]{folder}/kept[/bold]  {'all documents, annotated' if annotate else 'the clean corpus'}")
    console.print(f"[bold]{folder}/removed.parquet[/bold]  for every removed document the kept one and the numbers")
    if report:
        console.print(f"[bold]{folder}/report.html[/bold]  to look at: what went, how sure it is, group by group")
    if counts["removed"] and "://" not in str(out):
        first = result.a_removed_one
        if first.isprintable() and str(out).isprintable():  # others could not be typed, and a terminal would obey them
            asked = escape(f"neardup explain {shlex.quote(str(out))} {shlex.quote(first)}")
            console.print(f"[dim]Why one of them: {asked}[/dim]", soft_wrap=True)


def crowded(counts: dict[str, Any], recipe: Recipe) -> str:
    """Say what is lost because of documents that were compared with some of their candidates alone."""
    said = f"kept, and compared with {recipe.clusters.crowd:,} of more candidates under a key"
    lost = counts.get("recall_lost_in_crowds")
    if lost is not None:
        said += (
            f"; {lost['share']:.1%} of the near-duplicates are missed by it ({lost['low']:.1%} to {lost['high']:.1%})"
        )
    return f"{said}. More: --set clusters.crowd={min(4 * recipe.clusters.crowd, MOST)}"


def judged(recipe: Recipe, estimated: int = 0) -> str:
    """Say what makes a pair a pair here; so many removals for documents of an index rest on an estimate."""
    sketcher, method = recipe.sketcher, recipe.verify.method
    threshold = f"threshold {recipe.verify.threshold:g}"
    if method == "none":
        return "not verified: documents that share a key"
    rule = _rule(sketcher.comparison)
    if sketcher.on_the_fly is not None:
        rule += f" and {_rule(sketcher.on_the_fly.comparison)}"
    if method == "exact":
        what = "containment" if sketcher.comparison.contained else "pair"
        if recipe.verify.by_place:
            threshold += f", {recipe.verify.same_site:g} for two pages of one host"
        exactly = f"every {what} measured exactly"
        if estimated:
            exactly = f"{what}s of the inputs measured exactly, {estimated:,} with the index estimated"
        return f"{threshold} · {exactly}" + (f" · {rule}" if rule else "")
    if rule:
        return rule
    number = f" from {sketcher.estimators} samples" if sketcher.estimators else ""
    if sketcher.comparison.kind == ODD:
        number = f" from {sketcher.comparison.parameters[0]:g} bits"
    return f"{threshold} · {sketcher.comparison.measure} estimated{number}"


def _rule(comparison: Comparison) -> str:
    """The sketch's own rule; nothing where the threshold is the rule."""
    if comparison.kind == SITES:
        _, r, same, different, bits = comparison.parameters
        return f"between sites {different:g} of {bits:g} bits equal, within one {same:g} bits and {r:g} features"
    if comparison.similar is None:
        return ""
    if comparison.measure == "bloom":
        return f"{comparison.similar:.0%} of the filters' bits equal"
    if comparison.measure == "lists":
        return f"an equal list in {comparison.similar:g} of {comparison.full:g} repetitions"
    what = {"b-similarity": "features", "c-similarity": "bits"}[comparison.measure]
    return f"{comparison.similar:g} of {comparison.full:g} {what} equal"


def named(recipe: Recipe) -> str:
    """The recipe's name, where it has one, and its id."""
    name = name_of(recipe, any_seed=True)
    return f"recipe {name} ({recipe.id})" if name else f"recipe {recipe.id}"


def _chances(recipe: Recipe) -> str:
    """How likely pairs are found by their features."""
    filter = recipe.filter
    if filter is None:
        return ""
    points = {x / 10 for x in range(1, 10) if 0.01 < filter.probability(x / 10) < 0.99}
    if recipe.thresholded:
        points.add(recipe.verify.threshold)
    chances = " · ".join(f"{x:g}: {filter.probability(x):.1%}" for x in sorted(points))
    needed = f"{filter.r} of {filter.k}" if filter.r > 1 else f"{filter.k}"
    return f"\n{needed} features of {filter.s} min-hashes find pairs of resemblance {chances}"


def _meaning(relation: str, recipe: Recipe) -> str:
    if relation == "near":
        if recipe.clusters.method == "components":
            return "connected by similar documents"
        if recipe.verify.method == "none":
            return "share a key"
        if not recipe.thresholded:
            return "similar by the recipe's rule"
        what = "containment" if recipe.sketcher.comparison.contained else "resemblance"
        return f"{what} at or above the threshold" + ("" if recipe.verify.method == "exact" else ", estimated")
    most = "enough" if recipe.sketcher.comparison.contained else "all"
    return {
        "identical": "the same words",
        "contained": f"{most} of it is in the kept one",
        "contains": f"{most} of the kept one is in it",
    }[relation]


def _curve(recipe: Recipe, filter: Filter) -> Table:
    """The chance that a pair is found, by its resemblance."""
    table = Table.grid(padding=(0, 1))
    for x, p in filter.curve(21):
        mark = " ← threshold" if recipe.thresholded and abs(x - recipe.verify.threshold) < 0.025 else ""
        table.add_row(f"{x:.2f}", "█" * round(p * 40), f"{p:.3%}{mark}", style="cyan" if mark else "dim")
    return table
