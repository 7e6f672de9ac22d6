"""Documents in memory: a table or a column of pyarrow, Polars, pandas, DuckDB or Hugging Face, or a list of texts
or of dicts.

Whatever speaks Arrow's C stream is taken without a copy. What is kept is written as Parquet.
"""

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from neardup.errors import InputError, UsageError
from neardup.sources.base import BATCH_BYTES, SPLIT_BYTES, Documents, Format, InputFile, Split
from neardup.sources.columns import ROWS_AT_ONCE, decoded, filtered, grouped, is_interval, leaves_of, storable
from neardup.sources.compression import create
from neardup.sources.ids import id_types
from neardup.sources.layout import mark_intervals
from neardup.sources.problems import Problems
from neardup.sources.tabular import column_kind, id_column, refuse_clash, text_column


class InMemory(Format):
    """A table that its caller holds. Unlike the other formats it belongs to one input: its own table."""

    name = "memory"
    suffixes = ()
    tabular = True

    def __init__(self, table: pa.Table) -> None:
        self.data = table

    def columns(self, file: InputFile) -> dict[str, str]:
        """From the schema."""
        return {column.name: column_kind(column.type) for column in self.data.schema}

    def splits(self, file: InputFile, size: int = SPLIT_BYTES) -> list[Split]:
        """Runs of rows, all of the same number."""
        rows = self.data.num_rows
        parts = min(rows, -(-self.data.nbytes // max(1, size)) or 1)
        cuts = [rows * part // parts for part in range(parts)] + [rows] if parts else []
        share = self.data.nbytes // max(1, rows)
        return [Split(file, a, b, (b - a) * share, part, parts) for part, (a, b) in enumerate(pairwise(cuts))]

    def _batches(self, split: Split) -> Iterator[tuple[int, pa.RecordBatch]]:
        rows = split.stop - split.start
        at_once = max(1, min(ROWS_AT_ONCE, BATCH_BYTES * rows // max(1, split.size)))
        row = split.start
        for batch in self.data.slice(split.start, rows).to_batches(max_chunksize=at_once):
            yield row + 1, batch
            row += batch.num_rows

    def read(self, split: Split, problems: Problems) -> Iterator[Documents]:
        """Positions are rows, from 1."""
        fields = split.file.fields
        assert fields.text is not None
        extra = dict.fromkeys(c for c in (*fields.columns, fields.url) if c is not None)
        for row, batch in self._batches(split):
            yield Documents(
                text=text_column(batch.column(fields.text), split.file),
                decoded=column_kind(batch.column(fields.text).type) == "text",
                positions=np.arange(row, row + batch.num_rows, dtype=np.int64),
                id=id_column(batch.column(fields.id), split.file, row, problems) if fields.id is not None else None,
                id_types=id_types(batch.column(fields.id)) if fields.id is not None else None,
                columns={name: decoded(batch.column(name)) for name in extra},
            )

    def table(self, split: Split, problems: Problems) -> Iterator[pa.RecordBatch]:
        """All columns, as they are."""
        for _, batch in self._batches(split):
            yield batch

    def write(
        self, split: Split, keep: NDArray[np.bool_], target: Path, notes: pa.Table | None, problems: Problems
    ) -> None:
        """Parquet, with the table's own schema as far as Parquet has such types."""
        added = notes.schema if notes is not None else pa.schema([])
        refuse_clash(split.file, self.data.column_names, added.names)
        self.refuse_unwritable(split.file)
        schema = pa.schema([*self._stored, *added], metadata=self._stored.metadata)
        with create(target, None) as out, pq.ParquetWriter(out, schema, compression="zstd") as writer:
            for rows in grouped(self._kept(split, keep, notes, schema), schema):
                writer.write_table(rows)
        if any(self._intervals):
            mark_intervals(target, self._intervals)

    def store(self, splits: Sequence[Split], target: Path) -> None:
        """Write all rows to one Parquet file, of which every split is a row group."""
        with pq.ParquetWriter(target, self._stored, compression="zstd") as writer:
            for split in splits:
                everything = np.ones(split.stop - split.start, bool)
                batches = self._kept(split, everything, None, self._stored)
                rows = pa.Table.from_batches(batches, self._stored)
                writer.write_table(rows, row_group_size=len(everything))
        if any(self._intervals):
            mark_intervals(target, self._intervals)

    def _kept(
        self, split: Split, keep: NDArray[np.bool_], notes: pa.Table | None, schema: pa.Schema
    ) -> Iterator[pa.RecordBatch]:
        at = 0
        for _, batch in self._batches(split):
            mask = keep[at : at + batch.num_rows]
            columns = [storable(column) for column in filtered(batch, mask).columns]
            if notes is not None:
                added = notes.slice(at, batch.num_rows).filter(pa.array(mask)).combine_chunks()
                columns += [column.combine_chunks() for column in added.columns]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)
            at += batch.num_rows

    @cached_property
    def _stored(self) -> pa.Schema:
        """What is written to Parquet."""
        stored = [field.with_type(storable(pa.nulls(0, field.type)).type) for field in self.data.schema]
        return pa.schema(stored, metadata=self.data.schema.metadata)

    @cached_property
    def _intervals(self) -> list[bool]:
        """For every column of the file that is written, those in nested ones counted, whether it holds intervals."""
        leaves = chain.from_iterable(leaves_of(pa.nulls(0, field.type)) for field in self.data.schema)
        return [is_interval(leaf.type) for leaf in leaves]

    def refuse_unwritable(self, file: InputFile) -> None:
        """Refuse columns that Parquet cannot hold as they are."""
        for column, stored in zip(self.data.schema, self._stored, strict=True):
            try:
                pq.ParquetWriter(pa.BufferOutputStream(), pa.schema([stored])).close()
                if column.type != stored.type:
                    for chunk in self.data.column(column.name).chunks:
                        storable(chunk)
            except (pa.ArrowException, OSError, ValueError) as error:
                raise InputError(
                    f"{file.name}: the column {column.name!r} ({column.type}) cannot be written to Parquet ({error}). "
                    "Turn it into another type, or leave it out; result.kept has it as it is."
                ) from error


@dataclass(frozen=True)
class MemoryFile(InputFile):
    """An input file that is none: it brings its table along."""

    source: Format | None = field(default=None, repr=False, compare=False)


def from_object(data: object, *, name: str = "table") -> MemoryFile:
    """An input file that stands for a table, a column or a list of texts, or a list of dicts.

    Texts get a column "text". Ids, where there is no column for them, are `name:row`.
    """
    table = _as_table(data)
    doubled = [column for column in table.column_names if table.column_names.count(column) > 1]
    if doubled:
        raise InputError(f"{name}: there are two columns named {doubled[0]!r}. Rename one of them.")
    return MemoryFile(path="", name=name, format=InMemory.name, size=table.nbytes, source=InMemory(table))


def _streamed(data: object) -> pa.Table:
    try:
        return pa.RecordBatchReader.from_stream(data).read_all()
    except (pa.ArrowException, ValueError) as error:  # pandas' doubled names are a ValueError
        raise InputError(_unfit(error)) from error


def _unfit(error: Exception) -> str:
    """What is wrong with a table that cannot be taken over, from what pyarrow says of it."""
    reason = str(error.args[0]) if error.args else type(error).__name__
    said = re.search(r"for column (.+) with type", " ".join(map(str, error.args[1:])))
    if said is None:
        return f"the documents cannot be taken as a table ({reason})."
    return (
        f"the values of the column {said[1]!r} are not all of one type ({reason}). Make them so, for example with "
        ".astype(str), or leave the column out."
    )


def _as_table(data: object) -> pa.Table:
    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if isinstance(data, pa.Array | pa.ChunkedArray):
        return _from_column(data)
    if isinstance(data, str | bytes | Mapping):
        raise UsageError(f"expected many documents, got one {type(data).__name__}; put it in a list")
    if hasattr(data, "collect_schema") and hasattr(data, "collect"):  # a lazy Polars frame
        data = data.collect()
    if hasattr(data, "to_frame") and hasattr(data, "dtype"):  # a Series of pandas or Polars
        return _from_column(data.to_arrow() if hasattr(data, "to_arrow") else _from_pandas(data))
    if hasattr(data, "with_format") and hasattr(data, "select"):  # a Hugging Face dataset, with its row selection
        data = data.with_format("arrow")[:]
        if isinstance(data, pa.Table):
            return data
    if hasattr(data, "__arrow_c_stream__"):
        return _without_index(_streamed(data))
    for method in ("to_arrow_table", "fetch_arrow_table", "to_arrow"):
        if hasattr(data, method):
            return _called(data, method)
    if isinstance(data, Iterable):
        return _from_iterable(data)
    raise UsageError(
        f"cannot read documents from {type(data).__name__}: give a table that speaks Arrow (pyarrow, Polars, "
        "pandas, DuckDB, datasets), a list of texts, or a list of dicts"
    )


def _from_pandas(series: Any) -> pa.Array | pa.ChunkedArray:
    try:
        return pa.Array.from_pandas(series)
    except pa.ArrowException as error:
        raise InputError(
            f"the values of the Series are not all texts ({error}). Make them so, for example with .astype(str)."
        ) from error


def _from_column(column: pa.Array | pa.ChunkedArray) -> pa.Table:
    """A column of texts; one of structs is a table."""
    if pa.types.is_struct(column.type):
        return pa.Table.from_struct_array(column)
    if column_kind(column.type) not in ("text", "bytes"):
        raise UsageError(f"cannot read documents from a column of {column.type}: give texts")
    return pa.table({"text": column})


def _called(data: object, method: str) -> pa.Table:
    """What DuckDB's `con.execute(…)` and others that do not speak Arrow's C stream hand over when they are asked."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that there are faster ways than the one the caller chose
            table = getattr(data, method)()
    except Exception as error:  # each package raises its own
        raise InputError(f"{type(data).__name__} hands over no table ({error}). Has a query been run?") from error
    return table if isinstance(table, pa.Table) else pa.table(table)


def _from_iterable(data: Iterable[Any]) -> pa.Table:
    items = iter(data)
    first = next(items, None)
    if first is None:
        rest = list(items)
        first = next((item for item in rest if item is not None), None)
        items = chain([None] if rest else [], rest)
    else:
        items = chain([first], items)
    try:
        if first is None or isinstance(first, str):
            return pa.table({"text": pa.array(list(items), pa.large_string())})
        if isinstance(first, bytes):
            return pa.table({"text": pa.array(list(items), pa.large_binary())})
        if isinstance(first, Mapping):
            rows = list(items)
            names = dict.fromkeys(key for row in rows for key in row)
            return pa.table({key: _values(key, rows) for key in names})
    except (pa.ArrowException, TypeError, AttributeError, UnicodeEncodeError) as error:
        raise InputError(f"the documents do not fit together in one table: {error}") from error
    raise UsageError(f"cannot read documents from a list of {type(first).__name__}: give texts or dicts")


def _values(key: Any, rows: list[Any]) -> pa.Array:
    values = [row.get(key) for row in rows]
    try:
        return pa.array(values)
    except pa.ArrowException as error:
        raise InputError(
            f"the documents do not fit together in one table: the values of {key!r} are not all of one type ({error})."
        ) from error


def _without_index(table: pa.Table) -> pa.Table:
    """pandas adds its index as a column; that is not the caller's."""
    return table.drop_columns([name for name in table.column_names if name.startswith("__index_level_")])
