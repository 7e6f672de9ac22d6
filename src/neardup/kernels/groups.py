"""From buckets to groups: candidate pairs, their scores, stars and components. No list of all pairs of a bucket.

    score              what two signatures show of a pair, in the unit of its kind
    scores             of many pairs
    star_round         one pass of the greedy star clustering
    component_round    one pass of union-find over candidate pairs
    star_pass, component_pass  the same for whole buckets, wherever each of them is, when it is given who is kept
    follow             similar pairs → who is removed
    chain, pair_round  all candidate pairs with their scores, in pieces that fit into memory
    intersections      how many elements two sorted sets share

Both rounds take what was measured so far, presume for other candidates what the signatures say, and return the pairs
that they presumed something about. The caller measures them and asks again, until nothing is left to measure: then no
presumption is left in the answer, and it is the one that measuring every candidate pair would have given. Where the
signatures' score is the measure itself, one round is enough.

Documents are numbered by priority: 0 is the one that is kept first. Document i is in the buckets
entries[begins[i]:begins[i + 1]].

Signatures are words[offsets[i]:offsets[i + 1]] and, for SAMPLES, the rows of `samples`. Kinds of scores, and what
`parameters` holds for them:

    SAMPLES       b bits of each minimum, parameters[0] = 2^b values; the estimate of the resemblance, chance agreement
                  taken off (Li and König)
    EQUAL         equal words in equal places, by parameters[0] (Broder's features, Henzinger's B-similarity)
    BITS          equal bits of parameters[0] (Henzinger's C-similarity)
    LISTS         repetitions, of parameters[0] words each, that share a word other than 0 (Pugh)
    BOTTOM        the parameters[0] smallest values of a permutation, ascending (Broder, Radinsky)
    MOD           values that are 0 modulo n, ascending: resemblance (Radinsky)
    CONTAINMENT   the same: the larger of both containments
    FILTER        Bloom filters of texts and of links, the latter weighing parameters[0]; parameters[1]: containment
                  (Jain, Dahlin, Tewari). A row is the number of words of the first filter, that filter, the second one
    ODD           odd sketches of parameters[0] bits, of minima in parameters[1] bins; the estimate of the resemblance
                  (Mitzenmacher, Pagh, Pham)
    SITES         parameters[0] features, then bits, then the site: Henzinger's rule for two sites and for one
"""

from typing import Any

import numpy as np
from numba import njit

SAMPLES, EQUAL, BITS, LISTS, BOTTOM, MOD, CONTAINMENT, FILTER, SITES, ODD = range(10)
"""Kinds of scores."""

LOOKS, STANDS, ELSEWHERE = np.uint8(1), np.uint8(2), np.uint8(4)
"""What a document does in a bucket: it is compared with those that stand there; it stands there when it is kept; it
passes over documents of its own site."""

AT_ONCE = 4_000_000
"""Pairs that one round asks for at most, or hardly more: what bounds the memory for them."""

_P = np.uint64(0x9E3779B97F4A7C15)
_S32 = np.uint64(32)
_S29 = np.uint64(29)
_FREE = np.uint64(0xFFFFFFFFFFFFFFFF)
_ZERO, _ONE = np.uint64(0), np.uint64(1)
_FORGOTTEN, _KNOWN, _CROWDED = np.uint8(0), np.uint8(1), np.uint8(2)
"""What a round remembers of a document for the next one: nothing, its best candidates, that it was cut short too."""
_NOTHING = np.uint8(0)


@njit(nogil=True, cache=True)
def _slots(n: int) -> int:
    size = 16
    while size < 2 * n:
        size *= 2
    return size


@njit(nogil=True, cache=True)
def _bits(x: Any) -> Any:
    """How many bits are set: LLVM makes one instruction of it."""
    x = x - ((x >> _ONE) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(nogil=True, cache=True)
def _equal_samples(a: Any, b: Any) -> Any:
    """In how many places two sketches agree."""
    equal = np.uint32(0)
    for p in range(a.shape[0]):
        equal += np.uint32(a[p] == b[p])
    return np.int64(equal)


@njit(nogil=True, cache=True)
def _equal_words(a: Any, b: Any) -> Any:
    equal: Any = 0
    for p in range(a.shape[0]):
        equal += np.int64(a[p] == b[p])
    return equal


@njit(nogil=True, cache=True)
def _equal_bits(a: Any, b: Any, bits: Any) -> Any:
    differing: Any = 0
    for p in range(a.shape[0]):
        differing += _bits(a[p] ^ b[p])
    return bits - differing


@njit(nogil=True, cache=True)
def _equal_lists(a: Any, b: Any, lists: Any) -> Any:
    """An empty list has fingerprint 0, which says nothing."""
    agreed: Any = 0
    for first in range(0, a.shape[0], lists):
        shared = False
        for p in range(first, first + lists):
            shared |= a[p] == b[p] and a[p] != _ZERO
        agreed += np.int64(shared)
    return agreed


@njit(nogil=True, cache=True)
def _bottom(a: Any, b: Any, m: Any) -> Any:
    """Radinsky's theorem: of the m smallest values of the union, the share that both documents have."""
    i: Any = 0
    j: Any = 0
    union: Any = 0
    shared: Any = 0
    while union < m and (i < a.shape[0] or j < b.shape[0]):
        x = a[i] if i < a.shape[0] else _FREE
        y = b[j] if j < b.shape[0] else _FREE
        if x == _FREE and y == _FREE:
            break
        union += 1
        shared += np.int64(x == y)
        i += np.int64(x <= y)
        j += np.int64(y <= x)
    return shared / max(1, union)


@njit(nogil=True, cache=True)
def _common(a: Any, b: Any) -> Any:
    """How many values two ascending lists of distinct values share."""
    i: Any = 0
    j: Any = 0
    shared: Any = 0
    while i < a.shape[0] and j < b.shape[0]:
        x, y = a[i], b[j]
        shared += np.int64(x == y)
        i += np.int64(x <= y)
        j += np.int64(y <= x)
    return shared


@njit(nogil=True, cache=True)
def _match(words: Any, a: Any, n: Any, b: Any, m: Any, contained: bool) -> Any:
    """The share of the set bits that both filters have, of the fuller one's (or of the other's, for containment); -1
    where both are empty. The filters are words[a : a + n] and words[b : b + m]: slices would be counted as references.

    The larger filter is folded to the size of the smaller one: a position is taken modulo the size.
    """
    first: Any = 0
    second: Any = 0
    both: Any = 0
    if n == m:  # nothing to fold, and no sign to look at: this loop becomes vectors
        for p in range(n):
            x = words[np.uint64(a + p)]
            y = words[np.uint64(b + p)]
            first += _bits(x)
            second += _bits(y)
            both += _bits(x & y)
    else:
        size = min(n, m)
        for p in range(size):
            x = words[a + p]
            y = words[b + p]
            for q in range(p + size, n, size):
                x |= words[a + q]
            for q in range(p + size, m, size):
                y |= words[b + q]
            first += _bits(x)
            second += _bits(y)
            both += _bits(x & y)
    if first == 0 and second == 0:
        return -1.0
    return both / max(1, min(first, second) if contained else max(first, second))


@njit(nogil=True, cache=True)
def _mixed_match(words: Any, offsets: Any, i: int, j: int, links: float, contained: bool) -> Any:
    """Texts and links, weighted; pages without any links are compared by their texts."""
    a, b = offsets[i], offsets[j]
    n, m = np.int64(words[a]), np.int64(words[b])
    text = max(0.0, _match(words, a + 1, n, b + 1, m, contained))
    if links == 0.0:
        return text
    rest, other = offsets[i + 1] - a - 1 - n, offsets[j + 1] - b - 1 - m
    linked = _match(words, a + 1 + n, rest, b + 1 + m, other, contained)
    return text if linked < 0.0 else (1.0 - links) * text + links * linked


@njit(nogil=True, cache=True)
def _by_site(a: Any, b: Any, parameters: Any) -> float:
    """parameters: features, shared features and C-similarity on one site, C-similarity on two, bits.

    Site 0 is an unknown one; such a pair is judged as if it were on one site.
    """
    k = np.int64(parameters[0])
    last = a.shape[0] - 1
    agreed = _equal_bits(a[k:last], b[k:last], np.int64(parameters[4]))
    if a[last] != b[last] and a[last] != _ZERO and b[last] != _ZERO:
        return np.float64(agreed) if agreed >= parameters[3] else 0.0
    if agreed >= parameters[2] and _equal_words(a[:k], b[:k]) >= parameters[1]:
        return np.float64(agreed)
    return 0.0


_COUNTED = np.uint64(48)
_LEAST_EMPTY = 1e-9
"""The product of the shares of empty bins of two long documents, which is 0: its logarithm is needed."""


@njit(nogil=True, cache=True)
def _odd_counts(words: Any, a: Any, b: Any, size: Any) -> Any:
    """Bits that differ, and the bins that are not empty of either."""
    differing: Any = 0
    for p in range(size - 1):
        differing += _bits(words[a + p] ^ words[b + p])
    x, y = words[a + size - 1], words[b + size - 1]
    differing += _bits(((x ^ y) << np.uint64(16)) >> np.uint64(16))
    return differing, np.float64(x >> _COUNTED), np.float64(y >> _COUNTED)


@njit(nogil=True, cache=True)
def _log_empty(first: float, second: float, bins: float) -> Any:
    return np.log(max(_LEAST_EMPTY, (1.0 - first / bins) * (1.0 - second / bins)))


@njit(nogil=True, cache=True)
def _odd(words: Any, a: Any, b: Any, size: Any, parameters: Any) -> Any:
    """The resemblance ρ for which as many minima agree as the bits tell: N = ρ · bins that are not empty of both."""
    bits, bins = parameters[0], parameters[1]
    differing, first, second = _odd_counts(words, a, b, size)
    share = 1.0 - 2.0 * differing / bits
    if share <= 0.0:
        return 0.0
    agreed = 0.5 * (first + second + 0.5 * bits * np.log(share))
    if agreed <= 0.0:
        return 0.0
    empty = _log_empty(first, second, bins)
    found = 0.8
    for _ in range(50):
        rest = np.exp(empty / (1.0 + found))
        error = found * bins * (1.0 - rest) - agreed
        found -= error / (bins * (1.0 - rest) + found * bins * rest * empty / (1.0 + found) ** 2)
        found = min(1.0, max(0.0, found))
        if abs(error) < 1e-13 * bins:
            break
    return found


@njit(nogil=True, cache=True)
def odd_error(resemblance: float, first: float, second: float, bits: float, bins: float) -> Any:
    """The standard error of the estimate for documents with so many filled bins, as in analysis.estimators."""
    empty = min(-1e-9, _log_empty(first, second, bins))
    rest = np.exp(empty / (1.0 + resemblance))
    union = bins * (1.0 - rest)
    x = 4.0 * max(0.0, first + second - 2.0 * resemblance * union) / bits
    slope = union + resemblance * bins * rest * empty / (1.0 + resemblance) ** 2
    drawn = max(0.0, 1.0 / union - (1.0 + resemblance) / (-empty * bins)) + rest / bins
    return np.sqrt(bits * (np.exp(x) - 1.0 - x) / 16.0 / slope**2 + resemblance * (1.0 - resemblance) * drawn)


@njit(nogil=True, cache=True)
def _sure(signatures: Any, i: int, j: int, agreed: float, strict: Any, deviations: float) -> Any:
    """Tell whether a score lies `deviations` standard errors or more above strict[0]."""
    _, _, words, offsets, parameters = signatures
    a, b = offsets[i], offsets[j]
    _, first, second = _odd_counts(words, a, b, offsets[i + 1] - a)
    return agreed >= strict[0] + deviations * odd_error(strict[0], first, second, parameters[0], parameters[1])


@njit(nogil=True, cache=True)
def sure(signatures: tuple[int, Any, Any, Any, Any], pairs: Any, values: Any, strict: Any, out: Any) -> None:
    """Fill in which scores of pairs are as far above strict[0] as is asked for of one in a full bucket."""
    for row in range(pairs.shape[0]):
        out[row] = _sure(signatures, pairs[row, 0], pairs[row, 1], values[row], strict, strict[strict.shape[0] - 1])


@njit(nogil=True, cache=True)
def _score_samples(samples: Any, i: int, j: int, values: float) -> Any:
    agreed = _equal_samples(samples[i], samples[j])
    chance = 1.0 / values
    return max(0.0, (agreed / samples.shape[1] - chance) / (1.0 - chance))


@njit(nogil=True, cache=True)
def _score_words(kind: int, words: Any, offsets: Any, parameters: Any, i: int, j: int) -> Any:
    a = words[offsets[i] : offsets[i + 1]]
    b = words[offsets[j] : offsets[j + 1]]
    if kind == EQUAL:
        return _equal_words(a, b) / parameters[0]
    if kind == BITS:
        return np.float64(_equal_bits(a, b, np.int64(parameters[0])))
    if kind == LISTS:
        return np.float64(_equal_lists(a, b, np.int64(parameters[0])))
    if kind == BOTTOM:
        return _bottom(a, b, np.int64(parameters[0]))
    if kind == MOD:
        shared = _common(a, b)
        return shared / max(1, a.shape[0] + b.shape[0] - shared)
    if kind == CONTAINMENT:
        return _common(a, b) / max(1, min(a.shape[0], b.shape[0]))
    return _by_site(a, b, parameters)


@njit(nogil=True, cache=True, inline="always")
def score(kind: int, samples: Any, words: Any, offsets: Any, parameters: Any, i: int, j: int) -> Any:
    """What the signatures of i and j show. The call of a large function would cost as much as comparing two filters."""
    if kind == SAMPLES:
        found = _score_samples(samples, i, j, parameters[0])
    elif kind == ODD:
        found = _odd(words, offsets[i], offsets[j], offsets[i + 1] - offsets[i], parameters)
    elif kind == FILTER:
        found = _mixed_match(words, offsets, i, j, parameters[0], parameters[1] != 0.0)
    else:
        found = _score_words(kind, words, offsets, parameters, i, j)
    return found


@njit(nogil=True, cache=True)
def scores(kind: int, samples: Any, words: Any, offsets: Any, parameters: Any, pairs: Any, out: Any) -> None:
    """Of many pairs."""
    for row in range(pairs.shape[0]):
        out[row] = score(kind, samples, words, offsets, parameters, pairs[row, 0], pairs[row, 1])


@njit(nogil=True, cache=True)
def containments(kind: int, words: Any, offsets: Any, pairs: Any, out: Any) -> None:
    """How much of each document of a pair is in the other, where signatures tell: MOD, CONTAINMENT, FILTER (texts)."""
    for row in range(pairs.shape[0]):
        i, j = pairs[row, 0], pairs[row, 1]
        a = words[offsets[i] : offsets[i + 1]]
        b = words[offsets[j] : offsets[j + 1]]
        if kind == FILTER:
            first, second = a[1 : 1 + np.int64(a[0])], b[1 : 1 + np.int64(b[0])]
            out[row, 0], out[row, 1] = _inside(first, second), _inside(second, first)
        else:
            shared = _common(a, b)
            out[row, 0], out[row, 1] = shared / max(1, a.shape[0]), shared / max(1, b.shape[0])


@njit(nogil=True, cache=True)
def _inside(a: Any, b: Any) -> Any:
    """The share of a's bits that b has. Filters of two sizes tell nothing: folded, the larger one is too full."""
    if a.shape[0] != b.shape[0]:
        return np.nan
    mine: Any = 0
    both: Any = 0
    for p in range(a.shape[0]):
        mine += _bits(a[p])
        both += _bits(a[p] & b[p])
    return both / max(1, mine)


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
        for row in range(n):  # a slice would cost three seconds of compiling
            larger[row, 0] = pairs[row, 0]
            larger[row, 1] = pairs[row, 1]
        pairs = larger
    pairs[n, 0] = i
    pairs[n, 1] = j
    return pairs


@njit(nogil=True, cache=True)
def _remember_best(j: int, agreed: float, n: int, chosen: Any, agreements: Any) -> Any:
    """Put a candidate among the best so far, by score and then by number; how many there are now."""
    room = chosen.shape[0]
    if n == room and (agreed < agreements[n - 1] or (agreed == agreements[n - 1] and j > chosen[n - 1])):
        return n
    at = n if n < room else n - 1
    while at > 0 and (agreements[at - 1] < agreed or (agreements[at - 1] == agreed and chosen[at - 1] > j)):
        chosen[at] = chosen[at - 1]
        agreements[at] = agreements[at - 1]
        at -= 1
    chosen[at] = j
    agreements[at] = agreed
    return min(n + 1, room)


@njit(nogil=True, cache=True)
def _rooms(entries: Any, n_buckets: int) -> Any:
    """Where the room of each bucket begins, if all that belong to it are to have a place."""
    rooms = np.zeros(n_buckets + 1, np.int64)
    for e in range(entries.shape[0]):
        rooms[entries[e] + 1] += 1
    for b in range(n_buckets):
        rooms[b + 1] += rooms[b]
    return rooms


def nothing_remembered() -> tuple[int, Any, Any, Any, Any, Any]:
    """What the first round of `star_round` takes over."""
    kept, memory = np.zeros(0, np.bool_), np.zeros(0, np.uint8)
    return 0, kept, memory, np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, np.float64)


@njit(nogil=True, cache=True)
def _stand(i: int, bucket: int, bottom: Any, top: Any, standing: Any, sites: Any, other: Any) -> None:
    """Put a kept document into a bucket."""
    at = top[bucket]
    standing[at] = i
    top[bucket] = at + 1
    if sites.shape[0]:
        other[at] = at - 1
        if at > bottom[bucket] and sites[i] >= 0 and sites[standing[at - 1]] == sites[i]:
            other[at] = other[at - 1]


@njit(nogil=True, cache=True)
def star_round(
    entries: Any,
    begins: Any,
    n_buckets: int,
    signatures: tuple[int, Any, Any, Any, Any],
    least: float,
    presumed: float,
    threshold: float,
    exact: bool,
    crowd: int,
    most: int,
    at_once: int,
    doubt: Any,
    table: Any,
    pairs: Any,
    values: Any,
    cut_short: Any,
    centre: Any,
    roles: Any,
    sites: Any,
    fixed: int,
    joining: bool,
    remembered: Any,
    room: int,
    strict: Any,
) -> tuple[Any, Any]:
    """Documents in order of priority: one that is similar to a kept one is removed, any other is kept.

    The first `fixed` documents are kept whatever they are similar to: an index has them already. Without `joining` the
    others do not stand in the buckets: each is compared with the fixed ones alone.

    Only kept documents stand in the buckets, so a thousand copies cost a thousand comparisons. Of more than `crowd`
    kept documents in a bucket the latest are compared, and of those that score `least` or more the `most` best
    count; cut_short[i] becomes whether there were more and i is kept all the same. centre[i] is the first of these, by
    score and then by priority, that is similar to i; i itself where none is, and it is kept. So it does not depend on
    which other pairs were measured, nor in which order.

    roles[e] says what the document of an entry does in that bucket (LOOKS, STANDS, ELSEWHERE). sites[i] is the number
    of a document's site, -1 where it is unknown; it is read where roles say ELSEWHERE.

    Where scores decide, `strict` may ask for more than the threshold: strict[h] standard errors above strict[0] of a
    candidate with which h documents were compared under the same key, the latest `crowd`; of several keys that with
    the fewest counts.

    What is not measured is presumed. Where a score reaches `presumed`, i is presumed removed, and a few pairs
    are asked for: first those with documents that are settled as kept, so that one measurement may settle i as well.
    Where none does, or the scores of i were wrong before (doubt[i]), i is presumed kept, and all are asked for. Where i
    is similar to a document, those with a higher score are asked for. A round ends early when it has asked for
    `at_once` pairs.

    Most documents meet the same kept ones in every round, and scoring those is nearly all of the work. `remembered` is
    what the round before returned: how far it came, who was kept, and for every document its best candidates. They
    are taken over where the latest `crowd` in all its buckets are those of before: `since` counts, bucket by bucket,
    the kept documents that have come after the last one whose fate is another now. One more than `crowd` of them
    tell that there are more, in both rounds. Where documents of one site are passed over, nothing may have changed in
    the bucket. Of `room` candidates in all, those of the first documents are remembered.
    """
    kind, samples, words, offsets, parameters = signatures
    n = begins.shape[0] - 1
    bottom = _rooms(entries, n_buckets)
    top = bottom.copy()
    standing = np.empty(entries.shape[0], np.int32)  # bucket by bucket: side by side, they are fetched at once
    other = np.empty(entries.shape[0] if sites.shape[0] else 0, np.int64)  # below a place, the next of another site
    stamp = np.full(n, -1, np.int32)
    fewest = np.zeros(n if strict.shape[0] else 0, np.int64)
    settled = np.zeros(n, np.bool_)
    asked = np.empty((1024, 2), np.int32)
    n_asked = 0
    chosen = np.empty(most, np.int32)
    agreements = np.empty(most, np.float64)
    unknown = np.empty(most, np.int32)
    near = np.empty(most, np.bool_)
    reached, kept_before, memory_before, begins_before, chosen_before, agreements_before = remembered
    kept = np.zeros(n, np.bool_)
    memory = np.zeros(n, np.uint8)
    begins_now = np.zeros(n + 1, np.int64)
    chosen_now = np.empty(room, np.int32)
    agreements_now = np.empty(room, np.float64)
    since = np.full(n_buckets, crowd + 1, np.int32)
    steady = np.ones(n_buckets, np.bool_)
    came = n
    for i in range(n):
        begins_now[i + 1] = begins_now[i]
        centre[i] = i
        if i < fixed:
            settled[i] = True
            for e in range(begins[i], begins[i + 1]):
                if roles[e] & STANDS != _NOTHING:
                    _stand(i, entries[e], bottom, top, standing, sites, other)
            continue
        n_chosen = 0
        found = 0
        cut = False
        same = i < reached and memory_before[i] != _FORGOTTEN
        for e in range(begins[i], begins[i + 1]):
            if roles[e] & ELSEWHERE != _NOTHING:
                same = same and steady[entries[e]]
            elif roles[e] & LOOKS != _NOTHING:
                same = same and since[entries[e]] > crowd
        if same:
            for c in range(begins_before[i], begins_before[i + 1]):
                chosen[n_chosen] = chosen_before[c]
                agreements[n_chosen] = agreements_before[c]
                n_chosen += 1
            cut = memory_before[i] == _CROWDED
        for e in range(begins[i], begins[i] if same else begins[i + 1]):
            if roles[e] & LOOKS == _NOTHING:
                continue
            bucket = entries[e]
            elsewhere = sites.shape[0] > 0 and roles[e] & ELSEWHERE != _NOTHING and sites[i] >= 0
            at = top[bucket] - 1
            compared = 0
            while at >= bottom[bucket] and compared < crowd:
                j = standing[at]
                if elsewhere and sites[j] == sites[i]:
                    at = other[at]
                    continue
                compared += 1
                at -= 1
                if strict.shape[0]:
                    height = min(top[bucket] - bottom[bucket], crowd, strict.shape[0] - 1)
                    fewest[j] = height if stamp[j] != i else min(fewest[j], height)
                if stamp[j] != i:
                    stamp[j] = i
                    agreed = score(kind, samples, words, offsets, parameters, i, j)
                    if agreed >= least:
                        found += 1
                        n_chosen = _remember_best(j, agreed, n_chosen, chosen, agreements)
            if elsewhere and at >= bottom[bucket] and sites[standing[at]] == sites[i]:
                at = other[at]
            cut |= at >= bottom[bucket]
        cut |= found > n_chosen
        if begins_now[i] + n_chosen <= room and room > 0:
            memory[i] = _CROWDED if cut else _KNOWN
            for c in range(n_chosen):
                chosen_now[begins_now[i] + c] = chosen[c]
                agreements_now[begins_now[i] + c] = agreements[c]
            begins_now[i + 1] = begins_now[i] + n_chosen
        n_unknown = 0
        promising = 0
        for c in range(n_chosen):
            value = _measured(i, chosen[c], table, pairs, values) if exact else agreements[c]
            if value < 0.0:
                unknown[n_unknown] = chosen[c]
                near[n_unknown] = agreements[c] >= presumed
                promising += agreements[c] >= presumed
                n_unknown += 1
            elif value >= threshold and (
                strict.shape[0] == 0 or _sure(signatures, i, chosen[c], value, strict, strict[fewest[chosen[c]]])
            ):
                centre[i] = chosen[c]
                break
        similar = centre[i] != i
        cut_short[i] = cut and not similar
        removed = similar or (promising > 0 and not doubt[i])
        few = 0
        for wants_settled in (True, False):
            for u in range(n_unknown):
                if settled[unknown[u]] == wants_settled and (
                    similar or not removed or (few < 8 and (wants_settled or near[u]))
                ):
                    asked = _append(asked, n_asked, i, unknown[u])
                    n_asked += 1
                    few += 1
        if n_asked >= at_once:
            came = i
            break
        kept[i] = joining and not removed
        changed = i < reached and kept[i] != kept_before[i]
        if kept[i]:
            settled[i] = n_unknown == 0
        for e in range(begins[i], begins[i + 1]):
            if roles[e] & STANDS == _NOTHING:
                continue
            if kept[i]:
                _stand(i, entries[e], bottom, top, standing, sites, other)
                since[entries[e]] = min(since[entries[e]] + 1, crowd + 1)
            if changed:
                since[entries[e]] = 0
                steady[entries[e]] = False
    return asked[:n_asked], (came, kept, memory, begins_now, chosen_now, agreements_now)


@njit(nogil=True, cache=True)
def _root(parent: Any, i: int) -> int:
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@njit(nogil=True, cache=True)
def component_round(
    entries: Any,
    begins: Any,
    n_buckets: int,
    signatures: tuple[int, Any, Any, Any, Any],
    least: float,
    presumed: float,
    threshold: float,
    exact: bool,
    crowd: int,
    most: int,
    at_once: int,
    doubt: Any,
    table: Any,
    pairs: Any,
    values: Any,
    cut_short: Any,
    parent: Any,
) -> tuple[Any]:
    """Union-find over candidate pairs; documents that are connected already are not compared.

    Where the score decides, `least` is the threshold. Where pairs are measured, the `most` best of a document count.

    parent[i] becomes the first document of i's component. `skip` jumps over the documents of a bucket that are
    connected with the one before them, so that a bucket of one large component is crossed in a few steps.
    """
    kind, samples, words, offsets, parameters = signatures
    n = begins.shape[0] - 1
    head = np.full(n_buckets, -1, np.int32)
    below = np.full(entries.shape[0], -1, np.int32)
    skip = np.full(entries.shape[0], -1, np.int32)
    owner = np.empty(entries.shape[0], np.int32)
    stamp = np.full(n, -1, np.int32)
    asked = np.empty((1024, 2), np.int32)
    n_asked = 0
    chosen = np.empty(most, np.int32)
    agreements = np.empty(most, np.float64)
    for i in range(n):
        parent[i] = i
        n_chosen = 0
        found = 0
        cut = False
        for e in range(begins[i], begins[i + 1]):
            owner[e] = i
            bucket = entries[e]
            at = head[bucket]
            compared = 0
            while at >= 0 and compared < crowd:
                j = owner[at]
                mine = _root(parent, i)
                other = _root(parent, j)
                if mine == other:
                    further = skip[at]
                    while further >= 0 and _root(parent, owner[further]) == other:
                        further = skip[further]
                    skip[at] = further
                    at = further
                    continue
                if stamp[j] != i:
                    stamp[j] = i
                    compared += 1
                    agreed = score(kind, samples, words, offsets, parameters, i, j)
                    if agreed >= least and not exact:
                        parent[max(mine, other)] = min(mine, other)
                    elif agreed >= least:
                        found += 1
                        n_chosen = _remember_best(j, agreed, n_chosen, chosen, agreements)
                at = below[at]
            cut |= at >= 0
            below[e] = head[bucket]
            skip[e] = head[bucket]
            head[bucket] = e
        cut_short[i] = cut or found > n_chosen
        for c in range(n_chosen):
            mine = _root(parent, i)
            other = _root(parent, chosen[c])
            if mine == other:
                continue
            value = _measured(i, chosen[c], table, pairs, values)
            similar = value >= threshold
            if value < 0.0:
                asked = _append(asked, n_asked, i, chosen[c])
                n_asked += 1
                similar = not doubt[i] and agreements[c] >= presumed
            if similar:
                parent[max(mine, other)] = min(mine, other)
        if n_asked >= at_once:
            return (asked[:n_asked],)
    for i in range(n):
        parent[i] = _root(parent, i)
    return (asked[:n_asked],)


@njit(nogil=True, cache=True)
def _append_best(pairs: Any, found: Any, n: int, i: int, chosen: Any, agreements: Any, n_chosen: int) -> Any:
    if n + n_chosen > pairs.shape[0]:
        larger = np.empty((2 * (n + n_chosen), 2), np.int32)
        longer = np.empty(2 * (n + n_chosen), np.float64)
        for row in range(n):
            larger[row, 0] = pairs[row, 0]
            larger[row, 1] = pairs[row, 1]
            longer[row] = found[row]
        pairs, found = larger, longer
    for c in range(n_chosen):
        pairs[n + c, 0] = i
        pairs[n + c, 1] = chosen[c]
        found[n + c] = agreements[c]
    return pairs, found


@njit(nogil=True, cache=True)
def star_pass(
    begins: Any,
    carried: Any,
    standing: Any,
    roles: Any,
    sites: Any,
    presuming: bool,
    signatures: tuple[int, Any, Any, Any, Any],
    least: float,
    presumed: float,
    crowd: int,
    most: int,
    strict: Any,
    cut: Any,
) -> tuple[Any, Any]:
    """What `star_round` compares in a bucket, where it is given who stands there: pairs of rows and their scores.

    Bucket b has the rows begins[b] to begins[b + 1] - 1, in order of priority; the first carried[b] of them are there
    to be compared with. standing[i]: whether a row is kept. Presuming, that is found out: a row with a score of
    `presumed` or more does not stand. roles and sites, row by row, are those of `star_round`. Of each row the `most`
    best are returned; cut[i] says that there were more, or more than `crowd` standing.
    """
    kind, samples, words, offsets, parameters = signatures
    pairs = np.empty((1024, 2), np.int32)
    found = np.empty(1024, np.float64)
    n_pairs = 0
    bottom = np.zeros(1, np.int64)
    top = np.zeros(1, np.int64)
    stack = np.empty(standing.shape[0], np.int32)
    other = np.empty(standing.shape[0] if sites.shape[0] else 0, np.int64)
    chosen = np.empty(most, np.int32)
    agreements = np.empty(most, np.float64)
    for b in range(begins.shape[0] - 1):
        top[0] = 0
        for i in range(begins[b], begins[b + 1]):
            if i >= begins[b] + carried[b] and roles[i] & LOOKS != _NOTHING:
                n_chosen = 0
                enough = 0
                elsewhere = sites.shape[0] > 0 and roles[i] & ELSEWHERE != _NOTHING and sites[i] >= 0
                at = top[0] - 1
                compared = 0
                while at >= 0 and compared < crowd:
                    j = stack[at]
                    if elsewhere and sites[j] == sites[i]:
                        at = other[at]
                        continue
                    compared += 1
                    at -= 1
                    agreed = score(kind, samples, words, offsets, parameters, i, j)
                    if agreed >= least and (
                        strict.shape[0] == 0
                        or _sure(signatures, i, j, agreed, strict, strict[min(top[0], crowd, strict.shape[0] - 1)])
                    ):
                        enough += 1
                        n_chosen = _remember_best(j, agreed, n_chosen, chosen, agreements)
                if elsewhere and at >= 0 and sites[stack[at]] == sites[i]:
                    at = other[at]
                cut[i] = at >= 0 or enough > n_chosen
                if presuming and n_chosen > 0 and agreements[0] >= presumed:
                    standing[i] = False
                pairs, found = _append_best(pairs, found, n_pairs, i, chosen, agreements, n_chosen)
                n_pairs += n_chosen
            if standing[i] and roles[i] & STANDS != _NOTHING:
                _stand(i, 0, bottom, top, stack, sites, other)
    return pairs[:n_pairs], found[:n_pairs]


@njit(nogil=True, cache=True)
def follow(later: Any, earlier: Any, removed: Any) -> None:
    """Similar pairs, ascending by their later documents: one that is similar to a document that stays is removed."""
    for row in range(later.shape[0]):
        if not removed[earlier[row]]:
            removed[later[row]] = True


@njit(nogil=True, cache=True)
def component_pass(
    begins: Any,
    labels: Any,
    presuming: bool,
    signatures: tuple[int, Any, Any, Any, Any],
    least: float,
    presumed: float,
    crowd: int,
    most: int,
    cut: Any,
) -> tuple[Any, Any]:
    """What `component_round` compares in a bucket, where rows of one label are connected: pairs of rows, their scores.

    Bucket b has the rows begins[b] to begins[b + 1] - 1, in order of priority. Presuming, rows with a score of
    `presumed` or more are connected from then on. Those pairs are returned, and of the others of a row the `most`
    best. cut[i]: there were more of them, or more than `crowd` others to be compared with.
    """
    kind, samples, words, offsets, parameters = signatures
    n = labels.shape[0]
    parent = np.arange(n)
    pairs = np.empty((1024, 2), np.int32)
    found = np.empty(1024, np.float64)
    n_pairs = 0
    skip = np.empty(n, np.int32)  # the row before, or one further back: those between are connected with it
    one, how_near = np.empty(1, np.int32), np.empty(1, np.float64)
    chosen = np.empty(most, np.int32)
    agreements = np.empty(most, np.float64)
    for b in range(begins.shape[0] - 1):
        for i in range(begins[b], begins[b + 1]):
            skip[i] = i - 1
            at = i - 1
            compared = 0
            n_chosen = 0
            enough = 0
            while at >= begins[b] and compared < crowd:
                if labels[at] == labels[i] or _root(parent, at) == _root(parent, i):
                    further = skip[at]
                    while (
                        further >= begins[b]
                        and labels[further] == labels[at]
                        and _root(parent, further) == _root(parent, at)
                    ):
                        further = skip[further]
                    skip[at] = further
                    at = further
                    continue
                compared += 1
                agreed = score(kind, samples, words, offsets, parameters, i, at)
                if presuming and agreed >= max(presumed, least):
                    mine, other = _root(parent, i), _root(parent, at)
                    parent[max(mine, other)] = min(mine, other)
                    one[0], how_near[0] = at, agreed
                    pairs, found = _append_best(pairs, found, n_pairs, i, one, how_near, 1)
                    n_pairs += 1
                elif agreed >= least:
                    enough += 1
                    n_chosen = _remember_best(at, agreed, n_chosen, chosen, agreements)
                at -= 1
            cut[i] = at >= begins[b] or enough > n_chosen
            pairs, found = _append_best(pairs, found, n_pairs, i, chosen, agreements, n_chosen)
            n_pairs += n_chosen
    return pairs[:n_pairs], found[:n_pairs]


@njit(nogil=True, cache=True)
def chain(entries: Any, begins: Any, n_buckets: int, owner: Any, below: Any, rank: Any) -> None:
    """Of every entry: its document, the entry before it in its bucket, and how many stand before it."""
    head = np.full(n_buckets, -1, np.int32)
    for i in range(begins.shape[0] - 1):
        for e in range(begins[i], begins[i + 1]):
            owner[e] = i
            at = head[entries[e]]
            below[e] = at
            rank[e] = rank[at] + 1 if at >= 0 else 0
            head[entries[e]] = e


@njit(nogil=True, cache=True)
def pair_round(
    begins: Any,
    owner: Any,
    below: Any,
    rank: Any,
    same: Any,
    signatures: tuple[int, Any, Any, Any, Any],
    least: float,
    most: int,
    start: int,
    stamp: Any,
    pairs: Any,
) -> tuple[int, int, int, int]:
    """Candidate pairs of the documents from `start` on, each with the documents before it, that score `least` or more,
    or are the same.

    Stops where `pairs` might not hold the next document's. Returns how many pairs, where to go on, how many documents
    had more than `most` candidates, and an upper bound of the pairs that were not looked at because of that.
    """
    kind, samples, words, offsets, parameters = signatures
    n = begins.shape[0] - 1
    n_pairs = 0
    cut = 0
    left_out: Any = 0
    i = start
    while i < n and n_pairs + min(most, i) <= pairs.shape[0]:
        compared = 0
        more = False
        candidates: Any = 0
        stamp[i] = i
        for e in range(begins[i], begins[i + 1]):
            candidates += rank[e]
            at = below[e]
            while at >= 0 and not more:
                j = owner[at]
                if stamp[j] != i:
                    if compared == most:
                        more = True
                        break
                    stamp[j] = i
                    compared += 1
                    if same[i] == same[j] or score(kind, samples, words, offsets, parameters, i, j) >= least:
                        pairs[n_pairs, 0] = i
                        pairs[n_pairs, 1] = j
                        n_pairs += 1
                at = below[at]
        if more:
            cut += 1
            left_out += min(candidates, i) - compared
        i += 1
    return n_pairs, i, cut, left_out


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
