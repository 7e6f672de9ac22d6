"""The process that reads pages: bytes in, texts and links out, and nothing else.

It is started by `workers`, isolated from the folder that the user is in and from Python's environment variables. It
imports all that it will ever need, reads a page of its own in every form, gives up its rights (`confine`), and says
that it is ready. From then on each message is a batch of pages, and each answer their texts, until its input ends.
"""

import codecs
import sys
import time
from collections.abc import Callable, Sequence
from typing import IO, cast

from neardup.text import wire
from neardup.text.confine import confine
from neardup.text.extract import COMMON, affordable, read_page, require_extractor, stay_uncompiled
from neardup.text.settings import Extract

Page = tuple[bytes, str | None, str | None]
"""A page with the encoding that the protocol named, and with its URL."""

Read = tuple[str, list[str] | None]
"""A page's text, and its links where they are asked for."""

FORMS: tuple[Extract, ...] = ("all", "main", "web")

_TRIAL = "<p>é</p><a href='//é.example/'>x</a>".encode()


def read_pages(
    pages: list[Page], extract: Extract, links: bool, trees: Sequence[bool | None] | None = None
) -> list[Read | None]:
    """Return the text and links of every page; None for one that the parser gives up. `trees`: see `read_page`."""
    read: list[Read | None] = []
    for (page, charset, url), tree in zip(pages, trees or [None] * len(pages), strict=True):
        try:
            read.append(read_page(page, charset=charset, url=url, extract=extract, links=links, tree=tree))
        except (ValueError, MemoryError):  # what the parser says of a page that it gives up, or has no room for
            read.append(None)
    return read


def request(pages: list[Page], extract: Extract, links: bool) -> list[wire.Field]:
    """Return a batch of pages as a message, with what `affordable` says of each where a tree is asked for."""
    fields: list[wire.Field] = [extract.encode(), b"links" if links else b""]
    for page, charset, url in pages:
        tree = extract != "web" and affordable(page)
        fields += [page, _bytes(charset), _bytes(url), b"tree" if tree else b""]
    return fields


def answered(fields: list[wire.Field]) -> tuple[list[Read | None], float]:
    """Return the texts and links in an answer, and the CPU seconds that they took; ValueError if it is none."""
    spent, texts, targets = fields[0], fields[1::2], fields[2::2]
    read = [None if t is None else (t.decode(), _lines(link)) for t, link in zip(texts, targets, strict=True)]
    return read, float(spent or b"")


def main() -> None:
    """Read pages from standard input until it ends."""
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    require_extractor()
    stay_uncompiled()
    for name in COMMON:
        codecs.lookup(name)
    for form in FORMS:
        read_page(_TRIAL, url="http://é.example/", extract=form, links=True)
    held = confine()
    for form in FORMS:
        read_page(_TRIAL, url="http://é.example/", extract=form, links=True)
    wire.send(sink, [held.encode()])
    told = 0.0
    while True:
        try:
            asked, links, *rest = wire.receive(_exactly(source))
        except EOFError:
            return
        fields = zip(rest[::4], rest[1::4], rest[2::4], strict=True)
        pages = [(page or b"", _text(charset), _text(url)) for page, charset, url in fields]
        read = read_pages(pages, cast(Extract, _text(asked)), bool(links), list(map(bool, rest[3::4])))
        spent = time.process_time()
        answer: list[wire.Field] = [repr(spent - told).encode()]
        for one in read:
            text, targets = one or (None, None)
            answer += [_bytes(text), None if targets is None else "\n".join(targets).encode("utf-8", "replace")]
        wire.send(sink, answer)
        told = spent


def _exactly(stream: IO[bytes]) -> Callable[[int], bytes]:
    def exactly(size: int) -> bytes:
        data = stream.read(size)
        if len(data) < size:
            raise EOFError
        return data

    return exactly


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode("utf-8", "replace")


def _text(field: wire.Field) -> str | None:
    return None if field is None else field.decode()


def _lines(field: wire.Field) -> list[str] | None:
    return None if field is None else field.decode().split("\n") if field else []
