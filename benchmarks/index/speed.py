"""`python -m benchmarks.index.speed`: how fast a living index is, how large it gets, and how right it is.

    --sizes 1000000 10000000              one index, measured at each of these sizes
    --store postgresql://…                an index on a server; one process fills a quarter of it, then --writers 1 4
                                          go on side by side

An index of recipe `stream` is filled in batches of 1,000, each of which is on disk when its verdicts are given out;
10 % of the documents are copies (see corpus). Twenty batches go in by `check_and_add_many`, a call each; the next
twenty by one `check_and_add_batches`, which sketches a batch while it stores the one before; and so on in turn. Times
are of the calls alone; what it takes to make the documents is left out. At each size

    1. the process that fills is killed with SIGKILL, and the folder is copied;
    2. another process opens the copy, looks whether all that was acknowledged is in it, and asks: batches, single
       checks, single check-and-adds;
    3. a third one opens it after that one closed it, compacts it, asks again, and removes documents.

Files are in the page cache all the time. Every figure is of one run.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.index import processes
from benchmarks.index.corpus import OUTSIDE, Answers, Batch, Corpus, id_of
from neardup import Index, Verdict
from neardup.index.arriving import Arrived
from neardup.recipes import load_recipe

BATCH = 1_000
TURN = 20
"""Batches that are made, then offered one way or the other."""
CHECKED = 50
"""Batches of checks, or as many as the index was filled with."""
SINGLE = 2_000
"""Single calls of each kind, or a tenth of the index."""
REMOVED = 50
"""Batches of removals, or half of the index."""
_SINGLE_FIRST, _AGAIN_FIRST = OUTSIDE + (1 << 38), OUTSIDE + (1 << 39)


class Sketching:
    """Lets documents arrive at an index, and counts the time of that: of the sketches, told from the rest."""

    def __init__(self, index: Index) -> None:
        self._index, self.seconds = index, 0.0

    def __call__(self, documents: list[dict[str, str]]) -> Arrived:
        begin = time.perf_counter()
        arrived = self._index.arrive(documents)
        self.seconds += time.perf_counter() - begin
        return arrived


def fill(store: str, first: int, size: int, settled: int = OUTSIDE, step: int = 1, start: int = 0) -> dict[str, Any]:
    """Offer every `step`-th batch of the documents from `first` to `size`, beginning with number `start` of them."""
    corpus = Corpus(settled=settled)
    before = processes.reset_peak()
    index = Index.open(store, load_recipe("stream"))
    index.check_many(corpus.batch(OUTSIDE, BATCH).documents)  # the kernels are compiled or loaded
    answers = Answers(corpus)
    batches = range(first + start * BATCH, size, step * BATCH)
    turns = [batches[at : at + TURN] for at in range(0, len(batches), TURN)]
    ways = {"many": _by_calls, "batches": _by_batches}
    spent: dict[str, list[tuple[int, float]]] = {way: [] for way in ways}
    slowest = np.zeros(len(turns))
    making = 0.0
    print("ready", flush=True)
    sys.stdin.readline()
    cpu, began = time.process_time(), time.perf_counter()
    for at, turn in enumerate(turns):
        way = list(ways)[at % 2]
        thread = time.thread_time()
        made = [corpus.batch(begin, min(BATCH, size - begin)) for begin in turn]
        making += time.thread_time() - thread
        clock = time.perf_counter()
        verdicts, slowest[at] = ways[way](index, made)
        spent[way].append((sum(len(batch.documents) for batch in made), time.perf_counter() - clock))
        thread = time.thread_time()
        for batch, told in zip(made, verdicts, strict=True):
            answers.take(batch, _matches(told))
        making += time.thread_time() - thread
    cpu, wall = time.process_time() - cpu - making, time.perf_counter() - began
    offered = answers.documents
    return {
        "documents": len(index),
        "offered": offered,
        **{f"{_CALLED[way]}/s, last tenth": _rate(spent[way], 10) for way in ways},
        **{f"{_CALLED[way]}/s": _rate(spent[way], 1) for way in ways},
        "slowest batch of the last tenth, s": slowest[-max(1, len(slowest) // 10) :].max(),
        "slowest batch, s": slowest.max(),
        "CPU, µs/document": cpu / offered * 1e6,
        "peak memory filling, MB": processes.peak() / 1e6,
        "memory before opening, MB": before / 1e6,
        "seconds": wall,
        "filling": answers.told(),
    }


_CALLED = {"many": "check_and_add_many", "batches": "check_and_add_batches"}


def _by_calls(index: Index, batches: list[Batch]) -> tuple[list[list[Verdict]], float]:
    """The verdicts, and the time of the slowest batch."""
    return _timed(index.check_and_add_many(batch.documents) for batch in batches)


def _by_batches(index: Index, batches: list[Batch]) -> tuple[list[list[Verdict]], float]:
    return _timed(index.check_and_add_batches(batch.documents for batch in batches))


def _timed(verdicts: Iterable[list[Verdict]]) -> tuple[list[list[Verdict]], float]:
    found, slowest, clock = [], 0.0, time.perf_counter()
    for told in verdicts:
        found.append(told)
        slowest, clock = max(slowest, time.perf_counter() - clock), time.perf_counter()
    return found, slowest


def _rate(spent: list[tuple[int, float]], part: int) -> float | None:
    """Documents a second, in the last 1/part."""
    last = spent[-max(1, len(spent) // part) :]
    seconds = sum(time for _, time in last)
    return sum(documents for documents, _ in last) / seconds if seconds else None


def ask(store: str, size: int, documents: int, settled: int = OUTSIDE) -> dict[str, Any]:
    """Open what a killed process left, and ask it. `documents`: how many were acknowledged."""
    begin = time.perf_counter()
    index = Index.open(store)
    opened = time.perf_counter() - begin
    found = len(index)
    corpus = Corpus(settled=settled)
    answers = Answers(corpus, among=size)
    index.check_many(corpus.batch(OUTSIDE, BATCH).documents)
    rate, share = _checks(index, answers, size, OUTSIDE)
    others = corpus.batch(_SINGLE_FIRST, min(SINGLE, size // 10), among=size)
    single, cpu = _each(answers, others, lambda document: index.check(document["text"]))
    adding, _ = _each(answers, others, lambda document: index.check_and_add(**document))
    facts = index.info()
    index.close()
    return {
        "open after SIGKILL, s": opened,
        "acknowledged and lost": documents - found,
        "check/s": rate,
        "sketching, share of check": share,
        "single check/s": single,
        "single check, CPU µs": cpu * 1e6,
        "single check_and_add/s": adding,
        "bytes/document": facts["bytes"] / facts["documents"],
        "peak memory asking, MB": processes.peak() / 1e6,
        "asking": answers.told(),
    }


def change(store: str, size: int, settled: int = OUTSIDE) -> dict[str, Any]:
    """Open, compact, ask again, and remove documents."""
    begin = time.perf_counter()
    index = Index.open(store)
    opened = time.perf_counter() - begin
    corpus = Corpus(settled=settled)
    answers = Answers(corpus, among=size)
    begin = time.perf_counter()
    index.compact()
    compaction = time.perf_counter() - begin
    facts = index.info()
    index.check_many(corpus.batch(OUTSIDE, BATCH).documents)
    rate, _ = _checks(index, answers, size, _AGAIN_FIRST)
    gone = np.random.default_rng(1).permutation(size)[: min(REMOVED * BATCH, size // 2)]
    ids = [id_of(number) for number in gone[gone % 10 != 9].tolist()]
    spent, left = 0.0, 0
    for at in range(0, len(ids), BATCH):
        begin = time.perf_counter()
        left += index.remove_many(ids[at : at + BATCH]).count(False)
        spent += time.perf_counter() - begin
    left += sum(index.contains_many(ids))
    index.close()
    return {
        "open, s": opened,
        "compaction, s": compaction,
        "bytes/document, compacted": facts["bytes"] / facts["documents"],
        "check/s, compacted": rate,
        "removal/s": len(ids) / spent,
        "not removed": left,
        "asking, compacted": answers.told(),
    }


def _checks(index: Index, answers: Answers, size: int, first: int) -> tuple[float, float]:
    """Documents a second in batches, new ones and copies; and the share of sketching."""
    sketching, spent, many = Sketching(index), 0.0, min(CHECKED, -(-size // BATCH))
    for at in range(many):
        batch = answers.corpus.batch(first + at * BATCH, BATCH, among=size)
        begin = time.perf_counter()
        verdicts = index.check_many(sketching(batch.documents))
        spent += time.perf_counter() - begin
        answers.take(batch, _matches(verdicts))
    return many * BATCH / spent, sketching.seconds / spent


def _each(answers: Answers, batch: Batch, call: Callable[[dict[str, str]], Verdict]) -> tuple[float, float]:
    """Calls a second, one document each; and CPU seconds of one."""
    cpu, begin = time.process_time(), time.perf_counter()
    verdicts = [call(document) for document in batch.documents]
    spent, cpu = time.perf_counter() - begin, time.process_time() - cpu
    answers.take(batch, _matches(verdicts))
    return len(verdicts) / spent, cpu / len(verdicts)


def _matches(verdicts: list[Verdict]) -> list[str | None]:
    return [None if verdict.match is None else verdict.match.id for verdict in verdicts]


class Apart:
    """A function of this module in a process of its own. It is killed after its answer, with the index still open
    where the function left it so."""

    def __init__(self, call: str, *arguments: Any) -> None:
        code = (
            f"import json, sys; from {__spec__.name} import {call}\n"
            f"answer = {call}(*{arguments!r})\n"
            "print(json.dumps(answer), flush=True); sys.stdin.read()"
        )
        self._process = subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ready(self) -> Apart:
        """When it has prepared itself to `fill`."""
        self._line()
        return self

    def go(self) -> Apart:
        """Let it begin."""
        assert self._process.stdin is not None
        self._process.stdin.write("go\n")
        self._process.stdin.flush()
        return self

    def answer(self) -> dict[str, Any]:
        """When it is done."""
        found: dict[str, Any] = json.loads(self._line())
        self._process.kill()
        self._process.communicate()
        return found

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self._process.communicate()
            raise RuntimeError("a measuring process failed; what it said stands above.")
        return line


def embedded(folder: Path, sizes: list[int]) -> list[dict[str, Any]]:
    """A row for every size of one index in a folder."""
    rows, done = [], 0
    store = folder / "seen.ndx"
    for size in sizes:
        row = {"index": f"{size:,} documents", "store": "RocksDB", "writers": 1, "load before": os.getloadavg()}
        row |= Apart("fill", str(store), done, size).ready().go().answer()
        row["load after filling"] = os.getloadavg()
        copy = folder / "copy.ndx"
        shutil.copytree(store, copy)
        row |= Apart("ask", str(copy), size, row["documents"]).answer()
        row |= Apart("change", str(copy), size).answer()
        shutil.rmtree(copy)
        rows.append(_judged(row))
        done = size
    return rows


def shared(address: str, sizes: list[int], writers: list[int]) -> list[dict[str, Any]]:
    """A row for every size and number of writing processes, each with an index of its own on a server."""
    rows = []
    for size in sizes:
        for many in writers:
            with _schema(address, f"bench_{os.getpid()}_{size}_{many}") as (store, server):
                row = {"index": f"{size:,} documents, {many} writing", "store": server, "writers": many}
                row["load before"] = os.getloadavg()
                settled = size // 4
                Apart("fill", store, 0, settled).ready().go().answer()
                running = [Apart("fill", store, settled, size, settled, many, at).ready() for at in range(many)]
                began = time.perf_counter()
                parts = [part.answer() for part in [part.go() for part in running]]
                row |= _together(parts, time.perf_counter() - began)
                row["load after filling"] = os.getloadavg()
                row |= Apart("ask", store, size, row["documents"], settled).answer()
                row |= Apart("change", store, size, settled).answer()
                rows.append(_judged(row))
    return rows


def _together(parts: list[dict[str, Any]], wall: float) -> dict[str, Any]:
    """Of writers that ran at the same time: rates and answers add up, the slowest is the slowest."""
    row = dict(parts[0])
    rates = [f"{called}/s{part}" for called in _CALLED.values() for part in (", last tenth", "")]
    for name in (*rates, "offered"):
        row[name] = sum(part[name] or 0 for part in parts)
    for name in ("slowest batch of the last tenth, s", "slowest batch, s", "peak memory filling, MB", "documents"):
        row[name] = max(part[name] for part in parts)
    row["seconds"] = wall
    row["CPU, µs/document"] = sum(part["CPU, µs/document"] * part["offered"] for part in parts) / row["offered"]
    row["filling"] = {name: sum(part["filling"][name] for part in parts) for name in parts[0]["filling"]}
    return row


def _judged(row: dict[str, Any]) -> dict[str, Any]:
    """The row with its wrong answers added up."""
    told = [row["filling"], row["asking"], row["asking, compacted"]]
    for name in ("copies", "missed", "false"):
        row[name] = sum(part[name] for part in told)
    row["missed, share of copies"] = row["missed"] / max(1, row["copies"])
    return row


@contextmanager
def _schema(address: str, name: str) -> Any:
    """An address of a new index on a server, and what the server is; dropped afterwards."""
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        asked = ["server_version", "fsync", "synchronous_commit", "shared_buffers"]
        told = connection.execute("select name, current_setting(name) from unnest(%s::text[]) name", [asked])
        server = f"PostgreSQL {', '.join(f'{name} {value}' for name, value in told)}"
        try:
            yield f"{address}{'&' if '?' in address else '?'}index={name}", server
        finally:
            connection.execute(f"drop schema if exists {name} cascade".encode())


COLUMNS = {
    "documents": "{:,}",
    "check_and_add_many/s, last tenth": "{:,.0f}",
    "check_and_add_many/s": "{:,.0f}",
    "check_and_add_batches/s, last tenth": "{:,.0f}",
    "check_and_add_batches/s": "{:,.0f}",
    "slowest batch of the last tenth, s": "{:.3f}",
    "slowest batch, s": "{:.3f}",
    "CPU, µs/document": "{:.1f}",
    "check/s": "{:,.0f}",
    "check/s, compacted": "{:,.0f}",
    "sketching, share of check": "{:.0%}",
    "single check/s": "{:,.0f}",
    "single check, CPU µs": "{:,.0f}",
    "single check_and_add/s": "{:,.0f}",
    "removal/s": "{:,.0f}",
    "bytes/document": "{:.0f}",
    "bytes/document, compacted": "{:.0f}",
    "compaction, s": "{:.1f}",
    "peak memory filling, MB": "{:,.0f}",
    "memory before opening, MB": "{:,.0f}",
    "peak memory asking, MB": "{:,.0f}",
    "open, s": "{:.2f}",
    "open after SIGKILL, s": "{:.2f}",
    "acknowledged and lost": "{}",
    "missed, share of copies": "{:.2%}",
    "false": "{}",
    "not removed": "{}",
}


def main(argv: list[str] | None = None) -> int:
    """Measure, print, write down; 1 if something was lost, not removed, or called a copy of something else."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.index.speed",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--documents", type=int, help="the same as one size")
    parser.add_argument("--sizes", type=int, nargs="+", help="[default: 1000000; 100000 on a server]")
    parser.add_argument("--store", help="postgresql://…: an index on this server, and dropped afterwards")
    parser.add_argument("--writers", type=int, nargs="+", default=[1, 4], help="processes that write to a server")
    parser.add_argument("--folder", type=Path, help="where the index is made, and deleted  [default: a temporary one]")
    parser.add_argument("--json", type=Path, help="[default: results/speed.json, speed-postgres.json]")
    options = parser.parse_args(argv)
    default = 100_000 if options.store else 1_000_000
    sizes = sorted(options.sizes or [options.documents or default])
    here = processes.facts()
    if options.store:
        rows = shared(options.store, sizes, options.writers)
    else:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            rows = embedded(Path(folder), sizes)
    print(processes.table(rows, COLUMNS, "index"))
    out = options.json or processes.RESULTS / ("speed-postgres.json" if options.store else "speed.json")
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps({**here, "batch": BATCH, "rows": rows}, indent=2) + "\n")
    return 1 if any(row["false"] or row["not removed"] or row["acknowledged and lost"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
