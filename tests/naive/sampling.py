"""Samples of one permutation, from their definitions: sets, sorted(), integers; and the tables of the slides.

Radinsky, "Duplicate detection" (slides): sketch options 1 and 2, min-hashing of columns, one slot per hash function.
"""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

MASK = 2**64 - 1
P = 0x9E3779B97F4A7C15
M1 = 0xFF51AFD7ED558CCD
M2 = 0xC4CEB9FE1A85EC53


def mix(h: int) -> int:
    h ^= h >> 33
    h = h * M1 & MASK
    h ^= h >> 33
    h = h * M2 & MASK
    return h ^ h >> 33


def permute(x: int, seed: int) -> int:
    add = mix((seed + 1) * P & MASK)
    times = mix(add ^ P) | 1
    return mix((x + add) * times & MASK)


def unpermute(y: int, seed: int) -> int:
    """The inverse, step by step: that there is one is the proof that `permute` is a permutation."""
    add = mix((seed + 1) * P & MASK)
    times = mix(add ^ P) | 1
    y ^= y >> 33
    y = y * pow(M2, -1, 2**64) & MASK
    y ^= y >> 33
    y = y * pow(M1, -1, 2**64) & MASK
    y ^= y >> 33
    return (y * pow(times, -1, 2**64) - add) & MASK


def bottom(fingerprints: Iterable[int], m: int, seed: int) -> list[int]:
    """F_m(d): the m smallest images. The image 2^64 - 1 stands for "none" and is left out."""
    return sorted({permute(x, seed) for x in fingerprints} - {MASK})[:m]


def mod(fingerprints: Iterable[int], n: int, seed: int) -> list[int]:
    """V_n(d): the images that are 0 mod n."""
    return sorted({y for y in (permute(x, seed) for x in fingerprints) if y % n == 0})


def ratio(part: set[int], whole: set[int]) -> Fraction:
    return Fraction(len(part), len(whole)) if whole else Fraction(0)


def bottom_resemblance(a: Iterable[int], b: Iterable[int], m: int) -> Fraction:
    first, second = set(sorted(a)[:m]), set(sorted(b)[:m])
    smallest = set(sorted(first | second)[:m])
    return ratio(smallest & first & second, smallest)


def mod_resemblance(a: Iterable[int], b: Iterable[int]) -> Fraction:
    return ratio(set(a) & set(b), set(a) | set(b))


def mod_containment(a: Iterable[int], b: Iterable[int]) -> Fraction:
    return ratio(set(a) & set(b), set(a))


def first_row(column: set[int], permutation: Sequence[int]) -> int:
    """The min-hash of a column: the first of its rows in the permutation's order."""
    return next(row for row in permutation if row in column)


def agreement(a: Sequence[int], b: Sequence[int]) -> Fraction:
    """The fraction of permutations under which two signatures agree."""
    return Fraction(sum(x == y for x, y in zip(a, b, strict=True)), len(a))


def slots(
    columns: Sequence[set[int]], rows: Iterable[int], hashes: Sequence[Callable[[int], int]]
) -> list[list[list[int | None]]]:
    """One pass over the rows: after every row, the slot of each column and hash function; None is infinity."""
    now: list[list[int | None]] = [[None for _ in hashes] for _ in columns]
    history = []
    for row in rows:
        for slot, column in zip(now, columns, strict=True):
            if row in column:
                for k, h in enumerate(hashes):
                    held = slot[k]
                    if held is None or h(row) < held:
                        slot[k] = h(row)
        history.append([list(slot) for slot in now])
    return history
