"""Two services on one PostgreSQL: what one is told the other knows, and a server that goes away is told of."""

import threading

import pytest

from tests.index.postgres import Server
from tests.service.serving import fresh, name, problem, serving

PASSWORD = "a-password-that-nobody-may-see"


@pytest.fixture(scope="module")
def server():
    started = Server()
    yield started
    started.remove()


def test_services_share_an_index(server):
    address = server.address.replace("neardup@", f"neardup:{PASSWORD}@")
    with serving(address) as one, serving(address, "--read-only") as reader:
        with serving(address) as other:
            id_, text = name(), fresh()
            assert one.post("add", {"id": id_, "text": text}).json()["added"]
            assert other.post("check", {"text": text}).json()["match"]["id"] == id_
            assert reader.post("check", {"text": text}).json()["match"]["id"] == id_
            _new_once(one, other)
            assert PASSWORD not in other.http.get("/v1/index").text
            said = other.stop()
            assert other.process.returncode == 0
            assert PASSWORD not in said

        server.stop()
        found = problem(one.post("check", {"text": text}), 503, "store")
        assert PASSWORD not in found["detail"]
        problem(one.http.get("/readyz"), 503, "store")
        assert one.http.get("/healthz").status_code == 200
        [line] = one.stream("add", [{"id": name(), "text": fresh()}])
        assert line["error"]["type"] == "/docs#store"
        server.start()
        assert one.http.get("/readyz").status_code == 200
        assert one.post("check", {"text": text}).json()["match"]["id"] == id_
        assert one.stream("add", [{"id": name(), "text": fresh()}])[0]["added"]


def _new_once(one, other) -> None:
    """Of copies that come to both at the same time one is new."""
    text = fresh()
    statuses: list[str] = []

    def ask(service) -> None:
        statuses.append(service.post("check-and-add", {"id": name(), "text": text}).json()["status"])

    workers = [threading.Thread(target=ask, args=(service,)) for service in (one, other) * 6]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(30)
    assert sorted(statuses) == ["duplicate"] * 11 + ["new"]
