"""The embedded store: a folder with a RocksDB database, for one writing process and any number of reading ones.

    keys        key, big endian → numbers, 4 bytes each, ascending
    documents   number, big endian → record
    texts       number → text, where it is kept
    ids         96 bits of BLAKE2 of the id → number
    default     counts: the next number, documents, and how many were removed since the last compaction

RocksDB was chosen by measuring (benchmarks/index): most look-ups of a filter find nothing, and its Bloom filters answer
these from memory; what it writes is sorted and compressed, half of what a B-tree takes; a commit is one append.

A commit is one batch, written to the log and synced before it returns. The file `acknowledged` has the sequence
number of the last one. It is written after the log, and never synced: so it is never ahead of the log, unless the log
was cut or copied while it was being written, and that is how both are recognised.
"""

import json
import os
import shutil
import struct
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from itertools import islice, pairwise
from pathlib import Path
from threading import RLock, get_ident
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from neardup.errors import MissingExtra, NeardupError, OutputError, StoreError
from neardup.index.store import FORMAT, MOST, Change, Holders, Row, Store

_FAMILIES = ("keys", "documents", "texts", "ids")
_ASKED_IN_VAIN = ("keys", "ids")
"""Families of which mostly what is not there is asked for: filters answer that."""
_COUNTS = struct.Struct("<QQQ")
_MARK = struct.Struct("<Q")
_SETTINGS = "index.json"
_CACHE = 256 << 20
_BUFFER = 16 << 20
_LOG = 64 << 20
"""Bytes of the log, at the most: what is read again when a store is opened after a kill."""
_LAST_NUMBER = 2**32 - 1
_AT_ONCE = 10_000
_ATTEMPTS = 5
_MOST_MOVES = 100
_NO_ROOM = ("No space left", "File too large", "Disk quota exceeded")

T = TypeVar("T")


def exists(path: Path) -> bool:
    """Whether there is a store."""
    try:
        return (path / _SETTINGS).exists()
    except PermissionError as error:
        raise StoreError(f"{path}: this user may not enter the folder.") from error


def create(path: Path, settings: dict[str, Any]) -> "RocksStore":
    """A new store, in a folder that does not exist or is empty."""
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise StoreError(f"{path}: is there already, and is no index. Choose another name.")
    draft = path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".draft", dir=path.parent))
        draft.chmod(0o755)
        (draft / _SETTINGS).write_text(json.dumps({"format": FORMAT, **settings}, indent=2))
        RocksStore(draft, read_only=False, new=True).close()
        for written in (draft / _SETTINGS, draft):
            _sync(written)
        draft.replace(path)
        _sync(path.parent)
    except OSError as error:
        raise OutputError(f"{path}: cannot be created ({error.strerror}).") from error
    finally:
        if draft != path:
            shutil.rmtree(draft, ignore_errors=True)
    return RocksStore(path, read_only=False)


def open(path: Path, *, read_only: bool) -> "RocksStore":
    """A store that is there."""
    if not exists(path):
        if (path / "CURRENT").exists():
            raise StoreError(f"{path}: {_SETTINGS} is missing, so nobody knows how this index was made.")
        if path.is_file():
            raise StoreError(f"{path}: is a file, and no index.")
        if (path / "run.json").exists():
            raise StoreError(f"{path}: is a run, and no index. Make one of it: neardup index create INDEX --run {path}")
        raise StoreError(f"{path}: there is no index. Make one with: neardup index create {path}")
    return RocksStore(path, read_only=read_only)


class RocksStore(Store):
    """An open folder."""

    def __init__(self, path: Path, *, read_only: bool, new: bool = False) -> None:
        self.path, self.shown, self.read_only = path, str(path), read_only
        self.settings = _settings(path)
        self._lock = RLock()
        self._read: dict[bytes, bytes | None] = {}
        self._hashed: dict[str, bytes] = {}
        """What the section has read of the keys, and the names of its ids; and the thread that is inside of it."""
        self._inside = 0
        self._broken = False
        self._secondary: tempfile.TemporaryDirectory[str] | None = None
        self._mark = -1
        self._open(new)

    def _open(self, new: bool) -> None:
        try:
            from rocksdict import AccessType, Rdict, WriteOptions
        except ImportError as error:
            raise MissingExtra("An index", "index") from error
        mark = self._marked()
        options, families = _options(new)
        how = AccessType.read_write()
        if self.read_only:
            self._secondary = self._secondary or tempfile.TemporaryDirectory(
                prefix="neardup-reader-", ignore_cleanup_errors=True
            )
            how = AccessType.secondary(self._secondary.name)
        try:
            if self.read_only:
                self._read_strictly()
            self._db: Any = Rdict(str(self.path), options, families, access_type=how)
        except Exception as error:  # the binding has no exceptions of its own
            self._forget()
            raise self._refusal(error) from error
        self._family: dict[str, Any] = {name: self._db.get_column_family(name) for name in _FAMILIES}
        self._handle: dict[str, Any] = {name: self._db.get_column_family_handle(name) for name in _FAMILIES}
        self._default: Any = self._db.get_column_family_handle("default")
        self._durable = WriteOptions()
        self._durable.sync = True
        self._closed = False
        try:
            if self.read_only:
                self._catch_up()
            self._check(mark)
            self._following, self._documents, self._removed = self._counts()
            if not self.read_only:
                self._mark = os.open(self.path / "acknowledged", os.O_WRONLY | os.O_CREAT, 0o644)
                os.pwrite(self._mark, _MARK.pack(self._db.latest_sequence_number()), 0)
                (self.path / "writer.pid").write_text(str(os.getpid()))
        except OSError as error:
            self._let_go()
            raise OutputError(f"{self.path}: cannot be written ({error.strerror}).") from error
        except NeardupError:
            self._let_go()
            raise

    def _read_strictly(self) -> None:
        """Open and close it. A follower of another process takes what it finds, and leaves out a table that is missing
        or cut; this one does not. A writer may take a table away meanwhile: then once more."""
        from rocksdict import AccessType, Rdict

        for attempt in range(_ATTEMPTS):
            options, families = _options(False)
            try:
                Rdict(str(self.path), options, families, access_type=AccessType.read_only()).close()
                return
            except Exception as error:
                if attempt + 1 == _ATTEMPTS or "No such file" not in str(error):
                    raise

    def _check(self, mark: int) -> None:
        """Refuse a store that RocksDB takes for whole and of which a part is missing: the end of the log, or a log or
        table that it does not know of. Families are flushed together, and one after the other when a store is closed,
        ids last: so where documents and ids are there the rest is."""
        reached, documents = self._db.latest_sequence_number(), self._counts()[1]
        if reached < mark:
            missing = f"{mark - reached:,} of {mark:,} acknowledged changes"
        elif (there := min(self._entries("documents"), self._entries("ids"))) < documents:
            missing = f"{documents - there:,} of {documents:,} documents"
        else:
            return
        raise StoreError(
            f"{self.path}: {missing} are missing: the folder was cut short, or copied while a process was writing to "
            "it. Copy it again when none does."
        )

    def _entries(self, name: str) -> int:
        """Of a family, those of removed documents included that RocksDB has not dropped yet."""
        family, found = self._family[name], 0
        for part in ("active-mem-table", "imm-mem-tables"):  # before the tables: what moves there is counted twice
            found += family.property_int_value(f"rocksdb.num-entries-{part}")
            found -= family.property_int_value(f"rocksdb.num-deletes-{part}")
        told = family.property_value("rocksdb.aggregated-table-properties")
        entries, deletions = (int(told.split(f"# {what}=")[1].split(";")[0]) for what in ("entries", "deletions"))
        return int(found + entries - deletions)

    def _refusal(self, error: Exception) -> NeardupError:
        """What RocksDB's message means."""
        told = str(error)
        if "While lock file" in told or "lock hold by" in told:
            return StoreError(
                f"{self.path}: process {self._writer()} is writing to this index, and one can at a time. Wait for it, "
                "ask it meanwhile (`neardup index check` and `info`, read_only=True), or let a service have it."
            )
        if "Permission denied" in told:
            return StoreError(
                f"{self.path}: this user may not write to the folder, and RocksDB does so at every opening, also for "
                "reading. Ask for the right to, take a copy, or ask a service (`neardup serve`) that may."
            )
        if any(reason in told for reason in _NO_ROOM):
            return OutputError(f"{self.path}: there is no room on the disk, and an index needs some to open ({told}).")
        return StoreError(
            f"{self.path}: the index is damaged or incomplete: {told}. Restore a copy, or build it again."
        )

    def _writer(self) -> str:
        try:
            return (self.path / "writer.pid").read_text().strip()
        except OSError:
            return "another"

    def _marked(self) -> int:
        """The sequence number that was acknowledged last, for all that is known."""
        try:
            return int(_MARK.unpack((self.path / "acknowledged").read_bytes())[0])
        except (OSError, struct.error):
            return 0

    def _counts(self) -> tuple[int, int, int]:
        try:
            found = self._db.get(b"counts")
            return _COUNTS.unpack(found) if found is not None else (0, 0, 0)
        except Exception as error:
            raise self._refusal(error) from error

    def _get(self, family: str, names: list[bytes]) -> list[bytes | None]:
        """The values of names, which are asked for in order: half of the time that it takes in disorder."""
        if not names:
            return []
        self._usable()
        asked: Any = self._family.get(family)
        try:
            found: list[bytes | None] = asked.get(names)
        except Exception as error:
            with self._lock:  # another thread may have opened it again
                self._usable()
                if self._family[family] is not asked:
                    return self._get(family, names)
            raise StoreError(f"{self.path}: cannot be read: {error}. Restore a copy, or build it again.") from error
        return found

    def _usable(self) -> None:
        if self._broken and self._closed:
            with self._lock:
                self._again()
        if self._closed:
            raise StoreError(f"{self.path}: this index is closed. Open it again.")

    def holders(self, keys: NDArray[np.uint64]) -> Holders:
        """Who has these keys."""
        order = np.argsort(keys, kind="stable")
        names = _names(keys[order], ">u8")
        values = self._get("keys", names)
        if self._inside == get_ident():
            self._read.update(zip(names, values, strict=True))
        found = sorted((place, value) for place, value in zip(order.tolist(), values, strict=True) if value is not None)
        sizes = [len(value) // 4 for _, value in found]
        numbers = np.frombuffer(b"".join([value for _, value in found]), "<u4").astype(np.int64)
        return Holders(np.repeat(np.array([place for place, _ in found], np.int64), sizes), numbers)

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
            self._usable()
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
        free = shutil.disk_usage(self.path).free
        needed = sum(f.stat().st_size for f in self.path.glob("*.log"))
        if free < needed and not self._closed:
            raise OutputError(
                f"{self.path}: the disk is still full: {free:,} bytes are free, and {needed:,} are needed to go on. "
                "The change was not acknowledged."
            )
        self._let_go()
        self._open(False)
        self._broken = False

    def commit(self, change: Change) -> None:
        """One batch."""
        assert self._inside == get_ident()
        following, n, removed = self._following, len(change.ids), len(change.removed)
        if following + n > _LAST_NUMBER:
            raise StoreError(f"{self.path}: {following:,} documents were added, and {_LAST_NUMBER:,} are the most.")
        counts = following + n, self._documents + n - removed, self._removed + removed
        self._write(self._batch(change, following, counts))
        self._following, self._documents, self._removed = counts

    def _batch(self, change: Change, following: int, counts: tuple[int, int, int]) -> Any:
        """All that changes. The handles of families stay in here: one that the frame of an error still has would keep
        the database open."""
        from rocksdict import WriteBatch

        batch = WriteBatch(raw_mode=True)
        documents, texts, ids, keys = (self._handle[f] for f in ("documents", "texts", "ids", "keys"))
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
        self._lengthen(change, following, batch, keys)
        batch.put(b"counts", _COUNTS.pack(*counts), self._default)
        return batch

    def _name(self, id: str) -> bytes:
        return self._hashed.get(id) or _named(id)

    def _lengthen(self, change: Change, following: int, batch: Any, handle: Any) -> None:
        """Put the numbers of added documents under their keys."""
        read, put = self._read, batch.put
        order = np.argsort(change.keys.values, kind="stable")
        owners = np.repeat(np.arange(following, following + len(change.ids)), np.diff(change.keys.offsets))[order]
        values = change.keys.values[order]
        starts = np.flatnonzero(np.append(True, values[1:] != values[:-1])[: len(values)])
        names = _names(values[starts], ">u8")
        unread = [name for name in names if name not in read]
        read.update(zip(unread, self._get("keys", unread), strict=True))
        flat = owners.astype("<u4").tobytes()
        edges = (4 * np.append(starts, len(owners))).tolist()
        long: dict[bytes, bytes] = {}
        for name, begin, end in zip(names, edges, edges[1:], strict=False):
            before = read[name]
            numbers = flat[begin:end] if before is None else before + flat[begin:end]
            if len(numbers) > 4 * MOST:
                long[name] = numbers
            else:
                put(name, numbers, handle)
        if long and (self._removed or change.removed):
            long = self._without_removed(long, change, following)
        for name, numbers in long.items():
            put(name, numbers[-4 * MOST :], handle)

    def _without_removed(self, lists: dict[bytes, bytes], change: Change, following: int) -> dict[bytes, bytes]:
        """The same lists of numbers; documents that are not there take nobody's place in them."""
        numbers = {name: np.frombuffer(held, "<u4").astype(np.int64) for name, held in lists.items()}
        distinct = np.unique(np.concatenate([*numbers.values()]))
        there = distinct[[record is not None for record in self.records(distinct)]]
        there = np.setdiff1d(there, [number for number, _ in change.removed])
        return {
            name: held[(held >= following) | np.isin(held, there)].astype("<u4").tobytes()
            for name, held in numbers.items()
        }

    def _write(self, batch: Any) -> None:
        try:
            self._db.write(batch, self._durable)
        except Exception as error:
            self._broken = True
            if any(reason in str(error) for reason in _NO_ROOM):
                raise OutputError(
                    f"{self.path}: the disk is full; the last change was not acknowledged. Make room, then repeat it."
                ) from error
            raise OutputError(
                f"{self.path}: cannot be written: {error}. The last change was not acknowledged."
            ) from error
        with suppress(OSError):  # a mark that lags says less, and nothing wrong
            os.pwrite(self._mark, _MARK.pack(self._db.latest_sequence_number()), 0)

    def __len__(self) -> int:
        self._usable()
        return self._counts()[1] if self.read_only else self._documents

    def rows(self, *, texts: bool = False) -> Iterator[Row]:
        """In the order of their numbers."""
        with self._lock:
            self._usable()
            records = self._to_the_end("documents", iter(self._family["documents"].items()))
            kept = self._to_the_end("texts", iter(self._family["texts"].items())) if texts else iter(())

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
        self._usable()
        for name, numbers in self._to_the_end("keys", iter(self._family["keys"].items())):
            yield int.from_bytes(name, "big"), np.frombuffer(numbers, "<u4").astype(np.int64)

    def compact(self) -> None:
        """Numbers of removed documents leave the lists; then every level is merged into the last."""
        with self.writing(np.empty(0, np.uint64), []):
            if self._removed:
                self._sweep()
            try:
                for name in _FAMILIES:
                    family = self._family[name]
                    family.flush()
                    family.compact_range(None, None)
                self._db.flush()
            except Exception as error:
                raise self._refusal(error) from error

    def _to_the_end(self, family: str, entries: Iterator[T]) -> Iterator[T]:
        """All entries of a family. RocksDB stops at a damaged block as it does at the end: so it is asked which one."""
        entry: Any = None
        for entry in entries:
            yield entry
        after = self._family[family].iter()
        if entry is None:
            after.seek_to_first()
        else:
            after.seek(entry if isinstance(entry, bytes) else entry[0])
            if after.valid():
                after.next()
        try:
            after.status()
        except Exception as error:
            raise self._refusal(error) from error

    def _sweep(self) -> None:
        from rocksdict import WriteBatch

        alive = np.zeros(self._following, np.bool_)
        for some in _batched(self._to_the_end("documents", iter(self._family["documents"].keys()))):
            alive[np.frombuffer(b"".join(some), ">u4")] = True
        for some in _batched(self._to_the_end("keys", iter(self._family["keys"].items()))):
            numbers = np.frombuffer(b"".join([value for _, value in some]), "<u4")
            there = alive[numbers]
            if there.all():
                continue
            batch = WriteBatch(raw_mode=True)
            edges = np.cumsum([0, *(len(value) // 4 for _, value in some)]).tolist()
            for (name, _), (begin, end) in zip(some, pairwise(edges), strict=True):
                if there[begin:end].all():
                    continue
                if there[begin:end].any():
                    batch.put(name, numbers[begin:end][there[begin:end]].tobytes(), self._handle["keys"])
                else:
                    batch.delete(name, self._handle["keys"])
            self._write(batch)
        batch = WriteBatch(raw_mode=True)
        batch.put(b"counts", _COUNTS.pack(self._following, self._documents, 0), self._default)
        self._write(batch)
        self._removed = 0

    def refresh(self) -> None:
        """A reader catches up with the writer."""
        with self._lock:
            self._usable()
            if self.read_only:
                self._catch_up()

    def _catch_up(self) -> None:
        """Tables first, then the log, as RocksDB does it: what the writer moves from the one to the other in between is
        in neither. So until no table came or went meanwhile."""
        try:
            for _ in range(_MOST_MOVES):
                before = self._tables()
                self._db.try_catch_up_with_primary()
                if self._tables() == before:
                    return
        except Exception as error:
            raise self._refusal(error) from error

    def _tables(self) -> tuple[str, int]:
        """Another one where the writer's list of tables is another one."""
        current = (self.path / "CURRENT").read_text().strip()
        return current, (self.path / current).stat().st_size

    def facts(self) -> dict[str, Any]:
        """Of the folder."""
        with self._lock:
            self._usable()
            return {
                "engine": "RocksDB",
                "bytes": _size(self.path),
                "read_only": self.read_only,
                "removed_since_compaction": self._counts()[2],
                "memory": self._memory(),
            }

    def _memory(self) -> int:
        """Bytes that RocksDB holds: what was written last, filters, and blocks that were read (one cache for all)."""
        families = list(self._family.values())
        own = ("rocksdb.cur-size-all-mem-tables", "rocksdb.estimate-table-readers-mem")
        held = sum(family.property_int_value(name) or 0 for family in families for name in own)
        return held + (families[0].property_int_value("rocksdb.block-cache-usage") or 0)

    def close(self) -> None:
        """Families and handles first: RocksDB's lock stays until all of them are gone."""
        with self._lock:
            self._broken = False
            self._let_go()

    def _let_go(self) -> None:
        if self._closed:
            return
        self._closed = True
        for family in (*self._family.values(), self._db):
            with suppress(Exception):  # a flush that fails, on a full disk: all of it is in the log
                family.close()
        self._family, self._handle, self._default, self._db = {}, {}, None, None
        if self._mark >= 0:
            os.close(self._mark)
            self._mark = -1
        self._forget()

    def _forget(self) -> None:
        if self._secondary is not None:
            self._secondary.cleanup()
            self._secondary = None


def _size(folder: Path) -> int:
    """Bytes of its files; one that goes meanwhile has none."""
    found = 0
    for file in folder.iterdir():
        with suppress(FileNotFoundError):
            found += file.stat().st_size
    return found


def _settings(path: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads((path / _SETTINGS).read_text())
        format = found.pop("format")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreError(
            f"{path / _SETTINGS}: cannot be read ({error}), so nobody knows how this index was made."
        ) from error
    if format != FORMAT:
        raise StoreError(
            f"{path}: the index has format {format}, and this neardup knows format {FORMAT}. Use the neardup that made "
            "it, or build the index again."
        )
    return found


def _options(new: bool) -> tuple[Any, dict[str, Any]]:
    """Of the database and its families. They must be given at every opening, or the filters are lost."""
    from rocksdict import (
        BlockBasedOptions,
        Cache,
        DBCompactionStyle,
        DBCompressionType,
        Options,
        UniversalCompactOptions,
    )

    cache = Cache(_CACHE)

    def family(name: str) -> Any:
        table = BlockBasedOptions()
        table.set_block_cache(cache)
        table.set_format_version(5)
        table.set_block_size(8192)
        table.set_cache_index_and_filter_blocks(False)
        options = Options(raw_mode=True)
        if name in _ASKED_IN_VAIN:
            table.set_bloom_filter(10, False)
            options.set_memtable_prefix_bloom_ratio(0.1)
            options.set_memtable_whole_key_filtering(True)
            runs = UniversalCompactOptions()  # keys in no order are merged half as often as by levels
            runs.max_size_amplification_percent = 200
            options.set_compaction_style(DBCompactionStyle.universal())
            options.set_universal_compaction_options(runs)
        options.set_block_based_table_factory(table)
        options.set_write_buffer_size(_BUFFER)
        options.set_max_write_buffer_number(4)
        options.set_compression_type(DBCompressionType.lz4())
        options.set_bottommost_compression_type(DBCompressionType.zstd())
        return options

    options = family("default")
    options.create_if_missing(new)
    options.create_missing_column_families(new)
    options.set_max_background_jobs(2)
    options.set_max_total_wal_size(_LOG)
    options.set_atomic_flush(True)
    options.set_allow_concurrent_memtable_write(False)  # there is one writer: a tenth faster
    options.set_keep_log_file_num(2)
    return options, {name: family(name) for name in _FAMILIES}


def _batched(items: Iterable[T]) -> Iterator[list[T]]:
    ahead = iter(items)
    while some := list(islice(ahead, _AT_ONCE)):
        yield some


def _names(values: NDArray[Any], kind: str) -> list[bytes]:
    """Numbers as the names of entries."""
    width = np.dtype(kind).itemsize
    flat = values.astype(kind).tobytes()
    return [flat[i : i + width] for i in range(0, len(flat), width)]


def _named(id: str) -> bytes:
    """Of an id: two different ones have the same with probability 10^-11 among a billion."""
    return blake2b(id.encode("utf-8", "surrogatepass"), digest_size=12).digest()


def _sync(path: Path) -> None:
    """A file, or the names in a folder, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
