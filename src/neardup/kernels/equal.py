"""Equal things get equal numbers: hash tables over 64-bit keys, 128-bit identities and strings.

number_equal       keys → a bucket number per entry, -1 where its key is unique
first_holders      128-bit identities → the first document with the same one
hash_strings       64 bits per string, to notice ids that occur twice
"""

from typing import Any

import numpy as np
from numba import njit

_P = np.uint64(0x9E3779B97F4A7C15)
_S32 = np.uint64(32)
_S29 = np.uint64(29)


@njit(nogil=True, cache=True)
def _slots(n: int) -> int:
    size = 16
    while size < 2 * n:
        size *= 2
    return size


@njit(nogil=True, cache=True)
def number_equal(keys: Any, buckets: Any) -> Any:
    """Give equal keys the same number in `buckets`, counting from 0; how many numbers there are."""
    n = keys.shape[0]
    mask = np.uint64(_slots(n) - 1)
    table = np.full(_slots(n), -1, np.int32)
    following: Any = 0
    for i in range(n):
        key = keys[i]
        slot = (key * _P) >> np.uint64(20) & mask
        while True:
            first = table[slot]
            if first < 0:
                table[slot] = i
                buckets[i] = -1
                break
            if keys[first] == key:
                if buckets[first] < 0:
                    buckets[first] = following
                    following += 1
                buckets[i] = buckets[first]
                break
            slot = (slot + np.uint64(1)) & mask
    return following


@njit(nogil=True, cache=True)
def first_holders(identities: Any, compared: Any, out: Any) -> None:
    """out[i] is the first compared document with the identity of i; i itself where it is not compared."""
    n = identities.shape[0]
    mask = np.uint64(_slots(n) - 1)
    table = np.full(_slots(n), -1, np.int32)
    for i in range(n):
        out[i] = i
        if not compared[i]:
            continue
        slot = (identities[i, 0] * _P) >> np.uint64(20) & mask
        while True:
            first = table[slot]
            if first < 0:
                table[slot] = i
                break
            if identities[first, 0] == identities[i, 0] and identities[first, 1] == identities[i, 1]:
                out[i] = first
                break
            slot = (slot + np.uint64(1)) & mask


@njit(nogil=True, cache=True)
def hash_strings(data: Any, offsets: Any, out: Any) -> None:
    """64 bits per string."""
    for i in range(offsets.shape[0] - 1):
        h = _P ^ np.uint64(offsets[i + 1] - offsets[i])
        for j in range(offsets[i], offsets[i + 1]):
            h = (h ^ np.uint64(data[j])) * _P
            h ^= h >> _S29
        out[i] = h ^ (h >> _S32)
