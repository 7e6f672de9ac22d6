"""The kept documents, written by Spark: JSON Lines as they were, everything else as Parquet."""

import re

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from neardup.errors import UsageError
from neardup.model import NOTES
from neardup.sources.jsonl import kinds_of, with_notes
from neardup.sources.tabular import clash
from neardup.spark.chosen import among, without
from neardup.spark.listing import escaped
from neardup.spark.parts import Whole
from neardup.spark.storage import rename_parts
from neardup.spark.tasks import Batches, mapped


def kept_rows(whole: Whole, gone: DataFrame) -> DataFrame:
    """Return what is kept of the inputs of one format: all but the removed documents, whose numbers are in `gone`."""
    return _plain(whole, without(whole.frame, gone))


def kept_documents(whole: Whole, documents: DataFrame, gone: DataFrame) -> DataFrame:
    """Return the kept documents alone. Every row of a table is one, and every file; of lines, those that were read."""
    read = among(whole.frame, documents) if whole.format == "jsonl" else whole.frame
    return _plain(whole, without(read, gone))


def other_lines(whole: Whole, documents: DataFrame) -> DataFrame:
    """Return the lines that are no documents: blank ones, and what could not be read. They stay where they are."""
    return without(whole.frame, documents)


def annotated_rows(whole: Whole, documents: DataFrame, notes: DataFrame) -> DataFrame:
    """Return everything, the documents with the columns of NOTES."""
    read = among(whole.frame, documents) if whole.format == "jsonl" else whole.frame
    rows = read.join(notes, "number", "left")
    first, *others = NOTES.names
    noted = [F.coalesce(F.col(first), F.lit(True)).alias(first), *others]
    if whole.format == "jsonl":
        lines = mapped(rows.select("source", "line", *noted), _annotated, "value binary")
        return lines.select(F.col("value").cast("string")).unionAll(_plain(whole, other_lines(whole, documents)))
    return rows.select("row.*", *noted)


def check_annotated(wholes: list[Whole]) -> None:
    """What cannot be annotated is refused before anything is written."""
    for whole in wholes:
        if whole.format in ("text", "html"):
            raise UsageError(
                f"--annotate adds columns, and the format {whole.format!r} has none. Leave it away: groups.parquet has "
                "the same facts by id."
            )
        for name in _columns(whole):
            if name in NOTES.names:
                raise clash(whole.format, "column", name)


def _columns(whole: Whole) -> list[str]:
    return [] if whole.format == "jsonl" else whole.frame.select("row.*").columns


def _plain(whole: Whole, rows: DataFrame) -> DataFrame:
    if whole.format == "jsonl":
        return rows.select(F.col("line").cast("string").alias("value"))
    if whole.format in ("text", "html"):
        return rows.select("id", "content")
    return rows.select("row.*")


def _annotated(batches: Batches) -> Batches:
    """Runs on executors."""
    for rows in batches:
        notes = rows.select(NOTES.names).to_pylist()
        lines = []
        for source, line, added in zip(*(rows.column(n).to_pylist() for n in ("source", "line")), notes, strict=True):
            _refuse_clash(source, line)
            lines.append(with_notes(line, added))
        yield pa.RecordBatch.from_arrays([pa.array(lines, pa.binary())], names=["value"])  # not all of them are UTF-8


_NAMES = re.compile("|".join(f'"{name}"' for name in NOTES.names).encode())


def _refuse_clash(source: str, line: bytes) -> None:
    if _NAMES.search(line) is None:
        return
    for name in kinds_of(line):
        if name in NOTES.names:
            raise clash(source, "field", name)


def write(rows: DataFrame, whole: Whole, path: str) -> int:
    """Write one dataset, a file per partition; return how many rows or lines are in it when it is read back."""
    writer, reader = rows.write.mode("overwrite"), rows.sparkSession.read
    if whole.format == "jsonl":
        writer.text(path)
        rename_parts(rows.sparkSession, path, ".txt", ".jsonl")  # Spark says .txt, which is read as one document
        return reader.text(escaped(path), lineSep="\n").count()
    writer.option("compression", "zstd").parquet(path)
    return reader.schema(rows.schema).parquet(escaped(path)).count()
