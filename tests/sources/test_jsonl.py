"""JSON Lines: cuts anywhere, line numbers, every kind of bad line, bytes kept as they are."""

import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.errors import InputError, UsageError
from neardup.sources import Fields, Problems, format_of
from neardup.sources.jsonl import Jsonl, kinds_of
from tests.sources.reading import TEXT, WHOLE, documents, input_file, texts


def _file(folder: Path, data: bytes, fields: Fields = TEXT, name: str = "a.jsonl") -> Any:
    (folder / name).write_bytes(data)
    return input_file(folder / name, "jsonl", fields)


lines = st.one_of(
    st.text(max_size=30).map(lambda t: json.dumps({"text": t}, ensure_ascii=False).encode()),
    st.text(max_size=30).map(lambda t: json.dumps({"x": [t], "text": t}).encode() + b"\r"),
    st.sampled_from([b"", b"   ", b"broken", b'{"text": nul', b"[]", b'{"x": 1}', b'{"text": null}', b"\xff"]),
)


@given(lines=st.lists(lines, max_size=12), size=st.integers(1, 60), ended=st.booleans())
def test_any_lines_at_any_split_size(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], size: int, ended: bool
) -> None:
    folder = tmp_path_factory.mktemp("jsonl")
    # "[" first is refused as a whole; that has a test of its own
    file = _file(folder, b'{"text": "first"}\n' + b"\n".join(lines) + (b"\n" if ended else b""))
    expected, numbers = [], []
    for number, line in enumerate([b'{"text": "first"}', *lines], 1):
        try:
            row = json.loads(line.decode())
            assert isinstance(row, dict)
            expected.append((number, row["text"]))
        except (ValueError, AssertionError, KeyError):
            if line.strip():
                numbers.append(number)
    problems = Problems("skip")
    assert [(d["position"], d["text"]) for d in documents(file, size, problems)] == expected
    assert [p.position for p in problems.found] == numbers


def test_line_numbers_in_splits_read_out_of_order(tmp_path: Path) -> None:
    file = _file(tmp_path, b"".join(b'{"text": "%d"}\n\n' % n for n in range(500)))
    splits = format_of(file).splits(file, 300)
    assert len(splits) > 20
    for split in [*reversed(splits), *splits]:
        for batch in Jsonl().read(split, Problems()):
            assert [2 * int(t) + 1 for t in batch.text.to_pylist()] == batch.positions.tolist()


def test_a_changed_file_is_counted_anew(tmp_path: Path) -> None:
    """Line numbers are remembered by offset; a file of the same size but another time is another file."""
    line = b'{"text": "1"}\n'
    for time, data in enumerate((line * 100, b"\n" * len(line) * 50 + line * 50)):
        file = _file(tmp_path, data)
        os.utime(file.path, (1000 + time, 1000 + time))
        last = format_of(file).splits(file, len(line) * 10)[-1]
        [batch] = Jsonl().read(last, Problems())
        assert batch.positions.tolist() == list(range(data.count(b"\n") - 9, data.count(b"\n") + 1))


BAD = {
    "not JSON": b'{"text": "x"',
    "not an object": b'["x"]',
    "no text field": b'{"id": "1", "txt": "x", "more": 2}',
    "text not a string": b'{"id": "1", "text": 5}',
    "no id": b'{"text": "x", "id": null}',
    "not UTF-8": b'{"id": "1", "text": "\xff"}',
    "too long": b'{"id": "1", "text": "' + b"x" * 200 + b'"}',
}


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("size", [20, WHOLE])
def test_bad_lines(kind: str, size: int, tmp_path: Path) -> None:
    good = b'{"id": "g", "text": "good"}\n'
    file = _file(tmp_path, good * 3 + BAD[kind] + b"\n" + good, Fields("text", "id"))
    problems = Problems("skip", max_document_bytes=150)
    assert texts(file, size, problems) == ["good"] * 4
    assert [(p.source, p.position, p.kind) for p in problems.found] == [("a.jsonl", 4, kind)]
    with pytest.raises(InputError, match=rf"a\.jsonl:4: {kind}: "):
        texts(file, size, Problems("stop", max_document_bytes=150))


def test_messages_say_what_is_there_and_what_to_do(tmp_path: Path) -> None:
    file = _file(tmp_path, BAD["no text field"], Fields("text", "id"))
    with pytest.raises(InputError, match="there are 'id', 'txt', 'more'"):
        texts(file)
    file = _file(tmp_path, BAD["too long"], Fields("text", "id"))
    with pytest.raises(InputError, match="Raise --max-document-bytes, or pass over it with --on-error skip"):
        texts(file, problems=Problems(max_document_bytes=100))


def test_a_line_beyond_the_limit_is_never_held(tmp_path: Path) -> None:
    long = b'{"text": "' + b"x" * (3 << 20) + b'"}\n'
    file = _file(tmp_path, b'{"text": "a"}\n' + long + b'{"text": "b"}\n' + long[:-1])
    for size in (1 << 19, WHOLE):
        problems = Problems("skip", max_document_bytes=1 << 20)
        assert [(d["text"], d["position"]) for d in documents(file, size, problems)] == [("a", 1), ("b", 3)]
        assert [(p.kind, p.position) for p in problems.found] == [("too long", 2), ("too long", 4)]
        assert f"{len(long) - 1:,} bytes" in problems.found[0].detail


def test_half_surrogates(tmp_path: Path) -> None:
    data = b"""{"text": "a\\ud800b"}
{"text": "ok", "x": "\\ud800"}
{"text": "\\ud83d\\ude00"}
{"x": "\\ud800", "text": "c"}
"""
    problems = Problems("skip")
    file = _file(tmp_path, data, Fields("text", None, None, ("x",)))
    assert texts(file, problems=problems) == ["ok", "😀", "c"]
    assert [(p.kind, p.position) for p in problems.found] == [("not UTF-8", 1)]
    rows = [r for split in Jsonl().splits(file) for b in Jsonl().table(split, Problems("skip")) for r in b.to_pylist()]
    assert [r["text"] for r in rows] == ["ok", "😀", "c"]


def test_what_python_writes_is_read(tmp_path: Path) -> None:
    file = _file(tmp_path, b'{"text": "a", "score": NaN}\n{"text": "b", "score": Infinity}\n')
    assert texts(file) == ["a", "b"]


def test_ids_and_nulls(tmp_path: Path) -> None:
    big = b"123456789012345678901234567890"
    data = b'{"id": 7, "text": "a"}\n{"id": "x", "text": null}\n{"id": %s, "text": ""}\n' % big
    found = documents(_file(tmp_path, data, Fields("text", "id")))
    assert [(d["id"], d["text"]) for d in found] == [
        ("7", "a"),
        ("x", None),
        ("123456789012345678901234567890", ""),
    ]


def test_columns_of_many_types(tmp_path: Path) -> None:
    values = [1, 2.5, None], [1, "x", {"a": 1}], ["u", None, "v"], [2**70, 1, 2]
    rows = [{"text": "t", "n": a, "mixed": b, "url": c, "big": d} for a, b, c, d in zip(*values, strict=True)]
    data = "\n".join(map(json.dumps, rows)).encode()
    found = documents(_file(tmp_path, data, Fields("text", None, "url", ("n", "mixed", "big"))))
    assert [d["n"] for d in found] == ["1", "2.5", None]
    assert [d["mixed"] for d in found] == ["1", '"x"', '{"a": 1}']
    assert [d["url"] for d in found] == ["u", None, "v"]
    assert [d["big"] for d in found] == [str(2**70), "1", "2"]


def test_integers_beyond_everything_keep_their_place(tmp_path: Path) -> None:
    big = 10**400
    rows = [{"text": "t", "n": n, "mixed": m} for n, m in ((big, "x"), (-big, big), (1, None), (None, 1))]
    file = _file(tmp_path, "\n".join(map(json.dumps, rows)).encode(), Fields("text", None, None, ("n", "mixed")))
    found = documents(file)
    assert [d["n"] for d in found] == [str(big), str(-big), "1", None]
    assert [d["mixed"] for d in found] == ['"x"', str(big), None, "1"]


def test_integers_of_thousands_of_digits(tmp_path: Path) -> None:
    digits = b"1" * 5000
    file = _file(tmp_path, b'{"text": "a", "n": %s}\n{"text": "b", "n": 1}\n' % digits)
    assert texts(file) == ["a", "b"]
    [split] = Jsonl().splits(file)
    [table] = Jsonl().table(split, Problems())
    assert table.column("n").to_pylist() == [math.inf, 1]
    problems = Problems("skip")
    assert texts(file.with_fields(Fields("text", None, None, ("n",))), problems=problems) == ["b"]
    assert [p.position for p in problems.found] == [1]


def test_integers_of_64_bits_are_exact(tmp_path: Path) -> None:
    """Times in nanoseconds and ids by time: as fractions, neighbours would be equal."""
    values = [2**63 - 1, None, 1_700_000_000_000_000_001, -(2**63), 2**53 + 1]
    # enough lines for several blocks, one without any number
    lines = [{"text": "t" * 100_000, "n": n} for n in [*values, *[None] * 6, *values]]
    file = _file(tmp_path, "\n".join(map(json.dumps, lines)).encode(), Fields("text", None, None, ("n",)))
    batches = [b for split in Jsonl().splits(file) for b in Jsonl().read(split, Problems())]
    assert {b.columns["n"].type for b in batches} == {pa.int64()}
    assert [n for b in batches for n in b.columns["n"].to_pylist()] == [*values, *[None] * 6, *values]


def test_text_and_id_may_be_asked_for_as_columns_too(tmp_path: Path) -> None:
    file = _file(tmp_path, b'{"id": "1", "text": "t"}\n', Fields("text", "id", None, ("id", "text")))
    assert documents(file) == [{"id": "1", "text": "t", "position": 1}]


def test_an_array_is_refused_with_the_way_out(tmp_path: Path) -> None:
    file = _file(tmp_path, b' [\n{"text": "a"}]', name="a.json")
    for attempt in (lambda: texts(file), lambda: Jsonl().columns(file)):
        with pytest.raises(InputError, match=r"one JSON array.*jq -c"):
            attempt()


def test_byte_order_marks(tmp_path: Path) -> None:
    file = _file(tmp_path, b'\xef\xbb\xbf{"text": "a"}\n{"text": "b"}')
    assert texts(file) == ["a", "b"]
    assert Jsonl().columns(file) == {"text": "text"}
    with pytest.raises(InputError, match="UTF-16"):
        texts(_file(tmp_path, '{"text": "a"}'.encode("utf-16")))


def test_empty_files(tmp_path: Path) -> None:
    for data in (b"", b"\n\n", b"\xef\xbb\xbf"):
        file = _file(tmp_path, data)
        assert texts(file) == []
        assert Jsonl().columns(file) == {}


def test_kinds_of_columns(tmp_path: Path) -> None:
    rows = [
        {"a": "x", "b": 1, "c": None, "d": [1], "e": True},
        {"a": None, "b": 2.5, "f": "late", "c": None, "g": 1},
    ]
    file = _file(tmp_path, "\n".join(map(json.dumps, [*rows, {"g": "x"}])).encode() + b"\nbroken")
    kinds = {"a": "text", "b": "number", "c": "other", "d": "other", "e": "other", "f": "text", "g": "text"}
    assert Jsonl().columns(file) == kinds


def test_kept_lines_are_kept_byte_for_byte(tmp_path: Path) -> None:
    lines = [
        b'  {"b":1.50,"text" : "\\u00e9"}  ',
        b'{"text":"x","text":"y"}\r',
        b'{"z":"\xff","text":"raw"}',
        b'{"text":"last"}',
    ]
    file = _file(tmp_path, b"\n".join([lines[0], b"", lines[1], b"broken", *lines[2:]]))
    [split] = Jsonl().splits(file)
    Jsonl().write(split, np.array([True, True, False, True]), tmp_path / "out", None, Problems("skip"))
    assert (tmp_path / "out").read_bytes() == b"\n".join([lines[0], b"", lines[1], b"broken", lines[3]])


def test_notes_are_put_in_at_the_end(tmp_path: Path) -> None:
    file = _file(tmp_path, b'{"text":"a"} \n{"text": "b" }\r\n')
    [split] = Jsonl().splits(file)
    notes = pa.table({"n": [1, None], "s": ["é}", 'q"']})
    Jsonl().write(split, np.array([True, True]), tmp_path / "out", notes, Problems())
    assert (
        tmp_path / "out"
    ).read_bytes() == '{"text":"a","n":1,"s":"é}"} \n{"text": "b" ,"n":null,"s":"q\\""}\r\n'.encode()


@pytest.mark.parametrize("name", ["other", "text"])
def test_a_note_by_the_name_of_a_field_is_refused(name: str, tmp_path: Path) -> None:
    file = _file(tmp_path, b'{"text":"a"}\n{"text":"a","other":null}\n')
    [split] = Jsonl().splits(file)
    with pytest.raises(UsageError, match=f"there is a field '{name}' already"):
        Jsonl().write(split, np.array([True, True]), tmp_path / "o", pa.table({name: [1, 2]}), Problems())


@pytest.mark.parametrize(
    ("line", "kinds"),
    [
        (b"", {}),
        (b"null", {}),
        (b"[1]", {}),
        (b' { "a" : 1 , "b":\t-2.5e3} \r', {"a": "number", "b": "number"}),
        (b'{"a":null,"b":"","c":true,"d":false,"e":[],"f":{"g":1}}',
         {"a": "null", "b": "text", "c": "other", "d": "other", "e": "other", "f": "other"}),
        (b'{"a":NaN,"b":-Infinity}', {"a": "number", "b": "number"}),
        (b'{"a":"\\ud800","b":1}', {"a": "text", "b": "number"}),
        (b'{"a":1,"a":"x","\\u0061":null}', {"a": "null"}),
        (b'{"a":"\xff"}', {}),
        (b'{"a":[01]}', {}),
        (b'{"a":1,}', {}),
        (b'{"a":1}x', {}),
        (b'{"a":' + b"[" * 200_000, {}),
        (b'{"z":[%s],"a":NaN}' % b",".join([b"[]"] * 400_000), {}),  # too long for the standard library
    ],
    ids=lambda given: repr(given)[:40],
)  # fmt: skip
def test_kinds_are_told_by_the_first_byte_of_a_value(line: bytes, kinds: dict[str, str]) -> None:
    assert kinds_of(line) == kinds
