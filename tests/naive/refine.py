"""Signatures of search results, what two of them show, and groups, from their definitions: Python's strings, sets,
logarithms. The settings are the package's own; nothing else is."""

from dataclasses import dataclass
from math import floor, log, sqrt

import numpy as np

from neardup.comparing.tokens import tokens_of
from neardup.rabin import choose_polynomial
from neardup.refine.signature import BITS, CHUNKS, FORMAT, HASHES, MOST, SETTINGS
from neardup.sketches.bloom import MARKER
from tests.naive import chunks
from tests.naive.text import identity, mix, words

SEED = int(np.random.Generator(np.random.PCG64(CHUNKS.seed)).integers(0, 2**63))
POLYNOMIAL = choose_polynomial(64, CHUNKS.seed)


def elements(text: str) -> list[int]:
    """All chunks of the canonical form, copies numbered, the smallest first. A text without words has none."""
    if not words(text):
        return []
    data = chunks.canonical(text).encode()
    bits = CHUNKS.chunk.bit_length() - 1
    ends = chunks.cuts(
        data, POLYNOMIAL, window=CHUNKS.window, bits=bits, marker=MARKER % CHUNKS.chunk, longest=CHUNKS.longest
    )
    return chunks.elements(data, ends, SEED)


def positions(element: int) -> set[int]:
    h = mix(element)
    x, y = h % 2**32, h >> 32 | 1
    return {(x + j * y) % 2**32 * BITS >> 32 for j in range(HASHES)}


@dataclass(frozen=True)
class Seen:
    """What a signature tells."""

    n: int
    identity: int
    bits: frozenset[int]

    @property
    def kept(self) -> int:
        return min(self.n, MOST)


def seen(text: str) -> Seen:
    found = elements(text)
    if not found:
        return Seen(0, 0, frozenset())
    first, _ = identity(list(words(text)))
    return Seen(len(found), first, frozenset(p for element in found[:MOST] for p in positions(element)))


def signature(text: str) -> bytes:
    """256 bytes."""
    told = seen(text)
    filled = sum(1 << bit for bit in told.bits)
    head = bytes([FORMAT]) + SETTINGS + told.n.to_bytes(4, "little") + told.identity.to_bytes(8, "little")
    return head + filled.to_bytes(BITS // 8, "little")


def read(row: bytes) -> Seen:
    """What 256 bytes tell."""
    filled = int.from_bytes(row[16:], "little")
    bits = frozenset(bit for bit in range(BITS) if filled >> bit & 1)
    return Seen(int.from_bytes(row[4:8], "little"), int.from_bytes(row[8:16], "little"), bits)


def stands_for(bits: int) -> float:
    """How many elements a filter with so many bits has."""
    return log(1 - min(bits, BITS - 0.5) / BITS) / (HASHES * log(1 - 1 / BITS))


def score(a: Seen, b: Seen) -> tuple[float, float | None]:
    """Match, and the containment of the shorter one where it can be told."""
    if not a.n or not b.n:
        return 0.0, None
    if a.identity == b.identity:
        return 1.0, 1.0
    longer, shorter = (a, b) if a.n >= b.n else (b, a)
    ratio = shorter.n / longer.n
    if shorter.n < 3:
        match = 0.0
    else:
        common = stands_for(len(a.bits)) + stands_for(len(b.bits)) - stands_for(len(a.bits | b.bits))
        share = max(0.0, common / stands_for(len(longer.bits)))
        match = min(floor(longer.kept * share + 0.5) / longer.kept, ratio)
    visible = longer.kept * ratio
    full_a, full_b = len(a.bits) / BITS, len(b.bits) / BITS
    noise = sqrt(len(a.bits) * len(b.bits) / ((BITS - 1) * (1 - full_a) * (1 - full_b))) / HASHES
    told = visible >= 16 and noise <= 0.1 * visible
    return match, match / ratio if told else None


def relation(result: Seen, anchor: Seen, threshold: float, contained: bool) -> str | None:
    """None: they are not similar."""
    match, containment = score(result, anchor)
    if not result.n or not anchor.n:
        return None
    if result.identity == anchor.identity:
        return "identical"
    if match >= threshold:
        return "near"
    if contained and containment is not None and containment >= max(0.9, threshold):
        return "contained" if result.n < anchor.n else "contains"
    return None


def group(results: list[Seen], threshold: float, contained: bool = True) -> list[tuple[int, str | None]]:
    """Of every result its anchor, itself where it begins a group, and the relation to it."""
    anchors: list[int] = []
    found: list[tuple[int, str | None]] = []
    for place, result in enumerate(results):
        similar = []
        for anchor in anchors:
            what = relation(result, results[anchor], threshold, contained)
            if what is not None:
                match = score(result, results[anchor])[0]
                similar.append((what != "identical", -match, anchor, what))
        if similar:
            _, _, anchor, what = min(similar)
            found.append((anchor, what))
        else:
            anchors.append(place)
            found.append((place, None))
    return found


def passages(text: str, query: str, around: int = 40, most: int = 64) -> str:
    """A term of the query is a run of its words without anything between; what stands around the terms, a line each."""
    asked = tokens_of(query)
    hashes = asked.hashes.tolist()[:most]
    starts, ends = (places.tolist() for places in asked.places)
    terms: list[list[int]] = []
    for i, h in enumerate(hashes):
        if i and starts[i] <= ends[i - 1]:
            terms[-1].append(h)
        else:
            terms.append([h])
    found = tokens_of(text)
    mine = found.hashes.tolist()
    covered: set[int] = set()
    for term in terms:
        for i in range(len(mine) - len(term) + 1):
            if mine[i : i + len(term)] == term:
                covered |= set(range(max(0, i - around), min(len(mine), i + len(term) + around)))
    if not covered or len(covered) == len(mine):
        return found.text
    lines = []
    for i in sorted(covered):
        if i - 1 not in covered:
            end = i
            while end + 1 in covered:
                end += 1
            begin = 0 if i == 0 else int(found.places[0][i])
            stop = len(found.text) if end == len(mine) - 1 else int(found.places[1][end])
            lines.append(found.text[begin:stop])
    return "\n".join(lines)
