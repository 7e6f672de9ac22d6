"""Clusters of documents that share r of k features: AltaVista's way, no pair is listed and none is measured.

Broder, "Identifying and Filtering Near-Duplicate Documents", sections 2 and 3: the components of "shares r features"
are the clusters. Every feature gets a name, and of every r-subset of the names equal ones are linked (kernels.linking).

A pass is about one column of keys. Threads take chunks of documents and sort their keys by partition into one buffer;
then they take partitions and link in each what is equal. Where the buffer is too small for all keys, a pass takes
several rounds: each reads the whole column again and keeps the keys of some partitions. That is all that less memory
changes, beside names that are in files: features are read from first to last, so they can be in a mapped file that is
larger than memory. Reading is repeated instead of keys being written, because disks write slower than they read.
"""

import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup.clusters.names import Column, in_file, in_memory
from neardup.errors import UsageError
from neardup.kernels import linking as kernel

_CHUNK = 1 << 20
"""Documents that a thread takes at once, and links that it makes at once."""
_PLACES = 1 << 16
"""Of the table for one partition: 768 KB."""
_ENTRY = 12
"""Bytes of a key and its document."""
_ROUNDS = 32
"""Of a pass, at most: what would take more is refused, for it would never end."""
_PYTHON = 2 << 20
"""Bytes for all small things."""
_LAST_KEY = 2**64 - 1

Counts = NDArray[np.int64] | None
Source = Callable[["_Desk", int, int, int, int], int]
"""(desk, begin, end, low, high) → how many of the documents' keys from low to high were laid on the desk."""
Sink = Callable[[NDArray[np.int32], NDArray[np.int32]], None]
"""Documents, and for each an earlier one with the same key."""


def link_features(
    features: NDArray[np.uint64],
    r: int,
    *,
    threads: int = 2,
    members: NDArray[np.bool_] | None = None,
    memory: int | None = None,
    scratch: Path | None = None,
) -> NDArray[np.int32]:
    """The first document of each document's cluster, for features[n, k]; itself where it is alone or no member.

    Memory beside the features: 16 bytes a document, 4 more for every feature if r > 1, and 30 MB a thread. With less
    `memory` (bytes) names go to files in the folder `scratch` (the system's for such files if None) and keys are made
    in several rounds; 4 bytes a document and some megabytes are needed (8 if r > 2). `features` may be mapped from a
    file, whose pages are not counted.
    """
    n, k = features.shape
    if not 1 <= r <= k:
        raise UsageError(f"r = {r} of k = {k} features cannot be shared; choose r from 1 to {k}")
    if threads < 1:
        raise UsageError(f"threads = {threads}; give 1 or more")
    if n >= 2**31:
        raise UsageError(f"{n} documents do not fit 31-bit numbers; split them below {2**31}")
    if members is None:
        members = np.empty(0, np.bool_)
    elif members.shape != (n,):
        raise UsageError(f"members has shape {members.shape} for {n} documents; give one value a document")
    if n == 0:
        return np.empty(0, np.int32)
    plan = _plan(n, k, r, threads, memory)
    folder = scratch or Path(tempfile.gettempdir())
    return _Linking(np.ascontiguousarray(features, np.uint64), members, plan, folder).run(r)


def linking_memory(n: int, k: int, r: int, *, threads: int) -> int:
    """Bytes that link_features takes, beside the features, where nothing bounds it."""
    names = 4 * (k + r - 2) if r > 1 else 0
    return _desks(n, min(_CHUNK, n), threads) + n * (_ENTRY + 4 + names) if n else 0


class _Plan(NamedTuple):
    """What is held in memory."""

    threads: int
    chunk: int
    """Documents."""
    places: int
    """Of a table, a power of two."""
    bits: int
    """The logarithm of the number of partitions, 1 or more."""
    buffer: int
    """Keys."""
    on_disk: bool
    """Whether names are."""


def _plan(n: int, k: int, r: int, threads: int, memory: int | None) -> _Plan:
    """Everything in memory if it fits; else chunks of the size that leaves most of the memory to the buffer."""
    places, bits = _tables(n)
    if memory is None or memory >= linking_memory(n, k, r, threads=threads):
        return _Plan(threads, min(_CHUNK, n), places, bits, n, on_disk=False)
    chunk = min((min(_CHUNK >> halved, n) for halved in range(9)), key=lambda chunk: _desks(n, chunk, threads))
    fixed = _desks(n, chunk, threads) + 4 * n * (2 if r > 2 else 1)
    least = fixed + _ENTRY * max(chunk, ceil(n / _ROUNDS))
    if memory < least:
        raise UsageError(
            f"memory = {memory:,} bytes do not suffice to link {n:,} documents on {threads} threads; give {least:,} or "
            f"more, or fewer threads"
        )
    return _Plan(threads, chunk, places, bits, min(n, (memory - fixed) // _ENTRY), on_disk=True)


def _tables(n: int) -> tuple[int, int]:
    """The places of a table, and the logarithm of the number of partitions."""
    places = min(_PLACES, 1 << max(4, (4 * n).bit_length()))
    return places, max(1, ceil(n / (places // 2) - 1).bit_length())


def _desks(n: int, chunk: int, threads: int) -> int:
    """Bytes of what threads work with, and of where partitions begin."""
    places, bits = _tables(n)
    offsets = 8 * ceil(n / chunk) * ((1 << bits) + 1)
    return threads * (chunk * (_ENTRY + 4 * 4) + places * _ENTRY) + 2 * offsets + _PYTHON


@dataclass
class _Desk:
    """What one thread works with."""

    keys: NDArray[np.uint64]
    documents: NDArray[np.int32]
    one: NDArray[np.int32]
    other: NDArray[np.int32]
    table: NDArray[np.uint64]
    holders: NDArray[np.int32]
    held: NDArray[np.int64]
    linked: NDArray[np.int32]
    firsts: NDArray[np.int32]

    @classmethod
    def of(cls, plan: _Plan) -> "_Desk":
        chunk, on_disk = plan.chunk, plan.chunk if plan.on_disk else 0
        return cls(
            np.empty(chunk, np.uint64), np.empty(chunk, np.int32), np.empty(on_disk, np.int32),
            np.empty(on_disk, np.int32), np.empty(plan.places, np.uint64), np.empty(plan.places, np.int32),
            np.zeros(1, np.int64), np.empty(chunk, np.int32), np.empty(chunk, np.int32),
        )  # fmt: skip


class _Linking:
    """One call of link_features."""

    def __init__(self, features: NDArray[np.uint64], members: NDArray[np.bool_], plan: _Plan, folder: Path) -> None:
        self.features, self.members, self.plan, self.folder = features, members, plan, folder
        n = len(features)
        self.shift = 64 - plan.bits
        self.chunks = [(begin, min(begin + plan.chunk, n)) for begin in range(0, n, plan.chunk)]
        self.desks = [_Desk.of(plan) for _ in range(plan.threads)]
        self.lock = Lock()

    def run(self, r: int) -> NDArray[np.int32]:
        """The first document of each document's cluster."""
        n, k = self.features.shape
        features = [self._of_feature(column) for column in range(k)]
        with ThreadPoolExecutor(self.plan.threads) as self.pool:
            counts = self._counts(features)
            self._take_buffer()
            if r > 1:
                names = [self._named(*column) for column in zip(features, counts, strict=True)]
                self._take_buffer()  # a new one: fewer keys are to come, and pages never written to cost nothing
            self.parent = self._alone(n)
            if r == 1:
                for column in zip(features, counts, strict=True):
                    self._pass(*column, self._unite)
            else:
                for first in range(k - r + 1):
                    self._descend(names, names[first], first + 1, r - 1)
        kernel.flatten(self.parent)
        return self.parent

    def _descend(self, names: Sequence[Column], prefix: Column, first: int, missing: int) -> None:
        """Link by every r-subset that begins with the prefix; `missing` columns from the first one on complete it."""
        for column in range(first, len(names) - missing + 1):
            source = self._of_names(prefix, names[column])
            (counts,) = self._counts([source])
            if missing == 1:
                self._pass(source, counts, self._unite)
            else:
                self._descend(names, self._named(source, counts), column + 1, missing - 1)

    def _named(self, source: Source, counts: Counts) -> Column:
        names = np.zeros(len(self.features), np.int32)
        self._pass(source, counts, lambda linked, firsts: kernel.name(names, linked, firsts))
        return in_file(names, self.folder) if self.plan.on_disk else in_memory(names)

    def _unite(self, linked: NDArray[np.int32], firsts: NDArray[np.int32]) -> None:
        with self.lock:
            kernel.unite(self.parent, linked, firsts)

    def _of_feature(self, column: int) -> Source:
        def source(desk: _Desk, begin: int, end: int, low: int, high: int) -> int:
            bounds = np.uint64(low), np.uint64(high)
            where = desk.keys, desk.documents
            return int(kernel.feature_keys(self.features, column, self.members, begin, end, *bounds, *where))

        return source

    def _of_names(self, prefix: Column, names: Column) -> Source:
        def source(desk: _Desk, begin: int, end: int, low: int, high: int) -> int:
            one, other = prefix.read(begin, end, desk.one), names.read(begin, end, desk.other)
            bounds = np.uint64(low), np.uint64(high)
            return int(kernel.name_keys(one, other, begin, *bounds, desk.keys, desk.documents))

        return source

    def _counts(self, sources: Sequence[Source]) -> list[Counts]:
        """Keys of each partition, for every source, in one reading; None where the buffer holds them all anyway."""
        if self.plan.buffer >= len(self.features):
            return [None] * len(sources)
        remaining = iter(self.chunks)

        def work(desk: _Desk) -> NDArray[np.int64]:
            counts = np.zeros((len(sources), 1 << self.plan.bits), np.int64)
            for begin, end in remaining:
                for source, counted in zip(sources, counts, strict=True):
                    held = source(desk, begin, end, 0, _LAST_KEY)
                    kernel.count(desk.keys[:held], np.uint64(self.shift), counted)
            return counts

        return list(np.sum(list(self.pool.map(work, self.desks)), axis=0))

    def _pass(self, source: Source, counts: Counts, sink: Sink) -> None:
        """Link what has equal keys, in as many rounds as the buffer asks for.

        A round is a range of keys. Where a partition has more different keys than its table has room for, the
        two halves of its range are rounds of their own.
        """
        rounds = [(0, _LAST_KEY)]
        if counts is not None:
            spans = _stretches(counts, self.plan.buffer)
            rounds = [(begin << self.shift, (end << self.shift) - 1) for begin, end in spans]
        while rounds:
            low, high = rounds.pop()
            first, partitions = low >> self.shift, (high >> self.shift) - (low >> self.shift) + 1
            full = np.zeros(partitions, np.bool_)
            some = len(self.chunks)
            if counts is not None and counts[first : first + partitions].sum() > self.plan.buffer:
                some = self.plan.buffer // self.plan.chunk  # one partition, which comes in parts
            for at in range(0, len(self.chunks), some):
                offsets = self._scatter(source, self.chunks[at : at + some], low, high)
                self._collate(offsets, full, sink, fresh=at == 0)
            for partition in np.flatnonzero(full).tolist():
                begin = max(low, (first + partition) << self.shift)
                end = min(high, ((first + partition + 1) << self.shift) - 1)
                rounds += [(begin, (begin + end) // 2), ((begin + end) // 2 + 1, end)]

    def _scatter(self, source: Source, chunks: Sequence[tuple[int, int]], low: int, high: int) -> NDArray[np.int64]:
        """Fill the buffer with the chunks' keys from low to high; where the partitions of each chunk begin."""
        first = low >> self.shift
        offsets = np.empty((len(chunks), (high >> self.shift) - first + 2), np.int64)
        remaining = iter(enumerate(chunks))  # shared by the threads: a step of it is one step under Python's lock
        used = 0

        def work(desk: _Desk) -> None:
            nonlocal used
            for row, (begin, end) in remaining:
                held = source(desk, begin, end, low, high)
                with self.lock:
                    start, used = used, used + held
                kernel.scatter(
                    desk.keys[:held], desk.documents[:held], np.uint64(self.shift), first, start, offsets[row],
                    self.keys, self.documents,
                )  # fmt: skip

        list(self.pool.map(work, self.desks))
        return offsets

    def _collate(self, offsets: NDArray[np.int64], full: NDArray[np.bool_], sink: Sink, *, fresh: bool) -> None:
        """Link what is equal in the buffer. Partitions whose table was too small are marked in `full`."""
        tasks = _stretches((offsets[:, 1:] - offsets[:, :-1]).sum(axis=0), self.plan.chunk)
        remaining = iter(tasks)

        def work(desk: _Desk) -> None:
            for begin, end in remaining:
                rows = _stretches(offsets[:, end] - offsets[:, begin], self.plan.chunk)
                for row_from, row_to in rows:
                    count = kernel.collate(
                        self.keys, self.documents, offsets, row_from, row_to, begin, end, fresh and row_from == 0,
                        desk.table, desk.holders, desk.held, full, desk.linked, desk.firsts,
                    )  # fmt: skip
                    sink(desk.linked[:count], desk.firsts[:count])

        list(self.pool.map(work, self.desks[: len(tasks)]))

    def _take_buffer(self) -> None:
        self.keys, self.documents = np.empty(0, np.uint64), np.empty(0, np.int32)  # the one before goes first
        self.keys = np.empty(self.plan.buffer, np.uint64)
        self.documents = np.empty(self.plan.buffer, np.int32)

    def _alone(self, n: int) -> NDArray[np.int32]:
        parent = np.empty(n, np.int32)
        for begin, end in self.chunks:
            parent[begin:end] = np.arange(begin, end)
        return parent


def _stretches(counts: NDArray[np.int64], most: int) -> list[tuple[int, int]]:
    """Stretches of neighbours whose counts sum to `most` at the most, or a single one that has more."""
    ends = np.cumsum(counts)
    found, begin, before = [], 0, 0
    while begin < len(counts):
        end = max(begin + 1, int(np.searchsorted(ends, before + most, side="right")))
        found.append((begin, end))
        begin, before = end, int(ends[end - 1])
    return found
