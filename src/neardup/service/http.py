"""A request and its answer over ASGI, with every limit on what is read.

Measured on two cores beside the load generator (wrk, 32 connections, texts of 2.6 kB that are sketched in a thread, no
index): bare ASGI with msgspec answers 5,500 requests a second, the 99th percentile at 12 ms; Starlette with msgspec
3,900 (87 ms), FastAPI with pydantic 2,000 (116 ms). A service of twenty addresses needs no more than this layer.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any, Protocol

from neardup.service.forwarding import Proxies
from neardup.service.lanes import SHORT
from neardup.service.problems import TYPE, Problem, plain
from neardup.service.quotas import Caller, Places
from neardup.service.settings import Limits
from neardup.service.turns import Turns

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

CONNECTION = "neardup.connection"
"""Where a scope has the connection that it came over."""

JSON = "application/json"
NDJSON = "application/x-ndjson"
STREAMED = (NDJSON, "application/jsonl", "application/ndjson", "application/jsonlines")
"""Names of the same thing."""

LINGER = 1.0
"""Seconds in which the rest of a refused request is read and thrown away. If the connection were closed with bytes
unread, the client would see a broken connection and not the answer."""

_GUARDS = [
    (b"cache-control", b"no-store"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"x-content-type-options", b"nosniff"),
]
_FOR_DATA = [
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"referrer-policy", b"no-referrer"),
    *_GUARDS,
]
_FOR_PAGES = [
    (b"content-security-policy", b"frame-ancestors 'none'"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    *_GUARDS,
]
"""A page names its own policy, with the hashes of its own scripts."""

_NOBODY = Caller()
_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")


class Gone(Exception):
    """The client went away."""


class Connection(Protocol):
    """What a request needs of the connection that it came over."""

    known: bool
    """Whether a token came over it."""
    on_lost: Callable[[], None] | None
    """Called when the client goes away."""

    def drop(self) -> None:
        """Close it, with all that waits to be sent."""

    def works(self) -> None:
        """Keep it: its request has a place among requests or streams."""

    def lingers(self) -> None:
        """Let another connection have the place."""


class Call:
    """One request."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, id_: str, turns: Turns) -> None:
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.peer: str = (scope.get("client") or ("",))[0]
        """The address at the other end of the connection."""
        self.client = self.peer
        """The address that it was sent from, as far as proxies on the way are trusted."""
        self.scheme: str = scope.get("scheme", "http")
        self.raw_path: bytes = scope["raw_path"]
        self.query: bytes = scope["query_string"]
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        self.receive, self.send, self.turns = receive, send, turns
        self._connection: Connection | None = scope.get("state", {}).get(CONNECTION)
        self.lost = False
        """Whether the client went away while it was watched."""
        given = self.headers.get(b"x-request-id", b"")
        self.id = given.decode() if _ID.fullmatch(given) else id_
        self.status = 0
        self.read_bytes = self.sent_bytes = self.documents = 0
        self.complete = b"transfer-encoding" not in self.headers and not self._announced()
        """Whether all of its body was read."""
        self.waits = False
        """Whether it waits for something to be compiled."""
        self._held = 0
        self.caller = _NOBODY
        """Who asks, once that is known."""

    def come_through(self, proxies: Proxies, headers: Iterable[tuple[bytes, bytes]]) -> None:
        """Take the word of trusted proxies for where it was sent from, and how. headers: all, those of one name too."""
        self.client = proxies.client(self.peer, [value for name, value in headers if name == b"x-forwarded-for"])
        self.scheme = proxies.scheme(self.peer, self.scheme, self.headers.get(b"x-forwarded-proto", b""))

    @property
    def for_people(self) -> bool:
        """Whether a browser asks for a page to show."""
        return self.method in ("GET", "HEAD") and b"text/html" in self.headers.get(b"accept", b"").lower()

    def spend(self, documents: int) -> None:
        """Count documents of this request, for its caller and for the log."""
        self.documents += documents
        self.caller.spend(documents)

    def know(self) -> None:
        """Note that a token came over this connection."""
        if self._connection is not None:
            self._connection.known = True

    @contextmanager
    def working(self) -> Iterator[None]:
        """Keep the connection while this block runs, in which the request has a place; otherwise it may give way."""
        if self._connection is None:
            yield
            return
        self._connection.works()
        try:
            yield
        finally:
            self._connection.lingers()

    def abort(self) -> None:
        """Drop the connection, with all that waits to be sent."""
        if self._connection is not None:
            self._connection.drop()

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Cancel the work in this block when the client goes away."""
        if self._connection is None:
            yield
            return
        task = asyncio.current_task()
        assert task is not None

        def leave() -> None:
            self.lost = True
            task.cancel()

        self._connection.on_lost = leave
        try:
            yield
        finally:
            self._connection.on_lost = None

    async def body(self, limits: Limits, room: Places, type_: str = JSON) -> list[bytes]:
        """Return all of it in pieces, if it is of this type and not too long. Joining 15 MB takes 6 ms, which a thread
        has and the event loop has not."""
        self._check_type((type_,))
        announced = self._announced()
        if announced > limits.body:
            raise Problem("too-large", f"The request has {announced:,} bytes; {limits.body:,} are allowed.")
        pieces: list[bytes] = []
        while True:
            piece, more = await self.piece()
            if piece:
                room.take(self.caller, len(piece))
                self._held += len(piece)
                pieces.append(piece)
            if self.read_bytes > limits.body:
                raise Problem("too-large", f"The request has more than {limits.body:,} bytes.")
            if not more:
                return pieces

    def _announced(self) -> int:
        """Bytes of the body, by the head; the parser has checked that it is a number, of 64 bits but for zeros."""
        return int(self.headers.get(b"content-length", b"").strip().lstrip(b"0") or b"0")

    async def piece(self) -> tuple[bytes, bool]:
        """The next bytes of the body, and whether there are more."""
        if self.read_bytes > SHORT:
            await self.turns.piece()
        message = await self.receive()
        if message["type"] == "http.disconnect":
            raise Gone
        piece: bytes = message.get("body", b"")
        self.read_bytes += len(piece)
        self.complete = not message.get("more_body", False)
        return piece, not self.complete

    def decoded(self, size: int, room: Places) -> None:
        """The body has been read, and what it says takes `size` bytes."""
        room.take(self.caller, size - self._held)
        self._held = size

    def release(self, room: Places) -> None:
        """The body is not needed any more."""
        room.give_back(self.caller, self._held)
        self._held = 0

    def check_stream(self) -> None:
        """Raise the problem, if what is sent is no stream of lines."""
        self._check_type(STREAMED)

    def _check_type(self, allowed: tuple[str, ...]) -> None:
        given = self.headers.get(b"content-type", b"").partition(b";")[0].strip().lower().decode("latin-1")
        if given not in allowed:
            raise Problem("media-type", f"Send Content-Type: {allowed[0]}; this is {given or 'without one'}.")
        if self.headers.get(b"content-encoding", b"identity").strip().lower() != b"identity":
            raise Problem("media-type", "Send it without compression.")

    async def answer(self, status: int, content: bytes, type_: str = JSON, **headers: str) -> None:
        """Send all of it."""
        made = self._head(type_, headers)
        made.append((b"content-length", str(len(content)).encode()))
        if not self.complete:
            made.append((b"connection", b"close"))
        self.status, self.sent_bytes = status, len(content)
        await self.send({"type": "http.response.start", "status": status, "headers": made})
        if not self.complete:
            await self.send({"type": "http.response.body", "body": content, "more_body": True})
            await self.linger()
            content = b""
        await self.send({"type": "http.response.body", "body": content})

    async def refuse(self, problem: Problem) -> None:
        """Send a problem."""
        await self.answer(problem.status, plain(problem.out(self.id)), TYPE, **problem.headers)

    async def begin(self, seconds: float) -> None:
        """Send the head of a stream of answers. A client that does not take it in time is gone, here and below."""
        self.status = 200
        made = [*self._head(NDJSON, {}), (b"connection", b"close"), (b"x-accel-buffering", b"no")]
        await self._taken({"type": "http.response.start", "status": 200, "headers": made}, seconds)

    async def lines(self, content: bytes, seconds: float) -> None:
        """Send some of a stream."""
        self.sent_bytes += len(content)
        await self._taken({"type": "http.response.body", "body": content, "more_body": True}, seconds)

    async def end(self, seconds: float) -> None:
        """The stream is over."""
        if not self.complete:
            await self.linger()
        await self._taken({"type": "http.response.body", "body": b""}, seconds)

    async def _taken(self, message: dict[str, Any], seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self.send(message)
        except TimeoutError:
            self.abort()
            raise Gone from None

    async def linger(self) -> None:
        """Throw away what is still coming, for a moment."""
        if self._connection is not None:
            self._connection.lingers()
        try:
            async with asyncio.timeout(LINGER):
                while (await self.piece())[1]:
                    pass
        except (TimeoutError, Gone):
            pass

    def _head(self, type_: str, headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
        return [
            (b"content-type", type_.encode()),
            (b"x-request-id", self.id.encode()),
            *(_FOR_PAGES if type_.startswith("text/html") else _FOR_DATA),
            *((name.encode(), value.encode()) for name, value in headers.items()),
        ]
