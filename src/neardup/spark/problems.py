"""What could not be read or compared, wherever it was met: rows of SKETCHES without a number, ids that occur twice,
files that were never loaded.
"""

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from neardup.gather import nothing_read, pages_as_text, report_repeated
from neardup.sources.problems import Problem, Problems
from neardup.spark.parts import at_hand
from neardup.spark.reading import PROBLEMS, problem_rows
from neardup.spark.sketching import PAGES
from neardup.spark.tasks import Batches, mapped

_REPEATED = pa.schema([("number", pa.int64()), ("id", pa.string()), ("earlier", pa.string()), *PROBLEMS])


def repeated_ids(sketches: DataFrame) -> DataFrame:
    """The documents whose id an earlier one has too, as problems. Ids are looked at where their hashes are equal."""
    documents = sketches.filter("number is not null")
    suspects = documents.groupBy("id_hash").agg(F.count("*").alias("n")).filter("n > 1").select("id_hash")
    named = documents.select("number", "id", "id_hash", "source", "position").join(suspects, "id_hash", "left_semi")
    place = F.concat_ws(":", "source", F.col("position").cast("string"))
    first = named.groupBy("id").agg(F.min("number").alias("first"), F.min_by(place, "number").alias("earlier"))
    rows = named.join(first, "id").filter("number != first").select("number", "id", "earlier", "source", "position")
    return mapped(rows, _told, _REPEATED)


def _told(batches: Batches) -> Batches:
    """Runs on executors."""
    for rows in batches:
        met = Problems("skip")
        for row in rows.to_pylist():
            report_repeated(met, row["id"], row["source"], row["position"], row["earlier"])
        if rows.num_rows:
            columns = [*(rows.column(name) for name in ("number", "id", "earlier")), *problem_rows(met.found).columns]
            arrays = [column.cast(field.type) for column, field in zip(columns, _REPEATED, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, schema=_REPEATED)


def refuse_repeated(repeated: DataFrame) -> None:
    """The first one stops a run that is to stop."""
    for row in repeated.sort("number").limit(1).collect():
        report_repeated(Problems("stop"), row["id"], row["source"], row["position"], row["earlier"])


def refuse_nothing_read(problems: DataFrame, sketches: DataFrame) -> None:
    """Raise an error where everything was skipped."""
    if sketches.filter("number is not null").limit(1).count():
        return
    for row in problems.sort(*PROBLEMS.names).limit(1).collect():
        raise nothing_read(problems.count(), Problem(**row.asDict()))


def pages_met(sketches: DataFrame) -> list[str]:
    """What is said where texts look like HTML and are not read as such."""
    met = sketches.filter(F.col("number").isNull() & (F.col("kind") == PAGES)).agg(F.max("source")).first()
    return [] if met is None or met[0] is None else [pages_as_text(met[0])]


def unread(spark: SparkSession, sketches: DataFrame, repeated: DataFrame, noted: list[Problem]) -> DataFrame:
    """All problems, in the columns of PROBLEMS."""
    names = PROBLEMS.names
    met = sketches.filter(F.col("number").isNull() & (F.col("kind") != PAGES)).select(*names)
    met = met.unionByName(repeated.select(*names))
    return met.unionByName(at_hand(spark, problem_rows(noted))) if noted else met
