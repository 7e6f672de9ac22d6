"""Parquet: a split is a run of row groups; what is kept is written with the types and compression of the input."""

import os
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from neardup.errors import InputError
from neardup.sources.ahead import ahead
from neardup.sources.base import BATCH_BYTES, SPLIT_BYTES, Documents, Format, InputFile, Split
from neardup.sources.columns import ROWS_AT_ONCE, decoded, grouped, int96_parts, leaves_of, to_interval, with_leaves
from neardup.sources.compression import create
from neardup.sources.files import is_remote, open_binary
from neardup.sources.ids import id_types
from neardup.sources.layout import Layout, layout_of
from neardup.sources.pages import rows_of_groups
from neardup.sources.problems import Problems
from neardup.sources.tabular import column_kind, id_column, place, refuse_clash, text_column

_INT96, _INTERVAL = "INT96", "INTERVAL"
_NEAR_DAYS, _FAR_DAYS = 106_750, 106_750_000  # from 1970 on, in nanoseconds and in microseconds of 64 bits
_AT_ONCE, _AT_LEAST = 4, 16 << 20
"""Rows that are read at once may take this many times the longest document; 16 MB where documents are short, for pages
have a megabyte whatever is in them."""
_BUFFER = 1 << 20  # without it Arrow holds a row group's whole column chunk in memory


class Parquet(Format):
    """Apache Parquet."""

    name = "parquet"
    suffixes = (".parquet", ".pq", ".parq")
    tabular = True

    def columns(self, file: InputFile) -> dict[str, str]:
        """From the file's schema."""
        with _open(file) as parquet:
            return {f.name: column_kind(f.type) for f in parquet.schema_arrow}

    def splits(self, file: InputFile, size: int = SPLIT_BYTES) -> list[Split]:
        """Neighbouring row groups up to `size` compressed bytes."""
        with _open(file) as parquet:
            metadata = parquet.metadata
            sizes = [
                sum(metadata.row_group(g).column(c).total_compressed_size for c in range(metadata.num_columns))
                for g in range(metadata.num_row_groups)
            ]
        cuts: list[tuple[int, int, int]] = []
        start, running = 0, 0
        for group, bytes_ in enumerate(sizes):
            if running and running + bytes_ > size:
                cuts.append((start, group, running))
                start, running = group, 0
            running += bytes_
        if sizes:
            cuts.append((start, len(sizes), running))
        return [Split(file, a, b, n, part, len(cuts)) for part, (a, b, n) in enumerate(cuts)]

    def _batches(
        self, split: Split, columns: list[str] | None, problems: Problems, **options: Any
    ) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Record batches of a split with the row number, from 1, of their first row in the file."""
        with _open(split.file, **options) as parquet:
            _refuse_repeated(split.file, parquet.schema_arrow.names, columns or [])
            row = 1 + sum(parquet.metadata.row_group(g).num_rows for g in range(split.start))
            groups = range(split.start, split.stop)
            rows = sum(parquet.metadata.row_group(g).num_rows for g in groups)
            bytes_ = sum(parquet.metadata.row_group(g).total_byte_size for g in groups)
            at_once = max(1, min(ROWS_AT_ONCE, BATCH_BYTES * rows // max(1, bytes_)))
            most = max(_AT_ONCE * problems.max_document_bytes, _AT_LEAST)
            with open_binary(split.file.path) as stored:
                at_once = rows_of_groups(at_once, most, stored, split.file.name, parquet.metadata, groups, columns)
            try:
                for batch in parquet.iter_batches(at_once, row_groups=list(groups), columns=columns, use_threads=False):
                    for part in _in_size(batch):
                        yield row, part
                        row += part.num_rows
            except (pa.ArrowException, OSError) as error:
                raise InputError(
                    f"{split.file.name}: damaged in row groups {split.start} to {split.stop - 1} ({error})."
                ) from error

    def read(self, split: Split, problems: Problems) -> Iterator[Documents]:
        """Only the columns that matter are decoded."""
        fields = split.file.fields
        assert fields.text is not None
        extra = [c for c in (*fields.columns, fields.url) if c is not None]
        wanted = list(dict.fromkeys([fields.text, *([fields.id] if fields.id else []), *extra]))
        options = _timestamps(split.file, wanted) if _INT96 in _kinds(split.file) else {}
        for row, batch in self._batches(split, wanted, problems, **options):
            yield Documents(
                text=text_column(batch.column(fields.text), split.file),
                decoded=column_kind(batch.column(fields.text).type) == "text",
                positions=np.arange(row, row + batch.num_rows, dtype=np.int64),
                id=id_column(batch.column(fields.id), split.file, row, problems) if fields.id else None,
                id_types=id_types(batch.column(fields.id)) if fields.id else None,
                columns={c: decoded(batch.column(c)) for c in extra},
            )

    def table(self, split: Split, problems: Problems) -> Iterator[pa.RecordBatch]:
        """All columns, as pyarrow reads them, but INT96 in a unit that holds all of them, and INTERVAL as intervals."""
        kinds = _kinds(split.file)
        options = _timestamps(split.file, None) if _INT96 in kinds else {}
        intervals = _layout(split.file).intervals if _INTERVAL in kinds else []
        with _open(split.file, **options) as parquet:
            _refuse_repeated(split.file, parquet.schema_arrow.names, parquet.schema_arrow.names)
        for _, batch in self._batches(split, None, problems, **options):
            yield _with_intervals(batch, intervals, split.file) if intervals else batch

    def write(
        self, split: Split, keep: NDArray[np.bool_], target: Path, notes: pa.Table | None, problems: Problems
    ) -> None:
        """Same types and values, same metadata, same compression; columns are dictionary-encoded where they were."""
        layout = _layout(split.file)
        added = notes.schema if notes is not None else pa.schema([])
        refuse_clash(split.file, layout.names, added.names)
        with _open(split.file, metadata=layout.bare) as parquet:
            schema = pa.schema([*parquet.schema_arrow, *added])
        codecs, dictionaries = _encodings(layout)
        statistics = [leaf.path for leaf in layout.leaves if leaf.ordered] + added.names
        with (
            create(target, None) as out,
            pq.ParquetWriter(
                out,
                schema,
                compression=codecs or "snappy",
                use_dictionary=dictionaries,
                write_statistics=statistics,
                store_schema=False,
            ) as writer,
        ):
            for rows in ahead(grouped(self._kept(split, keep, notes, schema, layout, problems), schema), depth=1):
                writer.write_table(rows)
        layout.restore(target, added)

    def _kept(
        self,
        split: Split,
        keep: NDArray[np.bool_],
        notes: pa.Table | None,
        schema: pa.Schema,
        layout: Layout,
        problems: Problems,
    ) -> Iterator[pa.RecordBatch]:
        """The rows to keep, as they are stored."""
        at = 0
        for _, batch in self._batches(split, None, problems, metadata=layout.bare):
            rows = slice(at, at + batch.num_rows)
            at = rows.stop
            if notes is not None:
                added = notes.slice(rows.start, batch.num_rows).combine_chunks().to_batches()
                batch = pa.RecordBatch.from_arrays([*batch.columns, *added[0].columns], schema=schema)
            yield batch.filter(pa.array(keep[rows]))


def _refuse_repeated(file: InputFile, names: list[str], wanted: list[str]) -> None:
    """Raise an InputError if a column that is wanted has the name of another one."""
    for name in wanted:
        many = names.count(name)
        if many > 1:
            raise InputError(
                f"{place(file)}: {many} columns are called {name!r}, so that none of them can be chosen. Rename them, "
                "or write the file without the others."
            )


def _in_size(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Cut a batch that is much larger than it should be; parts are copies, for a slice would hold all of it."""
    parts = min(batch.num_rows, batch.nbytes // (2 * BATCH_BYTES) + 1)
    if parts < 2:
        return iter([batch])
    return (batch.take(pa.array(rows)) for rows in np.array_split(np.arange(batch.num_rows), parts))


def _open(file: InputFile, **options: Any) -> pq.ParquetFile:
    try:
        # The name in bytes: Arrow takes strings for UTF-8, which names need not be.
        source = open_binary(file.path) if is_remote(file.path) else pa.OSFile(os.fsencode(file.path))
        return pq.ParquetFile(source, memory_map=False, buffer_size=_BUFFER, pre_buffer=False, **options)
    except (pa.ArrowException, OSError) as error:
        if "Map keys must be" in str(error) and "metadata" not in options:
            return _open(file, metadata=_layout(file).with_lists_for_maps(), **options)
        raise InputError(
            f"{file.name}: this is not a whole Parquet file ({error}). Was it cut short on its way here?"
        ) from error


def _layout(file: InputFile) -> Layout:
    try:
        with open_binary(file.path) as stored:
            return layout_of(stored)
    except (ValueError, pa.ArrowException) as error:
        raise InputError(f"{place(file)}: its footer cannot be read ({error}).") from error


def _kinds(file: InputFile) -> set[str]:
    """Tell which types are in a file that pyarrow reads as something else."""
    with _open(file) as parquet:
        columns = [parquet.schema.column(c) for c in range(len(parquet.schema))]
    return {column.physical_type for column in columns} | {column.converted_type for column in columns}


def _timestamps(file: InputFile, columns: list[str] | None) -> dict[str, str]:
    """Tell pyarrow how to read INT96. In nanoseconds, as it does by itself, the year 9999 becomes 1816."""
    found = sorted({leaf.name for leaf in _layout(file).int96 if columns is None or leaf.name in columns})
    unit = _int96_unit(file) if found else "ns"
    if unit is None:
        raise InputError(
            f"{place(file)}: some INT96 timestamps are beyond the years 1678 to 2261, others finer than a microsecond "
            f"({', '.join(found)}), and no timestamp of Arrow holds both. Files are written with them as they are "
            "(write); to read them in Python, round them first."
        )
    return {"coerce_int96_timestamp_unit": unit}


@lru_cache(maxsize=64)
def _int96_unit(file: InputFile) -> str | None:
    """Return the unit that holds all INT96 timestamps of a file: nanoseconds, else microseconds, else none.

    INT96 is a day and the nanoseconds in it, more than an integer of 64 bits holds: only the values tell what fits.
    """
    layout = _layout(file)
    near = whole = True
    with _open(file, metadata=layout.bare) as parquet:
        for batch in parquet.iter_batches(columns=[leaf.bare_path for leaf in layout.int96], use_threads=False):
            for values in chain.from_iterable(map(leaves_of, batch.columns)):
                days, nanoseconds = int96_parts(values)
                near &= bool((np.abs(days) <= _NEAR_DAYS).all())
                whole &= bool((np.abs(days) <= _FAR_DAYS).all() and not (nanoseconds % 1000).any())
    return "ns" if near else "us" if whole else None


def _with_intervals(batch: pa.RecordBatch, intervals: list[bool], file: InputFile) -> pa.RecordBatch:
    """Make intervals of twelve bytes where the file says that they are."""
    which = iter(intervals)
    try:
        columns = [with_leaves(c, lambda leaf: to_interval(leaf) if next(which) else leaf) for c in batch.columns]
    except ValueError as error:
        raise InputError(f"{place(file)}: there is {error}. It is written as it is (write).") from error
    fields = [field.with_type(column.type) for field, column in zip(batch.schema, columns, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields, metadata=batch.schema.metadata))


def _encodings(layout: Layout) -> tuple[dict[str, str], list[str]]:
    """Per column: the compression, and which columns were dictionary-encoded throughout their first row group."""
    codecs: dict[str, str] = {}
    dictionaries: list[str] = []
    if layout.bare.num_row_groups:
        group = layout.bare.row_group(0)
        for c, leaf in enumerate(layout.leaves):
            column = group.column(c)
            codec = column.compression.lower()
            codecs[leaf.path] = "none" if codec == "uncompressed" else codec
            if column.has_dictionary_page and _pays(column):
                dictionaries.append(leaf.path)
    return codecs, dictionaries


def _pays(column: pq.ColumnChunkMetaData) -> bool:
    """A writer that tried a dictionary and gave it up leaves data pages of another encoding beside it."""
    return "PLAIN" not in column.encodings or column.physical_type != "BYTE_ARRAY" or _small(column)


def _small(column: pq.ColumnChunkMetaData) -> bool:
    return bool(column.total_uncompressed_size < 16 * max(1, column.num_values))
