"""How far a store was acknowledged, in a file beside it: the sequence number of its last commit, in two slots.

A slot has the number and a checksum, and the slots are written in turn: a byte that flips, or a write that is cut,
spoils one of them, and the other is one commit behind. Where neither can be read, nothing is known, and the store
opens. Earlier marks are 8 bytes without a checksum, and are read as they are.
"""

import os
import struct
from contextlib import suppress
from pathlib import Path
from zlib import crc32

NAME = "acknowledged"
_OLD = struct.Struct("<Q")
_SLOT = struct.Struct("<QI4x")
_SALT = b"neardup mark"


class Mark:
    """The mark of a store that is open for writing."""

    def __init__(self, folder: Path) -> None:
        """Open it; make it where there is none."""
        self._file = os.open(folder / NAME, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
        self._slot = 0

    def write(self, number: int) -> None:
        """Put the number into the slot that was written before the last one. It is not synced."""
        os.pwrite(self._file, _SLOT.pack(number, _checksum(number)), self._slot * _SLOT.size)
        self._slot = 1 - self._slot

    def begin(self, number: int) -> None:
        """Put the number into both slots, whatever was in the file."""
        for _ in range(2):
            self.write(number)
        os.ftruncate(self._file, 2 * _SLOT.size)

    def close(self) -> None:
        """Let go of the file. Closing twice is fine."""
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)


def read_mark(folder: Path) -> int | None:
    """Return the number that was acknowledged last, 0 where there is no mark, None where it cannot be read."""
    try:
        content = (folder / NAME).read_bytes()
    except FileNotFoundError:
        return 0
    except OSError:
        return None
    if len(content) == _OLD.size:
        return int(_OLD.unpack(content)[0])
    found = []
    for at in (0, _SLOT.size):
        with suppress(struct.error):
            number, checksum = _SLOT.unpack_from(content, at)
            if checksum == _checksum(number):
                found.append(number)
    return max(found, default=None)


def write_mark(folder: Path, number: int) -> None:
    """Write the mark of a copy."""
    slot = _SLOT.pack(number, _checksum(number))
    (folder / NAME).write_bytes(slot + slot)


def _checksum(number: int) -> int:
    return crc32(_SALT + _OLD.pack(number))
