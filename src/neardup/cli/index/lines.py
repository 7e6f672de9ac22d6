"""Lines as they arrive, untouched, each with the document that it holds.

Standard input is not waited for: what is there is a batch, after a twentieth of a second at the latest. So a document
is answered while the next one is still being fetched.

The first line that is an object tells which fields are the text, the id and the address, whatever comes after it:
then the answer does not depend on how the lines were cut into batches.
"""

import hashlib
import json
import os
import select
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from neardup.errors import InputError
from neardup.index import Document
from neardup.sources import Fields, InputFile, Problems, Split, choose, from_object
from neardup.sources.base import BATCH_BYTES
from neardup.sources.jsonl_problems import Lookout
from neardup.sources.linewise import WholeLines, blocks

AT_ONCE = 1000
"""Documents of a batch, at the most."""

_LINGER = 0.05
"""Seconds for which more lines are waited for when some are there."""

_BOM = b"\xef\xbb\xbf"

_PACKED = {
    b"\x1f\x8b": ("gzip", "zcat"),
    b"\x28\xb5\x2f\xfd": ("zstd", "zstdcat"),
    b"BZh": ("bzip2", "bzcat"),
    b"\xfd7zXZ\0": ("xz", "xzcat"),
}
"""How compressed data begins."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line without its end, and where it is from."""

    source: str
    number: int
    raw: bytes
    document: Document | None
    """None where it cannot be read, which was reported."""


@dataclass(frozen=True)
class LineReading:
    """How lines are read."""

    format: str = "jsonl"
    text_field: str | None = None
    id_field: str | None = None
    url_field: str | None = None
    html: bool | None = None
    limit: int = 64 << 20
    """Bytes of a line, at the most; longer ones are never held."""


Say = Callable[[str], None]
_Block = tuple[int, list[bytes], bool]
"""Number of the first line, lines, and whether no more of them are at hand."""


def live_lines(
    how: LineReading, problems: Problems, say: Say, waiting: Callable[[], AbstractContextManager[None]]
) -> Iterator[list[Line]]:
    """Batches of lines on standard input. `waiting` surrounds the times at which nothing is there."""
    read = _reader(InputFile("-", "stdin", how.format), how, problems, say)
    pieces = _pieces(sys.stdin.fileno(), waiting)
    whole = WholeLines(pieces, at=0, line=1, limit=how.limit, too_long=read.too_long)
    return _batches(((number, lines, True) for number, lines, _ in whole), read)


def file_lines(file: InputFile, how: LineReading, problems: Problems, say: Say) -> Iterator[list[Line]]:
    """Batches of lines of a file."""
    read = _reader(file, how, problems, say)
    found = blocks(Split(file, 0, file.size, file.size), limit=how.limit, too_long=read.too_long)
    return _batches(((number, lines, False) for number, lines, _ in found), read)


def _pieces(descriptor: int, waiting: Callable[[], AbstractContextManager[None]]) -> Iterator[bytes]:
    """What has arrived: at least something, at most a batch."""
    ended, first = False, True
    while not ended:
        with waiting():
            data = os.read(descriptor, BATCH_BYTES)
        if not data:
            return
        if first:
            _refuse_packed(data)
            first = False
        parts, size, until = [data], len(data), time.monotonic() + _LINGER
        while not ended and size < BATCH_BYTES and (left := until - time.monotonic()) > 0:
            if not select.select([descriptor], [], [], left)[0]:
                break
            data = os.read(descriptor, BATCH_BYTES)
            ended = not data
            parts.append(data)
            size += len(data)
        yield b"".join(parts)


def _refuse_packed(data: bytes) -> None:
    for begin, (kind, program) in _PACKED.items():
        if data.startswith(begin):
            raise InputError(
                f"stdin: is {kind}, and lines are read from it. Unpack it first: {program} FILE | neardup …"
            )


def _batches(found: Iterable[_Block], read: "_Reader") -> Iterator[list[Line]]:
    """About AT_ONCE lines or BATCH_BYTES; fewer where no more are at hand."""
    batch: list[Line] = []
    size = 0
    try:
        for first, lines, last in found:
            for number, raw in enumerate(lines, first):
                line = read(raw, number)
                if line is None:
                    continue
                batch.append(line)
                size += len(raw)
                if len(batch) >= AT_ONCE or size >= BATCH_BYTES:
                    yield batch
                    batch, size = [], 0
            if last and batch:
                yield batch
                batch, size = [], 0
    except InputError:  # what came before it counts
        if batch:
            yield batch
        raise
    if batch:
        yield batch


class _Reader:
    """Lines of text: each is a document, and has no other name than its content."""

    def __init__(self, file: InputFile, how: LineReading, problems: Problems, say: Say) -> None:
        self.file, self.how, self.problems, self.say = file, how, problems, say

    def too_long(self, number: int, length: int) -> None:
        """Report a line that was not held."""
        detail = f"the line has {length:,} bytes, more than {self.problems.max_document_bytes:,}"
        self.problems.report(self.file.name, number, "too long", detail, "Raise --max-document-bytes")

    def __call__(self, raw: bytes, number: int) -> Line | None:
        """None for lines that are nothing."""
        if len(raw) > self.problems.max_document_bytes:
            self.too_long(number, len(raw))
            return Line(self.file.name, number, raw, None)
        return self.read(raw, number)

    def read(self, raw: bytes, number: int) -> Line | None:
        """A line of bearable length."""
        text = raw.removesuffix(b"\r")
        try:
            text.decode()
        except UnicodeDecodeError as error:
            detail = f"byte {text[error.start]:#04x} at column {error.start + 1}"
            self.problems.report(self.file.name, number, "not UTF-8", detail, "Convert it to UTF-8")
            return Line(self.file.name, number, raw, None)
        return Line(self.file.name, number, raw, Document(named_by(text), text))


class _JsonReader(_Reader):
    """JSON Lines. Blank lines are nothing."""

    def __init__(self, file: InputFile, how: LineReading, problems: Problems, say: Say) -> None:
        super().__init__(file, how, problems, say)
        self._begin(Fields(how.text_field or "text"))
        self._chosen = False

    def _begin(self, fields: Fields) -> None:
        self.fields = fields
        shape: list[Any] = [("text", str | None)]
        names = {"text": fields.text or "text"}
        if fields.id is not None and fields.id != fields.text:
            shape.append(("id", str | int | float) if self.how.id_field else ("id", str | int | float | None, None))
            names["id"] = fields.id
        if fields.url is not None and fields.url not in names.values():
            shape.append(("url", Any, None))
            names["url"] = fields.url
        row = msgspec.defstruct("Row", shape, rename=names, gc=False)
        self._decode = msgspec.json.Decoder(row).decode
        self._lookout = Lookout(self.file.with_fields(fields), row, self.problems)

    def read(self, raw: bytes, number: int) -> Line | None:
        """The wanted fields of an object."""
        plain = raw.removeprefix(_BOM) if number == 1 else raw
        if not plain.strip():
            return None
        if not self._chosen:
            try:
                fields = _fields(self.file, _object(plain), self.how, self.say)
            except InputError as error:
                self.problems.report(self.file.name, number, "no text field", str(error))
                return Line(self.file.name, number, raw, None)
            if fields is not None:
                self._begin(fields)
                self._chosen = True
        row: Any
        try:
            row = self._decode(plain)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            row = self._lookout.row(plain, number)
        return Line(self.file.name, number, raw, None if row is None else self._document(row))

    def _document(self, row: Any) -> Document:
        text: str | None = row.text
        given = text if self.fields.id and self.fields.id == self.fields.text else getattr(row, "id", None)
        id = named_by((text or "").encode("utf-8", "surrogatepass")) if given is None else str(given)
        url = getattr(row, "url", None)
        if self.fields.url is not None and self.fields.url == self.fields.id:
            url = row.id
        url = url if isinstance(url, str) else None
        return Document(id, None, text, url) if self.fields.html else Document(id, text, None, url)


def _reader(file: InputFile, how: LineReading, problems: Problems, say: Say) -> _Reader:
    kind = _JsonReader if file.format == "jsonl" else _Reader
    return kind(file, how, problems, say)


def _object(raw: bytes) -> dict[str, Any]:
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _fields(file: InputFile, first: dict[str, Any], how: LineReading, say: Say) -> Fields | None:
    """Guessed from one object, if there is something in it; fields that were named need not be."""
    if not first:
        return None
    named = [n for n in (how.text_field, how.id_field, how.url_field) if n is not None and n != "none"]
    kinds: dict[str, Any] = dict.fromkeys(named, "")
    for name, value in first.items():
        if isinstance(value, str):
            kinds[name] = ""
        elif isinstance(value, int | float) and not isinstance(value, bool):
            kinds[name] = 0
    if not kinds:
        return None
    sample = replace(from_object([kinds]), name=file.name)
    fields, sentences = choose(sample, text=how.text_field, id=how.id_field, url=how.url_field)
    for sentence in sentences:
        say(by_content(sentence))
    if how.html is None and not fields.html and looks_like_html(first.get(fields.text or "text")):
        say(LOOKS_LIKE_HTML.format(file.name))
    return fields if how.html is None else replace(fields, html=how.html)


def by_content(sentence: str) -> str:
    """What is said of documents without an id: here a number would be another document's in the next run."""
    return sentence.replace("ids by row, as there is no id column", "no ids, so a text's SHA-256 is its id")


LOOKS_LIKE_HTML = (
    "{}: the first text looks like a page, and its tags are taken for words. If they are pages, give --html."
)


def looks_like_html(text: object) -> bool:
    """Whether it begins as a page does."""
    if isinstance(text, bytes):
        text = text[:200].decode("utf-8", "replace")
    return isinstance(text, str) and text[:200].lstrip("\ufeff \t\r\n").lower().startswith(("<!doctype html", "<html"))


def named_by(text: bytes) -> str:
    """The id of a document that has none: that of its content."""
    return hashlib.sha256(text).hexdigest()
