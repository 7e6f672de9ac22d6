"""Compiled loops: arrays in, arrays out. The one place where speed is bought with plain loops, and the one for numba.

    text     bytes → tokens → shingles → min-hashes → features
    groups   features → candidate pairs → stars or components

Importing this package costs a third of a second (numba), so the rest of neardup imports it where it is used. The
first call on a machine compiles for some seconds; the result is kept in numba's cache. `compiled_before()` says which
it is.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.kernels import groups, text

__all__ = ["compiled_before", "groups", "text", "unicode_tables"]

_tables: tuple[NDArray[np.uint8], NDArray[np.uint16], NDArray[np.uint32], NDArray[np.uint32]] | None = None


def unicode_tables() -> tuple[NDArray[np.uint8], NDArray[np.uint16], NDArray[np.uint32], NDArray[np.uint32]]:
    """The tokenizer's tables: ASCII, page, entry, pool; see scripts/make_unicode_tables.py."""
    global _tables
    if _tables is None:
        with np.load(Path(__file__).with_name("unicode.npz")) as stored:
            _tables = (text.ascii_table(), stored["page"], stored["entry"], stored["pool"])
    return _tables


def compiled_before() -> bool:
    """Whether numba's cache holds the main kernel as it is now; if not, its first call takes some seconds.

    Numba has no public way to ask. Where its insides differ from what we know, the answer is that it does.
    """
    try:
        kernel: Any = text.sketch_documents
        return bool(kernel._cache._cache_file._load_index())
    except AttributeError:
        return True
