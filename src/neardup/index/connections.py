"""Connections to a PostgreSQL server.

Address       where it is; the password is in here, and is shown nowhere
Connections   a pool that mends itself
Lost, told    errors of the database as errors for people
Bigints …     arrays in PostgreSQL's binary format, without a Python object for every element
"""

import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import quote, unquote

import numpy as np
from numpy.typing import NDArray

from neardup.errors import MissingExtra, NeardupError, OutputError, StoreError, Unreachable, UsageError
from neardup.index.store import ERRORS, Process

try:
    import psycopg
    from psycopg import conninfo, sql
    from psycopg.adapt import Buffer, Dumper
    from psycopg.pq import Format, PipelineStatus, TransactionStatus
except ImportError as error:
    raise MissingExtra("A shared index", "postgres") from error

Connection = psycopg.Connection[tuple[Any, ...]]
T = TypeVar("T")

OLDEST = 13
"""The oldest PostgreSQL that this was written for."""

_DEFAULT_INDEX = "neardup"
_INDEX = re.compile("[a-z_][a-z0-9_]{0,40}")
_KEPT = 8
"""Connections that stay open while nobody uses them."""

_NETWORK = {
    "application_name": "neardup",
    "connect_timeout": "10",
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "60000",
}
_SESSION = {
    # Whoever holds a section and is not heard of again must not stop the others for ever.
    "idle_in_transaction_session_timeout": "10min",
    "tcp_keepalives_idle": "30",
    "tcp_keepalives_interval": "10",
    "tcp_keepalives_count": "3",
    "lock_timeout": "5min",
    "statement_timeout": "10min",
    # Every statement goes through an index. A plan is made once, maybe while the tables are empty, and must be right
    # for full ones.
    "enable_seqscan": "off",
    "enable_bitmapscan": "off",
    "plan_cache_mode": "force_generic_plan",
    "jit": "off",
}
_DURABLE = "select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'"

_LOST = {"57P01", "57P02", "57P03", "57P05", "25P03"}
"""The server ended the session: it stops, it crashed, it starts, and the two time limits for idle sessions."""


class Lost(Unreachable):
    """The connection is gone, and what was not committed with it."""


@dataclass(frozen=True)
class Address:
    """postgresql://user@host:port/database?index=NAME, taken apart."""

    conninfo: str = field(repr=False)
    """As psycopg wants it, the password included."""
    index: str
    shown: str
    """For people: without the password."""
    password: str | None = field(repr=False, default=None)

    @staticmethod
    def parse(address: str) -> "Address":
        """Take off what is ours, check the rest."""
        head, _, query = address.partition("?")
        pairs = [pair for pair in query.split("&") if pair]
        names = [unquote(pair[len("index=") :]) for pair in pairs if pair.startswith("index=")]
        index = names[-1] if names else _DEFAULT_INDEX
        if not _INDEX.fullmatch(index):
            raise UsageError(
                f"index={index} is no name of an index: up to 41 of the characters a-z, 0-9 and _, no digit first."
            )
        others = "&".join(pair for pair in pairs if not pair.startswith("index="))
        try:
            given = conninfo.conninfo_to_dict(f"{head}?{others}" if others else head)
        except psycopg.Error:  # its message may quote a password
            raise UsageError(
                "this is no PostgreSQL address; write postgresql://user@host:port/database?index=NAME, and other "
                "characters than letters and digits of a password as %XX."
            ) from None
        full = conninfo.make_conninfo("", **{**_NETWORK, **given})
        password = given.get("password")
        return Address(full, index, _shown(given, index), None if password is None else str(password))


def _shown(given: dict[str, Any], index: str) -> str:
    host = quote(str(given.get("host") or given.get("hostaddr") or ""), safe="[]:,.")
    if ":" in host and not host.startswith("["):
        host = f"[{host}]"
    user = f"{quote(str(given['user']))}@" if given.get("user") else ""
    port = f":{given['port']}" if given.get("port") else ""
    name = f"?index={index}" if index != _DEFAULT_INDEX else ""
    return f"postgresql://{user}{host}{port}/{quote(str(given.get('dbname') or ''))}{name}"


class Connections:
    """Lends connections: one to a thread at a time, as many as threads ask for."""

    def __init__(self, address: Address, *, read_only: bool = False) -> None:
        self.address, self.read_only = address, read_only
        self.process = Process(address.shown)
        self.failures = Counter(dict.fromkeys(ERRORS, 0))
        self._idle: list[Connection] = []
        self._lock = threading.Lock()
        self._closed = False

    def run(self, act: Callable[[Connection], T]) -> T:
        """Do it; on a connection that turns out to be lost, once more on a new one."""
        connection, found = self.taken(act)
        self.give_back(connection)
        return found

    def taken(self, act: Callable[[Connection], T]) -> tuple[Connection, T]:
        """The same, and the connection stays with the caller, who gives it back."""
        self.process.require()
        with self.telling():
            connection = self._take()
            try:
                return connection, self._acted(connection, act)
            except psycopg.Error as error:
                if not _lost(error):
                    raise
            self._forget()
            connection = self.connect()
            return connection, self._acted(connection, act)

    def connect(self) -> Connection:
        """A new one, set up."""
        self.process.require()
        if self._closed:
            raise StoreError(f"{self.address.shown}: this index is closed. Open it again.")
        connection = psycopg.connect(self.address.conninfo, autocommit=True, prepare_threshold=0)
        try:
            for kind in (_BigintsDumper, _UuidsDumper):
                connection.adapters.register_dumper(kind.of, kind)
            self._set_up(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def give_back(self, connection: Connection) -> None:
        """Whatever state it is in."""
        with suppress(psycopg.Error):
            if connection.info.transaction_status != TransactionStatus.IDLE:
                connection.rollback()
        with self._lock:
            if not self._closed and len(self._idle) < _KEPT and self._reusable(connection):
                self._idle.append(connection)
                return
        connection.close()

    def close(self) -> None:
        """Those that are lent are closed when they come back. In a fork they are the other process's, and stay open."""
        if not self.process.is_this:
            return
        with self._lock:
            self._closed = True
        self._forget()

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Errors of the database as errors for people."""
        try:
            yield
        except psycopg.Error as error:
            problem = told(error, self.address)
            kind = "away" if isinstance(problem, Lost) else "full" if isinstance(problem, OutputError) else "write"
            self.failures[kind] += 1
            raise problem from error

    def _acted(self, connection: Connection, act: Callable[[Connection], T]) -> T:
        try:
            return act(connection)
        except BaseException:
            self.give_back(connection)
            raise

    def _take(self) -> Connection:
        with self._lock:
            if self._idle:  # never in a closed pool
                return self._idle.pop()
        return self.connect()

    def _forget(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _reusable(self, connection: Connection) -> bool:
        return (
            not connection.closed
            and connection.info.transaction_status == TransactionStatus.IDLE
            and connection.pgconn.pipeline_status == PipelineStatus.OFF
            and self.process.is_this
        )

    def _set_up(self, connection: Connection) -> None:
        version = connection.info.server_version // 10000
        if version < OLDEST:
            raise StoreError(
                f"{self.address.shown} is PostgreSQL {version}; {OLDEST} is the oldest that is known to work."
            )
        chosen = connection.info.get_parameters().get("options", "")
        settings = {name: value for name, value in _SESSION.items() if name not in chosen}
        settings["default_transaction_read_only"] = "on" if self.read_only else "off"
        commands = [
            sql.SQL("set {} = {}").format(sql.Identifier(name), sql.Literal(value)) for name, value in settings.items()
        ]
        path = sql.SQL("set search_path = {}").format(sql.Identifier(self.address.index))
        connection.execute(sql.SQL("; ").join([*commands, path, sql.SQL(_DURABLE)]), prepare=False)


def _lost(error: psycopg.Error) -> bool:
    """Whether the connection is gone, rather than the statement wrong."""
    if not isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return False
    return error.sqlstate is None or error.sqlstate in _LOST or error.sqlstate.startswith("08")


def told(error: psycopg.Error, address: Address) -> NeardupError:
    """What happened, and what to do about it."""
    said = (error.diag.message_primary or str(error)).strip().replace("\n", "; ")
    if address.password:
        said = said.replace(address.password, "…")
    state = error.sqlstate or ""
    if state == "53100":
        return OutputError(
            f"{address.shown}: the disk of the database is full ({said}); nothing was stored. Make room there and do "
            "it again."
        )
    if _lost(error) and "FATAL" in said:
        return Lost(
            f"{address.shown} cannot be opened ({said}). Look at user, password and database in the address; where the "
            "server is starting or has no connection left, try again later."
        )
    if _lost(error):
        return Lost(
            f"{address.shown} cannot be reached ({said}); nothing was stored. Do it again when the server is there."
        )
    for begin, advice in _ADVICE.items():
        if state.startswith(begin):
            return StoreError(f"{address.shown}: {said}. {advice.format(index=address.index)}")
    return StoreError(f"{address.shown}: the database refused a statement ({state or type(error).__name__}: {said}).")


_ADVICE = {
    "25006": "Its user or the server (a standby?) may only read. Open the index with read_only, or write elsewhere.",
    "3F000": "The schema {index} is another user's. Ask for create on it, or choose another name: ?index=NAME.",
    "42501": "Ask its owner for usage on schema {index}, for select, insert, update and delete on its tables, and "
    "for usage on its sequence; to create an index, for create on the database.",
    "42939": "Choose another name: ?index=NAME.",
    "42P01": "The index was dropped meanwhile, or is damaged. Restore it from a backup, or build it again.",
    "42P07": "The schema {index} belongs to something else. Choose another name: ?index=NAME.",
    "53200": "The server has no room left for locks. Raise max_locks_per_transaction, or use smaller batches.",
    "54": "This is more than PostgreSQL stores in one piece (1 GB).",
    "55P03": "Another writer has held these documents for longer than lock_timeout (5 min, unless the address says "
    "otherwise). Look for it in pg_stat_activity, and do this again.",
    "57014": "It took longer than statement_timeout (10 min, unless the address says otherwise). Use smaller batches, "
    "or add to the address: ?options=-c%20statement_timeout%3D1h",
    "XX001": "The database is damaged. Restore it from a backup.",
    "XX002": "An index of the database is damaged. Mend it with: reindex schema {index}.",
}
"""By SQLSTATE, or how it begins (PostgreSQL's manual, appendix A)."""


@dataclass(frozen=True)
class Bigints:
    """A bigint[]."""

    values: NDArray[np.int64]


@dataclass(frozen=True)
class Uuids:
    """A uuid[]: 16 bytes each."""

    values: NDArray[np.void]


class _BigintsDumper(Dumper):
    of, format, oid = Bigints, Format.BINARY, 1016

    def dump(self, obj: Bigints) -> Buffer:
        return _array(obj.values, ">i8", 20)


class _UuidsDumper(Dumper):
    of, format, oid = Uuids, Format.BINARY, 2951

    def dump(self, obj: Uuids) -> Buffer:
        return _array(obj.values, "V16", 2950)


def _array(values: NDArray[Any], kind: str, oid: int) -> bytes:
    """As array_recv reads it: dimensions, no nulls, the type, length and lower bound; then size and bytes of each."""
    elements = np.empty(len(values), [("size", ">i4"), ("value", kind)])
    elements["size"], elements["value"] = np.dtype(kind).itemsize, values
    head = [1, 0, oid, len(values), 1] if len(values) else [0, 0, oid]
    return np.array(head, ">i4").tobytes() + elements.tobytes()


def bigints(sent: bytes | None) -> NDArray[np.int64]:
    """What string_agg(int8send(…), '') gives."""
    return np.frombuffer(sent or b"", ">i8").astype(np.int64)
