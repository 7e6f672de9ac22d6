"""Pages over HTTP: who may see them, what they answer where something is wrong; and what they are made of."""

import html
import json
import re
import shutil
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Event
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup import dedup
from neardup.audit.session import LabellingSession
from neardup.cli import app
from neardup.comparing import compare
from neardup.searching import Collection
from neardup.service.pages import (
    PAGES,
    Asked,
    Shown,
    Site,
    collection,
    collection_audit,
    collection_report,
    fields,
    reading,
    search,
)
from neardup.service.pages import compare as compare_page
from neardup.service.pages.collection_run import watched
from neardup.service.pages.passages import panes
from neardup.service.pages.search import PER_PAGE, View, _answer
from neardup.service.pages.showing import legible, linkable, percent, plain
from neardup.service.problems import KINDS, Problem
from neardup.service.routes import ROUTES
from neardup.service.settings import Limits
from tests.corpus import documents
from tests.service.serving import READ, WRITE, fresh, path_of, problem, serving

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
SHOWN = [page for page in PAGES if page.method == "GET" and "{" not in page.path and page.gives.startswith("text/html")]


def basic(password: str, name: str = "anybody") -> dict[str, str]:
    return {"Authorization": f"Basic {b64encode(f'{name}:{password}'.encode()).decode()}"}


@pytest.fixture(scope="module")
def searching(tmp_path_factory):
    """A collection, and no index."""
    folder = tmp_path_factory.mktemp("searching")
    rows = [{"id": f"d{n}", "title": f"Title {n}", "text": f"rose {fresh()}"} for n in range(5)]
    (folder / "pages.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    environment = {"XDG_CACHE_HOME": str(folder / "cache")}
    with serving(None, "--collection", str(folder / "pages.jsonl"), environment=environment) as made:
        yield made


@pytest.mark.parametrize("page", SHOWN, ids=lambda page: page.path)
def test_pages_ask_for_a_token_as_browsers_do(guarded, page):
    for headers in ({}, basic("wrong"), basic(""), {"Authorization": "Basic !"}, {"Authorization": f"Basic {READ}"}):
        answer = guarded.http.get(page.path, headers=headers)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"].startswith("Basic ")
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
    for headers in (basic(READ), basic(WRITE, ""), {"Authorization": f"Bearer {READ}"}):
        assert guarded.http.get(page.path, headers=headers).status_code in (200, 404)  # there is no collection


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.method} {page.path}")
def test_no_address_of_a_page_is_open(guarded, page):
    """Forms and what scripts ask for too."""
    path, sent = page.path.replace("{rest}", "0"), {"Origin": guarded.address, "Content-Type": page.takes}
    for headers in ({}, basic("wrong"), {"Authorization": "Bearer wrong"}):
        assert guarded.http.request(page.method, path, headers={**sent, **headers}).status_code == 401
    answer = guarded.http.request(page.method, path, headers={**sent, **basic(READ)})
    writes = page.method == "POST" and page.path.startswith("/collection/audit")
    assert (answer.status_code == 403) == writes


@pytest.mark.parametrize("route", [route for route in ROUTES if route.level != "open"], ids=lambda route: route.path)
def test_a_password_is_for_pages_alone(guarded, route):
    """A browser sends it along, whoever makes it ask."""
    path = path_of(route)
    problem(guarded.http.request(route.method, path, headers=basic(WRITE)), 401, "no-token")


def test_forms_come_from_our_own_pages(service, guarded):
    form = "first=one+text&second=another+text"
    own = {**FORM, "Origin": service.address}
    assert service.http.post("/compare", content=form, headers=own).status_code == 200
    for origin in ({}, {"Origin": "null"}, {"Origin": "https://evil.example"}, {"Origin": "http://127.0.0.1:9"}):
        assert service.http.post("/compare", content=form, headers={**FORM, **origin}).status_code == 403
    goes = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    for site, status in (("cross-site", 403), ("same-site", 403), ("same-origin", 200), ("none", 200)):
        answer = service.http.post("/compare", content=form, headers={**own, **goes, "Sec-Fetch-Site": site})
        assert answer.status_code == status, site
    secure = {"Origin": service.address.replace("http://", "https://")}
    answer = service.http.post("/compare", content=form, headers={**FORM, **secure})
    assert answer.status_code == 403
    assert "--trusted-proxy" in answer.text
    foreign = {**FORM, **basic(READ), "Origin": "https://evil.example"}
    assert guarded.http.post("/compare", content=form, headers=foreign).status_code == 403
    assert guarded.http.post("/compare", content=form, headers={**own, "Origin": guarded.address}).status_code == 401


@pytest.mark.parametrize("dest", ["image", "script", "iframe", "empty", "style"])
def test_other_sites_embed_nothing(service, dest):
    for site in ("cross-site", "same-site"):
        mode = "navigate" if dest == "iframe" else "no-cors"
        headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": dest}
        assert service.http.get("/search?q=a", headers=headers).status_code == 403
    goes = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert service.http.get("/search?q=a", headers=goes).status_code == 200


@pytest.mark.parametrize("page", SHOWN, ids=lambda page: page.path)
def test_heads_of_pages(service, page):
    answer = service.http.get(page.path)
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["content-security-policy"] == "frame-ancestors 'none'"
    assert answer.headers["referrer-policy"] == "same-origin"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "default-src &#x27;none&#x27;" in answer.text
    assert "unsafe" not in answer.text
    assert service.http.head(page.path).content == b""
    assert service.http.get(page.path, headers={"Host": "evil.example"}).status_code == 421


def test_every_page_of_the_navigation_is_there(service):
    page = service.http.get("/").text
    links = re.findall(r'<li><a href="([^"]+)"', page)
    assert "/search" in links
    for link in links:
        assert service.http.get(link).status_code == 200, link


def test_pages_are_not_described(service):
    assert not {page.path for page in PAGES} & set(service.http.get("/openapi.json").json()["paths"])


def test_limits_hold_for_forms(guarded):
    ours = {**FORM, **basic(READ), "Origin": guarded.address}
    for content, status in ((f"first={'a' * 15_000}&second=b", 413), (f"first={'a' * 30_000}", 413), ("&" * 100, 400)):
        answer = guarded.http.post("/compare", content=content, headers=ours)
        assert answer.status_code == status, answer.text
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
    answer = guarded.http.post("/compare", content="{}", headers={**ours, "Content-Type": "application/json"})
    assert answer.status_code == 415


def test_what_takes_too_long_is_said_on_a_page(tmp_path):
    with serving(tmp_path / "seen.ndx", "--timeout", "0.05") as service:
        long = fresh(100_000)
        form = {"first": long, "second": long[::-1]}

        def ask():
            return service.http.post("/compare", data=form, headers={"Origin": service.address})

        answer = ask()
        while KINDS["compiling"].title in answer.text:  # what was compiled is being loaded
            answer = ask()
        assert answer.status_code == 503
        assert "try again" in answer.text
        assert answer.headers["retry-after"] == "5"


def test_other_methods(service):
    problem(service.http.post("/search"), 405, "method")
    problem(service.http.delete("/compare"), 405, "method")


def test_without_an_index(searching):
    for route in ROUTES:
        path = path_of(route)
        answer = searching.http.request(route.method, path, headers={"Content-Type": "application/json"})
        if route.of_index:
            assert "neardup serve INDEX" in problem(answer, 404, "no-index")["detail"]
        elif "{index}" in route.path:
            problem(answer, 404, "unknown-index")
        elif "{job}" in route.path:
            problem(answer, 404, "no-job")
        else:
            assert answer.status_code in (200, 202, 400), (path, answer.text)
    both = {"first": {"text": "a rose is a rose"}, "second": {"text": "a rose is a rose"}}
    assert searching.post("compare", both).json()["identical"] is True
    assert searching.http.get("/readyz").json() == {"status": "ready"}
    assert "neardup_requests_total" in searching.http.get("/metrics").text
    assert "5 results" in searching.http.get("/search?q=rose").text


def test_with_both(tmp_path):
    (tmp_path / "pages.jsonl").write_text(json.dumps({"id": "a", "text": "a rose"}) + "\n")
    ours = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    with serving(tmp_path / "seen.ndx", "--collection", str(tmp_path / "pages.jsonl"), environment=ours) as service:
        assert service.http.get("/v1/index").json()["documents"] == 0
        assert "1 result" in service.http.get("/search?q=rose").text


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ([], "there is nothing to serve: give an INDEX, --collection PATH, or both"),
        (["--port", "0"], "give an INDEX, --collection PATH, or both"),
        (["--collection", "x.jsonl", "--host", "0.0.0.0"], "others could reach what is served there"),
        (["--collection", "x.jsonl", "--recipe", "stream"], "--recipe is about an index"),
        (["--collection", "x.jsonl", "--keep", "text"], "--keep is about an index"),
        (["--collection", "nobody.jsonl", "--port", "0"], "nobody.jsonl"),
    ],
)
def test_what_the_command_refuses(given, says, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        app.main(["serve", *given])
    assert ended.value.code in (1, 2)
    assert says in capsys.readouterr().err


def test_html_in_json_is_utf_8_whatever_it_says(service):
    """A string has been decoded already."""
    page = "<meta charset=windows-1252><p>Grüße an alle, die Straßen fegen und Bäume pflegen</p>"
    both = {"first": {"html": page}, "second": {"text": "Grüße an alle, die Straßen fegen und Bäume pflegen"}}
    assert service.post("compare", both).json()["identical"] is True


REPEATED = re.compile(r'href="(/(?:document|compare)\?[^"]*)"')


def test_of_documents_with_one_id_each_is_shown_and_compared(tmp_path):
    """On the pages of a search and of a group; where the id says enough, an address has no more than that."""
    text = fresh(80)
    rows = [{"id": "x", "text": f"one {text}"}, {"id": "x", "text": f"two {text}"}, {"id": "y", "text": f"one {text}"}]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    dedup(str(tmp_path / "in.jsonl"), work=tmp_path / "out" / "work", on_error="skip").write(tmp_path / "out")
    with Collection.open(tmp_path / "out", folder=tmp_path / "built") as served:
        site = Site(served)
        group = collection.show_group(site, Asked({"kept": "0"})).content.decode()
        found = search.show(site, Asked({"q": text.split()[0]})).content.decode()
        for page in (group, found):
            links = {html.unescape(link) for link in REPEATED.findall(page)}
            assert {"/document?id=x&at=0", "/document?id=x&at=1", "/document?id=y"} <= links
            assert "/compare?a=x&b=x&a_at=0&b_at=1" in links
        for at, word in enumerate(("one", "two")):
            assert f">{word} {text}<" in reading.show(site, Asked({"id": "x", "at": str(at)})).content.decode()
        compared = compare_page.show(site, Asked({"a": "x", "b": "x", "a_at": "0", "b_at": "1"})).content.decode()
        assert "<h1>Near-duplicates</h1>" in compared
        assert {"/document?id=x&at=0", "/document?id=x&at=1"} <= {html.unescape(f) for f in REPEATED.findall(compared)}


def test_a_report_is_made_once_however_many_ask_first(monkeypatch):
    made: list[object] = []
    together = Barrier(16)

    def ask(_: int) -> bytes:
        together.wait()
        return collection_report.show(Site(served), Asked()).content

    served: Any = SimpleNamespace(run=object())
    monkeypatch.setattr(collection_report, "_made", lambda run: made.append(run) or b"the report")
    with ThreadPoolExecutor(16) as pool:
        assert set(pool.map(ask, range(16))) == {b"the report"}
    assert made == [served.run]


PATHS = {(page.method, page.path): page.show for page in PAGES}


def made(folder: Path, threshold: float = 0.8) -> Path:
    """A run over some documents, a removed one among them."""
    source = folder / "in.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in documents(60, seed=5)))
    found = dedup(str(source), work=folder / "out" / "work", threshold=threshold)
    assert len(found.decision.removed)
    found.write(folder / "out")
    return folder / "out"


def refused(site: Site, method: str, path: str, **form: str) -> str:
    with pytest.raises(Problem) as told:
        PATHS[method, path](site, Asked(form=form))
    assert told.value.kind == "run"
    return told.value.detail


def test_a_run_that_is_moved_or_made_again_is_not_shown(tmp_path):
    out = made(tmp_path)
    with Collection.open(out, folder=tmp_path / "built") as collection:
        site = Site(collection)
        shown = PATHS["GET", "/collection"](site, Asked()).content
        out.rename(tmp_path / "moved")
        for path in ("", "/group", "/report", "/audit"):
            assert f"{out} is gone" in refused(site, "GET", f"/collection{path}")
        (tmp_path / "moved").rename(out)
        assert PATHS["GET", "/collection"](site, Asked()).content == shown
        shutil.rmtree(out)
        made(tmp_path, 0.6)
        assert "the run was made again" in refused(site, "GET", "/collection")
        assert "Reload the collection" in refused(site, "POST", "/collection/audit", pairs="3")
        assert "Reload the collection" in refused(site, "POST", "/collection/audit/api/labels")
        assert not (out / "audit").exists()
        assert search.show(site, Asked({"q": "a"})).status == 200


def test_a_run_that_is_moved_while_its_page_is_made(tmp_path):
    """What goes wrong for that is told as what it is."""
    out = made(tmp_path)

    def show(site: Site, asked: Asked) -> Shown:
        out.rename(tmp_path / "moved")
        raise FileNotFoundError

    with Collection.open(out, folder=tmp_path / "built") as collection, pytest.raises(Problem, match="is gone"):
        watched(show)(Site(collection), Asked())


def test_pairs_that_are_moved_away_are_drawn_again(tmp_path):
    out = made(tmp_path)
    with Collection.open(out, folder=tmp_path / "built") as collection:
        site = Site(collection)
        took = sum(step["seconds"] for step in json.loads((out / "run.json").read_text())["steps"])
        for pairs in ("3", "2"):
            assert b"Draw pairs and begin" in collection_audit.show(site, Asked()).content
            assert collection_audit.begin(site, Asked(form={"pairs": pairs})).status == 303
            state = json.loads(PATHS["GET", "/collection/audit/api/state"](site, Asked()).content)
            assert len(state["labels"]) == int(pairs)
            (out / "audit").rename(tmp_path / f"audit-{pairs}")
        with pytest.raises(Problem, match="No pairs have been drawn"):
            PATHS["POST", "/collection/audit/api/labels"](site, Asked(body=b'{"pair": 0, "verdict": "correct"}'))
        assert not (out / "audit").exists()
        shown = PATHS["GET", "/collection"](site, Asked()).content.decode()
        assert f"{took:,.1f} s without the report" in shown, "drawing is no part of the run"


def test_drawing_pairs_may_take_longer_than_a_request(tmp_path, monkeypatch):
    out = made(tmp_path)
    go_on, drawn = Event(), []
    draw = LabellingSession.begin

    def begin(*given: Any, **how: Any) -> LabellingSession:
        assert go_on.wait(30)
        drawn.append(draw(*given, **how))
        return drawn[-1]

    monkeypatch.setattr(LabellingSession, "begin", begin)
    with Collection.open(out, folder=tmp_path / "built") as collection:
        site = Site(collection, limits=Limits(seconds=0.02))
        for _ in range(2):
            assert collection_audit.begin(site, Asked(form={"pairs": "3"})).status == 303
            assert b"Pairs are being drawn" in collection_audit.show(site, Asked()).content
        go_on.set()
        while b"Pairs are being drawn" in (shown := collection_audit.show(site, Asked()).content):
            pass
        assert b'id="pair"' in shown
        assert len(drawn) == 1


def test_a_stored_document_is_measured_in_bytes(tmp_path):
    (tmp_path / "in.jsonl").write_text("".join(json.dumps({"id": n, "text": "ü " * 400}) + "\n" for n in range(2)))
    with Collection.open(tmp_path / "in.jsonl", folder=tmp_path / "built") as collection:
        asked = Asked({"a": "0", "b": "1"})
        with pytest.raises(Problem, match="more than 1,000 bytes"):
            compare_page.show(Site(collection, limits=Limits(document=1000)), asked)
        assert compare_page.show(Site(collection, limits=Limits(document=1200)), asked).status == 200


def test_every_result_is_on_one_page(tmp_path):
    """The repeats too, each once, whatever page its better-ranked twin is on; and each that is shown has a snippet."""
    source = tmp_path / "texts.jsonl"
    source.write_text("".join(json.dumps({"text": f"thousand {n % 60} " * 30}) + "\n" for n in range(100)))
    with Collection.open(source, folder=tmp_path / "built") as collection:
        found = collection.search("thousand", snippets=False)
        for view in ("grouped", "plain"):
            first = _answer(collection, found, View("thousand", 100, view, 1))
            assert first.folded == 40
            shown: list[int] = []
            numbers: list[int] = []
            for page in range(1, first.pages + 1):
                shelves = _answer(collection, found, View("thousand", 100, view, page)).shelves
                assert len(shelves) <= PER_PAGE
                for shelf in shelves:
                    shown += [shelf.entry.rank, *(similar.entry.rank for similar in shelf.similar)]
                    assert ("thousand", True) in shelf.snippet
                numbers += [shelf.number for shelf in shelves]
            assert sorted(shown) == list(range(1, 101))
            assert numbers == list(range(1, 1 + len(numbers)))


_TEXTS = st.lists(st.sampled_from([*"abcdef.\nß漢"]), min_size=1, max_size=60).map(" ".join)


@settings(max_examples=30, deadline=None)
@given(_TEXTS.filter(lambda text: any(map(str.isalnum, text))), _TEXTS.filter(lambda text: any(map(str.isalnum, text))))
def test_panes_hold_the_texts_and_every_link_leads_somewhere(first, second):
    report = compare(first, second, passage=2)
    made = panes(report)
    marked = [{piece.passage for piece in pane.pieces if piece.opens} for pane in made]
    for pane, side, other in zip(made, (report.first, report.second), reversed(marked), strict=True):
        assert "".join(piece.text for piece in pane.pieces) == side.text
        assert pane.left_out == 0
        opened = [piece.passage for piece in pane.pieces if piece.opens]
        assert len(opened) == len(set(opened))
        for piece in pane.pieces:
            assert piece.twin in (other if piece.passage else {None})


def test_what_is_not_shown_is_not_linked():
    text = " ".join(f"w{n}" for n in range(200))
    report = compare(text, f"{text} end", passage=2)
    first, second = panes(report, room=50)
    assert [len("".join(piece.text for piece in pane.pieces)) for pane in (first, second)] == [50, 50]
    assert first.left_out == len(text) - 50
    moved = compare(f"{text} one two three four", f"one two three four {text}", passage=3)
    first, second = panes(moved, room=50)
    assert [(piece.passage, piece.twin) for piece in second.pieces if piece.passage] == [(2, None), (1, 1)]


def test_values_as_they_are_shown():
    assert [percent(x) for x in (0, 0.001, 0.5, 0.999, 1)] == ["0%", "< 1%", "50%", "> 99%", "100%"]
    assert [percent(x, 1) for x in (0.0001, 0.1234, 0.9999)] == ["< 0.1%", "12.3%", "> 99.9%"]
    assert plain("a\u202eb\u200c\x00") == "a⟨U+202E⟩b⟨U+200C⟩⟨U+0000⟩"
    assert legible("a\u202eb\u200c\n\ud800") == "a⟨U+202E⟩b\u200c\n⟨U+D800⟩"
    for url in (
        "javascript:alert(1)",
        "data:text/html,x",
        " https://a.example",
        "//a.example",
        "https:",
        "ftp://a/",
        None,
    ):
        assert not linkable(url)
    assert linkable("HTTPS://a.example/")
    assert fields(b"a=1&a=2&b=%FF&c") == {"a": "2", "b": "\ufffd", "c": ""}
    with pytest.raises(Problem) as found:
        fields(b"&".join(b"a=1" for _ in range(100)))
    assert found.value.status == KINDS["bad-path"].status
