"""The quotation marks of CSV, held to RFC 4180 while a file is read.

A value that begins with a quotation mark ends with one; in between a mark is written twice. Parsers take everything
else for text in some way of their own, and a mark that was meant as text joins rows until the next one: so such a file
is refused, with the line. What is well-formed can be cut into its rows, byte for byte (`raw_rows`).
"""

import io
import re
from collections.abc import Iterator
from functools import cache
from typing import BinaryIO, cast

from neardup.errors import InputError

_BOM = b"\xef\xbb\xbf"
_QUOTED = re.compile(rb'(?:[^"]++|"")*+')


@cache
def _whole_values(delimiter: bytes) -> re.Pattern[bytes]:
    """As many whole values as there are, each with what ends it."""
    ends = rb"[%s\r\n]" % re.escape(delimiter)
    quoted = rb'"(?:[^"]++|"")*+"(?=%s)' % ends
    plain = rb'[^"%s\r\n][^%s\r\n]*+' % (re.escape(delimiter), re.escape(delimiter))
    return re.compile(rb"(?:(?:%s|%s)?+%s)*+" % (quoted, plain, ends))


class StrictQuotes(io.RawIOBase):
    """Passes on the bytes of a CSV file, and raises an error where its quotation marks are malformed."""

    def __init__(self, stream: BinaryIO, name: str, delimiter: str, line: int) -> None:
        """line: the number of the line that the stream is at."""
        self._stream, self._name, self._line = stream, name, line
        self._values = _whole_values(delimiter.encode())
        self._end = re.compile(rb"[%s\r\n]" % re.escape(delimiter.encode()))
        self._state = "between"  # of two values; or in a "plain" or a "quoted" one
        self._opened = 0
        self._held = b""  # a mark whose meaning the next byte tells
        self._begun = False

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: object) -> int:
        """Read the next bytes, and check them."""
        view = memoryview(cast(bytearray, buffer)).cast("B")
        data = self._stream.read(len(view))
        view[: len(data)] = data
        if data:
            self._check(data if self._begun else data.removeprefix(_BOM))
        elif self._state == "quoted" and not self._held:
            raise self._malformed("a value that begins with a quotation mark does not end with one")
        self._begun = True
        return len(data)

    def _check(self, data: bytes) -> None:
        data = self._held + data
        self._held, at = b"", 0
        if self._state != "quoted" and b'"' not in data:
            self._state = "between" if self._end.match(data, len(data) - 1) else "plain"
            at = len(data)
        while at < len(data):
            if self._state == "plain":
                end = self._end.search(data, at)
                if end is None:
                    break
                at, self._state = end.end(), "between"
            elif self._state == "between":
                whole = self._values.match(data, at)
                at = whole.end() if whole else at
                if at < len(data) and data[at : at + 1] == b'"':
                    self._opened = self._line + data.count(b"\n", 0, at)
                    at, self._state = at + 1, "quoted"
                elif at < len(data):
                    at, self._state = len(data), "plain"
            else:
                inside = _QUOTED.match(data, at)
                at = inside.end() if inside else at
                if at == len(data) - 1:
                    self._held = data[at:]
                    break
                if at < len(data):
                    if not self._end.match(data, at + 1):
                        raise self._malformed("text follows the quotation mark that ends a value")
                    at, self._state = at + 2, "between"
        self._line += data.count(b"\n")

    def _malformed(self, what: str) -> InputError:
        return InputError(
            f"{self._name}:{self._opened}: malformed quotation marks: {what}.\nMend the line; or, where quotation "
            'marks are text like any other, say so with --quoting none (quoting="none").'
        )


_BLOCK = 1 << 20


def raw_rows(stream: BinaryIO, delimiter: str, *, quoted: bool, out: BinaryIO) -> Iterator[tuple[bytes, bytes]]:
    """Yield the rows of a CSV file as they are stored: the values, and the line end.

    A blank line has no values, and the last row may have no line end. The byte order mark that a file begins with is no
    part of the first row: it is written to `out`. The marks must be well-formed, which `StrictQuotes` sees to.
    """
    row = _whole_row(delimiter.encode() if quoted else b"")
    data = stream.read(_BLOCK)
    if data.startswith(_BOM):
        out.write(_BOM)
        data = data[len(_BOM) :]
    more = True
    while data:
        at = 0
        while (found := row.match(data, at)) and (found.end() < len(data) or not more):
            yield found[1], found[2]
            at = found.end()
        data = data[at:]
        if not more:
            break
        fresh = stream.read(max(_BLOCK, len(data)))
        more = bool(fresh)
        data += fresh
    if data:
        yield data, b""


@cache
def _whole_row(delimiter: bytes) -> re.Pattern[bytes]:
    """A row and its line end; without a delimiter, a line."""
    if not delimiter:
        return re.compile(rb"([^\r\n]*+)(\r\n|\n|\r)")
    sign = re.escape(delimiter)
    value = rb'(?:"(?:[^"]++|"")*+"|[^"%s\r\n][^%s\r\n]*+)?+' % (sign, sign)
    return re.compile(rb"(%s(?:%s%s)*+)(\r\n|\n|\r)" % (value, sign, value))
