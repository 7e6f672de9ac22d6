"""Pairs of candidates → what was found of them, by the verifier of every engine.

WEIGHED   i, j: the rows of both; value: what is held against the threshold; and the evidence
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from neardup.evidence import Verifier
from neardup.spark.candidates import Candidates
from neardup.spark.columns import matrix, ragged, signatures
from neardup.spark.inputs import Collected
from neardup.spark.sketching import SHELF, Sent, Shelving
from neardup.spark.stages import Stages
from neardup.spark.tasks import Batches, mapped
from neardup.verify.places import Places
from neardup.verify.projected import Projected
from neardup.verify.resemblance import Overlap, overlap
from neardup.verify.signatures import Rule, Signatures

EVIDENCE = ("relation", "score", "resemblance", "inside", "around")
WEIGHED = pa.schema(
    [
        ("i", pa.int64()),
        ("j", pa.int64()),
        ("value", pa.float64()),
        ("relation", pa.int32()),
        *((name, pa.float64()) for name in EVIDENCE[1:]),
    ]
)


@dataclass(frozen=True)
class _InMemory:
    """Measures pairs of documents whose shingle sets are at hand."""

    sets: NDArray[np.uint64]
    offsets: NDArray[np.int64]

    def measure(self, pairs: NDArray[np.int64]) -> Overlap:
        return overlap(self.sets, self.offsets[:-1], np.diff(self.offsets), pairs)

    look_up = measure


@dataclass(frozen=True)
class _Weighing:
    """Runs on executors: rows with the payload of both documents → WEIGHED."""

    sent: Sent
    exact: bool

    def __call__(self, batches: Batches) -> Batches:
        for rows in batches:
            n = rows.num_rows
            if not n:
                continue
            both = pa.concat_tables([_side(rows, "_i"), _side(rows, "_j")]).combine_chunks()
            verifier = self._verifier(both)
            pairs = np.stack([np.arange(n), np.arange(n, 2 * n)], axis=1)
            found = verifier.evidence(pairs)
            value = verifier.measure(pairs.astype(np.int32)) if verifier.rule.measured else found.score
            told = [found.score, found.resemblance, found.first_in_second, found.second_in_first]
            columns = [
                rows.column("i"),
                rows.column("j"),
                pa.array(value),
                pa.array(found.relation.astype(np.int32)),
                *(pa.array(np.asarray(values, np.float64)) for values in told),
            ]
            yield pa.RecordBatch.from_arrays(columns, schema=WEIGHED)

    def _verifier(self, rows: pa.Table) -> Verifier:
        recipe, n = self.sent.recipe, rows.num_rows
        later = recipe.sketcher.on_the_fly
        projected = None
        if later is not None:
            bits = matrix(rows["bits"], np.uint64, later.words)
            projected = Projected(later, np.arange(n), lambda _: bits)
        places = Places.at(n, [(0, rows["address"].combine_chunks())]) if recipe.verify.by_place else None
        meter = _InMemory(*ragged(rows["set"])) if self.exact else None
        return Verifier(recipe, np.arange(n), signatures(recipe.sketcher, rows["signature"]), projected, meter, places)


def _side(rows: pa.RecordBatch, end: str) -> pa.Table:
    """One document of each pair."""
    names = [name for name in rows.schema.names if name.endswith(end)]
    return pa.table({name.removesuffix(end): rows.column(name) for name in names})


@dataclass(frozen=True)
class Scale:
    """Weighs pairs among the candidates of a collection."""

    sent: Sent
    payload: DataFrame
    """row, and what documents are compared by."""
    exact: bool

    @classmethod
    def of(cls, sent: Sent, candidates: Candidates, documents: Collected, stages: Stages) -> "Scale":
        """The text of candidates is read once more where the recipe needs it."""
        recipe = sent.recipe
        exact = recipe.verify.method == "exact"
        members = candidates.members
        if not exact and recipe.sketcher.on_the_fly is None:
            return cls(sent, members.drop("number"), exact)
        wanted = members.select("number")

        def shelf() -> DataFrame:
            return members.join(documents.read(Shelving(sent, exact), SHELF, only=wanted), "number").drop("number")

        return cls(sent, stages.keep("shelf", shelf), exact)

    @property
    def rule(self) -> Rule:
        """When a candidate pair is one."""
        return self._blank.rule

    @property
    def measures_resemblance(self) -> bool:
        """Tell whether the exact resemblance alone decides about candidates."""
        return self._blank.measures_resemblance

    @property
    def how(self) -> tuple[str, float]:
        """How scores are found, and the score of identical documents."""
        nothing = self._blank.evidence(np.empty((0, 2), np.int64))
        return nothing.how, nothing.full

    @property
    def _blank(self) -> Verifier:
        """Of no documents."""
        recipe = self.sent.recipe
        later = recipe.sketcher.on_the_fly
        none = np.empty(0, np.int64)
        projected = None if later is None else Projected(later, none, lambda _: np.empty((0, later.words), np.uint64))
        meter = _InMemory(np.empty(0, np.uint64), np.zeros(1, np.int64)) if self.exact else None
        places = Places.at(0, []) if recipe.verify.by_place else None
        empty = Signatures(
            recipe.sketcher.comparison, np.empty((0, recipe.sketcher.samples), np.uint8), offsets=np.zeros(1, np.int64)
        )
        return Verifier(recipe, none, empty, projected, meter, places)

    def weighed(self, pairs: DataFrame) -> DataFrame:
        """Pairs i, j → WEIGHED. Both documents of a pair are looked up in one join, and meet afterwards."""
        names = [name for name in self.payload.columns if name != "row"]
        sides = pairs.select("i", "j", F.explode(F.array("i", "j")).alias("row"))
        return self._met(sides.join(self.payload, "row"), names)

    def weighed_few(self, pairs: pa.Table) -> DataFrame:
        """The same where the pairs are at hand: they go to the documents, and of those only the asked ones travel."""
        names = [name for name in self.payload.columns if name != "row"]
        here = self.payload.sparkSession.createDataFrame(pairs)
        sides = here.select("i", "j", F.explode(F.array("i", "j")).alias("row"))
        return self._met(self.payload.join(F.broadcast(sides), "row"), names)

    def _met(self, found: DataFrame, names: list[str]) -> DataFrame:
        held = F.struct(*names)
        both = found.groupBy("i", "j").agg(
            *(F.first(F.when(F.col("row") == F.col(end), held), ignorenulls=True).alias(f"of_{end}") for end in "ij")
        )
        columns = [F.col(f"of_{end}.{name}").alias(f"{name}_{end}") for end in "ij" for name in names]
        return mapped(both.select("i", "j", *columns), _Weighing(self.sent, self.exact), WEIGHED)
