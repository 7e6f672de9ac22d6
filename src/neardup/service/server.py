"""The service on a socket: connections with limits of their own, and an orderly end.

require    the libraries that it needs
listen     a socket on an address that may be listened on
Protocol   uvicorn's, with limits on the head of a request, which an application never sees
serve      run an application until SIGTERM or SIGINT, with secrets read again on SIGHUP; then end it in order:
           1. no more requests are taken (/readyz says 503, others 503 with Retry-After), streams end after the lines in
              hand, and requests that are being answered are answered, for `grace` seconds at the most;
           2. connections are closed, then the threads, then (by the caller) the index. Threads that do not end are
              not waited for: the caller is told, and ends the process.
"""

import asyncio
import gc
import logging
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from neardup.errors import MissingExtra, NeardupError, UsageError
from neardup.index import Index
from neardup.service.access import is_loopback
from neardup.service.connections import RESERVE
from neardup.service.logs import Log
from neardup.service.settings import Settings
from neardup.service.tls import secured
from neardup.service.tokens import Token

if TYPE_CHECKING:
    import uvicorn

    from neardup.searching import Collection
    from neardup.service.app import App
    from neardup.service.preparing import Preparing

BACKLOG = 512

ACCEPTED = 32
"""Connections that are accepted in a pass of the event loop: uvloop accepts one per listening socket and pass. While a
thousand clients made every pass 13 ms long, a health check waited 14 s to be accepted; so the socket is there 32 times.
"""

FILES = 1024
"""That may be open beside connections: of the index, of extractors, of libraries."""


def require() -> None:
    """Say at once, and not after making an index, that a library is missing."""
    try:
        for library in ("httptools", "jinja2", "prometheus_client", "uvicorn"):
            import_module(library)
    except ImportError as error:
        raise MissingExtra("the service", "serve") from error


def listen(host: str, port: int, settings: Settings) -> socket.socket:
    """Bound and listening. An address that others can reach is refused without a token."""
    if not is_loopback(host) and not settings.guarded:
        raise UsageError(
            f"host = {host}: others could reach what is served there, and no token is set. Give one with "
            "--write-token-file or NEARDUP_WRITE_TOKEN (--read-token-file, NEARDUP_READ_TOKEN for readers), or several "
            "with --tokens, or stay on 127.0.0.1."
        )
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError as error:
        raise UsageError(f"host = {host!r}: there is no such address on this machine ({error}).") from error
    made = socket.socket(family, kind, protocol)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind(address)
        made.listen(BACKLOG)
    except OSError as error:
        made.close()
        raise UsageError(
            f"{host}, port {port} cannot be listened on ({error.strerror}). Give another --port; 0 takes a free one."
        ) from error
    return made


def address_of(listening: socket.socket, settings: Settings | None = None) -> str:
    """Return the address to ask."""
    host, port = listening.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # nosec B104  # compared with, not bound to
    scheme = "https" if settings is not None and settings.tls is not None else "http"
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"


def serve(
    indexes: Index | Mapping[str, Index] | None,
    listening: socket.socket,
    settings: Settings,
    log: Log,
    *,
    collection: "Collection | None" = None,
    reopen: "Callable[[], Collection] | None" = None,
    grace: float = 30.0,
    ready: Callable[[], None] = lambda: None,
    preparing: "Preparing | None" = None,
    reread: Callable[[], Sequence[Token]] | None = None,
) -> bool:
    """Answer requests until SIGTERM or SIGINT. `indexes`: one, or several by name; the caller closes them. `ready` is
    called when it can be asked. `preparing`: what requests wait for. `reread` gives the tokens again, on SIGHUP, and
    `reopen` the collection. False: threads still work, for nobody; Python would wait for them at its end."""
    require()
    logging.getLogger("uvicorn.error").addHandler(logging.NullHandler())
    logging.getLogger("uvicorn.error").propagate = False
    # Threads that compute hold Python's lock for so long at the most while a request waits to be read.
    sys.setswitchinterval(0.001)
    _allow_files(settings.limits.connections + RESERVE + FILES)
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        return runner.run(
            _serve(indexes, collection, listening, settings, log, grace, ready, preparing, reread, reopen)
        )


def _allow_files(number: int) -> None:
    """Raise the number of files that this process may open, as far as it may: every connection is one."""
    try:
        import resource
    except ImportError:  # there is none for Windows
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = number if hard == resource.RLIM_INFINITY else min(number, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:  # there is none for Windows
        return None
    made: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return made


async def _serve(
    indexes: Index | Mapping[str, Index] | None,
    collection: "Collection | None",
    listening: socket.socket,
    settings: Settings,
    log: Log,
    grace: float,
    ready: Callable[[], None],
    preparing: "Preparing | None",
    reread: Callable[[], Sequence[Token]] | None,
    reopen: "Callable[[], Collection] | None",
) -> bool:
    import uvicorn

    from neardup.service.app import App
    from neardup.service.protocol import protocol

    app = App(indexes, settings, log, collection=collection, reopen=reopen, preparing=preparing)
    http: Any = protocol(settings.limits, app.turned_away, settings.proxies)
    if settings.tls is not None:
        http = secured(http, settings.tls)
    config = uvicorn.Config(
        app,
        http=http,
        ws="none",
        proxy_headers=False,
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        lifespan="off",
        timeout_keep_alive=75,
        timeout_graceful_shutdown=1,
    )
    server = _server(config)
    loop = asyncio.get_running_loop()
    wanted = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, wanted.set)
    reloading = _Reloading(app, settings, reread, collection=reopen is not None)
    if reloading.of_anything:
        loop.add_signal_handler(signal.SIGHUP, reloading.wanted.set)
    copies = [listening.dup() for _ in range(ACCEPTED - 1)]
    running = loop.create_task(server.serve(sockets=[listening, *copies]))
    while not server.started and not running.done():
        await asyncio.sleep(0.005)
    if running.done():
        await running
        raise UsageError("the server ended before it could be asked; its socket may be closed.")
    watching = [loop.create_task(app.watch()), loop.create_task(reloading.watch())]
    # What is there now stays: the collector need not look at it again and again while requests wait.
    gc.collect()
    gc.freeze()
    ready()
    await wanted.wait()
    await _drained(app, grace)
    server.should_exit = True
    await running
    for task in watching:
        task.cancel()
    return app.close()


class _Reloading:
    """Reads secrets again on SIGHUP, and opens the collection anew. What cannot be read stays as it was, and the log
    says why."""

    def __init__(
        self, app: "App", settings: Settings, reread: Callable[[], Sequence[Token]] | None, *, collection: bool
    ) -> None:
        """collection: it is opened anew, too."""
        self._app, self._collection, self.wanted = app, collection, asyncio.Event()
        self._steps: dict[str, Callable[[], Awaitable[None]]] = {}
        if reread is not None and settings.guarded:
            self._steps["tokens"] = lambda: self._read_tokens(reread)
        if settings.tls is not None:
            self._steps["certificate"] = partial(asyncio.to_thread, settings.tls.reread)

    @property
    def of_anything(self) -> bool:
        """Whether there is anything to read again; without, SIGHUP ends a process as it always does."""
        return bool(self._steps) or self._collection

    async def watch(self) -> None:
        """Reload whenever it is wanted, for as long as this runs."""
        while True:
            await self.wanted.wait()
            self.wanted.clear()
            for what, step in self._steps.items():
                try:
                    await step()
                    self._app.log.event(reloaded=what)
                    self._app.metrics.reloads.labels(what, "done").inc()
                except NeardupError as error:
                    self._app.log.event(reloaded=what, failed=str(error), kept="those before")
                    self._app.metrics.reloads.labels(what, "failed").inc()
                except Exception as error:  # a mistake of ours must not end the next reload
                    self._app.log.failure("reload", error)
                    self._app.metrics.reloads.labels(what, "failed").inc()
            if self._collection:
                self._app.reload_collection()

    async def _read_tokens(self, reread: Callable[[], Sequence[Token]]) -> None:
        tokens = await asyncio.to_thread(reread)
        if not tokens:
            raise UsageError("there are no tokens any more.")
        self._app.use(tokens)


async def _drained(app: "App", grace: float) -> None:
    """Take no more, and wait for what is in flight."""
    app.stop()
    loop = asyncio.get_running_loop()
    end = loop.time() + grace
    while app.in_flight and loop.time() < end:
        await asyncio.sleep(0.02)


def _server(config: "uvicorn.Config") -> "uvicorn.Server":
    import uvicorn

    class Server(uvicorn.Server):
        """uvicorn's raises the signal once more when it has ended; a service that was told to end has ended well."""

        @contextmanager
        def capture_signals(self) -> Iterator[Any]:
            """Signals are ours."""
            yield

    return Server(config)
