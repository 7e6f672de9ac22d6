"""Tokens, shingles and sketches from their definitions, on Python's own strings, sets and integers."""

import unicodedata2 as ud

from scripts.make_unicode_tables import IGNORABLE, UNSPACED, within
from tests.naive.blake3 import blake3

MASK = 2**64 - 1
P = 0x9E3779B97F4A7C15
M1 = 0xFF51AFD7ED558CCD
M2 = 0xC4CEB9FE1A85EC53
M3 = 0xD6E8FEB86659FD93
BASE = 0x5851F42D4C957F2D
LINE = 0x2545F4914F6CDD1D


def folded(text: str) -> str:
    """Compatibility decomposition, case folding, ignorable characters gone, marks in canonical order."""
    text = ud.normalize("NFKD", text)
    for _ in range(3):
        text = text.casefold()
        text = "".join(c for c in text if not within(ord(c), IGNORABLE))
        text = ud.normalize("NFKD", text)
    return text


def words(text: str, *, chars: bool = False) -> list[str]:
    """Maximal runs of letters, digits and marks; single characters with their marks in scripts without spaces."""
    tokens: list[str] = []
    inside = single = False
    for c in folded(text):
        category = ud.category(c)
        if category[0] == "M":
            if inside:
                tokens[-1] += c
            else:
                tokens.append(c)
            inside = True
        elif category[0] in "LN":
            alone = chars or (category not in ("Nd", "No") and within(ord(c), UNSPACED))
            if inside and not single and not alone:
                tokens[-1] += c
            else:
                tokens.append(c)
            inside, single = True, alone
        else:
            inside = single = False
    return tokens


def tokens(text: str, kind: str = "words") -> list[object]:
    if kind == "lines":
        lines = [words(line) for line in text.replace("\r", "\n").split("\n")]
        return [tuple(line) for line in lines if line]
    return list(words(text, chars=kind == "chars"))


def mix(h: int) -> int:
    h ^= h >> 33
    h = h * M1 & MASK
    h ^= h >> 33
    h = h * M2 & MASK
    return h ^ h >> 33


def token_hash(token: object, seed: int) -> int:
    if isinstance(token, tuple):
        h = seed
        for word in token:
            h = (h ^ token_hash(word, seed)) * LINE & MASK
        return mix(h)
    h = seed
    for c in str(token):
        h = (h ^ ord(c)) * P & MASK
    return mix(h)


def shingles(sequence: list, w: int) -> list[tuple]:
    """All runs of w; a shorter sequence is one shingle of its own."""
    if not sequence:
        return []
    if len(sequence) < w:
        return [tuple(sequence)]
    return [tuple(sequence[i : i + w]) for i in range(len(sequence) - w + 1)]


def shingle_hash(shingle: tuple[int, ...], w: int) -> int:
    f = 0
    for t in shingle:
        f = (f * BASE + t) & MASK
    return mix((f + (len(shingle) if len(shingle) < w else 0)) & MASK)


def fingerprints(text: str, *, kind: str = "words", w: int = 5, repeats: bool = False, seed: int = 7) -> list[int]:
    """With repeats, the k-th occurrence (from 0) of a shingle is an element of its own."""
    hashes = [token_hash(t, seed) for t in tokens(text, kind)]
    found = [shingle_hash(s, w) for s in shingles(hashes, w)]
    if not repeats:
        return found
    seen: dict[int, int] = {}
    numbered = []
    for f in found:
        k = seen.get(f, 0)
        seen[f] = k + 1
        numbered.append(mix((f + k * P) & MASK) if k else f)
    return numbered


def identity(sequence: list[object]) -> tuple[int, int]:
    """128 bits of BLAKE3 of all words, a zero behind each, and a line feed behind each line where lines are tokens."""
    form = b""
    for token in sequence:
        line = isinstance(token, tuple)
        form += b"".join(word.encode() + b"\0" for word in (token if line else (str(token),)))
        form += b"\n" if line else b""
    digest = blake3(form)
    return int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:16], "little")


def minima(values: list[int], multiply: list[int], add: list[int]) -> list[int]:
    return [min((a * (x & 0xFFFFFFFF) + b) % 2**32 for x in values) for a, b in zip(multiply, add, strict=True)]


def minima_in_bins(values: list[int], multiply: list[int], add: list[int]) -> list[int]:
    """The upper 32 bits of a value choose one of the bins, the lower 31 are compared in it. Where a bin is empty it
    gets half of the minimum of all values under the permutation with its number, above all that bins can have."""
    bins: list[list[int]] = [[] for _ in multiply]
    for x in values:
        bins[(x >> 32) * len(bins) // 2**32].append(x % 2**31)
    otherwise = minima(values, multiply, add)
    return [min(found) if found else 2**31 + m // 2 for found, m in zip(bins, otherwise, strict=True)]


def features(smallest: list[int], k: int, s: int, seed: int) -> list[int]:
    keys = []
    for g in range(k):
        h = (seed + (g + 1) * P) & MASK
        for m in smallest[g * s : (g + 1) * s]:
            h = (h ^ m) * M3 & MASK
            h ^= h >> 31
        keys.append(mix(h))
    return keys


def samples(smallest: list[int], bits: int = 8) -> list[int]:
    """The highest bits of every minimum, mixed: a number below 2^bits."""
    return [(m * P & MASK) // 2 ** (64 - bits) for m in smallest]


def resemblance(a: str, b: str, *, w: int = 5, kind: str = "words", repeats: bool = False) -> float:
    """|A ∩ B| / |A ∪ B| of the sets of shingles, on tokens rather than on hashes."""

    def elements(text: str) -> set:
        found = shingles(tokens(text, kind), w)
        if not repeats:
            return set(found)
        seen: dict[tuple, int] = {}
        numbered = set()
        for s in found:
            numbered.add((s, seen.get(s, 0)))
            seen[s] = seen.get(s, 0) + 1
        return numbered

    x, y = elements(a), elements(b)
    return len(x & y) / len(x | y) if x | y else 1.0
