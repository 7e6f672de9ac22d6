"""Stars by rounds: the lexicographically first maximal independent set in the order of the keep policy.

A round is a pass over the buckets that is given who is kept, and finds for every document the kept ones that count. It
is measured which of them are similar, and so who is kept. When a round finds what it was given, that is the answer:
for the first document it is right, and for every other one when it is for those before it. So the rounds end at
the answer of the local engine, whatever they begin with (Blelloch, Fineman and Shun, "Greedy sequential maximal
independent set and matching are parallel on average", for how soon).

The first round presumes, bucket by bucket, from the scores of the sketches. What a later one is given is settled as far
as the one before found what it was given, and one document further; beyond that it is a guess: the similar pairs that
were found, followed document after document. Every round settles more, and the guess decides how much: in a crowd of
which only the latest count, a document that is kept by mistake moves everybody's candidates behind it, and what was
found there is worth little, while what follows from the pairs is nearly right.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from neardup.kernels import groups as kernel
from neardup.spark.passes import PAIRS, StarPass, marked
from neardup.spark.sketching import Sent
from neardup.spark.stages import Stages
from neardup.spark.tasks import mapped
from neardup.spark.weighing import WEIGHED, Scale, at_hand

_FEW = 4
"""Pairs of a document that are measured at once while it is presumed that one of them is similar."""

_AT_HOME = 20_000_000
"""Similar pairs that are followed by one machine, or about as many."""


@dataclass(frozen=True)
class Formed:
    """Which documents are removed, for which."""

    centres: DataFrame
    """i, j, and the evidence: rows of removed documents and of the kept ones."""
    crowded: int
    rounds: int
    measured: int


def stars(sent: Sent, buckets: DataFrame, scale: Scale, size: int, stages: Stages) -> Formed:
    """Go round until nothing changes. `size`: how many rows there are."""
    rule = scale.rule
    removed: bytes | None = None
    known: DataFrame | None = None
    rounds = measured = 0
    while True:
        passed = StarPass(sent, rule, removed)
        chosen = stages.keep(f"round-{rounds}", _later(passed, buckets))
        if rule.measured:
            steps = 0
            while True:
                asked = _asked(_judged(chosen, known, rule.threshold), rule.presumed)
                name = f"measured-{rounds}-{steps}"
                few = None if stages.done(name) else at_hand(asked)
                if few is not None and not few.num_rows:
                    break
                found = stages.keep(name, _weigh(scale, asked, few))
                measured += stages.rows(name)
                known = found if known is None else known.unionByName(found)
                steps += 1
            judged = _judged(chosen, known, rule.threshold)
        else:
            judged = _exploded(chosen).withColumn("value", F.col("score"))
            judged = judged.withColumn("success", _first_over(rule.threshold))
        centres = judged.filter("c = success").select("i", "j")
        rounds += 1
        found_out = marked(centres.select("i"), size)
        if found_out == removed:
            crowded = chosen.filter("cut").count()
            return Formed(_with_evidence(centres, known, scale, stages), crowded, rounds, measured)
        similar = judged.filter(F.col("value") >= rule.threshold).select("i", "j")
        removed = _followed(similar, found_out, settled(removed, found_out), size)


def _later(passed: StarPass, buckets: DataFrame) -> Callable[[], DataFrame]:
    return lambda: _chosen(mapped(buckets, passed, PAIRS))


def _weigh(scale: Scale, asked: DataFrame, few: pa.Table | None) -> Callable[[], DataFrame]:
    return lambda: scale.weighed(asked) if few is None else scale.weighed_few(few)


def _chosen(pairs: DataFrame) -> DataFrame:
    """i, best, cut: of every document the best that count, by score and then by row; and whether there were more."""
    near = F.when(F.col("j").isNotNull(), F.struct((-F.col("score")).alias("away"), F.col("j").alias("j")))
    best = F.array_sort(F.collect_set(near))
    return pairs.groupBy("i").agg(best.alias("all"), F.max(F.col("j").isNull()).alias("more")).select(
        "i",
        F.slice("all", 1, kernel.MEASURED).alias("best"),
        (F.col("more") | (F.size("all") > kernel.MEASURED)).alias("cut"),
    )  # fmt: skip


def _exploded(chosen: DataFrame) -> DataFrame:
    """i, c, j, score: c counts from 0."""
    rows = chosen.select("i", F.posexplode("best").alias("c", "near"))
    return rows.select("i", "c", F.col("near.j").alias("j"), (-F.col("near.away")).alias("score"))


def _first_over(threshold: float) -> Column:
    return F.min(F.when(F.col("value") >= threshold, F.col("c"))).over(Window.partitionBy("i"))


def _judged(chosen: DataFrame, known: DataFrame | None, threshold: float) -> DataFrame:
    """i, c, j, score, value where it is measured, success: the place of the first that is similar."""
    rows = _exploded(chosen)
    if known is None:
        rows = rows.withColumn("value", F.lit(None).cast("double"))
    else:
        rows = rows.join(known.select("i", "j", "value"), ["i", "j"], "left")
    return rows.withColumn("success", _first_over(threshold))


def _asked(judged: DataFrame, presumed: float) -> DataFrame:
    """The pairs to measure: those nearer than the one that is similar; a few where one is presumed to be; or all."""
    mine = Window.partitionBy("i")
    unknown = F.col("value").isNull() & (F.col("success").isNull() | (F.col("c") < F.col("success")))
    rows = judged.withColumn("unknown", unknown)
    rows = rows.withColumn("promising", F.col("unknown") & (F.col("score") >= presumed))
    rows = rows.withColumn("hope", F.max("promising").over(mine) & ~F.max(F.col("value").isNotNull()).over(mine))
    rows = rows.withColumn("nth", F.sum(F.col("promising").cast("int")).over(mine.orderBy("c")))
    few = F.col("promising") & (F.col("nth") <= _FEW)
    return rows.filter(F.col("unknown") & (F.col("success").isNotNull() | ~F.col("hope") | few)).select("i", "j")


def settled(given: bytes | None, found: bytes) -> int:
    """Up to which row what was found is right: the first that is not as it was given has seen the right ones."""
    if given is None:
        return 0
    differing = np.frombuffer(given, np.uint8) ^ np.frombuffer(found, np.uint8)
    return int(np.unpackbits(differing, bitorder="little").argmax())


def _followed(similar: DataFrame, found: bytes, last: int, size: int) -> bytes:
    """Who is removed: as found up to row `last`, and then as the pairs say, as far as one machine can follow them."""
    open_ones = similar.filter(F.col("i") > last)
    number = open_ones.count()
    end = size if number <= _AT_HOME else last + max(1, (size - last) * _AT_HOME // number)
    return follow(open_ones.filter(F.col("i") < end).toArrow(), found, last, end)


def follow(pairs: pa.Table, found: bytes, last: int, end: int) -> bytes:
    """The rows between `last` and `end` by these pairs, all others as found."""
    removed = np.unpackbits(np.frombuffer(found, np.uint8), bitorder="little").view(np.bool_)
    removed[last + 1 : end] = False
    later, earlier = (pairs[name].to_numpy() for name in ("i", "j"))
    order = np.argsort(later, kind="stable")
    kernel.follow(later[order], earlier[order], removed)
    return np.packbits(removed, bitorder="little").tobytes()


def _with_evidence(centres: DataFrame, known: DataFrame | None, scale: Scale, stages: Stages) -> DataFrame:
    if known is not None:
        return stages.keep("centres", lambda: centres.join(known, ["i", "j"]).select(*WEIGHED.names))
    return stages.keep("centres", lambda: scale.weighed(centres))
