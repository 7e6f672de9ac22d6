"""Which removed documents people look at: a stratified sample of the pairs (removed, kept).

Strata are the relation, whether both are on one site, and the range of the score from the threshold up; copies with
the same tokens are one stratum. Errors gather near the threshold and on one site (Henzinger, section 3), which a plain
sample of a clean run would hardly meet.

allocate     how many of each stratum: by the square root of its size, so that small strata are seen too
draw         the sample, in random order: whoever stops early has a sample as well
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from neardup.audit.judging import Truth, range_of, score_ranges
from neardup.model import RELATIONS
from neardup.result import Result
from neardup.text.addresses import places

COPIES = 5
"""Copies that are shown at the most: their identity is proven, and nobody learns from looking at many."""
LEAST = 2
SITES = ("same site", "different sites", "site unknown")
_SLICE = 1 << 16
_COPY = RELATIONS.index("identical")


@dataclass(frozen=True)
class Stratum:
    """Removed documents of one kind."""

    name: str
    relation: str
    sites: str
    low: float | None
    """Of the score; None: below the threshold, where only chains or unverified candidates lie."""
    high: float | None
    size: int
    drawn: int


@dataclass(frozen=True)
class Drawn:
    """Rows of the decision, in the order in which people see them, and the stratum of each."""

    strata: list[Stratum]
    rows: NDArray[np.int64]
    stratum: NDArray[np.int64]
    sites: list[str]


def allocate(sizes: list[int], total: int, least: int = LEAST) -> list[int]:
    """Deal `total` to strata: `least` to each (or all it has), the rest by the square root of their sizes.

    One at a time to the stratum with the largest √N / (n + 1). Where there is too little for that, the largest come
    first.
    """
    given = [0] * len(sizes)
    for step in range(least):
        for h in sorted(range(len(sizes)), key=lambda h: -sizes[h]):
            if sum(given) < total and sizes[h] > step:
                given[h] += 1
    while sum(given) < min(total, sum(sizes)):
        open_ = [h for h in range(len(sizes)) if given[h] < sizes[h]]
        given[max(open_, key=lambda h: (sqrt(sizes[h]) / (given[h] + 1), -h))] += 1
    return given


def draw(result: Result, pairs: int, seed: int) -> Drawn:
    """Draw so many removed documents, or all there are."""
    decision = result.decision
    truth = Truth.of(result.recipe)
    ranges = [(-np.inf, truth.threshold), *score_ranges(truth)]
    where = _same_site(result)
    copy = decision.relation == _COPY
    codes = (decision.relation.astype(np.int64) * len(SITES) + where) * len(ranges)
    codes += range_of(decision.score, ranges)
    codes = np.where(copy, -1, codes)
    found, members, sizes = np.unique(codes, return_inverse=True, return_counts=True)
    copies = [i for i, code in enumerate(found.tolist()) if code < 0]
    others = [i for i in range(len(found)) if i not in copies]
    quota = [0] * len(found)
    for i in copies:
        quota[i] = min(COPIES, int(sizes[i]), pairs)
    for i, number in zip(others, allocate([int(sizes[i]) for i in others], pairs - sum(quota)), strict=True):
        quota[i] = number
    rng = np.random.Generator(np.random.PCG64(seed))
    rows = [np.sort(rng.choice(np.flatnonzero(members == i), quota[i], replace=False)) for i in range(len(found))]
    chosen = np.concatenate([np.empty(0, np.int64), *rows]).astype(np.int64)
    stratum = np.repeat(np.arange(len(found)), quota)
    order = rng.permutation(len(chosen))
    strata = [
        _stratum(int(code), ranges, int(size), number)
        for code, size, number in zip(found.tolist(), sizes.tolist(), quota, strict=True)
    ]
    return Drawn(strata, chosen[order], stratum[order], [SITES[i] for i in where[chosen[order]].tolist()])


def _stratum(code: int, ranges: list[tuple[float, float]], size: int, drawn: int) -> Stratum:
    if code < 0:
        return Stratum("identical", "identical", "any site", None, None, size, drawn)
    rest, place = divmod(code, len(ranges))
    relation, where = divmod(rest, len(SITES))
    low, high = ranges[place]
    scores = f"{low:g} to {high:g}" if place else f"below {high:g}"
    name = f"{RELATIONS[relation]}, {SITES[where]}, {scores}"
    return Stratum(name, RELATIONS[relation], SITES[where], low if place else None, high, size, drawn)


def _same_site(result: Result) -> NDArray[np.int64]:
    """Of every removed document and the kept one: 0 on one site, 1 on two, 2 not known."""
    decision, collection = result.decision, result.gathered.collection
    out = np.full(len(decision.removed), 2, np.int64)
    for start in range(0, len(out), _SLICE):
        part = slice(start, start + _SLICE)
        here, there = (
            places(collection.any_order("url", documents[part])).sites
            for documents in (decision.removed, decision.kept_for)
        )
        out[part] = pc.not_equal(here, there).cast(pa.int64()).fill_null(2).to_numpy()
    return out
