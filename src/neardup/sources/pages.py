"""The pages of a Parquet file: how much memory its rows take, told by the pages themselves before any is unpacked.

Arrow unpacks a page as a whole, and makes dense values of a dictionary: a page of 300 MB of one letter is stored in
10 kB, and so are a million rows with the same value of a megabyte. The footer tells neither, and may say anything; what
Arrow goes by are the headers of pages, so these are looked at here. It costs a small read per page.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from neardup.errors import InputError
from neardup.sources.thrift import Struct, decode_prefix

# Fields of PageHeader and of the three headers within it, in parquet.thrift
_UNPACKED, _PACKED, _DATA, _DICTIONARY, _DATA_V2 = 2, 3, 5, 7, 8
_VALUES = 1
_CODECS = {"SNAPPY": "snappy", "GZIP": "gzip", "BROTLI": "brotli", "ZSTD": "zstd", "LZ4_RAW": "lz4_raw"}
_HEADS = (1 << 13, 1 << 20)
"""Bytes in which a header is looked for: it has the least and the largest value of its page."""

LARGER_LIMIT = "Raise --max-document-bytes to a quarter of that, or write the file with smaller pages."


@dataclass(frozen=True)
class Page:
    """A page as its header tells it."""

    values: int
    size: int
    """Bytes, unpacked."""
    dictionary: bool
    start: int
    """Where its content begins in the file."""
    stored: int
    """Bytes that it has there."""


def pages_of(file: BinaryIO, chunk: pq.ColumnChunkMetaData) -> Iterator[Page]:
    """Read the headers of a column chunk's pages. What is no header raises ValueError."""
    if not chunk.num_values:  # then offsets may be zero
        return
    at: int = chunk.data_page_offset
    if chunk.has_dictionary_page and chunk.dictionary_page_offset:
        at = min(at, chunk.dictionary_page_offset)
    end: int = at + chunk.total_compressed_size
    while at < end:
        header, size = _header(file, at)
        unpacked, packed = (_number(header, field) for field in (_UNPACKED, _PACKED))
        told: Struct = next((header[field][1] for field in (_DATA, _DATA_V2, _DICTIONARY) if field in header), {})
        yield Page(_number(told, _VALUES) if told else 0, unpacked, _DICTIONARY in header, at + size, packed)
        at += size + packed


def _number(header: Struct, field: int) -> int:
    found = header[field][1] if field in header else -1
    if not isinstance(found, int) or found < 0:
        raise ValueError("a page without a size")
    return found


def _header(file: BinaryIO, at: int) -> tuple[Struct, int]:
    for size in _HEADS:
        file.seek(at)
        data = file.read(size)
        try:
            return decode_prefix(data)
        except ValueError:
            if len(data) < size or size == _HEADS[-1]:
                raise
    raise AssertionError("the last one returns or raises")


def _longest_value(file: BinaryIO, page: Page, compression: str) -> int:
    """Return the length of a dictionary's longest value; that of all of them where its compression is not known."""
    file.seek(page.start)
    data = file.read(page.stored)
    try:
        if compression != "UNCOMPRESSED":
            data = pa.decompress(data, page.size, codec=_CODECS[compression], asbytes=True)
    except (KeyError, OSError, pa.ArrowException):
        return page.size
    longest = at = 0
    for _ in range(page.values):
        size = int.from_bytes(data[at : at + 4], "little")
        longest = max(longest, size)
        at += 4 + size
        if at >= len(data) - longest:  # no longer one fits in what is left
            break
    return longest


def rows_of_groups(
    rows: int,
    most: int,
    file: BinaryIO,
    name: str,
    metadata: pq.FileMetaData,
    groups: range,
    columns: list[str] | None,
    advice: str = LARGER_LIMIT,
) -> int:
    """Return how many of `rows` may be read at once, so that no column of a row group takes more than `most` bytes.

    Args:
        rows: How many are wanted.
        most: Bytes.
        file: What the pages are in, on this machine or another.
        name: What messages call it.
        metadata: Its footer.
        groups: Row groups, by number.
        columns: Names of the columns that are read; None: all.
        advice: What the message on a page that is too long says to do.

    Raises:
        InputError: A page alone has more than `most` bytes, or no page is where one should be.
    """
    names = [metadata.schema.column(c).path.partition(".")[0] for c in range(metadata.num_columns)]
    wanted = [c for c, column in enumerate(names) if columns is None or column in columns]
    try:
        for group in groups:
            rows = rows_within(rows, most, file, name, metadata.row_group(group), wanted, advice)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{name}: damaged in row groups {groups.start} to {groups.stop - 1} (no page is where one should be: "
            f"{error})."
        ) from error
    return rows


def rows_within(
    rows: int,
    most: int,
    file: BinaryIO,
    name: str,
    group: pq.RowGroupMetaData,
    columns: list[int],
    advice: str = LARGER_LIMIT,
) -> int:
    """Return how many of `rows` may be read at once, so that no column of a row group takes more than `most` bytes.

    It is at least one. Every row may have the longest value of a dictionary.

    Raises:
        InputError: A page alone has more than `most` bytes.
    """
    for number in columns:
        chunk = group.column(number)
        for page in pages_of(file, chunk):
            if page.size > most:
                raise InputError(
                    f"{name}: a page of the column {chunk.path_in_schema!r} has {page.size:,} bytes, more than "
                    f"{most:,}, and is unpacked as a whole. {advice}"
                )
            longest = page.size if page.dictionary else -(-page.size // max(1, page.values))
            if page.dictionary and chunk.physical_type == "BYTE_ARRAY" and rows * longest > most:
                longest = _longest_value(file, page, chunk.compression)
            rows = min(rows, most // max(1, longest))
    return max(1, rows)
