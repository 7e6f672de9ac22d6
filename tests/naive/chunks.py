"""Canonical form, content-defined chunks and Bloom filters from their definitions, on Python's own strings, sets and
integers. Jain, Dahlin, Tewari, sections 2 and 3.1."""

import re

import unicodedata2 as ud

from tests.naive.text import LINE, M1, M2, M3, MASK, P, folded, mix

TOP = 1 << 63
WHITE = "\t\n\v\f\r \u0085\u1680\u2028\u2029"  # the rest of Unicode's White_Space folds to U+0020
BREAKS = "\n\v\f\r\u0085\u2028\u2029"
DASHES = "-\u2010\u2011\u2012\u2013\u2014\u2015"
QUOTES = "'\"\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u00ab\u00bb\u2039\u203a"
BULLETS = "*•‣⁃∙·‧・■□▪▫▶►○●◦"

NUMBER = re.compile("[0-9]{1,3}")
ROMAN = re.compile("(?!$)x{0,3}(ix|iv|v?i{0,3})")


def is_part(part: str) -> bool:
    letter = len(part) == 1 and (part.islower() if part.isascii() else ud.category(part)[0] in "LN")
    return bool(NUMBER.fullmatch(part)) or letter or bool(ROMAN.fullmatch(part))


def is_numbering(word: str) -> bool:
    """One part must be closed; several need a number, and a letter as well where they are not closed."""
    if word[0] + word[-1] in ("()", "[]"):
        body, closed = word[1:-1], True
    else:
        body = word.removesuffix(")").removesuffix(".")
        closed = body != word
    parts = body.split(".")
    if not all(map(is_part, parts)):
        return False
    if len(parts) == 1:
        return closed
    numbers = sum(bool(NUMBER.fullmatch(p)) for p in parts)
    return numbers > 0 and (closed or numbers < len(parts))


def canonical(text: str) -> str:
    text = folded(text).replace(":", "")
    text = "".join(" " if c in DASHES + QUOTES else c for c in text)
    lines = re.split(f"[{BREAKS}]", text)
    words = []
    for line in lines:
        while True:
            line = line.strip(WHITE).lstrip(BULLETS + WHITE)
            first = re.split(f"[{WHITE}]", line)[0]
            if not first or not is_numbering(first):
                break
            line = line[len(first) :]
        words += [w for w in re.split(f"[{WHITE}]+", line) if w]
    return " ".join(words)


# --- Rabin fingerprints, bit by bit: the bytes are a polynomial over GF(2), the fingerprint is its remainder ---


def remainder(polynomial: int, data: bytes) -> int:
    degree = polynomial.bit_length() - 1
    value = int.from_bytes(data)
    while value.bit_length() > degree:
        value ^= polynomial << (value.bit_length() - polynomial.bit_length())
    return value


def cuts(data: bytes, polynomial: int, *, window: int, bits: int, marker: int, longest: int) -> list[int]:
    """Where chunks end."""
    ends = []
    begin = 0
    for end in range(1, len(data) + 1):
        low = (1 << bits) - 1
        found = end >= window and remainder(polynomial, data[end - window : end]) & low == marker & low
        if found or end - begin == longest or end == len(data):
            ends.append(end)
            begin = end
    return ends


def words_of(data: bytes) -> list[int]:
    return [int.from_bytes(data[i : i + 8], "little") for i in range(0, len(data), 8)]


def full_hash(data: bytes, seed: int) -> int:
    h = (seed + len(data) * P) & MASK
    for word in words_of(data):
        h = mix(h ^ word)
    return h


def chunk_hash(data: bytes, seed: int) -> int:
    return full_hash(data, seed) & ~TOP


def elements(data: bytes, ends: list[int], seed: int) -> list[int]:
    """The r-th copy of a chunk is an element of its own."""
    seen: dict[int, int] = {}
    found = []
    for begin, end in zip([0, *ends], ends, strict=False):
        h = chunk_hash(data[begin:end], seed)
        seen[h] = seen.get(h, 0) + 1
        found.append(h if seen[h] == 1 else mix((h + seen[h] * P) & MASK) & ~TOP)
    return sorted(found)


def identity(data: bytes, seed: int) -> tuple[int, int]:
    a, b = seed ^ M1, seed ^ M2
    for word in words_of(data):
        t = word * P & MASK
        t ^= t >> 32
        a ^= t
        a = ((a << 27 | a >> 37) & MASK) * M3 + LINE & MASK
        b = (b + t) & MASK
        b = (b ^ b >> 31) * M1 & MASK
    return mix(a ^ len(data)), mix((b + len(data) * P) & MASK)


def line_hashes(data: bytes, seed: int) -> list[int]:
    lines = (line.strip(b" \t\n\v\f\r") for line in re.split(rb"[\n\r]", data))
    return sorted({full_hash(line, seed) | TOP for line in lines if line})


# --- Bloom filters as sets of positions ---


def positions(element: int, m: int, k: int) -> set[int]:
    h = mix(element)
    x, y = h % 2**32, h >> 32 | 1
    return {(x + j * y) % m for j in range(k)}


def bloom(found: list[int], m: int, k: int) -> set[int]:
    return {p for element in found for p in positions(element, m, k)}


def shared(a: set[int], b: set[int], m_a: int, m_b: int) -> tuple[int, int, int]:
    m = min(m_a, m_b)
    a, b = {p % m for p in a}, {p % m for p in b}
    return len(a), len(b), len(a & b)


def group(filters: list[tuple[set[int], int]], threshold: float) -> list[int]:
    """The first member of each filter's connected component."""
    label = list(range(len(filters)))
    changed = True
    while changed:
        changed = False
        for i, (a, m_a) in enumerate(filters):
            for j, (b, m_b) in enumerate(filters):
                in_a, in_b, both = shared(a, b, m_a, m_b)
                if max(in_a, in_b) and both / max(in_a, in_b) >= threshold and label[i] != label[j]:
                    label[i] = label[j] = min(label[i], label[j])
                    changed = True
    return label
