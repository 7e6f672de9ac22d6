"""A table in memory as a file, so that a finished run over it can be opened again."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from neardup.atomic import appearing
from neardup.sources.base import InputFile, Split
from neardup.sources.formats import format_of
from neardup.sources.stamps import BY_CONTENT
from neardup.sources.table import InMemory


class _Digest:
    """A file that keeps nothing of what is written to it but its digest."""

    def __init__(self) -> None:
        self.sha256 = hashlib.sha256()
        self.closed = False

    def write(self, data: memoryview | bytes) -> int:
        self.sha256.update(data)
        return len(data)

    def flush(self) -> None:
        pass

    def close(self) -> None:
        self.closed = True

    def writable(self) -> bool:
        return True

    def readable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False


def stored_splits(folder: Path, splits: Sequence[Split]) -> list[Split]:
    """Return the splits of a table in memory as those of a Parquet file in `folder`, named by the table's content.

    Every split is a row group of it. The file is not written yet.
    """
    content = _digest(splits)
    file = splits[0].file
    stored = InputFile(
        str(folder / f"table-{content}.parquet"), file.name, "parquet", None, file.size, BY_CONTENT + content,
        fields=file.fields,
    )  # fmt: skip
    return [replace(split, file=stored, start=number, stop=number + 1) for number, split in enumerate(splits)]


def store(target: Path, splits: Sequence[Split]) -> None:
    """Write a table in memory to a Parquet file; a column that Parquet cannot hold raises InputError."""
    if target.exists():
        return
    source = _source(splits)
    source.refuse_unwritable(splits[0].file)
    with appearing(target) as draft:
        source.store(splits, draft)


def _source(splits: Sequence[Split]) -> InMemory:
    source = format_of(splits[0].file)
    assert isinstance(source, InMemory)
    return source


def _digest(splits: Sequence[Split]) -> str:
    digest = _Digest()
    table = _source(splits).data
    with pa.PythonFile(digest, "w") as sink, pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return digest.sha256.hexdigest()[:16]
