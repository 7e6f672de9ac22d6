"""The page's server: who may ask, what is answered, and that nothing that was acknowledged is ever lost."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient

import neardup
from neardup import Result
from neardup.audit import LabellingSession, app
from neardup.audit.judging import digest_of
from neardup.audit.labels import Labels
from neardup.audit.server import LARGEST, address, listen, page
from neardup.errors import MissingExtra, UsageError

HERE = "http://127.0.0.1:4321"


@pytest.fixture
def session(finished, tmp_path) -> LabellingSession:
    return LabellingSession.begin(Result.open(finished), tmp_path / "audit", pairs=20, labeller="ann")


@pytest.fixture
def client(session) -> TestClient:
    made = app(session)
    return TestClient(made, base_url=HERE, headers={"Authorization": f"Bearer {made.state.token}"})


def say(client: TestClient, **label) -> httpx.Response:
    return client.post("/api/labels", json={"pair": 0, "verdict": "correct", **label}, headers={"Origin": HERE})


def test_labels_are_saved_and_answered(client, session):
    answer = say(client, pair=3, verdict="incorrect", reason="item", note="x")
    assert answer.status_code == 200
    assert answer.json()["labels"][3] == {"verdict": "incorrect", "reason": "item", "note": "x", "labeller": "ann"}
    assert answer.json()["precision"]["incorrect"] == 1
    assert Labels(session.folder / "labels.jsonl").history[-1].first == session.pairs[3].first
    assert client.get("/api/state").json() == answer.json()
    assert say(client, pair=3, verdict=None).json()["labels"][3] is None


def test_texts_that_were_left_out_are_told(session):
    session.pairs[2] = replace(session.pairs[2], first_text=None, first_length=5 << 20)
    made = app(session)
    client = TestClient(made, base_url=HERE, headers={"Authorization": f"Bearer {made.state.token}"})
    pair = client.get("/api/pairs/2").json()
    assert pair["left_out"] == {"first": 5 << 20, "second": None}
    assert pair["segments"] == []
    assert pair["cut"] == {"first": False, "second": False}
    assert client.get("/api/texts/2").json()["first"] is None
    assert client.get("/api/pairs/3").json()["left_out"] == {"first": None, "second": None}


def test_pairs_and_texts(client, session):
    pair = client.get("/api/pairs/4").json()
    assert pair["first"] == session.pairs[4].first
    assert "first_text" not in pair
    assert "".join(s[1] for s in pair["segments"] if s[0] != "passed")
    texts = client.get("/api/texts/4").json()
    assert texts["second"] == session.pairs[4].second_text


@pytest.mark.parametrize("number", ["20", "-1", "x", "9" * 30, "1.0", "%F0%9F%92%A9", "٣"])
def test_pairs_that_are_not_there(client, number):
    for path in ("pairs", "texts"):
        assert client.get(f"/api/{path}/{number}").status_code == 404
    assert say(client, pair=number).status_code == 404


@pytest.mark.parametrize(
    "label",
    [
        {"verdict": "yes"},
        {"verdict": 1},
        {"reason": "item"},
        {"reason": []},
        {"note": None},
        {"note": "x" * 2001},
        {"pair": None, "verdict": "correct"},
        {"pair": True},
    ],
)
def test_labels_that_are_none(client, session, label):
    assert say(client, **label).status_code in (400, 404)
    assert not (session.folder / "labels.jsonl").exists()


@pytest.mark.parametrize("body", [b"", b"[]", b"nonsense", b"\xff", b'"x"', b"[" * 8000, b"{" + b" " * LARGEST + b"}"])
def test_bodies_that_are_none(client, session, body):
    answer = client.post("/api/labels", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 413)
    form = client.post("/api/labels", content=b"pair=1", headers={"Content-Type": "text/plain"})
    assert form.status_code == 415
    assert not (session.folder / "labels.jsonl").exists()


@pytest.mark.parametrize("path", ["/api/state", "/api/pairs/0", "/api/texts/0", "/api/labels"])
def test_without_the_token_nothing_is_told(session, path):
    client = TestClient(app(session), base_url=HERE)
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Bearer é"}, {"Cookie": "token=x"}):
        ask = client.post if path.endswith("labels") else client.get
        answer = ask(path, headers={k: v.encode() for k, v in headers.items()})
        assert answer.status_code == 401
        assert session.pairs[0].first not in answer.text


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example:4321", "", "localhost.evil.example", "[::2]:1"]
)
def test_another_name_is_refused(client, host):
    """A site that rebinds its name to this machine still asks under its own."""
    for path in ("/", "/api/state"):
        assert client.get(path, headers={"Host": host}).status_code == 421


@pytest.mark.parametrize("host", ["127.0.0.1:4321", "localhost:1", "LOCALHOST", "[::1]:80"])
def test_own_names_are_not(client, host):
    assert client.get("/api/state", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:9", "http://localhost:4321"])
def test_labels_from_elsewhere_are_refused(client, session, origin):
    answer = client.post("/api/labels", json={"pair": 0, "verdict": "correct"}, headers={"Origin": origin})
    assert answer.status_code == 403
    assert not (session.folder / "labels.jsonl").exists()


def test_the_page_holds_nothing_of_the_run(client, session):
    answer = client.get("/", headers={"Authorization": ""})
    assert answer.status_code == 200
    assert answer.text == page()
    assert session.pairs[0].first not in answer.text
    assert answer.headers["content-security-policy"] == "frame-ancestors 'none'"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["referrer-policy"] == "no-referrer"
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', answer.text)[1]
    assert "default-src &#x27;none&#x27;" in policy
    assert "unsafe" not in policy
    assert not re.search(r"\son[a-z]+=", answer.text.partition("<script")[0])


def test_methods(client):
    assert client.get("/api/labels").status_code == 405
    assert client.post("/api/state").status_code == 405
    assert client.get("/api/nothing").status_code == 404


def test_it_can_be_mounted(session):
    inner = app(session, token="t", hosts=("testserver",))
    outer = TestClient(Starlette(routes=[Mount("/audit", inner)]))
    assert outer.get("/audit/").text == page()
    assert outer.get("/audit/api/state", headers={"Authorization": "Bearer t"}).status_code == 200
    # Paths without a slash before them stay below the mount.
    assert 'site ? site.dataset.api : "api"' in page()
    assert "fetch(`${api}/${path}`" in page()


def test_loopback_alone():
    for host in ("0.0.0.0", "192.168.1.1", "::", "example.org"):
        with pytest.raises(UsageError, match=r"loopback|this machine alone"):
            listen(host, 0)
    with listen("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        assert address(listening, "t") == f"http://127.0.0.1:{port}/#t"
        with pytest.raises(UsageError, match=f"port {port} cannot be used"):
            listen("127.0.0.1", port)


def test_without_the_extra_it_says_what_to_install(session, monkeypatch):
    monkeypatch.setitem(sys.modules, "starlette.applications", None)
    with pytest.raises(MissingExtra, match=r"pip install 'neardup\[serve\]'"):
        app(session)


class Served:
    """The command in a process of its own."""

    def __init__(self, out: Path, *options: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "neardup", "audit", str(out), "--label", *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        url, _, token = self.process.stdout.readline().strip().partition("/#")
        self.client = httpx.Client(base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=20)

    def end(self, how: int) -> tuple[str, str]:
        self.client.close()
        self.process.send_signal(how)
        return self.process.communicate(timeout=30)


@pytest.fixture
def out(finished, tmp_path) -> Path:
    """A run whose audit folder is this test's own."""
    made = tmp_path / "out"
    made.mkdir()
    for name in ("run.json", "work"):
        (made / name).symlink_to(finished / name)
    return made


def test_killed_in_the_middle_everything_acknowledged_is_there(out):
    served = Served(out, "--pairs", "30")
    acknowledged = []

    def label() -> None:
        for number in range(30):
            try:
                answer = served.client.post("api/labels", json={"pair": number, "verdict": "correct"})
            except httpx.HTTPError:
                return
            if answer.status_code == 200:
                acknowledged.append(number)

    worker = threading.Thread(target=label)
    worker.start()
    while len(acknowledged) < 9:
        time.sleep(0.002)
    os.kill(served.process.pid, signal.SIGKILL)
    worker.join(30)
    served.process.communicate(timeout=30)
    session = LabellingSession(out / "audit")
    labelled = {number for number in range(30) if session.said(number)}
    assert set(acknowledged) <= labelled
    assert len(labelled) < 30

    again = Served(out)
    assert again.client.get("api/state").json()["open"] == len(labelled)
    stdout, stderr = again.end(signal.SIGINT)
    assert again.process.returncode == 0
    assert stdout == ""
    assert f"{len(labelled)} of 30 pairs labelled" in stderr
    assert "Traceback" not in stderr


def test_the_command_measures_exports_and_says(command, out, tmp_path):
    measured = command("audit", out, "--sample", "50", "--json")
    assert measured.code == 0, measured.stderr
    facts = json.loads(measured.stdout)
    assert facts["labelled"] is None
    assert facts["measured"] == json.loads((out / "audit" / "recall.json").read_text())
    assert facts["measured"]["sampled"] == 50
    assert facts["measured"]["run"] == digest_of(Result.open(out))
    text = command("audit", out, "--sample", "50")
    assert "removals" in text.stdout
    assert "--label" in text.stdout

    early = command("audit", out, "--precision")
    assert early.code == 1
    assert "no pairs have been drawn" in early.stderr
    LabellingSession.begin(Result.open(out), out / "audit", pairs=12).label(0, "correct", "same")
    assert "1 of 12 pairs labelled" in command("audit", out, "--precision").stdout
    target = tmp_path / "truth.jsonl"
    assert command("audit", out, "--export", target, "-q") == (0, "", "")
    assert json.loads(target.read_text())["verdict"] == "correct"
    assert json.loads(command("audit", out, "--precision", "--json").stdout)["labelled"] == 1
    assert "What people say" in command("audit", out, "--sample", "20").stdout


def test_an_export_writes_over_nothing_unasked(command, out, tmp_path):
    LabellingSession.begin(Result.open(out), out / "audit", pairs=12).label(0, "correct", "same")
    target = tmp_path / "truth.jsonl"
    target.write_text("mine\n")
    refused = command("audit", out, "--export", target)
    assert refused.code == 2
    assert "is there already; choose another name, or give --overwrite" in refused.stderr
    assert target.read_text() == "mine\n"
    assert command("audit", out, "--export", target, "--overwrite").code == 0
    assert json.loads(target.read_text())["reason"] == "same"


@pytest.fixture
def another_run(out) -> Path:
    """Pairs were drawn and labelled; then the same folder got another run."""
    session = LabellingSession.begin(Result.open(out), out / "audit", pairs=12)
    session.label(0, "incorrect", "item")
    source = next(iter(Result.open(out).run()["inputs"]))["path"]
    for name in ("run.json", "work"):
        (out / name).unlink()
    neardup.dedup(source, threshold=0.9, work=out / "work", threads=2).write(out, corpus=False)
    return out


def test_labels_of_another_run_are_not_shown_as_this_ones(command, another_run, tmp_path):
    out, target = another_run, tmp_path / "truth.jsonl"
    measured = command("audit", out, "--sample", "20", "--json")
    assert measured.code == 0
    assert json.loads(measured.stdout)["labelled"] is None
    assert "of another run" in measured.stderr
    text = command("audit", out, "--sample", "20")
    assert "What people say" not in text.stdout
    for given in (["--precision"], ["--precision", "--export", target], ["--label"], ["--export", target, "--json"]):
        refused = command("audit", out, *given)
        assert refused.code == 2, given
        assert "holds pairs and labels of another run" in refused.stderr
        assert "--export them for `neardup evaluate`, and move the folder away" in refused.stderr
        assert refused.stdout == ""
        assert not target.exists()
    exported = command("audit", out, "--export", target)
    assert exported.code == 0
    assert json.loads(target.read_text())["verdict"] == "incorrect"
    assert "of another run than the one in" in exported.stderr
    assert "What people say" not in exported.stderr


def test_labels_can_be_exported_when_the_run_is_gone(command, out, tmp_path):
    LabellingSession.begin(Result.open(out), out / "audit", pairs=12).label(0, "correct")
    (out / "work").unlink()
    exported = command("audit", out, "--export", tmp_path / "truth.jsonl")
    assert exported.code == 0
    assert "cannot be told" in exported.stderr
    assert len((tmp_path / "truth.jsonl").read_text().splitlines()) == 1


@pytest.mark.parametrize(
    "options",
    [
        ["--pairs", "5"],
        ["--open"],
        ["--sample", "5", "--label"],
        ["--label", "--precision"],
        ["--seed", "3", "--precision"],
        ["--sample", "5", "--export", "x.jsonl"],
        ["--overwrite"],
        ["--overwrite", "--label"],
    ],
)
def test_options_that_contradict(command, out, options):
    answer = command("audit", out, *options)
    assert answer.code == 2, answer.stderr
    assert options[0] in answer.stderr


def test_no_finished_run(command, tmp_path):
    answer = command("audit", tmp_path)
    assert answer.code == 1
    assert "holds no finished run" in answer.stderr
