import gzip
import json
import re
import shutil

import datasets
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup
from tests.corpus import documents
from tests.surface.conftest import run


def read_jsonl(path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_jsonl_from_outside(pages, tmp_path):
    done = run("dedup", pages / "pages.jsonl", "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert "text from 'text', ids from 'id'" in done.stderr.replace("\n", " ")
    for word in ("kept", "removed", "identical", "near", "groups", "threshold 0.8", "neardup explain"):
        assert word in done.stderr
    lines = (pages / "pages.jsonl").read_bytes().splitlines()
    kept = (tmp_path / "out/kept/pages.jsonl").read_bytes().splitlines()
    assert [x for x in lines if x in set(kept)] == kept
    removed = pq.read_table(tmp_path / "out/removed.parquet").to_pylist()
    assert len(kept) + len(removed) == len(lines)
    urls = {json.loads(x)["id"]: json.loads(x)["url"] for x in lines}
    assert all(r["url"] == urls[r["id"]] and r["kept_url"] == urls[r["kept_id"]] for r in removed)
    facts = json.loads((tmp_path / "out/run.json").read_text())
    assert facts["counts"]["documents"] == len(lines)
    assert facts["counts"]["empty"] > 0
    assert facts["filter"]["k"] == 20
    assert [s["name"] for s in facts["steps"]] == ["sketch", "candidates", "order", "verify", "decide", "write"]
    told = run("explain", tmp_path / "out", removed[0]["id"])
    assert removed[0]["kept_id"] in told.stdout
    for form in ((), ("--json",)):
        nobody = run("explain", tmp_path / "out", "nobody", *form)
        assert nobody.returncode == 1
        assert "there is no document 'nobody'" in nobody.stderr
        assert nobody.stdout == ""
    again = run("explain", tmp_path / "out", removed[0]["id"], "--json")
    assert json.loads(again.stdout)["kept_id"] == removed[0]["kept_id"]


@pytest.mark.parametrize("what", ["pages.parquet", "html", "pages.warc.gz"])
def test_other_formats_give_the_same_answer(pages, tmp_path, what):
    reference = neardup.dedup(pages / "pages.jsonl", keep="longest")
    done = run(
        "dedup", pages / what, "-o", tmp_path / "out", "--json", "-q", "--keep", "longest", "--recipe", "default"
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    counts = json.loads(done.stdout)["counts"]
    archive = gzip.decompress((pages / what).read_bytes()) if what.endswith(".gz") else b""
    not_found = len(re.findall(rb"HTTP/1.1 404", archive))
    assert counts["documents"] == reference.counts["documents"] - not_found
    if what == "pages.parquet":
        assert pq.read_table(tmp_path / "out/removed.parquet").equals(reference.removed)
        kept = pq.read_table(tmp_path / "out/kept/pages.parquet")
        assert kept.schema.equals(pq.read_schema(pages / what), check_metadata=True)
        assert kept["id"].to_pylist() == reference.kept["id"].to_pylist()
    else:
        # the pages show the words of their text, so as many are removed; ties fall by other ids
        assert counts["removed"] == pytest.approx(reference.counts["removed"], rel=0.05)
    if what == "html":
        files = sorted(p for p in (tmp_path / "out/kept").rglob("*") if p.is_file())
        assert len(files) == counts["kept"]
        name = files[0].relative_to(
            tmp_path / "out/kept/html" if (tmp_path / "out/kept/html").exists() else tmp_path / "out/kept"
        )
        assert files[0].read_bytes() == (pages / "html" / name).read_bytes()


def test_several_inputs_of_several_formats(tmp_path):
    rows = documents(90, seed=2)
    a, b, c = rows[:30], rows[30:60], rows[60:]
    folder = tmp_path / "in"
    folder.mkdir()
    with gzip.open(folder / "a.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(r) + "\n" for r in a)
    pq.write_table(pa.Table.from_pylist(b), folder / "b.parquet")
    pl.DataFrame(c).write_csv(folder / "c.csv")
    done = run("dedup", folder, "-o", tmp_path / "out", "-q")
    assert done.returncode == 0, done.stderr
    expected = neardup.dedup(pa.Table.from_pylist(rows))
    assert (
        pq.read_table(tmp_path / "out/removed.parquet")
        .drop_columns(["url", "kept_url"])
        .equals(expected.removed.drop_columns(["url", "kept_url"]))
    )
    lines = gzip.decompress((tmp_path / "out/kept/a.jsonl.gz").read_bytes()).splitlines()
    kept = [json.loads(line)["id"] for line in lines]
    kept += pq.read_table(tmp_path / "out/kept/b.parquet")["id"].to_pylist()
    kept += pl.read_csv(tmp_path / "out/kept/c.csv")["id"].to_list()
    assert kept == expected.kept["id"].to_pylist()


def test_standard_input(tmp_path):
    rows = documents(40)
    lines = "".join(json.dumps(r) + "\n" for r in rows)
    done = run("dedup", "-", "-o", tmp_path / "out", "-q", input=lines)
    assert done.returncode == 0, done.stderr
    kept = read_jsonl(tmp_path / "out/kept/stdin.jsonl")
    assert [k["id"] for k in kept] == neardup.dedup(pa.Table.from_pylist(rows)).kept["id"].to_pylist()
    again = run("dedup", "-", "-o", tmp_path / "out", "-q", input=lines)
    assert again.returncode == 0, again.stderr
    other = run("dedup", "-", "-o", tmp_path / "out", "-q", input=lines + lines)
    assert other.returncode == 1
    assert "holds the work of another run" in other.stderr


def test_dry_run_and_annotate(tmp_path):
    rows = documents(60)
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    assert run("dedup", tmp_path / "in.jsonl", "-o", tmp_path / "out", "--dry-run", "-q").returncode == 0
    assert not (tmp_path / "out/kept").exists()
    assert (tmp_path / "out/removed.parquet").exists()
    assert run("dedup", tmp_path / "in.jsonl", "-o", tmp_path / "out", "--annotate", "-q").returncode == 0
    noted = read_jsonl(tmp_path / "out/kept/in.jsonl")
    removed = {r["id"]: r for r in pq.read_table(tmp_path / "out/removed.parquet").to_pylist()}
    groups = {g["id"]: g["group_id"] for g in pq.read_table(tmp_path / "out/groups.parquet").to_pylist()}
    assert [{k: n[k] for k in rows[0]} for n in noted] == rows
    for n in noted:
        assert n["neardup_kept"] == (n["id"] not in removed)
        assert n["neardup_group"] == groups.get(n["id"])
        if n["id"] in removed:
            assert n["neardup_kept_id"] == removed[n["id"]]["kept_id"]
            assert n["neardup_resemblance"] == pytest.approx(removed[n["id"]]["resemblance"])
    assert run("dedup", tmp_path / "in.jsonl", "-o", tmp_path / "out", "-q").returncode == 0
    assert len(read_jsonl(tmp_path / "out/kept/in.jsonl")) == len(rows) - len(removed)
    (tmp_path / "page.html").write_text("<p>hello")
    refused = run("dedup", tmp_path / "page.html", "-o", tmp_path / "out2", "--annotate")
    assert refused.returncode == 2
    assert "groups.parquet has the same facts" in refused.stderr


def test_tables_in_memory_of_every_library(tmp_path):
    rows = documents(80)
    expected = neardup.dedup(pa.Table.from_pylist(rows)).removed
    relation = duckdb.from_arrow(pa.Table.from_pylist(rows))
    for data in (pl.DataFrame(rows), pd.DataFrame(rows), relation, rows, pa.Table.from_pylist(rows).to_reader()):
        assert neardup.dedup(data).removed.equals(expected), type(data)
    result = neardup.dedup(pl.DataFrame(rows))
    kept = pl.from_arrow(result.kept)
    assert kept["id"].to_list() == pd.DataFrame({"id": result.kept["id"]})["id"].to_list()
    found = result.removed  # noqa: F841
    assert duckdb.sql("select count(*) from found").fetchall() == [(len(expected),)]
    texts = [r["text"] for r in rows]
    assert len(neardup.dedup(texts).removed) == len(expected)
    result.write(tmp_path / "out")
    assert pq.read_table(tmp_path / "out/kept/table.parquet")["id"].to_pylist() == kept["id"].to_list()


def test_hugging_face_datasets():
    rows = documents(40)
    dataset = datasets.Dataset.from_list(rows)
    assert neardup.dedup(dataset).removed.equals(neardup.dedup(rows).removed)


def test_a_work_folder_needs_files(tmp_path):
    with pytest.raises(neardup.UsageError, match="work= needs files"):
        neardup.dedup(documents(3), work=tmp_path)


@pytest.mark.parametrize("nothing", [[], pa.table({"text": pa.array([], pa.string())}), pl.DataFrame({"text": []})])
def test_no_documents_at_all(nothing):
    result = neardup.dedup(nothing)
    assert result.counts["documents"] == len(result.kept) == len(result.removed) == 0


def test_another_recipe_on_the_same_folder_is_refused(tmp_path):
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(r) + "\n" for r in documents(20)))
    out = tmp_path / "out"
    assert run("dedup", tmp_path / "in.jsonl", "-o", out, "-q").returncode == 0
    refused = run("dedup", tmp_path / "in.jsonl", "-o", out, "-q", "--threshold", "0.9")
    assert refused.returncode == 1
    assert "--threshold was 0.8, and is 0.9 now" in refused.stderr
    assert "--fresh" in refused.stderr
    assert run("dedup", tmp_path / "in.jsonl", "-o", out, "-q", "--threshold", "0.9", "--fresh").returncode == 0
    with open(tmp_path / "in.jsonl", "a") as file:
        file.write(json.dumps({"id": "new", "text": "something new"}) + "\n")
    changed = run("dedup", tmp_path / "in.jsonl", "-o", out, "-q", "--threshold", "0.9")
    assert changed.returncode == 1
    assert "has changed since" in changed.stderr
    (tmp_path / "full").mkdir()
    (tmp_path / "full/important.txt").write_text("mine")
    foreign = run("dedup", tmp_path / "in.jsonl", "-o", tmp_path / "full")
    assert foreign.returncode == 1
    assert "is not empty" in foreign.stderr
    assert run("dedup", tmp_path / "in.jsonl", "-o", tmp_path / "full", "--fresh").returncode == 1
    assert (tmp_path / "full/important.txt").read_text() == "mine"
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"id": "a", "text": "x y z"}\n{"id": "a"\n')
    assert run("dedup", broken, "-o", tmp_path / "b", "-q").returncode == 1
    assert run("dedup", broken, "-o", tmp_path / "b", "-q", "--on-error", "skip").returncode == 0
    stopped = run("dedup", broken, "-o", tmp_path / "b", "-q")
    assert stopped.returncode == 1
    assert "broken.jsonl:2: not JSON" in stopped.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["dedpu"], 2, "Did you mean 'dedup'?"),
        (["dedup", "in.jsonl"], 2, "Missing option '-o'"),
        (["dedup", "nothing.jsonl", "-o", "out"], 1, "nothing.jsonl"),
        (["dedup", "in.jsonl", "-o", "out", "--threshold", "1.5"], 2, "threshold = 1.5"),
        (["dedup", "in.jsonl", "-o", "out", "--recall", "1"], 2, "recall = 1.0"),
        (["dedup", "in.jsonl", "-o", "out", "--keep", "best"], 2, "'best' is no rule"),
        (["dedup", "in.jsonl", "-o", "out", "--keep", "max:nothing"], 2, "nothing"),
        (["dedup", "in.jsonl", "-o", "out", "--text-field", "txet"], 2, "text"),
        (["dedup", "in.jsonl", "-o", "out", "--width", "0"], 2, "width = 0"),
        (["dedup", "in.jsonl", "-o", "in.jsonl"], 2, "is a file"),
        (["dedup", "empty", "-o", "out"], 1, "empty"),
        (["explain", "nowhere", "x"], 1, "no finished run"),
    ],
)
def test_wrong_use_gets_a_sentence_and_a_code(tmp_path, arguments, code, message):
    (tmp_path / "in.jsonl").write_text('{"id": "a", "text": "hello world"}\n')
    (tmp_path / "empty").mkdir()
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_version_help_and_public_names():
    assert run("--version").stdout == f"neardup {neardup.__version__}\n"
    assert "removed.parquet" in run("dedup", "--help").stdout
    for name in neardup.__all__:
        assert getattr(neardup, name) is not None
    assert set(neardup.__all__) <= set(dir(neardup))
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        neardup.nonsense  # noqa: B018


def test_importing_is_quick():
    """No numba, no Arrow before they are needed."""
    import subprocess
    import sys

    heavy = ("numba", "pyarrow", "rich", "numpy")
    code = f"import sys, neardup, neardup.cli; print([m for m in {heavy} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


def test_id_field_none_numbers_the_documents(tmp_path):
    (tmp_path / "in.jsonl").write_text('{"id": 1, "text": "one two three"}\n\n{"id": 1, "text": "ONE two three"}\n')
    done = run("dedup", tmp_path / "in.jsonl", "-o", tmp_path / "out", "--id-field", "none", "-q")
    assert done.returncode == 0, done.stderr
    assert pq.read_table(tmp_path / "out/removed.parquet")["id"].to_pylist() == ["in.jsonl:3"]


def test_the_sample_command(tmp_path):
    done = run("sample", tmp_path / "s", "--scale", "0.1")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "s/pages.jsonl").exists()
    shutil.rmtree(tmp_path / "s")


def test_numbers_survive_as_ids(tmp_path):
    table = pa.table({"id": np.arange(3), "text": ["a b c d e", "A B C D E", "x"]})
    assert neardup.dedup(table).removed["kept_id"].to_pylist() == [0]


def test_ids_are_shown_and_never_obeyed(tmp_path):
    """Control characters and what turns the direction of text would reach the terminal with the ids."""
    text = "one two three four five six seven eight nine ten"
    ids = [f"\x1b[31mred{n}\x07\u202e\n" for n in range(3)]
    (tmp_path / "pages.jsonl").write_text("".join(json.dumps({"id": name, "text": text}) + "\n" for name in ids))
    done = run("dedup", tmp_path / "pages.jsonl", "-o", tmp_path / "out")
    told = [run("explain", tmp_path / "out", name) for name in ids]
    for said in (done.stderr, done.stdout, *(answer.stdout for answer in told)):
        assert not {"\x1b", "\x07", "\u202e"} & set(said)
    assert told[0].stdout == "\\x1b[31mred0\\x07\\u202e: kept, stands for 2: " + (
        "\\x1b[31mred1\\x07\\u202e, \\x1b[31mred2\\x07\\u202e\n"
    )
    assert "neardup explain" not in done.stderr + done.stdout


def test_names_of_files_are_shown_and_never_obeyed(tmp_path):
    """What is guessed of a file is said with its name, which may steer a terminal."""
    evil = "f\x1b]0;PWN\x1b[31m\x9b2J\u202e"
    (tmp_path / f"{evil}.jsonl").write_text('{"text": "one two three"}\n')
    (tmp_path / f"{evil}.csv").write_text("id;text\n1;some words here\n2;other words\n")
    index = tmp_path / "seen.ndx"
    for arguments in (
        ("dedup", tmp_path / f"{evil}.jsonl", "-o", tmp_path / f"out{evil}"),
        ("dedup", tmp_path / f"{evil}.csv", "-o", tmp_path / "out"),
        ("index", "create", index),
        ("index", "add", index, tmp_path / f"{evil}.jsonl"),
        ("index", "check", index, tmp_path / f"{evil}.csv"),
        ("pairs", tmp_path / f"{evil}.jsonl", "-o", tmp_path / f"{evil}.parquet"),
    ):
        done = run(*arguments)
        assert done.returncode == 0, done.stderr
        assert not {"\x1b", "\x9b", "\u202e"} & set(done.stderr), arguments
        shown = "f\\x1b]0;PWN\\x1b[31m\\x9b2J\\u202e" in done.stderr.replace("\n", "")
        assert shown or "create" in arguments, done.stderr
