"""The mathematics: against scipy, brute force over whole numbers, simulation (four standard deviations), the papers."""

from fractions import Fraction
from itertools import combinations, product
from math import comb, cos, pi, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from neardup.analysis import binomial, estimators, filters, lists
from neardup.analysis.filters import Filter, choose
from neardup.analysis.lists import Lists, choose_lists
from neardup.errors import RecipeError


def exactly(resemblance: float, k: int, s: int, r: int) -> tuple[float, float]:
    """P[k,s,r] and 1 - P from the definition, in whole numbers: ρ^s = a / whole, and no fraction is reduced."""
    numerator, denominator = resemblance.as_integer_ratio()
    a, whole = numerator**s, denominator**s
    ways = [comb(k, i) * a**i * (whole - a) ** (k - i) for i in range(k + 1)]
    return float(Fraction(sum(ways[r:]), whole**k)), float(Fraction(sum(ways[:r]), whole**k))


# --- the binomial distribution ---------------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.integers(1, 600), st.data(), st.floats(1e-9, 1 - 1e-9))
def test_both_ends_are_scipys(trials, data, chance):
    at_least = data.draw(st.integers(0, trials))
    assert binomial.tail(trials, at_least, chance) == pytest.approx(
        stats.binom.sf(at_least - 1, trials, chance), rel=1e-9, abs=1e-100
    )
    assert binomial.head(trials, at_least, chance) == pytest.approx(
        stats.binom.cdf(at_least - 1, trials, chance), rel=1e-9, abs=1e-100
    )


# --- Broder's filter -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("parameters", [(6, 14, 2), (20, 7, 1), (1, 1, 1), (10, 3, 10), (23, 5, 3), (60, 4, 4)])
@pytest.mark.parametrize(
    "resemblance", ["1e-9", "0.001", "0.1", "0.5", "0.77", "0.9", "0.975", "0.99", "0.999999", "0.999999999999"]
)
def test_either_side_has_twelve_digits(parameters, resemblance):
    x = float(resemblance)
    found, missed = exactly(x, *parameters)
    assert filters.probability(x, *parameters) == pytest.approx(found, rel=1e-12)
    assert filters.missed(x, *parameters) == pytest.approx(missed, rel=1e-12)


def test_the_ends_are_exact():
    for f in (Filter(6, 14, 2), Filter(20, 7), Filter(3, 1, 3)):
        assert (f.probability(0.0), f.missed(0.0), f.probability(1.0), f.missed(1.0)) == (0.0, 1.0, 1.0, 0.0)


def test_the_papers_filter():
    """Section 1. At 0.975 the formula gives 0.0107, which the paper rounds to "less than 0.01"."""
    f = Filter(6, 14, 2)
    assert f.missed(0.99) < 0.00022
    assert f.missed(0.99) == pytest.approx(0.000208166, abs=1e-9)
    assert f.missed(0.975) == pytest.approx(0.0107, abs=5e-5)
    assert f.missed(0.975) > 0.01
    assert f.probability(0.77) < 0.01
    assert f.probability(0.5) < 0.6e-7
    assert (f.permutations, f.bytes_per_document(), f.super_features) == (84, 48, 15)
    assert f.bytes_per_document(joined=True) == 120


def test_the_papers_half_point_and_steepest_s():
    f = Filter(6, 14, 2)
    assert int(f.half_point * 1000) == 909
    assert f.probability(f.half_point) == pytest.approx(0.5, abs=1e-12)
    assert int(f.steepest * 1000) == 931
    assert filters.steepest_s(f.steepest) == pytest.approx(14, abs=1e-9)
    # equation 3: no other s has a larger slope of x^s there
    x = f.steepest
    assert max(range(1, 100), key=lambda s: s * x ** (s - 1)) == 14


@pytest.mark.parametrize("f", [Filter(6, 14, 2), Filter(20, 7), Filter(37, 7, 3), Filter(3, 200, 2)])
def test_total_error_is_the_integral_and_least_at_the_half_point(f):
    half = f.half_point
    for t in (0.2, 0.8, half):
        below, _ = integrate.quad(f.probability, 0, t, points=[min(t, half)], limit=500, epsabs=1e-13)
        above, _ = integrate.quad(f.missed, t, 1, points=[max(t, half)], limit=500, epsabs=1e-13)
        assert f.total_error(t) == pytest.approx(below + above, rel=1e-9)
    h = 1e-4
    slope = (f.total_error(half + h) - f.total_error(half - h)) / (2 * h)
    assert abs(slope) < 1e-3
    assert min(f.total_error(half + d) for d in (-0.02, -0.005, 0.005)) > f.total_error(half)


@settings(max_examples=60)
@given(st.integers(1, 40), st.integers(1, 30), st.data())
def test_half_points_halve(k, s, data):
    f = Filter(k, s, data.draw(st.integers(1, k)))
    assert f.probability(f.half_point) == pytest.approx(0.5, abs=1e-9)


def test_collisions():
    """Section 3: p_f. Section 2: 2 log2 m + 20 bits, where a feature makes 2^-21 pairs of m documents."""
    one, two = Filter(6, 14).collision_bound(200e6), Filter(6, 14, 2).collision_bound(200e6)
    assert one.pair == pytest.approx(6 * 2.0**-64, rel=1e-12)
    assert one.pairs == pytest.approx(2e8 * (2e8 - 1) / 2 * 6 * 2.0**-64, rel=1e-12)
    assert two.pair == pytest.approx(15 * 2.0**-128, rel=1e-12)
    assert one.bits_by_rule == 76
    at_rule = filters.collision_bound(2.0**20, bits=60)
    assert at_rule.bits_by_rule == 60
    assert at_rule.pairs == pytest.approx(2.0**-21, rel=1e-5)
    # few bits, so that accidents can be counted
    rng = np.random.default_rng(5)
    trials = 200_000
    equal = (rng.integers(0, 16, (trials, 6)) == rng.integers(0, 16, (trials, 6))).sum(axis=1)
    for r in (1, 2, 3):
        p = filters.collision_bound(10, bits=4, features=6, r=r).pair
        assert abs((equal >= r).mean() - p) < 4 * sqrt(p * (1 - p) / trials)


@pytest.mark.parametrize("threshold", [0.3, 0.6, 0.8, 0.9, 0.97])
@pytest.mark.parametrize("r", [1, 2, 3, 5])
def test_groups_needed_is_the_least(threshold, r):
    for s in (1, 3, 6):
        k = filters.groups_needed(threshold, 0.95, s, r)
        assert filters.probability(threshold, k, s, r) >= 0.95
        assert k == r or filters.probability(threshold, k - 1, s, r) < 0.95


@pytest.mark.parametrize(
    ("threshold", "recall", "reject", "permutations", "bytes"),
    [
        (0.9, 0.99, (0.6, 0.01), 144, None),
        (0.9, 0.9, (0.5, 0.001), 144, None),
        (0.8, 0.95, (0.4, 0.05), 144, 120),
        (0.95, 0.99, (0.7, 0.02), 160, 64),
    ],
)
def test_no_cheaper_filter_would_do(threshold, recall, reject, permutations, bytes):
    chosen = choose(threshold, recall, permutations=permutations, reject=reject, bytes=bytes)
    good = [
        (k * s, k)
        for r in (1, 2, 3)
        for s in range(1, permutations + 1)
        for k in range(r, permutations // s + 1)
        if (bytes is None or 8 * k <= bytes)
        and stats.binom.sf(r - 1, k, threshold**s) >= recall
        and stats.binom.sf(r - 1, k, reject[0] ** s) <= reject[1]
    ]
    assert (chosen.permutations, chosen.k) == min(good)
    assert chosen.probability(threshold) >= recall
    assert chosen.probability(reject[0]) <= reject[1]


def test_without_reject_the_sharpest_is_chosen():
    assert choose(0.8, 0.99, r=(1,)) == filters.choose_filter(0.8, 0.99) == Filter(20, 7)
    chosen = choose(0.8, 0.99)
    for r in (1, 2, 3):
        assert chosen.area(0.8) <= choose(0.8, 0.99, r=(r,)).area(0.8)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: choose(0.8, 1.0), "recall = 1.0"),
        (lambda: choose(float("nan"), 0.9), "threshold = nan"),
        (lambda: choose(0.8, 0.9, r=()), r"r = \[\]"),
        (lambda: choose(0.8, 0.9, bytes=7), "bytes = 7: a feature has 8"),
        (lambda: choose(0.8, 0.9, reject=(0.9, 0.1)), "below the threshold 0.8"),
        (lambda: choose(0.8, 0.9, reject=(0.5, 0.0)), "probability 0.0"),
        (lambda: choose(0.8, 0.99, bytes=16), "needs at least 3 features, 24 bytes"),
        (lambda: choose(0.8, 0.99, reject=(0.6, 0.01)), "the least that pass there are 0.26.*--permutations 1045"),
        (lambda: choose(0.8, 0.99, reject=(0.5, 0.01), permutations=1000, bytes=48), "allow --bytes 296"),
        (lambda: choose(0.8, 0.99, reject=(0.79, 1e-9)), "4096 permutations would not do either"),
        (lambda: Filter(3, 2, 4), "r = 4 of k = 3 features: r is 1 to 3"),
        (lambda: Filter(0, 2), "k = 0"),
        (lambda: filters.steepest_s(1.0), "resemblance = 1.0"),
        (lambda: filters.collision_bound(0), "documents = 0"),
        (lambda: filters.collision_bound(10, features=2, r=3), "r = 3 of 2 features"),
        (lambda: choose_lists(0, 0.9), "edits = 0"),
        (lambda: choose_lists(5, 1.0), "recall = 1.0"),
        (lambda: choose_lists(5, 0.9, reject=(5, 0.1)), "above the 5"),
        (lambda: choose_lists(5, 0.9, reject=(50, 1.0)), "probability 1.0"),
        (lambda: choose_lists(10, 0.9, lists=4, repetitions=5), "give 0.71"),
        (lambda: choose_lists(10, 0.9, reject=(12, 0.001)), "the least are 0.073"),
        (lambda: Lists(4, 2, 3), "needed = 3 of 2"),
        (lambda: Lists(0), "lists = 0"),
        (lambda: lists.all_changed(-1, 3), "edits = -1"),
        (lambda: estimators.wilson(3, 2), "3 of 2"),
        (lambda: estimators.wilson(1, 2, confidence=1.0), "confidence = 1.0"),
        (lambda: estimators.minhash_error(1.2, 10), "resemblance = 1.2"),
        (lambda: estimators.bottom_error(0.5, 0), "m = 0"),
        (lambda: estimators.simhash_bits(1.1, 64), "cosine = 1.1"),
    ],
)
def test_refusals_say_the_numbers(call, message):
    with pytest.raises(RecipeError, match=message):
        call()


def test_the_wish_that_is_named_as_the_way_out_works():
    assert choose(0.8, 0.99, reject=(0.6, 0.01), permutations=1045).permutations == 1045


# --- Pugh's lists ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("edits", [0, 1, 3, 4, 6])
def test_all_changed_counts_the_surjections(n, edits):
    ways = [set(way) == set(range(n)) for way in product(range(n), repeat=edits)]
    assert lists.all_changed(edits, n) == Fraction(sum(ways), len(ways))


def test_four_lists():
    """Pugh's example: 4 edits change all 4 fingerprints in 4!/4^4 of the cases."""
    assert lists.all_changed(4, 4) == Fraction(24, 256)
    assert lists.shared(3, 4) == 1.0
    assert Lists(4).half_point == 6
    assert lists.shared(6, 4) > 0.5 > lists.shared(7, 4)


@given(st.integers(1, 80), st.integers(0, 600))
@settings(max_examples=80, deadline=None)
def test_floats_agree_with_the_exact_numbers_on_both_sides(n, edits):
    true = lists.all_changed(edits, n)
    assert lists.shared(edits, n) == pytest.approx(float(1 - true), rel=1e-12)
    assert Lists(n).missed(edits) == pytest.approx(float(true), rel=1e-12)


@pytest.mark.parametrize("choice", [Lists(4), Lists(8, 3, 2), Lists(6, 2, 1), Lists(5, 4, 4)])
@pytest.mark.parametrize("edits", [3, 8, 15])
def test_lists_by_simulation(choice, edits):
    rng = np.random.default_rng(edits)
    trials = 20_000
    hit = rng.integers(0, choice.lists, (trials, choice.repetitions, edits))
    untouched = np.stack([(hit != one).all(axis=2) for one in range(choice.lists)]).any(axis=0)
    found = (untouched.sum(axis=1) >= choice.needed).mean()
    p = choice.probability(edits)
    assert abs(found - p) <= 4 * sqrt(p * (1 - p) / trials) + 1e-12
    assert choice.missed(edits) == pytest.approx(1 - p, abs=1e-12)
    once = float(1 - lists.all_changed(edits, choice.lists))
    assert p == pytest.approx(stats.binom.sf(choice.needed - 1, choice.repetitions, once), abs=1e-12)


def test_the_half_point_is_the_last_at_or_above_one_half():
    for choice in (Lists(1), Lists(2), Lists(7, 5, 2), Lists(64, 3, 3)):
        half = choice.half_point
        assert choice.probability(half) >= 0.5 > choice.probability(half + 1)
        assert [e for e, p in choice.curve(half + 5) if p >= 0.5][-1] == half


@pytest.mark.parametrize(
    ("edits", "recall", "reject"), [(10, 0.9, None), (10, 0.9, (40, 0.01)), (4, 0.95, (15, 0.02)), (3, 0.5, (6, 0.2))]
)
def test_no_cheaper_lists_would_do(edits, recall, reject):
    chosen = choose_lists(edits, recall, reject=reject)
    assert chosen.probability(edits) >= recall
    assert reject is None or chosen.probability(reject[0]) <= reject[1]
    for n in range(1, chosen.fingerprints + 1):
        wanted = float(1 - lists.all_changed(edits, n))
        unwanted = float(1 - lists.all_changed(reject[0], n)) if reject else 0.0
        for times in range(1, chosen.fingerprints // n + 1):
            for needed in range(1, times + 1):
                good = stats.binom.sf(needed - 1, times, wanted) >= recall
                good &= not reject or stats.binom.sf(needed - 1, times, unwanted) <= reject[1]
                if good:
                    assert (n * times, times) >= (chosen.fingerprints, chosen.repetitions)


def test_given_lists_and_repetitions_are_kept():
    assert choose_lists(10, 0.9, lists=4).lists == 4
    chosen = choose_lists(10, 0.9, lists=8, repetitions=5)
    assert (chosen.lists, chosen.repetitions) == (8, 5)
    assert chosen.bytes_per_document() == 320


# --- estimators ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("successes", "trials"), [(0, 10), (10, 10), (3, 10), (84, 140), (999, 1000)])
@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.999])
def test_wilson_is_scipys(successes, trials, confidence):
    low, high = estimators.wilson(successes, trials, confidence=confidence)
    theirs = stats.binomtest(successes, trials).proportion_ci(confidence, method="wilson")
    assert (low, high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def deviation(estimates: np.ndarray, true: float, error: float) -> None:
    """Mean and spread of many estimates are what was promised: 4 standard deviations of either."""
    n = len(estimates)
    assert abs(estimates.mean() - true) < 4 * error / sqrt(n) + 1e-12
    assert abs(estimates.std() / error - 1) < 4 * sqrt(1 / (2 * n)) + 0.02


@pytest.mark.parametrize("true", [0.1, 0.5, 0.9])
def test_samples_of_few_bits_are_unbiased_with_that_error(true):
    rng = np.random.default_rng(3)
    for bits in (1, 8):
        same = rng.random((20_000, 140)) < true
        luck = rng.random((20_000, 140)) < 2.0**-bits
        made = np.array([estimators.sampled_estimate(int(a), 140, bits=bits) for a in (same | luck).sum(axis=1)])
        deviation(made, true, estimators.sampled_error(true, 140, bits=bits))
    assert estimators.sampled_error(true, 140, bits=60) == pytest.approx(estimators.minhash_error(true, 140))
    assert estimators.sampled_error(true, 140) > estimators.minhash_error(true, 140)


@pytest.mark.parametrize(("union", "common", "m"), [(60, 45, 20), (200, 40, 50), (30, 15, 29)])
def test_bottom_sketches_are_drawn_without_replacement(union, common, m):
    rng = np.random.default_rng(union)
    images = rng.random((20_000, union)).argsort(axis=1)[:, :m]
    estimates = (images < common).mean(axis=1)
    error = estimators.bottom_error(common / union, m, union)
    deviation(estimates, common / union, error)
    assert error == pytest.approx(stats.hypergeom(union, common, m).std() / m)
    assert error < estimators.bottom_error(common / union, m)
    assert estimators.bottom_error(0.5, union, union) == 0.0


@pytest.mark.parametrize(("union", "common", "n"), [(300, 200, 10), (80, 20, 16), (2000, 1000, 25)])
def test_mod_samples_have_that_error_where_they_are_not_empty(union, common, n):
    rng = np.random.default_rng(union)
    chosen = rng.random((20_000, union)) < 1 / n
    sizes = chosen.sum(axis=1)
    some = sizes > 0
    deviation(
        chosen[some, :common].sum(axis=1) / sizes[some],
        common / union,
        estimators.mod_error(common / union, union, n),
    )
    empty = estimators.mod_empty(union, n)
    assert abs((~some).mean() - empty) <= 4 * sqrt(empty * (1 - empty) / len(some))
    assert estimators.mod_error(0.5, 10**6, 100) == pytest.approx(sqrt(0.25 * 100 / 10**6), rel=0.01)
    assert estimators.mod_error(0.5, 100, 1) == 0.0


@pytest.mark.parametrize("cosine", [-0.5, 0.0, 0.7, 0.95])
def test_simhash_bits_agree_by_the_angle(cosine):
    """Random hyperplanes in the plane of the two vectors: their direction is all that counts."""
    rng = np.random.default_rng(11)
    planes = rng.normal(size=(5_000, 384, 2))
    agree = ((planes[..., 0] > 0) == (planes @ np.array([cosine, sqrt(1 - cosine**2)]) > 0)).sum(axis=1)
    expected, spread = estimators.simhash_bits(cosine, 384)
    deviation(agree, expected, spread)
    made = [estimators.simhash_cosine(int(a), 384) for a in agree[:2000]]
    held = np.mean([low <= cosine <= high for _, low, high in made])
    assert abs(held - 0.95) < 4 * sqrt(0.95 * 0.05 / len(made)) + 0.01


def test_simhash_at_the_ends():
    assert estimators.simhash_bits(1.0, 384) == (384.0, 0.0)
    assert estimators.simhash_cosine(384, 384)[0] == 1.0
    assert estimators.simhash_cosine(192, 384)[0] == pytest.approx(cos(pi / 2), abs=1e-12)


def test_minhash_error_is_binomial():
    assert estimators.minhash_error(0.8, 100) == pytest.approx(stats.binom(100, 0.8).std() / 100)
    assert sum(1 for _ in combinations(range(6), 2)) == Filter(6, 14, 2).super_features


def test_wilson_as_published():
    """Newcombe 1998, table I: 81 of 263 gives 0.2553 to 0.3662; 0 of 20 gives 0 to 0.1611."""
    assert estimators.wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert estimators.wilson(0, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)
