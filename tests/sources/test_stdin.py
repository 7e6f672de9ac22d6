"""Standard input: its format is named, its compression is seen."""

import bz2
import gzip
import io
import lzma
import sys
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup.errors import UsageError
from neardup.sources import Fields, InputFile
from neardup.sources.stdin import spool
from tests.sources.reading import texts

PACKED = {
    "": lambda data: data,
    ".gz": gzip.compress,
    ".zst": lambda data: pa.compress(data, "zstd", asbytes=True),
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}
CONTENTS = {"jsonl": b'{"text": "a"}\n', "csv": b"text\na\n", "lines": b"a\n"}
ENDINGS = {"jsonl": ".jsonl", "csv": ".csv", "lines": ".txt"}


def _spooled(monkeypatch: pytest.MonkeyPatch, folder: Path, data: bytes, format: str | None) -> InputFile:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    return spool(folder, format).with_fields(Fields() if format == "lines" else Fields("text"))


@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize("format", CONTENTS)
def test_formats_and_compressions(format: str, packed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = _spooled(monkeypatch, tmp_path, PACKED[packed](CONTENTS[format]), format)
    assert file.name == "stdin" + ENDINGS[format] + packed
    assert (file.format, file.compression) == (format, packed[1:] or None)
    assert file.path.endswith(ENDINGS[format] + packed)
    assert [path.name for path in tmp_path.iterdir()] == [Path(file.path).name]
    assert texts(file) == ["a"]


def test_jsonl_if_nothing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for data in (CONTENTS["jsonl"], b""):
        file = _spooled(monkeypatch, tmp_path, data, None)
        assert (file.name, file.format, file.compression, file.size) == ("stdin.jsonl", "jsonl", None, len(data))


def test_words_are_no_compression(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = _spooled(monkeypatch, tmp_path, b"BZh9 is how it begins\n", "lines")
    assert (file.compression, texts(file)) == (None, ["BZh9 is how it begins"])


def test_parquet_and_warc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = io.BytesIO()
    pq.write_table(pa.table({"text": ["a"]}), stored)
    file = _spooled(monkeypatch, tmp_path, stored.getvalue(), "parquet")
    assert (file.name, texts(file)) == ("stdin.parquet", ["a"])
    assert _spooled(monkeypatch, tmp_path, gzip.compress(b"WARC/1.0"), "warc").name == "stdin.warc.gz"


@pytest.mark.parametrize("format", ["text", "html", "nonsense"])
def test_what_one_file_cannot_be(format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=format):
        _spooled(monkeypatch, tmp_path, b"a", format)
