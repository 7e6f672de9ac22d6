"""Batches of Spark's rows → the documents that every engine sketches. This runs on executors.

All rows have number, file, source, kind, position: the document's number, its input file by number and by name, which
of the reader's `fields` hold for it, and its line or row. Besides, rows of

    tables           have text, id, url and keep:COLUMN, as far as there are such columns
    JSON Lines       have line
    files            have id, which is the file's path in its folder, and content
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from neardup.errors import InputError
from neardup.model import SKIPPED
from neardup.sketches.artefact import keep_fields, keep_values
from neardup.sources.base import BATCH_BYTES, Documents, Fields, InputFile
from neardup.sources.compression import compression_of, unpacked
from neardup.sources.folder import without_mark
from neardup.sources.ids import id_types
from neardup.sources.jsonl import SAMPLE_BYTES, SAMPLE_LINES, documents_of, kinds_of
from neardup.sources.linewise import without_bom
from neardup.sources.problems import Problem, Problems
from neardup.sources.problems import rows as rows_of_problems
from neardup.sources.tabular import column_kind, ids_at, text_column

KEEP = "keep:"
"""Before the name of a column that the keep policy asks for."""

LINES = pa.schema(
    [
        ("path", pa.string()),
        ("block", pa.int64()),
        ("line", pa.int64()),
        ("value", pa.binary()),
        ("fields", pa.string()),
    ]
)
"""Lines with their place: which block of which file, which line of the block, from 0; at a file's beginning also
the names and kinds of the line's fields, as JSON."""

PROBLEMS = pa.schema([field.with_nullable(True) for field in SKIPPED])
"""What could not be read. All columns may be null for Spark, which cannot promise more of what a task returns."""


@dataclass(frozen=True)
class Batch:
    """Documents of one input file, in the order of their numbers within a split."""

    file: InputFile
    """With its name, format and fields; without a path and members."""
    index: int
    """Its number among the input files."""
    numbers: NDArray[np.int64]
    documents: Documents
    problems: list[Problem]
    """Met among these rows, where they are passed over. There may be problems and no document."""


@dataclass(frozen=True)
class Reader:
    """Reads the rows of inputs of one format."""

    format: str
    fields: tuple[Fields, ...]
    on_error: Literal["stop", "skip"]
    max_document_bytes: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[Batch]:
        """Documents of one file at a time, about BATCH_BYTES of them."""
        read = {"jsonl": _from_lines, "text": _from_files, "html": _from_files}.get(self.format, _from_table)
        heavy = {"jsonl": "line", "text": "content", "html": "content"}.get(self.format, "text")
        for batch in batches:
            for rows in _cut(batch, heavy):
                fields = self.fields[rows.column("kind")[0].as_py()]
                file = InputFile("", rows.column("source")[0].as_py(), self.format, fields=fields)
                problems = Problems(self.on_error, self.max_document_bytes)
                documents = read(rows, file, problems)
                start = rows.column("number")[0].as_py() - rows.column("position")[0].as_py()
                index = rows.column("file")[0].as_py()
                yield Batch(file, index, documents.positions + start, documents, problems.found)


def _cut(batch: pa.RecordBatch, heavy: str) -> Iterator[pa.RecordBatch]:
    """Rows of one file, and not too much text at once."""
    if not batch.num_rows:
        return
    files = batch.column("file").to_numpy()
    texts = batch.column(heavy)
    if column_kind(texts.type) == "other":  # which is told where it is read
        texts = pa.nulls(len(texts), pa.binary())
    sizes = np.cumsum(pc.binary_length(texts).fill_null(0).to_numpy().astype(np.int64))
    parts = sizes // BATCH_BYTES
    changes = np.flatnonzero((files[1:] != files[:-1]) | (parts[1:] != parts[:-1])) + 1
    for start, stop in zip([0, *changes], [*changes, batch.num_rows], strict=True):
        yield batch.slice(start, stop - start)


def _positions(rows: pa.RecordBatch) -> NDArray[np.int64]:
    return np.array(rows.column("position").to_numpy(), np.int64)


def _from_table(rows: pa.RecordBatch, file: InputFile, problems: Problems) -> Documents:
    fields, positions = file.fields, _positions(rows)
    columns = {name: rows.column(f"{KEEP}{name}") for name in fields.columns}
    if fields.url is not None:
        columns[fields.url] = rows.column("url")
    return Documents(
        text=text_column(rows.column("text"), file),
        positions=positions,
        id=ids_at(rows.column("id"), file, positions, problems) if fields.id is not None else None,
        id_types=id_types(rows.column("id")) if fields.id is not None else None,
        columns=columns,
        decoded=column_kind(rows.column("text").type) == "text",
    )


def _from_lines(rows: pa.RecordBatch, file: InputFile, problems: Problems) -> Documents:
    positions = _positions(rows)
    lines = rows.column("line").to_pylist()
    if positions[0] == 1:
        lines[0] = without_bom(file, lines[0])
    return documents_of(file, lines, positions, problems) or _nothing(file.fields)


def _from_files(rows: pa.RecordBatch, file: InputFile, problems: Problems) -> Documents:
    limit, html = problems.max_document_bytes, file.format == "html"
    kept: list[int] = []
    contents: list[bytes] = []
    for at, (name, stored) in enumerate(zip(rows.column("id").to_pylist(), rows.column("content"), strict=True)):
        try:
            with unpacked(BytesIO(stored.as_py()), compression_of(name)[0], name) as stream:
                data = stream.read(limit + 1)
        except InputError as error:
            problems.report(name, None, "unreadable", str(error).removeprefix(f"{name}: "))
            continue
        if len(data) > limit:
            too_long(name, problems)
            continue
        kept.append(at)
        contents.append(data if html else without_mark(data))
    return Documents(
        text=pa.array(contents, pa.large_binary()),
        positions=_positions(rows)[kept],
        id=rows.column("id").take(pa.array(kept, pa.int64())).cast(pa.string()),
        html=np.ones(len(kept), np.bool_) if html else None,
    )


def too_long(name: str, problems: Problems) -> None:
    """Report a file beyond the limit, as the local engine does."""
    detail = f"the file has more than {problems.max_document_bytes:,} bytes"
    problems.report(name, None, "too long", detail, "Raise --max-document-bytes")


def _nothing(fields: Fields) -> Documents:
    names = [name for name in (*fields.columns, fields.url) if name is not None]
    return Documents(
        text=pa.array([], pa.large_binary()),
        positions=np.empty(0, np.int64),
        id=pa.array([], pa.string()) if fields.id is not None else None,
        columns={name: pa.nulls(0) for name in names},
    )


@dataclass(frozen=True)
class Task:
    """What a task runs: the reader, and a function of the documents that it reads."""

    reader: Reader
    function: Callable[[Iterator[Batch]], Iterator[pa.RecordBatch]]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """From rows to whatever the function makes."""
        return self.function(self.reader(batches))


def plain_schema(columns: tuple[str, ...]) -> pa.Schema:
    """Of documents as rows; columns of the keep policy are sortable, as in sketch files."""
    return pa.schema(
        [
            ("number", pa.int64()),
            ("file", pa.int32()),
            ("source", pa.string()),
            ("position", pa.int64()),
            ("id", pa.string()),
            ("text", pa.binary()),
            ("html", pa.bool_()),
            ("url", pa.string()),
            *keep_fields(columns),
        ]
    )


@dataclass(frozen=True)
class Plain:
    """Documents as rows. An id is null where it is source:position."""

    columns: tuple[str, ...]

    def __call__(self, batches: Iterator[Batch]) -> Iterator[pa.RecordBatch]:
        """Batch by batch."""
        schema = plain_schema(self.columns)
        for batch in batches:
            documents, fields, rows = batch.documents, batch.file.fields, len(batch.numbers)
            url = documents.columns[fields.url].cast(pa.string()) if fields.url else pa.nulls(rows, pa.string())
            html = documents.html if documents.html is not None else np.full(rows, fields.html)
            values = {
                "number": pa.array(batch.numbers),
                "file": pa.array(np.full(rows, batch.index, np.int32)),
                "source": pa.array([batch.file.name] * rows, pa.string()),
                "position": pa.array(documents.positions),
                "id": documents.id if documents.id is not None else pa.nulls(rows, pa.string()),
                "text": documents.text.cast(pa.binary()),
                "html": pa.array(html),
                "url": url,
            }
            for column in self.columns:
                values |= keep_values(documents, column)
            yield pa.RecordBatch.from_arrays([values[field.name] for field in schema], schema=schema)


def problems_of(batches: Iterator[Batch]) -> Iterator[pa.RecordBatch]:
    """What could not be read, and nothing else."""
    for batch in batches:
        if batch.problems:
            yield problem_rows(batch.problems)


def problem_rows(problems: list[Problem]) -> pa.RecordBatch:
    """Return problems, of which there is at least one, as rows."""
    [batch] = rows_of_problems(problems).cast(PROBLEMS).combine_chunks().to_batches()
    return batch


def counted_lines(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Lines, which come in order and block by block, with their number in the block."""
    place: tuple[str, int] | None = None
    line = size = 0
    for batch in batches:
        if not batch.num_rows:
            continue
        paths, blocks, values = (batch.column(name) for name in ("path", "block", "value"))
        count = batch.num_rows
        other = pc.or_(
            pc.not_equal(paths.slice(1), paths.slice(0, count - 1)),
            pc.not_equal(blocks.slice(1), blocks.slice(0, count - 1)),
        )
        starts = [0, *(np.flatnonzero(other.to_numpy(zero_copy_only=False)) + 1).tolist()]
        lines = np.empty(count, np.int64)
        told: list[str | None] = [None] * count
        for start, stop in zip(starts, [*starts[1:], count], strict=True):
            here = (paths[start].as_py(), blocks[start].as_py())
            if here != place:
                place, line, size = here, 0, 0
            lines[start:stop] = np.arange(line, line + stop - start)
            line += stop - start
            size = _tell(values, start, stop, line - (stop - start), here[1], size, told)
        columns = [paths, blocks, pa.array(lines), values, pa.array(told, pa.string())]
        yield pa.RecordBatch.from_arrays([c.cast(f.type) for c, f in zip(columns, LINES, strict=True)], schema=LINES)


def _tell(values: pa.Array, start: int, stop: int, line: int, block: int, size: int, told: list[str | None]) -> int:
    """Note the fields of lines at the beginning of a file, as much of it as the local engine looks at.

    Returns the bytes of the block seen so far, or SAMPLE_BYTES once it is not the beginning any more.
    """
    for at in range(start, min(stop, start + SAMPLE_LINES - line)):
        if block + size >= SAMPLE_BYTES:
            return SAMPLE_BYTES
        value = values[at].as_py()
        size += len(value) + 1
        if block + size <= SAMPLE_BYTES or (block == 0 and line == 0 and at == start):
            told[at] = json.dumps(kinds_of(value)) if value.strip() else None
    return size
