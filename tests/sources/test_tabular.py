"""What holds for tables on disk and in memory alike: ids that are null, notes that clash."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup.errors import InputError, UsageError
from neardup.sources import Fields, InputFile, Problems, format_of, from_object
from tests.sources.reading import TEXT_AND_ID, documents, input_file


def _parquet(table: pa.Table, folder: Path) -> InputFile:
    pq.write_table(table, folder / "a", row_group_size=2)
    return input_file(folder / "a", "parquet", TEXT_AND_ID)


def _memory(table: pa.Table, folder: Path) -> InputFile:
    return from_object(table, name="a").with_fields(TEXT_AND_ID)


@pytest.fixture(params=[_parquet, _memory], ids=["parquet", "memory"])
def make(request: pytest.FixtureRequest) -> Callable[[pa.Table, Path], InputFile]:
    return request.param  # type: ignore[no-any-return]


IDS: dict[str, tuple[pa.Array, list[str]]] = {
    "strings": (pa.array(["x", None, "z", None]), ["x", "a:2", "z", "a:4"]),
    "numbers": (pa.array([1, None, 3, None]), ["1", "a:2", "3", "a:4"]),
    "dictionary": (pa.array(["x", None, "z", None]).dictionary_encode(), ["x", "a:2", "z", "a:4"]),
    "only nulls": (pa.nulls(4, pa.string()), ["a:1", "a:2", "a:3", "a:4"]),
}


@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize("size", [1, 1 << 30])
def test_ids_that_are_null(make: Any, ids: str, size: int, tmp_path: Path) -> None:
    column, expected = IDS[ids]
    file = make(pa.table({"id": column, "text": ["t1", "t2", "t3", "t4"]}), tmp_path)
    problems = Problems("skip")
    found = documents(file, size, problems)
    assert [(d["id"], d["text"]) for d in found] == list(zip(expected, ["t1", "t2", "t3", "t4"], strict=True))
    nulls = [n for n, id_ in enumerate(expected, 1) if ":" in id_]
    assert [(p.source, p.position, p.kind) for p in problems.found] == [("a", n, "null id") for n in nulls]
    with pytest.raises(InputError, match=rf"a:{nulls[0]}: null id: the column 'id' is null"):
        documents(file, size)


def test_rows_without_an_id_are_written(make: Any, tmp_path: Path) -> None:
    file = make(pa.table({"id": ["x", None], "text": ["t1", "t2"]}), tmp_path)
    [split] = format_of(file).splits(file)
    format_of(file).write(split, np.array([False, True]), tmp_path / "out", None, Problems("skip"))
    assert pq.read_table(tmp_path / "out").to_pylist() == [{"id": None, "text": "t2"}]


def test_what_cannot_be_an_id(make: Any, tmp_path: Path) -> None:
    for column in (pa.array([b"\xff"]), pa.array([[1]])):
        with pytest.raises(InputError, match="column 'id' cannot be taken as ids"):
            documents(make(pa.table({"id": column, "text": ["t"]}), tmp_path))


def test_a_note_by_the_name_of_a_column_is_refused(make: Any, tmp_path: Path) -> None:
    file = make(pa.table({"id": ["x"], "text": ["t"], "other": [1]}), tmp_path)
    file = replace(file, fields=Fields("text"))
    [split] = format_of(file).splits(file)
    with pytest.raises(UsageError, match="a: there is a column 'other' already"):
        format_of(file).write(split, np.array([True]), tmp_path / "o", pa.table({"n": [1], "other": [2]}), Problems())
    assert not (tmp_path / "o").exists()
