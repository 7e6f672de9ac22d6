"""Features to find by, and an odd sketch to judge by: the most that so few bytes tell of a high resemblance.

The features are those of `minhash`. The estimate is made of bits. Every shingle is thrown into bins, four times, and a
bin keeps its minimum (Li, Owen and Zhang, "One Permutation Hashing", 2012); every minimum flips a bit (Mitzenmacher,
Pagh and Pham, "Efficient Estimation for High Similarities Using Odd Sketches", 2014). Bits in which two sketches differ
tell in how many minima the documents do. Short documents, of which most bins are empty, are known nearly whole. Four
throws instead of one make collisions of bits average out: without them one collision among the few different shingles
of two short documents would decide.

An estimate that won against many others is a lucky one. So the more documents stand under the key that a candidate was
found by, the surer the estimate must be (`verify.signatures.rule`).

Pages of one template share the minima of the template, and so their features. `rare` further minima are at hand as
keys of their own: an index files documents under those of them that few others have (`index.crowds`).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup.analysis.estimators import odd_error
from neardup.errors import RecipeError
from neardup.kernels import groups
from neardup.shingles import ShingleSettings
from neardup.sketches.base import Comparison, Ragged, even, mixed
from neardup.sketches.minhash import MinHash, MinHashSettings
from neardup.text.settings import TextSettings

THROWS = 4
_COUNT = 16
"""Bits of the last word that count the bins that are not empty."""

_RARE = 0x5A


@dataclass(frozen=True)
class OddSettings(MinHashSettings):
    """k groups of s minima, of which r must agree, and an odd sketch; no samples."""

    samples: bool = False
    odd: int = 16
    """64-bit words of the odd sketch."""
    bins: int = 1024
    """Bins of all throws together: the minima that the estimate is made of."""
    rare: int = 48
    """Minima that an index may use as keys of pages of one template; 0: none."""
    drops: float = 0.01
    """The most documents that are called similar although they resemble no other by more than the threshold − 0.05."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.samples or self.sampled or self.apart:
            raise RecipeError(
                "samples, sampled and apart belong to kind minhash; kind odd estimates from its odd sketch, which has "
                "hashes of its own. Omit them."
            )
        if not 1 <= self.odd <= 256:
            raise RecipeError(f"odd = {self.odd}: an odd sketch has 1 to 256 words of 64 bits; 16 is usual.")
        if not THROWS <= self.bins <= 0xFFFF or self.bins % THROWS:
            raise RecipeError(f"bins = {self.bins}: a multiple of {THROWS}, at most 65,532; 64 × odd is usual.")
        if not 0 <= self.rare <= 4096 or self.rare % 2:
            raise RecipeError(f"rare = {self.rare}: an even number of minima, from 0 to 4096.")
        if not 0.0 < self.drops < 1.0:
            raise RecipeError(f"drops = {self.drops}: a share of documents lies between 0 and 1, both excluded.")

    @property
    def permutations(self) -> int:
        """Minima that are made: those of the features, and those that may be keys."""
        return self.k * self.s + self.rare

    @property
    def odd_bits(self) -> int:
        """Bits of the odd sketch, without those that count."""
        return 64 * self.odd - _COUNT

    @property
    def estimates(self) -> bool:
        """Tell whether the kept words suffice to estimate the resemblance."""
        return True


class Odd(MinHash):
    """Sketches documents by features and parities."""

    settings: OddSettings

    def __init__(self, text: TextSettings, shingles: ShingleSettings, settings: OddSettings) -> None:
        super().__init__(text, shingles, settings)
        self.rare, self.bins = settings.rare, settings.bins
        drawn = np.random.Generator(np.random.PCG64([settings.seed, THROWS]))  # the same with any number of minima
        self.throws = drawn.integers(0, 2**63, THROWS, dtype=np.uint64) << np.uint64(1) | np.uint64(1)
        self.words = settings.k + settings.rare // 2 + settings.odd
        self.signed = settings.odd
        self.comparison = Comparison(
            groups.ODD,
            (float(settings.odd_bits), float(settings.bins)),
            "resemblance",
            None,
            1.0,
            drops=settings.drops,
            keys=settings.k,
        )

    @property
    def estimators(self) -> int:
        """Permutations whose minima, kept whole, would have this error at 0.8."""
        return int(0.16 / self.error(0.8) ** 2)

    def error(self, resemblance: float) -> float:
        """Return the standard error for long documents; that of short ones is smaller."""
        return odd_error(resemblance, self.settings.odd_bits, self.settings.bins)

    def signatures(self, words: NDArray[np.uint64], ragged: Ragged, urls: list[str | None]) -> Ragged:
        """Return the odd sketches, the last words of every row."""
        return even(words[:, -self.settings.odd :])

    def rare_keys(self, words: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return a key for each of the minima that no feature is made of."""
        k, n = self.settings.k, len(words)
        minima = np.ascontiguousarray(words[:, k : k + self.rare // 2]).view(np.uint32).reshape(n, self.rare)
        places = np.arange(self.rare, dtype=np.uint64) << np.uint64(32)
        return mixed(minima.astype(np.uint64) | places, _RARE)
