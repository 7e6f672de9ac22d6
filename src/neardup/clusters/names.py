"""A column of names: one number a document, 0 for none, in memory or in a file.

While a column is made it is in memory, for its places are filled in no order. Afterwards it is read from begin to end.
Files have no name in their folder: whatever happens, nothing is left behind.
"""

import os
import tempfile
from pathlib import Path
from typing import IO, Protocol

import numpy as np
from numpy.typing import NDArray

from neardup.atomic import write_error


class Column(Protocol):
    """What can be read of a column, wherever it is."""

    def read(self, begin: int, end: int, buffer: NDArray[np.int32]) -> NDArray[np.int32]:
        """The names of documents begin to end - 1; `buffer` may be used for them."""


def in_memory(names: NDArray[np.int32]) -> Column:
    """A finished column, which stays where it is."""
    return _Held(names)


def in_file(names: NDArray[np.int32], folder: Path) -> Column:
    """A finished column, written to a file in the folder."""
    try:
        column = _Filed(tempfile.TemporaryFile(dir=folder, buffering=0))  # noqa: SIM115
        column.write(names)
    except OSError as error:
        raise write_error(folder / "names", error) from error
    return column


class _Held:
    def __init__(self, names: NDArray[np.int32]) -> None:
        self._names = names

    def read(self, begin: int, end: int, buffer: NDArray[np.int32]) -> NDArray[np.int32]:
        return self._names[begin:end]


class _Filed:
    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def __del__(self) -> None:
        self._file.close()

    def write(self, names: NDArray[np.int32]) -> None:
        left = names.view(np.uint8)
        while len(left):
            left = left[self._file.write(left.data) :]

    def read(self, begin: int, end: int, buffer: NDArray[np.int32]) -> NDArray[np.int32]:
        names = buffer[: end - begin]
        left, at = names.view(np.uint8), names.itemsize * begin
        while len(left):
            got = os.preadv(self._file.fileno(), [left.data], at)
            assert got > 0, "a column ended early"
            left, at = left[got:], at + got
        return names
