"""Sessions: what is drawn, that it goes on, and what it exports."""

import json
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import neardup
from neardup import Result
from neardup.audit import LabellingSession, measure_recall
from neardup.audit.session import LONGEST
from neardup.audit.strata import COPIES, draw
from neardup.errors import InputError, UsageError
from neardup.evaluating.truth import CORRECT, read_truth
from neardup.text.sites import site


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().split("\n") if line]


@pytest.fixture
def session(finished, tmp_path) -> LabellingSession:
    return LabellingSession.begin(Result.open(finished), tmp_path / "audit", pairs=40, labeller="ann")


def test_a_drawn_pair_is_a_removal_of_the_run(finished, session):
    removed = {row["id"]: row for row in Result.open(finished).removed.to_pylist()}
    texts = {row["id"]: row["text"] for row in lines(finished.parent / "pages.jsonl")}
    assert len(session.pairs) == 40 == len({pair.first for pair in session.pairs})
    for pair in session.pairs:
        row = removed[pair.first]
        assert pair.second == row["kept_id"]
        assert (pair.relation, pair.measured, pair.score) == (row["relation"], row["measured"], row["score"])
        assert (pair.first_url, pair.second_url) == (row["url"], row["kept_url"])
        assert (pair.first_text, pair.second_text) == (texts[pair.first], texts[pair.second])
        here, there = site(pair.first_url), site(pair.second_url)
        known = "site unknown" if here is None or there is None else "same site" if here == there else "different sites"
        assert pair.sites == known
        stratum = session.strata[pair.stratum]
        assert stratum.relation == pair.relation
        if pair.relation != "identical":
            assert stratum.sites == pair.sites
            assert stratum.low <= pair.score <= stratum.high


def test_strata_are_all_removals(finished, session):
    result = Result.open(finished)
    assert sum(s.size for s in session.strata) == len(result.removed)
    assert Counter(p.stratum for p in session.pairs) == {i: s.drawn for i, s in enumerate(session.strata) if s.drawn}
    copies = [s for s in session.strata if s.relation == "identical"]
    assert len(copies) == 1
    assert copies[0].drawn <= COPIES < copies[0].size
    assert all(s.drawn >= min(2, s.size) for s in session.strata)


def test_a_draw_depends_on_the_seed_alone(finished):
    one, same, other = (draw(Result.open(finished), 40, seed) for seed in (1, 1, 2))
    assert (one.rows == same.rows).all()
    assert set(one.rows.tolist()) != set(other.rows.tolist())
    everything = draw(Result.open(finished), 10_000, 1)
    copies = next(s for s in everything.strata if s.relation == "identical")
    assert len(everything.rows) == len(Result.open(finished).removed) - copies.size + COPIES


def test_the_order_is_random_so_that_a_beginning_is_a_sample(finished):
    drawn = draw(Result.open(finished), 80, 1)
    first, second = drawn.stratum[:40], drawn.stratum[40:]
    assert len(set(first.tolist()) & set(second.tolist())) > 3
    assert (np.diff(drawn.stratum) < 0).any()


def test_a_session_goes_on(finished, session):
    assert session.first_open == 0
    session.label(0, "correct", "same")
    session.label(1, "incorrect", "item", "not <b>that</b>")
    again = LabellingSession.begin(Result.open(finished), session.folder, labeller="bob")
    assert again.pairs == session.pairs
    assert again.first_open == 2
    assert again.said(1).note == "not <b>that</b>"
    assert again.said(1).labeller == "ann"
    again.label(1, None)
    assert again.first_open == 1


def test_agreement(finished, session):
    other = LabellingSession(session.folder, labeller="bob")
    for number, (mine, theirs) in enumerate([("correct", "correct"), ("correct", "incorrect"), ("undecided", None)]):
        session.label(number, mine)
        if theirs:
            other.label(number, theirs)
    other.labels.refresh()
    assert other.agreement() == (1, 2)


def test_pairs_of_another_run_are_refused(finished, session, tmp_path):
    head, *rest = (session.folder / "pairs.jsonl").read_text().splitlines(keepends=True)
    changed = json.dumps({**json.loads(head), "run": "0" * 16}) + "\n"
    (session.folder / "pairs.jsonl").write_text(changed + "".join(rest))
    with pytest.raises(UsageError, match=r"pairs and labels of another run.*--export them.*move the folder away"):
        LabellingSession.begin(Result.open(finished), session.folder)


@pytest.mark.parametrize("asked", [{"pairs": 41}, {"seed": 2}])
def test_another_draw_is_refused(finished, session, asked):
    with pytest.raises(UsageError, match="were drawn before"):
        LabellingSession.begin(Result.open(finished), session.folder, **asked)
    LabellingSession.begin(Result.open(finished), session.folder, pairs=40, seed=1)


def test_what_cannot_be_read_is_told(session, tmp_path):
    with pytest.raises(InputError, match="no pairs have been drawn"):
        LabellingSession(tmp_path / "nowhere")
    path = session.folder / "pairs.jsonl"
    path.write_text(path.read_text()[:-40])
    with pytest.raises(InputError, match="cannot be read"):
        LabellingSession(session.folder)
    path.write_text("")
    with pytest.raises(InputError, match="cannot be read"):
        LabellingSession(session.folder)


def test_export_is_truth_with_weights(session, tmp_path):
    for number in range(25):
        session.label(number, ("correct", "incorrect", "undecided")[number % 3], "other", "why not")
    session.label(3, None)
    target = tmp_path / "truth.jsonl"
    assert session.export(target) == 24
    rows = lines(target)
    assert {row["verdict"] for row in rows} == {"correct", "incorrect", "undecided"}
    assert set(rows[0]) >= {"first", "second", "verdict", "reason", "stratum", "weight", "labeller"}
    sizes = {s.name: s.size for s in session.strata}
    for name in {row["stratum"] for row in rows}:
        assert sum(row["weight"] for row in rows if row["stratum"] == name) == pytest.approx(sizes[name])
    found = session.precision()
    right = sum(row["weight"] for row in rows if row["verdict"] == "correct")
    assert any(row["relation"] == "identical" and row["verdict"] != "correct" for row in rows)
    assert found.low.value == pytest.approx(right / sum(row["weight"] for row in rows))
    read = read_truth(target)
    assert len(read) == 24
    assert read.first.to_pylist() == [row["first"] for row in rows]
    assert read.weight.tolist() == [row["weight"] for row in rows]
    assert (read.verdict == CORRECT).tolist() == [row["verdict"] == "correct" for row in rows]


def test_long_texts_are_cut(finished, tmp_path, monkeypatch):
    monkeypatch.setattr("neardup.audit.session.LONGEST", 100)
    session = LabellingSession.begin(Result.open(finished), tmp_path / "cut", pairs=10)
    assert all(len(p.first_text) <= 100 for p in session.pairs)
    assert any(p.first_length > 100 for p in session.pairs)
    assert LONGEST > 10_000


def test_few_texts_are_in_memory_at_once_and_very_long_ones_are_left_out(finished, tmp_path, monkeypatch):
    asked: list[int] = []
    result = Result.open(finished)
    sizes = result.gathered.collection.numbers("bytes")
    ids = result.gathered.collection.any_order("id", np.arange(len(sizes))).to_pylist()
    size_of = dict(zip(ids, sizes.tolist(), strict=True))
    largest = int(np.median(sizes)) + 20
    read = Result.texts

    def texts(self, numbers):
        asked.append(int(sizes[list(numbers)].sum()))
        return read(self, numbers)

    monkeypatch.setattr(Result, "texts", texts)
    monkeypatch.setattr("neardup.audit.session.LARGEST", largest)
    monkeypatch.setattr("neardup.audit.session._AT_ONCE", 2500)
    session = LabellingSession.begin(result, tmp_path / "few", pairs=30)
    assert len(asked) > 2
    assert max(asked) < 2500 + largest
    texts_of = {row["id"]: row["text"] for row in lines(finished.parent / "pages.jsonl")}
    left = 0
    for pair in session.pairs:
        for name, text, length in (
            (pair.first, pair.first_text, pair.first_length),
            (pair.second, pair.second_text, pair.second_length),
        ):
            if size_of[name] > largest:
                left += 1
                assert (text, length) == (None, size_of[name])
            else:
                assert (text, length) == (texts_of[name], len(texts_of[name]))
    assert 0 < left < 60
    again = LabellingSession(session.folder)
    assert again.pairs == session.pairs


def test_a_run_without_removals(tmp_path):
    source = tmp_path / "one.jsonl"
    source.write_text(json.dumps({"id": "1", "text": "all alone in this world of pages"}) + "\n")
    neardup.dedup(str(source), work=tmp_path / "out" / "work").write(tmp_path / "out")
    with pytest.raises(UsageError, match="nothing was removed"):
        LabellingSession.begin(Result.open(tmp_path / "out"), tmp_path / "audit")
    assert not (tmp_path / "audit").exists()


def test_inputs_that_are_gone_are_told(tmp_path, finished):
    shutil.copytree(finished, tmp_path / "out")
    inputs = tmp_path / "out" / "work" / "inputs.json"
    inputs.write_text(inputs.read_text().replace("pages.jsonl", "nothing.jsonl"))
    told = r"nothing\.jsonl is not there any more.* Put it back, or run `neardup dedup` again"
    with pytest.raises(InputError, match=told):
        LabellingSession.begin(Result.open(tmp_path / "out"), tmp_path / "audit")
    with pytest.raises(InputError, match=told) as found:
        measure_recall(Result.open(tmp_path / "out"))
    assert "in the folder" not in str(found.value)


def test_inputs_that_changed_are_told(tmp_path, finished):
    shutil.copytree(finished, tmp_path / "out")
    source = tmp_path / "pages.jsonl"
    source.write_text("another one\n")
    inputs = tmp_path / "out" / "work" / "inputs.json"
    old = json.loads(inputs.read_text())
    inputs.write_text(json.dumps(old).replace(str(finished.parent / "pages.jsonl"), str(source)))
    with pytest.raises(InputError, match=r"pages\.jsonl has changed since"):
        measure_recall(Result.open(tmp_path / "out"))


def test_a_label_carries_the_person_and_the_token_that_was_used(session):
    session.by("ann", "reviewers").label(0, "correct")
    session.by("", "reviewers").label(1, "correct")
    session.by("", "reviewers").by("bob, as typed").label(2, "correct")
    session.by("x" * 100, "reviewers").label(3, "correct")
    named = [session.said(number).labeller for number in range(4)]
    assert named[:3] == ["ann (reviewers)", "reviewers", "bob, as typed (reviewers)"]
    assert named[3] == "x" * 88 + " (reviewers)"
