"""Who may ask: tokens, hosts, origins, read-only; and what the command refuses before it serves."""

import socket
import sys
import time

import pytest

from neardup.cli import app
from neardup.index import Index
from neardup.service.routes import ROUTES
from neardup.service.tokens import RIGHTS
from tests.service.serving import READ, WRITE, fresh, name, path_of, problem, secret_file, serving


def ask(service, route, token=None, **headers):
    if token is not None:
        headers["Authorization"] = token
    if route.takes is not None:
        headers["Content-Type"] = "application/x-ndjson" if route.stream else "application/json"
    path = path_of(route)
    return service.http.request(route.method, path, content=b"{}" if route.takes else None, headers=headers)


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
def test_every_address_is_guarded(guarded, route):
    wrong = [None, "", "Bearer", "Bearer wrong", f"Basic {WRITE}", WRITE, f"Bearer {WRITE}x", f"Bearer {READ[:-1]}"]
    if route.level == "open":
        assert ask(guarded, route).status_code == 200
        return
    for token in wrong:
        answer = ask(guarded, route, token)
        problem(answer, 401, "no-token")
        assert answer.headers["www-authenticate"].startswith("Bearer")
    needed = RIGHTS[RIGHTS.index(route.level) :]
    for right, token in (("read", f"Bearer {READ}"), ("write", f"bearer {WRITE}")):
        answer = ask(guarded, route, token)
        if right in needed:
            assert answer.status_code in (200, 404, 422)
        else:
            found = problem(answer, 403, "forbidden")
            assert found["detail"] == (f"The token {right} has the right to {right}; this needs {' or '.join(needed)}.")


def test_a_password_is_for_pages_and_nobody_learns_whether_it_is_right(guarded):
    answers = [guarded.post("check", {"text": "a"}, auth=("any", password)) for password in (WRITE, "wrong")]
    details = [problem(answer, 401, "no-token")["detail"] for answer in answers]
    assert details[0] == details[1]
    assert "for pages alone" in details[0]
    assert "Authorization: Bearer TOKEN" in details[0]
    assert [answer.headers["www-authenticate"] for answer in answers] == ['Bearer realm="neardup"'] * 2
    bare = guarded.post("check", {"text": "a"}, headers={"Authorization": WRITE})
    assert "Authorization: Bearer TOKEN" in problem(bare, 401, "no-token")["detail"]


def test_a_token_is_enough_under_any_name(guarded):
    answer = guarded.post(
        "check", {"text": "a"}, headers={"Authorization": f"Bearer {READ}", "Host": "neardup.internal"}
    )
    assert answer.status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "[::2]:1", ""])
def test_another_name_is_refused_where_no_token_is(service, host):
    """A site that rebinds its name to this machine still asks under its own."""
    for path in ("/healthz", "/v1/index", "/metrics", "/docs"):
        problem(service.http.get(path, headers={"Host": host}), 421, "wrong-host")


@pytest.mark.parametrize("host", ["127.0.0.1:1", "localhost", "LOCALHOST:80", "[::1]:80", "127.1.2.3"])
def test_own_names_are_not(service, host):
    assert service.http.get("/v1/index", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:9"])
def test_pages_of_other_sites_are_refused(service, origin):
    answer = service.post("add", {"id": name(), "text": fresh()}, headers={"Origin": origin})
    problem(answer, 403, "foreign-origin")
    own = service.address
    assert service.post("check", {"text": "a"}, headers={"Origin": own}).status_code == 200


def test_read_only_beside_a_writer(tmp_path):
    """It writes nothing, and sees what another process writes."""
    text = fresh()
    with Index.open(tmp_path / "seen.ndx") as writer:
        writer.add("before", fresh())
        with serving(tmp_path / "seen.ndx", "--read-only") as service:
            for route in ROUTES:
                if route.level == "write":
                    problem(ask(service, route), 403, "forbidden")
            assert service.http.get("/v1/index").json()["documents"] == 1
            writer.add("later", text)
            end = time.monotonic() + 20
            while time.monotonic() < end:
                found = service.post("check", {"text": text}).json()
                if found["status"] == "duplicate":
                    break
            assert found["match"]["id"] == "later"


@pytest.fixture
def command(capsys, monkeypatch):
    """The command line in this process: what it refuses it refuses before it serves."""
    monkeypatch.setattr("neardup.cli.serve.without_unneeded", lambda: None)

    def run(*arguments: object, **environment: str) -> tuple[int, str]:
        for key, value in environment.items():
            monkeypatch.setenv(key, value)
        with pytest.raises(SystemExit) as ended:
            app.main(["serve", *map(str, arguments)])
        for key in environment:
            monkeypatch.delenv(key)
        stdout, stderr = capsys.readouterr()
        assert stdout == ""
        return int(ended.value.code or 0), stderr

    return run


def test_what_the_command_refuses(command, tmp_path):
    """Before anything is opened or made."""
    index, token = tmp_path / "seen.ndx", secret_file(tmp_path / "token", "")
    code, said = command(index, "--host", "0.0.0.0")
    assert code == 2
    assert "no token is set" in said
    assert "--write-token-file" in said
    for content, why in (("short", "5 characters"), ("", "is empty"), ("with a space in it here", "printable")):
        token.write_text(content)
        code, said = command(index, "--write-token-file", token)
        assert code == 2
        assert why in said
        assert content == "" or content not in said
    code, said = command(index, "--read-token-file", tmp_path / "nowhere")
    assert code == 2
    assert "nowhere: cannot be read (No such file or directory)" in said
    token.write_text(WRITE)
    assert "both given" in command(index, "--write-token-file", token, NEARDUP_WRITE_TOKEN=WRITE)[1]
    assert "are the same" in command(index, NEARDUP_READ_TOKEN=WRITE, NEARDUP_WRITE_TOKEN=WRITE)[1]
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, said = command(index, "--port", port)
    assert code == 2
    assert f"127.0.0.1, port {port} cannot be listened on (Address already in use)" in said
    assert not index.exists()
    assert command(index, "--no-create", "--port", 0)[0] == 1
    assert not index.exists()


def test_a_token_from_a_file_on_all_addresses(tmp_path):
    token = secret_file(tmp_path / "token", f"  {WRITE}\n")
    with serving(tmp_path / "seen.ndx", "--host", "0.0.0.0", "--write-token-file", str(token)) as service:
        assert service.address.startswith("http://127.0.0.1:")
        problem(service.post("check", {"text": "a"}), 401, "no-token")
        assert service.post("check", {"text": "a"}, headers={"Authorization": f"Bearer {WRITE}"}).status_code == 200


@pytest.mark.parametrize("library", ["uvicorn", "httptools", "prometheus_client"])
def test_without_the_extra_it_says_what_to_install(command, monkeypatch, tmp_path, library):
    monkeypatch.setitem(sys.modules, library, None)
    code, said = command(tmp_path / "seen.ndx", "--port", 0)
    assert code == 1
    assert "pip install 'neardup[serve]'" in said
    assert not (tmp_path / "seen.ndx").exists()
