"""A store on PostgreSQL, for several machines. Every index is a schema of its own:

    settings    format, and what the index was created with
    documents   number, id, record, text
    postings    key, number: a row for every key of every document
    counts      how many documents there are, and how many expired, in stripes: add them up
    days, met   the first number of every day; the day on which a document was last met again
    numbers     the sequence that documents are numbered by

An id is stored as 128 bits of its BLAKE2b hash: text takes no NUL and a B-tree nothing longer than 2.7 kB, and the
record has the id in full. Keys are unsigned and bigint is signed: the same 64 bits are kept.

A writer takes advisory locks on the hashes of its keys and ids, in ascending order (so there is no deadlock), until its
transaction ends; everybody passes a gate before. One with many keys closes the gate instead. What is read after that,
in READ COMMITTED, is all that was committed before. A removal locks its id alone: whoever found the document by a key
is decided as if it had come first. Of two batches, each of which replaces what the other one's verdicts rest on, both
cannot have come first: so batches with an id that is stored take one lock more, the last in the order.

Days are written first of all, then that documents were met again, in ascending order, and what a removal leaves of it
is passed over where another transaction has it: so there is no deadlock either. `compact` drops what is left behind.
"""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from neardup.errors import StoreError, Unreachable
from neardup.index.connections import Address, Bigints, Connection, Connections, Lost, Uuids, bigints
from neardup.index.store import FIRST, FORMAT, MOST, Change, Health, Holders, Row, Store

T = TypeVar("T")

STRIPES = 4096
LOCKS = 48
"""A transaction holds at most so many: a server has room for 64 each (max_locks_per_transaction)."""

_KEYS_AT_ONCE = 1 << 15
_POSTINGS_AT_ONCE = 1 << 20
_BYTES_AT_ONCE = 64 << 20
_ROWS_AT_ONCE = 1000

_CREATE = """
    create table settings (format integer not null, settings json not null);
    create sequence numbers as bigint minvalue 0 start 0;
    create table documents (number bigint primary key, id uuid not null unique, record bytea not null, text bytea);
    create table postings (key bigint not null, number bigint not null);
    create index postings_by_key on postings (key, number);
    create table counts (stripe integer primary key, documents bigint not null) with (fillfactor = 10);
    insert into counts select stripe, 0 from generate_series(0, 63) stripe"""
_CREATE_DAYS = """
    create table if not exists days (day integer primary key, first bigint not null);
    create table if not exists met (number bigint primary key, day integer not null);
    create index if not exists met_by_day on met (day, number);
    alter table counts add column if not exists expired bigint not null default 0"""
_HAS_DAYS = "select to_regclass('met') is not null"
_HAS_LZ4 = "select 'lz4' = any(enumvals) from pg_settings where name = 'default_toast_compression'"
_SETTINGS = "select format, settings::text, 'settings'::regclass::oid::bigint from settings"

_WHICH = "select to_regclass('settings')::oid::bigint"

_BEGIN = "begin isolation level read committed"
_SNAPSHOT = """
    begin isolation level repeatable read, read only;
    set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0"""
_GATE = "select pg_advisory_xact_lock(%s, 0)"
_GATE_SHARED = "select pg_advisory_xact_lock_shared(%s, 0)"
_LOCK = "select pg_advisory_xact_lock(%s, stripe::integer) from unnest(%s) stripe"
_LOCK_REPLACING = """
    select pg_advisory_xact_lock(%s, %s) where exists (select from unnest(%s) asked (id) join documents using (id))"""

_HOLDERS = """
    select string_agg(int8send(place), ''), string_agg(int8send(number), '')
    from unnest(%s) with ordinality asked (key, place)
    cross join lateral (
        select number from postings join documents using (number)
        where key = asked.key and number <> all(%s) order by number desc limit %s) found"""
_FIRST = _HOLDERS.replace(" desc ", " ")
_NUMBERS = """
    select string_agg(int8send(place), ''), string_agg(int8send(number), '')
    from unnest(%s) with ordinality asked (id, place) join documents using (id)"""
_RECORDS = """
    select place - 1, record
    from unnest(%s) with ordinality asked (number, place) join documents using (number)"""
_TEXTS = """
    select place - 1, text
    from unnest(%s) with ordinality asked (number, place) join documents using (number) where text is not null"""

_NEXT = "select nextval('numbers') from generate_series(1, %s)"
_REMOVE = """
    with gone as (delete from documents where number = any(%s) returning 1)
    update counts set documents = documents - (select count(*) from gone), expired = expired + %s
    where stripe = pg_backend_pid() %% 64"""
_UNMEET = """
    delete from met where number in (
        select number from met where number = any(%s) order by number for update skip locked)"""
_MEET = """
    insert into met (number, day)
    select number, %(day)s from unnest(%(met)s) met (number)
    where number < coalesce((select min(first) from days where day >= %(day)s), number + 1)
    on conflict (number) do update set day = excluded.day where met.day < excluded.day"""
_BEGIN_DAY = """
    insert into days select %s, case when exists (select from days) then %s else 0 end
    on conflict (day) do update set first = excluded.first where days.first > excluded.first"""
_OVER = """
    with over as (delete from days where day < %(over)s returning 1)
    insert into days select %(over)s, (select coalesce(max(number) + 1, 0) from documents)
    where exists (select from over) and not exists (select from days where day >= %(over)s) on conflict do nothing"""
_DAYS = "select day, first from days order by day"
_MET = """
    select string_agg(int8send(place), ''), string_agg(int8send(day), '')
    from unnest(%s) with ordinality asked (number, place) join met using (number)"""
_MET_BEFORE = """
    select number from met join documents using (number) where day < least(%s, 2147483647)::integer
    order by day, number limit %s"""
_BETWEEN = "select number from documents where number >= %s and number < %s order by number limit %s"
_EXPIRED = "select sum(expired)::bigint from counts"
_ADD = """
    insert into documents (number, id, record, text)
    select * from unnest(%s, %s, %b::bytea[], %b::bytea[])"""
_POST = "insert into postings (key, number) select * from unnest(%s, %s)"
_COUNT = "update counts set documents = documents + %s where stripe = pg_backend_pid() %% 64"

_STATE = "select (select last_value from numbers) || '-' || sum(documents) from counts"
_COUNTS = {"documents": "select count(*) from documents", "postings": "select count(*) from postings"}
_LENGTH = "select sum(documents)::bigint from counts"
_ROWS = "select number, record, null from documents order by number"
_ROWS_WITH_TEXTS = "select number, record, text from documents order by number"
_POSTINGS = """
    select key, string_agg(int8send(number), '')
    from (select key, number from postings order by key, number) ordered group by key"""
_FACTS = """
    select current_setting('server_version'), sum(pg_total_relation_size(oid))::bigint, current_setting('fsync') = 'on'
    from pg_class where relkind = 'r' and relnamespace = %s::regnamespace"""

_WHOLE_TABLES = "reset enable_seqscan; reset enable_bitmapscan; reset plan_cache_mode; set statement_timeout = 0"
_DROP_GONE = "delete from postings where not exists (select from documents where documents.number = postings.number)"


def exists(address: str) -> bool:
    """Whether there is an index at this address."""
    with closing(Connections(Address.parse(address), read_only=True)) as connections:
        return connections.run(_is_there)


def create(address: str, settings: dict[str, Any]) -> "PostgresStore":
    """A new, empty index."""
    connections = Connections(Address.parse(address))
    try:
        connections.run(lambda connection: _create(connection, connections.address, settings))
        return PostgresStore(connections)
    except BaseException:
        connections.close()
        raise


def open(address: str, *, read_only: bool = False) -> "PostgresStore":
    """An index that there is."""
    connections = Connections(Address.parse(address), read_only=read_only)
    try:
        if not connections.run(_is_there):
            raise StoreError(f"{connections.address.shown}: there is no index here. Create it, or look at the address.")
        return PostgresStore(connections)
    except BaseException:
        connections.close()
        raise


def _is_there(connection: Connection) -> bool:
    return bool(_value(connection, "select to_regclass('settings') is not null"))


def _create(connection: Connection, address: Address, settings: dict[str, Any]) -> None:
    with connection.transaction():
        connection.execute("select pg_advisory_xact_lock(hashtext('neardup create'), hashtext(%s))", [address.index])
        if _is_there(connection):
            raise StoreError(
                f"{address.shown}: there is an index here already. Open it, or choose another ?index=NAME."
            )
        if _value(connection, "select to_regnamespace(%s) is null", address.index):
            connection.execute(b'create schema "%s"' % address.index.encode())  # a name that was checked
        connection.execute(_CREATE, prepare=False)
        connection.execute(_CREATE_DAYS, prepare=False)
        if _value(connection, _HAS_LZ4):
            connection.execute("alter table documents alter text set compression lz4")
        connection.execute("insert into settings values (%s, %s)", [FORMAT, json.dumps(settings)])


class _Replaced(Unreachable):
    """The index is not the one that was opened."""

    ailment = "moved"


@dataclass(frozen=True)
class _Section:
    """What a thread that is writing holds."""

    connection: Connection
    stripes: NDArray[np.int64]


class PostgresStore(Store):
    """An open store."""

    def __init__(self, connections: Connections) -> None:
        self._connections, self.process = connections, connections.process
        self.shown = connections.address.shown
        self._here = threading.local()
        found = connections.run(lambda connection: connection.execute(_SETTINGS).fetchone())
        if found is None or found[0] != FORMAT:
            raise StoreError(
                f"{self.shown}: the index has format {found and found[0]}, and this neardup knows format {FORMAT}. Use "
                "the neardup that made it, or build the index again."
            )
        self.settings: dict[str, Any] = json.loads(found[1])
        self._oid = int(found[2])
        self._space = int(np.int64(self._oid).astype(np.int32))
        self._begun = (-1, 0)
        """The latest day that is known to have begun, and a number that is not before it."""
        self._dated = bool(connections.run(lambda connection: _value(connection, _HAS_DAYS)))
        if not self._dated and not connections.read_only:
            connections.run(_date)
            self._dated = True

    def __repr__(self) -> str:
        return f"PostgresStore({self.shown!r})"

    def holders(self, keys: NDArray[np.uint64], gone: frozenset[int] = frozenset()) -> Holders:
        """Return who has these (distinct) keys."""
        without = Bigints(np.fromiter(gone, np.int64))
        places, numbers = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for start in range(0, len(keys), _KEYS_AT_ONCE):
            some = Bigints(_signed(keys[start : start + _KEYS_AT_ONCE]))
            place, number = self._columns(_HOLDERS, some, without, MOST)
            full = np.flatnonzero(np.bincount(place, minlength=1) >= MOST)
            if len(full):
                asked = Bigints(_signed(keys[start + full - 1]))
                early, first = self._columns(_FIRST, asked, without, FIRST)
                place, number = np.concatenate([place, full[early - 1]]), np.concatenate([number, first])
            order = np.lexsort((number, place))
            place, number = place[order], number[order]
            once = np.append(True, (np.diff(place) > 0) | (np.diff(number) > 0))[: len(place)]
            places.append(place[once] - 1 + start)
            numbers.append(number[once])
        return Holders(np.concatenate(places), np.concatenate(numbers))

    def numbers(self, ids: list[str]) -> NDArray[np.int64]:
        """The numbers of ids; -1 where there is no such document."""
        found = np.full(len(ids), -1, np.int64)
        if ids:
            places, numbers = self._columns(_NUMBERS, _names(ids))
            found[places - 1] = numbers
        return found

    def records(self, numbers: NDArray[np.int64]) -> list[bytes | None]:
        """The records of (distinct) numbers; None where a document is gone."""
        return self._contents(_RECORDS, numbers)

    def texts(self, numbers: NDArray[np.int64]) -> list[bytes | None]:
        """The texts of numbers; None where it is not kept."""
        return self._contents(_TEXTS, numbers)

    def state(self) -> str:
        """Return the last number that was drawn and the number of documents."""
        return str(self._read(lambda connection: _value(connection, _STATE)))

    @contextmanager
    def writing(self, keys: NDArray[np.uint64], ids: list[str]) -> Iterator[None]:
        """The section in which somebody looks up these keys and ids, decides, and commits."""
        if self._connections.read_only:
            raise StoreError(f"{self.shown} is open for reading only. Open it without read_only to change it.")
        assert self._section is None, "a thread is in one section at a time"
        stripes = _stripes(keys, ids)
        several = ids if len(ids) > 1 and len(keys) else []
        connection, _ = self._connections.taken(lambda connection: self._begin(connection, stripes, several))
        self._here.section = _Section(connection, stripes)
        try:
            yield
        finally:
            self._here.section = None
            self._connections.give_back(connection)

    def commit(self, change: Change) -> None:
        """Do it, inside of `writing`, once."""
        section = self._section
        assert section is not None, "commit belongs into writing"
        connection, numbers = section.connection, np.empty(0, np.int64)
        if change.ids:
            found = self._read(lambda connection: connection.execute(_NEXT, [len(change.ids)]).fetchall())
            numbers = np.sort(np.array(found, np.int64).ravel())
        try:
            with self._connections.telling(), connection.pipeline():
                day, first = self._begun
                _do(connection, change, numbers, begins=day < change.day or bool((numbers < first).any()))
                connection.execute("commit")
            if change.ids and self._begun[0] < change.day:
                self._begun = (change.day, int(numbers[0]))
        except Lost:
            connection.close()
            if not self._was_done(section.stripes, change, numbers):
                raise

    def __len__(self) -> int:
        return int(self._read(lambda connection: _value(connection, _LENGTH)))

    def rows(self, *, texts: bool = False) -> Iterator[Row]:
        """All documents, numbers ascending, as they were when this was called."""
        return map(Row._make, self._walk(_ROWS_WITH_TEXTS if texts else _ROWS))

    def postings(self) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """All keys with the numbers that stand under them."""
        return ((key % (1 << 64), np.sort(bigints(found))) for key, found in self._walk(_POSTINGS))

    def days(self) -> list[tuple[int, int]]:
        """Of an index that nobody wrote to since there are days, none."""
        return [(day, first) for day, first in self._dated_rows(_DAYS)]

    def met(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """By number."""
        found = np.full(len(numbers), -1, np.int64)
        if len(numbers) and self._dated:
            places, days = self._columns(_MET, Bigints(numbers))
            found[places - 1] = days
        return found

    def met_before(self, day: int, most: int) -> NDArray[np.int64]:
        """The earliest first."""
        return np.array([number for (number,) in self._dated_rows(_MET_BEFORE, day, most)], np.int64)

    def between(self, begin: int, end: int, most: int) -> NDArray[np.int64]:
        """By number."""
        found = self._read(lambda connection: connection.execute(_BETWEEN, [begin, end, most]).fetchall())
        return np.array([number for (number,) in found], np.int64)

    def _dated_rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        if not self._dated:
            return []
        return self._read(lambda connection: connection.execute(statement, values).fetchall())

    def compact(self) -> None:
        """Drop what removed documents left behind. Others go on meanwhile; the space is used again by what comes."""
        with self._connections.telling(), closing(self._connections.connect()) as connection:
            connection.execute(_WHOLE_TABLES, prepare=False)
            connection.execute(_DROP_GONE)
            connection.execute(_DROP_GONE.replace("postings", "met"))
            connection.execute("vacuum (analyze) documents, postings, counts, met")

    def refresh(self) -> None:
        """Nothing to do: what others committed is always seen."""
        self.process.require()

    def health(self) -> Health:
        """Ask the server whether the index is there and is the one that was opened; its disk is not seen from here."""
        self.process.require()
        problems = {}
        try:
            self._read(lambda connection: self._require_same(connection))
        except StoreError as error:
            problems["moved" if isinstance(error, _Replaced) else "away"] = str(error)
        return Health(problems, None, dict(self._connections.failures))

    def problems(self) -> Iterator[str]:
        """Yield where tables and their indexes do not agree: rows are counted by scans, and by the indexes."""
        with self._connections.telling(), closing(self._connections.connect()) as connection:
            connection.execute(_SNAPSHOT, prepare=False)
            counted = _value(connection, _LENGTH)
            by_index = {what: _value(connection, count) for what, count in _COUNTS.items()}
            connection.execute("set local enable_seqscan = on; set local enable_indexscan = off", prepare=False)
            connection.execute("set local enable_indexonlyscan = off", prepare=False)
            for what, number in by_index.items():
                scanned = _value(connection, _COUNTS[what])
                if scanned != number:
                    yield (
                        f"{what}: {scanned:,} rows, and {number:,} by an index of the database. Mend it with: reindex "
                        f"schema {self._connections.address.index}"
                    )
            scanned = _value(connection, "select count(*) from documents")
            if counted != scanned:
                yield f"{counted:,} documents are counted, and {scanned:,} are there."

    def facts(self) -> dict[str, Any]:
        """For people. durable: the server waits for its disk; one with fsync off does not."""
        index = self._connections.address.index
        found = self._read(lambda connection: connection.execute(_FACTS, [index]).fetchone())
        assert found is not None
        version, size, durable = found
        return {
            "engine": f"PostgreSQL {version.split()[0]}",
            "bytes": size,
            "durable": durable,
            "expired": sum(number for (number,) in self._dated_rows(_EXPIRED)),
            "read_only": self._connections.read_only,
        }

    def close(self) -> None:
        """Let go of it."""
        self._connections.close()

    @property
    def _section(self) -> _Section | None:
        return getattr(self._here, "section", None)

    def _read(self, ask: Callable[[Connection], T]) -> T:
        """In the section that this thread is in, or for itself."""
        section = self._section
        if section is None:
            return self._connections.run(ask)
        with self._connections.telling():
            return ask(section.connection)

    def _columns(self, statement: str, *values: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        found = self._read(lambda connection: connection.cursor(binary=True).execute(statement, values).fetchone())
        assert found is not None
        return bigints(found[0]), bigints(found[1])

    def _contents(self, statement: str, numbers: NDArray[np.int64]) -> list[bytes | None]:
        found: list[bytes | None] = [None] * len(numbers)
        if len(numbers):
            asked = [Bigints(numbers)]
            for place, content in self._read(lambda c: c.cursor(binary=True).execute(statement, asked).fetchall()):
                found[place] = content
        return found

    def _walk(self, statement: str) -> Iterator[tuple[Any, ...]]:
        """The rows of now: the snapshot is taken before the first one is asked for."""
        walk = self._walking(statement)
        next(walk)
        return walk

    def _walking(self, statement: str) -> Iterator[tuple[Any, ...]]:
        def begin(connection: Connection) -> Any:
            connection.execute(_SNAPSHOT, prepare=False)
            cursor = connection.cursor("walk", binary=True)
            cursor.itersize = _ROWS_AT_ONCE
            return cursor.execute(statement)

        connection, cursor = self._connections.taken(begin)
        try:
            with self._connections.telling(), closing(cursor):
                yield ()
                yield from cursor
        finally:
            self._connections.give_back(connection)

    def _begin(self, connection: Connection, stripes: NDArray[np.int64], ids: Sequence[str] = ()) -> None:
        """ids: of a batch that may replace documents."""
        with connection.pipeline():
            connection.execute(_BEGIN)
            same = connection.execute(_WHICH)
            if len(stripes) > LOCKS:
                connection.execute(_GATE, [self._space])
            else:
                connection.execute(_GATE_SHARED, [self._space])
                connection.execute(_LOCK, [self._space, Bigints(stripes)])
                if ids:
                    connection.execute(_LOCK_REPLACING, [self._space, 1 + 2 * STRIPES, _names(ids)])
        self._require_same(connection, same.fetchone())

    def _require_same(self, connection: Connection, found: tuple[Any, ...] | None = None) -> None:
        """Refuse an index that was dropped and made again while this one had it open: its sketches are others."""
        found = found or connection.execute(_WHICH).fetchone()
        if found is None or found[0] != self._oid:
            raise _Replaced(
                f"{self.shown}: the index was dropped, or replaced by another one, while this process had it open. "
                "Nothing is stored. Open it again."
            )

    def _was_done(self, stripes: NDArray[np.int64], change: Change, numbers: NDArray[np.int64]) -> bool:
        """The connection was lost while the server may have been committing: wait for that transaction to end, by its
        own locks, and look."""

        def look(connection: Connection) -> bool:
            self._begin(connection, stripes)
            number, id = (int(numbers[0]), change.ids[0]) if change.ids else change.removed[0]
            found = connection.cursor(binary=True).execute(_NUMBERS, [_names([id])]).fetchone()
            assert found is not None
            return bool(change.ids) == (number in bigints(found[1]))

        if not change.ids and not change.removed:
            return True
        try:
            return self._connections.run(look)
        except StoreError as error:
            raise StoreError(
                f"{self.shown}: the connection was lost during a commit, and whether the change was stored is not "
                f"known. Look for its documents when the server is back, and repeat it if they are not there. ({error})"
            ) from error


def _date(connection: Connection) -> None:
    """Let an index that was made before there were days have them: what is there counts as added today."""
    with connection.transaction():
        connection.execute("select pg_advisory_xact_lock(hashtext('neardup create'), 0)")
        connection.execute(_CREATE_DAYS, prepare=False)


def _do(connection: Connection, change: Change, numbers: NDArray[np.int64], *, begins: bool) -> None:
    """begins: this may be the first change of its day."""
    removed = Bigints(np.array([number for number, _ in change.removed], np.int64))
    if change.ids and begins:
        connection.execute(_BEGIN_DAY, [change.day, int(numbers[0])])
    if change.over:
        connection.execute(_OVER, {"over": change.over})
    if change.met:
        met = np.unique(np.array(change.met, np.int64))
        connection.execute(_MEET, {"day": change.day, "met": Bigints(met[~np.isin(met, removed.values)])})
    if change.removed:
        connection.execute(_UNMEET, [removed])
        connection.execute(_REMOVE, [removed, len(change.removed) if change.expired else 0])
    if not change.ids:
        return
    for start, stop in _pieces(change):
        contents = change.records[start:stop], change.texts[start:stop]
        connection.execute(_ADD, [Bigints(numbers[start:stop]), _names(change.ids[start:stop]), *contents])
    keys, owners = _signed(change.keys.values), np.repeat(numbers, np.diff(change.keys.offsets))
    order = np.argsort(keys, kind="stable")  # neighbours in the index one after the other
    for start in range(0, len(order), _POSTINGS_AT_ONCE):
        some = order[start : start + _POSTINGS_AT_ONCE]
        connection.execute(_POST, [Bigints(keys[some]), Bigints(owners[some])])
    connection.execute(_COUNT, [len(numbers)])


def _pieces(change: Change) -> Iterator[tuple[int, int]]:
    """Runs of documents, each small enough for one message."""
    start = size = 0
    for i, (record, text) in enumerate(zip(change.records, change.texts, strict=True)):
        more = len(record) + len(text or b"")
        if size and size + more > _BYTES_AT_ONCE:
            yield start, i
            start, size = i, 0
        size += more
    yield start, len(change.ids)


def _stripes(keys: NDArray[np.uint64], ids: list[str]) -> NDArray[np.int64]:
    """The locks of keys, then those of ids, ascending; or too many of them, which is the gate."""
    of_keys = np.unique(keys * np.uint64(0x9E3779B97F4A7C15) // np.uint64(2**64 // STRIPES))
    if len(of_keys) > LOCKS:
        return of_keys.astype(np.int64)
    of_ids = np.unique(np.array([int.from_bytes(_digest(id)[:4], "big") % STRIPES for id in ids], np.int64))
    return np.concatenate([1 + of_keys.astype(np.int64), 1 + STRIPES + of_ids])


def _names(ids: Sequence[str]) -> Uuids:
    return Uuids(np.frombuffer(b"".join([_digest(id) for id in ids]), "V16"))


def _digest(id: str) -> bytes:
    return blake2b(id.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _signed(keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    return np.ascontiguousarray(keys, np.uint64).view(np.int64)


def _value(connection: Connection, question: str, *values: Any) -> Any:
    found = connection.execute(question, values).fetchone()
    return None if found is None else found[0]
