"""The service as an ASGI application: who asks, what for, and whether there is room; then the answer, and the log."""

import asyncio
import os
from itertools import count
from time import perf_counter
from typing import Any

import msgspec

from neardup.errors import NeardupError
from neardup.index import Index
from neardup.service import openapi
from neardup.service.access import Access
from neardup.service.deadlines import Deadlines
from neardup.service.endpoints import Endpoints, id_of
from neardup.service.http import JSON, Call, Gone, Receive, Room, Scope, Send
from neardup.service.logs import Log
from neardup.service.metrics import Metrics
from neardup.service.page import page
from neardup.service.problems import Problem, plain, problem_of, validation_detail
from neardup.service.routes import DECODERS, PREFIX, Route, routes_at
from neardup.service.settings import Settings
from neardup.service.shapes import too_long
from neardup.service.streams import converse

FOLLOW = 1.0
"""Seconds between two looks at what another process wrote, where the service is read-only."""

_OWN = frozenset({"healthz", "readyz", "metrics", "openapi", "docs"})
"""Answered without a place among the others, also while stopping."""


class App:
    """An index behind HTTP. Call `stop` to end it, from the event loop, and `close` when nothing is in flight."""

    def __init__(self, index: Index, settings: Settings, log: Log) -> None:
        self.settings, self.log = settings, log
        self.metrics = Metrics()
        self.endpoints = Endpoints(index, settings, self.metrics)
        self.stopping = asyncio.Event()
        self._access = Access(settings)
        self._room = Room(settings.limits.held)
        self._deadlines = Deadlines(settings.limits.seconds)
        self._requests = self._streams = 0
        self._described = msgspec.json.encode(openapi.description(settings))
        self._ids = count(1)
        self._prefix = os.urandom(4).hex()

    @property
    def in_flight(self) -> int:
        """Requests that are being answered, streams among them."""
        return self._requests + self._streams

    async def watch(self) -> None:
        """What is done beside requests, for as long as this runs."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._deadlines.watch())
            if self.settings.read_only:
                group.create_task(self._follow())

    async def _follow(self) -> None:
        """Of an index that another process writes, see what it wrote."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(FOLLOW)
            try:
                await loop.run_in_executor(self.endpoints.threads, self.endpoints.index.refresh)
            except NeardupError as error:
                self.log.failure("refresh", error)

    def stop(self) -> None:
        """Take no more requests. Streams end after the lines in hand."""
        self.stopping.set()

    def close(self) -> None:
        """Let go of the threads."""
        self.endpoints.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] != "http":
            return
        began = perf_counter()
        call = Call(scope, receive, send, f"{self._prefix}-{next(self._ids):x}")
        route: Route | None = None
        try:
            found = routes_at(call.path, call.raw_path)
            route = found.get("GET" if call.method == "HEAD" else call.method)
            self._access.check(route.level if route else "open", call.headers)
            if route is None:
                raise _unknown(found)
            await self._answer(call, route)
        except Gone:
            call.status = call.status or 499
        except TimeoutError:  # the client does not take the answer
            call.abort()
        except Exception as error:
            await self._refuse(call, error)
        finally:
            self._over(call, route, perf_counter() - began)

    async def _answer(self, call: Call, route: Route) -> None:
        if route.does in _OWN and not route.path.startswith("/v1/"):
            await self._deadlines.keep(self._own(call, route))
            return
        if self.stopping.is_set():
            raise Problem("stopping")
        if route.stream:
            await self._stream(call, route)
        else:
            await self._single(call, route)

    async def _single(self, call: Call, route: Route) -> None:
        limits = self.settings.limits
        if self._requests >= limits.concurrency:
            self.metrics.rejected.labels("concurrency").inc()
            raise Problem("busy", f"{limits.concurrency:,} requests are being answered already.")
        self._requests += 1
        try:
            await self._deadlines.keep(self._done(call, route))
        except TimeoutError:
            if call.status:  # the client does not take the answer
                call.abort()
                raise Gone from None
            if call.complete:
                raise Problem("slow", f"It took more than {limits.seconds:g} seconds.") from None
            raise Problem("timeout", f"It had not come after {limits.seconds:g} seconds.") from None
        finally:
            self._requests -= 1
            call.release(self._room)

    async def _done(self, call: Call, route: Route) -> None:
        await call.answer(200, plain(await self._found(call, route)))

    async def _found(self, call: Call, route: Route) -> Any:
        """What is sent back."""
        does = getattr(self.endpoints, route.does)
        if route.takes is None:
            return await (does(id_of(call.raw_path[len(PREFIX) :])) if "{id}" in route.path else does())
        body = await call.body(self.settings.limits, self._room)
        asked = _decoded(route, body)
        call.documents = 1
        self._check_documents(asked, call)
        return await does(asked, len(body))

    def _check_documents(self, asked: Any, call: Call) -> None:
        documents = [asked] if hasattr(asked, "text") else []
        for name in ("documents", "results"):
            documents += getattr(asked, name, [])
        if hasattr(asked, "first"):
            documents += [asked.first, asked.second]
        call.documents = len(documents)
        limit = self.settings.limits.document
        if any(too_long(document, limit) for document in documents):
            raise Problem("too-large", f"A document has more than {limit:,} bytes.")

    async def _stream(self, call: Call, route: Route) -> None:
        limits = self.settings.limits
        call.check_stream()
        if self._streams >= limits.streams:
            self.metrics.rejected.labels("streams").inc()
            raise Problem("busy", f"{limits.streams:,} streams are open already.")
        self._streams += 1
        try:
            await converse(
                call,
                self.endpoints.streams[route.does],
                limits,
                self.endpoints.threads,
                stopping=self.stopping,
                refused=self.metrics.documents["refused"].inc,
                failed=lambda error: self.log.failure(call.id, error),
            )
        finally:
            self._streams -= 1

    async def _own(self, call: Call, route: Route) -> None:
        if route.does == "healthz":
            await call.answer(200, b'{"status":"alive"}')
        elif route.does == "readyz":
            if self.stopping.is_set():
                raise Problem("stopping")
            await self.endpoints.reach()
            await call.answer(200, b'{"status":"ready"}')
        elif route.does == "metrics":
            for kind, number in (("requests", self._requests), ("streams", self._streams)):
                self.metrics.in_flight.labels(kind).set(number)
            self.metrics.held.set(self._room.held)
            await call.answer(200, *await self.endpoints.scraped())
        elif route.does == "openapi":
            await call.answer(200, self._described, JSON)
        else:
            host = call.headers.get(b"host", b"127.0.0.1").decode("latin-1")
            shown = page(self._described.decode(), f"http://{host}")
            await call.answer(200, shown.encode(), "text/html; charset=utf-8")

    async def _refuse(self, call: Call, error: Exception) -> None:
        problem = problem_of(error)
        if not isinstance(error, Problem | NeardupError):
            self.log.failure(call.id, error)
        elif isinstance(error, Problem) and error.kind == "busy":
            self.metrics.rejected.labels("busy").inc()
        if call.status:  # the answer has begun: the connection is closed, which tells that it is not whole
            raise error
        try:
            await self._deadlines.keep(call.refuse(problem))
        except TimeoutError:
            call.abort()

    def _over(self, call: Call, route: Route | None, seconds: float) -> None:
        path = route.path if route else "unknown"
        method = call.method if route else "ANY"
        stream = route is not None and route.stream
        self.metrics.request(method, path, call.status, None if stream else seconds, call.read_bytes)
        self.log.request(
            id=call.id,
            method=call.method if len(call.method) < 16 else "long",
            route=path,
            status=call.status,
            ms=round(seconds * 1000, 2),
            bytes=call.read_bytes,
            sent=call.sent_bytes,
            documents=call.documents,
        )


def _unknown(found: dict[str, Route]) -> Problem:
    if not found:
        return Problem("not-found")
    allowed = sorted({*found, *(["HEAD"] if "GET" in found else [])})
    return Problem("method", f"Use {' or '.join(allowed)}.", allow=", ".join(allowed))


def _decoded(route: Route, body: bytes) -> Any:
    try:
        return DECODERS[route.path].decode(body)
    except msgspec.ValidationError as error:
        raise Problem("invalid", validation_detail(error)) from None
    except (ValueError, RecursionError):
        raise Problem("not-json") from None
