"""Intervals hold what they promise: on simulated collections they cover the truth as often as they say."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.analysis.estimators import wilson
from neardup.audit.intervals import NOTHING, counted, ratio, stratified
from tests.naive import audit as naive


def at_least(confidence: float, trials: int) -> float:
    """Three standard deviations below what is promised."""
    return confidence - 3 * sqrt(confidence * (1 - confidence) / trials)


ONE = np.zeros(300, np.int64)


@pytest.mark.parametrize("recall", [0.5, 0.9, 0.98])
def test_the_interval_of_pairs_in_bunches_covers(recall):
    rng = np.random.default_rng(1)
    of = np.minimum(1 + rng.pareto(1.2, 4000).astype(int), 40) * (rng.random(4000) < 0.5)
    luck = rng.beta(recall * 3, (1 - recall) * 3, len(of))  # pairs of one document are found or missed together
    found = rng.binomial(of, luck)
    truth = found.sum() / of.sum()
    trials = 150
    covered = 0
    for seed in range(trials):
        rows = rng.choice(len(of), 300, replace=False)
        got = ratio(found[rows] * 1.0, of[rows] * 1.0, ONE, np.array([4000.0]), confidence=0.95, seed=seed)
        covered += got.low <= truth <= got.high
    assert covered / trials >= at_least(0.95, trials)


@pytest.mark.parametrize("lost", [0.0005, 0.003, 0.02])
def test_what_hides_in_the_stratum_without_pairs_is_allowed_for(lost):
    """Few documents have company, almost all pairs and are drawn often; the others hide pairs that were missed."""
    rng = np.random.default_rng(3)
    sizes = np.array([2000, 30000])
    of = np.concatenate([rng.integers(1, 6, 2000), (rng.random(30000) < lost).astype(int)])
    found = np.concatenate([of[:2000], np.zeros(30000, int)])
    truth = found.sum() / of.sum()
    trials = 200
    covered = 0
    for seed in range(trials):
        rows = np.concatenate([rng.choice(2000, 150, replace=False), 2000 + rng.choice(30000, 150, replace=False)])
        stratum = (rows >= 2000).astype(np.int64)
        got = ratio(found[rows] * 1.0, of[rows] * 1.0, stratum, sizes * 1.0, confidence=0.95, seed=seed)
        covered += got.low <= truth <= got.high
    assert covered / trials >= at_least(0.95, trials)


def test_the_stratified_interval_covers():
    rng = np.random.default_rng(2)
    sizes = np.array([20, 300, 5000, 40, 900])
    chances = np.array([0.3, 0.7, 0.97, 0.5, 1.0])
    right = [rng.random(n) < p for n, p in zip(sizes, chances, strict=True)]
    truth = np.concatenate(right).mean()
    trials = 400
    drawn = [8, 25, 90, 10, 40]
    covered = 0
    for _ in range(trials):
        x = [rng.choice(r, n, replace=False).sum() for r, n in zip(right, drawn, strict=True)]
        got = stratified(np.array(x, float), np.array(drawn, float), sizes.astype(float), confidence=0.95)
        covered += got.low <= truth <= got.high
    assert covered / trials >= at_least(0.95, trials)


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30), st.integers(0, 500)), min_size=1, max_size=8))
def test_stratified_is_what_it_is(rows):
    successes = [min(x, n) for x, n, _ in rows]
    trials = [n for _, n, _ in rows]
    sizes = [n + more for _, n, more in rows]
    got = stratified(np.array(successes, float), np.array(trials, float), np.array(sizes, float), confidence=0.9)
    if not any(trials):
        assert got == NOTHING
        return
    assert (got.value, got.low, got.high) == pytest.approx(naive.stratified(successes, trials, sizes, 0.9), abs=1e-9)
    assert 0 <= got.low <= got.value <= got.high <= 1 + 1e-12
    assert got.of == sum(size for n, size in zip(trials, sizes, strict=True) if n)


def plain(found: list[float], of: list[float], size: float):
    return ratio(np.array(found), np.array(of), np.zeros(len(of), np.int64), np.array([size]), confidence=0.95, seed=1)


def test_never_narrower_than_wilson():
    assert plain([1.0] * 20, [1.0] * 20, 1e6).low == pytest.approx(wilson(20, 20)[0], abs=0.02)
    assert plain([1.0] * 20, [1.0] * 20, 1e6).low <= wilson(20, 20)[0]
    bunched = plain([20.0, 0.0], [20.0, 0.0], 1e6)
    assert bunched.low <= wilson(1, 1)[0]  # twenty pairs of one document are worth one


def test_all_of_them_leave_no_doubt():
    got = plain([3.0, 1.0], [4.0, 1.0], 2.0)
    assert (got.value, got.low, got.high) == (0.8, 0.8, 0.8)
    assert counted(3, 4, confidence=0.95, whole=True).low == 0.75
    everyone = stratified(np.array([2.0]), np.array([3.0]), np.array([3.0]), confidence=0.95)
    assert (everyone.low, everyone.high) == (2 / 3, 2 / 3)


def test_nothing_counted_says_nothing():
    assert counted(0, 0, confidence=0.95) == NOTHING
    assert plain([0.0], [0.0], 9.0) == NOTHING
    assert NOTHING.to_dict() == {"value": None, "low": 0.0, "high": 1.0, "of": 0.0}
