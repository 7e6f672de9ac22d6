"""`python -m benchmarks.recipes`: the systems' figures in one run, against those that were asked of them."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from benchmarks.recipes import bloom, hamming, linking, simhash, sketching
from benchmarks.speed import machine

RESULTS = Path(__file__).parent / "results" / "recipes.json"


def main(argv: list[str] | None = None) -> int:
    """Measure, print, write down; 1 if an answer was wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recipes", description=__doc__)
    parser.add_argument("--json", type=Path, default=RESULTS)
    options = parser.parse_args(argv)
    report = {
        **machine.describe(),
        "sketching": sketching.measure(),
        "algorithm C": simhash.measure(),
        "bloom": bloom.measure(),
        "hamming": hamming.measure(),
        "linking": [linking.measure_apart(n, threads=2) for n in (1_000_000, 10_000_000)],
    }
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(report, indent=2, default=float) + "\n")
    for name, row in report["sketching"].items():
        print(f"{name:12} {row['MB/s']:6.0f} MB/s from text on one core   {row['bytes']:5} bytes per document")
    ten = report["linking"][1]
    rows = [
        ("Algorithm C, 384 bits, from text", f"{report['algorithm C']['count, MB/s']:.0f} MB/s", "at least 80"),
        ("chunks and Bloom filter, from text", f"{report['bloom']['text to filter, MB/s']:.0f} MB/s", "at least 120"),
        ("two filters of 2048 bits", f"{report['bloom']['match neighbours, ns']:.0f} ns", "at most 100"),
        ("the same, as the recipe scores", f"{report['bloom']['score as the recipe does, ns']:.0f} ns", "at most 100"),
        ("320 results grouped", f"{report['bloom']['group 320, ms']:.2f} ms", "at most 10"),
        ("10 M documents linked by [6,14,2]", f"{ten['seconds']:.1f} s, {ten['peak_mb']:.0f} MB", "8 s, 1200 MB"),
        ("1 M signatures within 11 of 384 bits", f"{report['hamming']['seconds']:.1f} s", "at most 20"),
    ]
    print()
    for what, measured, asked in rows:
        print(f"{what:40} {measured:>16}   asked: {asked}")
    wrong = sum(row["wrong"] for row in report["linking"]) + report["hamming"]["missed"]
    print(f"wrong or missed: {wrong}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
