"""The inputs of one format as a frame of rows, of which a task reads documents.

Parquet         Spark knows the row of a file; nothing is read beforehand
JSON Lines      lines are counted per block of a file, so they are kept as a stage, from which the rest is read
text, HTML      a file is a document
a DataFrame     rows are counted per partition, so they are kept as a stage
"""

import json
import os
from codecs import BOM_UTF8
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import (
    BinaryType,
    CharType,
    DataType,
    NullType,
    NumericType,
    StringType,
    StructType,
    VarcharType,
)

from neardup.gather import Reading, with_fields
from neardup.sources.base import Fields, InputFile
from neardup.sources.compression import compression_of
from neardup.sources.files import printable
from neardup.sources.folder import location
from neardup.sources.jsonl import SAMPLE_LINES, one_kind
from neardup.sources.problems import Problem, Problems
from neardup.sources.table import InMemory, MemoryFile
from neardup.spark.listing import Listing, Stored, escaped
from neardup.spark.reading import KEEP, LINES, Reader, counted_lines, too_long
from neardup.spark.stages import Stages
from neardup.spark.tasks import mapped, spark_schema

FILE_BITS = 40
"""A document's number has its place in the file in these bits, and the file's number above them."""

_WRITES_VOID = (4, 3)
"""The first version of Spark that is known to write columns without a type to Parquet."""
_ROW_BITS = 33  # of monotonically_increasing_id: the partition's number is above them
_WHERE = [("path", pa.string()), ("file", pa.int32()), ("source", pa.string()), ("kind", pa.int32())]
_MEMBERS = pa.schema([*_WHERE, ("position", pa.int64()), ("id", pa.string())])
_BLOCKS = pa.schema([_WHERE[0], ("block", pa.int64()), *_WHERE[1:], ("first", pa.int64())])
_EMPTY = pa.schema([("path", pa.string()), ("content", pa.binary())])
_FIRST = pa.schema([("partition", pa.int64()), ("first", pa.int64())])
_KINDS = {"text": pa.string(), "bytes": pa.binary(), "number": pa.int64(), "other": pa.bool_()}


@dataclass(frozen=True)
class Whole:
    """Everything that inputs of one format hold, for writing what is kept of it.

    The frame has number, file and source, and beside them: `row`, a struct of all columns, for Parquet and DataFrames;
    `line`, without its end, for JSON Lines; `id` and `content` for files that are documents.
    """

    format: str
    frame: DataFrame


@dataclass(frozen=True)
class Part:
    """The inputs of one format: rows as `reading` wants them, who reads them, and everything there is."""

    rows: DataFrame
    reader: Reader
    whole: Whole


@dataclass
class Parts:
    """Makes them, chooses the fields of every file on the way, and remembers what is to be said."""

    spark: SparkSession
    files: list[InputFile]
    reading: Reading
    keep: str
    stages: Stages
    said: list[str]
    noted: list[Problem] = field(default_factory=list)
    made: list[Part] = field(default_factory=list)

    def from_listing(self, listing: Listing) -> None:
        """All inputs that are files, format by format."""
        for format in dict.fromkeys(file.format for file in self.files):
            if format == "parquet":
                self.made.append(self._from_parquet(listing.stored))
            elif format == "jsonl":
                self.made.append(self._from_jsonl(listing.stored))
            else:
                self.made.append(self._from_files(listing, format))

    def from_frame(self, frame: DataFrame) -> None:
        """The one input that is a frame."""
        self.files[0] = self._described(self.files[0], _spark_kinds(frame.schema))
        columns = [_column(field.name, field.dataType) for field in frame.schema]
        place = F.monotonically_increasing_id().alias("place")
        kept = self.stages.keep("rows", lambda: frame.select(F.struct(*columns).alias("row"), place))
        starts = _partition_starts(self.spark, kept)

        def placed(*columns: Column) -> DataFrame:
            rows = kept.select(F.shiftright("place", _ROW_BITS).alias("partition"), "place", *columns)
            position = (F.col("place") + F.col("first")).alias("position")
            constant = F.lit(0).alias("file"), F.lit(self.files[0].name).alias("source"), F.lit(0).alias("kind")
            return rows.join(F.broadcast(starts), "partition").select("*", position, *constant)

        everything = F.col("row")
        self.made.append(_tabular(placed, everything.getField, everything, self.files[0], self.reading))

    def _from_parquet(self, stored: dict[str, Stored]) -> Part:
        mine = [number for number, file in enumerate(self.files) if file.format == "parquet"]
        table = (
            self.spark.read.option("mergeSchema", True)
            .option("recursiveFileLookup", True)
            .parquet(*self._loadable(mine, stored))
        )
        for number in mine:
            self.files[number] = self._described(self.files[number], _spark_kinds(table.schema))
        metadata = table.metadataColumn("_metadata")
        files = [(stored[self.files[n].path].key, n, self.files[n].name, 0) for n in mine]
        where = self._at_hand(files, pa.schema(_WHERE))

        def placed(*columns: Column) -> DataFrame:
            place = metadata["file_path"].alias("path"), (metadata["row_index"] + 1).alias("position")
            return table.select(*place, *columns).join(F.broadcast(where), "path")

        kinds = {field.name: field.dataType for field in table.schema}
        everything = F.struct(*(self._stored(name, kind) for name, kind in kinds.items()))
        return _tabular(placed, lambda name: _column(name, kinds[name]), everything, self.files[mine[0]], self.reading)

    def _stored(self, name: str, kind: DataType) -> Column:
        """Return a column of a Parquet file with its type; text where it has none and this Spark cannot write that."""
        version = tuple(int(number) for number in self.spark.version.split(".")[:2])
        return _named(name) if version >= _WRITES_VOID else _column(name, kind)

    def _from_jsonl(self, stored: dict[str, Stored]) -> Part:
        mine = [number for number, file in enumerate(self.files) if file.format == "jsonl"]

        def counted() -> DataFrame:
            text = self.spark.read.option("recursiveFileLookup", True).text(self._loadable(mine, stored), lineSep="\n")
            metadata = text.metadataColumn("_metadata")
            places = metadata["file_path"].alias("path"), metadata["file_block_start"].alias("block")
            return mapped(text.select(*places, F.col("value").cast("binary")), counted_lines, LINES)

        lines = self.stages.keep("lines", counted)
        firsts = _first_lines(lines)
        kinds = _fields_of(lines, firsts)
        distinct: dict[Fields, int] = {}
        where = []
        for number in mine:
            key = stored[self.files[number].path].key
            file = self.files[number] = self._described(self.files[number], kinds.get(key, {}))
            kind = distinct.setdefault(file.fields, len(distinct))
            blocks = firsts.get(key, {}).items()
            where += [(key, block, number, file.name, kind, first) for block, first in blocks]
        rows = lines.drop("fields").join(F.broadcast(self._at_hand(where, _BLOCKS)), ["path", "block"])
        position = (F.col("first") + F.col("line")).alias("position")
        rows = rows.select("file", "source", "kind", position, F.col("value").alias("line"))
        rows = rows.select(_number(), "file", "source", "kind", "position", "line")
        reader = Reader("jsonl", tuple(distinct), self.reading.on_error, self.reading.max_document_bytes)
        return Part(
            rows, reader, Whole("jsonl", rows.select("number", "file", "source", _without_mark().alias("line")))
        )

    def _from_files(self, listing: Listing, format: str) -> Part:
        rules = Problems(self.reading.on_error, self.reading.max_document_bytes)
        distinct: dict[Fields, int] = {}
        where = []
        empty = []  # Spark passes over files without content
        for number, file in enumerate(self.files):
            if file.format != format:
                continue
            self.files[number] = with_fields(file, self.keep, self.reading, self.said)
            kind = distinct.setdefault(self.files[number].fields, len(distinct))
            for position, (path, member) in enumerate(zip(paths_of(file), file.members, strict=True), 1):
                stored, name = listing.stored[path], printable(member)
                if compression_of(member)[0] is None and stored.size > rules.max_document_bytes:
                    too_long(name, rules)
                else:
                    where.append((stored.key, number, file.name, kind, position, name))
                    empty += [stored.key] if not stored.size else []
        self.noted += rules.found
        reader = self.spark.read.format("binaryFile").option("recursiveFileLookup", True)
        loaded = reader.option("pathGlobFilter", _endings([name for *_, name in where])).load(list(listing.places))
        contents = loaded.select(loaded.metadataColumn("_metadata")["file_path"].alias("path"), "length", "content")
        members = self._at_hand(where, _MEMBERS)
        largest = max([self.reading.max_document_bytes, *(s.size for s in listing.stored.values() if _packed(s.path))])
        rows = contents.where(F.col("length") <= largest).drop("length")
        rows = rows.unionAll(self._at_hand([(key, b"") for key in empty], _EMPTY)).join(F.broadcast(members), "path")
        rows = rows.select(_number(), "file", "source", "kind", "position", "id", "content")
        read_by = Reader(format, tuple(distinct), self.reading.on_error, self.reading.max_document_bytes)
        return Part(rows, read_by, Whole(format, rows.select("number", "file", "source", "id", "content")))

    def _described(self, file: InputFile, kinds: dict[str, str]) -> InputFile:
        """The file with its fields, which are chosen by the names and kinds of its columns."""
        columns = InMemory(pa.schema([(name, _KINDS[kind]) for name, kind in kinds.items()]).empty_table())
        stand_in = MemoryFile(file.path, file.name, file.format, size=file.size, stamp=file.stamp, source=columns)
        return file.with_fields(with_fields(stand_in, self.keep, self.reading, self.said).fields)

    def _loadable(self, numbers: list[int], stored: dict[str, Stored]) -> list[str]:
        return [escaped(stored[self.files[number].path].path) for number in numbers]

    def _at_hand(self, rows: list[tuple[Any, ...]], schema: pa.Schema) -> DataFrame:
        columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in schema]
        return at_hand(self.spark, pa.table(columns, schema=schema))


def _partition_starts(spark: SparkSession, rows: DataFrame) -> DataFrame:
    """For every partition what added to a row's place gives its row number, from 1."""
    counts = rows.groupBy(F.shiftright("place", _ROW_BITS).alias("partition")).agg(F.count("*").alias("rows")).collect()
    partitions: list[int] = []
    firsts: list[int] = []
    total = 1
    for partition, count in sorted(counts):
        partitions.append(partition)
        firsts.append(total - (partition << _ROW_BITS))
        total += count
    return at_hand(spark, pa.table([partitions, firsts], schema=_FIRST))


def _tabular(
    placed: Callable[..., DataFrame],
    column: Callable[[str], Column],
    everything: Column,
    file: InputFile,
    reading: Reading,
) -> Part:
    """From a function that selects columns and adds file, source, kind and position."""
    fields = file.fields
    wanted = {"text": fields.text, "id": fields.id, "url": fields.url} | {f"{KEEP}{c}": c for c in fields.columns}
    told = {role: column(name).alias(role) for role, name in wanted.items() if name is not None}
    rows = placed(*told.values()).select(
        _number(), "file", "source", "kind", "position", *(f"`{role}`" for role in told)
    )
    whole = placed(everything.alias("row")).select(_number(), "file", "source", "row")
    reader = Reader(file.format, (fields,), reading.on_error, reading.max_document_bytes)
    return Part(rows, reader, Whole(file.format, whole))


def _first_lines(lines: DataFrame) -> dict[str, dict[int, int]]:
    """For every file and block of it the line, from 1, that comes first in the block."""
    counts = lines.groupBy("path", "block").agg(F.max("line").alias("last")).collect()
    firsts: dict[str, dict[int, int]] = {}
    following: dict[str, int] = {}
    for row in sorted(counts):
        firsts.setdefault(row.path, {})[row.block] = following.get(row.path, 1)
        following[row.path] = following.get(row.path, 1) + row.last + 1
    return firsts


def _fields_of(lines: DataFrame, firsts: dict[str, dict[int, int]]) -> dict[str, dict[str, str]]:
    """For every file the names and kinds of the fields in its first lines, in the order in which they come up."""
    told = lines.where("fields IS NOT NULL").groupBy("path", "block", "fields").agg(F.min("line").alias("line"))
    found: dict[str, dict[str, set[str]]] = {}
    for row in sorted(told.collect(), key=lambda row: (row.path, row.block, row.line)):
        if firsts[row.path][row.block] + row.line <= SAMPLE_LINES:
            for name, kind in json.loads(row.fields).items():
                found.setdefault(row.path, {}).setdefault(name, set()).add(kind)
    return {path: {name: one_kind(kinds) for name, kinds in names.items()} for path, names in found.items()}


def _without_mark() -> Column:
    """A line without the mark that a file may begin with: it may come anywhere in what is written."""
    marked = (F.col("position") == 1) & F.startswith(F.col("line"), F.lit(BOM_UTF8))
    return F.when(marked, F.substring("line", len(BOM_UTF8) + 1, 1 << 30)).otherwise(F.col("line"))


def _packed(path: str) -> bool:
    return compression_of(path)[0] is not None


def _endings(names: list[str]) -> str:
    """A pattern that all these file names fit, so that other files are not loaded."""
    endings = {os.path.splitext(name)[1] for name in names}
    plain = all(ending and ending[1:].isalnum() for ending in endings)
    return f"*{{{','.join(sorted(endings))}}}" if plain and endings else "*"


def at_hand(spark: SparkSession, table: pa.Table | pa.RecordBatch) -> DataFrame:
    """A few rows of this process as a frame."""
    whole = table if isinstance(table, pa.Table) else pa.Table.from_batches([table])
    return spark.createDataFrame(whole, spark_schema(whole.schema))


def _number() -> Column:
    return (F.shiftleft(F.col("file").cast("long"), FILE_BITS) + F.col("position")).alias("number")


def _column(name: str, kind: DataType) -> Column:
    """Return a column by its name; as text where it has no type, and therefore no values."""
    column = _named(name)
    return column.cast("string").alias(name) if isinstance(kind, NullType) else column


def _named(name: str) -> Column:
    """Return a column by its name, whatever signs are in that."""
    return F.col("`" + name.replace("`", "``") + "`").alias(name)


def paths_of(file: InputFile) -> list[str]:
    """Of the files that it is made of."""
    return [location(file, member) for member in file.members] or [file.path]


def _spark_kinds(schema: StructType) -> dict[str, str]:
    return {field.name: _kind(field.dataType) for field in schema}


def _kind(kind: DataType) -> str:
    if isinstance(kind, StringType | CharType | VarcharType | NullType):
        return "text"
    if isinstance(kind, BinaryType):
        return "bytes"
    return "number" if isinstance(kind, NumericType) else "other"
