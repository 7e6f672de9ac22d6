"""pairs(): the similar pairs of a collection with their scores, in pieces, so that they need not fit into memory.

sources → text → shingles → sketches → candidates → verify
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from neardup.analysis.estimators import minhash_error
from neardup.candidates.features import bucket
from neardup.engines.steps import Watcher
from neardup.errors import UsageError
from neardup.evidence import Evidence, Verifier
from neardup.gather import Gathered, Reading, gather
from neardup.kernels import groups as kernel
from neardup.model import PAIRS
from neardup.recipe import Recipe
from neardup.recipes import choose_recipe
from neardup.text.settings import Extract, TokenKind
from neardup.verify.settings import Method

MOST = 10_000
"""Candidates of one document that are compared, unless the user allows more."""

_AT_ONCE = 1 << 20
"""Pairs in memory at once, or one document's."""


class Pairs:
    """The similar pairs, batch by batch: iterate, or take the whole `table`. Afterwards, what was left out."""

    def __init__(self, gathered: Gathered, most: int) -> None:
        self._gathered, self._most = gathered, most
        self.documents = len(gathered.collection)
        self.found = 0
        """Pairs so far."""
        self.cut_short = 0
        """Documents with more candidates than were compared."""
        self.left_out = 0
        """An upper bound of the candidate pairs that were not compared because of that."""

    @property
    def recipe(self) -> Recipe:
        """How they were found."""
        return self._gathered.recipe

    @property
    def said(self) -> list[str]:
        """What was guessed and noticed on the way, in sentences."""
        return self._gathered.said

    @property
    def skipped(self) -> int:
        """Documents that could not be read or compared."""
        return len(self._gathered.problems)

    def table(self) -> pa.Table:
        """All pairs at once."""
        return pa.Table.from_batches(list(self), schema=PAIRS)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        self.found = self.cut_short = self.left_out = 0
        gathered = self._gathered
        steps = gathered.engine.steps
        with steps.step("candidates"):
            buckets = bucket(gathered.keys, gathered.compared)
        with steps.step("verify", sum(s.size for s in gathered.engine.splits)):
            verifier = Verifier(gathered, buckets.members)
            n, size = len(buckets.members), len(buckets.entries)
            owner, below, rank = (np.empty(size, np.int32) for _ in range(3))
            kernel.chain(buckets.entries, buckets.begins, buckets.count, owner, below, rank)
            most = min(self._most, n)
            rows, scores = np.empty((max(_AT_ONCE, most), 2), np.int32), np.empty(max(_AT_ONCE, most))
            stamp = np.full(n, -1, np.int32)
            at = 0
            while at < n:
                count, at, cut, left = kernel.pair_round(
                    buckets.begins,
                    owner,
                    below,
                    rank,
                    verifier.signatures.for_kernel,
                    verifier.rule.least,
                    most,
                    at,
                    stamp,
                    rows,
                    scores,
                )
                self.cut_short += cut
                self.left_out += left
                found = rows[:count][np.lexsort((rows[:count, 1], rows[:count, 0]))]
                if verifier.rule.measured:
                    found = found[verifier.measure(found) >= verifier.rule.threshold]
                if len(found):
                    self.found += len(found)
                    yield self._batch(buckets.members, found, verifier.evidence(found.astype(np.int64)))
        gathered.engine.work.shingles.unlink(missing_ok=True)

    def _errors(self, evidence: Evidence) -> pa.Array:
        """The standard error of estimated resemblances, where the number of samples is fixed."""
        samples = self._gathered.engine.sketcher.estimators
        if evidence.how != "estimate" or not samples:
            return pa.nulls(len(evidence.score), pa.float64())
        return pa.array([minhash_error(x, samples) for x in evidence.score.tolist()], pa.float64())

    def _batch(self, members: Any, rows: Any, evidence: Evidence) -> pa.RecordBatch:
        """The earlier document first."""
        collection = self._gathered.collection
        second, first = members[rows[:, 0]], members[rows[:, 1]]
        columns = [
            collection.any_order("id", first),
            collection.any_order("id", second),
            pa.array(evidence.score),
            pa.array([evidence.how] * len(rows), pa.string()),
            self._errors(evidence),
            pa.array(evidence.resemblance, mask=np.isnan(evidence.resemblance)),
            pa.array(evidence.second_in_first, mask=np.isnan(evidence.second_in_first)),
            pa.array(evidence.first_in_second, mask=np.isnan(evidence.first_in_second)),
            collection.any_order("url", first),
            collection.any_order("url", second),
        ]
        return pa.RecordBatch.from_arrays(columns, schema=PAIRS)


def pairs(
    source: Any,
    *,
    recipe: Recipe | str | None = None,
    most: int = MOST,
    threshold: float | None = None,
    recall: float | None = None,
    verify: Method | None = None,
    tokens: TokenKind | None = None,
    width: int | None = None,
    repeats: bool | None = None,
    extract: Extract | None = None,
    permutations: int | None = None,
    seed: int | None = None,
    text_field: str | None = None,
    id_field: str | None = None,
    url_field: str | None = None,
    html: bool | None = None,
    format: str | None = None,
    on_error: Literal["stop", "skip"] = "stop",
    max_document_bytes: int = 64 << 20,
    threads: int | None = None,
    work: str | Path | None = None,
    watcher: Watcher | None = None,
) -> Pairs:
    """The similar pairs of a collection. Source, recipe and settings are those of `dedup`.

    most: with how many earlier candidates a document is compared at the most. A collection that is one big cluster has
    half the square of its size in pairs; `cut_short` and `left_out` tell what this bound kept out.
    """
    if most < 1:
        raise UsageError(f"most = {most}: a document is compared with 1 candidate at least.")
    chosen = choose_recipe(
        recipe,
        threshold=threshold,
        recall=recall,
        verify=verify,
        tokens=tokens,
        width=width,
        repeats=repeats,
        extract=extract,
        permutations=permutations,
        seed=seed,
    )
    reading = Reading(text_field, id_field, url_field, html, format, on_error, max_document_bytes, threads, work)
    return Pairs(gather(source, chosen, reading, watcher), most)
