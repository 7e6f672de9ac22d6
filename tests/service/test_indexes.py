"""Several indexes in one service: each for itself, and none holds up another."""

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from neardup import Client, Index
from neardup.errors import UsageError
from tests.service.serving import READ, WRITE, Service, fresh, name, problem, secret_file, serving


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    folder = tmp_path_factory.mktemp("indexes")
    with serving(f"news={folder / 'news.ndx'}", f"shop={folder / 'shop.ndx'}", "--recipe", "stream") as made:
        yield made


def test_each_has_its_own_documents(both):
    id_, text = name(), fresh()
    assert both.post("indexes/news/check-and-add", {"id": id_, "text": text}).json()["status"] == "new"
    assert both.post("indexes/news/check", {"text": text}).json()["match"]["id"] == id_
    assert both.post("indexes/shop/check", {"text": text}).json()["status"] == "new"
    assert both.post("check", {"text": text}).json()["match"]["id"] == id_  # news is the first
    path = Client(both.address)._of_index
    assert path == "/v1"


def test_every_call_can_name_one(both):
    with Client(both.address, index="shop") as shop, Client(both.address, index="news") as news:
        id_, text = name("/"), fresh()
        assert shop.add(id_, text)
        assert shop.get(id_).id == id_
        assert id_ in shop
        assert id_ not in news
        assert shop.similar(text)[0].id == id_
        assert shop.sketch([{"id": "a", "text": text}])["sketches"][0]["id"] == "a"
        assert shop.compare(text, text)["identical"]
        assert [verdict.new for verdict in shop.check_many([{"text": text}, {"text": fresh()}])] == [False, True]
        assert [verdict.new for verdict in news.check_many([{"text": text}])] == [True]
        assert shop.update(id_, fresh())
        assert list(shop.remove_many([id_])) == [True]
        assert not shop.remove(id_)
        assert shop.info()["documents"] == len(shop)
        assert repr(shop).endswith(" shop>")
        assert shop.group([{"id": "a", "text": text}]).groups
    gone = both.http.delete(f"/v1/indexes/shop/documents/{id_.replace('?', '%3F')}")
    problem(gone, 404, "no-document")


def test_names_that_are_not_served(both):
    for path in ("indexes/other/check", "indexes/NEWS/check", "indexes/other/stream/check"):
        problem(both.post(path, {"text": "a"}), 404, "unknown-index")
    problem(both.http.get("/v1/indexes/other"), 404, "unknown-index")
    problem(both.http.get("/v1/indexes/other/documents/a"), 404, "unknown-index")
    odd = ("news/group", "news/index", "news/healthz", "news/")
    for path in odd:
        problem(both.post(f"indexes/{path}", {"text": "a"}), 404, "not-found")
    for path in ("news//check", "n%65ws/check", "/check"):
        assert both.post(f"indexes/{path}", {"text": "a"}).status_code == 400
    problem(both.http.get("/v1/indexes/news/check"), 405, "method")
    with Client(both.address, index="other/../news") as client, pytest.raises(UsageError):
        client.info()


def test_they_are_listed(both):
    found = both.http.get("/v1/indexes").json()["indexes"]
    assert [(each["name"], each["default"]) for each in found] == [("news", True), ("shop", False)]
    assert {each["recipe"] for each in found} == {"stream"}
    with Client(both.address) as client:
        assert client.indexes() == found


def test_metrics_tell_them_apart(both):
    both.post("indexes/shop/check", {"text": fresh()})
    lines = both.http.get("/metrics").text.splitlines()
    assert any(line.startswith('neardup_documents_total{index="shop",what="checked"}') for line in lines)
    assert any(line.startswith('neardup_index_documents{index="news"}') for line in lines)
    assert any('route="/v1/indexes/{index}/check"' in line for line in lines)


def test_a_single_one_is_called_default(service):
    text = fresh()
    service.post("add", {"id": name(), "text": text})
    assert service.post("indexes/default/check", {"text": text}).json()["status"] == "duplicate"
    assert [each["name"] for each in service.http.get("/v1/indexes").json()["indexes"]] == ["default"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("a=one.ndx", "a=two.ndx"), "is called a too"),
        (("one.ndx", "two.ndx"), "is called default too"),
        (("a=",), "names no index"),
    ],
)
def test_names_on_the_command_line(given, said, tmp_path, monkeypatch, command_line):
    monkeypatch.chdir(tmp_path)
    done = command_line("serve", *given, "--port", "0")
    assert done.returncode == 2
    assert said in done.stderr


def test_all_are_closed_in_the_end(tmp_path):
    served = [f"{name}={tmp_path / name}" for name in ("a", "b", "default")]
    service = Service(served[0], *served[1:])
    text = fresh()
    listed = service.http.get("/v1/indexes").json()["indexes"]
    assert [each["name"] for each in listed if each["default"]] == ["default"]
    service.post("indexes/b/add", {"id": "1", "text": text})
    said = service.stop()
    assert service.process.returncode == 0
    assert "Stopped." in said
    for each in ("a", "b", "default"):
        with Index.open(tmp_path / each) as index:
            assert index.check(text).new == (each != "b")


_SCRIPT = """
import sys, time
from neardup.errors import StoreError
from neardup.index import Index
from neardup.service import Limits, Log, Settings, address_of, listen, serve

class Slow(Index):
    def check_many(self, documents):
        time.sleep(2)
        return super().check_many(documents)

    def contains_many(self, ids):
        raise StoreError("postgresql://somebody@somewhere is away")

settings = Settings(Limits(concurrency=8, streams=2, seconds=10))
with Slow.open(sys.argv[1]) as slow, Index.open(sys.argv[2]) as fast, listen("127.0.0.1", 0, settings) as listening:
    fast.check("a rose")
    serve({"slow": slow, "fast": fast}, listening, settings, Log("none"),
          ready=lambda: print(address_of(listening), flush=True))
"""


class Slow(Service):
    def __init__(self, folder: Path) -> None:
        self._begin([sys.executable, "-c", _SCRIPT, str(folder / "slow"), str(folder / "fast")])


def test_a_slow_one_holds_up_nobody_else(tmp_path):
    service = Slow(tmp_path)
    try:
        with ThreadPoolExecutor(20) as pool:
            waiting = [pool.submit(service.post, "indexes/slow/check", {"text": fresh()}) for _ in range(20)]
            time.sleep(0.5)
            began = time.perf_counter()
            for _ in range(10):
                assert service.post("indexes/fast/check", {"text": fresh()}).status_code == 200
            assert time.perf_counter() - began < 1.5  # the slow ones take 2 seconds and more
            statuses = [each.result().status_code for each in waiting]
        assert statuses.count(200) >= 4
        assert set(statuses) <= {200, 503}
        problem(service.http.get("/readyz"), 503, "store")
    finally:
        service.stop()


def test_tokens_that_are_for_some_of_them(tmp_path):
    tokens = secret_file(
        tmp_path / "tokens.toml",
        f'[crawler]\ntoken = "{READ}"\nrights = "write"\nindexes = ["shop"]\n[all]\ntoken = "{WRITE}"\n',
    )
    served = f"news={tmp_path / 'news'}", f"shop={tmp_path / 'shop'}"
    with serving(*served, "--tokens", str(tokens)) as service:
        some, every = ({"headers": {"Authorization": f"Bearer {token}"}} for token in (READ, WRITE))
        asked = {"id": "1", "text": fresh()}
        assert service.post("indexes/shop/add", asked, **some).json()["added"]
        for path in ("indexes/news/add", "add", "indexes/nobody/add"):  # the default one is news
            problem(service.post(path, asked, **some), 404, "unknown-index")
        problem(service.http.get("/v1/documents/1", **some), 404, "unknown-index")
        problem(service.http.get("/metrics", **some), 403, "forbidden")
        pair = {"first": {"text": "a rose"}, "second": {"text": "a rose"}}
        assert service.post("indexes/shop/compare", pair, **some).json()["identical"]
        problem(service.post("compare", pair, **some), 404, "unknown-index")  # by the recipe of news
        assert service.post("compare", pair, **every).json()["identical"]
        assert [each["name"] for each in service.http.get("/v1/indexes", **some).json()["indexes"]] == ["shop"]
        assert len(service.http.get("/v1/indexes", **every).json()["indexes"]) == 2
        assert service.http.get("/metrics", **every).status_code == 200
        problem(service.post("indexes/shop/add", asked, **every), 403, "forbidden")
        problem(service.http.get("/v1/indexes"), 401, "no-token")
