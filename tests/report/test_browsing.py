"""The groups that are shown."""

import json

import numpy as np
import pytest

from neardup.report import browsing
from neardup.report.facts import Facts
from neardup.report.part import choose_part


@pytest.fixture(scope="session")
def facts(crawled):
    return Facts(crawled, 1)


@pytest.fixture(scope="session")
def part(facts):
    return choose_part(facts)


def shown(facts):
    """The groups of a small run, with all texts."""
    part = choose_part(facts)
    chosen = browsing.choose_groups(facts, part)
    return browsing.groups_data(facts, part, chosen, facts.result.texts(browsing.wanted(facts, part, chosen).tolist()))


def test_the_sample_is_stratified_and_no_group_is_in_it_twice(facts, part, monkeypatch):
    monkeypatch.setattr(browsing, "EACH", 8)
    chosen = browsing.choose_groups(facts, part)
    assert len({one.group for one in chosen}) == len(chosen)
    by = {name: [one for one in chosen if name in one.strata] for name in ("biggest", "edge", "random")}
    assert {name: len(groups) for name, groups in by.items()} == {"biggest": 8, "edge": 8, "random": 8}
    others = np.delete(facts.sizes, [one.group for one in by["biggest"]])
    assert min(facts.sizes[one.group] for one in by["biggest"]) >= others.max()
    near = facts.decision.score[~facts.by_identity]
    limit = np.sort(near)[max(16, len(near) // 10)]
    assert all(facts.decision.score[facts.rows_of(one.group)].min() <= limit for one in by["edge"])
    assert not {one.group for one in by["random"]} & {one.group for one in (*by["biggest"], *by["edge"])}
    assert {name for one in chosen[:3] for name in one.strata} == {"biggest", "edge", "random"}  # in turn


def test_the_seed_decides(crawled, part, monkeypatch):
    monkeypatch.setattr(browsing, "EACH", 8)

    def drawn(seed):
        return [one.group for one in browsing.choose_groups(Facts(crawled, seed), part)]

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)


def test_members_of_a_group(facts):
    for group in range(len(facts.centres)):
        rows = facts.rows_of(group)
        assert len(rows) == facts.sizes[group] - 1
        assert (facts.decision.kept_for[rows] == facts.centres[group]).all()


def test_of_many_members_the_weakest_and_some_others_are_listed(run):
    words = [f"w{i}" for i in range(400)]
    rows = [{"id": f"{i:03d}", "text": " ".join([*words[: 400 - i], "end"])} for i in range(40)]
    facts = Facts(run(rows), 1)
    [one] = browsing.choose_groups(facts, choose_part(facts))
    assert len(one.rows) == browsing.MEMBERS < facts.sizes[0] - 1
    scores = facts.decision.score
    assert sorted(scores[one.rows])[: browsing.WEAKEST] == sorted(scores)[: browsing.WEAKEST]
    assert len(set(one.rows.tolist())) == browsing.MEMBERS


def test_what_is_shown_is_what_was_decided(facts):
    made = shown(facts)
    assert made
    for group in made:
        for member in group["members"]:
            explained = facts.result.explain(member["id"])
            assert explained.kept_id == group["kept"]["id"]
            assert (explained.relation, explained.measured) == (member["relation"], member["measured"])
            assert explained.score == pytest.approx(member["score"], abs=1e-6)
            assert len(explained.group) == group["size"]
            if member["measured"] == "identity":
                assert member["diff"] is None
            else:
                assert {kind for kind, *_ in member["diff"]} <= {"same", "differs", "passed"}
                assert any(kind == "differs" for kind, *_ in member["diff"])


def test_room_is_bounded(facts, part, monkeypatch):
    chosen = browsing.choose_groups(facts, part)
    whole = shown(facts)
    monkeypatch.setattr(browsing, "ALL_DIFFS", 5_000)
    less = shown(facts)
    diffs = [m["diff"] for g in less for m in g["members"] if m["diff"]]
    assert 0 < len(json.dumps(diffs)) < 5_000 + 3 * browsing.DIFF
    assert len(diffs) < len([m for g in whole for m in g["members"] if m["diff"]])
    monkeypatch.setattr(browsing, "READ", 1_000)
    assert 0 < facts.bytes[browsing.wanted(facts, part, chosen)].sum() <= 1_000
    monkeypatch.setattr(browsing, "LONGEST", 0)
    assert len(browsing.wanted(facts, part, chosen)) == 0


def test_long_names_are_cut(run):
    rows = [
        {"id": f"{i}" + "x" * 5_000, "text": "the same words in all of them here", "url": "u" * 9_000} for i in range(3)
    ]
    facts = Facts(run(rows), 1)
    [group] = shown(facts)
    assert len(json.dumps(group)) < 4_000


def test_long_texts_are_compared_by_their_beginnings(run):
    text = " ".join(f"word{i}" for i in range(12_000))
    facts = Facts(run([{"id": "a", "text": text}, {"id": "b", "text": "changed " + text}]), 1)
    [group] = shown(facts)
    assert group["members"][0]["cut"]
    assert len(json.dumps(group)) < 3 * browsing.DIFF + browsing.EXCERPT + 2_000


def test_no_groups(run):
    facts = Facts(run([{"id": "a", "text": "only one document is here at all"}]), 1)
    part = choose_part(facts)
    assert browsing.choose_groups(facts, part) == []
    assert browsing.groups_data(facts, part, [], {}) == []
    assert len(browsing.wanted(facts, part, [])) == 0
