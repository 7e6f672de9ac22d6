"""The figures on the screen."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from benchmarks.speed import measure
from benchmarks.speed.quality import Quality
from benchmarks.speed.systems import Run

WIDTH = 118


def console() -> Console:
    """stdout, wide enough for the table even when it is not a terminal."""
    found = Console()
    return found if found.is_terminal and found.width >= WIDTH else Console(width=WIDTH)


def results(title: str, rows: Sequence[tuple[Run, Quality | None]]) -> Table:
    """Cost beside quality, one line per system."""
    table = Table(title=title, title_justify="left")
    table.add_column("system")
    for name in ("wall s", "CPU s", "MB/s", "peak MB", "tree MB", "recall", "strict", "precision", "removed"):
        table.add_column(name, justify="right")
    for run, quality in rows:
        if run.failure is not None:
            table.add_row(run.system, "[red]failed[/red]", end_section=False)
            continue
        cost = measure.best(run.costs)
        figures = (
            f"{cost.wall:.2f}",
            f"{cost.cpu:.2f}",
            f"{run.text_bytes / 1e6 / cost.wall:.1f}",
            f"{cost.peak_rss / 1e6:.0f}",
            f"{cost.peak_tree / 1e6:.0f}",
        )
        table.add_row(run.system, *figures, *_quality(quality))
    return table


def failures(runs: Sequence[Run]) -> list[str]:
    """A sentence for every run that failed."""
    return [f"{run.system} on {run.corpus} failed: {run.failure}" for run in runs if run.failure is not None]


def _quality(quality: Quality | None) -> tuple[str, ...]:
    if quality is None:
        return ("–",) * 4
    shares = (quality.recall, quality.recall_strict, quality.precision)
    return (*("–" if share is None else f"{share:.4f}" for share in shares), f"{quality.removed:,}")
