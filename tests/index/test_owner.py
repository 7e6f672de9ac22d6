"""An index belongs to the process that opened it, and to the folder that it opened: forks and moved folders."""

import multiprocessing
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from neardup.errors import NeardupError, StoreError, Unreachable
from neardup.index import Document, Index
from tests.index.test_faults import some, whole

FORKED = """
import os, sys
from neardup.errors import StoreError
from neardup.index import Index
from tests.index.test_faults import some, whole

index = Index.open(sys.argv[1], "stream", keep="text")
index.add_many(some(0, 50))
refused = 0
CALLS = [
    lambda: index.add_many(some(100, 110)), lambda: index.check("some words"), lambda: len(index),
    lambda: index.get("d1"),
    lambda: index.remove("d1"), lambda: index.compact(), lambda: index.info(), lambda: list(index.store.rows()),
    lambda: index.refresh(), lambda: index.check_and_add("x", "words"), lambda: "d1" in index, lambda: index.health(),
    lambda: index.verify().problems[0] and index.info(), lambda: list(index.check_and_add_batches([some(100, 110)])),
]
child = os.fork()
if child == 0:
    for call in CALLS:
        try:
            call()
        except StoreError as error:
            assert f"opened by process {os.getppid()}" in str(error), error
            refused += 1
    index.close()
    print(refused, flush=True)
    if sys.argv[2] == "exit":
        sys.exit(0)  # destructors and all
    os._exit(0)
_, status = os.waitpid(child, 0)
print(status)
index.add_many(some(50, 80))
assert whole(index, some(0, 80)) and len(index) == 80
index.close()
with Index.open(sys.argv[1]) as index:
    assert whole(index, some(0, 80)) and len(index) == 80
print("whole")
"""


@pytest.mark.parametrize("ending", ["exit", "_exit"])
def test_a_fork_is_refused_and_its_parent_goes_on(ending, engine):
    done = subprocess.run(
        [sys.executable, "-c", FORKED, str(engine.place), ending],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["14", "0", "whole"], done


def _in_child(index: Index, queue: Any) -> None:
    try:
        index.add("child", "words of the child")
        queue.put("acknowledged")
    except StoreError as error:
        queue.put(str(error))


def test_a_worker_of_multiprocessing_is_refused(engine):
    with Index.open(engine.place, "stream") as index:
        index.add("a", "words of the parent")
        context = multiprocessing.get_context("fork")
        queue = context.Queue()
        worker = context.Process(target=_in_child, args=(index, queue))
        worker.start()
        assert "this is a fork of it" in queue.get(timeout=60)
        worker.join(60)
        assert worker.exitcode == 0
        index.add("b", "more words of the parent")
        assert len(index) == 2


def test_a_reader_keeps_its_folder_when_a_fork_ends(tmp_path):
    Index.open(tmp_path / "seen.ndx").close()
    with Index.open(tmp_path / "seen.ndx", read_only=True) as index:
        own = index.store._folder._own.name
        subprocess.run(["true"], check=True)
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
        assert os.path.isdir(own)
        index.refresh()


# The folder.


def _away(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))


def _removed(path: Path) -> None:
    shutil.rmtree(path)


def _replaced(path: Path) -> None:
    with Index.open(path.with_name("other")) as other:
        other.add("other", "another index in its place")
    path.rename(path.with_name("elsewhere"))
    path.with_name("other").rename(path)


@pytest.mark.parametrize("change", [_away, _removed, _replaced])
def test_nothing_is_acknowledged_in_a_folder_that_is_gone(change, tmp_path):
    path = tmp_path / "seen.ndx"
    with Index.open(path, "stream", keep="text") as index:
        index.add_many(some(0, 20))
        change(path)
        for call in (
            lambda: index.add_many(some(20, 30)),
            lambda: index.check_and_add("d20", "some words"),
            lambda: index.remove("d1"),
            lambda: index.compact(),
            lambda: index.backup(tmp_path / "saved"),
        ):
            with pytest.raises(StoreError, match="was moved, removed or replaced"):
                call()
        assert "moved" in index.health().problems
        assert index.health().errors["moved"] >= 3
        with pytest.raises(Unreachable, match="was moved, removed or replaced"):  # which is no damage
            index.verify()
        with pytest.raises(Unreachable):
            index.info()
        assert len(index) == 20
    if change is _replaced:
        with Index.open(path) as other:
            assert len(other) == 1
            assert other.verify().sound
    if change is not _removed:
        with Index.open(path.with_name("elsewhere")) as index:
            assert whole(index, some(0, 20))
            assert len(index) == 20


def test_a_folder_that_is_gone_while_a_change_is_written_acknowledges_nothing(tmp_path):
    """It goes between the beginning of the section and the commit."""
    path = tmp_path / "seen.ndx"
    with Index.open(path, "stream") as index:

        def deliver(verdicts: list[Any]) -> None:
            _away(path)

        with pytest.raises(NeardupError, match="was moved"):
            index.check_and_add_many([Document("a", "some words")], deliver)


def test_a_folder_that_comes_back_is_used_again(tmp_path):
    path = tmp_path / "seen.ndx"
    with Index.open(path, "stream", keep="text") as index, Index.open(path, read_only=True) as reader:
        _away(path)
        with pytest.raises(StoreError):
            index.add_many(some(0, 5))
        with pytest.raises(StoreError, match="was moved"):
            reader.refresh()
        path.with_name("elsewhere").rename(path)
        index.add_many(some(0, 5))
        assert index.health().problems == {}
        reader.refresh()
        assert len(reader) == 5


def test_a_database_whose_index_was_dropped_or_replaced_stores_nothing(server, address):
    name = address.partition("index=")[2]
    with Index.open(address, "stream") as index:
        index.add("a", "some words")
        server.execute(f"drop schema {name} cascade")
        with pytest.raises(StoreError):
            index.add("b", "other words")
        assert index.health().problems
        with Index.open(address, "stream") as other:
            with pytest.raises(StoreError, match="dropped, or replaced"):
                index.add("b", "other words")
            assert "moved" in index.health().problems
            assert len(other) == 0
