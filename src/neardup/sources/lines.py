"""A text file whose lines are the documents. Has no suffix of its own: it is chosen with --format lines.

Empty lines are documents too, empty ones, so that what is kept of a file has all of its lines but the
duplicates. Bytes are handed on as they are; the line end, \\n or \\r\\n, is not part of the text, and goes where its
line goes.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.sources.base import BATCH_BYTES, SPLIT_BYTES, Documents, Format, InputFile, Split
from neardup.sources.compression import create
from neardup.sources.linewise import Edit, blocks, byte_splits, copy_lines
from neardup.sources.problems import Problems


class Lines(Format):
    """One document a line."""

    name = "lines"
    suffixes = ()

    def columns(self, file: InputFile) -> dict[str, str]:
        """None: a line is a text and nothing else."""
        return {}

    def splits(self, file: InputFile, size: int = SPLIT_BYTES) -> list[Split]:
        """By bytes, where the file can be entered in the middle."""
        return byte_splits(file, size)

    def _lines(self, split: Split, problems: Problems) -> Iterator[tuple[list[bytes], NDArray[np.int64]]]:
        """Lines with their ends but the \\n, and their numbers; about BATCH_BYTES at a time."""
        limit = problems.max_document_bytes

        def too_long(position: int, length: int) -> None:
            detail = f"the line has {length:,} bytes, more than {limit:,}"
            problems.report(split.file.name, position, "too long", detail, "Raise --max-document-bytes")

        lines: list[bytes] = []
        numbers: list[NDArray[np.int64]] = []
        size = 0
        for first, found, bytes_ in blocks(split, limit=limit, too_long=too_long):
            positions = np.arange(first, first + len(found), dtype=np.int64)
            if bytes_ > limit:
                short = np.array([len(line) <= limit for line in found], dtype=np.bool_)
                for at in np.flatnonzero(~short):
                    too_long(int(positions[at]), len(found[at]))
                found, positions = [found[at] for at in np.flatnonzero(short)], positions[short]
            lines += found
            numbers.append(positions)
            size += bytes_
            if size >= BATCH_BYTES:
                yield lines, np.concatenate(numbers)
                lines, numbers, size = [], [], 0
        if lines:
            yield lines, np.concatenate(numbers)

    def read(self, split: Split, problems: Problems) -> Iterator[Documents]:
        """Bytes as they are."""
        for lines, positions in self._lines(split, problems):
            yield Documents(pa.array([line.removesuffix(b"\r") for line in lines], pa.large_binary()), positions)

    def table(self, split: Split, problems: Problems) -> Iterator[pa.RecordBatch]:
        """id and text; bytes that are not UTF-8 are shown as U+FFFD."""
        for lines, positions in self._lines(split, problems):
            texts = [line.removesuffix(b"\r").decode("utf-8", "replace") for line in lines]
            ids = [f"{split.file.name}:{position}" for position in positions]
            yield pa.RecordBatch.from_arrays(
                [pa.array(ids, pa.string()), pa.array(texts, pa.large_string())], names=["id", "text"]
            )

    def write(
        self, split: Split, keep: NDArray[np.bool_], target: Path, notes: pa.Table | None, problems: Problems
    ) -> None:
        """All bytes but the removed lines, each of which goes with its line end."""
        assert notes is None
        with create(target, split.file.compression) as out:
            copy_lines(split, self._removed(split, keep, problems), out)

    def _removed(self, split: Split, keep: NDArray[np.bool_], problems: Problems) -> Iterator[Edit]:
        """Yield the removed lines."""
        if keep.all():
            return
        at = 0
        for lines, positions in self._lines(split, problems):
            yield from ((number, None) for number in positions[~keep[at : at + len(lines)]].tolist())
            at += len(lines)
