"""Mistakes of our own: told as such, without what a document holds, and the service goes on."""

import json
import sys

from tests.service.serving import Service, fresh, problem

_SCRIPT = """
import sys
from neardup.errors import OutputError, StoreError
from neardup.index import Index
from neardup.service import Log, Settings, address_of, listen, serve

class Broken(Index):
    def check_many(self, documents):
        text = documents[0].text
        if text.startswith("mistake"):
            raise RuntimeError(f"this quotes {text}")
        if text.startswith("full"):
            raise OutputError("no space is left on the disk")
        if text.startswith("damaged"):
            raise StoreError("the store is damaged")
        return super().check_many(documents)

settings = Settings()
with Broken.open(sys.argv[1]) as index, listen("127.0.0.1", 0, settings) as listening:
    log = Log("json")
    serve(index, listening, settings, log, ready=lambda: print(address_of(listening), flush=True))
    log.close()
"""


class Broken(Service):
    def __init__(self, index) -> None:
        self._begin([sys.executable, "-c", _SCRIPT, str(index)])


def test_our_own_mistakes(tmp_path):
    service = Broken(tmp_path / "seen.ndx")
    secret = fresh()
    found = problem(service.post("check", {"text": f"mistake {secret}"}), 500, "failed")
    assert "quotes" not in found["detail"]
    problem(service.post("check", {"text": "full"}), 507, "full")
    damaged = service.post("check", {"text": "damaged"})
    assert "damaged" in problem(damaged, 503, "store")["detail"]
    assert damaged.headers["retry-after"] == "5"
    [line] = service.stream("check", [{"text": f"mistake {secret}"}, {"text": "b"}])
    assert (line["line"], line["error"]["type"]) == (1, "/docs#failed")
    lines = service.stream("check", [{"text": "full"}, {"text": "b"}])
    assert [line["error"]["status"] for line in lines] == [507, 507]
    assert service.post("check", {"text": secret}).json()["status"] == "new"
    said = service.stop()
    assert service.process.returncode == 0
    assert secret.split()[0] not in said
    failures = [line for line in map(json.loads, said.splitlines()) if "failed" in line]
    assert [line["failed"] for line in failures] == ["RuntimeError", "RuntimeError"]
    assert failures[0]["id"] == found["instance"]
    assert failures[0]["at"][-1].endswith("check_many")
