"""What is written: the bytes of the input without those of the removed documents, and nothing else is missing.

Files are put together from pieces, some of which are documents; so what is to be written follows from how they are
made, whatever the formats say.
"""

import bz2
import gzip
import json
import lzma
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from neardup.sources import Fields, InputFile, Problems, format_of
from neardup.sources.compression import open_plain
from tests.sources.reading import WHOLE, input_file, masks
from tests.sources.warcfile import record, response

BOM = b"\xef\xbb\xbf"
PACK = {
    "": lambda data: data,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: bytes(pa.Codec("zstd").compress(data)),
}


@dataclass(frozen=True)
class Made:
    """A file: what stands before everything else, and pieces with whether they are documents."""

    before: bytes
    pieces: list[tuple[bytes, bool]]

    @property
    def data(self) -> bytes:
        return self.before + b"".join(piece for piece, _ in self.pieces)

    @property
    def documents(self) -> int:
        return sum(document for _, document in self.pieces)

    def without(self, removed: set[int]) -> bytes:
        """The bytes of the file when some documents, by their numbers, are gone."""
        left, number = [self.before], 0
        for piece, document in self.pieces:
            if not (document and number in removed):
                left.append(piece)
            number += document
        return b"".join(left)


def _unended(made: Made, ends: tuple[bytes, ...]) -> Made:
    """The same without the line end of the last piece, where something is left of it."""
    if not made.pieces:
        return made
    last, document = made.pieces[-1]
    short = next((last.removesuffix(end) for end in ends if last.endswith(end)), last)
    return Made(made.before, [*made.pieces[:-1], (short, document)]) if short else made


text = st.text(st.sampled_from('aé漢,;"\\ \u2028\u0085\t'), max_size=8)
marks = st.sampled_from([b"", BOM])


@st.composite
def jsonl(draw: st.DrawFn) -> Made:
    end = st.sampled_from([b"\n", b"\r\n"])
    spaced = st.sampled_from([b"", b" ", b"\t"])
    document = st.builds(
        lambda before, value, after, e: (before + json.dumps({"text": value}).encode() + after + e, True),
        spaced, text, spaced, end,
    )  # fmt: skip
    blank = st.builds(lambda space, e: (space + e, False), spaced, end)
    broken = st.builds(
        lambda line, e: (line + e, False), st.sampled_from([b"{", b"7", b'{"x": 1}', b'{"text": "\xff"}']), end
    )
    pieces = draw(st.lists(st.one_of(document, document, blank, broken), max_size=8))
    made = Made(draw(marks), pieces)
    return _unended(made, (b"\n",)) if draw(st.booleans()) else made


@st.composite
def lines(draw: st.DrawFn) -> Made:
    line = st.builds(lambda value, e: (value.encode() + e, True), text, st.sampled_from([b"\n", b"\r\n"]))
    made = Made(draw(marks), draw(st.lists(line, max_size=8)))
    return _unended(made, (b"\n",)) if draw(st.booleans()) else made


def _value(value: str, always: bool) -> bytes:
    if always or any(c in value for c in ',"\r\n'):
        return b'"' + value.replace('"', '""').encode() + b'"'
    return value.encode()


@st.composite
def csv(draw: st.DrawFn) -> Made:
    end = st.sampled_from([b"\n", b"\r\n", b"\r"])
    word = st.text(st.sampled_from('aé漢,;"\\ \u2028\r\n'), max_size=6)
    row = st.builds(
        lambda one, two, always, e: (_value(one, always) + b"," + _value(two, always) + e, True),
        word, word, st.booleans(), end,
    )  # fmt: skip
    blank = end.map(lambda e: (e, False))
    narrow = st.builds(lambda value, e: (_value(value + "x", False) + e, False), word, end)
    head = draw(st.lists(blank, max_size=2))
    header = (draw(st.sampled_from([b"name,text", b'"name","text"', b'name,"text"'])) + draw(end), False)
    made = Made(draw(marks), [*head, header, *draw(st.lists(st.one_of(row, row, blank, narrow), max_size=7))])
    made = _joined_ends(made)
    return _unended(made, (b"\r\n", b"\n", b"\r")) if draw(st.booleans()) else made


def _joined_ends(made: Made) -> Made:
    """A piece that ends with \\r before a blank line \\n would be one piece to every reader: they are kept apart."""
    pieces: list[tuple[bytes, bool]] = []
    for piece, document in made.pieces:
        if piece == b"\n" and pieces and pieces[-1][0].endswith(b"\r"):
            continue
        pieces.append((piece, document))
    return Made(made.before, pieces)


@st.composite
def warc(draw: st.DrawFn) -> Made:
    def one(kind: int, body: str, n: int) -> tuple[bytes, bool]:
        if kind == 0:
            return response(n, body.encode(), content_type="text/plain"), True
        if kind == 1:
            return record("conversion", n, body.encode(), url="http://a/\u2028", content_type="text/plain"), True
        if kind == 2:
            return record("metadata", n, body.encode()), False
        return response(n, gzip.compress(b"words " * 99)[:20] + bytes(50), "Content-Encoding: gzip"), False

    found = draw(st.lists(st.tuples(st.integers(0, 3), text), max_size=6))
    pieces = [one(kind, body, n) for n, (kind, body) in enumerate(found, 1)]
    return Made(draw(st.sampled_from([b"", b"\r\n", b"\n\n"])), pieces)


def written(file: InputFile, keep: np.ndarray, size: int, folder: Path) -> bytes:
    """The content of all parts, one behind the other."""
    found = b""
    for split, part, _ in masks(file, size, keep):
        target = folder / f"out-{split.part}"
        format_of(file).write(split, part, target, None, Problems("skip"))
        with open_plain(str(target), file.compression, "out") as stream:
            found += stream.read()
    return found


def check(made: Made, removed: set[int], format: str, name: str, fields: Fields, size: int = WHOLE) -> None:
    with TemporaryDirectory() as place:
        for ending, pack in PACK.items():
            path = Path(place, name + ending)
            path.write_bytes(pack(made.data))
            file = input_file(path, format, fields)
            keep = np.array([number not in removed for number in range(made.documents)], bool)
            for mask, expected in ((keep, made.without(removed)), (np.ones_like(keep), made.data)):
                assert written(file, mask, size, Path(place)) == expected, (name + ending, size)


numbers = st.sets(st.integers(0, 7))
sizes = st.sampled_from([1, 5, 40, WHOLE])


@settings(max_examples=60, deadline=None)
@given(made=jsonl(), removed=numbers, size=sizes)
@example(Made(BOM, [(b'{"text": "a"}\n', True), (b"\n", False), (b'{"text": "b"}', True)]), {0}, 1)
@example(Made(BOM, [(b'{"text": "a"}', True)]), {0}, 1)
@example(Made(b"", [(b'{"text": "a"}\n', True), (b'{"text": "b"}', True)]), {1}, WHOLE)
def test_jsonl(made: Made, removed: set[int], size: int) -> None:
    check(made, removed, "jsonl", "a.jsonl", Fields("text"), size)


@settings(max_examples=40, deadline=None)
@given(made=lines(), removed=numbers, size=sizes)
@example(Made(BOM, [(b"\n", True), (b"a", True)]), {0}, 1)
@example(Made(BOM, []), {0}, 1)
def test_lines(made: Made, removed: set[int], size: int) -> None:
    check(made, removed, "lines", "a.txt", Fields(), size)


@settings(max_examples=60, deadline=None)
@given(made=csv(), removed=numbers)
@example(Made(BOM, [(b"\n", False), (b"name,text\r", False), (b'"a","b\n"\r', True), (b"c,d", True)]), {0})
def test_csv(made: Made, removed: set[int]) -> None:
    check(made, removed, "csv", "a.csv", Fields("text"))


@settings(max_examples=30, deadline=None)
@given(made=warc(), removed=numbers)
def test_warc(made: Made, removed: set[int]) -> None:
    check(made, removed, "warc", "a.warc", Fields())


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_tsv_without_quoting(end: bytes, tmp_path: Path) -> None:
    pieces = [(b"name\ttext" + end, False), (b'"a\tb"' + end, True), (end, False), (b'c\t"d' + end, True)]
    check(Made(BOM, pieces), {0}, "csv", "a.tsv", Fields("text"))
    check(Made(b"", pieces), {1}, "csv", "a.tsv", Fields("text"))


def test_a_line_that_is_too_long_to_be_held_is_copied(tmp_path: Path) -> None:
    long = json.dumps({"text": "word " * 200_000}).encode() + b"\n"
    data = b'{"text": "a"}\n' + long + b'{"text": "b"}'
    for format, fields in (("jsonl", Fields("text")), ("lines", Fields())):
        (tmp_path / "a.jsonl").write_bytes(data)
        file = input_file(tmp_path / "a.jsonl", format, fields)
        [split] = format_of(file).splits(file)
        problems = Problems("skip", max_document_bytes=1000)
        format_of(file).write(split, np.array([False, True]), tmp_path / "out", None, problems)
        assert [problem.kind for problem in problems.found] == ["too long"]
        assert (tmp_path / "out").read_bytes() == long + b'{"text": "b"}'


def test_notes_leave_everything_else_as_it_is(tmp_path: Path) -> None:
    notes = pa.table({"n": pa.array([1, 2])})
    for name, data, expected in (
        (
            "a.jsonl",
            BOM + b'{"text": "a"} \r\n\n{"x\n{"text": "b"}',
            BOM + b'{"text": "a","n":1} \r\n\n{"x\n{"text": "b","n":2}',
        ),
        (
            "a.csv",
            BOM + b'\n"name",text\r\n"a","b"\r\n\r\nnarrow\r\nc,d',
            BOM + b'\n"name",text,n\r\n"a","b",1\r\n\r\nnarrow\r\nc,d,2',
        ),
    ):
        (tmp_path / name).write_bytes(data)
        file = input_file(tmp_path / name, Path(name).suffix[1:], Fields("text"))
        [split] = format_of(file).splits(file)
        format_of(file).write(split, np.array([True, True]), tmp_path / "out", notes, Problems("skip"))
        assert (tmp_path / "out").read_bytes() == expected
