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

MEASURED = 64
"""Of how many candidates, the nearest by their sketches, a document is measured against at most."""

AT_ONCE = 4_000_000
"""Pairs that one round asks for at most, or hardly more: what bounds the memory for them."""

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
def _pair_slot(i: int, j: int) -> Any:
    h = (np.uint64(i) << _S32 | np.uint64(j)) * _P
    h = (h ^ (h >> _S32)) * _P
    return h ^ (h >> _S29)


@njit(nogil=True, cache=True)
def pair_table(pairs: Any) -> Any:
    """A hash table over pairs (later, earlier): the row of a pair, -1 in free places."""
    size = _slots(pairs.shape[0])
    mask = np.uint64(size - 1)
    table = np.full(size, -1, np.int32)
    for row in range(pairs.shape[0]):
        slot = _pair_slot(pairs[row, 0], pairs[row, 1]) & mask
        while table[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        table[slot] = row
    return table


@njit(nogil=True, cache=True)
def _measured(i: int, j: int, table: Any, pairs: Any, values: Any) -> Any:
    """The measured resemblance of a pair, or -1."""
    mask = np.uint64(table.shape[0] - 1)
    slot = _pair_slot(i, j) & mask
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
def _remember_best(j: int, agreed: int, n: int, chosen: Any, agreements: Any) -> Any:
    """Put a candidate among the best so far, the most agreeing first; how many there are now."""
    room = chosen.shape[0]
    if n == room and agreed <= agreements[n - 1]:
        return n
    at = n if n < room else n - 1
    while at > 0 and agreements[at - 1] < agreed:
        chosen[at] = chosen[at - 1]
        agreements[at] = agreements[at - 1]
        at -= 1
    chosen[at] = j
    agreements[at] = agreed
    return min(n + 1, room)


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
) -> tuple[Any, int]:
    """Documents in order of priority: one that is similar to a kept one is removed, any other is kept.

    Only kept documents stand in the buckets, so a thousand copies cost a thousand comparisons. Of more than `crowd`
    kept documents that share a bucket the latest are compared, and of those that come near the threshold the MEASURED
    nearest by their sketches count; how many documents this cut short is returned. centre[i] is a kept document that
    is similar to i, the most similar of those measured; i itself where it is kept.

    What is not measured is presumed. Where a sketch comes near the threshold, i is presumed removed, and a few pairs
    are asked for: first those with documents that are settled as kept, so that one measurement may settle i as well.
    Where none does, or the sketches of i were wrong before (doubt[i]), i is presumed kept, and all are asked for.
    A round ends early when it has asked for AT_ONCE pairs.
    """
    n, k = buckets.shape
    width = samples.shape[1]
    head = np.full(n_buckets, -1, np.int32)
    below = np.full((n, k), -1, np.int32)
    stamp = np.full(n, -1, np.int32)
    settled = np.zeros(n, np.bool_)
    asked = np.empty((1024, 2), np.int32)
    n_asked = 0
    chosen = np.empty(MEASURED, np.int32)
    agreements = np.empty(MEASURED, np.int64)
    unknown = np.empty(MEASURED, np.int32)
    near = np.empty(MEASURED, np.bool_)
    crowded = 0
    for i in range(n):
        centre[i] = i
        n_chosen = 0
        compared = 0
        found = 0
        for b in range(k):
            bucket = buckets[i, b]
            if bucket < 0:
                continue
            j = head[bucket]
            while j >= 0 and compared < crowd:
                if stamp[j] != i:
                    stamp[j] = i
                    compared += 1
                    agreed = equal_samples(samples[i], samples[j])
                    if agreed >= least:
                        found += 1
                        n_chosen = _remember_best(j, agreed, n_chosen, chosen, agreements)
                j = below[j, b]
        crowded += compared == crowd or found > n_chosen
        highest = -1.0
        n_unknown = 0
        promising = 0
        for c in range(n_chosen):
            j = chosen[c]
            guess = estimate(agreements[c], width)
            value = _measured(i, j, table, pairs, values) if exact else guess
            if value < 0.0:
                unknown[n_unknown] = j
                near[n_unknown] = guess >= threshold - 0.1
                promising += guess >= threshold - 0.1
                n_unknown += 1
            elif value >= threshold and (value > highest or (value == highest and j < centre[i])):
                highest = value
                centre[i] = j
        if highest >= 0.0:
            continue
        removed = promising > 0 and not doubt[i]
        few = 0
        for wants_settled in (True, False):
            for u in range(n_unknown):
                if settled[unknown[u]] == wants_settled and (not removed or (few < 8 and (wants_settled or near[u]))):
                    asked = _append(asked, n_asked, i, unknown[u])
                    n_asked += 1
                    few += 1
        if n_asked >= AT_ONCE:
            break
        if not removed:
            settled[i] = n_unknown == 0
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
        compared = 0
        wanted = 0
        for b in range(k):
            bucket = buckets[i, b]
            if bucket < 0:
                continue
            j = head[bucket]
            while j >= 0 and compared < crowd and wanted < MEASURED:
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
                compared += stamp[j] != i
                stamp[j] = i
                if agreed >= least:
                    wanted += 1
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
        crowded += compared == crowd or wanted == MEASURED
        if n_asked >= AT_ONCE:
            return asked[:n_asked], crowded
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
