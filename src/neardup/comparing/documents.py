"""The two documents of a comparison: texts, bytes, files, URLs, standard input; and what each recipe reads of them.

Source      what was given: bytes, a name, whether it is HTML, the URL it is from
open_source text, bytes or a path → Source; what cannot be compared is refused here
Readings    the two documents' text under the text settings of a recipe, made once for all recipes that agree
"""

import os
import sys
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from neardup.errors import InputError, UsageError
from neardup.shingles import ShingleSettings
from neardup.sources.base import Documents
from neardup.sources.compression import compression_of, open_plain
from neardup.sources.files import is_remote, is_web, printable, read_at_most
from neardup.text.batches import TextBatch, readable, text_batch
from neardup.text.settings import TextSettings
from neardup.text.workers import shared
from neardup.verify.resemblance import Overlap

LARGEST = 64 << 20
"""Bytes of a document, unless more are allowed."""

_TOO_LONG = "Allow more with --max-document-bytes (max_document_bytes=…), or compare parts of it."
_HTML_ENDINGS = (".html", ".htm", ".xhtml")
_TEXT_ENDINGS = (".txt", ".text", ".md", ".rst", ".csv", ".tsv", ".json", ".jsonl", ".py", ".tex")
_HTML_BEGINS = (b"<!doctype html", b"<html", b"<head", b"<body")
_MAGIC = (
    (b"\x1f\x8b\x08", "gzip data", "unpack it, or give the file the ending .gz"),
    (b"\x28\xb5\x2f\xfd", "Zstandard data", "unpack it, or give the file the ending .zst"),
    (b"BZh", "bzip2 data", "unpack it, or give the file the ending .bz2"),
    (b"\xfd7zXZ\x00", "xz data", "unpack it, or give the file the ending .xz"),
    (b"PAR1", "a Parquet file", "that is a collection: see `neardup pairs`"),
    (b"%PDF-", "a PDF file", "extract its text first, with pdftotext for example"),
    (b"PK\x03\x04", "a ZIP archive (perhaps an office document)", "unpack it, or save the document as text"),
    (b"\x89PNG", "a picture", "texts and HTML pages can be compared"),
    (b"\xff\xd8\xff", "a picture", "texts and HTML pages can be compared"),
    (b"GIF8", "a picture", "texts and HTML pages can be compared"),
)
_JOINERS = "\u200c\u200d"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True)
class Source:
    """A document as it was given."""

    name: str
    data: bytes
    html: bool
    url: str | None = None
    decoded: bool = False
    """It was a string: UTF-8, whatever a page says of its encoding."""


def open_source(
    given: str | bytes | os.PathLike[str],
    name: str,
    *,
    url: str | None = None,
    html: bool | None = None,
    max_document_bytes: int = LARGEST,
) -> Source:
    """A string is a text (HTML only where `html` says so); bytes and files are looked at. "-" as a path is standard
    input. `name` is how messages call what has no name of its own."""
    if max_document_bytes < 1:
        raise UsageError(f"max_document_bytes = {max_document_bytes}: allow at least 1 byte; {LARGEST} is the default.")
    if isinstance(given, str):
        data = given.encode("utf-8", "replace")
        _check_size(name, len(data), max_document_bytes)
        return _checked(Source(name, data, bool(html), url, decoded=True))
    if isinstance(given, bytes | bytearray | memoryview):
        _check_size(name, len(given), max_document_bytes)
        data = bytes(given)
        return _checked(Source(name, data, begins_as_html(data) if html is None else html, url))
    if not isinstance(given, os.PathLike):
        raise UsageError(
            f"{name} is of type {type(given).__name__}: give a text (str), bytes, or a file as a pathlib.Path."
        )
    path = os.fspath(given)
    if path == "-":
        data = read_at_most(sys.stdin.buffer, max_document_bytes, "standard input", _TOO_LONG)
        return _checked(Source("-", data, begins_as_html(data) if html is None else html, url))
    shown = inert(printable(path))
    stored = path.split("?")[0].split("#")[0] if is_web(path) else path
    compression, stored = compression_of(stored)
    if not is_remote(path):
        _check_file(path, shown)
    with open_plain(path, compression, shown) as file:
        data = read_at_most(file, max_document_bytes, shown, _TOO_LONG)
    source = Source(shown, data, False, url or (path if is_remote(path) else None))
    if html is None:
        ending = os.path.splitext(stored)[1].lower()
        html = ending in _HTML_ENDINGS or (ending not in _TEXT_ENDINGS and begins_as_html(data))
    return _checked(replace(source, html=html))


def inert(text: str) -> str:
    """Text that a terminal shows and does not obey: white space is one space, control characters are escaped.

    So are those that change the direction of the text around them, and all that are not printable; joiners and marks,
    which scripts need, stay.
    """
    shown = " ".join(text.split())
    if shown.isprintable():
        return shown
    return "".join(c if c.isprintable() or c in _JOINERS else _escape(c) for c in shown)


def _escape(c: str) -> str:
    if c == "\xad":  # a soft hyphen is drawn as nothing
        return ""
    code = ord(c)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"


def _check_file(path: str, shown: str) -> None:
    if os.path.isdir(path):
        raise InputError(
            f"{shown}: is a folder, and two documents are compared. Name a file in it; all pairs of its documents are "
            f"listed by `neardup pairs {shown}`."
        )
    if not os.path.lexists(path):
        folder = os.path.dirname(path) or "."
        where = f"there is no folder {printable(folder)}" if not os.path.isdir(folder) else "there is no such file"
        raise InputError(f"{shown}: {where}. Check the name; a text itself can be given on standard input, as -.")


def _check_size(name: str, size: int, limit: int) -> None:
    if size > limit:
        raise InputError(f"{name}: has more than {limit:,} bytes. {_TOO_LONG}")


def begins_as_html(data: bytes) -> bool:
    """As browsers tell a page, from what it begins with: comments and an XML declaration may come first."""
    head = data[:4096].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    while head.startswith((b"<?xml", b"<!--")):
        end = b"?>" if head.startswith(b"<?") else b"-->"
        head = head.partition(end)[2].lstrip()
    return head.startswith(_HTML_BEGINS)


def _checked(source: Source) -> Source:
    name, data = source.name, source.data
    if not data.strip():
        raise InputError(f"{name}: is empty, and there is nothing to compare.")
    for begins, what, move in _MAGIC:
        if data.startswith(begins):
            raise InputError(f"{name}: this is {what}, and no text; {move}.")
    if source.html:
        return source
    if data.startswith(_UTF16):
        raise InputError(f"{name}: this is UTF-16; convert it first: iconv -f UTF-16 -t UTF-8 FILE")
    nul = data.find(b"\0")
    if nul >= 0:
        raise InputError(
            f"{name}: this is binary data (byte {nul:,} is zero), and no text. Texts in UTF-8 and HTML pages "
            "can be compared."
        )
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name}: is not UTF-8 (byte {error.start:,}). Convert it first, such as: iconv -f WINDOWS-1252 -t UTF-8 "
            "FILE; an HTML page names its encoding itself: --html (html=True)."
        ) from None
    return replace(source, data=text.removeprefix("\ufeff").encode())


class Readings:
    """What is read of two documents; texts are made once per way to extract them."""

    def __init__(self, first: Source, second: Source) -> None:
        self.sources = (first, second)
        self._made: dict[TextSettings, TextBatch] = {}
        self.overlaps: dict[tuple[TextSettings, ShingleSettings], Overlap] = {}
        """What was measured of the shingle sets so far; systems that agree in tokens and shingles share it."""
        self.cosines: dict[tuple[TextSettings, ShingleSettings, str, str], float] = {}
        """And of the vectors of counts."""
        self.edits: dict[tuple[TextSettings, int], int] = {}
        """Pugh's, of shingles of that width."""

    def batch(self, settings: TextSettings) -> TextBatch:
        """Both documents' text, and their links where a recipe asks for them."""
        key = TextSettings(extract=settings.extract, links=settings.links)
        if key not in self._made:
            self._made[key] = self._read(key)
        return self._made[key]

    def texts(self, settings: TextSettings) -> tuple[str, str]:
        """The same as strings."""
        batch = self.batch(settings)
        whole = batch.data.tobytes()
        a, b, c = batch.offsets.tolist()
        return whole[a:b].decode("utf-8", "replace"), whole[b:c].decode("utf-8", "replace")

    def _read(self, settings: TextSettings) -> TextBatch:
        pages = np.array([source.html for source in self.sources])
        stored = pa.array([source.data for source in self.sources], pa.large_binary())
        if not pages.any() and settings.extract != "web" and not settings.links:
            return text_batch(stored)
        urls = pa.array([source.url for source in self.sources], pa.string())
        charsets = ["utf-8" if source.decoded else None for source in self.sources]
        documents = Documents(stored, np.arange(1, 3), html=pages, charset=charsets)
        batch, failed = readable(documents, False, shared(settings), urls)
        for source, lost in zip(self.sources, failed.tolist(), strict=True):
            if lost:
                raise InputError(
                    f"{source.name}: the HTML parser gives up on it. Compare it as text with --no-html (html=False)."
                )
        return batch
