"""Work stops when nobody waits for it, and short work is not held up by long work."""

import json
import os
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from neardup.abandoning import carried, checkpoint, run_until
from neardup.errors import Abandoned
from tests.service.serving import Service, answer_on, fresh, serving

LONG = " ".join(f"w{n:x}" for n in range(1_900_000))[: 15 << 20]
LONG_PAGE = "<p>" + "some words and <b>others</b> in a page without end</p><p>" * 160_000
FORM = "application/x-www-form-urlencoded"


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("waiting") / "seen.ndx") as made:
        made.post("compare", {"first": {"text": fresh()}, "second": {"text": fresh()}, "systems": True})
        made.post("check", {"html": "<p>a page"})
        yield made


def _seconds(service: Service, asked: dict[str, str]) -> float:
    begun = time.perf_counter()
    assert service.post("check", asked).status_code == 200
    return time.perf_counter() - begun


def _left(service: Service, path: str, body: bytes, times: int, kind: str = "application/json") -> None:
    """Ask, and go away when all is sent and the work has begun."""
    with ExitStack() as stack:
        for _ in range(times):
            sock = stack.enter_context(service.begin(path, len(body), kind))
            sock.sendall(body)
        time.sleep(0.5)


def _computes(service: Service) -> bool:
    """Whether a thread of the service runs, or would if a core were free."""
    tasks = Path(f"/proc/{service.process.pid}/task").glob("*/stat")
    return any(task.read_text().rpartition(")")[2].split()[0] in "RD" for task in tasks)


def _spent_until_rest(service: Service) -> float:
    """Return the CPU seconds that the service takes until it rests, which do not depend on the load of the machine."""
    begun, end = service.cpu(), time.monotonic() + 120
    while time.monotonic() < end:
        before, computing = service.cpu(), 0
        for _ in range(20):
            time.sleep(0.02)
            computing += _computes(service)
        if service.cpu() - before < 0.1 and computing < 5:
            return before - begun
    raise AssertionError("the service computes without end")


def test_four_words_do_not_wait_for_three_long_texts(served):
    words = [{"text": f"just four words {n}"} for n in range(60)]
    alone = statistics.median(_seconds(served, asked) for asked in words[:30])
    body = json.dumps({"text": LONG}).encode()
    with ThreadPoolExecutor(3) as pool:

        def ask() -> int:
            kind = {"Content-Type": "application/json"}
            return httpx.post(f"{served.address}/v1/check", content=body, headers=kind, timeout=60).status_code

        long = [pool.submit(ask) for _ in range(3)]
        time.sleep(0.1)
        beside = []
        while not all(each.done() for each in long):
            beside.append(_seconds(served, words[len(beside) % 60]))
        assert [each.result() for each in long] == [200] * 3
    assert statistics.median(beside) < 10 * alone + 0.05


def test_comparing_stops_when_its_askers_leave(served):
    """Four times three to six seconds of work on two threads."""
    half = len(LONG) // 2
    both = {"first": {"text": LONG[:half]}, "second": {"text": LONG[half:]}, "systems": True}
    _left(served, "/v1/compare", json.dumps(both).encode(), 4)
    begun = time.monotonic()
    assert served.post("compare", {"first": {"text": "a b"}, "second": {"text": "b a"}}).status_code == 200
    assert served.http.get("/tune").status_code == 200
    assert time.monotonic() - begun < 2.0
    assert _spent_until_rest(served) < 6.0


def test_pages_of_askers_who_left_are_not_read(served):
    _left(served, "/v1/check", json.dumps({"html": LONG_PAGE}).encode(), 8)
    begun = time.monotonic()
    assert served.post("check", {"html": f"<p>{fresh()}"}).json()["status"] == "new"
    assert served.post("check", {"text": fresh()}).json()["status"] == "new"
    assert time.monotonic() - begun < 2.0
    assert served.post("check", {"html": LONG_PAGE[:600_000]}).status_code == 200  # among the long ones
    assert time.monotonic() - begun < 8.0


def test_the_form_is_answered_while_others_compare(served):
    half = len(LONG) // 2
    body = f"first={LONG[:half]}&second={LONG[half:]}".replace(" ", "+").encode()
    head = f"POST /compare HTTP/1.1\r\nHost: {served.host}\r\nOrigin: http://{served.host}\r\nContent-Type: {FORM}\r\n"
    with ExitStack() as stack:
        for _ in range(4):
            sock = stack.enter_context(served.connect())
            sock.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        begun = time.monotonic()
        small = {"first": fresh(), "second": fresh()}
        answer = served.http.post("/compare", data=small, headers={"Origin": served.address})
        assert answer.status_code == 200
        assert served.http.get("/compare").status_code == 200
        assert time.monotonic() - begun < 3.0
    assert _spent_until_rest(served) < 8.0


def test_a_write_whose_asker_leaves_is_done_whole_or_not_at_all(served):
    id_ = f"left-{os.getpid()}"
    _left(served, "/v1/add", json.dumps({"id": id_, "text": LONG}).encode(), 1)
    _spent_until_rest(served)
    stored = served.http.get(f"/v1/documents/{id_}")
    assert stored.status_code in (200, 404)
    if stored.status_code == 200:
        assert stored.json()["tokens"] == LONG.count(" ") + 1
    assert served.post("add", {"id": id_, "text": LONG}).json()["added"] == (stored.status_code == 404)


def test_one_who_left_is_told_as_such(tmp_path):
    service = Service(tmp_path / "seen.ndx")
    half = len(LONG) // 2
    both = {"first": {"text": LONG[:half]}, "second": {"text": LONG[half:]}, "systems": True}
    _left(service, "/v1/compare", json.dumps(both).encode(), 1)
    with service.connect() as sock:
        sock.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert answer_on(sock)[0] == 200
    said = [json.loads(line) for line in service.stop().splitlines() if line.startswith("{")]
    assert [line["status"] for line in said if line["route"] == "/v1/compare"] == [499]


def test_a_checkpoint_ends_work_that_nobody_waits_for():
    done = []

    def work() -> None:
        for step in range(5):
            checkpoint()
            done.append(step)

    work()  # outside of a service
    assert done == [0, 1, 2, 3, 4]
    with pytest.raises(Abandoned):
        run_until(lambda: len(done) >= 8, work)
    assert len(done) == 8


def test_another_thread_stops_for_the_same_reason():
    def outside() -> None:
        with ThreadPoolExecutor(1) as pool:
            pool.submit(carried(checkpoint)).result()

    gone = iter([False, True])
    with pytest.raises(Abandoned):
        run_until(lambda: next(gone), outside)
