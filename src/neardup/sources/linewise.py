"""Files of lines: cut by bytes, read in blocks, numbered by line.

A split is a range of bytes and owns the lines that *start* in it, so that every line belongs to exactly one
split wherever the cuts fall. Compressed and remote files cannot be entered in the middle and are one split.

Line numbers in a later split need the number of line ends before it. Counting them all when the file is cut
would read a corpus twice before anything starts. Instead whoever reads a split counts from the nearest place
whose line number is known, and leaves the number of its own end for the next: threads that walk through a
file side by side count bytes that one of them has just read.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from threading import Lock
from typing import BinaryIO

from neardup.errors import InputError
from neardup.sources.base import SPLIT_BYTES, InputFile, Split
from neardup.sources.compression import open_plain
from neardup.sources.files import is_remote

BLOCK_BYTES = 1 << 18
"""Lines are handled this many bytes at a time. Measured: 64 to 512 kB are alike, 1 MB is up to a quarter slower."""

_BOM = b"\xef\xbb\xbf"
_FILES_REMEMBERED = 1024


def divisible(file: InputFile) -> bool:
    """Whether the file can be entered in the middle."""
    return file.compression is None and not is_remote(file.path)


def byte_splits(file: InputFile, size: int = SPLIT_BYTES) -> list[Split]:
    """Ranges of equal length. Nothing is read."""
    if not divisible(file):
        return [Split(file, 0, file.size, file.size)]
    parts = -(-file.size // max(1, size))
    cuts = [file.size * part // parts for part in range(parts)] + [file.size]
    return [Split(file, a, b, b - a, part, parts) for part, (a, b) in enumerate(pairwise(cuts))]


class _LineNumbers:
    """Line numbers known at some offsets of some files. A file that changes is another file."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, ...], dict[int, int]] = {}
        self._lock = Lock()

    def _marks(self, stream: BinaryIO) -> dict[int, int]:
        stat = os.fstat(stream.fileno())
        key = (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns)
        if key not in self._known and len(self._known) >= _FILES_REMEMBERED:
            self._known.pop(next(iter(self._known)))
        return self._known.setdefault(key, {0: 1})

    def at(self, stream: BinaryIO, offset: int) -> int:
        """The number of the line that starts at `offset`. Leaves the stream there."""
        with self._lock:
            marks = self._marks(stream)
            near = max(known for known in marks if known <= offset)
            line = marks[near]
        stream.seek(near)
        while near < offset and (data := stream.read(min(BLOCK_BYTES, offset - near))):
            line += data.count(b"\n")
            near += len(data)
        self.learn(stream, offset, line)
        return line

    def learn(self, stream: BinaryIO, offset: int, line: int) -> None:
        """Remember it."""
        with self._lock:
            self._marks(stream)[offset] = line


_line_numbers = _LineNumbers()


def _first_start(stream: BinaryIO, start: int, stop: int) -> int | None:
    """The first offset from `start` to before `stop` at which a line starts. Reads no further: lines may be long."""
    at = start - 1
    stream.seek(at)
    while data := stream.read(min(BLOCK_BYTES, stop - 1 - at)):
        end = data.find(b"\n") + 1
        if end:
            return at + end
        at += len(data)
    return None


def _owned(stream: BinaryIO, at: int, stop: int | None) -> Iterator[bytes]:
    """The bytes from `at` to `stop`, and on to the end of the line that is begun there.

    No stop: all of them.
    """
    last = b"\n"
    while stop is None or at < stop:
        data = stream.read(BLOCK_BYTES if stop is None else min(BLOCK_BYTES, stop - at))
        if not data:
            return
        at += len(data)
        last = data
        yield data
    if last.endswith(b"\n"):
        return
    while data := stream.read(BLOCK_BYTES >> 2):
        end = data.find(b"\n") + 1
        yield data[:end] if end else data
        if end:
            return


def _enter(stream: BinaryIO, split: Split) -> tuple[int, int, int | None] | None:
    """Go to the first line that the split owns: where it starts, its number, and where the split stops.

    None where the split owns no line.
    """
    if not divisible(split.file):
        return 0, 1, None
    if not split.start:
        return 0, 1, split.stop
    first = _first_start(stream, split.start, split.stop)
    return None if first is None else (first, _line_numbers.at(stream, first), split.stop)


def blocks(split: Split, *, limit: int, too_long: Callable[[int, int], None]) -> Iterator[tuple[int, list[bytes], int]]:
    """Lines without their \\n, about BLOCK_BYTES at a time: number of the first one, the lines, bytes in all.

    A line of more than `limit` bytes that spans blocks is never held: it is passed over, and `too_long` is told
    its number and length. There may still be lines beyond the limit in blocks that have more bytes than it.
    """
    file = split.file
    with open_plain(file.path, file.compression, file.name) as stream:
        place = _enter(stream, split)
        if place is None:
            return
        at, line, stop = place
        whole = WholeLines(_owned(stream, at, stop), at=at, line=line, limit=limit, too_long=too_long)
        for number, lines, size in whole:
            if number == 1:
                if lines == [_BOM] and size == len(_BOM):  # and no line end: there is no line in this file
                    continue
                lines[0] = without_bom(file, lines[0])
            yield number, lines, size
        if split.part + 1 < split.parts:
            _line_numbers.learn(stream, whole.at, whole.line)


Edit = tuple[int, bytes | None]
"""The number of a line, and what it becomes; None: the line goes, with its line end."""


def copy_lines(split: Split, edits: Iterable[Edit], out: BinaryIO) -> None:
    """Copy the bytes of a split, but for the lines that are edited; these come in the order of their numbers.

    A line that is replaced keeps its line end. The byte order mark before the first line belongs to the file and not to
    the line: it stays, whatever becomes of the line. Lines may be of any length.
    """
    file = split.file
    with open_plain(file.path, file.compression, file.name) as stream:
        place = _enter(stream, split)
        if place is None:
            return
        at, line, stop = place
        pieces = _owned(stream, at, stop)
        if line == 1:
            pieces = _after_mark(pieces, out)
        coming = iter(edits)
        edit = next(coming, None)
        begun = False  # the line at hand, which is edited, spans pieces
        for piece in pieces:
            if edit is None or edit[0] > line + piece.count(b"\n"):
                out.write(piece)
                line += piece.count(b"\n")
                continue
            parts = piece.split(b"\n")
            for i, part in enumerate(parts):
                ended = i + 1 < len(parts)
                if edit is None or edit[0] != line:
                    out.write(part + b"\n" if ended else part)
                else:
                    if edit[1] is not None:
                        out.write((b"" if begun else edit[1]) + (b"\n" if ended else b""))
                    begun = not ended
                    edit = next(coming, None) if ended else edit
                line += ended


def _after_mark(pieces: Iterator[bytes], out: BinaryIO) -> Iterator[bytes]:
    """Write the byte order mark that a file begins with, where it has one, and yield what follows."""
    head = b""
    for piece in pieces:
        head += piece
        if len(head) >= len(_BOM):
            break
    if head.startswith(_BOM):
        out.write(_BOM)
        head = head.removeprefix(_BOM)
    if head:
        yield head
    yield from pieces


def without_bom(file: InputFile, line: bytes) -> bytes:
    """The first line of a file without a byte order mark; a mark of UTF-16 is refused."""
    if line.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{file.name}: this is UTF-16, not UTF-8. Convert it first: iconv -f UTF-16 -t UTF-8")
    return line.removeprefix(_BOM)


class WholeLines:
    """Takes what was read apart into lines and joins those that span pieces.

    Knows where it is when it is through.
    """

    def __init__(
        self, pieces: Iterator[bytes], *, at: int, line: int, limit: int, too_long: Callable[[int, int], None]
    ) -> None:
        self._pieces = pieces
        self._limit = limit
        self._too_long = too_long
        self.at = at
        self.line = line

    def __iter__(self) -> Iterator[tuple[int, list[bytes], int]]:
        begun: list[bytes] = []
        held = 0
        passed_over = 0  # bytes so far of a line that proved too long
        for piece in self._pieces:
            self.at += len(piece)
            lines = piece.split(b"\n")
            if passed_over:
                if len(lines) == 1:
                    passed_over += len(piece)
                    continue
                self._too_long(self.line, passed_over + len(lines.pop(0)))
                self.line += 1
                passed_over = 0
            elif begun and len(lines) > 1:
                lines[0] = b"".join([*begun, lines[0]])
                begun = []
            rest = lines.pop()
            if lines:
                yield self.line, lines, held + len(piece)
                self.line += len(lines)
                held = 0
            if rest:
                begun.append(rest)
                held += len(rest)
            if held > self._limit:
                begun, held, passed_over = [], 0, held
        if passed_over:
            self._too_long(self.line, passed_over)
        elif begun:
            yield self.line, [b"".join(begun)], held
