"""PostgreSQL alone: addresses and secrets, several writers, lost connections, a server that goes and comes back."""

import runpy
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from neardup.errors import MissingExtra, OutputError, StoreError, UsageError
from neardup.index import Document, Index, Verdict, postgres
from neardup.index.connections import Address
from neardup.index.store import Change, Store
from tests.index.postgres import Server
from tests.index.test_store import adding, everything, held, keys_of, remove, write
from tests.naive.store import NaiveStore

FEW, MANY = [1], list(range(1_000))


@pytest.fixture
def store(address: str, closing: Callable[[Any], Any]) -> Any:
    return closing(postgres.create(address, {}))


def sessions(server: Server) -> list[int]:
    found = server.execute("select pid from pg_stat_activity where application_name = 'neardup'")
    return [int(str(pid)) for (pid,) in found]


def end_sessions(server: Server) -> None:
    for pid in sessions(server):
        server.execute("select pg_terminate_backend(%s, 10000)", pid)


def test_without_psycopg_the_line_that_installs_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.delitem(sys.modules, "neardup.index.connections")
    with pytest.raises(MissingExtra, match=r"neardup\[postgres\]"):
        runpy.run_module("neardup.index.connections")


# Addresses.


@pytest.mark.parametrize(
    ("address", "index", "shown"),
    [
        ("postgresql://h/d", "neardup", "postgresql://h/d"),
        ("postgres://u:pass%20word@h:1/d?index=a_1", "a_1", "postgresql://u@h:1/d?index=a_1"),
        ("postgresql://u@h/d?sslmode=disable&index=x&connect_timeout=3", "x", "postgresql://u@h/d?index=x"),
        ("postgresql://u@h/d?password=secret&index=x", "x", "postgresql://u@h/d?index=x"),
        ("postgresql://[::1]:7/d", "neardup", "postgresql://[::1]:7/d"),
        ("postgresql:///d?host=/run/postgresql", "neardup", "postgresql://%2Frun%2Fpostgresql/d"),
    ],
)
def test_an_address_names_the_index_and_hides_the_password(address: str, index: str, shown: str) -> None:
    found = Address.parse(address)
    assert (found.index, found.shown) == (index, shown)
    assert "index=" not in found.conninfo
    assert "secret" not in repr(found)
    assert "word" not in repr(found)
    again = Address.parse(found.shown)
    assert (again.index, again.shown) == (index, shown)


@pytest.mark.parametrize("name", ["", "1a", "A", "a-b", 'a";drop', "a" * 42, "ü", "a%20b"])
def test_not_every_name_is_one_of_an_index(name: str) -> None:
    with pytest.raises(UsageError, match="no name of an index"):
        postgres.exists(f"postgresql://u@127.0.0.1:1/d?index={name}")


def test_an_address_that_is_none_is_refused_without_repeating_it() -> None:
    with pytest.raises(UsageError, match="write postgresql://") as refused:
        postgres.exists("postgresql://u:sec:ret@h:port/d?nonsense=1")
    assert "ret" not in str(refused.value).replace("write", "").replace("characters", "").replace("letters", "")
    assert refused.value.__cause__ is None
    assert refused.value.__suppress_context__


@pytest.mark.parametrize("name", ["select", "user", "_", "a" * 41])
def test_every_good_name_works(server: Server, closing: Callable[[Any], Any], name: str) -> None:
    store = closing(postgres.create(f"{server.address}?index={name}", {}))
    write(store, adding(("a", [1])))
    assert len(store) == 1


def test_indexes_of_one_database_know_nothing_of_each_other(
    server: Server, store: Store, closing: Callable[[Any], Any]
) -> None:
    other = closing(postgres.create(f"{server.address}?index=other", {"mine": 1}))
    write(store, adding(("a", [1])))
    with store.writing(keys_of(*MANY), []):
        write(other, adding(("b", [1]), ("c", [1])))
    assert (len(store), len(other)) == (1, 2)
    assert store.numbers(["b"]).tolist() == [-1]


def test_a_schema_of_something_else_is_left_alone(server: Server) -> None:
    server.execute("create schema theirs create table documents (theirs text)")
    with pytest.raises(StoreError, match="Choose another name"):
        postgres.create(f"{server.address}?index=theirs", {})
    with pytest.raises(StoreError, match="Choose another name"):
        postgres.create(f"{server.address}?index=pg_mine", {})
    assert not postgres.exists(f"{server.address}?index=theirs")


def test_of_those_who_create_at_once_one_does(address: str) -> None:
    start = threading.Barrier(4)

    def create(_: int) -> str:
        start.wait(30)
        try:
            postgres.create(address, {}).close()
        except StoreError as error:
            return str(error)
        return ""

    with ThreadPoolExecutor(4) as pool:
        told = sorted(pool.map(create, range(4)))
    assert told[0] == ""
    assert all("already" in refused for refused in told[1:])


def test_another_format_is_refused(server: Server, address: str, store: Store) -> None:
    schema = address.partition("index=")[2]
    server.execute(f"update {schema}.settings set format = 99")
    with pytest.raises(StoreError, match="format 99"):
        postgres.open(address)


def test_facts_are_those_of_the_server(store: Store) -> None:
    before = store.facts()
    assert before["engine"].startswith("PostgreSQL 1")
    assert before["durable"] is False  # the tests' server is not
    write(store, Change(["a"], [b""], adding(("a", [1])).keys, [np.random.default_rng(4).bytes(1_000_000)]))
    assert 1_000_000 <= store.facts()["bytes"] - before["bytes"] < 1_300_000


# Those who may not.


def test_passwords_are_asked_for_and_not_told(server: Server) -> None:
    server.execute("create role somebody login password 'swordfish'")
    address = f"postgresql://somebody:swordfish@127.0.0.1:{server.port}/postgres?index=not_mine"
    with pytest.raises(StoreError, match="Ask its owner") as refused:
        postgres.create(address, {})
    server.execute("create schema not_mine authorization somebody")
    store = postgres.create(address, {})
    try:
        told = f"{store!r} {store.shown} {store.facts()} {refused.value} {refused.value.__cause__}"
        assert "swordfish" not in told
        assert "somebody" in told
    finally:
        store.close()
    with pytest.raises(
        StoreError, match=r'database "nowhere" does not exist.*Look at user, password and database'
    ) as missing:
        postgres.open(f"postgresql://somebody:swordfish@127.0.0.1:{server.port}/nowhere")
    assert "swordfish" not in str(missing.value)


def test_who_may_read_reads(server: Server, address: str, store: Store, closing: Callable[[Any], Any]) -> None:
    schema = address.partition("index=")[2]
    write(store, adding(("a", [1])))
    server.execute("create role reader login")
    server.execute(f"grant usage on schema {schema} to reader; grant select on all tables in schema {schema} to reader")
    theirs = address.replace("neardup@", "reader@")
    for read_only in (True, False):
        reader = closing(postgres.open(theirs, read_only=read_only))
        assert held(reader, 1) == [[0]]
        assert len(list(reader.rows())) == 1
        assert reader.facts()["bytes"] > 0
    with pytest.raises(StoreError, match=r"permission denied.*Ask its owner"):
        write(reader, adding(("b", [1])))
    assert len(store) == 1


def test_a_full_disk_is_said_and_nothing_is_stored(server: Server, address: str, store: Store) -> None:
    schema = address.partition("index=")[2]
    server.execute(
        f"create function {schema}.full() returns trigger language plpgsql as "
        "$$ begin raise exception 'could not extend file' using errcode = 'disk_full'; end $$;"
        f"create trigger full_disk before insert on {schema}.postings execute function {schema}.full()"
    )
    with pytest.raises(OutputError, match="disk of the database is full"):
        write(store, adding(("a", [1])))
    assert everything(store) == {"rows": [], "keys": {}, "documents": 0}
    server.execute(f"drop trigger full_disk on {schema}.postings")
    write(store, adding(("a", [1])))
    assert len(store) == 1


def test_commits_are_durable_whatever_the_server_thinks(server: Server, closing: Callable[[Any], Any]) -> None:
    server.execute("create role careless superuser login")
    server.execute("alter role careless set synchronous_commit = off")
    server.execute("alter role careless set default_transaction_isolation = 'serializable'")
    address = server.address.replace("neardup@", "careless@") + "?index=careless"
    store = closing(postgres.create(address, {}))
    with store.writing(keys_of(1), ["a"]):
        asked = "select current_setting('synchronous_commit'), current_setting('transaction_isolation')"
        assert store._section.connection.execute(asked).fetchone() == ("on", "read committed")


def test_large_changes_are_sent_in_pieces(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    change = adding(*((f"{i}", [1, 10 + i]) for i in range(50)), texts=[b"x" * (37 * i % 101) for i in range(50)])
    twin = NaiveStore({})
    for name, size in (("_BYTES_AT_ONCE", 100), ("_POSTINGS_AT_ONCE", 7), ("_KEYS_AT_ONCE", 3), ("_ROWS_AT_ONCE", 2)):
        monkeypatch.setattr(postgres, name, size)
    for one in (store, twin):
        write(one, change)
    assert everything(store) == everything(twin)
    assert held(store, 3, 1, *range(70)) == held(twin, 3, 1, *range(70))


# Several writers.


def waiting(server: Server, others: Future[Any]) -> bool:
    """Whether somebody waits for an advisory lock; not, if the other one is done first."""
    while not others.done():
        if server.execute("select 1 from pg_locks where locktype = 'advisory' and not granted"):
            return True
    return False


@pytest.mark.parametrize(("mine", "theirs"), [(FEW, FEW), (FEW, MANY), (MANY, FEW), (MANY, MANY)])
def test_who_has_the_same_keys_waits(server: Server, store: Store, mine: list[int], theirs: list[int]) -> None:
    with ThreadPoolExecutor(1) as pool:
        with store.writing(keys_of(*mine), ["a"]):
            other = pool.submit(write, store, adding(("b", theirs)))
            assert waiting(server, other)
            assert held(store, 1) == [[]]
            store.commit(adding(("a", mine)))
        other.result(30)
    assert held(store, 1) == [[0, 1]]


def test_who_has_the_same_id_waits(server: Server, store: Store) -> None:
    with ThreadPoolExecutor(1) as pool:
        with store.writing(keys_of(), ["a"]):
            other = pool.submit(write, store, adding(("a", [5])))
            assert waiting(server, other)
        other.result(30)
    assert len(store) == 1


def test_batches_that_replace_what_the_other_one_rests_on_take_turns(server: Server, address: str) -> None:
    x, y, other, another = (" ".join(f"{name}{i}" for i in range(60)) for name in ("x", "y", "other", "another"))
    with ThreadPoolExecutor(1) as pool, Index.open(address) as mine, Index.open(address) as theirs:
        mine.add_many([Document("a", x), Document("b", y)])
        later: list[Future[list[Verdict]]] = []

        def meanwhile(_: list[Verdict]) -> None:
            batch = [Document("q2", x), Document("b", another)]
            later.append(pool.submit(theirs.check_and_add_many, batch))
            assert waiting(server, later[0])

        first = mine.check_and_add_many([Document("q1", y), Document("a", other)], meanwhile)
        assert [verdict.new for verdict in first] == [False, True]
        assert [verdict.new for verdict in later[0].result(30)] == [True, True]  # x went with the first batch
        assert not mine.check(x).new


@pytest.mark.parametrize("keys", [FEW, MANY])
def test_a_writer_takes_no_more_than_its_share_of_locks(server: Server, store: Store, keys: list[int]) -> None:
    with store.writing(keys_of(*keys), [str(key) for key in keys]):
        [(taken,)] = server.execute("select count(*) from pg_locks where locktype = 'advisory'")
    assert 1 <= int(str(taken)) <= postgres.LOCKS + 1


def test_others_go_on(store: Store) -> None:
    with ThreadPoolExecutor(1) as pool, store.writing(keys_of(1), ["a"]):
        pool.submit(write, store, adding(("b", [2]))).result(30)
        assert held(store, 1, 2) == [[], [0]]
        store.commit(adding(("a", [1])))
    assert len(store) == 2


def test_the_address_may_say_how_long_to_wait(address: str, store: Store, closing: Callable[[Any], Any]) -> None:
    hasty = closing(postgres.open(address + "&options=-c%20lock_timeout%3D50ms"))
    with store.writing(keys_of(1), ["a"]):
        with pytest.raises(StoreError, match="Another writer has held"):
            write(hasty, adding(("b", [1])))
        store.commit(adding(("a", [1])))
    write(hasty, adding(("b", [1])))
    assert len(store) == 2


def test_the_count_is_right_when_many_write(store: Store) -> None:
    def work(name: int) -> None:
        for i in range(20):
            write(store, adding((f"{name} {i} a", [100 * name + i]), (f"{name} {i} b", [])))
            remove(store, f"{name} {i} a")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert len(store) == len(list(store.rows())) == 80


# Lost connections.


def test_a_connection_serves_many(server: Server, store: Store) -> None:
    before = set(sessions(server))
    for i in range(20):
        write(store, adding((str(i), [i])))
        assert held(store, i) == [[i]]
        assert len(list(store.rows())) == i + 1
    assert set(sessions(server)) == before


def test_a_reader_that_stops_early_lets_go(server: Server, store: Store) -> None:
    write(store, adding(*((str(i), [i]) for i in range(3_000))))
    before = len(sessions(server))
    rows = store.rows()
    next(rows)
    del rows
    assert len(list(store.rows())) == 3_000
    assert len(sessions(server)) == before
    assert not server.execute("select 1 from pg_stat_activity where state = 'idle in transaction'")


def test_lost_connections_are_made_again(server: Server, store: Store) -> None:
    write(store, adding(("a", [1])))
    end_sessions(server)
    assert held(store, 1) == [[0]]
    end_sessions(server)
    write(store, adding(("b", [1])))
    end_sessions(server)
    assert len(list(store.rows())) == 2


def test_who_loses_the_connection_while_writing_has_stored_nothing(server: Server, store: Store) -> None:
    write(store, adding(("a", [1])))

    def fail(ask: Callable[[], Any]) -> None:
        with store.writing(keys_of(1), ["b"]):
            end_sessions(server)
            ask()

    for ask in (lambda: store.commit(adding(("b", [1]))), lambda: held(store, 1)):
        with pytest.raises(StoreError, match=r"cannot be reached.*nothing was stored.*again"):
            fail(ask)
    assert len(store) == 1
    write(store, adding(("b", [1])))
    assert held(store, 1) == [[0, 2]] or held(store, 1) == [[0, 1]]


def test_a_server_that_goes_and_comes_back(server: Server, address: str, store: Store) -> None:
    write(store, adding(("a", [1])))
    rows = store.rows()
    server.stop()
    try:
        for ask in (lambda: held(store, 1), lambda: write(store, adding(("b", [1]))), lambda: list(rows)):
            with pytest.raises(StoreError, match=r"127\.0\.0\.1.* cannot be reached"):
                ask()
        with pytest.raises(StoreError, match="cannot be reached"):
            postgres.open(address)
    finally:
        server.start()
    assert held(store, 1) == [[0]]
    write(store, adding(("b", [1])))
    assert len(store) == 2


# The moment of a commit. Between the store and the server stands somebody who drops connections.


class Between:
    """Passes on what both say, until it sees a commit: then `lose` says what happens to it, and the line is cut."""

    def __init__(self, port: int) -> None:
        self._to = ("127.0.0.1", port)
        self._door = socket.create_server(("127.0.0.1", 0))
        self._ends = [self._door]
        self.port: int = self._door.getsockname()[1]
        self.lose = ""
        self._threads = [threading.Thread(target=self._listen)]
        self._threads[0].start()

    def _listen(self) -> None:
        with suppress(OSError):
            while True:
                ours, _ = self._door.accept()
                theirs = socket.create_connection(self._to)
                self._ends += [ours, theirs]
                for pair in ((ours, theirs), (theirs, ours)):
                    self._threads.append(threading.Thread(target=self._pass, args=pair))
                    self._threads[-1].start()

    def _pass(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while said := source.recv(1 << 16):
                if self.lose == "question" and b"commit\0" in said:
                    break
                if self.lose in ("answer", "answer and server") and b"COMMIT\0" in said:
                    break
                target.sendall(said)
        if self.lose == "answer and server":
            self._shut(self._door)
        self.lose = ""
        for end in (source, target):
            self._shut(end)

    @staticmethod
    def _shut(end: socket.socket) -> None:
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        for end in self._ends:
            self._shut(end)
        for thread in self._threads:
            thread.join(30)
        for end in self._ends:
            end.close()


@pytest.fixture
def between(server: Server) -> Iterator[Between]:
    made = Between(server.port)
    yield made
    made.close()


CHANGES = {
    "added": adding(("b", [1])),
    "removed": Change(removed=[(0, "a")]),
    "many": adding(*((f"b{i}", [i]) for i in range(500))),
}


@pytest.mark.parametrize("what", CHANGES)
@pytest.mark.parametrize("lose", ["question", "answer", "answer and server"])
def test_whether_a_commit_came_through_is_found_out(
    address: str, server: Server, store: Store, between: Between, lose: str, what: str
) -> None:
    write(store, adding(("a", [1])))
    before, change = len(store), CHANGES[what]
    mine = postgres.open(address.replace(f":{server.port}/", f":{between.port}/"))
    try:
        between.lose = lose
        if lose == "answer":
            write(mine, change)
        elif lose == "question":
            with pytest.raises(StoreError, match="nothing was stored"):
                write(mine, change)
        else:
            with pytest.raises(StoreError, match="not known"):
                write(mine, change)
    finally:
        mine.close()
        between.close()
    done = before if lose == "question" else before + len(change.ids) - len(change.removed)
    assert len(store) == done
    assert (np.array(store.numbers(change.ids)) >= 0).all() == (lose != "question" or not change.ids)
