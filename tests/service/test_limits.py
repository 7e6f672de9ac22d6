"""Limits that have no option of their own, or are too wide to be reached: a service with narrow ones."""

import json
import sys
import time

import pytest

from tests.service.serving import Service, answer_on

_SCRIPT = """
import sys
from neardup.index import Index
from neardup.service import Limits, Log, Settings, address_of, listen, serve
settings = Settings(Limits(body=2000, held=3000, header_seconds=0.4, connections=5, idle=1.0, seconds=4.0, streams=1))
with Index.open(sys.argv[1]) as index, listen("127.0.0.1", 0, settings) as listening:
    serve(index, listening, settings, Log("none"), ready=lambda: print(address_of(listening), flush=True))
"""


class Narrow(Service):
    def __init__(self, index) -> None:
        self._begin([sys.executable, "-c", _SCRIPT, str(index)])


@pytest.fixture(scope="module")
def narrow(tmp_path_factory):
    made = Narrow(tmp_path_factory.mktemp("narrow") / "seen.ndx")
    yield made
    assert "Traceback" not in made.stop()
    assert made.process.returncode == 0


def _refused(sock) -> tuple[int, str]:
    status, headers, body = answer_on(sock)
    assert headers["connection"] == "close"
    assert sock.recv(100) == b""
    return status, json.loads(body)["type"]


def test_a_connection_that_says_nothing_is_closed(narrow):
    with narrow.connect() as sock:
        assert _refused(sock) == (408, "/docs#timeout")


def test_a_head_that_comes_slowly_is_refused(narrow):
    """Also the second one on a connection."""
    with narrow.connect() as sock:
        sock.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert answer_on(sock)[0] == 200
        sock.sendall(b"GET /healthz HTTP/1.1\r\nHost: ")
        assert _refused(sock) == (408, "/docs#timeout")


def test_waiting_requests_share_their_room(narrow):
    """3,000 bytes for all; whoever comes when they are taken is refused, and when they are free again is not."""
    body = b'{"text": "' + b"a " * 950 + b'"}'
    with narrow.begin("/v1/check", len(body)) as first:
        first.sendall(body[:1900])
        status, end = 200, time.monotonic() + 3.5
        while status == 200 and time.monotonic() < end:  # until the first one has come
            with narrow.begin("/v1/check", len(body)) as second:
                second.sendall(body)
                status, _, said = answer_on(second)
        assert (status, json.loads(said)["type"]) == (503, "/docs#busy")
        first.sendall(body[1900:])
        assert answer_on(first)[0] == 200
    with narrow.begin("/v1/check", len(body)) as third:
        third.sendall(body)
        assert answer_on(third)[0] == 200


def test_texts_take_what_they_take_in_memory(narrow):
    """With one emoji, a text of 1,000 characters takes 4,000 bytes, though 1,000 came."""
    body = json.dumps({"text": "a" * 1000 + "🌹"}, ensure_ascii=False).encode()
    with narrow.begin("/v1/check", len(body)) as sock:
        sock.sendall(body)
        status, _, said = answer_on(sock)
    assert (status, json.loads(said)["type"]) == (503, "/docs#busy")


def test_names_of_fields_take_room_too(narrow):
    body = json.dumps({"results": [{"a" * 1000 + "🌹": 1}]}, ensure_ascii=False).encode()
    with narrow.begin("/v1/group", len(body)) as sock:
        sock.sendall(body)
        status, _, said = answer_on(sock)
    assert (status, json.loads(said)["type"]) == (503, "/docs#busy")


def test_what_is_turned_away_is_counted_once(narrow):
    def counted() -> dict[str, float]:
        with narrow.connect() as sock:
            sock.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
            lines = answer_on(sock)[2].decode().splitlines()
        found = (
            line.rpartition(" ")
            for line in lines
            if line.startswith(("neardup_rejected_total", 'neardup_requests_total{method="ANY"'))
        )
        return {key: float(value) for key, _, value in found}

    before = counted()
    with narrow.begin("/v1/stream/check", 100, "application/x-ndjson") as first:
        assert first.recv(12) == b"HTTP/1.1 200"
        with narrow.begin("/v1/stream/check", 2, "application/x-ndjson") as second:
            assert answer_on(second)[0] == 503
    with narrow.connect() as sock:
        sock.sendall(b"garbage\r\n\r\n")
        assert answer_on(sock)[0] == 400
    more = {key: value - before.get(key, 0) for key, value in counted().items()}
    assert {key: value for key, value in more.items() if value} == {
        'neardup_rejected_total{why="streams"}': 1.0,
        'neardup_requests_total{method="ANY",route="unknown",status="400"}': 1.0,
    }


@pytest.mark.parametrize("at_once", [1, 1000], ids=["one by one", "many at once"])
def test_a_client_that_takes_no_answers_is_dropped(narrow, at_once):
    """It asks and asks on one connection, and reads nothing; the service lets go of it."""
    one = b"GET /docs HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with narrow.connect() as sock, pytest.raises(OSError, match=r"reset|Broken pipe"):
        _ask_for_ever(sock, one * at_once)
    assert narrow.memory() < 600 << 20


def _ask_for_ever(sock, question: bytes) -> None:
    while True:
        sock.sendall(question)


def test_a_body_where_none_is_expected(narrow):
    """Is not taken for the next request."""
    with narrow.connect() as sock:
        inner = b"GET /v1/index HTTP/1.1\r\nHost: localhost\r\n\r\n"
        sock.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%b" % (len(inner), inner))
        status, _, body = answer_on(sock)
        assert (status, body) == (200, b'{"status":"alive"}')
        assert sock.recv(1000) == b""


def test_many_fields_are_refused_before_they_are_decoded():
    from neardup.service.problems import Problem
    from neardup.service.settings import Limits
    from neardup.service.shapes import Grouping, Sketching
    from neardup.service.weighing import MOST_VALUES, check_fields

    for shape, most in ((Grouping, MOST_VALUES), (Sketching, 4 * 1000 + 4)):
        check_fields(b'{"a":1}' * most, shape, Limits())
        check_fields(b'"say \\":\\" here"' * (2 * most), shape, Limits())
        with pytest.raises(Problem, match="Send fewer"):
            check_fields(b'{"a":1}' * (most + 1), shape, Limits())
