"""What could not be read is noted in bounded memory, in the order of places, and none is lost."""

import json
import random

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup
from neardup.model import SKIPPED
from neardup.sources import problems as module
from neardup.sources.problems import Problem, Problems, only_counted, read, rows, spooled

PROBLEMS = st.lists(
    st.builds(
        Problem, st.sampled_from("ab"), st.none() | st.integers(1, 9), st.sampled_from(["no", "not JSON"]), st.text()
    ),
    max_size=20,
)


@given(st.lists(PROBLEMS, max_size=4), st.integers(1, 8))
def test_files_hold_all_of_them_in_order(tmp_path_factory, splits, at_once):
    """The naive way: a sorted list of each split, one after the other."""
    folder = tmp_path_factory.mktemp("problems")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_AT_ONCE", at_once)
        for number, some in enumerate(splits):
            with spooled(folder / f"{number}.arrow") as spool:
                told = Problems("skip", note=spool.note)
                for p in some:
                    told.report(p.source, p.position, p.kind, p.detail)
            assert (folder / f"{number}.arrow").exists() == bool(some)
    found = read(folder / f"{number}.arrow" for number in range(len(splits)))
    expected = [p for some in splits for p in sorted(some, key=lambda p: (p.source, p.position or 0, p.kind, p.detail))]
    assert found.schema == SKIPPED
    assert found.to_pylist() == rows(expected).to_pylist()
    assert not [path for path in folder.iterdir() if path.suffix != ".arrow" or path.name.startswith(".")]


def test_a_file_that_was_there_goes_when_nothing_is_wrong_any_more(tmp_path):
    place = tmp_path / "x.arrow"
    for many in (3, 0):
        with spooled(place) as spool:
            for number in range(many):
                spool.note(Problem("a", number, "no", ""))
        assert read([place]).num_rows == many


def test_a_reading_that_fails_leaves_nothing(tmp_path):
    def fails() -> None:
        with spooled(tmp_path / "x.arrow") as spool:
            spool.note(Problem("a", 1, "no", ""))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fails()
    assert not list(tmp_path.iterdir())


@given(PROBLEMS)
def test_counts_and_firsts_need_no_list(some):
    listed, counted = Problems("skip"), Problems("skip", note=only_counted)
    for told in (listed, counted, listed.again()):
        for p in some:
            told.report(p.source, p.position, p.kind, p.detail)
    assert listed.found == some
    assert counted.found == []
    assert counted.counts == listed.counts
    assert counted.counts.total() == len(some)
    for kind, first in counted.first.items():
        assert first == next(p for p in some if p.kind == kind)


def test_all_that_is_passed_over_is_in_the_result_whatever_the_order_of_threads(tmp_path):
    chance = random.Random(1)
    lines = [json.dumps({"id": str(n), "text": f"words of {n} {chance.random()}"}) for n in range(500)]
    for place in chance.sample(range(500), 100):
        lines[place] = chance.choice(["no JSON", '{"id": "x"}', '{"id": 1, "text": 2}', '{"id": "7", "text": "seven"}'])
    source = tmp_path / "bad.jsonl"
    source.write_text("\n".join(lines))
    told = [neardup.dedup(source, on_error="skip", threads=threads).skipped.to_pylist() for threads in (1, 2)]
    assert told[0] == told[1]
    assert len({row["position"] for row in told[0]}) >= 90
    first = neardup.dedup(source, on_error="skip", work=tmp_path / "work").skipped
    again = neardup.dedup(source, on_error="skip", work=tmp_path / "work").skipped
    assert first.to_pylist() == again.to_pylist() == told[0]
    assert isinstance(first, pa.Table)
