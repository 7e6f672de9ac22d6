"""What holds for every format: splits, order, positions, writing and reading again."""

import csv
import gzip
import io
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup.sources import Fields, InputFile, Problems, discover, format_of, from_object
from neardup.sources.compression import create
from tests.sources.reading import WHOLE, documents, input_file, masks
from tests.sources.warcfile import crawl, members

TEXTS = [f'Text number {n}, "quoted", with\na line end and ünïcode {"x" * (n % 7 * 40)}' for n in range(60)]
ONE_LINE = [t.replace("\n", " ") for t in TEXTS]
SIZES = (1, 7, 100, 1000, 4096, WHOLE)


def _jsonl(folder: Path, ending: str = "") -> InputFile:
    path = folder / f"a.jsonl{ending}"
    with create(path, ending.lstrip(".") or None) as out:  # type: ignore[arg-type]
        for n, text in enumerate(TEXTS):
            out.write(
                json.dumps({"id": f"d{n}", "other": [1, {"x": n}], "text": text, "score": n / 2}).encode() + b"\n"
            )
    return input_file(path, "jsonl", Fields("text", "id", None, ("score",)))


def _csv(folder: Path, ending: str = ".csv") -> InputFile:
    path = folder / f"a{ending}"
    rows = io.StringIO()
    writer = csv.writer(rows, delimiter="\t" if "tsv" in ending else ",", lineterminator="\n")
    writer.writerow(["id", "score", "text"])
    writer.writerows([f"d{n}", n / 2, text] for n, text in enumerate(TEXTS))
    compression = "gz" if ending.endswith(".gz") else None
    with create(path, compression) as out:
        out.write(rows.getvalue().encode())
    return input_file(path, "csv", Fields("text", "id", None, ("score",), quoting="standard"))


def _parquet(folder: Path) -> InputFile:
    table = pa.table({"id": [f"d{n}" for n in range(60)], "text": TEXTS, "score": [n / 2 for n in range(60)]})
    pq.write_table(table, folder / "a.parquet", row_group_size=11)
    return input_file(folder / "a.parquet", "parquet", Fields("text", "id", None, ("score",)))


def _lines(folder: Path, ending: str = "") -> InputFile:
    path = folder / f"a.txt{ending}"
    with create(path, ending.lstrip(".") or None) as out:  # type: ignore[arg-type]
        out.write("\n".join(ONE_LINE).encode() + b"\n")
    return input_file(path, "lines", Fields())


def _folder(folder: Path, suffix: str) -> InputFile:
    for n, text in enumerate(TEXTS):
        path = folder / "in" / f"sub{n % 3}" / f"{n:02d}{suffix}{'.gz' if n % 2 else ''}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(text.encode()) if n % 2 else text.encode())
    [file] = discover([folder / "in"]).files
    return file


def _warc(folder: Path, ending: str, content: Callable[[list[bytes]], bytes]) -> InputFile:
    path = folder / f"a.warc{ending}"
    path.write_bytes(content(crawl(TEXTS)))
    return input_file(path, "warc", Fields(None, None, "url", ("status",)))


def _zst(records: list[bytes]) -> bytes:
    return bytes(pa.Codec("zstd").compress(b"".join(records)))


def _memory(folder: Path) -> InputFile:
    file = from_object([{"id": f"d{n}", "text": text, "score": n / 2} for n, text in enumerate(TEXTS)])
    return file.with_fields(Fields("text", "id", None, ("score",)))


@dataclass(frozen=True)
class Case:
    make: Callable[[Path], InputFile]
    expected: list[str]
    target: str
    notes: bool = False


CASES = {
    "parquet": Case(_parquet, TEXTS, "out.parquet", True),
    "jsonl": Case(_jsonl, TEXTS, "out.jsonl", True),
    **{
        f"jsonl.{c}": Case(lambda f, c=c: _jsonl(f, f".{c}"), TEXTS, f"out.jsonl.{c}", True)
        for c in ("gz", "zst", "bz2", "xz")
    },  # type: ignore[misc]
    "csv": Case(_csv, TEXTS, "out.csv", True),
    "tsv": Case(lambda f: _csv(f, ".tsv"), TEXTS, "out.tsv", True),
    "csv.gz": Case(lambda f: _csv(f, ".csv.gz"), TEXTS, "out.csv.gz", True),
    "lines": Case(_lines, ONE_LINE, "out.txt"),
    "lines.zst": Case(lambda f: _lines(f, ".zst"), ONE_LINE, "out.txt.zst"),
    "text": Case(lambda f: _folder(f, ".txt"), TEXTS, "out"),
    "html": Case(lambda f: _folder(f, ".html"), TEXTS, "out"),
    "warc": Case(lambda f: _warc(f, "", b"".join), TEXTS, "out.warc"),
    "warc.gz": Case(lambda f: _warc(f, ".gz", members), TEXTS, "out.warc.gz"),
    "warc.gz whole": Case(lambda f: _warc(f, ".gz", lambda r: gzip.compress(b"".join(r))), TEXTS, "out.warc.gz"),
    "warc.zst": Case(lambda f: _warc(f, ".zst", _zst), TEXTS, "out.warc.zst"),
    "memory": Case(_memory, TEXTS, "out.parquet", True),
}


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]


def _again(file: InputFile, target: Path) -> InputFile:
    """The written file as an input."""
    if file.members:
        [found] = discover([target]).files
        return found
    format = "parquet" if file.format == "memory" else file.format
    return input_file(target, format, file.fields)


def test_same_documents_at_any_split_size(case: Case, tmp_path: Path) -> None:
    file = case.make(tmp_path)
    whole = documents(file)
    assert sorted(str(d["text"]) for d in whole) == sorted(case.expected)
    for size in SIZES:
        splits = format_of(file).splits(file, size)
        assert [s.part for s in splits] == list(range(len(splits)))
        assert {s.parts for s in splits} == {len(splits)}
        assert documents(file, size) == whole


def test_positions_rise_and_are_unique(case: Case, tmp_path: Path) -> None:
    positions = [d["position"] for d in documents(case.make(tmp_path), 100)]
    assert positions == sorted(set(positions))
    assert positions[0] >= 1


@pytest.mark.parametrize("size", [300, WHOLE])
@pytest.mark.parametrize("mask", ["all", "none", "random"])
def test_what_is_kept_is_read_again(case: Case, tmp_path: Path, mask: str, size: int) -> None:
    file = case.make(tmp_path)
    all_documents = documents(file, size)
    generator = np.random.default_rng(7)
    keep = {"all": np.ones(60, bool), "none": np.zeros(60, bool), "random": generator.random(60) < 0.5}[mask]
    found = []
    for split, part, _ in masks(file, size, keep):
        target = tmp_path / str(split.part) / case.target
        target.parent.mkdir()
        format_of(file).write(split, part, target, None, Problems())
        if not (file.members and not part.any()):
            found += documents(_again(file, target))
    kept = [d for d, k in zip(all_documents, keep, strict=True) if k]
    assert [d["text"] for d in found] == [d["text"] for d in kept]
    if file.format != "lines":  # whose ids are positions
        assert [d["id"] for d in found] == [d["id"] for d in kept]


@pytest.mark.parametrize("case", [c for c in CASES.values() if c.notes], ids=[n for n, c in CASES.items() if c.notes])
def test_notes_become_columns(case: Case, tmp_path: Path) -> None:
    file = case.make(tmp_path)
    notes = pa.table({"cluster": pa.array(range(60), pa.int64()), "why": [f'a "b", {n}' for n in range(60)]})
    keep = np.arange(60) % 3 != 0
    found = []
    for split, part, rows in masks(file, 700, keep):
        target = tmp_path / str(split.part) / case.target
        target.parent.mkdir()
        format_of(file).write(split, part, target, notes.slice(rows.start, rows.stop - rows.start), Problems())
        again = _again(file, target)
        found += documents(again.with_fields(replace(again.fields, columns=("cluster", "why"))))
    assert [(d["id"], int(d["cluster"]), d["why"]) for d in found] == [
        (f"d{n}", n, f'a "b", {n}') for n in range(60) if n % 3
    ]


def test_columns_that_the_keep_policy_asks_for(case: Case, tmp_path: Path) -> None:
    file = case.make(tmp_path)
    if "score" in file.fields.columns:
        assert [float(d["score"]) for d in documents(file, 500)] == [n / 2 for n in range(60)]


def test_table_has_the_same_rows_in_the_same_order(case: Case, tmp_path: Path) -> None:
    file = case.make(tmp_path)
    format = format_of(file)
    rows = []
    for split in format.splits(file, 500):
        for batch in format.table(split, Problems()):
            column = "html" if file.format == "html" else "text"
            rows += batch.column(column).to_pylist()
    texts = [t.decode() if isinstance(t, bytes) else t for t in rows]
    assert texts == [d["text"] for d in documents(file)]


def test_writing_twice_gives_the_same_bytes(case: Case, tmp_path: Path) -> None:
    file = case.make(tmp_path)
    [split] = format_of(file).splits(file, WHOLE)
    keep = np.arange(60) % 2 == 0
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        format_of(file).write(split, keep, tmp_path / name / case.target, None, Problems())
    assert _content(tmp_path / "one") == _content(tmp_path / "two") != {}


def _content(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
