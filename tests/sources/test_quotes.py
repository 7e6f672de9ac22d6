"""Quotation marks in CSV and TSV: never altered without a word, refused with the line where they are malformed."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neardup
from neardup.errors import InputError, OutputError, UsageError
from neardup.sources import Fields, Problems, choose
from neardup.sources.base import Quoting
from neardup.sources.csv import Csv
from neardup.sources.quotes import StrictQuotes
from tests.sources.reading import documents, input_file

TATOEBA = (
    b'id\tlang\ttext\n1\teng\t"Yes," he said.\n2\teng\t"No.\n3\teng\tMaybe "so".\n4\teng\t""\n5\teng\t"\n6\teng\tend"\n'
)


def opened(folder: Path, name: str, data: bytes, quoting: Quoting | None = None) -> Any:
    (folder / name).write_bytes(data)
    file = input_file(folder / name, "csv", Fields())
    return file.with_fields(choose(file, quoting=quoting)[0])


def kept(file: Any, folder: Path, keep: list[bool], notes: pa.Table | None = None) -> bytes:
    [split] = Csv().splits(file)
    Csv().write(split, np.array(keep), folder / "kept", notes, Problems())
    return (folder / "kept").read_bytes()


@pytest.mark.parametrize("name", ["a.tsv", "a.tab", "a.csv"])
def test_where_tabs_separate_values_marks_are_text(name: str, tmp_path: Path) -> None:
    file = opened(tmp_path, name, TATOEBA)
    found = [row["text"] for row in documents(file)]
    assert found == ['"Yes," he said.', '"No.', 'Maybe "so".', '""', '"', 'end"']
    assert kept(file, tmp_path, [True] * 6) == TATOEBA
    lines = TATOEBA.splitlines(keepends=True)
    assert kept(file, tmp_path, [True, False, True, False, True, False]) == b"".join(lines[at] for at in (0, 1, 3, 5))
    said = choose(input_file(tmp_path / name, "csv", Fields()))[1]
    assert any("quotation marks are text (guessed; choose with --quoting)" in sentence for sentence in said)


def test_a_header_with_marks_tells_that_values_are_quoted(tmp_path: Path) -> None:
    file = opened(tmp_path, "a.tsv", b'"id"\t"text"\n"1"\t"a ""b""\tc"\n')
    assert [(row["id"], row["text"]) for row in documents(file)] == [("1", 'a "b"\tc')]


def test_quoted_tabs_are_never_split_without_a_word(tmp_path: Path) -> None:
    data = b'id\ttext\n1\t"a\tb"\n2\t"c\nd"\n'
    with pytest.raises(InputError, match=r"a\.tsv:1: wrong number of values[\s\S]*--quoting standard"):
        documents(opened(tmp_path, "a.tsv", data))
    assert [row["text"] for row in documents(opened(tmp_path, "a.tsv", data, "standard"))] == ["a\tb", "c\nd"]


MALFORMED = [
    (b'id,text\n1,a\n2,"Yes," he said.\n3,b\n', 3, "text follows"),
    (b'id,text\n1,"No.\n2,b\n3,c\n', 2, "does not end"),
    (b'\n\nid,text\n1,"a\nb"\n2,"No.\n3,"Yes\n', 6, "text follows"),
    (b'\xef\xbb\xbfid,text\n1,"a"b\n', 2, "text follows"),
    (b'id,text\n1,"\n', 2, "does not end"),
]


@pytest.mark.parametrize(("data", "line", "what"), MALFORMED)
def test_malformed_marks_stop_the_run_with_the_line(data: bytes, line: int, what: str, tmp_path: Path) -> None:
    for on_error in ("stop", "skip"):
        file = opened(tmp_path, "a.csv", data)
        with pytest.raises(
            InputError, match=rf"a\.csv:{line}: malformed quotation marks: .*{what}[\s\S]*--quoting none"
        ):
            documents(file, problems=Problems(on_error))  # type: ignore[arg-type]


def test_malformed_marks_in_a_header(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a\.csv:1: its header cannot be read .*--quoting none"):
        opened(tmp_path, "a.csv", b'id,"text\n1,a\n')
    assert len(documents(opened(tmp_path, "a.csv", b'id,"text\n1,a\n', "none"))) == 1


def test_marks_are_text_where_that_is_said(tmp_path: Path) -> None:
    file = opened(tmp_path, "a.csv", b'id,text\n1,a\n2,"Yes he said.\n3,b"\n', "none")
    assert [row["text"] for row in documents(file)] == ["a", '"Yes he said.', 'b"']
    assert kept(file, tmp_path, [False, True, True]) == b'id,text\n2,"Yes he said.\n3,b"\n'
    with pytest.raises(UsageError, match=r"quoting = 'all': choose standard or none"):
        opened(tmp_path, "a.csv", b"id,text\n", "all")  # type: ignore[arg-type]


def test_notes_that_would_need_marks_are_refused(tmp_path: Path) -> None:
    file = opened(tmp_path, "a.tsv", TATOEBA)
    assert kept(file, tmp_path, [True] * 6, pa.table({"n": list("abcdef")})).endswith(b'end"\tf\n')
    with pytest.raises(OutputError, match="--quoting standard"):
        kept(file, tmp_path, [True] * 6, pa.table({"n": [*"abcde", "f\tg"]}))


def test_dedup_takes_it(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b'id,text\n1,"Yes he said\n2,"No she said\n')
    with pytest.raises(InputError, match=r"a\.csv:2: malformed"):
        neardup.dedup(tmp_path / "a.csv")
    assert neardup.dedup(tmp_path / "a.csv", quoting="none").counts["documents"] == 2


def first_malformed(data: bytes) -> int | None:
    """The twin, byte by byte: the line of the value whose marks are malformed."""
    state, line, opened = "between", 1, 0
    for byte in data.decode():
        if state == "between":
            state = "quoted" if byte == '"' else "between" if byte in ",\r\n" else "plain"
            opened = line
        elif state == "plain":
            state = "between" if byte in ",\r\n" else "plain"
        elif state == "quoted":
            state = "mark" if byte == '"' else "quoted"
        elif byte == '"':
            state = "quoted"
        elif byte in ",\r\n":
            state = "between"
        else:
            return opened
        line += byte == "\n"
    return opened if state == "quoted" else None


@settings(max_examples=500)
@given(st.text('"",\n\rab', max_size=40), st.integers(1, 7))
def test_marks_by_the_definition(text: str, size: int) -> None:
    """However the file is cut into pieces."""
    data = text.encode()
    stream = StrictQuotes(io.BytesIO(data), "a.csv", ",", 1)
    passed = b""
    try:
        while piece := stream.read(size):
            passed += piece
        found = None
        assert passed == data
    except InputError as error:
        found = int(str(error).split(":")[1])
    assert found == first_malformed(data)
