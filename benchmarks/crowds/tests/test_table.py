"""Scores follow from what was removed; the table is made by real runs of small crowds."""

import json

import pytest

from benchmarks.crowds import __main__ as crowds
from benchmarks.crowds import systems
from benchmarks.crowds.scores import digest, score

PAIRS = [("d1", "o1"), ("d2", "o2"), ("d3", "o3"), ("d4", "o4")]


def test_one_of_a_pair_is_enough_for_recall():
    found = score({"d1": "o1", "o2": "d2"}, PAIRS)
    assert (found.recall, found.precision, found.lost) == (0.5, 1.0, 0)
    low, high = found.interval
    assert low < 0.5 < high


def test_a_document_removed_for_another_than_its_duplicate_is_wrong():
    found = score({"d1": "o2", "d2": "o2"}, PAIRS)
    assert (found.recall, found.precision, found.lost) == (0.5, 0.5, 0)


def test_without_reasons_a_removal_is_right_where_the_near_duplicate_was_kept():
    found = score(dict.fromkeys(["d1", "o1", "d2"]), PAIRS)
    assert (found.recall, found.precision, found.lost) == (0.5, pytest.approx(1 / 3), 1)


def test_nothing_removed_has_no_precision():
    assert score({}, PAIRS).precision is None
    assert score({}, PAIRS).recall == 0.0


def test_answers_are_equal_where_the_same_was_removed_for_the_same():
    assert digest({"a": "b", "c": "d"}) == digest({"c": "d", "a": "b"})
    assert digest({"a": "b"}) != digest({"a": "c"})


@pytest.fixture
def runs(tmp_path, capsys):
    def run(*arguments):
        results = tmp_path / "crowds.json"
        code = crowds.main([*arguments, "--work", str(tmp_path / "work"), "--results", str(results)])
        return code, json.loads(results.read_text()), capsys.readouterr().out

    return run


def test_local_engine_and_index_are_measured_and_compared(runs):
    asked = ("--rows", "4", "--sizes", "80", "--orders", "shuffled", "--unrelated", "300")
    code, found, printed = runs(*asked, "--systems", "local", "index")
    assert code == 0
    assert [row["system"] for row in found["rows"]] == ["local", "index"]
    for row in found["rows"]:
        assert row["recall"] >= 0.95, "0.60/0.81 at 80 originals is easy"
        assert row["precision"] == 1.0
        assert row["removed"] == round(row["recall"] * 80)
        assert row["peak_mb"] > 50
        assert row["relative"]["work_cpu_seconds"] > 0
    assert {row["removed"] for row in found["unrelated"]} == {0}
    assert printed.count("| default 0.60/0.81 | 80 | shuffled |") == 2
    assert "| yes |" in printed


def test_cases_that_are_not_run_again_stay_and_different_answers_are_told(runs, monkeypatch):
    def answered(system, file, recipe, work, *, threshold=0.8):
        removed = {"0000001": "0000000"} if system == "local" else {}
        return systems.Outcome(removed, 1.0, 1.0, 1.0, 1.0, 100_000_000)

    monkeypatch.setattr(systems, "run", answered)
    asked = ("--rows", "1", "--sizes", "20", "--orders", "shuffled", "--unrelated", "0")
    code, found, _ = runs(*asked, "--systems", "local")
    assert (code, len(found["rows"])) == (0, 1)
    code, found, printed = runs(*asked, "--systems", "spark")
    assert (code, len(found["rows"])) == (1, 2)
    assert "| NO |" in printed
    code, found, _ = runs(*asked, "--systems", "spark", "--fresh")
    assert (code, len(found["rows"])) == (0, 1)
