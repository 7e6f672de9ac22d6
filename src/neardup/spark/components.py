"""Connected components: the papers' union-find, by large-star and small-star.

Kiveris, Lattanzi, Mirrokni, Rastogi and Vassilvitskii, "Connected Components in MapReduce and Beyond", section 3: both
link the neighbours of a document to the smallest of them, the former those that are larger than the document, the
latter the others; repeated until nothing changes, every document is linked to the smallest of its component.
"""

from collections.abc import Callable

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from neardup.clusters.loss import Loss
from neardup.spark.candidates import Candidates
from neardup.spark.loss import loss
from neardup.spark.passes import PAIRS, ComponentPass
from neardup.spark.sketching import Sent
from neardup.spark.stages import Stages
from neardup.spark.stars import Formed
from neardup.spark.tasks import mapped
from neardup.spark.weighing import Scale
from neardup.verify.signatures import Rule


def linked(candidates: Candidates, scale: Scale, stages: Stages) -> Formed:
    """Where sharing a key is all that matters: every document is connected with the first of its buckets."""
    rows = candidates.entries.join(
        candidates.sets.select(F.col("holder").alias("number"), F.col("row").alias("i")), "number"
    )
    firsts = rows.groupBy("key").agg(F.min("i").alias("j"))
    edges = rows.join(firsts, "key").filter("i != j").select("i", "j").distinct()
    return Formed(_centres(connected(edges, stages, "linked"), scale, stages), Loss(), rounds=1, measured=0)


def components(sent: Sent, buckets: DataFrame, scale: Scale, size: int, stages: Stages) -> Formed:
    """Where pairs are scored or measured: until no pair is left that could connect two components."""
    rule = _cautious(scale.rule)
    labels: bytes | None = None
    edges: DataFrame | None = None
    seen: DataFrame | None = None
    rounds = measured = 0
    while True:
        pairs = stages.keep(f"round-{rounds}", _passed(ComponentPass(sent, rule, labels), buckets))
        rounds += 1
        found = pairs.filter("j is not null").select("i", "j").distinct()
        if seen is not None:
            found = found.join(seen, ["i", "j"], "left_anti")
        name = f"measured-{rounds}"
        if rule.measured:
            weighed = stages.keep(name, _weighed(scale, found))
            similar = weighed.filter(F.col("value") >= rule.threshold).select("i", "j")
            measured += stages.rows(name)
        else:
            weighed = similar = stages.keep(name, found)
        new = stages.rows(name)
        seen = weighed.select("i", "j") if seen is None else seen.unionByName(weighed.select("i", "j"))
        edges = similar if edges is None else edges.unionByName(similar)
        if rounds > 1 and not new:
            break
        label = connected(edges, stages, f"connected-{rounds}")
        labels = _of_all(label, size)
    assert labels is not None
    cut = pairs.filter("j is null").select("i").distinct().join(label.select("i"), "i", "left_anti")
    lost = loss(sent, cut, buckets, scale, labels, size, stages)
    return Formed(_centres(label, scale, stages), lost, rounds, measured)


def _cautious(rule: Rule) -> Rule:
    """A wrong presumption connects what does not belong together (clusters.form)."""
    if rule.presumed < rule.threshold <= 1.0:
        return Rule(rule.least, rule.threshold, rule.threshold, rule.measured)
    return rule


def _passed(step: ComponentPass, buckets: DataFrame) -> Callable[[], DataFrame]:
    return lambda: mapped(buckets, step, PAIRS)


def _weighed(scale: Scale, pairs: DataFrame) -> Callable[[], DataFrame]:
    return lambda: scale.weighed(pairs)


def _of_all(labels: DataFrame, size: int) -> bytes:
    """The label of every row, its own where it has none."""
    known = labels.toArrow()
    every = np.arange(size, dtype=np.int64)
    every[known["i"].to_numpy()] = known["j"].to_numpy()
    return every.tobytes()


def _centres(labels: DataFrame, scale: Scale, stages: Stages) -> DataFrame:
    return stages.keep("centres", lambda: scale.weighed(labels))


def connected(edges: DataFrame, stages: Stages, name: str) -> DataFrame:
    """i, j: every document that has edges, but for the smallest of its component, and that one."""
    both = F.greatest("i", "j").alias("i"), F.least("i", "j").alias("j")
    now = stages.keep(f"{name}-0", lambda: edges.filter("i != j").select(*both).distinct())
    turn = 0
    while True:
        turn += 1
        before, now = now, stages.keep(f"{name}-{turn}", _both_stars(now))
        if stages.rows(f"{name}-{turn}") == stages.rows(f"{name}-{turn - 1}") and before.exceptAll(now).isEmpty():
            return now


def _both_stars(edges: DataFrame) -> Callable[[], DataFrame]:
    return lambda: _small_star(_large_star(edges))


def _large_star(edges: DataFrame) -> DataFrame:
    """Every document's larger neighbours, linked to the smallest of all its neighbours and itself."""
    around = edges.select(F.col("i").alias("u"), F.col("j").alias("v")).unionByName(
        edges.select(F.col("j").alias("u"), F.col("i").alias("v"))
    )
    least = around.groupBy("u").agg(F.least(F.min("v"), F.first("u")).alias("m"))
    return around.filter("v > u").join(least, "u").select(F.col("v").alias("i"), F.col("m").alias("j")).distinct()


def _small_star(edges: DataFrame) -> DataFrame:
    """Every document and its smaller neighbours, linked to the smallest of them."""
    least = edges.groupBy("i").agg(F.min("j").alias("m"))
    below = edges.join(least, "i").filter("j != m").select(F.col("j").alias("i"), F.col("m").alias("j"))
    return below.unionByName(least.select("i", F.col("m").alias("j"))).distinct()
