"""Which keys occur more than once, in two bits per hash value: unique ones are discarded before anything is sorted.

    count    keys → the bitmap of counters: none, one, many
    shared   keys → which of them have the counter "many"

Source: Pugh, "Detecting duplicate and near-duplicate files" (slides, "Discarding unique fingerprints"): a first pass
counts, a second discards, and passes are repeated with another hash function on what is left, to get rid of unique
keys that shared a counter. A driver streams its batches: count all, filter all, then again with another seed.

    bitmap = np.zeros(2**21, np.uint64)           # 2^26 counters in 16 MB
    for keys in batches: count(keys, seed, bitmap)
    for keys in batches: shared(keys, seed, bitmap, mask); survivors.append(keys[mask])

Proven: a key that occurs twice is never discarded, for both occurrences go to the same counter. A unique key survives
a pass if another key has its counter: with C counters, D different keys and even hashing, 1 - (1 - 1/C)^(D - 1).

Bitmaps are uint64 arrays of a power of two of words. A word holds 32 counters: 00 none, 01 one, 11 many, so counting
is w | b | (w & b) << 1 for the counter's low bit b, and its high bit alone says "many". No branch, nothing to carry.
"""

from typing import Any

import numpy as np
from numba import njit

PER_WORD = 32
"""Counters in a word of the bitmap."""

_P = np.uint64(0x9E3779B97F4A7C15)
_M1 = np.uint64(0xFF51AFD7ED558CCD)
_M2 = np.uint64(0xC4CEB9FE1A85EC53)
_ONE, _TWO = np.uint64(1), np.uint64(2)
_S33, _S58, _X3E = np.uint64(33), np.uint64(58), np.uint64(0x3E)


@njit(nogil=True, cache=True, inline="always")
def _mix(h: Any) -> Any:
    h ^= h >> _S33
    h *= _M1
    h ^= h >> _S33
    h *= _M2
    return h ^ (h >> _S33)


@njit(nogil=True, cache=True)
def _words(bitmap: Any) -> Any:
    """The mask that picks a word. A bitmap of another size would leave words unused, or be overrun."""
    words = bitmap.shape[0]
    assert words > 0 and words & (words - 1) == 0  # noqa: PT018
    return np.uint64(words - 1)


@njit(nogil=True, cache=True)
def count(keys: Any, seed: int, bitmap: Any) -> None:
    """Count every key: none → one → many, and many it stays.

    Low bits of the key's hash choose the word, the five highest the counter in it.
    """
    mask = _words(bitmap)
    add = _mix((np.uint64(seed) + _ONE) * _P)
    for t in range(keys.shape[0]):
        h = _mix(keys[t] + add)
        bit = _ONE << ((h >> _S58) & _X3E)
        word = bitmap[h & mask]
        bitmap[h & mask] = word | bit | (word & bit) << _ONE


@njit(nogil=True, cache=True)
def shared(keys: Any, seed: int, bitmap: Any, out_mask: Any) -> Any:
    """out_mask[t] = whether the counter of key t is "many"; how many are."""
    mask = _words(bitmap)
    add = _mix((np.uint64(seed) + _ONE) * _P)
    survivors: Any = 0
    for t in range(keys.shape[0]):
        h = _mix(keys[t] + add)
        many = bitmap[h & mask] & (_TWO << ((h >> _S58) & _X3E)) != np.uint64(0)
        out_mask[t] = many
        survivors += np.int64(many)
    return survivors
