"""No request holds memory after its answer, however it was refused."""

import base64
import gc
import itertools
import json
import os
import sys
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from neardup.service.problems import KINDS, let_go
from neardup.service.routes import ROUTES
from tests.service.serving import ADMIN, READ, WRITE, Service, fresh, path_of

SIZE = 300_000
TIMES = 1000
ROOM = 64 << 20
"""What may stay of 300 MB that were sent, for the allocator's sake. With a cycle in every refusal 190 MB stayed."""

JSON, LINES, FORM = "application/json", "application/x-ndjson", "application/x-www-form-urlencoded"
BULK = "a rose " * (SIZE // 7)
MANY = json.dumps([{"text": "a rose"}] * 12_000)
RESULTS = json.dumps([{"id": str(n), "txt": "a rose is a rose " * 4} for n in range(35_000)])
OURS = {"Authorization": f"Bearer {WRITE}"}
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


REQUESTS = [*(each for route in ROUTES if route.level != "open" for each in _for_route(route)), *_others()]


def _refused(service: Service, client: httpx.Client, kind: str, asked) -> str:
    method, path, body, headers = asked
    headers = {name: service.address if value == "ORIGIN" else value for name, value in headers.items()}
    answer = client.request(method, path, content=body, headers=headers)
    if not kind:
        assert answer.text.count('"error"') >= 2, answer.text[:300]
        return ""
    assert answer.status_code == KINDS[kind].status, (kind, path, answer.text[:300])
    return kind


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


_SCRIPT = """
import gc, os, sys
from neardup.index import Index
from neardup.service import Limits, Log, Settings, address_of, listen, serve
from neardup.service.tokens import Token
limits = Limits(body=4_000_000, document=800_000, seconds=20)
tokens = tuple(Token.of(right, os.environ[right.upper()], right) for right in ("read", "write", "admin"))
settings = Settings(limits, tokens)

def ready():
    gc.disable()
    print(address_of(listening), flush=True)

with Index.open(sys.argv[1]) as index, listen("127.0.0.1", 0, settings) as listening:
    serve(index, listening, settings, Log("none"), ready=ready)
"""


class Uncollected(Service):
    """A service without Python's collector: what is in a cycle stays, so a cycle cannot hide."""

    def __init__(self, index: Path) -> None:
        self._begin([sys.executable, "-c", _SCRIPT, str(index)], {"READ": READ, "WRITE": WRITE, "ADMIN": ADMIN})


def test_a_thousand_refused_requests_of_every_kind_leave_nothing(tmp_path):
    service = Uncollected(tmp_path / "seen.ndx")
    with httpx.Client(base_url=service.address, timeout=60) as client, ThreadPoolExecutor(4) as pool:
        assert client.post("/v1/add", json={"id": "taken", "text": fresh()}, headers=OURS).json()["added"]

        def ask(number: int) -> None:
            turns = itertools.islice(itertools.cycle(REQUESTS), number)
            list(pool.map(lambda each: _refused(service, client, *each), turns))
            list(pool.map(lambda _: _slow(service, client), range(4)))

        ask(len(REQUESTS))
        before = _now(service)
        ask(TIMES)
        end = time.monotonic() + 5
        while _now(service) > before + ROOM and time.monotonic() < end:
            time.sleep(0.1)
        after = _now(service)
        service.stop()
        assert after <= before + ROOM, (before, after)


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
