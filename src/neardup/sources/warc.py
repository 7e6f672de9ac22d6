"""WARC and WET files from crawls, compressed or not.

Documents are the responses (status 200 to 299) and resources of type text/html, application/xhtml+xml or
text/*, and the conversions (the texts of WET files). Other records (warcinfo, requests, metadata, images,
redirects …) are not documents, but stay in what is written, and so does what is reported as a problem.

The id is the WARC-Record-ID without its brackets, or the target URI where the id field is "url". Transfer and
content encodings (chunked, gzip, deflate, br, zstd) are undone by `http`, up to the longest that a document may be.

A file is one split. What is kept is copied byte for byte if the file is uncompressed, or gzip with a member
per record, which is how WARC files are meant to be. Otherwise (one gzip member, zst …) the *content* is
copied byte for byte and compressed anew: gzip with a member per record, the others as one stream.
"""

import codecs
import gzip
import io
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.errors import InputError
from neardup.sources.base import BATCH_BYTES, SPLIT_BYTES, Documents, Format, InputFile, Split
from neardup.sources.compression import Unpacked, create, open_plain
from neardup.sources.files import open_binary
from neardup.sources.http import TooLong, Undecodable, cut_head, decoded
from neardup.sources.problems import Problems
from neardup.sources.warc_records import Record, copy_range, ranges_to_keep, records

_HTML = ("text/html", "application/xhtml+xml")
# How programs spell texts in ASCII: no server sends them, and decoding punycode takes quadratic time.
_NOTATIONS = ("punycode", "unicode-escape", "raw-unicode-escape")
_KINDS = ("response", "resource", "conversion")


@dataclass(frozen=True)
class _Page:
    """A document of a WARC file."""

    position: int
    id: str
    url: str | None
    date: str | None
    status: int | None
    type: str
    charset: str | None
    html: bool
    text: bytes


class Warc(Format):
    """WARC, WET."""

    name = "warc"
    suffixes = (".warc", ".wet")

    def columns(self, file: InputFile) -> dict[str, str]:
        """What the headers of a record tell."""
        return {"url": "text", "date": "text", "status": "number", "type": "text"}

    def splits(self, file: InputFile, size: int = SPLIT_BYTES) -> list[Split]:
        """One: where a record starts is known only to who has read those before it."""
        return [Split(file, 0, file.size, file.size)]

    def _records(self, stream: BinaryIO, split: Split, problems: Problems) -> Iterator[tuple[Record, _Page | None]]:
        """Yield every record, and the document in it if there is one that can be read."""
        name, limit = split.file.name, problems.max_document_bytes

        def wanted(kind: str, length: int) -> bool:
            return kind in _KINDS and length <= limit

        for record in records(stream, name, wanted):
            if record.block is None:
                if record.kind in _KINDS and _might_be_document(record):
                    _too_long(
                        problems,
                        name,
                        record,
                        f"the record at byte {record.start:,} has {record.length:,} bytes",
                    )
                yield record, None
                continue
            page = None
            try:
                page = _page(record, limit)
            except TooLong:
                _too_long(problems, name, record, f"the record at byte {record.start:,}, once decoded,")
            except Undecodable as error:
                problems.report(name, record.number, "not decodable", f"the record at byte {record.start:,}: {error}")
            yield record, page

    def _pages(self, split: Split, problems: Problems) -> Iterator[list[_Page]]:
        batch: list[_Page] = []
        size = 0
        with open_plain(split.file.path, split.file.compression, split.file.name) as stream:
            for _, page in self._records(stream, split, problems):
                if page is None:
                    continue
                batch.append(page)
                size += len(page.text)
                if size >= BATCH_BYTES:
                    yield batch
                    batch, size = [], 0
        if batch:
            yield batch

    def read(self, split: Split, problems: Problems) -> Iterator[Documents]:
        """HTML as the server sent it, other text as UTF-8.

        Positions are numbers of records, of all kinds, from 1.
        """
        fields = split.file.fields
        extra = dict.fromkeys(c for c in (*fields.columns, fields.url) if c is not None)
        for batch in self._pages(split, problems):
            table = _table(batch)
            by_url = fields.id == "url"
            ids = [(page.url if by_url else page.id) or f"{split.file.name}:{page.position}" for page in batch]
            yield Documents(
                text=table.column("text"),
                positions=np.array([page.position for page in batch], dtype=np.int64),
                id=pa.array(ids, pa.string()),
                columns={name: table.column(name) for name in extra},
                html=np.array([page.html for page in batch], dtype=np.bool_),
                charset=[page.charset for page in batch],
            )

    def table(self, split: Split, problems: Problems) -> Iterator[pa.RecordBatch]:
        """id, url, date, status, type and text, as bytes."""
        for batch in self._pages(split, problems):
            yield _table(batch)

    def write(
        self, split: Split, keep: NDArray[np.bool_], target: Path, notes: pa.Table | None, problems: Problems
    ) -> None:
        """Records are copied by their bytes; see the head of this module for what that means where."""
        assert notes is None
        file = split.file
        if file.compression in (None, "gz"):
            try:
                with open_binary(file.path) as source, create(target, None) as out:
                    for start, stop in ranges_to_keep(self._stored(split, keep, problems)):
                        source.seek(start)
                        copy_range(source, out, stop - start)
                    _end(file, out)
                return
            except _NotByMembers:
                pass
        self._rewrite(split, keep, target, problems)

    def _kept(
        self, stream: BinaryIO, split: Split, keep: NDArray[np.bool_], problems: Problems
    ) -> Iterator[tuple[int, bool]]:
        """Yield where every record starts in the content, and whether it is kept."""
        documents = iter(keep)
        for record, page in self._records(stream, split, problems):
            yield record.start, bool(next(documents)) if page else True

    def _stored(self, split: Split, keep: NDArray[np.bool_], problems: Problems) -> Iterator[tuple[int, bool]]:
        """Yield where every record starts in the stored file, and whether it is kept.

        Raises:
            _NotByMembers: A record of a gzip file does not start where a member starts.
        """
        file = split.file
        with open_plain(file.path, file.compression, file.name) as stream:
            members = _MemberStarts(stream) if file.compression == "gz" else None
            for start, kept in self._kept(stream, split, keep, problems):
                yield start if members is None else members.take(start), kept

    def _rewrite(self, split: Split, keep: NDArray[np.bool_], target: Path, problems: Problems) -> None:
        """Copy the content of the records to keep, and compress it anew. What stands before the first record stays."""
        file = split.file
        with (
            open_plain(file.path, file.compression, file.name) as stream,
            open_plain(file.path, file.compression, file.name) as source,
            create(target, None if file.compression == "gz" else file.compression) as out,
        ):
            begun, keeping = 0, True
            for start, kept in chain(self._kept(stream, split, keep, problems.again()), [(1 << 62, False)]):
                if start == begun:
                    pass
                elif not keeping:
                    copy_range(source, cast(BinaryIO, _Nowhere()), start - begun)
                elif file.compression == "gz":
                    with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=out, mtime=0) as member:
                        copy_range(source, cast(BinaryIO, member), start - begun)
                else:
                    copy_range(source, out, start - begun)
                begun, keeping = start, kept
            _end(file, out)


class _NotByMembers(Exception):
    """The records of a gzip file are not members of their own."""


class _MemberStarts:
    """Where the members of a gzip file start, as far as the stream has been unpacked ahead of what was asked for.

    Empty members share their start in the content with the next one, and the first of them is held.
    """

    def __init__(self, stream: BinaryIO) -> None:
        raw = cast(io.BufferedReader, stream).raw
        assert isinstance(raw, Unpacked)
        raw.on_member = self._add
        self._starts, self._stored = array("q"), array("q")  # 16 bytes a member: a record may be cut into millions

    def _add(self, start: int, stored: int) -> None:
        if not self._starts or start != self._starts[-1]:
            self._starts.append(start)
            self._stored.append(stored)

    def take(self, start: int) -> int:
        """Return where the member that starts there in the content is stored; forget those before it."""
        at = bisect_left(self._starts, start)
        del self._starts[:at], self._stored[:at]
        if not self._starts or self._starts[0] != start:
            raise _NotByMembers
        return self._stored[0]


def _end(file: InputFile, out: BinaryIO) -> None:
    """Write an empty member where nothing was kept: a file without any is no gzip file."""
    if file.compression == "gz" and not out.tell():
        out.write(gzip.compress(b"", mtime=0))


class _Nowhere:
    def write(self, data: bytes) -> int:
        return len(data)


def _too_long(problems: Problems, name: str, record: Record, what: str) -> None:
    limit = problems.max_document_bytes
    detail = f"{what} has more than {limit:,}" if what.endswith(",") else f"{what}, more than {limit:,}"
    problems.report(name, record.number, "too long", detail, "Raise --max-document-bytes")


def _might_be_document(record: Record) -> bool:
    """By its header alone: of a response one cannot say without reading it."""
    return record.kind == "response" or _textual(_media_type(record.header.get("content-type")))


def _media_type(value: str | None) -> str:
    return (value or "").partition(";")[0].strip().lower()


def _textual(media_type: str) -> bool:
    return media_type in _HTML or media_type.startswith("text/")


def _charset(value: str | None) -> str | None:
    """The charset named in a Content-Type, if Python knows it as one."""
    for parameter in (value or "").split(";")[1:]:
        name, _, charset = parameter.partition("=")
        if name.strip().lower() == "charset":
            return _known(charset.strip(" \t\"'"))
    return None


@lru_cache
def _known(charset: str) -> str | None:
    """Python's name of an encoding of texts: among its codecs are also zlib, hex, rot13 and "undefined"."""
    try:
        codec = codecs.lookup(charset)
        b"a\xff\x80".decode(codec.name, "replace")
    except (LookupError, ValueError):  # UnicodeError is one; idna raises it whatever it is told to do about errors
        return None
    return None if codec.name in _NOTATIONS else codec.name


def _page(record: Record, limit: int) -> _Page | None:
    header, body = record.header, record.block
    assert body is not None
    content_type = header.get("content-type")
    status = None
    if record.kind == "response":
        if _media_type(content_type) != "application/http" and not body.startswith(b"HTTP/"):
            return None
        head = cut_head(body)
        status, content_type = head.status, head.content_type
        if status is None or not 200 <= status <= 299 or not _textual(_media_type(content_type)):
            return None
        body = decoded(body, head, limit)
    media_type = _media_type(content_type)
    if not _textual(media_type):
        return None
    charset, html = _charset(content_type), media_type in _HTML
    if not html and charset not in (None, "utf-8", "ascii"):
        body = body.decode(charset or "utf-8", "replace").encode("utf-8", "replace")
    return _Page(
        position=record.number,
        id=header.get("warc-record-id", "").strip("<> "),
        url=header.get("warc-target-uri", "").strip("<> ") or None,
        date=header.get("warc-date"),
        status=status,
        type=media_type,
        charset=charset,
        html=html,
        text=body,
    )


def _table(pages: list[_Page]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(
        [
            pa.array([page.id for page in pages], pa.string()),
            pa.array([page.url for page in pages], pa.string()),
            pa.array([page.date for page in pages], pa.string()),
            pa.array([page.status for page in pages], pa.int64()),
            pa.array([page.type for page in pages], pa.string()),
            pa.array([page.text for page in pages], pa.large_binary()),
        ],
        names=["id", "url", "date", "status", "type", "text"],
    )


def refuse_arc(name: str) -> InputError:
    """ARC, the format before WARC, is not read."""
    return InputError(
        f"{name}: ARC files are not read. Convert it to WARC first, for example with: "
        f"warcio recompress {name} {Path(name).name.replace('.arc', '.warc')}"
    )
