"""Intervals: known values, and how often they hold what they should."""

from math import sqrt

import numpy as np
import pytest
from scipy.stats import binomtest, norm, t

from neardup.errors import UsageError
from neardup.evaluating.intervals import Resampled, effective, student_quantile, wilson, worth

OVER, UNDER = np.array([1.0, 0.0]), np.array([0.0, 1.0])


@pytest.mark.parametrize(("k", "n"), [(0, 1), (5, 5), (1, 10), (38, 100), (725, 1910), (0, 200)])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_wilson_is_scipys(k, n, level):
    expected = binomtest(k, n).proportion_ci(level, method="wilson")
    assert wilson(k, n, level) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_wilson_without_trials_knows_nothing():
    assert wilson(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize("degrees", [5, 8, 20, 100])
@pytest.mark.parametrize("z", [1.0, 1.96, 2.58])
def test_student_is_scipys(degrees, z):
    assert student_quantile(z, degrees) == pytest.approx(t.ppf(norm.cdf(z), degrees), rel=2e-3)


def test_few_degrees_of_freedom_are_wider():
    assert student_quantile(1.96, 1) > student_quantile(1.96, 2) > student_quantile(1.96, 1000) > 1.96
    assert student_quantile(1.96, 0.1) == float("inf")


def test_kish():
    assert effective(np.ones(7)) == 7
    assert effective(np.array([1000.0, 1, 1])) == pytest.approx(1.004, abs=1e-3)
    assert effective(np.zeros(3)) == 0


def ratio(right, all_, **options):
    sums = np.stack([np.asarray(right, float), np.asarray(all_, float)], axis=1)
    return Resampled.of(sums, **options).ratio(OVER, UNDER)


def test_five_of_five_is_not_certain():
    assert ratio([1] * 5, [1] * 5) == pytest.approx((1.0, *wilson(5, 5)))


def test_a_thousand_pairs_of_three_clusters_are_three():
    assert ratio([300, 300, 300], [300, 300, 300]).low == pytest.approx(wilson(3, 3)[0])


def test_one_cluster_says_nearly_nothing():
    value, low, high = ratio([95], [100])
    assert value == 0.95
    assert low < 0.25
    assert high > 0.99


def test_independent_pairs_have_wilsons_interval_at_least():
    found = ratio([1] * 60 + [0] * 40, [1] * 100)
    low, high = wilson(60, 100)
    assert found.low <= low
    assert found.high >= high
    assert found.low == pytest.approx(low, abs=0.03)


def test_pairs_of_clusters_have_a_wider_one():
    """Ten pairs in each of 50 clusters, all right or all wrong: 50 observations, not 500."""
    right = [10] * 30 + [0] * 20
    found = ratio(right, [10] * 50)
    assert found.high - found.low > 2.5 * np.ptp(wilson(300, 500))
    assert found.high - found.low == pytest.approx(np.ptp(wilson(30, 50)), rel=0.15)


def test_the_same_seed_gives_the_same_interval():
    right, all_ = np.arange(40) % 3, np.full(40, 2)
    assert ratio(right, all_, seed=3) == ratio(right, all_, seed=3)
    assert ratio(right, all_, level=0.5).high < ratio(right, all_).high


def test_components_with_equal_sums_are_drawn_as_one_kind():
    """The variance of a mean of n draws is that of the values, by n, whether or not values repeat."""
    values = np.repeat([0.0, 1.0, 4.0], [50, 30, 20])
    drawn = Resampled.of(np.stack([values, np.ones(100)], axis=1), replicates=20_000).drawn
    mean = drawn[:, 0] / drawn[:, 1]
    deviation = values.std() / sqrt(100)
    assert (drawn[:, 1] == 100).all()
    assert abs(mean.mean() - values.mean()) < 4 * deviation / sqrt(20_000)
    assert mean.std() == pytest.approx(deviation, rel=4 / sqrt(2 * 20_000))


def test_a_level_is_between_0_and_1():
    with pytest.raises(UsageError, match="between 0 and 1"):
        wilson(1, 2, 95)


def cluster_sizes(kind, random, count):
    if kind == "alone":
        return np.ones(count)
    if kind == "pairs":  # of clusters of 2, 3, … documents
        documents = random.geometric(0.35, count) + 1
        return documents * (documents - 1) / 2
    return np.ceil(random.lognormal(0.5, 1.0, count))


@pytest.mark.parametrize("kind", ["alone", "pairs", "skewed"])
@pytest.mark.parametrize(
    ("clusters", "chance", "alike"),
    [(25, 0.85, 0.6), (50, 0.93, 1.0), (120, 0.97, 0.4), (150, 0.7, 0.2), (20, 0.4, 1.0)],
)
def test_coverage(kind, clusters, chance, alike):
    """95 % intervals hold the true proportion, where `alike` of the clusters are of one verdict throughout.

    None of these settings was looked at when the interval was chosen. Of 400 intervals at a true coverage of 93 %, 372
    are expected; three standard deviations of the binomial distribution are 15. More is no failure: intervals may be
    wide. (93 and not 95: Wilson's own coverage varies by so much with n and p.)
    """
    random = np.random.default_rng([clusters, ord(kind[0])])
    trials, held = 400, 0
    for _ in range(trials):
        sizes = cluster_sizes(kind, random, clusters)
        whole = random.random(clusters) < alike
        right = np.where(whole, sizes * (random.random(clusters) < chance), random.binomial(sizes.astype(int), chance))
        found = ratio(right, sizes, replicates=200)
        held += found.low <= chance <= found.high
    assert held >= 0.93 * trials - 3 * sqrt(trials * 0.93 * 0.07)


def test_worth():
    """Independent trials are worth their number, clusters of one verdict each their own (Kish's), others between."""
    ones = np.array([1.0] * 80 + [0.0] * 20)
    assert worth(ones, np.ones(100), 100, level=0.95) == pytest.approx(100, rel=0.05)
    whole = worth(10 * ones, np.full(100, 10.0), 1000, level=0.95)
    assert whole == pytest.approx(100, rel=0.1)
    mixed = worth(np.full(100, 8.0) + np.tile([1.0, -1.0], 50), np.full(100, 10.0), 1000, level=0.95)
    assert whole < mixed <= 1000
    assert worth(np.full(5, 3.0), np.full(5, 3.0), 15, level=0.95) == pytest.approx(5)
    assert worth(np.zeros(1), np.full(1, 9.0), 9, level=0.95) == pytest.approx(1)


def test_components_of_one_success_are_counted_as_if_listed():
    right, sizes = np.array([3.0, 0.0, 2.0]), np.array([4.0, 2.0, 2.0])
    more = np.ones(40)
    listed = worth(np.concatenate([right, more]), np.concatenate([sizes, more]), 48, level=0.95)
    assert worth(right, sizes, 48, level=0.95, alone=40.0) == pytest.approx(listed)
