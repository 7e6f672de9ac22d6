"""Crowded buckets on Spark: the rule of `candidates.crowds`, step by step where the rows are.

    entries   key, row, role, site    a document in a bucket, and what it does there; site: null where it is all one

Shingles are counted by every task in a table of its own, and the tables are added up. The sum travels to the executors,
a byte for eight shingles of the crowd, 256 MB at most.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from neardup.candidates.crowds import MANY, ShingleCounts, light
from neardup.kernels.groups import ELSEWHERE, LOOKS, STANDS
from neardup.shingles import ShingleSets
from neardup.spark.candidates import Candidates
from neardup.spark.columns import pieces, ragged, signed
from neardup.spark.passes import has_bit, marked
from neardup.spark.sketching import Sent
from neardup.spark.stages import Stages
from neardup.spark.tasks import Batches, mapped
from neardup.spark.weighing import Scale
from neardup.verify.places import Places

_BLOCK = 1 << 16
"""Counters that travel together."""

_BLOCKS = "block bigint, counters binary"
_CROWD = "row bigint, light boolean, light_here boolean, site bigint, page bigint, keys binary"
_BOTH = int(LOOKS | STANDS)


def relieved(sent: Sent, found: Candidates, scale: Scale, stages: Stages) -> DataFrame:
    """Return the entries of all buckets; where resemblances are measured, those of crowded ones by rare shingles."""
    rows = found.entries.join(found.members.select("number", "row"), "number").select("key", "row", "n")
    entries = rows.withColumn("role", F.lit(_BOTH)).withColumn("site", F.lit(None).cast("bigint"))
    full = F.col("n") > MANY
    if not scale.measures_resemblance or rows.filter(full).isEmpty():
        return entries.drop("n")
    crowded = marked(rows.filter(full).select(F.col("row").alias("i")), found.size)
    crowd = stages.keep("crowd", lambda: _weighed(sent, scale, crowded))
    rare = mapped(crowd.select("row", "keys"), _exploded, "key bigint, row bigint")
    if sent.recipe.clusters.method == "components":
        return entries.drop("n").unionByName(_plain(_shared(rare)))
    held = rows.filter(full).join(crowd.drop("keys", "page"), "row")
    by_place = sent.recipe.verify.by_place
    made = [
        entries.filter(~full).drop("n"),
        _plain(_shared(rare)),
        *_divided(held, "light", int(ELSEWHERE) if by_place else 0),
    ]
    if by_place:
        here = held.filter("site is not null").withColumn("key", _variant("key", "site"))
        here = here.withColumn("n", F.count("*").over(Window.partitionBy("key"))).filter("n > 1")
        made += [_plain(here.filter(~full)), *_divided(here.filter(full), "light_here", 0)]
        pages = crowd.filter("site is not null").select(_variant(F.lit("page"), "page").alias("key"), "row")
        made.append(_plain(_shared(pages)))
    together = made[0]
    for piece in made[1:]:
        together = together.unionByName(piece)
    return together


def _shared(entries: DataFrame) -> DataFrame:
    """Leave out keys that one document has."""
    return entries.withColumn("n", F.count("*").over(Window.partitionBy("key"))).filter("n > 1")


def _plain(entries: DataFrame) -> DataFrame:
    return entries.select("key", "row", F.lit(_BOTH).alias("role"), F.lit(None).cast("bigint").alias("site"))


def _variant(*of: str | Column) -> Column:
    """Return the key of a bucket that is made of another one."""
    return F.xxhash64(*of)


def _divided(held: DataFrame, is_light: str, passing: int) -> list[DataFrame]:
    """Divide crowded buckets as candidates.crowds does: light documents stand in the first one, where everybody looks,
    and look in the second one, where heavy documents stand."""
    of_key = Window.partitionBy("key")
    light_one = F.col(is_light)
    counted = held.withColumn("lights", F.sum(light_one.cast("int")).over(of_key)).withColumn(
        "heavies", F.sum((~light_one).cast("int")).over(of_key)
    )
    useful = counted.filter("lights > 0")
    site = F.col("site") if passing else F.lit(None).cast("bigint")
    first = F.when(light_one, _BOTH | passing).otherwise(int(LOOKS) | passing)
    second = F.when(light_one, int(LOOKS) | passing).otherwise(int(STANDS))
    return [
        useful.select("key", "row", first.alias("role"), site.alias("site")),
        useful.filter("heavies > 0").select(
            _variant(F.lit("heavy"), "key").alias("key"), "row", second.alias("role"), site.alias("site")
        ),
    ]


def _weighed(sent: Sent, scale: Scale, crowded: bytes) -> DataFrame:
    """Weigh the documents of crowded buckets, given a bit per row."""
    sets = scale.payload.select("row", "set", "address")
    sizes = mapped(sets, _Sizes(crowded), "shingles bigint").agg(F.sum("shingles")).first()
    shingles = int(sizes[0] or 0) if sizes is not None else 0
    counted = mapped(sets, _Counting(crowded, shingles), "block bigint, counters binary")
    summed = mapped(
        counted.repartition("block").sortWithinPartitions("block"), _summed, "block bigint, counters binary"
    )
    counters = ShingleCounts(shingles).counters
    for block in summed.toLocalIterator():
        start = block["block"] * _BLOCK
        counters[start : start + _BLOCK] = np.frombuffer(block["counters"], np.uint8)
    return mapped(sets, _Weighing(sent, crowded, counters.tobytes()), _CROWD)


def _of_crowd(batches: Batches, crowded: bytes) -> Iterator[tuple[pa.Table, ShingleSets]]:
    """Yield the rows that are set among the bits, with their shingle sets."""
    bits = np.frombuffer(crowded, np.uint8)
    for batch in batches:
        rows = pa.Table.from_batches([batch])
        rows = rows.filter(pa.array(has_bit(bits, rows["row"].to_numpy())))
        if rows.num_rows:
            values, offsets = ragged(rows["set"])
            yield rows, ShingleSets(values, offsets[:-1], np.diff(offsets))


@dataclass(frozen=True)
class _Sizes:
    """Runs on executors: how many shingles the documents of crowds have."""

    crowded: bytes

    def __call__(self, batches: Batches) -> Batches:
        total = sum(int(sets.sizes.sum()) for _, sets in _of_crowd(batches, self.crowded))
        yield pa.RecordBatch.from_arrays([pa.array([total], pa.int64())], names=["shingles"])


@dataclass(frozen=True)
class _Counting:
    """Runs on executors: shingle sets → a task's counters, block by block; those of zeros alone are left out."""

    crowded: bytes
    shingles: int

    def __call__(self, batches: Batches) -> Batches:
        counts = ShingleCounts(self.shingles)
        for _, sets in _of_crowd(batches, self.crowded):
            counts.add(sets)
        blocks = counts.counters.reshape(-1, _BLOCK)
        for block in np.flatnonzero(blocks.any(axis=1)).tolist():
            yield _block(block, blocks[block])


def _block(number: int, counters: NDArray[np.uint8]) -> pa.RecordBatch:
    columns = [pa.array([number], pa.int64()), pa.array([counters.tobytes()], pa.binary())]
    return pa.RecordBatch.from_arrays(columns, names=["block", "counters"])


def _summed(batches: Batches) -> Batches:
    """Runs on executors: blocks of all tasks, in order → their sums, at most 255."""
    number, total = -1, np.zeros(_BLOCK, np.uint16)
    for batch in batches:
        for block, held in zip(batch.column(0).to_pylist(), batch.column(1), strict=True):
            if block != number and number >= 0:
                yield _block(number, total.astype(np.uint8))
                total[:] = 0
            number = block
            total = np.minimum(total + np.frombuffer(held.as_buffer(), np.uint8), 255).astype(np.uint16)
    if number >= 0:
        yield _block(number, total.astype(np.uint8))


@dataclass(frozen=True)
class _Weighing:
    """Runs on executors: shingle sets of documents in crowds → rows of _CROWD."""

    sent: Sent
    crowded: bytes
    counters: bytes

    def __call__(self, batches: Batches) -> Batches:
        recipe = self.sent.recipe
        verify = recipe.verify
        counts = ShingleCounts(0)
        counts.counters = np.frombuffer(self.counters, np.uint8)
        for rows, sets in _of_crowd(batches, self.crowded):
            frequent, keys = counts.rare(sets, verify.threshold)
            n = rows.num_rows
            site, page = pa.nulls(n, pa.int64()), pa.nulls(n, pa.int64())
            if verify.by_place:
                names, pages = Places.named([rows["address"].combine_chunks()])
                site, page = pa.array(names.view(np.int64), mask=names == 0), signed(pages)
            columns = [
                rows["row"].combine_chunks(),
                pa.array(light(sets.sizes, frequent, verify.threshold)),
                pa.array(light(sets.sizes, frequent, max(verify.threshold, verify.same_site))),
                site,
                page,
                pieces(keys.values, keys.offsets),
            ]
            names_of = ["row", "light", "light_here", "site", "page", "keys"]
            yield pa.RecordBatch.from_arrays(columns, names=names_of)


def _exploded(batches: Batches) -> Batches:
    """Runs on executors: row, keys → a row per key. They are mixed, for keys of sketches are not to meet them."""
    for batch in batches:
        keys = ragged(batch.column("keys"))
        owners = np.repeat(batch.column("row").to_numpy(), np.diff(keys.offsets))
        values = (keys.values ^ np.uint64(0x9E3779B97F4A7C15)) * np.uint64(0xFF51AFD7ED558CCD)
        yield pa.RecordBatch.from_arrays([signed(values), pa.array(owners)], names=["key", "row"])
