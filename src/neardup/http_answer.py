"""Read answers of an HTTP server that may be broken or hostile, in bounded memory and time.

Answer        status and body of one answer
Deadline      receives for a single call: all of its answer comes within a time
AnswerClock   receives for a stream: each line of it comes within a time, once a document waits for it
Unexpected    the server sends what no neardup service sends
TooLong       the server sends more than the answer to this request can have

`http.client` sends our requests, and does not read the answers: it takes a chunk size of -1 for "all that comes",
passes over 1xx answers and trailers without end, and its timeout counts from one received byte to the next (Python
3.11). Nothing here depends on how it reads.
"""

import re
import socket
from collections.abc import Callable, Iterator
from time import monotonic
from typing import Protocol

LARGEST_HEAD = 64 << 10
"""Bytes of status lines, headers and trailers of an answer, the 1xx answers before it included."""

MOST_INTERIM = 8
"""1xx answers before the answer itself; a neardup service sends none, a proxy in front of it may send a few."""

_LONGEST_CHUNK_LINE = 256
_PIECE = 64 << 10

_STATUS = re.compile(rb"HTTP/1\.([01]) ([1-5][0-9][0-9])(?: .*)?")
_CHUNK_SIZE = re.compile(rb"0*([0-9A-Fa-f]{1,8})[ \t]*(?:;.*)?")
_LENGTH = re.compile(rb"[0-9]{1,15}")
_NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class Unexpected(Exception):
    """The server sends what no neardup service sends."""


class TooLong(Exception):
    """The server sends more than the answer to this request can have."""

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self.limit = limit


class Receiver(Protocol):
    """What bytes are received with."""

    def receive(self, *, begun: bool) -> bytes:
        """Return the bytes that come next, none where the server closed the connection.

        Args:
            begun: A part of what is awaited has come already.
        """

    def restart(self) -> None:
        """Start the time for the next line."""


class Deadline:
    """Receives one answer, all of which must come within some seconds. No other thread may use the socket meanwhile."""

    def __init__(self, sock: socket.socket, seconds: float) -> None:
        self._sock, self._end = sock, monotonic() + seconds

    def receive(self, *, begun: bool) -> bytes:
        """Return the bytes that come next, in the time that is left."""
        self._sock.settimeout(_left(self._end))
        return self._sock.recv(_PIECE)

    def restart(self) -> None:
        """Change nothing: the time is for the whole answer."""


class AnswerClock:
    """Receives the lines of a stream, each of which must come within some seconds.

    The seconds count while the service owes something: an answer to a document, or the rest of a line. They do not
    count while the caller makes its next document, nor while it works on the answers that it took. Another thread
    sends on the same socket, whose timeout therefore stays as it is: a line takes no longer than twice the seconds.
    """

    def __init__(self, sock: socket.socket, seconds: float, owes_nothing: Callable[[], bool]) -> None:
        self._sock, self._seconds, self._owes_nothing = sock, seconds, owes_nothing
        self.restart()

    def restart(self) -> None:
        """Start the time for the next line."""
        self._end = monotonic() + self._seconds

    def receive(self, *, begun: bool) -> bytes:
        """Return the bytes that come next, and wait for them without end while the service owes nothing."""
        while True:
            waits = not begun and self._owes_nothing()
            try:
                data = self._sock.recv(_PIECE)
            except TimeoutError:
                if begun or not (waits or self._owes_nothing()):
                    raise
                self.restart()  # nothing was owed for a part of the time
                continue
            if waits:
                self.restart()
            else:
                _left(self._end)
            return data


def send_all(sock: socket.socket, data: bytes, seconds: float) -> None:
    """Send data, all of it within some seconds; `sendall` of a TLS socket takes as long for every 16 kB of it."""
    end, view = monotonic() + seconds, memoryview(data)
    while view:
        sock.settimeout(_left(end))
        view = view[sock.send(view) :]


def _left(end: float) -> float:
    left = end - monotonic()
    if left <= 0:
        raise TimeoutError("timed out")
    return left


class Answer:
    """An answer whose head has been read."""

    def __init__(self, receiver: Receiver) -> None:
        self._receiver = receiver
        self._buffer = bytearray()
        """What came and is not taken."""
        self._head_bytes = 0
        self._begun = self._complete = False
        self.retry_after = "1"
        self._read_head()

    @property
    def reusable(self) -> bool:
        """Return whether another request may be sent on the connection."""
        return self._complete and self._persistent and not self._buffer

    def read(self, limit: int) -> bytearray:
        """Read the body to its end and return it.

        Raises:
            TooLong: The body has more than `limit` bytes.
        """
        self._begun = True
        body = bytearray()
        if self._length is not None and self._length > limit:
            raise TooLong(limit)
        for piece in self._pieces():
            body += piece
            if len(body) > limit:
                raise TooLong(limit)
        return body

    def lines(self, longest: int) -> Iterator[bytes | bytearray]:
        """Yield the lines of the body, without their ends, as they come.

        Raises:
            TooLong: A line has more than `longest` bytes.
        """
        rest = bytearray()
        for piece in self._pieces():
            first, *others = piece.split(b"\n")
            rest += first
            if len(rest) > longest:
                raise TooLong(longest)
            if others:
                yield rest
                rest = bytearray(others.pop())
                yield from others
                self._receiver.restart()
            self._begun = bool(rest)
        if rest:
            yield rest

    def _read_head(self) -> None:
        for _ in range(MOST_INTERIM + 1):
            found = _STATUS.fullmatch(self._head_line())
            if found is None:
                raise Unexpected("no HTTP/1.1")
            self._begun = True
            self.status = int(found[2])
            headers = self._headers()
            if self.status == 101:
                raise Unexpected("another protocol")
            if self.status >= 200:
                self._take_headers(headers, version=int(found[1]))
                self._begun = False
                return
        raise Unexpected(f"more than {MOST_INTERIM} answers before the answer")

    def _headers(self) -> dict[bytes, list[bytes]]:
        """Read header lines up to the empty one; return those that matter."""
        found: dict[bytes, list[bytes]] = {
            name: [] for name in (b"content-length", b"transfer-encoding", b"connection", b"retry-after")
        }
        while line := self._head_line():
            name, colon, value = line.partition(b":")
            if not colon or not _NAME.fullmatch(name):
                raise Unexpected("a header that is none")
            if (values := found.get(name.lower())) is not None:
                values.append(value.strip(b" \t"))
        return found

    def _take_headers(self, headers: dict[bytes, list[bytes]], *, version: int) -> None:
        encodings = b",".join(headers[b"transfer-encoding"]).lower()
        lengths = set(headers[b"content-length"])
        if encodings not in (b"", b"chunked") or (encodings and lengths) or len(lengths) > 1:
            raise Unexpected("a body of two lengths, or of an encoding that was not asked for")
        self._chunked = bool(encodings)
        self._length: int | None = None
        for length in lengths:
            if not _LENGTH.fullmatch(length):
                raise Unexpected("a length that is no number")
            self._length = int(length)
        if self.status in (204, 304):
            self._length, self._chunked = 0, False
        options = {option.strip() for option in b",".join(headers[b"connection"]).lower().split(b",")}
        self._persistent = version == 1 and b"close" not in options
        for value in headers[b"retry-after"][:1]:
            self.retry_after = value.decode("latin-1")

    def _pieces(self) -> Iterator[bytes]:
        """Yield the bytes of the body as they come."""
        if self._chunked:
            while size := self._chunk_size():
                yield from self._exactly(size)
                if self._line(2):
                    raise Unexpected("a chunk that is longer than its size")
            self._begun = True  # an end that has begun does not wait for documents
            self._headers()  # the trailers
        elif self._length is not None:
            yield from self._exactly(self._length)
        else:
            self._persistent = False
            while self._buffer or self._receive():
                yield self._taken(len(self._buffer))
        self._complete = True

    def _chunk_size(self) -> int:
        found = _CHUNK_SIZE.fullmatch(self._line(_LONGEST_CHUNK_LINE))
        if found is None:
            raise Unexpected("a chunk whose size is no hexadecimal number")
        return int(found[1], 16)

    def _exactly(self, size: int) -> Iterator[bytes]:
        while size:
            if not self._buffer:
                self._fill()
            piece = self._taken(size)
            size -= len(piece)
            yield piece

    def _taken(self, most: int) -> bytes:
        piece = bytes(self._buffer[:most])
        del self._buffer[:most]
        return piece

    def _head_line(self) -> bytes:
        line = self._line(LARGEST_HEAD - self._head_bytes)
        self._head_bytes += len(line) + 2
        return line

    def _line(self, longest: int) -> bytes:
        """Take a line of at most `longest` bytes, and return it without its end."""
        seen = 0
        while (end := self._buffer.find(b"\n", seen)) < 0:
            seen = len(self._buffer)
            if seen > longest:
                break
            self._fill()
        if not 0 <= end <= longest:
            raise Unexpected("a head, trailer or chunk size without end")
        line = self._taken(end + 1)
        return line[: -2 if line.endswith(b"\r\n") else -1]

    def _fill(self) -> None:
        if not self._receive():
            raise ConnectionError("the connection was closed before the end of the answer")

    def _receive(self) -> bool:
        data = self._receiver.receive(begun=self._begun or bool(self._buffer))
        self._buffer += data
        return bool(data)
