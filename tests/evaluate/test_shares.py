"""Forests, shares with intervals, and exponents: equal to their definitions, and right as often as they promise."""

from statistics import NormalDist

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import zeta

from neardup.evaluating.forest import components, spanning_forest
from neardup.evaluating.intervals import Resampled, wilson
from neardup.evaluating.powerlaw import exponent, hurwitz, slope
from neardup.evaluating.shares import Shares


@pytest.mark.parametrize("seed", range(8))
def test_forest_is_that_of_pair_after_pair(seed: int) -> None:
    rng = np.random.default_rng(seed)
    documents, n = 40, int(rng.integers(0, 70))
    first, second = rng.integers(0, documents, n), rng.integers(0, documents, n)
    label = list(range(documents))
    joining = []
    for i, (one, other) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        if label[one] != label[other]:
            joining.append(i)
            low, high = sorted((label[one], label[other]))
            label = [low if x == high else x for x in label]
    assert spanning_forest(documents, first, second).tolist() == joining
    assert components(documents, first, second).tolist() == label


def test_a_long_chain_is_one_component() -> None:
    n = 20_000
    order = np.random.default_rng(1).permutation(n)
    assert not components(n, order[:-1], order[1:]).any()
    assert len(spanning_forest(n, order[:-1], order[1:])) == n - 1


@pytest.mark.parametrize("seed", range(5))
def test_shares_have_the_interval_of_every_other_measure(seed: int) -> None:
    rng = np.random.default_rng(seed)
    component = rng.integers(0, 12, 80) * 7
    weight = rng.choice([1.0, 3.0], 80)
    hits, among = rng.random(80) < (component % 5) / 5, rng.random(80) < 0.8
    sums = np.array(
        [
            [weight[(component == c) & among & x].sum() for x in (hits, ~hits)]
            for c in sorted(set(component[among].tolist()))
        ]
    )
    squares = float((weight[among] ** 2).sum())
    expected = Resampled.of(sums, level=0.8, seed=3).ratio(np.array([1, 0]), np.array([1, 1]), squares=squares)
    found = Shares(component, weight, level=0.8, seed=3).judged(hits, among)
    assert (found.hits, found.total) == (int((hits & among).sum()), int(among.sum()))
    assert found[2:] == pytest.approx(tuple(expected))
    assert found.value == pytest.approx(weight[hits & among].sum() / weight[among].sum())
    plain = Shares(component, weight).of(hits, among)
    assert plain.value == pytest.approx((hits & among).sum() / among.sum())


def test_nothing_has_no_share() -> None:
    found = Shares(np.arange(3)).of(np.ones(3, bool), np.zeros(3, bool))
    assert found.cells("share") == {"share": None, "share low": None, "share high": None}


@pytest.mark.parametrize(("clusters", "p"), [(60, 0.8), (30, 0.9)])
def test_coverage_on_unequal_clusters_of_one_verdict(clusters: int, p: float) -> None:
    """All pairs of a cluster are right, or all wrong; sizes are those of pairs, many small and few large.

    Nominal 95 %; three standard deviations below 93 % (see `test_intervals`) is a failure.
    """
    rng = np.random.default_rng(5)
    runs = 300
    covered = naively = 0
    for _ in range(runs):
        documents = np.minimum(rng.zipf(2.0, clusters) + 1, 40)
        sizes = documents * (documents - 1) // 2
        component = np.repeat(np.arange(clusters), sizes)
        hits = (rng.random(clusters) < p)[component]
        found = Shares(component).of(hits, np.ones(len(hits), bool))
        covered += found.low <= p <= found.high
        low, high = wilson(int(hits.sum()), len(hits))
        naively += low <= p <= high
    sigma = (0.93 * 0.07 / runs) ** 0.5
    assert covered / runs >= 0.93 - 3 * sigma
    # Pairs taken as independent: the interval misses most of the time.
    assert naively / runs < 0.6


def test_zeta() -> None:
    at = np.array([1.0, 2.0, 7.0, 300.0, 1e6])
    for a in (1.01, 1.3, 2.0, 5.5, 20.0):
        assert hurwitz(a, at) == pytest.approx(zeta(a, at), rel=1e-9)


@pytest.mark.parametrize("xmin", [1, 3])
def test_exponent_maximises_the_likelihood(xmin: int) -> None:
    values, counts = np.unique(np.random.default_rng(2).zipf(2.2, 500), return_counts=True)
    tail, weights = values[values >= xmin], counts[values >= xmin]

    def less(a: float) -> float:
        return float((weights * (a * np.log(tail) + np.log(zeta(a, xmin)))).sum())

    best = minimize_scalar(less, bounds=(1.01, 6), method="bounded", options={"xatol": 1e-8}).x
    found = exponent(values, counts, xmin=xmin)
    assert found is not None
    assert found.exponent == pytest.approx(best, abs=1e-4)
    step = 1e-3
    curvature = (less(best + step) - 2 * less(best) + less(best - step)) / step**2
    assert found.error == pytest.approx(curvature**-0.5, rel=1e-3)


def test_exponent_has_the_error_that_it_says() -> None:
    """Of 200 samples of a power law, the errors in units of the stated one have standard deviation 1."""
    rng = np.random.default_rng(3)
    deviations = []
    for _ in range(200):
        values, counts = np.unique(rng.zipf(2.4, 800), return_counts=True)
        found = exponent(values, counts, xmin=1)
        assert found is not None
        deviations.append((found.exponent - 2.4) / found.error)
    spread = float(np.std(deviations))
    # The standard deviation of a sample of n has a relative error of 1/√(2n).
    assert abs(spread - 1) < NormalDist().inv_cdf(0.9995) / (2 * 200) ** 0.5
    assert abs(float(np.mean(deviations))) < NormalDist().inv_cdf(0.9995) / 200**0.5


def test_the_start_of_the_tail_is_found() -> None:
    """Below 10 everything is equally frequent, from 10 on a power law holds."""
    rng = np.random.default_rng(4)
    tail = np.floor(9.5 * (1 - rng.random(4000)) ** (-1 / 1.5) + 0.5).astype(np.int64)
    values, counts = np.unique(np.concatenate([rng.integers(1, 10, 4000), tail]), return_counts=True)
    found = exponent(values, counts)
    assert found is not None
    assert 9 <= found.xmin <= 14
    assert found.exponent == pytest.approx(2.5, abs=5 * found.error)


def test_slope_is_that_of_numpy() -> None:
    values, counts = np.unique(np.random.default_rng(6).zipf(2.0, 3000), return_counts=True)
    fit, covariance = np.polyfit(np.log(values), np.log(counts), 1, cov=True)
    found = slope(values, counts)
    assert found is not None
    assert (found.slope, found.intercept) == pytest.approx(tuple(fit))
    assert found.error == pytest.approx(covariance[0, 0] ** 0.5)


def test_too_little_for_a_fit() -> None:
    assert slope(np.array([1, 2]), np.array([5, 3])) is None
    assert exponent(np.array([4]), np.array([500])) is None
    assert exponent(np.array([1, 2, 3]), np.array([5, 3, 1])) is None
    assert exponent(np.array([], np.int64), np.array([], np.int64)) is None
