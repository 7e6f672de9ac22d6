"""Charikar's random projection, Henzinger's Algorithm C: token fingerprints → a bit string per document.

Everything on the way stands in this one file, because numba's cache does not notice an edit in another module.

    signature_words    the width in bits → the 64-bit words of a signature
    project            fingerprints → signatures; a token counts as often as it occurs
    project_weighted   the same, where a distinct token counts COUNT, ONCE or LOG
    agreements         pairs of signatures → the number of equal bits (C-similarity)
    popcount64         the one bits of a word

Henzinger, "Finding Near-Duplicate Web Pages", section 2: every token is projected to b values of -1 or +1, the same in
all documents; a document's vector is the sum over its tokens; positive entries become 1, all others 0. Her b is 384.
The order of the tokens does not matter, their frequency does. Tokens or shingles: a fingerprint is a fingerprint.

Layout: document i is fingerprints[ends[i - 1]:ends[i]]. Bit j of its signature is bit j % 64 of word j // 64, and the
bits beyond the width are 0. Bit j depends on fingerprints, seed and j alone, so a narrow signature is the beginning of
a wide one.

How the sum is made. A token's 64 values at word j are the bits of one mixed word, 1 for +1. With c one bits among n
tokens the sum is 2c - n, and positive exactly if c > n // 2. The c of 64 positions are counted at once: plane p holds
bit p of all 64 counters, and carry-save adders bring 16 words to one carry (Harley and Seal; Klarqvist, Muła and
Lemire, "Efficient Computation of Positional Population Counts", arXiv 1911.02696). _LANES such counters stand side by
side, for the vector unit, and are added up at the end of the document.

What is proven and what is measured: the counts and signs are exact. The ±1 values are bits of a mixing hash (the
finaliser of MurmurHash3 over fingerprint xor key), not of a family with a proof; tests/statistics holds them to
balance, pairwise independence and Charikar's angle / pi, within the binomial error. Angle / pi itself is a limit: of
±1 values it holds for many tokens (less than 0.001 off from 1,000 on, at a cosine of up to 0.99).
"""

from typing import Any

import numpy as np
from numba import njit

from neardup.errors import RecipeError

COUNT, ONCE, LOG = 0, 1, 2
"""What a distinct token with c occurrences weighs: c; 1; 1 + log2 c, rounded to sixteenths."""

WIDEST = 4096
"""Bits of the widest signature."""

_LANES = 4
_BLOCK = 16 * _LANES  # the words of a block stand at work[0 : _BLOCK], the planes of the counters behind them
_PLANES = 64

_P = np.uint64(0x9E3779B97F4A7C15)
_M1 = np.uint64(0xFF51AFD7ED558CCD)
_M2 = np.uint64(0xC4CEB9FE1A85EC53)
_S33 = np.uint64(33)
_ZERO, _ONE = np.uint64(0), np.uint64(1)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_S1, _S2, _S4, _S56 = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56)
_PAIRS, _FOURS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
_EIGHTS, _BYTES = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)


def signature_words(bits: int) -> int:
    """The number of 64-bit words of a signature: the second dimension of `out`."""
    if not 1 <= bits <= WIDEST:
        raise RecipeError(f"bits = {bits} is not a width; choose 1 to {WIDEST}, Henzinger's is 384")
    return (bits + 63) // 64


@njit(nogil=True, cache=True, inline="always")
def _mix(h: Any) -> Any:
    h ^= h >> _S33
    h *= _M1
    h ^= h >> _S33
    h *= _M2
    return h ^ (h >> _S33)


@njit(nogil=True, cache=True)
def _keys(bits: int, seed: Any) -> Any:
    """One key per word of the signature: token f has the values of the bits of _mix(f ^ key)."""
    keys = np.empty((bits + 63) // 64, np.uint64)
    for j in range(keys.shape[0]):
        keys[j] = _mix(np.uint64(seed) + np.uint64(j + 1) * _P)
    return keys


@njit(nogil=True, cache=True)
def _last_mask(bits: int) -> Any:
    """The bits of a signature's last word that are in use."""
    return _ALL >> np.uint64((64 - bits % 64) % 64)


@njit(nogil=True, cache=True)
def _length(n: int) -> int:
    """Binary digits of n."""
    digits = 0
    while n >> digits != 0:
        digits += 1
    return digits


@njit(nogil=True, cache=True, inline="always")
def _add(a: Any, b: Any, c: Any) -> tuple[Any, Any]:
    """A carry-save adder: in each of 64 positions the sum of three bits, as (carry, rest)."""
    u = a ^ b
    return (a & b) | (u & c), u ^ c


@njit(nogil=True, cache=True)
def _add_block(x: Any, depth: int) -> None:
    """Add the 16 words of each lane, x[0 : _BLOCK], to the lane's counter, whose planes stand behind them.

    Words and planes are parts of one array on purpose: with two arrays the compiler would have to check whether they
    overlap, and then does not vectorise a loop this short (measured: 12 ns a token of 384 bits instead of 8).
    """
    for i in range(_LANES):
        at = i + _BLOCK
        ones, twos = x[at], x[at + _LANES]
        fours, eights = x[at + 2 * _LANES], x[at + 3 * _LANES]
        two_a, ones = _add(ones, x[i], x[i + _LANES])
        two_b, ones = _add(ones, x[i + 2 * _LANES], x[i + 3 * _LANES])
        four_a, twos = _add(twos, two_a, two_b)
        two_a, ones = _add(ones, x[i + 4 * _LANES], x[i + 5 * _LANES])
        two_b, ones = _add(ones, x[i + 6 * _LANES], x[i + 7 * _LANES])
        four_b, twos = _add(twos, two_a, two_b)
        eight_a, fours = _add(fours, four_a, four_b)
        two_a, ones = _add(ones, x[i + 8 * _LANES], x[i + 9 * _LANES])
        two_b, ones = _add(ones, x[i + 10 * _LANES], x[i + 11 * _LANES])
        four_a, twos = _add(twos, two_a, two_b)
        two_a, ones = _add(ones, x[i + 12 * _LANES], x[i + 13 * _LANES])
        two_b, ones = _add(ones, x[i + 14 * _LANES], x[i + 15 * _LANES])
        four_b, twos = _add(twos, two_a, two_b)
        eight_b, fours = _add(fours, four_a, four_b)
        sixteen, eights = _add(eights, eight_a, eight_b)
        x[i] = sixteen
        x[at], x[at + _LANES] = ones, twos
        x[at + 2 * _LANES], x[at + 3 * _LANES] = fours, eights
    for p in range(4, depth):
        at = _BLOCK + p * _LANES
        for i in range(_LANES):
            plane, carry = x[at + i], x[i]
            x[at + i] = plane ^ carry
            x[i] = plane & carry


@njit(nogil=True, cache=True)
def _tally(fingerprints: Any, start: int, stop: int, key: Any, weight: int, x: Any, total: Any, top: int) -> None:
    """total += 2^weight · (one bits of fingerprints[start:stop] at the word of `key`), in each of 64 positions.

    Plane p of the sums is total[p]; `top` planes hold them. x is room for _BLOCK words and _PLANES planes a lane.
    """
    blocks = (stop - start + _BLOCK - 1) // _BLOCK
    depth = _length(16 * blocks)
    for i in range(_BLOCK, _BLOCK + depth * _LANES):
        x[i] = _ZERO
    for block in range(blocks):
        at = start + block * _BLOCK
        n = min(_BLOCK, stop - at)
        for i in range(n):
            x[i] = _mix(fingerprints[at + i] ^ key)
        for i in range(n, _BLOCK):
            x[i] = _ZERO
        _add_block(x, depth)
    used = min(depth, top - weight)  # higher planes are 0, as the sums fit in `top`
    for i in range(_LANES):
        carry = _ZERO
        for p in range(used):
            carry, total[p + weight] = _add(total[p + weight], x[_BLOCK + p * _LANES + i], carry)
        for p in range(used + weight, top):
            plane = total[p]
            total[p] = plane ^ carry
            carry &= plane


@njit(nogil=True, cache=True)
def _exceeds(total: Any, top: int, bound: int) -> Any:
    """A one bit where the sum is greater than `bound`: the first plane from above in which they differ decides."""
    greater, equal = _ZERO, _ALL
    for p in range(top - 1, -1, -1):
        if (bound >> p) & 1:
            equal &= total[p]
        else:
            greater |= equal & total[p]
            equal &= ~total[p]
    return greater


@njit(nogil=True, cache=True)
def _project_one(fingerprints: Any, start: int, stop: int, keys: Any, mask: Any, x: Any, total: Any, row: Any) -> None:
    """The signature of fingerprints[start:stop], each with weight 1."""
    n = stop - start
    top = _length(n)
    last = keys.shape[0] - 1
    for j in range(keys.shape[0]):
        for p in range(top):
            total[p] = _ZERO
        _tally(fingerprints, start, stop, keys[j], 0, x, total, top)
        row[j] = _exceeds(total, top, n // 2)
    row[last] &= mask


@njit(nogil=True, cache=True)
def project(fingerprints: Any, ends: Any, bits: int, seed: Any, out: Any) -> None:
    """Write document i's signature of `bits` bits to out[i, : signature_words(bits)]; an empty document gets 0.

    Fingerprints and seed are uint64, `ends` int64. Measured at 384 bits on one core: 8 ns a token in documents of 500,
    and not less than 0.7 µs a document.
    """
    keys = _keys(bits, seed)
    mask = _last_mask(bits)
    x = np.empty(_BLOCK + _PLANES * _LANES, np.uint64)
    total = np.empty(_PLANES, np.uint64)
    start = 0
    for i in range(ends.shape[0]):
        stop = ends[i]
        _project_one(fingerprints, start, stop, keys, mask, x, total, out[i])
        start = stop


@njit(nogil=True, cache=True)
def _count_distinct(fingerprints: Any, start: int, stop: int, key: Any, slots: Any, distinct: Any, counts: Any) -> int:
    """The distinct fingerprints in the order of their first occurrence, and how often they occur; their number.

    A hash table of at least twice as many slots as tokens: a slot holds 1 + an index of `distinct`, 0 where empty.
    """
    size = 2
    while size < 2 * (stop - start):
        size *= 2
    slots[:size] = 0
    found = 0
    for i in range(start, stop):
        f = fingerprints[i]
        s: Any = np.int64(_mix(f ^ key) & np.uint64(size - 1))
        while slots[s] != 0 and distinct[slots[s] - 1] != f:
            s = (s + 1) & (size - 1)
        if slots[s] == 0:
            distinct[found] = f
            counts[found] = 0
            found += 1
            slots[s] = found
        counts[slots[s] - 1] += 1
    return found


@njit(nogil=True, cache=True)
def log_weight(count: int) -> int:
    """1 + log2(count) in sixteenths, rounded; never half-way, for count^32 = 2^(2k + 1) has no solution."""
    return int(np.floor(16.0 * (1.0 + np.log2(np.float64(count))) + 0.5))


@njit(nogil=True, cache=True)
def project_weighted(fingerprints: Any, ends: Any, kind: int, bits: int, seed: Any, out: Any) -> None:
    """As `project`, where a distinct token's ±1 is multiplied with the weight of its `kind`: COUNT, ONCE or LOG.

    A weight is a sum of powers of two: for each binary digit the tokens which have it are counted, and the count goes
    to the sums at the digit's plane.
    """
    if kind == COUNT:
        project(fingerprints, ends, bits, seed, out)
        return
    keys = _keys(bits, seed)
    mask = _last_mask(bits)
    words = keys.shape[0]
    longest, start = 0, 0
    for i in range(ends.shape[0]):
        longest = max(longest, ends[i] - start)
        start = ends[i]
    size = 2
    while size < 2 * longest:
        size *= 2
    slots = np.empty(size, np.int64)
    distinct = np.empty(longest, np.uint64)
    counts = np.empty(longest, np.int64)
    chosen = np.empty(longest, np.uint64)
    x = np.empty(_BLOCK + _PLANES * _LANES, np.uint64)
    totals = np.empty((words, _PLANES), np.uint64)
    start = 0
    for i in range(ends.shape[0]):
        stop = ends[i]
        found = _count_distinct(fingerprints, start, stop, _mix(np.uint64(seed)), slots, distinct, counts)
        start = stop
        if kind == ONCE:
            _project_one(distinct, 0, found, keys, mask, x, totals[0], out[i])
            continue
        weight, heaviest = 0, 0
        for t in range(found):
            counts[t] = log_weight(counts[t])
            weight += counts[t]
            heaviest = max(heaviest, counts[t])
        top = _length(weight)
        for j in range(words):
            for p in range(top):
                totals[j, p] = _ZERO
        for digit in range(_length(heaviest)):
            n = 0
            for t in range(found):
                chosen[n] = distinct[t]
                n += (counts[t] >> digit) & 1
            if n != 0:
                for j in range(words):
                    _tally(chosen, 0, n, keys[j], digit, x, totals[j], top)
        for j in range(words):
            out[i, j] = _exceeds(totals[j], top, weight // 2)
        out[i, words - 1] &= mask


@njit(nogil=True, cache=True, inline="always")
def popcount64(x: Any) -> Any:
    """The one bits of a 64-bit word. LLVM knows this formula and makes one instruction of it where there is one."""
    x = x - ((x >> _S1) & _PAIRS)
    x = (x & _FOURS) + ((x >> _S2) & _FOURS)
    x = (x + (x >> _S4)) & _EIGHTS
    return (x * _BYTES) >> _S56


@njit(nogil=True, cache=True)
def agreements(signatures: Any, pairs: Any, bits: int, out: Any) -> None:
    """out[k] = the bits in which rows pairs[k, 0] and pairs[k, 1] agree: Henzinger's C-similarity."""
    for k in range(pairs.shape[0]):
        a, b = pairs[k, 0], pairs[k, 1]
        differ = _ZERO
        for j in range(signatures.shape[1]):
            differ += popcount64(signatures[a, j] ^ signatures[b, j])
        out[k] = bits - np.int64(differ)
