"""Lines of a text file, and files that are a document each."""

import gzip
import io
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from neardup.errors import InputError
from neardup.sources import Fields, InputFile, Problems, discover, format_of, linewise
from neardup.sources.lines import Lines
from tests.sources.reading import WHOLE, documents, input_file, texts


def test_every_line_is_a_document_also_an_empty_one(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfone\r\n\n  \nfour")
    file = input_file(tmp_path / "a.txt", "lines", Fields())
    for size in (1, 5, WHOLE):
        found = [(d["position"], d["text"]) for d in documents(file, size)]
        assert found == [(1, "one"), (2, ""), (3, "  "), (4, "four")]
    [split] = Lines().splits(file)
    Lines().write(split, np.array([True, True, False, True]), tmp_path / "out", None, Problems())
    assert (tmp_path / "out").read_bytes() == b"\xef\xbb\xbfone\r\n\nfour"


def test_long_lines(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"a\n" + b"x" * 50 + b"\nb\n" + b"y" * (1 << 20) + b"\nc\n")
    file = input_file(tmp_path / "a.txt", "lines", Fields())
    for size in (60, WHOLE):
        problems = Problems("skip", max_document_bytes=20)
        assert [(d["position"], d["text"]) for d in documents(file, size, problems)] == [
            (1, "a"),
            (3, "b"),
            (5, "c"),
        ]
        assert sorted((p.position, p.kind) for p in problems.found) == [(2, "too long"), (4, "too long")]


def test_a_line_that_spans_splits_is_not_read_by_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    size = 4 << 20
    (tmp_path / "a.txt").write_bytes(b"x" * size + b"\nlast")
    file = input_file(tmp_path / "a.txt", "lines", Fields())
    read = 0

    class Counted(io.FileIO):
        def read(self, size: int | None = -1, /) -> bytes:
            nonlocal read
            data = super().read(-1 if size is None else size)
            read += len(data)
            return data

    monkeypatch.setattr(linewise, "open_plain", lambda path, *_: Counted(path))
    splits = Lines().splits(file, size // 64)
    assert len(splits) > 60
    found = [
        (int(p), len(t))
        for s in splits
        for b in Lines().read(s, Problems())
        for p, t in zip(b.positions, b.text.to_pylist(), strict=True)
    ]
    assert found == [(1, size), (2, 4)]
    # once by the split that owns it, once by those that look for a line of their own, once to count lines
    assert read < 3.1 * size


@pytest.mark.parametrize("data", [b"a\n", b"a\nb", b"\n\n\n", b"ab\n\ncd\n", b"abcdefgh", b"a\nbcdefg\nh"])
def test_cuts_at_every_byte(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(data)
    file = input_file(tmp_path / "a.txt", "lines", Fields())
    whole = [(n, line.decode()) for n, line in enumerate(data.removesuffix(b"\n").split(b"\n"), 1)]
    for size in range(1, len(data) + 1):
        assert [(d["position"], d["text"]) for d in documents(file, size)] == whole


def _folder(folder: Path, files: dict[str, bytes]) -> InputFile:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    [file] = discover([folder]).files
    return file


def test_ids_are_paths(tmp_path: Path) -> None:
    file = _folder(tmp_path / "in", {"b.txt": b"b", "a/x.md": b"ax", "a/y.txt.gz": gzip.compress(b"ay")})
    assert [(d["id"], d["text"]) for d in documents(file)] == [
        ("a/x.md", "ax"),
        ("a/y.txt.gz", "ay"),
        ("b.txt", "b"),
    ]


def test_html_is_untouched_and_marked(tmp_path: Path) -> None:
    page = b"\xef\xbb\xbf<html>\xe9</html>"
    file = _folder(tmp_path, {"a.html": page})
    [split] = format_of(file).splits(file)
    [batch] = format_of(file).read(split, Problems())
    assert batch.text.to_pylist() == [page]
    assert batch.html is not None
    assert batch.html.tolist() == [True]
    [table] = format_of(file).table(split, Problems())
    assert table.to_pylist() == [{"id": "a.html", "html": page}]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32", "utf-8"])
def test_text_with_a_byte_order_mark(encoding: str, tmp_path: Path) -> None:
    file = _folder(tmp_path, {"a.txt": "é and ü".encode(encoding)})
    assert texts(file) == ["é and ü"]


def test_unreadable_and_long_members_are_problems(tmp_path: Path) -> None:
    files = {
        "a.txt": b"a",
        "b.txt": b"b" * 200,
        "c.txt.gz": gzip.compress(b"c" * 9)[:-3],
        "d.txt": b"d",
        "e.txt": b"e",
    }
    file = _folder(tmp_path / "in", files)
    (tmp_path / "in" / "d.txt").unlink()
    problems = Problems("skip", max_document_bytes=100)
    assert texts(file, 1, problems) == ["a", "e"]
    assert [(p.source, p.kind) for p in problems.found] == [
        ("b.txt", "too long"),
        ("c.txt.gz", "unreadable"),
        ("d.txt", "unreadable"),
    ]
    with pytest.raises(InputError, match="Raise --max-document-bytes"):
        texts(file, problems=Problems(max_document_bytes=100))


def test_copies_keep_bytes_and_times(tmp_path: Path) -> None:
    packed = gzip.compress(b"ay")
    file = _folder(tmp_path / "in", {"a/x.txt": "é".encode("utf-16"), "a/y.txt.gz": packed, "z.txt": b"z"})
    os.utime(tmp_path / "in" / "a" / "x.txt", (1_000_000_000, 1_100_000_000))
    for split, keep in zip(format_of(file).splits(file, 1), ([True], [True], [False]), strict=True):
        format_of(file).write(split, np.array(keep), tmp_path / "out", None, Problems())
    assert (tmp_path / "out/a/x.txt").read_bytes() == "é".encode("utf-16")
    assert (tmp_path / "out/a/x.txt").stat().st_mtime == 1_100_000_000
    assert (tmp_path / "out/a/y.txt.gz").read_bytes() == packed
    assert not (tmp_path / "out/z.txt").exists()


def test_names_that_are_not_utf8(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    try:
        with open(os.fsencode(tmp_path / "in") + b"/\xe9.txt", "wb") as out:
            out.write(b"x")
    except OSError:
        pytest.skip("this file system has no such names")
    [file] = discover([tmp_path / "in"]).files
    found: list[dict[str, Any]] = documents(file)
    assert [d["text"] for d in found] == ["x"]
    [split] = format_of(file).splits(file)
    format_of(file).write(split, np.array([True]), tmp_path / "out", None, Problems())
    assert os.listdir(os.fsencode(tmp_path / "out")) == [b"\xe9.txt"]
