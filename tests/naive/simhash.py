"""Algorithm C from its definition (Henzinger, section 2): lists of +1 and -1, their sum, its sign."""

from collections import Counter
from collections.abc import Sequence
from functools import cache

WORD = 2**64


def mix(h: int) -> int:
    h ^= h >> 33
    h = h * 0xFF51AFD7ED558CCD % WORD
    h ^= h >> 33
    h = h * 0xC4CEB9FE1A85EC53 % WORD
    return h ^ (h >> 33)


@cache
def projection(fingerprint: int, bits: int, seed: int) -> list[int]:
    """The b values of a token, the same in all documents."""
    values = []
    for position in range(bits):
        key = mix((seed + (position // 64 + 1) * 0x9E3779B97F4A7C15) % WORD)
        values.append(1 if mix(fingerprint ^ key) >> (position % 64) & 1 else -1)
    return values


def sign(vector: Sequence[int]) -> int:
    """Bit j is 1 where entry j is positive, as one integer."""
    return sum(1 << j for j, entry in enumerate(vector) if entry > 0)


def project(tokens: Sequence[int], bits: int, seed: int) -> int:
    vector = [0] * bits
    for token in tokens:
        vector = [entry + value for entry, value in zip(vector, projection(token, bits, seed), strict=True)]
    return sign(vector)


def log_weight(count: int) -> int:
    """16 + the whole number next to 16 log2(count): the k with 2^(2k - 1) < count^32 < 2^(2k + 1)."""
    return 16 + (count**32).bit_length() // 2


def project_weighted(tokens: Sequence[int], kind: str, bits: int, seed: int) -> int:
    weight = {"count": lambda c: c, "once": lambda c: 1, "log": log_weight}[kind]
    vector = [0] * bits
    for token, count in Counter(tokens).items():
        for j, value in enumerate(projection(token, bits, seed)):
            vector[j] += weight(count) * value
    return sign(vector)


def agreement(a: int, b: int, bits: int) -> int:
    """C-similarity: the number of equal bits."""
    return sum((a >> j) & 1 == (b >> j) & 1 for j in range(bits))


def pairs_within(signatures: Sequence[int], distance: int) -> list[tuple[int, int]]:
    """The dense Hamming join: all pairs i < j whose signatures differ in at most `distance` bits, in order."""
    return [
        (i, j)
        for i in range(len(signatures))
        for j in range(i + 1, len(signatures))
        if (signatures[i] ^ signatures[j]).bit_count() <= distance
    ]
