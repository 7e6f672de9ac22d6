"""What the commands do with links, hidden names and what cannot be opened: read, or counted and reported."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import neardup
from tests.corpus import documents
from tests.surface.conftest import run

LINES = [json.dumps(row) + "\n" for row in documents(12)]


@pytest.fixture
def linked(tmp_path: Path) -> Path:
    """Eight documents in two files, one behind a link; a loop, a second name, a link to nothing, a hidden file."""
    folder = tmp_path / "in"
    (folder / "sub").mkdir(parents=True)
    (tmp_path / "there").mkdir()
    (folder / "a.jsonl").write_text("".join(LINES[:4]))
    (tmp_path / "there/b.jsonl").write_text("".join(LINES[4:8]))
    (folder / ".c.jsonl").write_text("".join(LINES[8:]))
    (folder / "link").symlink_to(tmp_path / "there")
    (folder / "sub/up").symlink_to("..")
    (folder / "again.jsonl").symlink_to("a.jsonl")
    (folder / "gone.jsonl").symlink_to("nowhere.jsonl")
    return folder


def test_everything_is_read_or_in_the_results(linked: Path, tmp_path: Path) -> None:
    stopped = run("dedup", linked, "-o", tmp_path / "stop", "--no-report")
    assert stopped.returncode == 1
    assert "gone.jsonl: unreadable: a link to nowhere.jsonl, which is not there" in stopped.stderr
    assert "--on-error skip" in stopped.stderr
    done = run("dedup", linked, "-o", tmp_path / "out", "--on-error", "skip", "--no-report", "--json")
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["counts"]["documents"] == 8
    assert facts["counts"]["skipped_by_kind"] == {"unreadable": 1}
    for said in (
        "Passed over hidden files and folders (names that begin with a dot, on Spark also with _): 1.",
        "Passed over names that lead to what is read under another name: 2.",
    ):
        assert said in facts["said"]
        assert said in done.stderr
    [row] = pq.read_table(tmp_path / "out/skipped.parquet").to_pylist()
    assert row["source"] == str(linked / "gone.jsonl")
    assert row["detail"] == "a link to nowhere.jsonl, which is not there"
    assert (tmp_path / "out/kept/link/b.jsonl").exists()
    again = neardup.Result.open(tmp_path / "out")
    assert again.skipped.num_rows == 1
    resumed = run("dedup", linked, "-o", tmp_path / "out", "--on-error", "skip", "--no-report", "--json")
    assert json.loads(resumed.stdout)["counts"] == facts["counts"]


def test_every_command_that_reads_collections_does_so(linked: Path, tmp_path: Path) -> None:
    assert neardup.dedup(linked, on_error="skip").counts["documents"] == 8
    pairs = run("pairs", linked, "-o", tmp_path / "pairs.parquet", "--on-error", "skip", "-t", "0.1")
    assert pairs.returncode == 0, pairs.stderr
    assert "read under another name: 2" in pairs.stderr
    assert "_): 1" in pairs.stderr
    assert run("index", "create", tmp_path / "seen.ndx").returncode == 0
    for command in (("index", "add", tmp_path / "seen.ndx"), ("index", "filter", tmp_path / "f.ndx"), ("sign",)):
        stopped = run(*command, linked)
        assert stopped.returncode == 1
        assert "gone.jsonl: unreadable" in stopped.stderr
        done = run(*command, linked, "--on-error", "skip")
        assert done.returncode == 0, done.stderr
        assert "gone.jsonl: unreadable: a link to nowhere.jsonl" in done.stderr
        assert "read under another name: 2" in done.stderr
        assert "_): 1" in done.stderr
    assert len(done.stdout.splitlines()) == 8  # of sign


def test_a_collection_that_is_searched(linked: Path, tmp_path: Path) -> None:
    from neardup.gather import Reading
    from neardup.searching.inputs import find

    found = find(linked, Reading())
    assert [file.name for file in found.files] == ["a.jsonl", "link/b.jsonl"]
    assert any("gone.jsonl: unreadable" in said for said in found.said)
    assert any("hidden" in said for said in found.said)
