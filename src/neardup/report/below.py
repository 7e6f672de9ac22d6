"""What a lower threshold would have removed as well: estimated from a sample of kept documents.

Sampled documents are looked for among all kept ones by bands of three sampled minima, 8 bits of each. A pair of
resemblance ρ is seen with probability P[k,3,1](ρ) (Broder, section 3); there are as many bands as make that 0.99 at
`floor`, 35 for 0.5, and nothing below it is told. Pairs whose estimate lies within the sketches' error of that are
measured exactly, from the texts that the report reads anyway, where the run measures exactly too.

A kept document with n kept neighbours at a threshold goes with probability n / (n + 1), if every order of the documents
is as likely as any other: exactly where near-duplicates form cliques, and an upper bound in expectation in general, for
a maximal independent set taken in random order has Σ 1 / (n + 1) members at least (Caro and Wei). The mean over the
sample estimates the share of all kept documents.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import sqrt

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.analysis.filters import Filter, groups_needed
from neardup.kernels import groups as kernel
from neardup.report.facts import Facts
from neardup.report.similarity import BELOW, STEP
from neardup.text.batches import text_batch
from neardup.verify.resemblance import overlap

SAMPLE = 1_000
"""Kept documents that are looked at."""

NEIGHBOURS = 20
"""Nearest ones of each that are measured: n / (n + 1) hardly changes beyond."""

_ENOUGH = 64
"""Pairs of a sampled document after which no more are looked for."""

_READ, _FIRST, _LAST = 1 << 16, 256, 4096
"""Documents that are read together, and looked through together: few at first, so that a crowd is noticed early."""

_WIDTH, _SEEN = 3, 0.99
_CHANCE = 1.0 / 256.0
_SURE = 3.0
"""Standard deviations by which an estimate may lie below what is asked and the pair is still measured."""


@dataclass(frozen=True)
class Neighbours:
    """Pairs of a sampled kept document and another kept one. Row by row: place in the sample, document, estimate."""

    sample: NDArray[np.int64]
    kept: int
    """Documents that the sample stands for."""
    floor: float
    of: NDArray[np.int64]
    documents: NDArray[np.int64]
    resemblance: NDArray[np.float64]
    exact: bool = False

    @property
    def wanted(self) -> NDArray[np.int64]:
        """The documents whose texts tell the exact numbers."""
        return np.union1d(self.sample[np.unique(self.of)], self.documents)


def find_neighbours(facts: Facts) -> Neighbours | str:
    """Of a seeded sample of kept documents; or the reason, in words, why nothing can be said."""
    recipe = facts.recipe
    if recipe.sketcher.comparison.kind != kernel.SAMPLES or not recipe.thresholded:
        return f"The sketches of this recipe tell {facts.unit} and are not searched for pairs below the threshold."
    if recipe.clusters.method == "components":
        return "Chains (cluster = components) may join groups at any of their members: nothing is estimated below."
    if recipe.verify.by_place:
        return "What counts for this recipe depends on the hosts of both pages: nothing is estimated below."
    minima = recipe.sketcher.samples
    floor = _floor(minima // _WIDTH, facts.threshold)
    if floor is None:
        return f"Sketches of {minima} minima are too short to find pairs below the threshold."
    kept = np.flatnonzero(~facts.gone & facts.fine)
    if len(kept) < 2:
        return "Fewer than two documents were kept, so nothing more could go."
    sample = np.sort(facts.random(1).choice(kept, min(SAMPLE, len(kept)), replace=False))
    bands = min(minima // _WIDTH, groups_needed(floor, _SEEN, _WIDTH))
    return _nearest(Neighbours(sample, len(kept), floor, *_search(facts, kept, sample, bands, floor)))


def _floor(bands: int, threshold: float) -> float | None:
    """The lowest hundredth, not far below the threshold, at which the bands see nearly all pairs."""
    lowest = max(1, round((threshold - BELOW) / STEP))
    steps = (round(i * STEP, 6) for i in range(lowest, 100))
    return next((x for x in steps if x < threshold and bands and Filter(bands, _WIDTH).probability(x) >= _SEEN), None)


def _search(
    facts: Facts, kept: NDArray[np.int64], sample: NDArray[np.int64], bands: int, floor: float
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Look through all kept documents."""
    mine = facts.collection.matrix("samples", sample)
    minima = mine.shape[1]
    least = floor - _SURE * sqrt(floor * (1 - floor) / minima)
    found = np.zeros(len(sample), np.int64)
    active = np.arange(len(sample))
    look_up = _Bands(mine, bands)
    pieces: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]] = []
    for rows, theirs in _slices(facts, kept):
        if (found[active] >= _ENOUGH).any():
            active = np.flatnonzero(found < _ENOUGH)
            look_up = _Bands(mine[active], bands)
        document, place = look_up.meeting(theirs)
        place = active[place]
        other = rows[document] != sample[place]
        document, place = document[other], place[other]
        agreed = _agreements(theirs, document, mine, place)
        estimate = (agreed / minima - _CHANCE) / (1.0 - _CHANCE)
        near = estimate >= least
        pieces.append((place[near], rows[document[near]], estimate[near]))
        found += np.bincount(place[near], minlength=len(sample))
    of, documents, estimates = (np.concatenate(column) for column in zip(*pieces, strict=True))
    return of, documents, estimates


def _slices(facts: Facts, kept: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.uint8]]]:
    """Documents and their samples: read many at once, looked through few at once."""
    size = _FIRST
    for start in range(0, len(kept), _READ):
        rows = kept[start : start + _READ]
        samples = facts.collection.matrix("samples", rows)
        at = 0
        while at < len(rows):
            yield rows[at : at + size], samples[at : at + size]
            at, size = at + size, min(_LAST, 2 * size)


class _Bands:
    """Finds the rows of a matrix that agree with one of ours in a whole band."""

    def __init__(self, mine: NDArray[np.uint8], bands: int) -> None:
        self._size = len(mine)
        keys = [_keys(np.ascontiguousarray(mine[:, b * _WIDTH : (b + 1) * _WIDTH].T)) for b in range(bands)]
        self._orders = [np.argsort(k, kind="stable") for k in keys]
        self._keys = [k[order] for k, order in zip(keys, self._orders, strict=True)]
        self._there = np.zeros((bands, 1 << 16), bool)  # a small table first: most documents meet nobody
        for band, k in enumerate(keys):
            self._there[band, k & 0xFFFF] = True

    def meeting(self, theirs: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The pairs of a row of theirs and one of ours."""
        columns = np.ascontiguousarray(theirs.T)
        met = np.zeros((len(theirs), self._size), bool)
        for band, (ours, order) in enumerate(zip(self._keys, self._orders, strict=True)):
            keys = _keys(columns[band * _WIDTH : (band + 1) * _WIDTH])
            rows = np.flatnonzero(self._there[band, keys & 0xFFFF])
            low, high = (np.searchsorted(ours, keys[rows], side=side) for side in ("left", "right"))
            counts = high - low
            within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
            met[np.repeat(rows, counts), order[np.repeat(low, counts) + within]] = True
        document, place = np.divmod(np.flatnonzero(met.reshape(-1)), max(1, self._size))
        return document, place


def _keys(columns: NDArray[np.uint8]) -> NDArray[np.uint32]:
    first, second, third = columns.astype(np.uint32)
    return np.asarray(first | second << np.uint32(8) | third << np.uint32(16), np.uint32)


def _agreements(
    theirs: NDArray[np.uint8], document: NDArray[np.int64], mine: NDArray[np.uint8], place: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Equal bytes of each pair."""
    out = np.empty(len(document), np.int64)
    for start in range(0, len(document), 1 << 16):
        rows = slice(start, start + (1 << 16))
        out[rows] = (theirs[document[rows]] == mine[place[rows]]).sum(axis=1)
    return out


def _nearest(found: Neighbours) -> Neighbours:
    """Of every sampled document the nearest few."""
    order = np.lexsort((found.documents, -found.resemblance, found.of))
    of = found.of[order]
    rank = np.arange(len(of)) - np.searchsorted(of, of)
    order = order[rank < NEIGHBOURS]
    return Neighbours(
        found.sample, found.kept, found.floor, found.of[order], found.documents[order], found.resemblance[order]
    )


def measured(facts: Facts, found: Neighbours, texts: Mapping[int, str]) -> Neighbours:
    """The same pairs with their exact resemblance, where the run measures exactly and the texts are those compared."""
    recipe = facts.recipe
    there = np.array([int(d) in texts for d in found.documents], bool)
    there &= np.array([int(d) in texts for d in found.sample[found.of]], bool)
    if recipe.verify.method != "exact" or recipe.text.extract == "web" or not texts:
        return found
    numbers = np.array(
        sorted(set(found.documents[there].tolist()) | set(found.sample[found.of[there]].tolist())), np.int64
    )
    batch = text_batch(pa.array([texts[n].encode("utf-8", "replace") for n in numbers.tolist()], pa.large_binary()))
    sets, sizes = recipe.sketcher.shingle_sets(batch, np.arange(len(numbers)))
    starts = np.cumsum(sizes) - sizes
    pairs = np.searchsorted(numbers, np.stack([found.sample[found.of[there]], found.documents[there]], axis=1))
    return Neighbours(
        found.sample, found.kept, found.floor, found.of[there], found.documents[there],
        overlap(sets, starts, sizes, pairs).resemblance, exact=True,
    )  # fmt: skip


def lower(facts: Facts, found: Neighbours) -> list[list[float]]:
    """[threshold, estimate, low, high]: documents that would go as well, with an interval of 95 % for the sampling.

    Kept documents are less similar than the threshold to each other, but for the pairs that no feature showed; so what
    reaches the threshold of the run itself is not counted.
    """
    rows = []
    # Where the run measured exactly and these are estimates, one above the threshold belongs to a pair just below it.
    estimated = facts.recipe.verify.method == "exact" and not found.exact
    counts = (found.resemblance < facts.threshold) | estimated
    steps = np.arange(round(facts.threshold / STEP) - 1, round(found.floor / STEP) - 1, -1) * STEP
    for threshold in steps[steps < facts.threshold - 1e-9]:
        near = counts & (found.resemblance >= threshold - 1e-9)
        n = np.bincount(found.of[near], minlength=len(found.sample))
        chance = n / (n + 1)
        low, high = interval(float(chance.sum()), len(chance))
        rows.append([round(float(threshold), 6), *(round(found.kept * x) for x in (float(chance.mean()), low, high))])
    return rows


def nearest_kept(found: Neighbours) -> NDArray[np.float64]:
    """For every sampled document the resemblance of the nearest kept one, where there is one."""
    best = np.zeros(len(found.sample))
    np.maximum.at(best, found.of, found.resemblance)
    return best


def interval(hits: float, trials: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's interval of a share. For a mean of values between 0 and 1 it is wide enough: their variance is at most
    that of a share with the same mean."""
    if not trials:
        return 0.0, 1.0
    p = hits / trials
    middle = (p + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z * sqrt(p * (1 - p) / trials + z * z / (4 * trials * trials)) / (1 + z * z / trials)
    return max(0.0, middle - half), min(1.0, middle + half)
