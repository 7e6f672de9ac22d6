"""What limits on comparisons cost, estimated as `clusters.loss` does it, where the buckets are.

One pass over the buckets finds those into which the sampled documents look, and another one scores all that stand
there. The nearest of every sampled document are measured. Where nothing was cut short there is no pass.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from neardup.clusters.loss import MEASURED, Loss, sampled
from neardup.kernels import groups as kernel
from neardup.spark.columns import signatures
from neardup.spark.passes import PAIRS, has_bit, marked, together
from neardup.spark.sketching import Sent
from neardup.spark.stages import Stages
from neardup.spark.tasks import Batches, mapped
from neardup.spark.weighing import Scale
from neardup.verify.signatures import Rule, Signatures

_BY_DOCUMENT = [("i", "ascending"), ("key", "ascending")]


def loss(
    sent: Sent, cut: DataFrame, buckets: DataFrame, scale: Scale, formed: bytes, size: int, stages: Stages
) -> Loss:
    """Compare a sample of the documents that were cut short with all that they might have met.

    cut: i, the kept rows that were cut short, each once. formed: as the last pass was given it: for stars a bit per row
    that is set for removed ones, for components the label of every row. size: how many rows there are.
    """
    crowded = cut.count()
    if not crowded:
        return Loss()
    again = stages.keep("sampled", lambda: _looked_at_again(sent, cut, buckets, scale, formed, size))
    return Loss(crowded, stages.rows("sampled"), again.filter("missed").count())


def _looked_at_again(
    sent: Sent, cut: DataFrame, buckets: DataFrame, scale: Scale, formed: bytes, size: int
) -> DataFrame:
    """Return row and missed of the sampled documents."""
    bits = np.frombuffer(marked(cut, size), np.uint8)
    chosen = sampled(np.flatnonzero(np.unpackbits(bits, bitorder="little")))
    looked = mapped(buckets, _Looking(chosen), "i bigint, key bigint").toArrow().sort_by(_BY_DOCUMENT)
    shown = scale.payload.filter(F.col("row").isin(chosen.tolist())).select("row", "signature").toArrow()
    meeting = _Meeting(sent, scale.rule, chosen, shown.sort_by("row")["signature"], looked, formed)
    nearest = Window.partitionBy("i").orderBy(F.desc("score"), "j")
    met = mapped(buckets, meeting, PAIRS).distinct().withColumn("at", F.row_number().over(nearest))
    similar = _similar(met.filter(F.col("at") <= MEASURED).toArrow(), scale)
    of, to = similar["i"].to_numpy(), similar["j"].to_numpy()
    if sent.recipe.clusters.method == "components":  # the earlier one may be the sampled one
        labels = np.frombuffer(formed, np.int64)
        of = np.concatenate([of[labels[to] < of], to[labels[of] < to]])
    told = pa.table({"row": chosen, "missed": np.isin(chosen, of)})
    return scale.payload.sparkSession.createDataFrame(told)


def _similar(met: pa.Table, scale: Scale) -> pa.Table:
    """Return i, j of the pairs that should have been found, the later document first."""
    rule = scale.rule
    i, j = met["i"].to_numpy(), met["j"].to_numpy()
    pairs = pa.table({"i": np.maximum(i, j), "j": np.minimum(i, j)}).group_by(["i", "j"]).aggregate([])
    if not rule.measured or not pairs.num_rows:
        return pairs
    return scale.weighed_few(pairs).filter(F.col("value") >= rule.threshold).select("i", "j").toArrow()


@dataclass(frozen=True)
class _Looking:
    """Runs on executors: buckets → i, key: the buckets that documents look into."""

    chosen: NDArray[np.int64]

    def __call__(self, batches: Batches) -> Batches:
        for rows in together(batches):
            looks = rows["role"].to_numpy() & int(kernel.LOOKS) > 0
            found = rows.filter(pa.array(looks & np.isin(rows["row"].to_numpy(), self.chosen)))
            yield from found.select(["row", "key"]).rename_columns(["i", "key"]).to_batches()


@dataclass(frozen=True)
class _Meeting:
    """Runs on executors: buckets → i, j, score: chosen documents, and the MEASURED nearest of those that stand in the
    buckets that each looks into; none that score too low."""

    sent: Sent
    rule: Rule
    chosen: NDArray[np.int64]
    shown: pa.ChunkedArray
    """The signatures of the chosen ones."""
    looked: pa.Table
    """i, key: the buckets that each looks into, ascending."""
    formed: bytes

    def __call__(self, batches: Batches) -> Batches:
        """Buckets of any size: of each chosen document the nearest so far are held."""
        keys = self.looked["key"].to_numpy()
        begins = np.searchsorted(self.looked["i"].to_numpy(), np.append(self.chosen, self.chosen[-1] + 1))
        nothing = np.empty(0, np.int64), np.empty(0)
        best = [nothing] * len(self.chosen)
        for rows in together(batches):
            there = np.isin(rows["key"].to_numpy(), keys) & self._stands(rows)
            if not there.any():
                continue
            rows = rows.filter(pa.array(there))
            held, places = rows["key"].to_numpy(), rows["row"].to_numpy()
            both = pa.chunked_array([*self.shown.chunks, *rows["signature"].chunks])
            shown = signatures(self.sent.recipe.sketcher, both)
            for n in range(len(self.chosen)):
                mine = keys[begins[n] : begins[n + 1]]
                ends = (np.searchsorted(held, mine, side) for side in ("left", "right"))
                met = np.concatenate([np.arange(a, b) for a, b in zip(*ends, strict=True)])
                met = met[self._apart(self.chosen[n], places[met])]
                enough, scores = self._enough(shown, n, len(self.chosen) + met)
                best[n] = _nearest(*best[n], places[met[enough]], scores[enough])
        for i, (others, scores) in zip(self.chosen, best, strict=True):
            columns = [pa.array(np.full(len(others), i)), pa.array(others), pa.array(scores)]
            yield pa.RecordBatch.from_arrays(columns, names=["i", "j", "score"])

    @property
    def _star(self) -> bool:
        return self.sent.recipe.clusters.method == "star"

    def _stands(self, rows: pa.Table) -> NDArray[np.bool_]:
        stands: NDArray[np.bool_] = rows["role"].to_numpy() & int(kernel.STANDS) > 0
        return stands & ~has_bit(np.frombuffer(self.formed, np.uint8), rows["row"].to_numpy()) if self._star else stands

    def _apart(self, i: int, others: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell which of the rows would be another decision for i if they were similar to it."""
        if self._star:
            return others < i
        earlier: NDArray[np.bool_] = np.frombuffer(self.formed, np.int64)[others] < i
        return earlier

    def _enough(
        self, shown: Signatures, one: int, others: NDArray[np.int64]
    ) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """Tell which pairs score enough, and what they score."""
        rule = self.rule
        pairs = np.stack([np.full(len(others), one), others], axis=1).astype(np.int32)
        scores = shown.scores(pairs)
        enough = scores >= (rule.least if rule.measured else rule.threshold)
        if len(rule.strict):
            sure = np.empty(len(pairs), np.bool_)
            kernel.sure(shown.for_kernel, pairs, scores, rule.strict, sure)
            enough &= sure
        return enough, scores


def _nearest(
    rows: NDArray[np.int64], scores: NDArray[np.float64], more: NDArray[np.int64], theirs: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the rows with the highest scores, each once: of equal ones the first."""
    every, at = np.unique(np.concatenate([rows, more]), return_index=True)
    scores = np.concatenate([scores, theirs])[at]
    best = np.argsort(-scores, kind="stable")[:MEASURED]
    return every[best], scores[best]
