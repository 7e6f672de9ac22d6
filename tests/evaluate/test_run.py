"""evaluate(): the whole path on the sample, against what `pairs` and `dedup` say and the definitions."""

import csv
import json
from collections import Counter

import numpy as np
import pyarrow.parquet as pq
import pytest

import neardup
from neardup import sample
from neardup.errors import InputError, UsageError
from neardup.evaluating import Evaluation, evaluate, read_truth
from neardup.recipe import Recipe
from neardup.text.sites import site
from tests.naive import evaluation as naive

RECIPES = ("default", "alg-b", "alg-c")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sample")
    sample.write(folder, scale=0.3)
    return folder


@pytest.fixture(scope="module")
def evaluation(folder) -> Evaluation:
    return evaluate(folder / "pages.jsonl", folder / "truth.tsv", recipes=RECIPES, sample=300)


@pytest.fixture(scope="module")
def documents(folder):
    return {d["id"]: d for d in map(json.loads, (folder / "pages.jsonl").read_text().splitlines())}


@pytest.fixture(scope="module")
def verdicts(folder):
    with (folder / "truth.tsv").open() as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    meaning = {"duplicate": "correct", "different": "incorrect"}
    return {naive.Pair((r["a"], r["b"])): meaning[r["label"]] for r in rows}


def found_by(folder, recipe):
    table = neardup.pairs(folder / "pages.jsonl", recipe=recipe).table()
    return {naive.Pair(p) for p in zip(table["first"].to_pylist(), table["second"].to_pylist(), strict=True)}


@pytest.mark.parametrize("recipe", RECIPES)
def test_numbers_are_those_of_pairs_and_dedup(evaluation, folder, verdicts, recipe):
    found, base = found_by(folder, recipe), found_by(folder, "alg-b")
    c = naive.counts(found, verdicts, exhaustive=False)
    m = evaluation[recipe].pairs
    assert m.pairs == len(found)
    assert (m.correct, m.incorrect, m.unknown, m.missed) == (c["correct"], c["incorrect"], c["unknown"], c["missed"])
    assert m.precision.value == pytest.approx(naive.precision(c))
    assert m.f1.value == pytest.approx(naive.f1(c))
    assert m.r.value == pytest.approx(naive.relative(found, base, verdicts))

    listed = sorted({d for pair in verdicts for d in pair})
    result = neardup.dedup(folder / "pages.jsonl", recipe=recipe)
    group = dict(zip(result.groups["id"].to_pylist(), result.groups["group"].to_pylist(), strict=True))
    ours = [group.get(d, d) for d in listed]
    of = naive.components(listed, {p for p, v in verdicts.items() if v == "correct"})
    theirs = [min(of[d]) for d in listed]
    g = evaluation[recipe].groups
    assert g.documents == len(listed)
    assert g.adjusted_rand.value == pytest.approx(naive.adjusted_rand(ours, theirs))
    assert g.exact_sets.value == pytest.approx(naive.exact_sets(ours, theirs))
    assert g.bcubed_precision.value == pytest.approx(naive.bcubed(ours, theirs)[0])


def test_every_measure_has_an_interval(evaluation):
    for table in (evaluation.recipes, evaluation.splits):
        measures = [n for n in table.column_names if f"{n}_low" in table.column_names]
        assert len(measures) >= 6
        for name in measures:
            rows = zip(*(table[name + end].to_pylist() for end in ("_low", "", "_high")), strict=True)
            known = [row for row in rows if row[1] is not None]
            assert known
            assert all(low <= value <= high for low, value, high in known)


def test_the_parts_of_every_split_add_up(evaluation):
    rows = evaluation.splits.to_pylist()
    for split in evaluation.split_results:
        for recipe in RECIPES:
            inside = [r for r in rows if (r["split"], r["recipe"]) == (split.key, recipe)]
            total = sum(r["correct"] + r["missed"] for r in inside)
            whole = evaluation[recipe].pairs
            if split.key == "difference":
                assert 0 < total <= 300
            else:
                assert total == whole.correct + whole.missed, split.key
    assert [s.key for s in evaluation.split_results] == [
        "site", "b_similarity", "c_similarity", "difference", "length", "script", "kind",
    ]  # fmt: skip


def test_pairs_are_in_the_parts_where_they_belong(evaluation, documents, verdicts, folder):
    b = neardup.pairs(folder / "pages.jsonl", recipe="alg-b").table().to_pylist()
    equal = {naive.Pair((r["first"], r["second"])): r["score"] for r in b}
    for row in evaluation.pairs.to_pylist():
        one, other = documents[row["first"]], documents[row["second"]]
        pair = naive.Pair((row["first"], row["second"]))
        same = site(one["url"]) == site(other["url"])
        assert row["site"] == ("same site" if same else "different sites")
        assert row["verdict"] == verdicts.get(pair)
        assert row["found:alg-b"] == (pair in equal)
        if pair in equal:
            assert row["b_similarity"] == str(int(equal[pair]))
        else:
            assert row["b_similarity"] in "01"
        assert (int(row["c_similarity"].split("–")[0]) >= 372) == row["found:alg-c"]


def test_kinds_of_difference(evaluation):
    found = Counter((r["kind"], r["difference"]) for r in evaluation.pairs.to_pylist() if r["difference"] and r["kind"])
    kinds = {kind for kind, _ in found}
    expected = {"exact": "identical", "session-id": "session id", "time-stamp": "combination", "mirror": "URL"}
    for kind in kinds & set(expected):
        assert {difference for k, difference in found if k == kind} == {expected[kind]}
    assert kinds & set(expected)


def test_the_papers_exhibits_are_made(evaluation):
    keys = {e.key for e in evaluation.exhibits}
    assert {f"table-{i}" for i in range(1, 13)} | {f"figure-{i}" for i in range(1, 8)} <= keys
    [table] = [e for e in evaluation.exhibits if e.key == "table-1"]
    assert sum(r["pairs"] for r in table.rows) > 0


def test_an_exhaustive_truth_makes_other_pairs_incorrect(folder, evaluation):
    options = {"recipes": ["lists", "default"], "splits": False, "papers": False}
    strict = evaluate(folder / "pages.jsonl", folder / "truth.tsv", unlisted="incorrect", **options)
    loose = evaluate(folder / "pages.jsonl", folder / "truth.tsv", **options)
    for name in ("lists", "default"):
        one, other = strict[name].pairs, loose[name].pairs
        assert one.unknown == 0
        assert one.incorrect == other.incorrect + other.unknown
        assert one.correct == other.correct
    assert strict["default"].groups.documents == strict.documents
    assert strict.split_results == ()
    assert strict.splits.num_rows == 0
    assert strict.base == "lists"


TEXTS = [
    {"id": "a", "text": "the quick brown fox jumps over the lazy dog and runs away into the dark wood behind the mill"},
    {"id": "b", "text": "the quick brown fox jumps over the lazy dog and runs away into the dark wood behind the mill"},
    {"id": "c", "text": "the quick brown fox jumps over the lazy dog and runs away into the dark wood behind the hill"},
    {"id": "d", "text": "a heron stands in the shallow water of the pond and waits for the fish to come nearer to it"},
]


def test_documents_and_truth_in_memory():
    truth = [{"id": x, "cluster": c} for x, c in zip("abcd", (1, 1, 1, 2), strict=True)]
    found = evaluate(TEXTS, truth, recipes={"ours": Recipe.for_threshold(0.5)}, splits=False, papers=False)
    m = found["ours"].pairs
    assert (m.pairs, m.correct, m.incorrect, m.missed) == (3, 3, 0, 0)
    assert found["ours"].groups.exact_sets.value == 1.0
    assert m.precision.low < 0.5  # three pairs, but one cluster
    assert "best F1 1.000 by ours" in repr(found)
    with pytest.raises(KeyError, match="there are ours"):
        found["theirs"]


def test_what_was_cut_short_is_said():
    copies = [{"id": str(i), "text": TEXTS[0]["text"]} for i in range(12)]
    truth = [{"id": str(i), "cluster": 1} for i in range(12)]
    found = evaluate(copies, truth, recipes="default", most=3, splits=False, papers=False)
    assert found["default"].cut_short > 0
    assert any("12 documents" not in s and "candidates" in s for s in found.said)
    assert found["default"].pairs.missed > 0
    whole = evaluate(copies, truth, recipes="default", splits=False, papers=False)
    assert whole["default"].pairs.correct == 66
    assert not any("candidates" in s for s in whole.said)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"recipes": ["alg-x"]}, "no recipe 'alg-x'"),
        ({"recipes": []}, "no recipe to evaluate"),
        ({"base": "alg-c", "recipes": ["default"]}, "base = 'alg-c' is not evaluated"),
        ({"level": 95}, "level = 95"),
        ({"unlisted": "wrong"}, "unlisted = 'wrong'"),
        ({"sample": 0}, "sample = 0"),
        ({"recipes": [Recipe.for_threshold(0.5), Recipe.for_threshold(0.6)], "base": "x"}, "base = 'x'"),
    ],
)
def test_refusals(options, said):
    with pytest.raises(UsageError) as refused:
        evaluate(TEXTS, [{"a": "a", "b": "b", "label": "yes"}], **options)
    assert said in str(refused.value)


def test_a_truth_about_other_documents_is_refused_at_once():
    with pytest.raises(InputError, match="not one of its 1 pairs"):
        evaluate(TEXTS, [{"a": "x", "b": "y", "label": "yes"}], recipes=["all"])


def test_a_truth_that_was_read(folder):
    truth = read_truth(folder / "truth.tsv")
    assert evaluate(folder / "pages.jsonl", truth, recipes="alg-c", splits=False, papers=False)["alg-c"].pairs.correct
    with pytest.raises(UsageError, match="read already"):
        evaluate(folder / "pages.jsonl", truth, correct_from=0.5)


def test_the_same_seed_gives_the_same_numbers(folder):
    options = {"recipes": ["alg-c"], "papers": False, "sample": 40}
    one, other, third = (
        evaluate(folder / "pages.jsonl", folder / "truth.tsv", seed=seed, **options) for seed in (1, 1, 2)
    )
    assert one.splits.equals(other.splits)
    assert not one.splits.equals(third.splits)


def test_the_folder(evaluation, tmp_path):
    out = tmp_path / "out"
    evaluation.write(out)
    data = json.loads((out / "evaluation.json").read_text(), parse_constant=lambda x: pytest.fail(x))
    assert [r["name"] for r in data["recipes"]] == list(RECIPES)
    first = data["recipes"][0]["pairs"]["precision"]
    assert first["low"] <= first["value"] <= first["high"]
    for name, table in (("recipes", evaluation.recipes), ("splits", evaluation.splits)):
        assert pq.read_table(out / f"{name}.parquet").equals(table)
        with (out / f"{name}.csv").open() as file:
            rows = list(csv.DictReader(file))
        assert [r["recipe"] for r in rows] == table["recipe"].to_pylist()
        assert np.isclose(float(rows[0]["precision"]), table["precision"][0].as_py())
    assert pq.read_table(out / "pairs.parquet").equals(evaluation.pairs)
    for exhibit in evaluation.exhibits:
        assert (out / f"exhibits/{exhibit.key}.csv").exists() == bool(exhibit.rows)
        if exhibit.chart:
            assert (out / f"exhibits/{exhibit.key}.svg").read_text().startswith("<svg")
            assert "$schema" in json.loads((out / f"exhibits/{exhibit.key}.vl.json").read_text())
    page = (out / "evaluation.html").read_text()
    assert "alg-b" in page
    assert "Same site or different sites" in page


def test_documents_cannot_break_the_files(tmp_path):
    evil = "=cmd|' /C calc'!A0<script>alert(1)</script>\x1b[31m"
    texts = [{**t, "id": f"{t['id']}{evil}"} for t in TEXTS]
    truth = [
        {"first": f"a{evil}", "second": f"b{evil}", "verdict": "yes", "kind": evil, "reason": evil},
        {"first": f"a{evil}", "second": f"c{evil}", "verdict": "maybe", "kind": evil, "reason": evil},
    ]
    evaluate(texts, truth, recipes=["alg-b"]).write(tmp_path)
    assert "<script>alert" not in (tmp_path / "evaluation.html").read_text()
    with (tmp_path / "splits.csv").open() as file:
        parts = [r["part"] for r in csv.DictReader(file) if r["split"] == "kind"]
    assert parts
    assert all(not p.startswith("=") for p in parts)
    for svg in tmp_path.glob("exhibits/*.svg"):
        assert "<script" not in svg.read_text()
