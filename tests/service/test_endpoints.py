"""Every address answers as it says."""

import base64
import re
from urllib.parse import quote

import numpy as np
import pytest

import neardup
from neardup.service.routes import ROUTES
from tests.service.serving import fresh, name, problem


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
    assert np.frombuffer(base64.b64decode(first["features"]), "<u8").tolist() == made.words[0].tolist()
    assert (first["status"], first["tokens"]) == ("fine", 61)
    assert (second["status"], second["features"]) == ("empty", "")


def test_groups_fold_behind_the_best_ranked(service):
    one, other = fresh(), fresh()
    results = [
        {"id": "r1", "text": one},
        {"id": "r2", "text": other},
        {"id": "r3", "html": f"<p>{one.upper()}</p>"},
        {"id": "r4", "text": ""},
        {"id": "r5", "text": other + " more"},
        {"id": "r6", "text": ""},
    ]
    groups = service.post("group", {"results": results, "threshold": 0.7}).json()["groups"]
    assert [(group["id"], group["rank"]) for group in groups] == [("r1", 1), ("r2", 2), ("r4", 4), ("r6", 6)]
    assert groups[0]["others"] == [{"id": "r3", "rank": 3, "resemblance": 1.0}]
    [folded] = groups[1]["others"]
    assert folded["id"] == "r5"
    assert folded["resemblance"] == neardup.resemblance(other, other + " more").resemblance
    strict = service.post("group", {"results": results, "threshold": 1.0}).json()["groups"]
    assert [group["id"] for group in strict] == ["r1", "r2", "r4", "r5", "r6"]
    assert service.post("group", {"results": []}).json() == {"groups": []}
    twice = service.post("group", {"results": [results[0], results[0]]}).json()["groups"]
    assert [(member["id"], member["rank"]) for member in twice[0]["others"]] == [("r1", 2)]


def test_a_result_joins_the_one_it_resembles_most(service):
    """Of two earlier ones that it is near to."""
    base = fresh(100).split()
    one, other = base[:90] + ["x"] * 20, base[:60] + ["y"] * 60
    between = base[:88] + ["x"] * 20
    results = [{"id": str(i), "text": " ".join(words)} for i, words in enumerate((other, one, between))]
    groups = service.post("group", {"results": results, "threshold": 0.3}).json()["groups"]
    joined = {member["id"]: group["id"] for group in groups for member in group["others"]}
    exact = [neardup.resemblance(results[at]["text"], results[2]["text"], "stream").resemblance for at in (0, 1)]
    assert exact[1] > exact[0]
    if neardup.resemblance(results[0]["text"], results[1]["text"], "stream").resemblance < 0.3:
        assert joined["2"] == "1"
    else:
        assert joined["2"] == "0"  # the second was folded itself, and is not shown


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
        'neardup_documents_total{what="checked"}': 3,
        'neardup_documents_total{what="duplicate"}': 1,
        'neardup_documents_total{what="added"}': 1,
        'neardup_documents_total{what="refused"}': 1,
        'neardup_requests_total{method="POST",route="/v1/check-and-add",status="200"}': 1,
        'neardup_requests_total{method="POST",route="/v1/check",status="422"}': 1,
        'neardup_request_seconds_count{route="/v1/check-and-add"}': 1,
        "neardup_index_documents": 1,
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
    assert not re.search(r"""(?:src|href)=["'](?!#|data:|/openapi\.json)""", page.text)
    for route in ROUTES:
        assert route.path in page.text
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
