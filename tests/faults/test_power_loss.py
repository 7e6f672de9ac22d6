"""What a power loss leaves: a name that has appeared has its content on disk, and the name is there too."""

import json
import os
from pathlib import Path

import pytest

import neardup
from neardup.atomic import appearing, make_fleeting
from tests.corpus import documents


class Disk:
    """Listens to what is synced and renamed, in order."""

    def __init__(self, monkeypatch):
        self.events: list[tuple[str, object]] = []
        fsync, sync, replace = os.fsync, os.sync, os.replace

        def synced(descriptor):
            self.events.append(("synced", os.fstat(descriptor).st_ino))
            fsync(descriptor)

        def all_synced():
            self.events.append(("all synced", None))
            sync()

        def renamed(source, target):
            self.events.append(("renamed", (os.stat(source).st_ino, Path(target))))
            replace(source, target)

        monkeypatch.setattr("os.fsync", synced)
        monkeypatch.setattr("os.sync", all_synced)
        monkeypatch.setattr("os.replace", renamed)

    def check(self) -> dict[Path, str]:
        """Return what was renamed: every content is synced before, every folder afterwards."""
        found: dict[Path, str] = {}
        for at, (what, which) in enumerate(self.events):
            if what != "renamed":
                continue
            inode, target = which
            everything = ("all synced", None)
            assert {("synced", inode), everything} & set(self.events[:at]), f"{target}: renamed before it is synced"
            folder = ("synced", target.parent.stat().st_ino) if target.parent.exists() else everything
            assert {folder, everything} & set(self.events[at:]), f"{target}: its name is not synced"
            found[target] = what
        return found


def test_a_run_syncs_what_must_appear_whole(tmp_path, monkeypatch):
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in documents(30)))
    disk = Disk(monkeypatch)
    neardup.dedup(tmp_path / "in.jsonl", work=tmp_path / "out/work").write(tmp_path / "out")
    names = {str(path.relative_to(tmp_path / "out")) for path in disk.check()}
    assert {
        "work/plan.json", "work/inputs.json", "work/sketches/00000.arrow", "work/decision.arrow",
        "removed.parquet", "groups.parquet", "kept/in.jsonl", "run.json",
    } <= names  # fmt: skip


def test_a_folder_of_files_is_synced_at_once(tmp_path, monkeypatch):
    for n, row in enumerate(documents(30)):
        (tmp_path / f"in/{n % 3}").mkdir(parents=True, exist_ok=True)
        (tmp_path / f"in/{n % 3}/{n}.txt").write_text(row["text"])
    disk = Disk(monkeypatch)
    neardup.dedup(tmp_path / "in", work=tmp_path / "out/work").write(tmp_path / "out")
    kept = [path for path in disk.check() if path.suffix == ".txt"]
    assert len(kept) == 20
    assert disk.events.count(("all synced", None)) == 2


def test_folders_that_are_made_on_the_way_are_synced_in_theirs(tmp_path, monkeypatch):
    disk = Disk(monkeypatch)
    with appearing(tmp_path / "a/b/c") as draft:
        draft.write_text("c")
    disk.check()
    synced = {which for what, which in disk.events if what == "synced"}
    assert {path.stat().st_ino for path in (tmp_path, tmp_path / "a", tmp_path / "a/b", tmp_path / "a/b/c")} == synced


def test_temporary_work_is_not_synced(tmp_path, monkeypatch):
    disk = Disk(monkeypatch)
    result = neardup.dedup(documents(30))
    assert result.removed.num_rows > 0
    assert [what for what, _ in disk.events if what != "renamed"] == []
    undo = make_fleeting(tmp_path)
    undo()
    with appearing(tmp_path / "a") as draft:
        draft.write_text("a")
    assert disk.events[-1] == ("synced", tmp_path.stat().st_ino)


def test_a_content_that_cannot_be_synced_does_not_appear(tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(neardup.OutputError, match="the disk is full"), appearing(tmp_path / "a") as draft:
        draft.write_text("a")
    assert list(tmp_path.iterdir()) == []
