"""Connections that do nothing keep nobody out, and health is always answered."""

import json
import socket
import sys
import time
from contextlib import ExitStack, suppress
from http.client import parse_headers
from pathlib import Path

import httpx
import pytest

from neardup.service.connections import RESERVE, Connections
from neardup.service.forwarding import Proxies
from neardup.service.protocol import PIPELINED
from tests.service.serving import WRITE, Service, answer_on, fresh, serving

MOST = 40
OTHER = "a-token-of-another-client"
_SCRIPT = """
import sys
from neardup.index import Index
from neardup.service import Limits, Log, Settings, address_of, listen, serve
from neardup.service.forwarding import Proxies
from neardup.service.tokens import Token
tokens = tuple(Token.of(f"t{n}", token, "write") for n, token in enumerate(sys.argv[5:]))
limits = Limits(connections=int(sys.argv[2]), seconds=8.0, concurrency=int(sys.argv[3]))
settings = Settings(limits, tokens, proxies=Proxies(sys.argv[4].split()))
with Index.open(sys.argv[1]) as index, listen("127.0.0.1", 0, settings) as listening:
    serve(index, listening, settings, Log("none"), ready=lambda: print(address_of(listening), flush=True))
"""
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


class Crowded(Service):
    def __init__(self, index, most: int, *tokens: str, concurrency: int = 512, proxy: str = "") -> None:
        self._begin([sys.executable, "-c", _SCRIPT, str(index), str(most), str(concurrency), proxy, *tokens])

    def from_address(self, address: str) -> socket.socket:
        return socket.create_connection((self.host, self.port), timeout=20, source_address=(address, 0))


@pytest.fixture
def crowded(tmp_path):
    made = Crowded(tmp_path / "seen.ndx", MOST, WRITE)
    yield made
    assert "Traceback" not in made.stop()


def _check(sock: socket.socket) -> int:
    body = json.dumps({"text": fresh()}).encode()
    head = f"POST /v1/check HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {WRITE}\r\n"
    sock.sendall(f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
    return answer_on(sock)[0]


def _closed(sock: socket.socket) -> bool:
    sock.settimeout(0.2)
    try:
        return sock.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True


def test_two_thousand_idle_connections_keep_nobody_out(tmp_path):
    service = Crowded(tmp_path / "seen.ndx", 2048, WRITE)
    with ExitStack() as stack:
        stack.callback(service.stop)
        for n in range(2200):
            idle = stack.enter_context(service.from_address(f"127.0.0.{2 + n % 20}"))
            if n % 3 == 0:
                with suppress(OSError):
                    idle.sendall(b"GET /healthz HTTP/1.1\r\nHost: lo")  # a head without end
        begun = time.monotonic()
        with service.connect() as sock:
            assert _check(sock) == 200
        for path in ("/healthz", "/readyz"):
            assert service.http.get(path).status_code == 200
        assert time.monotonic() - begun < 10.0  # 75 seconds, when they were closed by the clock alone


def test_the_one_that_waits_longest_goes_first_and_one_with_a_token_last(crowded):
    with ExitStack() as stack:
        known = stack.enter_context(crowded.from_address("127.0.0.2"))
        assert _check(known) == 200
        socks = []
        for n in range(MOST - 1):
            socks.append(stack.enter_context(crowded.from_address(f"127.0.0.{3 + n % 5}")))
            socks[-1].sendall(HEALTH)
            assert answer_on(socks[-1])[0] == 200
        new = stack.enter_context(crowded.from_address("127.0.0.2"))
        assert _check(new) == 200
        assert _closed(socks[0])
        assert not _closed(socks[1])
        assert _check(known) == 200


def test_an_address_has_half_of_the_places(crowded):
    """Beyond, its own connections give way, and nobody else's."""
    with ExitStack() as stack:
        other = stack.enter_context(crowded.from_address("127.0.0.9"))
        own = [stack.enter_context(crowded.from_address("127.0.0.2")) for _ in range(MOST // 2 + 5)]
        own[-1].sendall(HEALTH)
        assert answer_on(own[-1])[0] == 200
        assert [_closed(sock) for sock in own[:6]] == [True] * 5 + [False]
        other.sendall(HEALTH)
        assert answer_on(other)[0] == 200


def test_health_is_answered_where_every_place_is_taken(crowded):
    """By requests whose bodies do not come."""
    head = f"POST /v1/check HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {WRITE}\r\n"
    slow = f"{head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n".encode()
    with ExitStack() as stack:
        for n in range(MOST):
            stack.enter_context(crowded.from_address(f"127.0.0.{2 + n % 4}")).sendall(slow)
        time.sleep(0.5)
        for _ in range(RESERVE + 5):  # also one after the other, on connections that stay
            sock = stack.enter_context(crowded.from_address("127.0.0.8"))
            sock.sendall(HEALTH)
            assert answer_on(sock)[0] == 200
        with crowded.from_address("127.0.0.8") as sock:
            sock.sendall(HEALTH.replace(b"/healthz", b"/readyz"))
            assert answer_on(sock)[0] == 200
        with crowded.from_address("127.0.0.8") as sock:
            sock.sendall(HEALTH.replace(b"/healthz", b"/docs"))
            status, headers, body = answer_on(sock)
            assert (status, json.loads(body)["type"], headers["retry-after"]) == (503, "/docs#busy", "1")


@pytest.mark.parametrize("behind", [b"", b"GET /v1/index HTTP/1.1\r\nHost: localhost\r\n\r\n"])
def test_open_answers_that_nobody_takes_keep_nobody_out(crowded, behind):
    """They need no token and no place among requests, so their connections give way; whatever is sent behind."""
    with ExitStack() as stack:
        for n in range(MOST):
            sock = stack.enter_context(socket.socket())
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            sock.bind((f"127.0.0.{2 + n % 4}", 0))
            sock.connect((crowded.host, crowded.port))
            sock.sendall(HEALTH.replace(b"/healthz", b"/docs") * 60 + behind)
        time.sleep(1.0)
        for address in ("127.0.0.8", "127.0.0.2"):
            with crowded.from_address(address) as sock:
                assert _check(sock) == 200


def test_one_token_behind_a_trusted_proxy_has_no_more_connections_than_places(tmp_path):
    """Its requests that do not end take its places among requests; the connections beyond are free for others."""
    service = Crowded(tmp_path / "seen.ndx", MOST, WRITE, OTHER, concurrency=20, proxy="127.0.0.5")
    with ExitStack() as stack:
        stack.callback(service.stop)
        head = f"POST /v1/check HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {OTHER}\r\n"
        slow = (
            f"{head}X-Forwarded-For: 10.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n".encode()
        )
        for _ in range(MOST):
            stack.enter_context(service.from_address("127.0.0.5")).sendall(slow)
        time.sleep(0.5)
        for _ in range(3):
            with service.from_address("127.0.0.5") as sock:
                assert _check(sock) == 200


def test_requests_sent_ahead_are_answered_in_order_and_too_many_end_the_connection(crowded):
    addresses = ["/healthz", "/docs", "/nothing"] * 3
    asked = [f"GET {address} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode() for address in addresses]
    with crowded.connect() as sock, sock.makefile("rb") as answers:
        sock.sendall(b"".join(asked))
        statuses = []
        for _ in asked:
            statuses.append(int(answers.readline().split()[1]))
            answers.read(int(parse_headers(answers)["content-length"]))
        assert statuses == [200, 200, 404] * 3
        sock.sendall(HEALTH)
        assert answers.readline().split()[1] == b"200", "the connection goes on"
    with crowded.connect() as sock:
        sock.sendall(HEALTH * (PIPELINED + 2))
        sock.settimeout(20)
        with suppress(ConnectionError):
            while sock.recv(1 << 16):
                pass


def test_a_client_that_takes_no_answer_is_disconnected(tmp_path):
    """Nine answers of two megabytes are more than the kernel holds."""
    environment = {"NEARDUP_WRITE_TOKEN": WRITE}
    with serving(tmp_path / "seen.ndx", "--keep", "text", "--timeout", "4", environment=environment) as service:
        headers = {"Authorization": f"Bearer {WRITE}"}
        added = httpx.post(
            f"{service.address}/v1/add",
            json={"id": "d", "text": fresh() + " x" * (1 << 20)},
            headers=headers,
            timeout=60,
        )
        assert added.status_code == 200, added.text
        with socket.socket() as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            sock.connect((service.host, service.port))
            asked = f"GET /v1/documents/d HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {WRITE}\r\n\r\n"
            sock.sendall(asked.encode() * (1 + PIPELINED))
            time.sleep(1)
            assert established(service.port, sock.getsockname()[1])
            end = time.monotonic() + 20
            while established(service.port, sock.getsockname()[1]):
                assert time.monotonic() < end
                time.sleep(0.1)


def established(port: int, other: int) -> bool:
    """Whether the service has the connection from a port still."""
    ends = f":{port:04X} ", f":{other:04X} "
    for line in Path("/proc/net/tcp").read_text().splitlines():
        fields = line.split()
        if len(fields) > 3 and f"{fields[1]} ".endswith(ends[0]) and f"{fields[2]} ".endswith(ends[1]):
            return fields[3] == "01"
    return False


def test_answers_sent_ahead_that_nobody_takes_hold_nobody_up(tmp_path):
    """A stranger sends 0.3 MB. With a socket that is accepted from once in a pass of the event loop, and all answers
    begun in one pass, a health check waited 9 s and more; with a copy of the answer for every connection and 60
    requests each, the service took 500 MB. The wait is what the service computes meanwhile: a clock would measure
    what else runs on the machine."""
    service = Crowded(tmp_path / "seen.ndx", 2000, WRITE)
    try:
        with ExitStack() as held:
            before = service.memory()
            for _ in range(900):
                sock = held.enter_context(socket.socket())
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
                sock.connect((service.host, service.port))
                sock.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * PIPELINED)
            began = time.monotonic()
            while time.monotonic() - began < 5:
                asked = service.cpu()
                with service.connect() as sock:
                    sock.sendall(HEALTH)
                    assert answer_on(sock)[0] == 200
                assert service.cpu() - asked < 3
            assert service.memory() - before < 150 << 20
    finally:
        assert "Traceback" not in service.stop()


class Held:
    """A connection that does as it is told."""

    def __init__(self) -> None:
        self.known = self.closed = False

    def give_way(self) -> None:
        self.closed = True


def test_places_are_counted():
    places = Connections(4)
    held = [Held() for _ in range(6)]
    assert [places.open(each, str(n)) for n, each in enumerate(held[:4])] == ["free"] * 4
    for each in held[:4]:
        places.works(each)
    held[2].known = True
    places.waits(held[2])
    places.waits(held[3])
    assert places.open(held[4], "4") == "free"
    assert (held[3].closed, held[2].closed) == (True, False)
    places.works(held[4])
    assert places.open(held[5], "5") == "free"
    assert held[2].closed
    places.works(held[5])
    more = [Held() for _ in range(RESERVE + 1)]
    for n, each in enumerate(more):
        assert places.open(each, f"more {n}") == ("reserved" if n < RESERVE else "none")
        places.works(each)
    for each in (*held, *more):
        places.close(each)
    assert len(places) == 0


def test_a_trusted_proxy_may_have_all_places():
    """Many clients are behind its address."""
    places = Connections(4, Proxies(["10.0.0.5"]))
    assert [places.open(held := Held(), "10.0.0.5") or places.works(held) for _ in range(4)] == ["free"] * 4
    places = Connections(4, Proxies(["10.0.0.5"]))
    for place in ("free", "free", "reserved"):
        held = Held()
        assert places.open(held, "10.0.0.6") == place
        places.works(held)
    for place in ("free", "reserved"):
        held = Held()
        assert places.open(held, "10.0.0.5") == place
        places.works(held)
