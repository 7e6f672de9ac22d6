"""What a lower threshold would have removed as well: estimated from a sample of kept documents.

Sampled documents are looked for among all kept ones by bands of three sampled minima, 8 bits of each. A pair of
resemblance ρ is seen with probability P[k,3,1](ρ) (Broder, section 3); there are as many bands as make that 0.99 at
`floor`, 35 for 0.5, and nothing below it is told. Two pages of one host that need more than the threshold anyway
(verify.same_site) are no pairs here: they need as much at every lower one.

Where the run measures exactly, the pairs whose texts lie in the part that is read are measured as the run does it, from
the texts that the report reads anyway. Other pairs get their estimate, and the difference that a measured pair of about
that estimate shows (hot-deck imputation).

find_neighbours   pairs of sampled kept documents and others, with estimates
to_measure        which of them can be measured, and which others show how far estimates are off
measured          the same pairs with what the texts tell
lower             what would go as well, at every lower threshold

A kept document with n kept neighbours at a threshold goes with probability n / (n + 1), if every order of the documents
is as likely as any other: exactly where near-duplicates form cliques, and an upper bound in expectation in general, for
a maximal independent set taken in random order has Σ 1 / (n + 1) members at least (Caro and Wei). The mean over the
sample estimates the share of all kept documents.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.analysis.estimators import wilson
from neardup.analysis.filters import Filter, groups_needed
from neardup.kernels import groups as kernel
from neardup.kernels import nearest
from neardup.report.facts import Facts
from neardup.report.part import LONGEST, Part
from neardup.report.similarity import BELOW, STEP
from neardup.text.batches import text_batch
from neardup.verify.resemblance import overlap
from neardup.verify.signatures import without_chance

SAMPLE = 1_000
"""Kept documents that are looked at."""

NEIGHBOURS = 20
"""Nearest ones of each that are measured: n / (n + 1) hardly changes beyond."""

LIKENESS = 2_000
"""Documents of the part that is read whose neighbours in it show how far estimates are off."""
FEWEST, ALIKE = 20, 10
"""Measured pairs without which estimates stay as they are; those of nearly the same estimate, of which one is drawn."""
MEASURED = 32 << 20
"""Bytes of the documents whose pairs are measured."""

_ENOUGH = 64
"""Pairs of a sampled document after which no more are looked for."""

_MET, _SMALLEST = 10_000_000, 50
"""Pairs that are looked at, about. A crowd on one host, where pairs do not count, would be looked at pair by pair: the
sample is halved until it is small enough, or has so many."""

_READ, _FIRST, _LAST = 1 << 16, 256, 4096
"""Documents that are read together, and looked through together: few at first, so that a crowd is noticed early."""

_WIDTH, _SEEN = 3, 0.99
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
    measured: NDArray[np.bool_]
    """Which were measured exactly; the others are estimates."""

    @property
    def pairs(self) -> NDArray[np.int64]:
        """By the numbers of both documents."""
        return np.stack([self.sample[self.of], self.documents], axis=1)


def find_neighbours(facts: Facts) -> Neighbours | str:
    """Of a seeded sample of kept documents; or the reason, in words, why nothing can be said."""
    recipe = facts.recipe
    if recipe.sketcher.comparison.kind != kernel.SAMPLES or not recipe.thresholded:
        return f"The sketches of this recipe tell {facts.unit} and are not searched for pairs below the threshold."
    if recipe.clusters.method == "components":
        return "Chains (cluster = components) may join groups at any of their members: nothing is estimated below."
    minima = recipe.sketcher.samples
    floor = _floor(minima // _WIDTH, facts.threshold)
    if floor is None:
        return f"Sketches of {minima} minima are too short to find pairs below the threshold."
    kept = np.flatnonzero(~facts.gone & facts.fine)
    if len(kept) < 2:
        return "Fewer than two documents were kept, so nothing more could go."
    return _neighbours(facts, kept, min(SAMPLE, len(kept)), floor)


def _neighbours(facts: Facts, kept: NDArray[np.int64], size: int, floor: float) -> Neighbours:
    """Of so many of these documents, among them."""
    sample = facts.random(1).choice(kept, size, replace=False)
    bands = min(facts.recipe.sketcher.samples // _WIDTH, groups_needed(floor, _SEEN, _WIDTH))
    size, of, documents, estimates = _search(facts, kept, sample, bands, floor)
    return _nearest(Neighbours(sample[:size], len(kept), floor, of, documents, estimates, np.zeros(len(of), bool)))


def _floor(bands: int, threshold: float) -> float | None:
    """The lowest hundredth, not far below the threshold, at which the bands see nearly all pairs."""
    lowest = max(1, round((threshold - BELOW) / STEP))
    steps = (round(i * STEP, 6) for i in range(lowest, 100))
    return next((x for x in steps if x < threshold and bands and Filter(bands, _WIDTH).probability(x) >= _SEEN), None)


def _search(
    facts: Facts, kept: NDArray[np.int64], sample: NDArray[np.int64], bands: int, floor: float
) -> tuple[int, NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Look through all kept documents. Where pairs are very many, only for the first of the sample: so many as told."""
    mine = facts.collection.matrix("samples", sample)
    minima = mine.shape[1]
    sketcher = facts.recipe.sketcher
    least = floor - _SURE * sketcher.error(floor)
    found = np.zeros(len(sample), np.int64)
    size, met, seen = len(sample), 0, 0
    active = np.arange(len(sample))
    look_up = _Bands(mine, bands)
    pieces: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]] = []
    for rows, theirs in _slices(facts, kept):
        if size > _SMALLEST and met > _MET * (seen / len(kept) + 0.25):
            size, met = max(_SMALLEST, size // 2), met // 2  # as if it had been so small from the beginning
        if (found[active] >= _ENOUGH).any() or active[-1] >= size:
            active = np.flatnonzero(found[:size] < _ENOUGH)
            look_up = _Bands(mine[active], bands)
        if not len(active):
            break
        document, place = look_up.meeting(theirs)
        met, seen = met + len(document), seen + len(rows)
        place = active[place]
        other = _apart(facts, rows[document], sample[place])
        document, place = document[other], place[other]
        agreed = _agreements(theirs, document, mine, place)
        estimate = without_chance(sketcher.comparison, agreed / minima)
        near = estimate >= least
        pieces.append((place[near], rows[document[near]], estimate[near]))
        found += np.bincount(place[near], minlength=len(sample))
    of, documents, estimates = (np.concatenate(column) for column in zip(*pieces, strict=True))
    ours = of < size
    return size, of[ours], documents[ours], estimates[ours]


def _apart(facts: Facts, one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which pairs are two documents, and not two pages of one host where these need more."""
    apart: NDArray[np.bool_] = one != other
    if facts.stricter:
        apart &= ~facts.result.gathered.places.neighbours(np.stack([one, other], axis=1))
    return apart


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
        self._there = np.ones((bands, 1 << 16), bool)
        place, keys = nearest.bands(np.ascontiguousarray(mine), self._there)
        order = np.argsort(keys, kind="stable")
        self._keys, self._places = keys[order], place[order]
        self._there[:] = False  # a small table first: most documents meet nobody
        self._there[keys >> 24, keys & 0xFFFF] = True

    def meeting(self, theirs: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The pairs of a row of theirs and one of ours."""
        rows, keys = nearest.bands(np.ascontiguousarray(theirs), self._there)
        low, high = (np.searchsorted(self._keys, keys, side=side) for side in ("left", "right"))
        counts = high - low
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        met = np.repeat(rows, counts) * self._size + self._places[np.repeat(low, counts) + within]
        document, place = np.divmod(np.unique(met), max(1, self._size))
        return document, place


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
    return _some(found, order[rank < NEIGHBOURS])


def _some(found: Neighbours, rows: NDArray[np.int64] | NDArray[np.bool_]) -> Neighbours:
    columns = ("of", "documents", "resemblance", "measured")
    return replace(found, **{name: getattr(found, name)[rows] for name in columns})


@dataclass(frozen=True)
class Asked:
    """Pairs to measure: first those of the sample that can be (`done`), then others like them."""

    done: NDArray[np.bool_]
    pairs: NDArray[np.int64]
    estimates: NDArray[np.float64]


def to_measure(facts: Facts, found: Neighbours, part: Part) -> Asked:
    """None where the run does not measure, or compares something else than the texts that are shown."""
    recipe = facts.recipe
    if recipe.verify.method != "exact" or recipe.text.extract == "web":
        return Asked(np.zeros(len(found.of), bool), np.empty((0, 2), np.int64), np.empty(0))
    done = _fitting(facts, found, part)
    asked = [_some(found, done)]
    if not (done.all() or part.whole):
        among = np.flatnonzero(~facts.gone & facts.fine & part.documents)
        like = _neighbours(facts, among, min(LIKENESS, len(among)), found.floor)
        asked.append(_some(like, _fitting(facts, like, part)))
    return Asked(done, np.concatenate([one.pairs for one in asked]), np.concatenate([one.resemblance for one in asked]))


def _fitting(facts: Facts, found: Neighbours, part: Part) -> NDArray[np.bool_]:
    """Which pairs can be read, and have room: of a random part of the sample where not all have."""
    there = part.documents[found.pairs].all(axis=1) & (facts.bytes[found.pairs].max(axis=1) <= LONGEST)
    size = np.bincount(found.of[there], facts.bytes[found.documents[there]], len(found.sample))
    size += np.where(size > 0, facts.bytes[found.sample], 0)
    order = facts.random(6).permutation(len(found.sample))
    room = np.empty(len(order), bool)
    room[order] = np.cumsum(size[order]) <= MEASURED
    return np.asarray(there & room[found.of])


def measured(facts: Facts, found: Neighbours, asked: Asked, texts: Mapping[int, str]) -> Neighbours:
    """The same pairs, measured where they can be and corrected where not; estimates where nothing was read."""
    if not texts or not len(asked.pairs):
        return found
    values = _resemblances(facts, asked.pairs, texts)
    resemblance = found.resemblance.copy()
    resemblance[asked.done] = values[: int(asked.done.sum())]
    if len(values) >= FEWEST:
        others = resemblance[~asked.done]
        others += _difference(others, asked.estimates, values - asked.estimates, facts.random(5))
        resemblance[~asked.done] = np.clip(others, 0.0, 1.0)
    return replace(found, resemblance=resemblance, measured=asked.done)


def _resemblances(facts: Facts, pairs: NDArray[np.int64], texts: Mapping[int, str]) -> NDArray[np.float64]:
    """What the run's own meter says, from the texts (tested)."""
    numbers, local = np.unique(pairs, return_inverse=True)
    local = local.reshape(-1, 2)
    batch = text_batch(pa.array([texts[n].encode("utf-8", "replace") for n in numbers.tolist()], pa.large_binary()))
    sets, sizes = facts.recipe.sketcher.shingle_sets(batch, np.arange(len(numbers)))
    starts = np.cumsum(sizes) - sizes
    return overlap(sets, starts, sizes, local).resemblance


def _difference(
    asked: NDArray[np.float64],
    estimates: NDArray[np.float64],
    differences: NDArray[np.float64],
    random: np.random.Generator,
) -> NDArray[np.float64]:
    """For each estimate asked for the difference of one of the pairs with nearly the same one."""
    order = np.argsort(estimates, kind="stable")
    at = np.searchsorted(estimates[order], asked) - ALIKE // 2 + random.integers(0, ALIKE, len(asked))
    return np.asarray(differences[order[np.clip(at, 0, len(order) - 1)]])


def lower(facts: Facts, found: Neighbours) -> list[list[float]]:
    """[threshold, estimate, low, high]: documents that would go as well, with an interval of 95 % for the sampling.

    Kept documents are less similar than the threshold to each other, but for the pairs that no feature showed; so what
    reaches the threshold of the run itself is not counted.
    """
    rows = []
    # Where the run measured exactly and this is an estimate, one above the threshold belongs to a pair just below it.
    estimated = ~found.measured & (facts.recipe.verify.method == "exact")
    counts = (found.resemblance < facts.threshold - 1e-9) | estimated
    steps = np.arange(round(facts.threshold / STEP) - 1, round(found.floor / STEP) - 1, -1) * STEP
    for threshold in steps[steps < facts.threshold - 1e-9]:
        near = counts & (found.resemblance >= threshold - 1e-9)
        n = np.bincount(found.of[near], minlength=len(found.sample))
        chance = n / (n + 1)
        # For a mean of values from 0 to 1 Wilson's is wide enough: a share of that mean varies more.
        low, high = wilson(float(chance.sum()), len(chance)) if len(chance) else (0.0, 1.0)
        rows.append([round(float(threshold), 6), *(round(found.kept * x) for x in (float(chance.mean()), low, high))])
    return rows


def nearest_kept(found: Neighbours) -> NDArray[np.float64]:
    """For every sampled document the resemblance of the nearest kept one, where there is one."""
    best = np.zeros(len(found.sample))
    np.maximum.at(best, found.of, found.resemblance)
    return best
