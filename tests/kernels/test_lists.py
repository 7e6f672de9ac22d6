import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels import lists as kernel
from tests import scored
from tests.naive import lists as naive

words = st.integers(0, 12) | st.integers(0, 2**64 - 1)
texts = st.lists(words, max_size=40)
seeds = st.integers(0, 2**63 - 1) | st.integers(0, 3)


def fingerprints(collection, *, lists=4, repetitions=3, ordered=False, seed=1):
    ends = np.cumsum([len(d) for d in collection]).astype(np.int64)
    flat = np.array([x for d in collection for x in d], np.uint64)
    out = np.full((len(collection), lists * repetitions), 99, np.uint64)
    kernel.list_fingerprints(flat, ends, lists, repetitions, ordered, seed, out)
    return out


def array(numbers):
    return np.array(numbers, np.uint64)


@given(st.lists(texts, max_size=4), st.integers(1, 9), st.integers(1, 4), st.booleans(), seeds)
def test_list_fingerprints(collection, lists, repetitions, ordered, seed):
    out = fingerprints(collection, lists=lists, repetitions=repetitions, ordered=ordered, seed=seed)
    expected = [naive.list_fingerprints(d, lists, repetitions, ordered=ordered, seed=seed) for d in collection]
    assert out.tolist() == expected


@given(texts, texts)
def test_edits(a, b):
    assert kernel.edits(array(a), array(b)) == naive.edits(a, b) == kernel.edits(array(b), array(a))


def test_edits_count_words_not_occurrences():
    text = array([1, 2, 2, 3, 3, 3])
    assert kernel.edits(text, text[::-1].copy()) == 0
    assert kernel.edits(text, array([1, 2, 2])) == 1
    assert kernel.edits(text, array([1, 2, 3, 3, 3])) == 1
    assert kernel.edits(text, array([1, 1, 1, 1, 2, 2, 3, 3, 3])) == 1
    assert kernel.edits(text, array([1, 2, 2, 9, 9, 9])) == 2, "a replacement is two edits"
    assert kernel.edits(text, array([])) == 3
    assert kernel.edits(array([]), array([])) == 0


@given(st.lists(words, min_size=1, max_size=40), words, st.integers(1, 3), st.integers(1, 9), seeds)
def test_one_edit_changes_one_order_free_fingerprint_per_repetition(text, word, times, lists, seed):
    removed = [w for w in text if w != text[0]]
    added = text + [word] * times
    for other in (removed, added):
        assert naive.edits(text, other) == 1
        before, after = fingerprints([text, other], lists=lists, repetitions=5, seed=seed).reshape(2, 5, lists)
        assert (before != after).sum(axis=1).tolist() == [1] * 5


def test_moved_text_changes_ordered_fingerprints_only():
    text = list(range(200))
    moved = text[100:] + text[:100]
    assert naive.edits(text, moved) == 0
    before, after = fingerprints([text, moved], ordered=False)
    assert (before == after).all()
    before, after = fingerprints([text, moved], ordered=True)
    assert (before != after).all(), "every list of about 50 words has words from both halves"


def test_a_word_goes_to_the_same_list_wherever_it_stands():
    out = fingerprints([[5, 5, 5], [5], [5, 5]], lists=7, repetitions=6)
    assert ((out != 0).sum(axis=1) == 6).all()
    assert ((out[0] != 0) == (out[1] != 0)).all()
    assert (out[0] != out[2])[out[0] != 0].all(), "occurrences count"


def test_lists_and_repetitions_know_their_number():
    """The same single word in all repetitions: no two of its fingerprints are equal."""
    out = fingerprints([[w] for w in range(20)], lists=3, repetitions=8)
    filled = out[out != 0]
    assert len(filled) == 20 * 8
    assert len(np.unique(filled)) == 20 * 8
    assert naive.fingerprint([7], 0, 1, ordered=False) != naive.fingerprint([7], 0, 2, ordered=False)
    assert naive.fingerprint([7], 0, 1, ordered=True) != naive.fingerprint([7], 1, 1, ordered=True)


@pytest.mark.parametrize("ordered", [False, True])
def test_empty_lists_are_zero_and_never_shared(ordered):
    out = fingerprints([[], [1], [2]], lists=50, repetitions=1, ordered=ordered)
    assert (out[0] == 0).all()
    assert scored.shared_lists(out[0], out[0]) == 0
    assert scored.shared_lists(out[1], out[1]) == 1
    assert scored.shared_lists(out[1], out[2]) == 0


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=20))
def test_shared_lists(pairs):
    a, b = array([x for x, _ in pairs]), array([y for _, y in pairs])
    assert scored.shared_lists(a, b) == sum(x == y and x != 0 for x, y in pairs)
