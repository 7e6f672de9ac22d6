"""Compiled loops: arrays in, arrays out. The one place where speed is bought with plain loops, and the one for numba.

    text      bytes → tokens → shingles → min-hashes → features
    rabin     bytes → Rabin fingerprints, of strings and of windows
    simhash   fingerprints → bits by random projection
    lists     fingerprints → fingerprints of lists
    sampling  fingerprints → the m smallest, or those that are 0 modulo n
    chunks    bytes → content-defined chunks
    bloom     sets → Bloom filters
    counting  which keys occur more than once
    equal     equal keys → equal numbers
    linking   features → components
    groups    buckets → scored candidate pairs → stars or components
    nesting   bytes of a page → whether its tree is affordable
    results   chunks → signatures of search results → stars of a ranked list; where tokens stand

Importing this package costs a third of a second (numba), so the rest of neardup imports it where it is used. The
first call on a machine compiles for some seconds; the result is kept (`cache`). `when_compiling` tells.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numba.core import event
from numpy.typing import NDArray

from neardup.kernels import cache, groups, text  # the cache first: numba looks for one when it meets a kernel

__all__ = ["cache", "compilations", "groups", "text", "unicode_tables", "when_compiling"]

_tables: tuple[NDArray[np.uint8], NDArray[np.uint16], NDArray[np.uint32], NDArray[np.uint32]] | None = None


def unicode_tables() -> tuple[NDArray[np.uint8], NDArray[np.uint16], NDArray[np.uint32], NDArray[np.uint32]]:
    """The tokenizer's tables: ASCII, page, entry, pool; see scripts/make_unicode_tables.py."""
    global _tables
    if _tables is None:
        with np.load(Path(__file__).with_name("unicode.npz")) as stored:
            _tables = (text.ascii_table(), stored["page"], stored["entry"], stored["pool"])
    return _tables


class _Compiling(event.Listener):
    """Hears of every kernel that is compiled and not taken from the cache."""

    say: Callable[[], None] | None = None
    many = 0

    def on_start(self, event: Any) -> None:
        """Count it, and tell it the first time."""
        self.many += 1
        say, self.say = self.say, None
        if say is not None:
            say()

    def on_end(self, event: Any) -> None:
        """Nothing to tell."""


_compiling = _Compiling()
_register: Any = event.register
_register("numba:compile", _compiling)


def when_compiling(say: Callable[[], None]) -> None:
    """Call `say` once, when a kernel is compiled: the next seconds go there. It takes the place of an earlier one."""
    _compiling.say = say


def compilations() -> int:
    """Return how many functions this process has compiled so far; those that came from the cache do not count."""
    return _compiling.many
