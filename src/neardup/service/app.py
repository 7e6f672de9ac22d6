"""The service as an ASGI application: who asks, what for, and whether there is room; then the answer, and the log."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Container, Coroutine, Mapping, Sequence
from contextlib import suppress
from functools import partial
from html import escape
from itertools import count
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Any, cast

import msgspec

from neardup.engines.machine import cores
from neardup.errors import NeardupError, Unreachable
from neardup.index import Index
from neardup.service import openapi
from neardup.service.access import Access, user_of
from neardup.service.deadlines import Deadlines
from neardup.service.endpoints import ENDING, Endpoints, id_of
from neardup.service.http import JSON, Call, Gone, Receive, Scope, Send
from neardup.service.indexes import Indexes, by_name
from neardup.service.lanes import SHORT
from neardup.service.line_room import LineRoom
from neardup.service.logs import Log
from neardup.service.maintenance import Maintenance, ServedCollection
from neardup.service.metrics import Metrics
from neardup.service.page import ADDRESS, page
from neardup.service.pages import Asked, Page, Shown, Site, fields, trouble
from neardup.service.pages.asking import FORM, HTML
from neardup.service.preparing import Preparing, needed
from neardup.service.problems import AILMENTS, KINDS, RETRY, Busy, Problem, let_go, plain, problem_of, validation_detail
from neardup.service.quotas import Caller, Places
from neardup.service.routes import DECODERS, JOBS, Place, Route, pages_at, place_at
from neardup.service.settings import Limits, Settings
from neardup.service.shapes import Expiring, Grouping, too_long
from neardup.service.streams import Ending, converse
from neardup.service.tokens import Token, unknown_indexes
from neardup.service.turns import Turns
from neardup.service.weighing import check_values, weigh

if TYPE_CHECKING:
    from neardup.searching import Collection

FORGET = 3600.0
"""Seconds between two looks for documents that expire."""

EXPIRE = 1.0
"""Seconds between two looks for tokens whose time is over."""

FOLLOW = 1.0
"""Seconds between two looks at what another process wrote, where the service is read-only."""

NOTE = 10.0
"""Seconds between two lines of the log that say the same of an index that cannot be reached."""

_OWN = frozenset({"healthz", "readyz", "metrics", "openapi", "docs"})
"""Answered without a place among the others, also while stopping."""

_COMPILING = (
    "What this is computed with is being compiled, once on this machine, and was not ready after {:g} seconds. Try "
    "again in {} seconds."
)


class App:
    """An index, a collection or both behind HTTP. Call `stop` to end it, from the event loop, and `close` when nothing
    is in flight."""

    def __init__(
        self,
        indexes: Index | Mapping[str, Index] | None,
        settings: Settings,
        log: Log,
        *,
        collection: "Collection | None" = None,
        reopen: "Callable[[], Collection] | None" = None,
        preparing: Preparing | None = None,
    ) -> None:
        """preparing: what is compiled while this is asked already. reopen: opens the collection anew; the app closes
        all that it was given."""
        self.settings, self.log = settings, log
        self._ailing: dict[tuple[str, str], str] = {}
        self._noted: dict[str, float] = {}
        """When the log was told why an index cannot be reached, by the sentence."""
        self.metrics = Metrics()
        self._turns = Turns(cores() + 2)
        self.indexes = Indexes(by_name(indexes), settings, self.metrics, self._turns)
        self._collection = ServedCollection(
            Site(collection, self.indexes.default.served, settings.limits), None if collection is None else reopen
        )
        self.maintenance = Maintenance(settings, log, self.metrics, self._collection)
        self.stopping = asyncio.Event()
        self._preparing = preparing or Preparing({})
        self._access = Access(settings)
        limits = settings.limits
        self._requests, self._streams = Places("requests", limits.concurrency), Places("streams", limits.streams)
        self._room = Places("held", limits.held, least=limits.body)
        self._line_room = LineRoom(self._room, limits)
        self._endings: set[Ending] = set()
        self._divide()
        self._deadlines = Deadlines(settings.limits.seconds)
        self._described = msgspec.json.encode(openapi.description(settings))
        self._page = page(self._described.decode())
        self._ids = count(1)
        self._prefix = os.urandom(4).hex()
        self._warn(settings.tokens)

    @property
    def in_flight(self) -> int:
        """Requests that are being answered, streams among them."""
        return self._requests.taken + self._streams.taken

    async def watch(self) -> None:
        """What is done beside requests, for as long as this runs."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._deadlines.watch())
            group.create_task(self._expire())
            if self.settings.read_only:
                for each in self.indexes:
                    group.create_task(self._follow(each))
            if self.settings.keep_days is not None:
                for each in self.indexes:
                    group.create_task(self._forget(each, self.settings.keep_days))

    async def _forget(self, endpoints: Endpoints, days: int) -> None:
        """Expire the documents of an index, again and again."""
        while True:
            with suppress(Problem):  # another job runs: the next time
                self.maintenance.expire(endpoints, Expiring(float(days)), unasked=True)
            await asyncio.sleep(FORGET)

    def reload_collection(self) -> None:
        """Begin to open the collection anew, where one is served; the log says how it ended."""
        try:
            self.maintenance.reload()
        except Problem as problem:
            if problem.kind != "no-collection":
                self.log.event(reloaded="collection", failed=problem.detail)

    async def _follow(self, endpoints: Endpoints) -> None:
        """Of an index that another process writes, see what it wrote."""
        while True:
            await asyncio.sleep(FOLLOW)
            try:
                await endpoints.threads.begin(endpoints.index.refresh)
            except Exception as error:  # whatever it is, the next look may find the index well
                self.log.failure("refresh", error)

    async def _expire(self) -> None:
        """End the streams of tokens whose time is over."""
        while True:
            await asyncio.sleep(EXPIRE)
            self._revoke(self._access.expired())

    def use(self, tokens: Sequence[Token]) -> None:
        """Take other tokens from now on. Streams of those that are gone end after the lines in hand."""
        self._revoke(self._access.use(tokens))
        self._divide()
        self._warn(tokens)
        self.metrics.forget_tokens({caller.name for caller in self._access.callers})

    def _warn(self, tokens: Sequence[Token]) -> None:
        """Log which tokens name indexes that are not served."""
        for token, sentence in unknown_indexes(tokens, self.indexes.names).items():
            self.log.event(token=token, warning=sentence)

    def _revoke(self, callers: Container[Caller]) -> None:
        for ending in self._endings:
            if ending.caller in callers:
                ending.end(Problem("no-token", "The token was revoked. This line and those behind it were not read."))

    def _divide(self) -> None:
        for places in (self._requests, self._streams, self._room):
            places.divide(self._access.callers)

    def stop(self) -> None:
        """Take no more requests. Streams end after the lines in hand."""
        self.stopping.set()
        self.maintenance.jobs.stop()
        for ending in self._endings:
            ending.end(Problem("stopping", "This line and those behind it were not looked at."))

    def turned_away(self, kind: str) -> str:
        """Count and log a connection that was closed with a problem before it became a request, or ("idle") gave way to
        another one. Return the id in the log."""
        id_ = f"{self._prefix}-{next(self._ids):x}"
        if kind in ("busy", "idle"):
            self.metrics.rejected.labels("connections" if kind == "busy" else kind).inc()
        if kind != "idle":
            self.metrics.request("ANY", "unknown", KINDS[kind].status, None, 0)
            self.log.request(id=id_, refused=kind, status=KINDS[kind].status)
        return id_

    def close(self) -> bool:
        """Let go of the threads. False: some still work."""
        ended = self.indexes.close()
        ended = self.maintenance.jobs.close(monotonic() + ENDING) and ended
        if ended:
            self._collection.close()
        return ended

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] != "http":
            return
        began = perf_counter()
        call = Call(scope, receive, send, f"{self._prefix}-{next(self._ids):x}", self._turns)
        if self.settings.proxies:
            call.come_through(self.settings.proxies, scope["headers"])
        route: Route | Page | None = None
        refused: Problem | None = None
        method = "GET" if call.method == "HEAD" else call.method
        try:
            try:
                pages, rest = pages_at(call.path)
                place = place_at(call.path, call.raw_path)
                found: Mapping[str, Route | Page] = pages or place.routes
                route = found.get(method)
                if isinstance(route, Page):
                    self._access.check_page(route.level, method, call)
                    await self._answer_page(call, route, rest)
                else:
                    self._access.check(route.level if route else "open", call)
                    if route is None:
                        raise _unknown(found)
                    await self._answer(call, route, place)
            except (Exception, asyncio.CancelledError) as error:
                refused = self._ended(call, error)
                let_go(error)
            if refused is not None:
                await self._refuse(call, refused, route)
        finally:
            self._over(call, route, perf_counter() - began)

    def _ended(self, call: Call, error: BaseException) -> Problem | None:
        """Say what a client is answered for an error: nothing where it is gone, or where its answer has begun, whose
        connection is then closed, which tells that it is not whole."""
        if isinstance(error, asyncio.CancelledError) and not call.lost:  # the server ends
            raise error
        if isinstance(error, Gone | asyncio.CancelledError):
            call.status = call.status or 499
            return None
        if isinstance(error, TimeoutError):  # the client does not take the answer
            call.abort()
            return None
        if not isinstance(error, Problem | NeardupError):
            self.log.failure(call.id, error)
        elif isinstance(error, Unreachable):
            self._note(call, error)
        elif isinstance(error, Busy):
            self.metrics.rejected.labels(error.why).inc()
        return None if call.status else problem_of(cast("Exception", error))

    def _note(self, call: Call, error: Unreachable) -> None:
        """Log why an index cannot be reached, which clients are not told; the same sentence every NOTE seconds."""
        now, sentence = monotonic(), str(error)
        if now - self._noted.get(sentence, -NOTE) < NOTE:
            return
        self._noted = {each: at for each, at in self._noted.items() if now - at < NOTE} | {sentence: now}
        self.log.event(id=call.id, unreachable=sentence)

    async def _answer_page(self, call: Call, route: Page, rest: str) -> None:
        if self.stopping.is_set():
            raise Problem("stopping")
        await self._limited(call, self._shown(call, route, rest))

    async def _shown(self, call: Call, route: Page, rest: str) -> None:
        """A page is made in a thread, of what the address and the form say."""
        pieces: list[bytes] = []
        if route.method == "POST":
            pieces = await call.body(self.settings.limits, self._room, route.takes)
        if pieces or call.query:
            await self._compiled(call, route.needs)

        def make() -> Shown:
            sent = b"".join(pieces)
            asked = Asked(
                fields(call.query),
                fields(sent if route.takes == FORM else b""),
                rest,
                sent,
                user_of(call.headers) if self._access.guarded else "",
                call.caller.name,
            )
            with self._collection.showing() as site:
                return route.show(site, asked)

        shown = await self.indexes.default.at_leisure(
            make,
            long=route.long and (call.read_bytes > SHORT if pieces else bool(call.query) or not route.needs),
        )
        onward = {"location": shown.location} if shown.location else {}
        await call.answer(shown.status, shown.content, shown.type, **onward)

    async def _answer(self, call: Call, route: Route, place: Place) -> None:
        if route.does in _OWN and not route.path.startswith("/v1/"):
            try:
                await self._deadlines.keep(self._own(call, route))
            except TimeoutError:
                if call.status:
                    raise
                raise Problem("slow", f"It took more than {self.settings.limits.seconds:g} seconds.") from None
            return
        if self.stopping.is_set():
            raise Problem("stopping")
        if route.of_index and not self.indexes:
            raise Problem("no-index")
        if not (route.of_index or route.named or (route.does == "compare" and self.indexes)):
            await self._limited(call, self._done(call, route, self.indexes.default, place))
            return
        endpoints = self.indexes.named(place.name, call.caller)
        with self.indexes.place(endpoints, stream=route.stream):
            if route.stream:
                await self._stream(call, route, endpoints)
            else:
                await self._limited(call, self._done(call, route, endpoints, place))

    async def _limited(self, call: Call, work: Coroutine[Any, Any, None]) -> None:
        """Among so many others, in so much time."""
        limits = self.settings.limits
        try:
            self._requests.take(call.caller)
        except Problem:
            work.close()
            raise
        try:
            with call.working(), call.watched():
                await self._deadlines.keep(work)
        except TimeoutError:
            if call.status:  # the client does not take the answer
                call.abort()
                raise Gone from None
            if call.waits:
                raise Problem("compiling", _COMPILING.format(limits.seconds, RETRY["compiling"])) from None
            if call.complete:
                raise Problem("slow", f"It took more than {limits.seconds:g} seconds.") from None
            raise Problem("timeout", f"It had not come after {limits.seconds:g} seconds.") from None
        finally:
            self._requests.give_back(call.caller)
            call.release(self._room)

    async def _done(self, call: Call, route: Route, endpoints: Endpoints, place: Place) -> None:
        try:
            answer = plain(await self._found(call, route, endpoints, place))
        except RecursionError:
            if route.takes is None:
                raise
            raise Problem("invalid", "A value is nested too deeply.") from None  # it could be decoded, and no more
        await call.answer(route.status, answer)

    async def _found(self, call: Call, route: Route, endpoints: Endpoints, place: Place) -> Any:
        """What is sent back."""
        if route.does == "indexes":
            return await self.indexes.listed(call.caller)
        does = getattr(endpoints, route.does) if route.level != "admin" else self._maintaining(call, route, endpoints)
        if route.takes is None:
            if "{id}" not in route.path:
                return await does()
            if call.query:
                raise Problem("bad-path", "An id with a question mark is sent with %3F in its place.")
            return await does(id_of(place.rest))
        read = partial(_read, route, await call.body(self.settings.limits, self._room), self.settings.limits)
        size = call.read_bytes
        # A million tiny documents take a second to decode.
        asked, documents, held = await endpoints.decoded(read) if size > SHORT else read()
        del read
        call.spend(documents)
        call.decoded(held, self._room)
        await self._compiled(call, needed(asked))
        if isinstance(asked, Grouping) and asked.results is None:
            return await does(asked, size, call.spend)  # how many results a response has is known when it is read
        return await does(asked, size)

    def _maintaining(self, call: Call, route: Route, endpoints: Endpoints) -> Callable[..., Awaitable[Any]]:
        """Return what is done for operators, as Endpoints has it for others."""
        care = self.maintenance

        async def does(*asked: Any) -> Any:
            if route.does == "jobs":
                return care.listed(call.caller)
            if route.does == "job":
                return care.job(call.path.removeprefix(JOBS), call.caller)
            if route.does == "reload":
                if call.caller.token is not None and not call.caller.token.for_all:
                    raise Problem("forbidden", "The collection of the service needs a token that may use all indexes.")
                return care.reload()
            return getattr(care, route.does)(endpoints, *asked[:1])

        return does

    async def _compiled(self, call: Call, step: str) -> None:
        """Wait for what a request is computed with; here, and not in a thread that others could use."""
        call.waits = True
        await self._preparing.done(step)
        call.waits = False

    async def _stream(self, call: Call, route: Route, endpoints: Endpoints) -> None:
        limits = self.settings.limits
        call.check_stream()
        self._streams.take(call.caller)
        ending = Ending(call.caller)
        self._endings.add(ending)
        try:
            with call.working():
                await converse(
                    call,
                    endpoints.streams[route.does],
                    limits,
                    endpoints.streaming,
                    self._line_room,
                    ending=ending,
                    refused=endpoints.metrics.documents["refused"].inc,
                    failed=lambda error: self.log.failure(call.id, error),
                    unreachable=lambda error: self._note(call, error),
                )
        finally:
            self._endings.discard(ending)
            self._streams.give_back(call.caller)

    def _require_sound(self, problems: dict[tuple[str, str], str]) -> None:
        """Refuse to be called ready where something is wrong with a store. Strangers ask too: details are for the log,
        once until something else is wrong."""
        if problems != self._ailing:
            before, self._ailing = self._ailing, problems
            for (index, kind), problem in problems.items():
                self.log.event(store=kind, index=index, problem=problem)
            ailing = {index for index, _ in problems}
            for index in dict.fromkeys(index for index, _ in before if index not in ailing):
                self.log.event(store="sound", index=index)
        if problems:
            raise Problem("store", AILMENTS[next(iter(problems))[1]])

    async def _own(self, call: Call, route: Route) -> None:
        if route.does == "healthz":
            await call.answer(200, b'{"status":"alive"}')
        elif route.does == "readyz":
            if self.stopping.is_set():
                raise Problem("stopping")
            self._require_sound(await self.indexes.reach())
            await call.answer(200, b'{"status":"ready"}')
        elif route.does == "metrics":
            if call.caller.token is not None and not call.caller.token.for_all:
                raise Problem("forbidden", "The counters of all indexes need a token that may use all of them.")
            for places in (self._requests, self._streams):
                self.metrics.in_flight.labels(places.kind).set(places.taken)
            self.metrics.held.set(self._room.taken)
            await call.answer(200, *await self.indexes.scraped())
        elif route.does == "openapi":
            await call.answer(200, self._described, JSON)
        else:
            host = call.headers.get(b"host", b"127.0.0.1").decode("latin-1")
            shown = self._page.replace(ADDRESS, escape(f"{call.scheme}://{host}"))
            await call.answer(200, shown.encode(), "text/html; charset=utf-8")

    async def _refuse(self, call: Call, problem: Problem, route: Route | Page | None) -> None:
        try:
            if route.gives == HTML if isinstance(route, Page) else route is None and call.for_people:
                shown = trouble(problem, route.path if route else "", call.id)
                sent = call.answer(shown.status, shown.content, shown.type, **problem.headers)
            else:
                sent = call.refuse(problem)
            await self._deadlines.keep(sent)
        except (TimeoutError, Gone):
            call.abort()
        except asyncio.CancelledError:
            if not call.lost:
                raise

    def _over(self, call: Call, route: Route | Page | None, seconds: float) -> None:
        path = route.path if route else "unknown"
        method = call.method if route else "ANY"
        stream = isinstance(route, Route) and route.stream
        self.metrics.request(method, path, call.status, None if stream else seconds, call.read_bytes)
        token = call.caller.name
        if token and not call.caller.revoked:  # whose counters are gone
            self.metrics.request_by(token, call.status)
        self.log.request(
            id=call.id,
            method=call.method if len(call.method) < 16 else "long",
            route=path,
            status=call.status,
            ms=round(seconds * 1000, 2),
            bytes=call.read_bytes,
            sent=call.sent_bytes,
            documents=call.documents,
            **({"token": token} if token else {}),
            **({"client": call.client} if self.settings.proxies else {}),
        )


def _unknown(found: Mapping[str, Route | Page]) -> Problem:
    if not found:
        return Problem("not-found")
    allowed = sorted({*found, *(["HEAD"] if "GET" in found else [])})
    return Problem("method", f"Use {' or '.join(allowed)}.", allow=", ".join(allowed))


def _read(route: Route, pieces: list[bytes], limits: Limits) -> tuple[Any, int, int]:
    """Return what a body says, the number of its documents, and the bytes that their contents take in memory."""
    body = b"".join(pieces)
    pieces.clear()
    check_values(body, route.takes, limits)
    asked = _decoded(route, body)
    if isinstance(asked, Grouping):
        return asked, *weigh(asked, limits)
    documents = [asked] if hasattr(asked, "text") else []
    documents += getattr(asked, "documents", [])
    if hasattr(asked, "first"):
        documents += [asked.first, asked.second]
    number = len(documents)
    why = ""
    if number > max(2, limits.documents):
        why = f"The request has {number:,} documents; {limits.documents:,} are allowed."
    elif any(too_long(document, limits.document) for document in documents):
        why = f"A document has more than {limits.document:,} bytes."
    if why:
        del asked, documents  # here, and not where the problem is answered: letting go of a million takes long too
        raise Problem("too-large", why)
    held = sum(sys.getsizeof(document.text) + sys.getsizeof(document.html) for document in documents)
    return asked, number, held


def _decoded(route: Route, body: bytes) -> Any:
    try:
        return DECODERS[route.path].decode(body)
    except msgspec.ValidationError as error:
        raise Problem("invalid", validation_detail(error, route.takes)) from None
    except (ValueError, RecursionError):
        raise Problem("not-json") from None
