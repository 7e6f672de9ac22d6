"""The course that every filter of near-duplicates runs over, in a process of its own; see peers.

    race          offer all documents, ask about others, remove some: times, memory, wrong answers
    acknowledge   offer documents, and print the ids of stored ones after each hundred; killed in the middle of it
    count         how many of the ids on stdin are there

Runs in environments that have numpy and the filter, and nothing of neardup's own.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import json
import sys
import time
from collections.abc import Callable
from typing import Any, Protocol

from benchmarks.index import processes
from benchmarks.index.corpus import OUTSIDE, Answers, Corpus, id_of

BATCH, SMALL = 1_000, 100


class Filter(Protocol):
    """A filter as the course sees it."""

    @property
    def sketching(self) -> float:
        """Seconds that were spent on sketches so far."""

    def check_and_add(self, documents: list[dict[str, str]]) -> list[str | None]:
        """Store what is new; of the others the id that each is similar to."""

    def check(self, documents: list[dict[str, str]]) -> list[str | None]:
        """The same without storing."""

    def remove(self, ids: list[str]) -> None:
        """Forget documents that are there."""

    def contains(self, ids: list[str]) -> list[bool]:
        """Which are there."""

    def facts(self) -> dict[str, Any]:
        """Settings, and bytes that are held elsewhere than in this process's memory."""


def run(make: Callable[[argparse.Namespace], Filter], *more: str) -> None:
    """Be one of the commands, with a filter made from the options `more`; print what came out as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=["race", "acknowledge", "count"])
    parser.add_argument("--documents", type=int, default=20_000)
    for option in more:
        parser.add_argument(option)
    options = parser.parse_args()
    if options.command == "race":
        print(json.dumps(race(lambda: make(options), options.documents)))
    elif options.command == "acknowledge":
        acknowledge(make(options), options.documents)
    else:
        print(json.dumps(sum(make(options).contains(json.load(sys.stdin)))))


def race(make: Callable[[], Filter], documents: int) -> dict[str, Any]:
    """All figures of a filter. A quarter as many documents are asked about and removed as are offered."""
    corpus = Corpus()
    some = corpus.batch(OUTSIDE, BATCH).documents
    filter = make()
    filter.check(some)  # whatever is compiled or loaded at first use
    gc.collect()
    before, held = processes.memory(), filter.facts()
    sketched, cpu = filter.sketching, time.process_time()
    answers = Answers(corpus, among=documents)
    adding = _timed(filter.check_and_add, answers, 0, documents, among=0)
    sketched, cpu = filter.sketching - sketched, time.process_time() - cpu
    gc.collect()
    after, facts = processes.memory(), filter.facts()
    asked = max(1, documents // 4)
    checking = _timed(filter.check, answers, OUTSIDE + BATCH, asked, among=documents)
    ids = [id_of(number) for number in range(documents) if number % 10 != 9][:asked]
    begin = time.perf_counter()
    filter.remove(ids)
    removing = time.perf_counter() - begin
    return {
        "check_and_add/s": documents / adding,
        "sketching, µs/document": sketched / documents * 1e6,
        "all else, µs/document": (adding - sketched) / documents * 1e6,
        "check/s": asked / checking,
        "removal/s": len(ids) / removing,
        "memory growth, bytes/document": (after - before) / documents,
        "bytes/document elsewhere": (facts.pop("bytes", 0) - held.get("bytes", 0)) / documents,
        "CPU, µs/document": cpu / documents * 1e6,
        "recall": 1 - answers.missed / answers.copies,
        "false": answers.false,
        "not removed": sum(filter.contains(ids)),
        "answers": answers.told(),
        "first documents": hashlib.sha256(json.dumps(some).encode()).hexdigest(),
        **facts,
    }


def _timed(
    call: Callable[[list[dict[str, str]]], list[str | None]], answers: Answers, first: int, size: int, *, among: int
) -> float:
    """Seconds of the calls alone."""
    spent = 0.0
    for begin in range(first, first + size, BATCH):
        batch = answers.corpus.batch(begin, min(BATCH, first + size - begin), among=among)
        clock = time.perf_counter()
        matches = call(batch.documents)
        spent += time.perf_counter() - clock
        answers.take(batch, matches)
    return spent


def acknowledge(filter: Filter, documents: int) -> None:
    """Print the ids that were stored, when the filter says that they are."""
    corpus = Corpus()
    for first in range(0, documents, SMALL):
        batch = corpus.batch(first, SMALL)
        matches = filter.check_and_add(batch.documents)
        stored = [d["id"] for d, match in zip(batch.documents, matches, strict=True) if match is None]
        print(json.dumps(stored), flush=True)
