"""How right a system was in a crowd.

In a crowd (see corpus) the only similar pairs are a duplicate and its original.

    recall      the share of these pairs of which at least one document was removed
    precision   the share of the removed documents that were removed for their near-duplicate; where a system does not
                say for what, whose near-duplicate was kept
    lost        pairs of which both documents were removed: their content is gone
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from neardup.analysis.estimators import wilson

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Score:
    """Recall with its binomial interval, and precision (None where nothing was removed)."""

    pairs: int
    found: int
    removed: int
    right: int
    lost: int

    @property
    def recall(self) -> float:
        return self.found / self.pairs

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's, at `CONFIDENCE`."""
        return wilson(self.found, self.pairs, confidence=CONFIDENCE)

    @property
    def precision(self) -> float | None:
        return self.right / self.removed if self.removed else None


def score(removed: Mapping[str, str | None], pairs: Iterable[tuple[str, str]]) -> Score:
    """Compare what was removed (and for what, or None) with the true pairs."""
    partner: dict[str, str] = {}
    found = lost = count = 0
    for duplicate, original in pairs:
        partner[duplicate], partner[original] = original, duplicate
        gone = (duplicate in removed) + (original in removed)
        count, found, lost = count + 1, found + (gone > 0), lost + (gone == 2)
    right = sum(partner[id] not in removed if kept is None else partner[id] == kept for id, kept in removed.items())
    return Score(count, found, len(removed), right, lost)


def digest(removed: Mapping[str, str | None]) -> str:
    """Return a hash of which document was removed for which: equal answers have equal ones."""
    lines = "\n".join(f"{id}\t{kept}" for id, kept in sorted(removed.items()))
    return hashlib.sha256(lines.encode()).hexdigest()[:32]
