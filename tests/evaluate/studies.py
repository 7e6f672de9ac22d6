"""Studies for tests: random ones, and one with the counts of the paper's tables."""

from typing import Any

import numpy as np

from neardup.evaluating.study import Study
from tests.naive.henzinger import Pair

KINDS = ("URL", "time stamp", "combination", "")


def random_study(seed: int, *, clusters: int = 60, features: int = 6, bits: int = 384, least_c: int = 372) -> Study:
    """Clusters of pages, of which about half the pairs are returned; everything else by chance."""
    rng = np.random.default_rng(seed)
    first, second, start = [], [], 0
    for _ in range(clusters):
        size = int(rng.integers(2, 9))
        edges = [(i, j) for i in range(size) for j in range(i + 1, size) if rng.random() < 0.6]
        first += [start + i for i, _ in edges]
        second += [start + j for _, j in edges]
        start += size
    n = len(first)
    b = rng.integers(0, features + 1, n)
    c = rng.integers(bits - 60, bits + 1, n)
    in_b, in_c = b >= 2, c >= least_c
    identical = (rng.random(n) < 0.05) & in_b & in_c
    study = Study(
        documents=start + 17,
        first=np.array(first, np.int64),
        second=np.array(second, np.int64),
        b=b,
        c=c,
        in_b=in_b,
        in_c=in_c,
        same_site=rng.integers(-1, 2, n).astype(np.int8),
        verdict=rng.choice(np.array([1, 1, -1, 0, 2], np.int8), n),
        weight=rng.choice(np.array([0.5, 1.0, 4.0]), n),
        term_difference=np.where(rng.random(n) < 0.7, rng.integers(0, 300, n), -1),
        identical=identical,
        kind=[KINDS[i] for i in rng.integers(0, len(KINDS), n).tolist()],
        reason=[("form", "cannot evaluate")[i] for i in rng.integers(0, 2, n).tolist()],
        features=features,
        bits=bits,
        least_c=least_c,
    )
    return study.take(in_b | in_c)


def as_pairs(study: Study) -> list[Pair]:
    """For the naive twin."""
    columns: dict[str, list[Any]] = {
        "first": study.first.tolist(),
        "second": study.second.tolist(),
        "b": study.b.tolist(),
        "c": study.c.tolist(),
        "in_b": study.in_b.tolist(),
        "in_c": study.in_c.tolist(),
        "site": study.same_site.tolist(),
        "verdict": study.verdict.tolist(),
        "weight": study.weight.tolist(),
        "difference": study.term_difference.tolist(),
        "identical": study.identical.tolist(),
        "kind": list(study.kind or [""] * len(study)),
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def published(rows: list[tuple[int, int, int, int]], *, features: int = 6) -> Study:
    """Algorithm B's pairs, each of two pages of its own, from (B-similarity, correct, incorrect, undecided)."""
    b, verdict = [], []
    for value, *counts in rows:
        for code, count in zip((1, -1, 0), counts, strict=True):
            b += [value] * count
            verdict += [code] * count
    n = len(b)
    return plain(n, b=np.array(b), verdict=np.array(verdict, np.int8), features=features)


def plain(n: int, **given: Any) -> Study:
    """n pairs without a page in common, all returned by Algorithm B alone; what is not given is not known."""
    values: dict[str, Any] = {
        "documents": 2 * n,
        "first": np.arange(0, 2 * n, 2),
        "second": np.arange(1, 2 * n, 2),
        "b": np.full(n, 2),
        "c": np.full(n, 350),
        "in_b": np.ones(n, bool),
        "in_c": np.zeros(n, bool),
        "same_site": np.full(n, -1, np.int8),
        "verdict": np.full(n, 2, np.int8),
        "weight": np.ones(n),
        "term_difference": np.full(n, -1),
        "identical": np.zeros(n, bool),
    }
    return Study(**(values | given))
