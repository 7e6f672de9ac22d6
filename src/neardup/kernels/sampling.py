"""Samples of one permutation: the m smallest values, or those that are 0 mod n; and what they estimate.

    permutation          seed → the two numbers that make the permutation
    permute              one value under it
    bottom               documents → the m smallest distinct images (Radinsky's sketch option 1)
    mod                  documents → the distinct images that are 0 mod n (option 2)

Sources: Radinsky, "Duplicate detection" (slides, "Sketch of a document", "From Shingles to Sketches"); Broder,
"Identifying and Filtering Near-Duplicate Documents", section 2: a single permutation will do, with the t smallest
elements of its image. A bottom sample has a fixed size; a mod sample grows with the document, and so it can also
tell containment, which a sample of fixed size cannot when one document is much longer.

Documents are flat: document i is fingerprints[ends[i - 1]:ends[i]], occurrences, so values may repeat.

What is proven and what is measured: `permute` is a bijection of the 64-bit numbers, for it is a chain of bijections
(adding a constant, multiplying by an odd number, x ^ x >> 33), so different fingerprints never collide in it. It is
one of 2^64 fixed bijections, not a uniformly random one; that the estimators are unbiased is Radinsky's theorem for
the uniform case, and tests/statistics holds these permutations to it by simulation.
"""

from typing import Any

import numpy as np
from numba import njit

NONE = np.uint64(0xFFFFFFFFFFFFFFFF)
"""What pads a row of a bottom sample. The one fingerprint whose image it would be is not sampled."""

_P = np.uint64(0x9E3779B97F4A7C15)
_M1 = np.uint64(0xFF51AFD7ED558CCD)
_M2 = np.uint64(0xC4CEB9FE1A85EC53)
_S33 = np.uint64(33)
_ZERO, _ONE, _TWO, _S64 = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(64)
_CROWD = 24  # a bucket of more values than this is sorted by a general method, not by insertion


@njit(nogil=True, cache=True, inline="always")
def _mix(h: Any) -> Any:
    h ^= h >> _S33
    h *= _M1
    h ^= h >> _S33
    h *= _M2
    return h ^ (h >> _S33)


@njit(nogil=True, cache=True)
def permutation(seed: int) -> tuple[Any, Any]:
    """What to add and the odd number to multiply by."""
    add = _mix((np.uint64(seed) + _ONE) * _P)
    return add, _mix(add ^ _P) | _ONE


@njit(nogil=True, cache=True, inline="always")
def permute(value: Any, add: Any, times: Any) -> Any:
    """The image of a value: (value + add) · times, mixed."""
    return _mix((value + add) * times)


@njit(nogil=True, cache=True)
def _sort(values: Any, n: int, spare: Any, heads: Any) -> None:
    """Sort values[:n]: into buckets by the leading bits, for images of a permutation are spread evenly; then insertion.

    Where they are not even (one value many times, or a hostile document), a general sort takes over.
    """
    if n < 2:
        return
    largest = values[0]
    for t in range(1, n):
        largest = max(largest, values[t])
    shift = _ZERO
    while (largest >> shift) >= np.uint64(heads.shape[0]):
        shift += _ONE
    heads[:] = 0
    crowd = 0
    for t in range(n):
        at = np.int64(values[t] >> shift)
        heads[at] += 1
        crowd = max(crowd, heads[at])
    if crowd > _CROWD:
        values[:n].sort()
        return
    begin = 0
    for bucket in range(heads.shape[0]):
        size = heads[bucket]
        heads[bucket] = begin
        begin += size
    for t in range(n):
        at = np.int64(values[t] >> shift)
        spare[heads[at]] = values[t]
        heads[at] += 1
    values[0] = spare[0]
    for t in range(1, n):
        value = spare[t]
        place = t
        while place > 0 and values[place - 1] > value:
            values[place] = values[place - 1]
            place -= 1
        values[place] = value


@njit(nogil=True, cache=True)
def _drop_repeats(values: Any, begin: int, end: int) -> int:
    """Sorted values[begin:end] → each once, from `begin`; where they end."""
    kept = begin
    for t in range(begin, end):
        if t == begin or values[t] != values[kept - 1]:
            values[kept] = values[t]
            kept += 1
    return kept


@njit(nogil=True, cache=True)
def bottom(fingerprints: Any, ends: Any, m: int, seed: int, out: Any, counts: Any) -> None:
    """out[i] = the m smallest distinct images of document i, ascending, NONE after counts[i] of them.

    Of N even values the m smallest lie below about m/N of the range. So all but a little more than m values are
    dropped by comparing with a bound guessed from that, four standard deviations up; what passes is gathered without
    a branch. If repeats (or bad luck) left fewer than m, the bound was too low: the document is gone through again
    with eight times the bound, up to the whole range. When the gathered values fill their room, they are sorted and
    the m-th becomes the bound: what is larger cannot be in the answer. Hence exact, for every input. `seen` holds the
    last value at each place and drops most repeats early; frequent words would otherwise fill the room again and again.
    """
    add, times = permutation(seed)
    room = 2 * m + int(8 * np.sqrt(m)) + 16
    gathered = np.empty(room, np.uint64)
    spare = np.empty(room, np.uint64)
    buckets = 16
    while 2 * buckets <= room:
        buckets *= 2
    heads = np.zeros(buckets, np.int64)
    seen = np.empty(4 * buckets, np.uint64)
    places = np.uint64(4 * buckets - 1)
    begin = 0
    for i in range(ends.shape[0]):
        end = ends[i]
        wanted = m + 4.0 * np.sqrt(m) + 4.0
        share = wanted / max(end - begin, 1)
        n: Any = 0
        while True:
            # 2^64 as a float and a share below one: the product is in range
            bound = NONE if share >= 1.0 else np.uint64(share * 18446744073709551616.0)
            n = 0
            seen[:] = NONE
            for t in range(begin, end):
                value = permute(fingerprints[t], add, times)
                place = value & places
                gathered[n] = value
                n += np.int64(value < bound) & np.int64(seen[place] != value)
                seen[place] = value
                if n == room:
                    _sort(gathered, n, spare, heads)
                    n = _drop_repeats(gathered, 0, n)
                    if n > m:
                        n = m
                        bound = gathered[m - 1]
            _sort(gathered, n, spare, heads)
            n = _drop_repeats(gathered, 0, n)
            if n >= m or share >= 1.0:
                break
            share *= 8.0
        n = min(n, m)
        for t in range(n):
            out[i, t] = gathered[t]
        for t in range(n, m):
            out[i, t] = NONE
        counts[i] = n
        begin = end


@njit(nogil=True, cache=True)
def mod(fingerprints: Any, ends: Any, n: int, seed: int, ends_out: Any, out: Any) -> Any:
    """The distinct images that are 0 mod n, sorted: document i has out[ends_out[i - 1]:ends_out[i]]; how many in all.

    -1 where `out` is too small. It must hold the sampled occurrences of a document while repeats are still among them,
    and the value that is looked at; fingerprints.size is always enough.

    No division: with n = 2^z · o, o odd, v is a multiple of n just where v · o^-1 (mod 2^64), rotated right by z bits,
    is at most (2^64 - 1) / n (Granlund and Montgomery 1994, section 9).
    """
    add, times = permutation(seed)
    odd = np.uint64(n)
    twos = _ZERO
    while odd & _ONE == _ZERO:
        odd >>= _ONE
        twos += _ONE
    inverse = odd  # right in the last 3 bits; each step of Newton's doubles that
    for _ in range(5):
        inverse *= _TWO - odd * inverse
    most = NONE // np.uint64(n)
    back = (_S64 - twos) & np.uint64(63)
    size = out.shape[0]
    total: Any = 0
    begin = 0
    for i in range(ends.shape[0]):
        first = total
        for t in range(begin, ends[i]):
            if total >= size:
                return -1
            value = permute(fingerprints[t], add, times)
            quotient = value * inverse
            quotient = quotient >> twos | quotient << back
            out[total] = value
            total += np.int64(quotient <= most)
        out[first:total].sort()
        total = _drop_repeats(out, first, total)
        ends_out[i] = total
        begin = ends[i]
    return total
