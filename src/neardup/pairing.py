"""pairs(): the similar pairs of a collection with their scores, in pieces, so that they need not fit into memory.

sources → text → shingles → sketches → candidates → verify
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.candidates.features import bucket
from neardup.engines.steps import Watcher
from neardup.errors import UsageError
from neardup.evidence import Evidence, Verifier
from neardup.gather import Gathered, Reading, gather
from neardup.kernels import equal
from neardup.kernels import groups as kernel
from neardup.model import PAIRS, with_id_type
from neardup.recipe import Recipe
from neardup.recipes import Choose, choose_recipe
from neardup.sketches.base import Ragged, mixed
from neardup.sources.base import Quoting
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
        return int(self._gathered.problems.num_rows)

    def __repr__(self) -> str:
        return f"<neardup.Pairs of {self.documents:,} documents, recipe {self.recipe.id}: iterate, or .table()>"

    def table(self) -> pa.Table:
        """All pairs at once."""
        return pa.Table.from_batches(list(self), schema=self.layout)

    @property
    def layout(self) -> pa.Schema:
        """The columns of a batch; ids have the inputs' type."""
        return with_id_type(PAIRS, self._gathered.collection.id_type)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        with self._gathered.engine.work.in_use():
            for documents, copies, evidence in self.numbered():
                yield self._batch(documents, copies, evidence)

    def numbered(self) -> Iterator[tuple[NDArray[np.int64], NDArray[np.bool_], Evidence]]:
        """By the documents' numbers, the later one first; which are copies; and the evidence about the others."""
        self.found = self.cut_short = self.left_out = 0
        gathered = self._gathered
        steps = gathered.engine.steps
        with steps.step("candidates"):
            identities = gathered.identities()
            buckets = bucket(lambda: _with_identities(gathered.keys(), identities), gathered.compared)
            holders = np.empty(len(identities), np.int32)
            equal.first_holders(identities, gathered.compared, holders)
            same = holders[buckets.members]
        with steps.step("verify", sum(s.size for s in gathered.engine.splits)):
            verifier = Verifier.of(gathered, buckets.members, remember=False)
            n, size = len(buckets.members), len(buckets.entries)
            owner, below, rank = (np.empty(size, np.int32) for _ in range(3))
            kernel.chain(buckets.entries, buckets.begins, buckets.count, owner, below, rank)
            most = min(self._most, n)
            rows = np.empty((max(_AT_ONCE, most), 2), np.int32)
            stamp = np.full(n, -1, np.int32)
            at = 0
            while at < n:
                count, at, cut, left = kernel.pair_round(
                    buckets.begins,
                    owner,
                    below,
                    rank,
                    same,
                    verifier.signatures.for_kernel,
                    verifier.rule.least,
                    most,
                    at,
                    stamp,
                    rows,
                )
                self.cut_short += cut
                self.left_out += left
                found = rows[:count][np.lexsort((rows[:count, 1], rows[:count, 0]))]
                copies = same[found[:, 0]] == same[found[:, 1]]
                if verifier.rule.measured:
                    passed = copies.copy()
                    passed[~copies] = verifier.measure(found[~copies]) >= verifier.rule.threshold
                    found, copies = found[passed], copies[passed]
                if len(found):
                    self.found += len(found)
                    evidence = verifier.evidence(found[~copies].astype(np.int64))
                    yield buckets.members[found], copies, evidence
        gathered.engine.work.pairs_are_measured()

    def _batch(self, documents: NDArray[np.int64], copies: NDArray[np.bool_], evidence: Evidence) -> pa.RecordBatch:
        """The earlier document first. Copies have the same tokens; `evidence` is about the others."""
        collection = self._gathered.collection
        second, first = documents[:, 0], documents[:, 1]

        def column(full: float, found: NDArray[np.float64]) -> pa.Array:
            values = np.full(len(copies), full)
            values[~copies] = found
            return pa.array(values, mask=np.isnan(values))

        columns = [
            collection.any_order("id", first),
            collection.any_order("id", second),
            column(evidence.full, evidence.score),
            pa.array(["identity" if copy else evidence.how for copy in copies.tolist()], pa.string()),
            column(np.nan, self._errors(evidence)),
            column(1.0, evidence.resemblance),
            column(1.0, evidence.second_in_first),
            column(1.0, evidence.first_in_second),
            collection.any_order("url", first),
            collection.any_order("url", second),
        ]
        return pa.RecordBatch.from_arrays(columns, schema=PAIRS).cast(self.layout)

    def _errors(self, evidence: Evidence) -> NDArray[np.float64]:
        """The standard error of estimated resemblances, where the number of samples is fixed."""
        if evidence.how != "estimate":
            return np.full(len(evidence.score), np.nan)
        error = self._gathered.engine.sketcher.error
        return np.array([error(x) for x in evidence.score.tolist()], np.float64)


def _with_identities(
    keys: Iterator[tuple[int, Ragged]], identities: NDArray[np.uint64]
) -> Iterator[tuple[int, Ragged]]:
    """Documents with the same tokens are candidates too where they are too short for any key."""
    for start, found in keys:
        rows = identities[start : start + len(found.offsets) - 1]
        own = mixed(mixed(rows[:, 0], 1) ^ rows[:, 1], 1)
        yield (
            start,
            Ragged(np.insert(found.values, found.offsets[1:], own), found.offsets + np.arange(len(found.offsets))),
        )


def pairs(
    source: Any,
    *,
    recipe: Recipe | str | Choose | None = None,
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
    quoting: Quoting | None = None,
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
    settings: dict[str, Any] = {
        "threshold": threshold,
        "recall": recall,
        "verify": verify,
        "tokens": tokens,
        "width": width,
        "repeats": repeats,
        "extract": extract,
        "permutations": permutations,
        "seed": seed,
    }
    choose = recipe if callable(recipe) else lambda pages: choose_recipe(recipe, **settings, pages=pages)
    reading = Reading(
        text_field, id_field, url_field, html, format, on_error, max_document_bytes, threads, work, quoting=quoting
    )
    with gather(source, choose, reading, watcher) as gathered:
        return Pairs(gathered, most)
