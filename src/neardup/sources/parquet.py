"""Parquet: a split is a run of row groups; what is kept is written with the file's own schema and compression."""

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from neardup.errors import InputError
from neardup.sources.ahead import ahead
from neardup.sources.base import BATCH_BYTES, SPLIT_BYTES, Documents, Format, InputFile, Problems, Split
from neardup.sources.compression import create
from neardup.sources.files import is_remote, open_binary
from neardup.sources.ids import id_types
from neardup.sources.tabular import column_kind, id_column, refuse_clash, text_column

_ROWS_AT_ONCE = 65536
_GROUP_BYTES = 32 << 20  # what is compressed while the next one is decoded
_BUFFER = 1 << 20  # without it Arrow holds a row group's whole column chunk in memory


class Parquet(Format):
    """Apache Parquet."""

    name = "parquet"
    suffixes = (".parquet", ".pq", ".parq")
    tabular = True

    def _open(self, file: InputFile) -> pq.ParquetFile:
        try:
            # The name in bytes: Arrow takes strings for UTF-8, which names need not be.
            source = open_binary(file.path) if is_remote(file.path) else pa.OSFile(os.fsencode(file.path))
            return pq.ParquetFile(source, memory_map=False, buffer_size=_BUFFER, pre_buffer=False)
        except (pa.ArrowException, OSError) as error:
            raise InputError(
                f"{file.name}: this is not a whole Parquet file ({error}). Was it cut short on its way here?"
            ) from error

    def columns(self, file: InputFile) -> dict[str, str]:
        """From the file's schema."""
        with self._open(file) as parquet:
            return {f.name: column_kind(f.type) for f in parquet.schema_arrow}

    def splits(self, file: InputFile, size: int = SPLIT_BYTES) -> list[Split]:
        """Neighbouring row groups up to `size` compressed bytes."""
        with self._open(file) as parquet:
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

    def _batches(self, split: Split, columns: list[str] | None) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Record batches of a split with the row number, from 1, of their first row in the file."""
        with self._open(split.file) as parquet:
            row = 1 + sum(parquet.metadata.row_group(g).num_rows for g in range(split.start))
            groups = range(split.start, split.stop)
            rows = sum(parquet.metadata.row_group(g).num_rows for g in groups)
            bytes_ = sum(parquet.metadata.row_group(g).total_byte_size for g in groups)
            at_once = max(1, min(_ROWS_AT_ONCE, BATCH_BYTES * rows // max(1, bytes_)))
            try:
                for batch in parquet.iter_batches(at_once, row_groups=list(groups), columns=columns, use_threads=False):
                    yield row, batch
                    row += batch.num_rows
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
        for row, batch in self._batches(split, wanted):
            yield Documents(
                text=text_column(batch.column(fields.text), split.file),
                decoded=column_kind(batch.column(fields.text).type) == "text",
                positions=np.arange(row, row + batch.num_rows, dtype=np.int64),
                id=id_column(batch.column(fields.id), split.file, row, problems) if fields.id else None,
                id_types=id_types(batch.column(fields.id)) if fields.id else None,
                columns={c: batch.column(c) for c in extra},
            )

    def table(self, split: Split, problems: Problems) -> Iterator[pa.RecordBatch]:
        """All columns, as stored."""
        for _, batch in self._batches(split, None):
            yield batch

    def write(
        self, split: Split, keep: NDArray[np.bool_], target: Path, notes: pa.Table | None, problems: Problems
    ) -> None:
        """Same schema, same compression; columns are dictionary-encoded where they were."""
        with self._open(split.file) as parquet:
            schema = parquet.schema_arrow
            codecs, dictionaries = _encodings(parquet.metadata)
        if notes is not None:
            refuse_clash(split.file, schema.names, notes.column_names)
            schema = pa.schema([*schema, *notes.schema], metadata=schema.metadata)
        with (
            create(target, None) as out,
            pq.ParquetWriter(out, schema, compression=codecs or "snappy", use_dictionary=dictionaries) as writer,
        ):
            for rows in ahead(self._kept(split, keep, notes, schema), depth=1):
                writer.write_table(rows)

    def _kept(
        self, split: Split, keep: NDArray[np.bool_], notes: pa.Table | None, schema: pa.Schema
    ) -> Iterator[pa.Table]:
        """The rows to keep, as much at once as a row group should hold."""
        at = size = count = 0
        waiting: list[pa.RecordBatch] = []
        for _, batch in self._batches(split, None):
            rows = slice(at, at + batch.num_rows)
            at = rows.stop
            if notes is not None:
                added = notes.slice(rows.start, batch.num_rows).combine_chunks().to_batches()
                batch = pa.RecordBatch.from_arrays([*batch.columns, *added[0].columns], schema=schema)
            waiting.append(batch.filter(pa.array(keep[rows])))
            size += waiting[-1].nbytes
            count += waiting[-1].num_rows
            if count >= _ROWS_AT_ONCE or size >= _GROUP_BYTES:
                yield pa.Table.from_batches(waiting, schema)
                waiting, size, count = [], 0, 0
        if waiting:
            yield pa.Table.from_batches(waiting, schema)


def _encodings(metadata: pq.FileMetaData) -> tuple[dict[str, str], list[str]]:
    """Per column: the compression, and which columns were dictionary-encoded throughout their first row group."""
    codecs: dict[str, str] = {}
    dictionaries: list[str] = []
    if metadata.num_row_groups:
        group = metadata.row_group(0)
        for c in range(metadata.num_columns):
            column = group.column(c)
            codec = column.compression.lower()
            codecs[column.path_in_schema] = "none" if codec == "uncompressed" else codec
            if column.has_dictionary_page and _pays(column):
                dictionaries.append(column.path_in_schema)
    return codecs, dictionaries


def _pays(column: pq.ColumnChunkMetaData) -> bool:
    """A writer that tried a dictionary and gave it up leaves data pages of another encoding beside it."""
    return "PLAIN" not in column.encodings or column.physical_type != "BYTE_ARRAY" or _small(column)


def _small(column: pq.ColumnChunkMetaData) -> bool:
    return bool(column.total_uncompressed_size < 16 * max(1, column.num_values))
