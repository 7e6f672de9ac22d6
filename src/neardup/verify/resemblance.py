"""Exact resemblance and containment, from the sizes of two shingle sets and of what they share.

Exact means: of the sets of 64-bit fingerprints of the shingles. r(A, B) = |A ∩ B| / |A ∪ B| (Broder, section 2);
the containment of A in B is |A ∩ B| / |A|.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup.kernels import groups as kernel


@dataclass(frozen=True)
class Overlap:
    """Of pairs of documents (row by row): the sizes of both shingle sets and of what they share."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    shared: NDArray[np.int64]

    @property
    def resemblance(self) -> NDArray[np.float64]:
        """Shared shingles of all shingles."""
        either: NDArray[np.int64] = np.maximum(1, self.first + self.second - self.shared)
        return np.divide(self.shared, either)

    @property
    def first_in_second(self) -> NDArray[np.float64]:
        """The containment of the first document in the second."""
        return self.shared / np.maximum(1, self.first)

    @property
    def second_in_first(self) -> NDArray[np.float64]:
        """The containment of the second document in the first."""
        return self.shared / np.maximum(1, self.second)

    def __add__(self, other: "Overlap") -> "Overlap":
        return Overlap(
            np.concatenate([self.first, other.first]),
            np.concatenate([self.second, other.second]),
            np.concatenate([self.shared, other.shared]),
        )

    def __getitem__(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> "Overlap":
        return Overlap(self.first[rows], self.second[rows], self.shared[rows])


NOTHING = Overlap(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64))


def overlap(
    sets: NDArray[np.uint64], starts: NDArray[np.int64], sizes: NDArray[np.int64], pairs: NDArray[np.int64]
) -> Overlap:
    """Measure pairs of documents whose sorted sets are sets[starts[d] : starts[d] + sizes[d]]."""
    shared = np.zeros(len(pairs), np.int64)
    kernel.intersections(sets, starts, sizes, pairs, shared)
    return Overlap(sizes[pairs[:, 0]], sizes[pairs[:, 1]], shared)
