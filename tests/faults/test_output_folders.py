"""What a run finds in its output folder: only what it wrote itself may be replaced."""

import json
import os
import shutil
import sys
from pathlib import Path

import pyarrow as pa
import pytest

import neardup
from neardup import sample
from neardup.report.page import read_data
from tests.corpus import documents


def written(path: Path, rows: list[dict]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


THEIRS = ["kept/thesis.txt", "kept/in.jsonl", "kept/deep/er.txt", "report.html", "run.json", "skipped.parquet",
          "removed.parquet", "groups.parquet", "kept"]  # fmt: skip


@pytest.mark.parametrize("name", THEIRS)
def test_a_second_folder_is_as_safe_as_the_first(command_line, tmp_path, name):
    result = neardup.dedup(written(tmp_path / "in.jsonl", documents(30)))
    result.write(tmp_path / "first")
    theirs = tmp_path / "second" / name
    theirs.parent.mkdir(parents=True)
    theirs.write_text("years of work")
    with pytest.raises(neardup.OutputError, match="not of this run") as refused:
        result.write(tmp_path / "second")
    assert name in str(refused.value)
    assert contents(tmp_path / "second") == {name: b"years of work"}
    command = command_line("dedup", tmp_path / "in.jsonl", "-o", tmp_path / "second", "-q")
    assert command.returncode == 1
    assert name in command.stderr
    assert command_line("dedup", tmp_path / "in.jsonl", "-o", tmp_path / "second", "-q", "--fresh").returncode == 1
    assert contents(tmp_path / "second") == {name: b"years of work"}


@pytest.mark.parametrize("more", [(), ("--annotate",), ("--fresh",), ("--threshold", "0.9", "--fresh")])
def test_a_file_that_people_put_into_the_corpus_is_named_and_stays(command_line, tmp_path, more):
    source, out = written(tmp_path / "in.jsonl", documents(30)), tmp_path / "out"
    assert command_line("dedup", source, "-o", out, "-q").returncode == 0
    (out / "kept/README.md").write_text("what I did")
    before = contents(out)
    refused = command_line("dedup", source, "-o", out, "-q", *more)
    assert refused.returncode == 1
    assert "kept/README.md" in refused.stderr
    assert contents(out) == before


def test_what_the_run_wrote_is_replaced_and_nothing_beside_it(command_line, tmp_path):
    source, out = written(tmp_path / "in.jsonl", documents(30)), tmp_path / "out"
    out.mkdir()
    (out / "notes.txt").write_text("mine")
    result = neardup.dedup(source)
    result.write(out)
    result.write(out, annotate=True)
    assert len((out / "kept/in.jsonl").read_text().splitlines()) == 30
    neardup.dedup(source).write(out)
    assert len((out / "kept/in.jsonl").read_text().splitlines()) == result.counts["kept"]
    neardup.Result.open(out).write(out, annotate=True)
    assert len((out / "kept/in.jsonl").read_text().splitlines()) == 30
    assert command_line("dedup", source, "-o", out, "-q", "--threshold", "0.5", "--fresh").returncode == 0
    assert (out / "notes.txt").read_text() == "mine"
    with pytest.raises(neardup.WorkError, match=r"--threshold was 0\.5, and is 0\.8 now"):
        result.write(out)


def test_folders_of_pages_are_replaced_file_by_file(tmp_path):
    sample.write(tmp_path / "in", scale=0.1)
    result = neardup.dedup(tmp_path / "in/html")
    result.write(tmp_path / "out")
    first = contents(tmp_path / "out/kept")
    page = next(iter(first))
    neardup.dedup(tmp_path / "in/html").write(tmp_path / "out")
    assert contents(tmp_path / "out/kept") == first
    (tmp_path / "out/kept" / page).with_name("mine.html").write_text("mine")
    with pytest.raises(neardup.OutputError, match=r"mine\.html"):
        result.write(tmp_path / "out")


@pytest.mark.parametrize("ending", ["html", "txt"])
def test_a_folder_of_which_no_page_is_kept_is_empty(tmp_path, ending):
    """A run of which every page is known already ended with a traceback, and so did the next one."""
    rows = documents(3, clusters=0)
    (tmp_path / "in/pages").mkdir(parents=True)
    written(tmp_path / "in/a.jsonl", rows)
    for number, row in enumerate(rows):
        (tmp_path / "in/pages" / f"{number}.{ending}").write_text(row["text"])
    for _ in range(2):  # also the second time, on a finished run
        result = neardup.dedup(tmp_path / "in", recipe="default")
        result.write(tmp_path / "out", report=False)
        assert result.counts["removed"] == 3
        assert [path.name for path in (tmp_path / "out/kept").rglob("*") if path.is_file()] == ["a.jsonl"]


def test_a_draft_of_a_killed_run_is_its_own(tmp_path):
    source, out = written(tmp_path / "in.jsonl", documents(30)), tmp_path / "out"
    result = neardup.dedup(source)
    result.write(out)
    (out / "kept/.in.jsonl.part").write_text("half")
    result.write(out, annotate=True)
    assert not (out / "kept/.in.jsonl.part").exists()


def test_the_page_of_others_is_not_written_over(command_line, tmp_path):
    neardup.dedup(written(tmp_path / "in.jsonl", documents(30))).write(tmp_path / "out", report=False)
    (tmp_path / "out/report.html").write_text("mine")
    refused = command_line("report", tmp_path / "out", "-q")
    assert refused.returncode == 1
    assert "report.html" in refused.stderr
    assert (tmp_path / "out/report.html").read_text() == "mine"


def test_a_finished_run_without_its_work_folder_stays(command_line, tmp_path):
    source, out = written(tmp_path / "in.jsonl", documents(10)), tmp_path / "out"
    neardup.dedup(source).write(out)
    shutil.rmtree(out / "work")
    before = contents(out)
    for more in ((), ("--fresh",)):
        refused = command_line("dedup", source, "-o", out, "-q", *more)
        assert refused.returncode == 1
        assert "work folder was deleted" in refused.stderr
    assert contents(out) == before


ROWS = documents(60)
TABLE = pa.Table.from_pylist(ROWS).append_column("extra", pa.array([[i] for i in range(60)]))


@pytest.mark.parametrize("kind", ["file", "stdin", "table", "list"])
def test_what_python_writes_is_what_the_command_writes(command_line, tmp_path, monkeypatch, kind):
    source = written(tmp_path / "in.jsonl", ROWS)
    given = {"file": source, "stdin": "-", "table": TABLE, "list": [row["text"] for row in ROWS]}[kind]
    with source.open() as lines, monkeypatch.context() as patched:
        patched.setattr(sys, "stdin", lines)
        result = neardup.dedup(given)
    out = tmp_path / "out"
    result.write(out)
    page = read_data(out / "report.html")
    assert page is not None
    assert page["out"] == str(out)
    assert page["texts"] is None, "the texts could be read"
    again = neardup.Result.open(out)
    assert again.removed.equals(result.removed)
    assert again.kept.equals(result.kept)
    assert again.texts([0, 7, 41]) == result.texts([0, 7, 41])
    assert command_line("report", out, "-q").returncode == 0
    assert "What this run found and missed" in command_line("audit", out).stdout
    assert command_line("index", "create", tmp_path / "i.ndx", "--run", out).returncode == 0
    again.write(tmp_path / "copy")
    assert contents(tmp_path / "copy/kept").keys() == contents(out / "kept").keys()
    assert neardup.Result.open(tmp_path / "copy").kept.equals(result.kept)
    command = command_line("dedup", source, "-o", tmp_path / "command", "-q")
    assert command.returncode == 0
    shutil.rmtree(out / "audit")
    if kind == "file":
        assert {name for name in contents(tmp_path / "command") if not name.startswith("work/")} == {
            name for name in contents(out) if not name.startswith("work/")
        }


def test_a_page_that_is_not_wanted_is_not_made(tmp_path):
    result = neardup.dedup(TABLE)
    result.write(tmp_path)
    result.write(tmp_path, report=False)
    assert not (tmp_path / "report.html").exists()
    result.write(tmp_path, corpus=False)
    assert (tmp_path / "report.html").exists()


def test_a_table_that_parquet_cannot_hold_has_a_page_and_the_other_commands_say_what_to_do(command_line, tmp_path):
    union = pa.UnionArray.from_sparse(pa.array([0] * 60, pa.int8()), [pa.array([1] * 60)])
    result = neardup.dedup(TABLE.append_column("mixed", union))
    result.write(tmp_path / "out", corpus=False)
    assert "neardup audit" in result.said[-1]
    page = read_data(tmp_path / "out/report.html")
    assert page is not None
    assert page["texts"] is None
    for command in (["audit", "OUT"], ["report", "OUT"], ["index", "create", "i.ndx", "--run", "OUT"]):
        refused = command_line(*(tmp_path / "out" if word == "OUT" else word for word in command))
        assert refused.returncode == 1
        assert "table in memory" in refused.stderr
        assert "neardup dedup" in refused.stderr


def test_a_table_of_many_splits_is_opened_again(tmp_path, monkeypatch):
    monkeypatch.setattr("neardup.sources.table.InMemory.splits.__defaults__", (2000,))
    result = neardup.dedup(TABLE)
    result.write(tmp_path)
    again = neardup.Result.open(tmp_path)
    assert len(again.gathered.engine.splits) > 3
    assert again.kept.equals(result.kept)
    assert again.texts(range(60)) == result.texts(range(60))


def test_another_table_is_another_run(tmp_path):
    neardup.dedup(TABLE).write(tmp_path)
    neardup.dedup(TABLE).write(tmp_path)
    before = contents(tmp_path)
    with pytest.raises(neardup.WorkError, match="another run"):
        neardup.dedup(TABLE.set_column(4, "extra", pa.array(range(60)))).write(tmp_path)
    assert contents(tmp_path) == before


ELSEWHERE = ["s3://bucket/out", "memory://out", "file:///tmp/out", "simplecache::s3://bucket/out", "-"]


@pytest.mark.parametrize("place", ELSEWHERE)
def test_other_places_are_refused_at_once(command_line, tmp_path, monkeypatch, place):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "in.jsonl", documents(5))
    before = contents(tmp_path)
    asked = [
        ["dedup", "nothing-is-read-before.jsonl", "-o", place],
        ["evaluate", "in.jsonl", "--truth", "truth.csv", "-o", place],
        ["sample", place],
    ]
    if place != "-":
        asked += [
            ["pairs", "in.jsonl", "-o", f"{place}/pairs.parquet"],
            ["report", "out", "-o", f"{place}/page.html"],
            ["tune", "-t", "0.8", "--recipe-out", f"{place}/recipe.toml"],
            ["index", "export", "seen.ndx", "-o", f"{place}/all.parquet"],
            ["audit", "out", "--export", f"{place}/pairs.csv"],
        ]
    for arguments in asked:
        refused = command_line(*arguments)
        assert refused.returncode == 2, (arguments, refused.stderr)
        assert place in refused.stderr
        assert "Traceback" not in refused.stderr
    result = neardup.dedup("in.jsonl")
    for path in (place, Path(place)):
        with pytest.raises(neardup.UsageError):
            result.write(path)
        with pytest.raises(neardup.UsageError):
            neardup.dedup("in.jsonl", work=path)
    assert contents(tmp_path) == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.jsonl"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["nothing.jsonl"],
        ["in.jsonl", "--text-field", "txet"],
        ["in.jsonl", "--keep", "max:nothing"],
        ["in.jsonl", "--threshold", "7"],
        ["in.jsonl", "--against", "no.ndx"],
        ["in.jsonl", "--format", "parquet"],
        ["-", "--text-field", "nothing"],
    ],
)
def test_wrong_use_leaves_nothing_behind(command_line, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    source = written(tmp_path / "in.jsonl", documents(5))
    for out in ("out", "far/below/out"):
        refused = command_line("dedup", *arguments, "-o", out, input=source.read_text())
        assert refused.returncode in (1, 2)
        assert sorted(p.name for p in tmp_path.iterdir()) == ["in.jsonl"]
    (tmp_path / "out").mkdir()
    assert command_line("dedup", *arguments, "-o", "out", input=source.read_text()).returncode in (1, 2)
    assert list((tmp_path / "out").iterdir()) == []


def test_the_advice_of_an_error_can_be_followed(command_line, tmp_path):
    rows = [{"id": "same", "text": f"{n} some words of their own {n}"} for n in range(3)]
    source, out = written(tmp_path / "in.jsonl", rows), tmp_path / "out"
    failed = command_line("dedup", source, "-o", out, "-q")
    assert failed.returncode == 1
    assert "--id-field none" in failed.stderr
    corrected = command_line("dedup", source, "-o", out, "--id-field", "none")
    assert corrected.returncode == 0, corrected.stderr
    assert "the run before this one failed (in.jsonl:2: duplicate id" in corrected.stderr
    refused = command_line("dedup", source, "-o", out, "-q")
    assert refused.returncode == 1
    assert "work of another run: ids of" in refused.stderr


def test_an_input_that_was_mended_takes_the_place_of_the_damaged_one(command_line, tmp_path):
    source, out = tmp_path / "in.jsonl", tmp_path / "out"
    source.write_text('{"id": 1, "text": "a b c"}\n{"id": 2, "text": \n')
    assert command_line("dedup", source, "-o", out, "-q").returncode == 1
    source.write_text('{"id": 1, "text": "a b c"}\n{"id": 2, "text": "d e f"}\n')
    mended = command_line("dedup", source, "-o", out, "-q")
    assert mended.returncode == 0, mended.stderr
    assert json.loads((out / "run.json").read_text())["counts"]["documents"] == 2


def test_standard_input_that_was_mended(command_line, tmp_path):
    assert command_line("dedup", "-", "-o", tmp_path / "out", "-q", input='{"id": 1, "text": \n').returncode == 1
    done = command_line("dedup", "-", "-o", tmp_path / "out", "-q", input='{"id": 1, "text": "a"}\n')
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "out/work").glob("stdin-*"))) == 1


def test_a_finished_run_that_fails_when_it_is_run_again_is_not_replaced(command_line, tmp_path):
    source, out = tmp_path / "in.jsonl", tmp_path / "out"
    source.write_text('{"id": 1, "text": "a b c"}\n{"id": 2, "text": \n')
    assert command_line("dedup", source, "-o", out, "-q", "--on-error", "skip").returncode == 0
    assert command_line("dedup", source, "-o", out, "-q").returncode == 1
    before = contents(out / "kept")
    refused = command_line("dedup", source, "-o", out, "-q", "--on-error", "skip", "--threshold", "0.5")
    assert refused.returncode == 1
    assert "holds the work of another run" in refused.stderr
    assert contents(out / "kept") == before


def test_a_run_that_was_stopped_and_did_not_fail_is_not_replaced(tmp_path, monkeypatch):
    source = written(tmp_path / "in.jsonl", documents(30))

    def stop(*_arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("neardup.pipeline.decide", stop)
        with pytest.raises(KeyboardInterrupt):
            neardup.dedup(source, work=tmp_path / "work")
    with pytest.raises(neardup.WorkError, match="another run"):
        neardup.dedup(source, work=tmp_path / "work", threshold=0.5)


def test_a_mistake_in_the_folder_of_another_run_does_not_give_it_up(tmp_path, monkeypatch):
    source = written(tmp_path / "in.jsonl", documents(30))
    work = tmp_path / "work"

    def stop(*_arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("neardup.pipeline.decide", stop)
        with pytest.raises(KeyboardInterrupt):
            neardup.dedup(source, work=work)
    with pytest.raises(neardup.UsageError, match="no column"):
        neardup.dedup(source, work=work, text_field="txet")
    with pytest.raises(neardup.WorkError, match="another run"):
        neardup.dedup(source, work=work, threshold=0.5)


def _damages(tmp_path: Path) -> dict:
    def changed(file: Path) -> None:
        file.write_bytes(file.read_bytes()[::-1])

    def a_folder(file: Path) -> None:
        file.unlink()
        file.mkdir()

    return {
        "cut": lambda file: os.truncate(file, file.stat().st_size // 2),
        "empty": lambda file: os.truncate(file, 0),
        "changed": changed,
        "gone": lambda file: file.unlink(),
        "a folder": a_folder,
        "a mark of an earlier version": lambda file: next((file.parents[1] / "work/kept").glob("*.done")).write_text(
            ""
        ),
    }


@pytest.mark.parametrize("damage", ["cut", "empty", "changed", "gone", "a folder", "a mark of an earlier version"])
def test_a_kept_file_that_was_changed_is_written_again(command_line, tmp_path, damage):
    source, out = written(tmp_path / "in.jsonl", documents(30)), tmp_path / "out"
    assert command_line("dedup", source, "-o", out, "-q", "--no-report").returncode == 0
    kept = out / "kept/in.jsonl"
    expected, before = kept.read_bytes(), kept.stat().st_mtime_ns
    assert command_line("dedup", source, "-o", out, "-q", "--no-report").returncode == 0
    assert kept.stat().st_mtime_ns == before  # it is as it was, and is left alone
    _damages(tmp_path)[damage](kept)
    again = command_line("dedup", source, "-o", out, "-q", "--no-report")
    if damage == "a folder":
        assert again.returncode == 1
        assert "in.jsonl" in again.stderr
    else:
        assert again.returncode == 0
        assert kept.read_bytes() == expected
        assert kept.stat().st_mtime_ns != before


@pytest.mark.parametrize("damage", ["cut", "empty", "changed", "gone"])
def test_a_page_of_a_kept_folder_that_was_changed_is_written_again(command_line, tmp_path, damage):
    sample.write(tmp_path / "in", scale=0.1)
    out = tmp_path / "out"
    assert command_line("dedup", tmp_path / "in/html", "-o", out, "-q", "--no-report").returncode == 0
    expected = contents(out / "kept")
    page = next(path for path in sorted((out / "kept").rglob("*.html")))
    _damages(tmp_path)[damage](page)
    assert contents(out / "kept") != expected
    assert command_line("dedup", tmp_path / "in/html", "-o", out, "-q", "--no-report").returncode == 0
    assert contents(out / "kept") == expected
