"""The measures of an evaluation from their definitions: sets, dictionaries, loops over pairs and documents."""

import unicodedata
from collections import Counter
from itertools import combinations

Pair = frozenset


def counts(found: set, verdicts: dict, *, exhaustive: bool) -> dict[str, int]:
    """Of a recipe's pairs: how many are correct, incorrect, undecided, unknown; and the correct ones it missed."""
    unlisted = "incorrect" if exhaustive else "unknown"
    of = Counter(verdicts.get(pair, unlisted) for pair in found)
    missed = sum(1 for pair, verdict in verdicts.items() if verdict == "correct" and pair not in found)
    return {**{v: of[v] for v in ("correct", "incorrect", "undecided", "unknown")}, "missed": missed}


def precision(c: dict[str, int]) -> float:
    return c["correct"] / (c["correct"] + c["incorrect"])


def recall(c: dict[str, int]) -> float:
    return c["correct"] / (c["correct"] + c["missed"])


def f1(c: dict[str, int]) -> float:
    return 2 / (1 / precision(c) + 1 / recall(c))


def relative(found: set, base: set, verdicts: dict) -> float:
    """R: correct pairs that it returned, by correct pairs that the base returned."""
    right = {pair for pair, verdict in verdicts.items() if verdict == "correct"}
    return len(found & right) / len(base & right)


def components(documents: list, pairs: set) -> dict:
    """For every document the set of those that a chain of pairs connects it with."""
    of = {d: {d} for d in documents}
    for pair in pairs:
        one, other = pair
        joined = of[one] | of[other]
        for d in joined:
            of[d] = joined
    return of


def groups_of(labels: list) -> list[set[int]]:
    return [{i for i, x in enumerate(labels) if x == label} for label in sorted(set(labels))]


def together(labels: list) -> set:
    return {Pair(p) for group in groups_of(labels) for p in combinations(sorted(group), 2)}


def adjusted_rand(found: list, true: list) -> float:
    """Hubert and Arabie: (index - expected index) / (most - expected index)."""
    a, b = together(found), together(true)
    n = len(found)
    expected = len(a) * len(b) / (n * (n - 1) / 2)
    most = (len(a) + len(b)) / 2
    return 1.0 if most == expected else (len(a & b) - expected) / (most - expected)


def exact_sets(found: list, true: list) -> float:
    sets = [g for g in groups_of(true) if len(g) > 1]
    made = groups_of(found)
    return sum(g in made for g in sets) / len(sets)


def bcubed(found: list, true: list) -> tuple[float, float]:
    """Precision and recall, averaged over documents."""
    n = len(found)
    inside = around = 0.0
    for x in range(n):
        ours = {y for y in range(n) if found[y] == found[x]}
        theirs = {y for y in range(n) if true[y] == true[x]}
        inside += len(ours & theirs) / len(ours)
        around += len(ours & theirs) / len(theirs)
    return inside / n, around / n


_SCRIPTS = {"CJK": "Han", "HIRAGANA": "Kana", "KATAKANA": "Kana", "IDEOGRAPHIC": "Han", "KATAKANA-HIRAGANA": "Kana"}


def script(character: str) -> str | None:
    """The script of a letter by the beginning of its Unicode name; None where that is no script's name."""
    if not character.isalpha():
        return None
    name = unicodedata.name(character, "").removeprefix("FULLWIDTH ").removeprefix("HALFWIDTH ")
    first = name.split(" ")[0] if name else ""
    return _SCRIPTS.get(first, first.capitalize()) or None
