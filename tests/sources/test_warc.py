"""WARC files: which records are documents, encodings, exact copies, damage."""

import bz2
import gzip
import re
import time
import tracemalloc
import zlib
from collections.abc import Callable
from encodings.aliases import aliases
from pathlib import Path
from typing import Any

import brotli
import numpy as np
import pytest
import zstandard

from neardup.errors import InputError
from neardup.sources import Fields, Problems
from neardup.sources.compression import open_plain
from neardup.sources.http import cut_head
from neardup.sources.warc import Warc, _charset
from tests.sources.reading import NOTHING, documents, input_file, texts
from tests.sources.warcfile import crawl, http, members, record, response

PAGE = b"<html><body>" + b"words " * 300 + b"</body></html>"


def _file(folder: Path, data: bytes, name: str = "a.warc", fields: Fields = NOTHING) -> Any:
    (folder / name).write_bytes(data)
    return input_file(folder / name, "warc", fields)


def _chunked(body: bytes) -> bytes:
    return b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)


ENCODED = {
    "plain": (PAGE, []),
    "gzip": (gzip.compress(PAGE), ["Content-Encoding: gzip"]),
    "deflate": (zlib.compress(PAGE), ["Content-Encoding: deflate"]),
    "br": (brotli.compress(PAGE), ["Content-Encoding: br"]),
    "chunked": (_chunked(PAGE), ["Transfer-Encoding: chunked"]),
    "both": (_chunked(gzip.compress(PAGE)), ["Transfer-Encoding: chunked", "Content-Encoding: gzip"]),
    "zstd": (zstandard.compress(PAGE), ["Content-Encoding: zstd"]),
    "x-gzip": (gzip.compress(PAGE), ["content-encoding: X-GZIP"]),
    "identity": (PAGE, ["Content-Encoding: identity"]),
    "of the transfer": (_chunked(gzip.compress(PAGE)), ["Transfer-Encoding: gzip, chunked"]),
    "two": (brotli.compress(gzip.compress(PAGE)), ["Content-Encoding: gzip, br"]),
    "two headers": (brotli.compress(gzip.compress(PAGE)), ["Content-Encoding: gzip", "Content-Encoding: br"]),
    "two members": (gzip.compress(PAGE[:50]) + gzip.compress(PAGE[50:]), ["Content-Encoding: gzip"]),
    "noise behind": (gzip.compress(PAGE) + b"noise", ["Content-Encoding: gzip"]),
    "folded header": (gzip.compress(PAGE), ["Content-Encoding:\r\n  gzip"]),
    "chunk extension": (_chunked(PAGE).replace(b"\r\n", b"; a=b\r\n", 1), ["Transfer-Encoding: chunked"]),
    "chunks of LF": (b"5\n%s\n%x\n%s\n0\n\n" % (PAGE[:5], len(PAGE) - 5, PAGE[5:]), ["Transfer-Encoding: chunked"]),
    "no last chunk": (_chunked(PAGE)[:-5], ["Transfer-Encoding: chunked"]),
    "undone, header left": (PAGE, ["Content-Encoding: gzip", "Transfer-Encoding: chunked"]),
    "chunks undone": (gzip.compress(PAGE), ["Content-Encoding: gzip", "Transfer-Encoding: chunked"]),
    "content undone": (_chunked(PAGE), ["Content-Encoding: gzip", "Transfer-Encoding: chunked"]),
    "unknown": (PAGE, ["Content-Encoding: utf-8"]),
}

UNDECODABLE = {
    "damaged": (gzip.compress(PAGE)[:-8] + bytes(8), ["Content-Encoding: gzip"]),
    "another": (bz2.compress(PAGE) + bytes(9), ["Content-Encoding: bzip2"]),
    "cut br": (brotli.compress(PAGE)[:-9] + b"", ["Content-Encoding: br"]),
    "many": (gzip.compress(PAGE), ["Content-Encoding: " + "gzip, " * 9]),
    "binary": (bytes(99), ["Content-Encoding: zstd"]),
}


@pytest.mark.parametrize("encoding", ENCODED)
def test_http_encodings(encoding: str, tmp_path: Path) -> None:
    body, headers = ENCODED[encoding]
    file = _file(tmp_path, response(1, body, *headers))
    assert texts(file) == [PAGE.decode()]


@pytest.mark.parametrize("encoding", UNDECODABLE)
def test_bodies_that_cannot_be_decoded(encoding: str, tmp_path: Path) -> None:
    body, headers = UNDECODABLE[encoding]
    file = _file(tmp_path, response(1, body, *headers) + response(2, b"good"))
    problems = Problems("skip")
    assert texts(file, problems=problems) == ["good"]
    assert [(p.position, p.kind) for p in problems.found] == [(1, "not decodable")]


def test_a_cut_gzip_body_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    noise = np.random.default_rng(1).integers(97, 123, 5000, dtype=np.uint8).tobytes()
    [text] = texts(_file(tmp_path, response(1, gzip.compress(noise)[:-900], "Content-Encoding: gzip")))
    assert 1000 < len(text) < 5000
    assert noise.decode().startswith(text)


@pytest.mark.parametrize("end", ["\r\n", "\n"])
def test_heads_of_responses(end: str, tmp_path: Path) -> None:
    head = end.join(["HTTP/1.0 200", "CONTENT-TYPE :text/plain", "no colon", "Content-Type: image/png", "", ""])
    kind = "application/http"
    heads = [head.encode(), head.encode()[: -len(end)], b"HTTP/1.1 OK\r\n\r\n", b""]
    blocks = [record("response", n, head + b"body", url="http://a/", content_type=kind) for n, head in enumerate(heads)]
    assert texts(_file(tmp_path, b"".join(blocks))) == ["body", ""]


def test_folded_lines_take_linear_time() -> None:
    """A head of a megabyte, which gzip makes a kilobyte, took 4 s when every line copied those before it."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html;" + b"\n x" * 340_000 + b"\nContent-Encoding: gzip\r\n\r\n"
    began = time.process_time()
    found = cut_head(head)
    assert time.process_time() - began < 1.0
    assert found.content_type == "text/html;" + " x" * 340_000
    assert (found.content, found.size) == (("gzip",), len(head))


def test_which_records_are_documents(tmp_path: Path) -> None:
    records = [
        record("warcinfo", 1, b"x", content_type="application/warc-fields"),
        response(2, b"html", content_type="Text/HTML; charset=ISO-8859-1"),
        response(3, b"<x/>", content_type="application/xhtml+xml"),
        response(4, "é".encode("latin-1"), content_type="text/plain; charset=latin-1"),
        response(5, b"{}", content_type="application/json"),
        response(6, b"gone", status="404 Not Found"),
        record("resource", 7, b"note", url="file:///x", content_type="text/plain"),
        record("resource", 8, b"<p>", url="file:///y", content_type="text/html"),
        record("conversion", 9, b"wet", url="http://w", content_type="text/plain"),
        record("metadata", 10, b"m", content_type="text/plain"),
        record("response", 11, b"10.0.0.1", url="dns:x", content_type="text/dns"),
        record("response", 12, b"not http", url="http://z", content_type="application/http; msgtype=response"),
        response(13, b"odd", content_type="text/html; charset=no-such-thing"),
        record("revisit", 14, http(b""), url="http://r", content_type="application/http; msgtype=response"),
    ]
    file = _file(tmp_path, b"".join(records), fields=Fields(None, None, "url", ("date", "status", "type")))
    [split] = Warc().splits(file)
    [batch] = Warc().read(split, Problems())
    assert batch.text.to_pylist() == [b"html", b"<x/>", "é".encode(), b"note", b"<p>", b"wet", b"odd"]
    assert batch.positions.tolist() == [2, 3, 4, 7, 8, 9, 13]
    assert batch.html is not None
    assert batch.html.tolist() == [True, True, False, False, True, False, True]
    assert batch.charset == ["iso8859-1", None, "iso8859-1", None, None, None, None]
    assert batch.id is not None
    assert batch.id.to_pylist()[0] == "urn:uuid:2"
    assert batch.columns["url"].to_pylist()[:4] == [
        "http://a.test/2",
        "http://a.test/3",
        "http://a.test/4",
        "file:///x",
    ]
    assert batch.columns["status"].to_pylist() == [200, 200, 200, None, None, None, 200]
    assert batch.columns["type"].to_pylist()[:3] == ["text/html", "application/xhtml+xml", "text/plain"]
    assert batch.columns["date"].to_pylist()[0] == "2024-05-03T00:00:00Z"
    by_url = documents(file.with_fields(Fields(None, "url")))
    assert by_url[0]["id"] == "http://a.test/2"
    [table] = Warc().table(split, Problems())
    assert table.schema.names == ["id", "url", "date", "status", "type", "text"]


@pytest.mark.parametrize(
    "charset", ["zlib", "hex", "undefined", "idna", "rot13", "punycode", "unicode_escape", "a\0b", ""]
)
def test_codecs_that_are_no_charsets(charset: str, tmp_path: Path) -> None:
    body = b"words \xe9 \\d and more"
    records = [
        response(n, body, content_type=f"text/{kind}; charset={charset}") for n, kind in enumerate(("plain", "html"), 1)
    ]
    file = _file(tmp_path, b"".join(records))
    [split] = Warc().splits(file)
    [batch] = Warc().read(split, Problems())
    assert batch.text.to_pylist() == [body, body]
    assert batch.charset == [None, None]


def test_no_charset_that_python_knows_raises() -> None:
    noise = np.random.default_rng(7).integers(0, 256, 3000, dtype=np.uint8).tobytes()
    known = {
        charset for alias in {*aliases, *aliases.values()} if (charset := _charset(f"text/plain; charset={alias}"))
    }
    assert len(known) > 80
    assert {"utf-8", "iso8859-1", "cp1252", "shift_jis", "gb18030", "utf-16", "koi8-r", "big5", "euc_kr"} <= known
    for charset in known:
        assert noise.decode(charset, "replace").encode("utf-8", "replace")


@pytest.mark.parametrize("pack", [b"".join, members], ids=["plain", "gz"])
def test_copies_are_exact(pack: Callable[[list[bytes]], bytes], tmp_path: Path) -> None:
    records = crawl(["one", "two", "three"])
    name = "a.warc" if pack is not members else "a.warc.gz"
    file = _file(tmp_path, pack(records), name)
    [split] = Warc().splits(file)
    target = tmp_path / ("out-" + name)
    Warc().write(split, np.array([True] * 3), target, None, Problems())
    assert target.read_bytes() == pack(records)
    Warc().write(split, np.array([False, True, False]), target, None, Problems())
    assert target.read_bytes() == pack([r for r in records if b"\r\n\r\none" not in r and b"\r\n\r\nthree" not in r])


def test_a_whole_gzip_is_rewritten_record_by_record(tmp_path: Path) -> None:
    records = crawl(["one", "two"])
    file = _file(tmp_path, gzip.compress(b"".join(records)), "a.warc.gz")
    [split] = Warc().splits(file)
    Warc().write(split, np.array([False, True]), tmp_path / "out.warc.gz", None, Problems())
    kept = [r for r in records if b"\r\n\r\none" not in r]
    assert gzip.decompress((tmp_path / "out.warc.gz").read_bytes()) == b"".join(kept)
    with open_plain(str(tmp_path / "out.warc.gz"), "gz", "out") as stream:
        starts: list[int] = []
        stream.raw.on_member = lambda content, stored: starts.append(content)  # type: ignore[attr-defined]
        stream.read()
        assert len(starts) == len(kept)


@pytest.mark.parametrize("pack", [b"".join, members], ids=["plain", "gz"])
def test_a_cut_anywhere_is_noticed(pack: Callable[[list[bytes]], bytes], tmp_path: Path) -> None:
    records = [response(1, b"one"), response(2, b"two")]
    whole = pack(records)
    name = "a.warc" if pack is not members else "a.warc.gz"
    between = {len(pack(records[:1]))}
    # the four bytes after a record's block may be missing at the end of a plain file: nothing is lost with
    # them
    last = len(whole) - (4 if pack is not members else 0)
    for length in range(1, last):
        if length in between or (pack is not members and length - len(records[0]) in range(-4, 1)):
            continue
        with pytest.raises(InputError, match=r"a\.warc"):
            texts(_file(tmp_path, whole[:length], name))


def test_damage_says_where(tmp_path: Path) -> None:
    one = response(1, b"one")
    with pytest.raises(InputError, match=f"record 2 does not start at byte {len(one):,}"):
        texts(_file(tmp_path, one + b"rubbish\r\n" + one))
    with pytest.raises(InputError, match="Is this a WARC file"):
        texts(_file(tmp_path, b"<html>"))
    with pytest.raises(InputError, match="says no length"):
        texts(_file(tmp_path, one.replace(b"Content-Length", b"Content-Lungth")))
    with pytest.raises(
        InputError, match=r"ends in the middle of record 1, which starts at byte 0: .* of its 900 bytes"
    ):
        texts(_file(tmp_path, re.sub(rb"Content-Length: \d+", b"Content-Length: 900", one)))


@pytest.mark.parametrize("end", ["\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029", "\r"])
def test_line_ends_that_warc_does_not_know_are_characters(end: str, tmp_path: Path) -> None:
    """str.splitlines() takes all of them for the end of a header line, and what follows for another field."""
    url = f"http://a.test/{end}Content-Length: 5{end}WARC-Type: metadata"
    one = record("conversion", 1, b"the first text", url=url, content_type="text/plain")
    two = record("conversion", 2, b"the second", url="http://a.test/2", content_type="text/plain")
    payload = record("response", 3, http(b"page"), url=url, content_type="application/http; msgtype=response")
    file = _file(tmp_path, one + two + payload, fields=Fields(None, None, "url"))
    found = documents(file)
    assert [d["text"] for d in found] == ["the first text", "the second", "page"]
    assert [d["url"] for d in found] == [url, "http://a.test/2", url]


@pytest.mark.parametrize("length", ["١٤", "1_4", "+14", "-1", "", "14 bytes"])
def test_a_length_is_digits(length: str, tmp_path: Path) -> None:
    one = record("conversion", 1, b"the first text", content_type="text/plain")
    with pytest.raises(InputError, match="record 1 at byte 0 says no length"):
        texts(_file(tmp_path, one.replace(b"Content-Length: 14", f"Content-Length: {length}".encode())))


def test_bodies_that_cannot_be_decoded_are_problems(tmp_path: Path) -> None:
    broken = response(2, gzip.compress(PAGE)[:40] + bytes(50), "Content-Encoding: gzip")
    file = _file(tmp_path, response(1, b"a") + broken + response(3, b"c"))
    problems = Problems("skip")
    assert texts(file, problems=problems) == ["a", "c"]
    assert [(p.position, p.kind) for p in problems.found] == [(2, "not decodable")]
    assert "at byte" in problems.found[0].detail
    [split] = Warc().splits(file)
    Warc().write(split, np.array([True, False]), tmp_path / "out.warc", None, Problems("skip"))
    assert (tmp_path / "out.warc").read_bytes() == response(1, b"a") + broken  # it cannot be compared, so it stays


def test_long_records_and_bombs(tmp_path: Path) -> None:
    bomb = response(2, gzip.compress(bytes(10 << 20)), "Content-Encoding: gzip")
    image = response(4, bytes(90000), content_type="image/png")
    file = _file(tmp_path, response(1, b"a") + bomb + response(3, b"x" * 90000) + response(5, b"b") + image)
    problems = Problems("skip", max_document_bytes=50_000)
    assert texts(file, problems=problems) == ["a", "b"]
    assert [(p.position, p.kind) for p in problems.found] == [
        (2, "too long"),
        (3, "too long"),
        (5, "too long"),
    ]


@pytest.mark.parametrize("whole", [False, True], ids=["members", "one member"])
def test_memory_to_write_does_not_grow_with_members_and_records(whole: bool, tmp_path: Path) -> None:
    """A file of 64 MB can have three million empty members, and as many records that are no documents."""
    first, second = response(1, b"one"), response(2, b"two")
    if whole:
        packed = gzip.compress(first + b"WARC/1.0\r\nContent-Length: 0\r\n\r\n\r\n\r\n" * 50_000 + second, 1)
    else:
        packed = gzip.compress(first) + gzip.compress(b"", mtime=0) * 50_000 + gzip.compress(second)
    file = _file(tmp_path, packed, "a.warc.gz")
    [split] = Warc().splits(file)
    tracemalloc.start()
    try:
        Warc().write(split, np.array([False, True]), tmp_path / "out.warc.gz", None, Problems())
        assert tracemalloc.get_traced_memory()[1] < 5 << 20  # two buffers of 1 MB, and pieces of the file
    finally:
        tracemalloc.stop()
    expected = gzip.decompress(packed).removeprefix(first)
    assert gzip.decompress((tmp_path / "out.warc.gz").read_bytes()) == expected
