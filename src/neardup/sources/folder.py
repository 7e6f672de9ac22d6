"""Folders of files that are one document each: text files and HTML pages.

A document's id is the file's path in the folder, made printable. Text is handed on as it is stored, except that
UTF-16 and UTF-32, where a byte order mark tells them, become UTF-8, and UTF-8's own mark is dropped. HTML is handed on
untouched: what its encoding is says the page itself.
"""

import codecs
import io
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.errors import InputError, OutputError
from neardup.sources.base import BATCH_BYTES, SPLIT_BYTES, Documents, Format, InputFile, Split
from neardup.sources.compression import compression_of, open_plain
from neardup.sources.files import is_remote, open_binary, printable
from neardup.sources.problems import Problems

# UTF-32's little-endian mark begins with UTF-16's: the longer ones come first.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


_PIECE = 1 << 18
"""What is read of a file at first: for the longest that a document may be, room would be made and given back."""


def without_mark(data: bytes) -> bytes:
    """Text as UTF-8 without a byte order mark, where a mark tells what it is; else as it is."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace").encode("utf-8", "replace")
    return data.removeprefix(codecs.BOM_UTF8)


def location(file: InputFile, member: str) -> str:
    """Where a file of the folder is."""
    return f"{file.path.rstrip('/')}/{member}" if is_remote(file.path) else os.path.join(file.path, member)


class Folder(Format):
    """One document a file."""

    html: ClassVar[bool]

    def columns(self, file: InputFile) -> dict[str, str]:
        """None: a file has a name and a content."""
        return {}

    def splits(self, file: InputFile, size: int = SPLIT_BYTES) -> list[Split]:
        """Runs of files of about `size` bytes together. Far away, files are taken to be of equal size."""
        if is_remote(file.path):
            sizes = [file.size // max(1, len(file.members))] * len(file.members)
        else:
            sizes = [_size(location(file, member)) for member in file.members]
        cuts: list[tuple[int, int, int]] = []
        start, running = 0, 0
        for at, bytes_ in enumerate(sizes):
            if at > start and running + bytes_ > size:
                cuts.append((start, at, running))
                start, running = at, 0
            running += bytes_
        if sizes:
            cuts.append((start, len(sizes), running))
        return [Split(file, a, b, n, part, len(cuts)) for part, (a, b, n) in enumerate(cuts)]

    def _members(self, split: Split, problems: Problems) -> Iterator[tuple[int, str, bytes]]:
        """Number from 1, path in the folder and content of every file that can be read."""
        limit = problems.max_document_bytes
        for at in range(split.start, split.stop):
            member = split.file.members[at]
            name = printable(member)
            try:
                with open_plain(location(split.file, member), compression_of(member)[0], name) as stream:
                    data = stream.read(min(_PIECE, limit + 1))
                    if len(data) == _PIECE:
                        data += stream.read(limit + 1 - _PIECE)
            except (InputError, OSError) as error:
                problems.report(name, None, "unreadable", str(error).removeprefix(f"{name}: "))
                continue
            if len(data) > limit:
                problems.report(
                    name,
                    None,
                    "too long",
                    f"the file has more than {limit:,} bytes",
                    "Raise --max-document-bytes",
                )
                continue
            yield at + 1, member, data

    def _batches(self, split: Split, problems: Problems) -> Iterator[list[tuple[int, str, bytes]]]:
        batch: list[tuple[int, str, bytes]] = []
        size = 0
        for number, member, data in self._members(split, problems):
            batch.append((number, member, data if self.html else without_mark(data)))
            size += len(data)
            if size >= BATCH_BYTES:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def read(self, split: Split, problems: Problems) -> Iterator[Documents]:
        """Whole files."""
        for batch in self._batches(split, problems):
            yield Documents(
                text=pa.array([data for _, _, data in batch], pa.large_binary()),
                positions=np.array([number for number, _, _ in batch], dtype=np.int64),
                id=pa.array([printable(member) for _, member, _ in batch], pa.string()),
                html=np.ones(len(batch), dtype=np.bool_) if self.html else None,
            )

    def table(self, split: Split, problems: Problems) -> Iterator[pa.RecordBatch]:
        """id and html as bytes, or id and text; there, bytes that are not UTF-8 are shown as U+FFFD."""
        for batch in self._batches(split, problems):
            ids = pa.array([printable(member) for _, member, _ in batch], pa.string())
            if self.html:
                content = pa.array([data for _, _, data in batch], pa.large_binary())
            else:
                content = pa.array([data.decode("utf-8", "replace") for _, _, data in batch], pa.large_string())
            yield pa.RecordBatch.from_arrays([ids, content], names=["id", "html" if self.html else "text"])

    def write(
        self, split: Split, keep: NDArray[np.bool_], target: Path, notes: pa.Table | None, problems: Problems
    ) -> None:
        """Copies of all files but the removed ones, with their times of change, under the same paths in `target`.

        What was too long or could not be unpacked is copied too; what cannot be opened cannot be.
        """
        assert notes is None
        target.mkdir(parents=True, exist_ok=True)
        documents = iter(keep)
        read = self._members(split, problems)
        found = next(read, None)
        for at in range(split.start, split.stop):
            member = split.file.members[at]
            place = location(split.file, member)
            if found is None or found[0] != at + 1:
                with suppress(InputError):  # it was reported
                    _copy(place, target / member, None)
                continue
            if next(documents):
                packed = compression_of(member)[0] is not None
                _copy(place, target / member, None if packed else found[2])
            found = next(read, None)


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:  # gone since it was found: reading it reports that
        return 0


def _copy(source: str, target: Path, content: bytes | None) -> None:
    """A copy of the file, read once more where its content, as it is stored, is not at hand."""
    try:
        with io.BytesIO(content) if content is not None else open_binary(source) as original:
            target.parent.mkdir(parents=True, exist_ok=True)
            with open(target, "wb") as copy:
                shutil.copyfileobj(original, copy, 1 << 20)
        if not is_remote(source):
            times = os.stat(source)
            os.utime(target, ns=(times.st_atime_ns, times.st_mtime_ns))
    except OSError as error:
        raise OutputError(f"{printable(str(target))}: cannot be written ({error.strerror or error}).") from error


class Text(Folder):
    """Text files, one document each."""

    name = "text"
    suffixes = (".txt", ".text", ".md", ".rst")
    html = False


class Html(Folder):
    """HTML pages, one document each."""

    name = "html"
    suffixes = (".html", ".htm", ".xhtml")
    html = True
