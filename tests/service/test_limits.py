"""Limits that have no option of their own, or are too wide to be reached: a service with narrow ones."""

import json
import sys
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup.service.problems import Problem
from neardup.service.settings import Limits
from neardup.service.shapes import Grouping, Query, Sketching
from neardup.service.weighing import MOST_VALUES, check_values, has_more_values, weigh
from tests.service.serving import Service, answer_on

_SCRIPT = """
import sys
from neardup.index import Index
from neardup.service import Limits, Log, Settings, address_of, listen, serve
settings = Settings(Limits(body=2000, held=3000, header_seconds=0.4, connections=5, idle=1.0, seconds=4.0, streams=1))
with (
    Index.open(sys.argv[1]) as index,
    Index.open(sys.argv[1] + ".other") as other,
    listen("127.0.0.1", 0, settings) as listening,
):
    served = {"default": index, "other": other}
    serve(served, listening, settings, Log("none"), ready=lambda: print(address_of(listening), flush=True))
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


def test_all_indexes_share_the_room_of_the_service(narrow):
    """3,000 bytes for both together, and not for each."""
    body = b'{"text": "' + b"a " * 950 + b'"}'
    for one, other in (("/v1/check", "/v1/indexes/other/check"), ("/v1/indexes/other/check", "/v1/check")):
        with narrow.begin(one, len(body)) as first:
            first.sendall(body[:1900])
            status, end = 200, time.monotonic() + 3.5
            while status == 200 and time.monotonic() < end:  # until the first one has come
                with narrow.begin(other, len(body)) as second:
                    second.sendall(body)
                    status, _, said = answer_on(second)
            assert (status, json.loads(said)["type"]) == (503, "/docs#busy")
            first.sendall(body[1900:])
            assert answer_on(first)[0] == 200


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


_MANY = {
    "lists": ('[{"t":[', "[],", "[]]}]"),
    "objects": ('[{"t":[', "{},", "{}]}]"),
    "fields": ('[{"t":[', '{"a":1},', "{}]}]"),
    "fields with a space": ('[{"t":[', '{"" :1},', "{}]}]"),
    "results": ("[", "{},", "{}]"),
    "results with spaces": ("[", "{\n} ,", "{}]"),
    "numbers": ('[{"t":[', "1.0,", "1.0]}]"),
    "strings": ('[{"t":[', '"\\\\",', '""]}]'),
    "nested": ("[", '{"t":[[1]]},', "{}]"),
}


@pytest.mark.parametrize("kind", _MANY)
def test_many_values_are_refused_before_they_are_decoded(kind):
    begin, each, end = _MANY[kind]
    for shape, most in ((Grouping, MOST_VALUES), (Sketching, 5 * 1000 + 5)):
        held = _values(f"{begin}{each}{end}") - _values(f"{begin}{end}")
        body = lambda number: f'{{"results":{begin}{each * number}{end}}}'.encode()  # noqa: E731
        check_values(body((most - 10) // held), shape, Limits())
        with pytest.raises(Problem, match="Send fewer"):
            check_values(body(most // held + 1), shape, Limits())


def test_texts_may_have_what_looks_like_values():
    """Commas, brackets, and quotation marks behind backslashes."""
    for text in ("a rose, a rose [1], {a} ", 'say ":" and "," ', '\\"', "\\\\", '"[{,', "ü,"):
        for escaped in (True, False):
            long = json.dumps({"text": text * (6_000_000 // len(text))}, ensure_ascii=escaped).encode()
            check_values(long, Query, Limits())
            documents = [{"id": str(n), "text": text * (6000 // len(text)), "url": "a"} for n in range(1000)]
            check_values(json.dumps({"documents": documents}, indent=1).encode(), Sketching, Limits())
            results = [{**document, "tags": ["a,"] * 200} for document in documents]
            check_values(json.dumps({"results": results}).encode(), Grouping, Limits())


def _values(text: str) -> int:
    def count(value: Any) -> int:
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        return 1 + sum(map(count, inner))

    return count(json.loads(text))


_JSON = st.recursive(
    st.none() | st.integers() | st.text('a\\",[]{}: \n', max_size=9),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text('\\",[', max_size=3), inner, max_size=5),
)


@settings(max_examples=300)
@given(_JSON, st.sampled_from([None, 1]), st.integers(2, 40))
def test_values_are_counted_as_a_decoder_counts_them(value, indent, piece):
    text = json.dumps(value, indent=indent)
    number = _values(text)
    assert not has_more_values(text.encode(), number, piece)
    assert number == 1 or has_more_values(text.encode(), number - 1, piece)


def test_what_values_take_in_memory_is_counted():
    """Empty lists of two bytes each take 64."""
    asked = Grouping(results=[{"t": [[] for _ in range(100_000)]}])
    assert weigh(asked, Limits())[1] > 5_600_000


def test_lines_with_many_values_are_refused(service):
    many = b'{"id": "a", "text": "a rose", "x": [' + b"[], " * 300_000 + b"1]}"
    said = service.stream("check", [many, {"text": "a rose, a rose, " * 100_000}])
    assert said[0]["error"]["type"] == "/docs#too-large"
    assert said[1]["status"] == "new"
