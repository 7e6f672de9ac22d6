"""Connections that do nothing keep nobody out, and health is always answered."""

import json
import socket
import sys
import time
from contextlib import ExitStack, suppress

import pytest

from neardup.service.connections import RESERVE, Connections
from neardup.service.forwarding import Proxies
from tests.service.serving import WRITE, Service, answer_on, fresh

MOST = 40
_SCRIPT = """
import sys
from neardup.index import Index
from neardup.service import Limits, Log, Settings, address_of, listen, serve
from neardup.service.tokens import Token
tokens = tuple(Token.of("t", token, "write") for token in sys.argv[3:])
settings = Settings(Limits(connections=int(sys.argv[2]), seconds=8.0), tokens)
with Index.open(sys.argv[1]) as index, listen("127.0.0.1", 0, settings) as listening:
    serve(index, listening, settings, Log("none"), ready=lambda: print(address_of(listening), flush=True))
"""
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


class Crowded(Service):
    def __init__(self, index, most: int, *tokens: str) -> None:
        self._begin([sys.executable, "-c", _SCRIPT, str(index), str(most), *tokens])

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
