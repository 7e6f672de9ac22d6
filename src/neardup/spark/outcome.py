"""From stars or components to every document: who is removed, for whom, with the evidence; and the tables of that.

decided   number, kept_for, relation, score, resemblance, removed_in_kept, kept_in_removed, measured
"""

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from neardup.model import GROUPS, KEPT_SOURCES, NOTES, RELATIONS, REMOVED
from neardup.sources.ids import common_id_type
from neardup.spark.candidates import Candidates
from neardup.spark.stars import Formed
from neardup.spark.weighing import EVIDENCE

_SPARK_TYPES = {
    pa.int8(): "tinyint",
    pa.int16(): "smallint",
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.decimal128(20, 0): "decimal(20,0)",
}
_NUMBERS = ("resemblance", "removed_in_kept", "kept_in_removed")


def decided(candidates: Candidates, formed: Formed, how: str, full: float) -> DataFrame:
    """One row per removed document. `how` scores are found, and the score of identical documents."""
    sets = candidates.sets
    centres = formed.centres.select(F.col("i").alias("row"), "j", *EVIDENCE)
    documents = candidates.order.select("number", "holder").join(sets.select("holder", "row"), "holder")
    told = documents.join(centres, "row", "left").withColumn("row", F.coalesce("j", "row"))
    told = told.join(sets.select("row", F.col("holder").alias("kept_for")), "row").filter("number != kept_for")
    weighed = F.col("j").isNotNull()
    relations = F.array(*(F.lit(name) for name in RELATIONS))
    return told.select(
        "number",
        "kept_for",
        F.when(weighed, F.element_at(relations, F.col("relation") + 1)).otherwise("identical").alias("relation"),
        *(
            F.when(weighed, _known(F.col(column))).otherwise(1.0).alias(name)
            for column, name in zip(("resemblance", "inside", "around"), _NUMBERS, strict=True)
        ),
        F.when(weighed, how).otherwise("identity").alias("measured"),
        F.when(weighed, F.col("score")).otherwise(float(full)).alias("score"),
    )


def _known(value: Column) -> Column:
    """NaN stands for what is not known."""
    return F.when(~F.isnan(value), value)


def id_type(sketches: DataFrame) -> str:
    """Return the type that all ids have in the inputs, as Spark calls it; text where they differ."""
    places = [row[0] for row in sketches.select("id_type").distinct().collect()]
    return _SPARK_TYPES.get(common_id_type(places), "string")


def removed_table(decisions: DataFrame, sketches: DataFrame, ids: str) -> DataFrame:
    """As OUT/removed.parquet has it, in the order of the input; ids of this type."""
    named = sketches.select("number", F.col("id").cast(ids).alias("id"), "url")
    kept = named.select(F.col("number").alias("kept_for"), F.col("id").alias("kept_id"), F.col("url").alias("kept_url"))
    rows = decisions.join(named, "number").join(kept, "kept_for").sort("number")
    return rows.withColumn("kept_source", F.lit(KEPT_SOURCES[0])).select(*REMOVED.names)


def groups_table(decisions: DataFrame, sketches: DataFrame, ids: str) -> DataFrame:
    """As OUT/groups.parquet has it: one row per document that has company, in the order of the input; ids of this
    type."""
    sizes = decisions.groupBy("kept_for").agg((F.count("*") + 1).alias("size"))
    members = decisions.select("number", "kept_for").unionByName(
        sizes.select(F.col("kept_for").alias("number"), "kept_for")
    )
    named = sketches.select("number", F.col("id").cast(ids).alias("id"))
    groups = named.select(F.col("number").alias("kept_for"), F.col("id").alias("group_id"), F.col("id").alias("group"))
    rows = members.join(sizes, "kept_for").join(named, "number").join(groups, "kept_for").sort("number")
    return rows.withColumn("kept", F.col("number") == F.col("kept_for")).select(*GROUPS.names)


def notes_table(decisions: DataFrame, sketches: DataFrame, ids: str) -> DataFrame:
    """number, and the columns that --annotate adds, of documents that have company; ids of this type."""
    named = sketches.select(F.col("number").alias("kept_for"), F.col("id").cast(ids).alias("kept_id"))
    removed = decisions.join(named, "kept_for").select(
        "number",
        F.lit(False),
        "kept_id",
        "kept_id",
        "relation",
        "resemblance",
        "score",
    ).toDF("number", *NOTES.names)  # fmt: skip
    kept = decisions.select("kept_for").distinct().join(named, "kept_for").select(
        "kept_for",
        F.lit(True),
        "kept_id",
        *(F.lit(None).cast(kind) for kind in (ids, "string", "double", "double")),
    ).toDF("number", *NOTES.names)  # fmt: skip
    return removed.unionByName(kept)
