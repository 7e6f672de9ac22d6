"""The candidates of documents, and what has been measured of them → who is similar to whom, and what to measure next.

    judged   i, c, j, score, value, similar, asked

c counts the candidates of i from 0, the best score first; value is what is held against the threshold, null where that
is not known yet; similar is true of the first that reaches it, and asked of the pairs to measure. Few documents are
judged by the driver, many where they are, by the same function.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.storagelevel import StorageLevel

from neardup.spark.passes import marked
from neardup.spark.tasks import Batches, mapped
from neardup.verify.signatures import Rule

FEW = 250_000
"""Documents that the driver judges, with as many candidates each as are measured; and pairs that it holds and names to
every executor: a query that begins with them is as short as the first one, however many rounds there were before."""

_AT_ONCE = 4
"""Pairs of a document that are measured at once while it is presumed that one of them is similar."""

_AT_HOME = 20_000_000
"""Similar pairs that are followed by one machine, at the most."""

_MEASURED = pa.schema([("i", pa.int64()), ("j", pa.int64()), ("value", pa.float64())])
_JUDGED = pa.schema(
    [
        ("i", pa.int64()),
        ("c", pa.int32()),
        ("j", pa.int64()),
        ("score", pa.float64()),
        ("value", pa.float64()),
        ("similar", pa.bool_()),
        ("asked", pa.bool_()),
    ]
)


def judge(rows: pa.Table, rule: Rule) -> pa.Table:
    """i, c, j, score, value, ascending by i and c, with all candidates of each document → judged.

    Asked are the pairs that score more than the one that is similar; where none is known to be, a few if one is
    presumed to be and nothing has been measured, and else all.
    """
    i, c, score = (rows[name].to_numpy() for name in ("i", "c", "score"))
    value = rows["value"].to_numpy() if rule.measured else score
    begins = np.flatnonzero(np.append(True, i[1:] != i[:-1])) if len(i) else np.empty(0, np.int64)
    sizes = np.diff(np.append(begins, len(i)))

    def of_mine(fold: np.ufunc, values: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.repeat(fold.reduceat(values, begins), sizes) if len(begins) else values

    never = np.iinfo(np.int64).max
    first = of_mine(np.minimum, np.where(value >= rule.threshold, c.astype(np.int64), never))
    unknown = np.isnan(value) & (c < first)
    promising = unknown & (score >= rule.presumed)
    untouched = of_mine(np.add, (~np.isnan(value)).astype(np.int64)) == 0
    hope = untouched & (of_mine(np.add, promising.astype(np.int64)) > 0)
    before = np.cumsum(promising)
    nth = before - np.repeat(before[begins] - promising[begins], sizes) if len(begins) else before
    asked = unknown & ((first < never) | ~hope | (promising & (nth <= _AT_ONCE)))
    told = [pa.array(value, from_pandas=True), pa.array(c == first), pa.array(asked)]
    return pa.table([*(rows[name] for name in ("i", "c", "j", "score")), *told], schema=_JUDGED)


class Known:
    """What has been measured, step by step."""

    def __init__(self) -> None:
        self._steps: list[DataFrame] = []
        self._here: list[pa.Table] = []
        self.rows = 0

    def add(self, weighed: DataFrame, rows: int) -> None:
        """One step more, of so many pairs."""
        self._steps.append(weighed)
        self.rows += rows

    @property
    def frame(self) -> DataFrame | None:
        """All of it; None where that is nothing."""
        return reduce(DataFrame.unionByName, self._steps) if self._steps else None

    def table(self) -> pa.Table:
        """i, j, value, brought here."""
        for step in self._steps[len(self._here) :]:
            self._here.append(step.select(*_MEASURED.names).toArrow())
        return pa.concat_tables([_MEASURED.empty_table(), *self._here])


class Judged(Protocol):
    """What the rounds want to know."""

    def asked(self) -> pa.Table | DataFrame:
        """Pairs to measure: i, j. A table where they are few."""

    def removed(self, size: int) -> bytes:
        """A bit per row: set for documents that are similar to one of their candidates."""

    def alike(self, after: int, size: int) -> tuple[pa.Table, int]:
        """Pairs i, j that are similar: of documents after that one and before another, as many as one machine can
        follow; and that other one."""

    def centres(self) -> DataFrame:
        """i, j: documents, and the first that each is similar to."""

    def forget(self) -> None:
        """Let go of it."""


def judged(chosen: DataFrame, documents: int, known: Known, rule: Rule) -> Judged:
    """`chosen`: i, best, cut, of so many documents. `known`: what was measured."""
    if documents <= FEW:
        return _ByDriver(chosen, known, rule)
    return _ByExecutors(chosen, known, rule)


class _ByDriver:
    def __init__(self, chosen: DataFrame, known: Known, rule: Rule) -> None:
        self._spark = chosen.sparkSession
        table = chosen.select("i", "best").toArrow()
        i, best = table["i"].to_numpy(), table["best"].combine_chunks()
        near = best.flatten()
        sizes = best.value_lengths().to_numpy()
        rows = {
            "i": np.repeat(i, sizes),
            "c": (np.arange(len(near)) - np.repeat(np.cumsum(sizes) - sizes, sizes)).astype(np.int32),
            "j": near.field("j").to_numpy(),
            "score": -near.field("away").to_numpy(),
        }
        pairs = pa.table(rows).join(known.table(), ["i", "j"])
        self._rows = judge(pairs.sort_by([("i", "ascending"), ("c", "ascending")]), rule)
        self._threshold = rule.threshold

    def asked(self) -> pa.Table | DataFrame:
        pairs = self._rows.filter(self._rows["asked"]).select(["i", "j"])
        return pairs if pairs.num_rows <= FEW else self._spark.createDataFrame(pairs)

    def removed(self, size: int) -> bytes:
        gone = np.zeros(size // 8 * 8 + 8, np.bool_)
        gone[self._rows.filter(self._rows["similar"])["i"].to_numpy()] = True
        return np.packbits(gone, bitorder="little").tobytes()

    def alike(self, after: int, size: int) -> tuple[pa.Table, int]:
        i, value = self._rows["i"].to_numpy(), self._rows["value"].to_numpy()
        return self._rows.filter(pa.array((value >= self._threshold) & (i > after))), size

    def centres(self) -> DataFrame:
        return self._spark.createDataFrame(self._rows.filter(self._rows["similar"]).select(["i", "j"]))

    def forget(self) -> None:
        pass


@dataclass(frozen=True)
class _Judging:
    """Runs on executors: rows, ascending by i and c within the partition → judged."""

    rule: Rule

    def __call__(self, batches: Batches) -> Batches:
        for rows in _whole_documents(batches):
            yield from judge(rows, self.rule).to_batches()


def _whole_documents(batches: Batches) -> Iterator[pa.Table]:
    """The same rows; those of a document in one table."""
    rest: pa.Table | None = None
    for batch in batches:
        rows = pa.Table.from_batches([batch])
        rows = rows if rest is None else pa.concat_tables([rest, rows])
        if rows.num_rows:
            i = rows["i"].to_numpy()
            last = int(np.searchsorted(i, i[-1]))
            rest = rows.slice(last)
            yield rows.slice(0, last)
    if rest is not None:
        yield rest


class _ByExecutors:
    def __init__(self, chosen: DataFrame, known: Known, rule: Rule) -> None:
        rows = chosen.select("i", F.posexplode("best").alias("c", "near"))
        rows = rows.select("i", "c", F.col("near.j").alias("j"), (-F.col("near.away")).alias("score"))
        if known.frame is None:
            rows = rows.withColumn("value", F.lit(None).cast("double"))
        else:
            rows = rows.join(known.frame.select("i", "j", "value"), ["i", "j"], "left")
        ordered = rows.select("i", "c", "j", "score", "value").repartition("i").sortWithinPartitions("i", "c")
        self._rows = mapped(ordered, _Judging(rule), _JUDGED).persist(StorageLevel.DISK_ONLY)
        self._threshold = rule.threshold

    def asked(self) -> pa.Table | DataFrame:
        pairs = self._rows.filter("asked").select("i", "j")
        found = pairs.limit(FEW + 1).toArrow()
        return found if found.num_rows <= FEW else pairs

    def removed(self, size: int) -> bytes:
        return marked(self._rows.filter("similar").select("i"), size)

    def alike(self, after: int, size: int) -> tuple[pa.Table, int]:
        there = self._rows.filter((F.col("value") >= self._threshold) & (F.col("i") > after)).select("i", "j")
        end = size
        while end > after + 2 and there.filter(F.col("i") < end).count() > _AT_HOME:
            end = after + (end - after) // 2
        return there.filter(F.col("i") < end).toArrow(), end

    def centres(self) -> DataFrame:
        return self._rows.filter("similar").select("i", "j")

    def forget(self) -> None:
        self._rows.unpersist()
