"""The part of a collection whose texts are read: a bounded one, however large the collection is.

A collection of up to ROOM bytes is read wholly. Of a larger one, the beginnings of SPLITS splits are read: the first
split, since where the first document of a group is kept, the large groups are kept there, and others drawn at random.
Where that holds both sides of too few groups, twice as much is read, a few times.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from neardup.report.facts import Facts

ROOM = 256 << 20
"""Bytes of text."""
LONGEST = 1 << 20
"""Bytes of a text from which on it is not read again."""
SPLITS = 8
OVERHEAD = 256
"""What a document costs beyond its text, in bytes."""
ENOUGH = 100
"""Groups that can be shown with their texts."""
DOUBLINGS = 3
"""How often the room is doubled: a collection of very few groups is not read wholly for them."""


@dataclass(frozen=True)
class Part:
    """Which documents can be read again."""

    documents: NDArray[np.bool_]
    splits: int
    """Splits of which something is read."""
    of: int
    """All splits that hold documents."""

    @property
    def whole(self) -> bool:
        """Whether it is everything."""
        return bool(self.documents.all())

    @cached_property
    def size(self) -> int:
        """Documents in it."""
        return int(self.documents.sum())

    def groups(self, facts: Facts) -> NDArray[np.bool_]:
        """Which groups have the kept document and a removed one in it."""
        rows = self.documents[facts.decision.removed]
        there = np.zeros(len(facts.centres), bool)
        there[np.searchsorted(facts.centres, facts.decision.kept_for[rows])] = True
        return there & self.documents[facts.centres]


def choose_part(facts: Facts) -> Part:
    """Seeded. A larger room gives the same part and more."""
    starts = facts.collection.starts
    cost = np.concatenate([[0], np.cumsum(facts.bytes + OVERHEAD)])
    filled = np.flatnonzero(np.diff(starts))
    order = np.concatenate([filled[:1], facts.random(4).permutation(filled[1:])])
    enough = min(ENOUGH, len(facts.centres))
    for doubling in range(DOUBLINGS + 1):
        chosen = order if cost[-1] <= ROOM << doubling else order[: SPLITS << doubling]
        part = Part(_beginnings(starts, chosen, cost, ROOM << doubling), len(chosen), len(order))
        if part.whole or int(part.groups(facts).sum()) >= enough:
            break
    return part


def _beginnings(
    starts: NDArray[np.int64], chosen: NDArray[np.int64], cost: NDArray[np.int64], room: int
) -> NDArray[np.bool_]:
    """The first documents of each chosen split. What a short one leaves is room for the others."""
    documents = np.zeros(len(cost) - 1, bool)
    sizes = cost[starts[chosen + 1]] - cost[starts[chosen]]
    for left, at in zip(range(len(chosen), 0, -1), np.argsort(sizes, kind="stable").tolist(), strict=True):
        first, last = int(starts[chosen[at]]), int(starts[chosen[at] + 1])
        stop = min(last, int(np.searchsorted(cost, cost[first] + room // left, side="right")) - 1)
        documents[first:stop] = True
        room -= int(cost[stop] - cost[first])
    return documents
