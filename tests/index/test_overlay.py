"""What would be, were it written: decided as it is when it is written."""

import random
import shutil

import numpy as np
import pytest

from neardup import Document, Index
from neardup.index.overlay import Overlay
from neardup.index.store import FIRST, MOST
from tests.corpus import documents
from tests.index.test_store import adding, held, keys_of, remove, write
from tests.naive.store import NaiveStore


@pytest.mark.parametrize(("recipe", "keep"), [("stream", "sketch"), ("default", "text")])
def test_batches_are_answered_as_if_they_were_stored(tmp_path, recipe, keep):
    rng = random.Random(7)
    rows = documents(300, seed=8)
    given = [Document(f"d{rng.randrange(120)}", row["text"]) for row in rows]  # ids come again with other texts
    with Index.open(tmp_path / "stored.ndx", recipe, keep=keep) as index:
        index.check_and_add_many(given[:120])
    shutil.copytree(tmp_path / "stored.ndx", tmp_path / "written.ndx")
    with (
        Index.open(tmp_path / "stored.ndx", read_only=True) as stored,
        Index.open(tmp_path / "aside.ndx", recipe, keep=keep) as aside,
        Index.open(tmp_path / "written.ndx") as written,
    ):
        before = len(stored)
        dry = Index(Overlay(stored.store, aside.store))
        replaced = 0
        for start in range(120, 300, 20):
            some = given[start : start + 20]
            known = written.contains_many([each.id for each in some])
            wet = written.check_and_add_many(some)
            assert dry.check_and_add_many(some) == wet
            replaced += sum(verdict.added and there for verdict, there in zip(wet, known, strict=True))
        assert replaced > 10
        assert len(dry) == len(written)
        assert dry.check_many(given) == written.check_many(given)
        assert dry.get_many([each.id for each in given]) == written.get_many([each.id for each in given])
        dry.export(tmp_path / "dry.parquet")
        assert len(stored) == before
    with (
        Index.open(tmp_path / "moved.ndx", recipe, keep=keep) as moved,
        Index.open(tmp_path / "written.ndx") as written,
    ):
        moved.add_export(tmp_path / "dry.parquet")
        assert [v.status for v in moved.check_many(given)] == [v.status for v in written.check_many(given)]


def test_the_first_and_the_latest_of_both_are_found():
    below, above = NaiveStore({}), NaiveStore({})
    below.shown = "below"
    write(below, adding(*((f"b{i}", [1, 2]) for i in range(MOST))))
    both = Overlay(below, above)
    write(both, adding(*((f"a{i}", [2, 3]) for i in range(30))))
    [only_below, shared, only_above] = held(both, 1, 2, 3)
    assert only_below == list(range(MOST))
    assert shared == [*range(FIRST), *range(30, MOST), *only_above]
    assert len(only_above) == 30
    assert both.numbers(["a0", "b0", "none"]).tolist() == [only_above[0], 0, -1]
    assert both.records(np.array([0, only_above[1]])) == [b"record of b0", b"record of a1"]
    assert len(both.holders(keys_of(9)).numbers) == 0


def test_what_is_removed_below_makes_room_for_those_before():
    below = NaiveStore({})
    below.shown = "below"
    write(below, adding(*((f"b{i}", [1]) for i in range(2 * MOST))))
    both = Overlay(below, NaiveStore({}))
    remove(both, *(f"b{i}" for i in range(5, 2 * MOST)))
    assert held(both, 1) == [[0, 1, 2, 3, 4]]
