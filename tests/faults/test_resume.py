"""Killed at any moment, the same command goes on and ends with the same bytes."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.corpus import documents

# Runs the command, and kills itself with SIGKILL around the n-th time that something is renamed into place.
VICTIM = """
import os, signal, sys
from neardup import atomic
from neardup.cli import main

moment, when = int(sys.argv[1]), sys.argv[2]
calls = 0
really = os.replace

def replace(source, target):
    global calls
    calls += 1
    if calls == moment and when == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    really(source, target)
    if calls == moment and when == "after":
        os.kill(os.getpid(), signal.SIGKILL)

os.replace = replace
try:
    main(sys.argv[3:])
finally:
    print(calls)
"""


def command(folder: Path, out: Path) -> list[str]:
    return [
        "dedup",
        str(folder / "in"),
        "-o",
        str(out),
        "-q",
        "-j",
        "1",
        "--threshold",
        "0.7",
        "--keep",
        "longest",
        "--no-report",
    ]


def contents(out: Path) -> dict[str, bytes]:
    """Everything a user takes home, but for run.json's times."""
    files = {str(p.relative_to(out)): p.read_bytes() for p in sorted(out.rglob("*")) if p.is_file()}
    facts = json.loads(files.pop("run.json"))
    return {
        "counts": json.dumps(facts["counts"]).encode(),
        **{name: data for name, data in files.items() if not name.startswith("work/")},
    }


def inputs(folder: Path) -> None:
    (folder / "in/pages").mkdir(parents=True)
    rows = documents(120, seed=7)
    for part in range(2):
        lines = (json.dumps(r) + "\n" for r in rows[part * 40 : part * 40 + 40])
        (folder / f"in/part{part}.jsonl").write_text("".join(lines))
    pq.write_table(pa.Table.from_pylist(rows[80:110]), folder / "in/part.parquet")
    for r in rows[110:]:
        (folder / f"in/pages/{r['id']}.html").write_text(f"<title>x</title><p>{r['text']}</p>")


def run_victim(moment: int, when: str, arguments: list[str]) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", VICTIM, str(moment), when, *arguments], capture_output=True, text=True, timeout=120
    )


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("resume")
    inputs(folder)
    done = run_victim(0, "never", command(folder, folder / "whole"))
    assert done.returncode == 0, done.stderr
    return folder, contents(folder / "whole"), int(done.stdout)


MOMENTS = [(i / 11, when) for i in range(12) for when in ("before", "after")]
"""Every other one is for the night: each starts two processes."""


@pytest.mark.parametrize(
    ("share", "when"),
    [pytest.param(*moment, marks=[pytest.mark.nightly] * (n % 4 in (1, 2))) for n, moment in enumerate(MOMENTS)],
)
def test_killed_at_any_moment(undisturbed, tmp_path, share, when):
    folder, expected, renames = undisturbed
    assert renames > 15
    moment = 1 + round(share * (renames - 1))
    killed = run_victim(moment, when, command(folder, tmp_path / "out"))
    assert killed.returncode == -signal.SIGKILL
    resumed = run_victim(0, "never", command(folder, tmp_path / "out"))
    assert resumed.returncode == 0, resumed.stderr
    assert contents(tmp_path / "out") == expected
    assert not list((tmp_path / "out").rglob("*.part"))


def test_a_damaged_sketch_file_is_made_again(undisturbed, tmp_path):
    folder, expected, _ = undisturbed
    arguments = command(folder, tmp_path / "out")
    assert run_victim(0, "never", arguments).returncode == 0
    sketches = sorted((tmp_path / "out/work/sketches").glob("*.arrow"))
    sketches[1].write_bytes(sketches[1].read_bytes()[:1000])
    assert run_victim(0, "never", arguments).returncode == 0
    assert contents(tmp_path / "out") == expected


def test_a_second_run_does_not_read_the_texts_again(undisturbed, tmp_path):
    folder, expected, renames = undisturbed
    arguments = command(folder, tmp_path / "out")
    assert run_victim(0, "never", arguments).returncode == 0
    before = {p: p.stat().st_mtime_ns for p in (tmp_path / "out/work/sketches").glob("*")}
    again = run_victim(0, "never", arguments)
    assert int(again.stdout) < renames / 2
    assert {p: p.stat().st_mtime_ns for p in (tmp_path / "out/work/sketches").glob("*")} == before
    assert contents(tmp_path / "out") == expected
