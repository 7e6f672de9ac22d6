"""`python -m benchmarks.scale`: 1 to 200 million documents clustered by [6,14,2], in memory and from disk.

Asked for: 200 million documents in less than 180 s with less than 18 GB on two threads; from disk 3 times that at most.
The last case in memory needs 17 GB of memory, the last from disk 10 GB of disk for the features and 5 GB for names.
Results go to results/scale.json, with table and plot beside it; cases that are not run again keep their figures.

From disk the features are read many times, and a machine with much free memory remembers files. `--ballast` gigabytes
are held by the benchmark itself while the cases from disk run, so that it cannot.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.scale import plot
from benchmarks.scale.linking import allowed, measure_apart
from benchmarks.speed import machine

RESULTS = Path(__file__).parent / "results"
COLUMNS = ("documents", "from", "memory_mb", "seconds", "cpu_seconds", "peak_mb", "bytes_per_document", "wrong")


def main(argv: list[str] | None = None) -> int:
    """Measure, write, draw and print; 1 if a label was wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__.partition("\n")[0])
    parser.add_argument("--documents", type=float, nargs="+", default=[1e6, 1e7, 1e8, 2e8])
    parser.add_argument("--ways", nargs="+", choices=["memory", "disk"], default=["memory", "disk"])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--bytes", type=float, default=10, help="memory per document from disk (default 10)")
    parser.add_argument("--folder", help="where features and names are written (default: the system's)")
    parser.add_argument("--ballast", type=float, default=0, help="gigabytes held during cases from disk (default 0)")
    parser.add_argument("--picture", type=Path, help="one more place for the plot, .svg or .png")
    parser.add_argument("--results", type=Path, default=RESULTS)
    asked = parser.parse_args(argv)
    path = asked.results / "scale.json"
    rows: dict[tuple[int, str], dict[str, Any]] = {}
    if path.exists():
        rows = {(row["documents"], row["from"]): row for row in json.loads(path.read_text())["rows"]}
    wrong = 0
    for n in map(int, asked.documents):
        for way in asked.ways:
            memory = allowed(n, asked.bytes) if way == "disk" else None
            ballast = np.ones(int(asked.ballast * 1e9) if way == "disk" else 0, np.uint8)
            row = measure_apart(n, threads=asked.threads, memory=memory, folder=asked.folder)
            described = {key: machine.describe()[key] for key in ("time", "commit")}
            rows[n, way] = {**row, "ballast_mb": ballast.nbytes / 1e6, **described}
            del ballast
            wrong += row["wrong"]
            print(" ".join(f"{name} {row[name]}" for name in COLUMNS), flush=True)
            asked.results.mkdir(parents=True, exist_ok=True)
            ordered = [rows[key] for key in sorted(rows, key=lambda key: (key[1] == "disk", key[0]))]
            path.write_text(json.dumps({**machine.describe(), "rows": ordered}, indent=1) + "\n")
    for picture in filter(None, (asked.results / "scale.svg", asked.picture)):
        plot.draw(ordered, picture)
    (asked.results / "scale.md").write_text(table(ordered) + "\n")
    print(table(ordered))
    return int(wrong > 0)


def table(rows: list[dict[str, Any]]) -> str:
    """The results for the documentation."""
    lines = [
        "| documents | way | seconds | ns a document | CPU seconds | peak, MB | bytes a document | wrong labels |",
        "| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        way = "in memory" if row["from"] == "memory" else f"from disk, {row['memory_mb']:,.0f} MB allowed"
        each = row["seconds"] / row["documents"] * 1e9
        lines.append(
            f"| {row['documents']:,} | {way} | {row['seconds']:,.1f} | {each:,.0f} | "
            f"{row['cpu_seconds']:,.1f} | {row['peak_mb']:,.0f} | {row['bytes_per_document']:.1f} | {row['wrong']} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
