"""What a proxy in front could understand differently is refused, and every answer is counted and logged."""

import json
import re
from contextlib import suppress

import pytest

from neardup.service.heads import wrong_head
from tests.service.serving import Service, answer_on

HOST = b"Host: localhost\r\n"
BODY = b'{"text": "a"}'
CHUNKED = b"Transfer-Encoding: chunked\r\n"
IN_CHUNKS = b"d\r\n" + BODY + b"\r\n0\r\n\r\n"


def get(target: bytes = b"/healthz", more: bytes = b"", version: bytes = b"HTTP/1.1", host: bytes = HOST) -> bytes:
    return b"GET " + target + b" " + version + b"\r\n" + host + more + b"\r\n"


def post(
    more: bytes = b"Content-Length: 13\r\n", body: bytes = BODY, first: bytes = b"POST /v1/check HTTP/1.1"
) -> bytes:
    return first + b"\r\n" + HOST + b"Content-Type: application/json\r\n" + more + b"\r\n" + body


REFUSED = {
    # who asks
    "two tokens": get(more=b"Authorization: Bearer a\r\nAuthorization: Bearer b\r\n"),
    "two tokens, cases": get(more=b"authorization: Bearer a\r\nAUTHORIZATION: Bearer b\r\n"),
    "two hosts": get(more=HOST),
    "two origins": get(more=b"Origin: http://localhost\r\nOrigin: http://evil.example\r\n"),
    "two types": post(b"Content-Length: 13\r\nContent-Type: text/plain\r\n"),
    "no host": get(host=b""),
    # which version
    "HTTP/2.0": get(version=b"HTTP/2.0"),
    "HTTP/0.9": get(version=b"HTTP/0.9"),
    "HTTP/1.2": get(version=b"HTTP/1.2"),
    "HTTP/3.0": get(version=b"HTTP/3.0"),
    "HTTP/1.10": get(version=b"HTTP/1.10"),
    "no version": b"GET /healthz\r\n\r\n",
    "preface of HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "lower-case method": b"get" + get()[3:],
    "unknown method": b"FOO" + get()[3:],
    # for which address
    "encoded slash": post(first=b"POST /v1%2fcheck HTTP/1.1"),
    "encoded letter": post(first=b"POST /v1/chec%6B HTTP/1.1"),
    "broken code": get(b"/health%zz"),
    "absolute": get(b"http://localhost/healthz"),
    "absolute, another host": get(b"http://evil.example/healthz"),
    "star": get(b"*"),
    "options star": b"OPTIONS" + get(b"*")[3:],
    "authority": get(b"localhost:80"),
    "connect": b"CONNECT" + get(b"localhost:80")[3:],
    "another host by slashes": get(b"//evil.example/healthz"),
    "empty part": get(b"/v1//index"),
    "up": get(b"/x/../healthz"),
    "here": get(b"/./healthz"),
    "up, encoded": get(b"/x/%2e%2E/healthz"),
    "up from an id": get(b"/v1/documents/../index"),
    "fragment": get(b"/healthz#x"),
    "NUL in the target": get(b"/heal\0thz"),
    "LF in the target": get(b"/heal\nthz"),
    "space in the target": get(b"/healthz x"),
    "not ASCII": get("/ä".encode()),
    # where headers end
    "folded": get(more=b"X-A: b\r\n c\r\n"),
    "bare LF": get().replace(b"\r\n", b"\n"),
    "one bare LF": get(more=b"X-A: b\nX-B: c\r\n"),
    "bare CR": get(more=b"X-A: b\rX-B: c\r\n"),
    "NUL in a value": get(more=b"X-A: b\0c\r\n"),
    "control in a value": get(more=b"X-A: b\x01c\r\n"),
    "NUL in a name": get(more=b"X\0A: b\r\n"),
    "space before the colon": get(more=b"X-A : b\r\n"),
    "space before the name": get(more=b" X-A: b\r\n"),
    "name not ASCII": get(more="X-ä: b\r\n".encode()),
    "no name": get(more=b": b\r\n"),
    "no colon": get(more=b"Xab\r\n"),
    # where the body ends
    "length with a sign": post(b"Content-Length: +13\r\n"),
    "length in hex": post(b"Content-Length: 0xd\r\n"),
    "lengths in a list": post(b"Content-Length: 13, 13\r\n"),
    "two lengths": post(b"Content-Length: 13\r\nContent-Length: 13\r\n"),
    "two other lengths": post(b"Content-Length: 13\r\nContent-Length: 3\r\n"),
    "length beyond 64 bits": post(b"Content-Length: 99999999999999999999\r\n"),
    "empty length": post(b"Content-Length: \r\n"),
    "length and encoding": post(b"Content-Length: 13\r\n" + CHUNKED, IN_CHUNKS),
    "encoding and HTTP/1.0": post(CHUNKED, IN_CHUNKS, b"POST /v1/check HTTP/1.0"),
    "another encoding": post(b"Transfer-Encoding: xchunked\r\n", IN_CHUNKS),
    "identity": post(b"Transfer-Encoding: identity\r\n", IN_CHUNKS),
    "two encodings": post(CHUNKED * 2, IN_CHUNKS),
    "encoding behind a control": post(b"Transfer-Encoding: \x0bchunked\r\n", IN_CHUNKS),
    "chunk beyond 64 bits": post(CHUNKED, b"fffffffffffffffff\r\n" + BODY),
    "chunk with a sign": post(CHUNKED, b"-1\r\n" + BODY),
    "chunk as in C": post(CHUNKED, b"0xd\r\n" + BODY + b"\r\n0\r\n\r\n"),
    "chunk by bare LF": post(CHUNKED, b"d\n" + BODY + b"\n0\n\n"),
    "LF in an extension": post(CHUNKED, b"d;a\nb\r\n" + BODY + b"\r\n0\r\n\r\n"),
    "chunk without its end": post(CHUNKED, b"d\r\n" + BODY + b"0\r\n\r\n"),
}

TAKEN = {
    "blank behind the length": get(more=b"Content-Length: 0 \r\n"),
    "tabs around the length": post(b"Content-Length:\t13\t\r\n"),
    "an extension": post(CHUNKED, b"d;a=b\r\n" + BODY + b"\r\n0\r\n\r\n"),
    "encoding in capitals": post(b"Transfer-Encoding: CHUNKED\r\n", IN_CHUNKS),
    "HTTP/1.0": get(version=b"HTTP/1.0"),
    "query": get(b"/healthz?a=%2F//../b"),
    "cookies": get(more=b"Cookie: a\r\nCookie: b\r\n"),
}


@pytest.fixture(scope="module")
def logged(tmp_path_factory):
    """A service whose log is read at the end: as many lines with a status as there were answers."""
    made = Service(tmp_path_factory.mktemp("heads") / "seen.ndx")
    ids: list[str] = []
    yield made, ids
    counted = sum(map(float, re.findall(r"^neardup_requests_total\{.*\} (\S+)$", _metrics(made, ids), re.M)))
    lines = [json.loads(line) for line in made.stop().splitlines() if line.startswith("{")]
    said = [line["id"] for line in lines if "status" in line]
    assert set(ids) <= set(said)
    assert counted == len(said) - 1  # the scrape itself is counted when it is over


def _metrics(service: Service, ids: list[str]) -> str:
    with service.connect() as sock:
        sock.sendall(get(b"/metrics"))
        _, headers, body = answer_on(sock)
    ids.append(headers["x-request-id"])
    return body.decode()


def _asked(service: Service, data: bytes) -> tuple[int, dict[str, str], bytes, bytes]:
    with service.connect() as sock:
        sock.sendall(data)
        status, headers, body = answer_on(sock)
        more = b""
        if headers.get("connection") == "close":
            with suppress(ConnectionError):
                while piece := sock.recv(65536):
                    more += piece
    return status, headers, body, more


@pytest.mark.parametrize("name", REFUSED)
def test_heads_and_bodies_that_can_be_understood_differently(logged, name):
    service, ids = logged
    status, headers, body, more = _asked(service, REFUSED[name])
    assert (status, headers["connection"], more) == (400, "close", b"")
    problem = json.loads(body)
    assert problem["detail"].endswith(".")
    assert problem["instance"] == headers["x-request-id"]
    ids.append(headers["x-request-id"])


@pytest.mark.parametrize("name", TAKEN)
def test_what_is_plain_is_taken(logged, name):
    service, ids = logged
    status, headers, body, _ = _asked(service, TAKEN[name])
    assert status == 200, body
    ids.append(headers["x-request-id"])


@pytest.mark.parametrize(
    "target", [b"/v1/documents/a%2Fb", b"/v1/documents/https://a.example/%E4", b"/v1/documents/a..b"]
)
def test_ids_may_hold_what_addresses_may_not(target):
    assert wrong_head("1.1", target, [(b"host", b"localhost")]) is None
