"""Output and run folders that somebody else prepared: nothing outside of them is deleted, written or taken in."""

import json
import os
import re
import shutil
import struct
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import neardup
from neardup.verify.measure import _LAYOUT as LAYOUT
from neardup.verify.measure import Meter, Shelf
from tests.corpus import documents
from tests.faults.test_output_folders import contents, written


@pytest.fixture
def source(tmp_path) -> Path:
    return written(tmp_path / "in.jsonl", documents(30))


@pytest.fixture
def out(tmp_path, source) -> Path:
    """A finished run."""
    neardup.dedup(source, work=tmp_path / "out/work").write(tmp_path / "out", report=False)
    return tmp_path / "out"


@pytest.fixture
def precious(tmp_path) -> Path:
    """A folder of the user that has nothing to do with the run."""
    folder = tmp_path / "precious"
    (folder / "kept").mkdir(parents=True)
    (folder / "thesis.txt").write_text("years of work")
    (folder / "kept/in.jsonl").write_text("more of it")
    (folder / "in.jsonl").write_text("and more")
    return folder


def listed(out: Path, *names: object) -> None:
    place = out / "work/written.json"
    place.write_text(json.dumps([*json.loads(place.read_text()), *names]))


UNSAFE = ["kept/../../precious/thesis.txt", "kept/./in.jsonl", "/etc/passwd", "kept//in.jsonl", "", "kept/\0", 5, None]


@pytest.mark.parametrize("name", UNSAFE)
@pytest.mark.parametrize("fresh", [(), ("--fresh",)])
def test_listed_names_that_lead_out_of_the_folder_are_refused(command_line, source, out, precious, name, fresh):
    listed(out, name)
    before = contents(out), contents(precious)
    refused = command_line("dedup", source, "-o", out, "-q", *fresh)
    assert refused.returncode == 1
    assert "written.json" in refused.stderr
    assert "Nothing was deleted" in refused.stderr
    assert (contents(out), contents(precious)) == before


@pytest.mark.parametrize("fresh", [(), ("--fresh",), ("--annotate",)])
@pytest.mark.parametrize(
    ("link", "names"),
    [
        ("kept/sub", ["kept/sub", "kept/sub/thesis.txt"]),
        ("kept/sub", ["kept/sub/thesis.txt"]),
        ("kept", ["kept", "kept/in.jsonl", "kept/thesis.txt"]),
        ("kept", ["kept/thesis.txt"]),
        ("kept/in.jsonl", []),
        ("work", []),
        ("work/kept", []),
        ("work/sketches", []),
        ("work/texts", []),
        ("work/lock", []),
        ("work/kept/00000.done", []),
        ("work/sketches/.00000.problems.arrow.unsorted", []),
    ],
)
def test_links_in_the_folder_are_refused_and_not_followed(command_line, source, out, precious, link, names, fresh):
    listed(out, *names)
    place = out / link
    if place.is_dir():
        shutil.move(place, precious / "moved")
    place.unlink(missing_ok=True)
    moved = precious / "moved"
    place.symlink_to(moved if link.startswith("work") and moved.exists() else precious / "nothing" if "lock" in link
                     else precious)  # fmt: skip
    before = contents(out), contents(precious)
    refused = command_line("dedup", source, "-o", out, "-q", *fresh)
    assert refused.returncode == 1
    assert link.rpartition("/")[2] in refused.stderr
    assert (contents(out), contents(precious)) == before
    assert place.is_symlink()


@pytest.mark.parametrize("name", ["kept/signature", "plan.json", "sketches/00000.arrow"])
def test_a_pipe_in_the_work_folder_is_refused(command_line, source, out, name):
    """To open one waits until somebody writes to it."""
    (out / "work" / name).unlink()
    os.mkfifo(out / "work" / name)
    refused = command_line("dedup", source, "-o", out, "-q")
    assert refused.returncode == 1
    assert "is no file" in refused.stderr


def test_removing_checks_all_names_before_it_deletes_any(out, precious):
    from neardup.outputs.folder import OutputFolder

    listed(out, "kept/sub/thesis.txt")
    (out / "kept/sub").symlink_to(precious)
    before = contents(out), contents(precious)
    with pytest.raises(neardup.WorkError, match="kept/sub, which is a link"):
        OutputFolder(out).clear()
    assert (contents(out), contents(precious)) == before


def test_listed_names_that_are_folders_now_or_below_a_file_are_passed_over(command_line, source, out):
    listed(out, "kept/in.jsonl/below", "kept/folder", "kept/folder/file")
    (out / "kept/folder").mkdir()
    (out / "kept/folder/file").write_text("x")
    assert command_line("dedup", source, "-o", out, "-q", "--fresh").returncode == 0
    assert not (out / "kept/folder").exists()


@pytest.mark.parametrize("content", ["{}", '"kept"', "[" * 100_000, "5"])
def test_a_list_of_files_that_is_none_is_refused(command_line, source, out, content):
    (out / "work/written.json").write_text(content)
    refused = command_line("dedup", source, "-o", out, "-q", "--fresh")
    assert refused.returncode == 1
    assert re.search(r"written.json: cannot be read .* Choose another folder", refused.stderr)
    os.remove(out / "work/written.json")
    os.mkfifo(out / "work/written.json")
    assert "is no file" in command_line("dedup", source, "-o", out, "-q", "--fresh").stderr


@pytest.fixture
def secret(tmp_path) -> Path:
    folder = tmp_path / "secret"
    folder.mkdir()
    text = " ".join(f"hunter{i}" for i in range(60))
    (folder / "id_rsa").write_text(text)
    return folder


@pytest.fixture
def run_of_texts(tmp_path, secret) -> Path:
    """A finished run over two files of text."""
    (tmp_path / "texts").mkdir()
    for name in "ab":
        (tmp_path / "texts" / name).with_suffix(".txt").write_text(" ".join(f"word{i}" for i in range(60)) + name)
    neardup.dedup(tmp_path / "texts").write(tmp_path / "run", report=False)
    return tmp_path / "run"


def changed(path: Path, change) -> None:
    value = json.loads(path.read_text())
    change(value)
    path.write_text(json.dumps(value))


def elsewhere(secret: Path, **more: object):
    def change(inputs: dict) -> None:
        inputs["files"][0].update({"path": str(secret), "members": ["id_rsa", "id_rsa"], **more})

    return change


def hostile_inputs(secret: Path):
    file = {"format": "lines", "members": [], "stamp": "sha256:0"}
    return [
        elsewhere(secret, stamp="sha256:0"),
        elsewhere(secret, stamp="sha256:0", path=str(secret / "id_rsa"), members=[], format="lines"),
        elsewhere(secret, **file, path=f"../../{secret.name}/id_rsa"),
        elsewhere(secret, **file, path="stdin-0.jsonl"),  # a link, see below
        elsewhere(secret, members=["../secret/id_rsa"] * 2, path=str(secret.parent / "texts")),
        elsewhere(secret, members=[str(secret / "id_rsa")] * 2, path=str(secret.parent / "texts")),
        elsewhere(secret, name="../../../outside"),
        elsewhere(secret, name=str(secret)),
    ]


@pytest.mark.parametrize("number", range(8))
def test_a_run_folder_reads_no_file_without_its_stamp(command_line, tmp_path, run_of_texts, secret, number):
    (run_of_texts / "work/stdin-0.jsonl").symlink_to(secret / "id_rsa")
    changed(run_of_texts / "work/inputs.json", hostile_inputs(secret)[number])
    for command in (("report", run_of_texts), ("index", "create", tmp_path / "i.ndx", "--run", run_of_texts)):
        refused = command_line(*command, "-q")
        assert refused.returncode == 1
        assert re.search("inputs.json|changed since|not there any more|is not what", refused.stderr), refused.stderr
        assert "hunter" not in refused.stderr
    assert not (run_of_texts / "report.html").exists()


def test_standard_input_in_a_run_folder_is_what_its_digest_says(command_line, tmp_path):
    rows = "".join(json.dumps(row) + "\n" for row in documents(30))
    assert command_line("dedup", "-", "-o", tmp_path / "out", "-q", "--no-report", input=rows).returncode == 0
    shutil.move(tmp_path / "out", tmp_path / "moved")
    assert command_line("report", tmp_path / "moved", "-q").returncode == 0
    (spooled,) = (tmp_path / "moved/work").glob("stdin-*")
    spooled.write_text(rows.replace("a", "b"))
    refused = command_line("report", tmp_path / "moved", "-q")
    assert refused.returncode == 1
    assert "is not what was written" in refused.stderr


ODD_RUNS = ["[" * 100_000, "{}", "[]", '{"steps":[{}],"threads":1,"said":[]}', '{"steps":[],"threads":-1,"said":[]}',
            '{"steps":[],"threads":1,"said":5}', '{"steps":5,"threads":1,"said":[]}', "\udcff"]  # fmt: skip


@pytest.mark.parametrize("content", ODD_RUNS)
def test_an_odd_run_json_is_an_error_in_words(out, content):
    (out / "run.json").write_text(content, errors="surrogateescape")
    with pytest.raises((neardup.InputError, neardup.WorkError), match=r"run\.json: cannot be read .* again"):
        neardup.Result.open(out)


def test_a_run_folder_does_not_say_how_many_threads_there_are(out):
    changed(out / "run.json", lambda run: run.update(threads=100_000_000))
    assert neardup.Result.open(out).gathered.engine.threads <= (os.cpu_count() or 1)


ODD_PLANS = ["[]", "{}", "[" * 100_000, '{"recipe": 5}', '{"recipe": {"text": 5}}', '{"inputs": [5], "recipe": null}']


@pytest.mark.parametrize("content", ODD_PLANS)
def test_an_odd_plan_is_an_error_in_words(command_line, source, out, content):
    (out / "work/plan.json").write_text(content)
    with pytest.raises(neardup.WorkError):
        neardup.Result.open(out)
    refused = command_line("dedup", source, "-o", out, "-q")
    assert refused.returncode == 1
    assert re.search("plan.json|holds the work of another run", refused.stderr)


@pytest.mark.parametrize(
    "recipe",
    [{"id": "x"}, {"sketch": {"kind": []}}, {"clusters": {"crowd": "a"}}, {"sketch": {"kind": "minhash", "k": -1}}],
)
def test_an_odd_recipe_in_a_plan_is_an_error_in_words(out, recipe):
    changed(out / "work/plan.json", lambda plan: plan["recipe"].update(recipe))
    with pytest.raises(neardup.WorkError, match="again"):
        neardup.Result.open(out)


ODD_INPUTS = [
    lambda inputs: inputs.update(files=5),
    lambda inputs: inputs.update(splits=[[5, 0, 1, 1, 0, 1]]),
    lambda inputs: inputs.update(splits=[[-1, 0, 1, 1, 0, 1]]),
    lambda inputs: inputs.update(splits=[[0]]),
    lambda inputs: inputs["files"][0].update(format="nothing"),
    lambda inputs: inputs["files"][0].update(format="memory"),
    lambda inputs: inputs["files"][0].update(fields=[]),
    lambda inputs: inputs["files"][0].pop("path"),
]


@pytest.mark.parametrize("change", ODD_INPUTS)
def test_odd_inputs_are_an_error_in_words(out, change):
    changed(out / "work/inputs.json", change)
    with pytest.raises(neardup.WorkError, match=r"inputs\.json.* again"):
        neardup.Result.open(out)


def arrow(path: Path) -> pa.Table:
    with pa.ipc.open_file(pa.BufferReader(path.read_bytes())) as file:
        return file.read_all().combine_chunks()


def with_columns(path: Path, **columns: object) -> None:
    """Write an Arrow file again with other values, or an Array as it is, in some columns."""
    table = arrow(path)
    for name, values in columns.items():
        if not isinstance(values, pa.Array):
            values = pa.array(np.full(len(table), values), table.schema.field(name).type)
        table = table.set_column(table.schema.get_field_index(name), table.schema.field(name), values)
    with pa.ipc.new_file(path, table.schema) as file:
        file.write_batch(table.to_batches()[0])


def wild_offsets(path: Path, column: str) -> pa.Array:
    strings = arrow(path).column(column).chunk(0)
    offsets = np.frombuffer(strings.buffers()[1], np.int32)[: len(strings) + 1].copy()
    offsets[10:20] = 2_000_000_000
    return pa.Array.from_buffers(
        strings.type, len(strings), [None, pa.py_buffer(offsets.tobytes()), strings.buffers()[2]]
    )


def no_text(path: Path, column: str) -> pa.Array:
    strings = arrow(path).column(column).chunk(0)
    data = b"\xff" * strings.buffers()[2].size
    return pa.Array.from_buffers(strings.type, len(strings), [None, strings.buffers()[1], pa.py_buffer(data)])


def stretch(path: Path) -> None:
    """Make an Arrow file say that it has ten million rows, with the bytes of the few that it has."""
    rows = struct.pack("<q", len(arrow(path)))
    path.write_bytes(path.read_bytes().replace(rows, struct.pack("<q", 10_000_000)))


def missing(path: Path, column: str) -> pa.Array:
    return pa.nulls(len(arrow(path)), arrow(path).schema.field(column).type)


HOSTILE_SKETCHES = [
    ("id", wild_offsets), ("id", no_text), ("id", missing),
    ("status", 9), ("id_type", 200), ("tokens", -1), ("tokens", 2**62), ("bytes", -5),
]  # fmt: skip


@pytest.mark.parametrize(("column", "value"), HOSTILE_SKETCHES)
def test_hostile_sketches_are_an_error_in_words(command_line, source, out, column, value):
    path = out / "work/sketches/00000.arrow"
    with_columns(path, **{column: value(path, column) if callable(value) else value})
    with pytest.raises(neardup.WorkError, match=r"00000\.arrow: is damaged .* --fresh"):
        neardup.Result.open(out)
    resumed = command_line("dedup", source, "-o", out, "-q")
    assert resumed.returncode == 1
    assert "is damaged" in resumed.stderr


def test_hostile_sketches_are_no_trap_for_explain(command_line, out):
    path = out / "work/sketches/00000.arrow"
    stretch(path)
    told = command_line("explain", out, "0")
    assert told.returncode == 1
    assert "is damaged" in told.stderr


def test_sketches_with_other_columns_are_an_error_in_words(out):
    path = out / "work/sketches/00000.arrow"
    table = arrow(path).drop_columns(["words"])
    with pa.ipc.new_file(path, table.schema) as file:
        file.write_table(table)
    with pytest.raises(neardup.WorkError, match="it has other columns"):
        neardup.Result.open(out)


HOSTILE_DECISIONS = [
    ("kept_for", 2**40), ("kept_for", -1), ("removed", 2**40), ("removed", -1), ("removed", 3), ("relation", 77),
    ("measured", 77), ("removed", missing),
]  # fmt: skip


@pytest.mark.parametrize(("column", "value"), HOSTILE_DECISIONS)
def test_hostile_decisions_are_an_error_in_words(out, column, value):
    path = out / "work/decision.arrow"
    with_columns(path, **{column: value(path, column) if callable(value) else value})
    with pytest.raises(neardup.WorkError, match=r"decision\.arrow: cannot be read .* again"):
        neardup.Result.open(out)


@pytest.mark.parametrize("counts", ["[" * 100_000, "[]", '{"rounds": "a"}', '{"crowded": -1}', '{"unknown": 5}'])
def test_odd_counts_of_a_decision_are_an_error_in_words(out, counts):
    path = out / "work/decision.arrow"
    table = arrow(path).replace_schema_metadata({"neardup.counts": counts})
    with pa.ipc.new_file(path, table.schema) as file:
        file.write_table(table)
    with pytest.raises(neardup.WorkError, match=r"decision\.arrow: cannot be read"):
        neardup.Result.open(out)


@pytest.mark.parametrize(
    "change",
    [
        {"number": [2**40]}, {"number": [-1]}, {"number": [5, 5]}, {"relation": ["odd"]}, {"measured": ["odd"]},
        {"relation": [5]}, {"score": ["a"]},
    ],
)  # fmt: skip
def test_hostile_rows_of_an_index_are_an_error_in_words(out, change):
    row = {"number": 0, "id": "a", "kept_id": "b", "relation": "near", "resemblance": 0.9, "removed_in_kept": 0.9,
           "kept_in_removed": 0.9, "measured": "exact", "score": 0.9, "url": None, "kept_url": None}  # fmt: skip
    many = len(next(iter(change.values())))
    table = pa.table({**{name: [value] * many for name, value in row.items()}, **change})
    with pa.ipc.new_file(out / "work/known.arrow", table.schema) as file:
        file.write_table(table)
    with pytest.raises(neardup.WorkError, match=r"known\.arrow: cannot be read"):
        neardup.Result.open(out)


@pytest.mark.parametrize("name", ["sketches/00000.arrow", "decision.arrow"])
def test_more_rows_than_bytes_are_an_error_in_words(out, name):
    stretch(out / "work" / name)
    with pytest.raises(neardup.WorkError, match=r"\.arrow: .*too (small|short)"):
        neardup.Result.open(out)


def test_measured_pairs_with_more_rows_than_bytes_are_measured_again(tmp_path):
    path = tmp_path / "measured.arrow"
    columns = {name: pa.array(np.arange(333), kind) for name, kind in zip(LAYOUT.names, LAYOUT.types, strict=True)}
    with pa.ipc.new_file(path, LAYOUT) as file:
        file.write_table(pa.table(columns, schema=LAYOUT))
    shelf = Shelf(tmp_path / "shelf", np.empty(0, np.int64), np.empty(0, np.int64))
    nobody = np.empty(0, np.int64)
    assert len(Meter(shelf, lambda *_: None, path, 1, nobody).pairs) == 333
    stretch(path)
    assert len(Meter(shelf, lambda *_: None, path, 1, nobody).pairs) == 0
    for odd in (
        pa.table({"later": [1]}),
        pa.table({name: pa.array([None], LAYOUT.field(name).type) for name in columns}),
    ):
        with pa.ipc.new_file(path, odd.schema) as file:
            file.write_table(odd)
        assert len(Meter(shelf, lambda *_: None, path, 1, nobody).pairs) == 0


@pytest.mark.parametrize("content", [b"PAR1", b"x" * 50])
def test_a_damaged_table_of_what_was_skipped_is_an_error_in_words(out, content):
    (out / "skipped.parquet").write_bytes(content)
    with pytest.raises(neardup.WorkError, match=r"skipped\.parquet: cannot be read"):
        neardup.Result.open(out)
