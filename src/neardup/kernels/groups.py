"""From features to groups: equal keys, candidate pairs, stars and components. No list of all pairs of a bucket.

    number_equal       keys → a bucket number per document, -1 where its key is unique
    first_holders      128-bit identities → the first document with the same one
    hash_strings       64 bits per string, to notice ids that occur twice
    star_round         one pass of the greedy star clustering
    component_round    one pass of union-find over candidate pairs
    estimate           the resemblance that two sketches show
    intersections      how many elements two sorted sets share

Both rounds take what was measured so far, presume for other candidates what the sketches say, and return the pairs
that they presumed something about. The caller measures them and asks again, until nothing is left to measure: then no
presumption is left in the answer, and it is the one that measuring every candidate pair would have given.

Documents are numbered by priority: 0 is the one that is kept first.
"""

from typing import Any

import numpy as np
from numba import njit

_NOTHING = np.uint64(0xFFFFFFFFFFFFFFFF)
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
def number_equal(keys: Any, members: Any, begin: int, buckets: Any) -> int:
    """Give documents with equal keys the same number, counting from `begin`; the next free number.

    members[i] says which row of `keys` belongs to document i of `buckets`: keys of non-members are not looked at.
    """
    n = members.shape[0]
    mask = np.uint64(_slots(n) - 1)
    table = np.full(_slots(n), -1, np.int32)
    following = begin
    for i in range(n):
        key = keys[members[i]]
        slot = (key * _P) >> np.uint64(20) & mask
        while True:
            first = table[slot]
            if first < 0:
                table[slot] = i
                buckets[i] = -1
                break
            if keys[members[first]] == key:
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


@njit(nogil=True, cache=True)
def equal_samples(a: Any, b: Any) -> Any:
    """In how many places two sketches agree."""
    equal = np.uint32(0)
    for p in range(a.shape[0]):
        equal += np.uint32(a[p] == b[p])
    return np.int64(equal)


@njit(nogil=True, cache=True)
def _pair(i: int, j: int) -> Any:
    return np.uint64(i) << _S32 | np.uint64(j)


@njit(nogil=True, cache=True)
def pair_table(pairs: Any) -> Any:
    """A hash table over pairs (later, earlier): the row of a pair, -1 in free places."""
    size = _slots(pairs.shape[0])
    mask = np.uint64(size - 1)
    table = np.full(size, -1, np.int32)
    for row in range(pairs.shape[0]):
        slot = (_pair(pairs[row, 0], pairs[row, 1]) * _P) >> np.uint64(20) & mask
        while table[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        table[slot] = row
    return table


@njit(nogil=True, cache=True)
def _measured(i: int, j: int, table: Any, pairs: Any, values: Any) -> Any:
    """The measured resemblance of a pair, or -1."""
    mask = np.uint64(table.shape[0] - 1)
    slot = (_pair(i, j) * _P) >> np.uint64(20) & mask
    while table[slot] >= 0:
        row = table[slot]
        if pairs[row, 0] == i and pairs[row, 1] == j:
            return values[row]
        slot = (slot + np.uint64(1)) & mask
    return -1.0


@njit(nogil=True, cache=True)
def _append(pairs: Any, n: int, i: int, j: int) -> Any:
    if n == pairs.shape[0]:
        larger = np.empty((2 * n, 2), np.int32)
        larger[:n] = pairs
        pairs = larger
    pairs[n, 0] = i
    pairs[n, 1] = j
    return pairs


@njit(nogil=True, cache=True)
def estimate(agreed: int, width: int) -> float:
    """The resemblance that sketches show: 8 bits agree by chance with probability 1/256, which is taken off."""
    return max(0.0, (agreed / width - 1.0 / 256.0) / (1.0 - 1.0 / 256.0))


@njit(nogil=True, cache=True)
def star_round(
    buckets: Any,
    n_buckets: int,
    samples: Any,
    least: int,
    threshold: float,
    exact: bool,
    crowd: int,
    doubt: Any,
    table: Any,
    pairs: Any,
    values: Any,
    centre: Any,
    best: Any,
) -> tuple[Any, int]:
    """Documents in order of priority: one that is similar to a kept one is removed, any other is kept.

    Only kept documents stand in the buckets, so a thousand copies cost a thousand comparisons. A bucket of more than
    `crowd` kept documents is searched for its latest `crowd`; how often that happened is returned. centre[i] is the
    kept document most similar to i (i itself where it is kept), best[i] the similarity.

    Where a sketch says that i is similar, i is presumed removed, and a few of those pairs are asked for. Where no
    sketch says so, or the sketches of i were wrong before (doubt[i]), i is presumed kept, and all pairs are asked for.
    """
    n, k = buckets.shape
    width = samples.shape[1]
    head = np.full(n_buckets, -1, np.int32)
    below = np.full((n, k), -1, np.int32)
    stamp = np.full(n, -1, np.int32)
    asked = np.empty((1024, 2), np.int32)
    n_asked = 0
    unknown = np.empty(k * crowd, np.int32)
    looks = np.empty(k * crowd, np.bool_)
    crowded = 0
    for i in range(n):
        centre[i] = i
        best[i] = 1.0
        highest = -1.0
        n_unknown = 0
        promising = 0
        full = False
        for b in range(k):
            bucket = buckets[i, b]
            if bucket < 0:
                continue
            j = head[bucket]
            seen = 0
            while j >= 0:
                if seen == crowd:
                    full = True
                    break
                seen += 1
                if stamp[j] != i:
                    stamp[j] = i
                    agreed = equal_samples(samples[i], samples[j])
                    if agreed >= least:
                        guess = estimate(agreed, width)
                        value = _measured(i, j, table, pairs, values) if exact else guess
                        if value < 0.0:
                            unknown[n_unknown] = j
                            looks[n_unknown] = guess >= threshold
                            promising += guess >= threshold
                            n_unknown += 1
                        elif value >= threshold and (value > highest or (value == highest and j < centre[i])):
                            highest = value
                            centre[i] = j
                j = below[j, b]
        crowded += full
        if highest >= 0.0:
            best[i] = highest
            continue
        removed = promising > 0 and not doubt[i]
        few = 0
        for u in range(n_unknown):
            if not removed or (looks[u] and few < 8):
                asked = _append(asked, n_asked, i, unknown[u])
                n_asked += 1
                few += 1
        if not removed:
            for b in range(k):
                bucket = buckets[i, b]
                if bucket >= 0:
                    below[i, b] = head[bucket]
                    head[bucket] = i
    return asked[:n_asked], crowded


@njit(nogil=True, cache=True)
def _root(parent: Any, i: int) -> int:
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@njit(nogil=True, cache=True)
def component_round(
    buckets: Any,
    n_buckets: int,
    samples: Any,
    least: int,
    threshold: float,
    exact: bool,
    crowd: int,
    doubt: Any,
    table: Any,
    pairs: Any,
    values: Any,
    parent: Any,
) -> tuple[Any, int]:
    """Union-find over candidate pairs; documents that are connected already are not compared.

    parent[i] becomes the first document of i's component. `skip` jumps over the documents of a bucket that are
    connected with the one before them, so that a bucket of one large component is crossed in a few steps.
    """
    n, k = buckets.shape
    width = samples.shape[1]
    head = np.full(n_buckets, -1, np.int32)
    below = np.full((n, k), -1, np.int32)
    skip = np.full((n, k), -1, np.int32)
    stamp = np.full(n, -1, np.int32)
    asked = np.empty((1024, 2), np.int32)
    n_asked = 0
    crowded = 0
    for i in range(n):
        parent[i] = i
        full = False
        for b in range(k):
            bucket = buckets[i, b]
            if bucket < 0:
                continue
            j = head[bucket]
            seen = 0
            while j >= 0:
                if seen == crowd:
                    full = True
                    break
                seen += 1
                mine = _root(parent, i)
                other = _root(parent, j)
                if mine == other:
                    further = skip[j, b]
                    while further >= 0 and _root(parent, further) == other:
                        further = skip[further, b]
                    skip[j, b] = further
                    j = further
                    continue
                agreed = equal_samples(samples[i], samples[j]) if stamp[j] != i else -1
                stamp[j] = i
                if agreed >= least:
                    guess = estimate(agreed, width)
                    value = _measured(i, j, table, pairs, values) if exact else guess
                    if value < 0.0:
                        asked = _append(asked, n_asked, i, j)
                        n_asked += 1
                        value = 0.0 if doubt[i] else guess
                    if value >= threshold:
                        parent[max(mine, other)] = min(mine, other)
                j = below[j, b]
            below[i, b] = head[bucket]
            skip[i, b] = head[bucket]
            head[bucket] = i
        crowded += full
    for i in range(n):
        parent[i] = _root(parent, i)
    return asked[:n_asked], crowded


@njit(nogil=True, cache=True)
def intersections(sets: Any, starts: Any, sizes: Any, pairs: Any, out: Any) -> None:
    """out[row] = |A ∩ B| of the sorted sets of a pair: one merge, without a branch on which side advances."""
    for row in range(pairs.shape[0]):
        i = starts[pairs[row, 0]]
        j = starts[pairs[row, 1]]
        i_end = i + sizes[pairs[row, 0]]
        j_end = j + sizes[pairs[row, 1]]
        shared: Any = 0
        while i < i_end and j < j_end:
            a = sets[i]
            b = sets[j]
            shared += np.int64(a == b)
            i += np.int64(a <= b)
            j += np.int64(b <= a)
        out[row] = shared
