"""From the UTF-8 bytes of a document to the hashes of its content-defined chunks, which Bloom filters are filled with.

Jain, Dahlin, Tewari, "Using Bloom Filters to Refine Web Search Results", sections 2.2 and 3.1. Everything on the way
stands in this one file, because numba's cache does not notice an edit in another module.

    canonical        bytes → the canonical form of section 3.1, as bytes
    cut              bytes → where its content-defined chunks end (section 2.2)
    chunk_hash       a chunk → 63 bits
    chunk_bytes      bytes → the sorted set of its chunks, copies numbered
    chunk_documents  canonical form, identity and chunks of every document of a batch
    hash_lines       the links of every document of a batch, one a line, as elements of the same kind

A batch is Arrow's own layout: `data` holds the bytes, document i is data[offsets[i]:offsets[i + 1]].

The canonical form. Code points are folded first, by the tables of kernels/text.py: compatibility decomposition, full
case folding, ignorable ones dropped, marks in canonical order. (The paper says lower case; for ASCII it is the same.)
Then:
    1. A colon is dropped. A dash (-, U+2010 to U+2015) or a quote (', ", U+2018 to U+201F, « » ‹ ›) becomes a space.
    2. White space is Unicode's White_Space. LF, VT, FF, CR, U+0085, U+2028 and U+2029 end a line.
    3. At the start of a line, as often as there is one: white space, the bullets * • ‣ ⁃ ∙ · ‧ ・ ■ □ ▪ ▫ ▶ ► ○ ● ◦
       with or without a space behind, and a numbering that white space or the end of the line follows, are removed.
    4. White space is collapsed to one space, and none stands at the ends.
A numbering is one or more parts with a dot between them: a number of one to three digits, a letter, or a Roman
numeral from i to xxxix. It is closed by ".", ")" or ".)", or stands in "( )" or "[ ]". Several parts need a number
among them ("e.g." and "a.m." are none). Not closed, it needs a number and a letter ("a.1"). So "1.", "(b)", "ii)",
"a.1" and "2.3.1." go, and "2004 was a year", "2004.", "3.14 is pi" and "i.e." stay. An initial ("A. Smith") at the
start of a line goes too: no rule can tell it from a numbering. A letter is one code point after folding, so the
Korean "가." (two) is none.

What is proven and what is measured: the chunk hash takes the place of SHA-1. It is 63 bits of a mixing hash, not of
a universal family and not cryptographic. Where it behaves like a random function, two different chunks agree with
probability 2^-63 (SHA-1: 2^-160), and among N different chunks some two agree with probability about N^2 / 2^64: 5 %
for a billion chunks. A collision gives two documents one chunk in common that is none. The top bit says what an
element is: 0 a chunk, 1 a link.
"""

from typing import Any

import numpy as np
from numba import njit

FINE, SHORT, EMPTY, INVALID, SKIPPED = 0, 1, 2, 3, 4
"""What became of a document, as in kernels/text.py. SHORT is not used here: a short document is one chunk."""

_MARK = 3  # the class of combining marks in the tables
_MARKS = 32  # canonical ordering looks at no more marks at once (Unicode's stream-safe text allows 30)
_IOTA_SUBSCRIPT, _IOTA = np.uint32(0x345), np.uint32(0x3B9)  # a mark that folds to a letter (kernels/text.py)

_P = np.uint64(0x9E3779B97F4A7C15)
_M1 = np.uint64(0xFF51AFD7ED558CCD)
_M2 = np.uint64(0xC4CEB9FE1A85EC53)
_M3 = np.uint64(0xD6E8FEB86659FD93)
_LINE = np.uint64(0x2545F4914F6CDD1D)
_S8, _S27, _S31, _S32, _S33 = np.uint64(8), np.uint64(27), np.uint64(31), np.uint64(32), np.uint64(33)
_S37, _S56 = np.uint64(37), np.uint64(56)
_ZERO, _ONE = np.uint64(0), np.uint64(1)
_LOW8, _LOW32 = np.uint64(0xFF), np.uint64(0xFFFFFFFF)
_TOP = np.uint64(1 << 63)
_U6, _U12, _U18 = np.uint32(6), np.uint32(12), np.uint32(18)
_X3F = np.uint32(0x3F)

_SPACE, _DOT = np.uint8(32), 46
_PLAIN, _BLANK, _BREAK, _DROPPED, _BULLET = 0, 1, 2, 3, 4  # what becomes of a code point

_GONE, _STOP = np.uint8(128), np.uint8(129)


def _actions() -> Any:
    """For the fast path: the byte that is written, _GONE for a colon, _STOP for what the slow path has to see."""
    table = np.arange(256, dtype=np.uint8)
    table[128:] = _STOP
    table[65:91] += np.uint8(32)
    table[[10, 11, 12, 13]] = _STOP
    table[[9, ord("-"), ord("'"), ord('"')]] = _SPACE
    table[ord(":")] = _GONE
    return table


_ACTIONS = _actions()


@njit(nogil=True, cache=True, inline="always")
def _mix(h: Any) -> Any:
    h ^= h >> _S33
    h *= _M1
    h ^= h >> _S33
    h *= _M2
    return h ^ (h >> _S33)


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
def _put(out: Any, n: int, code: Any) -> int:
    """Write a code point as UTF-8 at out[n]; the place behind it. The caller has seen to four bytes of room."""
    if code < 0x80:
        out[n] = np.uint8(code)
        return n + 1
    last = np.uint8(0x80 | (code & _X3F))
    if code < 0x800:
        out[n] = np.uint8(0xC0 | (code >> _U6))
        out[n + 1] = last
        return n + 2
    if code < 0x10000:
        out[n] = np.uint8(0xE0 | (code >> _U12))
        out[n + 1] = np.uint8(0x80 | ((code >> _U6) & _X3F))
        out[n + 2] = last
        return n + 3
    out[n] = np.uint8(0xF0 | (code >> _U18))
    out[n + 1] = np.uint8(0x80 | ((code >> _U12) & _X3F))
    out[n + 2] = np.uint8(0x80 | ((code >> _U6) & _X3F))
    out[n + 3] = last
    return n + 4


@njit(nogil=True, cache=True)
def _kind(code: Any) -> int:
    """What rules 1 to 3 make of a folded code point. White space that folds to U+0020 need not be named."""
    if code < 0x80:
        if code == 0x20 or code == 0x09 or code == 0x2D or code == 0x27 or code == 0x22:
            return _BLANK
        if code >= 0x0A and code <= 0x0D:
            return _BREAK
        if code == 0x3A:
            return _DROPPED
        return _BULLET if code == 0x2A else _PLAIN
    if code < 0x2000:
        if code == 0xAB or code == 0xBB or code == 0x1680:
            return _BLANK
        if code == 0x85:
            return _BREAK
        return _BULLET if code == 0xB7 else _PLAIN
    if code > 0x30FB:
        return _PLAIN
    if (code >= 0x2010 and code <= 0x2015) or (code >= 0x2018 and code <= 0x201F) or code == 0x2039 or code == 0x203A:
        return _BLANK
    if code == 0x2028 or code == 0x2029:
        return _BREAK
    if code == 0x2022 or code == 0x2023 or code == 0x2027 or code == 0x2043 or code == 0x2219 or code == 0x30FB:
        return _BULLET
    if code == 0x25A0 or code == 0x25A1 or code == 0x25AA or code == 0x25AB or code == 0x25B6 or code == 0x25BA:
        return _BULLET
    if code == 0x25CB or code == 0x25CF or code == 0x25E6:
        return _BULLET
    return _PLAIN


@njit(nogil=True, cache=True)
def _roman(text: Any, at: int, end: int) -> bool:
    """x{0,3} (ix | iv | v? i{0,3}), not empty: 1 to 39, which spell no word of a usual language but themselves."""
    if at == end:
        return False
    i = at
    while i < end and i < at + 3 and text[i] == 120:
        i += 1
    if end - i == 2 and text[i] == 105 and (text[i + 1] == 120 or text[i + 1] == 118):
        return True
    if i < end and text[i] == 118:
        i += 1
    at = i
    while i < end and i < at + 3 and text[i] == 105:
        i += 1
    return i == end


@njit(nogil=True, cache=True)
def _numbering(text: Any, at: int, end: int, page: Any, entry: Any) -> bool:
    """Whether the folded word text[at:end] is a numbering; the rule stands at the head of this file."""
    if end - at > 64:
        return False
    first, last = text[at], text[end - 1]
    closed = False
    if first == 40 or first == 91:
        if last != (41 if first == 40 else 93):
            return False
        at += 1
        end -= 1
        closed = True
    else:
        if last == 41:
            end -= 1
            closed = True
        if end > at and text[end - 1] == _DOT:
            end -= 1
            closed = True
    parts = numbers = 0
    i = at
    while i < end:
        begin = i
        c = text[i]
        if c >= 48 and c <= 57:
            while i < end and text[i] >= 48 and text[i] <= 57:
                i += 1
            if i - begin > 3:
                return False
            numbers += 1
        elif c >= 97 and c <= 122:
            while i < end and text[i] >= 97 and text[i] <= 122:
                i += 1
            if i - begin > 1 and not _roman(text, begin, i):
                return False
        elif c >= 0x80:
            code, length = _decode(text, i, end)
            e = entry[np.int64(page[code >> np.uint32(8)]) * 256 + np.int64(code & np.uint32(255))]
            cls = e & np.uint32(3)
            if length == 0 or cls == 0 or cls == _MARK:
                return False
            i += length
        else:
            return False
        parts += 1
        if i == end:
            if parts == 1:
                return closed
            return numbers > 0 and (closed or numbers < parts)
        if text[i] != _DOT:
            return False
        i += 1
    return False


@njit(nogil=True, cache=True)
def canonical(data: Any, start: int, stop: int, tables: tuple[Any, Any, Any, Any], out: Any) -> int:
    """Write the canonical form of data[start:stop] to `out`; its length, -1 where the bytes are not UTF-8, -2 where
    `out` is too small: a code point may unfold to a sentence. Twice the bytes and 8 more nearly always suffice."""
    _, page, entry, pool = tables
    room = out.shape[0]
    n = 0
    head, word = True, 0  # at the head of a line; its first word begins at out[word]
    marks = np.empty(_MARKS, np.uint32)
    marks_class = np.empty(_MARKS, np.uint32)
    waiting = 0
    i: Any = start
    while True:
        if not head and waiting == 0:
            # The fast path, without a branch on what a byte is: it is written, and the next one takes its place
            # where it was a colon or a space behind a space.
            if n + (stop - i) > room:
                return -2
            space: Any = np.int64(out[n - 1] == _SPACE)
            while i < stop:
                c = _ACTIONS[data[i]]
                if c == _STOP:
                    break
                i += 1
                out[n] = c
                blank = np.int64(c == _SPACE)
                gone = np.int64(c == _GONE)
                n += (1 - gone) & (1 - (blank & space))
                space = blank | (gone & space)
        end_of_text = i >= stop
        mapped: Any = 1
        mapped_at: Any = 0
        code = np.uint32(10)
        e = np.uint32(0)
        if not end_of_text:
            b = data[i]
            if b >= 128:
                code, length = _decode(data, i, stop)
                if length == 0:
                    return -1
                i += length
                e = entry[np.int64(page[code >> np.uint32(8)]) * 256 + np.int64(code & np.uint32(255))]
                if e >> np.uint32(10) != 0:
                    mapped_at = np.int64(e >> np.uint32(10))
                    mapped = np.int64(pool[mapped_at])
            else:
                code = np.uint32(b)
                if b >= 65 and b <= 90:
                    code += np.uint32(32)
                i += 1
        for m in range(mapped):
            if mapped_at != 0:
                code = pool[mapped_at + 1 + m]
                e = entry[np.int64(page[code >> np.uint32(8)]) * 256 + np.int64(code & np.uint32(255))]
            if n + 4 * (waiting + 1) > room:
                return -2
            ordering = (e >> np.uint32(2)) & np.uint32(255)
            if ordering != 0 and waiting < _MARKS:
                at = waiting
                while at > 0 and marks_class[at - 1] > ordering:
                    marks[at] = marks[at - 1]
                    marks_class[at] = marks_class[at - 1]
                    at -= 1
                marks[at] = code if code != _IOTA_SUBSCRIPT else _IOTA
                marks_class[at] = ordering
                waiting += 1
                continue
            for j in range(waiting):
                n = _put(out, n, marks[j])
            waiting = 0
            if code == _IOTA_SUBSCRIPT:
                code = _IOTA
            kind = _kind(code)
            if kind in (_BLANK, _BREAK):
                if head and n > word:
                    if _numbering(out, word, n, page, entry):
                        n = word
                    else:
                        head = False
                if n > 0 and out[n - 1] != _SPACE:
                    out[n] = _SPACE
                    n += 1
                if kind == _BREAK:
                    head, word = True, n
            elif kind == _PLAIN or (kind == _BULLET and not (head and n == word)):
                n = _put(out, n, code)
        if end_of_text:
            break
    return n - 1 if n > 0 and out[n - 1] == _SPACE else n


@njit(nogil=True, cache=True)
def cut(
    data: Any, start: int, stop: int, push: Any, pop: Any, window: int, bits: int, marker: Any, longest: int, out: Any
) -> int:
    """Write where the chunks of data[start:stop] end, counted from `start`; their number, -1 where `out` is too small.

    A chunk ends behind a byte where the low `bits` bits of the Rabin fingerprint of the last `window` bytes equal the
    marker, or where it is `longest` bytes long, or at the end. The window rolls over the whole text, as in LBFS: it
    does not begin anew with a chunk, and before it is full nothing ends. There is no least length.
    """
    mask = (_ONE << np.uint64(bits)) - _ONE
    target = np.uint64(marker) & mask
    n = 0
    h = _ZERO
    i: Any = start
    begin: Any = start
    while i < stop:
        forced = min(begin + longest, stop)
        found = False
        warm = min(forced, start + window)
        while i < warm:
            h = (h << _S8) ^ np.uint64(data[i]) ^ push[h >> _S56]
            i += 1
        if i == start + window and i - start > 0 and begin < i:
            found = h & mask == target
        while i < forced and not found:
            h = (h << _S8) ^ np.uint64(data[i]) ^ push[h >> _S56] ^ pop[data[i - window]]
            i += 1
            found = h & mask == target
        if n == out.shape[0]:
            return -1
        out[n] = i - start
        n += 1
        begin = i
    return n


@njit(nogil=True, cache=True, inline="always")
def _eight(data: Any, i: int) -> Any:
    """Eight bytes, the first one lowest. LLVM makes one load of it."""
    low = (
        np.uint64(data[i])
        | np.uint64(data[i + 1]) << _S8
        | np.uint64(data[i + 2]) << np.uint64(16)
        | np.uint64(data[i + 3]) << np.uint64(24)
    )
    high = (
        np.uint64(data[i + 4])
        | np.uint64(data[i + 5]) << _S8
        | np.uint64(data[i + 6]) << np.uint64(16)
        | np.uint64(data[i + 7]) << np.uint64(24)
    )
    return low | high << _S32


@njit(nogil=True, cache=True)
def _rest(data: Any, i: int, end: int) -> Any:
    """The last bytes, fewer than eight, filled up with zeros."""
    word, shift = _ZERO, _ZERO
    while i < end:
        word |= np.uint64(data[i]) << shift
        shift += _S8
        i += 1
    return word


@njit(nogil=True, cache=True)
def chunk_hash(data: Any, begin: int, end: int, seed: Any) -> Any:
    """63 bits of data[begin:end]. Every step, h → mix(h ^ word), is a bijection of the word and of h; the length is
    in the start, so zeros that fill up the last word are not those of the text."""
    h = seed + np.uint64(end - begin) * _P
    i = begin
    while i + 8 <= end:
        h = _mix(h ^ _eight(data, i))
        i += 8
    if i < end:
        h = _mix(h ^ _rest(data, i, end))
    return h & ~_TOP


@njit(nogil=True, cache=True)
def identity(data: Any, start: int, stop: int, seed: Any) -> tuple[Any, Any]:
    """128 bits that name the bytes: the construction of kernels/text.py, on mixed words of eight bytes."""
    a = seed ^ _M1
    b = seed ^ _M2
    i = start
    while i < stop:
        t = (_eight(data, i) if i + 8 <= stop else _rest(data, i, stop)) * _P
        t ^= t >> _S32
        a ^= t
        a = ((a << _S27) | (a >> _S37)) * _M3 + _LINE
        b += t
        b = (b ^ (b >> _S31)) * _M1
        i += 8
    length = np.uint64(stop - start)
    return _mix(a ^ length), _mix(b + length * _P)


@njit(nogil=True, cache=True)
def _sort_bytewise(values: Any, n: int) -> None:
    """Sort in linear time whatever the values are: by their lowest byte, then stably by the next, ..."""
    source, target = values[:n], np.empty(n, np.uint64)
    swapped = False
    begin = np.empty(257, np.int64)
    for digit in range(8):
        shift = np.uint64(8 * digit)
        begin[:] = 0
        for i in range(n):
            begin[np.int64((source[i] >> shift) & _LOW8) + 1] += 1
        if begin[np.int64((source[0] >> shift) & _LOW8) + 1] == n:
            continue
        for b in range(256):
            begin[b + 1] += begin[b]
        for i in range(n):
            place = np.int64((source[i] >> shift) & _LOW8)
            target[begin[place]] = source[i]
            begin[place] += 1
        source, target = target, source
        swapped = not swapped
    if swapped:
        values[:n] = source


@njit(nogil=True, cache=True)
def _sort(values: Any, n: int) -> None:
    """By insertion, by comparison, by bytes: each where it is fastest. Text written for it can have a chunk a byte,
    all of them equal."""
    if n > 2048:
        _sort_bytewise(values, n)
        return
    if n > 48:
        values[:n].sort()
        return
    for i in range(1, n):
        v = values[i]
        j = i
        while j > 0 and values[j - 1] > v:
            values[j] = values[j - 1]
            j -= 1
        values[j] = v


@njit(nogil=True, cache=True)
def number_copies(hashes: Any, n: int) -> None:
    """Sort chunk hashes and make every copy of a chunk an element of its own (section 2.3, footnote 4).

    The footnote lets the index of a chunk of multiplicity r run from 1 to ln r. That would leave r - ln r copies
    without a number; here every copy has one, from 1 to r, and copy 1 keeps the hash of the chunk.
    """
    _sort(hashes, n)
    repeated = False
    previous, copy = _ZERO, _ONE
    for i in range(n):
        h = hashes[i]
        copy = copy + _ONE if i > 0 and h == previous else _ONE
        previous = h
        if copy != _ONE:
            hashes[i] = _mix(h + copy * _P) & ~_TOP
            repeated = True
    if repeated:
        _sort(hashes, n)


@njit(nogil=True, cache=True)
def chunk_bytes(
    data: Any,
    start: int,
    stop: int,
    push: Any,
    pop: Any,
    window: int,
    bits: int,
    marker: Any,
    longest: int,
    seed: Any,
    out: Any,
) -> int:
    """Write the sorted elements of data[start:stop] as it is to `out`; their number, -1 where `out` is too small."""
    n = cut(data, start, stop, push, pop, window, bits, marker, longest, out)
    begin: Any = start
    for j in range(n):
        end: Any = start + np.int64(out[j])
        out[j] = chunk_hash(data, begin, end, seed)
        begin = end
    if n > 0:
        number_copies(out, n)
    return n


@njit(nogil=True, cache=True)
def chunk_documents(
    data: Any,
    offsets: Any,
    tables: tuple[Any, Any, Any, Any],
    push: Any,
    pop: Any,
    window: int,
    bits: int,
    marker: Any,
    longest: int,
    seed: Any,
    status: Any,
    sizes: Any,
    identities: Any,
    ends: Any,
    out: Any,
) -> int:
    """Canonical form, chunks and chunk hashes of each document of a batch; the number of hashes, or -1 where `out`
    is too small (a document of b bytes has b chunks at the worst, b / 2^bits on average).

    The hashes of document i end at out[ends[i]] and are sorted. sizes[i] are the bytes of its canonical form and
    identities[i] their 128 bits. A document that is EMPTY or INVALID has size 0, no hashes and no identity.
    """
    most = 0
    documents = offsets.shape[0] - 1
    for i in range(documents):
        most = max(most, offsets[i + 1] - offsets[i])
    form = np.empty(2 * most + 64, np.uint8)
    total = 0
    for i in range(documents):
        n = canonical(data, offsets[i], offsets[i + 1], tables, form)
        while n == -2:
            form = np.empty(2 * form.shape[0], np.uint8)
            n = canonical(data, offsets[i], offsets[i + 1], tables, form)
        status[i] = FINE if n > 0 else (EMPTY if n == 0 else INVALID)
        sizes[i] = max(n, 0)
        identities[i, 0] = identities[i, 1] = _ZERO
        if n > 0:
            identities[i, 0], identities[i, 1] = identity(form, 0, n, seed)
            made = chunk_bytes(form, 0, n, push, pop, window, bits, marker, longest, seed, out[total:])
            if made < 0:
                return -1
            total += made
        ends[i] = total
    return total


@njit(nogil=True, cache=True)
def hash_lines(data: Any, offsets: Any, seed: Any, ends: Any, out: Any) -> int:
    """The links of each document, one a line: a hash of every line, distinct and sorted per document, top bit 1; the
    number of hashes, or -1 where `out` is too small.

    Lines end at LF or CR. ASCII white space at their ends is not part of them, and lines without anything else are
    none. Nothing else is folded: the path of an address knows upper case.
    """
    total = 0
    for i in range(offsets.shape[0] - 1):
        first = total
        begin: Any = offsets[i]
        stop: Any = offsets[i + 1]
        while begin < stop:
            end = begin
            while end < stop and data[end] != 10 and data[end] != 13:
                end += 1
            last = end
            while begin < last and (data[begin] == 32 or (data[begin] >= 9 and data[begin] <= 13)):
                begin += 1
            while begin < last and (data[last - 1] == 32 or (data[last - 1] >= 9 and data[last - 1] <= 13)):
                last -= 1
            if begin < last:
                if total == out.shape[0]:
                    return -1
                out[total] = chunk_hash(data, begin, last, seed) | _TOP
                total += 1
            begin = end + 1
        _sort(out[first:], total - first)
        kept = first
        for j in range(first, total):
            if j == first or out[j] != out[kept - 1]:
                out[kept] = out[j]
                kept += 1
        total = kept
        ends[i] = total
    return total
