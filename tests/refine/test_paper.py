"""The shape of Jain, Dahlin, Tewari, section 3.2, on a list that is made for it, and their emacs manuals."""

import random
from itertools import pairwise

import numpy as np
import pytest

from neardup.kernels import bloom
from neardup.recipes import load_recipe
from neardup.refine import group
from neardup.refine.signature import batch_of
from tests.refine.lists import edited, words

DEGREES = (0.5, 0.6, 0.7, 0.8, 0.9)


def results(n: int = 493) -> list[str]:
    """Half are copies of others, with more or less changed."""
    rng = random.Random(7)
    made: list[list[str]] = []
    while len(made) < n:
        if made and rng.random() < 0.5:
            made.append(edited(rng, rng.choice(made), rng.choice([0.01, 0.02, 0.05, 0.1, 0.15, 0.2])))
        else:
            made.append(words(rng, rng.randint(150, 400)))
    return [" ".join(text) for text in made]


def manuals() -> list[str]:
    """One table of contents on four servers, each with a header and a disclaimer of its own."""
    rng = random.Random(19)
    chapters = [" ".join(words(rng, rng.randint(4, 9))) for _ in range(120)]
    heads = [" ".join(words(rng, 40)) for _ in range(4)]
    feet = [" ".join(words(rng, 30)) for _ in range(4)]
    return ["\n".join([head, *chapters, foot]) for head, foot in zip(heads, feet, strict=True)]


def clusters_of_the_paper(texts: list[str], degree: float) -> int:
    """Their filters, joined by union-find."""
    sketcher = load_recipe("bloom").sketcher
    made = sketcher.sketch(batch_of([text.encode() for text in texts]))
    filters = sketcher._filters(made.ragged)
    parent = np.empty(len(texts), np.int64)
    bloom.group(filters.values, filters.offsets, degree, parent)
    return len(set(parent.tolist()))


@pytest.fixture(scope="module")
def listed() -> list[dict]:
    return [{"text": text} for text in results()]


def test_duplicates_fall_with_a_rising_threshold(listed):
    """With stars that is no law: a new anchor may take in what was alone before. By a hundredth it may rise."""
    groups = [len(group(listed, threshold=degree)) for degree in DEGREES]
    assert all(later >= earlier - 5 for earlier, later in pairwise(groups))
    shares = [1 - found / len(listed) for found in groups]
    assert shares[0] > 0.3
    assert shares[-1] < shares[2] - 0.1 < shares[0] - 0.15


def test_so_they_do_with_the_papers_filters():
    texts = results()
    found = [clusters_of_the_paper(texts, degree) for degree in DEGREES]
    assert found == sorted(found)
    assert found[-1] - found[0] > 50


def test_four_mirrored_manuals_are_one_group():
    rng = random.Random(3)
    texts = [*manuals(), *(" ".join(words(rng, 700)) for _ in range(16))]
    ranked = random.Random(5).sample(texts, len(texts))
    grouped = group([{"text": text} for text in ranked], threshold=0.7)
    assert sorted(len(one.members) for one in grouped.groups) == [0] * 16 + [3]
    best = min(ranked.index(text) for text in manuals())
    assert [one.anchor for one in grouped.groups if one.members] == [best]
    assert {m.relation for one in grouped.groups for m in one.members} == {"near"}
