"""Recall and precision of what a system removed, against the exact pairs.

recall           share of the true pairs of which at least one document was removed, or whose two documents
                 are in one group: the duplicates a user would still find afterwards are the rest
recall, strict   share of the true pairs whose two documents are in one group
precision        share of the removed documents that have a kept document of at least the threshold's
                 resemblance: the others are lost content
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.speed.truth import Truth

BINS = (0.80, 0.85, 0.90, 0.95, 1.0)


@dataclass(frozen=True)
class Outcome:
    """What a system decided: ids of removed documents, and groups of ids of at least two."""

    removed: Sequence[str]
    groups: Iterable[Sequence[str]]


@dataclass(frozen=True)
class Quality:
    """`None` where there is nothing to divide by."""

    threshold: float
    true_pairs: int
    removed: int
    recall: float | None
    recall_strict: float | None
    precision: float | None
    recall_by_resemblance: dict[str, float | None] = field(default_factory=dict)


class UnknownDocumentError(ValueError):
    """A system named a document that the corpus does not have."""


def judge(outcome: Outcome, truth: Truth, *, threshold: float) -> Quality:
    """Compare an outcome with the truth at `threshold`."""
    pairs = truth.at_least(threshold)
    documents = len(truth.ids)
    removed = np.zeros(documents, bool)
    removed[_rows(outcome.removed, truth.ids)] = True
    group = _group_numbers(outcome.groups, truth.ids)

    together = (group[pairs.left] >= 0) & (group[pairs.left] == group[pairs.right])
    handled = together | removed[pairs.left] | removed[pairs.right]
    justified = np.zeros(documents, bool)
    justified[pairs.left[~removed[pairs.right]]] = True
    justified[pairs.right[~removed[pairs.left]]] = True

    return Quality(
        threshold=threshold,
        true_pairs=len(pairs),
        removed=int(removed.sum()),
        recall=_share(handled),
        recall_strict=_share(together),
        precision=_share(justified[removed]),
        recall_by_resemblance=_by_resemblance(handled, pairs),
    )


def _by_resemblance(handled: npt.NDArray[np.bool_], pairs: Truth) -> dict[str, float | None]:
    """Recall per bin of resemblance; pairs at exactly 1 have a bin of their own."""
    shares = {}
    for low, high in pairwise(BINS):
        inside = (pairs.resemblance >= low) & (pairs.resemblance < high)
        if inside.any():
            shares[f"{low:.2f}..{high:.2f}"] = _share(handled[inside])
    shares["1"] = _share(handled[pairs.resemblance >= 1.0])
    return shares


def _share(flags: npt.NDArray[np.bool_]) -> float | None:
    return float(flags.mean()) if len(flags) else None


def _rows(ids: Sequence[str], known: pa.Array) -> npt.NDArray[np.int64]:
    rows = pc.index_in(pa.array([str(each) for each in ids], pa.string()), value_set=known.cast(pa.string()))
    if rows.null_count:
        unknown = [each for each, row in zip(ids, rows.to_pylist(), strict=True) if row is None]
        raise UnknownDocumentError(f"{len(unknown)} ids are not in the corpus, the first is {unknown[0]!r}")
    numbers: npt.NDArray[np.int64] = rows.to_numpy(zero_copy_only=False).astype(np.int64)
    return numbers


def _group_numbers(groups: Iterable[Sequence[str]], known: pa.Array) -> npt.NDArray[np.int64]:
    members: list[str] = []
    numbers: list[int] = []
    for number, group in enumerate(groups):
        members.extend(group)
        numbers.extend([number] * len(group))
    found = np.full(len(known), -1, np.int64)
    found[_rows(members, known)] = numbers
    return found
