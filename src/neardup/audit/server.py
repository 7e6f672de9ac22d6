"""The labelling page, served to this machine alone.

app      a session → a Starlette application, which another one may mount
serve    run it on a loopback address until somebody stops it

    GET  /               the page; it holds nothing of the run
    GET  /api/state      what was said so far, and what it amounts to
    GET  /api/pairs/N    a pair, with its differences
    GET  /api/texts/N    its texts, as far as they were kept
    POST /api/labels     {"pair": N, "verdict": …, "reason": …, "note": …, "labeller": …}; answered when it is on disk

Whoever asks must know the token, which stands in the fragment of the printed address (it is never sent to a server nor
to another site) and comes as a header. A request under another name than this machine's is refused, so that a foreign
site cannot rebind its name to it; a label from a page of another origin is refused too. Documents are untrusted: they
travel as JSON and are shown by textContent, under the policy of neardup.pages.
"""

import json
import socket
from collections.abc import Callable, Collection
from contextlib import suppress
from ipaddress import ip_address
from secrets import compare_digest, token_urlsafe
from typing import TYPE_CHECKING, Any

from neardup.audit import answering
from neardup.audit.answering import LARGEST, Refused, number, page
from neardup.audit.session import LabellingSession
from neardup.errors import MissingExtra, NeardupError, UsageError

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")

_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def app(session: LabellingSession, *, token: str | None = None, hosts: Collection[str] = LOOPBACK) -> "Starlette":
    """The application. `token`: what requests must carry, a random one by default (app.state.token).

    hosts: names under which it may be asked, without a port.
    """
    try:
        from starlette.applications import Starlette
        from starlette.concurrency import run_in_threadpool
        from starlette.responses import HTMLResponse
        from starlette.routing import Route
    except ImportError as error:
        raise MissingExtra("the labelling page", "serve") from error
    secret = token or token_urlsafe(32)

    def guarded(answer: Callable[["Request"], Any], *, public: bool = False) -> Any:
        async def checked(request: "Request") -> "Response":
            refused = _refused(request, hosts) or (None if public else _unknown(request, secret))
            if refused:
                return refused
            try:
                return _json(await answer(request)) if not public else HTMLResponse(page(), headers=_HEADERS)
            except Refused as error:
                return _json({"error": str(error)}, error.status)
            except NeardupError as error:
                return _json({"error": str(error)}, 400 if isinstance(error, UsageError) else 500)

        return checked

    async def state(_: "Request") -> Any:
        return await run_in_threadpool(session.state)

    async def pair(request: "Request") -> Any:
        return await run_in_threadpool(answering.pair, session, number(request.path_params["number"], session))

    async def texts(request: "Request") -> Any:
        return answering.texts(session, number(request.path_params["number"], session))

    async def label(request: "Request") -> Any:
        return await run_in_threadpool(answering.said, session, await _body(request))

    async def nothing(_: "Request") -> Any:
        return None

    made = Starlette(
        routes=[
            Route("/", guarded(nothing, public=True)),
            Route("/api/state", guarded(state)),
            Route("/api/pairs/{number}", guarded(pair)),
            Route("/api/texts/{number}", guarded(texts)),
            Route("/api/labels", guarded(label), methods=["POST"]),
        ]
    )
    made.state.token = secret
    return made


def serve(
    session: LabellingSession,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    ready: Callable[[str], None] = lambda url: None,
) -> None:
    """Serve the page until Ctrl-C; `ready` gets its address, token included, when it can be opened."""
    try:
        import uvicorn
    except ImportError as error:
        raise MissingExtra("the labelling page", "serve") from error
    listening = listen(host, port)
    with listening:
        application = app(session)
        settings = uvicorn.Config(
            application,
            log_level="warning",
            access_log=False,
            server_header=False,
            lifespan="off",
            timeout_graceful_shutdown=2,
        )
        ready(address(listening, application.state.token))
        with suppress(KeyboardInterrupt):
            uvicorn.Server(settings).run(sockets=[listening])


def listen(host: str, port: int) -> socket.socket:
    """A socket on a loopback address; others are refused."""
    try:
        found = ip_address("127.0.0.1" if host == "localhost" else host)
    except ValueError as error:
        raise UsageError(f"host = {host!r}: give a loopback address such as 127.0.0.1.") from error
    if not found.is_loopback:
        raise UsageError(
            f"host = {host}: documents are shown to this machine alone. Give 127.0.0.1, and reach it from elsewhere "
            "through a tunnel of your own (ssh -L)."
        )
    made = socket.socket(socket.AF_INET6 if found.version == 6 else socket.AF_INET, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((str(found), port))
        made.listen(64)  # from now on a browser that comes early waits
    except OSError as error:
        made.close()
        raise UsageError(
            f"port {port} cannot be used ({error.strerror}). Leave --port away to get a free one."
        ) from error
    return made


def address(listening: socket.socket, token: str) -> str:
    """What to open in a browser."""
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/#{token}"


def _json(value: Any, status: int = 200) -> "Response":
    from starlette.responses import Response

    return Response(json.dumps(value, allow_nan=False), status, _HEADERS, "application/json")


def _refused(request: "Request", hosts: Collection[str]) -> "Response | None":
    """Asked under a name that is not ours, or told something by a page of another origin."""
    host = request.headers.get("host", "")
    name = host[: host.index("]") + 1] if host.startswith("[") and "]" in host else host.partition(":")[0]
    if name.lower() not in hosts:
        return _json({"error": "this server answers to this machine's own name alone"}, 421)
    if request.method == "POST":
        origin = request.headers.get("origin")
        if origin is not None and origin not in (f"http://{host}", f"https://{host}"):
            return _json({"error": "labels come from the page itself"}, 403)
    return None


def _unknown(request: "Request", secret: str) -> "Response | None":
    given = request.headers.get("authorization", "").encode()
    if compare_digest(given, f"Bearer {secret}".encode()):
        return None
    return _json({"error": "open the address that was printed, with all that stands behind the #"}, 401)


async def _body(request: "Request") -> bytes:
    """JSON, or not much more than is allowed of it."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise Refused("send JSON.", 415)
    data = b""
    async for chunk in request.stream():
        data += chunk
        if len(data) > LARGEST:
            break
    return data
