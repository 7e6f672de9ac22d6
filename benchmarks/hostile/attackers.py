"""Hostile clients of a service, in a process of their own at the lowest priority; prints their answers as JSON.

    bombs      JSON nested a million deep, gzip that unfolds to 128 MB, 300,000 results to group, 100,000 documents
    refused    14 MB to group that do not fit, a body of 17 MB, 500,000 fields, 14 MB to compare with a number
    pages      HTML that parsers take long for: nested <main>, nested <div>, attributes, an unclosed comment
    texts      15 MB of words to check
    slow       heads and bodies that come byte by byte
    idle       connections that say nothing, or half a head
    leaving    a page or a text, and away before the answer
    deaf       streams whose answers nobody takes

Each kind has a fixed number of clients, which pause between requests, so that the load is bounded; PAUSE and MANY have
the numbers. They come from other addresses of this machine than the honest ones (127.0.0.2 and following).
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import os
import random
import socket
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Coroutine
from contextlib import suppress
from typing import Any

from benchmarks.index.mixed import Gone, Line, Place, head

_JSON, _LINES = "application/json", "application/x-ndjson"
MANY = {"bombs": 2, "refused": 4, "pages": 3, "texts": 1, "slow": 32, "idle": 512, "leaving": 4, "deaf": 4}
"""Clients of each kind."""
PAUSE = {
    "bombs": 0.5,
    "refused": 0.5,
    "pages": 1.0,
    "texts": 2.0,
    "slow": 0.2,
    "idle": 5.0,
    "leaving": 0.5,
    "deaf": 1.0,
}
"""Seconds between two requests of a client."""
_SOURCES = [f"127.0.0.{n}" for n in range(2, 10)]


def _bodies() -> dict[str, list[tuple[str, bytes, str]]]:
    """What is sent, by kind: path, body, further heads. Made once, for making it costs more than sending it."""
    words = " ".join(f"w{n % 5003}x{n % 97}" for n in range(200_000)).encode() * 16
    result = b'{"id":"%d","text":"a rose is a rose"}'
    results = b",".join(result % n for n in range(300_000))
    page: Callable[[str], bytes] = lambda html: json.dumps({"html": html}).encode()  # noqa: E731
    return {
        "bombs": [
            ("/v1/check", b"[" * 1_000_000, ""),
            ("/v1/group", b'{"results":' + b'{"a":' * 200_000, ""),
            ("/v1/check", gzip.compress(b'{"text":"' + b"a " * (64 << 20) + b'"}'), "Content-Encoding: gzip\r\n"),
            ("/v1/group", b'{"results":[' + results + b"]}", ""),
            ("/v1/sketch", b'{"documents":[' + b",".join([b'{"text":""}'] * 100_000) + b"]}", ""),
        ],
        "refused": [
            ("/v1/group", b'{"results":[{"id":"a","text":"' + b"a rose " * (2 << 20) + b'"},1]}', ""),
            ("/v1/check", b'{"text":"' + b"a" * (17 << 20) + b'"}', ""),
            ("/v1/check", b"{" + b",".join(b'"f%d":1' % n for n in range(500_000)) + b"}", ""),
            ("/v1/compare", b'{"first":{"text":"' + b"a " * (7 << 20) + b'"},"second":1}', ""),
        ],
        "pages": [
            ("/v1/check", page("<main>" * 10_000), ""),
            ("/v1/check", page("<div>" * 19_000), ""),
            ("/v1/check", page(f"<p {' '.join(f'a{n}=1' for n in range(160_000))}>a rose"), ""),
            ("/v1/check", page("<!--" * 200_000), ""),
            ("/v1/check", page("<b><i>" * 5_000 + "a rose" + "</b></i>" * 5_000), ""),
            ("/v1/check", page("<table><tr><td>" * 3_000), ""),
        ],
        "texts": [("/v1/check", b'{"text":"' + words[: 15 << 20] + b'"}', "")],
    }


class Attackers:
    """All hostile clients, and what they were answered."""

    def __init__(self, place: Place, seconds: float, scale: float, kinds: Collection[str]) -> None:
        self.place, self.scale, self.kinds = place, scale, kinds
        self.statuses: Counter[str] = Counter()
        self.bodies = _bodies()
        self.chance = random.Random(1)
        self.seconds = seconds
        self.end = 0.0

    @property
    def over(self) -> bool:
        return time.monotonic() > self.end

    async def run(self) -> None:
        """Until the time is over; whoever still waits then leaves."""
        self.end = time.monotonic() + self.seconds
        ways: dict[str, Callable[[Line, str], Coroutine[Any, Any, None]]] = {
            **dict.fromkeys(self.bodies, self._send),
            "slow": self._slow,
            "idle": self._idle,
            "leaving": self._leave,
            "deaf": self._deaf,
        }
        with suppress(TimeoutError):
            async with asyncio.timeout(self.seconds + 1), asyncio.TaskGroup() as group:
                for kind, way in ways.items():
                    if kind not in self.kinds:
                        continue
                    for number in range(max(1, round(MANY[kind] * self.scale))):
                        group.create_task(self._again(way, kind, _SOURCES[number % len(_SOURCES)]))

    async def _again(self, way: Callable[[Line, str], Coroutine[Any, Any, None]], kind: str, source: str) -> None:
        await asyncio.sleep(self.chance.random() * PAUSE[kind])
        while not self.over:
            line = Line(self.place, source)
            try:
                await way(line, kind)
            except asyncio.CancelledError:
                self.statuses[f"{kind}, still waiting at the end"] += 1
                raise
            except Gone:
                self.statuses[f"{kind}, closed"] += 1
            except (OSError, asyncio.IncompleteReadError):
                self.statuses[f"{kind}, cut off"] += 1
            finally:
                line.close()
            await asyncio.sleep(PAUSE[kind] * (0.5 + self.chance.random()))

    async def _send(self, line: Line, kind: str) -> None:
        """Send a body as it is, and take the answer."""
        path, body, more = self.chance.choice(self.bodies[kind])
        _, writer = await line.open()
        writer.write(head("POST", path, _JSON, len(body)).replace(b"\r\n\r\n", b"\r\n" + more.encode() + b"\r\n"))
        with suppress(OSError):  # refused, and the answer is there already
            for at in range(0, len(body), 1 << 20):
                writer.write(body[at : at + (1 << 20)])
                await writer.drain()
        status, _ = await line.answer()
        self.statuses[f"{kind} {status}"] += 1

    async def _slow(self, line: Line, kind: str) -> None:
        """Send the head or the body of a request byte by byte."""
        _, writer = await line.open()
        sent = head("POST", "/v1/check", _JSON, 100_000)
        if self.chance.random() < 0.5:
            writer.write(sent + b'{"text":"')
            sent = b"a rose is " * 10
        await self._drip(writer, sent)
        self.statuses[f"{kind}, given up"] += 1

    async def _drip(self, writer: asyncio.StreamWriter, sent: bytes) -> None:
        for at in range(len(sent)):
            if self.over or writer.transport.is_closing():
                return
            writer.write(sent[at : at + 1])
            await asyncio.sleep(0.5)

    async def _idle(self, line: Line, kind: str) -> None:
        """Say nothing, or half a head, until the service closes."""
        reader, writer = await line.open()
        if self.chance.random() < 0.5:
            writer.write(b"POST /v1/check HTTP/1.1\r\nHost: 127")
        with suppress(TimeoutError):
            await asyncio.wait_for(reader.read(1 << 16), max(0.1, min(120.0, self.end - time.monotonic())))
        self.statuses[f"{kind}, closed"] += 1

    async def _leave(self, line: Line, kind: str) -> None:
        """Ask for something that takes long, and go."""
        path, body, _ = self.chance.choice(self.bodies[self.chance.choice(["pages", "pages", "texts"])])
        _, writer = await line.open()
        writer.write(head("POST", path, _JSON, len(body)) + body)
        with suppress(TimeoutError):
            await asyncio.wait_for(writer.drain(), 2)
        await asyncio.sleep(self.chance.random() * 0.2)
        self.statuses[f"{kind}, gone"] += 1

    async def _deaf(self, line: Line, kind: str) -> None:
        """Stream lines and take no answer."""
        _, writer = await line.open()
        connection = writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        writer.write(head("POST", "/v1/stream/check", _LINES, 1 << 30))
        lines = b"".join(b'{"text":"a rose is a rose %d"}\n' % n for n in range(5_000))
        end = min(self.end, time.monotonic() + 20)
        while time.monotonic() < end and not writer.transport.is_closing():
            writer.write(lines)
            try:
                await asyncio.wait_for(writer.drain(), max(0.1, end - time.monotonic()))
            except TimeoutError:
                break
        self.statuses[f"{kind}, gone"] += 1


def main(argv: list[str] | None = None) -> int:
    """Run and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hostile.attackers", description=__doc__)
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--scale", type=float, default=1.0, help="of the number of clients")
    parser.add_argument("--kinds", nargs="+", default=list(MANY), choices=MANY)
    options = parser.parse_args(argv)
    os.nice(19)
    attackers = Attackers(Place(options.host, options.port), options.seconds, options.scale, options.kinds)
    print("ready", flush=True)
    asyncio.run(attackers.run())
    json.dump(attackers.statuses, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
