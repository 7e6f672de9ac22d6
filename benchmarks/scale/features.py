"""Features of any number of documents with a planted cluster structure: 6 features of 64 bits, 48 bytes a document.

    Plant   the structure: fill() makes features, wrong() counts labels that are not the planted ones

Clusters stand in a line of slots, and a permutation without pattern says which document is in which slot. The sizes
repeat every 2^20 slots, so that collections of all sizes are alike. They follow a power law, P(size) ~ size^-2.9 from
2 to 10,000, and clusters have 41 % of the documents: AltaVista's 30 million pages had 12.3 million in 3.6 million
clusters, 3.4 a cluster (Broder, Glassman, Manasse, Zweig, "Syntactic clustering of the Web", 1997).

    a member   shares 2 to 6 features with one that stands before it in its cluster, the rest is its own; 40 % share all
    a loner    has features of its own. 30 % share one with any document that stands before them, which must not link
               them; 2 % have one of 12 features that a thousandth of all documents have

Features of their own are a bijection of (slot, position), so no two of them are equal by chance: the planted
structure is the only right answer, and is checked label by label. Nothing of it is stored, every feature follows from
its document's number alone.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

K, R = 6, 2
TILE = 1 << 20
CLUSTERED, LURED, POPULAR = 0.41, 0.30, 0.02
LARGEST, POWER, IDENTICAL = 10_000, 2.9, 0.4

_M1 = np.uint64(0xFF51AFD7ED558CCD)
_M2 = np.uint64(0xC4CEB9FE1A85EC53)
_P = np.uint64(0x9E3779B97F4A7C15)
_S33, _S32 = np.uint64(33), np.uint64(32)
_ODD, _BACK = 0x9E3779B1, pow(0x9E3779B1, -1, 2**32)
_POPULAR = 1 << 62
"""No (slot, position) is as large."""


class Plant:
    """n documents."""

    def __init__(self, n: int, *, seed: int = 1) -> None:
        rng = np.random.default_rng(seed)
        self.n, self.seed = n, np.uint64(int(rng.integers(2**63)))
        self.begins = _tile(rng)
        self.shared = _shared(rng)
        self.bits = max(2, (n - 1).bit_length())

    def fill(self, features: NDArray[np.uint64], *, threads: int = 2, chunk: int = 1 << 18) -> None:
        """Make the features of all documents: n rows, in memory or mapped."""

        def make(begin: int) -> None:
            rows = features[begin : begin + chunk].view(np.ndarray)
            _fill(rows, begin, self.n, self.bits, self.seed, self.begins, self.shared)

        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(make, range(0, self.n, chunk)))

    def wrong(self, found: NDArray[np.int32], *, threads: int = 2) -> int:
        """How many documents are not labelled with the first document of their planted cluster."""
        assert found.shape == (self.n,)

        def check(begin: int) -> int:
            return int(_wrong(found, begin, min(begin + TILE, self.n), self.bits, self.begins))

        with ThreadPoolExecutor(threads) as pool:
            return sum(pool.map(check, range(0, self.n, TILE)))


def _tile(rng: np.random.Generator) -> NDArray[np.int32]:
    """For each slot of a tile the first slot of its cluster."""
    possible = np.arange(2, LARGEST + 1)
    weight = possible**-POWER
    sizes = rng.choice(possible, TILE // 4, p=weight / weight.sum())
    sizes = sizes[: np.searchsorted(np.cumsum(sizes), CLUSTERED * TILE)]
    everyone = rng.permutation(np.append(sizes, np.ones(TILE - sizes.sum(), np.int64)))
    return np.repeat(np.cumsum(everyone) - everyone, everyone).astype(np.int32)


def _shared(rng: np.random.Generator) -> NDArray[np.int64]:
    """Sets of 2 to 6 positions as bits; a member's hash chooses one of them."""
    count = 1024
    identical = int(IDENTICAL * count)
    sets = [2**K - 1] * identical
    for size in range(2, K):
        some = [sum(1 << f for f in chosen) for chosen in combinations(range(K), size)]
        sets += rng.choice(some, (count - identical) // (K - 2)).tolist()
    sets += [2**K - 1] * (count - len(sets))
    return np.array(sets, np.int64)


@njit(nogil=True, cache=True, inline="always")
def _mix(h: Any) -> Any:
    h ^= h >> _S33
    h *= _M1
    h ^= h >> _S33
    h *= _M2
    return h ^ (h >> _S33)


@njit(nogil=True, cache=True)
def _slot(document: int, n: int, bits: int) -> int:
    """Three rounds of multiplying and folding permute the numbers of so many bits; those from n on are skipped."""
    mask, fold = (1 << bits) - 1, (bits + 1) // 2
    x = document
    while True:
        for _ in range(3):
            x = (x * _ODD + 1) & mask
            x ^= x >> fold
        if x < n:
            return x


@njit(nogil=True, cache=True)
def _document(slot: int, n: int, bits: int) -> int:
    """The inverse of _slot."""
    mask, fold = (1 << bits) - 1, (bits + 1) // 2
    x = slot
    while True:
        for _ in range(3):
            x ^= x >> fold
            x = ((x - 1) * _BACK) & mask
        if x < n:
            return x


@njit(nogil=True, cache=True)
def _feature(slot: int, position: int, seed: Any, begins: Any, shared: Any) -> Any:
    """Go back along what is shared to where the feature is somebody's own."""
    while True:
        at = slot % TILE
        before = at - begins[at]
        h = _mix((np.uint64(slot) ^ seed) * _P)
        low = np.int64(h & np.uint64(0xFFFFFF))
        high = np.int64(h >> _S32)
        if before > 0:
            if not shared[low & 1023] >> position & 1:
                break
            slot -= 1 + high % before
        elif at + 1 < TILE and begins[at + 1] == at:  # others follow: the first of a cluster
            break
        else:
            chance = low / (1 << 24)
            if (high & 0xFFFF) % K != position or chance >= LURED + POPULAR:
                break
            if chance >= LURED:
                return _mix(np.uint64(_POPULAR + K * (high >> 16 & 1) + position) ^ seed)
            if slot == 0:
                break
            slot = (high * 2147483629 + low) % slot
    return _mix(np.uint64(slot * K + position) ^ seed)


@njit(nogil=True, cache=True)
def _fill(rows: Any, begin: int, n: int, bits: int, seed: Any, begins: Any, shared: Any) -> None:
    for i in range(rows.shape[0]):
        slot = _slot(begin + i, n, bits)
        for position in range(K):
            rows[i, position] = _feature(slot, position, seed, begins, shared)


@njit(nogil=True, cache=True, inline="always")
def _cluster(slot: int, end: int, begins: Any) -> int:
    """Where the cluster ends whose first slot this is."""
    at = slot % TILE
    after = slot + 1
    while after < end and begins[at + after - slot] == at:
        after += 1
    return after


@njit(nogil=True, cache=True)
def _wrong(found: Any, begin: int, end: int, bits: int, begins: Any) -> int:
    n, wrong, slot = found.shape[0], 0, begin
    while slot < end:
        after = _cluster(slot, end, begins)
        first = n
        for s in range(slot, after):
            first = min(first, _document(s, n, bits))
        for s in range(slot, after):
            wrong += found[_document(s, n, bits)] != first
        slot = after
    return wrong
