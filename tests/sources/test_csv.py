"""CSV: values untouched, rows of the wrong width, headers, rows longer than what is read at once."""

import csv
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup
from neardup.errors import InputError, UsageError
from neardup.sources import Fields, Problems, choose
from neardup.sources.csv import Csv, _header, _numbers
from tests.sources.reading import TEXT_AND_ID, documents, input_file, texts


def _file(folder: Path, data: bytes, fields: Fields = TEXT_AND_ID, name: str = "a.csv") -> Any:
    (folder / name).write_bytes(data)
    return input_file(folder / name, "csv", fields)


def _written(file: Any, keep: list[bool], folder: Path, problems: Problems | None = None) -> bytes:
    [split] = Csv().splits(file)
    target = folder / ("out" + Path(file.name).suffix)
    Csv().write(split, np.array(keep), target, None, problems or Problems())
    return target.read_bytes()


def test_values_are_not_interpreted(tmp_path: Path) -> None:
    file = _file(tmp_path, b'id,text\n007,NA\n1e3,null\n,""\n5," a "\n6,5" pipe\n7,\xff\n')
    [split] = Csv().splits(file)
    [batch] = Csv().read(split, Problems())
    assert batch.id is not None
    assert batch.id.to_pylist() == ["007", "1e3", "", "5", "6", "7"]
    assert batch.text.to_pylist() == [b"NA", b"null", b"", b" a ", b'5" pipe', b"\xff"]
    kept = [True, False, True, True, True, True]
    assert _written(file, kept, tmp_path) == b'id,text\n007,NA\n,""\n5," a "\n6,5" pipe\n7,\xff\n'


@pytest.mark.parametrize(
    "data",
    [b"id,text\n1,a\n", b"id,text\r\n1,a\r\n", b"\xef\xbb\xbfid,text\n1,a", b'\n"id","text"\n"1","a"\n'],
)
def test_dialects(data: bytes, tmp_path: Path) -> None:
    assert documents(_file(tmp_path, data)) == [{"id": "1", "text": "a", "position": 1}]


def test_tabs(tmp_path: Path) -> None:
    quoted = Fields("text", "id", quoting="standard")
    file = _file(tmp_path, b'id\ttext\n1\ta,b\n2\t"c\td"\n', quoted, name="a.tsv")
    assert texts(file) == ["a,b", "c\td"]
    assert _written(file, [True, True], tmp_path) == b'id\ttext\n1\ta,b\n2\t"c\td"\n'


def test_rows_of_the_wrong_width(tmp_path: Path) -> None:
    rows = [f"{n},t{n}" for n in range(1, 3001)]
    rows[1], rows[1500], rows[2999] = "2", "1501,a,b", "3000,x,y"
    file = _file(tmp_path, ("id,text\n" + "\n".join(rows) + "\n").encode())
    problems = Problems("skip")
    found = documents(file, problems=problems)
    assert [d["position"] for d in found] == [int(d["id"]) for d in found]
    assert len(found) == 2997
    assert [(p.position, p.kind) for p in problems.found] == [(n, "wrong number of values") for n in (2, 1501, 3000)]
    assert problems.found[1].detail == "it has 3 values, the header 2"
    with pytest.raises(InputError, match=r"a\.csv:2: wrong number of values"):
        texts(file)


def test_rows_of_the_wrong_width_in_many_batches(tmp_path: Path) -> None:
    """The parser runs ahead of the batches: numbers must be right all the same."""
    wrong = {n for n in range(1, 20001) if n % 997 == 0 or n % 1000 < 3}
    rows = (f"{n},{'x' * 1000}" + (",more" if n in wrong else "") for n in range(1, 20001))
    file = _file(tmp_path, ("id,text\n" + "\n".join(rows) + "\n").encode())
    problems = Problems("skip")
    found = documents(file, problems=problems)
    assert [d["position"] for d in found] == [int(d["id"]) for d in found] == sorted({*range(1, 20001)} - wrong)
    assert [p.position for p in problems.found] == sorted(wrong)


@given(wrong=st.sets(st.integers(3, 30)), count=st.integers(0, 20))
def test_numbers_by_the_definition(wrong: set[int], count: int) -> None:
    numbers, following = _numbers(3, count, sorted(wrong))
    right = [n for n in range(3, 100) if n not in wrong]
    assert numbers.tolist() == right[:count]
    assert following == right[count]


def test_many_rows_of_the_wrong_width(tmp_path: Path) -> None:
    file = _file(tmp_path, b"id,text\n1,a\n" + b"w\n2,b\n" * 100 + b"w\n" * 20_000 + b"3,c\n")
    problems = Problems("skip")
    assert len(texts(file, problems=problems)) == 102
    assert len(problems.found) == 20_100


def test_wrong_rows_are_walked_through_once() -> None:
    """Those that the parser has met ahead of the batch must not be counted again for each of them."""
    ahead = list(range(1003, 41003))
    started = time.process_time()
    numbers, following = _numbers(1, 1001, ahead)
    assert (len(numbers), following) == (1001, 1002)
    assert time.process_time() - started < 1


def test_rows_longer_than_what_is_read_at_once(tmp_path: Path) -> None:
    long = "x" * (9 << 20)
    file = _file(tmp_path, ("id,text\n" + "1,a\n" * 100 + f"2\n3,{long}\n" + "4,b\n" * 100 + f"5,{long}\n").encode())
    problems = Problems("skip")
    found = documents(file, problems=problems)
    assert [d["position"] for d in found] == [n for n in range(1, 204) if n != 101]
    assert [p.position for p in problems.found] == [101]
    assert found[100]["text"] == found[-1]["text"] == long


def test_too_long(tmp_path: Path) -> None:
    file = _file(tmp_path, b"id,text\n1,a\n2," + b"x" * 500 + b"\n3,b\n")
    problems = Problems("skip", max_document_bytes=100)
    assert texts(file, problems=problems) == ["a", "x" * 500, "b"]  # a document, as every row; not compared later
    result = neardup.dedup(tmp_path / "a.csv", on_error="skip", max_document_bytes=100)
    assert result.counts["skipped_by_kind"] == {"too long": 1}
    assert result.kept.column("id").to_pylist() == ["1", "2", "3"]


def test_an_open_quotation_mark_ends_in_a_message(tmp_path: Path) -> None:
    file = _file(tmp_path, b'id,text\n1,a\n2,"' + b"x\n" * (9 << 20))
    with pytest.raises(InputError, match=r"after row 1 is longer.*left open|a\.csv:3: malformed .* does not end"):
        texts(file, problems=Problems("skip", max_document_bytes=1 << 20))


def test_empty_and_header_only(tmp_path: Path) -> None:
    for data, names in (
        (b"", {}),
        (b"\n", {}),
        (b"id,text", {"id": "text", "text": "text"}),
        (b"id,text\n", {"id": "text", "text": "text"}),
    ):
        file = _file(tmp_path, data)
        assert Csv().columns(file) == names
        assert texts(file) == []
    assert _written(file, [], tmp_path) == b"id,text\n"


def test_headers(tmp_path: Path) -> None:
    assert Csv().columns(_file(tmp_path, b'"a, b","c\nd",true,1\n1,2,3,4\n')) == dict.fromkeys(
        ["a, b", "c\nd", "true", "1"], "text"
    )
    with pytest.raises(InputError, match="twice"):
        Csv().columns(_file(tmp_path, b"a,a\n"))
    with pytest.raises(InputError, match="UTF-16"):
        Csv().columns(_file(tmp_path, "a,b\n".encode("utf-16")))


def test_values_for_the_keep_policy_are_as_they_are_written(tmp_path: Path) -> None:
    data = b"id,text,n,f,s\n1,a,1,1.5,x\n2,b,,2,3\n"
    found = documents(_file(tmp_path, data, Fields("text", "id", None, ("n", "f", "s"))))
    assert [(d["n"], d["f"], d["s"]) for d in found] == [("1", "1.5", "x"), ("", "2", "3")]


def test_one_column_with_empty_values(tmp_path: Path) -> None:
    file = _file(tmp_path, b'text\na\n""\nb\n', Fields("text"))
    assert texts(file) == ["a", "", "b"]
    assert _written(file, [True] * 3, tmp_path) == b'text\na\n""\nb\n'


def test_a_note_by_the_name_of_a_column_is_refused(tmp_path: Path) -> None:
    file = _file(tmp_path, b"id,text\n1,a\n")
    [split] = Csv().splits(file)
    with pytest.raises(UsageError, match="'id' already"):
        Csv().write(split, np.array([True]), tmp_path / "o.csv", pa.table({"id": [1]}), Problems())


def test_written_rows_are_read_by_others(tmp_path: Path) -> None:
    values = ["plain", "com,ma", 'quo"te', '"', "new\nline", "re\rturn", "", " sp ", "é", "tab\t"]
    with open(tmp_path / "a.csv", "w", newline="") as file:
        csv.writer(file).writerows([["id", "text"], *([str(n), v] for n, v in enumerate(values))])
    _written(input_file(tmp_path / "a.csv", "csv"), [True] * len(values), tmp_path)
    with open(tmp_path / "out.csv", newline="") as file:
        assert [row[1] for row in list(csv.reader(file))[1:]] == values


DELIMITED = [
    (b"id;text\n1;a,b\n", ";", "';'"),
    (b'"id";"te,xt"\n1;a,b\n', ";", "';'"),
    (b'"a ""x"", y"|"b;c\nd"|e\n1|2|3\n', "|", "'|'"),
    (b"id\ttext\n1\ta,b\n", "\t", "tabs"),
    (b"id;x,text\n1;2,3\n", ",", None),
    (b'"a;b"\n1\n', ",", None),
    (b"text\na;b|c\n", ",", None),
    (b"a;b|c|d\n1|2|3\n", "|", "'|'"),
]


@pytest.mark.parametrize(("data", "delimiter", "said"), DELIMITED)
def test_the_header_tells_what_separates_values(data: bytes, delimiter: str, said: str | None, tmp_path: Path) -> None:
    file = _file(tmp_path, data)
    assert _header(file).delimiter == delimiter
    assert Csv().guessed(file) == ([f"a.csv: values are separated by {said}"] if said else [])


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_written_as_it_was(delimiter: str, line_end: str, bom: str, tmp_path: Path) -> None:
    rows = [["id", "text"], ["1", "a, b"], ["2", f'"c{delimiter}d"'], ["3", '"e\nf"']]
    data = (bom + "".join(delimiter.join(row) + line_end for row in rows)).encode()
    file = _file(tmp_path, data, Fields("text", "id", quoting="standard"))
    assert [(d["id"], d["text"]) for d in documents(file)] == [("1", "a, b"), ("2", f"c{delimiter}d"), ("3", "e\nf")]
    assert _written(file, [True] * 3, tmp_path) == data
    fields, said = choose(file)
    assert (fields.text, fields.id) == ("text", "id")
    assert said[0].startswith("a.csv: values are separated by ")


def test_a_name_tells_tabs(tmp_path: Path) -> None:
    file = _file(tmp_path, b"text;x\ty,z\n1\t2\n", name="a.tsv")
    assert list(Csv().columns(file)) == ["text;x", "y,z"]
    assert Csv().guessed(file) == []
