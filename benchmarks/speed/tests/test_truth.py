"""The inverted index against the definition, on texts small enough to compare every pair."""

import itertools
import random
import re

import numpy as np

from benchmarks.speed.truth import all_pairs


def naive(texts, floor):
    def shingles(text):
        words = re.findall(r"[^\W_]+", text.casefold())
        width = min(5, len(words))
        return {tuple(words[i : i + width]) for i in range(len(words) - width + 1)} if words else set()

    sets = [shingles(text) for text in texts]
    for (i, a), (j, b) in itertools.combinations(enumerate(sets), 2):
        if a & b and len(a & b) / len(a | b) >= floor:
            yield i, j, len(a & b) / len(a | b)


def test_equals_the_definition():
    rng = random.Random(3)
    texts = []
    for _ in range(60):
        words = [f"w{rng.randrange(40)}" for _ in range(rng.randrange(0, 60))]
        texts += [" ".join(words), ", ".join(words[: len(words) * 9 // 10]).upper()]
    expected = list(naive(texts, 0.3))
    left, right, resemblance = all_pairs(texts, floor=0.3)
    assert list(zip(left.tolist(), right.tolist(), strict=True)) == [(i, j) for i, j, _ in expected]
    np.testing.assert_allclose(resemblance, [r for _, _, r in expected], rtol=0, atol=1e-15)


def test_no_texts_no_pairs():
    assert [len(part) for part in all_pairs([])] == [0, 0, 0]
    assert [len(part) for part in all_pairs(["", "…"])] == [0, 0, 0]
