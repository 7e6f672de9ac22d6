"""The records of a WARC file and the bytes that each occupies.

    WARC/1.1 CRLF
    name: value CRLF …
    CRLF
    Content-Length bytes
    CRLF CRLF

The framing is read here, not by a library: a file that was cut short must be noticed, and copies are made by
byte ranges, which need exact offsets in the content and, where each record is a gzip member of its own, in
the stored file. (ISO 28500:2017, sections 4, 5 and annex D.)
"""

import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from neardup.errors import InputError

_LONGEST_LINE = 1 << 16
_LONGEST_HEAD = 1 << 20
_SKIP = 1 << 18
_SPACE = " \t\r"


@dataclass(frozen=True)
class Record:
    """A record: its number from 1, where it starts in the content, its header, and its block if that was wanted."""

    number: int
    start: int
    header: dict[str, str]
    """Names in lower case."""
    head: bytes
    """The header as stored, with the empty line that ends it."""
    length: int
    block: bytes | None

    @property
    def kind(self) -> str:
        """response, resource, conversion, …"""
        return self.header.get("warc-type", "").lower()


def records(stream: BinaryIO, name: str, wanted: Callable[[str, int], bool]) -> Iterator[Record]:
    """All records in order.

    The blocks of those whose type and length are `wanted` are read, the rest passed over.
    """
    at, number = 0, 0
    while line := stream.readline(_LONGEST_LINE):
        if line in (b"\r\n", b"\n"):
            at += len(line)
            continue
        number += 1
        head = _head(stream, line, name, at, number)
        header = _parsed(head)
        digits = header.get("content-length", "")
        if not (digits.isascii() and digits.isdigit()):
            raise InputError(
                f"{name}: record {number} at byte {at:,} says no length (Content-Length); what follows cannot be found."
            )
        length = int(digits)
        block = None
        if wanted(header.get("warc-type", "").lower(), length):
            block = stream.read(length)
            found = len(block)
        else:
            found = _pass_over(stream, length)
        if found < length:
            raise InputError(
                f"{name}: ends in the middle of record {number}, which starts at byte {at:,}: {found:,} of "
                f"its {length:,} bytes are there. Was it cut short on its way here? Fetch it again."
            )
        yield Record(number, at, header, head, length, block)
        at += len(head) + length


def _head(stream: BinaryIO, first: bytes, name: str, at: int, number: int) -> bytes:
    if not first.startswith(b"WARC/"):
        raise InputError(
            f"{name}: record {number} does not start at byte {at:,} where it should: "
            f"there is {first[:20]!r}, not 'WARC/'. "
            + ("Is this a WARC file?" if number == 1 else "The file is damaged at or before that place.")
        )
    lines, size = [first], len(first)
    while line := stream.readline(_LONGEST_LINE):
        lines.append(line)
        size += len(line)
        if line in (b"\r\n", b"\n"):
            return b"".join(lines)
        if size > _LONGEST_HEAD:
            raise InputError(f"{name}: the header of record {number} at byte {at:,} does not end.")
    raise InputError(
        f"{name}: ends in the header of record {number}, which starts at byte {at:,}. "
        "Was it cut short on its way here? Fetch it again."
    )


def _parsed(head: bytes) -> dict[str, str]:
    """Return the fields of a header by their names in lower case.

    Lines end where the standard ends them, at LF or CRLF: in a value, UTF-8's other line ends (U+0085, U+2028 …) are
    characters like any others.
    """
    header: dict[str, str] = {}
    last = ""
    for line in head.decode("utf-8", "replace").split("\n")[1:]:
        if line[:1] in (" ", "\t") and last:  # a folded line continues the one before
            header[last] += " " + line.strip(_SPACE)
            continue
        field, colon, value = line.partition(":")
        if colon:
            last = field.strip(_SPACE).lower()
            header.setdefault(last, value.strip(_SPACE))
    return header


def _pass_over(stream: BinaryIO, length: int) -> int:
    left = length
    while left and (data := stream.read(min(_SKIP, left))):
        left -= len(data)
    return length - left


def ranges_to_keep(records: Iterable[tuple[int, bool]]) -> Iterator[tuple[int, int]]:
    """Yield the byte ranges of a file without the records that go, neighbours joined.

    A record, (start, whether it is kept), ends where the next one starts, the last one at the end of the file. What
    stands before the first stays.
    """
    begun: int | None = 0
    for start, kept in records:
        if kept and begun is None:
            begun = start
        if not kept and begun is not None:
            yield begun, start
            begun = None
    if begun is not None:
        yield begun, 1 << 62


def copy_range(source: BinaryIO, out: BinaryIO, length: int) -> None:
    """Copy that many bytes, or to the end."""
    left = length
    while left and (data := source.read(min(io.DEFAULT_BUFFER_SIZE * 32, left))):
        out.write(data)
        left -= len(data)
