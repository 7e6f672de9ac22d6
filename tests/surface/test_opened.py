"""A finished run, opened again: the same answers, from the folder alone."""

import json
import os
import shutil

import numpy as np
import pyarrow as pa
import pytest

import neardup
from neardup import sample
from neardup.comparing.marked import segments
from neardup.errors import InputError, WorkError
from tests.surface.conftest import run


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    sample.write(folder, scale=0.1)
    return folder


def finished(source, out, **more):
    result = neardup.dedup(source, work=out / "work", **more)
    result.write(out, corpus=False, report=False)
    return result


@pytest.mark.parametrize("what", ["pages.jsonl", "pages.parquet", "html", "pages.warc.gz"])
def test_it_gives_the_answers_of_the_run(pages, tmp_path, what):
    result = finished(pages / what, tmp_path, keep="longest", threshold=0.7)
    again = neardup.Result.open(tmp_path)
    assert again.recipe == result.recipe
    assert again.counts == result.counts
    assert again.removed.equals(result.removed)
    assert again.groups.equals(result.groups)
    assert again.kept.equals(result.kept)
    assert again.said == result.said
    assert [s.name for s in again.steps] == [s.name for s in result.steps]
    some = result.decision.removed[:5].tolist()
    assert again.texts(some) == result.texts(some)
    first = result.removed["id"][0].as_py()
    assert again.explain(first) == result.explain(first)


def test_texts_are_what_was_compared(tmp_path):
    rows = [
        {"id": str(i), "text": f"Document number {i} of the collection, with a text of its own: {i * 7}."}
        for i in range(50)
    ]
    result = neardup.dedup(rows)
    assert result.texts([3, 41, 7]) == {i: rows[i]["text"] for i in (3, 7, 41)}
    assert result.texts([]) == {}
    page = "<nav>menu</nav><main>What the page is about, and nothing else at all.</main>"
    shown = neardup.dedup([{"id": "a", "html": page}]).texts([0])[0]
    assert "What the page" in shown
    assert "menu" not in shown
    terms = neardup.dedup([{"id": "a", "html": page}], recipe="alg-b").texts([0])[0]
    assert "menu" in terms


def test_it_does_not_matter_where_one_stands(pages, tmp_path, monkeypatch):
    monkeypatch.chdir(pages)
    finished("pages.jsonl", tmp_path / "out")
    monkeypatch.chdir("/")
    again = neardup.Result.open(tmp_path / "out")
    assert len(again.texts([0, 1])) == 2


def test_what_came_on_standard_input_moves_with_the_folder(pages, tmp_path):
    with (pages / "pages.jsonl").open() as file:
        done = run("dedup", "-", "-o", tmp_path / "out", "--no-report", "-q", stdin=file)
    assert done.returncode == 0, done.stderr
    (tmp_path / "out").rename(tmp_path / "moved")
    assert len(neardup.Result.open(tmp_path / "moved").texts([0, 1])) == 2


def test_another_extractor_is_noticed(pages, tmp_path):
    finished(pages / "html", tmp_path)
    plan = json.loads((tmp_path / "work/plan.json").read_text())
    (tmp_path / "work/plan.json").write_text(json.dumps({**plan, "extractor": "resiliparse 0.0.1"}))
    with pytest.raises(WorkError, match=r"read by resiliparse 0\.0\.1"):
        neardup.Result.open(tmp_path)


def test_a_run_that_is_not_verified(pages, tmp_path):
    result = finished(pages / "pages.jsonl", tmp_path, threshold=0.7, verify="none")
    assert neardup.Result.open(tmp_path).removed.equals(result.removed)


def test_a_table_that_parquet_cannot_hold_cannot_be_opened_again(tmp_path):
    spans = pa.array([(1, 2, 3), (4, 5, 6)], pa.month_day_nano_interval())
    result = neardup.dedup(pa.table({"id": ["a", "b"], "text": ["one two three", "one two three"], "span": spans}))
    result.write(tmp_path, corpus=False)
    assert "The table cannot be stored as Parquet" in result.said[-1]
    with pytest.raises(WorkError, match="table in memory, which is not stored"):
        neardup.Result.open(tmp_path)


@pytest.mark.parametrize("gone", ["work", "work/inputs.json", "work/plan.json", "work/decision.arrow", "work/sketches"])
def test_what_is_missing_is_named(pages, tmp_path, gone):
    finished(pages / "pages.jsonl", tmp_path)
    path = tmp_path / gone
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    with pytest.raises(WorkError, match="Run `neardup dedup"):
        neardup.Result.open(tmp_path)


def test_no_run_at_all(tmp_path):
    with pytest.raises(InputError, match=r"no run\.json"):
        neardup.Result.open(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"no run\.json"):
        neardup.Result.open(tmp_path / "file")
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(InputError, match="cannot be read"):
        neardup.Result.open(tmp_path)


def test_inputs_that_changed(pages, tmp_path):
    source = tmp_path / "pages.jsonl"
    shutil.copy(pages / "pages.jsonl", source)
    finished(source, tmp_path / "out")
    again = neardup.Result.open(tmp_path / "out")
    with source.open("a") as file:
        file.write(json.dumps({"id": "new", "text": "more"}) + "\n")
    with pytest.raises(InputError, match="changed"):
        again.texts([0])
    os.unlink(source)
    assert again.counts["documents"] > 0
    with pytest.raises(InputError):
        again.texts([0])


def joined(found, side):
    return "".join(getattr(s, side) for s in found)


def test_segments_hold_both_texts():
    one = "The ferry leaves at nine, at noon and at six. Visitors so far: 5432. " * 3
    other = one.replace("noon", "one", 1).replace("5432", "5440 or more")
    found = segments(one, other, context=1000)
    assert joined(found, "first") == one
    assert joined(found, "second") == other
    assert [s.first.split()[0] for s in found if s.kind == "differs"] == ["noon", "5432.", "5432.", "5432."]


@pytest.mark.parametrize(("one", "other"), [("", ""), ("a b c", ""), ("", "x y"), ("same words", "Same, words!")])
def test_segments_of_hardly_anything(one, other):
    found = segments(one, other)
    assert joined(found, "first") == one
    assert joined(found, "second") == other


def test_segments_have_a_bounded_size():
    words = [f"w{i}" for i in range(50_000)]
    changed = list(words)
    for i in np.random.default_rng(1).integers(0, 50_000, 3000):
        changed[int(i)] = "other"
    found = segments(" ".join(words), " ".join(changed), room=5000)
    assert sum(len(s.first) + len(s.second) for s in found) <= 5000
    assert found[-1].kind == "passed"
    whole = segments(" ".join(words), " ".join(words), room=1000)
    assert [s.kind for s in whole] == ["same", "passed"]
    assert len(whole[0].first) == 500
    assert whole[1].tokens == 50_000
