"""Sentences that hold for every collection and every recipe."""

import random

import numpy as np
import pyarrow as pa
import pytest

import neardup
from tests.corpus import documents
from tests.naive import groups as naive_groups
from tests.naive import text as naive

THRESHOLD = 0.7


def table(rows: list[dict]) -> pa.Table:
    return pa.Table.from_pylist(rows)


def outcome(result: neardup.Result) -> dict:
    """All that was decided, by id."""
    return {r["id"]: (r["kept_id"], r["relation"], r["resemblance"], r["measured"]) for r in result.removed.to_pylist()}


@pytest.fixture(scope="module")
def rows():
    return documents(300, seed=5)


@pytest.fixture(scope="module")
def exact(rows):
    """The exact resemblance of every pair, from the definition."""
    sets = {r["id"]: set(naive.shingles(naive.tokens(r["text"]), 5)) for r in rows}
    return {(a, b): len(sets[a] & sets[b]) / len(sets[a] | sets[b]) for a in sets for b in sets if a != b}


@pytest.mark.parametrize("keep", ["first", "last", "longest", "shortest", "max:score", "prefer:source=c,a,longest"])
@pytest.mark.parametrize("verify", ["exact", "sketch", "none"])
@pytest.mark.parametrize("cluster", ["star", "components"])
def test_what_is_removed_points_at_what_is_kept(rows, keep, verify, cluster):
    result = neardup.dedup(table(rows), threshold=THRESHOLD, keep=keep, verify=verify, cluster=cluster)
    kept, removed = set(result.kept["id"].to_pylist()), result.removed.to_pylist()
    assert kept | {r["id"] for r in removed} == {r["id"] for r in rows}
    assert not kept & {r["id"] for r in removed}
    assert {r["kept_id"] for r in removed} <= kept
    assert len(removed) > 50


@pytest.mark.parametrize("keep", ["first", "longest", "min:score,last"])
def test_star_removes_only_with_a_measured_kept_twin(rows, exact, keep):
    result = neardup.dedup(table(rows), threshold=THRESHOLD, keep=keep)
    texts = {r["id"]: r["text"] for r in rows}
    for r in result.removed.to_pylist():
        true = exact[r["id"], r["kept_id"]]
        assert r["resemblance"] == pytest.approx(true, abs=1e-12)
        assert true >= THRESHOLD
        same = naive.tokens(texts[r["id"]]) == naive.tokens(texts[r["kept_id"]])
        assert (r["relation"] == "identical") == same
        assert r["measured"] == ("identity" if same else "exact")


def test_star_is_the_greedy_answer_and_finds_what_it_promises(rows, exact):
    """With a recall of practically one the candidates are all pairs, so the answer is brute force's."""
    result = neardup.dedup(table(rows), threshold=THRESHOLD, recall=0.999999, permutations=1000)
    ids = [r["id"] for r in rows]
    kept = naive_groups.kept(len(ids), lambda i, j: exact[ids[i], ids[j]] >= THRESHOLD)
    assert result.kept["id"].to_pylist() == [i for i, k in zip(ids, kept, strict=True) if k]


def test_components_are_those_of_brute_force(rows, exact):
    result = neardup.dedup(table(rows), threshold=THRESHOLD, recall=0.999999, permutations=1000, cluster="components")
    ids = [r["id"] for r in rows]
    labels = naive_groups.components(len(ids), lambda i, j: exact[ids[i], ids[j]] >= THRESHOLD)
    expected = {ids[i]: ids[label] for i, label in enumerate(labels) if labels.count(label) > 1}
    assert {g["id"]: g["group"] for g in result.groups.to_pylist()} == expected


def test_recall_at_the_threshold(exact):
    rows = documents(600, seed=9, length=80)
    sets = {r["id"]: set(naive.shingles(naive.tokens(r["text"]), 5)) for r in rows}
    result = neardup.dedup(table(rows), threshold=THRESHOLD)
    gone = set(result.removed["id"].to_pylist())
    pairs = found = 0
    ids = list(sets)
    for i, a in enumerate(ids):
        for b in ids[:i]:
            if len(sets[a] & sets[b]) >= THRESHOLD * len(sets[a] | sets[b]):
                pairs += 1
                found += a in gone or b in gone
    assert pairs > 300
    assert found / pairs >= 0.99


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize(("split", "batch"), [(1 << 26, 1 << 22), (3000, 1000), (20000, 1 << 22), (1 << 26, 1)])
def test_threads_splits_and_batches_do_not_matter(rows, tmp_path, monkeypatch, threads, split, batch):
    expected = neardup.dedup(table(rows), threshold=THRESHOLD, keep="longest")
    monkeypatch.setattr("neardup.sources.table.BATCH_BYTES", batch)
    from neardup.sources.table import InMemory

    whole = InMemory.splits
    monkeypatch.setattr(InMemory, "splits", lambda self, file, size=split: whole(self, file, split))
    result = neardup.dedup(table(rows), threshold=THRESHOLD, keep="longest", threads=threads)
    assert result.removed.equals(expected.removed)
    assert result.groups.equals(expected.groups)
    assert result.kept.equals(expected.kept)


@pytest.mark.parametrize("keep", ["longest", "shortest", "max:score", "min:score,longest", "prefer:source=b,c"])
@pytest.mark.parametrize("cluster", ["star", "components"])
def test_the_order_of_the_input_does_not_matter(rows, keep, cluster):
    shuffled = rows[:]
    random.Random(3).shuffle(shuffled)
    answers = [
        outcome(neardup.dedup(table(r), threshold=THRESHOLD, keep=keep, cluster=cluster)) for r in (rows, shuffled)
    ]
    assert answers[0] == answers[1]


def test_keep_policies_keep_the_right_one():
    text = "one two three four five six seven eight nine ten"
    rows = [
        {"id": "b", "text": text, "score": 2.0, "source": "x", "day": "2024-05-01"},
        {"id": "a", "text": text.upper(), "score": 7.0, "source": "y", "day": "2023-01-01"},
        {"id": "c", "text": text + "!", "score": None, "source": "z", "day": "2025-02-03"},
    ]
    expected = {
        "first": "b", "last": "c", "longest": "a", "shortest": "a", "max:score": "a", "min:score": "b",
        "prefer:source=z,y": "c", "prefer:source=nothing": "a", "prefer:source=q,z,max:score": "c",
        "max:day": "c", "min:day": "a",
    }  # fmt: skip
    for keep, winner in expected.items():
        result = neardup.dedup(table(rows), keep=keep)
        assert result.kept["id"].to_pylist() == [winner], keep
        assert {r["relation"] for r in result.removed.to_pylist()} == {"identical"}


def test_empty_and_short_documents():
    texts = ["", "...", "one two", "One, two!", "one three", None, "two one", "a b c d e f", "A B C D E F."]
    result = neardup.dedup(pa.table({"text": texts}), threshold=0.8)
    gone = {r["id"]: (r["kept_id"], r["relation"]) for r in result.removed.to_pylist()}
    assert gone == {"table:4": ("table:3", "identical"), "table:9": ("table:8", "identical")}
    assert result.counts["empty"] == 3
    assert result.counts["short"] == 4
    assert len(result.kept) == 7


def test_relations():
    long = [f"w{i}" for i in range(200)]
    rows = [
        {"id": "whole", "text": " ".join(long)},
        {"id": "part", "text": " ".join(long[:190])},
        {"id": "more", "text": " ".join([*long, "x1", "x2", "x3"])},
        {"id": "same", "text": " ".join(long).title()},
        {"id": "near", "text": " ".join([*long[:100], "other", *long[101:]])},
    ]
    result = neardup.dedup(table(rows), threshold=0.9)
    found = {r["id"]: (r["relation"], r["removed_in_kept"], r["kept_in_removed"]) for r in result.removed.to_pylist()}
    assert found == {
        "part": ("contained", 1.0, 186 / 196),
        "more": ("contains", 196 / 199, 1.0),
        "same": ("identical", 1.0, 1.0),
        "near": ("near", 191 / 196, 191 / 196),
    }
    assert "contained" in str(result.explain("part"))
    assert result.explain("whole").group == ("whole", "part", "more", "same", "near")
    with pytest.raises(neardup.UsageError, match="no document 'nobody'"):
        result.explain("nobody")
    assert repr(result) == "<neardup.Result: 5 documents, 1 kept, 4 removed>"


def test_a_policy_that_may_surprise_is_remarked_on():
    rows = [{"text": "one two three", "when": "31/01/2024"}, {"text": "ONE two three", "when": "01/02/2024"}]
    assert "compared as text" in neardup.dedup(rows, keep="max:when").said[-1]
    assert "no document of a group" in neardup.dedup(rows, keep=["prefer:when=never", "longest"]).said[-1]


def test_a_word_a_million_times_and_a_long_document():
    rows = {"text": ["spam " * 1_000_000, "spam " * 999_999, "x " + "spam " * 1_000_000]}
    result = neardup.dedup(pa.table(rows), threshold=0.5)
    assert [r["relation"] for r in result.removed.to_pylist()] == ["near", "contains"]
    multiset = neardup.dedup(pa.table(rows), threshold=0.5, repeats=True)
    assert multiset.counts["removed"] == 2
    assert multiset.removed["resemblance"][0].as_py() == pytest.approx(999_995 / 999_996)


def test_scripts_without_spaces_are_compared_by_character():
    text = "自然言語処理では文書の重複を取り除くことが大切である。" * 3
    other = text.replace("大切", "重要", 1)
    result = neardup.dedup([text, other, "全く別の文章がここにあります。短くはない。"], threshold=0.6)
    assert result.removed["id"].to_pylist() == ["table:2"]
    assert result.removed["resemblance"][0].as_py() == pytest.approx(naive.resemblance(text, other))


def test_samples_agree_as_often_as_the_binomial_formula_says():
    """See tests/statistics for the permutations themselves; here through the public sketch."""
    rng = np.random.default_rng(4)
    words = [f"w{i}" for i in range(400)]
    changed = [f"x{i}" if rng.random() < 0.03 else w for i, w in enumerate(words)]
    recipe = neardup.Recipe.for_threshold(0.8, permutations=4000)
    made = neardup.sketch([" ".join(words), " ".join(changed)], recipe)
    true = neardup.resemblance(" ".join(words), " ".join(changed)).resemblance
    n = recipe.sketch.permutations
    agreed = (made.samples[0] == made.samples[1]).mean()
    expected = true + (1 - true) / 256
    assert abs(agreed - expected) < 4 * (expected * (1 - expected) / n) ** 0.5
