"""TLS: real handshakes with certificates made for the tests; what is refused, and how a certificate is exchanged."""

import json
import signal
import socket
import ssl
import sys
import threading
import time
from datetime import UTC, datetime, timedelta

import httpx
import pytest
import trustme

import neardup
from neardup.errors import StoreError, UsageError
from neardup.service.tls import Certificate
from tests.service.serving import ADMIN, WRITE, Service, answer_on, fresh, name, secret_file

AUTHORITY = trustme.CA()


class Files:
    """A certificate, its key and its authority in files."""

    def __init__(self, folder, authority=AUTHORITY) -> None:
        self.certificate, self.key, self.authority = (folder / each for each in ("cert.pem", "key.pem", "ca.pem"))
        authority.cert_pem.write_to_path(self.authority)
        self.key.touch(0o600)
        self.issue("127.0.0.1", "localhost", authority=authority)

    def issue(self, *names: str, authority=AUTHORITY, **given) -> None:
        made = authority.issue_cert(*names, key_type=trustme.KeyType.ECDSA, **given)
        self.certificate.write_bytes(b"".join(pem.bytes() for pem in made.cert_chain_pems))
        self.key.write_bytes(made.private_key_pem.bytes())

    @property
    def options(self) -> list[str]:
        return ["--tls-cert", str(self.certificate), "--tls-key", str(self.key)]


class Secured(Service):
    """Asked by a client that trusts the tests' authority."""

    def __init__(self, files: Files, index, *options: str, environment=None, command=None) -> None:
        self.files = files
        self.context = ssl.create_default_context(cafile=str(files.authority))
        started = command or [sys.executable, "-m", "neardup", "serve", str(index), "--port", "0", *files.options]
        self._begin([*started, *options], environment)
        self.http.close()
        self.http = httpx.Client(base_url=self.address, timeout=30, verify=self.context)

    def secure(self, context: ssl.SSLContext | None = None, host: str = "127.0.0.1") -> ssl.SSLSocket:
        return (context or self.context).wrap_socket(self.connect(), server_hostname=host)


@pytest.fixture(scope="module")
def secured(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    made = Secured(Files(folder), folder / "seen.ndx", environment={"NEARDUP_WRITE_TOKEN": WRITE})
    yield made
    assert "Traceback" not in made.stop()
    assert made.process.returncode == 0


OURS = {"Authorization": f"Bearer {WRITE}"}


def test_everything_is_asked_over_tls(secured):
    assert secured.address.startswith("https://127.0.0.1:")
    assert secured.post("check", {"text": "a"}, headers=OURS).status_code == 200
    long = {"documents": [{"id": str(at), "text": fresh(3000)} for at in range(100)]}
    sketched = secured.post("sketch", long, headers=OURS)
    assert len(sketched.json()["sketches"]) == 100
    assert len(secured.stream("check", [{"text": fresh()} for _ in range(500)], headers=OURS)) == 500
    shown = secured.http.get("/docs")
    assert secured.address in shown.text
    assert secured.http.head("/docs").status_code == 200
    with secured.secure() as sock:
        assert sock.version() == "TLSv1.3"
        for _ in range(3):  # on one connection, in pieces of a byte
            for byte in b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n":
                sock.sendall(bytes([byte]))
            assert answer_on(sock)[0] == 200


def test_forms_of_the_same_host_without_tls_are_refused(secured):
    """Who can change what travels in the open could write a page of http://HOST, and let it send forms."""

    def status(origin: str, **headers: str) -> int:
        sent = {"Origin": origin, **headers}
        return secured.http.post("/collection/audit", data={"pairs": "5"}, headers=sent, auth=("", WRITE)).status_code

    plain = secured.address.replace("https://", "http://")
    goes = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert status(secured.address) == 404  # it is taken, and no collection is served
    assert status(plain) == status(plain, **goes) == 403
    assert status(plain, **{"X-Forwarded-Proto": "http"}) == 403  # no proxy is trusted
    assert secured.post("check", {"text": "a"}, headers={**OURS, "Origin": plain}).status_code == 403
    assert secured.post("check", {"text": "a"}, headers={**OURS, "Origin": secured.address}).status_code == 200


def test_the_client_verifies_and_streams_in_both_directions(secured):
    with neardup.Client(secured.address, token=WRITE, ca=secured.files.authority, timeout=30) as client:
        documents = [{"id": name(), "text": fresh(200)} for _ in range(3000)]
        verdicts = list(client.check_and_add_many(iter(documents)))
        assert [verdict.id for verdict in verdicts] == [document["id"] for document in documents]
        assert all(verdict.added for verdict in verdicts)
        assert client.get(documents[0]["id"]) is not None
        ended = client.check_many({"text": fresh(200)} for _ in range(100_000))
        assert next(ended).new
        ended.close()  # in the middle
        assert client.check("a").new
        assert len(client._idle) == 1  # the connection is used again
    with pytest.raises(StoreError, match="CERTIFICATE_VERIFY_FAILED"):
        neardup.Client(secured.address, token=WRITE).check("a")
    with pytest.raises(UsageError, match="is about https"):
        neardup.Client("http://127.0.0.1", ca=secured.files.authority)
    with pytest.raises(UsageError, match="nowhere: cannot be read"):
        neardup.Client(secured.address, ca="nowhere")


def test_commands_trust_an_authority_that_is_named(tmp_path, command_line, monkeypatch):
    files = Files(tmp_path)
    tokens = secret_file(tmp_path / "tokens.toml", f'[admin]\ntoken = "{ADMIN}"\nrights = "admin"\n')
    (tmp_path / "backups").mkdir()
    options = ("--tokens", str(tokens), "--backup-folder", str(tmp_path / "backups"))
    service = Secured(files, tmp_path / "seen.ndx", *options)
    try:
        monkeypatch.setenv("NEARDUP_TOKEN", ADMIN)
        for what in ("verify {}", "compact {}", "expire {} --keep-days 3", "backup {} monday"):
            arguments = what.format(service.address).split()
            done = command_line("index", *arguments, "--ca", files.authority)
            assert done.returncode == 0, done.stderr
            done = command_line("index", *arguments)
            assert done.returncode == 1
            assert "certificate verify failed" in done.stderr
            assert "--ca FILE" in done.stderr
        done = command_line("index", "verify", service.address, "--ca", tmp_path / "nowhere.pem")
        assert done.returncode == 2
        assert "nowhere.pem: cannot be read (No such file or directory)" in done.stderr
    finally:
        service.stop()


@pytest.mark.parametrize("what", ["verify {}", "compact {}", "expire {} --keep-days 3", "backup {} /nowhere/monday"])
def test_what_is_about_a_service_is_refused_for_a_folder(what, tmp_path, command_line):
    for option in ("--ca", "--token-file"):
        done = command_line("index", *what.format(tmp_path / "seen.ndx").split(), option, tmp_path / "file")
        assert done.returncode == 2
        assert f"{option} is about a service" in done.stderr
    done = command_line("index", *what.format("http://127.0.0.1:1").split(), "--ca", tmp_path / "ca.pem")
    assert done.returncode == 2
    assert "https://" in done.stderr


def test_only_tls_from_1_2_on_and_http_1_1_are_spoken(secured):
    context = ssl.create_default_context(cafile=str(secured.files.authority))
    context.set_alpn_protocols(["h2", "http/1.1"])
    with secured.secure(context) as sock:
        assert sock.selected_alpn_protocol() == "http/1.1"
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    with secured.secure(context) as sock:
        assert sock.version() == "TLSv1.2"
        assert sock.cipher()[0].startswith(("ECDHE-", "DHE-"))
    old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
    old.set_ciphers("ALL:@SECLEVEL=0")
    with pytest.warns(DeprecationWarning, match="TLSv1_1 is deprecated"):
        old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
    with pytest.raises(ssl.SSLError, match=r"(?i)protocol.version|alert"), secured.connect() as sock:
        old.wrap_socket(sock)
    assert secured.http.get("/healthz").status_code == 200


OPEN = {
    "HTTP": b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n",
    "zeros": bytes(100),
    "a long record": b"\x16\x03\x01\xff\xff" + b"x" * 70_000,
}


@pytest.mark.parametrize("sent", OPEN.values(), ids=OPEN.keys())
def test_what_is_no_tls_is_closed_without_a_word_in_the_open(secured, sent):
    with secured.connect() as sock:
        sock.sendall(sent)
        seen = b""
        try:
            while piece := sock.recv(65536):
                seen += piece
        except ConnectionResetError:
            pass
        assert b"HTTP" not in seen
        assert len(seen) < 100  # an alert at the most
    assert secured.http.get("/healthz").status_code == 200


def test_a_certificate_is_exchanged_while_connections_go_on(secured):
    files = secured.files
    before = shown_certificate(secured)
    with secured.secure() as kept:
        kept.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
        assert answer_on(kept)[0] == 200
        files.key.write_bytes(AUTHORITY.issue_cert("127.0.0.1", key_type=trustme.KeyType.ECDSA).private_key_pem.bytes())
        reloaded(secured, "failed")  # the key of another certificate
        assert shown_certificate(secured) == before
        files.issue("127.0.0.1", "localhost")
        files.key.chmod(0o644)
        reloaded(secured, "failed")
        assert shown_certificate(secured) == before
        files.key.chmod(0o600)
        reloaded(secured, "done")
        after = shown_certificate(secured)
        assert after != before
        kept.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
        assert answer_on(kept)[0] == 200


def test_wrong_hosts_and_expired_certificates_are_refused_by_clients(secured):
    with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
        secured.secure(host="other.example")
    past = datetime.now(UTC) - timedelta(days=1)
    secured.files.issue("127.0.0.1", not_before=past - timedelta(days=2), not_after=past)
    try:
        reloaded(secured, "done")
        with pytest.raises(ssl.SSLCertVerificationError, match="certificate has expired"):
            secured.secure()
        with pytest.raises(StoreError, match="certificate has expired"):
            neardup.Client(secured.address, token=WRITE, ca=secured.files.authority).check("a")
    finally:
        secured.files.issue("127.0.0.1", "localhost")
        secured.process.send_signal(signal.SIGHUP)


def shown_certificate(secured) -> bytes:
    with secured.secure() as sock:
        shown = sock.getpeercert(binary_form=True)
    assert shown
    return shown


def reloaded(secured, result: str) -> None:
    """Send SIGHUP, and wait until it is done; on the connection that is open already."""
    key = f'neardup_reloads_total{{result="{result}",what="certificate"}} '

    def number() -> float:
        text = secured.http.get("/metrics", headers=OURS).text
        return sum(float(line.removeprefix(key)) for line in text.splitlines() if line.startswith(key))

    before = number()
    secured.process.send_signal(signal.SIGHUP)
    end = time.monotonic() + 20
    while number() == before:
        assert time.monotonic() < end
        time.sleep(0.02)


_NARROW = """
import sys
from pathlib import Path
from neardup.index import Index
from neardup.service import Limits, Log, Settings, address_of, listen, serve
from neardup.service.tls import Certificate
tls = Certificate(Path(sys.argv[2]), Path(sys.argv[3]))
settings = Settings(Limits(header_seconds=0.5, connections=6), tls=tls)
with Index.open(sys.argv[1]) as index, listen("127.0.0.1", 0, settings) as listening:
    ready = lambda: print(address_of(listening, settings), flush=True)
    serve(index, listening, settings, Log("none"), ready=ready)
"""


def test_handshakes_count_as_connections_and_have_little_time(tmp_path):
    files = Files(tmp_path)
    command = [sys.executable, "-c", _NARROW, str(tmp_path / "seen.ndx"), str(files.certificate), str(files.key)]
    service = Secured(files, None, command=command)
    try:
        hello = client_hello()
        for sent in (b"", hello[:20], hello):  # nothing, a part of a greeting, no second step
            with service.connect() as sock:
                sock.sendall(sent)
                began = time.monotonic()
                while sock.recv(65536):
                    pass
                assert time.monotonic() - began < 10
        many = [service.connect() for _ in range(30)]
        for sock in many:
            sock.sendall(hello[:20])
        refused = 0
        for sock in many:
            sock.settimeout(0.05)
            try:
                refused += sock.recv(100) == b""
            except (TimeoutError, ConnectionResetError) as error:
                refused += isinstance(error, ConnectionResetError)
        assert refused >= 20
        for sock in many:
            sock.close()
        end = time.monotonic() + 20
        while True:
            try:
                assert service.http.get("/healthz").status_code == 200
                break
            except httpx.TransportError:
                assert time.monotonic() < end
    finally:
        assert "Traceback" not in service.stop()


def client_hello() -> bytes:
    outgoing = ssl.MemoryBIO()
    context = ssl.create_default_context()
    with pytest.raises(ssl.SSLWantReadError):
        context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="localhost").do_handshake()
    return outgoing.read()


def test_a_certificate_that_cannot_be_used_is_refused_before_anything_is_served(tmp_path):
    files = Files(tmp_path)
    Certificate(files.certificate, files.key)
    other = tmp_path / "other"
    other.mkdir()
    cases = {
        "chmod 600": lambda: files.key.chmod(0o640),
        "No such file": lambda: files.certificate.unlink(),
        "its own key": lambda: files.key.write_bytes(Files(other).key.read_bytes()),
        "as PEM": lambda: files.certificate.write_text("nonsense"),
    }
    for why, spoil in cases.items():
        files.issue("127.0.0.1")
        files.key.chmod(0o600)
        spoil()
        with pytest.raises(UsageError, match=why):
            Certificate(files.certificate, files.key)


def test_without_a_key_file_the_key_is_looked_for_beside_the_certificate(tmp_path):
    files = Files(tmp_path)
    both = secret_file(tmp_path / "both.pem", files.certificate.read_text() + files.key.read_text())
    Certificate(both)
    files.certificate.chmod(0o644)
    for mode in (0o644, 0o600):
        files.certificate.chmod(mode)
        with pytest.raises(UsageError, match=r"No --tls-key was given, so the key is looked for in the certificate's"):
            Certificate(files.certificate)
    with pytest.raises(UsageError) as refused:
        Certificate(files.certificate)
    assert f"--tls-key {files.certificate}" not in str(refused.value)


def test_threads_that_send_and_receive_on_one_connection_take_turns(tmp_path):
    """A mirror that sends everything back, over a small buffer: both directions are full most of the time."""
    files = Files(tmp_path)
    context = Certificate(files.certificate, files.key).context
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def mirror() -> None:
            with context.wrap_socket(listening.accept()[0], server_side=True) as sock:
                while piece := sock.recv(5000):
                    sock.sendall(piece)

        thread = threading.Thread(target=mirror)
        thread.start()
        from neardup.client import _context

        plain = socket.create_connection(listening.getsockname()[:2], timeout=20)
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        with _context(files.authority).wrap_socket(plain, server_hostname="127.0.0.1") as sock:
            sock.share()
            sent = json.dumps(list(range(400_000))).encode()
            sender = threading.Thread(target=sock.sendall, args=(sent,))
            sender.start()
            seen = b""
            while len(seen) < len(sent):
                seen += sock.recv(3000)
            sender.join(20)
            assert seen == sent
            sock.shutdown(socket.SHUT_RDWR)
            with pytest.raises(OSError, match=r"(?i)pipe|eof|protocol"):
                sock.sendall(b"this must not be sent in the open")
        thread.join(20)
