"""Streams: every line is answered, in order, however it arrives, and nothing piles up."""

import asyncio
import json
import os
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup.service.http import Gone
from neardup.service.line_room import FREE, LineRoom
from neardup.service.problems import Problem
from neardup.service.quotas import Caller, Places
from neardup.service.settings import Limits
from neardup.service.streams import Arriving
from tests.service.serving import answer_on, fresh, in_a_loop, name, serving

NDJSON = "application/x-ndjson"


def test_documents_are_judged_against_each_other(service):
    texts = [fresh(), fresh()]
    ids = [name() for _ in range(4)]
    answers = service.stream(
        "check-and-add",
        [{"id": id_, "text": text} for id_, text in zip(ids, (*texts, texts[0].upper(), texts[1]), strict=True)],
    )
    assert [answer["id"] for answer in answers] == ids
    assert [answer["status"] for answer in answers] == ["new", "new", "duplicate", "duplicate"]
    assert [answer.get("match", {}).get("id") for answer in answers] == [None, None, *ids[:2]]


def test_all_kinds(service):
    ids, texts = [name() for _ in range(3)], [fresh() for _ in range(3)]
    documents = [{"id": id_, "text": text} for id_, text in zip(ids, texts, strict=True)]
    assert service.stream("add", documents) == [{"id": id_, "added": True} for id_ in ids]
    assert service.stream("add", documents) == [{"id": id_, "added": False} for id_ in ids]
    changed = [{**document, "text": fresh()} for document in documents]
    assert service.stream("update", changed) == [{"id": id_, "replaced": True} for id_ in ids]
    assert [answer["status"] for answer in service.stream("check", documents)] == ["new"] * 3
    assert [answer["match"]["id"] for answer in service.stream("check", changed)] == ids
    gone = service.stream("remove", [{"id": id_} for id_ in (*ids, ids[0])])
    assert [answer["removed"] for answer in gone] == [True, True, True, False]


def test_bad_lines_are_answered_where_they_stand(guarded):
    headers = {"Authorization": "Bearer write-token-of-the-tests"}
    id_, text = name(), fresh()
    lines = [
        {"id": id_, "text": text, "fetched": "2026-01-01", "links": [1, {}]},
        b"",
        b"nonsense",
        b'{"id": "\xff", "text": "a"}',
        {"id": "x"},
        {"id": "x", "text": "a", "html": "b"},
        b'{"id": "long", "text": "%b"}' % (b"x" * 30_000),
        {"id": "large", "text": "ä" * 5001},
        {"id": id_, "text": fresh()},
        {"id": name(), "text": fresh()},
        b"[" * 5000,
    ]
    answers = guarded.stream("add", lines, headers=headers)
    assert answers[0] == {"id": id_, "added": True}
    assert answers[8]["added"] is True
    kinds = {answer["line"]: answer["error"]["type"].partition("#")[2] for answer in answers if "error" in answer}
    assert kinds == {
        3: "not-json",
        4: "not-json",
        5: "invalid",
        6: "invalid",
        7: "too-large",
        8: "too-large",
        9: "conflict",
        11: "invalid",
    }


def test_the_last_line_needs_no_end(service):
    answer = service.http.post(
        "/v1/stream/check", content=json.dumps({"text": fresh()}).encode(), headers={"Content-Type": NDJSON}
    )
    assert [json.loads(line)["status"] for line in answer.text.splitlines()] == ["new"]


def test_answers_come_while_lines_are_still_sent(service):
    """Whoever sends one document at a time is answered at once."""
    with service.begin("/v1/stream/check-and-add", 10_000_000, NDJSON) as sock:
        file = sock.makefile("rb")
        while file.readline() != b"\r\n":
            pass
        for _ in range(3):
            id_ = name()
            sock.sendall(json.dumps({"id": id_, "text": fresh()}).encode() + b"\n")
            file.readline()  # the size of the chunk
            assert json.loads(file.readline())["id"] == id_
            file.readline()


def test_ten_thousand_lines(service):
    """More than one call takes, in an order that is kept."""
    lines = [{"id": f"none-{at}"} for at in range(10_000)]
    answers = service.stream("remove", lines)
    assert answers == [{"id": f"none-{at}", "removed": False} for at in range(10_000)]


def test_a_client_that_does_not_take_its_answers_is_not_read(tmp_path):
    """And the service stays small meanwhile. Then it takes them, and all are there."""
    line = json.dumps({"id": "nothing-" + "x" * 200}).encode() + b"\n"
    block = line * 1000
    with serving(tmp_path / "seen.ndx", "--log-format", "none") as service:
        service.stream("remove", [{"id": "a"}])
        before = service.memory()
        sock = socket.socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        sock.connect((service.host, service.port))
        sock.settimeout(2)
        sock.sendall(
            f"POST /v1/stream/remove HTTP/1.1\r\nContent-Type: {NDJSON}\r\n"
            "Host: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
        )
        chunk = b"%x\r\n%b\r\n" % (len(block), block)
        sent, left = _until_it_blocks(sock, chunk, 64 << 20)
        assert sent < 64 << 20
        assert service.memory() - before < 100 << 20
        assert service.http.get("/readyz").status_code == 200  # others are answered

        sock.settimeout(30)
        sender = threading.Thread(target=sock.sendall, args=(left + b"0\r\n\r\n",))
        sender.start()
        data = bytearray()
        while not data.endswith(b"\r\n0\r\n\r\n"):
            data += sock.recv(1 << 20)
        sender.join()
        sock.close()
    blocks = -(-sent // len(chunk))
    assert data.count(b'"removed":false}') == blocks * 1000


def _until_it_blocks(sock: socket.socket, chunk: bytes, most: int) -> tuple[int, bytes]:
    """Bytes that were taken, and the rest of the chunk that was not."""
    sent, left = 0, chunk
    while sent < most:
        try:
            done = sock.send(left)
        except TimeoutError:
            break
        sent, left = sent + done, left[done:] or chunk
    return sent, left if sent % len(chunk) else b""


def test_a_client_that_goes_away(service):
    """What was answered is stored; the service goes on, and has let go of the stream."""
    id_, text = name(), fresh()
    with service.begin("/v1/stream/check-and-add", 1 << 30, NDJSON) as sock:
        sock.sendall(json.dumps({"id": id_, "text": text}).encode() + b'\n{"id": "half')
        seen = b""
        while b'"added":true' not in seen:
            seen += sock.recv(65536)
    assert service.post("check", {"text": text}).json()["match"]["id"] == id_
    end = time.monotonic() + 20
    while 'neardup_in_flight{kind="streams"} 0.0' not in service.http.get("/metrics").text:
        assert time.monotonic() < end


@pytest.fixture(scope="module")
def impatient(tmp_path_factory):
    options = ("--idle-timeout", "0.5", "--timeout", "3", "--streams", "2", "--concurrency", "2")
    with serving(tmp_path_factory.mktemp("impatient") / "seen.ndx", *options) as made:
        yield made


def test_a_stream_without_lines_ends(impatient):
    """Bytes without an end of line are no life sign."""
    with impatient.begin("/v1/stream/check", 1000, NDJSON) as sock:
        sock.sendall(b'{"text": "a b c"}\n')
        data = b""
        for _ in range(100):
            sock.settimeout(0.1)
            try:
                piece = sock.recv(65536)
            except TimeoutError:
                sock.sendall(b" ")
                continue
            data += piece
            if not piece or data.endswith(b"0\r\n\r\n"):
                break
    lines = [json.loads(line) for line in data.splitlines() if line.startswith(b"{")]
    assert lines[0]["status"] == "new"
    assert (lines[1]["line"], lines[1]["error"]["status"]) == (2, 408)


def test_a_request_that_comes_slowly_is_refused(impatient):
    with impatient.begin("/v1/check", 100) as sock:
        sock.sendall(b'{"text": ')
        status, headers, body = answer_on(sock)
    assert (status, json.loads(body)["type"]) == (408, "/docs#timeout")
    assert headers["connection"] == "close"


def test_no_more_streams_than_allowed(impatient):
    open_ = [impatient.begin("/v1/stream/check", 1000, NDJSON) for _ in range(2)]
    for sock in open_:
        assert sock.recv(15) == b"HTTP/1.1 200 OK"
    with impatient.begin("/v1/stream/check", 1000, NDJSON) as third:
        status, headers, body = answer_on(third)
    assert (status, json.loads(body)["type"], headers["retry-after"]) == (503, "/docs#busy", "1")
    for sock in open_:
        sock.close()


def test_no_more_requests_than_allowed(impatient):
    open_ = [impatient.begin("/v1/check", 100) for _ in range(2)]
    try:
        status, end = 200, time.monotonic() + 2.5
        while status != 503 and time.monotonic() < end:  # until both have reached it
            answer = impatient.post("check", {"text": "a"})
            status = answer.status_code
        assert (status, answer.headers["retry-after"]) == (503, "1")
        assert impatient.http.get("/healthz").status_code == 200
    finally:
        for sock in open_:
            sock.close()


class _Pieces:
    """What `Arriving` reads of a call."""

    def __init__(self, pieces: list[bytes], *, gone: bool) -> None:
        self.pieces, self.gone = list(pieces), gone

    async def piece(self) -> tuple[bytes, bool]:
        await asyncio.sleep(0)
        if not self.pieces and self.gone:
            raise Gone
        return (self.pieces.pop(0), bool(self.pieces) or self.gone) if self.pieces else (b"", False)


@settings(max_examples=300)
@given(
    st.lists(st.text("ab", max_size=12), max_size=12),
    st.booleans(),
    st.lists(st.integers(0, 150), max_size=8),
    st.booleans(),
    st.integers(1, 20),
    st.integers(1, 40),
)
def test_lines_do_not_depend_on_how_they_arrive(lines, ended, cuts, gone, most, most_bytes):
    """The naive reading: split at line ends; lines of more than 8 bytes are too long."""
    whole = "\n".join(lines).encode() + (b"\n" if ended and lines else b"")
    edges = sorted({0, *(min(cut, len(whole)) for cut in cuts), len(whole)})
    pieces = [whole[a:b] for a, b in pairwise(edges)]

    async def taken() -> list[bytes | None]:
        memory = LineRoom(Places("held", 100), Limits()).of(Caller())
        arriving = Arriving(_Pieces(pieces, gone=gone), 8, memory)
        reader = asyncio.create_task(arriving.read())
        found: list[bytes | None] = []
        while not (arriving.ended or arriving.gone) or arriving.some:
            part = arriving.take(most, most_bytes)
            assert len(part) <= most
            assert sum(len(line or b"") + 1 for line in part[:-1]) < most_bytes + len(part)
            found += part
            await asyncio.sleep(0)
        await reader
        assert arriving.gone == gone
        return found

    expected = whole.split(b"\n")
    if whole.endswith(b"\n") or not whole or gone:
        expected.pop()
    found = in_a_loop(taken())
    assert [None if line is None or len(line) > 8 else line for line in found] == [
        None if len(line) > 8 else line for line in expected
    ]


def _emoji_line(size: int) -> bytes:
    """A document that takes four times its bytes in memory."""
    words = " ".join(f"w{n}" for n in range(size // 6)).encode()
    return b'{"text": "' + "🌹 ".encode() + words[: size - 100] + b'"}'


def _converse(service, lines: bytes, ready: threading.Barrier) -> list[dict]:
    """Send lines but for the last end, wait for the others or until the service reads no further, and end."""
    with service.begin("/v1/stream/check", len(lines), NDJSON) as sock:
        sock.settimeout(60)

        def send() -> None:
            try:
                sock.sendall(lines[:-1])
                with suppress(threading.BrokenBarrierError):
                    ready.wait(4)
                sock.sendall(lines[-1:])
            except OSError:
                pass  # it was ended with an error line

        sender = threading.Thread(target=send)
        sender.start()
        said = b""
        while piece := sock.recv(65536):
            said += piece
        sender.join()
    return [json.loads(line) for line in said.split(b"\r\n") if line.startswith(b"{")]


def _all_at_once(service, streams: int, lines: bytes) -> list[list[dict]]:
    ready = threading.Barrier(streams)
    with ThreadPoolExecutor(streams) as pool:
        return list(pool.map(lambda _: _converse(service, lines, ready), range(streams)))


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="the kernel does not tell the memory")
def test_long_lines_of_all_streams_have_a_bound_together(tmp_path):
    """40 streams with a line of 8 MB each, which takes 32 MB when it is decoded, end together. Before they had a bound
    together the peak was 930 to 951 MiB; it is 393 to 409, of which 342 are there after one such line."""
    limits = ("--max-held", str(32 << 20), "--max-line", str(8 << 20), "--streams", "40")
    with serving(tmp_path / "seen.ndx", *limits) as service:
        line = _emoji_line(8_000_000) + b"\n"
        assert [each["status"] for each in service.stream("check", [line[:-1]])] == ["new"]
        before = service.memory()
        said = _all_at_once(service, 40, line)
        assert [[each.get("status") for each in lines] for lines in said] == [["new"]] * 40
        assert service.memory() < before + (32 << 20) + 2 * 40 * FREE


def test_streams_that_wait_for_each_other_are_all_answered(tmp_path):
    """Eight streams, and room for one long line."""
    limits = ("--max-held", str(4 << 20), "--max-line", str(4 << 20), "--max-body", "1000")
    with serving(tmp_path / "seen.ndx", *limits) as service:
        said = _all_at_once(service, 8, (_emoji_line(3_900_000) + b"\n") * 2)
        assert [[each.get("status") for each in lines] for lines in said] == [["new"] * 2] * 8
        assert "neardup_held_bytes 0.0" in service.http.get("/metrics").text


def test_a_line_that_finds_no_room_in_time_ends_its_stream(tmp_path):
    limits = ("--max-held", str(4 << 20), "--max-line", str(4 << 20), "--max-body", "1000", "--timeout", "1")
    with serving(tmp_path / "seen.ndx", *limits) as service:
        line = _emoji_line(3_900_000) + b"\n"
        with service.begin("/v1/stream/check", len(line), NDJSON) as first:
            first.sendall(line[:2_000_000])
            while "neardup_held_bytes 0.0" in service.http.get("/metrics").text:
                time.sleep(0.02)
            (problem,) = _converse(service, line, threading.Barrier(1))
            assert (problem["line"], problem["error"]["type"]) == (1, "/docs#busy")
            assert service.stream("check", [{"text": fresh()}] * 1000)[0]["status"] == "new"
        end = time.monotonic() + 5
        while (
            "neardup_held_bytes 0.0" not in service.http.get("/metrics").text
        ):  # until it has seen that the first left
            assert time.monotonic() < end
            time.sleep(0.02)
        assert [each["status"] for each in service.stream("check", [line[:-1]])] == ["new"]


def test_the_stream_that_waited_longest_is_given_room_first():
    async def tried() -> None:
        room, caller = Places("held", 100), Caller()
        streams = LineRoom(room, Limits(line=100, seconds=0.2))
        first, second, third = (streams.of(caller) for _ in range(3))
        first.hold(FREE + 60)
        waiting = [asyncio.create_task(each.wait(FREE + size)) for each, size in ((second, 70), (third, 30))]
        await asyncio.sleep(0.1)
        assert not waiting[1].done()  # though there are 40 bytes
        with pytest.raises(Problem):
            await waiting[0]
        await waiting[1]
        assert room.taken == 90
        first.hold(0)
        third.hold(0)
        assert room.taken == 0

    in_a_loop(tried())


def test_long_lines_are_worked_on_as_far_as_one_longest_line_goes():
    async def tried() -> list[str]:
        streams, order = LineRoom(Places("held", 100), Limits(line=10 * FREE)), []

        async def work(name_: str, size: int) -> None:
            async with streams.working(size):
                order.append(f"+{name_}")
                await asyncio.sleep(0.02)
                order.append(f"-{name_}")

        sizes = {"a": 4 * FREE, "b": 5 * FREE, "c": 20 * FREE, "d": 2 * FREE, "short": FREE}
        await asyncio.gather(*(work(*each) for each in sizes.items()))
        return order

    assert in_a_loop(tried()) == ["+a", "+b", "+short", "-a", "-b", "-short", "+c", "-c", "+d", "-d"]
