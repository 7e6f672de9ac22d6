"""Pages of one template in an index that measures: every near-duplicate is found, and nothing else is refused."""

import random
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neardup
from benchmarks.crowds.corpus import Parameters
from benchmarks.crowds.corpus import crowd as made_crowd
from neardup import Index
from neardup.candidates.crowds import Thresholds
from neardup.index import crowds
from neardup.index.crowds import Features, Sites, by_shingles, filed_keys
from neardup.index.store import MOST, NOBODY
from neardup.recipes import load_recipe
from neardup.sketches.base import even
from tests.index.test_crowds import batches, crowd, offered
from tests.index.test_store import adding, write
from tests.laws.test_crowds import templates
from tests.naive import crowds as naive
from tests.naive.store import NaiveStore

ONE = 7
"""The key that all documents have."""


@settings(max_examples=200)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(6, 40),
    st.integers(1, 6),
    st.sampled_from([0.3, 0.8, 1.0]),
    st.sampled_from([0.5, 0.65, 0.8, 0.9]),
    st.booleans(),
    st.lists(st.integers(1, 12), min_size=1, max_size=9),
    st.sets(st.integers(0, 40)),
)
def test_similar_documents_of_a_crowded_feature_meet(seed, n, blocks, share, threshold, by_site, sizes, refused):
    """However they arrive, and whichever are stored: each meets all that came before it and reach the threshold."""
    sets, hosts, pages = templates(seed, n, blocks, share)
    same_site = min(1.0, threshold + 0.15) if by_site else threshold
    store, numbers = NaiveStore({}), []
    start = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(crowds, "FIRST", 2)
        patch.setattr(crowds, "RARE", 3)
        while start < n:
            stop = min(n, start + sizes[start % len(sizes)])
            some = range(start, stop)
            found = met(store, [sets[i] for i in some], hosts[start:stop], pages[start:stop], threshold, same_site)
            rows, buckets, roles = (column.tolist() for column in found.arriving)
            standing: dict[int, dict[int, int]] = {i: {} for i in range(stop)}
            for row, bucket, role in zip(rows, buckets, roles, strict=True):
                standing[start + row][bucket] = role
            for bucket, number in zip(*(column.tolist() for column in found.stored), strict=True):
                standing[numbers[number]][bucket] = 2
            for later in some:
                for earlier in [*numbers, *range(start, later)]:
                    one_site = by_site and hosts[later] == hosts[earlier] and hosts[later] >= 0
                    needed = same_site if one_site and pages[later] != pages[earlier] else threshold
                    if naive.resemblance(sets[later], sets[earlier]) >= needed:
                        assert naive.meet(standing[later], standing[earlier], one_site)
            stored = [i for i in some if i not in refused]
            own = even(np.full((len(some), 1), ONE, np.uint64))
            keys = filed_keys(own, found.filed, [i - start for i in stored])
            filed = [keys.values[a:b].tolist() for a, b in pairwise(keys.offsets)]
            assert all(len(set(each)) == len(each) for each in filed), "no document stands twice under a key"
            write(store, adding(*((str(i), filed[i - start]) for i in stored)))
            numbers += stored
            start = stop


def met(store, sets, hosts, pages, threshold, same_site):
    n = len(sets)

    def shingles_of(rows):
        chosen = [sorted(sets[row]) for row in rows.tolist()]
        return np.array([x for s in chosen for x in s], np.uint64), np.array([len(s) for s in chosen], np.int64)

    key = np.array([ONE], np.uint64)
    features = Features(key, np.arange(n), np.zeros(n, np.int64), store.holders(key))
    sites = Sites((hosts + 1).astype(np.uint64), pages) if same_site > threshold else None
    return by_shingles(store, shingles_of, features, Thresholds(threshold, same_site), sites, together=True)


def test_outside_of_crowds_no_shingle_is_looked_at():
    def never(rows):
        raise AssertionError(rows)

    features = Features(np.array([1, 2], np.uint64), np.arange(2), np.arange(2), NOBODY)
    found = by_shingles(NaiveStore({}), never, features, Thresholds(0.8, 0.8), together=True)
    assert not found.filed
    assert found.count == 2


ROWS = [
    ("default", 0.79, 0.85, "own"),
    ("default", 0.60, 0.81, "own"),
    ("web", 0.64, 0.70, "own"),
    ("web", 0.80, 0.88, "one"),
]


@pytest.mark.parametrize("order", ["originals first", "shuffled"])
@pytest.mark.parametrize(("recipe", "between", "duplicate", "hosts"), ROWS)
def test_recall_is_that_of_a_run_over_all(recipe, between, duplicate, hosts, order, tmp_path):
    """At most one pair in two hundred shares no key, with either of them; the others are found by both."""
    made = made_crowd(Parameters(600, between, duplicate, order, hosts))
    documents = made.documents.to_pylist()
    with Index.open(tmp_path / "seen.ndx", recipe, keep="text") as index:
        found = {id: match for id, match in offered(index, documents, 250).items() if match}
    removed = neardup.dedup(made.documents, recipe=recipe, id_field="id").removed.to_pylist()
    expected = {row["id"]: row["kept_id"] for row in removed}
    pairs = truth(made)
    assert {frozenset(pair) for pair in found.items()} <= pairs, "no other page is refused"
    assert len(found) >= 0.985 * len(pairs)
    assert len(dict(found.items() ^ expected.items())) <= 0.005 * len(pairs)


def truth(made) -> set[frozenset[str]]:
    columns = made.truth.to_pydict()
    return {frozenset(pair) for pair in zip(columns["duplicate"], columns["original"], strict=True)}


@pytest.mark.parametrize("size", [1, 40, 1000])
def test_copies_of_the_first_pages_and_of_those_in_the_middle_are_found(size, tmp_path):
    """One by one and in batches. A feature leads to the first and the latest documents alone."""
    n = MOST + 300
    pages, copies = crowd(n, 0.79)
    with Index.open(tmp_path / "seen.ndx", "default", keep="text") as index:
        stored = offered(index, pages, size if size > 1 else 300)
        chosen = [*range(60), *range(n // 2, n // 2 + 60)]
        found = [match for some in batches([copies[i] for i in chosen], size) for match in index.check_many(some)]
    assert not any(stored.values())
    assert [verdict.match and verdict.match.id for verdict in found] == [f"page{i}" for i in chosen]


def test_exports_of_many_indexes_make_a_crowd(tmp_path):
    """Who was among the first of its index is one of many where they are put together."""
    pages, copies = crowd(300, 0.79)
    recipe = load_recipe("default")
    with Index.open(tmp_path / "all.ndx", recipe, keep="text") as together:
        for number, some in enumerate(batches(pages, 15)):
            with Index.open(tmp_path / f"{number}.ndx", recipe, keep="text") as index:
                index.add_many(some)
                index.export(tmp_path / "part.parquet")
            together.add_export(tmp_path / "part.parquet")
        found = [verdict.match for verdict in together.check_many(copies)]
    assert sum(match is not None and match.id == f"page{i}" for i, match in enumerate(found)) >= 0.985 * len(pages)


def test_what_was_removed_before_does_not_hide_what_comes(tmp_path):
    pages, copies = crowd(330, 0.79)
    with Index.open(tmp_path / "seen.ndx", "default", keep="text") as index:
        index.add_many(pages[:300])
        index.remove_many(page["id"] for page in pages[:300])
        for page in pages[300:]:
            assert index.check_and_add(page["id"], page["text"]).new
        found = [index.check(copy["text"]).match for copy in copies[300:]]
    assert [match and match.id for match in found] == [page["id"] for page in pages[300:]]


@pytest.mark.parametrize("at_once", [False, True])
def test_long_pages_and_the_bare_template(at_once, tmp_path):
    """Of long documents the shingles with the lowest hashes stand for all."""
    rng = random.Random(9)

    def words(count: int) -> list[str]:
        return [f"w{rng.getrandbits(40):x}" for _ in range(count)]

    template = words(2000)
    pages = [{"id": f"page{i}", "text": " ".join(template + words(560))} for i in range(120)]
    near = {"id": "near", "text": " ".join(template + words(350))}
    with Index.open(tmp_path / "seen.ndx", "default", keep="text") as index:
        stored = offered(index, [*pages[:60], near, *pages[60:]], 200 if at_once else 20)
        assert not any(stored.values())
        found = index.check(" ".join(template)).match
        copies = [page["text"].replace(" ", " other ", 40) for page in pages]
        again = [index.check(text).match for text in copies[:20]]
    assert found is not None
    assert found.id == "near"
    assert [match and match.id for match in again] == [f"page{i}" for i in range(20)]


@pytest.mark.parametrize("way", ["add", "update", "export"])
def test_however_they_were_stored(way, tmp_path):
    pages, copies = crowd(700, 0.79)
    with Index.open(tmp_path / "seen.ndx", "default", keep="text") as index:
        for some in batches(pages, 350):
            index.update_many(some) if way == "update" else index.add_many(some)
        if way == "export":
            index.export(tmp_path / "out.parquet")
    if way == "export":
        with Index.open(tmp_path / "other.ndx", "default", keep="text") as index:
            index.add_export(tmp_path / "out.parquet")
    with Index.open(tmp_path / ("other.ndx" if way == "export" else "seen.ndx")) as index:
        found = [verdict.match for verdict in index.check_many(copies)]
    assert sum(match is not None and match.id == f"page{i}" for i, match in enumerate(found)) >= 0.985 * len(pages)


def test_a_store_on_a_server_answers_the_same(address, tmp_path):
    pages, copies = crowd(150, 0.79)
    answers = []
    for place in (tmp_path / "seen.ndx", address):
        with Index.open(place, "default", keep="text") as index:
            answers.append(offered(index, pages + copies, size=60))
    assert answers[0] == answers[1]
    assert sum(bool(match) for match in answers[0].values()) >= 148


def test_bare_templates_and_pages_with_little_more(tmp_path):
    """Pages that share no rare shingle: the template itself, whenever it comes, and pages that add a few words."""
    rng = random.Random(5)

    def words(count: int) -> list[str]:
        return [f"w{rng.getrandbits(40):x}" for _ in range(count)]

    template = words(300)
    crowded = [{"id": f"page{i}", "text": " ".join(template + words(80))} for i in range(200)]
    bare = {"id": "bare", "text": " ".join(template)}
    more = {"id": "more", "text": " ".join(template + words(30))}
    for place in (0, 10, 40, 199):
        folder = Path(tmp_path, str(place))
        with Index.open(folder, "default", keep="text") as index:
            stored = offered(index, [*crowded[:place], bare, *crowded[place:]], 25)
            near = {id: match for id, match in stored.items() if match}
            assert not near, "0.8 is not reached: 300 of 380 words"
            found = index.check(more["text"]).match
            assert found is not None
            assert found.id == "bare"
