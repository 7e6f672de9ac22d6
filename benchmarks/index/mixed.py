"""`python -m benchmarks.index.mixed --minutes 10`: everything at once against a service, and does its memory stay?

More clients than the service takes at a time: single checks, additions and removals, streams of them, clients that
send slowly, that do not take their answers or go away, and requests that are wrong in every way. What is added is
removed again, so the index keeps its size. It fails (exit code 1), if

    memory grew     RSS less what the store says it holds (write buffers, cache, filters: all bounded), a sample a
                    second after the warm-up: the median of the last third is above that of the first third by more
                    than 5 % and 16 MB
    a document is   that was acknowledged as added, and not removed since: looked up in the index itself, after the
    missing         service has ended; or one is there whose removal was acknowledged
    a status is     5xx other than 503 (which says that there are too many, and is expected), or a good request is
    wrong           refused, or a bad one is not; or the service does not end with exit code 0

From Python: `run(folder, Load(seconds=5)).failures()`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.index import processes
from benchmarks.index.corpus import Corpus
from benchmarks.index.serving import Service
from neardup import Index

ALLOWED_SHARE, ALLOWED_BYTES = 0.05, 16 << 20
BUSY = 503
STREAMED = 200
"""Lines of a stream."""
_JSON, _LINES = "application/json", "application/x-ndjson"


@dataclass(frozen=True)
class Load:
    """How long, and how many clients of each kind. The service takes `concurrency` requests and `streams` streams."""

    seconds: float = 600.0
    warm_up: float = 0.2
    """Share of the time."""
    concurrency: int = 16
    streams: int = 4
    singles: int = 32
    streaming: int = 5
    slow: int = 8
    bad: int = 4
    window: int = 50
    """Documents that each client has in the index; a streaming one ten times as many."""
    seed: int = 1


@dataclass
class Report:
    """What was seen."""

    load: Load
    statuses: Counter[str] = field(default_factory=Counter)
    """By kind of request and status."""
    wrong: list[str] = field(default_factory=list)
    samples: list[tuple[float, int, int]] = field(default_factory=list)
    """Second, RSS, what the store holds of it."""
    present: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    missing: int = 0
    back: int = 0
    documents: int = 0
    exit_code: int = 0

    def medians(self) -> tuple[float, float]:
        """Bytes that are not the store's, in the first and in the last third of the samples after the warm-up."""
        own = [rss - store for second, rss, store in self.samples if second >= self.load.seconds * self.load.warm_up]
        third = max(1, len(own) // 3)
        return median(own[:third]), median(own[-third:])

    def failures(self) -> list[str]:
        """A sentence for each."""
        first, last = self.medians()
        allowed = ALLOWED_SHARE * first + ALLOWED_BYTES
        found = list(self.wrong)
        if last - first > allowed:
            grown = f"{(last - first) / 1e6:.0f} MB, from {first / 1e6:.0f} to {last / 1e6:.0f} MB"
            found.append(f"memory grew by {grown}; {allowed / 1e6:.0f} MB are allowed")
        if self.missing:
            found.append(f"{self.missing:,} of {len(self.present):,} acknowledged documents are missing")
        if self.back:
            found.append(f"{self.back:,} of {len(self.gone):,} removed documents are there")
        if self.exit_code:
            found.append(f"the service ended with exit code {self.exit_code}")
        return found

    def saw(self, kind: str, status: int, expected: Callable[[int], bool]) -> bool:
        """Count a status; whether it is the expected one and not 503."""
        self.statuses[f"{kind} {status}"] += 1
        if status != BUSY and not expected(status) and len(self.wrong) < 20:
            self.wrong.append(f"{kind}: status {status}")
        return status != BUSY and expected(status)


@dataclass(frozen=True)
class Place:
    """Where a service of another process listens."""

    host: str
    port: int


class Gone(Exception):
    """The service closed the connection without an answer."""


class Line:
    """A connection to the service, that is opened again when it was closed. `source`: the address it comes from."""

    def __init__(self, service: Service | Place, source: str | None = None) -> None:
        self.service, self.source = service, source
        self.reader: asyncio.StreamReader | None = None
        self.writer: asyncio.StreamWriter | None = None

    async def open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Return its two ends."""
        if self.reader is not None and self.reader.at_eof():  # the service has closed it meanwhile, as idle
            self.close()
        if self.reader is None or self.writer is None:
            source = None if self.source is None else (self.source, 0)
            service = self.service
            self.reader, self.writer = await asyncio.open_connection(service.host, service.port, local_addr=source)
        return self.reader, self.writer

    async def ask(self, method: str, path: str, body: bytes = b"", kind: str = _JSON) -> tuple[int, bytes]:
        """Status and body of the answer."""
        _, writer = await self.open()
        writer.write(head(method, path, kind, len(body)) + body)
        await writer.drain()
        return await self.answer()

    async def answer(self) -> tuple[int, bytes]:
        """Read one."""
        assert self.reader is not None
        try:
            told = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            self.close()
            raise Gone from error
        status = int(told.split()[1])
        if "transfer-encoding: chunked" in told:
            body = b"".join([chunk async for chunk in self._chunks()])
        else:
            length = told.partition("content-length:")[2].split("\r\n")[0]
            body = await self.reader.readexactly(int(length or 0))
        if "connection: close" in told:
            self.close()
        return status, body

    async def _chunks(self) -> Any:
        assert self.reader is not None
        while size := int(await self.reader.readline(), 16):
            yield await self.reader.readexactly(size)
            await self.reader.readexactly(2)
        await self.reader.readexactly(2)

    def close(self) -> None:
        """Without a word."""
        if self.writer is not None:
            self.writer.transport.abort()
        self.reader = self.writer = None


def head(method: str, path: str, kind: str, length: int) -> bytes:
    """Of a request."""
    return (
        f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n"
    ).encode()


class Crowd:
    """All clients of a service."""

    def __init__(self, service: Service, report: Report) -> None:
        self.service, self.report, self.load = service, report, report.load
        self.corpus = Corpus(report.load.seed)
        self.chance = random.Random(report.load.seed)
        self._next = 0
        self.end = time.monotonic() + report.load.seconds

    def fresh(self, many: int) -> list[dict[str, str]]:
        """Documents that are like nothing before them."""
        first, self._next = self._next, self._next + 2 * many
        batch = self.corpus.batch(first, 2 * many)
        new = (batch.roots == batch.numbers).nonzero()[0][:many]
        return [batch.documents[i] for i in new.tolist()]

    @property
    def over(self) -> bool:
        return time.monotonic() > self.end

    async def run(self) -> None:
        """Until the time is over."""
        load = self.load
        kinds: list[tuple[int, Callable[[Line], Coroutine[Any, Any, None]]]] = [
            (load.singles, self._single),
            (load.streaming, self._streaming),
            (load.slow, self._slow),
            (load.bad, self._bad),
        ]
        async with asyncio.TaskGroup() as group:
            group.create_task(self._sampled())
            for many, kind in kinds:
                for _ in range(many):
                    group.create_task(kind(Line(self.service)))

    async def _sampled(self) -> None:
        began, line = time.monotonic(), Line(self.service)
        while not self.over:
            status, body = await line.ask("GET", "/v1/index")
            if status == 200:
                rss = processes.memory(self.service.process.pid)
                self.report.samples.append((time.monotonic() - began, rss, json.loads(body).get("memory", 0)))
                await asyncio.sleep(1.0)
            else:
                await asyncio.sleep(0.05)
        line.close()

    async def _single(self, line: Line) -> None:
        """Adds, checks what it added, removes the oldest."""
        report, mine = self.report, deque[dict[str, str]]()
        while not self.over:
            document = self.fresh(1)[0]
            if await self._done(line, "check-and-add", document, "added", True):
                mine.append(document)
                report.present.add(document["id"])
            if mine:
                known = self.chance.choice(mine)
                await self._done(line, "check", {"text": known["text"]}, "status", "duplicate")
            await self._done(line, "check", {"text": self.fresh(1)[0]["text"]}, "status", "new")
            while len(mine) > self.load.window and not self.over:
                if await self._done(line, "remove", {"id": mine[0]["id"]}, "removed", True):
                    oldest = mine.popleft()["id"]
                    report.present.discard(oldest)
                    report.gone.add(oldest)
        line.close()

    async def _done(self, line: Line, what: str, asked: dict[str, str], name: str, expected: Any) -> bool:
        """Ask; whether it was done and not refused for lack of room."""
        try:
            status, body = await line.ask("POST", f"/v1/{what}", json.dumps(asked).encode())
        except (Gone, ConnectionError):
            line.close()
            self.report.wrong.append(f"{what}: closed without an answer")
            return False
        if not self.report.saw(what, status, lambda status: status == 200):
            await asyncio.sleep(0.02)
            return False
        told = json.loads(body)
        if told[name] != expected:
            self.report.wrong.append(f"{what}: {told} of {asked.get('id', 'a document')}")
        return bool(told[name] == expected)

    async def _streaming(self, line: Line) -> None:
        """Adds by streams, and removes the oldest by streams."""
        report, mine = self.report, deque[str]()
        while not self.over:
            sent = self.fresh(STREAMED)
            answers = await self._stream(line, "check-and-add", sent)
            for document, told in zip(sent, answers, strict=False):
                if told.get("added"):
                    mine.append(document["id"])
                    report.present.add(document["id"])
            while len(mine) > 10 * self.load.window and not self.over:
                oldest = list(islice(mine, STREAMED))
                for told in await self._stream(line, "remove", [{"id": id} for id in oldest]):
                    mine.popleft()
                    report.present.discard(told["id"])
                    report.gone.add(told["id"])
        line.close()

    async def _stream(self, line: Line, what: str, sent: list[dict[str, str]]) -> list[dict[str, Any]]:
        """The answers; none where there is no room for a stream."""
        body = b"".join(json.dumps(each).encode() + b"\n" for each in sent)
        try:
            status, told = await line.ask("POST", f"/v1/stream/{what}", body, _LINES)
        except (Gone, ConnectionError):
            line.close()
            self.report.wrong.append(f"stream/{what}: closed without an answer")
            return []
        if not self.report.saw(f"stream/{what}", status, lambda status: status == 200):
            await asyncio.sleep(0.05)
            return []
        answers = [json.loads(each) for each in told.splitlines()]
        bad = [each for each in answers if "error" in each]
        if bad or len(answers) != len(sent):
            self.report.wrong.append(f"stream/{what}: {len(answers)} answers to {len(sent)} lines; {bad[:1]}")
        return answers

    async def _slow(self, line: Line) -> None:
        """Sends half a request, bit by bit, or a stream whose answers it does not take; and goes away."""
        while not self.over:
            with suppress(ConnectionError):
                _, writer = await line.open()
                body = json.dumps(self.fresh(1)[0]).encode()
                how = self.chance.randrange(3)
                if how == 0:
                    writer.write(head("POST", "/v1/check", _JSON, len(body)) + body[: len(body) // 2])
                elif how == 1:
                    writer.write(head("POST", "/v1/stream/check", _LINES, 1 << 30))
                    lines = b"".join(json.dumps(each).encode() + b"\n" for each in self.fresh(300))
                    for _ in range(4):
                        writer.write(lines)
                else:
                    writer.write(b"POST /v1/check HT")
                for at in range(self.chance.randrange(20)):
                    if writer.transport.is_closing():
                        break
                    writer.write(body[at : at + 1])
                    await asyncio.sleep(0.1)
                self.report.statuses["slow, gone"] += 1
            line.close()

    async def _bad(self, line: Line) -> None:
        """Wrong in every way; each is answered with a 4xx."""
        text = json.dumps({"text": "a rose is a rose"}).encode()
        ways = [
            ("POST", "/v1/check", b"{", _JSON),
            ("POST", "/v1/check", b'{"text": 1}', _JSON),
            ("POST", "/v1/check", b'{"text": "a", "html": "b"}', _JSON),
            ("POST", "/v1/check", b'{"text": "\xff"}', _JSON),
            ("POST", "/v1/check", text, "text/plain"),
            ("POST", "/v1/check-and-add", text, _JSON),
            ("POST", "/v1/stream/check", text, _JSON),
            ("POST", "/v1/add", b"[" * 100_000, _JSON),
            ("GET", "/v1/check", b"", _JSON),
            ("POST", "/v1/nothing", text, _JSON),
            ("DELETE", "/v1/documents/nothing", b"", _JSON),
        ]
        while not self.over:
            way = self.chance.choice(ways)
            try:
                status, _ = await line.ask(*way)
                self.report.saw("bad", status, lambda status: 400 <= status < 500)
            except (Gone, ConnectionError):
                self.report.statuses["bad, closed"] += 1
                line.close()
            await asyncio.sleep(0.01)
        line.close()


def run(folder: Path, load: Load) -> Report:
    """Start a service on a new index in `folder`, let the crowd at it, stop it, and look into the index."""
    report = Report(load)
    index = folder / "seen.ndx"
    service = Service(index, "--concurrency", str(load.concurrency), "--streams", str(load.streams))
    try:
        asyncio.run(Crowd(service, report).run())
    finally:
        report.exit_code = service.stop()
    with Index.open(index, read_only=True) as opened:
        report.documents = len(opened)
        report.missing = opened.contains_many(report.present).count(False)
        report.back = opened.contains_many(report.gone).count(True)
    return report


def main(argv: list[str] | None = None) -> int:
    """Run, print, write down; 1 if it failed."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.index.mixed",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--folder", type=Path, help="where the index is made, and deleted  [default: a temporary one]")
    parser.add_argument("--json", type=Path, default=processes.RESULTS / "mixed.json")
    options = parser.parse_args(argv)
    here = processes.facts()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        report = run(Path(folder), Load(seconds=options.minutes * 60))
    first, last = report.medians()
    told = {
        "minutes": options.minutes,
        "memory without the store's, first third, MB": first / 1e6,
        "memory without the store's, last third, MB": last / 1e6,
        "documents at the end": report.documents,
        "acknowledged and there": len(report.present) - report.missing,
        "acknowledged and missing": report.missing,
        "removed": len(report.gone),
        "failures": report.failures(),
        "statuses": dict(sorted(report.statuses.items())),
    }
    for name, value in told.items():
        print(f"{name}: {value:,.1f}" if isinstance(value, float) else f"{name}: {value}")
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps({**here, **told, "samples": report.samples}, indent=1) + "\n")
    return 1 if report.failures() else 0


if __name__ == "__main__":
    sys.exit(main())
