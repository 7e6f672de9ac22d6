"""Documents with an equal feature are in one bucket (Broder, section 3, with r = 1: his third phase is moot).

Most documents are alone in all their buckets. They are found first, a feature at a time, and need no more memory.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup.kernels import groups as kernel


@dataclass(frozen=True)
class Buckets:
    """numbers[i, g] is the bucket of document members[i] by feature g, -1 where it is alone in it."""

    members: NDArray[np.int64]
    numbers: NDArray[np.int32]
    count: int

    def among(self, chosen: NDArray[np.int64]) -> "Buckets":
        """The rows `chosen`, in that order."""
        return Buckets(self.members[chosen], np.ascontiguousarray(self.numbers[chosen]), self.count)

    @property
    def shared(self) -> NDArray[np.bool_]:
        """Which documents share a bucket."""
        found: NDArray[np.bool_] = np.asarray((self.numbers >= 0).any(axis=1))
        return found


def bucket(feature: Callable[[int], NDArray[np.uint64]], k: int, members: NDArray[np.int64]) -> Buckets:
    """Bucket the member documents; feature(g) gives feature g of all documents, members or not."""
    numbers = np.empty((k, len(members)), np.int32)
    count = 0
    for g in range(k):
        count = kernel.number_equal(feature(g), members, count, numbers[g])
    together = Buckets(members, numbers.T, count)
    return together.among(np.flatnonzero(together.shared))
