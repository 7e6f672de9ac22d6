"""One hash per shingle behaves as `analysis.bins` says, at every length: 4 standard deviations at a fixed seed."""

import numpy as np
import pytest

import neardup
from neardup.analysis import bins, filters
from tests.statistics.test_permutations import sets_of_resemblance

LENGTHS = [(4, 1), (1, 4), (18, 2), (40, 10), (100, 20), (160, 20), (400, 50), (600, 1400), (4500, 250)]
"""Words that both documents have, and words that each has alone: 5 to 5,000 shingles each, resemblance 0.11 to 0.9."""


def recipe(k: int, s: int, seed: int = 1, **more) -> neardup.Recipe:
    return neardup.Recipe(
        shingles=neardup.ShingleSettings(1), sketch=neardup.OnePermutationSettings(k, s, seed, **more)
    )


def pairs(shared: int, alone: int, trials: int, made_by: neardup.Recipe):
    """Sketches of the first and of the second documents of so many pairs."""
    rng = np.random.default_rng(shared * 1000 + alone)
    made = neardup.sketch([t for _ in range(trials) for t in sets_of_resemblance(shared, alone, rng)], made_by)
    return made.words[0::2], made.words[1::2], made.samples[0::2], made.samples[1::2]


def trials_for(shared: int, alone: int) -> int:
    return max(150, min(1500, 300_000 // (shared + alone)))


@pytest.mark.parametrize(("shared", "alone"), LENGTHS)
@pytest.mark.parametrize("size", [84, 140])
def test_bins_agree_with_probability_r_and_the_known_variance(shared, alone, size):
    union = shared + 2 * alone
    trials = trials_for(shared, alone)
    first, second, *_ = pairs(shared, alone, trials, recipe(size, 1, samples=False))
    share = (first == second).mean(axis=1)
    expected = bins.error(shared / union, size, union)
    assert abs(share.mean() - shared / union) <= 4 * expected / trials**0.5
    chances, x = bins.agreements(shared, union, size), np.arange(size + 1) / size - shared / union
    # a variance from m samples is off by sqrt((μ4 - σ⁴) / m)
    spread = (float(chances @ x**4) - expected**4) ** 0.5 / trials**0.5
    assert abs(float(((share - shared / union) ** 2).mean()) - expected**2) <= 4 * spread


@pytest.mark.parametrize(("shared", "alone"), [(9, 1), (40, 10), (160, 20), (600, 1400)])
@pytest.mark.parametrize("bits", [8, 4])
def test_a_few_bits_of_each_minimum_estimate_as_well(shared, alone, bits):
    union, trials = shared + 2 * alone, trials_for(shared, alone)
    *_, first, second = pairs(shared, alone, trials, recipe(6, 4, sampled=96, bits=bits))
    chance = 2.0**-bits
    estimate = ((first == second).mean(axis=1) - chance) / (1 - chance)
    error = bins.error(shared / union, 96, union, bits=bits)
    assert abs(estimate.mean() - shared / union) <= 4 * error / trials**0.5
    assert estimate.std() == pytest.approx(error, rel=4 / (2 * trials) ** 0.5 + 0.02)


@pytest.mark.parametrize(("shared", "alone"), [(8, 1), (40, 5), (80, 10), (160, 20), (1600, 200)])
@pytest.mark.parametrize(("k", "s", "r"), [(20, 7, 1), (6, 14, 2)])
def test_pairs_become_candidates_with_the_known_probability(shared, alone, k, s, r):
    union, trials = shared + 2 * alone, trials_for(shared, alone)
    first, second, *_ = pairs(shared, alone, trials, recipe(k, s, r=r))
    found = float(((first == second).sum(axis=1) >= r).mean())
    p = bins.found(shared, union, k, s, r)
    assert abs(found - p) <= 4 * (p * (1 - p) / trials) ** 0.5 + 1e-9
    assert abs(p - filters.probability(shared / union, k, s, r)) < 0.05


@pytest.mark.parametrize("words", [1, 2, 5, 50, 140, 1000, 20_000])
def test_documents_that_share_nothing_agree_by_accident_alone(words):
    """Also where one is much longer: a bin that is empty in one of two agrees with none that is filled."""
    trials = max(20, min(400, 100_000 // words))
    rng = np.random.default_rng(words)
    texts = []
    for _ in range(trials):
        drawn = [f"{x:x}" for x in rng.choice(2**40, words + 30, replace=False)]
        texts += [" ".join(drawn[:words]), " ".join(drawn[words:])]
    made = neardup.sketch(texts, recipe(20, 7))
    agreed, n = int((made.samples[0::2] == made.samples[1::2]).sum()), trials * 140
    assert abs(agreed / n - 1 / 256) <= 4 * (1 / 256 / n) ** 0.5
    assert not (made.words[0::2] == made.words[1::2]).any()


def test_copies_of_a_shingle_do_not_count():
    made = neardup.sketch(["one two three", "three one two one one two " * 50], recipe(20, 7))
    assert (made.words[0] == made.words[1]).all()
    assert (made.samples[0] == made.samples[1]).all()
