"""A service in a process of its own, as a user runs it; and texts that are like nothing else."""

import asyncio
import itertools
import json
import os
import random
import signal
import socket
import subprocess
import sys
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx

T = TypeVar("T")

READ, WRITE, ADMIN = "read-token-of-the-tests", "write-token-of-the-tests", "admin-token-of-the-tests"

_WORDS = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in "lmnrstx"]
_NUMBERS = itertools.count()


def fresh(words: int = 60) -> str:
    """A text that was never made before."""
    n = next(_NUMBERS)
    return " ".join([f"text{os.getpid()}x{n}", *random.Random(f"{os.getpid()}-{n}").choices(_WORDS, k=words)])


def name(slash: str = "/") -> str:
    """An id that was never given before."""
    return f"https:{slash}{slash}{os.getpid()}.example{slash}{next(_NUMBERS)}?a=b c&ü"


def path_of(route: Any, id_: str = "nothing") -> str:
    """An address of a route, of the default index, a document that may not be there and a job that is not."""
    return str(route.path.format(index="default", id=id_, job="nothing"))


class Service:
    """`neardup serve`, ready to be asked."""

    def __init__(self, index: Path | str | None, *options: str, environment: dict[str, str] | None = None) -> None:
        served = [] if index is None else [str(index)]
        command = [sys.executable, "-m", "neardup", "serve", *served, "--port", "0", *options]
        self._begin(command, environment)

    def _begin(self, command: list[str], environment: dict[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **(environment or {})},
        )
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()
        if not self.address:
            raise AssertionError(self.process.communicate(timeout=30)[1])
        parts = urlsplit(self.address)
        self.host, self.port = str(parts.hostname), int(parts.port or 0)
        self.http = httpx.Client(base_url=self.address, timeout=30)

    def post(self, what: str, asked: Any = None, **options: Any) -> httpx.Response:
        return self.http.post(f"/v1/{what}", json=asked, **options)

    def stream(self, what: str, lines: list[Any], **options: Any) -> list[dict[str, Any]]:
        """Bytes are sent as they are, other things as JSON."""
        data = b"".join((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n" for line in lines)
        headers = {"Content-Type": "application/x-ndjson", **options.pop("headers", {})}
        answer = self.http.post(f"/v1/stream/{what}", content=data, headers=headers, **options)
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"] == "application/x-ndjson"
        return [json.loads(line) for line in answer.text.splitlines()]

    def connect(self) -> socket.socket:
        return socket.create_connection((self.host, self.port), timeout=20)

    def begin(self, path: str, length: int, kind: str = "application/json") -> socket.socket:
        """A request whose body is still to be sent."""
        made = self.connect()
        head = f"POST {path} HTTP/1.1\r\nHost: {self.host}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n"
        made.sendall(head.encode())
        return made

    def memory(self) -> int:
        """The most bytes that it ever held in memory."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) << 10

    def cpu(self) -> float:
        """Return the CPU seconds of the service, without its extractors. They do not depend on the machine's load."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self, how: int = signal.SIGTERM) -> str:
        """End it; what it said on stderr."""
        self.http.close()
        if self.process.poll() is None:
            self.process.send_signal(how)
        return self.process.communicate(timeout=30)[1]


def secret_file(path: Path, content: str) -> Path:
    """A file that nobody else may read; the same one when it is written again."""
    path.touch(0o600)
    path.write_text(content)
    return path


@contextmanager
def serving(index: Path | str | None, *options: str, environment: dict[str, str] | None = None) -> Iterator[Service]:
    """For as long as the block lasts."""
    service = Service(index, *options, environment=environment)
    try:
        yield service
    finally:
        service.stop()


def answer_on(sock: socket.socket) -> tuple[int, dict[str, str], bytes]:
    """Read one answer with a Content-Length: status, headers, body."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = sock.recv(65536)
        assert piece, f"the connection was closed after {data!r}"
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = {key.lower(): value for key, _, value in (line.partition(": ") for line in lines)}
    while len(body) < int(headers.get("content-length", 0)):
        piece = sock.recv(65536)
        assert piece, "the connection was closed in the middle of a body"
        body += piece
    return int(first.split()[1]), headers, body


def problem(answer: httpx.Response, status: int, kind: str) -> dict[str, Any]:
    """Check that an answer is a problem of this kind, in every respect, and return it."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"
    found = answer.json()
    assert set(found) == {"type", "title", "status", "detail", "instance"}
    assert found["type"] == f"/docs#{kind}"
    assert found["status"] == status
    assert found["instance"] == answer.headers["x-request-id"]
    assert "Traceback" not in answer.text
    return found


def in_a_loop(work: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns. In a thread: the browser's tests have a loop in theirs that runs all the time."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()
