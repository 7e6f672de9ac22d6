"""Servers that harm those who ask them: the Python client ends in time, holds little, and raises a StoreError."""

import itertools
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from neardup import Client
from neardup.errors import StoreError, Unreachable, UsageError

Handler = Callable[[socket.socket], object]

OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
GOOD = b'{"id":"","status":"new","added":false}'
VERDICT = b'{"id":"a","status":"new","added":true}\n'

SECONDS = 0.5
"""The timeout of the clients."""

LATER = 4.0
"""Seconds after which a server that goes on for ever gives up, so that a failing test ends."""


@contextmanager
def server(handle: Handler) -> Iterator[str]:
    """Serve every connection with `handle`, once the first bytes of a request came; yield the address."""
    listening = socket.create_server(("127.0.0.1", 0))
    workers: list[threading.Thread] = []

    def one(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.settimeout(LATER)
            head = b""
            while not head.endswith(b"\r\n\r\n"):  # byte by byte: what follows is for `handle`
                head += connection.recv(1)
            handle(connection)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(1 << 16):  # closing with something unread would reset the connection
                pass

    def accept() -> None:
        with suppress(OSError):
            while True:
                worker = threading.Thread(target=one, args=(listening.accept()[0],), daemon=True)
                workers.append(worker)
                worker.start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        for worker in workers:
            worker.join(2 * LATER)
        thread.join(LATER)


def says(answer: bytes) -> Handler:
    return lambda connection: connection.sendall(answer)


def says_json(value: object, status: int = 200) -> Handler:
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    return says(b"HTTP/1.1 %d X\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%b" % (status, len(body), body))


def goes_on(first: bytes, then: bytes, pause: float = 0.0) -> Handler:
    """Send something, and then something else again and again."""

    def handle(connection: socket.socket) -> None:
        connection.sendall(first)
        end = time.monotonic() + LATER
        while time.monotonic() < end:
            connection.sendall(then)
            time.sleep(pause)

    return handle


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def streams(*lines: bytes) -> Handler:
    """Answer a stream when all of it came."""

    def handle(connection: socket.socket) -> None:
        data = b""
        while not data.endswith(b"\r\n0\r\n\r\n"):
            data += connection.recv(1 << 16)
        connection.sendall(CHUNKED + b"".join(map(chunk, lines)) + b"0\r\n\r\n")

    return handle


def ask(handle: Handler) -> object:
    with server(handle) as address, Client(address, timeout=SECONDS) as client:
        return client.check("a rose is a rose")


def ask_stream(handle: Handler, documents: int = 1) -> list[object]:
    with server(handle) as address, Client(address, timeout=SECONDS) as client:
        return list(client.check_and_add_many({"id": "a", "text": "a rose"} for _ in range(documents)))


# Memory.


@pytest.mark.parametrize("size", [b"-1", b"-5", b"0x10", b"+1", b"1_0", b"", b" 5", b"5 5", b"f" * 9, b"\xb2"])
def test_a_chunk_size_that_is_no_number_is_refused(size):
    """http.client takes -1 for "all that comes", and reads without end."""
    handle = goes_on(CHUNKED + size + b"\r\n", b" " * (1 << 16))
    with pytest.raises(StoreError, match=r"something else than expected.*chunk"):
        ask(handle)
    with pytest.raises(StoreError, match=r"something else than expected.*chunk"):
        ask_stream(handle)


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH_9.6\r\n\r\n",
        b"HTTP/2 200 OK\r\n\r\n",
        b"HTTP/1.1 99 OK\r\n\r\n",
        b"HTTP/1.1 101 Switching\r\n\r\n",
        OK + b"Content-Length: -1\r\n\r\n",
        OK + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}}",
        OK + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
        OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n",
        OK + b"no header\r\n\r\n",
        CHUNKED + b"2\r\n{}}\r\n0\r\n\r\n",
        CHUNKED + b"2;" + b"x" * 300 + b"\r\n{}\r\n0\r\n\r\n",
    ],
)
def test_what_is_no_http_is_refused(answer):
    with pytest.raises(StoreError, match="something else than expected"):
        ask(says(answer))


def test_chunks_trailers_and_interim_answers_are_read():
    interim = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    pieces = b"".join(b"1;name=value\r\n%c\r\n" % byte for byte in GOOD)
    assert ask(says(interim + CHUNKED + pieces + b"0\r\nDigest: x\r\n\r\n")).new
    assert ask(says(b"HTTP/1.0 200 OK\r\n\r\n" + GOOD)).new


def test_a_connection_with_something_behind_its_answer_is_not_used_again():
    answer = OK + b"Content-Length: %d\r\n\r\n%b" % (len(GOOD), GOOD + VERDICT)
    with server(says(answer)) as address, Client(address, timeout=SECONDS) as client:
        assert client.check("a").new
        assert client._idle == []


# Time.


@pytest.mark.parametrize(
    "handle",
    [
        goes_on(b"", b"HTTP/1.1 100 Continue\r\n\r\n", 0.1),
        goes_on(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100),
        goes_on(b"HTTP/1.1 200 OK\r\nX: ", b"x", 0.1),
        goes_on(OK, b"a: b\r\n" * 1000),
        goes_on(OK, b"a: b\r\n", 0.1),
        goes_on(OK + b"Content-Length: 1000000\r\n\r\n", b" ", 0.1),
        goes_on(OK + b"\r\n", b" ", 0.1),
        goes_on(CHUNKED, b"1\r\n \r\n", 0.1),
        goes_on(CHUNKED, b"0", 0.1),
        goes_on(CHUNKED + b"26\r\n" + GOOD + b"\r\n0\r\n", b"a: b\r\n" * 1000),
        goes_on(CHUNKED + b"26\r\n" + GOOD + b"\r\n0\r\n", b"a: b\r\n", 0.1),
    ],
)
def test_an_answer_that_does_not_end_is_given_up_in_time(handle):
    """However its bytes come: the time is for the whole answer, and not from one byte to the next."""
    began = time.monotonic()
    with server(handle) as address, Client(address, timeout=SECONDS) as client:
        with pytest.raises(StoreError, match=r"no answer in time|something else than expected"):
            client.check("a")
        assert time.monotonic() - began < 2 * SECONDS


@pytest.mark.parametrize(
    "handle",
    [
        goes_on(b"", b"HTTP/1.1 100 Continue\r\n\r\n", 0.1),
        goes_on(b"HTTP/1.1 200 OK\r\nX: ", b"x", 0.1),
        goes_on(CHUNKED, chunk(b" "), 0.1),
        goes_on(CHUNKED + b"1;", b"x", 0.1),
        goes_on(CHUNKED + chunk(VERDICT), chunk(b" "), 0.1),
        goes_on(CHUNKED + chunk(VERDICT) + b"0\r\n", b"a: b\r\n", 0.1),
        goes_on(CHUNKED, b"", 0.1),
        goes_on(CHUNKED + chunk(VERDICT), b"", 0.1),
    ],
)
def test_a_line_of_a_stream_that_does_not_end_is_given_up_in_time(handle):
    began = time.monotonic()
    with server(handle) as address, Client(address, timeout=SECONDS) as client:
        with pytest.raises(StoreError, match=r"no answer in time|something else than expected"):
            list(client.check_and_add_many([{"id": "a", "text": "b"}]))
        assert time.monotonic() - began < 3 * SECONDS


def test_documents_that_take_long_to_make_are_no_fault_of_the_server():
    """Nothing is owed while the caller makes its next document, however long that takes."""

    def handle(connection: socket.socket) -> None:
        connection.sendall(CHUNKED)
        data = b""
        for _ in range(3):
            while b"}" not in data:
                data += connection.recv(1 << 16)
            data = data.partition(b"}")[2]
            connection.sendall(chunk(VERDICT))
        while b"\n0\r\n\r\n" not in data:
            data += connection.recv(1 << 16)
        connection.sendall(b"0\r\n\r\n")

    def documents():
        for _ in range(3):
            time.sleep(2.5 * SECONDS)
            yield {"id": "a", "text": "b"}

    with server(handle) as address, Client(address, timeout=SECONDS) as client:
        assert len(list(client.check_and_add_many(documents()))) == 3


def test_a_caller_that_takes_its_answers_slowly_is_given_all_of_them():
    """The time between two answers does not count what the caller does with them."""
    with server(streams(VERDICT, VERDICT, VERDICT)) as address, Client(address, timeout=SECONDS) as client:
        for _ in client.check_and_add_many([{"id": "a", "text": "b"}] * 3):
            time.sleep(1.5 * SECONDS)


def test_a_server_that_takes_nothing_is_given_up_in_time():
    def handle(connection: socket.socket) -> None:
        connection.sendall(CHUNKED)
        time.sleep(LATER)

    began = time.monotonic()
    with server(handle) as address, Client(address, timeout=SECONDS) as client:
        with pytest.raises(StoreError, match="no answer in time"):
            list(client.check_many({"text": "x" * 100_000} for _ in itertools.count()))
        with pytest.raises(StoreError, match="in time"):
            client.check("x" * 30_000_000)
        assert time.monotonic() - began < 6 * SECONDS


@pytest.mark.parametrize("timeout", [0, -1, None, float("nan"), float("inf"), "60"])
def test_a_timeout_is_a_number_of_seconds(timeout):
    with pytest.raises(UsageError, match=r"timeout = .*seconds"):
        Client("http://127.0.0.1:1", timeout=timeout)


# Answers of the wrong kind.

MANY = b",{}" * (2 << 20)


def held_by(code: str, address: str) -> int:
    """Return the bytes that a process held at the most while it ran code with a `client`."""
    code = (
        "import resource, sys; from neardup import Client; from neardup.errors import StoreError\n"
        f"client = Client({address!r}, timeout=60)\n{code}\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    return int(done.stdout) << 10


def test_what_was_not_asked_for_is_not_built():
    """6 MB of empty objects took 170 MB."""
    with server(says_json(b'{"id":"","status":"new","added":false,"x":[{}' + MANY + b"]}")) as address:
        plain = held_by("", address)
        assert held_by("assert client.check('a').new", address) < plain + (40 << 20)
    told = "try: client.info()\nexcept StoreError as error: assert '1,048,576 bytes' in str(error)"
    with server(says_json(b'{"documents":1,"x":[{}' + MANY + b"]}")) as address:
        assert held_by(told, address) < plain + (40 << 20)
    line = b'{"id":"a","status":"new","added":true,"x":[{}' + MANY + b"]}\n"
    with server(streams(line)) as address:
        code = "list(client.check_and_add_many([{'id': 'a', 'text': 'b'}]))"
        assert held_by(code, address) < plain + (60 << 20)


WRONG = [
    b"",
    b"[]",
    b"5",
    b"{}",
    b"null",
    b"<html>{}",
    b'"\xff"',
    b"[" * 90_000,
    b'{"a":' * 90_000,
    b'{"id":5}',
    b'{"id":"","status":"new","added":1e999}',
    b'{"id":"","status":"new","match":{"id":"a"}}',
    b'{"id":"","status":"\x1b[2J","added":true}',
    b'{"id":"","status":"' + b"x" * 10_000 + b'"}',
    b'{"indexes":5}',
    b'{"documents":"5"}',
    b'{"documents":-1}',
    b'{"documents":' + b"9" * 400 + b"}",
    b'{"matches":[{}]}',
    b'{"groups":[],"compared":[],"passages":false}',
    b'{"groups":[{"anchor":7,"members":[]}],"compared":["text"],"passages":false}',
    b'{"recipe":"","sketches":[]}',
    b'{"id":"a","state":"done"}',
    b'{"id":"a","state":"done","result":{"bytes":"\\u001b[2J","bytes_before":1}}',
    b'{"id":"a","state":"done","result":{"documents":{}}}',
    b'{"id":"a","state":"gone"}',
]

CALLS = [
    lambda client: client.check("a"),
    lambda client: client.add("a", "b"),
    lambda client: client.update("a", "b"),
    lambda client: client.remove("a"),
    lambda client: client.get("a"),
    lambda client: client.similar("a"),
    lambda client: len(client),
    lambda client: client.indexes(),
    lambda client: client.compare("a", "b"),
    lambda client: client.sketch([{"id": "a", "text": "b"}]),
    lambda client: client.group([{"id": 1, "text": "a"}]),
    lambda client: client.compact(),
    lambda client: client.verify(),
    lambda client: client.backup("a"),
    lambda client: client.expire(days=1),
    lambda client: client.reload_collection(),
]


@pytest.mark.parametrize("status", [200, 202, 302, 404, 500])
@pytest.mark.parametrize("answer", WRONG, ids=range(len(WRONG)))
def test_an_answer_of_the_wrong_kind_is_no_service(answer, status):
    with server(says_json(answer, status)) as address, Client(address, timeout=20) as client:
        for call in CALLS:
            with pytest.raises(StoreError) as raised:
                call(client)
            text = str(raised.value)
            assert text.startswith(f"{address}: answers with something else than expected (")
            assert text.endswith("); that is no neardup service.")
            assert len(text) < 250
            assert text.isprintable()


@pytest.mark.parametrize(
    "line",
    [*WRONG, b'{"line":1,"error":5}', b'{"line":1,"error":{"status":"x"}}', b'{"line":1,"error":{}}', b'{"error":{}}'],
    ids=range(len(WRONG) + 4),
)
def test_a_line_of_the_wrong_kind_is_no_service(line):
    with pytest.raises(StoreError, match=r"something else than expected \(.*\); that is no neardup service\.$"):
        ask_stream(streams(line + b"\n"))


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_proxy_that_does_not_reach_the_service_is_asked_again_and_said(status):
    """nginx answers with HTML of its own."""
    page = b"<html><h1>Bad Gateway</h1></html>"
    head = f"HTTP/1.1 {status} No\r\nContent-Type: text/html\r\nRetry-After: 0\r\nContent-Length: {len(page)}\r\n\r\n"
    asked = []

    def handle(sock):
        asked.append(1)
        says(head.encode() + page)(sock)

    with pytest.raises(Unreachable, match=f"a proxy in front of the service.*status {status}"):
        ask(handle)
    assert asked


def test_what_a_service_says_is_shown_by_number_where_it_cannot_be_seen():
    """A terminal would obey it."""
    said = {"status": 400, "title": "\x1b]0;mine\x07", "detail": "\x9b2J\u202e" + "x" * 100_000, "instance": "\r"}
    for handle, call in (
        (says_json(said, 400), ask),
        (streams(b'{"line":1,"error":%b}\n' % json.dumps(said).encode()), ask_stream),
    ):
        with pytest.raises(UsageError) as raised:
            call(handle)
        assert str(raised.value).startswith("\\x1b]0;mine\\x07: \\x9b2J\\u202exxx")
        assert str(raised.value).isprintable()
        assert len(str(raised.value)) < 5000


def test_what_is_not_known_is_left_out_and_what_is_new_is_passed_over():
    match = {"id": "b", "relation": "near", "similarity": 7, "measured": "b-similarity", "of_tomorrow": [{}]}
    found = ask(says_json({"id": "", "status": "duplicate", "added": False, "match": match, "of_tomorrow": 1}))
    assert found.match.resemblance is None
    assert found.match.similarity == 7


# Lies.


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ([VERDICT] * 4, "more answers than documents, of which 3 were sent"),
        ([VERDICT * 250_000], "more answers than documents, of which 3 were sent"),
        ([VERDICT, VERDICT.replace(b'"a"', b'"b"')], "another id than document 1 has"),
        ([VERDICT, b'{"line":3,"error":{"status":400}}\n'], "about line 3 and not 2"),
        ([b'{"line":1,"error":{"status":400}}\n'] * 2, "about line 1 and not 2"),
    ],
)
def test_a_stream_has_an_answer_for_each_document_and_about_it(lines, why):
    taken, errors = [], []
    documents = [{"id": "a", "text": "b"}] * 3
    with (
        server(streams(*lines)) as address,
        Client(address, timeout=20) as client,
        pytest.raises(StoreError, match=f"something else than expected.*{why}"),
    ):
        taken.extend(client.check_and_add_many(documents, on_error=lambda *told: errors.append(told)))
    assert len(taken) <= 3
    assert len(errors) <= 1


def test_an_error_behind_the_last_document_ends_the_stream():
    """As one that says that the token was revoked, or that no line came for too long."""
    line = b'{"line":3,"error":{"status":401,"title":"A token is needed"}}\n'
    errors = []
    with (
        server(streams(VERDICT, VERDICT, line)) as address,
        Client(address, timeout=20) as client,
        pytest.raises(UsageError, match="A token is needed"),
    ):
        list(client.check_many([{"id": "a", "text": "b"}] * 2, on_error=lambda *told: errors.append(told)))
    assert errors == []


@pytest.mark.parametrize("call", CALLS[1:5] + CALLS[9:10])
def test_an_answer_about_another_id_is_no_service(call):
    sketch = {"id": "b", "status": "fine", "tokens": 1, "identity": "", "features": ""}
    told = {"id": "b", "tokens": 1, "added": True, "replaced": True, "removed": True}
    with (
        server(says_json({**told, "recipe": "", "sketches": [sketch]})) as address,
        Client(address) as client,
        pytest.raises(StoreError, match=r"something else than expected \(.*other"),
    ):
        call(client)


def test_what_is_sent_ahead_of_the_answers_has_a_bound(monkeypatch):
    """A server that takes documents and answers none would have all their ids remembered."""
    monkeypatch.setattr("neardup.client.MOST_AHEAD", 10_000)
    made = itertools.count()

    def handle(connection: socket.socket) -> None:
        connection.sendall(CHUNKED)
        while connection.recv(1 << 16):
            pass

    with (
        server(handle) as address,
        Client(address, timeout=SECONDS) as client,
        pytest.raises(StoreError, match="no answer in time"),
    ):
        list(client.remove_many(str(at) for at in made))
    assert next(made) < 1000
