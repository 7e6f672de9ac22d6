"""evaluate(): the whole path on the sample, against what `pairs` and `dedup` say and the definitions."""

import csv
import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup
from neardup import sample
from neardup.errors import InputError, UsageError
from neardup.evaluating import Evaluation, evaluate, read_truth
from neardup.evaluating.lists import place_lists, read_lists
from neardup.recipe import Recipe
from neardup.recipes import load_recipe
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


VOCABULARY = [f"w{i}" for i in range(3000)]


def near_pairs(count, seed=3, length=300):
    """Pairs of texts that differ in one word, each pair of its own."""
    random = np.random.default_rng(seed)
    documents = []
    for i in range(count):
        words = random.choice(VOCABULARY, length).tolist()
        documents.append({"id": f"p{i}a", "text": " ".join(words)})
        words[5] = f"changed{i}"
        documents.append({"id": f"p{i}b", "text": " ".join(words)})
    return documents


def exhibits_of(found):
    return {e.key: e for e in found.exhibits}


def test_weights_and_level_reach_the_exhibits():
    truth = [
        {"first": f"p{i}a", "second": f"p{i}b", "verdict": "no" if i % 2 else "yes", "weight": 9 if i % 2 else 1}
        for i in range(30)
    ]
    found = evaluate(near_pairs(30), truth, recipes=["alg-b"], splits=False, level=0.8)
    ours, hers = found["alg-b"].pairs.correct_share, exhibits_of(found)["table-2"].rows[0]
    assert tuple(ours) == pytest.approx((hers["correct"], hers["correct low"], hers["correct high"]))
    assert ours.value < 0.2
    assert "80 % interval" in str(exhibits_of(found)["figure-6"].chart)


def test_a_recipe_of_the_users_is_not_hers_whatever_its_name():
    strict = load_recipe("alg-b").changed(sketch_r=6)
    truth = [{"first": f"p{i}a", "second": f"p{i}b", "verdict": "yes"} for i in range(20)]
    mine, other = (evaluate(near_pairs(20), truth, recipes={n: strict}, splits=False) for n in ("alg-b", "x"))
    assert mine["alg-b"].pairs.pairs < 20
    for found in (mine, other):
        assert sum(row["pairs"] for row in exhibits_of(found)["table-1"].rows) >= 18
    both = {"alg-b": strict, "hers": "alg-b"}
    assert evaluate(near_pairs(20), truth, recipes=both, splits=False, papers=False).base == "hers"


def test_labelled_pairs_are_the_first_to_be_compared():
    """40 labelled pairs beside a crowd of 1,770 that nobody labelled, and copies: all labelled ones are looked at."""
    documents = near_pairs(40)
    crowd = near_pairs(1, seed=9)[0]["text"].split(" ")
    documents += [{"id": f"c{i}", "text": " ".join([*crowd[:10], f"q{i}", *crowd[11:]])} for i in range(60)]
    documents += [{"id": f"d{i}", "text": documents[0]["text"]} for i in range(30)]
    truth = [{"first": f"p{i}a", "second": f"p{i}b", "verdict": "yes"} for i in range(40)]
    found = evaluate(documents, truth, recipes=["alg-b"], sample=50)
    exhibits = exhibits_of(found)
    labelled = exhibits["table-2"].rows[0]["pairs"]
    assert labelled > 30
    assert exhibits["table-3"].caption == f"{labelled} pairs."
    assert "labelled ones first" in exhibits["figure-2"].caption
    [split] = [s for s in found.split_results if s.key == "difference"]
    assert sum(m.correct + m.missed for _, _, m in split.parts) == 40


def test_labels_of_copies_count():
    documents = near_pairs(10)
    documents += [{"id": f"q{i}a", "text": documents[2 * i]["text"]} for i in range(10)]
    truth = [{"first": f"q{i}a", "second": f"p{i}b", "verdict": "yes"} for i in range(10)]
    own = [{**row, "first": row["first"].replace("q", "p")} for row in truth]
    on_copies, on_pages = (evaluate(documents, t, recipes=["alg-b"], splits=False) for t in (truth, own))
    assert exhibits_of(on_copies)["table-2"].rows == exhibits_of(on_pages)["table-2"].rows
    against = evaluate(documents, [*truth, {**own[0], "verdict": "no"}], recipes=["alg-b"], splits=False)
    assert any("copies are labelled differently" in s for s in against.said)


def test_clusters_know_all_pairs_of_their_documents():
    truth = [{"id": x, "cluster": 1} for x in "abc"]
    with pytest.raises(UsageError, match="clusters tell of all pairs"):
        evaluate(TEXTS, truth, unlisted="unknown")


def test_what_was_cut_short_is_said_of_the_exhibits():
    copies = [{"id": str(i), "text": f"{TEXTS[0]['text']} {'x' * (i % 3)}"} for i in range(12)]
    truth = [{"first": "0", "second": "1", "verdict": "yes"}]
    found = evaluate(copies, truth, recipes=["lists"], most=2, splits=False)
    exhibits = exhibits_of(found)
    assert "alg-b compared" in exhibits["table-1"].note
    assert "alg-c compared" in exhibits["table-1"].note
    assert "bloom compared" in exhibits["jain-degree"].note
    assert sum(s.startswith("Papers: ") for s in found.said) == 3
    whole = exhibits_of(evaluate(copies, truth, recipes=["lists"], splits=False))
    assert "compared" not in whole["table-1"].note + whole["jain-degree"].note


def test_documents_with_the_same_id_stay_apart():
    """c and the second a are one text, and the first a is another."""
    texts = [TEXTS[3] | {"id": "a"}, TEXTS[0] | {"id": "c"}, TEXTS[0] | {"id": "a"}]
    truth = [{"first": "a", "second": "c", "verdict": "no"}]
    found = evaluate(texts, truth, recipes="alg-b", splits=False, papers=False, on_error="skip")
    assert found["alg-b"].pairs[:5] == (1, 0, 0, 0, 1)  # the truth is about the first a
    assert any("more than one document" in s for s in found.said)


LISTS = [
    ("tea", "p0a", 2),
    ("tea", "p0b", 1),
    ("tea", "gone", 3),
    ("tea", "p1a", 4),
    ("rye", "p1a", 1),
    ("rye", "p2a", 2),
]


@pytest.mark.parametrize("name", ["l.tsv", "l.csv", "l.jsonl", "l.parquet"])
def test_ranked_lists(tmp_path, name):
    table = pa.table([list(c) for c in zip(*LISTS, strict=True)], names=["query", "id", "rank"])
    path = tmp_path / name
    by = "\t" if name == "l.tsv" else ","
    if name == "l.parquet":
        pq.write_table(table, path)
    elif name == "l.jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    else:
        path.write_text("".join(by.join(map(str, row)) + "\n" for row in (table.column_names, *LISTS)))
    truth = [{"first": "p0a", "second": "p0b", "verdict": "yes"}]
    found = evaluate(near_pairs(3), truth, recipes="alg-b", splits=False, lists=path)
    rows = {row["query"]: row for row in exhibits_of(found)["jain-figure-8"].rows}
    assert {query: (row["results"], row["near-duplicates"]) for query, row in rows.items()} == {
        "tea": (3, 1),
        "rye": (2, 0),
    }
    assert exhibits_of(found)["jain-figure-13"].rows
    assert "Lists: 1 of 6 results are not in the collection, and were left out." in found.said


def test_lists_are_in_the_order_of_their_ranks_or_rows():
    ids = pa.array(["p0a", "p0b", "p1a", "p2a"])
    rows = [dict(zip(("query", "id", "rank"), row, strict=True)) for row in LISTS]
    placed = {query: found.tolist() for query, found in place_lists(read_lists(rows), ids)[0]}
    assert placed == {"tea": [1, 0, 2], "rye": [2, 3]}
    for row in rows:
        del row["rank"]
    assert place_lists(read_lists([*rows, rows[0]]), ids)[0][0][1].tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("lists", "said"),
    [
        ([{"q": "x", "text": "y"}], "the columns query, id and perhaps rank; there are 'q', 'text'"),
        ([{"query": "x", "id": "y"}], "not one of its documents"),
        ([{"query": "x", "id": "a", "rank": "first"}], "must hold numbers"),
        ([{"query": "x", "id": "a", "rank": None}], "row 1 has no rank"),
        ([{"query": "x", "id": None}], "holds no query with a document"),
    ],
)
def test_what_is_no_list(lists, said):
    with pytest.raises(InputError, match=said):
        evaluate(TEXTS, [{"a": "a", "b": "b", "label": "yes"}], recipes="alg-b", splits=False, lists=lists)


def test_lists_need_the_papers():
    with pytest.raises(UsageError, match="leave --no-papers out"):
        evaluate(TEXTS, [{"a": "a", "b": "b", "label": "yes"}], papers=False, lists=[])


def test_what_an_earlier_evaluation_wrote_is_removed(evaluation, tmp_path):
    evaluation.write(tmp_path)
    (tmp_path / "mine.txt").write_text("stays")
    (tmp_path / "exhibits/notes.csv").write_text("stays")
    assert (tmp_path / "exhibits/table-1.csv").exists()
    replace(evaluation, exhibits=(), split_results=()).write(tmp_path)
    left = {p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*") if p.is_file()}
    assert left == {
        "evaluation.html", "evaluation.json", "recipes.csv", "recipes.parquet", "recipes.svg", "recipes.vl.json",
        "pairs.parquet", "mine.txt", "exhibits/notes.csv",
    }  # fmt: skip


def test_the_recipes_are_drawn_side_by_side(evaluation, tmp_path):
    evaluation.write(tmp_path)
    chart = json.loads((tmp_path / "recipes.vl.json").read_text())
    values = {(v["recipe"], v["measure"]): (v["share"], v["low"], v["high"]) for v in chart["data"]["values"]}
    assert set(values) == {(r, m) for r in RECIPES for m in ("precision", "recall")}
    assert values["alg-c", "recall"] == pytest.approx(tuple(evaluation["alg-c"].pairs.recall))
    page = (tmp_path / "evaluation.html").read_text()
    assert page.index("Side by side") < page.index(">Pairs<") < page.index("After Henzinger")
