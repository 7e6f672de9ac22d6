"""How similar the removed documents are to those kept for them, and what another threshold would have done.

group_sizes   how many groups have which size
histogram     scores of removed documents
higher        for a grid of higher thresholds: how many removed documents still reach them
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.report.facts import Facts

STEP = 0.01
"""Width of a bin, where scores are shares."""

BELOW = 0.3
"""How far below the threshold the report looks."""


def group_sizes(facts: Facts) -> list[list[int]]:
    """[size, number of groups], sizes of two and more."""
    sizes, groups = np.unique(facts.sizes, return_counts=True)
    return [[int(size), int(n)] for size, n in zip(sizes, groups, strict=True)]


def edges(facts: Facts) -> NDArray[np.float64]:
    """Where bins begin and end: whole numbers where scores are counted, hundredths otherwise."""
    scores = facts.decision.score[~facts.by_identity]
    least = float(scores.min()) if len(scores) else facts.threshold
    if facts.counted:
        low = int(max(0.0, min(np.floor(least), facts.threshold - 1)))
        step = max(1, -(-(int(facts.full) + 1 - low) // 100))
        return np.arange(low, int(facts.full) + 1 + step, step).astype(np.float64)
    first = int(np.floor(min(least, max(0.0, facts.threshold - BELOW)) / STEP + 1e-9))
    return np.arange(first, round(1 / STEP) + 1).astype(np.float64) * STEP


def histogram(facts: Facts) -> dict[str, Any]:
    """Removed documents by score, without those that have the same tokens as the kept one: they are told apart."""
    bounds = edges(facts)
    scores = facts.decision.score[~facts.by_identity]
    # A score of 0.8 belongs to the bin that begins there, whatever its last bit is.
    bins = np.clip(np.searchsorted(bounds, scores + 1e-9, side="right") - 1, 0, len(bounds) - 2)
    counts = np.bincount(bins, minlength=len(bounds) - 1)
    return {
        "unit": facts.unit,
        "threshold": facts.threshold,
        "full": facts.full,
        "counted": facts.counted,
        "same_tokens": int(facts.by_identity.sum()),
        "bins": [
            [round(float(a), 6), round(float(b), 6), int(n)]
            for a, b, n in zip(bounds[:-1], bounds[1:], counts, strict=True)
        ],
    }


def higher(facts: Facts) -> list[list[float]]:
    """[threshold, removed documents whose score reaches it], from the threshold of the run to the highest score.

    The counts are exact. What a run at that threshold would remove is near them and not the same: a document whose kept
    one is no longer near enough may find another, and one that was removed may stay and take others with it.
    """
    scores = np.sort(facts.decision.score)
    if facts.counted:
        steps = np.arange(np.ceil(facts.threshold), facts.full + 1)
    else:
        steps = np.arange(round(facts.threshold / STEP), round(1 / STEP) + 1) * STEP
        if not len(steps) or steps[0] < facts.threshold - 1e-9:
            steps = np.concatenate([[facts.threshold], steps[steps > facts.threshold + 1e-9]])
    reached = len(scores) - np.searchsorted(scores, steps - 1e-9, side="left")
    if len(reached):
        reached[0] = len(scores)  # chains: members of a component may be less similar to the kept one
    return [[round(float(t), 6), int(n)] for t, n in zip(steps, reached, strict=True)]
