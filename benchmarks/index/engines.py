"""`python -m benchmarks.index.engines`: the same index in RocksDB, LMDB and SQLite, and what each costs.

Per stored document: 7 keys of 64 bits → the numbers of the documents that have the key; number → record; hash of the
id → number. Documents come in batches of 1,000: 900 new ones and 100 copies of stored ones, which share 3 to 7 keys
with their original, are found by the look-up, and are not stored. Keys are a mix of the document's number, so that
every batch can be made again and every answer checked. Timed is the engine's part alone: arrays in, arrays out, each
batch of additions or removals one atomic write that is on disk when the call returns.

Every engine and size runs in a process of its own. Memory is that process's peak; LMDB's holds the pages of its file
that it touched, which the system can take back.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from benchmarks.speed import machine

RESULTS = Path(__file__).parent / "results" / "engines.json"
KEYS, NEW, COPIES = 7, 900, 100
BATCH = NEW + COPIES
LONGEST = 1024
CACHE = 256 << 20
CHECKED, REMOVED = 100, 50

Keys = NDArray[np.uint64]
Numbers = NDArray[np.uint32]


@dataclass(frozen=True)
class Documents:
    """A batch: keys and hashes of ids as arrays, records as they are stored, and what a look-up must find."""

    keys: Keys
    hashes: Keys
    records: list[bytes]
    original: NDArray[np.int64]


def mixed(values: NDArray[Any], salt: int) -> Keys:
    """64 bits that look random, from a number: the finaliser of SplitMix64 (Steele, Lea, Flood 2014)."""
    with np.errstate(over="ignore"):
        z = (values + np.uint64(salt)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def keys_of(numbers: NDArray[Any]) -> Keys:
    """The keys of stored documents."""
    places = numbers.astype(np.uint64)[:, None] * np.uint64(KEYS) + np.arange(KEYS, dtype=np.uint64)
    return mixed(places, 1)


def hashes_of(numbers: NDArray[Any]) -> Keys:
    """The hashes of stored documents' ids."""
    return mixed(numbers.astype(np.uint64), 1 << 60)


def batch(first: int, stored: int, seed: int) -> Documents:
    """NEW documents with numbers from `first`, and COPIES of stored ones among them at random places."""
    rng = np.random.default_rng([seed, first])
    numbers = np.arange(first, first + NEW, dtype=np.uint64)
    originals = rng.integers(0, stored, COPIES if stored else 0)
    copies = keys_of(originals)
    for row in copies:
        fresh = rng.choice(KEYS, int(rng.integers(0, KEYS - 2)), replace=False)
        row[fresh] = rng.integers(0, 2**64, len(fresh), np.uint64)
    order = rng.permutation(NEW + len(originals))
    random = rng.bytes((16 + 48 + 5) * len(order))
    ids = [f"https://h{n % 500}.example/p/{n}" for n in range(first, first + len(order))]
    return Documents(
        keys=np.concatenate([keys_of(numbers), copies])[order],
        hashes=np.concatenate([hashes_of(numbers), rng.integers(0, 2**64, len(originals), np.uint64)])[order],
        records=[random[at * 69 : at * 69 + 69] + name.encode() for at, name in enumerate(ids)],
        original=np.concatenate([np.full(NEW, -1), originals])[order],
    )


class Engine(ABC):
    """What the index asks of a store; every write is one transaction, on disk on return."""

    package: ClassVar[str | None]

    @abstractmethod
    def __init__(self, folder: Path) -> None:
        """Open, or make, the store in a folder."""

    @abstractmethod
    def lists(self, keys: Keys) -> tuple[NDArray[np.int64], Numbers, dict[int, bytes]]:
        """(position of a key, a document's number) of all that is stored for the keys; the lists found, by key."""

    @abstractmethod
    def records(self, numbers: Numbers) -> list[bytes | None]:
        """The records of documents, None where there is none."""

    @abstractmethod
    def known(self, hashes: Keys) -> list[int | None]:
        """The numbers of documents by the hashes of their ids."""

    @abstractmethod
    def add(self, first: int, keys: Keys, held: dict[int, bytes], hashes: Keys, records: list[bytes]) -> None:
        """Store documents under the numbers from `first`; `held` are the lists their keys have already."""

    @abstractmethod
    def remove(self, hashes: Keys, numbers: list[int]) -> None:
        """Drop records and ids."""

    @abstractmethod
    def compact(self) -> None:
        """Give the disk back what is not needed."""

    @abstractmethod
    def close(self) -> None:
        """Close; what was written stays."""

    def check(self, documents: Documents) -> tuple[NDArray[np.bool_], dict[int, bytes]]:
        """Which documents have a stored candidate; the lists found on the way."""
        positions, numbers, held = self.lists(documents.keys.ravel())
        found = np.zeros(len(documents.keys), bool)
        if len(numbers):
            candidates, which = np.unique(numbers, return_inverse=True)
            there = np.array([record is not None for record in self.records(candidates)])
            found[positions[there[which]] // KEYS] = True
        return found, held

    def check_and_add(self, documents: Documents, first: int) -> NDArray[np.bool_]:
        """Store the documents that have no candidate and whose id is new; which had one."""
        found, held = self.check(documents)
        old = np.array([number is not None for number in self.known(documents.hashes)])
        chosen = np.flatnonzero(~found & ~old)
        records = [documents.records[at] for at in chosen]
        self.add(first, documents.keys[chosen], held, documents.hashes[chosen], records)
        return found

    def drop(self, hashes: Keys) -> int:
        """Remove documents by the hashes of their ids; how many there were."""
        numbers = self.known(hashes)
        there = [at for at, number in enumerate(numbers) if number is not None]
        self.remove(hashes[there], [number for number in numbers if number is not None])
        return len(there)


def merged(first: int, keys: Keys, held: dict[int, bytes], form: str) -> tuple[Keys, Numbers, dict[int, bytes]]:
    """Distinct keys of new documents in order, the number of one that has it, and whole lists where one is not all."""
    flat = keys.ravel()
    order = np.argsort(flat, kind="stable")
    ordered, numbers = flat[order], (first + order // KEYS).astype(np.uint32)
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    ends = np.append(starts[1:], len(ordered))
    longer = (ends - starts > 1) | np.isin(ordered[starts], np.fromiter(held, np.uint64, len(held)))
    whole: dict[int, bytes] = {}
    for begin, end in zip(starts[longer].tolist(), ends[longer].tolist(), strict=True):
        key = int(ordered[begin])
        mine = np.unique(numbers[begin:end]).astype(form).tobytes()
        whole[key] = (held.get(key, b"") + mine)[-4 * LONGEST :]
    return ordered[starts], numbers[starts], whole


def pieces(array: NDArray[Any], form: str) -> list[bytes]:
    """Each number's bytes."""
    raw = array.astype(form).tobytes()
    width = np.dtype(form).itemsize
    return [raw[at : at + width] for at in range(0, len(raw), width)]


def spread(asked: NDArray[Any], found: NDArray[Any], numbers: NDArray[Any]) -> tuple[NDArray[np.int64], Numbers]:
    """Found (key, number) rows as (position, number) rows: a key that is asked for twice has two positions."""
    order = np.argsort(asked)
    begins, ends = (np.searchsorted(asked[order], found, side) for side in ("left", "right"))
    counts = ends - begins
    shifts = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return order[np.repeat(begins, counts) + shifts], np.repeat(numbers, counts).astype(np.uint32)


class Rocks(Engine):
    """RocksDB by rocksdict: three column families, lists as values, numbers big endian."""

    package = "rocksdict"
    families = ("keys", "records", "ids")

    def __init__(self, folder: Path) -> None:
        """Open, or make."""
        import rocksdict

        self.rocks = rocksdict
        self.cache = rocksdict.Cache(CACHE)
        options = self.family("default")
        options.create_if_missing(True)
        options.create_missing_column_families(True)
        options.set_max_background_jobs(2)
        options.set_keep_log_file_num(2)
        self.settle(options)
        self.db = rocksdict.Rdict(str(folder), options, {name: self.family(name) for name in self.families})
        self.parts: dict[str, Any] = {name: self.db.get_column_family(name) for name in self.families}
        self.handles = {name: self.db.get_column_family_handle(name) for name in self.families}
        self.durable = rocksdict.WriteOptions()
        self.durable.sync = True

    def settle(self, options: Any) -> None:
        """Options of the whole store."""
        options.set_max_total_wal_size(64 << 20)

    def family(self, name: str) -> Any:
        """Options of a column family."""
        rocks = self.rocks
        table = rocks.BlockBasedOptions()
        table.set_block_cache(self.cache)
        table.set_format_version(5)
        table.set_cache_index_and_filter_blocks(False)
        table.set_block_size(8192)
        options = rocks.Options(raw_mode=True)
        if name in ("keys", "ids"):
            table.set_bloom_filter(10, False)
            options.set_memtable_prefix_bloom_ratio(0.1)
            options.set_memtable_whole_key_filtering(True)
        options.set_block_based_table_factory(table)
        options.set_write_buffer_size(16 << 20)
        options.set_max_write_buffer_number(4)
        options.set_compression_type(rocks.DBCompressionType.lz4())
        options.set_bottommost_compression_type(rocks.DBCompressionType.zstd())
        return options

    def lists(self, keys: Keys) -> tuple[NDArray[np.int64], Numbers, dict[int, bytes]]:
        """Neighbouring keys lie in one block, so they are asked for in order."""
        order = np.argsort(keys)
        asked = keys[order]
        values = self.parts["keys"].get(pieces(asked, ">u8"))
        hits = [at for at, value in enumerate(values) if value is not None]
        found = [values[at] for at in hits]
        lengths = [len(value) // 4 for value in found]
        numbers = np.frombuffer(b"".join(found), ">u4").astype(np.uint32)
        held = dict(zip(asked[hits].tolist(), found, strict=True))
        return np.repeat(order[hits], lengths), numbers, held

    def records(self, numbers: Numbers) -> list[bytes | None]:
        """One MultiGet."""
        values: list[bytes | None] = self.parts["records"].get(pieces(numbers, ">u4"))
        return values

    def known(self, hashes: Keys) -> list[int | None]:
        """One MultiGet."""
        order = np.argsort(hashes)
        answer: list[int | None] = [None] * len(hashes)
        for at, value in zip(order.tolist(), self.parts["ids"].get(pieces(hashes[order], ">u8")), strict=True):
            if value is not None:
                answer[at] = int.from_bytes(value, "big")
        return answer

    def add(self, first: int, keys: Keys, held: dict[int, bytes], hashes: Keys, records: list[bytes]) -> None:
        """One batch over all families, in the order of the keys: the skip list is cheaper to fill so."""
        ordered, numbers, whole = merged(first, keys, held, ">u4")
        todo = self.rocks.WriteBatch(raw_mode=True)
        handle = self.handles["keys"]
        values = pieces(numbers, ">u4")
        for key, value in zip(pieces(ordered, ">u8"), values, strict=True):
            todo.put(key, value, handle)
        for number, value in whole.items():
            todo.put(number.to_bytes(8, "big"), value, handle)
        names = pieces(np.arange(first, first + len(records)), ">u4")
        handle = self.handles["records"]
        for name, record in zip(names, records, strict=True):
            todo.put(name, record, handle)
        handle = self.handles["ids"]
        order = np.argsort(hashes)
        for hashed, at in zip(pieces(hashes[order], ">u8"), order.tolist(), strict=True):
            todo.put(hashed, names[at], handle)
        self.db.write(todo, self.durable)

    def remove(self, hashes: Keys, numbers: list[int]) -> None:
        """Tombstones, one batch."""
        todo = self.rocks.WriteBatch(raw_mode=True)
        for number in sorted(numbers):
            todo.delete(number.to_bytes(4, "big"), self.handles["records"])
        for hashed in pieces(np.sort(hashes), ">u8"):
            todo.delete(hashed, self.handles["ids"])
        self.db.write(todo, self.durable)

    def compact(self) -> None:
        """All of it to the bottom level."""
        for part in self.parts.values():
            part.flush()
            part.compact_range(None, None)

    def close(self) -> None:
        """Families and handles too: each holds the lock."""
        for part in self.parts.values():
            part.flush()
            part.close()
        self.handles.clear()
        self.db.close()


class Lmdb(Engine):
    """LMDB: integer keys, a list as fixed-size duplicates of its key."""

    package = "lmdb"
    writemap = False

    def __init__(self, folder: Path) -> None:
        """Open, or make."""
        folder.mkdir(exist_ok=True)
        self.folder = folder
        self._open()

    def _open(self) -> None:
        import lmdb

        self.env = lmdb.open(str(self.folder), map_size=64 << 30, max_dbs=3, writemap=self.writemap, readahead=False)
        lists: dict[str, Any] = {"integerkey": True, "dupsort": True, "dupfixed": True, "integerdup": True}
        self.lists_db = self.env.open_db(b"keys", **lists)
        self.records_db = self.env.open_db(b"records", integerkey=True)
        self.ids_db = self.env.open_db(b"ids", integerkey=True)

    def lists(self, keys: Keys) -> tuple[NDArray[np.int64], Numbers, dict[int, bytes]]:
        """Neighbouring keys lie in one page, so they are asked for in order."""
        with self.env.begin(buffers=False) as transaction, transaction.cursor(self.lists_db) as cursor:
            found = cursor.getmulti(pieces(np.unique(keys), "=u8"), dupdata=True, dupfixed_bytes=4, keyfixed=True)
            pairs = np.frombuffer(found, np.dtype([("key", "=u8"), ("number", "=u4")])).copy()
        return *spread(keys, pairs["key"], pairs["number"]), {}

    def records(self, numbers: Numbers) -> list[bytes | None]:
        """One by one, in one transaction."""
        with self.env.begin() as transaction:
            return [transaction.get(key, db=self.records_db) for key in pieces(numbers, "=u4")]

    def known(self, hashes: Keys) -> list[int | None]:
        """In order, in one transaction."""
        order = np.argsort(hashes)
        with self.env.begin() as transaction, transaction.cursor(self.ids_db) as cursor:
            found = dict(cursor.getmulti(pieces(hashes[order], "=u8")))
        return [int.from_bytes(found[key], sys.byteorder) if key in found else None for key in pieces(hashes, "=u8")]

    def add(self, first: int, keys: Keys, held: dict[int, bytes], hashes: Keys, records: list[bytes]) -> None:
        """Sorted, one transaction; records are appended."""
        order = np.argsort(keys.ravel(), kind="stable")
        numbers = first + order // KEYS
        names = pieces(np.arange(first, first + len(records)), "=u4")
        by_hash = np.argsort(hashes)
        with self.env.begin(write=True) as transaction:
            with transaction.cursor(self.lists_db) as cursor:
                entries = zip(pieces(keys.ravel()[order], "=u8"), pieces(numbers, "=u4"), strict=True)
                cursor.putmulti(list(entries), dupdata=True)
            with transaction.cursor(self.records_db) as cursor:
                cursor.putmulti(list(zip(names, records, strict=True)), append=True)
            with transaction.cursor(self.ids_db) as cursor:
                entries = zip(pieces(hashes[by_hash], "=u8"), [names[at] for at in by_hash], strict=True)
                cursor.putmulti(list(entries))

    def remove(self, hashes: Keys, numbers: list[int]) -> None:
        """Sorted, one transaction."""
        with self.env.begin(write=True) as transaction:
            for key in pieces(np.sort(np.array(numbers)), "=u4"):
                transaction.delete(key, db=self.records_db)
            for key in pieces(np.sort(hashes), "=u8"):
                transaction.delete(key, db=self.ids_db)

    def compact(self) -> None:
        """A copy without free pages; pages are not filled up."""
        copy = self.folder.with_name("copy")
        copy.mkdir()
        self.env.copy(str(copy), compact=True)
        self.env.close()
        shutil.rmtree(self.folder)
        copy.rename(self.folder)
        self._open()

    def close(self) -> None:
        """Close the map."""
        self.env.close()


class LmdbWritemap(Lmdb):
    """LMDB that writes through the map."""

    writemap = True


class Sqlite(Engine):
    """SQLite: a row per key and document, write-ahead log, synchronous."""

    package = None

    def __init__(self, folder: Path) -> None:
        """Open, or make."""
        folder.mkdir(exist_ok=True)
        self.db = sqlite3.connect(folder / "index.sqlite", isolation_level=None)
        for line in (
            "PRAGMA journal_mode = WAL",
            "PRAGMA synchronous = FULL",
            f"PRAGMA cache_size = {-CACHE // 1024}",
            "CREATE TABLE IF NOT EXISTS keys (key INTEGER, number INTEGER, PRIMARY KEY (key, number)) WITHOUT ROWID",
            "CREATE TABLE IF NOT EXISTS records (number INTEGER PRIMARY KEY, record BLOB)",
            "CREATE TABLE IF NOT EXISTS ids (hash INTEGER PRIMARY KEY, number INTEGER)",
        ):
            self.db.execute(line)

    def _select(self, what: str, values: NDArray[Any]) -> list[Any]:
        """Rows where a column is among values."""
        return self.db.execute(what.format(",".join("?" * len(values))), values.tolist()).fetchall()

    def lists(self, keys: Keys) -> tuple[NDArray[np.int64], Numbers, dict[int, bytes]]:
        """One statement with all keys."""
        asked = keys.view(np.int64)
        rows = self._select("SELECT key, number FROM keys WHERE key IN ({})", asked)
        pairs = np.array(rows, np.int64).reshape(-1, 2)
        return *spread(asked, pairs[:, 0], pairs[:, 1]), {}

    def records(self, numbers: Numbers) -> list[bytes | None]:
        """One statement."""
        rows = dict(self._select("SELECT number, record FROM records WHERE number IN ({})", numbers))
        return [rows.get(number) for number in numbers.tolist()]

    def known(self, hashes: Keys) -> list[int | None]:
        """One statement."""
        asked = hashes.view(np.int64)
        rows = dict(self._select("SELECT hash, number FROM ids WHERE hash IN ({})", asked))
        return [rows.get(hashed) for hashed in asked.tolist()]

    def add(self, first: int, keys: Keys, held: dict[int, bytes], hashes: Keys, records: list[bytes]) -> None:
        """Sorted, one transaction."""
        flat = keys.ravel().view(np.int64)
        order = np.argsort(flat)
        by_hash = np.argsort(hashes.view(np.int64))
        rows = zip(flat[order].tolist(), (first + order // KEYS).tolist(), strict=True)
        names = zip(hashes.view(np.int64)[by_hash].tolist(), (first + by_hash).tolist(), strict=True)
        self.db.execute("BEGIN")
        self.db.executemany("INSERT INTO keys VALUES (?, ?)", rows)
        self.db.executemany("INSERT INTO records VALUES (?, ?)", enumerate(records, first))
        self.db.executemany("INSERT INTO ids VALUES (?, ?)", names)
        self.db.execute("COMMIT")

    def remove(self, hashes: Keys, numbers: list[int]) -> None:
        """One transaction."""
        self.db.execute("BEGIN")
        self.db.executemany("DELETE FROM records WHERE number = ?", ((number,) for number in numbers))
        self.db.executemany("DELETE FROM ids WHERE hash = ?", ((h,) for h in hashes.view(np.int64).tolist()))
        self.db.execute("COMMIT")

    def compact(self) -> None:
        """Write the file anew."""
        self.db.execute("VACUUM")
        self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Close, which empties the log."""
        self.db.close()


ENGINES: dict[str, type[Engine]] = {"rocksdb": Rocks, "lmdb": Lmdb, "lmdb-writemap": LmdbWritemap, "sqlite": Sqlite}


def files(folder: Path) -> dict[str, tuple[int, int]]:
    """Length and bytes on disk of the files there are; a compaction in the background may take some away meanwhile."""
    found = {}
    for name in os.listdir(folder):
        try:
            stat = (folder / name).stat()
        except FileNotFoundError:
            continue
        found[name] = (stat.st_size, stat.st_blocks * 512)
    return found


def size(folder: Path) -> int:
    """Bytes that a folder has on disk."""
    return sum(used for _, used in files(folder).values())


def snapshot(folder: Path, copy: Path) -> None:
    """A copy of a store in use, as a crash would leave it: made again until no file changed meanwhile."""
    for _ in range(100):
        before = files(folder)
        shutil.rmtree(copy, ignore_errors=True)
        done = subprocess.run(["cp", "-a", "--sparse=always", folder, copy], stderr=subprocess.DEVNULL, check=False)
        if done.returncode == 0 and files(folder) == before:
            return
    raise RuntimeError(f"{folder} changed during each of 100 copies; let it rest before it is copied")


def peak() -> int:
    """The process's largest resident memory so far, in bytes."""
    found = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
    assert found
    return int(found[1]) * 1024


def checks(engine: Engine, stored: int, seed: int) -> tuple[float, float, int]:
    """Documents a second of `check`, its CPU a document, wrong answers; documents that are not stored and copies."""
    seconds, cpu, wrong = 0.0, 0.0, 0
    for n in range(CHECKED):
        documents = batch((1 << 31) + n * NEW, stored, seed)
        begin, busy = time.perf_counter(), time.process_time()
        found, _ = engine.check(documents)
        seconds += time.perf_counter() - begin
        cpu += time.process_time() - busy
        wrong += int(np.count_nonzero(found != (documents.original >= 0)))
    return CHECKED * BATCH / seconds, cpu / (CHECKED * BATCH) * 1e6, wrong


def measure(name: str, documents: int, folder: Path, minutes: float) -> dict[str, Any]:
    """Fill, open again, check, compact, check, remove; the figures by name."""
    kind = ENGINES[name]
    before = peak()
    engine = kind(folder)
    spent: list[float] = []
    wrong = offered = stored = 0
    started, cpu, making = time.perf_counter(), time.process_time(), 0.0
    while stored < documents and time.perf_counter() - started < minutes * 60:
        begin = time.thread_time()
        made = batch(stored, stored, seed=1)
        making += time.thread_time() - begin
        begin = time.perf_counter()
        found = engine.check_and_add(made, stored)
        spent.append(time.perf_counter() - begin)
        wrong += int(np.count_nonzero(found != (made.original >= 0)))
        offered += len(made.keys)
        stored += len(made.keys) - int(np.count_nonzero(found))
    tail = max(1, len(spent) // 10)
    cpu = time.process_time() - cpu - making
    crashed = folder.with_name("crashed")
    snapshot(folder, crashed)
    engine.close()
    begin = time.perf_counter()
    kind(crashed).close()
    recovered = time.perf_counter() - begin
    shutil.rmtree(crashed)
    begin = time.perf_counter()
    engine = kind(folder)
    opened = time.perf_counter() - begin
    loose, loose_cpu, missed = checks(engine, stored, seed=2)
    wrong += missed
    filled = size(folder)
    begin = time.perf_counter()
    engine.compact()
    compaction = time.perf_counter() - begin
    compacted = size(folder)
    tight, tight_cpu, missed = checks(engine, stored, seed=3)
    wrong += missed
    gone = np.random.default_rng(4).choice(stored, min(REMOVED * BATCH, stored // 2), replace=False)
    begin, busy = time.perf_counter(), time.process_time()
    dropped = sum(engine.drop(hashes_of(gone[at : at + BATCH])) for at in range(0, len(gone), BATCH))
    removal = len(gone) / (time.perf_counter() - begin)
    removal_cpu = (time.process_time() - busy) / len(gone) * 1e6
    wrong += len(gone) - dropped
    left, _ = engine.check(Documents(keys_of(gone[:BATCH]), hashes_of(gone[:BATCH]), [], gone[:BATCH]))
    wrong += int(np.count_nonzero(left))
    engine.close()
    return {
        "engine": name,
        "documents asked": documents,
        "documents": stored,
        "complete": stored >= documents,
        "check_and_add/s, last tenth": tail * BATCH / sum(spent[-tail:]),
        "check_and_add/s": offered / sum(spent),
        "slowest batch, s": max(spent),
        "cpu of check_and_add, µs": cpu / offered * 1e6,
        "cpu of check, µs": loose_cpu,
        "cpu of check, compacted, µs": tight_cpu,
        "cpu of removal, µs": removal_cpu,
        "open, s": opened,
        "open and close after a crash, s": recovered,
        "check/s": loose,
        "check/s, compacted": tight,
        "removal/s": removal,
        "bytes/document": filled / stored,
        "bytes/document, compacted": compacted / stored,
        "compaction, s": compaction,
        "peak memory, MB": peak() / 1e6,
        "peak memory before opening, MB": before / 1e6,
        "wrong": wrong,
    }


def measure_apart(name: str, documents: int, *, folder: Path, minutes: float) -> dict[str, Any]:
    """`measure` in a fresh process and a fresh folder, whose peak memory is this case's alone."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        call = f"measure({name!r}, {documents}, Path({place!r}) / 'index', {minutes})"
        code = f"import json; from pathlib import Path; from {__spec__.name} import measure; print(json.dumps({call}))"
        done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True)
    answer: dict[str, Any] = json.loads(done.stdout)
    return {**answer, "load average after": os.getloadavg()}


COLUMNS = {
    "documents": "{:,}",
    "check_and_add/s, last tenth": "{:,.0f}",
    "check_and_add/s": "{:,.0f}",
    "check/s": "{:,.0f}",
    "check/s, compacted": "{:,.0f}",
    "removal/s": "{:,.0f}",
    "bytes/document": "{:.0f}",
    "bytes/document, compacted": "{:.0f}",
    "peak memory, MB": "{:,.0f}",
    "cpu of check_and_add, µs": "{:.0f}",
    "cpu of check, µs": "{:.0f}",
    "cpu of removal, µs": "{:.0f}",
    "open, s": "{:.2f}",
    "open and close after a crash, s": "{:.1f}",
    "wrong": "{}",
}


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as Markdown."""
    lines = ["| engine | " + " | ".join(COLUMNS) + " |", "|---" * (len(COLUMNS) + 1) + "|"]
    for row in rows:
        cells = [row["engine"], *(form.format(row[name]) for name, form in COLUMNS.items())]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main(argv: list[str] | None = None) -> int:
    """Measure one after the other, print, write down; 1 if an answer was wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.index.engines", description=__doc__)
    parser.add_argument("--documents", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--minutes", type=float, default=25, help="stop filling after this time")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()), help="where the stores are made")
    parser.add_argument("--json", type=Path, default=RESULTS, help="results; rows of other engines and sizes stay")
    options = parser.parse_args(argv)
    rows = json.loads(options.json.read_text())["rows"] if options.json.exists() else []
    for documents in options.documents:
        for name in options.engines:
            row = measure_apart(name, documents, folder=options.folder, minutes=options.minutes)
            print(table([row]), flush=True)
            here = machine.describe()
            here["versions"] |= {
                "rocksdict": version("rocksdict"),
                "lmdb": version("lmdb"),
                "sqlite": sqlite3.sqlite_version,
            }
            rows = [old for old in rows if (old["engine"], old["documents asked"]) != (name, documents)]
            rows.append({**row, **here})
            options.json.parent.mkdir(parents=True, exist_ok=True)
            options.json.write_text(json.dumps({"rows": rows}, indent=2) + "\n")
    print(table(rows))
    return 1 if any(row["wrong"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
