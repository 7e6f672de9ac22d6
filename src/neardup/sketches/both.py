"""Henzinger's combinations of Algorithms B and C (section 3.5).

Combined   B-similar pairs whose C-similarity, computed on the fly from their text, is high enough
BySite     pairs on different sites by Algorithm C, pairs on one site by the combined algorithm
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from neardup.errors import RecipeError
from neardup.kernels import groups
from neardup.shingles import ShingleSettings
from neardup.sketches.base import Comparison, Ragged, Sketcher, Sketches, even
from neardup.sketches.minhash import MinHash, MinHashSettings, super_features
from neardup.sketches.simhash import SimHash, SimHashSettings, check_bits, piece_keys
from neardup.text.batches import TextBatch
from neardup.text.settings import TextSettings
from neardup.text.sites import site


@dataclass(frozen=True)
class CombinedSettings:
    """r of k features of s minima agree, and then `similar` of so many bits."""

    k: int = 6
    s: int = 14
    r: int = 2
    bits: int = 384
    similar: int = 355
    seed: int = 1

    def __post_init__(self) -> None:
        check_bits(self.bits, self.similar)
        self.features()

    def features(self) -> MinHashSettings:
        """Algorithm B."""
        return MinHashSettings(self.k, self.s, self.seed, self.r, samples=False)

    def projection(self) -> SimHashSettings:
        """Algorithm C; it looks for nothing, so that pieces do not matter."""
        return SimHashSettings(self.bits, self.similar, self.bits, seed=self.seed)


class Combined(MinHash):
    """Keeps the features; the bits are made when a pair asks for them."""

    def __init__(self, text: TextSettings, shingles: ShingleSettings, settings: CombinedSettings) -> None:
        super().__init__(text, shingles, settings.features())
        self.on_the_fly = SimHash(text, shingles, settings.projection())


@dataclass(frozen=True)
class BySiteSettings:
    """`same` equal bits and r equal features on one site, `different` equal bits on two."""

    k: int = 6
    s: int = 14
    r: int = 2
    bits: int = 384
    same: int = 355
    different: int = 372
    pieces: int = 12
    sites: Literal["henzinger", "public-suffix"] = "henzinger"
    """henzinger: the host without its first part, if it has three or more; public-suffix: the registered domain."""
    seed: int = 1

    def __post_init__(self) -> None:
        check_bits(self.bits, self.same, self.different)
        if self.sites not in ("henzinger", "public-suffix"):
            raise RecipeError(f"sites = {self.sites!r}: choose henzinger or public-suffix.")
        self.features()
        self.projection()

    def features(self) -> MinHashSettings:
        """Algorithm B."""
        return MinHashSettings(self.k, self.s, self.seed, self.r, samples=False)

    def projection(self) -> SimHashSettings:
        """Algorithm C."""
        return SimHashSettings(self.bits, self.different, self.pieces, seed=self.seed)


class BySite(Sketcher):
    """Keeps features and bits; the site is told from the URL."""

    needs_urls = True

    def __init__(self, text: TextSettings, shingles: ShingleSettings, settings: BySiteSettings) -> None:
        super().__init__(text, shingles, settings.seed)
        self.settings = settings
        self._features = MinHash(text, shingles, settings.features())
        self._bits = SimHash(text, shingles, settings.projection())
        self.words = self._features.words + self._bits.words
        rule = (settings.k, settings.r, settings.same, settings.different, settings.bits)
        self.comparison = Comparison(groups.SITES, tuple(map(float, rule)), "c-similarity", 1.0, settings.bits)

    def sketch(self, batch: TextBatch) -> Sketches:
        """Both, side by side."""
        features, bits = self._features.sketch(batch), self._bits.sketch(batch)
        return replace(features, words=np.concatenate([features.words, bits.words], axis=1))

    def keys(self, words: NDArray[np.uint64], ragged: Ragged) -> Ragged:
        """Super-features and pieces."""
        settings = self.settings
        features = super_features(words[:, : settings.k], settings.r)
        pieces = piece_keys(words[:, settings.k :], settings.bits, settings.pieces)
        return even(np.concatenate([features, pieces], axis=1))

    def signatures(self, words: NDArray[np.uint64], ragged: Ragged, urls: list[str | None]) -> Ragged:
        """Features, bits, and the site."""
        return even(np.concatenate([words, self.places(urls, {None: 0})[:, None]], axis=1))

    def sites(self, urls: list[str | None]) -> list[str | None]:
        """By the settings' rule."""
        return [site(url, rule=self.settings.sites) if url else None for url in urls]
