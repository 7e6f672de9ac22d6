"""The kept documents, written by Spark: JSON Lines as they were, everything else as Parquet."""

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from neardup.errors import UsageError
from neardup.model import NOTES
from neardup.sources.jsonl import with_notes
from neardup.spark.parts import Whole
from neardup.spark.tasks import Batches, mapped


def kept_rows(whole: Whole, documents: DataFrame, gone: DataFrame) -> DataFrame:
    """What is kept of the inputs of one format. Both frames have numbers: of all documents, and of those removed."""
    return _plain(whole, _documents(whole, documents).join(gone, "number", "left_anti"))


def _documents(whole: Whole, documents: DataFrame) -> DataFrame:
    """Every row of a table is a document, and every file; of lines, those that could be read."""
    return whole.frame.join(documents, "number", "left_semi") if whole.format == "jsonl" else whole.frame


def annotated_rows(whole: Whole, documents: DataFrame, notes: DataFrame) -> DataFrame:
    """All documents, with the columns of NOTES."""
    rows = _documents(whole, documents).join(notes, "number", "left")
    first, *others = NOTES.names
    noted = [F.coalesce(F.col(first), F.lit(True)).alias(first), *others]
    if whole.format == "jsonl":
        return mapped(rows.select("line", *noted), _annotated, "value string")
    if whole.format in ("text", "html"):
        raise UsageError(
            f"--annotate adds columns, and the format {whole.format!r} has none. Leave it away: groups.parquet has the "
            "same facts by id."
        )
    clash = sorted(set(whole.frame.select("row.*").columns) & set(NOTES.names))
    if clash:
        raise UsageError(f"--annotate adds a column {clash[0]!r}, and there is one in the input. Rename that one.")
    return rows.select("row.*", *noted)


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
        lines = [with_notes(line, added) for line, added in zip(rows.column("line").to_pylist(), notes, strict=True)]
        yield pa.RecordBatch.from_arrays([pa.array(lines, pa.binary()).cast(pa.string())], names=["value"])


def write(rows: DataFrame, whole: Whole, path: str) -> None:
    """One dataset, a file per partition."""
    writer = rows.write.mode("overwrite")
    if whole.format == "jsonl":
        writer.text(path)
    else:
        writer.option("compression", "zstd").parquet(path)
