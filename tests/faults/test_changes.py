"""Things that change under a run's feet: inputs, outputs, other runs."""

import gc
import json
import os
import resource
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup
from neardup.engines.local import LocalEngine
from tests.corpus import documents
from tests.surface.conftest import run

LONG = "the quick brown fox jumps over the lazy dog and runs far away from here "


def write_rows(path: Path, rows: list[dict]) -> Path:
    path.write_text("".join(json.dumps(r) + "\n" for r in rows))
    return path


def test_a_change_in_a_folder_of_two_formats_is_noticed(tmp_path):
    mixed = tmp_path / "mixed"
    mixed.mkdir()
    (mixed / "a.txt").write_text(LONG)
    (mixed / "b.txt").write_text(LONG)
    (mixed / "c.html").write_text(f"<p>{LONG} and more</p>")
    assert run("dedup", mixed, "-o", tmp_path / "out", "--dry-run", "-q").returncode == 0
    (mixed / "b.txt").write_text(LONG.upper())
    changed = run("dedup", mixed, "-o", tmp_path / "out", "-q")
    assert changed.returncode == 1
    assert "has changed since" in changed.stderr


def test_two_members_that_change_places_are_noticed(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for name, text in (("a", LONG), ("b", LONG), ("c", LONG[::-1])):
        (folder / f"{name}.txt").write_text(text)
        time.sleep(0.01)
    assert run("dedup", folder, "-o", tmp_path / "out", "--dry-run", "-q").returncode == 0
    os.rename(folder / "b.txt", folder / "x.txt")
    os.rename(folder / "c.txt", folder / "b.txt")
    os.rename(folder / "x.txt", folder / "c.txt")
    assert run("dedup", folder, "-o", tmp_path / "out", "-q").returncode == 1


@pytest.mark.parametrize("fate", ["cut", "longer", "gone", "touched"])
def test_an_input_that_changes_while_it_is_read_stops_the_run(tmp_path, monkeypatch, fate):
    path = write_rows(tmp_path / "in.jsonl", documents(60))
    shelve = LocalEngine.shelve

    def meanwhile(self, *arguments):
        lines = path.read_text().splitlines(keepends=True)
        if fate == "cut":
            path.write_text("".join(lines[:5]))
        elif fate == "longer":
            path.write_text("".join(lines).replace('"text": "', '"text": "many more words than there were before '))
        elif fate == "gone":
            path.unlink()
        else:
            os.utime(path, ns=(1, 1))
        return shelve(self, *arguments)

    monkeypatch.setattr(LocalEngine, "shelve", meanwhile)
    with pytest.raises(neardup.InputError):
        neardup.dedup(path, threshold=0.7)


def test_a_corpus_that_was_deleted_is_written_again(tmp_path):
    path = write_rows(tmp_path / "in.jsonl", documents(30))
    assert run("dedup", path, "-o", tmp_path / "out", "-q").returncode == 0
    kept = (tmp_path / "out/kept/in.jsonl").read_bytes()
    (tmp_path / "out/kept/in.jsonl").unlink()
    assert run("dedup", path, "-o", tmp_path / "out", "-q").returncode == 0
    assert (tmp_path / "out/kept/in.jsonl").read_bytes() == kept


def test_files_of_others_are_not_deleted(tmp_path):
    mine = tmp_path / "mine/kept"
    mine.mkdir(parents=True)
    (mine / "thesis.txt").write_text("years of work")
    with pytest.raises(neardup.OutputError, match="not of this run"):
        neardup.dedup(documents(5)).write(tmp_path / "mine")
    assert (mine / "thesis.txt").read_text() == "years of work"
    path = write_rows(tmp_path / "in.jsonl", documents(10))
    assert run("dedup", path, "-o", tmp_path / "out", "-q").returncode == 0
    again = run("dedup", tmp_path / "out/kept/in.jsonl", "-o", tmp_path / "out", "--fresh")
    assert again.returncode == 2
    assert "lies in the output folder" in again.stderr
    assert (tmp_path / "out/kept/in.jsonl").exists()


def test_run_json_is_gone_while_the_corpus_is_written_anew(tmp_path, monkeypatch):
    path = write_rows(tmp_path / "in.jsonl", documents(30))
    neardup.dedup(path, work=tmp_path / "out/work").write(tmp_path / "out")
    assert (tmp_path / "out/run.json").exists()

    def fail(*_arguments):
        raise neardup.OutputError("the disk is full")

    monkeypatch.setattr("neardup.result.write_split", fail)
    with pytest.raises(neardup.OutputError):
        neardup.dedup(path, work=tmp_path / "out/work").write(tmp_path / "out", annotate=True)
    assert not (tmp_path / "out/run.json").exists()


def test_two_runs_do_not_share_a_work_folder(tmp_path):
    path = write_rows(tmp_path / "in.jsonl", documents(10))
    first = neardup.dedup(path, work=tmp_path / "out/work")
    second = run("dedup", path, "-o", tmp_path / "out")
    assert second.returncode == 1
    assert "another run is at work here" in second.stderr.replace("\n", " ")
    again = neardup.dedup(path, work=tmp_path / "out/work")
    assert again.removed.equals(first.removed)


class Waiting:
    """A watcher that stops the run in the middle of a step until it may go on."""

    def __init__(self, step):
        self.step, self.reached, self.go_on = step, Event(), Event()

    def begin(self, name, total):
        if name == self.step:
            self.reached.set()
            assert self.go_on.wait(60)

    def __getattr__(self, name):
        return lambda *_, **__: None


@pytest.mark.parametrize("step", ["sketch", "candidates", "verify", "write"])
def test_two_runs_in_threads_of_one_process_do_not_share_a_work_folder(tmp_path, step):
    path = write_rows(tmp_path / "in.jsonl", documents(30))
    alone = neardup.dedup(path, work=tmp_path / "alone/work")
    alone.write(tmp_path / "alone")
    waiting = Waiting(step)

    def first():
        result = neardup.dedup(path, work=tmp_path / "out/work", watcher=waiting)
        result.write(tmp_path / "out")
        return result

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(first)
        try:
            assert waiting.reached.wait(60)
            with pytest.raises(neardup.WorkError, match="another run is at work here"):
                neardup.dedup(path, work=tmp_path / "out/work")
            with pytest.raises(neardup.WorkError, match="another run is at work here"):
                list(neardup.pairs(path, work=tmp_path / "out/work"))
        finally:
            waiting.go_on.set()
        assert running.result().removed.equals(alone.removed)
    assert (tmp_path / "out/kept/in.jsonl").read_bytes() == (tmp_path / "alone/kept/in.jsonl").read_bytes()
    again = neardup.dedup(path, work=tmp_path / "out/work")  # after it, also while its result is there
    again.write(tmp_path / "out")


def test_a_process_keeps_its_lock_when_one_of_its_results_goes(tmp_path):
    """A lock of lockf went when the first of two descriptors was closed."""
    path = write_rows(tmp_path / "in.jsonl", documents(10))
    first = neardup.dedup(path, work=tmp_path / "out/work")
    second = neardup.dedup(path, work=tmp_path / "out/work")
    del first
    gc.collect()
    other = run("dedup", path, "-o", tmp_path / "out")
    assert other.returncode == 1
    assert "another run is at work here" in other.stderr.replace("\n", " ")
    del second
    gc.collect()
    assert run("dedup", path, "-o", tmp_path / "out").returncode == 0


def test_a_run_that_failed_leaves_the_work_folder_to_the_next(tmp_path):
    path = write_rows(tmp_path / "in.jsonl", [*documents(10), {"id": "bad", "text": 5}])
    with pytest.raises(neardup.InputError) as failed:
        neardup.dedup(path, work=tmp_path / "out/work")
    neardup.dedup(path, work=tmp_path / "out/work", on_error="skip")
    assert "in.jsonl:11" in str(failed.value)  # the exception, which holds the frames of the run, is still there


def test_many_small_files_need_few_open_ones(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for i in range(300):
        (folder / f"{i}.jsonl").write_text(json.dumps({"id": f"{i}", "text": f"{LONG} {i % 7} {LONG}"}) + "\n")

    def few() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))

    done = subprocess.run(
        [sys.executable, "-m", "neardup", "dedup", str(folder), "-o", str(tmp_path / "out"), "-q", "--annotate"],
        capture_output=True, text=True, preexec_fn=few, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("write", [lambda t, p: pq.write_table(t, p), lambda t, p: write_rows(p, t.to_pylist())])
def test_documents_that_are_too_long_are_reported_in_every_format(tmp_path, write):
    table = pa.table({"id": ["a", "b"], "text": ["short", "long " * 1000]})
    path = tmp_path / ("in.parquet" if "pq" in write.__code__.co_names else "in.jsonl")
    write(table, path)
    with pytest.raises(neardup.InputError, match="too long"):
        neardup.dedup(path, max_document_bytes=1000)
    result = neardup.dedup(path, max_document_bytes=1000, on_error="skip")
    assert result.counts["skipped_by_kind"] == {"too long": 1}
    if path.suffix == ".parquet":
        assert result.kept["id"].to_pylist() == ["a", "b"]


def test_problems_are_listed_in_the_order_of_the_input(tmp_path):
    texts = [b"\xff" if i % 3 == 0 else f"text {i} {LONG}".encode() for i in range(900)]
    table = pa.table({"id": [f"{i:03d}" for i in range(900)], "text": pa.array(texts, pa.binary())})
    listed = [neardup.dedup(table, on_error="skip", threads=4).skipped["source"].to_pylist() for _ in range(3)]
    assert listed[0] == sorted(listed[0]) == listed[1] == listed[2]
    assert len(listed[0]) == 300


def test_choices_at_the_edge():
    rows = [{"text": LONG, "at": 1_700_000_000_000_000_001}, {"text": LONG, "at": 1_700_000_000_000_000_002}]
    assert neardup.dedup(rows, keep="max:at").kept["at"].to_pylist() == [1_700_000_000_000_000_002]
    assert neardup.dedup(rows, permutations=4000).counts["removed"] == 1
    with pytest.raises(neardup.UsageError, match="threads = -1"):
        neardup.dedup(rows, threads=-1)
