"""Rabin fingerprints of byte strings, a byte at a time by table; `neardup.rabin` makes the tables and has the theory.

    fingerprint_strings   the fingerprint of each of many strings
    fingerprint_windows   the fingerprint of every window of a string, rolling

Strings are (values, offsets): string i is values[offsets[i]:offsets[i + 1]]. The step of all degrees is that of
`push_table`: of the d + 8 bits of (h << 8 | c), the upper 8 are looked up and added to the lower d. From degree 8 on
the byte c does not reach the upper 8.
"""

from typing import Any

import numpy as np
from numba import njit

_ONE, _S8 = np.uint64(1), np.uint64(8)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@njit(nogil=True, cache=True)
def _step(h: Any, c: Any, push: Any, degree: Any, mask: Any) -> Any:
    """h · x^8 + c. LLVM moves the branch out of the loops."""
    if degree >= _S8:
        return ((h << _S8) & mask) ^ c ^ push[h >> (degree - _S8)]
    return push[(h << (_S8 - degree)) ^ (c >> degree)] ^ (c & mask)


@njit(nogil=True, cache=True)
def fingerprint_strings(values: Any, offsets: Any, push: Any, degree: int, out: Any) -> None:
    """out[i] = the fingerprint of string i, begun at 1 so that leading zero bytes count."""
    d = np.uint64(degree)
    mask = _ALL >> (np.uint64(64) - d)
    for i in range(offsets.shape[0] - 1):
        h = _ONE
        for j in range(offsets[i], offsets[i + 1]):
            h = _step(h, np.uint64(values[j]), push, d, mask)
        out[i] = h


@njit(nogil=True, cache=True)
def fingerprint_windows(values: Any, window: int, push: Any, pop: Any, leading: Any, degree: int, out: Any) -> None:
    """out[i] = the fingerprint of values[i : i + window].

    The state begins at 0 and knows nothing of the leading 1; `leading` = x^(8 window) is what the 1 adds.
    """
    d = np.uint64(degree)
    mask = _ALL >> (np.uint64(64) - d)
    h = np.uint64(0)
    if values.shape[0] < window:
        return
    for j in range(window):
        h = _step(h, np.uint64(values[j]), push, d, mask)
    out[0] = h ^ leading
    for j in range(window, values.shape[0]):
        h = _step(h, np.uint64(values[j]), push, d, mask) ^ pop[values[j - window]]
        out[j + 1 - window] = h ^ leading
