"""What every engine must do, said once, and a twin from dictionaries that says what is right."""

import multiprocessing
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from neardup.errors import StoreError
from neardup.index import postgres
from neardup.index.store import FIRST, MOST, Change, Holders, Store
from neardup.sketches.base import Ragged, nothing
from tests.index.conftest import Engine
from tests.naive.store import NaiveStore

LAST = 2**64 - 1


def keys_of(*keys: int) -> np.ndarray:
    return np.array(keys, np.uint64)


def adding(*documents: tuple[str, list[int]], texts: list[bytes | None] | None = None) -> Change:
    """Of ids and keys; a record has the id."""
    ids = [id for id, _ in documents]
    values = keys_of(*(key for _, keys in documents for key in keys))
    offsets = np.cumsum([0, *(len(keys) for _, keys in documents)]).astype(np.int64)
    records = [b"record of " + id.encode("utf-8", "surrogatepass") for id in ids]
    return Change(ids, records, Ragged(values, offsets), texts or [None] * len(ids))


def write(store: Store, change: Change) -> None:
    with store.writing(np.unique(change.keys.values), [*change.ids, *(id for _, id in change.removed)]):
        store.commit(change)


def remove(store: Store, *ids: str) -> None:
    write(store, Change(removed=list(zip(store.numbers(list(ids)).tolist(), ids, strict=True))))


def held(store: Store, *keys: int) -> list[list[int]]:
    """The numbers of documents under each key; those that are gone may stand there, and do not count."""
    found = alive(store, store.holders(keys_of(*keys)))
    assert (np.diff(found.places) >= 0).all()
    return [found.numbers[found.places == place].tolist() for place in range(len(keys))]


def alive(store: Store, found: Holders) -> Holders:
    distinct = np.unique(found.numbers)
    there = distinct[[record is not None for record in store.records(distinct)]]
    chosen = np.isin(found.numbers, there)
    return Holders(found.places[chosen], found.numbers[chosen])


def everything(store: Store) -> dict[str, Any]:
    return {
        "rows": list(store.rows(texts=True)),
        "keys": {key: numbers.tolist() for key, numbers in store.postings()},
        "documents": len(store),
    }


def test_a_new_store_is_empty_and_remembers_its_settings(engine: Engine, closing: Any) -> None:
    settings = {"recipe": {"name": "ü\0", "threshold": 0.1, "seed": LAST}, "keep": None, "list": [True, 1.5e-300]}
    assert not engine.exists()
    store = closing(engine.create(settings))
    assert engine.exists()
    assert store.settings == settings
    assert everything(store) == {"rows": [], "keys": {}, "documents": 0}
    assert held(store, 0, LAST) == [[], []]
    assert held(store) == []
    assert store.numbers([]).tolist() == []
    assert store.numbers(["a"]).tolist() == [-1]
    assert store.records(np.array([0, 5])) == [None, None]
    assert store.records(np.empty(0, np.int64)) == []
    store.close()
    assert closing(engine.open()).settings == settings


def test_where_there_is_one_none_is_created_and_where_there_is_none_none_is_opened(
    engine: Engine, closing: Any
) -> None:
    with pytest.raises(StoreError, match="no index"):
        engine.open()
    with pytest.raises(StoreError, match="no index"):
        engine.open(read_only=True)
    closing(engine.create())
    with pytest.raises(StoreError, match="already"):
        engine.create()


def test_what_was_added_is_found_by_key_and_id_also_after_opening_again(engine: Engine, closing: Any) -> None:
    store = closing(engine.create())
    write(store, adding(("a", [0, LAST]), ("b", [LAST, 7]), ("c", []), texts=[b"text", None, b""]))
    write(store, adding(("d", [7])))
    for _ in range(2):
        assert held(store, 7, 8, LAST, 0) == [[1, 3], [], [0, 1], [0]]
        assert store.numbers(["d", "a", "nobody", "c"]).tolist() == [3, 0, -1, 2]
        assert store.records(np.array([3, 9, 0])) == [b"record of d", None, b"record of a"]
        assert store.texts(np.array([1, 0, 2, 3, 9])) == [None, b"text", b"", None, None]
        assert [row.text for row in store.rows()] == [None] * 4
        assert everything(store) == {
            "rows": [
                (0, b"record of a", b"text"),
                (1, b"record of b", None),
                (2, b"record of c", b""),
                (3, b"record of d", None),
            ],
            "keys": {0: [0], 7: [1, 3], LAST: [0, 1]},
            "documents": 4,
        }
        store.close()
        store = closing(engine.open())


def test_a_removed_document_is_gone_and_its_number_never_comes_again(store: Store) -> None:
    write(store, adding(("a", [1]), ("b", [1]), texts=[b"old", None]))
    remove(store, "a")
    assert len(store) == 1
    assert store.numbers(["a", "b"]).tolist() == [-1, 1]
    assert store.records(np.array([0])) == [None]
    assert store.texts(np.array([0])) == [None]
    write(store, adding(("a", [1, 2])))
    assert store.numbers(["a"]).tolist() == [2]
    assert held(store, 1, 2) == [[1, 2], [2]]
    store.compact()
    assert {key: numbers.tolist() for key, numbers in store.postings()} == {1: [1, 2], 2: [2]}
    assert held(store, 1, 2) == [[1, 2], [2]]
    remove(store, "a", "b")
    store.compact()
    assert everything(store) == {"rows": [], "keys": {}, "documents": 0}
    write(store, adding(("a", [1])))
    assert held(store, 1) == [[3]]


def test_a_document_is_replaced_in_one_commit(store: Store) -> None:
    write(store, adding(("a", [1]), ("b", [2])))
    new = adding(("a", [3]))
    write(store, Change(new.ids, new.records, new.keys, new.texts, [(0, "a")]))
    assert store.numbers(["a", "b"]).tolist() == [2, 1]
    assert [row.number for row in store.rows()] == [1, 2]
    assert len(store) == 2


def test_nothing_may_be_committed(store: Store) -> None:
    write(store, adding(("a", [1])))
    before = everything(store)
    with store.writing(keys_of(), []):
        store.commit(Change())
    with store.writing(keys_of(1), ["a"]):
        pass
    assert everything(store) == before


@pytest.mark.parametrize(
    "id",
    ["", "\0", "a\0b", "\ud800", "😀 é é", " ", "x" * 10_000, "ü" * 5_000, "'; drop table documents; --", "%s \\ \n"],
    ids=lambda id: ascii(id[:8]),
)
def test_every_string_is_an_id(store: Store, id: str) -> None:
    write(store, adding((id, [1]), (id + "?", [1])))
    assert store.numbers([id, id + "?", id + "!"]).tolist() == [0, 1, -1]
    remove(store, id)
    assert store.numbers([id, id + "?"]).tolist() == [-1, 1]


def test_long_ids_that_differ_at_the_end_are_two(store: Store) -> None:
    noise = "".join(map(chr, np.random.default_rng(3).integers(33, 0xD000, 10_000)))
    write(store, adding((noise + "a", [1]), (noise + "b", [1])))
    assert store.numbers([noise + "b", noise + "a", noise]).tolist() == [1, 0, -1]


def test_records_and_texts_are_any_bytes(store: Store) -> None:
    every = bytes(range(256))
    large = np.random.default_rng(1).bytes(3_000_000)
    write(store, Change(["a", "b"], [every, b""], nothing(2), [large, every]))
    assert store.records(np.array([0, 1])) == [every, b""]
    assert store.texts(np.array([1, 0])) == [every, large]


def crowd(store: Store, size: int, at_once: int = 2_000) -> None:
    """Documents that all stand under key 5."""
    for start in range(0, size, at_once):
        write(store, adding(*((str(i), [5, 10 + i]) for i in range(start, min(size, start + at_once)))))


def test_of_a_crowd_the_first_and_the_latest_are_found_and_all_are_remembered(store: Store) -> None:
    crowd(store, 10_000)
    assert len(store) == 10_000
    first, latest = list(range(FIRST)), list(range(10_000 - MOST, 10_000))
    assert held(store, 5, 10, 10_009) == [first + latest, [0], [9_999]]
    assert dict(store.postings())[5].tolist() == list(range(10_000))
    remove(store, "9999", "0")
    write(store, adding(("last", [5])))
    for _ in range(2):
        [found] = held(store, 5)
        assert found[-MOST:] == [latest[0], *latest[1:-1], 10_000], "a removed one takes nobody's place"
        assert [n for n in found[:-MOST] if n > 0][: FIRST - 1] == first[1:]
        store.compact()
    assert dict(store.postings())[5].tolist() == [*range(1, 9_999), 10_000]
    assert len(store) == 9_999


@pytest.mark.parametrize("size", [MOST, MOST + 1, 2 * MOST, 2 * MOST + 1, 3 * MOST, 4 * MOST + 77])
@pytest.mark.parametrize("compacted", [False, True], ids=["", "compacted"])
def test_a_list_is_filled_up_from_before_when_the_latest_are_removed(store: Store, size: int, compacted: bool) -> None:
    crowd(store, size, 700)
    for left in (MOST // 2, 1):
        if compacted:
            store.compact()
        numbers = [int(i) for i in dict(store.postings())[5] if i >= left and store.numbers([str(i)])[0] >= 0]
        remove(store, *map(str, numbers))
        assert held(store, 5) == [list(range(left))], "what is stored is found"
    store.compact()
    assert dict(store.postings())[5].tolist() == [0]
    remove(store, "0")
    store.compact()
    assert everything(store) == {"rows": [], "keys": {}, "documents": 0}


@pytest.mark.parametrize("more", [1, FIRST, FIRST + 1, MOST, MOST + 1])
def test_the_first_are_found_once(store: Store, more: int) -> None:
    crowd(store, MOST + more, 700)
    assert held(store, 5) == [[*range(min(more, FIRST)), *range(more, MOST + more)]]


def test_those_who_are_to_go_take_nobodys_place(store: Store) -> None:
    crowd(store, 2 * MOST + 10)
    gone = frozenset(range(20, 2 * MOST + 10))
    found = store.holders(keys_of(5, 15), gone)
    assert found.numbers[(found.places == 0) & ~np.isin(found.numbers, [*gone])].tolist() == list(range(20))
    assert found.numbers[found.places == 1].tolist() == [5]


def test_who_reads_only_finds_what_is_left_of_a_crowd(engine: Engine, closing: Any) -> None:
    writer = closing(engine.create())
    crowd(writer, 2 * MOST + 10)
    reader = closing(engine.open(read_only=True))
    remove(writer, *map(str, range(3, 2 * MOST + 10)))
    reader.refresh()
    assert held(reader, 5) == [[0, 1, 2]]


def test_many_keys_are_asked_for_at_once(store: Store) -> None:
    keys = np.random.default_rng(2).permutation(100_000).astype(np.uint64)
    write(store, adding(("many", keys[:70_000].tolist()), ("few", keys[60_000:80_000].tolist())))
    found = store.holders(keys)
    places, held = np.array([(i, n) for n, (a, b) in enumerate([(0, 70_000), (60_000, 80_000)]) for i in range(a, b)]).T
    order = np.lexsort((held, places))
    assert (found.places == places[order]).all()
    assert (found.numbers == held[order]).all()


def test_an_exception_commits_nothing(store: Store) -> None:
    write(store, adding(("a", [1])))
    before = everything(store)

    def fail() -> None:
        with store.writing(keys_of(1, 2), ["b"]):
            assert held(store, 1) == [[0]]
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        fail()
    assert everything(store) == before
    write(store, adding(("b", [1])))
    assert len(store) == 2


def test_rows_are_those_of_the_call(store: Store) -> None:
    write(store, adding(*((f"{i:04}", [i]) for i in range(3_000))))
    rows = store.rows()
    unread = store.rows(texts=True)
    first = next(rows)
    remove(store, "2999")
    write(store, adding(("late", [1])))
    assert [first.number, *(row.number for row in rows)] == list(range(3_000))
    assert next(store.rows()).number == 0
    assert [row.number for row in unread] == list(range(3_000))
    assert [row.number for row in store.rows()] == [*range(2_999), 3_000]


def test_readers_are_not_kept_waiting_and_see_what_was_committed(store: Store) -> None:
    write(store, adding(("a", [1])))
    with ThreadPoolExecutor(1) as other, store.writing(keys_of(1), ["b"]):
        assert other.submit(held, store, 1).result(30) == [[0]]
        assert other.submit(len, store).result(30) == 1
        store.commit(adding(("b", [1])))
        assert other.submit(held, store, 1).result(30) == [[0, 1]]


def test_who_reads_only_writes_nothing(engine: Engine, closing: Any) -> None:
    writer = closing(engine.create())
    write(writer, adding(("a", [1])))
    reader = closing(engine.open(read_only=True))
    assert reader.facts()["read_only"]
    assert not writer.facts()["read_only"]
    write(writer, adding(("b", [1])))
    reader.refresh()
    assert held(reader, 1) == [[0, 1]]
    assert len(reader) == 2
    with pytest.raises(StoreError, match="read"), reader.writing(keys_of(1), ["c"]):
        pass
    assert len(writer) == 2


def test_no_moment_outlasts_a_change(engine: Engine, closing: Any) -> None:
    writer = closing(engine.create())
    write(writer, adding(("a", [1])))
    reader = closing(engine.open(read_only=True))
    for change in (lambda: write(writer, adding(("b", [1]))), lambda: remove(writer, "a"), writer.compact):
        before = writer.moment(), reader.moment()
        change()
        reader.refresh()
        assert writer.moment() != before[0]
        assert reader.moment() != before[1]


def test_a_closed_store_says_so(store: Store) -> None:
    store.close()
    store.close()
    asks = [lambda: held(store, 1), lambda: store.numbers(["a"]), lambda: len(store), store.compact, store.facts]
    for ask in [*asks, lambda: write(store, adding()), lambda: list(store.rows())]:
        with pytest.raises(StoreError, match="closed"):
            ask()


def admit(store: Store, keys: list[int], id: str) -> bool:
    """Add it unless somebody stands under the first key."""
    with store.writing(keys_of(*keys), [id]):
        if len(store.holders(keys_of(keys[0])).numbers):
            return False
        store.commit(adding((id, keys)))
        return True


def race(store: Store, name: str, attempts: int, start: Any) -> int:
    """Everybody wants the same keys at the same moment; every other time among many others."""
    won = 0
    for i in range(attempts):
        others = range(1_000 * (i + 1), 1_000 * (i + 1) + (100 if i % 2 else 0))
        start.wait(60)
        won += admit(store, [i, *others], f"{name} {i}")
    return won


def test_of_those_who_look_and_add_at_once_one_does(store: Store) -> None:
    attempts, names = 60, ["a", "b", "c", "d"]
    start = threading.Barrier(len(names))
    with ThreadPoolExecutor(len(names)) as pool:
        won = list(pool.map(lambda name: race(store, name, attempts, start), names))
    assert sum(won) == attempts == len(store)
    assert all(len(numbers) == 1 for numbers in held(store, *range(attempts)))


def race_elsewhere(address: str, name: str, attempts: int, start: Any, told: Any) -> None:
    store = postgres.open(address)
    try:
        told.put(race(store, name, attempts, start))
    finally:
        store.close()


def test_nor_do_two_processes(address: str, closing: Any) -> None:
    store, attempts = closing(postgres.create(address, {})), 100
    context = multiprocessing.get_context("spawn")
    start, told = context.Barrier(3), context.Queue()
    others = [context.Process(target=race_elsewhere, args=(address, name, attempts, start, told)) for name in "ab"]
    for process in others:
        process.start()
    won = race(store, "c", attempts, start)
    total = won + sum(told.get(timeout=60) for _ in others)
    for process in others:
        process.join(60)
        assert process.exitcode == 0
    assert total == attempts == len(store)


@pytest.mark.parametrize("seed", range(5))
def test_any_sequence_of_changes_leads_to_what_the_twin_has(engine: Engine, closing: Any, seed: int) -> None:
    store, twin = closing(engine.create()), NaiveStore({})
    random = np.random.default_rng(seed)
    for step in range(60):
        ids = [f"document {i}" for i in np.unique(random.integers(0, 40, random.integers(0, 8))).tolist()]
        there = [(number, id) for number, id in zip(twin.numbers(ids).tolist(), ids, strict=True) if number >= 0]
        removed = [one for one in there if random.random() < 0.7]
        kept = {id for number, id in there if (number, id) not in removed}
        documents = [(id, _some_keys(random)) for id in ids if id not in kept and random.random() < 0.8]
        texts = [None if random.random() < 0.5 else random.bytes(int(random.integers(0, 50))) for _ in documents]
        made = adding(*documents, texts=texts)
        change = Change(made.ids, made.records, made.keys, made.texts, removed)
        for one in (store, twin):
            write(one, change)
        if random.random() < 0.1:
            store.compact()
            twin.compact()
        if random.random() < 0.1:
            store.close()
            store = closing(engine.open())
        asked = random.permutation(30).astype(np.uint64) * np.uint64(LAST // 29)
        for told, right in zip(*(alive(one, one.holders(asked)) for one in (store, twin)), strict=True):
            assert told.tolist() == right.tolist(), step
        numbers = random.permutation(twin.following + 2)
        assert store.records(numbers) == twin.records(numbers)
        assert store.texts(numbers) == twin.texts(numbers)
        assert store.numbers([*ids, "nobody"]).tolist() == twin.numbers([*ids, "nobody"]).tolist()
    assert everything(store) == everything(twin)


def _some_keys(random: np.random.Generator) -> list[int]:
    return [int(key) * (LAST // 29) for key in random.permutation(30)[: random.integers(0, 8)]]
