"""`neardup serve` in a process of its own, on a free port of this machine."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit


class Service:
    """A service that can be asked. It logs a line per request, as it does for everybody, to nowhere."""

    def __init__(self, index: Path, *options: str) -> None:
        command = [sys.executable, "-m", "neardup", "serve", str(index), "--port", "0", *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()
        if not self.address:
            self.process.wait()
            raise RuntimeError(f"the service did not start; try it by hand: {' '.join(command)}")
        parts = urlsplit(self.address)
        self.host, self.port = str(parts.hostname), int(parts.port or 0)

    def get(self, path: str) -> bytes:
        """What is there."""
        connection = HTTPConnection(self.host, self.port, timeout=60)
        try:
            connection.request("GET", path)
            return connection.getresponse().read()
        finally:
            connection.close()

    def documents(self) -> int:
        """In the index."""
        found: dict[str, Any] = json.loads(self.get("/v1/index"))
        return int(found["documents"])

    def count(self, what: str) -> float:
        """Documents of a kind that were counted since it started: checked, added, duplicate, removed."""
        counted = rf'^neardup_documents_total\{{[^}}]*what="{what}"[^}}]*\}} (\S+)'
        return sum(map(float, re.findall(counted, self.get("/metrics").decode(), re.MULTILINE)))

    def stop(self) -> int:
        """In order; the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=120)
        return self.process.returncode


@contextmanager
def serving(index: Path, *options: str) -> Iterator[Service]:
    """For as long as the block lasts."""
    service = Service(index, *options)
    try:
        yield service
    finally:
        service.stop()
