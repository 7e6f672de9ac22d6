"""`python -m benchmarks.speed.scaling`: time and memory of `neardup dedup` against the number of documents.

For each size: best wall time of --repeat runs, microseconds per document, and the peak resident set. The
slope of the peak over the sizes (least squares) is what one more document costs in memory.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks.speed import corpus, machine, measure, ours
from benchmarks.speed.settings import default_work
from benchmarks.speed.systems import scratch
from benchmarks.speed.table import console

SIZES = (50_000, 200_000, 1_000_000)


def main(argv: list[str] | None = None) -> int:
    """Measure every size and print; 1 if a run failed."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.speed.scaling",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--sizes", type=_sizes, default=list(SIZES), help="comma-separated numbers of documents")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--threshold", type=float, default=0.8)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--work", type=Path, default=default_work())
    parser.add_argument("--json", type=Path, default=None)
    options = parser.parse_args(argv)
    try:
        ours.warm_up(options.work, threshold=options.threshold, threads=options.threads)
        rows = [_measured(size, options) for size in options.sizes]
    except (ours.MissingCommandError, measure.CommandFailedError) as error:
        print(f"failed: {error}", file=sys.stderr)
        return 1
    slope = bytes_per_document(rows)
    if options.json:
        report = {
            **machine.describe(),
            "threads": options.threads,
            "sizes": rows,
            "rss_bytes_per_document": slope,
        }
        options.json.write_text(json.dumps(report, indent=2) + "\n")
    _print(rows, slope, options)
    return 0


def bytes_per_document(rows: list[dict[str, Any]]) -> float | None:
    """Least-squares slope of peak memory over documents; None for a single size."""
    if len(rows) < 2:
        return None
    return float(np.polyfit([row["documents"] for row in rows], [row["peak_rss"] for row in rows], 1)[0])


def _measured(size: int, options: argparse.Namespace) -> dict[str, Any]:
    made = corpus.build(corpus.Parameters(size), options.work)
    costs = []
    for _ in range(options.repeat):
        print(f"running neardup on {made.path.name} …", file=sys.stderr)
        with scratch(options.work, "neardup") as folder:
            costs.append(
                ours.dedup(
                    made.path,
                    folder / "out",
                    work=options.work,
                    threshold=options.threshold,
                    threads=options.threads,
                )
            )
    return {"documents": size, "text_bytes": made.text_bytes, **asdict(measure.best(costs))}


def _print(rows: list[dict[str, Any]], slope: float | None, options: argparse.Namespace) -> None:
    title = f"neardup dedup, {options.threads} threads, best of {options.repeat}"
    table = Table()
    for name in ("documents", "wall s", "CPU s", "µs/document", "MB/s", "peak MB"):
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(
            f"{row['documents']:,}",
            f"{row['wall']:.2f}",
            f"{row['cpu']:.2f}",
            f"{row['wall'] / row['documents'] * 1e6:.1f}",
            f"{row['text_bytes'] / 1e6 / row['wall']:.1f}",
            f"{row['peak_rss'] / 1e6:.0f}",
        )
    screen = console()
    screen.print(title, highlight=False)
    screen.print(table)
    if slope is not None:
        screen.print(f"peak memory grows by {slope:.0f} bytes per document")


def _sizes(text: str) -> list[int]:
    try:
        return [int(part.replace("_", "")) for part in text.split(",")]
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"not a list of numbers: {text!r}") from error


if __name__ == "__main__":
    sys.exit(main())
