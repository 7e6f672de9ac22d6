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

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from neardup.clusters.loss import Loss
from neardup.kernels import groups as kernel
from neardup.spark.judging import Judged, Known, judged
from neardup.spark.loss import loss
from neardup.spark.passes import PAIRS, StarPass
from neardup.spark.sketching import Sent
from neardup.spark.stages import Stages
from neardup.spark.tasks import mapped
from neardup.spark.weighing import WEIGHED, Scale


@dataclass(frozen=True)
class Formed:
    """Which documents are removed, for which."""

    centres: DataFrame
    """i, j, and the evidence: rows of removed documents and of the kept ones."""
    loss: Loss
    rounds: int
    measured: int


def stars(sent: Sent, buckets: DataFrame, scale: Scale, size: int, stages: Stages) -> Formed:
    """Go round until nothing changes. `size`: how many rows there are."""
    rule = scale.rule
    removed: bytes | None = None
    known = Known()
    rounds = 0
    while True:
        name = f"round-{rounds}"
        chosen = stages.keep(name, _later(StarPass(sent, rule, removed), buckets, sent.recipe.clusters.measured))
        with _measured(chosen, name, known, scale, stages) as verdict:
            rounds += 1
            found = verdict.removed(size)
            if found == removed:
                centres = _with_evidence(verdict.centres(), known.frame, scale, stages)
                cut = chosen.filter("cut").join(centres.select("i"), "i", "left_anti").select("i")
                lost = loss(sent, cut, buckets, scale, found, size, stages)
                return Formed(centres, lost, rounds, known.rows)
            last = settled(removed, found)
            similar, end = verdict.alike(last, size)
        removed = follow(similar, found, last, end)


@contextmanager
def _measured(chosen: DataFrame, name: str, known: Known, scale: Scale, stages: Stages) -> Iterator[Judged]:
    """What a round found, when all that it asks for is measured."""
    for step in count():
        asked_for = name.replace("round", "measured") + f"-{step}"
        if stages.done(asked_for):
            known.add(stages.found(asked_for), stages.rows(asked_for))
            continue
        verdict = judged(chosen, stages.rows(name), known, scale.rule)
        try:
            asked = verdict.asked()
            if isinstance(asked, pa.Table) and not asked.num_rows:
                yield verdict
                return
            known.add(stages.keep(asked_for, _weighed(scale, asked)), stages.rows(asked_for))
        finally:
            verdict.forget()


def _later(passed: StarPass, buckets: DataFrame, most: int) -> Callable[[], DataFrame]:
    return lambda: _chosen(mapped(buckets, passed, PAIRS), most)


def _weighed(scale: Scale, asked: pa.Table | DataFrame) -> Callable[[], DataFrame]:
    return lambda: scale.weighed_few(asked) if isinstance(asked, pa.Table) else scale.weighed(asked)


def _chosen(pairs: DataFrame, most: int) -> DataFrame:
    """i, best, cut: of every document the best that count, by score and then by row; and whether there were more."""
    near = F.when(F.col("j").isNotNull(), F.struct((-F.col("score")).alias("away"), F.col("j").alias("j")))
    best = F.array_sort(F.collect_set(near))
    return pairs.groupBy("i").agg(best.alias("all"), F.max(F.col("j").isNull()).alias("more")).select(
        "i",
        F.slice("all", 1, most).alias("best"),
        (F.col("more") | (F.size("all") > most)).alias("cut"),
    )  # fmt: skip


def settled(given: bytes | None, found: bytes) -> int:
    """Up to which row what was found is right: the first that is not as it was given has seen the right ones."""
    if given is None:
        return 0
    differing = np.frombuffer(given, np.uint8) ^ np.frombuffer(found, np.uint8)
    return int(np.unpackbits(differing, bitorder="little").argmax())


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
