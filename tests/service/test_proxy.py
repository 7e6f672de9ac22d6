"""A service behind the real nginx, by the very file of deploy/; and whose word on addresses is taken."""

import json
import shutil
import socket
import ssl
import subprocess
import time
from pathlib import Path

import httpx
import pytest
import trustme

import neardup
from neardup.errors import UsageError
from neardup.service.forwarding import Proxies
from tests.service.serving import READ, WRITE, Service, fresh, name, problem

ROOT = Path(__file__).parents[2]
NGINX = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/local/bin:/usr/bin")
MODULE = "/usr/lib/nginx/modules/ngx_stream_module.so"
OURS = {"Authorization": f"Bearer {WRITE}"}

_MAIN = """
load_module {module};
daemon off;
master_process off;
pid {folder}/pid;
error_log {folder}/error.log;
events {{}}
http {{
    access_log {folder}/access.log;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/neardup.conf;
}}
include {folder}/neardup-streams.conf;
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Nginx:
    """nginx with the files of deploy/: other ports, another name, a certificate of the tests."""

    def __init__(self, folder: Path, service: Service) -> None:
        assert NGINX, "these tests need nginx: apt-get install nginx-light"
        self.port, self.streams_port = free_port(), free_port()
        authority = trustme.CA()
        issued = authority.issue_cert("localhost", "127.0.0.1", key_type=trustme.KeyType.ECDSA)
        self.authority = folder / "ca.pem"
        authority.cert_pem.write_to_path(self.authority)
        (folder / "fullchain.pem").write_bytes(b"".join(pem.bytes() for pem in issued.cert_chain_pems))
        (folder / "privkey.pem").write_bytes(issued.private_key_pem.bytes())
        replaced = {
            "server 127.0.0.1:8080;": f"server 127.0.0.1:{service.port};",
            "listen 443 ssl;": f"listen 127.0.0.1:{self.port} ssl;",
            "listen 8443 ssl;": f"listen 127.0.0.1:{self.streams_port} ssl;",
            "server_name dedup.example;": "server_name localhost;",
            "/etc/ssl/neardup/": f"{folder}/",
        }
        both = {each: (ROOT / "deploy" / each).read_text() for each in ("nginx.conf", "nginx-streams.conf")}
        for before, after in replaced.items():
            assert any(before in text for text in both.values()), before
            both = {each: text.replace(before, after) for each, text in both.items()}
        for each, text in both.items():
            (folder / each.replace("nginx", "neardup")).write_text(text)
        (folder / "nginx.conf").write_text(_MAIN.format(folder=folder, module=MODULE))
        self.folder = folder
        self.process = subprocess.Popen([NGINX, "-p", str(folder), "-c", str(folder / "nginx.conf")])
        self.address = f"https://localhost:{self.port}"
        self.context = ssl.create_default_context(cafile=str(self.authority))
        self.http = httpx.Client(base_url=self.address, verify=self.context, timeout=30)
        end = time.monotonic() + 20
        while True:
            try:
                self.http.get("/healthz")
                return
            except httpx.TransportError:
                assert self.process.poll() is None, (folder / "error.log").read_text()
                assert time.monotonic() < end
                time.sleep(0.05)

    def connect(self, port: int | None = None) -> ssl.SSLSocket:
        plain = socket.create_connection(("127.0.0.1", port or self.port), timeout=60)
        return self.context.wrap_socket(plain, server_hostname="localhost")

    def ask(self, sent: bytes) -> bytes:
        """All that comes back for some bytes."""
        with self.connect() as sock:
            sock.sendall(sent)
            seen = b""
            while piece := sock.recv(65536):
                seen += piece
        return seen

    def stop(self) -> None:
        self.http.close()
        self.process.terminate()
        self.process.wait(20)


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    environment = {"NEARDUP_READ_TOKEN": READ, "NEARDUP_WRITE_TOKEN": WRITE}
    made = Service(
        tmp_path_factory.mktemp("behind") / "seen.ndx", "--trusted-proxy", "127.0.0.1", environment=environment
    )
    yield made
    made.stop()


@pytest.fixture(scope="module")
def nginx(service, tmp_path_factory):
    made = Nginx(tmp_path_factory.mktemp("nginx"), service)
    yield made
    made.stop()


def test_the_client_asks_through_the_proxy(nginx):
    with neardup.Client(nginx.address, token=WRITE, ca=nginx.authority, timeout=30) as client:
        id_ = name()
        assert client.check_and_add(id_, fresh()).added
        assert client.get(id_).id == id_  # with slashes and what else must stay as it came
        assert client.remove(id_)
        with pytest.raises(UsageError, match="Ask for the port that does"):
            list(client.check_many([{"text": "a"}]))
    streams = f"https://localhost:{nginx.streams_port}"
    with neardup.Client(streams, token=WRITE, ca=nginx.authority, timeout=30) as client:
        documents = [{"id": name(), "text": fresh()} for _ in range(2000)]
        assert sum(verdict.added for verdict in client.check_and_add_many(documents)) == 2000


@pytest.mark.parametrize("path", ["/v1/stream/check", "/v1/indexes/default/stream/check"])
def test_lines_and_answers_pass_the_proxy_one_by_one(nginx, path):
    """Each answer comes before the next line is sent, and a stream is longer than any body may be."""
    with nginx.connect(nginx.streams_port) as sock:
        sock.sendall(
            f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {READ}\r\n"
            "Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
        )
        for number, bytes_beside in enumerate((0, 0, 6 << 20, 6 << 20, 6 << 20, 0)):
            line = json.dumps({"id": f"n{number}", "text": fresh(), "beside": "x" * bytes_beside}).encode() + b"\n"
            sock.sendall(b"%x\r\n%b\r\n" % (len(line), line))
            seen = b""
            while f'"id":"n{number}"'.encode() not in seen:
                piece = sock.recv(65536)
                assert piece, seen
                seen += piece
        sock.sendall(b"0\r\n\r\n")
        while not seen.endswith(b"0\r\n\r\n"):
            piece = sock.recv(65536)
            assert piece, seen
            seen += piece


def test_limits_health_and_metrics_are_those_of_the_service(nginx):
    assert nginx.http.get("/healthz").json() == {"status": "alive"}
    assert nginx.http.head("/healthz").content == b""
    assert nginx.http.get("/readyz").status_code == 200
    problem(nginx.http.get("/metrics"), 401, "no-token")
    assert "neardup_requests_total" in nginx.http.get("/metrics", headers=OURS).text
    answer = nginx.http.get("/healthz")
    assert answer.headers["strict-transport-security"]
    assert nginx.address in nginx.http.get("/docs").text  # https and the port, as clients see it
    large = b'{"text": "' + b"a" * (16 << 20) + b'"}'
    headers = {**OURS, "Content-Type": "application/json"}
    refused = nginx.http.post("/v1/check", content=large, headers=headers)
    assert (refused.status_code, refused.json()["type"]) == (413, "/docs#too-large")
    fits = b'{"text": "' + b"a" * ((16 << 20) - 20) + b'"}'
    assert nginx.http.post("/v1/check", content=fits, headers=headers).status_code == 200


def test_forms_are_taken_from_our_own_pages_alone(nginx):
    form = {"first": fresh(), "second": fresh()}
    ours = nginx.http.post("/compare", data=form, headers={"Origin": nginx.address}, auth=("ann", READ))
    assert ours.status_code == 200
    plain = nginx.address.replace("https://", "http://")
    for origin in ("https://evil.example", "https://localhost", "null", plain):
        theirs = nginx.http.post("/compare", data=form, headers={"Origin": origin}, auth=("ann", READ))
        assert theirs.status_code == 403
    assert nginx.http.post("/compare", data=form, auth=("ann", READ)).status_code == 403
    assert nginx.http.get("/compare").status_code == 401


@pytest.mark.parametrize(
    "head",
    [
        "Content-Length: 5\r\nTransfer-Encoding: chunked",
        "Content-Length: 5\r\nContent-Length: 6",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: xchunked",
        "Content-Length: +5",
        "Host: other",
    ],
)
def test_a_request_that_two_readers_could_read_differently_goes_no_further(nginx, head):
    hidden = "0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\nX: "
    sent = f"POST /v1/check HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{head}\r\n\r\n{hidden}"
    seen = nginx.ask(sent.encode())
    assert seen.startswith((b"HTTP/1.1 400", b"HTTP/1.1 501", b"HTTP/1.1 401"))
    assert seen.count(b"HTTP/1.1 ") == 1
    assert b"alive" not in seen


def test_the_log_has_the_address_that_a_request_was_sent_from(service, nginx):
    forged = {"X-Forwarded-For": "203.0.113.9", "Forwarded": "for=203.0.113.9", "X-Real-IP": "203.0.113.9"}
    answer = nginx.http.get("/v1/index", headers={**OURS, **forged})
    direct = httpx.get(f"{service.address}/v1/index", headers={**OURS, "X-Forwarded-For": "203.0.113.9, 198.51.100.7"})
    streams = f"https://localhost:{nginx.streams_port}/v1/index"
    passed = httpx.get(streams, headers={**OURS, **forged}, verify=nginx.context)
    assert answer.status_code == direct.status_code == passed.status_code == 200
    addresses = {answer: "127.0.0.1", direct: "198.51.100.7", passed: "127.0.0.2"}
    expected = {asked.headers["x-request-id"]: address for asked, address in addresses.items()}
    seen = {}
    assert service.process.stderr is not None
    while len(seen) < 3:
        line = service.process.stderr.readline()
        if line.startswith("{"):
            found = json.loads(line)
            if found["id"] in expected:
                seen[found["id"]] = found["client"]
    assert seen == expected


def test_behind_the_proxy_a_service_without_tokens_answers_nothing(tmp_path):
    open_to_all = Service(tmp_path / "seen.ndx")
    (tmp_path / "nginx").mkdir()
    try:
        nginx = Nginx(tmp_path / "nginx", open_to_all)
        try:
            for path in ("/healthz", "/v1/index", "/metrics"):
                assert nginx.http.get(path).json()["type"] == "/docs#forwarded"
            assert "through a proxy" in nginx.http.get("/compare").text
        finally:
            nginx.stop()
    finally:
        open_to_all.stop()


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("192.0.2.1", ["203.0.113.9"], "192.0.2.1"),  # anybody can write it
        ("10.0.0.5", [], "10.0.0.5"),
        ("10.0.0.5", ["203.0.113.9"], "203.0.113.9"),
        ("10.0.0.5", ["1.1.1.1, 203.0.113.9"], "203.0.113.9"),  # what stands before it, the client wrote
        ("10.0.0.5", ["1.1.1.1", "203.0.113.9"], "203.0.113.9"),
        ("10.0.0.5", ["203.0.113.9, 10.0.0.7"], "203.0.113.9"),  # two proxies
        ("10.0.0.5", ["203.0.113.9", "10.0.0.7"], "203.0.113.9"),
        ("10.0.0.5", ["10.0.0.7, 10.0.0.8"], "10.0.0.7"),
        ("10.0.0.5", ["203.0.113.9, unknown"], "10.0.0.5"),
        ("10.0.0.5", ["203.0.113.9, 10.0.0.7:80"], "10.0.0.5"),
        ("10.0.0.5", ["", ""], "10.0.0.5"),
        ("::ffff:10.0.0.5", ["2001:db8::1"], "2001:db8::1"),
        ("fd00::5", ["203.0.113.9"], "203.0.113.9"),
        ("", ["203.0.113.9"], ""),
        ("10.0.0.5", ["\xff\xfe"], "10.0.0.5"),
    ],
)
def test_addresses_are_believed_as_far_as_proxies_are_trusted(peer, forwarded, client):
    proxies = Proxies(["10.0.0.0/24", "fd00::5"])
    assert proxies.client(peer, [value.encode("latin-1") for value in forwarded]) == client
    assert Proxies().client(peer, [value.encode("latin-1") for value in forwarded]) == peer


def test_what_is_no_network_is_refused_and_proxies_need_tokens():
    for wrong in ("proxy.example", "10.0.0.5/24", "", "10.0.0.0/33"):
        with pytest.raises(UsageError, match="--trusted-proxy"):
            Proxies([wrong])
    from neardup.service import Settings

    with pytest.raises(UsageError, match="without tokens"):
        Settings(proxies=Proxies(["10.0.0.5"]))
