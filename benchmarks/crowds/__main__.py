"""`python -m benchmarks.crowds`: recall and precision in crowds, on every engine and beside peers; and what it costs.

    python -m benchmarks.crowds                                             # everything, hours
    python -m benchmarks.crowds --systems local --sizes 500 2000 10000      # some of it
    python -m benchmarks.crowds --systems text-dedup datatrove --sizes 2000 10000 --orders shuffled

A row is a crowd: R0 (between) is the resemblance of any two originals, r (duplicate) that of a duplicate to its
original, threshold the recipe's. Time per document is compared with that of unrelated documents of the same length in
the same run. Cases that are not run again keep their figures in the results file, unless --fresh is given. Exit code 1:
two engines gave different answers.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.crowds import corpus, systems
from benchmarks.crowds.corpus import ORDERS, Hosts, Order, Parameters
from benchmarks.crowds.scores import digest, score
from benchmarks.speed import machine
from benchmarks.speed.settings import default_work

RESULTS = Path(__file__).parent / "results"
SIZES = (500, 2_000, 10_000, 50_000)
SPARK_SIZES = (500, 2_000)
UNRELATED = 100_000
WARM_UP = 60
GOAL = 0.985


@dataclass(frozen=True)
class Row:
    """A kind of crowd."""

    recipe: str
    between: float
    duplicate: float
    threshold: float
    hosts: Hosts = "own"

    @property
    def name(self) -> str:
        where = {"default": "", "web": ", one host" if self.hosts == "one" else ", other hosts"}[self.recipe]
        return f"{self.recipe}{where} {self.between:.2f}/{self.duplicate:.2f}"


ROWS = (
    Row("default", 0.79, 0.85, 0.80),
    Row("default", 0.75, 0.82, 0.80),
    Row("default", 0.70, 0.85, 0.80),
    Row("default", 0.60, 0.81, 0.80),
    Row("web", 0.64, 0.70, 0.65),
    Row("web", 0.60, 0.70, 0.65),
    Row("web", 0.80, 0.88, 0.85, "one"),
)


def main(argv: list[str] | None = None) -> int:
    """Run the cases, write and print the results."""
    options = _options(argv)
    rows = [ROWS[number - 1] for number in options.rows]
    path: Path = options.results
    found: dict[str, Any] = {"rows": [], "unrelated": []}
    if path.exists() and not options.fresh:
        found = json.loads(path.read_text())
    results = {_key(row): row for row in found["rows"]}
    baselines = {(row["system"], row["recipe"]): row for row in found["unrelated"]}
    measured: set[tuple[str, str]] = set()
    path.parent.mkdir(parents=True, exist_ok=True)
    for size in options.sizes or SIZES:
        for row in rows:
            for order in options.orders:
                names = [name for name in options.systems if options.sizes or _fits(name, size)]
                if row.recipe != "default":  # the peers have no rule by hosts, and bands for 0.8
                    names = [name for name in names if name in systems.OURS]
                made = None
                for name in names:
                    if name in systems.OURS and (name, row.recipe) not in measured:
                        measured.add((name, row.recipe))
                        if (baseline := _baseline(name, row.recipe, options)) is not None:
                            baselines[name, row.recipe] = baseline
                    made = made or _made(Parameters(size, row.between, row.duplicate, order, row.hosts), options.work)
                    result = _case(name, row, size, order, *made, options.work)
                    result["relative"] = _relative(result, baselines.get((name, row.recipe)))
                    results[_key(result)] = result
                    print(_line(result), file=sys.stderr, flush=True)
                    ordered = sorted(results.values(), key=_position)
                    report = {**machine.describe(), "rows": ordered, "unrelated": list(baselines.values())}
                    path.write_text(json.dumps(report, indent=1) + "\n")
                if made:
                    made[0].unlink()
    ordered = sorted(results.values(), key=_position)
    print(table(ordered))
    different = _different(ordered)
    for sentence in different:
        print(sentence, file=sys.stderr)
    return 1 if different else 0


def _options(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.crowds", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    numbered = ", ".join(f"{number} {row.name}" for number, row in enumerate(ROWS, 1))
    numbers = range(1, len(ROWS) + 1)
    parser.add_argument("--rows", type=int, nargs="+", choices=numbers, default=list(numbers), help=numbered)
    parser.add_argument("--systems", nargs="+", choices=systems.SYSTEMS, default=list(systems.OURS))
    parser.add_argument("--sizes", type=int, nargs="+", help=f"originals; Spark has {SPARK_SIZES} if not given")
    parser.add_argument("--orders", nargs="+", choices=ORDERS, default=list(ORDERS))
    parser.add_argument("--unrelated", type=int, default=UNRELATED, help="unrelated documents to compare with; 0: none")
    parser.add_argument("--fresh", action="store_true", help="forget the cases of earlier runs")
    parser.add_argument("--work", type=Path, default=default_work(), help="where collections and environments are made")
    parser.add_argument("--results", type=Path, default=RESULTS / "crowds.json")
    options = parser.parse_args(argv)
    options.work = options.work.resolve()
    return options


def _fits(system: str, size: int) -> bool:
    return system != "spark" or size in SPARK_SIZES


def _made(parameters: Parameters, work: Path, name: str = "crowd") -> tuple[Path, pa.Table, corpus.Layout]:
    """Write a crowd; its file, the true pairs, and the resemblances that it has."""
    made = corpus.crowd(parameters)
    file = work / "crowds" / f"{name}-{os.getpid()}.parquet"
    file.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(made.documents, file)
    return file, made.truth, made.layout


def _baseline(system: str, recipe: str, options: argparse.Namespace) -> dict[str, Any] | None:
    """Load or compile the kernels, then measure unrelated documents."""
    file, _, _ = _made(Parameters(WARM_UP, 0.7, 0.85), options.work, "unrelated")
    systems.run("index" if system == "index" else "local", file, recipe, options.work)  # Spark has the same kernels
    file.unlink()
    if not options.unrelated:
        return None
    pq.write_table(corpus.unrelated(options.unrelated), file)
    outcome = systems.run(system, file, recipe, options.work)
    file.unlink()
    found = {"system": system, "recipe": recipe, "removed": len(outcome.removed)}
    return {**found, **_costs(outcome, options.unrelated)}


def _case(
    system: str, row: Row, size: int, order: Order, file: Path, truth: pa.Table, layout: corpus.Layout, work: Path
) -> dict[str, Any]:
    outcome = systems.run(system, file, row.recipe, work, threshold=row.threshold)
    scored = score(outcome.removed, zip(truth["duplicate"].to_pylist(), truth["original"].to_pylist(), strict=True))
    return {
        "system": system,
        "recipe": row.recipe,
        "between": row.between,
        "duplicate": row.duplicate,
        "hosts": row.hosts,
        "threshold": row.threshold,
        "originals": size,
        "order": order,
        "achieved": [round(layout.between, 4), round(layout.duplicate, 4)],
        "recall": round(scored.recall, 5),
        "interval": [round(bound, 5) for bound in scored.interval],
        "precision": scored.precision if scored.precision is None else round(scored.precision, 5),
        "removed": scored.removed,
        "wrong": scored.removed - scored.right,
        "lost": scored.lost,
        "answer": digest(outcome.removed) if system in systems.OURS else None,
        **_costs(outcome, 2 * size),
        "counts": outcome.counts,
    }


def _costs(outcome: systems.Outcome, documents: int) -> dict[str, Any]:
    described = machine.describe()
    return {
        "documents": documents,
        "seconds": round(outcome.seconds, 2),
        "cpu_seconds": round(outcome.cpu_seconds, 2),
        "work_seconds": round(outcome.work_seconds, 2),
        "work_cpu_seconds": round(outcome.work_cpu_seconds, 2),
        "peak_mb": round(outcome.peak_bytes / 1e6, 1),
        "commit": described["commit"],
        "time": described["time"],
        "load_average": described["machine"]["load_average"],
    }


def _relative(result: dict[str, Any], baseline: dict[str, Any] | None) -> dict[str, float] | None:
    """Time per document as a multiple of that of unrelated documents."""
    if baseline is None:
        return None
    names = ("work_seconds", "work_cpu_seconds")
    return {
        name: round(result[name] / result["documents"] / (baseline[name] / baseline["documents"]), 2) for name in names
    }


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Return the results as Markdown."""
    lines = [
        "| crowd | originals | order | system | recall | precision | lost | same answer | ms a document | CPU ms "
        "| × unrelated | × CPU | peak, MB |",
        "| --- | ---: | --- | --- | --- | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    answers: dict[tuple[Any, ...], str] = {}
    for row in rows:
        case = _key(row)[1:]
        same = "–"
        if row["answer"]:
            same = "" if case not in answers else "yes" if answers[case] == row["answer"] else "NO"
            answers.setdefault(case, row["answer"])
        lines.append(_line(row, same))
    return "\n".join(lines)


def _line(row: dict[str, Any], same: str = "") -> str:
    name = Row(row["recipe"], row["between"], row["duplicate"], row["threshold"], row["hosts"]).name
    low, high = row["interval"]
    mark = "" if high >= GOAL else " <"
    precision = "–" if row["precision"] is None else f"{row['precision']:.4f}"
    relative = row["relative"] or {}
    times = [f"{relative[name]:.2f}" if name in relative else "–" for name in ("work_seconds", "work_cpu_seconds")]
    n = row["documents"]
    return (
        f"| {name} | {row['originals']:,} | {row['order']} | {row['system']} "
        f"| {row['recall']:.4f} [{low:.3f}, {high:.3f}]{mark} | {precision} | {row['lost']:,} | {same} "
        f"| {row['work_seconds'] / n * 1e3:.2f} | {row['work_cpu_seconds'] / n * 1e3:.2f} | {' | '.join(times)} "
        f"| {row['peak_mb']:,.0f} |"
    )


def _different(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Name the cases in which two engines gave different answers."""
    first: dict[tuple[Any, ...], dict[str, Any]] = {}
    found = []
    for row in rows:
        if row["answer"]:
            other = first.setdefault(_key(row)[1:], row)
            if other["answer"] != row["answer"]:
                found.append(
                    f"{row['recipe']} {row['between']}/{row['duplicate']}, {row['originals']:,} originals, "
                    f"{row['order']}: {other['system']} removed {other['removed']:,}, {row['system']} "
                    f"{row['removed']:,}, and not the same for the same."
                )
    return found


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    names = ("system", "recipe", "between", "duplicate", "hosts", "originals", "order")
    return tuple(row[name] for name in names)


def _position(row: dict[str, Any]) -> tuple[Any, ...]:
    kinds = [(kind.recipe, kind.between, kind.duplicate, kind.hosts) for kind in ROWS]
    kind = kinds.index((row["recipe"], row["between"], row["duplicate"], row["hosts"]))
    return kind, row["originals"], ORDERS.index(row["order"]), systems.SYSTEMS.index(row["system"])


if __name__ == "__main__":
    sys.exit(main())
