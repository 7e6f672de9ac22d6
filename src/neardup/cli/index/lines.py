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
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from neardup.cli.index.pipe import reading_input
from neardup.errors import InputError
from neardup.index import Document
from neardup.sources import Fields, InputFile, Problems, choose, from_object
from neardup.sources.base import BATCH_BYTES
from neardup.sources.compression import open_plain
from neardup.sources.jsonl_problems import Lookout
from neardup.sources.linewise import BLOCK_BYTES, WholeLines

AT_ONCE = 1000
"""Documents of a batch, at the most."""

_PASSED_ON, _PASSED_ON_ANYWAY = 16, 1 << 20
_LINGER = 0.05
"""Seconds for which more lines are waited for when some are there."""

BOM = b"\xef\xbb\xbf"
"""What may stand before the first line."""

_UTF16 = (b"\xff\xfe", b"\xfe\xff")

_PACKED = {
    b"\x1f\x8b": ("gzip", "zcat"),
    b"\x28\xb5\x2f\xfd": ("zstd", "zstdcat"),
    b"BZh": ("bzip2", "bzcat"),
    b"\xfd7zXZ\0": ("xz", "xzcat"),
}
"""How compressed data begins."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line as it came, and where it is from."""

    source: str
    number: int
    raw: bytes
    """Without its end."""
    document: Document | None
    """None where there is nothing in it, or where it cannot be read, which was reported."""
    end: bytes = b"\n"
    """Nothing, where the input ends without one."""


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
    passing: bool = False
    """Lines that cannot be read are passed on, so one that is not held ends the reading."""

    @classmethod
    def held(cls, max_document_bytes: int, on_error: str) -> dict[str, Any]:
        """Return how long lines may be: as documents; passed on untouched sixteen times that, or a megabyte."""
        if on_error != "pass":
            return {"limit": max_document_bytes, "passing": False}
        return {"limit": max(_PASSED_ON * max_document_bytes, _PASSED_ON_ANYWAY), "passing": True}


Say = Callable[[str], None]


def live_lines(
    how: LineReading, problems: Problems, say: Say, waiting: Callable[[], AbstractContextManager[None]]
) -> Iterator[list[Line]]:
    """Batches of lines on standard input. `waiting` surrounds the times at which nothing is there."""
    read = _reader(InputFile("-", "stdin", how.format), how, problems, say)
    return _batches(_arriving(sys.stdin.fileno(), waiting), read, live=True)


def file_lines(file: InputFile, how: LineReading, problems: Problems, say: Say) -> Iterator[list[Line]]:
    """Batches of lines of a file."""
    return _batches(_stored(file), _reader(file, how, problems, say), live=False)


def _stored(file: InputFile) -> Iterator[bytes]:
    """What is in a file, in pieces."""
    with open_plain(file.path, file.compression, file.name) as stream:
        while data := stream.read(BLOCK_BYTES):
            yield data


def _arriving(descriptor: int, waiting: Callable[[], AbstractContextManager[None]]) -> Iterator[bytes]:
    """What has arrived: at least something, at most a batch."""
    ended, first = False, True
    while not ended:
        with waiting(), reading_input():
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
            with reading_input():
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


class _ToTheEnd:
    """Pieces, and whether there are no more of them."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self.through = pieces, False

    def __iter__(self) -> Iterator[bytes]:
        yield from self._pieces
        self.through = True


def _batches(pieces: Iterator[bytes], read: "_Reader", *, live: bool) -> Iterator[list[Line]]:
    """About AT_ONCE lines or BATCH_BYTES; fewer where they are live, and no more are at hand."""
    batch: list[Line] = []
    size = 0
    given = _ToTheEnd(pieces)
    try:
        for first, lines, _ in WholeLines(iter(given), at=0, line=1, limit=read.how.limit, too_long=read.too_long):
            end = b"" if given.through else b"\n"  # what is left when there is no more had none
            for number, raw in enumerate(lines, first):
                batch.append(Line(read.file.name, number, raw, read(raw, number), end))
                size += len(raw)
                if len(batch) >= AT_ONCE or size >= BATCH_BYTES:
                    yield batch
                    batch, size = [], 0
            if live and batch:
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
        """Report a line that was not held, or that is longer than a document may be."""
        if length > self.how.limit and self.how.passing:
            raise InputError(
                f"{self.file.name}:{number}: the line has {length:,} bytes, and no more than {self.how.limit:,} are "
                "held to be passed on. Raise --max-document-bytes, or leave such lines out with --on-error skip."
            )
        detail = f"the line has {length:,} bytes, more than {self.problems.max_document_bytes:,}"
        self.problems.report(self.file.name, number, "too long", detail, "Raise --max-document-bytes")

    def __call__(self, raw: bytes, number: int) -> Document | None:
        """What a line holds; None where that is nothing, or was reported."""
        if len(raw) > self.problems.max_document_bytes:
            self.too_long(number, len(raw))
            return None
        if number == 1:
            if raw.startswith(_UTF16):
                advice = "Convert it first: iconv -f UTF-16 -t UTF-8"
                self.problems.report(self.file.name, number, "not UTF-8", "it begins as UTF-16 does", advice)
                return None
            raw = raw.removeprefix(BOM)
        return self.read(raw, number)

    def read(self, raw: bytes, number: int) -> Document | None:
        """Of a line of bearable length."""
        text = raw.removesuffix(b"\r")
        try:
            text.decode()
        except UnicodeDecodeError as error:
            detail = f"byte {text[error.start]:#04x} at column {error.start + 1}"
            self.problems.report(self.file.name, number, "not UTF-8", detail, "Convert it to UTF-8")
            return None
        return Document(named_by(text), None, text) if self.how.html else Document(named_by(text), text)


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

    def read(self, raw: bytes, number: int) -> Document | None:
        """The wanted fields of an object."""
        if not raw.strip():
            return None
        if not self._chosen:
            try:
                fields = _fields(self.file, _object(raw), self.how, self.say)
            except InputError as error:
                self.problems.report(self.file.name, number, "no text field", str(error))
                return None
            if fields is not None:
                self._begin(fields)
                self._chosen = True
        row: Any
        try:
            row = self._decode(raw)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            row = self._lookout.row(raw, number)
        return None if row is None else self._document(row)

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
    if file.format == "jsonl":
        return _JsonReader(file, how, problems, say)
    choose(file, text=how.text_field, id=how.id_field, url=how.url_field)  # refuses columns, which lines do not have
    return _Reader(file, how, problems, say)


def _object(raw: bytes) -> dict[str, Any]:
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _fields(file: InputFile, first: dict[str, Any], how: LineReading, say: Say) -> Fields | None:
    """Guessed from one object, if there is something in it. A text or an id that was named and is not there is missed
    where the line is read; a line may do without a URL, so one that was named and is not there is refused here."""
    if not first:
        return None
    named = [n for n in (how.text_field, how.id_field) if n is not None and n != "none"]
    if how.url_field in first:  # whatever it holds
        named.append(how.url_field)
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
        say(by_content(sentence, fields))
    if how.html is None and not fields.html and looks_like_html(first.get(fields.text or "text")):
        say(LOOKS_LIKE_HTML.format(file.name))
    return fields if how.html is None else replace(fields, html=how.html)


def by_content(sentence: str, fields: Fields) -> str:
    """What is said of documents without an id: here a number would be another document's in the next run."""
    told = "no ids, so a text's SHA-256 is its id"
    if fields.url is not None:
        told += f", or its address with --id-field {fields.url}"
    return sentence.replace("ids by row, as there is no id column", told)


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
