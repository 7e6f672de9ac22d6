"""`python -m benchmarks.index.http`: an index behind `neardup serve`, asked by wrk and by streams on the same machine.

    POST /v1/check, /v1/check-and-add    wrk: a document of 2.6 kB per request, every one another, 10 % copies
    /v1/stream/check, /check-and-add     one connection, a document per line; as bytes that are made beforehand, and by
                                         neardup.Client, which makes them while it sends

The clients take their share of the cores; the server's CPU per document is what it needs itself. A check-and-add is
answered when its document is on disk. wrk's verdicts are counted by the service, those of streams are compared with
the truth.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from benchmarks.index import processes
from benchmarks.index.corpus import EVERY, OUTSIDE, Answers, Batch, Corpus
from benchmarks.index.serving import Service, serving
from benchmarks.index.speed import BATCH, Apart
from neardup import Client

SCRIPT = Path(__file__).with_name("documents.lua")
THREADS = 2
"""Of wrk."""
FASTEST = 6_000
"""Requests a second that there are documents for."""


class Supply:
    """Documents that nobody sent before: new ones, and copies of stored ones."""

    def __init__(self, corpus: Corpus, stored: int) -> None:
        self.corpus, self.stored = corpus, stored
        self._next = OUTSIDE

    def take(self, many: int) -> Iterator[Batch]:
        """Batches of them."""
        for first in range(0, many, BATCH):
            size = min(BATCH, many - first)
            yield self.corpus.batch(self._next, size, among=self.stored)
            self._next += size


def wrk(
    service: Service, path: str, supply: Supply, *, connections: int, seconds: float, folder: Path
) -> dict[str, Any]:
    """Single requests from many connections."""
    bodies = folder / "bodies.jsonl"
    with bodies.open("wb") as out:
        for batch in supply.take(int(FASTEST * seconds)):
            out.write(_lines(batch))
    threads = min(THREADS, connections)
    before, cpu = service.count("duplicate"), processes.cpu(service.process.pid)
    how = ["-t", threads, "-c", connections, "-d", f"{max(1, round(seconds))}s", "--timeout", "30s", "-s", SCRIPT]
    command = ["wrk", *how, service.address + path, "--", bodies, threads]
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, text=True, check=True)
    cpu = processes.cpu(service.process.pid) - cpu
    told = json.loads(done.stdout.strip().splitlines()[-1])
    many = told["requests"]
    return {
        "how": f"{path}, {connections} connection{'s' if connections > 1 else ''}",
        "documents/s": many / told["seconds"],
        "p50, ms": told["p50"] / 1e3,
        "p99, ms": told["p99"] / 1e3,
        "worst, ms": told["worst"] / 1e3,
        "server's CPU, µs/document": cpu / many * 1e6,
        "duplicates, share": (service.count("duplicate") - before) / many,
        "refused or broken": told["refused"] + told["broken"],
        "sent again": max(0, told["asked"] - int(FASTEST * seconds)),
    }


def stream(service: Service, what: str, supply: Supply, many: int, *, client: bool) -> dict[str, Any]:
    """One stream, of `many` documents."""
    batches = list(supply.take(many))
    lines = [] if client else [_lines(batch) for batch in batches]
    ask: Callable[[], list[str | None]] = (
        (lambda: _by_client(service, what, batches)) if client else (lambda: _by_bytes(service, what, lines))
    )
    cpu, begin = processes.cpu(service.process.pid), time.perf_counter()
    matches = ask()
    spent, cpu = time.perf_counter() - begin, processes.cpu(service.process.pid) - cpu
    answers = Answers(supply.corpus, among=supply.stored)
    for at, batch in enumerate(batches):
        answers.take(batch, matches[at * BATCH : (at + 1) * BATCH])
    return {
        "how": f"/v1/stream/{what}, {'neardup.Client' if client else 'bytes'}",
        "documents/s": many / spent,
        "server's CPU, µs/document": cpu / many * 1e6,
        "duplicates, share": sum(match is not None for match in matches) / many,
        "missed": answers.missed,
        "false": answers.false,
    }


def _by_client(service: Service, what: str, batches: list[Batch]) -> list[str | None]:
    with Client(service.address) as client:
        call = client.check_many if what == "check" else client.check_and_add_many
        sent = (document for batch in batches for document in batch.documents)
        return [None if verdict.match is None else verdict.match.id for verdict in call(sent)]


def _by_bytes(service: Service, what: str, lines: list[bytes]) -> list[str | None]:
    connection = HTTPConnection(service.host, service.port, timeout=60)
    connection.putrequest("POST", f"/v1/stream/{what}")
    connection.putheader("Content-Type", "application/x-ndjson")
    connection.putheader("Content-Length", str(sum(map(len, lines))))
    connection.endheaders()
    sock = connection.sock  # which the connection lets go of, when it sees that this answer is its last
    sender = threading.Thread(target=lambda: [sock.sendall(part) for part in lines], daemon=True)
    sender.start()
    response = connection.getresponse()
    pieces = []
    while piece := response.read(1 << 20):
        pieces.append(piece)
    sender.join()
    connection.close()
    found = [json.loads(line) for line in b"".join(pieces).splitlines()]
    return [line["match"]["id"] if "match" in line else None for line in found]


def _lines(batch: Batch) -> bytes:
    return b"".join([json.dumps(document).encode() + b"\n" for document in batch.documents])


COLUMNS = {
    "documents/s": "{:,.0f}",
    "p50, ms": "{:.1f}",
    "p99, ms": "{:.1f}",
    "worst, ms": "{:.0f}",
    "server's CPU, µs/document": "{:,.0f}",
    "server's memory, MB": "{:,.0f}",
    "duplicates, share": "{:.3f}",
    "missed": "{}",
    "false": "{}",
    "refused or broken": "{}",
    "sent again": "{}",
}


def measured(folder: Path, options: argparse.Namespace) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """A row for every way to ask; and what the service used in all."""
    index = folder / "seen.ndx"
    stored = options.documents
    Apart("fill", str(index), 0, stored).ready().go().answer()
    supply = Supply(Corpus(), stored)
    rows = []

    with serving(index) as service:
        at_start = processes.memory(service.process.pid)

        def record(row: dict[str, Any]) -> None:
            load = os.getloadavg()
            rows.append({**row, "server's memory, MB": processes.memory(service.process.pid) / 1e6, "load after": load})

        for path in ("/v1/check", "/v1/check-and-add"):
            for connections in options.connections:
                record(wrk(service, path, supply, connections=connections, seconds=options.seconds, folder=folder))
        for what in ("check", "check-and-add"):
            for client in (False, True):
                record(stream(service, what, supply, options.streamed, client=client))
        whole = {
            "memory at start, MB": at_start / 1e6,
            "peak memory, MB": processes.peak(service.process.pid) / 1e6,
            "documents at the end": service.documents(),
        }
    return rows, whole


def main(argv: list[str] | None = None) -> int:
    """Measure, print, write down; 1 if a request was refused or broken, or a verdict false."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.index.http",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--documents", type=int, default=200_000, help="in the index, before anybody asks")
    parser.add_argument("--connections", type=int, nargs="+", default=[1, 32])
    parser.add_argument("--seconds", type=float, default=10.0, help="of every row of wrk")
    parser.add_argument("--streamed", type=int, default=100_000, help="documents of every stream")
    parser.add_argument("--folder", type=Path, help="where data is put, and deleted  [default: a temporary one]")
    parser.add_argument("--json", type=Path, default=processes.RESULTS / "http.json")
    options = parser.parse_args(argv)
    if shutil.which("wrk") is None:
        parser.error("wrk is missing; Debian's package wrk has it.")
    here = processes.facts()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        rows, whole = measured(Path(folder), options)
    print(f"{options.documents:,} documents in the index; 1 of {EVERY} asked about is a copy\n")
    print(processes.table(rows, COLUMNS, "how", across=True))
    print(*(f"{name}: {value:,.0f}" for name, value in whole.items()), sep="; ")
    options.json.parent.mkdir(parents=True, exist_ok=True)
    told = {"documents": options.documents, "seconds": options.seconds, "streamed": options.streamed}
    options.json.write_text(json.dumps({**here, **told, **whole, "rows": rows}, indent=2) + "\n")
    return 1 if any(row.get("refused or broken") or row.get("false") for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
