"""Which part of a large collection is read."""

import json
from itertools import pairwise

import numpy as np
import pytest

import neardup
from neardup.report import browsing, part, report_data
from neardup.report.facts import Facts
from neardup.report.part import choose_part
from tests.report.conftest import crawl

FILES = 40


@pytest.fixture(scope="session")
def result(tmp_path_factory):
    """Forty files, which are forty splits; the documents of a group are in many of them."""
    folder = tmp_path_factory.mktemp("parts")
    rows = crawl(1_200, seed=2)
    order = np.random.default_rng(1).permutation(len(rows))
    for number, some in enumerate(np.array_split(order, FILES)):
        lines = "".join(json.dumps(rows[i]) + "\n" for i in some)
        (folder / f"{number:02d}.jsonl").write_text(lines)
    return neardup.dedup(str(folder))


@pytest.fixture
def facts(result, monkeypatch):
    """With room for a tenth, and ten groups enough."""
    facts = Facts(result, 1)
    monkeypatch.setattr(part, "ROOM", int((facts.bytes + part.OVERHEAD).sum()) // 10)
    monkeypatch.setattr(part, "ENOUGH", 10)
    return facts


def test_a_small_collection_is_read_wholly(result):
    found = choose_part(Facts(result, 1))
    assert found.whole
    assert report_data(result)["part"] is None


def test_a_part_is_bounded_begins_with_the_first_split_and_has_only_beginnings(facts):
    found = choose_part(facts)
    assert not found.whole
    starts = facts.collection.starts
    inside = [found.documents[a:b] for a, b in pairwise(starts)]
    touched = [i for i, one in enumerate(inside) if one.any()]
    doublings = int(np.log2(found.splits / part.SPLITS))
    assert 0 <= doublings <= part.DOUBLINGS
    assert touched[0] == 0
    assert len(touched) <= found.splits <= found.of == FILES
    assert (facts.bytes + part.OVERHEAD)[found.documents].sum() <= part.ROOM << doublings
    for one in inside:
        assert (np.diff(one.astype(int)) <= 0).all()  # from the beginning to somewhere


def test_groups_of_a_part_have_both_sides_in_it(facts):
    found = choose_part(facts)
    inside = found.documents.tolist()
    expected = [
        inside[centre] and any(inside[d] for d in facts.decision.removed[facts.rows_of(group)].tolist())
        for group, centre in enumerate(facts.centres.tolist())
    ]
    assert found.groups(facts).tolist() == expected
    assert sum(expected) >= part.ENOUGH


def test_more_is_read_until_there_are_enough_groups_or_it_is_too_much(facts, monkeypatch):
    sizes = []
    for enough in (1, 10, 10_000):
        monkeypatch.setattr(part, "ENOUGH", enough)
        found = choose_part(facts)
        sizes.append(found.size)
        assert found.splits in (8, 16, 32, FILES)
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]
    monkeypatch.setattr(part, "DOUBLINGS", 0)
    assert choose_part(facts).splits == part.SPLITS
    assert choose_part(facts).size <= sizes[0]


def test_the_seed_decides(result, facts):
    again, other = Facts(result, 1), Facts(result, 2)
    assert (choose_part(again).documents == choose_part(facts).documents).all()
    assert (choose_part(other).documents != choose_part(facts).documents).any()


def test_of_one_split_the_beginning_is_read(crawled, monkeypatch):
    facts = Facts(crawled, 1)
    monkeypatch.setattr(part, "ROOM", int((facts.bytes + part.OVERHEAD).sum()) // 3)
    monkeypatch.setattr(part, "ENOUGH", 1)
    found = choose_part(facts)
    assert (found.splits, found.of) == (1, 1)
    assert 0 < found.size < len(facts) / 2
    assert found.documents[: found.size].all()


def test_short_splits_leave_their_room_to_others():
    starts, cost = np.array([0, 1, 101]), np.arange(102) * 10
    documents = part._beginnings(starts, np.array([0, 1]), cost, 400)
    assert documents[:40].all()
    assert documents.sum() == 40


def test_nothing_else_is_read_and_the_page_says_so(facts, result, monkeypatch):
    asked = []
    texts = result.texts
    monkeypatch.setattr(type(result), "texts", lambda self, numbers: asked.extend(numbers) or texts(asked))
    monkeypatch.setattr(browsing, "EACH", 15)
    data = report_data(result)
    found = choose_part(facts)
    assert asked
    assert found.documents[np.array(asked)].all()
    assert data["part"] == {"parts": found.splits, "of": FILES, "documents": found.size}
    assert data["templates"]["sample"] <= found.size
    assert 0 < data["thresholds"]["measured"] < 1
    sizes = sorted((g["size"] for g in data["groups"] if "biggest" in g["strata"]), reverse=True)
    assert sizes == np.sort(facts.sizes)[::-1][:15].tolist()  # the biggest of all, read or not
    for group in data["groups"]:
        near = [m for m in group["members"] if m["measured"] != "identity"]
        assert all((m["diff"] is None) == m["beyond"] for m in near)
        if set(group["strata"]) - {"biggest", "site"}:
            assert group["kept"]["text"] is not None
            assert not all(m["beyond"] for m in group["members"])


def test_what_a_slider_tells_of_a_part_is_near_to_what_it_tells_of_all(facts, result, monkeypatch):
    told = {t: more for t, more, *_ in report_data(result)["thresholds"]["lower"]}
    monkeypatch.setattr(part, "ROOM", 1 << 30)
    whole = {t: more for t, more, *_ in report_data(result)["thresholds"]["lower"]}
    assert all(abs(told[t] - whole[t]) <= 0.03 * len(facts) for t in whole)
