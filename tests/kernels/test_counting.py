from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels import counting as kernel
from tests.naive.sampling import MASK, P, mix

keys_of = st.lists(st.integers(0, 50) | st.integers(0, 2**64 - 1), max_size=60)
seeds = st.integers(0, 2**63 - 1) | st.integers(0, 3)
sizes = st.sampled_from([1, 2, 8, 64])


def counter_of(key: int, seed: int, words: int) -> tuple[int, int]:
    """Word and place of a key's counter, by the definition."""
    h = mix((key + mix((seed + 1) * P & MASK)) & MASK)
    return h & words - 1, h >> 59


def array(numbers):
    return np.array(numbers, np.uint64)


def survivors(keys, seed, bitmap):
    mask = np.zeros(len(keys), bool)
    assert kernel.shared(keys, seed, bitmap, mask) == mask.sum()
    return mask


@given(keys_of, keys_of, seeds, sizes)
def test_counters(first, second, seed, words):
    bitmap = np.zeros(words, np.uint64)
    kernel.count(array(first), seed, bitmap)
    kernel.count(array(second), seed, bitmap)
    counts = Counter(counter_of(key, seed, words) for key in first + second)
    for word in range(words):
        for place in range(kernel.PER_WORD):
            assert int(bitmap[word]) >> 2 * place & 3 == (0, 1, 3)[min(2, counts[word, place])]
    mask = survivors(array(first + second), seed, bitmap)
    assert mask.tolist() == [counts[counter_of(key, seed, words)] > 1 for key in first + second]


@given(keys_of, st.lists(seeds, min_size=1, max_size=4), sizes)
def test_a_key_that_occurs_twice_is_never_discarded(keys, passes, words):
    left = array(keys)
    for seed in passes:
        bitmap = np.zeros(words, np.uint64)
        kernel.count(left, seed, bitmap)
        left = left[survivors(left, seed, bitmap)]
    remaining = Counter(left.tolist())
    for key, times in Counter(keys).items():
        assert remaining[key] == times if times > 1 else remaining[key] <= 1


def test_unique_keys_survive_as_often_as_counters_collide():
    """1 - (1 - 1/C)^(D - 1) of them, pass after pass."""
    keys = np.random.default_rng(2).integers(0, 2**64 - 1, 4000, np.uint64)
    words = 256
    for seed in (1, 2):
        expected = 1 - (1 - 1 / (words * kernel.PER_WORD)) ** (len(keys) - 1)
        bitmap = np.zeros(words, np.uint64)
        kernel.count(keys, seed, bitmap)
        mask = survivors(keys, seed, bitmap)
        # survivors come at least in twos: the deviation of a binomial number of pairs, doubled
        assert abs(mask.mean() - expected) <= 4 * (2 * expected * (1 - expected) / len(keys)) ** 0.5
        keys = keys[mask]


def test_a_bitmap_of_another_size_is_refused():
    for words in (0, 3, 12):
        with pytest.raises(AssertionError):
            kernel.count(array([1]), 1, np.zeros(words, np.uint64))
