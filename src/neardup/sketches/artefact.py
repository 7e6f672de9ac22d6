"""The sketches of a split as an Arrow file, and all of them together as one collection.

    id, url                      strings; url is null where there is none
    id_hash                      64 bits of the id, to notice one that occurs twice
    status, tokens, bytes        what became of the document, its length in tokens and bytes of text
    identity_a, identity_b       128 bits that name its token sequence
    key0 … key(k-1)              its features
    samples                      8 bits of each of the k·s minima
    number:C, string:C           the value in a column C of the keep policy, as whichever of the two it is

The schema's metadata names the recipe; a file of another recipe is refused.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from neardup.atomic import appearing
from neardup.errors import InputError, WorkError
from neardup.kernels import groups as kernel
from neardup.sketches.minhash import MinHashSettings, Sketches
from neardup.sources.base import Documents

_ROWS_TOGETHER = 16384


def schema(recipe_id: str, settings: MinHashSettings, columns: tuple[str, ...]) -> pa.Schema:
    """Of a sketch file."""
    return pa.schema(
        [
            ("id", pa.string()),
            ("url", pa.string()),
            ("id_hash", pa.uint64()),
            ("status", pa.uint8()),
            ("tokens", pa.int64()),
            ("bytes", pa.int64()),
            ("identity_a", pa.uint64()),
            ("identity_b", pa.uint64()),
            *((f"key{i}", pa.uint64()) for i in range(settings.k)),
            ("samples", pa.binary(settings.permutations)),
            *((f"number:{c}", pa.float64()) for c in columns),
            *((f"string:{c}", pa.string()) for c in columns),
        ],
        metadata={"neardup.recipe": recipe_id},
    )


def batch(
    layout: pa.Schema, name: str, documents: Documents, url: str | None, made: Sketches, sizes: NDArray[np.int64]
) -> pa.RecordBatch:
    """The rows of a batch. Ids that the input does not have are name:position."""
    rows = len(documents)
    ids = documents.id
    if ids is None:
        ids = pc.binary_join_element_wise(pa.scalar(name), pa.array(documents.positions).cast(pa.string()), ":")
    urls = documents.columns[url].cast(pa.string()) if url else pa.nulls(rows, pa.string())
    values: dict[str, pa.Array] = {
        "id": ids,
        "url": urls,
        "id_hash": pa.array(hash_ids(ids)),
        "status": pa.array(made.status),
        "tokens": pa.array(made.tokens),
        "bytes": pa.array(sizes),
        "identity_a": pa.array(np.ascontiguousarray(made.identities[:, 0])),
        "identity_b": pa.array(np.ascontiguousarray(made.identities[:, 1])),
        "samples": pa.FixedSizeBinaryArray.from_buffers(
            pa.binary(made.samples.shape[1]), rows, [None, pa.py_buffer(made.samples)]
        ),
    }
    for i in range(made.keys.shape[1]):
        values[f"key{i}"] = pa.array(np.ascontiguousarray(made.keys[:, i]))
    for field in layout:
        slot, _, column = field.name.partition(":")
        if column:
            values[field.name] = _value(documents.columns[column], slot, column)
    return pa.RecordBatch.from_arrays([values[f.name] for f in layout], schema=layout)


def _value(values: pa.Array, slot: str, column: str) -> pa.Array:
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    kind = values.type
    if pa.types.is_nested(kind):
        raise InputError(f"keep: column {column!r} holds {kind}, which has no order; choose a number, date or string.")
    number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    wanted = pa.float64() if slot == "number" else pa.string()
    if number != (slot == "number"):
        return pa.nulls(len(values), wanted)
    return values.cast(wanted)


def hash_ids(ids: pa.Array) -> NDArray[np.uint64]:
    """64 bits per id."""
    ids = ids.cast(pa.large_string())
    hashes = np.empty(len(ids), np.uint64)
    if len(ids):
        _, offsets, data = ids.buffers()
        bytes_ = np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(1, np.uint8)
        kernel.hash_strings(bytes_, np.frombuffer(offsets, np.int64)[ids.offset : ids.offset + len(ids) + 1], hashes)
    return hashes


def write(path: Path, layout: pa.Schema, batches: Iterable[pa.RecordBatch]) -> None:
    """One file, whole or not at all; small batches are put together so that a column is a few long runs."""
    with appearing(path) as draft, pa.ipc.new_file(draft, layout) as file:
        waiting: list[pa.RecordBatch] = []
        for rows in batches:
            waiting.append(rows)
            if sum(b.num_rows for b in waiting) >= _ROWS_TOGETHER:
                file.write_table(pa.Table.from_batches(waiting).combine_chunks())
                waiting = []
        if waiting:
            file.write_table(pa.Table.from_batches(waiting).combine_chunks())


def is_whole(path: Path, recipe_id: str) -> bool:
    """Whether a sketch file is there and can be read to its end: a cut one has no footer."""
    if not path.exists():
        return False
    try:
        with pa.memory_map(str(path)) as source, pa.ipc.open_file(source) as file:
            found = (file.schema.metadata or {}).get(b"neardup.recipe", b"").decode()
    except (pa.ArrowException, OSError):
        return False
    if found != recipe_id:
        raise WorkError(f"{path}: these sketches were made by recipe {found}, and this is recipe {recipe_id}.")
    return True


class Collection:
    """The documents of all splits, numbered through in the order of the splits. Columns are read when asked for."""

    def __init__(self, paths: list[Path]) -> None:
        self._files = [pa.ipc.open_file(pa.memory_map(str(p))) for p in paths]
        sizes = [sum(f.get_batch(i).num_rows for i in range(f.num_record_batches)) for f in self._files]
        self.starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    def __len__(self) -> int:
        return int(self.starts[-1])

    def _batches(self) -> Iterator[pa.RecordBatch]:
        for file in self._files:
            for i in range(file.num_record_batches):
                yield file.get_batch(i)

    def numbers(self, column: str) -> NDArray[np.generic]:
        """A column of numbers, for all documents."""
        kind = self._files[0].schema.field(column).type.to_pandas_dtype() if self._files else np.uint64
        out = np.empty(len(self), kind)
        at = 0
        for rows in self._batches():
            out[at : at + rows.num_rows] = rows.column(column).to_numpy()
            at += rows.num_rows
        return out

    def identities(self) -> NDArray[np.uint64]:
        """Both halves, side by side."""
        out = np.empty((len(self), 2), np.uint64)
        at = 0
        for rows in self._batches():
            out[at : at + rows.num_rows, 0] = rows.column("identity_a").to_numpy()
            out[at : at + rows.num_rows, 1] = rows.column("identity_b").to_numpy()
            at += rows.num_rows
        return out

    def samples(self, chosen: NDArray[np.int64]) -> NDArray[np.uint8]:
        """The samples of some documents, given by ascending numbers."""
        width = self._files[0].schema.field("samples").type.byte_width if self._files else 1
        out = np.empty((len(chosen), width), np.uint8)
        at = 0
        start = 0
        for rows in self._batches():
            stop = int(np.searchsorted(chosen, start + rows.num_rows))
            if stop > at:
                stored = rows.column("samples")
                matrix = np.frombuffer(stored.buffers()[1], np.uint8)[: len(stored) * width].reshape(-1, width)
                out[at:stop] = matrix[chosen[at:stop] - start]
            at = stop
            start += rows.num_rows
        return out

    def values(self, column: str, chosen: NDArray[np.int64]) -> pa.ChunkedArray:
        """A column of some documents, given by ascending numbers."""
        pieces = []
        at = 0
        start = 0
        kind = self._files[0].schema.field(column).type if self._files else pa.string()
        for rows in self._batches():
            stop = int(np.searchsorted(chosen, start + rows.num_rows))
            if stop > at:
                pieces.append(rows.column(column).take(pa.array(chosen[at:stop] - start)))
            at = stop
            start += rows.num_rows
        return pa.chunked_array(pieces, kind)

    def any_order(self, column: str, chosen: NDArray[np.int64]) -> pa.Array:
        """A column of some documents in any order, repeats allowed."""
        distinct, place = np.unique(chosen, return_inverse=True)
        return self.values(column, distinct).combine_chunks().take(pa.array(place.reshape(-1)))

    def keep_values(self, column: str, chosen: NDArray[np.int64]) -> pa.ChunkedArray:
        """A column of the keep policy: numbers if it holds numbers, strings if it holds strings."""
        numbers, strings = self.values(f"number:{column}", chosen), self.values(f"string:{column}", chosen)
        if numbers.null_count < len(numbers) and strings.null_count < len(strings):
            raise InputError(
                f"keep: column {column!r} holds numbers and strings, which have no common order; make it one of both."
            )
        return strings if strings.null_count < len(strings) else numbers
