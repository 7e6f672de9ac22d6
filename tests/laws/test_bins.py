"""The mathematics of bins: against all ways to throw shingles into bins, its own moments, and the limits."""

from fractions import Fraction
from itertools import combinations, product
from math import comb, sqrt

import numpy as np
import pytest

from neardup.analysis import bins, estimators, filters
from neardup.errors import RecipeError

SMALL = [(1, 1, 2), (0, 2, 3), (1, 2, 4), (2, 3, 4), (3, 5, 3), (2, 3, 6), (4, 4, 4)]


def every_way(shared: int, union: int, count: int) -> dict[tuple[bool, ...], Fraction]:
    """Which bins agree → how likely, from the definition: all ways to throw, the least in each bin, all ways to fill.

    Shingles are numbered by their rank, and which of them are shared is drawn: any `shared` of them, alike.
    """
    marks = [set(c) for c in combinations(range(union), shared)]
    answer: dict[tuple[bool, ...], Fraction] = {}
    for places in product(range(count), repeat=union):
        least = [min((x for x in range(union) if places[x] == b), default=None) for b in range(count)]
        for mark in marks:
            known = [None if x is None else x in mark for x in least]
            for filled in product((True, False), repeat=known.count(None)):
                rest = iter(filled)
                pattern = tuple(next(rest) if k is None else k for k in known)
                agreeing = sum(filled)
                chance = Fraction(shared, union) ** agreeing * (1 - Fraction(shared, union)) ** (len(filled) - agreeing)
                answer[pattern] = answer.get(pattern, Fraction(0)) + chance / len(marks) / count**union
    return answer


@pytest.mark.parametrize(("shared", "union", "count"), SMALL)
def test_agreements_and_features_are_those_of_the_definition(shared, union, count):
    ways = every_way(shared, union, count)
    assert sum(ways.values()) == 1
    told = bins.agreements(shared, union, count)
    for a in range(count + 1):
        assert told[a] == pytest.approx(float(sum(p for pattern, p in ways.items() if sum(pattern) == a)), abs=1e-12)
    for s in range(1, count + 1):
        for k in range(1, count // s + 1):
            groups = {p: sum(all(p[g * s : (g + 1) * s]) for g in range(k)) for p in ways}
            for r in range(1, k + 1):
                expected = float(sum(chance for p, chance in ways.items() if groups[p] >= r))
                assert bins.found(shared, union, k, s, r, bins=count) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("count", [1, 84, 140])
@pytest.mark.parametrize(("shared", "union"), [(1, 1), (1, 2), (4, 5), (40, 50), (30, 140), (190, 200), (900, 4500)])
def test_the_error_is_that_of_the_distribution(shared, union, count):
    chances, share = bins.agreements(shared, union, count), np.arange(count + 1) / count
    mean = float(chances @ share)
    assert chances.sum() == pytest.approx(1, abs=1e-9)
    assert mean == pytest.approx(shared / union, abs=1e-9)
    assert bins.error(shared / union, count, union) == pytest.approx(
        sqrt(max(0, chances @ share**2 - mean**2)), abs=1e-7
    )


def test_the_error_is_never_above_that_of_permutations():
    for count in (2, 84, 140, 1000):
        for union in (1, 2, 5, 50, 140, 1000, 10**6):
            assert bins.error(0.8, count, union) <= bins.error(0.8, count) == estimators.minhash_error(0.8, count)
            few = bins.error(0.8, count, union, bits=8)
            assert bins.error(0.8, count, union) <= few <= estimators.sampled_error(0.8, count, bits=8)
    assert bins.error(0.8, 140, 10**9) == pytest.approx(bins.error(0.8, 140), rel=1e-6)


@pytest.mark.parametrize(("k", "s", "r"), [(20, 7, 1), (6, 14, 2), (12, 7, 1)])
@pytest.mark.parametrize("rho", [0.5, 0.8, 0.9, 0.95])
def test_very_long_documents_have_broders_curve(k, s, r, rho):
    union = 10**7
    told = bins.found(round(rho * union), union, k, s, r)
    assert told == pytest.approx(filters.probability(rho, k, s, r), abs=2e-5)


@pytest.mark.parametrize(("k", "s"), [(20, 7), (26, 5), (13, 11)])
def test_the_recall_at_a_threshold_is_at_least_the_formulas(k, s):
    """Fewer surprises on either side: more of what the formula finds mostly, less of what it finds seldom."""
    for union in (5, 20, 50, 200, 500):
        for shared in {round(union * x) for x in (0.2, 0.4, 0.8, 0.9, 0.95)}:
            p, told = filters.probability(shared / union, k, s), bins.found(shared, union, k, s)
            assert told >= p - 1e-9 if p > 0.9 else told <= p + 0.02
            if p < 0.4:
                assert told <= p + 1e-9


def test_more_bins_than_features_are_made_of():
    """The rest is sampled for the estimate alone; given x bins that differ, a group of s is spared by hypergeometry."""
    chances = bins.agreements(40, 50, 96)
    spared = sum(p * comb(96 - 4, 96 - a) / comb(96, 96 - a) for a, p in enumerate(chances) if a >= 4)
    assert bins.found(40, 50, 1, 4, bins=96) == pytest.approx(spared, abs=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bins.agreements(3, 2, 4), "shared = 3 of union = 2"),
        (lambda: bins.agreements(0, 0, 4), "union = 0"),
        (lambda: bins.error(0.8, 140, 0), "union = 0"),
        (lambda: bins.error(1.2, 140), "resemblance = 1.2"),
        (lambda: bins.found(1, 2, 3, 4, bins=11), "3 × 4 groups of 11 bins"),
        (lambda: bins.found(1, 2, 3, 4, 5), "r = 5"),
    ],
)
def test_what_makes_no_sense_is_refused(call, message):
    with pytest.raises(RecipeError, match=message):
        call()
