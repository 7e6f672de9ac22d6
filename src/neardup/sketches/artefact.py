"""The sketches of a split as an Arrow file, and all of them together as one collection.

    id, url                      strings; url is null where there is none
    id_hash                      64 bits of the id, to notice one that occurs twice
    id_type                      the type that the id has in the input, as `sources.ids` counts them
    position                     line or row in its file
    status, tokens, bytes        what became of the document, its length in tokens and bytes of text
    identity_a, identity_b       128 bits that name its token sequence
    words                        the sketch: so many 64-bit words for every document
    samples                      8 bits of each minimum, where the sketch keeps them
    ragged                       a list of 64-bit words, where their number is another for every document
    kind:C, order:C, shown:C     the value in a column C of the keep policy, as `sortable` makes it

The schema's metadata names the recipe; a file of another recipe is refused.
"""

import tempfile
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from neardup.atomic import appearing, write_error
from neardup.errors import WorkError
from neardup.kernels import equal as kernel
from neardup.kernels.text import SKIPPED
from neardup.sketches.base import Ragged, Sketcher, Sketches, nothing
from neardup.sketches.sortable import KINDS, SORTABLE, are_numbers, settled, sortable
from neardup.sources.base import Documents
from neardup.sources.ids import ID_TYPES, common_id_type

_ROWS_TOGETHER = 16384


def schema(recipe_id: str, sketcher: Sketcher, columns: tuple[str, ...]) -> pa.Schema:
    """Of a sketch file."""
    return pa.schema(
        [
            ("id", pa.string()),
            ("url", pa.string()),
            ("id_hash", pa.uint64()),
            ("id_type", pa.uint8()),
            ("position", pa.int64()),
            ("status", pa.uint8()),
            ("tokens", pa.int64()),
            ("bytes", pa.int64()),
            ("identity_a", pa.uint64()),
            ("identity_b", pa.uint64()),
            *([("words", pa.binary(8 * sketcher.words))] if sketcher.words else []),
            *([("samples", pa.binary(sketcher.samples))] if sketcher.samples else []),
            *([("ragged", pa.large_list(pa.uint64()))] if sketcher.has_ragged else []),
            *keep_fields(columns),
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
        "id_type": id_types_of(documents),
        "position": pa.array(documents.positions),
        "status": pa.array(made.status),
        "tokens": pa.array(made.tokens),
        "bytes": pa.array(sizes),
        "identity_a": pa.array(np.ascontiguousarray(made.identities[:, 0])),
        "identity_b": pa.array(np.ascontiguousarray(made.identities[:, 1])),
        "words": _matrix(made.words),
        "samples": _matrix(made.samples),
        "ragged": pa.LargeListArray.from_arrays(made.ragged.offsets, made.ragged.values),
    }
    for column in keep_columns_of(layout):
        values |= keep_values(documents, column)
    return pa.RecordBatch.from_arrays([values[f.name] for f in layout], schema=layout)


def _matrix(rows: NDArray[Any]) -> pa.Array:
    width = rows.shape[1] * rows.itemsize
    return pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(width), len(rows), [None, pa.py_buffer(np.ascontiguousarray(rows))]
    )


def id_types_of(documents: Documents) -> pa.Array:
    """Return the types of the ids of a batch."""
    types = documents.id_types
    return pa.array(types if types is not None else np.zeros(len(documents), np.uint8))


def keep_fields(columns: tuple[str, ...]) -> list[tuple[str, pa.DataType]]:
    """Return the fields that columns of the keep policy have in a file of sketches."""
    return [(f"{part}:{column}", kind) for column in columns for part, kind in SORTABLE.items()]


def keep_columns_of(layout: pa.Schema) -> list[str]:
    """Return the columns of the keep policy that a file of sketches has."""
    return [name.removeprefix("order:") for name in layout.names if name.startswith("order:")]


def keep_values(documents: Documents, column: str) -> dict[str, pa.Array]:
    """Return what a file of sketches has of a column of the keep policy."""
    found = documents.columns.get(column, pa.nulls(len(documents)))
    parts = sortable(found, column, untyped=documents.untyped)
    return {f"{part}:{column}": values for part, values in parts.items()}


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
            found = (file.schema.metadata or {}).get(b"neardup.recipe", b"").decode(errors="replace")
    except (pa.ArrowException, OSError):
        return False
    if found != recipe_id:
        raise WorkError(f"{path}: these sketches were made by recipe {found}, and this is recipe {recipe_id}.")
    return True


def check_rows(path: Path, layout: pa.Schema | None = None) -> None:
    """Raise a WorkError if a file of sketches, which somebody else may have made, has rows that no run writes.

    Nothing checks the bounds of offsets and numbers later: kernels and Arrow itself read where these lead. For 100,000
    documents it takes 8 ms, and the run that sketches them 6.5 s (two cores).
    layout: the columns that it must have; None: any that have the hashes of ids.
    """
    try:
        with pa.memory_map(str(path)) as source, pa.ipc.open_file(source) as file:
            same = "id_hash" in file.schema.names if layout is None else file.schema.equals(layout)
            if not same:
                raise ValueError("it has other columns than the sketches of its recipe")
            for number in range(file.num_record_batches):
                rows = file.get_batch(number)
                rows.validate(full=True)
                _check_values(rows)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise WorkError(f"{path}: is damaged ({error}). Run `neardup dedup --fresh` again.") from error


_RANGES = {
    "id_type": range(len(ID_TYPES)),
    "status": range(SKIPPED + 1),
    "tokens": range(1 << 40),
    "bytes": range(1 << 40),
}


def _check_values(rows: pa.RecordBatch) -> None:
    """Raise a ValueError if a value is missing, or is a number that means nothing."""
    for name, column in zip(rows.schema.names, rows.columns, strict=True):
        part = name.partition(":")[0]
        if name != "url" and (name == part or part not in SORTABLE) and column.null_count:
            raise ValueError(f"values are missing in the column {name}")
        if name == "ragged" and column.values.null_count:
            raise ValueError(f"values are missing in the lists of the column {name}")
        possible = range(len(KINDS)) if part == "kind" and name != part else _RANGES.get(name)
        if possible is None or not len(column):
            continue
        found = pc.min_max(column).as_py()
        if found["min"] is not None and not (found["min"] in possible and found["max"] in possible):
            raise ValueError(
                f"{name} is {found['min']:,} to {found['max']:,}, and at most {possible[-1]:,} is possible"
            )


class KeepColumn(NamedTuple):
    """A column of the keep policy, with a row per document."""

    kind: int
    """What values are compared as: see `sortable`."""
    order: pa.ChunkedArray
    """Bytes in the order of the values; null where there is none."""
    shown: pa.ChunkedArray
    """The values as text."""


class Collection:
    """The documents of all splits, numbered through in the order of the splits. Columns are read when asked for.

    Files are opened one at a time: there may be more of them than a process may open.
    """

    def __init__(self, paths: list[Path]) -> None:
        self._paths = paths
        self._numeric: dict[str, bool] = {}
        sizes = []
        self.layout = pa.schema([])
        for path in paths:
            with pa.memory_map(str(path)) as source, pa.ipc.open_file(source) as file:
                sizes.append(sum(file.get_batch(i).num_rows for i in range(file.num_record_batches)))
                self.layout = file.schema
        self.starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    def __len__(self) -> int:
        return int(self.starts[-1])

    def _batches(self, files: Iterable[int] | None = None) -> Iterator[tuple[int, pa.RecordBatch]]:
        """All batches (of some files), with the number of their first document."""
        for number in range(len(self._paths)) if files is None else files:
            start = int(self.starts[number])
            with pa.memory_map(str(self._paths[number])) as source, pa.ipc.open_file(source) as file:
                for i in range(file.num_record_batches):
                    rows = file.get_batch(i)
                    yield start, rows
                    start += rows.num_rows

    def _chosen(self, chosen: NDArray[np.int64]) -> Iterator[tuple[slice, NDArray[np.int64], pa.RecordBatch]]:
        """For documents given by ascending numbers: which of them, their rows, and the batch that these are in."""
        files = np.unique(np.searchsorted(self.starts, chosen, side="right") - 1)
        for start, rows in self._batches(int(f) for f in files):
            low, high = np.searchsorted(chosen, [start, start + rows.num_rows])
            if high > low:
                yield slice(low, high), chosen[low:high] - start, rows

    def numbers(self, column: str) -> NDArray[Any]:
        """A column of numbers, for all documents."""
        out = np.empty(len(self), self.layout.field(column).type.to_pandas_dtype() if self._paths else np.uint64)
        for start, rows in self._batches():
            out[start : start + rows.num_rows] = rows.column(column).to_numpy()
        return out

    def identities(self) -> NDArray[np.uint64]:
        """Both halves, side by side."""
        out = np.empty((len(self), 2), np.uint64)
        for start, rows in self._batches():
            out[start : start + rows.num_rows, 0] = rows.column("identity_a").to_numpy()
            out[start : start + rows.num_rows, 1] = rows.column("identity_b").to_numpy()
        return out

    def matrix(self, column: Literal["words", "samples"], chosen: NDArray[np.int64]) -> NDArray[Any]:
        """The words or samples of some documents, in any order."""
        order = np.argsort(chosen, kind="stable")
        out: NDArray[Any] | None = None
        for place, local, rows in self._chosen(chosen[order]):
            rows_of = _rows_of(rows, column)
            if out is None:
                out = np.empty((len(chosen), rows_of.shape[1]), rows_of.dtype)
            out[order[place]] = rows_of[local]
        return np.empty((len(chosen), 0), np.uint64 if column == "words" else np.uint8) if out is None else out

    def mapped_words(self, folder: Path) -> NDArray[np.uint64]:
        """The words of all documents, mapped from a file in the folder, which has no name and leaves nothing behind."""
        try:
            with tempfile.TemporaryFile(dir=folder) as file:
                for _, rows in self._batches():
                    file.write(_rows_of(rows, "words").data)
                file.flush()
                return np.memmap(file, np.uint64, "r").reshape(len(self), -1)
        except OSError as error:
            raise write_error(folder / "features", error) from error

    def ragged(self, chosen: NDArray[np.int64]) -> Ragged:
        """The ragged words of some documents, in any order."""
        if "ragged" not in self.layout.names:
            return nothing(len(chosen))
        lists = self.any_order("ragged", chosen)
        return Ragged(lists.flatten().to_numpy(), np.concatenate([[0], np.cumsum(lists.value_lengths().to_numpy())]))

    def sketches(self) -> Iterator[tuple[int, NDArray[np.uint64], Ragged]]:
        """All of them, batch by batch: the number of the first document, words, ragged words."""
        for start, rows in self._batches():
            ragged = nothing(rows.num_rows)
            if "ragged" in rows.schema.names:
                lists = rows.column("ragged")
                ragged = Ragged(lists.flatten().to_numpy(), lists.offsets.to_numpy() - lists.offsets[0].as_py())
            yield start, _rows_of(rows, "words"), ragged

    def urls(self) -> Iterator[tuple[int, pa.Array]]:
        """Where documents are from, batch by batch, with the number of the first."""
        for start, rows in self._batches():
            yield start, rows.column("url")

    def values(self, column: str, chosen: NDArray[np.int64]) -> pa.ChunkedArray:
        """A column of some documents, given by ascending numbers."""
        pieces = [rows.column(column).take(pa.array(local)) for _, local, rows in self._chosen(chosen)]
        return pa.chunked_array(pieces, self.layout.field(column).type if self._paths else pa.string())

    def any_order(self, column: str, chosen: NDArray[np.int64]) -> pa.Array:
        """A column of some documents in any order, repeats allowed; not more of them than fit into one array."""
        distinct, place = np.unique(chosen, return_inverse=True)
        values = self.values(column, distinct).combine_chunks()
        if isinstance(values, pa.ChunkedArray):
            values = pa.concat_arrays(values.chunks) if values.num_chunks else pa.array([], values.type)
        return values.take(pa.array(place.reshape(-1)))

    @cached_property
    def id_type(self) -> pa.DataType:
        """The type that all ids have in the inputs; text where they differ."""
        return common_id_type(np.unique(self.numbers("id_type")).tolist())

    def keep_values(self, column: str, chosen: NDArray[np.int64]) -> KeepColumn:
        """A column of the keep policy: what documents, given by ascending numbers, are compared by."""
        kinds, order, shown = (self.values(f"{part}:{column}", chosen) for part in SORTABLE)
        return KeepColumn(*settled(kinds, order, shown, column, lambda: self._are_numbers(column)), shown)

    def _are_numbers(self, column: str) -> bool:
        """Tell whether CSV files have nothing but numbers in this column, whichever documents are asked for."""
        if column not in self._numeric:
            batches = (rows for _, rows in self._batches())
            self._numeric[column] = all(
                are_numbers(rows.column(f"kind:{column}"), rows.column(f"shown:{column}")) for rows in batches
            )
        return self._numeric[column]


def _rows_of(rows: pa.RecordBatch, column: str) -> NDArray[Any]:
    """A column of fixed-size binaries as a matrix, without copying."""
    kind = np.uint64 if column == "words" else np.uint8
    if column not in rows.schema.names:
        return np.empty((rows.num_rows, 0), kind)
    stored = rows.column(column)
    width = stored.type.byte_width
    buffer = np.frombuffer(stored.buffers()[1], np.uint8)[stored.offset * width :][: len(stored) * width]
    return buffer.view(kind).reshape(len(stored), -1)
