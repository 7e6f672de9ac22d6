"""The end: what is in flight is answered, what was acknowledged is there, the process ends well."""

import json
import signal
import threading

import httpx
import pytest

from neardup.index import Index
from tests.service.serving import Service, answer_on, fresh, name

NDJSON = "application/x-ndjson"


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_requests_in_flight_are_answered(tmp_path, how):
    service = Service(tmp_path / "seen.ndx")
    id_, text = name(), fresh()
    body = json.dumps({"id": id_, "text": text}).encode()
    single = service.begin("/v1/check-and-add", len(body))
    single.sendall(body[:10])
    stream = service.begin("/v1/stream/check-and-add", 1 << 20, NDJSON)
    streamed, streamed_text = name(), fresh()
    stream.sendall(json.dumps({"id": streamed, "text": streamed_text}).encode() + b"\n")
    seen = b""
    while b'"added":true' not in seen:
        seen += stream.recv(65536)
    assert service.http.get("/readyz").status_code == 200

    service.process.send_signal(how)
    while True:  # the signal is on its way
        ready = httpx.get(f"{service.address}/readyz")
        if ready.status_code == 503:
            break
    assert ready.json()["type"] == "/docs#stopping"
    assert httpx.get(f"{service.address}/healthz").status_code == 200
    refused = httpx.post(f"{service.address}/v1/check", json={"text": "a"})
    assert (refused.status_code, refused.json()["type"], refused.headers["retry-after"]) == (503, "/docs#stopping", "5")

    while not seen.endswith(b"0\r\n\r\n"):
        piece = stream.recv(65536)
        assert piece
        seen += piece
    [last] = [json.loads(line) for line in seen.splitlines() if line.startswith(b'{"line"')]
    assert (last["line"], last["error"]["type"]) == (2, "/docs#stopping")
    single.sendall(body[10:])
    status, _, answer = answer_on(single)
    assert (status, json.loads(answer)["added"]) == (200, True)
    stream.close()
    single.close()
    said = service.stop()
    assert service.process.returncode == 0
    assert "Stopped." in said
    assert "Traceback" not in said
    with Index.open(tmp_path / "seen.ndx", create=False) as index:
        assert id_ in index
        assert streamed in index
        assert index.check(streamed_text).match.id == streamed


def test_grace_is_bounded(tmp_path):
    """A request that never ends does not keep the process."""
    service = Service(tmp_path / "seen.ndx", "--grace", "0.2")
    with service.begin("/v1/check", 100):
        assert service.http.get("/readyz").status_code == 200
        service.stop()
    assert service.process.returncode == 0


def test_killed_in_the_middle_everything_acknowledged_is_there(tmp_path):
    service = Service(tmp_path / "seen.ndx", "--log-format", "none")
    acknowledged: list[str] = []
    enough = threading.Event()

    def add(worker: int) -> None:
        with httpx.Client(base_url=service.address, timeout=20) as client:
            for at in range(10_000):
                try:
                    answer = client.post("/v1/add", json={"id": f"{worker}-{at}", "text": fresh(20)})
                except httpx.HTTPError:
                    return
                assert answer.json()["added"] is True
                acknowledged.append(f"{worker}-{at}")
                if len(acknowledged) > 60:
                    enough.set()

    workers = [threading.Thread(target=add, args=(worker,)) for worker in range(4)]
    for worker in workers:
        worker.start()
    assert enough.wait(60)
    service.stop(signal.SIGKILL)
    for worker in workers:
        worker.join(30)
    with Index.open(tmp_path / "seen.ndx", create=False) as index:
        assert all(index.contains_many(acknowledged))
        assert len(index) <= len(acknowledged) + len(workers)


def test_concurrent_copies_are_new_once(service):
    """However requests are put together, of many copies at the same time one is new."""
    text = fresh()
    statuses: list[str] = []

    def ask() -> None:
        statuses.append(service.post("check-and-add", {"id": name(), "text": text}).json()["status"])

    workers = [threading.Thread(target=ask) for _ in range(24)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(30)
    assert sorted(statuses) == ["duplicate"] * 23 + ["new"]
