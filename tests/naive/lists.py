"""Pugh's lists of words and his edits, from their definitions: Python's lists, Counter, integers."""

from collections import Counter
from collections.abc import Iterable, Sequence
from math import comb

from tests.naive.sampling import M1, MASK, P, mix

M3 = 0xD6E8FEB86659FD93


def key(seed: int, q: int) -> tuple[int, int]:
    add = mix((mix((seed + 1) * P & MASK) + q * P) & MASK)
    return add, mix(add ^ M1) | 1


def lists_of(words: Sequence[int], lists: int, q: int, seed: int) -> list[list[int]]:
    """Every occurrence is appended to the list that its hash chooses; what is appended is the word's mixed hash."""
    add, times = key(seed, q)
    made: list[list[int]] = [[] for _ in range(lists)]
    for word in words:
        h = mix((word + add) * times & MASK)
        made[(h >> 32) * lists >> 32].append((h ^ h >> 29) * M3 & MASK)
    return made


def tag(q: int, number: int) -> int:
    return mix((q << 32 | number) + P & MASK)


def fingerprint(content: Sequence[int], q: int, number: int, *, ordered: bool) -> int:
    if not content:
        return 0
    state = tag(q, number)
    for value in content:
        if ordered:
            state = (state ^ value) * P & MASK
            state ^= state >> 32
        else:
            state = state + value & MASK
    return max(mix(state), 1)


def list_fingerprints(words: Sequence[int], lists: int, repetitions: int, *, ordered: bool, seed: int) -> list[int]:
    return [
        fingerprint(content, q, number, ordered=ordered)
        for q in range(repetitions)
        for number, content in enumerate(lists_of(words, lists, q, seed))
    ]


def edits(a: Iterable[int], b: Iterable[int]) -> int:
    first, second = Counter(a), Counter(b)
    return sum(first[word] != second[word] for word in first.keys() | second.keys())


def all_changed(n: int, e: int) -> float:
    """The probability that e edits, each changing one of n fingerprints at random, leave none as it was (occupancy)."""
    return sum((-1.0) ** j * comb(n, j) * (1 - j / n) ** e for j in range(n + 1))
