"""Every way in which a request is refused, over a real connection."""

import json

import pytest

from neardup.service.problems import KINDS
from neardup.service.protocol import PIPELINED
from neardup.service.routes import ROUTES
from neardup.service.settings import Limits
from tests.service.serving import WRITE, answer_on, fresh, name, path_of, problem

JSON = {"Content-Type": "application/json"}
OURS = {"Authorization": f"Bearer {WRITE}"}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"nonsense",
        b'{"text": "a"',
        b'{"text": "\xff"}',
        b'{"text": "\\ud800"}',
        b"\xef\xbb\xbf{}",
        b'{"text": "a"} x',
    ],
)
def test_what_is_not_json(service, body):
    problem(service.http.post("/v1/check", content=body, headers=JSON), 400, "not-json")


@pytest.mark.parametrize(
    ("what", "asked", "says"),
    [
        ("check", [], "object"),
        ("check", {}, "text or html"),
        ("check", {"text": "a", "html": "b"}, "text or html"),
        ("check", {"text": 1}, "$.text"),
        ("check", {"txt": "a"}, "unknown field"),
        ("add", {"id": "a", "text": "a", "reference": "/etc/passwd"}, "unknown field"),
        ("check", {"text": "a", "url": "u" * 9000}, "$.url"),
        ("add", {"text": "a"}, "id"),
        ("add", {"id": "", "text": "a"}, "$.id"),
        ("add", {"id": "i" * 9000, "text": "a"}, "$.id"),
        ("similar", {"text": "a", "most": 0}, "$.most"),
        ("remove", {}, "id"),
        ("compare", {"first": {"text": "a"}}, "second"),
        ("compare", {"first": {"text": "a"}, "second": {}}, "$.second"),
        ("sketch", {"documents": []}, "$.documents"),
        ("group", {"results": [{"id": "a", "text": "b"}], "threshold": 2}, "$.threshold"),
        ("group", {"results": {}}, "$.results"),
        ("group", {"results": [1]}, "$.results[0]"),
        ("group", {"results": [], "response": {}}, "results or response"),
        ("group", {}, "results or response"),
        ("group", {"results": [], "show": "all"}, "at `$.show`. Choose one of mark, fold, collapse, drop."),
        ("group", {"results": [], "format": "x"}, "Choose one of elastic, solr, meilisearch, searxng, plain."),
        ("group", {"response": {"responses": []}}, "_msearch"),
        ("group", {"results": [{"neardup_signature": "x"}]}, "signature"),
        ("group", {"results": [{"text": "a"}], "text_field": "txt"}, "did you mean 'text'"),
        ("check", {"text": [[]]}, "$.text"),
    ],
)
def test_what_does_not_fit(service, what, asked, says):
    assert says in problem(service.post(what, asked), 422, "invalid")["detail"]


def test_nesting_without_end(service):
    body = b'{"first": ' + b'{"first":' * 100_000
    answer = service.http.post("/v1/compare", content=body, headers=JSON)
    problem(answer, 413, "too-large")


@pytest.mark.parametrize("show", ["groups", "fold"])
@pytest.mark.parametrize("deep", [480, 600, 900, 980, 990, 1000, 1020])
def test_nesting_that_can_be_decoded_and_no_more(service, deep, show):
    """What is done with a value may need more of Python's stack than decoding it."""
    within = "[" * deep + '{"x":"a b"}' + "]" * deep
    for record, more in (
        (f'{{"id":"a","t":{within}}}', ',"text_field":"t.x"'),
        (f'{{"id":{within},"text":"a b"}}', ""),
        (f'{{"id":"a","text":"a b","other":{within}}}', ""),
    ):
        body = f'{{"results":[{record}],"show":"{show}"{more}}}'.encode()
        answer = service.http.post("/v1/group", content=body, headers=JSON)
        assert answer.status_code in (200, 400, 413, 422), answer.text


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "application/x-ndjson"])
def test_another_content_type(service, kind):
    answer = service.http.post("/v1/check", content=b"{}", headers={} if kind is None else {"Content-Type": kind})
    problem(answer, 415, "media-type")


def test_streams_take_lines_alone(service):
    problem(service.http.post("/v1/stream/check", content=b"{}\n", headers=JSON), 415, "media-type")
    kinds = ["application/x-ndjson", "application/jsonl; charset=utf-8"]
    for kind in kinds:
        answer = service.http.post("/v1/stream/check", content=b"\n", headers={"Content-Type": kind})
        assert (answer.status_code, answer.content) == (200, b"")


def test_compressed_requests(service):
    answer = service.http.post("/v1/check", content=b"{}", headers={**JSON, "Content-Encoding": "gzip"})
    problem(answer, 415, "media-type")


@pytest.mark.parametrize("path", ["/x", "/v1", "/v1/checks", "/v1/check/", "/v1/documents/", "/docs/x", "/v1/stream"])
def test_addresses_that_are_not_there(service, path):
    problem(service.http.get(path), 404, "not-found")
    problem(service.http.post(path, json={}), 404, "not-found")


@pytest.mark.parametrize(("path", "status"), [("/x", 404), ("/v1/checks", 404), ("/v1/check", 405)])
def test_browsers_get_a_page_of_it(service, path, status):
    browser = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
    answer = service.http.get(path, headers=browser)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["content-security-policy"] == "frame-ancestors 'none'"
    assert KINDS["not-found" if status == 404 else "method"].title in answer.text
    assert answer.headers.get("allow") == ("POST" if status == 405 else None)
    assert 'href="/docs"' in answer.text
    assert f"Status {status}, request {answer.headers['x-request-id']}." in answer.text
    for program in ({"Accept": "*/*"}, {"Accept": "application/json"}):
        assert service.http.get(path, headers=program).headers["content-type"] == "application/problem+json"
    posted = service.http.put(path, json={}, headers=browser)
    assert posted.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
def test_other_methods(service, route):
    allowed = {other.method for other in ROUTES if other.path == route.path}
    path = path_of(route)
    for method in {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"} - allowed:
        answer = service.http.request(method, path)
        problem(answer, 405, "method")
        assert set(answer.headers["allow"].split(", ")) - {"HEAD"} == allowed


@pytest.mark.parametrize("path", ["/v1/documents/%FF", "/v1/documents/a%C3"])
def test_ids_that_are_not_utf8(service, path):
    with service.connect() as sock:
        sock.sendall(f"GET {path} HTTP/1.1\r\nHost: {service.host}\r\n\r\n".encode())
        status, _, body = answer_on(sock)
    assert (status, json.loads(body)["type"]) == (400, "/docs#bad-path")


def test_too_large(guarded):
    """The answer comes although the rest of the request is not read."""
    by_length = guarded.http.post("/v1/check", content=b'{"text": "%b"}' % (b"x" * 30_000), headers={**JSON, **OURS})
    assert "20,000" in problem(by_length, 413, "too-large")["detail"]

    def pieces():
        yield b'{"text": "'
        for _ in range(30):
            yield b"x" * 1000

    problem(guarded.http.post("/v1/check", content=pieces(), headers={**JSON, **OURS}), 413, "too-large")
    text = guarded.post("check", {"text": "ä" * 5001}, headers=OURS)
    assert "10,000" in problem(text, 413, "too-large")["detail"]
    assert guarded.post("check", {"text": "ä" * 5000}, headers=OURS).status_code == 200
    many = guarded.post("sketch", {"documents": [{"text": "a"}] * 6}, headers=OURS)
    assert "6 documents" in problem(many, 413, "too-large")["detail"]
    nested = {"first": {"text": "ä" * 5001}, "second": {"text": "b"}}
    problem(guarded.post("compare", nested, headers=OURS), 413, "too-large")


def test_a_large_upload_sees_its_refusal(service):
    """16 MB are allowed; the client sends all of 40 without looking, and still finds the answer."""
    with service.begin("/v1/check", 40 << 20) as sock:
        status, headers, body = 0, {}, b""
        try:
            for _ in range(40):
                sock.sendall(b"x" * (1 << 20))
        except OSError:
            pass  # closed in between, after the answer
        status, headers, body = answer_on(sock)
    assert status == 413
    assert headers["connection"] == "close"
    assert json.loads(body)["type"] == "/docs#too-large"


def test_what_is_not_http(service):
    with service.connect() as sock:
        sock.sendall(b"\x16\x03\x01 hello\r\n\r\n")
        status, headers, body = answer_on(sock)
    assert (status, headers["content-type"]) == (400, "application/problem+json")
    assert json.loads(body)["type"] == "/docs#not-http"


def test_heads_without_end(service):
    with service.connect() as sock:
        sock.sendall(b"GET /healthz HTTP/1.1\r\n")
        for at in range(80):
            sock.sendall(f"X-{at}: {'x' * 1000}\r\n".encode())
        status, _, body = answer_on(sock)
    assert (status, json.loads(body)["type"]) == (431, "/docs#head")


def test_many_requests_on_one_connection(service):
    """Heads are counted one by one, also where requests come in one packet."""
    many = 1 + PIPELINED
    one = f"GET /healthz HTTP/1.1\r\nHost: {service.host}\r\nX-Filler: {'x' * 15_000}\r\n\r\n".encode()
    assert len(one) * many > 2 * Limits().header_bytes
    with service.connect() as sock:
        sock.sendall(one * many)
        data = b""
        while data.count(b'{"status":"alive"}') < many:
            piece = sock.recv(65536)
            assert piece, data[-300:]
            data += piece
    assert data.count(b"HTTP/1.1 200 OK") == many


def test_every_kind_is_on_the_page(service):
    page = service.http.get("/docs").text
    for kind, row in KINDS.items():
        assert f'id="{kind}"' in page
        assert 400 <= row.status < 600


def test_nothing_of_documents_is_said_elsewhere(tmp_path):
    """Ids, texts and tokens are in no log line, whether a request is answered or refused."""
    from tests.service.serving import serving

    id_, secret = name(), fresh()
    with serving(tmp_path / "seen.ndx", environment={"NEARDUP_WRITE_TOKEN": WRITE}) as service:
        service.post("add", {"id": id_, "text": secret}, headers=OURS)
        service.post("add", {"id": id_, "text": secret + " more"}, headers=OURS)
        service.post("check", {"text": secret, secret: 1}, headers=OURS)
        service.http.get(f"/v1/documents/{secret}", headers=OURS)
        service.http.get(f"/{secret.split()[0]}?{secret}")
        service.stream("check", [{"text": secret}, secret.encode()], headers=OURS)
        said = service.stop()
    lines = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    assert [line["status"] for line in lines] == [200, 409, 422, 404, 404, 200]
    assert set(lines[0]) == {"time", "id", "method", "route", "status", "ms", "bytes", "sent", "documents", "token"}
    assert lines[0]["token"] == "write"
    assert lines[-1]["documents"] == 1
    assert [line["route"] for line in lines][3:5] == ["/v1/documents/{id}", "unknown"]
    for word in (*secret.split()[:1], id_, WRITE):
        assert word not in said
