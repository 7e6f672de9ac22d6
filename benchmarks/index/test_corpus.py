"""The corpus is a function of its numbers, its copies are copies, and wrong answers are counted as such."""

import numpy as np
import pytest

from benchmarks.index.corpus import EVERY, LENGTH, OUTSIDE, WORDS, Answers, Corpus, id_of, number_of
from neardup import resemblance


@pytest.fixture(scope="module")
def corpus():
    return Corpus()


def test_a_document_does_not_depend_on_its_batch(corpus):
    whole = corpus.batch(0, 300)
    parts = corpus.batch(0, 77).documents + corpus.batch(77, 223).documents
    assert whole.documents == parts
    assert len({document["text"] for document in whole.documents}) == 300
    assert [number_of(document["id"]) for document in whole.documents] == list(range(300))


def test_every_tenth_is_an_earlier_one_with_another_sentence(corpus):
    batch = corpus.batch(1_000, 200)
    copies = np.flatnonzero(batch.roots != batch.numbers)
    assert copies.tolist() == list(range(9, 200, EVERY))
    assert (batch.roots[copies] < batch.numbers[copies]).all()
    shingles, changed = LENGTH * WORDS - 4, WORDS + 4  # of 5 words; fewer where the sentence is the first or last
    for i in copies.tolist():
        (original,) = corpus.batch(int(batch.roots[i]), 1).documents
        found = resemblance(batch.documents[i]["text"], original["text"]).resemblance
        assert (shingles - changed) / (shingles + changed) - 0.01 < found < 0.95
        stranger = batch.documents[i - 1]["text"]
        assert resemblance(batch.documents[i]["text"], stranger).resemblance < 0.1


def test_documents_from_outside_copy_what_is_stored(corpus):
    batch = corpus.batch(OUTSIDE, 1_000, among=500)
    copies = batch.roots != batch.numbers
    assert copies.sum() == 1_000 / EVERY
    assert batch.roots[copies].max() < 500
    assert (batch.roots[copies] % EVERY != EVERY - 1).all()  # of originals, never of copies
    assert (corpus.batch(OUTSIDE, 100).roots >= OUTSIDE).all()


def test_copies_of_settled_documents_alone():
    corpus = Corpus(settled=100)
    roots = corpus.roots(np.arange(5_000))
    assert roots[roots != np.arange(5_000)].max() < 100


def test_wrong_answers_are_counted(corpus):
    batch = corpus.batch(100, 30)
    right = [
        id_of(root) if root != number else None
        for number, root in zip(batch.numbers.tolist(), batch.roots.tolist(), strict=True)
    ]
    answers = Answers(corpus)
    answers.take(batch, right)
    assert answers.told() == {"documents": 30, "copies": 3, "missed": 0, "false": 0}
    answers.take(batch, [None] * 30)
    assert (answers.missed, answers.false) == (3, 0)
    answers.take(batch, [id_of(1)] * 30)
    assert (answers.missed, answers.false) == (3, 30)
