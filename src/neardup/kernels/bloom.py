"""Bloom filters of sets of 64-bit elements, and what two filters share.

Jain, Dahlin, Tewari, "Using Bloom Filters to Refine Web Search Results", sections 2.1, 2.3 and 3.2.

    filter_bits      elements → the size of a filter
    fill             sets of elements → Bloom filters
    fold             a filter → the filter of half, a quarter, ... the size
    shared_bits      two filters → their set bits and those they share
    match            two filters → the share of the first one's bits that the second has
    matching         the same for a list of pairs
    group            filters of a result list → groups (union-find)
"""

from typing import Any

import numpy as np
from numba import config, njit, types
from numba.extending import intrinsic

LEAST_BITS, MOST_BITS = 64, 1 << 20
"""The sizes of filters: powers of two between these."""

_M1 = np.uint64(0xFF51AFD7ED558CCD)
_M2 = np.uint64(0xC4CEB9FE1A85EC53)
_S32, _S33 = np.uint64(32), np.uint64(33)
_ZERO, _ONE = np.uint64(0), np.uint64(1)
_LOW32 = np.uint64(0xFFFFFFFF)


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
def filter_bits(expected_chunks: int, bits_per_chunk: int = 8, least: int = 2048) -> int:
    """The least power of two with that many bits a chunk: at least `least`, at most 2^20. It doubles when the
    document's size doubles (section 2.3.1). Beyond 2^20 bits a filter only gets fuller."""
    bits = LEAST_BITS
    while bits < MOST_BITS and (bits < least or bits < expected_chunks * bits_per_chunk):
        bits *= 2
    return bits


@njit(nogil=True, cache=True)
def fill(hashes: Any, ends: Any, bits_per_document: Any, k: int, out: Any, out_offsets: Any) -> None:
    """Write a Bloom filter for each document: bits_per_document[i] bits, a power of two from 64, at out[out_offsets[i]]
    in words of 64 bits, bit b in word b >> 6 at place b & 63. Document i has hashes[ends[i - 1]:ends[i]].

    The k positions of an element are (x + j·y) mod m for j = 0 .. k - 1, where x and y are the halves of its mixed
    hash and y is made odd (double hashing; Kirsch and Mitzenmacher, "Less Hashing, Same Performance": the false
    match rate tends to that of k independent functions). Since y is odd and m a power of two, the k positions are
    distinct. Since m/2 divides m, the filter of m/2 bits is the OR of the two halves of the filter of m bits.
    """
    begin = 0
    for i in range(ends.shape[0]):
        m = bits_per_document[i]
        at = out_offsets[i]
        for j in range(at, at + (m >> 6)):
            out[j] = _ZERO
        mask = np.uint64(m - 1)
        for e in range(begin, ends[i]):
            h = _mix(hashes[e])
            x = h & _LOW32
            y = (h >> _S32) | _ONE
            for _ in range(k):
                bit = x & mask
                out[at + np.int64(bit >> np.uint64(6))] |= _ONE << (bit & np.uint64(63))
                x += y
        begin = ends[i]


@njit(nogil=True, cache=True)
def fold(bloom: Any, out: Any) -> None:
    """Make of a filter the one of out.size words (a power of two, not more than it has) that `fill` would have made."""
    words = out.shape[0]
    for j in range(words):
        word = bloom[j]
        for i in range(j + words, bloom.shape[0], words):
            word |= bloom[i]
        out[j] = word


@njit(nogil=True, cache=True)
def shared_bits(a: Any, b: Any) -> tuple[int, int, int]:
    """Bits set in a, in b, and in both. The larger filter is folded to the size of the smaller one first."""
    in_a = in_b = both = 0
    if a.shape[0] == b.shape[0]:
        for i in range(a.shape[0]):
            in_a += _ones(a[i])
            in_b += _ones(b[i])
            both += _ones(a[i] & b[i])
        return in_a, in_b, both
    words = min(a.shape[0], b.shape[0])
    for j in range(words):
        x, y = a[j], b[j]
        for i in range(j + words, a.shape[0], words):
            x |= a[i]
        for i in range(j + words, b.shape[0], words):
            y |= b[i]
        in_a += _ones(x)
        in_b += _ones(y)
        both += _ones(x & y)
    return in_a, in_b, both


@njit(nogil=True, cache=True)
def match(a: Any, b: Any) -> float:
    """|A AND B| / |A|: the share of a's bits that b has too. 1 says that a is highly probably contained in b. 0 for
    a filter without bits: nothing was compared."""
    in_a, _, both = shared_bits(a, b)
    return both / in_a if in_a > 0 else 0.0


@njit(nogil=True, cache=True)
def matching(filters: Any, offsets: Any, pairs: Any, out: Any) -> None:
    """For pair (i, j) the bits of i, of j, and of both, into a row of `out`; i is contained in j where the first
    equals the last. Filter i is filters[offsets[i]:offsets[i + 1]]."""
    for p in range(pairs.shape[0]):
        i, j = pairs[p, 0], pairs[p, 1]
        in_a, in_b, both = shared_bits(filters[offsets[i] : offsets[i + 1]], filters[offsets[j] : offsets[j + 1]])
        out[p, 0] = in_a
        out[p, 1] = in_b
        out[p, 2] = both


@njit(nogil=True, cache=True)
def _root(parent: Any, i: int) -> int:
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@njit(nogil=True, cache=True)
def group(filters: Any, offsets: Any, threshold: float, parent: Any) -> None:
    """Group the filters of a result list: parent[i] is the first member, the highest ranked, of i's group.

    Two filters are similar where |A AND B| / max(|A|, |B|) ≥ threshold: where each of the two matches the other by
    the threshold. The paper's "at least 70 % of the bits in the filter matched" (section 3.3) does not say of whose;
    with the bits of one filter alone, a short document would be similar to every long one it is contained in, and
    containment is a relation of its own (section 2.3). Similar documents of similar documents are in one group
    (section 3.2). All pairs are compared, so the cost is quadratic. A filter without bits is similar to nothing.
    """
    n = offsets.shape[0] - 1
    count = np.zeros(n, np.int64)
    for i in range(n):
        parent[i] = i
        for w in range(offsets[i], offsets[i + 1]):
            count[i] += _ones(filters[w])
    for i in range(1, n):
        a = filters[offsets[i] : offsets[i + 1]]
        for j in range(i):
            b = filters[offsets[j] : offsets[j + 1]]
            if a.shape[0] == b.shape[0]:
                most = max(count[i], count[j])
                both = min(count[i], count[j])
                if most == 0 or both / most < threshold:
                    continue  # even if one lay in the other
                both = 0
                for w in range(a.shape[0]):
                    both += _ones(a[w] & b[w])
            else:
                in_a, in_b, both = shared_bits(a, b)
                most = max(in_a, in_b)
            if most > 0 and both / most >= threshold:
                mine, other = _root(parent, i), _root(parent, j)
                parent[max(mine, other)] = min(mine, other)
    for i in range(n):
        parent[i] = _root(parent, i)
