"""Every address answers as it says."""

import base64
import json
import re
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest

import neardup
from neardup.abandoning import run_until
from neardup.errors import Abandoned
from neardup.service import shapes
from neardup.service.routes import ROUTES
from neardup.service.settings import Limits
from tests.service.serving import READ, fresh, name, problem

RESPONSES = Path(__file__).parents[1] / "refine/responses"


def test_a_page_without_words_under_a_known_id(service):
    """Is answered, and takes nobody's place."""
    id_ = name()
    service.post("add", {"id": id_, "text": fresh()})
    found = service.post("check-and-add", {"id": id_, "html": ""}).json()
    assert found == {"id": id_, "status": "empty", "added": False}


def test_new_then_duplicate(service):
    id_, text = name(), fresh()
    assert service.post("check", {"text": text}).json() == {"id": "", "status": "new", "added": False}
    first = service.post("check-and-add", {"id": id_, "text": text, "url": "https://a.example/x"})
    assert first.json() == {"id": id_, "status": "new", "added": True}
    again = service.post("check-and-add", {"id": name(), "text": text.upper()}).json()
    assert again["status"] == "duplicate"
    assert not again["added"]
    assert again["match"] == {
        "id": id_,
        "relation": "identical",
        "similarity": 1.0,
        "measured": "identity",
        "resemblance": 1.0,
    }
    near = service.post("check", {"id": "mine", "text": text + " and a few words more"}).json()
    assert (near["id"], near["status"], near["match"]["id"]) == ("mine", "duplicate", id_)
    assert near["match"]["measured"] == "estimate"
    assert 0.7 < near["match"]["resemblance"] <= 1


def test_html_is_extracted(service):
    text = fresh()
    service.post("add", {"id": name(), "text": text})
    page = f"<html><head><title>x</title></head><body><main><p>{text}</p></main><nav>menu</nav></body></html>"
    assert service.post("check", {"html": page}).json()["status"] == "duplicate"


def test_empty_documents_are_new(service):
    answer = service.post("check", {"text": ""})
    assert answer.json() == {"id": "", "status": "empty", "added": False}


def test_add_update_remove(service):
    id_, text, other = name(), fresh(), fresh()
    assert service.post("add", {"id": id_, "text": text}).json() == {"id": id_, "added": True}
    assert service.post("add", {"id": id_, "text": text}).json() == {"id": id_, "added": False}
    found = problem(service.post("add", {"id": id_, "text": other}), 409, "conflict")
    assert "update" in found["detail"]
    assert service.post("update", {"id": id_, "text": other}).json() == {"id": id_, "replaced": True}
    assert service.post("check", {"text": text}).json()["status"] == "new"
    assert service.post("check", {"text": other}).json()["match"]["id"] == id_
    assert service.post("remove", {"id": id_}).json() == {"id": id_, "removed": True}
    assert service.post("remove", {"id": id_}).json() == {"id": id_, "removed": False}
    assert service.post("check", {"text": other}).json()["status"] == "new"
    new = name()
    assert service.post("update", {"id": new, "text": fresh()}).json() == {"id": new, "replaced": False}


@pytest.mark.parametrize("safe", ["", "/:?=&"], ids=["encoded", "as it is"])
def test_documents_by_address(service, safe):
    """Ids hold slashes, spaces, question marks and other letters than English ones."""
    id_ = name() if safe == "" else f"http://b.example//{name('_')}/".replace("?", "")
    service.post("add", {"id": id_, "text": fresh(10)})
    path = f"/v1/documents/{quote(id_, safe=safe)}"
    assert service.http.get(path).json() == {"id": id_, "tokens": 11}
    assert service.http.delete(path).json() == {"id": id_, "removed": True}
    problem(service.http.delete(path), 404, "no-document")
    problem(service.http.get(path), 404, "no-document")


def test_texts_where_they_are_kept(guarded):
    id_, text = name(), fresh()
    headers = {"Authorization": "Bearer write-token-of-the-tests"}
    guarded.post("add", {"id": id_, "text": text}, headers=headers)
    assert guarded.http.get(f"/v1/documents/{quote(id_, safe='')}", headers=headers).json()["text"] == text


def test_similar(service):
    text = fresh(200)
    ids = [name() for _ in range(4)]
    for at, id_ in enumerate(ids):
        service.post("add", {"id": id_, "text": text + " more" * (at * 6)})
    found = service.post("similar", {"text": text, "most": 3}).json()["matches"]
    assert [match["id"] for match in found] == ids[:3]
    assert found[0]["similarity"] == 1.0
    assert service.post("similar", {"text": fresh()}).json() == {"matches": []}


def test_compare_is_exact(service):
    one, other = "a rose is a rose is a rose", "a rose is a rose is a violet"
    answer = service.post("compare", {"first": {"text": one}, "second": {"text": other}}).json()
    exact = neardup.resemblance(one, other, "stream")
    assert answer["resemblance"] == exact.resemblance == 0.75
    assert answer["first_in_second"] == exact.first_in_second
    assert answer["second_in_first"] == exact.second_in_first
    assert answer["identical"] is False
    assert "systems" not in answer
    pages = {"first": {"html": f"<p>{one}</p>"}, "second": {"text": one.upper()}}
    assert service.post("compare", pages).json()["identical"] is True


def test_compare_by_systems_and_recipes(service):
    asked = {"first": {"text": fresh()}, "second": {"text": fresh()}, "systems": True, "recipe": "resemblance"}
    answer = service.post("compare", asked).json()
    assert [system["name"] for system in answer["systems"]] == neardup.recipe_names()
    assert answer["recipe"] == neardup.load_recipe("resemblance").id
    assert not any(system["similar"] for system in answer["systems"])


def test_compare_takes_no_file_for_a_recipe(service, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(neardup.load_recipe("default").to_toml())
    asked = {"first": {"text": "a"}, "second": {"text": "b"}, "recipe": str(path)}
    assert "there is no recipe" in problem(service.post("compare", asked), 422, "invalid")["detail"]


def test_sketches_are_those_of_the_library(service):
    text = fresh()
    answer = service.post("sketch", {"documents": [{"id": "a", "text": text}, {"text": ""}]}).json()
    made = neardup.sketch([text], "stream")
    assert answer["recipe"] == service.http.get("/v1/index").json()["recipe_id"]
    first, second = answer["sketches"]
    assert first["identity"] == made.identities[0].astype(">u8").tobytes().hex()
    assert np.frombuffer(base64.b64decode(first["features"]), "<u8").tolist() == made.words[0, :6].tolist()
    assert (first["status"], first["tokens"]) == ("fine", 61)
    assert (second["status"], second["features"]) == ("empty", "")


def test_groups_stand_behind_the_best_ranked(service):
    one, other = fresh(), fresh(300)
    results = [
        {"id": "r1", "text": one, "score": 1.0, "version": 12345678901234567890},
        {"id": "r2", "text": other},
        {"id": "r3", "html": f"<p>{one.upper()}</p>"},
        {"id": "r4", "text": ""},
        {"id": "r5", "text": other + " more"},
        {"text": ""},
    ]
    answer = service.post("group", {"results": results, "show": "fold"})
    found = answer.json()
    grouped = neardup.group(results)
    assert [(group["anchor"], group["id"]) for group in found["groups"]] == [(0, "r1"), (1, "r2"), (3, "r4"), (5, 6)]
    assert found["groups"][0]["members"] == [
        {"place": 2, "id": "r3", "relation": "identical", "match": 1.0, "containment": 1.0}
    ]
    [near] = found["groups"][1]["members"]
    assert (near["id"], near["match"]) == ("r5", grouped.groups[1].members[0].match)
    assert (found["folded"], found["passages"]) == (2, False)
    assert found["compared"] == ["text", "text", "html", "nothing", "text", "nothing"]
    assert found["shown"] == grouped.shown("fold")
    assert '"score":1.0,"version":12345678901234567890' in answer.text
    nothing = {"groups": [], "folded": 0, "compared": [], "passages": False}
    assert service.post("group", {"results": [], "show": None}).json() == nothing


@pytest.mark.parametrize("name", ["elasticsearch", "opensearch", "solr", "meilisearch", "searxng"])
def test_whole_responses_are_grouped(service, name):
    response = json.loads((RESPONSES / f"{name}.json").read_text())
    grouped = neardup.group(response, query="the ferry", contained=False)
    for view in ("mark", "drop"):
        asked = {"response": response, "show": view, "query": "the ferry", "contained": False}
        found = service.post("group", asked).json()
        assert found["shown"] == grouped.shown(view)
        assert found["passages"]


def test_results_have_bounds(guarded):
    reading = {"Authorization": f"Bearer {READ}"}
    six = [{"results": [{"text": "a"}] * 6}, {"response": {"hits": {"hits": [{"_id": "a"}] * 6}}}]
    for asked in six:
        told = problem(guarded.post("group", asked, headers=reading), 413, "too-large")
        assert "6 results; 5 are allowed" in told["detail"]
    long = {"response": {"hits": {"hits": [{"_source": {"text": "é" * 5001}}]}}}
    assert "10,000 bytes" in problem(guarded.post("group", long, headers=reading), 413, "too-large")["detail"]


def test_values_without_end_are_not_walked(service):
    body = b'{"response":{"hits":{"hits":[' + b"[]," * 300_000 + b"[]]}}}"
    answer = service.http.post("/v1/group", content=body, headers={"Content-Type": "application/json"})
    assert "250,000 values" in problem(answer, 413, "too-large")["detail"]


def test_the_index_and_the_service_say_how_they_are(service):
    before = service.http.get("/v1/index").json()
    service.post("add", {"id": name(), "text": fresh()})
    after = service.http.get("/v1/index").json()
    assert after["documents"] == before["documents"] + 1
    assert after["recipe"] == "stream"
    assert "path" not in after
    assert service.http.get("/healthz").json() == {"status": "alive"}
    assert service.http.get("/readyz").json() == {"status": "ready"}


def _metric(service, line: str) -> float:
    found = re.search(rf"^{re.escape(line)} (\S+)$", service.http.get("/metrics").text, re.M)
    return float(found[1]) if found else 0.0


def test_metrics_count(service):
    names = {
        'neardup_documents_total{index="default",what="checked"}': 3,
        'neardup_documents_total{index="default",what="duplicate"}': 1,
        'neardup_documents_total{index="default",what="added"}': 1,
        'neardup_documents_total{index="default",what="refused"}': 1,
        'neardup_requests_total{method="POST",route="/v1/check-and-add",status="200"}': 1,
        'neardup_requests_total{method="POST",route="/v1/check",status="422"}': 1,
        'neardup_request_seconds_count{route="/v1/check-and-add"}': 1,
        'neardup_index_documents{index="default"}': 1,
    }
    before = {line: _metric(service, line) for line in names}
    text = fresh()
    service.post("check-and-add", {"id": name(), "text": text})
    service.stream("check", [{"text": text}, b"nothing", {"text": fresh()}])
    service.post("check", {})
    assert {line: _metric(service, line) - before[line] for line in names} == names
    assert service.http.get("/metrics").headers["content-type"].startswith("text/plain")
    assert _metric(service, 'neardup_in_flight{kind="requests"}') == 0
    assert _metric(service, "neardup_held_bytes") == 0


def test_the_page_loads_nothing(service):
    page = service.http.get("/docs")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src &#x27;none&#x27;" in page.text
    assert not re.search(r"""(?:src|href)=["'](?!#|data:|/["'a-z])""", page.text)
    for route in ROUTES:
        assert route.named or route.path in page.text
    anchors = re.findall(r' id="([^"]+)"', page.text)
    assert len(anchors) == len(set(anchors))
    assert set(re.findall(r'href="#([^"]+)"', page.text)) <= set(anchors)


def test_heads_of_answers(service):
    answer = service.post("check", {"text": "a"}, headers={"X-Request-ID": "crawl-7.a_b"})
    assert answer.headers["x-request-id"] == "crawl-7.a_b"
    assert answer.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert "server" not in answer.headers
    assert "access-control-allow-origin" not in answer.headers
    other = service.post("check", {"text": "a"}, headers={"X-Request-ID": "a b\t<"})
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]+", other.headers["x-request-id"])
    assert service.http.head("/healthz").status_code == 200
    assert service.http.head("/healthz").content == b""


def test_numbers_of_results_go_back_as_they_came(service):
    record = b'{"id":9007199254740993,"text":"a rose","score":0.10,"boost":[1e3,1E400],"far":1234567890123456789.50}'
    for asked in (b'"results":[%b]' % record, b'"response":{"response":{"numFound":1.0,"docs":[%b]}}' % record):
        body = b'{%b,"threshold":0.70,"show":"drop"}' % asked
        answer = service.http.post("/v1/group", content=body, headers={"Content-Type": "application/json"})
        assert record in answer.content
    assert b'"numFound":1.0' in answer.content


def test_pages_of_results_are_read_while_somebody_waits():
    from neardup.service.grouping import group

    asked = shapes.Grouping(results=[{"id": n, "html": f"<p>page {n}"} for n in range(20)])
    answers = iter([False] * 5)
    with pytest.raises(Abandoned):
        run_until(lambda: next(answers, True), lambda: group(asked, Limits()))
