"""HTTP responses as crawlers store them: head, body, and the body's encodings undone within a limit.

    cut_head   a stored response → status, content type, codings; and where its body begins
    decoded    the body without its transfer and content codings, of at most `limit` bytes

A few kilobytes of gzip, deflate, br or zstd unpack to gigabytes, so nothing is unpacked further than one byte beyond
the limit. Brotli and Zstandard are unpacked by pyarrow, whose streams give no more than they are asked for; it refuses
Zstandard windows of more than 128 MB, and Brotli's own are 16 MB at most.
"""

import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa

_LONGEST_HEAD = 1 << 20
_MOST_CODINGS = 8
"""Every coding is a pass over the body; real responses have two at most."""
_PIECE = 1 << 18
_FIRST_PIECE = 1 << 12
"""What a stream does not use of a piece is copied: once for each of a million empty streams, so pieces begin small."""
_WANTED = (b"content-type", b"transfer-encoding", b"content-encoding")
_STATUS = re.compile(rb"HTTP/\S*[ \t]+(\d{3})\b")
_LONGEST_CHUNK_LINE = 1 << 12


class Undecodable(Exception):
    """A body that cannot be decoded."""


class TooLong(Exception):
    """A body that has more bytes, once decoded, than are allowed."""


@dataclass(frozen=True)
class Head:
    """What the head of a response tells of its body."""

    status: int | None
    content_type: str | None
    transfer: tuple[str, ...]
    content: tuple[str, ...]
    """Codings in lower case, in the order in which they were applied."""
    size: int
    """Bytes of the head, with the empty line that ends it."""


def cut_head(response: bytes) -> Head:
    """Read the head of a response; lines may end in LF alone. A head without an end raises Undecodable."""
    end = response.find(b"\n\r\n", 0, _LONGEST_HEAD)
    bare = response.find(b"\n\n", 0, end if end >= 0 else _LONGEST_HEAD)
    size = bare + 2 if bare >= 0 else end + 3
    if end < 0 and bare < 0:
        if len(response) > _LONGEST_HEAD:
            raise Undecodable(f"its HTTP header does not end within {_LONGEST_HEAD:,} bytes")
        size = len(response)
    first, *lines = response[:size].split(b"\n")
    told: dict[bytes, list[bytearray]] = {name: [] for name in _WANTED}
    values: list[bytearray] = []
    for line in lines:
        if line[:1] in (b" ", b"\t") and values:  # a folded line continues the one before
            values[-1] += b" " + line.strip()
            continue
        name, _, value = line.partition(b":")
        values = told.get(name.strip().lower(), [])
        values.append(bytearray(value.strip()))  # which grows in linear time where a thousand folded lines continue it
    status = _STATUS.match(first)
    kind = told[b"content-type"]
    return Head(
        int(status[1]) if status else None,
        kind[0].decode("latin-1") if kind else None,
        _codings(told[b"transfer-encoding"]),
        _codings(told[b"content-encoding"]),
        size,
    )


def _codings(values: list[bytearray]) -> tuple[str, ...]:
    named = (coding.strip().lower() for coding in b",".join(values).decode("latin-1").split(","))
    return tuple(coding for coding in named if coding)


def decoded(response: bytes, head: Head, limit: int) -> bytes:
    """Undo the codings of a response's body.

    Some crawlers undo them and leave the header: a body that does not decode and looks like text is taken as it is.

    Raises:
        TooLong: It has more than `limit` bytes.
        Undecodable: It is neither encoded as the header says, nor text.
    """
    body = response[head.size :]
    if len(head.transfer) + len(head.content) > _MOST_CODINGS:
        raise Undecodable(f"it has {len(head.transfer) + len(head.content):,} encodings, more than {_MOST_CODINGS}")
    for coding in (*reversed(head.transfer), *reversed(head.content)):
        try:
            body = _undone(coding, body, limit)
        except ValueError as error:
            if coding != "chunked" and (b"\0" in body[:1024] or body.startswith(b"\x1f\x8b")):
                raise Undecodable(f"{coding}: {error}"[:200]) from error
    if len(body) > limit:
        raise TooLong
    return body


def _undone(coding: str, body: bytes, limit: int) -> bytes:
    """The body without its outermost coding. One that is not encoded so raises ValueError."""
    if coding == "identity" or not body:
        return body
    if coding not in _UNDO:
        raise ValueError("is no known encoding")
    try:
        return _UNDO[coding](body, limit)
    except (zlib.error, pa.ArrowException, OSError) as error:
        raise ValueError(str(error)) from error


def _unchunked(body: bytes, limit: int) -> bytes:
    """The chunks put together. A missing end is no error: crawlers cut long bodies."""
    made, view, at = bytearray(), memoryview(body), 0
    while at < len(body):
        line = body.find(b"\n", at, at + _LONGEST_CHUNK_LINE) + 1
        size = int(body[at:line].partition(b";")[0], 16)
        if not size:
            break
        if not 0 < size <= len(body) - line:
            raise ValueError(f"a chunk of {size:,} bytes begins at byte {at:,} of {len(body):,}")
        made += view[line : line + size]
        at = line + size
        at += 2 if body.startswith(b"\r\n", at) else body.startswith(b"\n", at)
    return bytes(made)


def _inflated(wbits: int) -> Callable[[bytes, int], bytes]:
    def inflate(body: bytes, limit: int) -> bytes:
        """One stream; gzip may have several, one after the other, and what follows the last one is nobody's."""
        made, at = bytearray(), 0
        while True:
            stream, step = zlib.decompressobj(wbits), _FIRST_PIECE
            while not stream.eof and at < len(body):
                piece = memoryview(body)[at : at + step]
                made += stream.decompress(piece, limit + 1 - len(made))
                if len(made) > limit:
                    raise TooLong
                at += len(piece) - len(stream.unused_data)
                step = min(_PIECE, 4 * step)
            if wbits != _GZIP or body[at : at + 2] != b"\x1f\x8b":
                return bytes(made)

    return inflate


def _unpacked(codec: str) -> Callable[[bytes, int], bytes]:
    def unpack(body: bytes, limit: int) -> bytes:
        pieces: list[bytes] = []
        size = 0
        with pa.CompressedInputStream(pa.BufferReader(body), codec) as stream:
            while piece := stream.read(_PIECE):
                pieces.append(piece)
                size += len(piece)
                if size > limit:
                    raise TooLong
        return b"".join(pieces)

    return unpack


_GZIP, _ZLIB = 31, 15
_UNDO: dict[str, Callable[[bytes, int], bytes]] = {
    "chunked": _unchunked,
    "gzip": _inflated(_GZIP),
    "x-gzip": _inflated(_GZIP),
    "deflate": _inflated(_ZLIB),
    "br": _unpacked("brotli"),
    "zstd": _unpacked("zstd"),
}
