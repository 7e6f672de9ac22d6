"""Brute force: sampled documents against all others, by their sketches.

neighbours   for every sampled document those whose score reaches the margin
margin       how far below the threshold a score may lie
told_apart   which documents can be compared like that: a handful of samples says too little

Sketches stream from the collection in runs of documents, on all threads. What stays in memory is bounded: of a
document's neighbours a random `most` are drawn, each standing for as many as there are, and the kept ones that are
nearest. Who is drawn depends on the seed and on document numbers alone, not on threads.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.analysis.binomial import head
from neardup.analysis.filters import least_agreement
from neardup.gather import Gathered
from neardup.kernels import groups as kernel
from neardup.kernels import nearest
from neardup.recipe import Recipe
from neardup.sketches.base import Ragged, mixed
from neardup.verify.signatures import Signatures, rule, without_chance

MISS = 1e-6
"""That the margin hides a pair that lies exactly at the threshold. Less than the run itself risks, which is 1e-4:
the audit must see what that margin hides."""

_RUN = 16384
"""Documents whose sketches are looked at together."""
_QUERIES = 64
"""Sampled documents that are compared with them at once: a million scores."""


@dataclass(frozen=True)
class Margin:
    """The least score of a pair that is worth a closer look; by[n] where it depends on the smaller sample's size."""

    least: float
    miss: float = 0.0
    """That it hides a pair that lies exactly at the threshold."""
    by: NDArray[np.float64] | None = None
    enough: int = 0
    """The size of a sample from which on that holds."""

    def of(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.float64] | float:
        """For all pairs of a first and a second document, by the sizes of their samples."""
        if self.by is None:
            return self.least
        smaller = np.minimum(first[:, None], second[None, :])
        return self.by[np.minimum(smaller, len(self.by) - 1)]


def margin(recipe: Recipe) -> Margin:
    """Where a score is all there is, it decides. Where more is measured, a pair at the threshold is hidden with
    probability MISS at the most: agreements of samples are binomial (Broder, equation 1).

    One sample at least must agree. With so few samples that a pair may agree in none, more is hidden (`miss`).
    """
    sketcher, verify = recipe.sketcher, recipe.verify
    comparison = sketcher.comparison
    if comparison.similar is not None:
        return Margin(comparison.similar)
    if verify.method == "sketch":
        return Margin(rule(comparison, verify, sketcher.estimators).least)
    samples = sketcher.estimators
    if not samples:
        return _by_size(verify.threshold)
    agreed = max(1, least_agreement(verify.threshold, samples, MISS))
    share = agreed / samples
    if comparison.kind == kernel.SAMPLES:
        share = without_chance(comparison, share)
    return Margin(share - 1e-9, head(samples, agreed, verify.threshold))


def _by_size(threshold: float) -> Margin:
    """For samples of random size. Between the sizes told, the margin of the smaller one, which is wider."""
    told = [*range(1, 65), *(int(64 * 2 ** (i / 4)) for i in range(1, 25))]
    by = np.full(told[-1] + 1, np.inf)  # an empty sample tells nothing
    enough = 0
    for size in told:
        agreed = least_agreement(threshold, size, MISS)
        by[size:] = max(1, agreed) / size - 1e-9
        enough = enough or (size if agreed else 0)
    return Margin(0.0, MISS, by, enough)


def told_apart(gathered: Gathered) -> NDArray[np.bool_]:
    """Which documents have sketches that are large enough to find their neighbours by."""
    enough = margin(gathered.recipe).enough
    found = np.ones(len(gathered.collection), np.bool_)
    if enough:
        for start, _, ragged in gathered.collection.sketches():
            sizes = np.diff(ragged.offsets)
            found[start : start + len(sizes)] = sizes >= enough
    return found


@dataclass(frozen=True)
class Neighbours:
    """Row by row, a sampled document and a neighbour: rows of `sampled`, and document numbers."""

    sampled: NDArray[np.int64]
    query: NDArray[np.int64]
    document: NDArray[np.int64]
    score: NDArray[np.float64]
    drawn: NDArray[np.bool_]
    """In the random draw; the others are kept ones that are near a kept one."""
    counts: NDArray[np.int64]
    """Of every sampled document: how many neighbours it has in all."""
    compared: int
    """Pairs of sketches that were looked at."""

    @property
    def stands_for(self) -> NDArray[np.float64]:
        """How many neighbours each one drawn stands for; 0 for those not drawn."""
        drawn = np.bincount(self.query[self.drawn], minlength=len(self.sampled))
        weight = self.counts / np.maximum(1, drawn)
        return np.where(self.drawn, weight[self.query], 0.0)

    @property
    def partly(self) -> NDArray[np.bool_]:
        """Tell of which sampled documents not all neighbours are here."""
        found: NDArray[np.bool_] = self.counts > np.bincount(self.query, minlength=len(self.sampled))
        return found


@dataclass(frozen=True)
class _Found:
    query: NDArray[np.int64]
    document: NDArray[np.int64]
    score: NDArray[np.float64]

    def __add__(self, other: "_Found") -> "_Found":
        return _Found(
            np.concatenate([self.query, other.query]),
            np.concatenate([self.document, other.document]),
            np.concatenate([self.score, other.score]),
        )

    def __getitem__(self, rows: NDArray[np.bool_]) -> "_Found":
        return _Found(self.query[rows], self.document[rows], self.score[rows])


def neighbours(
    gathered: Gathered,
    sampled: NDArray[np.int64],
    others: NDArray[np.bool_],
    kept: NDArray[np.bool_],
    *,
    most: int,
    nearest: int,
    seed: int,
) -> Neighbours:
    """Compare the sampled documents (ascending) with all `others`; a document is no neighbour of itself.

    most: how many of a document's neighbours are drawn. nearest: how many of the nearest kept ones of a kept document
    are taken besides.
    """
    search = _Search(gathered, sampled, others, kept, most, nearest, seed)
    counts = np.zeros(len(sampled), np.int64)
    found = _Found(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    compared = 0
    with ThreadPoolExecutor(gathered.engine.threads, "neardup-audit") as pool:
        for number, some, looked_at in pool.map(search.run, _runs(gathered.collection.starts)):
            counts += number
            compared += looked_at
            found = found + some
            if len(found.query) > 1 << 21:
                found = found[np.logical_or(*search.chosen(found))]
    order = np.lexsort((found.document, found.query))
    found = _Found(found.query[order], found.document[order], found.score[order])
    drawn, near = search.chosen(found)
    found, drawn = found[drawn | near], drawn[drawn | near]
    return Neighbours(sampled, found.query, found.document, found.score, drawn, counts, compared)


def _runs(starts: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Runs of documents that do not cross files."""
    for begin, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        for start in range(begin, end, _RUN):
            yield start, min(start + _RUN, end)


_Blocks = Iterator[tuple[int, NDArray[np.bool_], NDArray[np.float64]]]
"""The first sampled document of a block, which pairs are near enough, and their scores."""


class _Search:
    def __init__(
        self,
        gathered: Gathered,
        sampled: NDArray[np.int64],
        others: NDArray[np.bool_],
        kept: NDArray[np.bool_],
        most: int,
        nearest: int,
        seed: int,
    ) -> None:
        self.gathered, self.sampled, self.others, self.kept = gathered, sampled, others, kept
        self.most, self.nearest, self.salt = most, nearest, seed + 1
        self.sketcher, self.margin = gathered.engine.sketcher, margin(gathered.recipe)
        self.queries = self._sketches(sampled)

    def run(self, run: tuple[int, int]) -> tuple[NDArray[np.int64], _Found, int]:
        """All sampled documents against a run: how many neighbours each has there, some of them, pairs compared."""
        documents = np.flatnonzero(self.others[slice(*run)]) + run[0]
        q, n = len(self.sampled), len(documents)
        counts = np.zeros(q, np.int64)
        pieces = [_Found(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))]
        if q and n:
            by_samples = self.sketcher.comparison.kind == kernel.SAMPLES
            for first, near, scores in (self._by_samples if by_samples else self._by_scores)(documents):
                rows, columns = np.nonzero(near)
                other = self.sampled[rows + first] != documents[columns]
                rows, columns, scores = rows[other], columns[other], scores[other]
                counts[first : first + len(near)] = np.bincount(rows, minlength=len(near))
                some = _Found(rows + first, documents[columns], scores)
                pieces.append(some[np.logical_or(*self.chosen(some))])
        self.gathered.engine.steps.advance(run[1] - run[0], run[1] - run[0])
        found = pieces[0]
        for piece in pieces[1:]:
            found = found + piece
        return counts, found, q * n

    def _by_samples(self, documents: NDArray[np.int64]) -> _Blocks:
        """Samples of a byte: agreements are counted for 32 documents at a time, and are few different numbers."""
        samples = self._sketches(documents)[0]
        columns, places = np.ascontiguousarray(samples.T), samples.shape[1]
        scores = np.maximum(0.0, without_chance(self.sketcher.comparison, np.arange(places + 1) / places))
        least = int(np.searchsorted(scores, self.margin.least))
        for first in range(0, len(self.sampled), _QUERIES):
            queries = self.queries[0][first : first + _QUERIES]
            agreed = np.zeros((len(queries), len(documents)), np.uint16)
            nearest.agreements(queries, columns, agreed)
            near = agreed >= least
            yield first, near, scores[agreed[near]]

    def _by_scores(self, documents: NDArray[np.int64]) -> _Blocks:
        """Any other kind: pair by pair, by the kernel that the run uses."""
        q, n = len(self.sampled), len(documents)
        signatures = self._signatures(documents)
        sizes = np.diff(signatures.offsets)
        pairs = np.empty((min(q, _QUERIES), n, 2), np.int32)
        pairs[..., 1] = np.arange(q, q + n)
        for first in range(0, q, _QUERIES):
            last = min(first + _QUERIES, q)
            block = pairs[: last - first]
            block[..., 0] = np.arange(first, last)[:, None]
            scores = signatures.scores(block.reshape(-1, 2)).reshape(last - first, n)
            near = scores >= self.margin.of(sizes[first:last], sizes[q:])
            yield first, near, scores[near]

    def chosen(self, found: _Found) -> NDArray[np.bool_]:
        """Two rows: drawn at random, and kept ones that are nearest to a kept one. Choosing again changes nothing."""
        out = np.zeros((2, len(found.query)), np.bool_)
        lot = mixed(found.document.astype(np.uint64), self.salt)
        out[0] = _first_of_each(found.query, lot, self.most)
        both = self.kept[self.sampled[found.query]] & self.kept[found.document]
        rows = np.flatnonzero(both)
        by_score = np.lexsort((found.document[rows], -found.score[rows]))
        place = np.empty(len(rows), np.int64)
        place[by_score] = np.arange(len(rows))
        out[1, rows] = _first_of_each(found.query[rows], place, self.nearest)
        return out

    def _sketches(self, documents: NDArray[np.int64]) -> tuple[Any, ...]:
        """What their signatures are made of."""
        collection = self.gathered.collection
        if self.sketcher.comparison.kind == kernel.SAMPLES:
            return (collection.matrix("samples", documents),)
        urls = collection.any_order("url", documents).to_pylist() if self.sketcher.needs_urls else []
        return collection.matrix("words", documents), collection.ragged(documents), urls

    def _signatures(self, documents: NDArray[np.int64]) -> Signatures:
        """Of the sampled documents and, behind them, of these: made together, as sites get their numbers then."""
        (words, ragged, urls), (more, tail, places) = self.queries, self._sketches(documents)
        offsets = np.concatenate([ragged.offsets, ragged.offsets[-1] + tail.offsets[1:]])
        both = Ragged(np.concatenate([ragged.values, tail.values]), offsets)
        made = self.sketcher.signatures(np.concatenate([words, more]), both, urls + places)
        return Signatures(self.sketcher.comparison, words=made.values, offsets=made.offsets)


def _first_of_each(group: NDArray[np.int64], key: NDArray[Any], most: int) -> NDArray[np.bool_]:
    """Which rows are among the `most` of their group with the smallest key."""
    out = np.zeros(len(group), np.bool_)
    order = np.lexsort((key, group))
    ordered = group[order]
    begin = np.searchsorted(ordered, ordered)
    out[order] = np.arange(len(group)) - begin < most
    return out
