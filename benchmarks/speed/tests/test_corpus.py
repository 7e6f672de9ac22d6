"""The corpus is a function of its parameters, has the planted resemblances, and strangers stay strangers."""

import numpy as np
import pyarrow.parquet as pq
import pytest

from benchmarks.speed import corpus, planting, truth, vocabulary


@pytest.fixture(scope="module")
def words():
    return vocabulary.vocabulary("latin", seed=1)


def test_text_does_not_depend_on_the_batch(words):
    planned = planting.plan(300, mean_words=200, seed=5)
    whole = corpus.texts(planned, words, 0, 300).to_pylist()
    parts = corpus.texts(planned, words, 0, 77).to_pylist() + corpus.texts(planned, words, 77, 300).to_pylist()
    assert whole == parts


def test_planted_clusters_resemble_as_planned(words):
    planned = planting.plan(2_000, mean_words=400, seed=5)
    found = truth.all_pairs(corpus.texts(planned, words, 0, 2_000).to_pylist())
    left, right, resemblance = found
    same = (planned.cluster[left] == planned.cluster[right]) & (planned.cluster[left] >= 0)
    assert (resemblance[~same] < 0.6).all()
    exact = same & (planned.kind[left] == planting.EXACT)
    assert (resemblance[exact] == 1.0).all()
    sizes = np.bincount(planned.cluster[planned.kind == planting.EXACT])
    assert exact.sum() == (sizes * (sizes - 1) // 2).sum()
    near = resemblance[same & (planned.kind[left] == planting.NEAR)]
    assert (np.histogram(near, bins=np.linspace(0.3, 1.0, 8))[0] > 0).all()


def test_file_is_what_was_asked_for(tmp_path):
    for script in vocabulary.SCRIPTS:
        made = corpus.build(corpus.Parameters(200, script), tmp_path)
        table = pq.read_table(made.path)
        assert table.column_names == ["id", "text", "url", "score"]
        assert len(table) == len(set(table.column("id").to_pylist())) == 200
        assert 2_300 < made.facts["mean_document_bytes"] < 4_200
        assert all(text.isascii() for text in table.column("text").to_pylist()) == (script == "ascii")
        table.validate(full=True)
