"""Henzinger's and Jain's tables from their definitions: pairs as dicts, loops, nothing shared with the package."""

from collections import Counter
from fractions import Fraction
from typing import Any

Pair = dict[str, Any]
"""first, second, b, c, in_b, in_c, site, verdict, weight, difference, identical, kind."""


def distinct(documents: int, pairs: list[Pair]) -> tuple[int, list[Pair]]:
    """One document of those with the same tokens: the one with the lowest number (section 3).

    What is said of copies is said of the one that stays: its own label first, then theirs; undecided if they differ.
    """
    same = {d: {d} for p in pairs for d in (p["first"], p["second"])}
    for p in pairs:
        if p["identical"]:
            joined = same[p["first"]] | same[p["second"]]
            for d in joined:
                same[d] = joined
    stays = {d: min(others) for d, others in same.items()}
    left = []
    for p in pairs:
        ends = {p["first"], p["second"]}
        if {stays[d] for d in ends} != ends:
            continue
        said = [q for q in pairs if {stays[q["first"]], stays[q["second"]]} == ends and q["verdict"] != 2]
        said.sort(key=lambda q: {q["first"], q["second"]} != ends)
        moved = {"verdict": said[0]["verdict"], "weight": said[0]["weight"]} if said else {}
        if len({q["verdict"] for q in said}) > 1:
            moved["verdict"] = 0
        left.append({**p, **moved})
    return documents - sum(d != kept for d, kept in stays.items()), left


def degrees(pairs: list[Pair]) -> dict[int, int]:
    """How many nodes of the graph have how many edges."""
    degree: Counter[int] = Counter()
    for pair in pairs:
        degree[pair["first"]] += 1
        degree[pair["second"]] += 1
    return dict(sorted(Counter(degree.values()).items()))


def shares(pairs: list[Pair]) -> dict[int, Fraction]:
    """Of the judged pairs, the share of each verdict, by weight."""
    judged = [p for p in pairs if p["verdict"] != 2]
    total = weight(judged)
    return {v: weight([p for p in judged if p["verdict"] == v]) / total for v in (1, -1, 0)} if judged else {}


def weight(pairs: list[Pair]) -> Fraction:
    return sum((Fraction(p["weight"]) for p in pairs), Fraction(0))


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
    right = weight([p for p in returned if p["verdict"] == 1])
    of_b = weight([p for p in judged if p["verdict"] == 1])
    return (right / weight(returned) if returned else None, right / of_b if of_b else None)


def clusters(documents: list[int], pairs: list[tuple[int, int]]) -> list[set[int]]:
    """Documents that hang together, merged pair by pair (Jain, Dahlin, Tewari, section 3.2)."""
    sets = [{d} for d in documents]
    for one, other in pairs:
        holds = [s for s in sets if one in s or other in s]
        if len(holds) == 2:
            sets = [s for s in sets if s not in holds] + [holds[0] | holds[1]]
    return sets
