"""The passages of a text around a query's terms: what a searcher was shown the text for.

A term is a run of words of the query without anything between them: one word in most scripts; in scripts without
spaces, whose words are single characters, all that stand together. A passage goes from AROUND words before a term to
AROUND words behind it; passages that touch are one. A text without any of the terms is taken whole.

"The test for similarity should be on the fragment of interest and not the entire page" (Jain, Dahlin, Tewari, 2.3).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from neardup.kernels import results, unicode_tables
from neardup.refine.signature import as_bytes, batch_of, runs, sketcher
from neardup.sketches.base import Ragged
from neardup.text.batches import TextBatch

AROUND = 40
"""Words on either side of a term."""

MOST_TERMS = 64
"""Words of a query that are looked for; more cannot be meant."""


def passages(texts: Sequence[bytes], query: str) -> list[bytes]:
    """Of every text, well-formed UTF-8, what stands around the query's terms, line by line; all of it where none
    does."""
    terms = _terms(query)
    if not terms:
        return list(texts)
    return [cut for begin, end in runs(texts) for cut in _passages(texts[begin:end], terms)]


def has_words(query: str | None) -> bool:
    """Whether there is anything in a query to look for."""
    return query is not None and bool(_terms(query))


def _passages(texts: Sequence[bytes], terms: list[NDArray[np.uint64]]) -> list[bytes]:
    batch = batch_of(texts)
    words, _ = sketcher().fingerprints(batch, of_tokens=True)
    covered = _covered(words, terms)
    return [_cut(batch, words.offsets, covered, i, text) for i, text in enumerate(texts)]


def _terms(query: str) -> list[NDArray[np.uint64]]:
    """The hashes of each term's words; of a term that is there twice, once."""
    batch = batch_of([as_bytes(query)])
    words, _ = sketcher().fingerprints(batch, of_tokens=True)
    hashes = words.values[:MOST_TERMS]
    if not len(hashes):
        return []
    starts, ends = places(batch, 0, len(words.values))
    apart = np.flatnonzero(starts[1 : len(hashes)] > ends[: len(hashes) - 1]) + 1
    return list({term.tobytes(): term for term in np.split(hashes, apart.tolist())}.values())


def _covered(words: Ragged, terms: list[NDArray[np.uint64]]) -> NDArray[np.bool_]:
    """Which words are in a passage."""
    values, offsets = words
    steps = np.zeros(len(values) + 1, np.int64)
    documents = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    for term in terms:
        found = np.flatnonzero(values == term[0])
        found = found[found + len(term) <= offsets[documents[found] + 1]]
        for step, word in enumerate(term[1:], 1):
            found = found[values[found + step] == word]
        np.add.at(steps, np.maximum(found - AROUND, offsets[documents[found]]), 1)
        np.add.at(steps, np.minimum(found + len(term) + AROUND, offsets[documents[found] + 1]), -1)
    covered: NDArray[np.bool_] = np.cumsum(steps[:-1]) > 0
    return covered


def _cut(batch: TextBatch, offsets: NDArray[np.int64], covered: NDArray[np.bool_], i: int, text: bytes) -> bytes:
    """The passages of one text, one a line. One that begins with the first word begins with the text, and so at the
    end: what is covered in full is the text itself."""
    mine = covered[offsets[i] : offsets[i + 1]]
    if not mine.any() or mine.all():
        return text
    edges = np.flatnonzero(np.diff(mine, prepend=False, append=False))
    starts, ends = places(batch, i, len(mine))
    starts, ends = starts - batch.offsets[i], ends - batch.offsets[i]
    begins = np.where(edges[::2] == 0, 0, starts[edges[::2]]).tolist()
    stops = np.where(edges[1::2] == len(mine), len(text), ends[edges[1::2] - 1]).tolist()
    return b"\n".join(text[begin:stop] for begin, stop in zip(begins, stops, strict=True))


def places(batch: TextBatch, i: int, words: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where the words of a text begin and end, in bytes of the batch."""
    starts, ends = np.empty(words, np.int64), np.empty(words, np.int64)
    found = results.token_places(batch.data, batch.offsets[i], batch.offsets[i + 1], unicode_tables(), starts, ends)
    assert found == words, (found, words)
    return starts, ends
