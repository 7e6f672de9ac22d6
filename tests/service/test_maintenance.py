"""What operators do while a service goes on: compaction, backups, verification, expiry, a collection opened anew."""

import json
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from neardup import Client, Index
from neardup.errors import StoreError
from neardup.index import expiry, store
from neardup.service import shapes
from neardup.service.jobs import MOST, Jobs
from neardup.service.logs import Log
from neardup.service.problems import Problem
from tests.service.serving import ADMIN, READ, WRITE, Service, fresh, problem, secret_file, serving


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    return {f"{n}": fresh() for n in range(50)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("maintenance")


@pytest.fixture(scope="module")
def service(folder, texts):
    (folder / "backups").mkdir()
    tokens = "".join(
        f'[{name}]\ntoken = "{token}"\nrights = "{name}"\n'
        for name, token in (("read", READ), ("write", WRITE), ("admin", ADMIN))
    )
    tokens += '[some]\ntoken = "admin-of-one-index-alone"\nrights = "admin"\nindexes = ["b"]\n'
    secret_file(folder / "tokens.toml", tokens)
    options = ("--tokens", str(folder / "tokens.toml"), "--backup-folder", str(folder / "backups"))
    with serving(f"a={folder / 'a.ndx'}", f"b={folder / 'b.ndx'}", *options) as made:
        with Client(made.address, token=WRITE) as client:
            assert all(client.add_many({"id": id_, "text": text} for id_, text in texts.items()))
        yield made


@pytest.fixture
def admin(service):
    with Client(service.address, token=ADMIN) as client:
        yield client


def headers(token: str) -> dict[str, Any]:
    return {"headers": {"Authorization": f"Bearer {token}"}}


def test_an_index_is_compacted(admin):
    found = admin.compact()
    assert found["bytes"] > 0


def test_an_index_is_verified(admin):
    found = admin.verify()
    assert found["sound"]
    assert (found["documents"], found["damages"], found["problems"]) == (50, 0, [])


def test_a_backup_is_whole_and_goes_where_the_operator_said(admin, service, folder, texts, tmp_path):
    found = admin.backup("monday")
    assert found == {"name": "monday", "documents": 50, "bytes": found["bytes"]}
    Index.restore(folder / "backups/a/monday", tmp_path / "restored.ndx")
    with Index.open(tmp_path / "restored.ndx") as restored:
        assert all(id_ in restored for id_ in texts)
    again = service.post("backup", {"name": "monday"}, **headers(ADMIN))
    assert "monday" in problem(again, 409, "no-backup")["detail"]
    with Client(service.address, token=ADMIN, index="b") as other:
        assert other.backup("monday")["documents"] == 0


@pytest.mark.parametrize("name", ["../x", "/tmp/x", "a/b", "", ".", "..", "a\0", "x" * 65, "a\n", ".hidden", "-x", "é"])
def test_names_of_backups_lead_nowhere_else(service, folder, name):
    found = problem(service.post("backup", {"name": name}, **headers(ADMIN)), 422, "invalid")
    assert "has 1 to 64 letters, digits" in found["detail"]
    assert "regex" not in found["detail"]
    assert {path.name for path in folder.iterdir()} == {"a.ndx", "b.ndx", "backups", "tokens.toml"}


def test_only_operators_may(service):
    for what, asked in (("compact", None), ("verify", None), ("backup", {"name": "x"}), ("expire", {"keep_days": 1})):
        for token in (READ, WRITE):
            problem(service.post(what, asked, **headers(token)), 403, "forbidden")
        problem(service.post(what, asked), 401, "no-token")
        problem(service.post(what, asked, **headers("admin-of-one-index-alone")), 404, "unknown-index")
    problem(service.http.get("/v1/jobs", **headers(WRITE)), 403, "forbidden")
    problem(service.post("collection/reload", **headers(ADMIN)), 404, "no-collection")


def test_jobs_are_listed_for_those_who_may_use_their_index(service):
    started = service.post("indexes/b/verify", **headers(ADMIN))
    assert started.status_code == 202
    job = started.json()
    assert (job["what"], job["index"]) == ("verify", "b")
    ended = service.http.get(f"/v1/jobs/{job['id']}", **headers("admin-of-one-index-alone"))
    assert ended.status_code == 200
    mine = service.http.get("/v1/jobs", **headers("admin-of-one-index-alone")).json()["jobs"]
    every = service.http.get("/v1/jobs", **headers(ADMIN)).json()["jobs"]
    assert {each["index"] for each in mine} == {"b"}
    assert {each["index"] for each in every} >= {"b"}
    of_a = service.post("compact", **headers(ADMIN)).json()["id"]
    problem(service.http.get(f"/v1/jobs/{of_a}", **headers("admin-of-one-index-alone")), 404, "no-job")
    problem(service.http.get("/v1/jobs/0000000000000000", **headers(ADMIN)), 404, "no-job")


def test_by_command(service, folder, command_line, monkeypatch):
    token = secret_file(folder / "backups" / "admin-token", f"{ADMIN}\n")
    place = f"{service.address}/v1/indexes/b"
    for arguments, said in (
        (["compact", place], "before"),
        (["verify", place], "nothing is damaged"),
        (["backup", place, "by-command"], "all of it was read"),
        (["expire", place, "--keep-days", "3"], "0 documents expired"),
    ):
        done = command_line("index", *arguments, "--token-file", token)
        assert done.returncode == 0, (arguments, done.stderr)
        assert said in done.stdout + done.stderr
    token.write_text("a-token-of-another-service")
    monkeypatch.setenv("NEARDUP_TOKEN", "a-token-of-another-service")
    for option, source in ((("--token-file", token), "--token-file"), ((), "NEARDUP_TOKEN")):
        done = command_line("index", "compact", place, *option)
        assert done.returncode == 2
        assert f"the token of {source}" in done.stderr
        assert "a-token-of" not in done.stderr
    monkeypatch.delenv("NEARDUP_TOKEN")
    token.unlink()
    done = command_line("index", "compact", place)
    assert done.returncode == 2
    assert "--token-file FILE" in done.stderr
    assert "NEARDUP_TOKEN" in done.stderr
    assert "Bearer" not in done.stderr


def test_one_job_at_a_time_and_the_latest_are_remembered():
    log = Log("none")
    jobs, go = Jobs(log), Event()
    first = jobs.start("compact", "a", lambda stop: {"waited": go.wait(10)})
    with pytest.raises(Problem, match=first.id) as refused:
        jobs.start("verify", "a", lambda stop: {})
    assert refused.value.kind == "job-running"
    other = jobs.start("verify", "b", lambda stop: {})
    other.thread.join()
    assert other.out().state == "done"
    assert first.out().state == "running"
    go.set()
    first.thread.join()
    assert first.out().result == {"waited": True}
    for n in range(2 * MOST):
        jobs.start(f"{n}", "a", lambda stop: {}).thread.join()
    assert [job.what for job in jobs if job.target == "a"] == [f"{n}" for n in range(2 * MOST - 1, MOST - 1, -1)]
    assert [job.id for job in jobs if job.target == "b"] == [other.id]
    failed = jobs.start("verify", "a", lambda stop: {}["secret text"])
    failed.thread.join()
    assert failed.out().state == "failed"
    assert "secret" not in str(failed.out())
    waiting = jobs.start("expire", "a", lambda stop: {"stopped": _until(stop)})
    assert jobs.close(time.monotonic() + 5)
    assert waiting.out().result == {"stopped": True}
    with pytest.raises(Problem):
        jobs.start("verify", "a", lambda stop: {})
    assert isinstance(waiting.out(), shapes.JobOut)
    log.close()


def _until(stop: Callable[[], bool]) -> bool:
    end = time.monotonic() + 5
    while not stop() and time.monotonic() < end:
        time.sleep(0.01)
    return stop()


def test_documents_that_were_not_seen_expire_while_it_is_served(tmp_path, monkeypatch):
    now = store.today()
    old, met = fresh(), fresh()
    with Index.open(tmp_path / "seen.ndx") as index, monkeypatch.context() as patched:
        patched.setattr(store, "today", lambda: now - 40)
        index.add_many([{"id": "old", "text": old}, {"id": "met", "text": met}])
        patched.setattr(store, "today", lambda: now - 10)
        assert index.check_and_add("again", met).match
    with serving(tmp_path / "seen.ndx", "--keep-days", "30") as service:
        end = time.monotonic() + 20
        while service.post("check", {"text": old}).json()["status"] != "new":
            assert time.monotonic() < end
            time.sleep(0.05)
        assert service.post("check", {"text": met}).json()["match"]["id"] == "met"
        info = service.http.get("/v1/index").json()
        assert (info["documents"], info["expired"], info["oldest"]) == (1, 1, expiry.shown_day(now - 10))
        lines = service.http.get("/metrics").text
        assert 'neardup_documents_total{index="default",what="expired"} 1.0' in lines
        oldest = re.search(r'neardup_index_oldest_timestamp_seconds{index="default"} (\S+)', lines)
        assert float(oldest[1]) == (now - 10) * 86400
        assert service.post("expire", {"keep_days": 5}).status_code == 202
        [job, *_] = service.http.get("/v1/jobs").json()["jobs"]
        assert job["what"] == "expire"
        problem(service.post("expire", {"keep_days": 0}), 422, "invalid")


def test_most_of_an_index_does_not_expire_by_itself(tmp_path, monkeypatch):
    """A clock that is ahead makes all of them old. An operator may let them go."""
    now = store.today()
    kept = fresh()
    with Index.open(tmp_path / "seen.ndx") as index, monkeypatch.context() as patched:
        patched.setattr(store, "today", lambda: now - 40)
        index.add_many([{"id": f"{n}", "text": fresh()} for n in range(119)] + [{"id": "met", "text": kept}])
        patched.setattr(store, "today", lambda: now - 10)
        assert index.check_and_add("again", kept).match
        assert [expiry.overdue(index.store, now - days, 1000) for days in (5, 30, 50)] == [120, 119, 0]
        assert expiry.overdue(index.store, now - 30, 61) == 61
    with serving(tmp_path / "seen.ndx", "--keep-days", "30") as service:
        end = time.monotonic() + 20
        while 'neardup_expiry_refused_total{index="default"} 1.0' not in service.http.get("/metrics").text:
            assert time.monotonic() < end
            time.sleep(0.05)
        assert service.http.get("/v1/index").json()["documents"] == 120
        [job] = service.http.get("/v1/jobs").json()["jobs"]
        assert (job["what"], job["state"]) == ("expire", "failed")
        with Client(service.address) as client:
            assert client.expire(days=30) == {"expired": 119, "documents": 1}
        said = service.stop()
    assert "more than half of the 120 documents of the index default would be forgotten at once, so none was" in said
    assert f"Today is {expiry.shown_day(now)}" in said
    assert "neardup index expire http://HOST:PORT/v1/indexes/default --keep-days 30" in said


@pytest.mark.parametrize("many", [2, 1 << 20])
def test_as_many_are_overdue_as_expire(tmp_path, monkeypatch, many):
    """Also where more were met again than are listed at once."""
    now = store.today()
    texts = [fresh() for _ in range(12)]
    monkeypatch.setattr(expiry, "_MOST_MET", many)
    monkeypatch.setattr(expiry, "_COUNTED", 5)
    with Index.open(tmp_path / "seen.ndx") as index:
        for day in range(4):
            monkeypatch.setattr(store, "today", lambda day=day: now - 40 + 10 * day)
            index.add_many([{"id": f"{day} {n}", "text": texts[3 * day + n]} for n in range(3)])
            for text in texts[: 2 * day]:
                index.check_and_add("again", text)
        for before in range(now - 41, now + 1, 5):
            counted = expiry.overdue(index.store, before, 100)
            assert counted == expiry.expire(index.store, index._layout, before, lambda: False)
        assert len(index) == 0


def test_what_forgets_does_not_fit_to_what_reads_alone(tmp_path):
    Index.open(tmp_path / "seen.ndx").close()
    with pytest.raises(AssertionError, match="--keep-days"):
        Service(tmp_path / "seen.ndx", "--keep-days", "3", "--read-only")


def test_checks_go_on_beside_it(service, admin):
    """Others are not held up: the slowest of many checks beside jobs takes no more than a job of this size could."""
    ended, slowest = Event(), [0.0]

    def check() -> None:
        with Client(service.address, token=WRITE) as client:
            while not ended.is_set():
                began = time.perf_counter()
                assert client.check_and_add(fresh(5), fresh()).added
                slowest[0] = max(slowest[0], time.perf_counter() - began)

    checking = Thread(target=check)
    checking.start()
    try:
        for n in range(3):
            admin.compact()
            assert admin.verify()["sound"]
            admin.backup(f"beside-{n}")
            admin.expire(days=1)
    finally:
        ended.set()
        checking.join()
    assert slowest[0] < 5.0


def corpus(path: Path, *texts: str) -> None:
    path.write_text("".join(json.dumps({"id": f"{n}", "text": text}) + "\n" for n, text in enumerate(texts)))


def hits(service: Service, word: str) -> bool:
    answer = service.http.get("/search", params={"q": word})
    assert answer.status_code == 200, answer.text
    return "document?" in answer.text


def test_a_collection_is_opened_anew(tmp_path, monkeypatch):
    environment = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    pages = tmp_path / "pages.jsonl"
    corpus(pages, "about harbours and ships")
    with serving(None, "--collection", str(pages), environment=environment) as service:
        assert hits(service, "harbours")
        assert not hits(service, "gardens")
        corpus(pages, "about harbours and ships", "about gardens and roses")
        assert not hits(service, "gardens")
        with Client(service.address) as client:
            assert client.reload_collection() == {"documents": 2}
            assert hits(service, "gardens")
            pages.unlink()
            with pytest.raises(StoreError, match=r"pages\.jsonl"):
                client.reload_collection()
            assert hits(service, "gardens")
        corpus(pages, "about mountains")
        service.process.send_signal(signal.SIGHUP)
        end = time.monotonic() + 20
        while not hits(service, "mountains"):
            assert time.monotonic() < end
            time.sleep(0.1)
        assert not hits(service, "gardens")
        lines = service.http.get("/metrics").text
        assert 'neardup_reloads_total{result="done",what="collection"} 2.0' in lines
        assert 'neardup_reloads_total{result="failed",what="collection"} 1.0' in lines
        said = service.stop()
    assert any("pages.jsonl" in line and '"failed"' in line for line in said.splitlines())
    assert service.process.returncode == 0


def test_the_collection_is_for_operators_of_all_indexes(tmp_path):
    """It belongs to the whole service: a token for some indexes neither opens it anew nor sees that somebody did."""
    pages = tmp_path / "pages.jsonl"
    corpus(pages, "about harbours and ships")
    tokens = f'[all]\ntoken = "{ADMIN}"\nrights = "admin"\n'
    for called, indexes in (("some", '"b"'), ("every", '"a", "b"'), ("none", "")):
        tokens += f'[{called}]\ntoken = "admin-of-{called}-by-name"\nrights = "admin"\nindexes = [{indexes}]\n'
    secret_file(tmp_path / "tokens.toml", tokens)
    served = f"a={tmp_path / 'a.ndx'}", f"b={tmp_path / 'b.ndx'}"
    options = ("--tokens", str(tmp_path / "tokens.toml"), "--collection", str(pages))
    with serving(*served, *options, environment={"XDG_CACHE_HOME": str(tmp_path / "cache")}) as service:
        started = service.post("collection/reload", **headers(ADMIN))
        assert started.status_code == 202
        job = started.json()["id"]
        assert service.http.get(f"/v1/jobs/{job}", **headers(ADMIN)).status_code == 200
        for called in ("some", "every", "none"):  # every index by its name is not all of them: others may be added
            theirs = headers(f"admin-of-{called}-by-name")
            refused = service.post("collection/reload", **theirs)
            assert "may use all" in problem(refused, 403, "forbidden")["detail"]
            problem(service.http.get(f"/v1/jobs/{job}", **theirs), 404, "no-job")
            assert service.http.get("/v1/jobs", **theirs).json()["jobs"] == []
        assert [each["id"] for each in service.http.get("/v1/jobs", **headers(ADMIN)).json()["jobs"]] == [job]


def test_pages_are_shown_while_it_is_opened_anew(tmp_path):
    """Asked all the time by several, of a collection that is opened anew again and again."""
    environment = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    pages = tmp_path / "pages.jsonl"
    corpus(pages, *(f"about harbours {n} {fresh()}" for n in range(50)))
    with serving(None, "--collection", str(pages), environment=environment) as service:
        ended, failures, asked = Event(), [], [0]

        def look() -> None:
            with Client(service.address) as _:
                while not ended.is_set():
                    if not hits(service, "harbours"):
                        failures.append("nothing was found")
                    asked[0] += 1

        looking = [Thread(target=look) for _ in range(2)]
        for thread in looking:
            thread.start()
        with Client(service.address) as client:
            for n in range(4):
                corpus(pages, *(f"about harbours {k} {n} {fresh()}" for k in range(50)))
                client.reload_collection()
        ended.set()
        for thread in looking:
            thread.join()
        assert not failures
        assert asked[0] > 4
