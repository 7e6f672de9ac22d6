"""What one client sends does not hold up the others, and is not taken for something else."""

import json
import os
import socket
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from tests.service.serving import Service, answer_on, fresh, name, problem

PAGE = "<div>" * 16_000 + "some words"
"""A tree of it takes the parser twelve seconds; it is read without one."""


def _children(pid: int) -> list[int]:
    return [
        int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()
    ]


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not os.path.exists("/proc/self/task"), reason="the kernel does not tell children")
def test_pages_nested_without_end(tmp_path):
    """They are answered at once, whatever the machine does; and the processes that read them end with the service."""
    service = Service(tmp_path / "seen.ndx", "--grace", "5")
    service.post("check", {"html": "<p>a first page, with which a process starts"})
    begun = time.monotonic()
    assert service.post("check", {"html": PAGE}).json()["status"] == "new"
    assert time.monotonic() - begun < 3.0
    for n in range(20):
        assert service.post("check", {"html": PAGE + str(n)}).json()["status"] == "new"
    assert time.monotonic() - begun < 15.0
    children = _children(service.process.pid)
    assert children
    service.stop()
    assert service.process.returncode == 0
    end = time.monotonic() + 5
    while any(map(_alive, children)):
        assert time.monotonic() < end


_SLOW = """
import sys, time
from neardup.index import Index
from neardup.service import Limits, Log, Settings, address_of, listen, serve

class Slow(Index):
    def contains_many(self, ids):
        time.sleep(1.0)
        return super().contains_many(ids)

settings = Settings(Limits(seconds=0.3))
with Slow.open(sys.argv[1]) as index, listen("127.0.0.1", 0, settings) as listening:
    serve(index, listening, settings, Log("none"), ready=lambda: print(address_of(listening), flush=True))
"""


class Slow(Service):
    def __init__(self, index) -> None:
        self._begin([sys.executable, "-c", _SLOW, str(index)])


def test_a_store_that_hangs_is_told(tmp_path):
    service = Slow(tmp_path / "seen.ndx")
    problem(service.http.get("/readyz"), 503, "slow")
    service.stop()


def _said(sock: socket.socket) -> bytes:
    """All until the other side closes."""
    data = b""
    with suppress(ConnectionResetError):
        while piece := sock.recv(65536):
            data += piece
    return data


def _chunked(path: str, kind: str = "application/json") -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\nTransfer-Encoding: chunked\r\n\r\n"
    return head.encode()


@pytest.mark.parametrize("piece", [b"a:b\r\n" * 13_000, b"x" * 65_000], ids=["many", "one without end"])
def test_trailers_have_an_end(service, piece):
    sent = 0
    with service.connect() as sock:
        sock.sendall(_chunked("/v1/check") + b'd\r\n{"text": "a"}\r\n0\r\n' + (b"" if piece[0] == 97 else b"a: "))
        with suppress(ConnectionError):
            for _ in range(400):
                sock.sendall(piece)
                sent += len(piece)
    assert sent < 16 << 20


def test_trailers_are_passed_over(service):
    with service.connect() as sock:
        sock.sendall(_chunked("/v1/check") + b'd\r\n{"text": "a"}\r\n0\r\nHost: evil.example\r\nX-Sum: 1\r\n\r\n')
        assert answer_on(sock)[0] == 200


@pytest.mark.parametrize(
    ("lines", "detail"),
    [
        (
            b"Host: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n",
            "HTTP_1_1",
        ),
        (b"Host: localhost\r\nHost: localhost\r\n", "one header Host"),
        (b"Host: localhost\r\nTransfer-Encoding: gzip, chunked\r\n", "chunked"),
    ],
    ids=["upgrade", "two hosts", "encodings"],
)
def test_heads_that_can_be_understood_differently(service, lines, detail):
    """Are refused, and what follows is no request."""
    inner = b"GET /v1/index HTTP/1.1\r\nHost: localhost\r\n\r\n"
    length = b"" if b"Transfer" in lines else b"Content-Length: %d\r\n" % len(inner)
    with service.connect() as sock:
        sock.sendall(b"POST /v1/check HTTP/1.1\r\nContent-Type: application/json\r\n" + lines + length + b"\r\n")
        status, headers, body = answer_on(sock)
        assert (status, headers["connection"]) == (400, "close")
        assert detail in json.loads(body)["detail"]
        with suppress(OSError):  # closed already
            sock.sendall(inner)
        assert _said(sock) == b""


def test_garbage_behind_a_request_is_not_its_answer(service):
    id_ = name()
    body = json.dumps({"id": id_, "text": fresh()}).encode()
    with service.begin("/v1/add", len(body)) as sock:
        sock.sendall(body + b"\x00\x01 garbage\r\n\r\n")
        status, headers, said = answer_on(sock)
        assert (status, json.loads(said)) == (200, {"id": id_, "added": True})
        assert headers["connection"] == "close"
        assert _said(sock) == b""


def test_a_broken_stream_is_cut_off(service):
    """No second answer stands in the first."""
    line = json.dumps({"text": fresh()}).encode() + b"\n"
    with service.connect() as sock:
        sock.sendall(_chunked("/v1/stream/check", "application/x-ndjson") + b"%x\r\n%b\r\n" % (len(line), line))
        data = b""
        while b'"new"' not in data:
            data += sock.recv(65536)
        sock.sendall(b"no size\r\n")
        data += _said(sock)
    assert data.count(b"HTTP/1.1") == 1
    assert not data.endswith(b"0\r\n\r\n")


def test_zeros_before_a_length(service):
    body = b'{"text": "a"}'
    with service.connect() as sock:
        head = b"POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
        sock.sendall(head + b"0" * 5000 + b"%d\r\n\r\n" % len(body) + body)
        assert answer_on(sock)[0] == 200


@pytest.mark.parametrize("more", ["?x=1", "?", "#x"])
def test_deleting_takes_the_whole_id(service, more):
    """An id that was not encoded is not cut."""
    id_ = f"https://{os.getpid()}.example/p{len(more)}"
    service.post("update", {"id": id_, "text": fresh()})
    with service.connect() as sock:
        sock.sendall(f"DELETE /v1/documents/{id_}{more} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        status, _, body = answer_on(sock)
    assert (status, json.loads(body)["type"]) == (400, "/docs#bad-path")
    assert service.post("remove", {"id": id_}).json()["removed"]


def test_a_template_is_no_address(service):
    with service.connect() as sock:
        sock.sendall(b"DELETE /v1/documents%2f{id} HTTP/1.1\r\nHost: localhost\r\n\r\n")
        status, _, body = answer_on(sock)
    assert (status, json.loads(body)["type"]) == (400, "/docs#bad-path")


@pytest.mark.parametrize("host", ["[::1].evil.com", "localhost:80.evil.com", "127.0.0.1:x"])
def test_names_that_begin_like_our_own(service, host):
    problem(service.http.get("/healthz", headers={"Host": host}), 421, "wrong-host")


def test_ids_are_as_long_as_addresses_can_hold(service):
    longest = "中" * (8192 // 3)
    assert service.post("add", {"id": longest, "text": fresh()}).json()["added"]
    assert service.http.get("/v1/documents/" + "%E4%B8%AD" * len(longest)).json()["id"] == longest
    for what, asked in (("add", {"id": longest + "中", "text": fresh()}), ("remove", {"id": longest + "中"})):
        assert "8,192 bytes" in problem(service.post(what, asked), 422, "invalid")["detail"]


def test_many_tiny_documents_are_refused_beside(service):
    """A body of a hundred thousand is decoded where it holds up nobody."""
    body = b'{"documents": [' + b",".join([b'{"text":""}'] * 100_000) + b"]}"
    answers: list[httpx.Response] = []
    asking = threading.Thread(
        target=lambda: answers.append(
            httpx.post(f"{service.address}/v1/sketch", content=body, headers={"Content-Type": "application/json"})
        )
    )
    asking.start()
    assert service.http.get("/healthz").status_code == 200
    asking.join(30)
    assert "1,000 documents" in problem(answers[0], 413, "too-large")["detail"]
