"""What Spark reads is what the local engine reads: the same documents in the same order, with the same names."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from neardup.errors import InputError, UsageError
from neardup.gather import Reading, with_fields
from neardup.sample import documents
from neardup.sources import discover, format_of, from_object
from neardup.sources.base import InputFile
from neardup.sources.problems import Problems
from neardup.spark import is_frame
from neardup.spark.inputs import Collected, collected, named
from neardup.spark.listing import _base
from neardup.spark.stages import Stages
from neardup.spark.tasks import unwrapping

PAGES = [
    {"id": page.id, "url": page.url, "text": page.text, "rank": at % 7, "size": len(page.text) / 8}
    for at, page in enumerate(documents())
    if at % 8 == 0
]


def locally(files: list[InputFile], reading: Reading, keep: str, problems: Problems) -> list[tuple[Any, ...]]:
    """Source, position, id, text, address and whether it is HTML, in the order in which the local engine counts."""
    found: list[tuple[Any, ...]] = []
    for file in (with_fields(file, keep, reading, []) for file in files):
        for split in format_of(file).splits(file, 30_000):
            for batch in format_of(file).read(split, problems):
                ids = batch.id.to_pylist() if batch.id is not None else [None] * len(batch)
                urls = batch.columns[file.fields.url].to_pylist() if file.fields.url else [None] * len(batch)
                html = batch.html.tolist() if batch.html is not None else [file.fields.html] * len(batch)
                texts = batch.text.cast(pa.large_binary()).to_pylist()
                rows = zip(batch.positions.tolist(), ids, texts, urls, html, strict=True)
                found += [(file.name, *row) for row in rows]
    return found


def on_spark(made: Collected) -> list[tuple[Any, ...]]:
    rows = made.frame.collect()
    assert len({row.number for row in rows}) == len(rows)
    return [
        (row.source, row.position, row.id, None if row.text is None else bytes(row.text), row.url, row.html)
        for row in sorted(rows, key=lambda row: row.number)
    ]


@pytest.fixture
def collect(spark: SparkSession) -> Any:
    """Collects a source, and lets go of it after the test."""
    made: list[Stages] = []

    def collecting(source: Any, reading: Reading | None = None, keep: str = "longest") -> Collected:
        asked = reading or Reading()
        found = named(spark, source, asked)
        made.append(Stages(spark, None, {"inputs": found.plan(asked)}))
        return collected(spark, found, asked, keep, made[-1])

    yield collecting
    for stages in made:
        stages.drop()


Collect = Callable[..., Collected]


def lines(pages: list[dict[str, Any]], end: str = "\n") -> bytes:
    return "".join(json.dumps(page, ensure_ascii=False) + end for page in pages).encode()


@pytest.fixture
def jsonl(tmp_path: Path) -> Path:
    """Files of many blocks, with all that lines can have; one has other fields, one is empty."""
    folder = tmp_path / "crawl 1"
    (folder / "b [x]").mkdir(parents=True)
    (folder / "a.jsonl").write_bytes(b"\xef\xbb\xbf" + lines(PAGES[:20], "\r\n") + b"\n  \n" + lines(PAGES[20:40]))
    (folder / "b [x]" / "{1}.jsonl").write_bytes(b"\n\n" + lines(PAGES[40:60]).rstrip(b"\n"))
    other = [{"content": page["text"], "key": at} for at, page in enumerate(PAGES[60:])]
    (folder / "b.ndjson.gz").write_bytes(gzip.compress(lines(other)))
    (folder / "empty.jsonl").write_bytes(b"")
    (folder / "_hidden.txt~").write_bytes(b"passed over by Spark and of no known format")
    return folder


def test_json_lines(jsonl: Path, collect: Collect) -> None:
    made = collect(str(jsonl))
    assert on_spark(made) == locally(list(discover([jsonl]).files), Reading(), "longest", Problems())
    assert [file.name for file in made.files] == ["a.jsonl", "b [x]/{1}.jsonl", "b.ndjson.gz", "empty.jsonl"]
    assert made.files[2].fields.text == "content"
    assert "empty.jsonl: is empty" in made.said
    whole = {row.number: bytes(row.line) for row in made.whole[0].frame.where("file = 1").collect()}
    assert b"\n".join(whole[number] for number in sorted(whole)) == (jsonl / "b [x]" / "{1}.jsonl").read_bytes()


def test_some_documents_are_read_again(jsonl: Path, collect: Collect, spark: SparkSession) -> None:
    made = collect(str(jsonl / "*.jsonl"))
    wanted = [row.number for row in made.frame.select("number").collect()][::3]

    def numbers(batches: Any) -> Any:
        for batch in batches:
            yield pa.RecordBatch.from_arrays([pa.array(batch.numbers)], names=["number"])

    only = F.broadcast(spark.createDataFrame([(number,) for number in wanted], "number bigint"))
    again = made.read(numbers, pa.schema([("number", pa.int64())]), only=only)
    assert sorted(row.number for row in again.collect()) == sorted(wanted)


def test_problems_are_those_of_the_local_engine(tmp_path: Path, collect: Collect) -> None:
    broken = [b'{"id": 1, "text"', b'{"id": null, "text": "no id"}', b'{"id": "x", "text": "\xff"}', b"[1, 2]"]
    path = tmp_path / "broken.jsonl"
    path.write_bytes(lines(PAGES[:30]) + b"\n".join(broken) + b"\n" + lines(PAGES[30:60]))
    reading = Reading(on_error="skip", max_document_bytes=3000)
    problems = Problems("skip", 3000)
    expected = locally(list(discover([path]).files), reading, "longest", problems)
    made = collect(str(path), reading)
    assert on_spark(made) == expected
    found = sorted(tuple(row) for row in made.problems.collect())
    assert found == sorted((p.source, p.position, p.kind, p.detail) for p in problems.found)
    assert {kind for _, _, kind, _ in found} == {"not JSON", "no id", "not UTF-8", "not an object", "too long"}


def test_a_broken_line_stops_the_run_in_the_words_of_the_local_engine(tmp_path: Path, collect: Collect) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_bytes(lines(PAGES[:20]) + b'{"id": 1, "text"\n' + lines(PAGES[20:40]))
    with pytest.raises(InputError) as expected:
        locally(list(discover([path]).files), Reading(), "longest", Problems())
    with pytest.raises(InputError) as raised, unwrapping():
        collect(str(path)).frame.collect()
    assert str(raised.value) == str(expected.value)
    assert "broken.jsonl:21: not JSON" in str(raised.value)


@pytest.mark.parametrize("content", [b'[\n{"text": "a"},\n{"text": "b"}]', '{"text": "a"}\n'.encode("utf-16")])
def test_what_is_no_json_lines_at_all(content: bytes, tmp_path: Path, collect: Collect) -> None:
    path = tmp_path / "whole.jsonl"
    path.write_bytes(content)
    with pytest.raises(InputError) as expected:
        locally(list(discover([path]).files), Reading(), "longest", Problems())
    with pytest.raises(InputError) as raised, unwrapping():
        collect(str(path)).frame.collect()
    assert str(raised.value) == str(expected.value)


@pytest.fixture
def parquet(tmp_path: Path) -> Path:
    folder = tmp_path / "day=1"
    folder.mkdir()
    table = pa.Table.from_pylist(PAGES).append_column("page.no", pa.array(range(len(PAGES))))
    pq.write_table(table.slice(0, 30), folder / "b.parquet", row_group_size=7)
    pq.write_table(table.slice(30), folder / "a 2.parquet", row_group_size=11)
    return folder


def test_parquet(parquet: Path, collect: Collect) -> None:
    reading = Reading(id_field="page.no")
    made = collect(str(parquet), reading, "max:rank,min:size,prefer:url=x,longest")
    assert on_spark(made) == locally(list(discover([parquet]).files), reading, "max:rank,min:size", Problems())
    rows = {row.id: row for row in made.frame.collect()}
    for at, page in enumerate(PAGES):
        row = rows[str(at)]
        shown = {column: row[f"shown:{column}"] for column in ("rank", "size", "url")}
        kept = {"rank": int(shown["rank"]), "size": float(shown["size"]), "url": shown["url"]}
        assert kept == {column: page[column] for column in kept}
    for column in ("rank", "size"):
        by_order = sorted(rows.values(), key=lambda row: bytes(row[f"order:{column}"]))
        values = [float(row[f"shown:{column}"]) for row in by_order]
        assert values == sorted(values)
    whole = made.whole[0].frame.collect()
    assert {row.row["page.no"]: row.row.text for row in whole} == {at: page["text"] for at, page in enumerate(PAGES)}


def test_ids_that_are_missing(tmp_path: Path, collect: Collect) -> None:
    path = tmp_path / "pages.parquet"
    ids = [0.5, None, 2.0]
    pq.write_table(pa.table({"id": pa.array(ids, pa.float64()), "text": ["a", "b", None]}), path)
    problems = Problems("skip")
    reading = Reading(on_error="skip")
    made = collect(str(path), reading)
    assert on_spark(made) == locally(list(discover([path]).files), reading, "longest", problems)
    assert [tuple(row) for row in made.problems.collect()] == [
        ("pages.parquet", 2, "null id", "the column 'id' is null"),
    ]


def test_files_that_are_documents(tmp_path: Path, collect: Collect) -> None:
    folder = tmp_path / "texts"
    (folder / "below").mkdir(parents=True)
    for at, page in enumerate(PAGES[:20]):
        (folder / f"{at}.txt").write_text(page["text"], encoding="utf-16" if at == 3 else "utf-8")
    (folder / "below" / "packed.txt.gz").write_bytes(gzip.compress(PAGES[20]["text"].encode()))
    (folder / "below" / "page.html").write_bytes(b"<html><p>\xe4</html>")
    (folder / "long.txt").write_text("long " * 1000)
    (folder / "nothing.txt").write_bytes(b"")
    (folder / "nothing.txt.gz").write_bytes(b"")
    (folder / "not.bin").write_bytes(b"\x00")
    reading = Reading(on_error="skip", max_document_bytes=4000)
    problems = Problems("skip", 4000)
    inputs = discover([folder])
    expected = locally(list(inputs.files), reading, "longest", problems)
    made = collect([str(folder)], reading)
    assert on_spark(made) == expected
    assert len(expected) > 15
    found = sorted((row.source, row.kind, row.detail) for row in made.problems.collect())
    assert found == sorted((p.source, p.kind, p.detail) for p in problems.found)
    assert made.said == inputs.remarks
    with pytest.raises(InputError, match=r"too long: the file has more than 4,000 bytes"):
        collect([str(folder)], Reading(max_document_bytes=4000))


@pytest.mark.parametrize("place", ["", "/*"])
def test_links_and_hidden_names(place: str, tmp_path: Path, collect: Collect) -> None:
    """Spark alone goes round a loop forty times, and passes over links to nothing without a word."""
    folder = tmp_path / "in"
    for name in ("in/a.txt", "in/sub/b.txt", "there/deep/c.txt", "in/.d.txt", "in/sub/.e.txt", "in/f.jsonl"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text('{"text": "of ' + name + '"}')
    (folder / "sub/up").symlink_to("..")
    (folder / "link").symlink_to(tmp_path / "there")
    (folder / "again.txt").symlink_to("a.txt")
    (folder / "gone.jsonl").symlink_to("nowhere")
    reading, problems = Reading(on_error="skip"), Problems("skip")
    inputs = discover([f"{folder}{place}"], problems=problems)
    made = collect([f"{folder}{place}"], reading)
    assert on_spark(made) == locally(list(inputs.files), reading, "longest", Problems())
    assert len(on_spark(made)) == 4
    assert [tuple(row) for row in made.problems.collect()] == [
        (str(folder / "gone.jsonl"), None, "unreadable", "a link to nowhere, which is not there")
    ]
    assert set(made.said) >= set(inputs.remarks)
    assert len(inputs.remarks) == 2
    made.check()
    with pytest.raises(InputError, match=r"gone\.jsonl: unreadable: a link to nowhere"):
        collect([f"{folder}{place}"])


def test_names_that_spark_hides_are_counted(tmp_path: Path, collect: Collect) -> None:
    for name in ("a.txt", "_b.txt", "_tmp/c.txt", "_SUCCESS", "day=1/_x=1/d.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("text")
    made = collect(str(tmp_path))
    assert [row[2] for row in on_spark(made)] == ["a.txt", "day=1/_x=1/d.txt"]
    assert [said for said in made.said if "hidden" in said and ": 2." in said]


def frame_of(spark: SparkSession, table: pa.Table) -> DataFrame:
    return spark.createDataFrame(table).repartitionByRange(5, "rank").sortWithinPartitions("rank", "url")


def test_a_frame(spark: SparkSession, collect: Collect) -> None:
    table = pa.Table.from_pylist(PAGES).drop_columns("id")
    frame = frame_of(spark, table)
    assert is_frame(frame)
    assert not is_frame(table)
    made = collect(frame, None, "max:rank")
    in_order = from_object(table.sort_by([("rank", "ascending"), ("url", "ascending")]))
    assert on_spark(made) == locally([in_order], Reading(), "max:rank", Problems())
    assert made.said == ["table: text from 'text', ids by row, as there is no id column (guessed; choose with "
                         "--text-field, --id-field)"]  # fmt: skip


def test_a_frame_is_never_taken_for_another_one(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.createDataFrame([("a", 1)], "text string, text2 int")
    plans = [named(spark, frame, Reading()).plan(Reading()) for _ in range(2)]
    assert plans[0] != plans[1]
    doubled = frame.select("text", F.col("text2").alias("text"))
    with pytest.raises(InputError, match="two columns named 'text'"):
        named(spark, doubled, Reading())


def test_several_inputs_of_several_formats(jsonl: Path, parquet: Path, collect: Collect) -> None:
    places = [str(parquet / "a*.parquet"), str(jsonl / "a.jsonl"), f"file://{jsonl}/b [x]"]
    local = [parquet / "a*.parquet", jsonl / "a.jsonl", jsonl / "b [x]"]
    reading = Reading(id_field="none")
    assert on_spark(collect(places, reading)) == locally(
        list(discover([str(place) for place in local]).files), reading, "longest", Problems()
    )


def test_inputs_that_changed_are_noticed(jsonl: Path, collect: Collect) -> None:
    made = collect(str(jsonl))
    made.check()
    with (jsonl / "a.jsonl").open("ab") as file:
        file.write(b"{}\n")
    with pytest.raises(InputError, match=r"a\.jsonl changed while it was being read"):
        made.check()


@pytest.mark.parametrize(
    ("name", "error", "said"),
    [
        ("none.jsonl", InputError, "no such file or folder that Spark can see"),
        ("none*", InputError, "no file fits"),
        ("a/**/b", UsageError, "Name the folder"),
        ("a.csv", UsageError, "csv files are not read on Spark; parquet, jsonl, text, html are"),
        ("a.jsonl.xz", UsageError, "it can .gz, .bz2, .zst"),
        ("a.unknown", InputError, "its name does not tell its format"),
    ],
)
def test_what_cannot_be_read(name: str, error: type[Exception], said: str, tmp_path: Path, spark: SparkSession) -> None:
    if name.startswith("a."):
        (tmp_path / name).write_bytes(b"text")
    with pytest.raises(error) as raised:
        named(spark, str(tmp_path / name), Reading())
    assert said in str(raised.value)


def test_a_column_that_is_not_there(parquet: Path, collect: Collect) -> None:
    with pytest.raises(UsageError, match=r"there is no column 'txt' .* Did you mean 'text'"):
        collect(str(parquet), Reading(text_field="txt"))


@pytest.mark.parametrize(
    ("place", "paths", "base", "is_file"),
    [
        ("s3a://bucket/x", ["s3a://bucket/x/a/b.jsonl", "s3a://bucket/x/c.jsonl"], "s3a://bucket/x", False),
        ("s3a://bucket/x/", ["s3a://bucket/x/c.jsonl"], "s3a://bucket/x", False),
        ("hdfs:///crawl/c.jsonl", ["hdfs://node:9000/crawl/c.jsonl"], "hdfs://node:9000/crawl", True),
        ("crawl", ["hdfs://node/user/me/crawl/x/1", "hdfs://node/user/me/crawl/x/2"], "hdfs://node/user/me/crawl", 0),
        ("/crawl/*.jsonl", ["hdfs://node/crawl/a.jsonl", "hdfs://node/crawl/ab.jsonl"], "hdfs://node/crawl", False),
        ("s3a://b/{x,y}/*.gz", ["s3a://b/x/1.gz", "s3a://b/y/2.gz"], "s3a://b", False),
    ],
)  # fmt: skip
def test_names_are_relative_to_what_was_given(place: str, paths: list[str], base: str, is_file: bool) -> None:
    assert _base(place, paths, "*" in place) == (base, is_file)


def test_a_folder_of_hostile_files_is_read_as_by_the_local_engine(tmp_path: Path, collect: Collect) -> None:
    """Lines that are no documents or too long, JSON that nests without end, damaged and overlong files."""
    limit = 20_000
    good = b'{"id":"%d","text":"some words"}\n'
    lines = good % 1 + b"x\n\xff\n[1]\n{}\n" + b'{"id":"n","text":' + b"[" * 10_000 + b"\n" + good % 2
    (tmp_path / "lines.jsonl").write_bytes(lines + b'{"id":"l","text":"%s"}\n' % (b"a" * limit) + good % 3)
    packed = gzip.compress(b"some words of a text " * 100)
    for name, content in {
        "good.txt": b"some words",
        "good.txt.gz": packed,
        "cut.txt.gz": packed[:-9],
        "none.txt.gz": b"no gzip",
        "bomb.txt.gz": gzip.compress(bytes(1 << 24)),
        "long.txt": b"a" * (limit + 1),
    }.items():
        (tmp_path / name).write_bytes(content)
    reading = Reading(on_error="skip", max_document_bytes=limit)
    problems = Problems("skip", limit)
    files = discover([tmp_path], problems=problems).files
    expected = locally(list(files), reading, "first", problems)
    made = collect(str(tmp_path), reading)
    assert on_spark(made) == expected
    found = {(row.source, row.position, row.kind, row.detail) for row in made.problems.collect()}
    assert found == {(p.source, p.position, p.kind, p.detail) for p in problems.found}
    assert len(expected) == 5
    assert problems.counts.total() == 10
