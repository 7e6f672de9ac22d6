"""Documents of one template: every pair that reaches the threshold meets, and the answer is that of brute force."""

import random
from contextlib import contextmanager
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neardup
from benchmarks.crowds.corpus import Parameters, crowd
from neardup.candidates import crowds
from neardup.candidates.features import bucket
from neardup.recipes import choose_recipe
from neardup.shingles import ShingleSets
from neardup.sketches.base import even
from tests.naive import crowds as naive
from tests.naive import groups as naive_groups


@contextmanager
def few_are_many(many=4, shared=20.0):
    """Crowds that begin with a handful of documents."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(crowds, "MANY", many)
        patch.setattr(crowds, "SHARED", shared)
        yield


seeds = st.integers(0, 2**32 - 1)


def templates(seed, n, n_blocks, share):
    """Shingle sets made of blocks that many documents have, blocks that some have, and shingles of their own; and the
    site and page of each."""
    rng = np.random.default_rng(seed)
    blocks = [set(rng.integers(0, 2**63, rng.integers(1, 60)).tolist()) for _ in range(n_blocks)]
    sets: list[set[int]] = []
    for _ in range(n):
        made = set().union(*(b for b in blocks if rng.random() < share))
        made |= set(rng.integers(0, 2**63, rng.integers(0, 20)).tolist())
        if sets and rng.random() < 0.4:
            other = sets[rng.integers(0, len(sets))]
            made = {x for x in other if rng.random() < 0.95} | set(rng.integers(0, 2**63, 2).tolist())
        sets.append(made or {1})
    return sets, rng.integers(-1, 3, n).astype(np.int32), rng.integers(0, n, n).astype(np.uint64)


def all_in_one_bucket(sets):
    n = len(sets)
    return bucket(lambda: [(0, even(np.zeros((n, 1), np.uint64)))], np.ones(n, bool))


def weighed(sets, threshold):
    sizes = np.array([len(s) for s in sets], np.int64)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    values = np.array([x for s in sets for x in sorted(s)], np.uint64)
    half = len(sets) // 2
    parts = [slice(0, half), slice(half, None)]
    return crowds.weighed(
        np.arange(len(sets)),
        sizes,
        lambda: (ShingleSets(values, starts[part], sizes[part]) for part in parts),
        threshold,
    )


def roles_of(buckets, row):
    at = slice(buckets.begins[row], buckets.begins[row + 1])
    return dict(zip(buckets.entries[at].tolist(), buckets.roles[at].tolist(), strict=True))


@settings(max_examples=300, deadline=None)
@given(
    seeds,
    st.integers(6, 40),
    st.integers(1, 6),
    st.sampled_from([0.3, 0.8, 1.0]),
    st.sampled_from([0.5, 0.65, 0.8, 0.9]),
    st.booleans(),
)
def test_similar_documents_of_a_crowded_bucket_meet_in_either_order(seed, n, blocks, share, threshold, by_site):
    sets, sites, pages = templates(seed, n, blocks, share)
    same_site = min(1.0, threshold + 0.15)
    with few_are_many(shared=1e9):  # nothing is sampled
        buckets = all_in_one_bucket(sets)
        found = weighed(sets, threshold)
        limits = crowds.Thresholds(threshold, same_site if by_site else threshold)
        relieved = (
            crowds.relieved(buckets, found, limits, sites, pages)
            if by_site
            else crowds.relieved(buckets, found, limits)
        )
    roles = [roles_of(relieved, row) for row in range(len(sets))]
    for i in range(len(sets)):
        for j in range(len(sets)):
            one_site = by_site and sites[i] == sites[j] and sites[i] >= 0
            needed = same_site if one_site and pages[i] != pages[j] else threshold
            if i != j and naive.resemblance(sets[i], sets[j]) >= needed:
                assert naive.meet(roles[i], roles[j], one_site)


@settings(max_examples=100, deadline=None)
@given(seeds, st.integers(6, 40), st.integers(1, 6), st.sampled_from([0.3, 0.8, 1.0]))
def test_counts_are_never_too_low_and_hardly_ever_too_high(seed, n, blocks, share):
    """A counter that two shingles share counts both: a rare one may be called frequent, never the other way round."""
    sets, _, _ = templates(seed, n, blocks, share)
    with few_are_many(shared=1e9):
        found = weighed(sets, 0.8)
    template = naive.frequent(sets, 4)
    exact = np.array([len(s & template) for s in sets])
    assert (found.frequent >= exact).all()
    assert (found.frequent - exact).max() <= 4
    keys = {}
    for place, row in enumerate(found.rare.members.tolist()):
        keys[row] = set(found.rare.entries[found.rare.begins[place] : found.rare.begins[place + 1]].tolist())
    for i, a in enumerate(sets):
        for j, b in enumerate(sets[:i]):
            shared, rare = len(keys.get(i, set()) & keys.get(j, set())), len((a & b) - template)
            assert rare - 4 <= shared <= rare


@pytest.mark.parametrize("threshold", [0.5, 0.6, 0.65, 0.7, 0.8, 0.85, 0.9])
def test_documents_exactly_at_the_limit_are_light(threshold):
    """Fractions tell it: 2t/(1+t) of the shingles are frequent."""
    limit = 2 * Fraction(str(threshold)) / (1 + Fraction(str(threshold)))
    sizes = np.array([n for n in range(1, 3000) if (limit * n).denominator == 1], np.int64)
    frequent = np.array([int(limit * n) for n in sizes.tolist()], np.int64)
    assert crowds.light(sizes, frequent, threshold).all()
    assert not crowds.light(sizes, frequent - 1, threshold).any()


def test_a_sample_of_rare_shingles_suffices():
    """Pairs at the threshold whose documents share little of a template: as few keys as are promised, and all meet."""
    rng = np.random.default_rng(11)
    template = set(rng.integers(0, 2**63, 400).tolist())
    sets = []
    for _ in range(150):
        own = rng.integers(0, 2**63, 600).tolist()
        sets += [template | set(own), template | set(own[:500]) | set(rng.integers(0, 2**63, 100).tolist())]
    found = weighed(sets, 0.8)
    keys = np.diff(found.rare.begins)
    assert keys.mean() < 40  # 20 · 600 / (0.8 · 1,000 - 400) = 30, of which 25 are shared
    relieved = crowds.relieved(all_in_one_bucket(sets), found, crowds.Thresholds(0.8, 0.8))
    roles = [roles_of(relieved, row) for row in range(len(sets))]
    assert all(naive.meet(roles[i], roles[i + 1], False) for i in range(0, len(sets), 2))


def texts_of_templates(seed, n=120):
    """Pages made of blocks of words, some of them in all pages; bare templates, edited copies, variants."""
    rng = random.Random(seed)

    def words(count):
        return [f"w{rng.randrange(10**9)}" for _ in range(count)]

    blocks = [words(rng.randrange(20, 80)) for _ in range(4)]
    rows = []
    for i in range(n):
        parts = [block for block in blocks if rng.random() < 0.9] or [blocks[0]]
        text = [w for block in parts for w in block]
        if rng.random() < 0.9:
            at = rng.randrange(len(text))
            text[at:at] = words(rng.randrange(1, 30))
        if rows and rng.random() < 0.5:
            text = rng.choice(rows)["text"].split()
            at = rng.randrange(len(text))
            text[at : at + 3] = words(rng.randrange(1, 6))
        text += words(1)  # no two are identical: one document would stand for both, wherever the other is from
        rows.append(
            {"id": f"{i:04d}", "text": " ".join(text), "url": f"https://h{rng.randrange(3)}.org/{rng.randrange(n)}"}
        )
    return rows


def shingles(text):
    tokens = text.split()
    return {tuple(tokens[i : i + 5]) for i in range(max(1, len(tokens) - 4))}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("recipe", ["default", "web"])
@pytest.mark.parametrize("cluster", ["star", "components"])
def test_the_answer_in_a_crowd_is_brute_force(seed, recipe, cluster):
    """With bands that miss next to nothing, whatever is a crowd."""
    rows = texts_of_templates(seed)
    sets = [shingles(r["text"]) for r in rows]
    hosts = [r["url"].split("/")[2] for r in rows]
    limits = (0.8, 0.8) if recipe == "default" else (0.65, 0.85)

    def similar(i, j):
        near = recipe == "web" and hosts[i] == hosts[j] and rows[i]["url"] != rows[j]["url"]
        return naive.resemblance(sets[i], sets[j]) >= limits[near]

    settings = {} if recipe == "default" else {"url_field": "url"}
    chosen = choose_recipe(recipe).changed(sketch_k=100, sketch_s=4, clusters_method=cluster)
    with few_are_many():
        result = neardup.dedup(pa.Table.from_pylist(rows), recipe=chosen, keep="first", **settings)
    n = len(rows)
    if cluster == "components":
        labels = naive_groups.components(n, similar)
        expected = [i == label for i, label in enumerate(labels)]
    else:
        expected = naive_groups.kept(n, similar)
    assert result.kept["id"].to_pylist() == [r["id"] for r, kept in zip(rows, expected, strict=True) if kept]


@pytest.mark.parametrize("order", ["originals first", "shuffled"])
@pytest.mark.parametrize(
    ("recipe", "between", "duplicate", "hosts"),
    [
        ("default", 0.79, 0.85, "own"),
        ("default", 0.75, 0.82, "own"),
        ("default", 0.70, 0.85, "own"),
        ("default", 0.60, 0.81, "own"),
        ("web", 0.64, 0.70, "own"),
        ("web", 0.60, 0.70, "own"),
        ("web", 0.80, 0.88, "one"),
    ],
)
def test_recall_in_a_crowd_is_the_one_that_is_promised(recipe, between, duplicate, hosts, order):
    made = crowd(Parameters(1000, between, duplicate, order=order, hosts=hosts))
    settings = {"url_field": "url"} if recipe == "web" else {}
    result = neardup.dedup(made.documents, recipe=recipe, id_field="id", text_field="text", **settings)
    gone = set(result.removed["id"].to_pylist())
    pairs = list(zip(*(made.truth[c].to_pylist() for c in ("duplicate", "original")), strict=True))
    recall = sum(bool(gone & set(pair)) for pair in pairs) / len(pairs)
    assert recall >= 0.985
    assert {frozenset((r["id"], r["kept_id"])) for r in result.removed.to_pylist()} <= set(map(frozenset, pairs))
    assert result.decision.crowded == 0
    assert result.decision.pairs < 3 * len(pairs)
