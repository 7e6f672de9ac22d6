"""Columns of a small table of labels, in whatever format it is, as strings.

columns_of   a file (TSV, CSV, JSONL, Parquet; compressed too), an Arrow table, or a list of dicts → Columns

    TSV     a line is a row, a tab ends a value, and nothing else means anything: quotes are characters
    CSV     RFC 4180: values in quotes may hold commas, line ends and doubled quotes
    JSONL   an object per line; the columns are the names that any of them has

Text is UTF-8, with or without a byte order mark; lines end in LF, CR LF or CR. 7.0 is written 7, as one id has both.
"""

import csv
import io
import math
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from neardup.errors import InputError
from neardup.sources.columns import decoded
from neardup.sources.compression import compression_of, open_plain
from neardup.sources.files import printable, read_at_most
from neardup.sources.pages import rows_of_groups

FORMATS = {".tsv": "tsv", ".tab": "tsv", ".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}

LARGEST = 256 << 20
"""Bytes of a file of labels, unpacked: all of it is held, and its rows beside it."""

_ADVICE = "Labels are read as a whole; leave out what is not asked for."
_ROWS, _AT_ONCE = 1 << 16, 64 << 20
"""Rows of a Parquet file that are unpacked at a time, and the bytes that a column of them may take."""

_EXACT = 2**53
"""Whole numbers below this are exact as fractions."""


class Columns(ABC):
    """A table that tells its names before it is read."""

    name: str
    names: list[str]
    rows = 0
    """Known after reading."""
    _lines: Sequence[int] = ()
    """Of the rows, where the format has lines."""

    @property
    def title(self) -> str:
        """The name without folders."""
        return os.path.basename(self.name)

    @abstractmethod
    def _read(self, names: list[str]) -> dict[str, pa.Array]:
        """These columns."""

    def read(self, names: list[str]) -> dict[str, pa.Array]:
        """These columns, each as one array of strings."""
        found = self._read(names)
        self.rows = len(next(iter(found.values()))) if found else 0
        return found

    def place(self, row: int) -> str:
        """Where a row is, as an editor shows it; counted from 0."""
        return f"line {self._lines[row]:,}" if self._lines else f"row {row + 1:,}"

    def _named(self, names: list[str]) -> None:
        doubled = [n for i, n in enumerate(names) if n in names[:i]]
        if doubled:
            raise InputError(f"{self.name}: there are two columns named {doubled[0]!r}. Rename one of them.")
        self.names = names


def columns_of(source: Any, what: str = "the truth") -> Columns:
    """By the ending of a file's name, or what speaks Arrow, or rows as dicts. `what` it is called in messages."""
    if isinstance(source, str | os.PathLike):
        return _file(os.fspath(source), what)
    if isinstance(source, list | tuple) and all(isinstance(row, Mapping) for row in source):
        return _Objects(what, [{str(name): value for name, value in row.items()} for row in source])
    if hasattr(source, "__arrow_c_stream__"):
        return _InMemory(what, pa.RecordBatchReader.from_stream(source).read_all())
    raise InputError(
        f"{what} is {type(source).__name__}: give a file, an Arrow table (pandas and Polars are such), or dicts."
    )


def _file(path: str, what: str) -> Columns:
    name = printable(path)
    compression, plain = compression_of(path)
    format_ = FORMATS.get(os.path.splitext(plain)[1].lower())
    if format_ is None:
        raise InputError(
            f"{name}: {what.removeprefix('the ')} is read from .tsv, .csv, .jsonl and .parquet (with .gz, .zst, .bz2, "
            ".xz too)."
        )
    with open_plain(path, compression, name) as stream:
        content = read_at_most(stream, LARGEST, name, _ADVICE)
    if not content.strip():
        raise InputError(f"{name}: is empty.")
    if format_ == "parquet":
        try:
            return _InMemory(name, _parquet(name, content))
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{name}: cannot be read as Parquet ({error}).") from error
    content = content.removeprefix(b"\xef\xbb\xbf")
    return _json_lines(name, content) if format_ == "jsonl" else _Separated(name, content, format_)


def _parquet(name: str, content: bytes) -> pa.Table:
    """Read a table of at most LARGEST bytes; a file of 2 kB can hold 800 MB."""
    with pq.ParquetFile(io.BytesIO(content), buffer_size=1 << 20, pre_buffer=False) as parquet:
        metadata = parquet.metadata
        groups = range(metadata.num_row_groups)
        at_once = rows_of_groups(_ROWS, _AT_ONCE, io.BytesIO(content), name, metadata, groups, None, _ADVICE)
        batches, size = [], 0
        for batch in parquet.iter_batches(at_once, use_threads=False):
            # A dictionary is small until it becomes strings, which it does in the end.
            batches.append(pa.RecordBatch.from_arrays([decoded(c) for c in batch.columns], batch.schema.names))
            size += batches[-1].nbytes
            if size > LARGEST:
                raise InputError(f"{name}: has more than {LARGEST:,} bytes. {_ADVICE}")
        return pa.Table.from_batches(batches) if batches else parquet.schema_arrow.empty_table()


class _InMemory(Columns):
    def __init__(self, name: str, table: pa.Table) -> None:
        self.name, self._table = name, table
        self._named(table.column_names)

    def _read(self, names: list[str]) -> dict[str, pa.Array]:
        return {name: self._strings(name) for name in names}

    def _strings(self, name: str) -> pa.Array:
        values = self._table.column(name)
        if pa.types.is_dictionary(values.type):
            values = values.cast(values.type.value_type)
        if pa.types.is_nested(values.type):
            raise InputError(f"{self.name}: the column {name!r} holds {values.type}, and not a value per row.")
        try:
            texts = _numbers(values) if pa.types.is_floating(values.type) else values.cast(pa.string())
        except pa.ArrowException as error:
            why = "bytes that are not UTF-8" if _is_binary(values.type) else f"{values.type} ({error})"
            raise InputError(f"{self.name}: the column {name!r} holds {why}, and not text. Convert it.") from error
        return pa.concat_arrays(texts.chunks) if texts.num_chunks else pa.array([], pa.string())


def _numbers(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """As the shortest text of their own precision; whole numbers without a point, null where there is no number."""
    values = pc.if_else(pc.is_nan(values), pa.scalar(None, values.type), values)
    whole = pc.and_(pc.equal(values, pc.round(values)), pc.less(pc.abs(values), float(_EXACT)))
    integers = pc.if_else(whole, values, pa.scalar(0, values.type)).cast(pa.int64())
    return pc.if_else(whole, integers.cast(pa.string()), values.cast(pa.string()))


def _is_binary(type_: pa.DataType) -> bool:
    return bool(pa.types.is_binary(type_) or pa.types.is_large_binary(type_) or pa.types.is_fixed_size_binary(type_))


class _Separated(Columns):
    """CSV and TSV."""

    def __init__(self, name: str, content: bytes, format_: str) -> None:
        self.name = name
        try:
            self._text = content.decode()
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise InputError(f"{name}: line {line:,} is not UTF-8. Convert the file to UTF-8.") from error
        self._records = self._quoted if format_ == "csv" else self._plain
        self._named(next(self._records(), (0, []))[1])

    def _plain(self) -> Iterator[tuple[int, list[str]]]:
        """TSV: (line, values)."""
        for number, line in enumerate(io.StringIO(self._text, newline=None), 1):
            if line.strip("\n"):
                yield number, line.rstrip("\n").split("\t")

    def _quoted(self) -> Iterator[tuple[int, list[str]]]:
        """CSV: (the line where it begins, values). An open quote at the end is an error, and not a long value."""
        before = csv.field_size_limit(sys.maxsize)  # all of it is in memory anyway
        try:
            reader = csv.reader(io.StringIO(self._text, newline=""), strict=True)
            begins = 1
            for values in reader:
                if values:
                    yield begins, values
                begins = reader.line_num + 1
        except csv.Error as error:
            raise InputError(
                f"{self.name}: cannot be read as CSV from line {begins:,} on ({error}). Is a quote missing there?"
            ) from error
        finally:
            csv.field_size_limit(before)

    def _read(self, names: list[str]) -> dict[str, pa.Array]:
        places = [self.names.index(name) for name in names]
        found: list[list[str]] = [[] for _ in names]
        lines: list[int] = []
        records = self._records()
        next(records, None)
        for line, values in records:
            if len(values) != len(self.names):
                raise InputError(
                    f"{self.name}: cannot be read as a table with a header line: line {line:,} has {len(values):,} "
                    f"values, and there are {len(self.names):,} columns."
                )
            lines.append(line)
            for column, place in zip(found, places, strict=True):
                column.append(values[place])
        self._lines = lines
        return {name: pa.array(column, pa.string()) for name, column in zip(names, found, strict=True)}


def _json_lines(name: str, content: bytes) -> Columns:
    decoder = msgspec.json.Decoder(dict[str, Any])
    rows: list[dict[str, Any]] = []
    lines: list[int] = []
    for number, line in enumerate(content.splitlines(), 1):
        if not line.strip():
            continue
        try:
            rows.append(decoder.decode(line))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise InputError(f"{name}:{number}: is not a JSON object ({error}).") from error
        lines.append(number)
    return _Objects(name, rows, lines)


class _Objects(Columns):
    """A name that an object does not have is null there."""

    def __init__(self, name: str, objects: list[dict[str, Any]], lines: Sequence[int] = ()) -> None:
        self.name, self._objects, self._lines = name, objects, lines
        self.names = list(dict.fromkeys(key for one in objects for key in one))

    def _read(self, names: list[str]) -> dict[str, pa.Array]:
        try:
            return {name: pa.array(self._values(name), pa.string()) for name in names}
        except UnicodeEncodeError as error:
            raise InputError(f"{self.name}: holds half a surrogate pair, which is no text ({error}).") from error

    def _values(self, name: str) -> Iterator[str | None]:
        for row, one in enumerate(self._objects):
            value = one.get(name)
            if isinstance(value, list | tuple | set | dict):
                kind = "an object" if isinstance(value, dict) else "a list"
                raise InputError(f"{self.name}: {name!r} in {self.place(row)} is {kind}, and not a value.")
            yield _text(value)


def _text(value: Any) -> str | None:
    """As JSON would write it; whole numbers without a point."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if math.isnan(value):
            return None
        return str(int(value)) if value.is_integer() and abs(value) < _EXACT else repr(value)
    return str(value)


def trimmed(values: pa.Array) -> pa.Array:
    """Without white space around; null where nothing is left."""
    text = pc.utf8_trim_whitespace(values)
    return pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.string()), text)
