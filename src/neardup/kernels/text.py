"""From the UTF-8 bytes of a document to its sketch: tokens, shingles, min-hashes, features.

Everything on the way stands in this one file, because numba's cache does not notice an edit in another module.

    tokenize          bytes → a 64-bit hash per token of the canonical sequence, and the sequence itself
    shingle           tokens → a 64-bit fingerprint per w consecutive tokens
    shingle_rabin     the same with Rabin's fingerprints
    number_repeats    a set of fingerprints → a multiset with occurrence numbers
    minima            fingerprints → the minimum under each of P permutations
    minima_in_bins    the same from one hash: fingerprints → the minimum in each of P bins, none of them empty
    features          minima → k keys, each of s minima
    odd_sketch        fingerprints → parities of their minima in bins, and how many bins are filled
    features_rabin    the same with Rabin's fingerprints
    sketch_documents  all of the above for every document of a batch
    sort_distinct     fingerprints → sorted set
    shingle_sets      the sorted shingle sets of chosen documents of a batch
    fingerprint_documents  the fingerprints of every document of a batch, in order of occurrence

A batch is Arrow's own layout: `data` holds the bytes, document i is data[offsets[i]:offsets[i + 1]].

Tokens and shingles are of a mixing hash unless `rabin` is given: the tables of `neardup.rabin.shingle_tables` for the
same w. numba compiles a version for each and drops the other's branches (`if rabin is None`), so neither pays.

    mixing  token    h → (h ^ code point) · P from the seed, then mixed
            shingle  Σ token[i + j] · B^(w - 1 - j) mod 2^64, then mixed
    Rabin   token    the fingerprint of the folded UTF-8 bytes; of a line, those of its words with a space between
            shingle  the fingerprint of the w tokens as 8 big-endian bytes each, under a second polynomial

What is proven and what is measured: a token hash, a shingle fingerprint and a feature are 64 bits of a mixing hash,
not of a universal family; two different shingles agree with a probability of about 2^-59 (B - 1 is even, so swapped
tokens cost a few bits). The permutations are linear, x → a·x + b mod 2^32 with odd a, on 32 bits of the mixed
fingerprint (Broder, "Identifying and Filtering Near-Duplicate Documents", section 2: random linear transformations
are likely to suffice); tests/statistics holds them to the binomial formula. With Rabin's fingerprints the collisions
are bounded by a theorem (see `neardup.rabin`); what follows them is the same. Rabin's fingerprints are linear too, and
those of short strings are small numbers, so they are mixed before a permutation sees them. The mixing
is a bijection: it adds no collision, and a permutation after it is still a permutation. Bins and values in them are
other bits of the same fingerprint, whose mixing is measured as well.

None of these hashes is made against somebody who knows the seed: for any word such a person finds another one with the
same 64 bits. What is called identical is therefore not compared by them, but by BLAKE3 (`kernels.blake3`) of the
canonical sequence: the folded UTF-8 bytes of every token and a zero behind each; behind the tokens of a line, where
lines are the tokens, a line feed.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

WORDS, CHARS, LINES = 0, 1, 2
"""Token kinds."""

FINE, SHORT, EMPTY, INVALID, SKIPPED = 0, 1, 2, 3, 4
"""What became of a document: SHORT has fewer tokens than a shingle and is one shingle, INVALID is not UTF-8, SKIPPED
was not looked at (too long)."""

_SEPARATOR, _WORD, _SINGLE, _MARK = 0, 1, 2, 3
_NON_ASCII = np.uint8(255)
_MARKS = 32  # canonical ordering looks at no more marks at once (Unicode's stream-safe text allows 30)
_MOST_BYTES = 5 * _MARKS + 8  # that one code point and the marks before it add to the canonical sequence
AFTER = 2048  # bytes of room behind the canonical sequences: kernels.blake3 reads on there

_IOTA_SUBSCRIPT, _IOTA = np.uint32(0x345), np.uint32(0x3B9)
"""A mark that case folding makes a letter. Marks are put in order before they are folded (Unicode, definition D145), so
the tables give it the class of a letter and the place of a mark."""

_P = np.uint64(0x9E3779B97F4A7C15)
_M1 = np.uint64(0xFF51AFD7ED558CCD)
_M2 = np.uint64(0xC4CEB9FE1A85EC53)
_M3 = np.uint64(0xD6E8FEB86659FD93)
_BASE = np.uint64(0x5851F42D4C957F2D)
_LINE = np.uint64(0x2545F4914F6CDD1D)
_S33 = np.uint64(33)
_S27, _S37, _S31 = np.uint64(27), np.uint64(37), np.uint64(31)
_S8, _S16, _S24, _S32, _S40, _S48, _S56 = (np.uint64(8 * n) for n in range(1, 8))
_X80, _X255 = np.uint64(0x80), np.uint64(0xFF)
_SPACE = np.uint64(32)
_ZERO, _ONE = np.uint64(0), np.uint64(1)
_LOW32, _LOW31 = np.uint64(0xFFFFFFFF), np.uint64(0x7FFFFFFF)
_NOTHING, _LATER = np.uint32(0xFFFFFFFF), np.uint32(0x80000000)
_U1 = np.uint32(1)
_MANY = 3  # one permutation after the other takes three times as long as all at once (measured, AVX2)
_U6, _U12, _U18 = np.uint32(6), np.uint32(12), np.uint32(18)
_X3F = np.uint32(0x3F)


@njit(nogil=True, cache=True, inline="always")
def _mix(h: Any) -> Any:
    h ^= h >> _S33
    h *= _M1
    h ^= h >> _S33
    h *= _M2
    return h ^ (h >> _S33)


@njit(nogil=True, cache=True)
def _mix_all(values: Any, n: int) -> None:
    for i in range(n):
        values[i] = _mix(values[i])


@njit(nogil=True, cache=True)
def _push_byte(h: Any, c: Any, push: Any) -> Any:
    """h · x^8 + c mod a polynomial of degree 64."""
    return (h << _S8) ^ c ^ push[h >> _S56]


@njit(nogil=True, cache=True)
def _weighted(value: Any, table: Any) -> Any:
    """Σ table[j, byte j of value], byte 0 being the lowest: the value times what the table was made for."""
    return (
        table[0, value & _X255]
        ^ table[1, (value >> _S8) & _X255]
        ^ table[2, (value >> _S16) & _X255]
        ^ table[3, (value >> _S24) & _X255]
        ^ table[4, (value >> _S32) & _X255]
        ^ table[5, (value >> _S40) & _X255]
        ^ table[6, (value >> _S48) & _X255]
        ^ table[7, value >> _S56]
    )


@njit(nogil=True, cache=True)
def _letter(h: Any, code: Any, rabin: Any) -> Any:
    """A token's hash with one code point more."""
    c = np.uint64(code)
    if rabin is None:
        return (h ^ c) * _P
    push = rabin[0]
    if c < _X80:
        return _push_byte(h, c, push)
    last = _X80 | (c & np.uint64(0x3F))
    if c < np.uint64(0x800):
        return _push_byte(_push_byte(h, np.uint64(0xC0) | c >> np.uint64(6), push), last, push)
    third = _X80 | (c >> np.uint64(6) & np.uint64(0x3F))
    if c < np.uint64(0x10000):
        h = _push_byte(h, np.uint64(0xE0) | c >> np.uint64(12), push)
    else:
        h = _push_byte(h, np.uint64(0xF0) | c >> np.uint64(18), push)
        h = _push_byte(h, _X80 | (c >> np.uint64(12) & np.uint64(0x3F)), push)
    return _push_byte(_push_byte(h, third, push), last, push)


@njit(nogil=True, cache=True)
def _append(form: Any, at: int, code: Any) -> int:
    """Write a code point as UTF-8 to form[at:]; where it ends."""
    c = np.uint32(code)
    if c < 0x80:
        form[at] = c
        return at + 1
    if c < 0x800:
        form[at] = np.uint32(0xC0) | c >> _U6
        form[at + 1] = np.uint32(0x80) | (c & _X3F)
        return at + 2
    if c < 0x10000:
        form[at] = np.uint32(0xE0) | c >> _U12
        form[at + 1] = np.uint32(0x80) | (c >> _U6 & _X3F)
        form[at + 2] = np.uint32(0x80) | (c & _X3F)
        return at + 3
    form[at] = np.uint32(0xF0) | c >> _U18
    form[at + 1] = np.uint32(0x80) | (c >> _U12 & _X3F)
    form[at + 2] = np.uint32(0x80) | (c >> _U6 & _X3F)
    form[at + 3] = np.uint32(0x80) | (c & _X3F)
    return at + 4


@njit(nogil=True, cache=True)
def _decode(data: Any, i: int, stop: int) -> tuple[Any, int]:
    """One code point of UTF-8 that is not ASCII, and the bytes it takes; 0 bytes where it is not well-formed."""
    first = np.uint32(data[i])
    nothing = np.uint32(0)
    if first < 0xC2 or first > 0xF4:
        return nothing, 0
    length = 2 if first < 0xE0 else (3 if first < 0xF0 else 4)
    if i + length > stop:
        return nothing, 0
    second = np.uint32(data[i + 1])
    if second & np.uint32(0xC0) != 0x80:
        return nothing, 0
    if length == 2:
        return (first & np.uint32(0x1F)) << _U6 | (second & _X3F), 2
    third = np.uint32(data[i + 2])
    if third & np.uint32(0xC0) != 0x80:
        return nothing, 0
    if length == 3:
        code = (first & np.uint32(0x0F)) << _U12 | (second & _X3F) << _U6 | (third & _X3F)
        if code < 0x800 or (code >= 0xD800 and code < 0xE000):
            return nothing, 0
        return code, 3
    fourth = np.uint32(data[i + 3])
    if fourth & np.uint32(0xC0) != 0x80:
        return nothing, 0
    code = (first & np.uint32(0x07)) << _U18 | (second & _X3F) << _U12 | (third & _X3F) << _U6 | (fourth & _X3F)
    if code < 0x10000 or code > 0x10FFFF:
        return nothing, 0
    return code, 4


@njit(nogil=True, cache=True)
def tokenize(
    data: Any,
    start: int,
    stop: int,
    kind: int,
    seed: Any,
    ascii: Any,
    page: Any,
    entry: Any,
    pool: Any,
    out: Any,
    rabin: Any = None,
    form: Any = None,
    end: Any = 0,
) -> tuple[Any, Any]:
    """Write the token hashes of data[start:stop] to `out`, and the canonical sequence to `form` from `end` on.

    Returns the number of tokens and where the sequence ends. The number is -1 where the bytes are not UTF-8, -2 where
    `out` is too small, -3 where `form` is: a few code points unfold to a whole sentence, so the bytes bound neither.

    A token is a maximal run of letters, digits and the marks on them; in a script without spaces, and always with
    CHARS, a letter with its marks. With LINES a token is all tokens of one line. Code points are folded first:
    compatibility decomposition, full case folding, ignorable ones dropped, marks in canonical order.

    With `rabin` the hash is the Rabin fingerprint of the token's folded UTF-8 bytes; of a line, that of its tokens
    with one space between. The seed has no part in it.
    """
    n = 0
    fresh = seed
    if rabin is not None:
        fresh = _ONE
    h = fresh
    inside: Any = np.int64(0)  # a token has begun
    single = False  # ... and takes no further letter
    line, line_tokens = fresh, 0
    marks = np.empty(_MARKS, np.uint32)
    marks_class = np.empty(_MARKS, np.uint32)
    waiting = 0
    i: Any = start
    while True:
        if kind == WORDS and waiting == 0 and not single:
            # The fast path, without a branch on where words end: a hash is written at every byte, and the next one
            # takes its place unless a word has just ended. Indices are unsigned, so that none is looked at for being
            # negative: a quarter of the time.
            if n + (stop - i) >= out.shape[0]:
                return -2, end
            if form is not None and end + (stop - i) >= form.shape[0]:
                return -3, end
            while i < stop:
                c = ascii[data[np.uint64(i)]]
                if c == _NON_ASCII:
                    break
                i += 1
                letter = np.int64(c != 0)
                out[np.uint64(n)] = h
                n += inside & (letter ^ 1)
                if form is not None:
                    form[np.uint64(end)] = c
                    end += inside | letter
                mask = _ZERO - np.uint64(letter)
                if rabin is None:
                    h = (((h ^ np.uint64(c)) * _P) & mask) | (seed & ~mask)
                else:
                    h = (_push_byte(h, np.uint64(c), rabin[0]) & mask) | (_ONE & ~mask)
                inside = letter
        end_of_text = i >= stop
        ends_line = end_of_text
        mapped: Any = 1
        mapped_at: Any = 0
        code = np.uint32(0)
        e = np.uint32(_SEPARATOR)
        if not end_of_text:
            c = ascii[data[i]]
            if c == _NON_ASCII:
                code, length = _decode(data, i, stop)
                if length == 0:
                    return -1, end
                i += length
                e = entry[np.int64(page[code >> np.uint32(8)]) * 256 + np.int64(code & np.uint32(255))]
                if e >> np.uint32(10) != 0:
                    mapped_at = np.int64(e >> np.uint32(10))
                    mapped = np.int64(pool[mapped_at])
            else:
                if c == 0:
                    ends_line = data[i] == 10 or data[i] == 13
                else:
                    code = np.uint32(c)
                    e = np.uint32(_WORD)
                i += 1
        for m in range(mapped):
            if form is not None and end + _MOST_BYTES > form.shape[0]:
                return -3, end
            if mapped_at != 0:
                code = pool[mapped_at + 1 + m]
                e = entry[np.int64(page[code >> np.uint32(8)]) * 256 + np.int64(code & np.uint32(255))]
            ordering = (e >> np.uint32(2)) & np.uint32(255)
            if ordering != 0 and waiting < _MARKS:
                at = waiting
                while at > 0 and marks_class[at - 1] > ordering:
                    marks[at] = marks[at - 1]
                    marks_class[at] = marks_class[at - 1]
                    at -= 1
                marks[at] = code
                marks_class[at] = ordering
                waiting += 1
                continue
            for j in range(waiting + 1):  # the marks in their order, then what made them end
                this = marks[j] if j < waiting else code
                cls = np.uint32(_MARK) if j < waiting else e & np.uint32(3)
                if this == _IOTA_SUBSCRIPT:
                    this, cls = _IOTA, np.uint32(_WORD)
                if cls == _MARK:
                    h = _letter(h, this, rabin)
                    if form is not None:
                        end = _append(form, end, this)
                    inside = np.int64(1)
                    continue
                alone = cls == _SINGLE or (kind == CHARS and cls == _WORD)
                if inside != 0 and (single or alone or cls == _SEPARATOR):
                    if kind == LINES:
                        line = (line ^ _mix(h)) * _LINE if rabin is None else h
                        line_tokens += 1
                    elif n == out.shape[0]:
                        return -2, end
                    else:
                        out[n] = h
                        n += 1
                    if form is not None:
                        form[end] = 0
                        end += 1
                    inside = np.int64(0)
                    single = False
                    h = fresh
                    if rabin is not None and kind == LINES:
                        h = _push_byte(line, _SPACE, rabin[0])
                if cls != _SEPARATOR:
                    h = _letter(h, this, rabin)
                    if form is not None:
                        end = _append(form, end, this)
                    inside = np.int64(1)
                    single = alone
            waiting = 0
        if ends_line and line_tokens != 0:
            if n == out.shape[0]:
                return -2, end
            out[n] = line
            n += 1
            if form is not None:
                form[end] = 10
                end += 1
            line, line_tokens = fresh, 0
            h = fresh
        if end_of_text:
            break
    if rabin is None:
        for j in range(n):
            out[j] = _mix(out[j])
    return n, end


@njit(nogil=True, cache=True)
def _padded(form: Any, at: int) -> int:
    """Write zeros to `form` up to the next multiple of 64, which is returned."""
    end = (at + 63) // 64 * 64
    for i in range(at, end):
        form[i] = 0
    return end


@njit(nogil=True, cache=True)
def _larger(form: Any, kept: int) -> Any:
    """Return twice the room, with the first `kept` bytes."""
    found = np.empty(2 * form.shape[0], np.uint8)
    found[:kept] = form[:kept]
    return found


@njit(nogil=True, cache=True)
def shingle_rabin(tokens: Any, n: int, w: int, rabin: Any, out: Any) -> int:
    """Rabin fingerprints of all runs of w tokens, each token as its 8 big-endian bytes, rolling.

    Fewer than w tokens are one shingle of their own: the fingerprint of the 8n bytes, which the leading 1 tells from
    those of 8w bytes.
    """
    _, shift, gone = rabin
    if n == 0:
        return 0
    f = _ONE
    for i in range(min(n, w)):
        f = _weighted(f, shift) ^ tokens[i]
    out[0] = f
    for i in range(w, n):
        f = _weighted(f, shift) ^ tokens[i] ^ _weighted(tokens[i - w], gone)
        out[i - w + 1] = f
    return max(n - w + 1, 1)


@njit(nogil=True, cache=True)
def shingle(tokens: Any, n: int, w: int, out: Any, rabin: Any = None) -> int:
    """Fingerprints of all runs of w tokens, rolling: F = Σ token[i + j] · B^(w - 1 - j) mod 2^64, then mixed.

    Fewer than w tokens are one shingle of their own. With `rabin` see `shingle_rabin`.
    """
    if rabin is not None:
        return shingle_rabin(tokens, n, w, rabin, out)
    if n == 0:
        return 0
    f = _ZERO
    if n < w:
        for i in range(n):
            f = f * _BASE + tokens[i]
        out[0] = _mix(f + np.uint64(n))
        return 1
    outgoing = _ONE
    for _ in range(w):
        outgoing *= _BASE
    for i in range(w):
        f = f * _BASE + tokens[i]
    out[0] = _mix(f)
    for i in range(w, n):
        f = f * _BASE + tokens[i] - tokens[i - w] * outgoing
        out[i - w + 1] = _mix(f)
    return n - w + 1


@njit(nogil=True, cache=True)
def sort_uniform(values: Any, n: int, spare: Any) -> None:
    """Sort fingerprints in linear time: they are uniform, so their leading bits say where they belong.

    Insertion finishes what is almost sorted. Where a place is crowded all the same, a comparison sort takes over.
    """
    if n < 32:
        for i in range(1, n):
            v = values[i]
            j = i
            while j > 0 and values[j - 1] > v:
                values[j] = values[j - 1]
                j -= 1
            values[j] = v
        return
    bits = 1
    while (1 << bits) < n and bits < 22:
        bits += 1
    shift = np.uint64(64 - bits)
    begin = np.zeros((1 << bits) + 1, np.int64)
    for i in range(n):
        begin[np.int64(values[i] >> shift) + 1] += 1
    crowded = False
    for b in range(1 << bits):
        if begin[b + 1] > 24 + 4 * (n >> bits):
            crowded = True
        begin[b + 1] += begin[b]
    if crowded:
        values[:n].sort()
        return
    for i in range(n):
        place = np.int64(values[i] >> shift)
        spare[begin[place]] = values[i]
        begin[place] += 1
    for i in range(n):
        v = spare[i]
        j = i
        while j > 0 and values[j - 1] > v:
            values[j] = values[j - 1]
            j -= 1
        values[j] = v


@njit(nogil=True, cache=True)
def number_repeats(fingerprints: Any, n: int, spare: Any) -> None:
    """Turn the list into Broder's multiset: the k-th occurrence of a shingle becomes an element of its own."""
    sort_uniform(fingerprints, n, spare)
    previous = _ZERO
    occurrence = _ZERO
    for i in range(n):
        f = fingerprints[i]
        occurrence = occurrence + _ONE if i > 0 and f == previous else _ZERO
        previous = f
        if occurrence != _ZERO:
            fingerprints[i] = _mix(f + occurrence * _P)


@njit(nogil=True, cache=True)
def sort_distinct(fingerprints: Any, n: int, spare: Any) -> int:
    """Sort in place and drop repeats; the number that stay."""
    sort_uniform(fingerprints, n, spare)
    kept = 0
    for i in range(n):
        if i == 0 or fingerprints[i] != fingerprints[kept - 1]:
            fingerprints[kept] = fingerprints[i]
            kept += 1
    return kept


@njit(nogil=True, cache=True)
def minima(fingerprints: Any, n: int, multiply: Any, add: Any, out: Any) -> None:
    """out[p] = min over the fingerprints x of (multiply[p] · x + add[p]) mod 2^32. Four at a time: one load each."""
    size = multiply.shape[0]
    for p in range(size):
        out[p] = np.uint32(0xFFFFFFFF)
    i = 0
    while i + 4 <= n:
        x0 = np.uint32(fingerprints[i] & _LOW32)
        x1 = np.uint32(fingerprints[i + 1] & _LOW32)
        x2 = np.uint32(fingerprints[i + 2] & _LOW32)
        x3 = np.uint32(fingerprints[i + 3] & _LOW32)
        for p in range(size):
            a, b = multiply[p], add[p]
            v0 = np.uint32(a * x0 + b)
            v1 = np.uint32(a * x1 + b)
            v2 = np.uint32(a * x2 + b)
            v3 = np.uint32(a * x3 + b)
            out[p] = min(out[p], min(min(v0, v1), min(v2, v3)))
        i += 4
    while i < n:
        x = np.uint32(fingerprints[i] & _LOW32)
        for p in range(size):
            v = np.uint32(multiply[p] * x + add[p])
            out[p] = min(out[p], v)
        i += 1


@njit(nogil=True, cache=True)
def _least(fingerprints: Any, n: int, a: Any, b: Any) -> Any:
    """Of one permutation: the least of (a · x + b) mod 2^32."""
    least = np.uint32(0xFFFFFFFF)
    for i in range(n):
        least = min(least, np.uint32(a * np.uint32(fingerprints[i] & _LOW32) + b))
    return least


@njit(nogil=True, cache=True)
def minima_in_bins(fingerprints: Any, n: int, multiply: Any, add: Any, out: Any, spare: Any) -> None:
    """out[p] = the least value of the fingerprints in bin p; where none is, half their minimum under permutation p,
    with the highest bit set.

    The upper half x of a fingerprint chooses the bin, x · P / 2^32; 31 bits of the lower half are the value. The
    highest bit tells the two kinds of minima apart, so that they never agree: a bin is empty in one of two documents
    only where the least of their union is in the other one alone. `spare` is room for P minima.

    Where many bins are empty all permutations at once take less time than one after the other.
    """
    size = out.shape[0]
    bins = np.uint64(size)
    for p in range(size):
        out[p] = _NOTHING
    for i in range(n):
        x = fingerprints[i]
        into = ((x >> _S32) * bins) >> _S32
        out[into] = min(out[into], np.uint32(x & _LOW31))
    empty: Any = 0
    for p in range(size):
        empty += np.int64(out[p] == _NOTHING)
    if _MANY * empty > size:
        minima(fingerprints, n, multiply, add, spare)
        for p in range(size):
            out[p] = (spare[p] >> _U1) | _LATER if out[p] == _NOTHING else out[p]
        return
    if empty == 0:
        return
    for p in range(size):
        if out[p] == _NOTHING:
            out[p] = (_least(fingerprints, n, multiply[p], add[p]) >> _U1) | _LATER


@njit(nogil=True, cache=True)
def features(smallest: Any, k: int, s: int, seed: Any, keys: Any) -> None:
    """Broder, section 3: fingerprint each of k groups of s minima, the group's number included."""
    for g in range(k):
        h = seed + np.uint64(g + 1) * _P
        for j in range(s):
            h = (h ^ np.uint64(smallest[g * s + j])) * _M3
            h ^= h >> _S31
        keys[g] = _mix(h)


@njit(nogil=True, cache=True)
def features_rabin(smallest: Any, k: int, s: int, push: Any, keys: Any) -> None:
    """Broder, section 3: the Rabin fingerprint of each of k groups of s minima, with the group's number (from 0) in
    front; all of them as 4 big-endian bytes. `push` belongs to another polynomial than those of words and shingles:
    the minima depend on these, and the theorem is about strings that do not depend on the polynomial."""
    for g in range(k):
        h = _ONE
        for j in range(-1, s):
            value = np.uint64(g) if j < 0 else np.uint64(smallest[g * s + j])
            h = _push_byte(h, value >> _S24, push)
            h = _push_byte(h, value >> _S16 & _X255, push)
            h = _push_byte(h, value >> _S8 & _X255, push)
            h = _push_byte(h, value & _X255, push)
        keys[g] = h


@njit(nogil=True, cache=True)
def odd_sketch(fingerprints: Any, n: int, throws: Any, bins: int, least: Any, out: Any) -> None:
    """out = an odd sketch (Mitzenmacher, Pagh and Pham 2014) of the minima in bins (Li, Owen and Zhang 2012).

    Each throw puts every fingerprint into one of its bins, bins / throws in number. The minimum of a bin that is not
    empty flips one of the throw's bits. So two sketches differ in a bit where an odd number of the minima in which the
    documents differ flip it. The highest 16 bits of `out` count the bins that are not empty. `least` is room for the
    minima of a throw.
    """
    for w in range(out.shape[0]):
        out[w] = _ZERO
    each = np.uint64(bins // throws.shape[0])
    bits = np.uint64((64 * out.shape[0] - 16) // throws.shape[0])
    filled = np.uint64(0)
    for t in range(throws.shape[0]):
        for b in range(each):
            least[b] = _NOTHING
        for i in range(n):
            x = fingerprints[i] * throws[t]
            into = ((x >> _S32) * each) >> _S32
            least[into] = min(least[into], np.uint32(x & _LOW32))
        for b in range(each):  # without a branch on whether a bin is empty, which nobody could predict
            there = np.uint64(least[b] != _NOTHING)
            filled += there
            bit = np.uint64(t) * bits + ((((np.uint64(least[b]) * _P) >> _S32) * bits) >> _S32)
            out[bit >> np.uint64(6)] ^= there << (bit & np.uint64(63))
    out[out.shape[0] - 1] |= filled << np.uint64(48)


@njit(nogil=True, cache=True)
def sketch_documents(
    data: Any,
    offsets: Any,
    kind: int,
    w: int,
    repeats: bool,
    seed: Any,
    tables: tuple[Any, Any, Any, Any],
    rabin: Any,
    feature_push: Any,
    multiply: Any,
    add: Any,
    once: bool,
    k: int,
    s: int,
    bits: int,
    rare: int,
    throws: Any,
    bins: int,
    status: Any,
    tokens: Any,
    spans: Any,
    keys: Any,
    samples: Any,
) -> Any:
    """Sketch each document of a batch into row i of the output arrays, and return the canonical sequences: that of
    document i is the bytes from spans[i, 0] to spans[i, 1], laid out for `kernels.blake3`.

    With `once` a shingle goes to one bin of as many as there are permutations (`minima_in_bins`), else under each of
    them. The first k·s minima make the features. `samples` keeps `bits` bits of every minimum, mixed, in a byte: enough
    to estimate the resemblance (Li and König, "b-Bit Minwise Hashing"); it has a column for each of the last
    permutations: all of them, those after the first k·s, or none.
    Behind the k features a row of `keys` has the next `rare` minima, two in a word, and then the odd sketch, where
    there are `throws`.

    With `rabin` the shingles are Rabin's, with `feature_push` the features are. Rabin's shingles are mixed on their
    way to the permutations: a bijection, so equal minima mean what they meant.
    """
    ascii, page, entry, pool = tables
    longest = 0
    documents = offsets.shape[0] - 1
    for i in range(documents):
        longest = max(longest, offsets[i + 1] - offsets[i])
    token = np.empty(longest + 2, np.uint64)
    fingerprint = np.empty(longest + 2, np.uint64)
    smallest = np.empty(multiply.shape[0], np.uint32)
    spare = np.empty(multiply.shape[0], np.uint32)
    least = np.empty(bins, np.uint32)
    dropped = np.uint64(64 - bits)
    before = multiply.shape[0] - samples.shape[1]
    form = np.empty(offsets[documents] - offsets[0] + 128 * documents + AFTER, np.uint8)
    at: Any = 0
    for i in range(documents):
        n: Any = 0
        end: Any = at
        while True:
            n, end = tokenize(
                data, offsets[i], offsets[i + 1], kind, seed, ascii, page, entry, pool, token, rabin, form, at
            )
            if n == -2:
                token = np.empty(2 * token.shape[0], np.uint64)
                fingerprint = np.empty(token.shape[0], np.uint64)
            elif n == -3 or end + AFTER > form.shape[0]:
                form = _larger(form, at)
            else:
                break
        spans[i, 0] = spans[i, 1] = at
        if n <= 0:
            status[i] = INVALID if n < 0 else EMPTY
            tokens[i] = 0
            continue
        status[i] = SHORT if n < w else FINE
        tokens[i] = n
        spans[i, 1] = end
        at = _padded(form, end)
        m = shingle(token, n, w, fingerprint, rabin)
        if repeats:
            number_repeats(fingerprint, m, token)
        if rabin is not None:
            _mix_all(fingerprint, m)
        if once:
            minima_in_bins(fingerprint, m, multiply, add, smallest, spare)
        else:
            minima(fingerprint, m, multiply, add, smallest)
        if feature_push is None:
            features(smallest, k, s, seed, keys[i])
        else:
            features_rabin(smallest, k, s, feature_push, keys[i])
        for p in range(samples.shape[1]):
            samples[i, p] = np.uint8((np.uint64(smallest[before + p]) * _P) >> dropped)
        for p in range(0, rare, 2):
            two = np.uint64(smallest[k * s + p]) | np.uint64(smallest[k * s + p + 1]) << _S32
            keys[i, k + p // 2] = two
        if throws.shape[0] > 0:
            odd_sketch(fingerprint, m, throws, bins, least, keys[i, k + rare // 2 :])
    return form


@njit(nogil=True, cache=True)
def shingle_sets(
    data: Any,
    offsets: Any,
    chosen: Any,
    kind: int,
    w: int,
    repeats: bool,
    seed: Any,
    tables: tuple[Any, Any, Any, Any],
    rabin: Any,
    sizes: Any,
    out: Any,
) -> int:
    """Write the sorted shingle sets of the chosen documents one behind the other to `out`; their total size, or -1
    where `out` is too small."""
    ascii, page, entry, pool = tables
    longest = 0
    for c in range(chosen.shape[0]):
        longest = max(longest, offsets[chosen[c] + 1] - offsets[chosen[c]])
    token = np.empty(longest + 2, np.uint64)
    total = 0
    for c in range(chosen.shape[0]):
        i = chosen[c]
        n, _ = tokenize(data, offsets[i], offsets[i + 1], kind, seed, ascii, page, entry, pool, token, rabin)
        while n == -2:
            token = np.empty(2 * token.shape[0], np.uint64)
            n, _ = tokenize(data, offsets[i], offsets[i + 1], kind, seed, ascii, page, entry, pool, token, rabin)
        if total + n > out.shape[0]:
            return -1
        m = shingle(token, max(n, 0), w, out[total:], rabin)
        if repeats:
            number_repeats(out[total:], m, token)
        m = sort_distinct(out[total:], m, token)
        sizes[c] = m
        total += m
    return total


@njit(nogil=True, cache=True)
def fingerprint_documents(
    data: Any,
    offsets: Any,
    kind: int,
    w: int,
    repeats: bool,
    seed: Any,
    tables: tuple[Any, Any, Any, Any],
    rabin: Any,
    status: Any,
    tokens: Any,
    spans: Any,
    ends: Any,
    out: Any,
) -> tuple[Any, Any]:
    """Write the shingle fingerprints of each document of a batch to `out`, in order of occurrence, one document behind
    the other; their total, or -1 where `out` is too small, and the canonical sequences. Those of document i end at
    ends[i].

    With w = 1 they are the tokens' hashes themselves, without the step from a token to a shingle: of the mixing hash
    where `rabin` is None, else Rabin's. With `repeats` the k-th occurrence is an element of its own, as in
    `sketch_documents`, and the order is another. `status`, `tokens`, `spans` and the sequences are those of
    `sketch_documents`.
    """
    ascii, page, entry, pool = tables
    longest = 0
    documents = offsets.shape[0] - 1
    for i in range(documents):
        longest = max(longest, offsets[i + 1] - offsets[i])
    token = np.empty(longest + 2, np.uint64)
    form = np.empty(offsets[documents] - offsets[0] + 128 * documents + AFTER, np.uint8)
    at: Any = 0
    total = 0
    for i in range(documents):
        n: Any = 0
        end: Any = at
        while True:
            n, end = tokenize(
                data, offsets[i], offsets[i + 1], kind, seed, ascii, page, entry, pool, token, rabin, form, at
            )
            if n == -2:
                token = np.empty(2 * token.shape[0], np.uint64)
            elif n == -3 or end + AFTER > form.shape[0]:
                form = _larger(form, at)
            else:
                break
        spans[i, 0] = spans[i, 1] = at
        ends[i] = total
        if n <= 0:
            status[i] = INVALID if n < 0 else EMPTY
            tokens[i] = 0
            continue
        status[i] = SHORT if n < w else FINE
        tokens[i] = n
        m = max(n - w + 1, 1)
        if total + m > out.shape[0]:
            return -1, form
        if w == 1:
            out[total : total + n] = token[:n]
        else:
            shingle(token, n, w, out[total:], rabin)
        spans[i, 1] = end
        at = _padded(form, end)
        if repeats:
            number_repeats(out[total:], m, token)
        total += m
        ends[i] = total
    return total, form


def ascii_table() -> NDArray[np.uint8]:
    """The folded byte of a letter or digit, 0 for what separates tokens, 255 for the bytes of longer sequences."""
    table = np.zeros(256, np.uint8)
    table[128:] = _NON_ASCII
    for code in range(128):
        if chr(code).isalnum():
            table[code] = ord(chr(code).lower())
    return table
