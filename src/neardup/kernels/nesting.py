"""Whether a page's tree can be built in linear time; `neardup.nesting` has the rule, and this compiles it."""

import numpy as np
from numba import njit

from neardup import nesting

_walk = njit(nogil=True, cache=True)(nesting.walk)
_TABLES = (
    *(np.array(table, np.int64) for table in (nesting.HASHES, nesting.KINDS, nesting.BEGINS)),
    np.frombuffer(nesting.LETTERS, np.uint8),
)


def affordable(page: bytes) -> bool:
    """Return whether a page in an encoding of which ASCII is a part may be parsed into a tree."""
    stack = np.zeros((5, nesting.ROOM), np.int64)
    return int(_walk(np.frombuffer(page, np.uint8), *_TABLES, *stack)) == 0
