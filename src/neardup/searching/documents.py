"""The documents of a collection in files that are mapped and not read.

documents.arrow   id, url, title, text, signature: document n is row n of all batches
ids.npy           row 0: the ids' hashes, ascending; row 1: the number of the document that has it
"""

from bisect import bisect_right
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.refine import SIGNATURE_BYTES
from neardup.searching.answers import Full
from neardup.sketches.artefact import hash_ids

SCHEMA = pa.schema(
    [
        ("id", pa.large_string()),
        ("url", pa.large_string()),
        ("title", pa.large_string()),
        ("text", pa.large_binary()),
        ("signature", pa.binary(SIGNATURE_BYTES)),
    ]
)

_FILE, _IDS = "documents.arrow", "ids.npy"


class Writing:
    """Documents on their way into a folder, in order."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._sink = pa.OSFile(str(folder / _FILE), "wb")
        self._file = pa.ipc.new_file(self._sink, SCHEMA)
        self._hashes: list[NDArray[np.uint64]] = []
        self.starts = [0]
        """Where each batch starts, and the last one ends."""

    def add(self, rows: pa.RecordBatch) -> None:
        """Some more."""
        self._file.write_batch(rows)
        self._hashes.append(hash_ids(rows.column("id")))
        self.starts.append(self.starts[-1] + rows.num_rows)

    def __enter__(self) -> "Writing":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with nullcontext() if kind is None else suppress(OSError):  # one error is enough
            self._file.close()
            self._sink.close()
        if kind is None:
            hashes = np.concatenate([np.empty(0, np.uint64), *self._hashes])
            order = np.argsort(hashes, kind="stable")
            np.save(self._folder / _IDS, np.stack([hashes[order], order.astype(np.uint64)]))


class _Batch(NamedTuple):
    columns: list[pa.Array]
    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]


class Documents:
    """The documents of a folder, by number. Threads may share it."""

    def __init__(self, folder: Path, starts: list[int]) -> None:
        self._source = pa.memory_map(str(folder / _FILE))
        self._file = pa.ipc.open_file(self._source)
        if self._file.num_record_batches != len(starts) - 1 or self._file.schema != SCHEMA:
            raise ValueError(f"{folder / _FILE} is not what was written")
        self._starts = starts
        self._hashes, self._numbers = np.load(folder / _IDS, mmap_mode="r")
        self._batches: dict[int, _Batch] = {}
        self._lock = Lock()

    def __len__(self) -> int:
        return self._starts[-1]

    def close(self) -> None:
        """Let go of the files."""
        self._batches.clear()
        self._source.close()

    def numbered(self, id: str, place: int | None = None) -> int | None:
        """The number of the document with this id: of several the one at `place`, else the first."""
        if place is not None and 0 <= place < len(self) and self.about(place)[0] == id:
            return place
        low, high = (int(found[0]) for found in self._found([id]))
        numbers = (int(n) for n in self._numbers[low:high])
        return next((n for n in numbers if self.about(n)[0] == id), None)

    def repeated(self, ids: Sequence[str]) -> list[bool]:
        """Which of these ids more than one document has."""
        low, high = self._found(ids)
        several: list[bool] = (high - low > 1).tolist()
        return several

    def _found(self, ids: Sequence[str]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Where the hashes of ids begin and end."""
        wanted = hash_ids(pa.array([id.encode("utf-8", "replace").decode() for id in ids], pa.large_string()))
        return np.searchsorted(self._hashes, wanted, "left"), np.searchsorted(self._hashes, wanted, "right")

    def about(self, number: int) -> tuple[str, str | None, str, bytes]:
        """Id, URL, title and signature of document `number`."""
        batch, row = self._at(number)
        id, url, title, signature = (column[row].as_py() for column in batch.columns)
        return id, url, title, signature

    def text(self, number: int) -> NDArray[np.uint8]:
        """The bytes of its text (UTF-8), where they lie."""
        batch, row = self._at(number)
        return batch.data[batch.offsets[row] : batch.offsets[row + 1]]

    def full(self, number: int) -> Full:
        """The whole document."""
        id, url, title, _ = self.about(number)
        at = number if self.repeated([id])[0] else None
        return Full(id, url, title, self.text(number).tobytes().decode(), at)

    def _at(self, number: int) -> tuple[_Batch, int]:
        which = bisect_right(self._starts, number) - 1
        if which not in self._batches:
            with self._lock:
                rows = self._file.get_batch(which)
            _, offsets, data = rows.column("text").buffers()
            self._batches[which] = _Batch(
                [rows.column(name) for name in ("id", "url", "title", "signature")],
                np.frombuffer(data, np.uint8) if data is not None and data.size else np.empty(0, np.uint8),
                np.frombuffer(offsets, np.int64)[: rows.num_rows + 1],
            )
        return self._batches[which], number - self._starts[which]
