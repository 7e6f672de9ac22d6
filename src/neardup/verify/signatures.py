"""What the sketches of documents show of pairs, and which pairs deserve more than a look at the sketches."""

from dataclasses import dataclass, field
from functools import cache
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.analysis.drops import MARGIN, deviations
from neardup.analysis.filters import least_agreement
from neardup.kernels import groups as kernel
from neardup.sketches.artefact import Collection
from neardup.sketches.base import Comparison, Ragged, Sketcher, Sketches
from neardup.verify.settings import VerifySettings

_SURE = 4.0
"""Standard deviations by which an estimate may lie below the threshold and the pair is still measured."""


_HIGHEST = 1024
"""Documents that a document is compared with under one key at the most, as far as the bound asks for more."""


@dataclass(frozen=True)
class Signatures:
    """Of some documents, row by row, in the layout of the kernels: samples, or ragged words."""

    comparison: Comparison
    samples: NDArray[np.uint8] = field(default_factory=lambda: np.empty((0, 0), np.uint8))
    words: NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, np.uint64))
    offsets: NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, np.int64))

    @classmethod
    def of(cls, sketcher: Sketcher, collection: Collection, members: NDArray[np.int64]) -> "Signatures":
        """The signatures of these documents, in this order."""
        comparison = sketcher.comparison
        if comparison.kind == kernel.SAMPLES:
            return cls(comparison, collection.matrix("samples", members))
        urls = collection.any_order("url", members).to_pylist() if sketcher.needs_urls else []
        made = sketcher.signatures(collection.matrix("words", members), collection.ragged(members), urls)
        return cls(comparison, words=made.values, offsets=made.offsets)

    @classmethod
    def of_sketches(cls, sketcher: Sketcher, batches: list[Sketches]) -> "Signatures":
        """The signatures of sketched documents, batch after batch. Where they are from is not known."""
        words = np.concatenate([made.words for made in batches])
        samples = np.concatenate([made.samples for made in batches])
        lengths = np.concatenate([np.diff(made.ragged.offsets) for made in batches])
        ragged = Ragged(
            np.concatenate([made.ragged.values for made in batches]),
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        )
        return cls.of_columns(sketcher, samples, words, ragged, [None] * len(words))

    @classmethod
    def of_columns(
        cls,
        sketcher: Sketcher,
        samples: NDArray[np.uint8],
        words: NDArray[np.uint64],
        ragged: Ragged,
        urls: list[str | None],
    ) -> "Signatures":
        """The signatures of documents of which all columns are at hand."""
        comparison = sketcher.comparison
        if comparison.kind == kernel.SAMPLES:
            return cls(comparison, samples)
        made = sketcher.signatures(words, ragged, urls)
        return cls(comparison, words=made.values, offsets=made.offsets)

    @property
    def for_kernel(self) -> tuple[int, Any, Any, Any, Any]:
        """As the kernels take them."""
        parameters = np.array(self.comparison.parameters, np.float64)
        return self.comparison.kind, self.samples, self.words, self.offsets, parameters

    def scores(self, pairs: NDArray[Any]) -> NDArray[np.float64]:
        """The score of each pair of rows."""
        out = np.empty(len(pairs), np.float64)
        kernel.scores(*self.for_kernel, pairs, out)
        return out

    def containments(self, pairs: NDArray[Any]) -> NDArray[np.float64]:
        """How much of each document of a pair is in the other; NaN where signatures do not tell."""
        out = np.full((len(pairs), 2), np.nan)
        if self.comparison.kind in (kernel.MOD, kernel.CONTAINMENT, kernel.FILTER):
            kernel.containments(self.comparison.kind, self.words, self.offsets, pairs, out)
        return out


@dataclass(frozen=True)
class Rule:
    """When a candidate pair is one."""

    least: float
    """Candidates that score less are none."""
    presumed: float
    """The score from which on a pair is presumed to be one, until it is measured."""
    threshold: float
    """Of the score or, where pairs are measured, of what is measured."""
    measured: bool
    strict: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    """Where scores are estimates: strict[h] standard errors above the resemblance strict[0] are asked for as well, of
    a candidate that was found together with h others. Empty: the threshold is enough."""


@cache
def _strict(below: float, drops: float, keys: int) -> NDArray[np.float64]:
    """By Bonferroni's inequality: a document that resembles no other by more than `below` is compared with h others
    under each of its keys, and one of all these estimates reaches the bound with probability `drops` at the most."""
    heights = range(1, _HIGHEST + 1)
    return np.array([below, *(deviations(drops, keys, h) for h in heights)])


def without_chance(comparison: Comparison, share: Any) -> Any:
    """The resemblance that a share of agreeing samples tells (SAMPLES), as the kernel takes it: two different minima
    agree in b bits with probability 2^-b. Not cut off at 0."""
    chance = 1.0 / comparison.parameters[0]
    return (share - chance) / (1.0 - chance)


def rule(comparison: Comparison, verify: VerifySettings, samples: int) -> Rule:
    """By the recipe. `samples`: how many the estimate is made of, 0 where that depends on the documents."""
    if verify.method == "none":
        return Rule(-1.0, -1.0, 0.0, measured=False)
    similar = comparison.similar
    if verify.method == "sketch":
        score = verify.threshold if similar is None else similar
        strict = _strict(score - MARGIN, comparison.drops, comparison.keys) if comparison.drops else np.empty(0)
        return Rule(score, score, score, measured=False, strict=strict)
    threshold = verify.threshold
    if similar is not None:
        return Rule(similar, similar, threshold, measured=True)
    if comparison.kind == kernel.SAMPLES:
        agreed = least_agreement(threshold, samples)
        least = without_chance(comparison, agreed / samples) - 1e-9
    elif samples:
        least = threshold - _SURE * sqrt(threshold * (1.0 - threshold) / samples)
    else:
        least = 0.0
    return Rule(max(0.0, least), threshold - 0.1, threshold, measured=True)
