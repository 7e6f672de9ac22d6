"""Inputs that are small and unpack, or go on, without end: memory stays within what is allowed, and the run says what
it did. Every row is read by the command itself; `watched` runs them one after the other in one process."""

import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import brotli
import pytest

from tests.faults.bombs import ENCODERS, MB, gzipped
from tests.sources.warcfile import record, response

LIMIT = 4 * MB
"""Of a document."""

ALLOWED = 96 * MB
"""What reading may take, whatever is read: a few documents of LIMIT, several copies of each, and Arrow's buffers."""

GIGABYTE = 1024
"""Megabytes."""


@dataclass
class Bomb:
    """A file, the command that reads it, and what is to be said of it."""

    name: str
    content: Callable[[], bytes]
    kind: str = ""
    """Of the problem that is counted, where the run goes on."""
    error: str = ""
    """What the run ends with, where it does not."""
    options: list[str] = field(default_factory=list)


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


TABLE = [
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
        how = [
            "--on-error",
            "skip",
            "--max-document-bytes",
            str(LIMIT),
            "--json",
            "-o",
            str(folder / f"{bomb.name}.out"),
        ]
        asked.append({"arguments": ["dedup", str(path), "-o", f"{path}.out", *how, *bomb.options]})
    run = subprocess.run(
        [sys.executable, "-m", "tests.faults.watched"], input=json.dumps(asked), capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    answers = [json.loads(line) for line in run.stdout.splitlines()][2:]
    return {bomb.name: {**answer, "folder": folder} for bomb, answer in zip(TABLE, answers, strict=True)}


@pytest.mark.parametrize("bomb", TABLE, ids=lambda bomb: bomb.name)
def test_memory_is_bounded_and_the_verdict_is_said(bomb: Bomb, done: dict[str, dict[str, Any]]) -> None:
    found = done[bomb.name]
    assert found["grew"] < ALLOWED, found
    if bomb.error:
        assert found["code"] == 1, found
        assert bomb.error in found["stderr"]
        assert bomb.name in found["stderr"]
        return
    assert found["code"] == 0, found
    skipped = json.loads(found["stdout"])["counts"]["skipped_by_kind"]
    assert skipped == ({bomb.kind: 1} if bomb.kind else {})
    stored: Path = found["folder"] / bomb.name
    assert (found["folder"] / f"{bomb.name}.out" / "kept" / bomb.name).read_bytes() == stored.read_bytes()
