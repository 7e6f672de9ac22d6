"""Verify, backup, restore and compaction: beside others who read and write, and with damage."""

import json
import os
import random
import shutil
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from neardup.cli import main
from neardup.errors import NeardupError, OutputError, StoreError, Unreachable, UsageError
from neardup.index import Document, Index, mark, rocks_folder
from neardup.index.backups import back_up
from tests.index.test_faults import SMALL, flip, some, text_of, whole


@pytest.fixture(autouse=True)
def _small_buffers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables are written and merged all the time."""
    monkeypatch.setattr(rocks_folder, "_BUFFER", SMALL)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index with texts of 400 documents, some of them replaced and removed, in several tables and a log."""
    path = tmp_path_factory.mktemp("source") / "seen.ndx"
    before, rocks_folder._BUFFER = rocks_folder._BUFFER, SMALL
    with Index.open(path, "stream", keep="text") as index:
        for start in range(0, 500, 50):
            index.add_many(some(start, start + 50))
        index.update_many(some(0, 20))
        index.remove_many([f"d{i}" for i in range(400, 500)])
    rocks_folder._BUFFER = before
    return path


@pytest.fixture
def copy(source: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(source, tmp_path / "copy.ndx"))


@contextmanager
def busy(index: Index, first: int = 10_000) -> Iterator[Callable[[], int]]:
    """Write and read in threads meanwhile; gives out how many documents were acknowledged, without those before."""
    stop, problems, done = threading.Event(), [], [0]

    def write() -> None:
        try:
            while not stop.is_set():
                at = first + done[0]
                index.add_many(some(at, at + 5))
                done[0] += 5
                if done[0] % 50 == 0:
                    index.update_many(some(first + done[0] - 10, first + done[0]))
                    index.add("passing", text_of(1))
                    index.remove("passing")
        except BaseException as problem:
            problems.append(problem)

    def read() -> None:
        try:
            while not stop.is_set():
                now = done[0]
                assert whole(index, some(first, first + now)[-10:])
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=work) for work in (write, read)]
    for thread in threads:
        thread.start()
    try:
        yield lambda: done[0]
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not problems, problems


def run(capfd: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    capfd.readouterr()
    with pytest.raises(SystemExit) as ended:
        main([*map(str, arguments)])
    told = capfd.readouterr()
    return int(ended.value.code or 0), told.out, told.err


# Verify.


def test_a_sound_index_is_sound_on_both_engines(engine, tmp_path):
    place = engine.place
    with Index.open(place, "stream", keep="text") as index:
        assert index.verify().sound
        index.add_many([*some(0, 60), Document("empty", ""), Document("undecodable", b"\xff\xfe")])
        index.update_many(some(0, 5))
        index.remove_many(["d7", "d8"])
        found = index.verify()
        assert found.problems == []
        assert (found.documents, found.texts) == (60, 60)
        index.compact()
        assert index.verify().problems == []


@pytest.mark.parametrize("recipe", ["default", "alg-b", "combined", "bloom", "mod-n", "one-pass", "lists"])
def test_a_sound_index_of_any_recipe_is_sound(recipe, tmp_path):
    with Index.open(tmp_path / "seen.ndx", recipe) as index:
        index.add_many(some(0, 30))
        assert index.verify().problems == []


def test_it_is_sound_while_somebody_writes(engine):
    with Index.open(engine.place, "stream", keep="text") as index, busy(index):
        for _ in range(3):
            assert index.verify().problems == []


POSTGRES = {
    "a list without a document": ("delete from {0}.postings where number = 3", "cannot be found by their words"),
    "fewer keys": (
        "delete from {0}.postings where ctid = (select max(ctid) from {0}.postings where number = 3)",
        r"cannot be found by their words|under fewer than",
    ),
    "a record that is cut": ("update {0}.documents set record = substr(record, 1, 9) where number = 3", "be decoded"),
    "another id": ("update {0}.documents set id = gen_random_uuid() where number = 3", "does not lead there"),
    "no text": ("update {0}.documents set text = null where number = 3", "text is missing"),
    "a wrong count": ("update {0}.counts set documents = documents + 1 where stripe = 0", "are counted"),
}


@pytest.mark.parametrize("damage", POSTGRES)
def test_damage_in_a_database_is_found(damage, server, address):
    statement, problem = POSTGRES[damage]
    with Index.open(address, "stream", keep="text") as index:
        index.add_many(some(0, 20))
        server.execute(statement.format(address.partition("index=")[2]))
        with pytest.raises(AssertionError, match=problem):
            assert not index.verify().problems


def _rocks(path: Path, act: Callable[[Any], None]) -> None:
    """Change entries behind the back of the index, with right checksums."""
    folder = rocks_folder.Folder(path, read_only=False)
    act(folder)
    folder.close()


def _number(i: int) -> bytes:
    return i.to_bytes(4, "big")


ROCKS: dict[str, tuple[Callable[[Any], None], str]] = {
    "no record": (lambda f: f.family["documents"].delete(_number(50)), "are missing|counted, and 399 are there"),
    "no text": (lambda f: f.family["texts"].delete(_number(50)), "text is missing"),
    "a record that is cut": (lambda f: f.family["documents"].put(_number(50), b"short"), "be decoded"),
    "no id": (lambda f: f.family["ids"].delete(next(iter(f.family["ids"].keys()))), "does not lead there"),
    "an id of nothing": (lambda f: f.family["ids"].put(b"x" * 12, b"\x00\xff\x00\x00"), "lead to no document"),
    "lists out of order": (
        lambda f: f.family["keys"].put(b"k" * 8, np.array([9, 3], "<u4").tobytes()), "out of order"
    ),
    "no keys": (
        lambda f: [f.family["keys"].delete(k) for k in list(f.family["keys"].keys())[:400]],
        "be found by their words|under fewer",
    ),
    "wrong counts": (lambda f: f._db.put(b"counts", struct.pack("<QQQ", 520, 399, 0)), "are counted"),
}  # fmt: skip


@pytest.mark.parametrize("damage", ROCKS)
def test_entries_that_do_not_agree_are_found(damage, copy, capfd):
    act, problem = ROCKS[damage]
    _rocks(copy, act)
    code, out, err = run(capfd, "index", "verify", copy, "--json")
    told = json.loads(out)
    assert code == 1
    assert not told["sound"]
    with pytest.raises(AssertionError, match=problem):
        raise AssertionError(told["problems"])
    assert "the index is damaged. Restore a backup" in err


def test_every_flipped_bit_of_a_table_or_log_is_found_or_does_no_harm(source, tmp_path):
    """Also where the block is in the cache of the process that has the index open."""
    rng, found = random.Random(7), 0
    names = sorted(f.name for f in source.iterdir() if f.suffix in (".sst", ".log") and f.stat().st_size)
    for name in names[:4] + names[-8:]:
        copy = Path(shutil.copytree(source, tmp_path / name))
        with Index.open(copy) as index:
            assert whole(index, some(0, 400))
            flip(copy / name, rng)
            found += not index.verify().sound
        shutil.rmtree(copy)
    assert found >= 6


def test_the_command_says_what_is_damaged_and_what_is_sound(copy, tmp_path, capfd):
    code, _, err = run(capfd, "index", "verify", copy)
    assert code == 0
    assert "400 documents" in err
    assert "nothing is damaged" in err
    code, out, _ = run(capfd, "index", "verify", copy, "--json")
    assert (code, json.loads(out)["sound"], json.loads(out)["documents"]) == (0, True, 400)
    code, _, err = run(capfd, "index", "verify", tmp_path / "nothing")
    assert code == 1
    assert "there is no index" in err
    (copy / "CURRENT").unlink()
    code, out, err = run(capfd, "index", "verify", copy)
    assert code == 1
    assert "damaged" in out + err


# The mark.


@pytest.mark.parametrize("byte", range(32))
def test_a_flipped_byte_of_the_mark_condemns_nothing(byte, tmp_path):
    (tmp_path / mark.NAME).touch()
    made = mark.Mark(tmp_path)
    made.begin(41)
    made.write(42)
    made.close()
    content = bytearray((tmp_path / mark.NAME).read_bytes())
    assert mark.read_mark(tmp_path) == 42
    content[byte] ^= 0x80
    (tmp_path / mark.NAME).write_bytes(content)
    assert mark.read_mark(tmp_path) in (41, 42)


def test_an_unreadable_mark_is_reported_and_the_index_opens(copy, capfd):
    for content in (b"", b"\xff" * 32, b"\xff" * 5):
        (copy / mark.NAME).write_bytes(content)
        code, out, _ = run(capfd, "index", "verify", copy)
        assert code == 1
        assert "acknowledged: cannot be read" in out
        with Index.open(copy) as index:
            assert whole(index, some(0, 400))
        assert run(capfd, "index", "verify", copy)[0] == 0, "the mark is written again"


def test_a_mark_of_an_earlier_neardup_is_read(copy):
    reached = mark.read_mark(copy)
    assert reached
    (copy / mark.NAME).write_bytes(struct.pack("<Q", reached))
    with Index.open(copy) as index:
        assert whole(index, some(0, 400))
    assert (copy / mark.NAME).stat().st_size == 32
    (copy / mark.NAME).write_bytes(struct.pack("<Q", reached + 1000))
    with pytest.raises(StoreError, match="acknowledged changes are missing"):
        Index.open(copy)


# Backup and restore.


def test_a_backup_is_restored_as_it_was(source, tmp_path, capfd):
    code, _, err = run(capfd, "index", "backup", source, tmp_path / "saved")
    assert code == 0
    assert "400 documents" in err
    assert not list(tmp_path.glob(".*"))
    with pytest.raises(StoreError, match="is a backup of an index"):
        Index.open(tmp_path / "saved")
    code, _, err = run(capfd, "index", "restore", tmp_path / "saved", tmp_path / "again.ndx")
    assert code == 0
    with Index.open(source, read_only=True) as index, Index.open(tmp_path / "again.ndx") as again:
        assert [*index.store.rows(texts=True)] == [*again.store.rows(texts=True)]
        assert whole(again, some(0, 400))
        again.add_many(some(600, 700))  # tables are shared with the backup, and stay as they are
        again.compact()
    Index.restore(tmp_path / "saved", tmp_path / "third.ndx")


def test_nothing_is_overwritten(source, tmp_path):
    with Index.open(source, read_only=True) as index:
        (tmp_path / "there").mkdir()
        (tmp_path / "there" / "file").touch()
        for target in (tmp_path / "there", source):
            with pytest.raises(OutputError, match="overwrites nothing"):
                index.backup(target)
        with pytest.raises(OutputError, match="there is no folder"):
            index.backup(tmp_path / "no" / "where")
        index.backup(tmp_path / "saved")
    for target in (tmp_path / "there", source, tmp_path / "saved"):
        with pytest.raises(OutputError, match="overwrites nothing"):
            Index.restore(tmp_path / "saved", target)


def test_a_restored_backup_has_all_that_was_acknowledged_before_it_began(tmp_path):
    """While others write, read, replace and compact. What came meanwhile: a prefix."""
    with Index.open(tmp_path / "seen.ndx", "stream", keep="text") as index, busy(index) as acknowledged:
        for number in range(4):
            before = acknowledged()
            if number == 2:
                index.compact()
            index.backup(tmp_path / f"{number}")
            after = acknowledged() + 6
            Index.restore(tmp_path / f"{number}", tmp_path / f"{number}.ndx")
            with Index.open(tmp_path / f"{number}.ndx", read_only=True) as again:
                assert before <= len(again) <= after
                assert whole(again, some(10_000, 10_000 + min(len(again), before)))
        assert acknowledged() > 0


def test_another_process_makes_a_backup_while_a_service_writes(tmp_path):
    """The copy needs nothing of the process that writes."""
    with Index.open(tmp_path / "seen.ndx", "stream", keep="text") as index, busy(index) as acknowledged:
        before = acknowledged()
        done = back_up(tmp_path / "seen.ndx", tmp_path / "saved")
        assert done.documents >= before


@pytest.mark.parametrize("damage", ["flip", "cut", "missing", "no manifest", "half a manifest", "another name"])
def test_a_backup_that_is_not_whole_is_refused(damage, source, tmp_path):
    saved = tmp_path / "saved"
    back_up(source, saved)
    tables = sorted(saved.glob("*.sst"))
    for table in tables:  # of its own: not shared with the index
        content = table.read_bytes()
        table.unlink()
        table.write_bytes(content)
    rng = random.Random(damage)
    if damage == "flip":
        flip(rng.choice(tables), rng)
    elif damage == "cut":
        os.truncate(tables[0], 10)
    elif damage == "missing":
        tables[0].unlink()
    elif damage == "no manifest":
        (saved / "backup.json").unlink()
    elif damage == "half a manifest":
        (saved / "backup.json").write_text((saved / "backup.json").read_text()[:100])
    else:
        told = json.loads((saved / "backup.json").read_text())
        told["files"]["../outside.sst"] = told["files"].pop(tables[0].name)
        (saved / "backup.json").write_text(json.dumps(told))
    with pytest.raises(StoreError, match=r"is damaged|is no backup"):
        Index.restore(saved, tmp_path / "again.ndx")
    assert sorted(f.name for f in tmp_path.iterdir()) == ["saved"]


@pytest.fixture
def saved(source: Path, tmp_path: Path) -> Path:
    """A backup with files of its own, which a test may change."""
    back_up(source, tmp_path / "made")
    shutil.copytree(tmp_path / "made", tmp_path / "saved")
    shutil.rmtree(tmp_path / "made")
    return tmp_path / "saved"


@pytest.mark.parametrize("kind", ["link to a device", "link to a file", "link to nothing", "pipe", "folder", "longer"])
def test_only_regular_files_of_the_stated_size_are_restored(kind, saved, tmp_path, monkeypatch):
    """Nothing is copied of others: a link to /dev/zero filled the disk."""
    place = sorted(saved.glob("*.sst"))[0]
    content = place.read_bytes()
    if kind == "longer":
        os.truncate(place, 1 << 40)  # it takes no room on the disk, and its copy would
    else:
        place.unlink()
    if kind == "link to a device":
        place.symlink_to("/dev/zero")
    elif kind == "link to a file":
        (tmp_path / "elsewhere").write_bytes(content)
        place.symlink_to(tmp_path / "elsewhere")
    elif kind == "link to nothing":
        place.symlink_to("/dev/zero/nothing")
    elif kind == "pipe":
        os.mkfifo(place)
    elif kind == "folder":
        place.mkdir()
    with pytest.raises(StoreError, match=rf"is damaged: {place.name} (is no file|has 1,099,511,627,776 bytes)"):
        Index.restore(saved, tmp_path / "again.ndx")
    assert sorted(f.name for f in tmp_path.iterdir()) == [*["elsewhere"][: kind == "link to a file"], "saved"]


ODD_BACKUPS: list[Callable[[dict[str, Any]], Any]] = [
    lambda told: told.update(files=list(told["files"])),
    lambda told: told.update(documents="x"),
    lambda told: told.update(documents=-1),
    lambda told: told.update(settings=5),
    lambda told: told.update(settings={}),
    lambda told: told["settings"].update(recipe=[]),
    lambda told: told["settings"].update(made=5),
    lambda told: told.pop("files"),
    lambda told: told["files"].update({"x.log": None}),
    lambda told: told["files"].update({"x.log": {"bytes": "many", "blake2b": ""}}),
    lambda told: told["files"].update({"x.log": {"bytes": -1, "blake2b": ""}}),
    lambda told: told["files"].update({"x.log": {"bytes": 1}}),
    lambda told: told["files"].update({"../x.log": {"bytes": 1, "blake2b": ""}}),
]


@pytest.mark.parametrize("change", ODD_BACKUPS)
def test_an_odd_backup_json_is_an_error_in_words(change, saved, tmp_path):
    told = json.loads((saved / "backup.json").read_text())
    change(told)
    (saved / "backup.json").write_text(json.dumps(told))
    with pytest.raises(StoreError, match=r"the backup is damaged: backup\.json cannot be read"):
        Index.restore(saved, tmp_path / "again.ndx")
    assert sorted(f.name for f in tmp_path.iterdir()) == ["saved"]


@pytest.mark.parametrize("content", ["[" * 200_000, "[]", "5", '{"format": []}', '{"format": 99, "files": 5}'])
def test_a_backup_json_that_is_none_is_an_error_in_words(content, saved, tmp_path):
    (saved / "backup.json").write_text(content)
    with pytest.raises(StoreError, match=r"is damaged|the neardup that made it"):
        Index.restore(saved, tmp_path / "again.ndx")


def test_no_backup_is_made_of_a_damaged_index(copy, tmp_path):
    table = max(copy.glob("*.sst"), key=lambda f: f.stat().st_size)
    content = bytearray(table.read_bytes())
    content[len(content) // 2] ^= 1
    table.write_bytes(content)
    with pytest.raises(StoreError, match="damaged"):
        back_up(copy, tmp_path / "saved")
    assert not (tmp_path / "saved").exists()


def test_a_database_has_its_own_tools(address, tmp_path):
    with Index.open(address) as index, pytest.raises(UsageError, match="pg_dump"):
        index.backup(tmp_path / "saved")
    with pytest.raises(UsageError, match="restored to a folder"):
        Index.restore(tmp_path / "saved", address)


# Compaction beside others.


def test_compaction_does_not_stop_writers(engine):
    """No pause is longer than a fraction of the compaction, and nothing that comes meanwhile is lost."""
    with Index.open(engine.place, "stream", keep="text") as index:
        for start in range(0, 1500, 500):
            index.add_many(some(start, start + 500))
        index.remove_many([f"d{i}" for i in range(0, 1500, 2)])
        with busy(index) as acknowledged:
            waits = []
            compacting = threading.Thread(target=lambda: [index.compact() for _ in range(3)])
            compacting.start()
            while compacting.is_alive():
                start, before = time.monotonic(), acknowledged()
                while acknowledged() == before and compacting.is_alive():
                    time.sleep(0.001)
                waits.append(time.monotonic() - start)
            compacting.join()
        assert max(waits) < 5
        assert whole(index, [d for d in some(0, 1500) if int(d.id[1:]) % 2])
        assert whole(index, some(10_000, 10_000 + acknowledged()))
        assert index.verify().problems == []
        alive = {row.number for row in index.store.rows()}
        index.compact()
        assert {n for _, numbers in index.store.postings() for n in numbers.tolist()} == alive


def test_a_crowd_is_compacted_while_it_grows(tmp_path):
    """Lists of many entries are cut anew while documents come to them."""
    with Index.open(tmp_path / "seen.ndx", "stream") as index:
        store = index.store
        crowd = [Document(f"c{i}", f"{text_of(1)} {i}") for i in range(6000)]
        index.add_many(crowd[:4500])
        index.remove_many([d.id for d in crowd[:3000:2]])
        growing = threading.Thread(target=lambda: [index.add_many(crowd[i : i + 50]) for i in range(4500, 6000, 50)])
        growing.start()
        for _ in range(4):
            index.compact()
        growing.join()
        index.compact()
        assert index.verify().problems == []
        alive = {row.number for row in store.rows()}
        assert len(alive) == 4500
        assert {n for _, numbers in store.postings() for n in numbers.tolist()} == alive


def test_what_is_damaged_or_full_is_known_to_health(copy):
    with Index.open(copy) as index:
        assert index.health().problems == {}
        assert index.health().free
    for table in copy.glob("*.sst"):
        content = bytearray(table.read_bytes())
        content[: len(content) // 2] = bytes(len(content) // 2)
        table.write_bytes(content)
    try:
        with Index.open(copy) as index:
            with pytest.raises(NeardupError):
                whole(index, some(0, 400))
            assert "verify" in index.health().problems["damaged"]
            assert index.health().errors["read"] == 1
    except StoreError:
        pass


def test_a_store_that_is_lost_while_it_is_verified_is_not_called_damaged(copy, monkeypatch):
    def gone(self: Any, **given: Any) -> Iterator[Any]:
        raise Unreachable("the server does not answer")

    with Index.open(copy) as index:
        monkeypatch.setattr("neardup.index.rocks.RocksStore.rows", gone)
        with pytest.raises(Unreachable, match="does not answer"):
            index.verify()


@pytest.mark.parametrize("command", ["compact {}", "expire {} --keep-days 3"])
def test_what_another_process_has_open_is_cared_for_through_its_service(command, copy, capfd):
    with Index.open(copy):
        code, _, said = run(capfd, "index", *command.format(copy).split())
        assert code == 1
        assert "is writing to this index" in said
        assert f"neardup index {command.format('http://HOST:PORT')}" in said
