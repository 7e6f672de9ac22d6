"""No request holds memory after its answer, however it was refused.

Three services refuse with every kind of problem that there is: one with tokens (REQUESTS), one whose index fails and
which has little time (AILING, WAITING, STOPPING), and one without an index, whose run is taken away (OF_RUN, GONE).
"""

import base64
import gc
import itertools
import json
import os
import signal
import sys
import time
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from neardup.service.problems import KINDS, let_go
from neardup.service.routes import ROUTES
from tests.service.serving import ADMIN, READ, WRITE, Service, answer_on, fresh, path_of

SIZE = 300_000
TIMES = 1000
ROOM = 64 << 20
"""What may stay of 300 MB that were sent, for the allocator's sake. With a cycle in every refusal 190 MB stayed."""

JSON, LINES, FORM = "application/json", "application/x-ndjson", "application/x-www-form-urlencoded"
BULK = "a rose " * (SIZE // 7)
MANY = json.dumps([{"text": "a rose"}] * 12_000)
RESULTS = json.dumps([{"id": str(n), "txt": "a rose is a rose " * 4} for n in range(35_000)])
OURS = {"Authorization": f"Bearer {WRITE}"}
LIMITED = "a-token-of-one-request-an-hour"
EXCUSED: frozenset[str] = frozenset()
"""Kinds of problems that no request here is refused with. Say why beside each."""
BASIC = {"Authorization": "Basic " + base64.b64encode(f"me:{READ}".encode()).decode()}

pytestmark = pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="the kernel does not tell the memory")


def _now(service: Service) -> int:
    """Bytes that it holds in memory at this moment."""
    status = Path(f"/proc/{service.process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) << 10


def _sent(method: str, path: str, body: str = "", kind: str = JSON, token: str = WRITE, **headers: str):
    given = {"Content-Type": kind, "Authorization": f"Bearer {token}", **headers}
    return method, path, body.encode(), {name: value for name, value in given.items() if value}


def _for_route(route):
    """Every way in which one address can be refused, with the kind that says so."""
    path = path_of(route, "x" * 2000)
    post = route.method == "POST"
    bulk = BULK if post else ""
    yield "no-token", _sent(route.method, path, bulk, token="a token of another service")
    yield "method", _sent("PATCH", path, BULK)
    yield "foreign-origin", _sent(route.method, path, bulk, Origin="https://evil.example")
    if route.level != "read":
        yield "forbidden", _sent(route.method, path, bulk, token=READ if route.level == "write" else WRITE)
    if route.takes is None:
        return
    token = ADMIN if route.level == "admin" else WRITE
    yield "media-type", _sent("POST", path, BULK, "text/plain", token)
    if route.stream:
        wrong = ["{" + BULK, json.dumps({"id": 1, "text": BULK})]
        wrong += [json.dumps({"id": "taken", "text": BULK})] * route.path.endswith("/add")
        yield "", _sent("POST", path, "\n".join(wrong), LINES)
        return
    yield "not-json", _sent("POST", path, BULK, token=token)
    wrong = json.dumps({"id": 1, "text": BULK, "results": 1, "documents": 1})
    yield "invalid", _sent("POST", path, wrong, token=token)
    yield "too-large", _sent("POST", path, json.dumps({"id": "a", "text": BULK * 14}), token=token)


def _others():
    yield "conflict", _sent("POST", "/v1/add", json.dumps({"id": "taken", "text": BULK}))
    yield "too-large", _sent("POST", "/v1/sketch", f'{{"documents": {MANY}}}')
    yield "too-large", _sent("POST", "/v1/group", f'{{"results": {RESULTS}}}')
    yield "too-large", _sent("POST", "/v1/check", json.dumps({"text": BULK * 3}))
    yield (
        "invalid",
        _sent("POST", "/v1/group", f'{{"text_field": "x", "results": [{RESULTS[1:-1].split("}, ")[0]}}}]}}'),
    )
    yield (
        "invalid",
        _sent("POST", "/v1/compare", json.dumps({"first": {"text": BULK}, "second": {"text": "a"}, "recipe": "x"})),
    )
    yield "no-document", _sent("DELETE", "/v1/documents/none")
    yield "no-job", _sent("GET", "/v1/jobs/" + "0" * 2000, token=ADMIN)
    yield "no-backup", _sent("POST", "/v1/backup", '{"name": "a"' + " " * SIZE + "}", token=ADMIN)
    yield "no-collection", _sent("POST", "/v1/collection/reload", BULK, token=ADMIN)
    yield "unknown-index", _sent("POST", "/v1/indexes/other/check", json.dumps({"text": BULK}))
    yield "quota", _sent("POST", "/v1/check", json.dumps({"text": BULK}), token=LIMITED)
    yield "not-http", _sent("GET", "/v1/index", Upgrade="x" * 30_000, Connection="Upgrade")
    yield "bad-path", _sent("GET", "/v1/documents/%FF")
    yield "not-found", _sent("POST", "/v1/nothing", BULK)
    yield "head", _sent("GET", "/healthz", **{"X-Long": "x" * 70_000})
    ours = {"Origin": "ORIGIN", **BASIC}
    yield "invalid", _sent("POST", "/compare", f"first={BULK}&second=", FORM, **ours)
    yield "too-large", _sent("POST", "/compare", f"first={BULK * 14}&second=", FORM, **ours)
    yield "media-type", _sent("POST", "/compare", BULK, **ours)
    yield "bad-path", _sent("POST", "/compare", "a=1&" * 70 + BULK, FORM, **ours)
    yield "foreign-origin", _sent("POST", "/compare", f"first={BULK}&second=a", FORM, **BASIC)
    yield "no-document", _sent("GET", "/document?id=" + "x" * 30_000, **BASIC)
    yield "not-found", _sent("GET", "/collection/group?kept=1", **BASIC)


def _ailing():
    """Refusals of a service without tokens whose index fails, which serves one stream and has a job that runs."""
    for kind, what in (("store", "check"), ("full", "add"), ("failed", "update"), ("missing-part", "check-and-add")):
        yield kind, _open(f"/v1/{what}", json.dumps({"id": "a", "text": BULK}))
    yield "busy", _open("/v1/stream/check", json.dumps({"text": BULK}), LINES)
    yield "job-running", _open("/v1/verify", BULK)
    yield "forwarded", _open("/v1/check", json.dumps({"text": BULK}), **{"X-Forwarded-For": "10.0.0.1"})
    yield "wrong-host", _open("/v1/check", json.dumps({"text": BULK}), Host="evil.example")


def _open(path: str, body: str = "", kind: str = JSON, **headers: str):
    return _sent("POST", path, body, kind, Authorization="", **headers)


REQUESTS = [*(each for route in ROUTES if route.level != "open" for each in _for_route(route)), *_others()]
AILING = list(_ailing())
LONG = json.dumps({"text": BULK * 4})
WAITING = [
    ("compiling", _open("/v1/sketch", f'{{"documents": [{LONG}]}}')),
    ("timeout", _open("/v1/check", LONG)),
    ("slow", _open("/v1/similar", LONG)),
]
"""Those that take all the time that a request has: fewer and larger. Of the second the last byte does not come."""
STOPPING = [("stopping", _open("/v1/check", json.dumps({"text": BULK})))]
OF_RUN = [
    ("no-index", _open("/v1/check", json.dumps({"text": BULK}))),
    ("no-group", _sent("GET", "/collection/group?kept=123456&x=" + "x" * 30_000, Authorization="")),
]
GONE = [("run", _sent("GET", "/collection?x=" + "x" * 30_000, Authorization=""))]


def _refused(service: Service, client: httpx.Client, kind: str, asked) -> None:
    method, path, body, headers = asked
    headers = {name: service.address if value == "ORIGIN" else value for name, value in headers.items()}
    if kind == "timeout":
        assert _cut_short(service, path, body) == KINDS[kind].status
        return
    answer = client.request(method, path, content=body, headers=headers)
    if not kind:
        assert answer.text.count('"error"') >= 2, answer.text[:300]
        return
    assert answer.status_code == KINDS[kind].status, (kind, path, answer.text[:300])
    if answer.headers["content-type"] == "application/problem+json":
        assert answer.json()["type"] == f"/docs#{kind}", (kind, path, answer.text[:300])


def _cut_short(service: Service, path: str, body: bytes) -> int:
    """Send a request but for its last byte, and return the status of the answer."""
    with service.begin(path, len(body)) as sock:
        sock.sendall(body[:-1])
        return answer_on(sock)[0]


def _slow(service: Service, client: httpx.Client) -> None:
    """One that takes longer than a request may, and one whose body does not come."""
    words = " ".join(f"{n:x}" for n in range(130_000))
    body = json.dumps({"first": {"text": words}, "second": {"text": words[::-1]}, "systems": True})
    method, path, sent, headers = _sent("POST", "/v1/compare", body)
    answer = client.request(method, path, content=sent, headers=headers)
    assert answer.status_code in (200, 503)
    with service.connect() as sock:
        head = f"POST /v1/check HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {WRITE}\r\n"
        sock.sendall(f"{head}Content-Type: {JSON}\r\nContent-Length: {SIZE}\r\n\r\n".encode() + b" " * (SIZE - 1))


_SERVED = """
import gc, os, sys, time
from neardup.errors import MissingExtra, OutputError, StoreError
from neardup.index import Index
from neardup.searching import Collection
from neardup.service import Limits, Log, Settings, address_of, listen, serve
from neardup.service.preparing import MEASURING, Preparing
from neardup.service.tokens import Quota, Token

class Ailing(Index):
    def check_many(self, documents):
        raise StoreError("it is away")

    def add_many(self, documents):
        raise OutputError("its disk is full")

    def update_many(self, documents):
        raise RuntimeError("our own mistake")

    def check_and_add_many(self, documents):
        raise MissingExtra("This", "that")

    def similar(self, *args, **options):
        time.sleep(SECONDS + 1)

    def verify(self):
        time.sleep(3600)

def served(given, settings, collection=None, preparing=None):
    def ready():
        gc.disable()
        print(address_of(listening), flush=True)

    with listen("127.0.0.1", 0, settings) as listening:
        serve(given, listening, settings, Log("none"), collection=collection, ready=ready, preparing=preparing)
    os._exit(0)
"""
SECONDS = 4
_GUARDED = f"""{_SERVED}
tokens = [Token.of(right, os.environ[right.upper()], right) for right in ("read", "write", "admin")]
limited = Token.of("limited", "{LIMITED}", "read")
tokens.append(Token("limited", limited.digest, quota=Quota(requests_per_second=1 / 3600, burst=1)))
served(Index.open(sys.argv[1]), Settings(Limits(body=4_000_000, document=800_000, seconds=20), tuple(tokens)))
"""
_AILING = f"""{_SERVED}
SECONDS = {SECONDS}
limits = Limits(seconds=SECONDS, held=1 << 30, streams=1, idle=3600)
served(Ailing.open(sys.argv[1]), Settings(limits), preparing=Preparing({{MEASURING: lambda: None}}))  # never begun
"""
_RUN = f"""{_SERVED}
served(None, Settings(), Collection.open(sys.argv[1]))
"""


class Uncollected(Service):
    """A service without Python's collector: what is in a cycle stays, so a cycle cannot hide."""

    def __init__(self, script: str, path: Path) -> None:
        self._begin([sys.executable, "-c", script, str(path)], {"READ": READ, "WRITE": WRITE, "ADMIN": ADMIN})


Ask = Callable[..., None]


@contextmanager
def _asking(script: str, path: Path, threads: int) -> Iterator[tuple[Uncollected, httpx.Client, Ask]]:
    """Begin a service, and return it with a function that sends a number of requests, of some in turns."""
    service = Uncollected(script, path)
    limits = httpx.Limits(max_connections=threads)
    try:
        with (
            httpx.Client(base_url=service.address, timeout=60, limits=limits) as client,
            ThreadPoolExecutor(threads) as pool,
        ):

            def ask(requests: list, number: int) -> None:
                turns = itertools.islice(itertools.cycle(requests), number)
                list(pool.map(lambda each: _refused(service, client, *each), turns))

            yield service, client, ask
    finally:
        service.stop(signal.SIGKILL)


def _check_nothing_stays(service: Service, work: Callable[[], None]) -> None:
    before = _now(service)
    work()
    end = time.monotonic() + 5
    while _now(service) > before + ROOM and time.monotonic() < end:
        time.sleep(0.1)
    after = _now(service)
    assert after <= before + ROOM, (before, after)


def test_every_kind_of_problem_is_tried_or_excused():
    tried = {kind for kind, _ in (*REQUESTS, *AILING, *WAITING, *STOPPING, *OF_RUN, *GONE)} - {""}
    assert tried | EXCUSED == set(KINDS)
    assert not tried & EXCUSED


def test_a_thousand_refused_requests_of_every_kind_leave_nothing(tmp_path):
    with _asking(_GUARDED, tmp_path / "seen.ndx", 4) as (service, client, ask), ThreadPoolExecutor(4) as pool:
        assert client.post("/v1/add", json={"id": "taken", "text": fresh()}, headers=OURS).json()["added"]
        limited = {"Authorization": f"Bearer {LIMITED}"}
        assert client.post("/v1/check", json={"text": fresh()}, headers=limited).status_code == 200

        def work(number: int) -> None:
            ask(REQUESTS, number)
            list(pool.map(lambda _: _slow(service, client), range(4)))

        work(len(REQUESTS))
        _check_nothing_stays(service, lambda: work(TIMES))


def test_nor_do_those_of_a_service_that_fails_has_no_time_or_stops(tmp_path):
    with _asking(_AILING, tmp_path / "seen.ndx", 50) as (service, client, ask):
        assert client.post("/v1/verify").status_code == 202
        with service.begin("/v1/stream/check", 100, LINES) as stream:
            stream.sendall(b"\n")

            def work(number: int, waiting: int) -> None:
                ask(AILING, number)
                for each in WAITING:  # one kind after the other: those that are slow hold the threads of others
                    ask([each], waiting)

            work(2 * len(AILING), 10)
            _check_nothing_stays(service, lambda: work(TIMES, 50))
            with service.begin(
                "/v1/check", 100
            ):  # in flight: the service does not end for as long as a request may take
                time.sleep(0.1)
                service.process.send_signal(signal.SIGTERM)
                time.sleep(0.2)
                _check_nothing_stays(service, lambda: ask(STOPPING, 200))


def test_nor_do_those_of_a_service_without_an_index_whose_run_goes_away(tmp_path, command_line):
    pages, out = tmp_path / "pages.jsonl", tmp_path / "out"
    text = fresh()
    pages.write_text("".join(json.dumps({"id": str(n), "text": text}) + "\n" for n in range(3)))
    done = command_line("dedup", pages, "-o", out)
    assert done.returncode == 0, done.stderr
    with _asking(_RUN, out, 4) as (service, _, ask):

        def work(number: int) -> None:
            ask(OF_RUN, number)
            out.rename(tmp_path / "away")
            ask(GONE, number)
            (tmp_path / "away").rename(out)

        work(4)
        _check_nothing_stays(service, lambda: work(TIMES // 2))


class Body:
    """Stands for what a request sent."""


def _through_frames(body: Body, depth: int) -> None:
    kept = [body]
    if depth:
        try:
            _through_frames(body, depth - 1)
        except ValueError as error:
            kept.append(error)
            raise KeyError from error
    raise ValueError


def test_an_error_that_is_let_go_of_holds_no_body():
    gc.disable()
    try:
        body = Body()
        there = weakref.ref(body)
        try:
            _through_frames(body, 3)
        except KeyError as error:
            let_go(error)
        del body
        assert there() is None
    finally:
        gc.enable()
