"""What every sketch offers: what is kept of a document, which keys make it a candidate, what two of them show.

Sketches     the rows of a batch
Sketcher     text → sketches; sketches → keys; sketches → signatures that the kernels score
Comparison   which score, in which unit, from where on two documents are similar
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from math import nan
from secrets import randbits
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup.analysis.estimators import minhash_error
from neardup.errors import RecipeError
from neardup.kernels import text as kernel
from neardup.kernels import unicode_tables
from neardup.kernels.blake3 import digests
from neardup.model import Measure
from neardup.rabin import shingle_tables
from neardup.shingles import ShingleSettings
from neardup.text.batches import TextBatch
from neardup.text.settings import TextSettings

_DRAWN = np.uint64(randbits(63))
"""The seed of shingle sets that do not leave this process."""


class Ragged(NamedTuple):
    """Row i is values[offsets[i]:offsets[i + 1]]."""

    values: NDArray[np.uint64]
    offsets: NDArray[np.int64]


def even(words: NDArray[np.uint64]) -> Ragged:
    """A matrix as rows of one length."""
    n, width = words.shape
    return Ragged(np.ascontiguousarray(words).reshape(-1), np.arange(n + 1, dtype=np.int64) * width)


def nothing(n: int) -> Ragged:
    """n rows without values."""
    return Ragged(np.empty(0, np.uint64), np.zeros(n + 1, np.int64))


@dataclass(frozen=True)
class Sketches:
    """The sketches of a batch: row i belongs to document i. Rows that are not `compared` hold nothing of interest."""

    status: NDArray[np.uint8]
    tokens: NDArray[np.int64]
    identities: NDArray[np.uint64]
    words: NDArray[np.uint64]
    """The same number of 64-bit words for every document."""
    samples: NDArray[np.uint8]
    """8 or fewer bits of each minimum, a byte each, where the sketch keeps them."""
    ragged: Ragged
    """As many words as a document happens to have, where the sketch is of that kind."""
    recipe: str = ""
    """Id of the recipe that they were made by, where it is known."""

    @property
    def compared(self) -> NDArray[np.bool_]:
        """Documents that have tokens."""
        return np.isin(self.status, (kernel.FINE, kernel.SHORT))


@dataclass(frozen=True)
class Comparison:
    """How two signatures are scored (kernels.groups), and what the score says."""

    kind: int
    parameters: tuple[float, ...]
    measure: Measure
    """The unit."""
    similar: float | None
    """The score from which on two documents are similar; None: a resemblance, and the recipe's threshold says it."""
    full: float
    """The score of two equal documents."""
    contained: bool = False
    """A document is similar to one that it is a part of: what is measured exactly is the containment."""
    drops: float = 0.0
    """Where the score is an estimate: the most documents that it may call similar although they resemble no other by
    more than the threshold − 0.05, however many others they are compared with. 0: the score alone decides."""
    keys: int = 1
    """Keys of a document, each of which leads to others."""


class Sketcher(ABC):
    """Sketches documents. Threads may share one."""

    words: int
    """64-bit words per document."""
    samples: int = 0
    """Bytes of samples per document."""
    has_ragged: bool = False
    signed: int = 0
    """How many of the words, the last ones, are scored; 0: all of them."""
    needs_urls: bool = False
    """Whether signatures depend on where a document is from."""
    on_the_fly: "Sketcher | None" = None
    """What is sketched of candidates alone, from their text, to compare them a second time."""
    comparison: Comparison

    @property
    def estimators(self) -> int:
        """How many samples an estimate of the resemblance is made of; 0 where that depends on the documents."""
        return 0

    def error(self, resemblance: float) -> float:
        """The standard error of an estimate of this resemblance; NaN where it depends on the documents."""
        return minhash_error(resemblance, self.estimators) if self.estimators else nan

    def __init__(self, text: TextSettings, shingles: ShingleSettings, seed: int) -> None:
        self.text, self.shingles = text, shingles
        self.random = np.random.Generator(np.random.PCG64(seed))
        self.seed = np.uint64(self.random.integers(0, 2**63))
        self.tables = unicode_tables()
        self.polynomial = shingles.modulus(seed)
        self.rabin = self._rabin(shingles.width)

    def _rabin(self, width: int) -> Any:
        """The tables for shingles of this many tokens; None for the mixing hash."""
        return None if self.polynomial is None else shingle_tables(self.polynomial, width)

    @cached_property
    def _rabin_of_tokens(self) -> Any:
        return self._rabin(1)

    @abstractmethod
    def sketch(self, batch: TextBatch) -> Sketches:
        """All that is kept of each document."""

    @abstractmethod
    def keys(self, words: NDArray[np.uint64], ragged: Ragged) -> Ragged:
        """The keys of sketched documents: documents with a key in common are candidates."""

    def signatures(self, words: NDArray[np.uint64], ragged: Ragged, urls: list[str | None]) -> Ragged:
        """What the kernels score."""
        return even(words)

    def rare_keys(self, words: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Keys, row by row, that an index may use where those of `keys` are crowded; none, unless a sketch has them."""
        return np.empty((len(words), 0), np.uint64)

    def blank(self, n: int) -> Sketches:
        """Sketches of n documents, to be filled in."""
        return Sketches(
            status=np.zeros(n, np.uint8),
            tokens=np.zeros(n, np.int64),
            identities=np.zeros((n, 2), np.uint64),
            words=np.zeros((n, self.words), np.uint64),
            samples=np.zeros((n, self.samples), np.uint8),
            ragged=nothing(n),
        )

    def sites(self, urls: list[str | None]) -> list[str | None]:
        """Where each document is from, where signatures depend on it; None where it is not known."""
        return [None] * len(urls)

    def places(self, urls: list[str | None], numbers: dict[str | None, int]) -> NDArray[np.uint64]:
        """A number per site; 0 for an unknown one. `numbers` has those given so far, {None: 0} at first."""
        return np.array([numbers.setdefault(name, len(numbers)) for name in self.sites(urls)], np.uint64)

    def fingerprints(self, batch: TextBatch, *, of_tokens: bool = False) -> tuple[Ragged, Sketches]:
        """The fingerprints of all shingles (or tokens) of each document, in order; and sketches to be filled in."""
        n = len(batch.offsets) - 1
        width = 1 if of_tokens else self.shingles.width
        rabin = self._rabin_of_tokens if of_tokens else self.rabin
        made = self.blank(n)
        ends, spans = np.zeros(n, np.int64), np.zeros((n, 2), np.int64)
        room = int(batch.sizes.sum()) + 2 * n + 2
        total = -1
        while total < 0:
            out = np.empty(room, np.uint64)
            total, form = kernel.fingerprint_documents(
                batch.data,
                batch.offsets,
                self.text.kind,
                width,
                self.shingles.repeats,
                self.seed,
                self.tables,
                rabin,
                made.status,
                made.tokens,
                spans,
                ends,
                out,
            )
            room *= 2
        name_sequences(form, spans, made.identities)
        return Ragged(out[:total], np.concatenate([[0], ends])), made

    def shingle_sets(
        self, batch: TextBatch, chosen: NDArray[np.int64], seed: np.uint64 = _DRAWN
    ) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """Return the sorted shingle sets of the chosen documents, one behind the other, and their sizes.

        seed: of the hash of words; drawn anew in every process if not given, so that nobody can prepare two words with
        one hash. Overlaps do not depend on it; sets compare where it is the same. Rabin's fingerprints have none.
        """
        sizes = np.zeros(len(chosen), np.int64)
        room = int(batch.sizes[chosen].sum()) + 2
        total = -1
        while total < 0:
            sets = np.empty(room, np.uint64)
            total = kernel.shingle_sets(
                batch.data,
                batch.offsets,
                chosen,
                self.text.kind,
                self.shingles.width,
                self.shingles.repeats,
                seed,
                self.tables,
                self.rabin,
                sizes,
                sets,
            )
            room *= 2
        return sets[:total], sizes


def name_sequences(form: NDArray[np.uint8], spans: NDArray[np.int64], identities: NDArray[np.uint64]) -> None:
    """Write the identity of each document: 128 bits of BLAKE3 of its canonical sequence, which a kernel has made."""
    digests(form[: len(form) // 4 * 4].view(np.uint32), spans, identities)


def mixed(values: NDArray[np.uint64], salt: int) -> NDArray[np.uint64]:
    """The same values as keys of one kind: those of another salt do not agree with them."""
    with np.errstate(over="ignore"):
        h = (values ^ np.uint64((salt * 0x9E3779B97F4A7C15) % 2**64)) * np.uint64(0xFF51AFD7ED558CCD)
        h ^= h >> np.uint64(33)
        h = h * np.uint64(0xC4CEB9FE1A85EC53)
    return h ^ (h >> np.uint64(33))


def check_seed(seed: int) -> None:
    """Of any sketch."""
    if not 0 <= seed < 2**63:
        raise RecipeError(f"seed = {seed}: choose one from 0 to 2^63 - 1.")
