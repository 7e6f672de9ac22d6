"""Measures candidate pairs exactly, by reading the documents' text once more.

The shingle sets of the documents in question are written to a file, the shelf, and read from there run by run: memory
stays bounded however many there are. What was measured is written down after each round, so that a killed run need not
repeat it.
"""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.atomic import appearing
from neardup.shingles import ShingleSets
from neardup.verify.resemblance import NOTHING, Overlap, overlap

_RUN = 2 << 20  # shingles in the sets of one run of pairs: 16 MB, or one pair
_LAYOUT = pa.schema(
    [
        ("later", pa.int64()),
        ("earlier", pa.int64()),
        ("first", pa.int64()),
        ("second", pa.int64()),
        ("shared", pa.int64()),
    ]
)


@dataclass
class Shelf:
    """Where shingle sets lie in the shelf file, counted in 64-bit integers; starts is -1 where there is none yet."""

    path: Path
    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]
    """Until a set is there: an upper bound of its size."""
    end: int = 0


@dataclass
class Meter:
    """Pairs of documents in, overlaps out. `shelve` puts the shingle sets of documents on the shelf."""

    shelf: Shelf
    shelve: Callable[[Shelf, NDArray[np.int64]], None]
    record: Path | None
    """Where measured pairs are written down; None: only the latest are remembered."""
    threads: int
    possible: NDArray[np.int64]
    """Documents that may be asked for, ascending."""
    pairs: NDArray[np.int64] = field(default_factory=lambda: np.empty((0, 2), np.int64))
    overlaps: Overlap = NOTHING

    def __post_init__(self) -> None:
        """Take over what an earlier run measured."""
        if self.record is not None and self.record.exists():
            try:
                with pa.memory_map(str(self.record)) as source:
                    table = pa.ipc.open_file(source).read_all()
                    table.validate(full=True)  # somebody else may have made it
                    if table.schema != _LAYOUT or any(column.null_count for column in table.columns):
                        return
                    columns = [table.column(c).to_numpy().copy() for c in _LAYOUT.names]
            except (pa.ArrowException, OSError):
                return
            self.pairs = np.stack(columns[:2], axis=1)
            self.overlaps = Overlap(*columns[2:])

    def measure(self, pairs: NDArray[np.int64]) -> Overlap:
        """Measure pairs of document numbers, and write them down."""
        if not len(pairs):
            return NOTHING
        found = self._found(pairs)
        if self.record is None:  # where pairs stream, memory must not grow with them
            self.pairs, self.overlaps = pairs, found
            return found
        self.pairs = np.concatenate([self.pairs, pairs])
        self.overlaps = self.overlaps + found
        columns = (self.pairs[:, 0], self.pairs[:, 1], self.overlaps.first, self.overlaps.second, self.overlaps.shared)
        with appearing(self.record) as draft, pa.ipc.new_file(draft, _LAYOUT) as file:
            file.write_table(pa.table(dict(zip(_LAYOUT.names, columns, strict=True)), schema=_LAYOUT))
        return found

    def _found(self, pairs: NDArray[np.int64]) -> Overlap:
        self._shelve(pairs)
        return self._overlaps(pairs)

    def _shelve(self, documents: NDArray[np.int64]) -> None:
        """Put the sets of these documents on the shelf where they are not; and all others that may be asked for, since
        reading the collection again costs more than sets nobody asks for."""
        if (self.shelf.starts[documents] < 0).any():
            wanted = np.union1d(documents, self.possible)
            self.shelve(self.shelf, wanted[self.shelf.starts[wanted] < 0])

    def in_shelf_order(self, documents: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the order in which the sets of these documents lie in the file: places in the argument."""
        self._shelve(documents)
        return np.argsort(self.shelf.starts[documents], kind="stable")

    def sets(self, documents: NDArray[np.int64]) -> Iterator[ShingleSets]:
        """Read the shingle sets of documents, which are given in the order of the file, run by run."""
        shelf = self.shelf
        starts, sizes = shelf.starts[documents], shelf.sizes[documents]
        edges = [0, *(np.flatnonzero(np.diff(np.cumsum(sizes) // _RUN)) + 1).tolist(), len(documents)]
        with open(shelf.path, "rb", buffering=0) as file:
            for first, last in pairwise(edges):
                if first == last:
                    continue
                begin, end = int(starts[first]), int(starts[last - 1] + sizes[last - 1])
                if end - begin <= 2 * int(sizes[first:last].sum()):  # few gaps
                    file.seek(begin * 8)
                    values = np.fromfile(file, np.uint64, end - begin)
                    yield ShingleSets(values, starts[first:last] - begin, sizes[first:last])
                else:
                    yield self._gathered(documents[first:last], file.fileno())

    def _gathered(self, documents: NDArray[np.int64], descriptor: int) -> ShingleSets:
        """Read the sets of documents one by one, side by side."""
        shelf = self.shelf
        sizes = shelf.sizes[documents]
        ends = np.cumsum(sizes)
        values = np.empty(ends[-1], np.uint64)
        view = memoryview(values).cast("B")  # type: ignore[arg-type]
        starts = ends - sizes
        for start, end, at in zip(starts.tolist(), ends.tolist(), shelf.starts[documents].tolist(), strict=True):
            os.preadv(descriptor, [view[start * 8 : end * 8]], at * 8)
        return ShingleSets(values, starts, sizes)

    def _overlaps(self, pairs: NDArray[np.int64]) -> Overlap:
        """Runs of pairs on all threads; each run reads the sets that it needs."""
        shelf = self.shelf
        order = np.argsort(shelf.starts[pairs[:, 1]], kind="stable")
        shared = np.zeros(len(pairs), np.int64)
        volume = np.cumsum(shelf.sizes[pairs[order]].sum(axis=1))
        runs = np.split(order, np.flatnonzero(np.diff(volume // _RUN)) + 1) if len(order) else []
        descriptor = os.open(shelf.path, os.O_RDONLY)
        try:

            def run(rows: NDArray[np.int64]) -> None:
                documents, local = np.unique(pairs[rows], return_inverse=True)
                shared[rows] = overlap(*self._gathered(documents, descriptor), local.reshape(-1, 2)).shared

            with ThreadPoolExecutor(self.threads, "neardup-measure") as pool:
                list(pool.map(run, runs))
        finally:
            os.close(descriptor)
        return Overlap(shelf.sizes[pairs[:, 0]], shelf.sizes[pairs[:, 1]], shared)

    def look_up(self, pairs: NDArray[np.int64]) -> Overlap:
        """The overlaps of pairs; those not measured yet are measured now, and not written down."""
        if not len(pairs):
            return NOTHING
        rows = self._rows(pairs)
        unknown = rows < 0
        if not unknown.any():
            return self.overlaps[rows]
        both = self.overlaps + self._found(pairs[unknown])
        rows[unknown] = len(self.overlaps.shared) + np.arange(int(unknown.sum()))
        return both[rows]

    def _rows(self, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where pairs stand among the measured ones; -1 where they do not."""
        known = (self.pairs[:, 0].astype(np.uint64) << np.uint64(32)) | self.pairs[:, 1].astype(np.uint64)
        asked = (pairs[:, 0].astype(np.uint64) << np.uint64(32)) | pairs[:, 1].astype(np.uint64)
        order = np.argsort(known, kind="stable")
        if not len(order):
            return np.full(len(pairs), -1, np.int64)
        at = np.minimum(np.searchsorted(known[order], asked), len(order) - 1)
        return np.where(known[order][at] == asked, order[at], -1)
