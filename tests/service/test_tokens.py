"""Tokens with names, rights, limits and an end; how they are exchanged while a service runs."""

import json
import re
import signal
import socket
import time
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import pytest

import neardup
from neardup.errors import UsageError
from neardup.service.problems import Busy, Problem
from neardup.service.quotas import Caller, Places, Rate
from neardup.service.tokens import Quota, Token, Tokens, read_tokens
from tests.service.serving import answer_on, fresh, name, problem, secret_file, serving

NAMES = ("reader", "crawler", "boss", "slow", "few", "paced", "paced-results", "paced-response", "once", "other")
SECRETS = {each: f"{each}-secret-of-the-tests" for each in NAMES}


def table(of: str, *lines: str) -> str:
    return "\n".join([f"[{of}]", f'sha256 = "{sha256(SECRETS[of].encode()).hexdigest()}"', *lines, ""])


def bearer(of: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {SECRETS[of]}"}


# The file.


def test_a_table_says_all_of_a_token(tmp_path):
    path = secret_file(
        tmp_path / "tokens.toml",
        '[crawler]\ntoken = "a-token-of-twenty-eight-bytes"\nrights = "write"\nindexes = ["news"]\n'
        "expires = 2027-01-01\n"
        "requests_per_second = 50\nburst = 7\ndocuments_per_second = 9.5\nrequests = 3\nstreams = 2\nheld = 1000\n"
        + table("reader", "expires = 2027-01-01T12:00:00+02:00"),
    )
    first, second = read_tokens(path)
    assert (first.name, first.rights, first.indexes) == ("crawler", "write", frozenset({"news"}))
    assert first.expires == datetime(2027, 1, 1, tzinfo=UTC)
    assert first.quota == Quota(50.0, 7, 9.5, 3, 2, 1000)
    assert first.digest == sha256(b"a-token-of-twenty-eight-bytes").digest()
    assert (second.rights, second.indexes, second.quota) == ("read", None, Quota())
    assert second.expires == datetime(2027, 1, 1, 10, tzinfo=UTC)
    assert first.may_use("news")
    assert not first.may_use("other")
    assert second.may_use("anything")
    assert "a-token" not in repr(first)
    assert first.digest.hex() not in repr(first)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", "names no token"),
        ("[a\ntoken = 'secret-that-must-not-be-shown'", "is no TOML"),
        ("\xff", "is no TOML"),
        ("a = 1", "a value outside of a table"),
        ("[a]", "one of them"),
        ("[a]\ntoken = 'short'", r"\[a\]: the token has 5 characters"),
        ("[a]\ntoken = 'secret-that-must-not-be-shown'\nsha256 = '00'", "one of them"),
        ("[a]\nsha256 = 'secret-that-must-not-be-shown'", "64 hexadecimal digits"),
        ("[a]\ntoken = 'secret-that-must-not-be-shown'\nrights = 'all'", r"\[a\]: rights is read, write or admin"),
        ("[a]\ntoken = 'secret-that-must-not-be-shown'\nrights = 1", r"\[a\]: Expected `str`.*rights"),
        ("[a]\ntoken = 'secret-that-must-not-be-shown'\nright = 'read'", "a field that is none of token, sha256"),
        ("[a]\nsecret-that-must-not-be-shown = 'read'", "a field that is none of token, sha256"),
        ("secret-that-must-not-be-shown = 'write'", "a value outside of a table"),
        ("['a secret-that-must-not-be-shown']\nrights = 'read'", r"\[a token\]"),
        ("[a]\nsha256 = '00'\nrights = 'secret-that-must-not-be-shown'", r"\[a\]"),
        ("[a]\ntoken = 'secret-that-must-not-be-shown'\nstreams = 0", "a limit lies above 0"),
        ("[a]\ntoken = 'secret-that-must-not-be-shown'\nrequests_per_second = inf", "a limit lies above 0"),
        ("[a]\ntoken = 'secret-that-must-not-be-shown'\nburst = 2", "burst is about"),
        ("[a]\ntoken = 'secret-that-must-not-be-shown'\nexpires = '2027-01-01'", "without quotation marks"),
        ("['a b']\ntoken = 'secret-that-must-not-be-shown'", "a token's name has"),
        ("[a]\ntoken = 'secret-that-must-not-be-shown'\n[b]\ntoken = 'secret-that-must-not-be-shown'", "are the same"),
    ],
)
def test_a_broken_file_is_refused_and_quotes_no_token(tmp_path, content, why):
    path = secret_file(tmp_path / "tokens.toml", "")
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(UsageError, match=why) as refused:
        read_tokens(path)
    assert "must-not-be-shown" not in str(refused.value)


def test_a_token_is_found_by_what_was_sent_and_until_it_expires():
    now = datetime.now(UTC)
    kept = Token.of("kept", "k" * 20, "read")
    over = Token("over", sha256(b"o" * 20).digest(), expires=now - timedelta(seconds=1))
    soon = Token("soon", sha256(b"s" * 20).digest(), expires=now + timedelta(days=1))
    tokens = Tokens([kept, over, soon])
    assert tokens.find(b"k" * 20) is kept
    assert tokens.find(b"s" * 20) is soon
    for wrong in (b"", b"o" * 20, b"k" * 19, b"k" * 21, kept.digest, kept.digest.hex().encode(), b"\xff"):
        assert tokens.find(wrong) is None


def test_the_command_makes_a_token_that_a_service_takes(command_line, tmp_path):
    path = tmp_path / "tokens.toml"
    given = (["a.b", "--rights", "write"], ["c", "--expires", "2030-05-01"])
    secrets = [command_line("token", path, *arguments).stdout.strip() for arguments in given]
    assert path.stat().st_mode & 0o777 == 0o600
    first, second = read_tokens(path)
    assert (first.name, first.rights, first.expires) == ("a.b", "write", None)
    assert (second.name, second.rights, second.expires) == ("c", "read", datetime(2030, 5, 1, tzinfo=UTC))
    tokens = Tokens([first, second])
    assert [tokens.find(secret.encode()) for secret in secrets] == [first, second]
    assert not any(secret in path.read_text() for secret in secrets)
    again = command_line("token", path, "c")
    assert again.returncode == 2
    assert "has a token c already" in again.stderr
    assert command_line("token", path, "x y").returncode == 2
    assert len(read_tokens(path)) == 2


# Rates and places.


def test_a_rate_allows_its_burst_and_then_its_number_a_second(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("neardup.service.quotas.monotonic", lambda: now[0])
    rate = Rate(10.0, 5.0)

    def taken() -> int:
        number = 0
        while rate.wait() == 0:
            rate.take()
            number += 1
        return number

    assert taken() == 5
    assert rate.wait() == pytest.approx(0.1)
    now[0] += 0.25
    assert taken() == 2
    now[0] += 100
    assert taken() == 5
    rate.take(20)
    assert rate.wait() == pytest.approx(2.1)


def callers(*quotas: Quota) -> list[Caller]:
    return [Caller(Token(f"t{at}", bytes([at]) * 32, quota=quota)) for at, quota in enumerate(quotas)]


def fill(places: Places, caller: Caller) -> int:
    number = 0
    while True:
        try:
            places.take(caller)
        except Problem:
            return number
        number += 1


def test_one_caller_cannot_take_the_places_of_the_others():
    one, two, three = callers(Quota(), Quota(), Quota())
    places = Places("streams", 16)
    places.divide([one, two, three])
    assert fill(places, one) == 12  # 16, but for the 2 of each of the others
    assert fill(places, two) == 2
    assert fill(places, three) == 2
    assert places.taken == 16
    with pytest.raises(Busy, match="16 streams are open already"):
        places.take(one)
    places.give_back(one, 12)
    assert fill(places, two) == 10
    places.divide([two, three])  # the first was revoked while it had none
    assert places.taken == 14
    assert fill(places, three) == 2


def test_a_single_caller_has_all_places_and_a_quota_bounds_one():
    [alone] = callers(Quota())
    places = Places("requests", 7)
    places.divide([alone])
    assert fill(places, alone) == 7
    bounded, free = callers(Quota(requests=2), Quota())
    places = Places("requests", 20)
    places.divide([bounded, free])
    assert fill(places, bounded) == 2
    with pytest.raises(Problem, match="At most 2 requests of the token t0") as refused:
        places.take(bounded)
    assert refused.value.status == 429


def test_a_request_of_the_largest_size_fits_whatever_the_number_of_tokens():
    many = callers(*[Quota()] * 50)
    room = Places("held", 1000, least=900)
    room.divide(many)
    room.take(many[0], 900)
    room.give_back(many[0], 900)
    assert room.taken == 0


def test_places_add_up_whoever_takes_and_gives_back():
    import random

    draw = random.Random(5)
    everybody = callers(*[Quota()] * 4)
    places = Places("held", 100)
    places.divide(everybody[:3])
    mine = dict.fromkeys(everybody, 0)
    for step in range(5000):
        if step % 500 == 499:
            places.divide(draw.sample(everybody, draw.randint(1, 4)))
        caller, number = draw.choice(everybody), draw.randint(0, 30)
        if draw.random() < 0.5:
            number = min(number, mine[caller])
            places.give_back(caller, number)
            mine[caller] -= number
        else:
            try:
                places.take(caller, number)
            except Busy:
                continue
            mine[caller] += number
        assert places.taken == sum(mine.values()) <= 100
        assert places._reserved == sum(max(0, places._own - mine[each]) for each in places._callers)


# A service.


@pytest.fixture(scope="module")
def tokens(tmp_path_factory):
    content = (
        table("reader")
        + table("crawler", 'rights = "write"')
        + table("boss", 'rights = "admin"')
        + table("slow", "requests_per_second = 0.5", "burst = 3")
        + table("few", 'rights = "write"', "requests = 1", "streams = 1", "held = 2000")
        + table("paced", "documents_per_second = 20")
        + table("paced-results", "documents_per_second = 20")
        + table("paced-response", "documents_per_second = 20")
        + table("once", "requests_per_second = 1", "burst = 1")
    )
    return secret_file(tmp_path_factory.mktemp("tokens") / "tokens.toml", content)


@pytest.fixture(scope="module")
def open_service(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("open") / "seen.ndx") as made:
        yield made


@pytest.fixture(scope="module")
def service(tokens, tmp_path_factory):
    with serving(tmp_path_factory.mktemp("tokens") / "seen.ndx", "--tokens", str(tokens)) as made:
        yield made


def begun(service, path: str, of: str, kind: str, length: int = 1_000_000) -> socket.socket:
    """A request whose body is still to be sent."""
    sock = service.connect()
    sock.sendall(
        f"POST {path} HTTP/1.1\r\nHost: {service.host}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n"
        f"Authorization: {bearer(of)['Authorization']}\r\n\r\n".encode()
    )
    return sock


def stream(service, what: str, of: str) -> socket.socket:
    return begun(service, f"/v1/stream/{what}", of, "application/x-ndjson")


def until(sock: socket.socket, end: bytes) -> bytes:
    """What comes, to this end."""
    seen = b""
    while not seen.endswith(end):
        piece = sock.recv(65536)
        assert piece, seen
        seen += piece
    return seen


def metrics(service) -> dict[str, float]:
    text = service.http.get("/metrics", headers=bearer("boss")).text
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in text.splitlines() if line[0] != "#"}


@pytest.mark.parametrize("header", ["Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Via"])
def test_a_service_without_tokens_refuses_what_a_proxy_passes_on(open_service, header):
    """Everybody behind the proxy would count as this machine."""
    for path in ("/v1/index", "/healthz", "/metrics", "/docs", "/compare", "/nothing"):
        answer = open_service.http.get(path, headers={header: "203.0.113.9"})
        assert answer.status_code == 403, path
        assert "through a proxy" in answer.text
    problem(open_service.post("check", {"text": "a"}, headers={header: ""}), 403, "forwarded")


def test_a_service_with_tokens_takes_what_a_proxy_passes_on(service):
    answer = service.post("check", {"text": "a"}, headers={**bearer("reader"), "X-Forwarded-For": "203.0.113.9"})
    assert answer.status_code == 200


def test_rights_include_those_below(service):
    for of, may in (("reader", False), ("crawler", True), ("boss", True)):
        assert service.post("check", {"text": "a"}, headers=bearer(of)).status_code == 200
        added = service.post("add", {"id": name(), "text": fresh()}, headers=bearer(of))
        assert added.status_code == (200 if may else 403)


def test_a_token_that_asks_too_often_is_refused_and_the_others_are_not(service):
    answers = [service.post("check", {"text": "a"}, headers=bearer("slow")) for _ in range(5)]
    statuses = [answer.status_code for answer in answers]
    assert statuses[:3] == [200, 200, 200]
    assert 429 in statuses
    refused = next(answer for answer in answers if answer.status_code == 429)
    assert problem(refused, 429, "quota")["detail"] == "The token slow may send 0.5 requests a second."
    assert 1 <= int(refused.headers["retry-after"]) <= 2
    assert service.post("check", {"text": "a"}, headers=bearer("reader")).status_code == 200
    counted = metrics(service)
    assert counted['neardup_token_requests_total{status="200",token="slow"}'] >= 3
    assert counted['neardup_token_requests_total{status="429",token="slow"}'] >= 1


def test_a_token_has_no_more_places_and_bytes_than_it_is_given(service):
    with begun(service, "/v1/check", "few", "application/json"):
        end = time.monotonic() + 20
        while metrics(service)['neardup_in_flight{kind="requests"}'] < 1:
            assert time.monotonic() < end
        problem(service.post("check", {"text": "a"}, headers=bearer("few")), 429, "quota")
        assert service.post("check", {"text": "a"}, headers=bearer("reader")).status_code == 200
    while metrics(service)['neardup_in_flight{kind="requests"}']:
        assert time.monotonic() < end
    found = problem(service.post("check", {"text": "a" * 3000}, headers=bearer("few")), 429, "quota")
    assert "2,000 bytes" in found["detail"]


def test_documents_of_a_stream_are_taken_at_the_pace_of_its_token(service):
    began = time.monotonic()
    assert len(service.stream("check", [{"text": fresh(5)} for _ in range(60)], headers=bearer("paced"))) == 60
    assert time.monotonic() - began > 0.9  # 40 at once, then 20 a second
    for _ in range(60):
        refused = service.post("check", {"text": "a"}, headers=bearer("paced"))
        if refused.status_code == 429:
            break
    assert problem(refused, 429, "quota")["detail"] == "The token paced may send 20 documents a second."


def test_the_client_waits_until_a_token_may_ask_again(service):
    with neardup.Client(service.address, token=SECRETS["once"]) as client:
        began = time.monotonic()
        assert client.check("a").new
        assert client.check("a").new
        assert time.monotonic() - began > 0.9


def test_exchanged_tokens_count_from_the_signal_on(service, tokens):
    """One is revoked, one is new, one has other rights; who is not concerned notices nothing."""
    before = tokens.read_text()
    body = json.dumps({"id": name(), "text": fresh()}).encode()
    with (
        stream(service, "check-and-add", "crawler") as stays,
        stream(service, "check-and-add", "few") as goes,
        begun(service, "/v1/add", "few", "application/json", len(body)) as in_flight,
    ):
        in_flight.sendall(body[:20])
        end = time.monotonic() + 20
        while metrics(service)['neardup_in_flight{kind="requests"}'] < 1:
            assert time.monotonic() < end
        _exchange(service, tokens, before, stays, goes)
        in_flight.sendall(body[20:])  # it was begun under a token that is no more, and is answered
        assert answer_on(in_flight)[0] == 200


def _exchange(service, tokens, before, stays, goes) -> None:
    for sock in (stays, goes):
        sock.sendall(json.dumps({"id": name(), "text": fresh()}).encode() + b"\n")
        until(sock, b'"added":true}\n\r\n')
    secret_file(tokens, re.sub(r"\[few\][^\[]*", "", before) + table("other", 'rights = "write"'))
    reloaded(service, "done")
    seen = until(goes, b"0\r\n\r\n")
    [last] = [json.loads(line) for line in seen.splitlines() if line.startswith(b'{"line"')]
    assert (last["line"], last["error"]["type"]) == (2, "/docs#no-token")
    assert "revoked" in last["error"]["detail"]
    problem(service.post("check", {"text": "a"}, headers=bearer("few")), 401, "no-token")
    assert service.post("check", {"text": "a"}, headers=bearer("other")).status_code == 200
    stays.sendall(json.dumps({"id": name(), "text": fresh()}).encode() + b"\n")
    until(stays, b'"added":true}\n\r\n')
    assert not any('token="few"' in key for key in metrics(service))

    tokens.write_text("[broken")
    reloaded(service, "failed")
    assert service.post("check", {"text": "a"}, headers=bearer("other")).status_code == 200
    tokens.write_text(before)
    tokens.chmod(0o644)
    reloaded(service, "failed")
    problem(service.post("check", {"text": "a"}, headers=bearer("few")), 401, "no-token")
    tokens.chmod(0o600)
    reloaded(service, "done")
    assert service.post("check", {"text": "a"}, headers=bearer("few")).status_code == 200
    problem(service.post("check", {"text": "a"}, headers=bearer("other")), 401, "no-token")
    stays.sendall(json.dumps({"id": name(), "text": fresh()}).encode() + b"\n")
    until(stays, b'"added":true}\n\r\n')


def reloaded(service, result: str) -> None:
    key = f'neardup_reloads_total{{result="{result}",what="tokens"}}'
    before = metrics(service).get(key, 0)
    service.process.send_signal(signal.SIGHUP)
    end = time.monotonic() + 20
    while metrics(service).get(key, 0) == before:
        assert time.monotonic() < end
        time.sleep(0.02)


def test_names_of_indexes_that_are_not_served_are_reported_and_not_refused(tmp_path):
    content = table("crawler", 'indexes = ["nwes", "news", "other"]') + table("boss", 'rights = "admin"')
    path = secret_file(tmp_path / "tokens.toml", content + table("reader", 'indexes = ["shop"]'))
    served = f"news={tmp_path / 'news.ndx'}"
    with serving(served, f"shop={tmp_path / 'shop.ndx'}", "--tokens", str(path)) as service:
        assert service.post("check", {"text": "a"}, headers=bearer("crawler")).status_code == 200
        path.write_text(table("crawler", 'indexes = ["news"]') + table("boss", 'indexes = ["sohp"]'))
        service.process.send_signal(signal.SIGHUP)
        while service.post("check", {"text": "a"}, headers=bearer("boss")).status_code == 200:
            time.sleep(0.02)
        said = service.stop()
    log = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    first = "The token crawler names indexes that are not served here: nwes, other. These are: news, shop."
    assert first in [line for line in said.splitlines() if not line.startswith("{")], "for who starts it"
    assert [(line["token"], line["warning"]) for line in log if "warning" in line] == [
        ("crawler", first),
        ("boss", "The token boss names an index that is not served here: sohp. These are: news, shop."),
    ]


def test_an_expired_token_ends_its_stream_and_the_log_names_tokens_only(tmp_path):
    path = secret_file(tmp_path / "tokens.toml", table("reader") + table("boss", 'rights = "admin"'))
    with serving(tmp_path / "seen.ndx", "--tokens", str(path), "--streams", "4") as service:
        _one_cannot_keep_the_other_out(service)
        with stream(service, "check", "reader") as sock:
            sock.sendall(b'{"text": "a"}\n')
            until(sock, b'"added":false}\n\r\n')
            ends = datetime.now(UTC) + timedelta(seconds=0.5)
            path.write_text(table("reader", f"expires = {ends.isoformat()}") + table("boss", 'rights = "admin"'))
            service.process.send_signal(signal.SIGHUP)
            assert b"/docs#no-token" in until(sock, b"0\r\n\r\n")
        assert datetime.now(UTC) >= ends
        problem(service.post("check", {"text": "a"}, headers=bearer("reader")), 401, "no-token")
        path.write_text("[broken")
        service.process.send_signal(signal.SIGHUP)
        while 'result="failed"' not in service.http.get("/metrics", headers=bearer("boss")).text:
            time.sleep(0.02)
        said = service.stop()
    log = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    assert {line.get("token") for line in log} == {"reader", "boss", None}
    _, broken = [line for line in log if "reloaded" in line]
    assert broken["failed"] == f"--tokens {path}: is no TOML (at end of document)."
    assert not any(secret in said for secret in SECRETS.values())


def _one_cannot_keep_the_other_out(service) -> None:
    """Of four streams one is the other token's, whatever the first one opens."""
    with ExitStack() as stack:
        statuses = []
        for of in ("reader", "reader", "reader", "reader", "reader", "boss", "boss"):
            sock = stack.enter_context(stream(service, "check", of))
            sock.sendall(b'{"text": "a"}\n')
            seen = b""
            while b"\r\n\r\n" not in seen:
                seen += sock.recv(65536)
            statuses.append(int(seen.split()[1]))
        assert statuses == [200, 200, 200, 503, 503, 200, 503]
    end = time.monotonic() + 20
    while metrics(service)['neardup_in_flight{kind="streams"}']:
        assert time.monotonic() < end


@pytest.mark.parametrize("form", ["results", "response"])
def test_results_of_a_response_count_as_documents(service, form):
    """How many they are is known when the response is read."""
    hits = [{"_id": str(n), "_score": 1.0, "_source": {"text": fresh()}} for n in range(60)]
    results = [{"id": hit["_id"], "text": hit["_source"]["text"]} for hit in hits]
    given = results if form == "results" else {"hits": {"hits": hits}}
    asked = {form: given, "text_field": "text"}
    of = bearer(f"paced-{form}")
    assert service.post("group", asked, headers=of).status_code == 200
    refused = problem(service.post("group", asked, headers=of), 429, "quota")
    assert "20 documents a second" in refused["detail"]
