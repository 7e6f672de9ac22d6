"""Standard output that cannot be written, and input that cannot be read: a sentence and an exit code."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from neardup.cli import main
from neardup.index import Index

FULL = Path("/dev/full")
UNREADABLE = Path("/proc/self/mem")
"""Its first byte is an input/output error."""
TEXT = "the ferry to the island leaves at nine and at noon and at six in the evening"
COMMANDS = [
    "--help",
    "recipes",
    "tune --threshold 0.8 --json",
    "pairs pages.jsonl -q",
    "index info seen.ndx",
    "index info seen.ndx --json",
    "index check seen.ndx pages.jsonl -q",
    "index filter new.ndx pages.jsonl -q",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("written")
    (made / "pages.jsonl").write_text("".join(json.dumps({"id": id, "text": TEXT}) + "\n" for id in "ab"))
    with Index.open(made / "seen.ndx") as index:
        index.add("known", "something else altogether, of five words and more")
    return made


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_disk_is_a_sentence(folder, command):
    usual = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with FULL.open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "neardup", *command.split()],
            cwd=folder,
            env=usual,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
        )
    assert done.returncode == 1, done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert done.stderr.startswith("neardup: ")
    assert "cannot be written (No space left on device)" in done.stderr
    assert sorted(each.name for each in folder.iterdir()) == ["pages.jsonl", "seen.ndx"]


@pytest.mark.skipif(not UNREADABLE.exists(), reason="needs /proc")
@pytest.mark.parametrize(
    "command", ["index filter new.ndx", "index add seen.ndx", "index remove seen.ndx", "group", "sign"]
)
def test_an_input_that_cannot_be_read_is_no_output_that_cannot_be_written(folder, command, monkeypatch, capfd):
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.chdir(folder)
    with UNREADABLE.open() as unreadable:
        monkeypatch.setattr(sys, "stdin", unreadable)
        with pytest.raises(SystemExit) as ended:
            main([*command.split(), "-q"])
    assert ended.value.code == 1
    assert capfd.readouterr().err == "neardup: stdin: cannot be read (Input/output error).\n"
