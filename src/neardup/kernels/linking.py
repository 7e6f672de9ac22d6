"""Documents that share r of k features, linked without a list of pairs: every r features together are one feature.

    subsets   how many r-subsets there are
    link      features → union-find over the documents that agree in an r-subset, for a range of subsets
    merge     two forests → one
    flatten   a forest → the first document of each tree

Source: Broder, "Identifying and Filtering Near-Duplicate Documents", section 3: the phase that counts the features of
every pair can be avoided by grouping every r features into a super-feature, of which there are C(k, r). For each subset
a hash table knows the first document with the same r features; a document found there is united with it. Memory is the
table and the forest, whatever the number of pairs.

Proven: two documents end in one tree just where a chain of documents connects them, each sharing r features or more,
at equal positions, with the next. Two that share r share an r-subset, and both are united with its first holder; and
nothing else is united, because the features themselves are compared, never a hash of them alone.

The table holds uint32: 0 for a free place, else the document's number plus one in the low bits and a few bits of the
hash above them. They spare most looks at the features of another document, which are far away in memory. Keys are
made for a block of documents at once and their places read ahead, so that the waits for memory overlap: a tenth
less time at ten million documents (measured). What was read is not used: the block may have changed it.
"""

from typing import Any

import numpy as np
from numba import njit

_P = np.uint64(0x9E3779B97F4A7C15)
_M1 = np.uint64(0xFF51AFD7ED558CCD)
_S32 = np.uint64(32)
_ONE = np.uint64(1)
_FREE = np.uint32(0)
_BLOCK = 256


@njit(nogil=True, cache=True)
def subsets(k: int, r: int) -> int:
    """C(k, r)."""
    count = 1
    for t in range(r):
        count = count * (k - t) // (t + 1)
    return count


@njit(nogil=True, cache=True)
def _next(chosen: Any, k: int) -> None:
    """The r-subset after `chosen`, in lexicographic order."""
    r = chosen.shape[0]
    t = r - 1
    while t >= 0 and chosen[t] == k - r + t:
        t -= 1
    if t >= 0:
        chosen[t] += 1
        for following in range(t + 1, r):
            chosen[following] = chosen[following - 1] + 1


@njit(nogil=True, cache=True, inline="always")
def _root(parent: Any, i: Any) -> Any:
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@njit(nogil=True, cache=True, inline="always")
def _unite(parent: Any, i: Any, j: Any) -> None:
    """The smaller root becomes the root of both."""
    if parent[i] == parent[j]:
        return
    first = _root(parent, i)
    second = _root(parent, j)
    if first < second:
        parent[second] = first
    elif second < first:
        parent[first] = second


@njit(nogil=True, cache=True)
def _keys(features: Any, begin: int, end: int, chosen: Any, start: Any, keys: Any) -> None:
    """The hash of the chosen features of documents begin to end - 1."""
    for i in range(begin, end):
        h = start
        for t in range(chosen.shape[0]):
            h = (h ^ features[i, chosen[t]]) * _P
            h ^= h >> _S32
        keys[i - begin] = h * _M1


@njit(nogil=True, cache=True)
def link(features: Any, members: Any, r: int, subset_from: int, subset_to: int, parent: Any, table: Any) -> None:
    """Unite the members that agree in one of the r-subsets number subset_from to subset_to - 1 of the features.

    features is uint64[n, k]; subsets are numbered in lexicographic order. members[i] says whether document i takes
    part. `parent` is a forest to go on with (at first parent[i] = i). `table` is uint32, a power of two of places and
    more than there are members; what it held is lost. n is below 2^31.
    """
    n, k = features.shape
    size = table.shape[0]
    assert 0 < r <= k and size > 0 and size & (size - 1) == 0  # noqa: PT018
    mask = np.uint64(size - 1)
    bits = np.uint64(0)
    while (n >> np.int64(bits)) > 0:
        bits += _ONE
    low = np.uint32((_ONE << bits) - _ONE)
    chosen = np.arange(r)
    for _ in range(subset_from):
        _next(chosen, k)
    keys = np.empty(_BLOCK, np.uint64)
    ahead = np.empty(_BLOCK, np.uint32)
    for subset in range(subset_from, subset_to):
        table[:] = _FREE
        start = np.uint64(subset + 1) * _M1
        for begin in range(0, n, _BLOCK):
            end = min(begin + _BLOCK, n)
            _keys(features, begin, end, chosen, start, keys)
            for i in range(begin, end):
                ahead[i - begin] = table[(keys[i - begin] >> _S32) & mask]
            for i in range(begin, end):
                if not members[i]:
                    continue
                key = keys[i - begin]
                # the place is taken from the high half of the key, the bits kept beside the number from the low half
                tag = np.uint32(key & np.uint64(0xFFFFFFFF)) & ~low
                slot = (key >> _S32) & mask
                while True:
                    entry = table[slot]
                    if entry == _FREE:
                        table[slot] = tag | np.uint32(i + 1)
                        break
                    if entry & ~low == tag:
                        first = np.int64(entry & low) - 1
                        equal = True
                        for t in range(r):
                            equal = equal and features[first, chosen[t]] == features[i, chosen[t]]
                        if equal:
                            _unite(parent, i, first)
                            break
                    slot = (slot + _ONE) & mask
        _next(chosen, k)


@njit(nogil=True, cache=True)
def merge(parent: Any, other: Any) -> None:
    """Unite in `parent` what is united in `other`."""
    for i in range(parent.shape[0]):
        if other[i] != i:
            _unite(parent, i, other[i])


@njit(nogil=True, cache=True)
def flatten(parent: Any) -> None:
    """parent[i] = the first document of i's tree. Roots are smallest, so parents come before their children."""
    for i in range(parent.shape[0]):
        parent[i] = parent[parent[i]]
