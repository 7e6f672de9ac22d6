"""Documents with a key in common are in one bucket (Broder, section 3; Pugh's "discarding unique fingerprints").

Most keys occur once. They are found and left out first, with two bits per hash value (none, one, many) in passes over
the sketches: what is sorted into buckets, and stays in memory, are the keys that documents share. A key that occurs
twice is never left out; one that occurs once may survive a pass by a collision, and goes in the next or at the end.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from neardup.errors import RecipeError
from neardup.kernels import counting
from neardup.kernels import equal as kernel
from neardup.kernels.groups import LOOKS, STANDS
from neardup.sketches.base import Ragged

_COUNTERS_PER_KEY = 4
_MOST_COUNTERS = 1 << 31
"""Half a gigabyte of bitmap."""

_PASSES = 4
"""At the most. Each leaves about a fifth of the unique keys, or fewer where the bitmap is sparse."""

Keys = Callable[[], Iterable[tuple[int, Ragged]]]
"""Passes over the collection: the number of a batch's first document, and the keys of its documents."""


@dataclass(frozen=True)
class Buckets:
    """Document members[i] is in the buckets entries[begins[i]:begins[i + 1]]; none is alone in a bucket."""

    members: NDArray[np.int64]
    entries: NDArray[np.int32]
    begins: NDArray[np.int64]
    count: int
    """How many buckets there are."""
    roles: NDArray[np.uint8] = field(default_factory=lambda: np.empty(0, np.uint8))
    """What a document does in each of its buckets (kernels.groups.LOOKS, STANDS, ELSEWHERE); both of the first if none
    is given."""

    def __post_init__(self) -> None:
        if len(self.roles) != len(self.entries):
            object.__setattr__(self, "roles", np.full(len(self.entries), LOOKS | STANDS, np.uint8))

    @classmethod
    def empty(cls, members: NDArray[np.int64]) -> "Buckets":
        """Documents in no bucket at all."""
        return cls(members, np.empty(0, np.int32), np.zeros(len(members) + 1, np.int64), 0)

    def among(self, chosen: NDArray[np.int64]) -> "Buckets":
        """Some of the documents, in this order."""
        sizes = np.diff(self.begins)[chosen]
        begins = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        places = np.arange(begins[-1]) + np.repeat(self.begins[chosen] - begins[:-1], sizes)
        return Buckets(self.members[chosen], self.entries[places], begins, self.count, self.roles[places])


def bucket(keys: Keys, chosen: NDArray[np.bool_]) -> Buckets:
    """Bucket the chosen documents by their keys; only those stay that share one."""
    values, owners = _shared_keys(keys, chosen)
    if len(values) >= 2**31:
        raise RecipeError(
            f"documents share {len(values):,} keys, and 2,147,483,647 are the most; choose a recipe with fewer keys "
            "per document, or split the collection."
        )
    numbers = np.empty(len(values), np.int32)
    count = kernel.number_equal(values, numbers)
    shared = numbers >= 0
    entries, owners = numbers[shared], owners[shared]
    members, sizes = np.unique(owners, return_counts=True)
    begins = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return Buckets(members.astype(np.int64), entries, begins, int(count))


def _shared_keys(keys: Keys, chosen: NDArray[np.bool_]) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """The keys that may occur more than once, and whose they are, documents ascending."""
    total = sum(len(found.values) for _, found in keys())
    bitmap = _bitmap(total)
    for start, found in keys():
        counting.count(_of(found, start, chosen)[0], 0, bitmap)
    pieces = []
    for start, found in keys():
        values, owners = _of(found, start, chosen)
        many = np.empty(len(values), np.bool_)
        counting.shared(values, 0, bitmap, many)
        pieces.append((values[many], owners[many]))
    values = np.concatenate([np.empty(0, np.uint64), *(v for v, _ in pieces)])
    owners = np.concatenate([np.empty(0, np.int32), *(o for _, o in pieces)])
    for seed in range(1, _PASSES):
        before = len(values)
        bitmap = _bitmap(before)
        counting.count(values, seed, bitmap)
        many = np.empty(before, np.bool_)
        counting.shared(values, seed, bitmap, many)
        values, owners = values[many], owners[many]
        if len(values) > 0.9 * before:
            break
    return values, owners


def _bitmap(keys: int) -> NDArray[np.uint64]:
    counters = 1 << 16
    while counters < _COUNTERS_PER_KEY * keys and counters < _MOST_COUNTERS:
        counters *= 2
    return np.zeros(counters // 32, np.uint64)


def _of(found: Ragged, start: int, chosen: NDArray[np.bool_]) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """The keys of chosen documents, and whose they are."""
    sizes = np.diff(found.offsets)
    owners = np.repeat(np.arange(start, start + len(sizes), dtype=np.int32), sizes)
    wanted = np.repeat(chosen[start : start + len(sizes)], sizes)
    return (found.values, owners) if wanted.all() else (found.values[wanted], owners[wanted])
