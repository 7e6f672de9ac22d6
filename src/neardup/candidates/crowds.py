"""Crowds: buckets of many documents of one template, in which the pairs that count are found by rare shingles.

Many pages share a template, and with it most of their min-hash keys. All of them are candidates of each other, and
sketches are too coarse to say which of them reach the threshold: 0.79 and 0.85 differ by one and a half standard
errors. What tells such pages apart are the shingles that few of them have.

Let T be the shingles that more than MANY documents of the crowd have (the template), n the size of a document's shingle
set and f how many of its shingles are in T. For every pair, |A ∩ B| ≤ min(f_A, f_B) + the rare shingles they share. A
resemblance of t or more needs |A ∩ B| ≥ t/(1+t)·(n_A + n_B), and at least t·n_A and t·n_B. So

  - a pair shares at least t·n − f rare shingles, for the n and f of either document. Where that is more than SHARED, a
    sample of the rare shingles is enough: each is drawn with probability SHARED/(t·n − f), by its hash, so that both
    documents draw alike; the pair shares none of them with a probability below exp(−SHARED).
  - a pair that shares no rare shingle contains a *light* document: one with f ≥ 2t/(1+t)·n. For if both have less,
    min(f_A, f_B) < t/(1+t)·(n_A + n_B). Two light documents with the same template are near-duplicates of each other,
    so few light ones are kept.

So the rare shingles of a document become its keys, and in the crowded bucket itself stand the light documents alone:
everybody looks there. Heavy ones stand in a second bucket, where light ones look. No pair of the bucket that reaches
the threshold is lost, except by sampling, and no new bucket has more than MANY documents, except of light ones.

Where two pages of one site need more than others (verify.same_site), a crowded bucket is divided: among pages of one
site light is what that threshold calls so, and across sites a page passes over those of its own. Versions of one page
are held to the general threshold; they have their address as a key.

This is the prefix filter of exact similarity joins (Bayardo, Ma and Srikant 2007, section 4; Xiao, Wang, Lin and Yu
2008, section 3), applied where min-hash keys are crowded.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup.candidates.features import Buckets, bucket
from neardup.kernels import crowds as kernel
from neardup.kernels import equal
from neardup.kernels.groups import ELSEWHERE, LOOKS, STANDS
from neardup.shingles import ShingleSets
from neardup.sketches.base import Ragged

MANY = 64
"""A bucket of more documents is crowded, and a shingle that more documents of crowds have is frequent."""

SHARED = 20.0
"""Rare shingles that a pair at the threshold shares as keys, on average; one pair in 480 million shares none. So the
answer does not depend on the hash by which they are drawn, which is another one in every run."""

_ROUNDING = 1e-9
"""A document exactly at the limit is light: 54 of 57 shingles at 0.9."""

_PER_COUNTER = 8
_FEWEST_COUNTERS, _MOST_COUNTERS = 1 << 20, 1 << 28
"""Shingles for every counter of a byte, and how many counters there are. Most shingles of a crowd are those of the
template, and share a few counters; if all were different, counts would be too high by 8 where 64 are many."""

_AT_HAND = 1 << 25
"""Keys that are kept in memory, 8 bytes each; where there are more, they are made again for every pass."""


Runs = Callable[[], Iterator[ShingleSets]]
"""Passes over the shingle sets of the documents in question, always in the same order."""


@dataclass(frozen=True)
class Thresholds:
    """The least resemblance of near-duplicates: of any two documents, and of two pages of one site."""

    general: float
    same_site: float


class ShingleCounts:
    """Counts in how many documents shingles occur; too high where two share a counter, never too low."""

    def __init__(self, shingles: int) -> None:
        """shingles: how many there will be, counted in every document, or more."""
        size = _FEWEST_COUNTERS
        while size * _PER_COUNTER < shingles and size < _MOST_COUNTERS:
            size *= 2
        self.counters = np.zeros(size, np.uint8)

    def add(self, sets: ShingleSets) -> None:
        """Count the shingles of some documents."""
        kernel.count_shingles(*sets, self.counters)

    def rare(self, sets: ShingleSets, threshold: float) -> tuple[NDArray[np.int64], Ragged]:
        """Return how many shingles of every document are frequent, and those of its rare ones that are its keys."""
        frequent, offsets = np.empty(len(sets.sizes), np.int64), np.empty(len(sets.sizes) + 1, np.int64)
        keys = np.empty(int(sets.sizes.sum()) + 1, np.uint64)
        kernel.rare_shingles(*sets, self.counters, MANY, threshold, SHARED, frequent, keys, offsets)
        return frequent, Ragged(keys[: offsets[-1]].copy(), offsets)


def light(sizes: NDArray[np.int64], frequent: NDArray[Any], threshold: float) -> NDArray[np.bool_]:
    """Return which documents may be near-duplicates of one with which they share no rare shingle."""
    found: NDArray[np.bool_] = frequent * (1.0 + threshold) >= 2.0 * threshold * sizes * (1.0 - _ROUNDING)
    return found


def crowded_rows(buckets: Buckets) -> NDArray[np.int64]:
    """Return the rows that are in a crowded bucket, ascending."""
    full = np.bincount(buckets.entries, minlength=buckets.count) > MANY
    if not full.any():
        return np.empty(0, np.int64)
    there = np.zeros(len(buckets.members), np.bool_)
    there[_owners(buckets)[full[buckets.entries]]] = True
    return np.flatnonzero(there)


@dataclass(frozen=True)
class Crowd:
    """The documents of crowded buckets, weighed."""

    rows: NDArray[np.int64]
    """In the order in which their shingle sets were read."""
    sizes: NDArray[np.int64]
    frequent: NDArray[np.int64]
    rare: Buckets
    """By their rare shingles. Its members are places in `rows`."""


def weighed(rows: NDArray[np.int64], sizes: NDArray[np.int64], runs: Runs, threshold: float) -> Crowd:
    """Weigh the documents of crowded buckets; `runs` passes over their shingle sets, in the order of `rows`."""
    counts = ShingleCounts(int(sizes.sum()))
    for sets in runs():
        counts.add(sets)
    frequent = np.empty(len(rows), np.int64)
    at_hand: list[tuple[int, Ragged]] = []

    def passed() -> Iterator[tuple[int, Ragged]]:
        start = 0
        for sets in runs():
            frequent[start : start + len(sets.sizes)], keys = counts.rare(sets, threshold)
            yield start, keys
            start += len(sets.sizes)

    held = 0
    for start, keys in passed():
        held += len(keys.values)
        if held <= _AT_HAND:
            at_hand.append((start, keys))
    again = (lambda: at_hand) if held <= _AT_HAND else passed
    return Crowd(rows, sizes, frequent, bucket(again, np.ones(len(rows), np.bool_)))


class _Entries(NamedTuple):
    """Rows in buckets: numbers count from 0 in each piece."""

    owners: NDArray[np.int64]
    buckets: NDArray[np.int64]
    roles: NDArray[np.uint8]
    room: int
    """How many buckets there may be."""


def relieved(
    buckets: Buckets,
    crowd: Crowd,
    thresholds: Thresholds,
    sites: NDArray[np.int32] | None = None,
    pages: NDArray[np.uint64] | None = None,
) -> Buckets:
    """Return buckets in which the documents of crowded ones meet by rare shingles.

    sites, pages: of every row the number of its site (-1: unknown) and a hash of its address, where pages of one site
    are held to a threshold of their own.
    """
    n, owners = len(buckets.members), _owners(buckets)
    full = np.bincount(buckets.entries, minlength=buckets.count) > MANY
    inside = full[buckets.entries]
    pieces = [_plain(owners[~inside], buckets.entries[~inside], buckets.count), _by_rare_shingles(crowd)]
    sizes, frequent = np.ones(n, np.int64), np.zeros(n, np.int64)
    sizes[crowd.rows], frequent[crowd.rows] = crowd.sizes, crowd.frequent
    held, numbers = owners[inside], (np.cumsum(full) - 1)[buckets.entries[inside]]
    light_ones = light(sizes, frequent, thresholds.general)
    divided = sites is not None and pages is not None
    pieces += _divided(held, numbers, int(full.sum()), light_ones, ELSEWHERE if divided else np.uint8(0))
    if sites is not None and pages is not None:
        of_site = sites[held] >= 0
        local = held[of_site]
        site_keys, within = np.unique(numbers[of_site] * (int(sites.max()) + 1) + sites[local], return_inverse=True)
        population = np.bincount(within, minlength=len(site_keys))
        few = (population <= MANY)[within]
        pieces.append(_plain(local[few], within[few], len(site_keys)))
        light_here = light(sizes, frequent, thresholds.same_site)
        pieces += _divided(local[~few], within[~few], len(site_keys), light_here, np.uint8(0))
        versions = np.empty(len(crowd.rows), np.int32)
        count = equal.number_equal(pages[crowd.rows], versions)
        again = (versions >= 0) & (sites[crowd.rows] >= 0)
        pieces.append(_plain(crowd.rows[again], versions[again], int(count)))
    return _together(buckets.members, pieces)


def enriched(buckets: Buckets, crowd: Crowd) -> Buckets:
    """Return the same buckets, and those of rare shingles: for clusters in which every bucket has one role."""
    pieces = [_plain(_owners(buckets), buckets.entries, buckets.count), _by_rare_shingles(crowd)]
    return _together(buckets.members, pieces)


def _plain(rows: NDArray[np.int64], numbers: NDArray[Any], count: int) -> _Entries:
    """Entries of documents that look and stand."""
    return _Entries(rows, numbers.astype(np.int64), np.full(len(rows), LOOKS | STANDS), count)


def _by_rare_shingles(crowd: Crowd) -> _Entries:
    rare = crowd.rare
    return _plain(crowd.rows[rare.members[_owners(rare)]], rare.entries, rare.count)


def _divided(
    rows: NDArray[np.int64], numbers: NDArray[np.int64], count: int, light_ones: NDArray[np.bool_], passing: np.uint8
) -> list[_Entries]:
    """Divide crowded buckets: where light documents stand and everybody looks, where heavy ones stand and light ones
    look. Entries that meet nobody are left out."""
    is_light = light_ones[rows]
    lights = np.bincount(numbers[is_light], minlength=count)[numbers]
    heavies = np.bincount(numbers[~is_light], minlength=count)[numbers]
    looking = np.where(is_light, LOOKS | STANDS, LOOKS) | passing
    second = np.where(is_light, LOOKS | passing, STANDS)
    useful = lights > 0
    useful_second = useful & (heavies > 0)
    return [
        _Entries(rows[useful], numbers[useful], looking[useful].astype(np.uint8), count),
        _Entries(rows[useful_second], numbers[useful_second], second[useful_second].astype(np.uint8), count),
    ]


def _together(members: NDArray[np.int64], pieces: list[_Entries]) -> Buckets:
    offsets = np.cumsum([0, *(piece.room for piece in pieces)])
    owners = np.concatenate([piece.owners for piece in pieces])
    numbers = np.concatenate([piece.buckets + start for piece, start in zip(pieces, offsets, strict=False)])
    roles = np.concatenate([piece.roles for piece in pieces]).astype(np.uint8)
    order = np.argsort(owners, kind="stable")
    begins = np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=len(members)))]).astype(np.int64)
    return Buckets(members, numbers[order].astype(np.int32), begins, int(offsets[-1]), roles[order])


def _owners(buckets: Buckets) -> NDArray[np.int64]:
    return np.repeat(np.arange(len(buckets.members)), np.diff(buckets.begins))
