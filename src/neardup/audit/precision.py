"""Precision as people see it: labels on a stratified sample → the share of removals that are right.

precision_of   labels of pairs → Precision

Every removed document has one kept one, so the precision of the pairs is that of the removals. A stratum counts by its
size in the run, whatever part of it was labelled: p = Σ W·p_h (audit.intervals.stratified). Undecided pairs are counted
both ways: as not correct, as Henzinger does (section 3.2), and as correct; the truth lies between.

Copies have the same tokens as the kept document. They count as correct, all of them, unless somebody who saw one says
otherwise: then they are a stratum like any other.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.audit.intervals import Share, stratified
from neardup.audit.labels import VERDICTS, Label
from neardup.audit.strata import Stratum


@dataclass(frozen=True)
class StratumPrecision:
    """What was said of one stratum."""

    name: str
    size: int
    drawn: int
    correct: int
    incorrect: int
    undecided: int


@dataclass(frozen=True)
class Precision:
    """What the labels say of a run."""

    labelled: int
    drawn: int
    removed: int
    covered: float
    """The share of removed documents that are copies, or in strata that have a label."""
    correct: int
    incorrect: int
    undecided: int
    low: Share
    """Undecided pairs taken for incorrect ones."""
    high: Share
    """Undecided pairs taken for correct ones."""
    by_site: dict[str, tuple[Share, Share]]
    by_relation: dict[str, tuple[Share, Share]]
    strata: list[StratumPrecision]
    reasons: dict[str, int]
    confidence: float

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def precision_of(
    strata: Sequence[Stratum],
    stratum: Sequence[int],
    labels: Sequence[Label | None],
    *,
    confidence: float = 0.95,
) -> Precision:
    """stratum, labels: of every drawn pair; None where it has no label."""
    counts = np.zeros((len(strata), len(VERDICTS)), np.int64)
    for place, label in zip(stratum, labels, strict=True):
        if label is not None and label.verdict is not None:
            counts[place, VERDICTS.index(label.verdict)] += 1
    sizes = np.array([s.size for s in strata], np.float64)
    proven = np.array([s.relation == "identical" for s in strata], bool) & (counts[:, 1:].sum(axis=1) == 0)
    trials = np.where(proven, sizes, counts.sum(axis=1))
    right = np.where(proven, sizes, counts[:, 0])

    def bounds(which: NDArray[np.bool_]) -> tuple[Share, Share]:
        low = stratified(right[which], trials[which], sizes[which], confidence=confidence)
        either = right[which] + counts[which, 2]
        return low, stratified(either, trials[which], sizes[which], confidence=confidence)

    def split(names: list[str]) -> dict[str, tuple[Share, Share]]:
        return {name: bounds(np.array([n == name for n in names], bool)) for name in dict.fromkeys(names)}

    low, high = bounds(np.ones(len(strata), bool))
    said = [label for label in labels if label is not None and label.verdict is not None]
    correct, incorrect, undecided = counts.sum(axis=0).tolist()
    return Precision(
        labelled=len(said),
        drawn=len(labels),
        removed=int(sizes.sum()),
        covered=float(sizes[trials > 0].sum() / max(1.0, sizes.sum())),
        correct=correct,
        incorrect=incorrect,
        undecided=undecided,
        low=low,
        high=high,
        by_site=split([s.sites for s in strata]),
        by_relation=split([s.relation for s in strata]),
        strata=[
            StratumPrecision(s.name, s.size, s.drawn, *row) for s, row in zip(strata, counts.tolist(), strict=True)
        ],
        reasons=dict(Counter(f"{label.verdict}: {label.reason}" for label in said if label.reason).most_common()),
        confidence=confidence,
    )
