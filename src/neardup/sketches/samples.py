"""One permutation instead of many: the m smallest values, or those that are 0 modulo n (Broder; Radinsky).

Both are samples of the shingle set. The m smallest take the same room for every document. The values that are 0
modulo n grow with it, and so tell containment as well: a sample of a part is a part of the sample.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from neardup.errors import RecipeError
from neardup.kernels import groups
from neardup.kernels import sampling as kernel
from neardup.shingles import ShingleSettings
from neardup.sketches.base import Comparison, Ragged, Sketcher, Sketches, check_seed
from neardup.text.batches import TextBatch
from neardup.text.settings import TextSettings

_NOTHING = np.uint64(2**64 - 1)


@dataclass(frozen=True)
class BottomSettings:
    """The m smallest values of one permutation."""

    m: int = 100
    seed: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.m <= 4096:
            raise RecipeError(f"m = {self.m}: keep 1 to 4096 values; 100 is the default.")
        check_seed(self.seed)


class Bottom(Sketcher):
    """Sketches documents by their m smallest values."""

    def __init__(self, text: TextSettings, shingles: ShingleSettings, settings: BottomSettings) -> None:
        super().__init__(text, shingles, settings.seed)
        self.settings = settings
        self.words = settings.m
        self.comparison = Comparison(groups.BOTTOM, (float(settings.m),), "resemblance", None, 1.0)

    def sketch(self, batch: TextBatch) -> Sketches:
        """Fingerprints → the smallest, ascending."""
        found, made = self.fingerprints(batch)
        counts = np.zeros(len(made.status), np.int64)
        kernel.bottom(found.values, found.offsets[1:], self.settings.m, int(self.seed), made.words, counts)
        return made

    @property
    def estimators(self) -> int:
        """The m smallest of the union."""
        return self.settings.m

    def keys(self, words: NDArray[np.uint64], ragged: Ragged) -> Ragged:
        """The values."""
        real = words != _NOTHING
        return Ragged(words[real], np.concatenate([[0], np.cumsum(real.sum(axis=1))]).astype(np.int64))


@dataclass(frozen=True)
class ModSettings:
    """The values that are 0 modulo n."""

    n: int = 25
    measure: Literal["resemblance", "containment"] = "resemblance"
    """containment: a document is similar to one that it is a part of."""
    seed: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.n <= 1 << 32:
            raise RecipeError(f"n = {self.n}: one shingle of n is kept, n from 1 to 2^32; 25 is the default.")
        if self.measure not in ("resemblance", "containment"):
            raise RecipeError(f"measure = {self.measure!r}: choose resemblance or containment.")
        check_seed(self.seed)


class Mod(Sketcher):
    """Sketches documents by their values that are 0 modulo n."""

    words = 0
    has_ragged = True

    def __init__(self, text: TextSettings, shingles: ShingleSettings, settings: ModSettings) -> None:
        super().__init__(text, shingles, settings.seed)
        self.settings = settings
        kind = groups.MOD if settings.measure == "resemblance" else groups.CONTAINMENT
        self.comparison = Comparison(kind, (), settings.measure, None, 1.0, settings.measure == "containment")

    def sketch(self, batch: TextBatch) -> Sketches:
        """Fingerprints → a share of them, ascending."""
        found, made = self.fingerprints(batch)
        ends = np.zeros(len(made.status), np.int64)
        out = np.empty(len(found.values), np.uint64)
        total = kernel.mod(found.values, found.offsets[1:], self.settings.n, int(self.seed), ends, out)
        return replace(made, ragged=Ragged(out[:total], np.concatenate([[0], ends])))

    def keys(self, words: NDArray[np.uint64], ragged: Ragged) -> Ragged:
        """The values."""
        return ragged

    def signatures(self, words: NDArray[np.uint64], ragged: Ragged, urls: list[str | None]) -> Ragged:
        """The same."""
        return ragged
