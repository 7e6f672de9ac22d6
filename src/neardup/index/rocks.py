"""The embedded store: a folder with a RocksDB database, for one writing process and any number of reading ones.

    keys        key, big endian → the latest numbers, 4 bytes each, ascending: up to 2 · MOST of them;
                key and a number → the MOST numbers up to that one, of lists that are longer
    documents   number, big endian → record
    texts       number → text, where it is kept
    ids         96 bits of BLAKE2 of the id → number
    default     counts: the next number, documents, and how many were removed since the last compaction; and when
                documents were last seen (`rocks_days`)

RocksDB was chosen by measuring (benchmarks/index): most look-ups of a filter find nothing, and its Bloom filters answer
these from memory; what it writes is sorted and compressed, half of what a B-tree takes; a commit is one append.

A commit is one batch, written to the log and synced before it returns. How the folder is opened, and what is refused,
is in `rocks_folder`.
"""

import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from itertools import groupby, islice
from pathlib import Path
from threading import Lock, RLock, get_ident
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from neardup.errors import OutputError, StoreError
from neardup.index import rocks_days
from neardup.index.mark import NAME as MARK
from neardup.index.rocks_folder import ROOM, Counts, Folder, MovedError, discard, make, require, settings_of
from neardup.index.rocks_folder import exists as exists
from neardup.index.store import ERRORS, FIRST, MOST, Change, Health, Holders, Process, Row, Store

_LAST_NUMBER = 2**32 - 1
_AT_ONCE = 10_000
_SWEPT_AT_ONCE = 1_000
"""Keys whose lists are shortened in one section of a writer: some milliseconds."""

T = TypeVar("T")


def create(path: Path, settings: dict[str, Any]) -> "RocksStore":
    """A new store, in a folder that does not exist or is empty."""
    writer = make(path, settings)
    try:
        return RocksStore(path, read_only=False)
    except OutputError:  # there was room to make it, and is none to open it
        discard(path, writer)
        raise


def open(path: Path, *, read_only: bool, alone: bool = False) -> "RocksStore":
    """Open a store that is there. `alone`: with a cache of its own in any case, as what verifies needs it."""
    require(path)
    return RocksStore(path, read_only=read_only, alone=alone)


class RocksStore(Store):
    """An open store."""

    def __init__(self, path: Path, *, read_only: bool, alone: bool = False) -> None:
        self.path, self.shown, self.read_only, self._alone = path, str(path), read_only, alone
        self.settings = settings_of(path)
        self.process = Process(self.shown)
        self._rlock, self._compacting = RLock(), Lock()
        self._failures = Counter(dict.fromkeys(ERRORS, 0))
        self._damage = ""
        """What could not be read, in RocksDB's words: that does not mend itself."""
        self._read: dict[bytes, bytes | None] = {}
        self._hashed: dict[str, bytes] = {}
        """What the section has read of the keys, and the names of its ids; and the thread that is inside of it."""
        self._inside = 0
        self._broken = False
        self._folder: Folder | None = None
        self._open()

    @property
    def _lock(self) -> RLock:
        """The lock of writers. In a fork another thread may hold it for ever: so that is refused before."""
        self.process.require()
        return self._rlock

    def _open(self) -> None:
        folder = Folder(self.path, read_only=self.read_only, alone=self._alone)
        self._days = rocks_days.days(folder)
        self._counts, self._folder = folder.counts(), folder

    def state(self) -> str:
        """Return the next number and the number of documents: every addition raises the one, a removal lowers the
        other."""
        counts = self._usable().counts() if self.read_only else self._counts
        return f"{counts.following}-{counts.documents}"

    def _get(self, family: str, names: list[bytes]) -> list[bytes | None]:
        """The values of names, which are asked for in order: half of the time that it takes in disorder."""
        if not names:
            return []
        folder = self._usable()
        try:
            found: list[bytes | None] = folder.family[family].get(names)
        except Exception as error:
            with self._lock:  # another thread may have opened it again
                if self._usable() is not folder:
                    return self._get(family, names)
            raise self._unreadable(error) from error
        return found

    def _unreadable(self, error: Exception) -> StoreError:
        """Remember that something could not be read, and return the error for people."""
        self._failures["read"] += 1
        folder = self._folder
        self._damage = str(error) if folder is None else folder.told(error)
        return StoreError(
            f"{self.path}: the index is damaged and cannot be read: {self._damage}. Look for all damage with: neardup "
            f"index verify {self.path}. Then restore a backup, or build the index again."
        )

    def _usable(self) -> Folder:
        self.process.require()
        if self._broken and self._folder is None:
            with self._lock:
                self._again()
        folder = self._folder
        if folder is None:
            raise StoreError(f"{self.path}: this index is closed. Open it again.")
        return folder

    def moment(self) -> object:
        """By RocksDB's sequence number."""
        folder = self._usable()
        try:
            return folder.reached()
        except Exception:  # another thread opens it again
            return super().moment()

    def holders(self, keys: NDArray[np.uint64], gone: frozenset[int] = frozenset()) -> Holders:
        """Return who has these keys."""
        order = np.argsort(keys, kind="stable")
        names = _names(keys[order], ">u8")
        values = self._get("keys", names)
        if self._inside == get_ident():
            self._read.update(zip(names, values, strict=True))
        found = sorted(
            (place, value if len(value) <= 4 * MOST else self._ends(name, value, gone))
            for place, name, value in zip(order.tolist(), names, values, strict=True)
            if value is not None
        )
        sizes = [len(value) // 4 for _, value in found]
        numbers = np.frombuffer(b"".join([value for _, value in found]), "<u4").astype(np.int64)
        return Holders(np.repeat(np.array([place for place, _ in found], np.int64), sizes), numbers)

    def _ends(self, name: bytes, value: bytes, gone: frozenset[int]) -> bytes:
        """Return the first numbers of a long list, and the latest that are of stored documents."""
        latest = self._there(value, gone)
        if len(latest) < 4 * MOST:
            for older in self._older(name):
                latest = self._there(older, gone) + latest
                if len(latest) >= 4 * MOST:
                    break
        latest = latest[-4 * MOST :]
        first = np.frombuffer(self._oldest(name, value)[: 4 * FIRST], "<u4")
        return first[first < np.frombuffer(latest[:4] or b"\xff" * 4, "<u4")].tobytes() + latest

    def _oldest(self, name: bytes, value: bytes) -> bytes:
        """Return the entry in which a list begins, of which `value` is the last."""
        folder = self._usable()
        entries = folder.family["keys"].iter()
        entries.seek(name + b"\x00" * 4)
        there = entries.valid() and entries.key()[:8] == name and len(entries.key()) > 8
        try:
            entries.status()
        except Exception as error:
            raise self._unreadable(error) from error
        return entries.value() if there else value

    def _older(self, name: bytes) -> Iterator[bytes]:
        """Yield the numbers that a long list keeps in entries of their own, the latest first."""
        folder = self._usable()
        entries = folder.family["keys"].iter()
        entries.seek_for_prev(name + b"\xff" * 4)
        while entries.valid() and entries.key()[:8] == name and len(entries.key()) > 8:
            yield entries.value()
            entries.prev()
        try:
            entries.status()
        except Exception as error:
            raise self._unreadable(error) from error

    def _there(self, value: bytes, gone: frozenset[int]) -> bytes:
        """Return those of a list's numbers that are of stored documents and not in `gone`."""
        counts = self._usable().counts() if self.read_only else self._counts
        numbers = np.frombuffer(value, "<u4")
        if gone:
            numbers = numbers[~np.isin(numbers, np.fromiter(gone, np.int64))]
        if counts.removed:
            numbers = numbers[[record is not None for record in self.records(numbers.astype(np.int64))]]
        return numbers.tobytes()

    def numbers(self, ids: list[str]) -> NDArray[np.int64]:
        """By the hash of the id."""
        names = [_named(id) for id in ids]
        if self._inside == get_ident():
            self._hashed.update(zip(ids, names, strict=True))
        order = sorted(range(len(names)), key=names.__getitem__)
        out = np.full(len(ids), -1, np.int64)
        for place, value in zip(order, self._get("ids", [names[i] for i in order]), strict=True):
            if value is not None:
                out[place] = int.from_bytes(value, "little")
        return out

    def records(self, numbers: NDArray[np.int64]) -> list[bytes | None]:
        """By number."""
        return self._get("documents", _names(numbers, ">u4"))

    def texts(self, numbers: NDArray[np.int64]) -> list[bytes | None]:
        """By number."""
        return self._get("texts", _names(numbers, ">u4"))

    @contextmanager
    def writing(self, keys: NDArray[np.uint64], ids: list[str]) -> Iterator[None]:
        """One thread at a time; RocksDB's own lock keeps other processes out."""
        if self.read_only:
            raise StoreError(f"{self.path}: this index is open for reading only.")
        with self._lock:
            self._again()
            self._counted(self._usable().require_place)
            self._inside = get_ident()
            try:
                yield
            finally:
                self._read, self._hashed, self._inside = {}, {}, 0

    def _again(self) -> None:
        """Open once more after a failed write: RocksDB takes no other, and nobody knows what of it is there. That takes
        the room of the logs; while there is less, questions are answered as before."""
        if not self._broken:
            return
        if self._folder is not None:
            free = shutil.disk_usage(self.path).free
            needed = sum(f.stat().st_size for f in self.path.glob("*.log"))
            if free < needed:
                raise OutputError(
                    f"{self.path}: the disk is still full: {free:,} bytes are free, and {needed:,} are needed to go "
                    "on. The change was not acknowledged."
                )
            self._let_go()
        self._open()
        self._broken = False

    def commit(self, change: Change) -> None:
        """One batch."""
        assert self._inside == get_ident()
        (following, documents, gone), n, removed = self._counts, len(change.ids), len(change.removed)
        if following + n > _LAST_NUMBER:
            raise StoreError(f"{self.path}: {following:,} documents were added, and {_LAST_NUMBER:,} are the most.")
        counts = Counts(following + n, documents + n - removed, gone + removed)
        batch = self._batch(change, counts)
        if batch is None:
            return
        self._write(batch)
        self._counts = counts
        if change.over or (change.ids and (not self._days or self._days[-1][0] < change.day)):
            self._days = rocks_days.days(self._usable())

    def _batch(self, change: Change, counts: Counts) -> Any:
        """All that changes; None where nothing does. The handles of families stay in here: one that the frame of an
        error still has would keep the database open."""
        from rocksdict import WriteBatch

        batch, folder, following = WriteBatch(raw_mode=True), self._usable(), self._counts.following
        documents, texts, ids, keys = (folder.handle[f] for f in ("documents", "texts", "ids", "keys"))
        dated = rocks_days.put(batch, folder, change, following, self._days)
        if not (dated or change.ids or change.removed):
            return None
        for number, id in change.removed:
            name = number.to_bytes(4, "big")
            batch.delete(name, documents)
            batch.delete(name, texts)
            batch.delete(self._name(id), ids)
        for number, record in enumerate(change.records, following):
            batch.put(number.to_bytes(4, "big"), record, documents)
        for number, text in enumerate(change.texts, following):
            if text is not None:
                batch.put(number.to_bytes(4, "big"), text, texts)
        for name, number in sorted((self._name(id), number) for number, id in enumerate(change.ids, following)):
            batch.put(name, number.to_bytes(4, "little"), ids)
        self._lengthen(change, batch, keys)
        folder.put_counts(batch, counts)
        return batch

    def _name(self, id: str) -> bytes:
        return self._hashed.get(id) or _named(id)

    def _lengthen(self, change: Change, batch: Any, handle: Any) -> None:
        """Put the numbers of added documents under their keys."""
        read, put, following = self._read, batch.put, self._counts.following
        order = np.argsort(change.keys.values, kind="stable")
        owners = np.repeat(np.arange(following, following + len(change.ids)), np.diff(change.keys.offsets))[order]
        values = change.keys.values[order]
        starts = np.flatnonzero(np.append(True, values[1:] != values[:-1])[: len(values)])
        names = _names(values[starts], ">u8")
        unread = [name for name in names if name not in read]
        read.update(zip(unread, self._get("keys", unread), strict=True))
        flat = owners.astype("<u4").tobytes()
        edges = (4 * np.append(starts, len(owners))).tolist()
        for name, begin, end in zip(names, edges, edges[1:], strict=False):
            before = read[name]
            numbers = flat[begin:end] if before is None else before + flat[begin:end]
            if len(numbers) <= 8 * MOST:
                put(name, numbers, handle)
            else:
                for entry, part in _entries(name, numbers).items():
                    put(entry, part, handle)

    def _write(self, batch: Any) -> None:
        try:
            self._counted(lambda: self._usable().write(batch))
        except OutputError:
            self._broken = True
            raise

    def _counted(self, act: Callable[[], None]) -> None:
        """Count what goes wrong."""
        try:
            act()
        except MovedError:
            self._failures["moved"] += 1
            raise
        except OutputError as error:
            self._failures["full" if "disk is full" in str(error) else "write"] += 1
            raise

    def __len__(self) -> int:
        folder = self._usable()
        return (folder.counts() if self.read_only else self._counts).documents

    def rows(self, *, texts: bool = False) -> Iterator[Row]:
        """In the order of their numbers."""
        with self._lock:
            family = self._usable().family
            records = self._to_the_end("documents", iter(family["documents"].items()))
            kept = self._to_the_end("texts", iter(family["texts"].items())) if texts else iter(())

        def joined() -> Iterator[Row]:
            text = next(kept, None)
            for name, record in records:
                while text is not None and text[0] < name:
                    text = next(kept, None)
                there = text is not None and text[0] == name
                yield Row(int.from_bytes(name, "big"), record, text[1] if text is not None and there else None)

        return joined()

    def postings(self) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """In the order of the keys."""
        for name, numbers in self._lists():
            yield int.from_bytes(name, "big"), np.frombuffer(numbers, "<u4").astype(np.int64)

    def _lists(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield every key with all of its numbers: the entry of the latest comes first, those of older ones follow."""
        entries = self._to_the_end("keys", iter(self._usable().family["keys"].items()))
        for name, parts in groupby(entries, lambda entry: entry[0][:8]):
            latest, *older = (numbers for _, numbers in parts)
            yield name, b"".join([*older, latest]) if older else latest

    def days(self) -> list[tuple[int, int]]:
        """As they are stored."""
        return rocks_days.days(self._usable())

    def met(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """By number."""
        return rocks_days.met(self._usable(), numbers.tolist())

    def met_before(self, day: int, most: int) -> NDArray[np.int64]:
        """The earliest first."""
        return rocks_days.met_before(self._usable(), day, most)

    def between(self, begin: int, end: int, most: int) -> NDArray[np.int64]:
        """By number."""
        return rocks_days.between(self._usable(), begin, end, most)

    def compact(self) -> None:
        """Numbers of removed documents leave the lists, some keys at a time; then every level is merged into the last.
        Others read and write meanwhile: no section is longer than that of a batch."""
        self.process.require()
        with self._compacting:
            self._compact()

    def _compact(self) -> None:
        with self.writing(np.empty(0, np.uint64), []):
            removed, following = self._counts.removed, self._counts.following
            documents = iter(self._usable().family["documents"].keys())
        if removed:
            alive = np.zeros(following, np.bool_)
            for some in _batched(self._to_the_end("documents", documents)):
                numbers = np.frombuffer(b"".join(some), ">u4")
                alive[numbers[numbers < following]] = True
            self._sweep(alive)
            with self.writing(np.empty(0, np.uint64), []):
                self._put_counts(self._counts._replace(removed=self._counts.removed - removed))
        self._usable().compact()

    def _to_the_end(self, family: str, entries: Iterator[T]) -> Iterator[T]:
        """All entries of a family. RocksDB stops at a damaged block as it does at the end: so it is asked which one."""
        entry: Any = None
        for entry in entries:
            yield entry
        folder = self._usable()
        after = folder.family[family].iter()
        if entry is None:
            after.seek_to_first()
        else:
            after.seek(entry if isinstance(entry, bytes) else entry[0])
            if after.valid():
                after.next()
        try:
            after.status()
        except Exception as error:
            raise self._unreadable(error) from error

    def _sweep(self, alive: NDArray[np.bool_]) -> None:
        """Take the numbers that are not alive out of all lists: those of documents that were removed before. Numbers
        that came since are beyond the end of `alive`, and stay."""
        for some in _batched(self._lists()):
            numbers = np.frombuffer(b"".join([value for _, value in some]), "<u4")
            gone = ~_standing(alive, numbers)
            if not gone.any():
                continue
            edges = np.cumsum([0, *(len(value) // 4 for _, value in some)])[:-1]
            names = [name for (name, _), any_gone in zip(some, np.add.reduceat(gone, edges), strict=True) if any_gone]
            for chosen in _batched(names, _SWEPT_AT_ONCE):
                with self.writing(np.empty(0, np.uint64), []):
                    self._shorten(chosen, alive)

    def _shorten(self, names: list[bytes], alive: NDArray[np.bool_]) -> None:
        """Write the lists of some keys without the numbers that are not alive, as they are now."""
        from rocksdict import WriteBatch

        folder, batch = self._usable(), WriteBatch(raw_mode=True)
        for name, latest in zip(names, self._get("keys", names), strict=True):
            before = b"".join([*reversed([*self._older(name)]), latest or b""])
            numbers = np.frombuffer(before, "<u4")
            after = _entries(name, numbers[_standing(alive, numbers)].tobytes())
            for entry in _entries(name, before).keys() - after.keys():
                batch.delete(entry, folder.handle["keys"])
            for entry, part in after.items():
                batch.put(entry, part, folder.handle["keys"])
        self._write(batch)

    def _put_counts(self, counts: Counts) -> None:
        from rocksdict import WriteBatch

        batch = WriteBatch(raw_mode=True)
        self._usable().put_counts(batch, counts)
        self._write(batch)
        self._counts = counts

    def health(self) -> Health:
        """Return how the folder, its disk and RocksDB are."""
        self.process.require()
        folder, problems, free = self._folder, {}, None
        if folder is None:
            problems["write"] = f"{self.path}: this index is closed."
        else:
            try:
                folder.require_place()
                free = shutil.disk_usage(self.path).free
            except (MovedError, OSError) as error:
                problems["moved"] = str(error)
            if not self.read_only and free is not None:
                problems |= self._of_writing(free)
            errors = folder.background_errors()
            if errors or self._damage:
                problems["damaged"] = (
                    f"{self.path}: {self._damage or f'{errors} flushes or compactions failed'}. Look for all damage "
                    f"with: neardup index verify {self.path}"
                )
        return Health(problems, free, dict(self._failures))

    def _of_writing(self, free: int) -> dict[str, str]:
        """Return why a write may fail, by kind of problem, given the free bytes of the disk."""
        if free < ROOM:
            state = "the disk is full: the last change was not written" if self._broken else "the disk is nearly full"
            told = f"{free:,} bytes are free, and with fewer than {ROOM:,} writes may soon fail. Make room."
            return {"full": f"{self.path}: {state}. {told}"}
        if self._broken:
            told = "the last change could not be written. The next one opens the index again, and is then written."
            return {"write": f"{self.path}: {told}"}
        return {}

    def problems(self) -> Iterator[str]:
        """Yield what is wrong with ids, counts and the mark."""
        folder = self._usable()
        if folder.unmarked:
            yield (
                f"{self.path / MARK}: cannot be read, and nothing else tells whether the end of the log was cut. It is "
                "written again when the index is opened for writing."
            )
        counts = folder.counts()
        met = rocks_days.all_met(folder)
        if len(met) and any(record is None for record in self.records(met)):
            yield "documents that are not there were met again, by what is stored of days."
        numbers = [int.from_bytes(value, "little") for value in self._values("ids")]
        distinct = np.unique(np.array(numbers, np.int64))
        if len(distinct) != len(numbers):
            yield f"{len(numbers) - len(distinct):,} documents have two ids."
        lost = sum(
            record is None for some in _batched(distinct.tolist()) for record in self.records(np.array(some, np.int64))
        )
        if lost:
            yield f"{lost:,} ids lead to no document."
        if len(distinct) and distinct[-1] >= counts.following:
            yield f"the next number is {counts.following:,}, and there is a document {distinct[-1]:,}."

    def again(self) -> "RocksStore":
        """Open it once more, for reading: as it is on disk, with a cache of its own, at one moment."""
        self._counted(self._usable().require_place)
        return RocksStore(self.path, read_only=True, alone=True)

    def _values(self, family: str) -> Iterator[bytes]:
        for _, value in self._to_the_end(family, iter(self._usable().family[family].items())):
            yield value

    def refresh(self) -> None:
        """A reader catches up with the writer."""
        with self._lock:
            folder = self._usable()
            if self.read_only:
                folder.catch_up()

    def facts(self) -> dict[str, Any]:
        """Of the folder."""
        with self._lock:
            folder = self._usable()
            return {
                "engine": "RocksDB",
                "bytes": folder.size(),
                "read_only": self.read_only,
                "removed_since_compaction": folder.counts().removed,
                "expired": rocks_days.expired(folder),
                "memory": folder.memory(),
            }

    def close(self) -> None:
        """Let go of the folder; in a fork, leave it to the process that opened it."""
        if not self.process.is_this:
            return
        with self._lock:
            self._broken = False
            self._let_go()

    def _let_go(self) -> None:
        folder, self._folder = self._folder, None
        if folder is not None:
            folder.close()


def _entries(name: bytes, numbers: bytes) -> dict[bytes, bytes]:
    """Return the entries that keep a list: more than 2 · MOST numbers are cut from the front, MOST at a time."""
    found, size = {}, 4 * MOST
    while len(numbers) > 2 * size:
        part, numbers = numbers[:size], numbers[size:]
        found[name + part[-1:-5:-1]] = part  # its last number, big endian
    return {**found, name: numbers} if numbers else {}


def _batched(items: Iterable[T], size: int = _AT_ONCE) -> Iterator[list[T]]:
    ahead = iter(items)
    while some := list(islice(ahead, size)):
        yield some


def _standing(alive: NDArray[np.bool_], numbers: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Return which numbers stay in a list: those that are alive, and those that came later."""
    found = np.ones(len(numbers), np.bool_)
    known = numbers < len(alive)
    found[known] = alive[numbers[known]]
    return found


def _names(values: NDArray[Any], kind: str) -> list[bytes]:
    """Numbers as the names of entries."""
    width = np.dtype(kind).itemsize
    flat = values.astype(kind).tobytes()
    return [flat[i : i + width] for i in range(0, len(flat), width)]


def _named(id: str) -> bytes:
    """Of an id: two different ones have the same with probability 10^-11 among a billion."""
    return blake2b(id.encode("utf-8", "surrogatepass"), digest_size=12).digest()
