"""Precision by measurement: a random sample of removed documents is measured again, exactly, against the kept ones.

Where a recipe measures every pair, all of them pass: then this checks the run. Where sketches decide, or chains
connect documents, it says how many removed documents are as similar to the kept one as was asked for.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup.audit.intervals import Share, counted
from neardup.audit.judging import Judge
from neardup.decide import Decision
from neardup.model import MEASURED
from neardup.recipe import Recipe
from neardup.result import Result

_QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 1.0)
_IDENTITY = MEASURED.index("identity")


@dataclass(frozen=True)
class RemovedSample:
    """Rows of the decision, and how many there are to draw from."""

    rows: NDArray[np.int64]
    pairs: NDArray[np.int64]
    """The document that stands for the removed one, and the kept one: copies may be on another host."""
    population: int
    copies: int
    """Removed documents with the same tokens as the kept one, which need no measurement."""

    @property
    def documents(self) -> NDArray[np.int64]:
        """All of them."""
        return self.pairs.reshape(-1)


@dataclass(frozen=True)
class MeasuredPrecision:
    """What was measured of removed documents that are no copies."""

    population: int
    copies: int
    sampled: int
    unit: str
    threshold: float | None
    """None: the recipe's rule is of another kind, and the numbers below are for information."""
    passing: Share
    """Of the sampled ones, those that reach the threshold."""
    quantiles: dict[str, float]
    """Of the exact resemblance or containment."""


def draw_removed(decision: Decision, holders: NDArray[np.int32], size: int, rng: np.random.Generator) -> RemovedSample:
    """Draw removed documents that are no copies of the kept one.

    holders: for every document the one that stands for all with its words, which the run compared in its place.
    """
    near = np.flatnonzero(decision.measured != _IDENTITY)
    rows = np.sort(rng.choice(near, min(size, len(near)), replace=False))
    pairs = np.stack([holders[decision.removed[rows]], decision.kept_for[rows]], axis=1).astype(np.int64)
    return RemovedSample(rows, pairs, len(near), len(decision.removed) - len(near))


def measured_precision(result: Result, judge: Judge, drawn: RemovedSample, *, confidence: float) -> MeasuredPrecision:
    """Measure them."""
    recipe = result.recipe
    value = judge.exactly(drawn.pairs)
    threshold = _threshold(recipe)
    passes = judge.judge(drawn.pairs, value)[1] if recipe.verify.method == "exact" else value >= (threshold or 0.0)
    passing = int(passes.sum())
    whole = len(drawn.rows) == drawn.population
    quantiles = np.quantile(value, _QUANTILES).tolist() if len(value) else []
    return MeasuredPrecision(
        population=drawn.population,
        copies=drawn.copies,
        sampled=len(drawn.rows),
        unit="containment" if recipe.sketcher.comparison.contained else "resemblance",
        threshold=threshold,
        passing=counted(passing, len(drawn.rows) if threshold else 0, confidence=confidence, whole=whole),
        quantiles={f"{q:g}": x for q, x in zip(_QUANTILES, quantiles, strict=False)},
    )


def _threshold(recipe: Recipe) -> float | None:
    """The resemblance or containment that was asked for; None where a recipe has a rule of another kind."""
    asked = recipe.thresholded or (recipe.verify.method == "none" and recipe.sketcher.comparison.similar is None)
    return recipe.verify.threshold if asked else None
