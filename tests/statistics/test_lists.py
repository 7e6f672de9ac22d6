"""Pugh's lists behave as dealing at random does, within the binomial error: 4 standard deviations at fixed seeds."""

import numpy as np
import pytest

from neardup.kernels import lists as kernel
from tests.naive import lists as naive


def fingerprints(documents, lists, repetitions, *, ordered, seed):
    ends = np.cumsum([len(d) for d in documents]).astype(np.int64)
    out = np.empty((len(documents), lists * repetitions), np.uint64)
    kernel.list_fingerprints(np.concatenate(documents), ends, lists, repetitions, ordered, seed, out)
    return out.reshape(len(documents), repetitions, lists)


def test_the_formula_at_small_numbers():
    """Two lists, two edits: both are hit in 2 of 4 cases. Four lists need four edits: 4!/4^4."""
    assert naive.all_changed(2, 1) == 0
    assert naive.all_changed(2, 2) == pytest.approx(0.5)
    assert naive.all_changed(4, 3) == pytest.approx(0, abs=1e-12)
    assert naive.all_changed(4, 4) == pytest.approx(24 / 256)


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize(("n", "e"), [(2, 1), (2, 2), (4, 3), (4, 4), (4, 8), (4, 20), (6, 15), (10, 30)])
def test_all_fingerprints_change_with_the_probability_of_occupancy(n, e, ordered):
    rng = np.random.default_rng(100 * n + e)
    collections, repetitions = 40, 100
    changed = 0
    for seed in range(collections):
        words = rng.integers(0, 2**64 - 1, 150, np.uint64)
        text = rng.choice(words, 400)
        edited = rng.choice(np.unique(text), e, replace=False)
        removed, added = edited[: e // 2], np.repeat(edited[e // 2 :], 2)
        other = np.concatenate([text[~np.isin(text, removed)], added])
        assert kernel.edits(text, other) == e
        before, after = fingerprints([text, other], n, repetitions, ordered=ordered, seed=seed)
        changed += int((before != after).all(axis=1).sum())
    p = naive.all_changed(n, e)
    trials = collections * repetitions
    assert abs(changed / trials - p) <= 4 * (p * (1 - p) / trials) ** 0.5 + 1e-9


@pytest.mark.parametrize("lists", [3, 8])
def test_words_are_dealt_evenly(lists):
    """Also consecutive numbers, and independently in each repetition."""
    n = 6000
    singles = [np.array([w], np.uint64) for w in range(n)]
    dealt = fingerprints(singles, lists, 2, ordered=False, seed=5) != 0
    p = 1 / lists
    assert (np.abs(dealt.mean(axis=0) - p) <= 4 * (p * (1 - p) / n) ** 0.5).all()
    together = (dealt[:, 0] & dealt[:, 1]).any(axis=1).mean()
    assert abs(together - p) <= 4 * (p * (1 - p) / n) ** 0.5
