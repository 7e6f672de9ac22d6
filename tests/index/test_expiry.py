"""Documents that were not seen for long are forgotten, and nothing else is."""

import random
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

from neardup.errors import UsageError
from neardup.index import Index, expiry, postgres, rocks, store
from neardup.index.store import Change, Store, today
from tests.corpus import WORDS
from tests.index.conftest import Engine
from tests.index.test_store import adding, keys_of, write
from tests.naive.store import NaiveStore

Clock = Callable[[int], None]
TODAY = today()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Sets the day."""

    def turn(day: int) -> None:
        for module in (store, expiry):
            monkeypatch.setattr(module, "today", lambda: day)

    return turn


@pytest.fixture(params=["rocks", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(tmp_path / "seen.ndx") if request.param == "rocks" else request.getfixturevalue("address")


def text_of(number: int) -> str:
    return " ".join([f"number{number}", *random.Random(number).choices(WORDS, k=60)])


def close_to(number: int) -> str:
    return text_of(number).rsplit(" ", 1)[0] + " another"


def ages(kept: Store) -> dict[str, Any]:
    numbers = np.arange(40)
    return {
        "days": kept.days(),
        "met": kept.met(numbers).tolist(),
        "before": [sorted(kept.met_before(day, 100).tolist()) for day in range(9)],
        "between": [kept.between(*asked).tolist() for asked in ((0, 40, 100), (3, 9, 100), (0, 40, 2), (50, 60, 1))],
        "expired": kept.facts()["expired"],
        "documents": len(kept),
    }


def test_stores_date_documents_as_the_naive_one_does(engine: Engine, closing: Any) -> None:
    both = closing(engine.create()), NaiveStore({})
    chance = random.Random(5)
    for day in (1, 1, 2, 4, 4, 5, 7):
        ids = [f"{day}-{chance.random()}" for _ in range(3)]
        there = both[1].between(0, 100, 100).tolist()
        met = chance.sample(there, min(3, len(there)))
        names = {number: id for id, number in both[1].ids.items()}
        gone = [(number, names[number]) for number in chance.sample(there, min(1, len(there)))]
        over = chance.choice([0, 0, day])
        for each in both:
            added = adding(*((id, [len(id)]) for id in ids))
            write(each, Change(added.ids, added.records, added.keys, added.texts, gone, met=met, day=day, over=over))
        assert ages(both[0]) == ages(both[1])
    removed = [(number, id) for id, number in list(both[1].ids.items())[:4]]
    for each in both:
        write(each, Change(removed=removed, expired=True))
    assert ages(both[0]) == ages(both[1])
    assert ages(both[0])["expired"] == 4
    both[0].close()
    assert ages(closing(engine.open())) == ages(both[1])
    assert ages(closing(engine.open(read_only=True))) == ages(both[1])


def test_what_was_not_seen_for_long_is_forgotten_and_what_was_met_again_stays(place: str, clock: Clock) -> None:
    clock(TODAY - 40)
    with Index.open(place) as index:
        index.add_many([{"id": f"{n}", "text": text_of(n)} for n in range(20)])
        clock(TODAY - 20)
        assert index.check_and_add("met", close_to(3)).match.id == "3"
        assert not index.check_and_add("again", text_of(4)).new
        assert index.check(text_of(5)).match.id == "5"  # stores nothing, nor that it was met
        assert index.add("6", text_of(6)) is False
        index.update("7", text_of(7))
        index.add("new", text_of(100))
        clock(TODAY)
        assert index.info()["oldest"] == expiry.shown_day(TODAY - 40)
        assert index.expire(days=30) == 16
        assert [f"{n}" in index for n in range(8)] == [False, False, False, True, True, False, True, True]
        assert index.info()["oldest"] == expiry.shown_day(TODAY - 20)
        assert index.info()["expired"] == 16
        assert index.check(text_of(5)).new
        assert not index.check(text_of(3)).new
        assert index.expire(days=30) == 0
        assert index.expire(days=20) == 0
        assert index.expire(days=19) == 5
        assert len(index) == 0
        assert index.info()["expired"] == 21
        assert index.check_and_add("5", text_of(5)).added
    with Index.open(place) as index:
        assert index.info()["expired"] == 21
        assert len(index) == 1


def test_verdicts_are_those_of_an_index_that_never_had_them(place: str, clock: Clock, tmp_path: Path) -> None:
    recipe = Index.open(tmp_path / "recipe", "stream").recipe
    with Index.open(place, recipe) as index, Index.open(tmp_path / "never", recipe) as never:
        for day in range(6):
            clock(TODAY - 12 + 2 * day)
            index.add_many([{"id": f"{n}", "text": text_of(n)} for n in range(10 * day, 10 * day + 10)])
        clock(TODAY)
        assert index.expire(days=7) == 30
        never.add_many([{"id": f"{n}", "text": text_of(n)} for n in range(30, 60)])
        asked = [{"id": f"a{n}", "text": each(n)} for n in range(65) for each in (text_of, close_to)]
        for _ in range(2):
            assert index.check_many(asked) == never.check_many(asked)
            assert index.check_and_add_many(asked) == never.check_and_add_many(asked)
            index.compact()
        assert len(index) == len(never)


def test_it_can_be_stopped_and_goes_on(place: str, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expiry, "AT_ONCE", 10)
    clock(TODAY - 40)
    with Index.open(place) as index:
        index.add_many([{"id": f"{n}", "text": text_of(n)} for n in range(95)])
        clock(TODAY)
        asked = iter([False, False, False, True])
        assert index.expire(days=10, stop=lambda: next(asked)) == 30
        assert index.expire(days=10, stop=lambda: True) == 0
        assert len(index) == 65
    with Index.open(place) as index:
        clock(TODAY)
        assert index.expire(days=10) == 65
        assert len(index) == 0
        assert index.info()["expired"] == 95


def test_others_write_meanwhile(place: str, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expiry, "AT_ONCE", 10)
    clock(TODAY - 40)
    with Index.open(place) as index:
        index.add_many([{"id": f"{n}", "text": text_of(n)} for n in range(200)])
        clock(TODAY)
        added: list[bool] = []

        def meet() -> None:
            for n in range(100, 200):
                added.append(index.check_and_add(f"again {n}", text_of(n)).added)
                index.remove(f"{n - 100}")

        meeting = Thread(target=meet)
        meeting.start()
        while meeting.is_alive():
            index.expire(days=10)
        meeting.join()
        index.expire(days=10)
        assert [f"again {n}" in index for n in range(100, 200)] == added
        if not place.startswith("postgres"):  # where removals lock ids alone: met in that moment, it goes nevertheless
            found = index.check_many([{"id": "", "text": text_of(n)} for n in range(100, 200)])
            assert all(verdict.match for verdict in found)
        assert not any(verdict.match for verdict in index.check_many([{"text": text_of(n)} for n in range(100)]))


def test_an_index_that_is_older_than_its_days_is_dated_by_its_first_addition(
    place: str, clock: Clock, request: pytest.FixtureRequest
) -> None:
    clock(TODAY - 90)
    with Index.open(place) as index:
        index.add_many([{"id": f"{n}", "text": text_of(n)} for n in range(5)])
        _forget_days(index, request)
    clock(TODAY - 50)
    with Index.open(place, read_only=True) as index:
        assert index.info()["oldest"] is None
        assert not index.check(text_of(1)).new
    with Index.open(place) as index:
        assert index.expire(days=10) == 0
        index.add("5", text_of(5))
        assert index.info()["oldest"] == expiry.shown_day(TODAY - 50)
        assert index.expire(days=10) == 0
        clock(TODAY)
        assert index.expire(days=10) == 6


def _forget_days(index: Index, request: pytest.FixtureRequest) -> None:
    if isinstance(index.store, rocks.RocksStore):
        with index.store.writing(keys_of(), []):
            index.store.commit(Change(over=TODAY))
        folder = index.store._usable()
        for name in list(folder.default.keys()):
            if name.startswith((b"added", b"met", b"last")):
                folder.default.delete(name)
    else:
        assert isinstance(index.store, postgres.PostgresStore)
        index.store._connections.run(
            lambda connection: connection.execute(
                "drop table days, met; alter table counts drop expired", prepare=False
            ).close()
        )


def test_what_is_asked_wrongly_is_refused(tmp_path: Path) -> None:
    with Index.open(tmp_path / "seen.ndx") as index:
        for asked in ({}, {"days": 3, "before": datetime.now(UTC)}, {"days": 0}, {"before": datetime(2999, 1, 1)}):
            with pytest.raises(UsageError):
                index.expire(**asked)
        assert index.expire(before=datetime(2020, 1, 1)) == 0


def test_documents_cost_few_bytes_more(tmp_path: Path, clock: Clock) -> None:
    """Nothing where they are never met again, and about 12 bytes where they are."""
    with Index.open(tmp_path / "seen.ndx") as index:
        clock(TODAY - 1)
        index.add_many([{"id": f"{n}", "text": text_of(n)} for n in range(3000)])
        index.compact()
        before = _tables(tmp_path / "seen.ndx")
        clock(TODAY)
        index.check_and_add_many([{"id": "x", "text": text_of(n)} for n in range(3000)])
        index.compact()
        assert _tables(tmp_path / "seen.ndx") - before < 3000 * 14


def _tables(folder: Path) -> int:
    return sum(table.stat().st_size for table in folder.glob("*.sst"))
