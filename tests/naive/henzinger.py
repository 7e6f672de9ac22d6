"""Henzinger's and Jain's tables from their definitions: pairs as dicts, loops, nothing shared with the package."""

from collections import Counter
from fractions import Fraction
from typing import Any

Pair = dict[str, Any]
"""first, second, b, c, in_b, in_c, site, verdict, difference, identical, kind."""


def distinct(documents: int, pairs: list[Pair]) -> tuple[int, list[Pair]]:
    """One document of those with the same tokens: the one with the lowest number (section 3)."""
    gone = {max(p["first"], p["second"]) for p in pairs if p["identical"]}
    return documents - len(gone), [p for p in pairs if p["first"] not in gone and p["second"] not in gone]


def degrees(pairs: list[Pair]) -> dict[int, int]:
    """How many nodes of the graph have how many edges."""
    degree: Counter[int] = Counter()
    for pair in pairs:
        degree[pair["first"]] += 1
        degree[pair["second"]] += 1
    return dict(sorted(Counter(degree.values()).items()))


def shares(pairs: list[Pair]) -> dict[int, Fraction]:
    """Of the judged pairs, the share of each verdict."""
    judged = [p["verdict"] for p in pairs if p["verdict"] != 2]
    return {v: Fraction(judged.count(v), len(judged)) for v in (1, -1, 0)} if judged else {}


def average(numbers: list[int]) -> Fraction:
    return Fraction(sum(numbers), len(numbers))


def below_which_nine_in_ten(numbers: list[int]) -> int:
    """The least x so that 90 % are less than x."""
    x = 0
    while 10 * sum(n < x for n in numbers) < 9 * len(numbers):
        x += 1
    return x


def combined(pairs: list[Pair], threshold: int) -> tuple[Fraction | None, Fraction | None]:
    """Precision and R of the combined algorithm on judged B-similar pairs (section 3.5)."""
    judged = [p for p in pairs if p["in_b"] and p["verdict"] != 2]
    returned = [p for p in judged if p["c"] >= threshold]
    right = sum(p["verdict"] == 1 for p in returned)
    of_b = sum(p["verdict"] == 1 for p in judged)
    return (
        Fraction(right, len(returned)) if returned else None,
        Fraction(right, of_b) if of_b else None,
    )


def clusters(documents: list[int], pairs: list[tuple[int, int]]) -> list[set[int]]:
    """Documents that hang together, merged pair by pair (Jain, Dahlin, Tewari, section 3.2)."""
    sets = [{d} for d in documents]
    for one, other in pairs:
        holds = [s for s in sets if one in s or other in s]
        if len(holds) == 2:
            sets = [s for s in sets if s not in holds] + [holds[0] | holds[1]]
    return sets


def effective(groups: list[tuple[int, int]]) -> Fraction:
    """How many independent pairs are worth as much as these (hits, pairs) per component."""
    n = sum(size for _, size in groups)
    p = Fraction(sum(hits for hits, _ in groups), n)
    if p in (0, 1) or len(groups) == 1:
        return Fraction(len(groups))
    squares = sum((hits - p * size) ** 2 for hits, size in groups)
    variance = Fraction(len(groups), len(groups) - 1) * squares / n**2
    binomial = p * (1 - p) / n
    return Fraction(n) / min(max(variance / binomial, Fraction(1)), Fraction(n))
