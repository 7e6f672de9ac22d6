"""Files far away: fsspec's memory, and HTTP from a server on this machine."""

import gzip
import os
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup.errors import InputError
from neardup.sources import Fields, InputFile, Problems, choose, discover, format_of, stamp_of
from neardup.sources.discover import HIDDEN
from neardup.sources.parquet import Parquet
from tests.sources.reading import documents
from tests.sources.warcfile import crawl, members

LINES = b"".join(b'{"id": "%d", "text": "text %d"}\n' % (n, n) for n in range(50))
FILES = {
    "c/a.jsonl": LINES,
    "c/sub/b.jsonl.gz": gzip.compress(LINES),
    "c/p/x.html": b"<p>x",
    "c/p/y.html": b"<p>y",
    "c/w.warc.gz": members(crawl(["one", "two"])),
    "c/t.csv": b"id,text\n1,a\n",
    "c/.hidden.jsonl": b"",
    "c/z.bin": b"",
}


@pytest.fixture
def memory() -> Iterator[str]:
    far = fsspec.filesystem("memory")
    far.store.clear()
    for name, data in FILES.items():
        far.pipe(f"/{name}", data)
    yield "memory://c"
    far.store.clear()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None: ...


@pytest.fixture
def web(tmp_path: Path) -> Iterator[str]:
    for name, data in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(tmp_path)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/c"
    server.shutdown()
    server.server_close()
    thread.join()


def _read(file: InputFile) -> list[str | None]:
    return [d["text"] for d in documents(file.with_fields(choose(file)[0]), 100)]


TEXTS = [f"text {n}" for n in range(50)]


def test_a_folder_in_memory(memory: str) -> None:
    found = discover([memory])
    by_name = {f.name: f for f in found.files}
    assert set(by_name) == {"a.jsonl", "sub/b.jsonl.gz", "c", "w.warc.gz", "t.csv"}
    assert found.passed_over == {".bin": 1, HIDDEN: 1}
    assert _read(by_name["a.jsonl"]) == _read(by_name["sub/b.jsonl.gz"]) == TEXTS
    assert _read(by_name["c"]) == ["<p>x", "<p>y"]
    assert _read(by_name["w.warc.gz"]) == ["one", "two"]
    assert _read(by_name["t.csv"]) == ["a"]
    assert by_name["a.jsonl"].size == len(LINES)


def test_globs_and_single_files_in_memory(memory: str) -> None:
    assert [f.name for f in discover([f"{memory}/**/*.jsonl*"]).files if not f.name.startswith(".")]
    assert [f.name for f in discover([f"{memory}/a*"]).files] == ["a.jsonl"]
    [file] = discover([f"{memory}/a.jsonl"]).files
    assert (file.name, _read(file)) == ("a.jsonl", TEXTS)


def test_writing_what_was_read_far_away(memory: str, tmp_path: Path) -> None:
    for place, kept in (("a.jsonl", LINES), ("w.warc.gz", FILES["c/w.warc.gz"])):
        [file] = discover([f"{memory}/{place}"]).files
        file = file.with_fields(choose(file)[0])
        [split] = format_of(file).splits(file)
        rows = len(documents(file))
        format_of(file).write(split, np.ones(rows, bool), tmp_path / place, None, Problems())
        assert (tmp_path / place).read_bytes() == kept
    [file] = discover([f"{memory}/p"]).files
    [split] = format_of(file).splits(file)
    format_of(file).write(split, np.array([True, False]), tmp_path / "p", None, Problems())
    assert [p.name for p in (tmp_path / "p").iterdir()] == ["x.html"]


def test_http(web: str) -> None:
    for name in ("a.jsonl", "sub/b.jsonl.gz"):
        [file] = discover([f"{web}/{name}"]).files
        assert file.name == Path(name).name
        assert _read(file) == TEXTS
    [signed] = discover([f"{web}/a.jsonl?signature=a*b"]).files
    assert (signed.name, _read(signed)) == ("a.jsonl", TEXTS)
    [pages] = discover([f"{web}/p/x.html", f"{web}/p/y.html"]).files
    assert _read(pages) == ["<p>x", "<p>y"]
    [warc] = discover([f"{web}/w.warc.gz"]).files
    assert _read(warc) == ["one", "two"]


def test_what_is_not_there(web: str, memory: str) -> None:
    for place in (
        f"{web}/none.jsonl",
        f"{memory}/none.jsonl",
        "http://127.0.0.1:9/x.jsonl",
        "nosuch://x/y.jsonl",
    ):
        with pytest.raises(InputError, match="cannot be read"):
            discover([place])
    with pytest.raises(InputError, match=r"none\.jsonl: cannot be read"):
        _read(InputFile(f"{web}/none.jsonl", "none.jsonl", "jsonl", fields=Fields("text")))


def test_stamps_in_memory(memory: str) -> None:
    far = fsspec.filesystem("memory")
    files = {f.name: f for f in discover([memory]).files}
    assert all(stamp_of(f) == f.stamp != "" for f in files.values())
    assert stamp_of(discover([f"{memory}/a.jsonl"]).files[0]) == files["a.jsonl"].stamp
    far.pipe("/c/a.jsonl", far.cat("/c/a.jsonl"))  # the same size
    assert stamp_of(files["a.jsonl"]) != files["a.jsonl"].stamp
    far.pipe("/c/p/y.html", b"<p>z")
    assert stamp_of(files["c"]) not in (files["c"].stamp, "gone")
    far.rm("/c/a.jsonl")
    far.rm("/c/p", recursive=True)
    assert stamp_of(files["a.jsonl"]) == stamp_of(files["c"]) == "gone"


def test_stamps_on_the_web(web: str, tmp_path: Path) -> None:
    [pages] = discover([f"{web}/p/x.html", f"{web}/p/y.html"]).files
    [listed] = discover([f"{web}/p/"]).files
    [lines] = discover([f"{web}/a.jsonl"]).files
    files = (pages, lines, listed)
    assert all(stamp_of(f) == f.stamp != "" for f in files)
    assert listed.size == pages.size == 8
    for name in ("c/p/x.html", "c/a.jsonl"):
        os.utime(tmp_path / name, (0, 1_000_000_000))
    assert all(stamp_of(f) not in (f.stamp, "gone") for f in files)
    (tmp_path / "c/a.jsonl").unlink()
    assert stamp_of(lines) == "gone"


def test_remote_parquet_is_bounded_as_local_parquet_is(memory: str) -> None:
    """150 rows with one value of a megabyte in 2 kB; and a page of 150 MB."""
    limit = 4 << 20
    values = pa.DictionaryArray.from_arrays(pa.array([0] * 150, pa.int32()), pa.array(["a" * (1 << 20)]))
    for name, texts, dictionary in (("value", values, True), ("page", values.dictionary_decode(), False)):
        sink = pa.BufferOutputStream()
        how = {"use_dictionary": dictionary, "data_page_size": 1 << 30, "write_batch_size": 1 << 20}
        pq.write_table(pa.table({"text": texts}), sink, compression="zstd", **how)
        fsspec.filesystem("memory").pipe(f"/c/{name}.parquet", sink.getvalue().to_pybytes())
    del texts, values
    before, held = pa.total_allocated_bytes(), 0
    for name in ("value", "page"):
        path = f"{memory}/{name}.parquet"
        file = InputFile(path, name, "parquet", fields=Fields(text="text"))
        [split] = Parquet().splits(file)
        if name == "page":
            with pytest.raises(InputError, match="a page of the column 'text' has"):
                next(Parquet().read(split, Problems(max_document_bytes=limit)))
            continue
        rows = 0
        for batch in Parquet().read(split, Problems(max_document_bytes=limit)):
            rows += len(batch)
            held = max(held, pa.total_allocated_bytes() - before)
        assert rows == 150
        assert held < 20 * limit
