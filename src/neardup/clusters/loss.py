"""What is lost where a document was compared with only some of its many candidates, estimated on a sample.

A document that is kept though it was cut short may be similar to one that it never met, and that would have removed it:
a kept one that comes before it, or, of components, a document of one that begins before it. Some such documents are
taken, and all that stands in their buckets is compared with them. That two components should be one is seen by the
first document of the later one alone.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.analysis.estimators import wilson
from neardup.candidates.features import Buckets
from neardup.clusters.form import Formed, Measure
from neardup.kernels import groups as kernel
from neardup.kernels.groups import LOOKS, STANDS
from neardup.verify.signatures import Rule, Signatures

_SAMPLED = 100
"""Documents that are taken."""

MEASURED = 4096
"""Pairs of each that are measured at most: those whose sketches are nearest."""


@dataclass(frozen=True)
class Loss:
    """How many documents were cut short, were looked at again, and of these should have been removed."""

    crowded: int = 0
    sampled: int = 0
    missed: int = 0

    def recall(self, found: int) -> tuple[float, float, float]:
        """Return the share of near-duplicates that are lost, with the ends of its 95 % interval (Wilson's).

        found: near-duplicates that were removed.
        """
        if not self.sampled:
            return 0.0, 0.0, 0.0
        share = self.missed / self.sampled
        low, high = (share, share) if self.sampled == self.crowded else wilson(self.missed, self.sampled)

        def lost(rate: float) -> float:
            return rate * self.crowded / max(1.0, found + rate * self.crowded)

        return lost(share), lost(low), lost(high)

    def counts(self, found: int) -> dict[str, Any]:
        """Return the counts of run.json about crowds; the recall that is lost only where a document was cut short.

        found: near-duplicates that were removed.
        """
        if not self.crowded:
            return {"crowded": 0}
        lost = dict(zip(("share", "low", "high"), self.recall(found), strict=True))
        return {"crowded": self.crowded, "recall_lost_in_crowds": lost}


def sampled(cut: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a hundred of the rows that were cut short, or all of fewer, at even distances."""
    return cut[np.unique(np.linspace(0, len(cut) - 1, min(_SAMPLED, len(cut))).astype(np.int64))]


def loss(buckets: Buckets, signatures: Signatures, rule: Rule, formed: Formed, measure: Measure, *, star: bool) -> Loss:
    """Compare a sample of the documents that were cut short with all that they might have met."""
    cut = np.flatnonzero(formed.cut_short)
    if not len(cut):
        return Loss()
    chosen = sampled(cut)
    n = len(buckets.members)
    standing = formed.centre == np.arange(n) if star else np.ones(n, np.bool_)
    owners = np.repeat(np.arange(n), np.diff(buckets.begins))
    wanted = np.zeros(buckets.count, np.bool_)
    for i in chosen:
        wanted[_looked_into(buckets, i)] = True
    there = wanted[buckets.entries] & (buckets.roles & STANDS > 0) & standing[owners]
    held, numbers = owners[there], buckets.entries[there]
    order = np.argsort(numbers, kind="stable")
    held, numbers = held[order], numbers[order]
    asked = []
    for i in chosen:
        first, last = (np.searchsorted(numbers, _looked_into(buckets, i), side) for side in ("left", "right"))
        met = np.unique(np.concatenate([held[a:b] for a, b in zip(first, last, strict=True)]))
        met = met[formed.centre[met] < i]  # else i stays, whatever it is similar to
        pairs = np.stack([np.maximum(met, i), np.minimum(met, i)], axis=1).astype(np.int32)
        scores = signatures.scores(pairs)
        best = np.argsort(-scores, kind="stable")[:MEASURED]
        asked.append(pairs[best[scores[best] >= rule.least]])
    pairs = np.concatenate(asked)
    value = measure(pairs) if rule.measured else signatures.scores(pairs)
    similar = value >= rule.threshold
    if len(rule.strict):
        kernel.sure(signatures.for_kernel, pairs, value, rule.strict, similar)
    of = np.repeat(np.arange(len(chosen)), [len(some) for some in asked])
    missed = np.bincount(of[similar], minlength=len(chosen)) > 0
    return Loss(len(cut), len(chosen), int(missed.sum()))


def _looked_into(buckets: Buckets, row: int) -> NDArray[np.int32]:
    at = slice(buckets.begins[row], buckets.begins[row + 1])
    return buckets.entries[at][buckets.roles[at] & LOOKS > 0]
