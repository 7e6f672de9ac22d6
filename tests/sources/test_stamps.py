"""Stamps change when the content may have changed, and only then."""

import io
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from neardup.sources import InputFile, discover, from_object, stamp_of
from neardup.sources.stamps import far_stamp
from neardup.sources.stdin import spool


def _one(place: Path) -> InputFile:
    [file] = discover([place]).files
    return file


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"one")
    os.utime(path, ns=(0, 1_700_000_000_000_000_001))
    file = _one(path)
    assert file.stamp == "3-1700000000000000001" == stamp_of(file)
    os.utime(path, ns=(0, 1_700_000_000_000_000_002))
    assert stamp_of(file) == "3-1700000000000000002" == _one(path).stamp
    path.unlink()
    assert stamp_of(file) == "gone"


CHANGES: dict[str, Callable[[Path], Any]] = {
    "size": lambda member: member.write_bytes(b"longer"),
    "time, to an older one": lambda member: os.utime(member, ns=(0, 1)),
    "vanished": lambda member: member.unlink(),
    "renamed": lambda member: member.rename(member.with_name("z.html")),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_folder_by_each_of_its_members(change: str, tmp_path: Path) -> None:
    for name in ("a.html", "b.html", "c.html"):
        (tmp_path / name).write_bytes(b"x")
    before = _one(tmp_path)
    assert len(before.stamp) == 16
    assert stamp_of(before) == before.stamp == _one(tmp_path).stamp
    CHANGES[change](tmp_path / "b.html")
    assert stamp_of(before) not in (before.stamp, "gone")
    assert _one(tmp_path).stamp != before.stamp


def test_a_folder_that_is_gone(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(b"x")
    file = _one(tmp_path)
    (tmp_path / "a.html").unlink()
    assert stamp_of(file) == "gone"


def test_folders_with_the_same_paths_in_them(tmp_path: Path) -> None:
    """Their paths start one folder higher, for the stamp too."""
    for site in ("p", "q"):
        (tmp_path / site).mkdir()
        (tmp_path / site / "index.html").write_text(site)
    files = discover([tmp_path / "p", tmp_path / "q"]).files
    assert [stamp_of(f) for f in files] == [f.stamp for f in files]


def test_in_memory_and_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = replace(from_object(["a"]), stamp="mine")
    assert stamp_of(table) == "mine"
    files = []
    for content in (b"one", b"two", b"one"):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
        files.append(spool(tmp_path))
    assert files[0].stamp == files[2].stamp != files[1].stamp
    os.utime(files[0].path, (0, 0))
    assert stamp_of(files[0]) == files[0].stamp


def test_what_stores_tell() -> None:
    day = datetime(2024, 5, 1, tzinfo=UTC)
    assert far_stamp({"size": 5, "ETag": '"abc"', "LastModified": day, "VersionId": "v"}) == "abc"
    assert far_stamp({"size": 5, "ETag": '"abc"', "LastModified": day}) == "abc"
    assert far_stamp({"size": 5, "VersionId": "v", "LastModified": day}) == "v"
    assert far_stamp({"size": 5, "md5Hash": "m", "updated": "2024"}) == "m"
    assert far_stamp({"size": 5, "LastModified": day}) == f"5-{day.timestamp()}"
    assert far_stamp({"size": 5, "mtime": 1714521600.25, "created": 1.0}) == "5-1714521600.25"
    assert far_stamp({"size": 5, "Last-Modified": "Wed, 01 May 2024"}) == "5-Wed, 01 May 2024"
    assert far_stamp({"size": 5, "mtime": None}) == "5"
    assert far_stamp({"size": None}) == "0"
