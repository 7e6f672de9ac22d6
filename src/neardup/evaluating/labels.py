"""Columns of a small table of labels, in whatever format it is: only what is asked for is held.

columns_of   a file (TSV, CSV, JSONL, Parquet; compressed too), an Arrow table, or a list of dicts → Columns
"""

import csv
import io
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from neardup.errors import InputError
from neardup.sources.compression import compression_of, open_plain
from neardup.sources.files import printable

FORMATS = {".tsv": "tsv", ".tab": "tsv", ".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}


class Columns(ABC):
    """A table that tells its names before it is read."""

    name: str
    names: list[str]
    rows = 0
    """Known after reading."""

    @property
    def title(self) -> str:
        """The name without folders."""
        return os.path.basename(self.name)

    @abstractmethod
    def _read(self, names: list[str]) -> dict[str, pa.Array]:
        """These columns."""

    def read(self, names: list[str]) -> dict[str, pa.Array]:
        """These columns, each as one array."""
        found = self._read(names)
        self.rows = len(next(iter(found.values()))) if found else 0
        return found


def columns_of(source: Any) -> Columns:
    """By the ending of a file's name, or what speaks Arrow, or rows as dicts."""
    if isinstance(source, str | os.PathLike):
        return _file(os.fspath(source))
    if isinstance(source, list | tuple) and all(isinstance(row, Mapping) for row in source):
        names = list(dict.fromkeys(str(name) for row in source for name in row))
        return _InMemory("the truth", pa.table({n: _column([row.get(n) for row in source]) for n in names}))
    if hasattr(source, "__arrow_c_stream__"):
        return _InMemory("the truth", pa.RecordBatchReader.from_stream(source).read_all())
    raise InputError(
        f"the truth is {type(source).__name__}: give a file, an Arrow table (pandas and Polars are such), or dicts."
    )


def _file(path: str) -> Columns:
    name = printable(path)
    compression, plain = compression_of(path)
    format_ = FORMATS.get(os.path.splitext(plain)[1].lower())
    if format_ is None:
        raise InputError(f"{name}: truth is read from .tsv, .csv, .jsonl and .parquet (with .gz, .zst, .bz2, .xz too).")
    with open_plain(path, compression, name) as stream:
        content = stream.read()
    if not content.strip():
        raise InputError(f"{name}: is empty.")
    if format_ == "parquet":
        try:
            return _InMemory(name, pq.read_table(io.BytesIO(content)))
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{name}: cannot be read as Parquet ({error}).") from error
    return _Lines(name, content) if format_ == "jsonl" else _Separated(name, content, "\t" if format_ == "tsv" else ",")


class _InMemory(Columns):
    def __init__(self, name: str, table: pa.Table) -> None:
        self.name, self.names, self._table = name, table.column_names, table

    def _read(self, names: list[str]) -> dict[str, pa.Array]:
        columns = {}
        for name in names:
            values = self._table.column(name)
            if pa.types.is_dictionary(values.type):
                values = values.cast(values.type.value_type)
            if pa.types.is_nested(values.type):
                raise InputError(f"{self.name}: the column {name!r} holds {values.type}, and not a value per row.")
            columns[name] = _whole(values)
        return columns


class _Separated(Columns):
    """CSV and TSV; all values are strings."""

    def __init__(self, name: str, content: bytes, separator: str) -> None:
        self.name, self._content, self._separator = name, content.removeprefix(b"\xef\xbb\xbf"), separator
        try:
            head = self._content.split(b"\n", 1)[0].decode().rstrip("\r")
        except UnicodeDecodeError as error:
            raise InputError(f"{name}: its first line is not UTF-8. Convert the file to UTF-8.") from error
        self.names = next(csv.reader([head], delimiter=separator), [])
        doubled = [n for n in self.names if self.names.count(n) > 1]
        if doubled:
            raise InputError(f"{name}: there are two columns named {doubled[0]!r}. Rename one of them.")

    def _read(self, names: list[str]) -> dict[str, pa.Array]:
        try:
            table = pa_csv.read_csv(
                pa.BufferReader(self._content),
                parse_options=pa_csv.ParseOptions(delimiter=self._separator, newlines_in_values=True),
                convert_options=pa_csv.ConvertOptions(
                    include_columns=names, column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
                ),
            )
        except pa.ArrowInvalid as error:
            raise InputError(f"{self.name}: cannot be read as a table with a header line ({error}).") from error
        return {name: _whole(table.column(name)) for name in names}


class _Lines(Columns):
    """JSONL: an object per line; a name that an object does not have is null there."""

    def __init__(self, name: str, content: bytes) -> None:
        self.name, self._content = name, content
        self.names = list(dict.fromkeys(key for row in self._rows(100) for key in row))

    def _rows(self, most: int | None = None) -> list[dict[str, Any]]:
        decoder = msgspec.json.Decoder(dict[str, Any])
        rows: list[dict[str, Any]] = []
        for number, line in enumerate(self._content.splitlines(), 1):
            if not line.strip():
                continue
            try:
                rows.append(decoder.decode(line))
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                raise InputError(f"{self.name}:{number}: is not a JSON object ({error}).") from error
            if most is not None and len(rows) == most:
                break
        return rows

    def _read(self, names: list[str]) -> dict[str, pa.Array]:
        found: dict[str, list[Any]] = {name: [] for name in names}
        for row in self._rows():
            for name, values in found.items():
                values.append(row.get(name))
        return {name: _column(values) for name, values in found.items()}


def _column(values: list[Any]) -> pa.Array:
    """Fractions stay numbers where all are such; else everything is written as JSON would."""
    if all(v is None or isinstance(v, float) for v in values):
        return pa.array(values, pa.float64())
    return pa.array([_text(v) for v in values], pa.string())


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return "true" if value is True else "false" if value is False else str(value)


def _whole(values: pa.ChunkedArray) -> pa.Array:
    joined = values.combine_chunks()
    if isinstance(joined, pa.ChunkedArray):
        return joined.chunk(0) if joined.num_chunks else pa.array([], values.type)
    return joined
