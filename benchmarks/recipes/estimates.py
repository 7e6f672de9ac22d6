"""`python -m benchmarks.recipes.estimates`: how well minima estimate the resemblance, from one hash and from many; and
what they cost.

Pairs of documents of n shingles each are made as random fingerprints, and go through the kernels that sketch:
    each   minima under t permutations (`kernels.text.minima`)
    once   minima in t bins, one hash per shingle (`kernels.text.minima_in_bins`, recipe one-pass)
Told are the mean of estimate - resemblance and the root of the mean of its square, beside sqrt(ρ(1-ρ)/t) and what
`analysis.bins` expects of `once`. The same for the share of pairs that k groups of s minima find.

Two published ways to fill empty bins stand beside it, simulated on the union as they are defined:
    densified  an empty bin copies one that is not (Shrivastava, "Optimal Densification", 2017)
    rounds     all shingles are thrown again until no bin is empty (Dahlgaard, Knudsen, Thorup, 2017)

The cost is that of the recipes default and one-pass from text to sketch, MB/s of one core in time of the thread, for
documents of several lengths; in turns, the best of five.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import neardup
from benchmarks.recipes.simhash import make_text
from benchmarks.speed import machine
from neardup.analysis import bins, filters
from neardup.analysis.estimators import minhash_error
from neardup.kernels import text as kernel
from neardup.text.batches import TextBatch

RESULTS = Path(__file__).parent / "results" / "estimates.json"
LENGTHS = (5, 20, 50, 200, 1000, 5000)
RESEMBLANCES = (0.2, 0.5, 0.8, 0.9, 0.95)
SIZES = {84: (12, 7), 140: (20, 7)}
"""Minima → the groups that make features of them."""
WORK = 400_000
"""Shingles per cell and document; 400 to 4,000 pairs are made of them."""
SIMULATED = 2000
"""Pairs."""
DOCUMENTS = (100, 400, 1_000, 3_200, 20_000)
"""Bytes."""
MEGABYTES = 8
REPEAT = 5

Agreed = NDArray[np.bool_]
"""A row for each pair: which minima agree."""


def overlap_of(shingles: int, resemblance: float) -> int:
    """How many shingles two documents of this length share to come nearest to the resemblance."""
    return round(2 * shingles * resemblance / (1 + resemblance))


def by_kernels(shingles: int, shared: int, size: int, trials: int, *, once: bool) -> Agreed:
    """Real minima of random fingerprints, under permutations drawn for every hundred pairs."""
    rng = np.random.default_rng(shingles * 10_000 + shared)
    agreed = np.empty((trials, size), np.bool_)
    low, high, spare = (np.empty(size, np.uint32) for _ in range(3))
    for trial in range(trials):
        if trial % 100 == 0:
            multiply = rng.integers(0, 2**32, size, dtype=np.uint32) | np.uint32(1)
            add = rng.integers(0, 2**32, size, dtype=np.uint32)
        union = rng.integers(0, 2**64 - 1, 2 * shingles - shared, dtype=np.uint64)
        for values, out in ((union[:shingles], low), (union[shingles - shared :], high)):
            if once:
                kernel.minima_in_bins(values, shingles, multiply, add, out, spare)
            else:
                kernel.minima(values, shingles, multiply, add, out)
        agreed[trial] = low == high
    return agreed


def by_copies(rng: np.random.Generator, winners: NDArray[np.int64]) -> None:
    """Every empty bin asks bins at random until one is not empty."""
    filled = np.flatnonzero(winners >= 0)
    empty = np.flatnonzero(winners < 0)
    winners[empty] = winners[rng.choice(filled, len(empty))]


def by_rounds(rng: np.random.Generator, winners: NDArray[np.int64], union: int) -> None:
    """All shingles are thrown again, as often as it takes, t times at most; then each empty bin draws its own."""
    size = len(winners)
    for _ in range(size - 1):
        if (winners >= 0).all():
            return
        thrown = throw(rng, union, size)
        np.copyto(winners, thrown, where=winners < 0)
    winners[winners < 0] = rng.integers(0, union, int((winners < 0).sum()))


def throw(rng: np.random.Generator, union: int, size: int) -> NDArray[np.int64]:
    """Which shingle is the least in each bin; -1 where none is."""
    winners = np.full(size, -1)
    winners[rng.integers(0, size, union)] = rng.permutation(union)  # the last one written stays: a random one
    return winners


def simulated(shingles: int, shared: int, size: int, fill: str) -> Agreed:
    """As `by_kernels`, from the definition."""
    rng = np.random.default_rng(shingles * 10_000 + shared)
    union = 2 * shingles - shared
    agreed = np.empty((SIMULATED, size), np.bool_)
    for trial in range(SIMULATED):
        winners = throw(rng, union, size)
        if fill == "densified":
            by_copies(rng, winners)
        else:
            by_rounds(rng, winners, union)
        agreed[trial] = winners < shared
    return agreed


def told(agreed: Agreed, resemblance: float, k: int, s: int) -> dict[str, float]:
    """Bias, error and the share of pairs that a feature finds."""
    off = agreed.mean(axis=1) - resemblance
    groups = agreed[:, : k * s].reshape(len(agreed), k, s)
    found = groups.all(axis=2).any(axis=1)
    return {"bias": float(off.mean()), "error": float(np.sqrt((off**2).mean())), "found": float(found.mean())}


def cell(shingles: int, shared: int, size: int) -> dict[str, Any]:
    """One length, overlap and number of minima."""
    k, s = SIZES[size]
    union = 2 * shingles - shared
    resemblance = shared / union
    trials = max(400, min(4000, WORK // shingles))
    ways: dict[str, Callable[[], Agreed]] = {
        "each": lambda: by_kernels(shingles, shared, size, trials, once=False),
        "once": lambda: by_kernels(shingles, shared, size, trials, once=True),
        "densified": lambda: simulated(shingles, shared, size, "densified"),
        "rounds": lambda: simulated(shingles, shared, size, "rounds"),
    }
    return {
        "minima": size,
        "shingles": shingles,
        "resemblance": resemblance,
        "pairs": trials,
        "formula": {
            "each": {"error": minhash_error(resemblance, size), "found": filters.probability(resemblance, k, s)},
            "once": {"error": bins.error(resemblance, size, union), "found": bins.found(shared, union, k, s)},
        },
        **{name: told(way(), resemblance, k, s) for name, way in ways.items()},
    }


def measure() -> list[dict[str, Any]]:
    """All cells: documents too short for a resemblance have the nearest that they can."""
    rows = []
    for size in SIZES:
        for shingles in LENGTHS:
            overlaps = {overlap_of(shingles, x) for x in RESEMBLANCES} - {0, shingles}
            rows += [cell(shingles, shared, size) for shared in sorted(overlaps)]
    return rows


def speeds() -> list[dict[str, float]]:
    """MB/s by the length of documents."""
    rows = []
    for size in DOCUMENTS:
        data, offsets = make_text(MEGABYTES * 1_000_000, size)
        batch = TextBatch(data, offsets)
        sketchers = {name: neardup.load_recipe(name).sketcher for name in ("default", "one-pass")}
        fastest = dict.fromkeys(sketchers, float("inf"))
        for turn in range(REPEAT + 1):
            for name, sketcher in sketchers.items():
                begin = time.thread_time()
                made = sketcher.sketch(batch)
                if turn:  # the first compiles
                    fastest[name] = min(fastest[name], time.thread_time() - begin)
        figures = {name: len(data) / 1e6 / seconds for name, seconds in fastest.items()}
        rows.append({"bytes": size, "words": float(made.tokens.mean()), **figures})
    return rows


def table(rows: list[dict[str, Any]]) -> str:
    """Markdown."""
    lines = [
        "| minima | shingles | resemblance | each: formula | measured | once: formula | measured | bias | densified | "
        "rounds | found, each | once: formula | measured |",
        "|" + "---|" * 13,
    ]
    for row in rows:
        each, once = row["formula"]["each"], row["formula"]["once"]
        lines.append(
            f"| {row['minima']} | {row['shingles']:,} | {row['resemblance']:.3f} | {each['error']:.4f} | "
            f"{row['each']['error']:.4f} | {once['error']:.4f} | {row['once']['error']:.4f} | "
            f"{row['once']['bias']:+.4f} | {row['densified']['error']:.4f} | {row['rounds']['error']:.4f} | "
            f"{each['found']:.4f} | {once['found']:.4f} | {row['once']['found']:.4f} |"
        )
    return "\n".join(lines)


def main(argv: list[str] | None = None) -> int:
    """Measure, print, write down; 1 if an estimate is biased or its error another than expected."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recipes.estimates", description=__doc__)
    parser.add_argument("--json", type=Path, default=RESULTS)
    options = parser.parse_args(argv)
    report = {**machine.describe(), "speed": speeds(), "estimates": measure()}
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(report, indent=2) + "\n")
    rows = report["estimates"]
    print(table(rows), "\n")
    for row in report["speed"]:
        print(
            f"documents of {row['bytes']:6,} bytes, {row['words']:5.0f} words: default {row['default']:4.0f} MB/s, "
            f"one-pass {row['one-pass']:4.0f} MB/s"
        )
    wrong = 0
    for row in rows:
        for name in ("each", "once"):
            expected, off = row["formula"][name]["error"], 5 / (2 * row["pairs"]) ** 0.5 + 0.02
            biased = abs(row[name]["bias"]) > 5 * expected / row["pairs"] ** 0.5
            wrong += biased or abs(row[name]["error"] / expected - 1) > off
    print(f"\n{wrong} of {2 * len(rows)} estimates are not as expected")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
