"""The sketches behave as the mathematics says, within the binomial error: 4 standard deviations at a fixed seed."""

from math import comb

import numpy as np
import pytest

import neardup
from neardup import rabin
from neardup.analysis import filters


def sets_of_resemblance(shared: int, alone: int, rng: np.random.Generator) -> tuple[str, str]:
    """Two documents with w = 1: their words are their shingles."""
    words = [f"{x:x}" for x in rng.choice(2**40, shared + 2 * alone, replace=False)]
    first, second = words[: shared + alone], words[:shared] + words[shared + alone :]
    return " ".join(first), " ".join(second)


def recipe(k: int, s: int, seed: int = 1) -> neardup.Recipe:
    return neardup.Recipe(
        shingles=neardup.ShingleSettings(1), sketch=neardup.MinHashSettings(k, s, seed), verify=neardup.VerifySettings()
    )


@pytest.mark.parametrize(("shared", "alone"), [(1, 1), (3, 1), (10, 10), (80, 10), (500, 20), (5000, 5000), (0, 50)])
def test_minima_agree_with_probability_r(shared, alone):
    rng = np.random.default_rng(shared * 1000 + alone)
    r = shared / (shared + 2 * alone)
    trials = agreed = 0
    for seed in range(40):
        first, second = sets_of_resemblance(shared, alone, rng)
        made = neardup.sketch([first, second], recipe(200, 1, seed))
        agreed += int((made.words[0] == made.words[1]).sum())
        trials += 200
    assert abs(agreed / trials - r) <= 4 * (r * (1 - r) / trials) ** 0.5 + 1e-9


@pytest.mark.parametrize(
    ("k", "s", "shared", "alone"), [(20, 7, 80, 10), (20, 7, 60, 20), (6, 14, 95, 2), (13, 11, 90, 5)]
)
def test_pairs_become_candidates_with_the_filters_probability(k, s, shared, alone):
    rng = np.random.default_rng(k)
    r = shared / (shared + 2 * alone)
    p = filters.probability(r, k, s)
    trials = 1500
    texts = [t for _ in range(trials) for t in sets_of_resemblance(shared, alone, rng)]
    made = neardup.sketch(texts, recipe(k, s))
    found = int((made.words[0::2] == made.words[1::2]).any(axis=1).sum())
    assert abs(found / trials - p) <= 4 * (p * (1 - p) / trials) ** 0.5 + 1e-9


def test_agreements_are_independent_between_permutations():
    """Their number is binomial: the variance over pairs is n r (1 - r), not more."""
    rng = np.random.default_rng(8)
    texts = [t for _ in range(800) for t in sets_of_resemblance(60, 20, rng)]
    made = neardup.sketch(texts, recipe(140, 1))
    agreed = (made.words[0::2] == made.words[1::2]).sum(axis=1)
    expected = 140 * 0.6 * 0.4
    # the relative error of a variance from m samples is about sqrt(2 / m)
    assert abs(agreed.var() / expected - 1) < 4 * (2 / 800) ** 0.5


def test_p_6_14_2_is_the_papers():
    """Broder, section 1: at 0.975 the formula gives 0.0107 where the paper rounds to "less than 0.01"."""
    assert 1 - filters.probability(0.99, 6, 14, 2) < 0.00022
    assert 1 - filters.probability(0.975, 6, 14, 2) == pytest.approx(0.0107, abs=5e-5)
    assert filters.probability(0.77, 6, 14, 2) < 0.01
    assert filters.probability(0.5, 6, 14, 2) < 0.6e-7
    assert filters.probability(0.9095, 6, 14, 2) == pytest.approx(0.5, abs=0.005)


@pytest.mark.parametrize("threshold", [0.2, 0.5, 0.75, 0.8, 0.9, 0.95, 0.99, 1.0])
@pytest.mark.parametrize("recall", [0.5, 0.9, 0.99, 0.999])
def test_the_chosen_filter_keeps_its_promise_and_no_sharper_one_would_fit(threshold, recall):
    chosen = filters.choose_filter(threshold, recall, 256)
    assert chosen.probability(threshold) >= recall
    assert chosen.permutations <= 256
    for s in range(1, 256):
        for k in range(1, 256 // s + 1):
            if filters.probability(threshold, k, s) >= recall:
                assert filters.area(chosen.k, chosen.s, threshold) <= filters.area(k, s, threshold) + 1e-9
                break


@pytest.mark.parametrize("threshold", [0.4, 0.5, 0.65, 0.8, 0.85, 0.9, 0.95, 1.0])
@pytest.mark.parametrize(("k", "permutations", "r"), [(6, 96, 1), (20, 4000, 1), (6, 84, 2)])
def test_the_largest_s_keeps_the_recall_and_the_next_one_does_not(threshold, k, permutations, r):
    recall = 0.95 if r == 1 else 0.6
    s = filters.largest_s(threshold, recall, k, permutations, r=r)
    assert filters.probability(threshold, k, s, r) >= recall
    assert k * s <= permutations
    assert k * (s + 1) > permutations or filters.probability(threshold, k, s + 1, r) < recall


def test_too_few_features_for_a_threshold_are_refused_with_the_number_that_would_do():
    with pytest.raises(neardup.RecipeError, match=r"recall 0.95 at threshold 0.3 needs at least 9 features.* k = 6"):
        filters.largest_s(0.3, 0.95, 6, 96)
    assert filters.largest_s(0.3, 0.95, 9, 96) == 1
    with pytest.raises(neardup.RecipeError, match="k = 100 features > permutations = 96"):
        filters.largest_s(0.9, 0.95, 100, 96)


def test_area_is_the_integral():
    steps = 20000
    x = (np.arange(steps) + 0.5) / steps * 0.8
    assert filters.area(20, 7, 0.8) == pytest.approx(float(np.mean(1 - (1 - x**7) ** 20) * 0.8), abs=1e-7)


@pytest.mark.parametrize(("threshold", "n"), [(0.8, 140), (0.5, 105), (0.95, 128), (1.0, 144)])
def test_least_agreement_misses_one_in_ten_thousand(threshold, n):
    c = filters.least_agreement(threshold, n)

    def below(c):
        return sum(comb(n, i) * threshold**i * (1 - threshold) ** (n - i) for i in range(c))

    assert below(c) <= 1e-4
    assert c == n or below(c + 1) > 1e-4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1.5, 0.99), "threshold = 1.5"),
        ((0.0, 0.99), "threshold = 0.0"),
        ((float("nan"), 0.99), "threshold = nan"),
        ((0.8, 1.0), "recall = 1.0"),
        ((0.1, 0.99, 20), "needs at least 44 permutations, and 20 are allowed"),
    ],
)
def test_what_cannot_be_chosen_is_refused_with_the_numbers(arguments, message):
    with pytest.raises(neardup.RecipeError, match=message):
        filters.choose_filter(*arguments)


def test_words_shingles_and_features_have_three_polynomials():
    """Broder, section 3: to avoid dependencies, features are fingerprinted with another irreducible polynomial."""
    sketcher = neardup.load_recipe("altavista").sketcher
    words, shift, _ = sketcher.rabin
    features = sketcher._features
    first, second = rabin.choose_polynomial(64, 1), rabin.second_polynomial(rabin.choose_polynomial(64, 1))
    third = rabin.second_polynomial(second)
    assert len({first, second, third}) == 3
    assert all(rabin.is_irreducible(p) for p in (first, second, third))
    assert (words == rabin.push_table(first)).all()
    assert (features == rabin.push_table(third)).all()
    assert shift[0, 1] == second % 2**64  # x^64 modulo the second
