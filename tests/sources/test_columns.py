"""Columns of every Arrow type, from every library that hands them over: what is kept is as it was."""

from pathlib import Path
from tempfile import TemporaryDirectory

import datasets
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neardup
from neardup.errors import InputError
from neardup.sources import Fields, InputFile, Problems, format_of, from_object
from neardup.sources.columns import filtered, from_interval, plain, to_interval, unified
from tests.sources.reading import documents
from tests.sources.typed import LEAVES, columns

ROWS = 5
KEEP = [True, False, True, True, False]


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    made = [draw(columns(ROWS, list(LEAVES))) for _ in range(draw(st.integers(1, 2)))]
    table = pa.table([[f"text {n}" for n in range(ROWS)], *made], names=["text", *(f"c{n}" for n in range(len(made)))])
    if draw(st.booleans()):  # in two chunks, of which the second is a slice
        return pa.concat_tables([table.slice(0, 2), table.slice(2)])
    return table


def kept_of(source: object) -> pa.Table:
    """What `Result.kept` makes of it."""
    file = _file(source)
    [split] = format_of(file).splits(file)
    at, parts = 0, []
    for batch in format_of(file).table(split, Problems()):
        parts.append(("table", filtered(batch, np.array(KEEP[at : at + batch.num_rows]))))
        at += batch.num_rows
    return unified(parts)


def written_of(source: object, target: Path) -> Path:
    """What `Result.write` makes of it."""
    file = _file(source)
    [split] = format_of(file).splits(file)
    format_of(file).write(split, np.array(KEEP), target, None, Problems())
    return target


def _file(source: object) -> InputFile:
    return from_object(source).with_fields(Fields("text"))


def rows_kept(table: pa.Table) -> str:
    return repr([row for row, kept in zip(table.to_pylist(), KEEP, strict=True) if kept])


@given(tables())
def test_every_type_stays_what_it_is(table: pa.Table) -> None:
    kept = kept_of(table)
    assert kept.schema.equals(table.schema, check_metadata=True)
    kept.validate(full=True)
    assert repr(kept.to_pylist()) == rows_kept(table)


@given(tables())
def test_every_type_is_written_or_refused_by_name(table: pa.Table) -> None:
    with TemporaryDirectory() as folder:
        try:
            target = written_of(table, Path(folder, "a.parquet"))
        except InputError as error:
            named = str(error)
        else:
            named = ""
        if named:
            assert "month_day_nano_interval" in named
            assert "cannot be written" in named
            return
        file = InputFile(str(target), "a.parquet", "parquet", fields=Fields("text"))
        [split] = format_of(file).splits(file)
        found = pa.Table.from_batches(format_of(file).table(split, Problems()))
        assert repr(found.to_pylist()) == rows_kept(table)


@pytest.mark.parametrize("values", [pa.array(["x", None]), pa.array(["x", None], pa.string_view())])
def test_runs(values: pa.Array, tmp_path: Path) -> None:
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([2, 6], pa.int32()), values).slice(1)
    table = pa.table({"text": [f"text {n}" for n in range(ROWS)], "c": runs})
    kept = kept_of(table)
    assert kept.schema == table.schema
    assert kept["c"].to_pylist() == ["x", None, None]
    assert pq.read_table(written_of(table, tmp_path / "a.parquet"))["c"].to_pylist() == ["x", None, None]
    assert plain(runs).to_pylist() == ["x", None, None, None, None]
    assert filtered(table.to_batches()[0], np.zeros(ROWS, bool)).num_rows == 0


UNIONS = pa.UnionArray.from_sparse(pa.array([0, 1, 0, 1, 0], pa.int8()), [pa.array([1] * 5), pa.array(["a"] * 5)])
UNFIT = {
    "union": UNIONS,
    "no fields": pa.array([{}] * ROWS, pa.struct([])),
    "negative": pa.array([pa.MonthDayNano([0, -1, 0])] * ROWS),
    "microseconds": pa.array([[pa.MonthDayNano([0, 0, 1_000])]] * ROWS),
}


@pytest.mark.parametrize("column", UNFIT)
def test_what_parquet_cannot_hold_is_refused_before_anything_is_written(column: str, tmp_path: Path) -> None:
    table = pa.table({"text": [f"text {n}" for n in range(ROWS)], "mine": UNFIT[column]})
    result = neardup.dedup(table)
    assert result.kept.to_pylist() == table.to_pylist()
    with pytest.raises(InputError, match=r"the column 'mine' \(.*\) cannot be written to Parquet"):
        result.write(tmp_path / "out")
    assert not (tmp_path / "out").exists()


@given(
    st.lists(st.none() | st.tuples(*[st.integers(0, 2**31 - 1)] * 2, st.integers(0, 2**32 - 1)), max_size=9), st.data()
)
def test_intervals_there_and_back(values: list[tuple[int, int, int] | None], data: st.DataObject) -> None:
    whole = pa.array(
        [v and pa.MonthDayNano([v[0], v[1], v[2] * 1_000_000]) for v in values], pa.month_day_nano_interval()
    )
    part = whole.slice(data.draw(st.integers(0, len(values))))
    stored = from_interval(part)
    assert to_interval(stored).equals(part)
    told = [v and b"".join(n.to_bytes(4, "little") for n in v) for v in values]
    assert stored.to_pylist() == told[len(told) - len(part) :]


def test_an_interval_of_too_many_days_is_named() -> None:
    with pytest.raises(ValueError, match="4,294,967,295 days"):
        to_interval(pa.array([b"\x00" * 4 + b"\xff" * 4 + b"\x00" * 4], pa.binary(12)))


@settings(max_examples=40)
@given(tables())
def test_polars(table: pa.Table) -> None:
    try:
        frame = pl.from_arrow(table)
        expected = frame.filter(pl.Series(KEEP))
        expected.write_parquet("/dev/null")
    except (Exception, pl.exceptions.PanicException):  # it panics where it has no such type
        return
    assert pl.from_arrow(kept_of(frame)).equals(expected)
    with TemporaryDirectory() as folder:
        found = pl.read_parquet(written_of(frame, Path(folder, "a.parquet")))
        assert repr(found.to_dicts()) == repr(expected.to_dicts())


def test_lists_of_a_fixed_size_without_a_type() -> None:
    kind = pa.map_(pa.string_view(), pa.list_(pa.null(), 2))
    table = pa.table(
        {"text": [f"text {n}" for n in range(ROWS)], "c": pa.array([[], [], [], [("k", [None] * 2)], []], kind)}
    )
    assert repr(kept_of(table).to_pylist()) == rows_kept(table)


CHATS = [
    [{"role": "user", "content": f"What is {n}?"}, {"role": "assistant", "content": "A number."}] for n in range(5)
]


def test_polars_frames_as_people_have_them(tmp_path: Path) -> None:
    """Chat messages, lists, structs, categoricals and enums, all of which hold views."""
    frame = pl.DataFrame(
        {
            "text": [f"text {n}" for n in range(ROWS)],
            "messages": CHATS,
            "tags": [["a", None], [], None, ["b"], ["c"]],
            "meta": [{"source": "web", "scores": [0.5]}] * ROWS,
            "kind": pl.Series(["x", "y", None, "x", "y"], dtype=pl.Categorical),
            "level": pl.Series(["low", "high", None, "low", "low"], dtype=pl.Enum(["low", "high"])),
            "took": pl.Series([1, 2, None, 4, 5], dtype=pl.Duration("us")),
            "pair": pl.Series([[1, 2]] * ROWS, dtype=pl.Array(pl.Int8, 2)),
            "price": pl.Series(["1.50"] * ROWS).cast(pl.Decimal(10, 2)),
        }
    )
    expected = frame.filter(pl.Series(KEEP))
    kept = pl.from_arrow(kept_of(frame))
    assert kept.schema == frame.schema
    assert kept.equals(expected)
    found = pl.read_parquet(written_of(frame, tmp_path / "a.parquet"))
    assert found.cast({"level": frame.schema["level"]}).equals(expected)


def test_a_run_over_nested_columns_is_written_and_opened_again(tmp_path: Path) -> None:
    frame = pl.DataFrame({"text": [f"text number {n}" for n in range(5)], "messages": CHATS, "kind": ["a"] * 5})
    result = neardup.dedup(frame.with_columns(pl.col("kind").cast(pl.Categorical)))
    result.write(tmp_path / "out")
    assert pl.from_arrow(neardup.Result.open(tmp_path / "out").kept)["messages"].to_list() == CHATS
    assert pl.read_parquet(tmp_path / "out" / "kept" / "table.parquet")["messages"].to_list() == CHATS


@settings(max_examples=40)
@given(tables())
def test_pandas(table: pa.Table) -> None:
    try:
        frame = table.to_pandas(types_mapper=pd.ArrowDtype)
        handed = pa.table(frame)
    except Exception:
        return
    assert repr(kept_of(frame).to_pylist()) == rows_kept(handed)


@settings(max_examples=40)
@given(tables())
def test_duckdb(table: pa.Table) -> None:
    connection = duckdb.connect()
    try:
        relation = connection.from_arrow(table)
        handed = relation.to_arrow_table()
    except Exception:
        return
    kept = kept_of(relation)
    assert kept.schema.types == handed.schema.types
    assert repr(kept.to_pylist()) == rows_kept(handed)


def test_duckdb_types(tmp_path: Path) -> None:
    query = """
        select 'text ' || i as text, to_months(i::int) + to_days(3) as span, [to_milliseconds(i)] as spans,
          i::hugeint as h, uuid() as u, ('a' || i % 2)::enum('a0', 'a1') as e, time '12:34:56' as t,
          timestamptz '2020-01-01 00:00+02' as z,
          map {'k': i} as m, {'a': [i]} as s, [1, 2]::int[2] as a, 'ab'::blob as b, (i / 7)::decimal(9, 3) as d
        from range(5) t(i)
    """
    connection = duckdb.connect()
    source = connection.from_arrow(connection.sql(query).to_arrow_table())
    told = source.project("columns(*)::varchar").fetchall()
    expected = [row for row, kept in zip(told, KEEP, strict=True) if kept]
    kept = connection.from_arrow(kept_of(source))
    assert (kept.types, kept.project("columns(*)::varchar").fetchall()) == (source.types, expected)
    found = connection.read_parquet(str(written_of(source, tmp_path / "a.parquet")))
    assert found.project("columns(*)::varchar").fetchall() == expected
    kinds = dict(zip(found.columns, map(str, found.types), strict=True))
    assert (kinds["span"], kinds["spans"]) == ("INTERVAL", "INTERVAL[]")


@settings(max_examples=40)
@given(tables())
def test_datasets(table: pa.Table) -> None:
    try:
        dataset = datasets.Dataset(table).select(range(ROWS))
        handed = dataset.with_format("arrow")[:]
    except Exception:
        return
    kept = kept_of(dataset)
    assert kept.schema == handed.schema
    assert repr(kept.to_pylist()) == rows_kept(handed)


UNIFIED: dict[str, tuple[list[pa.Array], pa.DataType]] = {
    "nothing in one": ([pa.nulls(1), pa.array(["x"])], pa.string()),
    "whole and broken numbers": ([pa.array([1]), pa.array([0.5])], pa.float64()),
    "objects of other keys": (
        [pa.array([{"a": 1}]), pa.array([{"b": "x"}])],
        pa.struct([("a", pa.int64()), ("b", pa.string())]),
    ),
    "a dictionary in one": ([pa.array(["x"]).dictionary_encode(), pa.array(["y"])], pa.string()),
    "views in one": ([pa.array([["x"]], pa.list_(pa.string_view())), pa.array([["y"]])], pa.list_(pa.large_string())),
    "an extension in one": ([pa.array(["1"], pa.json_()), pa.array(["2"])], pa.string()),
    "times too far for nanoseconds": (
        [pa.array([253_402_214_400_000_000], pa.timestamp("us")), pa.array([1_000], pa.timestamp("ns"))],
        pa.timestamp("us"),
    ),
}


@pytest.mark.parametrize("case", UNIFIED)
def test_types_that_differ_become_one(case: str) -> None:
    columns, kind = UNIFIED[case]
    parts = [(f"{n}.jsonl", pa.record_batch({"c": column, "n": [n]})) for n, column in enumerate(columns)]
    table = unified([*parts, ("no c", pa.record_batch({"n": [9]}))])
    assert table.schema.field("c").type == kind
    assert table["n"].to_pylist() == [0, 1, 9]
    expected = [value for column in columns for value in column.cast(kind).to_pylist()] if "keys" not in case else None
    if expected is not None:
        assert table["c"].to_pylist() == [*expected, None]


APART: dict[str, list[pa.Array]] = {
    "int64 in a, string in b": [pa.array([1]), pa.array(["x"])],
    "int64 in a, double in b": [pa.array([2**53 + 1]), pa.array([0.5])],
    r"timestamp\[us\] in a, timestamp\[ns\] in b": [
        pa.array([253_402_214_400_000_000], pa.timestamp("us")),
        pa.array([1], pa.timestamp("ns")),
    ],
}


@pytest.mark.parametrize("said", APART)
def test_types_that_nothing_holds_are_named(said: str) -> None:
    parts = [(name, pa.record_batch({"c": column})) for name, column in zip("ab", APART[said], strict=True)]
    with pytest.raises(InputError, match=f"the column 'c' is {said}, and no one type holds"):
        unified(parts)


def test_dictionaries_that_cannot_be_put_together_stay_apart() -> None:
    """Arrow does not unify dictionaries that hold nulls."""
    arrays = [pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array([value, None])) for value in "ab"]
    parts = [("a", pa.record_batch({"c": array})) for array in arrays]
    assert unified(parts)["c"].to_pylist() == ["a", None, "b", None]


def test_kept_of_files_whose_types_differ(tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": ["one text of some words"], "n": [1]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"text": ["another one, quite other"], "n": ["x"]}), tmp_path / "b.parquet")
    result = neardup.dedup(str(tmp_path))
    with pytest.raises(InputError, match=r"the column 'n' is int64 in a\.parquet, string in b\.parquet"):
        _ = result.kept
    assert [batch.column("n").to_pylist() for batch in result.kept_batches()] == [[1], ["x"]]


def test_views_and_dictionaries_can_be_texts_ids_and_columns_of_a_policy() -> None:
    views = pa.array(["b", "a", "b"], pa.string_view())
    encoded = pa.DictionaryArray.from_arrays(
        pa.array([0, 1, 2], pa.uint32()), pa.array(["x", "y", "z"], pa.string_view())
    )
    table = pa.table({"text": encoded, "id": views, "order": encoded})
    found = documents(from_object(table).with_fields(Fields("text", "id", None, ("order",))))
    assert [(d["text"], d["id"], d["order"]) for d in found] == [("x", "b", "x"), ("y", "a", "y"), ("z", "b", "z")]
