"""uvicorn's protocol with limits on what comes before an application is asked.

A client that opens connections and sends nothing, or a head without end, would otherwise hold them for ever.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from neardup.service.connections import Connections, Place
from neardup.service.forwarding import Proxies
from neardup.service.heads import wrong_head
from neardup.service.http import CONNECTION
from neardup.service.problems import TYPE, Problem, plain
from neardup.service.settings import Limits

PIPELINED = 8
"""Requests that a client may send ahead of the answers on one connection. uvicorn reads on after every answer, however
many wait; without a bound a client that sends and reads nothing fills the memory (5 kB each)."""

_AT_A_TIME = 16
"""Such requests that begin in a pass of the event loop."""

_JOINED = 16 << 10
"""Bytes of a piece that is copied to be sent together with others. A longer one is sent as it is: of one answer that a
thousand clients ask for and do not take, there is one copy."""

_HEALTH = (b"/healthz", b"/readyz")
"""What is answered whatever else goes on."""


class _Joining:
    """A transport that sends what is written in one turn of the event loop at once: head and body of an answer in one
    packet and one system call."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._waiting: list[bytes] = []

    def write(self, data: bytes) -> None:
        """At the end of this turn; a long piece now, after those before it."""
        if len(data) > _JOINED:
            self._flush()
            if not self._transport.is_closing():
                self._transport.write(data)
            return
        if not self._waiting:
            self._loop.call_soon(self._flush)
        self._waiting.append(data)

    def close(self) -> None:
        """When all is sent."""
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        if self._waiting and not self._transport.is_closing():
            self._transport.write(b"".join(self._waiting))
        self._waiting.clear()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class _Ahead:
    """Requests that were sent ahead of answers: a few begin in each pass of the event loop, so that a thousand clients
    who send eight each do not make a pass as long as their answers take together."""

    def __init__(self) -> None:
        self._waiting: deque[Callable[[], None]] = deque()

    def begin(self, one: Callable[[], None]) -> None:
        """Begin one when it is its turn."""
        self._waiting.append(one)
        if len(self._waiting) == 1:
            asyncio.get_running_loop().call_soon(self._begin_some)

    def _begin_some(self) -> None:
        try:
            for _ in range(min(_AT_A_TIME, len(self._waiting))):
                self._waiting.popleft()()
        finally:  # also where one raises
            if self._waiting:
                asyncio.get_running_loop().call_soon(self._begin_some)


def protocol(
    limits: Limits, refused: Callable[[str], str] = lambda kind: "", proxies: Proxies | None = None
) -> type[HttpToolsProtocol]:
    """Return the class of connections under these limits.

    refused: called with the kind of problem that a connection is closed with, or "idle" where it gives way to another
        one; counts it, and returns an id under which it is in the log.
    proxies: addresses behind which there are many clients.
    """
    connections, ahead = Connections(limits.connections, proxies), _Ahead()

    class Protocol(HttpToolsProtocol):
        """A connection."""

        _head_bytes = 0
        _in_head = True
        _beside_bytes = 0
        """Read since the last byte of a body: sizes of chunks, and what follows the last one."""
        _clock: Any = None
        known = False
        """Whether a token came over it."""
        _place: Place = "free"
        _taking: Any = None
        """Set while the next request waits for the client to take an answer; closes the connection if it does not."""
        on_lost: Callable[[], None] | None = None
        """Called when the client goes away; set by the request that is being answered."""

        def connection_made(self, transport: Any) -> None:
            """Accept a connection; refuse it where no other one gives way."""
            super().connection_made(_Joining(transport, self.loop))  # type: ignore[arg-type]
            self._place = connections.open(self, self.client[0] if self.client else "")
            if self._place == "none":
                self._refuse("busy")
                return
            self._expect_head()

        def connection_lost(self, exc: Exception | None) -> None:
            """Stop the clock, and the work for this client."""
            self._stop_clock()
            if self._taking is not None:
                self._taking.cancel()
            connections.close(self)
            super().connection_lost(exc)
            if self.on_lost is not None:
                self.on_lost()

        def give_way(self) -> None:
            """Close the connection, for another one: no request on it has a place."""
            self._stop_clock()
            refused("idle")
            if self.transport.get_write_buffer_size():  # an answer that is not taken; closing would wait for that
                self.transport.abort()
            else:
                self.transport.close()

        def works(self) -> None:
            """Keep the connection: its request has a place among requests or streams."""
            connections.works(self)

        def lingers(self) -> None:
            """Let another connection have the place: the request has none, or none any more."""
            connections.waits(self)

        def drop(self) -> None:
            """Close the connection, with all that waits to be sent."""
            self.transport.abort()

        def data_received(self, data: bytes) -> None:
            """Count what belongs to a head, and what is neither head nor body."""
            if self._in_head:
                self._head_bytes += len(data)
                if self._head_bytes > limits.header_bytes and not self._whole_head(data):
                    self._refuse("head")
                    return
            elif self._beside_bytes > limits.header_bytes:
                self._refuse("head")
                return
            self._beside_bytes += len(data)
            super().data_received(data)
            if self._in_head and self._head_bytes and self._clock is None:  # a part of the next request's
                self._expect_head()

        def on_header(self, name: bytes, value: bytes) -> None:
            """Trailers are passed over."""
            if self._in_head:
                super().on_header(name, value)

        def on_body(self, body: bytes) -> None:
            """Hand on a piece of a body as it is, where the one before was taken; uvicorn copies each twice."""
            self._beside_bytes = 0
            if not (self.cycle.body or self.cycle.response_complete):
                self.cycle.body, body = body, b""  # type: ignore[assignment]
            super().on_body(body)

        def on_headers_complete(self) -> None:
            """An application takes over."""
            self._in_head = False
            self._head_bytes = self._beside_bytes = 0
            self._stop_clock()
            if len(self.pipeline) >= PIPELINED:
                self.transport.abort()
                raise ConnectionAbortedError  # so that the parser goes no further
            wrong = wrong_head(self.parser.get_http_version(), self.url, self.headers)
            if wrong is None and self.parser.should_upgrade():
                wrong = "not-http", "Omit the header Upgrade; in Java, choose HttpClient.Version.HTTP_1_1."
            if wrong is None and self._place == "reserved" and self.url not in _HEALTH:
                wrong = "busy", f"{limits.connections:,} connections are open already."
            if wrong is not None:
                self._refuse(*wrong)
                raise ConnectionAbortedError
            if self.cycle is None or self.cycle.response_complete:  # else the request before it counts
                connections.waits(self)
            self.scope["state"][CONNECTION] = self
            super().on_headers_complete()

        def on_message_complete(self) -> None:
            """What comes next is a head."""
            super().on_message_complete()
            self._in_head, self._head_bytes = True, 0
            if not self.pipeline:  # a long body paused it; reading on is what tells that a client goes away
                self.flow.resume_reading()

        def on_response_complete(self) -> None:
            """Wait for the next request, unless it is there already."""
            if self.pipeline:
                ahead.begin(self._begin_next)
            else:
                super().on_response_complete()
                connections.waits(self)

        def _begin_next(self) -> None:
            """Begin the request that was sent ahead, when the client takes the answer before it."""
            if self.flow.write_paused:
                self._taking = self.loop.call_later(limits.seconds, self.drop)
            else:
                super().on_response_complete()

        def resume_writing(self) -> None:
            """Go on: the client takes what is sent."""
            super().resume_writing()
            if self._taking is not None:
                self._taking.cancel()
                self._taking = None
                ahead.begin(self._begin_next)

        def send_400_response(self, msg: str) -> None:
            """As a problem."""
            self._refuse("not-http")

        def _whole_head(self, data: bytes) -> bool:
            """A body may come in the same packet."""
            end = data.find(b"\r\n\r\n")
            return end >= 0 and self._head_bytes - len(data) + end <= limits.header_bytes

        def _expect_head(self) -> None:
            self._stop_clock()
            self._clock = self.loop.call_later(limits.header_seconds, self._refuse, "timeout")

        def _stop_clock(self) -> None:
            if self._clock is not None:
                self._clock.cancel()
                self._clock = None

        def _refuse(self, kind: str, detail: str = "") -> None:
            """Close the connection with a problem, if that cannot be taken for the answer to another request."""
            self._stop_clock()
            if self.transport.is_closing():
                return
            if self.cycle is not None and not self.cycle.response_complete:
                if not (self.pipeline or self.cycle.more_body):  # it came whole, and is answered before the end
                    self.cycle.keep_alive = False
                    return
                if self.pipeline or self.cycle.response_started:
                    refused(kind)
                    self.transport.close()
                    return
            id_ = refused(kind)
            problem = Problem(kind, detail)
            body = plain(problem.out(id_))
            more = "".join(f"{name}: {value}\r\n" for name, value in problem.headers.items())
            head = (
                f"HTTP/1.1 {problem.status} {problem.title}\r\ncontent-type: {TYPE}\r\ncontent-length: {len(body)}\r\n"
                f"x-request-id: {id_}\r\n{more}cache-control: no-store\r\nx-content-type-options: nosniff\r\n"
                "connection: close\r\n\r\n"
            )
            self.transport.write(head.encode() + body)
            self.transport.close()

    return Protocol
