"""Which columns are read, and what is said of it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from neardup.errors import InputError, UsageError
from neardup.sources import Fields, InputFile, choose, discover, from_object
from tests.sources.reading import input_file


def _file(folder: Path, row: dict[str, object]) -> InputFile:
    (folder / "pages.jsonl").write_text(json.dumps(row) + "\n")
    return input_file(folder / "pages.jsonl", "jsonl", Fields())


GUESSES = [
    ({"id": "1", "text": "t"}, Fields("text", "id")),
    ({"doc_id": 1, "Content": "t", "URL": "u", "n": 1}, Fields("Content", "doc_id", "URL")),
    ({"url": "u", "raw_content": "t"}, Fields("raw_content", None, "url")),
    ({"html": "<p>", "uuid": "x"}, Fields("html", "uuid", html=True)),
    ({"essay": "t", "id": "1", "n": 2}, Fields("essay", "id")),
    ({"id": [1], "text": "t"}, Fields("text", None)),
]


@pytest.mark.parametrize(("row", "expected"), GUESSES)
def test_guesses(row: dict[str, object], expected: Fields, tmp_path: Path) -> None:
    fields, said = choose(_file(tmp_path, row))
    assert fields == expected
    assert len(said) == 1
    assert said[0].startswith(f"pages.jsonl: text from '{expected.text}'")


def test_what_is_said(tmp_path: Path) -> None:
    file = _file(tmp_path, {"doc_id": "1", "content": "t", "k": "x"})
    _, said = choose(file)
    assert said == [
        "pages.jsonl: text from 'content', ids from 'doc_id' (guessed; choose with --text-field, --id-field)"
    ]
    assert choose(file, text="content")[1] == ["pages.jsonl: ids from 'doc_id' (guessed; choose with --id-field)"]
    assert choose(file, text="k", id="none") == (Fields("k", None), [])


def test_what_is_not_there(tmp_path: Path) -> None:
    file = _file(tmp_path, {"id": "1", "content": "t", "n": 2})
    with pytest.raises(
        UsageError,
        match=r"no column 'contnet' \(--text-field\)\. Did you mean 'content'\? "
        r"There are 'id', 'content', 'n' \(number\)",
    ):
        choose(file, text="contnet")
    for wrong in ({"id": "x"}, {"url": "x"}, {"columns": ("x",)}):
        with pytest.raises(UsageError, match="there is no column 'x'"):
            choose(file, **wrong)  # type: ignore[arg-type]


def test_which_is_the_text(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="which column is the text"):
        choose(_file(tmp_path, {"a": "x", "b": "y"}))
    with pytest.raises(InputError, match="no column holds text"):
        choose(_file(tmp_path, {"a": 1}))


def test_formats_without_columns() -> None:
    folder = InputFile("in", "in", "html", members=("a.html",))
    assert choose(folder) == (Fields(html=True), [])
    with pytest.raises(UsageError, match="leave --text-field away"):
        choose(folder, text="x")
    with pytest.raises(UsageError, match="leave --id-field away"):
        choose(folder, id="x")
    crawl = InputFile("a.warc", "a.warc", "warc")
    assert choose(crawl) == (Fields(url="url"), [])
    assert choose(crawl, id="url", columns=("date",)) == (Fields(None, "url", "url", ("date",)), [])
    with pytest.raises(UsageError, match="no column 'size'"):
        choose(crawl, columns=("size",))


def test_an_empty_file_is_no_reason_to_stop(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"")
    fields, said = choose(input_file(tmp_path / "a.jsonl", "jsonl", Fields()))
    assert fields.text == "text"
    assert said == ["a.jsonl: is empty"]


def test_tables_in_memory() -> None:
    assert choose(from_object(["a", "b"]))[0] == Fields("text", None)


def test_files_are_named_so_that_they_are_found(tmp_path: Path) -> None:
    (tmp_path / "in/sub").mkdir(parents=True)
    path = tmp_path / "in/sub/a.csv"
    path.write_text("a,b\n1,2\n")
    [file] = discover([tmp_path / "in"]).files
    with pytest.raises(InputError, match=f"^{path}: which column is the text"):
        choose(file)
    with pytest.raises(UsageError, match=f"^{path}: there is no column 'x'"):
        choose(file, text="x")
    with pytest.raises(InputError, match=r"^sub/a\.csv: which column is the text"):
        choose(replace(file, stamp="sha256:0"))  # from standard input: it has no path of the user's
    with pytest.raises(UsageError, match=r"^table: there is no column 'x'"):
        choose(from_object(["a"]), text="x")
