"""A folder with a RocksDB database: making it, opening it, and refusing what is damaged or is something else.

    index.json      the format, and what the index was created with
    acknowledged    the sequence number of the last commit (`mark`)
    writer.pid      who has it open for writing, to tell others
    all else        RocksDB's own: tables, logs, and the list of them

A new folder is made under another name, and gets its own when all of it is on disk.

The mark in `acknowledged` is written after the log, and never synced: so it is never ahead of the log, unless the log
was cut or copied while it was being written, and that is how both are recognised.

A folder belongs to the process that opened it. RocksDB does not survive a fork: its threads are gone in the child, and
what a child writes is lost. There every call is refused, and nothing of RocksDB is ever closed.
"""

import ctypes
import fcntl
import json
import os
import shutil
import struct
import tempfile
import weakref
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from neardup.atomic import sync, sync_names
from neardup.errors import MissingExtra, NeardupError, OutputError, StoreError, Unreachable
from neardup.index.mark import NAME as MARK
from neardup.index.mark import Mark, read_mark
from neardup.index.store import FORMAT, Process

FAMILIES = ("keys", "documents", "texts", "ids")
_ASKED_IN_VAIN = ("keys", "ids", "default")
"""Families of which mostly what is not there is asked for: filters answer that."""
_COUNTS = struct.Struct("<QQQ")
SETTINGS = "index.json"
BACKUP = "backup.json"
"""What a folder has that is a backup of an index, in the place of the settings."""
_CACHE = 256 << 20
_BUFFER = 16 << 20
_LOG = 64 << 20
"""Bytes of the log, at the most: what is read again when a store is opened after a kill."""
ROOM = 2 * _BUFFER
"""Free bytes without which a store that is asked how it is says that its disk is nearly full, and that writes may soon
fail: a buffer that is flushed, and what comes meanwhile."""
_ATTEMPTS = 5
_MOST_MOVES = 100
_NO_ROOM = ("No space left", "File too large", "Disk quota exceeded")
_LOCKED = ("Permission denied", "Read-only file system")


def exists(path: Path) -> bool:
    """Whether there is a store."""
    try:
        return (path / SETTINGS).exists()
    except PermissionError as error:
        raise StoreError(f"{path}: this user may not enter the folder.") from error


def require(path: Path) -> None:
    """Refuse a path at which there is no store, and say what is there instead."""
    if exists(path):
        return
    _refuse_others(path)
    raise StoreError(f"{path}: there is no index. Make one with: neardup index create {path}")


def _refuse_others(path: Path) -> None:
    """What is no index, and is no place for one either."""
    if (path / BACKUP).exists():
        raise StoreError(f"{path}: is a backup of an index. Make an index of it: neardup index restore {path} INDEX")
    if (path / "CURRENT").exists():
        raise StoreError(f"{path}: {SETTINGS} is missing, so nobody knows how this index was made.")
    if path.is_file():
        raise StoreError(f"{path}: is a file, and no index.")
    if (path / "run.json").exists():
        raise StoreError(f"{path}: is a run, and no index. Make one of it: neardup index create INDEX --run {path}")
    if path.exists() and not _is_empty(path):
        raise StoreError(f"{path}: is a folder with other things in it, and is no index. Choose another name.")


def _is_empty(folder: Path) -> bool:
    try:
        return not any(folder.iterdir())
    except NotADirectoryError:
        return False
    except PermissionError as error:
        raise StoreError(f"{folder}: this user may not read the folder.") from error


def require_parent(path: Path) -> None:
    """Refuse a place in a folder that is not there: a mistyped path makes none."""
    if not path.parent.exists():
        missing = next(folder for folder in reversed(path.parents) if not folder.exists())
        raise OutputError(f"{path}: there is no folder {missing}. Make it first, or mend the path.")


def make(path: Path, settings: dict[str, Any]) -> list[bytes]:
    """A new database, in a folder that does not exist or is empty; its `last_writer`."""
    if exists(path):
        raise StoreError(f"{path}: there is an index already.")
    _refuse_others(path)
    require_parent(path)
    draft = path
    try:
        # for this user alone: the seed is a secret, and so are texts
        draft = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".draft", dir=path.parent))
        (draft / SETTINGS).write_text(json.dumps({"format": FORMAT, **settings}, indent=2))
        Folder(draft, read_only=False, new=True).close()
        sync(draft / SETTINGS)
        sync_names(draft)
        writer = last_writer(draft)
        draft.replace(path)
        sync_names(path.parent)
        return writer
    except OutputError as error:
        raise OutputError(str(error).replace(str(draft), str(path))) from error
    except OSError as error:
        raise OutputError(f"{path}: cannot be created ({error.strerror}).") from error
    finally:
        if draft != path:
            shutil.rmtree(draft, ignore_errors=True)


def last_writer(path: Path) -> list[bytes]:
    """Who opened an index for writing last, and what came of it."""
    return [(path / name).read_bytes() for name in ("writer.pid", MARK)]


def discard(path: Path, writer: list[bytes]) -> bool:
    """Remove an index that is closed, unless another process writes to it, or wrote to it since `writer` did."""
    with suppress(OSError), (path / "LOCK").open("r+b") as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # RocksDB's own
        if last_writer(path) == writer:
            aside = path.rename(path.with_name(f".{path.name}.{os.getpid()}.draft"))  # at once, for others
            shutil.rmtree(aside)
            return True
    return False


def settings_of(path: Path) -> dict[str, Any]:
    """What it was created with."""
    try:
        found: dict[str, Any] = json.loads((path / SETTINGS).read_text())
        format = found.pop("format")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreError(
            f"{path / SETTINGS}: cannot be read ({error}), so nobody knows how this index was made."
        ) from error
    if format != FORMAT:
        raise StoreError(
            f"{path}: the index has format {format}, and this neardup knows format {FORMAT}. Use the neardup that made "
            "it, or build the index again."
        )
    return found


class MovedError(Unreachable):
    """The folder is not where it was opened."""

    ailment = "moved"


class WrittenError(StoreError):
    """Another process is writing to the folder, and one can at a time."""


class Counts(NamedTuple):
    """Of a store."""

    following: int
    """The number of the next document."""
    documents: int
    removed: int
    """Since the last compaction."""


class Folder:
    """An open folder: RocksDB's families, to be read and written."""

    unmarked = False
    """Whether the mark could not be read when it was opened."""

    def __init__(self, path: Path, *, read_only: bool, new: bool = False, alone: bool = False) -> None:
        """new: there is nothing yet but the settings. alone: nobody else's blocks are taken for those of its tables."""
        self.path, self.read_only, self._alone = path, read_only, alone
        self._process = Process(str(path))
        self._mark: Mark | None = None
        self._own: tempfile.TemporaryDirectory[str] | None = None
        """What a follower of the writer writes down for itself."""
        mark = read_mark(path)
        self.unmarked = mark is None
        _refuse_locked(path)
        self._place = _place(path)
        self._directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        held = Path(f"/proc/self/fd/{self._directory}")
        self._where = held if held.is_dir() else path
        """The folder that was opened, also when it is moved: a flush must not go into another one in its place."""
        self._take()
        self._db = self._opened(new)
        _open.add(self)
        self.family: dict[str, Any] = {name: self._db.get_column_family(name) for name in FAMILIES}
        self.handle: dict[str, Any] = {name: self._db.get_column_family_handle(name) for name in FAMILIES}
        self.default_handle: Any = self._db.get_column_family_handle("default")
        try:
            if read_only:
                self.catch_up()
            self._refuse_parts(mark or 0)
            if not read_only:
                self._mark = Mark(path)
                self._mark.begin(self.reached())
                (path / "writer.pid").write_text(str(os.getpid()))
        except OSError as error:
            self.close()
            raise OutputError(f"{path}: cannot be written ({error.strerror}).") from error
        except NeardupError:
            self.close()
            raise

    def _take(self) -> None:
        """Refuse a second writer of this process: RocksDB's lock is one between processes."""
        self._held: tuple[int, int] | None = None
        if not self.read_only:
            found = os.fstat(self._directory)
            place = found.st_dev, found.st_ino
            if place in _writing:
                os.close(self._directory)
                raise self._written_by(str(os.getpid()))
            _writing.add(place)
            self._held = place

    def _opened(self, new: bool) -> Any:
        try:
            from rocksdict import AccessType, Rdict, WriteOptions
        except ImportError as error:
            raise MissingExtra("An index", "index") from error
        self._durable = WriteOptions()
        self._durable.sync = True
        how = AccessType.read_write()
        if self.read_only:
            self._own = tempfile.TemporaryDirectory(prefix="neardup-reader-", ignore_cleanup_errors=True)
            how = AccessType.secondary(self._own.name)
        try:
            if self.read_only:
                self._read_strictly()
            options, families = _options(new, self._alone)
            return Rdict(str(self._where), options, families, access_type=how)
        except Exception as error:  # the binding has no exceptions of its own
            self._clean_up()
            raise self.refusal(error) from error

    def _read_strictly(self) -> None:
        """Open and close it. A follower of the writer takes what it finds: of 20 tables that were missing or cut it
        left out 16 and said nothing. This opening refuses them all, and cannot follow. A writer may take a table away
        meanwhile: then once more."""
        from rocksdict import AccessType, Rdict

        for attempt in range(_ATTEMPTS):
            options, families = _options(False, self._alone)
            try:
                Rdict(str(self._where), options, families, access_type=AccessType.read_only()).close()
                return
            except Exception as error:
                if attempt + 1 == _ATTEMPTS or "No such file" not in str(error):
                    raise

    def _refuse_parts(self, mark: int) -> None:
        """Refuse a store that RocksDB takes for whole and of which a part is missing: the end of the log, or a log or
        table that it does not know of. Families are flushed together, and one after the other when a store is closed,
        ids last: so where documents and ids are there the rest is."""
        reached, documents = self.reached(), self.counts().documents
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
        family, found = self.family[name], 0
        for part in ("active-mem-table", "imm-mem-tables"):  # before the tables: what moves there is counted twice
            found += family.property_int_value(f"rocksdb.num-entries-{part}")
            found -= family.property_int_value(f"rocksdb.num-deletes-{part}")
        told = family.property_value("rocksdb.aggregated-table-properties")
        entries, deletions = (int(told.split(f"# {what}=")[1].split(";")[0]) for what in ("entries", "deletions"))
        return int(found + entries - deletions)

    def refusal(self, error: Exception) -> NeardupError:
        """What RocksDB's message means."""
        told = self.told(error)
        if "While lock file" in told or "lock hold by" in told:
            return self._written_by(self._writer())
        if any(reason in told for reason in _LOCKED):
            return _locked(self.path)
        if any(reason in told for reason in _NO_ROOM):
            return OutputError(f"{self.path}: there is no room on the disk, and an index needs some to open ({told}).")
        return StoreError(
            f"{self.path}: the index is damaged or incomplete: {told}. Restore a copy, or build it again."
        )

    def told(self, error: Exception) -> str:
        """Return RocksDB's message, with the path that people know."""
        return str(error).replace(str(self._where), str(self.path))

    def _written_by(self, process: str) -> WrittenError:
        return WrittenError(
            f"{self.path}: process {process} is writing to this index, and one can at a time. Wait for it, ask it "
            "meanwhile (`neardup index check` and `info`, read_only=True), or let a service have it."
        )

    def _writer(self) -> str:
        try:
            return (self.path / "writer.pid").read_text().strip()
        except OSError:
            return "another"

    def counts(self) -> Counts:
        """As they are stored."""
        try:
            found = self._db.get(b"counts")
        except Exception as error:
            raise self.refusal(error) from error
        return Counts(0, 0, 0) if found is None else Counts(*_COUNTS.unpack(found))

    def put_counts(self, batch: Any, counts: Counts) -> None:
        """Into a batch."""
        batch.put(b"counts", _COUNTS.pack(*counts), self.default_handle)

    @property
    def default(self) -> Any:
        """The family of counts and days."""
        return self._db

    def reached(self) -> int:
        """RocksDB's sequence number: another one after every change."""
        return int(self._db.latest_sequence_number())

    def require_place(self) -> None:
        """Refuse to go on where the folder was moved, removed or replaced: what is written would go where nobody looks.

        The file of the settings is compared: it is there as long as the folder is, and is never written again.
        """
        if _place(self.path) != self._place:
            raise MovedError(
                f"{self.path}: the folder was moved, removed or replaced while this process had it open. Nothing is "
                "acknowledged. Move it back, or close the index and open the one that is there now."
            )

    def background_errors(self) -> int:
        """Return how many flushes and compactions failed, by RocksDB's own count."""
        return sum(family.property_int_value("rocksdb.background-errors") or 0 for family in self.family.values())

    def write(self, batch: Any) -> None:
        """All of it, on disk when this returns. After a failure RocksDB takes no other: open it again."""
        self.require_place()
        try:
            self._db.write(batch, self._durable)
        except Exception as error:
            if any(reason in str(error) for reason in _NO_ROOM):
                raise OutputError(
                    f"{self.path}: the disk is full; the last change was not acknowledged. Make room, then repeat it."
                ) from error
            raise OutputError(
                f"{self.path}: cannot be written: {self.told(error)}. The last change was not acknowledged."
            ) from error
        self.require_place()
        with suppress(OSError):  # a mark that lags says less, and nothing wrong
            if self._mark is not None:
                self._mark.write(self.reached())

    def catch_up(self) -> None:
        """With the writer. Tables first, then the log, as RocksDB does it: what the writer moves from the one to the
        other in between is in neither. So until no table came or went meanwhile."""
        self.require_place()
        try:
            for _ in range(_MOST_MOVES):
                before = tables(self.path)
                self._db.try_catch_up_with_primary()
                if tables(self.path) == before:
                    return
        except Exception as error:
            raise self.refusal(error) from error

    def compact(self) -> None:
        """Every level is merged into the last."""
        self.require_place()
        try:
            for family in (*self.family.values(), self._db):
                family.flush()
                family.compact_range(None, None)
        except Exception as error:
            raise self.refusal(error) from error

    def size(self) -> int:
        """Bytes of its files; one that goes meanwhile has none."""
        self.require_place()
        found = 0
        for file in self._where.iterdir():
            with suppress(FileNotFoundError):
                found += file.stat().st_size
        return found

    def memory(self) -> int:
        """Bytes that RocksDB holds: what was written last, filters, and blocks that were read (one cache for all)."""
        families = list(self.family.values())
        own = ("rocksdb.cur-size-all-mem-tables", "rocksdb.estimate-table-readers-mem")
        held = sum(family.property_int_value(name) or 0 for family in families for name in own)
        return held + (families[0].property_int_value("rocksdb.block-cache-usage") or 0)

    def close(self) -> None:
        """Families and handles first: RocksDB's lock stays until all of them are gone. In a fork of the process that
        opened it nothing is closed: it is the other one's."""
        if not self._process.is_this:
            return
        for family in (*self.family.values(), self._db):
            with suppress(Exception):  # a flush that fails, on a full disk: all of it is in the log
                family.close()
        self.family, self.handle, self.default_handle, self._db = {}, {}, None, None
        if self._mark is not None:
            self._mark.close()
        self._clean_up()

    def _clean_up(self) -> None:
        directory, self._directory = self._directory, -1
        if directory >= 0:
            os.close(directory)
            _writing.discard(self._held)
        if self._own is not None:
            self._own.cleanup()


def _refuse_locked(path: Path) -> None:
    """RocksDB's binding writes its own settings into the folder at every opening, for reading too."""
    if path.is_dir() and not os.access(path, os.W_OK):
        raise _locked(path)


def _locked(path: Path) -> StoreError:
    why, mend = "this user may not write into the folder", "Ask its owner for the right"
    with suppress(OSError):
        if os.statvfs(path).f_flag & os.ST_RDONLY:
            why, mend = "the folder is on a read-only file system", "Mount it for writing"
    return StoreError(
        f"{path}: {why}, and RocksDB does so at every opening, also for reading. {mend}, work on a copy, or ask a "
        "service (`neardup serve`) on a machine that may."
    )


def tables(path: Path) -> tuple[str, int]:
    """Return RocksDB's list of tables and its size: another one whenever a table or a log has come or gone."""
    current = (path / "CURRENT").read_text().strip()
    return current, (path / current).stat().st_size


def _place(path: Path) -> tuple[int, int] | None:
    """Return which file the settings are in; None where there is none."""
    try:
        found = os.stat(path / SETTINGS)
    except OSError:
        return None
    return found.st_dev, found.st_ino


_open: "weakref.WeakSet[Folder]" = weakref.WeakSet()
_writing: set[tuple[int, int] | None] = set()
"""Folders that this process has open for writing, by device and inode."""


def _leave_to_parent() -> None:
    """Keep a fork from closing what the other process has open: RocksDB's destructors crash without its threads, and
    the folder of a follower would be removed."""
    for folder in list(_open):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(folder))
        if folder._own is not None:
            folder._own._finalizer.detach()  # type: ignore[attr-defined]


os.register_at_fork(after_in_child=_leave_to_parent)


_shared: dict[int, Any] = {}
"""By process, the cache that its stores share; None as long as none was opened. A fork has no part in it, for another
thread may have held its locks."""


def share_cache() -> None:
    """Let the stores that this process opens from now on share one cache of blocks: many take no more than one."""
    _shared.setdefault(os.getpid(), None)


def _blocks(alone: bool) -> Any:
    """Return the cache of blocks for a store. A copy of a table finds the blocks of its original in a cache that both
    share, so that damage to the copy stays unseen: what verifies has a cache of its own (`alone`)."""
    from rocksdict import Cache

    process = os.getpid()
    if alone or process not in _shared:
        return Cache(_CACHE)
    _shared[process] = _shared[process] or Cache(_CACHE)
    return _shared[process]


def _options(new: bool, alone: bool) -> tuple[Any, dict[str, Any]]:
    """Of the database and its families. They must be given at every opening, or the filters are lost."""
    from rocksdict import (
        BlockBasedOptions,
        DBCompactionStyle,
        DBCompressionType,
        Options,
        UniversalCompactOptions,
    )

    blocks = _blocks(alone)

    def family(name: str) -> Any:
        table = BlockBasedOptions()
        table.set_block_cache(blocks)
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
    return options, {name: family(name) for name in FAMILIES}
