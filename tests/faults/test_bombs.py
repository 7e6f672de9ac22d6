"""Inputs that are small and unpack, or go on, without end: memory stays within what is allowed, and the run says what
it did. Every row is read by the command itself; `watched` runs them one after the other in one process."""

import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import brotli
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.faults.bombs import ENCODERS, MB, gzipped
from tests.sources.warcfile import record, response

LIMIT = 4 * MB
"""Of a document."""

ALLOWED = 96 * MB
"""What reading may take, whatever is read: a few documents of LIMIT, several copies of each, and Arrow's buffers."""

GIGABYTE = 1024
"""Megabytes."""


SKIPPING = ("--on-error", "skip", "--max-document-bytes", str(LIMIT))
DEDUP = ("dedup", "FILE", "-o", "FILE.out", "--json", *SKIPPING)


@dataclass
class Bomb:
    """A file, the command that reads it, and what is to be said of it."""

    name: str
    content: Callable[[], bytes]
    kind: str = ""
    """Of the problem that is counted, where the run goes on."""
    many: int = 1
    """How often."""
    error: str = ""
    """What the run ends with, where it does not."""
    command: tuple[str, ...] = DEDUP
    """FILE stands for the file."""
    stdin: bool = False
    """The file is given there."""
    allowed: int = ALLOWED


def page(n: int) -> bytes:
    words = b" ".join(b"word%d" % (n * 100 + i) for i in range(100))
    return b"<html><body>%s</body></html>" % words


def warc(body: bytes, *headers: str) -> bytes:
    """A response among others."""
    return response(1, page(1)) + response(2, body, *headers) + response(3, page(3))


def encoded(encoding: str) -> Callable[[], bytes]:
    return lambda: warc(ENCODERS[encoding](bytes(MB), GIGABYTE), f"Content-Encoding: {encoding}")


def nested() -> bytes:
    inner = gzip.compress(gzipped(bytes(MB), GIGABYTE))
    return warc(brotli.compress(inner), "Content-Encoding: gzip, gzip, br")


def endless_head() -> bytes:
    head = b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * (MB // 2)
    return response(1, page(1)) + record("response", 2, head, url="http://a/", content_type="application/http")


JSONL = b"".join(b'{"id":"%d","text":"some words of number %d"}\n' % (n, n) for n in range(5))
CSV = b"id,text\n" + b"".join(b"%d,some words of number %d\n" % (n, n) for n in range(5))
LETTERS = b"a" * MB
SMALL_RESPONSES = ("--max-bytes", str(32 * MB))


def endless_line(n: int = 128) -> bytes:
    return gzipped(LETTERS, n, head=JSONL + b'{"id":"x","text":"', tail=b'"}\n')


def zeros() -> bytes:
    return bytes(150 * MB)


def parquet(texts: pa.Array, **how: Any) -> bytes:
    """A file of one page, whatever its size."""
    sink = pa.BufferOutputStream()
    table = pa.table({"id": [str(n) for n in range(len(texts))], "text": texts})
    pq.write_table(table, sink, compression="zstd", data_page_size=1 << 30, write_batch_size=1 << 20, **how)
    return sink.getvalue().to_pybytes()


def same_value() -> bytes:
    """800 rows with one value of a megabyte: 800 MB in 2 kB."""
    values = pa.DictionaryArray.from_arrays(pa.array([0] * 800, pa.int32()), pa.array(["a" * MB]))
    return parquet(values, use_dictionary=True)


def long_page() -> bytes:
    return parquet(pa.array(["a" * MB] * 150), use_dictionary=False)


def long_list() -> bytes:
    """A footer of a few bytes that announces two billion columns."""
    footer = b"\x15\x02\x19\xfc\xff\xff\xff\xff\x07"
    return b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1"


def many_keys() -> bytes:
    return JSONL + b'{"id":"x","text":"a"%s}\n' % b"".join(b',"%d":1' % n for n in range(300_000))


def many_results() -> bytes:
    return gzipped(b'{"text":"a b"},' * 70_000, 99, head=b"[", tail=b"{}]")


def many_values() -> bytes:
    """A first line of almost LIMIT bytes, by which the fields of the file are told; decoded, it takes 25 times that."""
    return b'{"id":"x","text":"a b","z":[%s]}\n%s' % (b",".join([b"[]"] * ((LIMIT - 100) // 3)), JSONL)


TABLE = [
    Bomb("values.jsonl", many_values, allowed=64 * MB),
    Bomb("line.jsonl.gz", endless_line, "too long"),
    Bomb("nested.jsonl", lambda: JSONL + b'{"id":"x","text":' + b"[" * 3 * MB + b"\n", "not JSON"),
    Bomb("digits.jsonl", lambda: JSONL + b'{"id":%s,"text":"a"}\n' % (b"9" * 3 * MB), "not JSON"),
    Bomb("keys.jsonl", many_keys),
    Bomb("lines.jsonl", lambda: JSONL + b"x\n" * 250_000, "not JSON", many=250_000),
    Bomb("widths.csv", lambda: CSV + b"x\n" * 250_000, "wrong number of values", many=250_000),
    Bomb("lines", lambda: JSONL + b"x\n" * 500_000, command=("sign", *SKIPPING), stdin=True),
    Bomb("quote.csv.gz", lambda: gzipped(LETTERS, 192, head=CSV + b'x,"'), error="Is a quotation mark left open"),
    Bomb("row.csv.gz", lambda: gzipped(LETTERS, 192, head=CSV + b"x,"), error="is longer than 4,194,304 bytes"),
    Bomb("value.parquet", same_value, allowed=400 * MB),  # row groups of 32 MB are written, some at a time
    Bomb("page.parquet", long_page, error="a page of the column 'text' has"),
    Bomb("list.parquet", long_list, error="this is not a whole Parquet file"),
    Bomb("a.json.gz", many_results, error="more than 33,554,432 bytes", command=("group", "FILE", *SMALL_RESPONSES)),
    Bomb("deep.json", lambda: b"[" * MB, error="nested too deeply", command=("group", "FILE")),
    Bomb("results.jsonl", lambda: b"{}\n" * 200_000, error="has more than 100,000 results", command=("group", "FILE")),
    Bomb("response", zeros, error="more than 33,554,432 bytes", command=("group", *SMALL_RESPONSES), stdin=True),
    Bomb("signed", zeros, command=("sign", *SKIPPING), stdin=True),
    Bomb("passed", zeros, error="held to be passed on", command=("sign", *SKIPPING, "--on-error", "pass"), stdin=True),
    Bomb("filtered", zeros, command=("index", "filter", "FILE.ndx", *SKIPPING), stdin=True),
    Bomb(
        "text.txt.gz",
        lambda: gzipped(LETTERS, 192),
        error="has more than 4,194,304 bytes",
        command=("compare", "FILE", "FILE", "--max-document-bytes", str(LIMIT)),
    ),
    Bomb("recipe.toml", zeros, error="no recipe is so long", command=("recipes", "FILE")),
    Bomb("deep.toml", lambda: b"a=" + b"[" * 60_000, error="not a recipe", command=("recipes", "FILE")),
    *(Bomb(f"{name}.warc", encoded(name), "too long") for name in ENCODERS),
    Bomb("nested.warc", nested, "too long"),
    Bomb("codings.warc", lambda: warc(b"\x1f\x8b", "Content-Encoding: " + "gzip," * 9999), "not decodable"),
    Bomb("members.warc", lambda: warc(gzip.compress(b"") * 20_000, "Content-Encoding: gzip"), ""),
    Bomb("chunk.warc", lambda: warc(b"f" * 15 + b"\r\n\0", "Transfer-Encoding: chunked"), ""),
    Bomb("head.warc", endless_head, "not decodable"),
    Bomb("long.warc", lambda: warc(bytes(LIMIT + 1)), "too long"),
    Bomb("length.warc", lambda: warc(b"").replace(b"Content-Length: ", b"Content-Length: 9", 1), error="record 1"),
    Bomb("header.warc", lambda: warc(b"")[:-4] + b"WARC/1.0\r\n" + b"A: b\r\n" * MB, error="does not end"),
]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """How every command ended, by the name of its bomb."""
    folder = tmp_path_factory.mktemp("bombs")
    (folder / "good.warc").write_bytes(warc(page(2)))
    asked = [{"arguments": ["dedup", str(folder / "good.warc"), "-o", str(folder / f"good{n}")]} for n in range(2)]
    for bomb in TABLE:
        path = folder / bomb.name
        path.write_bytes(bomb.content())
        arguments = [argument.replace("FILE", str(path)) for argument in bomb.command]
        asked.append({"arguments": arguments, "stdin": str(path) if bomb.stdin else None})
    run = subprocess.run(
        [sys.executable, "-m", "tests.faults.watched"], input=json.dumps(asked), capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    answers = [json.loads(line) for line in run.stdout.splitlines()][2:]
    return {bomb.name: {**answer, "folder": folder} for bomb, answer in zip(TABLE, answers, strict=True)}


@pytest.mark.xdist_group("bombs")  # one process makes and reads them all
@pytest.mark.parametrize("bomb", TABLE, ids=lambda bomb: bomb.name)
def test_memory_is_bounded_and_the_verdict_is_said(bomb: Bomb, done: dict[str, dict[str, Any]]) -> None:
    found = done[bomb.name]
    assert found["grew"] < bomb.allowed, found
    if bomb.error:
        assert found["code"] in (1, 2), found
        assert bomb.error in found["stderr"]
        assert ("stdin" if bomb.stdin else bomb.name) in found["stderr"]
        return
    assert found["code"] == 0, found
    if bomb.command != DEDUP:
        return
    skipped = json.loads(found["stdout"])["counts"]["skipped_by_kind"]
    assert skipped == ({bomb.kind: bomb.many} if bomb.kind else {})
    stored: Path = found["folder"] / bomb.name
    kept: Path = found["folder"] / f"{bomb.name}.out" / "kept" / bomb.name
    if bomb.name.endswith(".gz"):
        assert gzip.decompress(kept.read_bytes()) == gzip.decompress(stored.read_bytes())
    elif not bomb.name.endswith(".parquet"):
        assert kept.read_bytes() == stored.read_bytes()
