"""Min-hash sketches and their features (Broder, sections 2 and 3)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup.errors import RecipeError
from neardup.kernels import text as kernel
from neardup.kernels import unicode_tables
from neardup.shingles import ShingleSettings
from neardup.text.batches import TextBatch
from neardup.text.settings import TextSettings


@dataclass(frozen=True)
class MinHashSettings:
    """k groups of s minima."""

    k: int = 20
    s: int = 7
    seed: int = 1

    def __post_init__(self) -> None:
        if self.k < 1 or self.s < 1 or self.k * self.s > 4096:
            raise RecipeError(
                f"k × s = {self.k} × {self.s} = {self.k * self.s}: both are at least 1 and their product at most 4096."
            )
        if not 0 <= self.seed < 2**63:
            raise RecipeError(f"seed = {self.seed}: choose one from 0 to 2^63 - 1.")

    @property
    def permutations(self) -> int:
        """Length of the sketch."""
        return self.k * self.s


@dataclass(frozen=True)
class Sketches:
    """The sketches of a batch: row i belongs to document i. Rows that are not `compared` hold zeros."""

    status: NDArray[np.uint8]
    tokens: NDArray[np.int64]
    identities: NDArray[np.uint64]
    keys: NDArray[np.uint64]
    samples: NDArray[np.uint8]

    @property
    def compared(self) -> NDArray[np.bool_]:
        """Documents that have tokens."""
        return np.isin(self.status, (kernel.FINE, kernel.SHORT))


class MinHash:
    """Sketches documents. Threads may share one."""

    def __init__(self, text: TextSettings, shingles: ShingleSettings, settings: MinHashSettings) -> None:
        self.text, self.shingles, self.settings = text, shingles, settings
        random = np.random.Generator(np.random.PCG64(settings.seed))
        self._seed = np.uint64(random.integers(0, 2**63))
        draw = random.integers(0, 2**32, (2, settings.permutations), dtype=np.uint32)
        self._multiply, self._add = draw[0] | np.uint32(1), draw[1]
        self._tables = unicode_tables()

    def sketch(self, batch: TextBatch) -> Sketches:
        """All that is kept of each document."""
        n, k, s = len(batch.offsets) - 1, self.settings.k, self.settings.s
        made = Sketches(
            status=np.zeros(n, np.uint8),
            tokens=np.zeros(n, np.int64),
            identities=np.zeros((n, 2), np.uint64),
            keys=np.zeros((n, k), np.uint64),
            samples=np.zeros((n, k * s), np.uint8),
        )
        kernel.sketch_documents(
            batch.data,
            batch.offsets,
            self.text.kind,
            self.shingles.width,
            self.shingles.repeats,
            self._seed,
            self._tables,
            self._multiply,
            self._add,
            k,
            s,
            made.status,
            made.tokens,
            made.identities,
            made.keys,
            made.samples,
        )
        return made

    def shingle_sets(self, batch: TextBatch, chosen: NDArray[np.int64]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """The sorted shingle sets of the chosen documents, one behind the other, and their sizes."""
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
                self._seed,
                self._tables,
                sizes,
                sets,
            )
            room *= 2
        return sets[:total], sizes
