"""neardup pairs and neardup recipes, as people use them."""

import csv
import json
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow.parquet as pq
import pytest

import neardup
from tests.surface.conftest import run

PAGES = [
    {
        "id": "a",
        "url": "http://one.example/a",
        "text": "the ferry leaves at nine and at noon and at six " * 4 + "today",
    },
    {"id": "b", "url": "http://two.example/b", "text": "the ferry leaves at nine and at noon and at six " * 4 + "now"},
    {"id": "c", "url": "http://one.example/c", "text": "the ferry leaves at nine and at noon and at six " * 4 + "now"},
    {"id": "d", "url": "http://one.example/d", "text": "a harbour master speaks of nothing but the weather of old"},
]


@pytest.fixture
def pages(tmp_path):
    path = tmp_path / "pages.jsonl"
    path.write_text("".join(json.dumps(p) + "\n" for p in PAGES))
    return path


def test_pairs_in_memory():
    found = neardup.pairs(PAGES, threshold=0.6)
    rows = found.table().to_pylist()
    assert [(r["first"], r["second"]) for r in rows] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert rows[2]["resemblance"] == rows[2]["score"] == 1.0
    assert 0.6 <= rows[0]["resemblance"] < 1.0
    assert [r["measured"] for r in rows] == ["exact", "exact", "identity"]
    assert (rows[0]["first_url"], rows[0]["second_url"]) == ("http://one.example/a", "http://two.example/b")
    assert (found.found, found.cut_short, found.left_out, found.documents) == (3, 0, 0, 4)
    assert found.table().num_rows == 3  # again, from the start


@pytest.mark.parametrize("ending", ["parquet", "jsonl", "csv", "tsv"])
def test_every_format_holds_the_same_rows(pages, tmp_path, ending):
    out = tmp_path / f"pairs.{ending}"
    result = run("pairs", pages, "-o", out, "--threshold", "0.6")
    assert result.returncode == 0, result.stderr
    assert "3 pairs of 4 documents" in result.stderr
    if ending == "parquet":
        rows = pq.read_table(out).to_pylist()
    elif ending == "jsonl":
        rows = [json.loads(line) for line in out.read_text().splitlines()]
    else:
        rows = list(csv.DictReader(out.read_text().splitlines(), delimiter="," if ending == "csv" else "\t"))
    assert [(r["first"], r["second"]) for r in rows] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert float(rows[2]["score"]) == 1.0


def test_standard_output_is_data(pages):
    result = run("pairs", pages, "--recipe", "resemblance", "-q")
    assert result.stderr == ""
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(r["first"], r["second"]) for r in rows] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert (rows[2]["measured"], rows[2]["score"]) == ("identity", 1.0)
    for row in rows[:2]:
        assert row["error"] == pytest.approx((row["score"] * (1 - row["score"]) / 100) ** 0.5)


def test_one_big_cluster_is_bounded_and_told(tmp_path):
    path = tmp_path / "same.jsonl"
    path.write_text(
        "".join(json.dumps({"id": str(i), "text": "one text again and again " * 5}) + "\n" for i in range(50))
    )
    result = run("pairs", path, "--most", "10")
    assert result.returncode == 0, result.stderr
    assert len(result.stdout.splitlines()) == 10 * 9 // 2 + 10 * 40
    assert "39 documents have more than 10 candidates" in result.stderr
    found = neardup.pairs(str(path), most=10)
    assert found.table().num_rows == 445
    assert found.cut_short == 39
    assert found.left_out == 50 * 49 // 2 - 445


def test_nothing_is_written_over(pages, tmp_path):
    before = pages.read_bytes()
    for out in (pages, tmp_path / "folder/x.jsonl"):
        result = run("pairs", pages.parent if out != pages else pages, "-o", out, "--overwrite")
        assert result.returncode == 2
        assert "lies in the input" in result.stderr
    assert pages.read_bytes() == before
    with TemporaryDirectory() as elsewhere:
        there = Path(elsewhere) / "notes.csv"
        there.write_text("mine")
        assert "is there already" in run("pairs", pages, "-o", there).stderr
        assert there.read_text() == "mine"
        assert run("pairs", pages, "-o", there, "--overwrite").returncode == 0
        assert there.read_text() != "mine"


def test_what_cannot_be_written_is_refused_before_anything_is_read(pages):
    result = run("pairs", pages, "-o", "pairs.xlsx")
    assert result.returncode == 2
    assert ".parquet, .jsonl, .csv, .tsv" in result.stderr
    with pytest.raises(neardup.UsageError, match="most = 0"):
        neardup.pairs(PAGES, most=0)


def test_recipes_are_listed_with_source_and_parameters():
    listed = run("recipes")
    assert listed.returncode == 0
    for name in neardup.recipe_names():
        assert name in listed.stdout
    assert "Henzinger" in listed.stdout
    assert "k=6 s=14 r=2" in listed.stdout
    rows = [json.loads(line) for line in run("recipes", "--json").stdout.splitlines()]
    assert [r["name"] for r in rows] == neardup.recipe_names()
    assert all(r["source"] and r["use"] and r["sketch"]["kind"] for r in rows)


@pytest.mark.parametrize("name", neardup.recipe_names())
def test_a_recipe_printed_and_used_as_a_file_is_the_same(tmp_path, name):
    path = tmp_path / "mine.toml"
    path.write_text(run("recipes", name).stdout)
    assert neardup.load_recipe(path) == neardup.load_recipe(name)
    assert tomllib.loads(path.read_text())["sketch"]["kind"]


def test_settings_change_a_recipe(pages):
    result = run("pairs", pages, "--recipe", "alg-b", "--set", "sketch.s=2", "--set", "shingles.width=2")
    assert result.returncode == 0, result.stderr
    assert "2 of 6 features equal" in result.stderr
    changed = neardup.load_recipe("alg-b").changed(sketch_s=2, shingles_width=2)
    assert changed.id in result.stderr


def test_scores_of_sketches_refuse_two_recipes():
    b, c = neardup.load_recipe("alg-b"), neardup.load_recipe("alg-c")
    texts = [p["text"] for p in PAGES]
    made = neardup.sketch(texts, b)
    assert neardup.scores(made, made, b).tolist() == [6.0] * 4
    empty = neardup.sketch(["", "..."], "alg-b")
    assert np.isnan(neardup.scores(empty, empty, "alg-b")).all()
    with pytest.raises(neardup.UsageError, match="put one text into a list"):
        neardup.sketch("one text", b)
    with pytest.raises(neardup.RecipeError, match=f"made by recipe {b.id}, and this is recipe {c.id}"):
        neardup.scores(made, neardup.sketch(texts, c), c)
    with pytest.raises(neardup.UsageError, match="4 sketches and 2"):
        neardup.scores(made, neardup.sketch(texts[:2], b), b)
