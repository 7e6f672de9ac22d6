"""Shingles of a crowd: how many documents have each, and which ones tell documents of one template apart.

    count_shingles   shingle sets → a table of counters
    rare_shingles    the rare shingles of every document that serve as keys, and how many others are frequent

A counter has eight bits and stays at 255. Shingles that share a counter are counted together, so a count is never too
low: a shingle that is called rare is rare.
"""

from typing import Any

import numpy as np
from numba import njit

_M1 = np.uint64(0xFF51AFD7ED558CCD)
_M2 = np.uint64(0xC4CEB9FE1A85EC53)
_SEED = np.uint64(0x9E3779B97F4A7C15)
_S33 = np.uint64(33)
_HASHES = 2.0**64
_FULL = np.uint8(255)
_ONE = np.uint8(1)


@njit(nogil=True, cache=True, inline="always")
def _mix(h: Any) -> Any:
    h ^= h >> _S33
    h *= _M1
    h ^= h >> _S33
    h *= _M2
    return h ^ (h >> _S33)


@njit(nogil=True, cache=True)
def count_shingles(sets: Any, starts: Any, sizes: Any, counters: Any) -> None:
    """Count the shingles of documents, whose sets are sets[starts[d] : starts[d] + sizes[d]]."""
    mask = np.uint64(counters.shape[0] - 1)
    for d in range(starts.shape[0]):
        for at in range(starts[d], starts[d] + sizes[d]):
            slot = _mix(sets[at]) & mask
            counters[slot] += np.uint8(counters[slot] != _FULL)


@njit(nogil=True, cache=True)
def rare_shingles(
    sets: Any,
    starts: Any,
    sizes: Any,
    counters: Any,
    many: int,
    threshold: float,
    wanted: float,
    frequent: Any,
    keys: Any,
    offsets: Any,
) -> None:
    """Fill in the shingles that 2 to `many` documents have, and that are drawn; frequent[d]: how many have more.

    A shingle is drawn where its hash is among the lowest: all of them, or a share of wanted / (threshold · size -
    frequent) where that is less. keys: room for all shingles; offsets: where each document's begin, and the end.
    """
    mask = np.uint64(counters.shape[0] - 1)
    n: Any = 0
    offsets[0] = 0
    for d in range(starts.shape[0]):
        first = n
        above: Any = 0
        for at in range(starts[d], starts[d] + sizes[d]):
            documents = counters[_mix(sets[at]) & mask]
            above += np.int64(documents > many)
            keys[n] = sets[at]
            n += np.int64(documents > _ONE and documents <= many)
        frequent[d] = above
        needed = threshold * sizes[d] - above
        if needed > wanted:
            below = np.uint64(_HASHES * (wanted / needed))
            last = n
            n = first
            for at in range(first, last):
                keys[n] = keys[at]
                n += np.int64(_mix(keys[at] ^ _SEED) < below)
        offsets[d + 1] = n
