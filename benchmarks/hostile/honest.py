"""Honest clients of a service, at a fixed rate, in a process of their own; prints what they saw as JSON.

Of ten requests seven check a text (half of them a copy of what was added), one checks an HTML page, two add. A request
is due at a fixed time, whether those before it are answered or not, and its latency counts from then: a service that
stops for a second shows as all the requests of that second. A refused request counts as one that took TIMEOUT.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import time
from collections import Counter
from typing import Any

from benchmarks.index.mixed import Gone, Line, Place

TIMEOUT = 30.0
SOURCE = "127.0.0.1"
PATTERN = ("text", "text", "html", "text", "add", "text", "text", "add", "text", "text")


_WORDS = [f"{a}{b}{c}{d}" for a in "bdfgklmn" for b in "aeiou" for c in "lmnrstx" for d in ("", "a", "en", "or")]


def document_of(number: int) -> dict[str, str]:
    """Make the document of a number: 500 words, 2.6 kB, like no other one."""
    words = random.Random(number).choices(_WORDS, k=500)
    return {"id": f"https://honest.example/{number}", "text": " ".join(words)}


class Honest:
    """Independent clients: a request takes a connection that is free, or opens one; and what they saw."""

    def __init__(self, place: Place, *, first: int, rate: float, seconds: float) -> None:
        self.place, self.rate, self.seconds = place, rate, seconds
        self.free: list[Line] = []
        self.chance = random.Random(first)
        self.first = first
        self.latencies: dict[str, list[float]] = {"text": [], "html": [], "add": []}
        self.statuses: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.added: list[dict[str, str]] = []

    async def run(self) -> None:
        """Ask until the time is over."""
        begin = time.monotonic() + 0.2
        async with asyncio.TaskGroup() as group:
            for number in range(int(self.rate * self.seconds)):
                due = begin + number / self.rate
                await asyncio.sleep(max(0.0, due - time.monotonic()))
                group.create_task(self._request(number, due))
        for line in self.free:
            line.close()

    async def _request(self, number: int, due: float) -> None:
        kind = PATTERN[number % len(PATTERN)]
        document = document_of(self.first + number)
        known = kind == "text" and number % 2 == 0 and bool(self.added)
        if known:
            document = self.chance.choice(self.added)
        path, asked = {
            "text": ("/v1/check", {"text": document["text"]}),
            "html": ("/v1/check", {"html": f"<html><body><main><p>{document['text']}</main></body></html>"}),
            "add": ("/v1/check-and-add", document),
        }[kind]
        line = self.free.pop() if self.free else Line(self.place, SOURCE)
        status, told = await self._ask(line, path, asked)
        self.free.append(line)
        self.statuses[f"{kind} {status}"] += 1
        self.latencies[kind].append(time.monotonic() - due if status == 200 else TIMEOUT)
        expected = "duplicate" if known else "new"
        if status == 200 and told["status"] != expected:
            self.wrong.append(f"{kind}: {told['status']} instead of {expected}")
        if status == 200 and told.get("added"):
            self.added.append(document)

    async def _ask(self, line: Line, path: str, asked: dict[str, str]) -> tuple[int, dict[str, Any]]:
        """Status and answer; status 0 where there is none."""
        try:
            async with asyncio.timeout(TIMEOUT):
                status, body = await line.ask("POST", path, json.dumps(asked).encode())
                return status, json.loads(body)
        except (Gone, OSError, TimeoutError):
            line.close()
            return 0, {}


def main(argv: list[str] | None = None) -> int:
    """Run and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hostile.honest", description=__doc__)
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    parser.add_argument("--first", type=int, default=0, help="number of the first document")
    parser.add_argument("--rate", type=float, default=50.0, help="requests a second")
    parser.add_argument("--seconds", type=float, default=10.0)
    options = parser.parse_args(argv)
    clients = Honest(
        Place(options.host, options.port),
        first=options.first,
        rate=options.rate,
        seconds=options.seconds,
    )
    asyncio.run(clients.run())
    seen = {
        "latencies": clients.latencies,
        "statuses": clients.statuses,
        "wrong": clients.wrong,
        "added": [document["id"] for document in clients.added],
    }
    json.dump(seen, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
