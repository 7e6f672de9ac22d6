"""Signatures of search results: filters of sampled chunks, what two of them show, and the groups of a ranked list.

Jain, Dahlin, Tewari, "Using Bloom Filters to Refine Web Search Results", sections 2.3 and 3.1.1; what is done otherwise
stands in `neardup.refine.signature`.

    fill           sorted sets of elements → a filter of the smallest ones of each
    count          filters → how many bits each has
    estimates      how many elements a filter of x bits stands for, for every x
    scores         pairs of signatures → match and containment
    group          signatures, best first → for each its anchor, its relation to it, match and containment
    token_places   bytes → where its tokens stand

Estimating. A filter of m bits with k hashes of which x are set stands for n(x) = ln(1 - x/m) / (k ln(1 - 1/m))
elements (Swamidass and Baldi, "Mathematical Correction for Fingerprint Similarity Measures", 2007). Two filters with a
and b bits of which c are set in both have n(a) + n(b) - n(a + b - c) in common (Papapetrou, Siberski, Nejdl,
"Cardinality estimation and dynamic length adaptation for Bloom filters", 2010). The numbers of elements are known
exactly, and the estimates are taken all the same: chance collisions within a filter are in n(a) and in n(a + b - c)
alike and cancel. That over n(a) is the share; times the known number of elements and rounded it is a number of elements
again. So equal filters match by exactly 1, and 7 passages of 10 by exactly 0.7.

Where nothing is in common, c is hypergeometric: what seems to be common has a mean of about 0 and a standard error of
sqrt(a b / ((m - 1) (1 - a/m) (1 - b/m))) / k elements. `_containment` uses it.

Skipping. `group` compares every result with every anchor, and nearly all pairs have little in common. They are left
before anything is divided or rounded: where the estimate is too small, and by more than rounding could make up for.
That is half an element of those that are kept, or n(a) / (2 kept) of the estimate.
"""

from math import floor, log, sqrt
from typing import Any

import numpy as np
from numba import config, njit, types
from numba.extending import intrinsic

ALONE, IDENTICAL, NEAR, CONTAINED, CONTAINS = -1, 0, 1, 2, 3
"""Of a result to its anchor; from 0 on as in neardup.model.RELATIONS."""

LEAST_COMMON = 16.0
"""A containment is told where at least so many of the shorter one's elements can be seen in the longer one's sample."""

MOST_ERROR = 0.1
"""... and where chance collisions give it a standard error of at most this."""

FEWEST = 3
"""Of elements. One with fewer is compared by its identity alone: one chance collision would be half of it."""

_UNKNOWN = -1.0

_M1 = np.uint64(0xFF51AFD7ED558CCD)
_M2 = np.uint64(0xC4CEB9FE1A85EC53)
_S6, _S32, _S33 = np.uint64(6), np.uint64(32), np.uint64(33)
_ZERO, _ONE = np.uint64(0), np.uint64(1)
_LOW6, _LOW32 = np.uint64(63), np.uint64(0xFFFFFFFF)
_U6, _U12, _U18 = np.uint32(6), np.uint32(12), np.uint32(18)
_X3F = np.uint32(0x3F)
_SEPARATOR, _WORD, _SINGLE, _MARK = 0, 1, 2, 3  # classes of code points, as in kernels/text.py
_NON_ASCII = np.uint8(255)


def _population_count() -> Any:
    """The processor's own count of the bits that are set; in plain Python, Python's."""
    settings: Any = config
    if settings.DISABLE_JIT:
        return lambda word: int(word).bit_count()

    @intrinsic
    def count(typing_context: Any, word: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.ctpop(arguments[0])

        return types.int64(types.uint64), generate

    return count


_ones = _population_count()


@njit(nogil=True, cache=True, inline="always")
def _mix(h: Any) -> Any:
    h ^= h >> _S33
    h *= _M1
    h ^= h >> _S33
    h *= _M2
    return h ^ (h >> _S33)


@njit(nogil=True, cache=True)
def fill(elements: Any, ends: Any, most: int, hashes: int, out: Any) -> None:
    """Write a filter into each row of `out`, of all its bits: bit b in word b >> 6 at place b & 63.

    Document i has elements[ends[i - 1]:ends[i]], ascending, of which the first `most` are taken: a sample that is
    uniform and the same for every document (bottom-m; Broder, section 3). Position j of an element is
    ((x + j·y) mod 2^32) · m / 2^32, rounded down, where x and y are the halves of its mixed hash and y is made odd
    (double hashing; Kirsch and Mitzenmacher). m need not be a power of two.
    """
    bits = np.uint64(64 * out.shape[1])
    begin = 0
    for i in range(ends.shape[0]):
        for w in range(out.shape[1]):
            out[i, w] = _ZERO
        for e in range(begin, min(ends[i], begin + most)):
            h = _mix(elements[e])
            x = h & _LOW32
            y = (h >> _S32) | _ONE
            for _ in range(hashes):
                bit = ((x & _LOW32) * bits) >> _S32
                out[i, np.int64(bit >> _S6)] |= _ONE << (bit & _LOW6)
                x += y
        begin = ends[i]


@njit(nogil=True, cache=True)
def count(filters: Any, out: Any) -> None:
    """How many bits of each row are set."""
    for i in range(filters.shape[0]):
        ones = 0
        for w in range(filters.shape[1]):
            ones += _ones(filters[i, w])
        out[i] = ones


@njit(nogil=True, cache=True)
def estimates(bits: int, hashes: int, out: Any) -> None:
    """out[x]: the elements of a filter with x of its bits set. A full one could be of any number; half a bit is taken
    for empty."""
    for x in range(bits + 1):
        out[x] = log(1.0 - min(float(x), bits - 0.5) / bits) / (hashes * log(1.0 - 1.0 / bits))


@njit(nogil=True, cache=True, inline="always")
def _common(filters: Any, ones: Any, sizes: Any, i: int, j: int) -> Any:
    """How many elements two filters seem to have in common."""
    a, b = filters[i], filters[j]
    both = 0
    for w in range(a.shape[0]):
        both += _ones(a[w] & b[w])
    return sizes[ones[i]] + sizes[ones[j]] - sizes[ones[i] + ones[j] - both]


@njit(nogil=True, cache=True, inline="always")
def _match(common: float, ones: Any, elements: Any, sizes: Any, most: int, i: int, j: int) -> tuple[float, float]:
    """The share of the longer one's elements that the other has too; and how long the shorter one is, the longer one
    being 1. Both have elements, and not the same identity."""
    longer, shorter = (i, j) if elements[i] >= elements[j] else (j, i)
    ratio = elements[shorter] / elements[longer]
    if elements[shorter] < FEWEST:
        return 0.0, ratio
    kept = min(elements[longer], most)
    found = floor(kept * max(common / sizes[ones[longer]], 0.0) + 0.5)
    return min(found / kept, ratio), ratio


@njit(nogil=True, cache=True)
def _containment(
    bits: int, ones: Any, elements: Any, most: int, hashes: int, i: int, j: int, match: float, ratio: float
) -> float:
    """The share of the shorter one's elements that the longer one has too, -1 where it cannot be told."""
    visible = min(max(elements[i], elements[j]), most) * ratio
    if visible < LEAST_COMMON:
        return _UNKNOWN
    a, b = ones[i], ones[j]
    error = bits * sqrt(a * b / ((bits - 1) * max((bits - a) * (bits - b), 1))) / hashes
    return match / ratio if error <= MOST_ERROR * visible else _UNKNOWN


@njit(nogil=True, cache=True)
def scores(
    filters: Any, ones: Any, elements: Any, identities: Any, sizes: Any, most: int, hashes: int, pairs: Any, out: Any
) -> None:
    """For pair (i, j) match and containment into a row of `out`, -1 for a containment that cannot be told. The same
    identity is 1; one without elements is similar to nothing."""
    bits = 64 * filters.shape[1]
    for p in range(pairs.shape[0]):
        i, j = pairs[p, 0], pairs[p, 1]
        out[p, 0], out[p, 1] = 0.0, _UNKNOWN
        if elements[i] > 0 and elements[j] > 0:
            if identities[i] == identities[j]:
                out[p, 0] = out[p, 1] = 1.0
            else:
                common = _common(filters, ones, sizes, i, j)
                match, ratio = _match(common, ones, elements, sizes, most, i, j)
                out[p, 0] = match
                out[p, 1] = _containment(bits, ones, elements, most, hashes, i, j, match, ratio)


@njit(nogil=True, cache=True)
def group(
    filters: Any,
    ones: Any,
    elements: Any,
    identities: Any,
    sizes: Any,
    most: int,
    hashes: int,
    threshold: float,
    contained: float,
    anchors: Any,
    relations: Any,
    matches: Any,
    containments: Any,
) -> None:
    """A star around each result that is not similar to the anchor of an earlier one. Row i of a list, the best first:

    anchors[i]       i itself where it begins a group, else the anchor that it matches most, the earliest of several
    relations[i]     ALONE, or what it is to its anchor
    matches[i], containments[i]   to its anchor; -1 for a containment that cannot be told

    Two are similar if they have the same identity, match by the threshold, or one lies in the other by `contained`
    (above 1: not looked at). One without elements is similar to nothing.
    """
    bits = 64 * filters.shape[1]
    n = elements.shape[0]
    begun = np.empty(n, np.int64)
    seen = np.empty(n, np.float64)  # how much of the estimate is one element: less than 1 where they are sampled
    rounding = 0.0
    for i in range(n):
        seen[i] = sizes[ones[i]] / max(elements[i], 1)
        rounding = max(rounding, 0.501 * sizes[ones[i]] / max(min(elements[i], most), 1))
    groups = 0
    for i in range(n):
        anchors[i], relations[i], matches[i], containments[i] = i, ALONE, 1.0, _UNKNOWN
        if elements[i] == 0:
            continue
        best = -1.0
        for g in range(groups):
            j = begun[g]
            if identities[i] == identities[j]:
                anchors[i], relations[i], matches[i], containments[i] = j, IDENTICAL, 1.0, 1.0
                break
            common = _common(filters, ones, sizes, i, j)
            short, long = min(elements[i], elements[j]), max(elements[i], elements[j])
            enough = min(threshold * long, 0.999 * contained * short) * seen[i if elements[i] == long else j]
            if max(common, 0.0) + rounding < enough:
                continue
            match, ratio = _match(common, ones, elements, sizes, most, i, j)
            if match <= best or (match < threshold and match < 0.999 * contained * ratio):
                continue
            containment = _containment(bits, ones, elements, most, hashes, i, j, match, ratio)
            if match >= threshold or containment >= contained:
                best = match
                relation = NEAR
                if match < threshold:
                    relation = CONTAINED if elements[i] < elements[j] else CONTAINS
                anchors[i], relations[i], matches[i], containments[i] = j, relation, match, containment
        if anchors[i] == i:
            begun[groups] = i
            groups += 1


@njit(nogil=True, cache=True)
def _decode(data: Any, i: int, stop: int) -> tuple[Any, int]:
    """One code point of well-formed UTF-8 that is not ASCII, and the bytes it takes."""
    first = np.uint32(data[i])
    second = np.uint32(data[i + 1]) & _X3F
    if first < 0xE0:
        return (first & np.uint32(0x1F)) << _U6 | second, 2
    third = np.uint32(data[i + 2]) & _X3F
    if first < 0xF0:
        return (first & np.uint32(0x0F)) << _U12 | second << _U6 | third, 3
    fourth = np.uint32(data[i + 3]) & _X3F
    return (first & np.uint32(0x07)) << _U18 | second << _U12 | third << _U6 | fourth, 4


@njit(nogil=True, cache=True)
def token_places(data: Any, start: int, stop: int, tables: tuple[Any, Any, Any, Any], starts: Any, ends: Any) -> int:
    """Write where the words of data[start:stop], well-formed UTF-8, begin and end; their number, -1 where there is no
    room. The words are those of `tokenize` in kernels/text.py; one code point may be several, at one place."""
    ascii, page, entry, pool = tables
    n = 0
    inside = single = False
    i: Any = start
    while i < stop:
        begin = i
        mapped: Any = 1
        mapped_at: Any = 0
        c = ascii[data[i]]
        if c == _NON_ASCII:
            code, length = _decode(data, i, stop)
            i += length
            e = entry[np.int64(page[code >> np.uint32(8)]) * 256 + np.int64(code & np.uint32(255))]
            if e >> np.uint32(10) != 0:
                mapped_at = np.int64(e >> np.uint32(10))
                mapped = np.int64(pool[mapped_at])
        else:
            e = np.uint32(_SEPARATOR if c == 0 else _WORD)
            i += 1
        for m in range(mapped):
            if mapped_at != 0:
                code = pool[mapped_at + 1 + m]
                e = entry[np.int64(page[code >> np.uint32(8)]) * 256 + np.int64(code & np.uint32(255))]
            cls = e & np.uint32(3)
            if cls == _SEPARATOR:
                inside = single = False
                continue
            if not inside or cls == _SINGLE or (cls == _WORD and single):
                if n == starts.shape[0]:
                    return -1
                starts[n] = begin
                n += 1
                single = cls == _SINGLE
            inside = True
            ends[n - 1] = i
    return n
