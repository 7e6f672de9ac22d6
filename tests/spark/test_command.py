"""`neardup dedup --engine spark`: what OUT holds, going on, starting over, and what other commands make of it."""

import contextlib
import io
import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import neardup
from neardup.cli import main
from neardup.errors import InputError
from neardup.model import TOWARDS
from tests.spark.pages import some_pages


@dataclass
class Ended:
    exit_code: int
    output: str
    """Of both streams."""


def run(*arguments: Any) -> Ended:
    """In this process, whose session it uses."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said), pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    assert isinstance(ended.value.code, int)
    return Ended(ended.value.code, said.getvalue())


def dedup(pages: Path, out: Path, *more: str) -> Ended:
    """In the session of the tests, which is the active one."""
    return run("dedup", pages, "-o", out, "--engine", "spark", "--recipe", "stream", "-q", *more)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pages [of] one {crawl}") / "pages.jsonl"
    path.write_text("".join(json.dumps(page) + "\n" for page in some_pages().drop_columns("score").to_pylist()))
    return path


@pytest.fixture(scope="module")
def out(pages: Path, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run."""
    folder = tmp_path_factory.mktemp("out [1]") / "out"
    done = dedup(pages, folder)
    assert done.exit_code == 0, done.output
    return folder


@pytest.fixture(scope="module")
def local(pages: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("local") / "out"
    done = run("dedup", pages, "-o", folder, "--recipe", "stream", "-q", "--no-report")
    assert done.exit_code == 0, done.output
    return folder


def table(folder: Path, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(folder / f"{name}.parquet").to_pylist()
    return found


def kept(folder: Path) -> list[bytes]:
    parts = [p for p in (folder / "kept").rglob("*") if p.is_file() and p.name[0] not in "._"]
    return sorted(line for part in parts for line in part.read_bytes().splitlines())


def test_what_there_is(out: Path, local: Path) -> None:
    assert {path.name for path in out.iterdir() if path.name[0] not in "._"} == {
        "kept", "removed.parquet", "groups.parquet", "run.json", "work",
    }  # fmt: skip
    assert table(out, "removed") == table(local, "removed")
    assert table(out, "groups") == table(local, "groups")
    assert (
        pq.read_schema(next((out / "removed.parquet").glob("part-*"))).names
        == pq.read_schema(local / "removed.parquet").names
    )
    assert kept(out) == kept(local)
    assert {path.suffix for path in (out / "kept").glob("part-*")} == {".jsonl"}
    again = neardup.dedup(out / "kept", recipe="stream")  # lines, and not a document a file
    assert again.counts["documents"] == len(kept(local))
    assert not any("Passed over" in sentence for sentence in again.said)
    here, there = (json.loads((folder / "run.json").read_text()) for folder in (out, local))
    assert here["engine"]["name"] == "spark"
    assert here["recipe"] == there["recipe"]
    assert here["filter"] == there["filter"]
    assert {**here["counts"], "pairs_measured": 0} == {**there["counts"], "pairs_measured": 0}
    assert [file["fields"] for file in here["inputs"]] == [file["fields"] for file in there["inputs"]]


def test_again_and_otherwise(out: Path, pages: Path, local: Path, tmp_path: Path, spark: SparkSession) -> None:
    """A finished run is written again; another recipe is refused, and starts over when it is asked to."""
    folder = tmp_path / "out"
    shutil.copytree(out, folder)
    before = (folder / "run.json").stat().st_mtime_ns
    done = run("dedup", pages, "-o", folder, "--engine", "spark", "--recipe", "stream", "--dry-run")
    assert done.exit_code == 0, done.output
    assert "Going on with the work of an earlier run." in done.output
    assert (folder / "run.json").stat().st_mtime_ns > before
    assert kept(folder) == kept(local)
    refused = dedup(pages, folder, "--keep", "last")
    assert refused.exit_code == 1
    assert (
        "--keep was first, and is last now. Choose another output folder, or start over with --fresh" in refused.output
    )
    (folder / "notes.txt").write_text("of somebody")
    done = dedup(pages, folder, "--keep", "last", "--fresh", "--annotate")
    assert done.exit_code == 0, done.output
    assert (folder / "notes.txt").exists()
    expected = neardup.dedup(pages, recipe="stream", keep="last")
    assert table(folder, "removed") == expected.removed.to_pylist()
    noted = [json.loads(line) for line in kept(folder)]
    assert len(noted) == expected.counts["documents"]
    assert sum(note["neardup_kept"] for note in noted) == expected.counts["kept"]
    expected.write(tmp_path / "local", annotate=True)
    assert kept(folder) == kept(tmp_path / "local")


def test_folders_of_others_are_left_alone(pages: Path, tmp_path: Path, spark: SparkSession) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "letters.txt").write_text("of somebody")
    for more in ([], ["--fresh"]):
        refused = dedup(pages, tmp_path, *more)
        assert refused.exit_code == 1
        assert "holds files that are not of this run: kept. Choose another folder" in refused.output
    assert (tmp_path / "kept" / "letters.txt").exists()
    refused = dedup(pages, pages.parent)
    assert refused.exit_code == 2
    assert "lies in the output folder" in refused.output
    refused = dedup(pages, tmp_path / "x", "--threads", "3")
    assert refused.exit_code == 2
    assert "--threads: not with --engine spark" in refused.output
    refused = run("dedup", "-", "-o", tmp_path / "x", "--engine", "spark")
    assert refused.exit_code == 2
    assert "Spark does not read the standard input" in refused.output
    refused = dedup(pages, Path("/proc/foo"))
    assert refused.exit_code == 1
    assert "/proc/foo: Spark cannot" in refused.output
    assert len(refused.output.splitlines()) < 4


def test_other_commands(out: Path, spark: SparkSession, tmp_path: Path) -> None:
    gone = table(out, "removed")[0]
    done = run("explain", out, gone["id"], gone["kept_id"])
    assert done.exit_code == 0, done.output
    first, second = done.output.splitlines()
    assert first.startswith(f"{gone['id']}: removed, {TOWARDS[gone['relation']]} {gone['kept_id']}")
    assert second.startswith(f"{gone['kept_id']}: kept, stands for")
    assert run("explain", out, "nobody").exit_code == 1
    with pytest.raises(InputError, match=r"holds a run on Spark. Report, audit and Result.open know runs of the local"):
        neardup.Result.open(out)
    for command in ("report", "audit"):
        assert run(command, out).exit_code == 1
    for more in ([], ["--fresh"]):
        refused = run("dedup", out / "kept", "-o", out, *more)
        assert refused.exit_code in (1, 2)
        assert (out / "run.json").exists()
    refused = run("dedup", tmp_path, "-o", out)
    assert "holds a run on Spark. Go on with --engine spark, or choose another folder" in refused.output
    with pytest.raises(InputError, match="holds the results of an earlier run; name its folder kept"):
        neardup.dedup(out)
    with pytest.raises(InputError, match="holds the results of an earlier run; name its folder kept"):
        neardup.dedup(str(out), engine="spark")
