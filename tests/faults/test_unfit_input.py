"""Inputs that are not what they are taken for: one sentence with the reason, never a traceback or an empty result."""

import json
import os
import socket
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup
from neardup.errors import InputError, UsageError
from neardup.sources import discover
from tests.corpus import documents
from tests.sources.reading import input_file, texts
from tests.surface.conftest import run

ROWS = documents(6)
TABLE = pa.Table.from_pylist(ROWS).append_column("words", pa.array([row["text"].split() for row in ROWS]))


@pytest.mark.parametrize("where", ["memory", "parquet"])
def test_columns_that_hold_no_text(where: str, tmp_path: Path) -> None:
    source: Any = TABLE
    if where == "parquet":
        source = tmp_path / "a.parquet"
        pq.write_table(TABLE, source)
    with pytest.raises(UsageError, match=r"column 'score' \(--text-field\) holds numbers and no text.*'text'"):
        neardup.dedup(source, text_field="score")
    with pytest.raises(InputError, match=r"column 'words' holds list<.*> and no text\. Name another"):
        neardup.dedup(source, text_field="words")
    with pytest.raises(UsageError, match=r"column 'words' \(--url-field\) holds values of another type"):
        neardup.dedup(source, url_field="words", recipe="web")


def test_everything_skipped_is_no_clean_corpus(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("no JSON\n" * 3)
    with pytest.raises(InputError, match=r"no document could be read: .*\(3 problems\).* a\.jsonl:1: not JSON"):
        neardup.dedup(path, on_error="skip")
    done = run("dedup", path, "-o", tmp_path / "out", "--on-error", "skip")
    assert done.returncode == 1
    assert not (tmp_path / "out/kept").exists()
    assert not (tmp_path / "out/run.json").exists()
    path.write_text("no JSON\n" + json.dumps(ROWS[0]) + "\n")
    assert neardup.dedup(path, on_error="skip").counts["documents"] == 1


def test_names_that_are_not_utf8_reach_the_end_of_a_run(tmp_path: Path) -> None:
    folder = os.path.join(os.fsencode(tmp_path), b"in \xe9")
    os.mkdir(folder)
    with open(os.path.join(folder, b"\xe8.jsonl"), "w") as file:
        file.write("".join(json.dumps(row) + "\n" for row in ROWS))
    for name in (b"\xe7.txt", b"b.txt"):
        with open(os.path.join(folder, name), "w") as file:
            file.write("a text in a file of its own")
    done = run("dedup", os.fsdecode(folder), "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    facts = json.loads((tmp_path / "out/run.json").read_text())
    assert [Path(file["path"]).name for file in facts["inputs"]] == [r"in \xe9", r"\xe8.jsonl"]
    assert facts["counts"]["removed_by_relation"]["identical"] >= 1
    assert neardup.Result.open(tmp_path / "out").counts == facts["counts"]


def zstd_frame(window_log: int, content: bytes) -> bytes:
    """A frame of one stored block, with the window that a decoder must have room for (RFC 8878)."""
    block = (len(content) << 3 | 1).to_bytes(3, "little") + content
    return b"\x28\xb5\x2f\xfd\x00" + bytes([(window_log - 10) << 3]) + block


def test_a_window_that_is_too_large_is_called_so(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.zst"
    path.write_bytes(zstd_frame(27, b'{"id": "1", "text": "x"}\n'))
    assert texts(input_file(path, "jsonl")) == ["x"]
    path.write_bytes(zstd_frame(31, b'{"id": "1", "text": "x"}\n'))
    with pytest.raises(InputError, match=r"a\.jsonl\.zst: .*window of more than 128 MB.*zstd -dc --long=31") as raised:
        texts(input_file(path, "jsonl"))
    assert "damaged" not in str(raised.value)


@pytest.mark.parametrize("url", ["zip://a.jsonl", "zip://a.jsonl::nowhere.zip", "tar://*.jsonl::a.tar"])
def test_archives_are_refused_with_the_reason(url: str) -> None:
    with pytest.raises(InputError, match=r"files inside archives, and chained URLs \(::\), are not read\. Unpack"):
        discover([url])


class _Refusing(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_error(403)

    do_HEAD = do_GET

    def log_message(self, *args: object) -> None: ...


def test_addresses_that_refuse_say_why() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(InputError, match=r"cannot be read \(Connect call failed"):
        discover([f"http://127.0.0.1:{port}/a.jsonl"])
    with pytest.raises(InputError, match="Connection refused"):
        discover([f"ftp://127.0.0.1:{port}/a.jsonl"])
    with ThreadingHTTPServer(("127.0.0.1", 0), _Refusing) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises(InputError, match="403"):
            discover([f"http://127.0.0.1:{server.server_port}/a.jsonl"])
        server.shutdown()


@pytest.mark.parametrize("repeated", ["id", "text", "day"])
def test_columns_with_one_name_are_refused_where_one_is_asked_for(repeated: str, tmp_path: Path) -> None:
    values, words = pa.array(["1", "2"]), pa.array(["one two three four five six", "seven eight nine ten eleven"])
    names = ["id", "text", "day", repeated]
    table = pa.Table.from_arrays([values, words, values, words if repeated == "text" else values], names=names)
    pq.write_table(table, tmp_path / "in.parquet")
    with pytest.raises(neardup.InputError, match=rf"in\.parquet: 2 columns are called '{repeated}'.* Rename"):
        neardup.dedup(tmp_path / "in.parquet", recipe=neardup.load_recipe("default").changed(clusters_keep="max:day"))


def test_columns_with_one_name_stay_where_none_is_asked_for(tmp_path: Path) -> None:
    values, words = pa.array(["1", "2"]), pa.array(["one two three four five six"] * 2)
    table = pa.Table.from_arrays([values, words, values, values], names=["id", "text", "x", "x"])
    pq.write_table(table, tmp_path / "in.parquet")
    result = neardup.dedup(tmp_path / "in.parquet")
    result.write(tmp_path / "out", report=False)
    assert pq.ParquetFile(tmp_path / "out/kept/in.parquet").read().column_names == ["id", "text", "x", "x"]
    with pytest.raises(neardup.InputError, match="2 columns are called 'x'"):
        _ = result.kept
