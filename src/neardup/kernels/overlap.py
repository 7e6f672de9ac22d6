"""What sorted sets of shingles have in common.

intersections   how many elements two sets share
mark            which elements of sets are in the list of their owner's site
unmarked        how many elements two sets share that are marked in neither, not in the first, not in the second
"""

from typing import Any

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def intersections(sets: Any, starts: Any, sizes: Any, pairs: Any, out: Any) -> None:
    """out[row] = |A ∩ B| of the sorted sets of a pair: one merge, without a branch on which side advances."""
    for row in range(pairs.shape[0]):
        i = starts[pairs[row, 0]]
        j = starts[pairs[row, 1]]
        i_end = i + sizes[pairs[row, 0]]
        j_end = j + sizes[pairs[row, 1]]
        shared: Any = 0
        while i < i_end and j < j_end:
            a = sets[i]
            b = sets[j]
            shared += np.int64(a == b)
            i += np.int64(a <= b)
            j += np.int64(b <= a)
        out[row] = shared


@njit(nogil=True, cache=True)
def mark(sets: Any, starts: Any, sizes: Any, lists: Any, values: Any, offsets: Any, marks: Any) -> None:
    """marks[e] = whether element e of a set is in the list of that number; a set without a list has number -1."""
    for d in range(starts.shape[0]):
        if lists[d] < 0:
            continue
        at = offsets[lists[d]]
        end = offsets[lists[d] + 1]
        for e in range(starts[d], starts[d] + sizes[d]):
            while at < end and values[at] < sets[e]:
                at += 1
            marks[e] = at < end and values[at] == sets[e]


@njit(nogil=True, cache=True)
def unmarked(sets: Any, starts: Any, sizes: Any, marks: Any, pairs: Any, out: Any) -> None:
    """Of the elements that both sets of a pair have, those marked in neither, not in the first, not in the second."""
    for row in range(pairs.shape[0]):
        i = starts[pairs[row, 0]]
        j = starts[pairs[row, 1]]
        i_end = i + sizes[pairs[row, 0]]
        j_end = j + sizes[pairs[row, 1]]
        neither: Any = 0
        first: Any = 0
        second: Any = 0
        while i < i_end and j < j_end:
            a = sets[i]
            b = sets[j]
            if a == b:
                neither += np.int64(not (marks[i] or marks[j]))
                first += np.int64(not marks[i])
                second += np.int64(not marks[j])
            i += np.int64(a <= b)
            j += np.int64(b <= a)
        out[row, 0] = neither
        out[row, 1] = first
        out[row, 2] = second
