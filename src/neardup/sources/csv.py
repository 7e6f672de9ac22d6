"""CSV and TSV with a header. Values are read as the bytes they are: no nulls, no types are guessed.

A quoted value may contain line ends, so that a file cannot be entered in the middle: it is one split. Columns
that the keep policy asks for come as strings, marked as untyped.

What is written are the bytes of the file without those of removed rows, each of which goes with its line end: quotes,
blank lines, a byte order mark and a missing last line end are as they were.

The header tells what separates values: a comma if it has one outside quotes, else a semicolon (Excel where
commas are decimal points), a tab or a pipe. Files named .tsv or .tab have tabs.

Where tabs separate values, quotation marks are text like any other, unless the header has some or `Fields.quoting` says
otherwise: most such files are written without quoting, and one that has it is not altered by this, for what is kept is
written as it was read. Else quoting is that of RFC 4180, and malformed marks are an error (`quotes`).

Positions are numbers of rows after the header, from 1; rows with too few or too many values are counted, and
reported.
"""

import csv
import io
import re
import shutil
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
from numpy.typing import NDArray

from neardup.errors import InputError, OutputError
from neardup.sources.base import BATCH_BYTES, SPLIT_BYTES, Documents, Format, InputFile, Split
from neardup.sources.compression import compression_of, create, open_plain
from neardup.sources.problems import Problems
from neardup.sources.quotes import StrictQuotes, raw_rows
from neardup.sources.tabular import place, refuse_clash

_ROWS_AT_ONCE = 65536
_LONGEST_HEADER = 1 << 20
_NO_ROW = 1 << 62
"""A number after those of all rows."""


_BOM = b"\xef\xbb\xbf"
_MARKS = re.compile(r'[",;\t|\r\n]')


@dataclass(frozen=True)
class _Head:
    """How a file begins, and what that tells of the rest of it."""

    names: list[str]
    """Of the columns; none if the file is empty."""
    followed: bool
    """Whether there is anything after the header."""
    delimiter: str = ","
    quoted: bool = True
    """Whether quotation marks are more than text."""
    marked: bool = False
    """Whether a value near the file's beginning begins with one."""


def _named_tabs(file: InputFile) -> bool:
    return compression_of(file.name)[1].lower().endswith((".tsv", ".tab"))


def _delimiter(text: str, *, quoting: bool) -> str:
    """Return what separates the values of a header, outside quotes."""
    counts: Counter[str] = Counter()
    begun, closed, quoted = 0, -1, False
    for found in _MARKS.finditer(text):
        mark = found[0]
        if mark == '"' and not quoting:
            continue
        if mark == '"' and quoted:
            quoted, closed = False, found.end()
        elif mark == '"':  # opens a value, or is the second of two that stand for one
            quoted = found.start() in (begun, closed)
        elif quoted:
            continue
        elif mark in "\r\n":
            break
        else:
            counts[mark] += 1
            begun = found.end()
    return "," if counts[","] else max(";\t|", key=lambda mark: counts[mark]) if counts.total() else ","


class _WrongRows:
    """Numbers of rows of the wrong width, ascending, and their widths: 12 bytes each, for a block of 8 MB can have four
    million of them."""

    def __init__(self) -> None:
        self.numbers = array("q")
        self._widths = array("i")

    def add(self, number: int, width: int) -> None:
        self.numbers.append(number)
        self._widths.append(width)

    def drop_before(self, number: int) -> None:
        """Forget the rows before a number."""
        past = bisect_left(self.numbers, number)
        del self.numbers[:past], self._widths[:past]

    def before(self, number: int) -> Iterator[tuple[int, int]]:
        """Yield the number and width of every row before a number."""
        count = bisect_left(self.numbers, number)
        return ((self.numbers[n], self._widths[n]) for n in range(count))


class _Rows:
    """The rows of a file from the start, in batches of about BATCH_BYTES, with those that have the wrong width."""

    def __init__(self, file: InputFile, head: _Head, block_bytes: int) -> None:
        self.wrong = _WrongRows()
        """As far as the parser, which runs ahead, has met them."""
        self._stream = open_plain(file.path, file.compression, file.name)
        line = _pass_blank_lines(self._stream)
        stream = StrictQuotes(self._stream, file.name, head.delimiter, line) if head.quoted else self._stream
        try:
            self._reader = self._open(stream, head, block_bytes)
        except BaseException:
            self._stream.close()
            raise

    def _open(self, stream: object, head: _Head, block_bytes: int) -> pacsv.CSVStreamingReader:
        return pacsv.open_csv(
            stream,
            read_options=pacsv.ReadOptions(
                use_threads=False, block_size=block_bytes, column_names=head.names, skip_rows_after_names=1
            ),
            parse_options=pacsv.ParseOptions(
                delimiter=head.delimiter,
                quote_char='"' if head.quoted else False,
                newlines_in_values=head.quoted,
                invalid_row_handler=self._wrong_width,
            ),
            convert_options=pacsv.ConvertOptions(
                column_types={name: pa.large_binary() for name in head.names},
                null_values=[],
                strings_can_be_null=False,
                quoted_strings_can_be_null=False,
                check_utf8=False,
            ),
        )

    def _wrong_width(self, row: pacsv.InvalidRow) -> str:
        self.wrong.add(row.number - 1, row.actual_columns)
        return "skip"

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        while True:
            try:
                yield self._reader.read_next_batch()
            except StopIteration:
                return

    def close(self) -> None:
        self._reader.close()
        self._stream.close()


class Csv(Format):
    """Values separated by commas, semicolons, tabs or pipes."""

    name = "csv"
    suffixes = (".csv", ".tsv", ".tab")
    tabular = True

    def columns(self, file: InputFile) -> dict[str, str]:
        """The header's names; all are text, whatever they look like."""
        return dict.fromkeys(_header(file).names, "text")

    def guessed(self, file: InputFile) -> list[str]:
        """What separates the values, where that is no comma and the file's name does not tell; that nothing is quoted,
        where it looks so."""
        head, said = _header(file), []
        if head.delimiter != "," and not _named_tabs(file):
            said.append(f"{file.name}: values are separated by {_shown(head.delimiter)}")
        if head.marked and not head.quoted and file.fields.quoting is None:
            said.append(f"{file.name}: quotation marks are text (guessed; choose with --quoting)")
        return said

    def splits(self, file: InputFile, size: int = SPLIT_BYTES) -> list[Split]:
        """One, whatever the size."""
        return [Split(file, 0, file.size, file.size)]

    def _batches(self, split: Split, problems: Problems) -> Iterator[tuple[pa.RecordBatch, NDArray[np.int64]]]:
        """Rows with their numbers.

        Where a row is longer than what is read at once, begins again and reads more.
        """
        file, limit = split.file, problems.max_document_bytes
        head = _header(file)
        if not head.followed:
            return
        block, done, row = 2 * BATCH_BYTES, 0, 1
        while True:
            rows = None
            try:
                rows = _Rows(file, head, block)
                seen = 0
                for batch in rows:
                    fresh = batch.slice(max(0, min(batch.num_rows, done - seen)))
                    seen += batch.num_rows
                    done = max(done, seen)
                    rows.wrong.drop_before(row)
                    positions, row = _numbers(row, fresh.num_rows, rows.wrong.numbers)
                    _report_wrong(file, head, problems, rows.wrong.before(row))
                    yield from _in_size(fresh, positions)
                rows.wrong.drop_before(row)
                _report_wrong(file, head, problems, rows.wrong.before(_NO_ROW))
                return
            except pa.ArrowInvalid as error:
                if "straddling" not in str(error):
                    raise InputError(f"{file.name}: not CSV after row {row - 1} ({error}).") from error
                if block > limit:
                    open_mark = "Is a quotation mark left open there? Or raise" if head.quoted else "Raise"
                    raise InputError(
                        f"{file.name}: a row after row {row - 1} is longer than {limit:,} bytes. "
                        f"{open_mark} --max-document-bytes."
                    ) from error
                block *= 4
            finally:
                if rows is not None:
                    rows.close()

    def read(self, split: Split, problems: Problems) -> Iterator[Documents]:
        """Text as bytes."""
        fields = split.file.fields
        extra = dict.fromkeys(c for c in (*fields.columns, fields.url) if c is not None)
        for batch, positions in self._batches(split, problems):
            yield Documents(
                text=batch.column(fields.text),
                decoded=True,
                positions=positions,
                id=_strings(batch.column(fields.id)) if fields.id is not None else None,
                columns={name: _strings(batch.column(name)) for name in extra},
                untyped=True,
            )

    def table(self, split: Split, problems: Problems) -> Iterator[pa.RecordBatch]:
        """All columns, as strings; bytes that are not UTF-8 are shown as U+FFFD."""
        for batch, _ in self._batches(split, problems):
            yield pa.RecordBatch.from_arrays([_strings(c) for c in batch.columns], names=batch.schema.names)

    def write(
        self, split: Split, keep: NDArray[np.bool_], target: Path, notes: pa.Table | None, problems: Problems
    ) -> None:
        """All bytes but the removed rows, each of which goes with its line end; notes are put behind the last value."""
        file = split.file
        head = _header(file)
        added = notes.column_names if notes is not None else []
        refuse_clash(file, head.names, added)
        with (
            open_plain(file.path, file.compression, file.name) as stream,
            create(target, file.compression) as out,
        ):
            if (notes is None and keep.all()) or not head.names:
                shutil.copyfileobj(stream, out, 1 << 20)
                return
            edits = self._edits(split, keep, notes, problems)
            edit = next(edits, None)
            row = -1
            for content, end in raw_rows(stream, head.delimiter, quoted=head.quoted, out=out):
                row += bool(content)
                if content and edit is not None and edit[0] == row:
                    if edit[1] is not None:
                        out.write(content + edit[1] + end)
                    edit = next(edits, None)
                else:
                    out.write(content + end)
            if edit is not None:
                raise InputError(f"{file.name}: row {edit[0]} was read and is not there. Has the file changed?")

    def _edits(
        self, split: Split, keep: NDArray[np.bool_], notes: pa.Table | None, problems: Problems
    ) -> Iterator[tuple[int, bytes | None]]:
        """Yield the number of every row that is changed, and what follows its values; None: the row goes.

        The header is row 0. Rows of the wrong width have no notes: they are no documents.
        """
        head = _header(split.file)
        names = notes.column_names if notes is not None else []
        if notes is not None:
            [header] = _behind([pa.array([name.encode()], pa.large_binary()) for name in names], head)
            yield 0, header
        at = 0
        for batch, positions in self._batches(split, problems):
            kept = keep[at : at + batch.num_rows]
            if notes is None:
                yield from ((row, None) for row in positions[~kept].tolist())
            else:
                part = notes.slice(at, batch.num_rows)
                values = _behind([_as_values(part.column(name)) for name in names], head)
                yield from (
                    (row, value if here else None)
                    for row, value, here in zip(positions.tolist(), values, kept, strict=True)
                )
            at += batch.num_rows


def _pass_blank_lines(stream: BinaryIO) -> int:
    """Read to the header, and return its line: pyarrow would take a blank line in its place."""
    buffered, line = cast(io.BufferedReader, stream), 1
    if buffered.peek(len(_BOM)).startswith(_BOM):
        buffered.read(len(_BOM))
    while buffered.peek(1)[:1] in (b"\n", b"\r"):
        line += buffered.read(1) == b"\n"
    return line


def _shown(delimiter: str) -> str:
    return "tabs" if delimiter == "\t" else repr(delimiter)


def _header(file: InputFile) -> _Head:
    with open_plain(file.path, file.compression, file.name) as stream:
        head = stream.read(_LONGEST_HEADER)
        more = bool(stream.read(1))
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{file.name}: this is UTF-16, not UTF-8. Convert it first: iconv -f UTF-16 -t UTF-8")
    text = head.removeprefix(_BOM).decode("utf-8", "replace").lstrip("\r\n")
    if not text:
        return _Head([], followed=False)
    quoting = file.fields.quoting
    delimiter = _delimiter(text, quoting=quoting != "none")
    if _named_tabs(file):
        delimiter = "\t"
    header = re.split("[\r\n]", text, maxsplit=1)[0]
    quoted = delimiter != "\t" or '"' in header if quoting is None else quoting == "standard"
    try:
        rows = csv.reader(
            io.StringIO(text, newline=""),
            delimiter=delimiter,
            quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
            strict=quoted,
        )
        names = next(rows)
    except csv.Error as error:
        hint = " Mend it; or, where quotation marks are text, say so with --quoting none." if quoted else ""
        raise InputError(f"{place(file)}:1: its header cannot be read ({error}).{hint}") from error
    try:
        followed = more or any(rows)
    except csv.Error:  # a long text
        followed = True
    doubled = [name for name, count in Counter(names).items() if count > 1]
    if doubled:
        raise InputError(f"{place(file)}: the header names the column {doubled[0]!r} twice. Rename one of them.")
    marked = re.search(f'[{delimiter}\r\n]"', text) is not None
    return _Head(names, followed, delimiter, quoted, marked)


def _report_wrong(file: InputFile, head: _Head, problems: Problems, wrong: Iterable[tuple[int, int]]) -> None:
    advice = "" if head.quoted or not head.marked else "Mend it, say that values are quoted with --quoting standard"
    for number, width in wrong:
        what = f"it has {width} values, the header {len(head.names)}"
        problems.report(file.name, number, "wrong number of values", what, advice)


def _numbers(first: int, count: int, wrong: Sequence[int]) -> tuple[NDArray[np.int64], int]:
    """Return the numbers of `count` rows from `first` on if those in `wrong` are not among them, and the next number.

    `wrong` ascends. Wrong rows that follow the last one directly are passed too.
    """
    # How many right rows stand before a wrong one never falls.
    inside = bisect_right(range(len(wrong)), count, key=lambda n: wrong[n] - first - n)
    right = np.ones(count + inside, dtype=np.bool_)
    right[np.asarray(wrong[:inside], np.int64) - first] = False
    return first + np.flatnonzero(right), first + count + inside


def _in_size(batch: pa.RecordBatch, positions: NDArray[np.int64]) -> Iterator[tuple[pa.RecordBatch, NDArray[np.int64]]]:
    """Yield the rows in parts of about BATCH_BYTES."""
    rows = max(1, min(_ROWS_AT_ONCE, batch.num_rows * BATCH_BYTES // max(1, batch.nbytes)))
    for start in range(0, batch.num_rows, rows):
        yield batch.slice(start, rows), positions[start : start + rows]


def _strings(column: pa.Array) -> pa.Array:
    try:
        return column.cast(pa.large_string()).cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([value.decode("utf-8", "replace") for value in column.to_pylist()], pa.string())


def _as_values(column: pa.ChunkedArray) -> pa.Array:
    """A column of notes as it is written: empty where null."""
    array = column.cast(pa.string()).combine_chunks()
    array = array.chunk(0) if isinstance(array, pa.ChunkedArray) else array
    return array.fill_null("").cast(pa.large_binary())


def _behind(columns: list[pa.Array], head: _Head) -> list[bytes]:
    """Return for every row what is written behind its last value: further values, in quotes where they must be."""
    values = [_quoted(column, head) for column in columns]
    separator, nothing = pa.scalar(head.delimiter.encode(), pa.large_binary()), pa.scalar(b"", pa.large_binary())
    first = pc.binary_join_element_wise(nothing, values[0], separator)
    behind = pc.binary_join_element_wise(first, *values[1:], separator) if len(values) > 1 else first
    found: list[bytes] = behind.to_pylist()
    return found


def _quoted(column: pa.Array, head: _Head) -> pa.Array:
    if not head.quoted:
        unfit = pc.filter(column, pc.match_substring_regex(column, f"[{head.delimiter}\r\n]"))
        if len(unfit):
            raise OutputError(
                f"{unfit[0].as_py()[:60]!r}: cannot be written where values are not quoted, for it has a line end or "
                f"{_shown(head.delimiter)} in it. Give --quoting standard, or write without --annotate."
            )
        return column
    special = "[" + head.delimiter + '"\r\n]'
    needs = pc.match_substring_regex(column, special)
    if not pc.any(needs).as_py():
        return column
    mark, nothing = pa.scalar(b'"', pa.large_binary()), pa.scalar(b"", pa.large_binary())
    doubled = pc.replace_substring(column, b'"', b'""')
    return pc.if_else(needs, pc.binary_join_element_wise(mark, doubled, mark, nothing), column)
