"""Tables in memory, from whoever made them."""

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup.errors import InputError, UsageError
from neardup.sources import Fields, Problems, format_of, from_object
from tests.sources.reading import documents

ROWS = [{"id": f"d{n}", "text": f"text {n}", "n": n} for n in range(30)]
TABLE = pa.Table.from_pylist(ROWS)


class Dataset:
    """Looks like a dataset of Hugging Face."""

    def with_format(self, name: str) -> "Dataset":
        assert name == "arrow"
        return self

    def select(self, rows: object) -> None: ...

    def __getitem__(self, rows: slice) -> pa.Table:
        return TABLE[rows] if rows != slice(None) else TABLE


SOURCES = {
    "pyarrow": lambda: TABLE,
    "batch": lambda: TABLE.to_batches()[0],
    "reader": lambda: TABLE.to_reader(max_chunksize=7),
    "polars": lambda: pl.DataFrame(ROWS),
    "polars lazy": lambda: pl.DataFrame(ROWS).lazy(),
    "pandas": lambda: pd.DataFrame(ROWS),
    "pandas index": lambda: pd.DataFrame(ROWS).sample(frac=1, random_state=1).sort_values("n"),
    "duckdb": lambda: duckdb.sql("select 'd' || i as id, 'text ' || i as text, i as n from range(30) t(i)"),
    "dicts": lambda: ROWS,
    "generator": lambda: iter(ROWS),
    "dataset": Dataset,
    "dictionary": lambda: TABLE.set_column(1, "text", TABLE["text"].dictionary_encode()),
}


@pytest.mark.parametrize("source", SOURCES)
def test_sources(source: str) -> None:
    file = from_object(SOURCES[source]()).with_fields(Fields("text", "id", None, ("n",)))
    assert set(format_of(file).columns(file)) == {"id", "text", "n"}
    for size in (50, 1 << 30):
        found = documents(file, size)
        assert [(d["id"], d["text"], d["n"]) for d in found] == [(r["id"], r["text"], r["n"]) for r in ROWS]
        assert [d["position"] for d in found] == list(range(1, 31))


@pytest.mark.parametrize("texts", [["a", None, "b"], [None, "a"], [b"a", b"b"], [], (t for t in ["x", "y"])])
def test_texts(texts: Any) -> None:
    expected = ["x", "y"] if not isinstance(texts, list) else [t.decode() if isinstance(t, bytes) else t for t in texts]
    file = from_object(texts, name="mine").with_fields(Fields("text"))
    found = documents(file)
    assert [d["text"] for d in found] == expected
    assert [d["id"] for d in found] == [f"mine:{n}" for n in range(1, len(expected) + 1)]


def test_dicts_with_different_keys() -> None:
    file = from_object([{"text": "a"}, {"text": "b", "x": 1}]).with_fields(Fields("text", None, None, ("x",)))
    assert [d["x"] for d in documents(file)] == [None, 1]


def test_what_cannot_be_read() -> None:
    for wrong in ("one text", {"text": "a"}, 5, [1, 2]):
        with pytest.raises(UsageError):
            from_object(wrong)
    for wrong_rows in (["a", 5], [{"a": 1}, {"a": "x"}], [{"a": 1}, "x"]):
        with pytest.raises(InputError, match=r"do not fit together"):
            from_object(wrong_rows)
    with pytest.raises(InputError, match="two columns"):
        from_object(pa.table([[1], [2]], names=["a", "a"]))


def test_written_as_parquet(tmp_path: Path) -> None:
    file = from_object(TABLE).with_fields(Fields("text", "id"))
    [split] = format_of(file).splits(file)
    keep = np.arange(30) % 2 == 0
    format_of(file).write(split, keep, tmp_path / "o.parquet", pa.table({"g": list(range(30))}), Problems())
    assert pq.read_table(tmp_path / "o.parquet").to_pylist() == [r | {"g": r["n"]} for r in ROWS[::2]]
    with pytest.raises(UsageError, match="'id' already"):
        format_of(file).write(split, keep, tmp_path / "o.parquet", pa.table({"id": list(range(30))}), Problems())


COLUMNS = {
    "pandas": lambda: pd.Series(["a", None, "b"], index=[5, 3, 4]),
    "pandas object": lambda: pd.Series(["a", float("nan"), "b"], dtype=object, name="x"),
    "pandas named index": lambda: pd.Series(["a", None, "b"], index=pd.Index([1, 2, 3], name="text")),
    "pandas category": lambda: pd.Series(["a", None, "b"], dtype="category"),
    "polars": lambda: pl.Series("x", ["a", None, "b"]),
    "array": lambda: pa.array(["a", None, "b"]),
    "view": lambda: pa.array(["a", None, "b"], pa.string_view()),
    "chunked": lambda: pa.chunked_array([["a"], [None, "b"]]),
    "numpy": lambda: np.array(["a", None, "b"], dtype=object),
}


@pytest.mark.parametrize("column", COLUMNS)
def test_a_column_is_a_list_of_texts(column: str) -> None:
    file = from_object(COLUMNS[column]()).with_fields(Fields("text"))
    assert list(format_of(file).columns(file)) == ["text"]
    assert [d["text"] for d in documents(file)] == ["a", None, "b"]


def test_a_column_of_structs_is_a_table() -> None:
    file = from_object(TABLE.to_struct_array()).with_fields(Fields("text", "id"))
    assert [d["id"] for d in documents(file)] == [r["id"] for r in ROWS]


def test_columns_that_are_no_texts() -> None:
    for numbers in (pd.Series([1, 2]), pl.Series([1, 2]), pa.array([1, 2]), pl.Series([object()], dtype=pl.Object)):
        with pytest.raises(UsageError, match="give texts"):
            from_object(numbers)
    with pytest.raises(InputError, match="Series are not all texts"):
        from_object(pd.Series(["a", 5]))


def test_what_does_not_fit_is_named() -> None:
    with pytest.raises(InputError, match=r"column 'my n' are not all of one type \(.*'int'.*\.astype"):
        from_object(pd.DataFrame({"text": ["a", "b"], "my n": ["x", 5]}))
    with pytest.raises(InputError, match="Duplicate column names"):
        from_object(pd.DataFrame([["a", "b"]], columns=["t", "t"]))
    with pytest.raises(InputError, match=r"do not fit together.*values of 'n' are not all of one type"):
        from_object([{"text": "a", "n": 1}, {"text": "b", "n": "x"}])


@pytest.mark.filterwarnings("error")
def test_a_query_that_duckdb_has_run() -> None:
    con = duckdb.connect()
    file = from_object(con.execute("select 'a' as text, 1 as n")).with_fields(Fields("text"))
    assert [d["text"] for d in documents(file)] == ["a"]
    with pytest.raises(InputError, match="Has a query been run"):
        from_object(duckdb.connect())
