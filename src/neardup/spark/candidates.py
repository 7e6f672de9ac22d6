"""Sketches → candidates: identity sets, shared keys, and the order of the keep policy.

Documents are named by their numbers; the one of an identity set that the keep policy prefers is its holder, and stands
for it in all that is compared. Where documents have company they get a row: 0 is the one that is kept first.
"""

from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from neardup.clusters.keep import compared_as_text, keep_columns, needs_ids, none_preferred, parse_keep
from neardup.recipe import Recipe
from neardup.sketches.artefact import keep_fields
from neardup.sketches.base import Sketcher
from neardup.sketches.sortable import TEXT, one_kind
from neardup.spark.chosen import among, without
from neardup.spark.columns import PAYLOAD, signature_bytes
from neardup.spark.passes import packed
from neardup.spark.sketching import Sent, compared, keys
from neardup.spark.stages import Stages
from neardup.spark.tasks import Batches, mapped

_PARTITION = 8 << 20
_MOST_PARTITIONS = 20_000
"""Bytes of a partition of buckets; more of them where there would be more partitions than Spark can well shuffle."""

_ENTRY, _RAGGED = 36, 512
"""Bytes of an entry without its signature, and of a signature whose length depends on the document, about."""

_WITHIN = (1 << 33) - 1
"""The bits of monotonically_increasing_id that count within a partition."""


@dataclass(frozen=True)
class Candidates:
    """Documents that have company: the same tokens, or a key in common."""

    entries: DataFrame
    """key, number: of holders; n: how many have that key."""
    order: DataFrame
    """number, holder, row: of every document with company."""
    sets: DataFrame
    """holder, row: the identity sets among them, and the row of the holder."""
    members: DataFrame
    """number, row, address, signature: of documents that stand in buckets."""
    size: int
    """How many documents have company."""
    n_entries: int

    def buckets(self, sketcher: Sketcher, entries: DataFrame) -> DataFrame:
        """key, row, role, site and signature, packed; a bucket is in one partition, in order.

        entries: key, row, role and site of documents in buckets.

        A task costs a tenth of a second whatever it has to do, and Spark keeps to a number of partitions that it
        is told: so there are as many as the rows are worth.
        """
        each = _ENTRY + (sketcher.samples or 8 * sketcher.words + _RAGGED * sketcher.has_ragged)
        partitions = min(max(1, self.n_entries * each // _PARTITION), _MOST_PARTITIONS)
        rows = entries.join(self.members.select("row", "signature"), "row")
        rows = rows.select("key", "row", F.col("role").cast("int"), "site", "signature")
        return packed(rows.repartition(partitions, "key").sortWithinPartitions("key", "row"))


_MEMBERS = "number bigint, row bigint, address string, signature binary"


@dataclass(frozen=True)
class _Signing:
    """Runs on executors: number, row, address, PAYLOAD → members."""

    sent: Sent

    def __call__(self, batches: Batches) -> Batches:
        sketcher = self.sent.recipe.sketcher
        for rows in batches:
            told = {name: rows.column(name) for name in ("number", "row", "address")}
            yield pa.RecordBatch.from_pydict({**told, "signature": signature_bytes(sketcher, rows)})


def candidates(
    spark: SparkSession, sketches: DataFrame, recipe: Recipe, sent: Sent, stages: Stages, said: list[str]
) -> Candidates:
    """Find them. `said`: what is to be said of the keep policy is added."""
    documents = compared(sketches)
    repeated = (
        documents.groupBy("identity").agg(F.min("number").alias("first"), F.count("*").alias("n")).filter("n > 1")
    )
    identical = stages.keep(
        "identical",
        lambda: documents.select("number", "identity").join(repeated, "identity").select("number", "first"),
    )
    copies = stages.keep("copies", lambda: _with_holders(identical, documents, recipe.clusters.keep))
    further = copies.filter("number != holder").select("number")

    def entries() -> DataFrame:
        found = keys(without(documents, further), sent)
        counted = found.withColumn("n", F.count("*").over(Window.partitionBy("key")))  # keys travel once
        return counted.filter("n > 1").select("key", "number", "n")

    kept = stages.keep("entries", entries)
    standing = kept.select("number").distinct()
    alone = standing.join(copies, "number", "left_anti")
    ranked = copies.unionByName(alone.select("number", F.col("number").alias("holder")))
    order = _ordered(spark, ranked, documents, recipe.clusters.keep, stages, said)
    sets = order.filter("number = holder").select("holder", "row")

    def members() -> DataFrame:
        rows = sets.select(F.col("holder").alias("number"), "row")
        shown = among(sketches.select("number", "address", *PAYLOAD), standing).join(rows, "number")
        return mapped(shown, _Signing(sent), _MEMBERS)

    members_kept = stages.keep("members", members)
    return Candidates(kept, order, sets, members_kept, stages.rows("order"), stages.rows("entries"))


def _with_holders(identical: DataFrame, documents: DataFrame, policy: str) -> DataFrame:
    """number, first → number, holder: an identity set by its first document, and by the preferred one."""
    known = _with_keep_columns(identical, documents, policy)
    best_first = Window.partitionBy("first").orderBy(*_keep_order(policy, known, []))
    best = known.withColumn("at", F.row_number().over(best_first)).filter("at = 1")
    holders = best.select("first", F.col("number").alias("holder"))
    return identical.join(holders, "first").select("number", "holder")


def _with_keep_columns(ranked: DataFrame, documents: DataFrame, policy: str) -> DataFrame:
    """Add the columns by which the keep policy orders documents."""
    columns = [F.col(f"`{name}`") for name, _ in keep_fields(keep_columns(policy))]
    asked = documents.select("number", "id", "tokens", *columns)
    return ranked.join(among(asked, ranked.select("number")), "number")


def _ordered(
    spark: SparkSession, ranked: DataFrame, documents: DataFrame, policy: str, stages: Stages, said: list[str]
) -> DataFrame:
    """number, holder, row. Rows are counted per partition of the sorted frame, which is kept for that.

    The order is total, for it ends with the number: a partition that is made again is the same.
    """
    known = _with_keep_columns(ranked, documents, policy)
    order = _keep_order(policy, known, said)
    counter = F.monotonically_increasing_id().bitwiseAND(F.lit(_WITHIN))
    placed = stages.keep(
        "order",
        lambda: known.sort(*order).select(
            "number", "holder", F.spark_partition_id().alias("part"), counter.alias("at")
        ),
    )
    sizes = dict(sorted((row["part"], row["count"]) for row in placed.groupBy("part").count().collect()))
    before, starts = 0, []
    for part, size in sizes.items():
        starts.append((part, before))
        before += size
    offsets = spark.createDataFrame(starts, "part int, start bigint")
    return placed.join(F.broadcast(offsets), "part").select(
        "number", "holder", (F.col("start") + F.col("at")).alias("row")
    )


def _keep_order(policy: str, documents: DataFrame, said: list[str]) -> list[Column]:
    """As clusters.keep has it: what is sorted by, the best first."""
    order: list[Column] = []
    for rule in parse_keep(policy):
        if rule.kind in ("first", "last"):
            order.append(F.asc("number") if rule.kind == "first" else F.desc("number"))
        elif rule.kind in ("longest", "shortest"):
            order.append(F.desc("tokens") if rule.kind == "longest" else F.asc("tokens"))
        else:
            assert rule.column is not None
            kind = _kind(rule.column, documents)
            if rule.kind == "prefer":
                place = F.array_position(F.array(*(F.lit(v) for v in rule.values)), F.col(f"`shown:{rule.column}`"))
                order.append(F.when(place > 0, place).otherwise(len(rule.values) + 1).asc())
                if not documents.isEmpty() and documents.filter(place > 0).isEmpty():
                    said.append(none_preferred(rule))
            else:
                value = F.col(f"`order:{rule.column}`")
                order.append(value.desc_nulls_last() if rule.kind == "max" else value.asc_nulls_last())
                if kind == TEXT:
                    said.append(compared_as_text(rule))
    if needs_ids(policy):
        order.append(F.asc("id"))
    return [*order, F.asc("number")]


def _kind(column: str, documents: DataFrame) -> int:
    """Return what the values of a column of the keep policy are compared as."""
    met = documents.select(f"`kind:{column}`").distinct().collect()
    return one_kind((row[0] for row in met if row[0] is not None), column)
