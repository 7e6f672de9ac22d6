"""Documents for the living index, made faster than any index takes them, with the truth beside them.

A document is 25 of 200,000 sentences, about 2.6 kB. Every tenth one is a copy: an earlier document, drawn from all of
them, in which one sentence is another one. That changes 20 of 396 shingles of 5 words: a resemblance of about 0.9.
Every choice is a hash of the document's number, so any process makes any part of the corpus, again and in any order.

    corpus = Corpus()
    batch = corpus.batch(first=5_000, size=1_000)
    batch.documents   [{"id": "https://…", "text": "…"}, …]
    batch.roots       the document that each is a version of; its own number, where it is no copy

Documents that are no part of what an index is filled with have numbers from OUTSIDE on, and copy documents below
`among`: with that, an index can be asked about copies of what it has and of nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

VOCABULARY, SENTENCES, WORDS, LENGTH = 50_000, 200_000, 16, 25
"""Words there are, sentences there are, words of a sentence, sentences of a document."""
COMMON = 40
"""So many of the most frequent words have one syllable, the others two or three."""
EVERY = 10
"""One of so many documents is a copy."""
HOSTS = 977
OUTSIDE = 1 << 40

_SYLLABLES = ["".join(s) for s in product([*"bdfghklmnprstvw", "br", "cl", "st"], "aeiou", ["", "n", "r"])]

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Batch:
    """Documents, and what each is a version of."""

    documents: list[dict[str, str]]
    numbers: Numbers
    roots: Numbers


class Corpus:
    """All documents there are. Equal seeds give equal ones.

    settled: copies are of documents below this number alone. Where these are stored before several processes go on side
    by side, originals are there before their copies, whoever is faster.
    """

    def __init__(self, seed: int = 1, *, settled: int = OUTSIDE) -> None:
        rng = np.random.default_rng(seed)
        frequencies = np.power(np.arange(VOCABULARY) + 2.7, -1.05)  # Zipf-Mandelbrot
        limits = np.cumsum(frequencies / frequencies.sum())[:-1]
        drawn = np.searchsorted(limits, rng.random((SENTENCES, WORDS)))
        words = np.array(_words(rng), object)
        self.sentences = np.array([f"{' '.join(line)}. " for line in words[drawn].tolist()], object)
        self.seed, self.settled = seed, settled

    def batch(self, first: int, size: int, *, among: int = 0) -> Batch:
        """Documents `first` to `first + size`. Copies are of documents before them; from OUTSIDE on, below `among`."""
        numbers = np.arange(first, first + size)
        roots = self.roots(numbers, among=among)
        chosen = self._drawn(roots[:, None] * LENGTH + np.arange(LENGTH), 1, SENTENCES)
        copies = np.flatnonzero(roots != numbers)
        chosen[copies, self._drawn(numbers[copies], 2, LENGTH)] = self._drawn(numbers[copies], 3, SENTENCES)
        documents = [
            {"id": id_of(number), "text": "".join(sentences)}
            for number, sentences in enumerate(self.sentences[chosen].tolist(), first)
        ]
        return Batch(documents, numbers, roots)

    def roots(self, numbers: Numbers, *, among: int = 0) -> Numbers:
        """The document that each is a version of: itself, unless it is a copy."""
        bounds = np.where(numbers < OUTSIDE, np.minimum(numbers, self.settled), among)
        group = self._hashed(numbers, 4) % (bounds // EVERY).clip(1).astype(np.uint64)
        root = group.astype(np.int64) * EVERY + self._drawn(numbers, 5, EVERY - 1)  # the last of a group is a copy
        return np.where((numbers % EVERY == EVERY - 1) & (bounds >= EVERY), root, numbers)

    def _drawn(self, numbers: Numbers, salt: int, many: int) -> Numbers:
        return (self._hashed(numbers, salt) % np.uint64(many)).astype(np.int64)

    def _hashed(self, numbers: Numbers, salt: int) -> NDArray[np.uint64]:
        """64 bits that look random, from numbers: the finaliser of SplitMix64 (Steele, Lea, Flood 2014)."""
        start = np.uint64(((self.seed << 3) + salt << 48) % 2**64)
        with np.errstate(over="ignore"):
            z = (numbers.view(np.uint64) + start) * np.uint64(0x9E3779B97F4A7C15)
            z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            return z ^ (z >> np.uint64(31))


def _words(rng: np.random.Generator) -> list[str]:
    """Different ones, the most frequent first."""
    words = dict.fromkeys(_SYLLABLES[:COMMON])
    while len(words) < VOCABULARY:
        for picks in rng.integers(0, len(_SYLLABLES), (VOCABULARY, 3)).tolist():
            words["".join([_SYLLABLES[i] for i in picks[: 2 + picks[0] % 2]])] = None
    return list(words)[:VOCABULARY]


def id_of(number: int) -> str:
    """Like a URL."""
    return f"https://h{number % HOSTS}.example/p/{number}"


def number_of(id: str) -> int:
    """The inverse."""
    return int(id.rpartition("/")[2])


@dataclass
class Answers:
    """Counts what an index said of documents, and how much of it is wrong.

    missed: a copy was called new. false: a document was called a copy of what it is no version of.
    """

    corpus: Corpus
    among: int = 0
    documents: int = 0
    copies: int = 0
    missed: int = 0
    false: int = 0

    def take(self, batch: Batch, matches: Sequence[str | None]) -> None:
        """For each document of a batch the id that it is called a copy of, or None. Batches come in order."""
        copy = batch.roots != batch.numbers
        found = np.array([match is not None for match in matches], np.bool_)
        others = np.array([number_of(match) for match in matches if match is not None], np.int64)
        self.documents += len(copy)
        self.copies += int(np.count_nonzero(copy))
        self.missed += int(np.count_nonzero(copy & ~found))
        self.false += int(np.count_nonzero(self.corpus.roots(others, among=self.among) != batch.roots[found]))

    def told(self) -> dict[str, int]:
        """The counts by name."""
        return {"documents": self.documents, "copies": self.copies, "missed": self.missed, "false": self.false}
