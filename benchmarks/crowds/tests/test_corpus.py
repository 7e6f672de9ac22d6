"""A crowd has the resemblances that were asked for, for every pair; unrelated documents share nothing."""

import itertools

import numpy as np
import pyarrow as pa
import pytest

from benchmarks.crowds import corpus
from benchmarks.crowds.corpus import Parameters
from benchmarks.speed.truth import all_pairs

ROWS = [
    (0.79, 0.85, 0.80),
    (0.75, 0.82, 0.80),
    (0.70, 0.85, 0.80),
    (0.60, 0.81, 0.80),
    (0.64, 0.70, 0.65),
    (0.60, 0.70, 0.65),
    (0.80, 0.88, 0.85),
]


@pytest.mark.parametrize(("between", "duplicate", "threshold"), ROWS)
@pytest.mark.parametrize("edits", corpus.EDITS)
@pytest.mark.parametrize("blocks", [1, 3])
def test_every_pair_of_a_crowd_resembles_as_asked_for(between, duplicate, threshold, edits, blocks):
    parameters = Parameters(60, between, duplicate, "shuffled", edits=edits, blocks=blocks, seed=7)
    made = corpus.crowd(parameters)
    texts = made.documents.column("text").to_pylist()
    exact = {(a, b): r for a, b, r in zip(*all_pairs(texts), strict=True)}
    original_of = {int(row["duplicate"]): int(row["original"]) for row in made.truth.to_pylist()}
    true = {(min(pair), max(pair)) for pair in original_of.items()}
    originals = sorted(original_of.values())
    assert len(true) == len(set(originals)) == 60
    of_duplicates = np.array([exact[pair] for pair in true])
    of_originals = np.array([exact[pair] for pair in itertools.combinations(originals, 2)])
    assert abs(of_duplicates.mean() - duplicate) < 0.005
    assert abs(of_originals.mean() - between) < 0.005
    assert of_duplicates.min() > threshold
    assert all(r < threshold for pair, r in exact.items() if pair not in true)
    assert made.layout.between == pytest.approx(of_originals.mean())
    assert made.layout.duplicate == pytest.approx(of_duplicates.mean())


def test_sampled_resemblances_are_those_of_the_definition():
    made = corpus.crowd(Parameters(500, 0.79, 0.85))
    found = corpus.resemblances(made, pairs=200)
    assert {kind: len(values) for kind, values in found.items()} == dict.fromkeys(found, 200)
    assert np.allclose(found["between"], made.layout.between)
    assert np.allclose(found["duplicate"], made.layout.duplicate)
    assert np.allclose(found["strangers"], made.layout.between), "new words in place of own ones: a stranger to all"
    assert found["duplicates"].max() < 0.8


def test_new_words_in_place_of_the_template_resemble_the_other_originals_less():
    made = corpus.crowd(Parameters(500, 0.79, 0.85, edits="template"))
    found = corpus.resemblances(made, pairs=200)
    assert found["strangers"].max() < made.layout.between - 0.05
    assert np.allclose(found["duplicate"], made.layout.duplicate)


def test_equal_parameters_give_equal_crowds_and_other_seeds_others():
    one, again, other = (corpus.crowd(Parameters(50, 0.75, 0.82, seed=seed)) for seed in (1, 1, 2))
    assert one.documents == again.documents
    assert one.truth == again.truth
    assert one.documents.column("text") != other.documents.column("text")


def test_originals_come_first_unless_shuffled():
    first, shuffled = (corpus.crowd(Parameters(50, 0.75, 0.82, order)) for order in corpus.ORDERS)
    assert sorted(map(int, first.truth.column("original").to_pylist())) == list(range(50))
    assert sorted(map(int, shuffled.truth.column("original").to_pylist())) != list(range(50))
    assert sorted(first.documents.column("text").to_pylist()) == sorted(shuffled.documents.column("text").to_pylist())


def test_documents_stand_on_hosts_of_their_own_or_on_one():
    own, one = (corpus.crowd(Parameters(20, 0.64, 0.70, hosts=hosts)) for hosts in corpus.HOSTS)
    assert len({url.split("/")[2] for url in own.documents.column("url").to_pylist()}) == 40
    assert len({url.split("/")[2] for url in one.documents.column("url").to_pylist()}) == 1
    assert len(set(one.documents.column("url").to_pylist())) == 40


def test_what_cannot_be_made_is_refused():
    with pytest.raises(ValueError, match="try fewer blocks"):
        corpus.crowd(Parameters(10, 0.95, 0.97, blocks=9))
    with pytest.raises(ValueError, match="there are words for at most"):
        corpus.crowd(Parameters(1_000_000, 0.79, 0.85))


def test_unrelated_documents_share_no_shingle():
    table = corpus.unrelated(300)
    assert table.column_names == ["id", "text", "url"]
    left, _, _ = all_pairs(table.column("text").to_pylist(), floor=1e-9)
    assert not len(left)
    lengths = [len(text.split()) for text in table.column("text").to_pylist()]
    assert set(lengths) == {274}


def test_the_command_writes_the_crowd_and_its_truth(tmp_path, capsys):
    file = tmp_path / "crowd.parquet"
    assert corpus.main([str(file), "--originals", "30", "--between", "0.7", "--duplicate", "0.85"]) == 0
    assert pa.parquet.read_table(file).num_rows == 60
    assert pa.parquet.read_table(file.with_suffix(".truth.parquet")).num_rows == 30
    assert '"duplicate": 0.85' in capsys.readouterr().out
