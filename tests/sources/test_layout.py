"""Parquet out is Parquet in: types, annotations, metadata and every value, however they are stored."""

import datetime as dt
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup
from neardup.errors import InputError
from neardup.sources import Fields, Problems, format_of
from neardup.sources.layout import layout_of
from neardup.sources.thrift import BINARY, BYTE, FALSE, I32, LIST, STRUCT, TRUE, Struct, decode, encode
from tests.sources.reading import WHOLE, input_file
from tests.sources.typed import LEAVES, columns

STORABLE = [name for name in LEAVES if name not in ("month_day_nano",)]
NOTES = pa.schema([pa.field("noted", pa.bool_(), nullable=False), ("score", pa.float64())])


def written(source: Path, keep: Any, target: Path, size: int = WHOLE, notes: bool = False) -> Path:
    """What is kept of a Parquet file, of one split."""
    file = input_file(source, "parquet", Fields("text"))
    format = format_of(file)
    [split] = format.splits(file, size)
    table = pa.table([[True] * len(keep), [0.5] * len(keep)], schema=NOTES) if notes else None
    format.write(split, np.asarray(keep, bool), target, table, Problems())
    return target


def footer(path: Path) -> Struct:
    data = path.read_bytes()
    return decode(data[-8 - int.from_bytes(data[-8:-4], "little") : -8])


def schema_of(path: Path) -> list[Struct]:
    return footer(path)[2][1][1]  # type: ignore[no-any-return]


def bare(path: Path) -> list[dict[str, Any]]:
    """All rows as they are stored."""
    with open(path, "rb") as file:
        layout = layout_of(file)
    return pq.ParquetFile(path, metadata=layout.bare).read().to_pylist()  # type: ignore[no-any-return]


def by_duckdb(path: Path, keep: list[bool] | None = None) -> str:
    """All rows as another reader sees them, or what it cannot read."""
    try:
        rows = duckdb.sql(f"select columns(*)::varchar from read_parquet('{path}')").fetchall()
    except Exception as error:
        return type(error).__name__
    return repr(rows if keep is None else [row for row, kept in zip(rows, keep, strict=True) if kept])


def assert_same(source: Path, keep: list[bool], target: Path) -> None:
    """The same schema and metadata, and the rows to keep as they were."""
    assert schema_of(target) == schema_of(source)
    assert footer(target).get(5) == footer(source).get(5)
    before, after = pq.ParquetFile(source), pq.ParquetFile(target)
    assert after.schema.equals(before.schema)
    assert after.schema_arrow.equals(before.schema_arrow, check_metadata=True)
    expected = [row for row, kept in zip(bare(source), keep, strict=True) if kept]
    assert repr(bare(target)) == repr(expected)
    assert by_duckdb(target) == by_duckdb(source, keep)
    for group in range(after.metadata.num_row_groups):
        for c in range(after.metadata.num_columns):
            now, then = after.metadata.row_group(group).column(c), before.metadata.row_group(0).column(c)
            assert (now.path_in_schema, now.physical_type) == (then.path_in_schema, then.physical_type)
            assert now.compression == then.compression


@st.composite
def files(draw: st.DrawFn) -> tuple[pa.Table, dict[str, Any]]:
    rows = draw(st.integers(1, 6))
    made = [draw(columns(rows, STORABLE)) for _ in range(draw(st.integers(1, 3)))]
    table = pa.table([["t"] * rows, *made], names=["text", *(f"c.{n}" for n in range(len(made)))])
    options = {
        "use_deprecated_int96_timestamps": draw(st.booleans()),
        "store_decimal_as_integer": draw(st.booleans()),
        "write_time_adjusted_to_utc": draw(st.booleans()),
        "use_compliant_nested_type": draw(st.booleans()),
        "store_schema": draw(st.booleans()),
        "use_dictionary": draw(st.booleans()),
        "data_page_version": draw(st.sampled_from(["1.0", "2.0"])),
        "compression": draw(st.sampled_from(["snappy", "zstd", "none"])),
        "row_group_size": draw(st.integers(1, 6)),
    }
    return table, options


@given(files(), st.data())
def test_every_type_that_pyarrow_writes(file: tuple[pa.Table, dict[str, Any]], data: st.DataObject) -> None:
    table, options = file
    keep = data.draw(st.lists(st.booleans(), min_size=len(table), max_size=len(table)))
    with TemporaryDirectory() as folder:
        source = Path(folder, "a.parquet")
        try:
            pq.write_table(table, source, **options)
        except (pa.ArrowException, OSError):
            return
        assert_same(source, keep, written(source, keep, Path(folder, "b.parquet")))


def test_int96_of_any_year_and_to_the_nanosecond(tmp_path: Path) -> None:
    """Spark's, Hive's and Impala's timestamps: a day and the nanoseconds in it, in twelve bytes."""
    whole = pa.table({"text": ["a", "b", "c"], "t": pa.array([0, 253_402_214_400_000_000, None], pa.timestamp("us"))})
    fine = whole.set_column(1, "t", pa.array([1, -1, None], pa.timestamp("ns")))
    for name, table in (("whole", whole), ("fine", fine)):
        source = tmp_path / f"{name}.parquet"
        pq.write_table(table, source, use_deprecated_int96_timestamps=True)
        target = written(source, [False, True, True], tmp_path / f"{name}.kept")
        assert_same(source, [False, True, True], target)
        assert pq.ParquetFile(target).schema.column(1).physical_type == "INT96"
        assert pq.ParquetFile(target).metadata.row_group(0).column(1).statistics is None
    far = duckdb.sql(f"select t from read_parquet('{tmp_path / 'whole.kept'}')").fetchall()
    assert far == [(dt.datetime(9999, 12, 31),), (None,)]


def test_int96_beside_other_timestamps(tmp_path: Path) -> None:
    times = [pa.array([n, None, 253_402_214_400_000_000], pa.timestamp("us")) for n in range(3)]
    pq.write_table(pa.table([*times], names=["text", "b", "c"]), tmp_path / "a")
    pq.write_table(pa.table([*times], names=["text", "b", "c"]), tmp_path / "b", use_deprecated_int96_timestamps=True)
    mixed = join(tmp_path / "a", tmp_path / "b", tmp_path / "mixed.parquet")
    kinds = [leaf.physical_type for leaf in map(pq.ParquetFile(mixed).schema.column, range(6))]
    assert kinds == ["INT64"] * 3 + ["INT96"] * 3
    assert_same(mixed, [False, True, True], written(mixed, [False, True, True], tmp_path / "kept"))


FAR, FINE = 253_402_214_400_000_000, 1_577_836_800_000_000_001


@pytest.mark.parametrize(
    ("values", "unit", "expected"),
    [
        (pa.array([FINE, None, -1], pa.timestamp("ns")), "ns", [FINE, None, -1]),
        (pa.array([FAR, None, -1], pa.timestamp("us")), "us", [FAR, None, -1]),
        (pa.array([1, None, -1], pa.timestamp("us")), "ns", [1000, None, -1000]),
    ],
)
@pytest.mark.parametrize("nested", [False, True])
def test_int96_in_memory(values: pa.Array, unit: str, expected: list[int | None], nested: bool, tmp_path: Path) -> None:
    """`Result.kept` and keep policies have the day that is stored, and what is finer than a microsecond."""
    times = (
        pa.array([[{"t": value}] for value in values], pa.list_(pa.struct([("t", values.type)]))) if nested else values
    )
    source = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": list("abc"), "t": times}), source, use_deprecated_int96_timestamps=True)
    file = input_file(source, "parquet", Fields("text", None, None, ("t",)))
    [split] = format_of(file).splits(file)
    [documents] = format_of(file).read(split, Problems())
    for column in (*(b.column("t") for b in format_of(file).table(split, Problems())), documents.columns["t"]):
        flat = column.flatten().field(0) if nested else column
        assert flat.type == pa.timestamp(unit)
        assert flat.cast(pa.int64()).to_pylist() == expected


def test_int96_that_no_timestamp_holds_is_written_and_named_when_it_is_read(tmp_path: Path) -> None:
    for name, value in (("far", pa.array([FAR], pa.timestamp("us"))), ("fine", pa.array([FINE], pa.timestamp("ns")))):
        pq.write_table(pa.table({name: value}), tmp_path / name, use_deprecated_int96_timestamps=True)
    pq.write_table(pa.table({"text": ["a"]}), tmp_path / "text")
    source = join(
        tmp_path / "text", join(tmp_path / "far", tmp_path / "fine", tmp_path / "both"), tmp_path / "a.parquet"
    )
    assert_same(source, [True], written(source, [True], tmp_path / "kept.parquet"))
    file = input_file(source, "parquet", Fields("text"))
    [split] = format_of(file).splits(file)
    assert [d.text.to_pylist() for d in format_of(file).read(split, Problems())] == [[b"a"]]
    with pytest.raises(InputError, match=r"a\.parquet: some INT96 timestamps .* \(far, fine\)"):
        list(format_of(file).table(split, Problems()))


def test_intervals_in_memory(tmp_path: Path) -> None:
    source = tmp_path / "a.parquet"
    duckdb.sql(f"copy ({DUCKDB}) to '{source}' (format parquet)")
    file = input_file(source, "parquet", Fields("text"))
    [split] = format_of(file).splits(file)
    [batch] = format_of(file).table(split, Problems())
    assert batch.column("span").to_pylist()[2] == pa.MonthDayNano([2, 2, 2_000_000])
    assert batch.column("spans").to_pylist()[3] == [pa.MonthDayNano([0, 3, 0]), None]


def join(left: Path, right: Path, target: Path) -> Path:
    """Put the columns of two files side by side into one, as they are stored."""
    parts = [(path.read_bytes(), footer(path)) for path in (left, right)]
    out = bytearray(b"PAR1")
    chunks: list[Struct] = []
    for data, told in parts:
        shift = len(out) - 4
        out += data[4:]
        for chunk in told[4][1][1][0][1][1][1]:
            meta = dict(chunk[3][1])
            meta |= {field: (meta[field][0], meta[field][1] + shift) for field in (9, 11) if field in meta}
            chunks.append(chunk | {3: (STRUCT, meta)})
    joined = dict(parts[0][1])
    for field in (5, 7):
        joined.pop(field, None)
    schemas = [told[2][1][1] for _, told in parts]
    root = schemas[0][0] | {5: (I32, sum(schema[0][5][1] for schema in schemas))}
    joined[2] = LIST, (STRUCT, [root, *schemas[0][1:], *schemas[1][1:]])
    joined[4] = LIST, (STRUCT, [parts[0][1][4][1][1][0] | {1: (LIST, (STRUCT, chunks))}])
    ending = encode(joined)
    target.write_bytes(bytes(out) + ending + len(ending).to_bytes(4, "little") + b"PAR1")
    return target


DUCKDB = """
    select 'text ' || i as text, to_months(i::int) + to_days(i::int) + to_milliseconds(i) as span,
      [to_days(i::int), null] as spans, i::hugeint as huge, uuid() as uuid, ('a' || i % 2)::enum('a0', 'a1') as enum,
      ('{"a": ' || i || '}')::json as json, i::utinyint as tiny, i::ubigint as big, (i / 7)::decimal(4, 1) as d4,
      (i / 7)::decimal(18, 9) as d18, (i / 7)::decimal(38, 20) as d38, time '12:34:56.789' as time,
      timetz '12:34:56+02' as timetz, timestamptz '2020-01-01 00:00:00+02' as zoned, timestamp '9999-12-31' as late,
      timestamp_ns '2020-01-01 00:00:00.123456789' as ns, '2020-01-01'::timestamp_s as s, '101'::bit as bits,
      map {'k': [i]} as maps, {'a': {'b': [[i]]}} as nested, [1, 2]::int[2] as array, 'ab'::blob as blob
    from range(9) t(i)
"""


def test_every_type_that_duckdb_writes(tmp_path: Path) -> None:
    source, keep = tmp_path / "a.parquet", [n % 3 != 1 for n in range(9)]
    duckdb.sql(f"copy ({DUCKDB}) to '{source}' (format parquet)")
    target = written(source, keep, tmp_path / "kept.parquet")
    assert_same(source, keep, target)
    assert "9999-12-31" in by_duckdb(target)
    kinds = dict(duckdb.sql(f"select column_name, column_type from (describe from '{target}')").fetchall())
    assert (kinds["span"], kinds["spans"]) == ("INTERVAL", "INTERVAL[]")


def node(name: str, repetition: int, **told: Any) -> Struct:
    """A SchemaElement of parquet.thrift: repetition is 0 required, 1 optional, 2 repeated."""
    numbers = {"type": 1, "length": 2, "children": 5, "converted": 6, "scale": 7, "precision": 8, "id": 9}
    fields: Struct = {numbers[key]: (I32, value) for key, value in told.items()}
    return fields | {3: (I32, repetition), 4: (BINARY, name.encode())}


INT32, BYTES, FIXED = 1, 6, 7
MAP, MAP_KEY_VALUE, LISTED, ENUM, DECIMAL, BSON = 1, 2, 3, 4, 5, 20
REQUIRED = pa.field("element", pa.int32(), nullable=False)
ENTRY = pa.field("element", pa.struct([pa.field("k", pa.int64(), nullable=False), ("v", pa.int64())]), nullable=False)
LOOSE = pa.field("element", pa.struct([("k", pa.int64()), ("v", pa.int64())]), nullable=False)

FORGED: dict[str, tuple[pa.Array, pa.Field, list[Struct]]] = {
    "a list of two levels": (
        pa.array([[1, 2], None, []], pa.list_(REQUIRED)),
        pa.field("x", pa.list_(REQUIRED)),
        [node("x", 1, children=1, converted=LISTED), node("array", 2, type=INT32)],
    ),
    "a list of Hive's": (
        pa.array([[1, None], None, []]),
        pa.field("x", pa.list_(pa.int64())),
        [
            node("x", 1, children=1, converted=LISTED),
            node("bag", 2, children=1),
            node("array_element", 1, type=2),
        ],
    ),
    "a repeated column": (
        pa.array([[1, 2], [], [3]], pa.list_(REQUIRED)),
        pa.field("x", pa.list_(REQUIRED), nullable=False),
        [node("x", 2, type=INT32, id=7)],
    ),
    "a map of old": (
        pa.array([[{"k": 1, "v": 2}], None, []], pa.list_(ENTRY)),
        pa.field("x", pa.list_(ENTRY)),
        [
            node("x", 1, children=1, converted=MAP_KEY_VALUE),
            node("map", 2, children=2),
            node("key", 0, type=2),
            node("value", 1, type=2),
        ],
    ),
    "a map with keys that may be null": (
        pa.array([[{"k": 1, "v": 2}, {"k": None, "v": 3}], None, []], pa.list_(LOOSE)),
        pa.field("x", pa.list_(LOOSE)),
        [
            node("x", 1, children=1, converted=MAP),
            node("key_value", 2, children=2),
            node("key", 1, type=2),
            node("value", 1, type=2),
        ],
    ),
    "decimals as bytes": (
        pa.array([b"\x7f", b"\xff\x00", None]),
        pa.field("x", pa.binary()),
        [node("x", 1, type=BYTES, converted=DECIMAL, scale=1, precision=4)],
    ),
    "decimals with room": (
        pa.array([b"\x00" * 15 + b"\x01", b"\xff" * 16, None], pa.binary(16)),
        pa.field("x", pa.binary(16)),
        [node("x", 1, type=FIXED, length=16, converted=DECIMAL, scale=1, precision=4)],
    ),
    "BSON": (
        pa.array([b"\x05\x00\x00\x00\x00", None, b""]),
        pa.field("x", pa.binary()),
        [node("x", 1, type=BYTES, converted=BSON)],
    ),
    "ENUM": (
        pa.array([b"a", b"b", None]),
        pa.field("x", pa.binary()),
        [node("x", 1, type=BYTES, converted=ENUM)],
    ),
}


@pytest.mark.parametrize("form", FORGED)
def test_forms_that_pyarrow_does_not_write(form: str, tmp_path: Path) -> None:
    column, field, nodes = FORGED[form]
    source = tmp_path / "a.parquet"
    schema = pa.schema([pa.field("text", pa.string()), field])
    pq.write_table(pa.table([["a", "b", "c"], column], schema=schema), source, store_schema=False)
    relabel(source, nodes)
    keep = [True, False, True]
    target = written(source, keep, tmp_path / "kept.parquet")
    assert schema_of(target) == schema_of(source)
    assert repr(bare(target)) == repr([row for row, kept in zip(bare(source), keep, strict=True) if kept])
    assert by_duckdb(target) == by_duckdb(source, keep)


def test_a_map_with_keys_that_may_be_null_is_read_as_a_list_of_entries(tmp_path: Path) -> None:
    column, field, nodes = FORGED["a map with keys that may be null"]
    source = tmp_path / "a.parquet"
    schema = pa.schema([pa.field("text", pa.string()), field])
    texts = ["one text of some words", "another text of other words", "one text of some words"]
    pq.write_table(pa.table([texts, column], schema=schema), source, store_schema=False)
    relabel(source, nodes)
    result = neardup.dedup(source)
    assert result.kept["x"].to_pylist() == [[{"key": 1, "value": 2}, {"key": None, "value": 3}], None]
    result.write(tmp_path / "out", report=False)
    assert schema_of(tmp_path / "out/kept/a.parquet") == schema_of(source)


def relabel(path: Path, nodes: list[Struct]) -> None:
    """Give the second column of a file another schema, whose pages are the same."""
    data, told = path.read_bytes(), footer(path)
    size = int.from_bytes(data[-8:-4], "little")
    told[2] = LIST, (STRUCT, [*told[2][1][1][:2], *nodes])
    names = [n[4][1] for n in nodes]
    leaves = [n for n in nodes if 1 in n]
    for leaf, chunk in zip(leaves, told[4][1][1][0][1][1][1][1:], strict=True):
        parents = names[: -len(leaves)]
        chunk[3][1][3] = LIST, (BINARY, [*parents, leaf[4][1]])
    ending = encode(told)
    path.write_bytes(data[: -8 - size] + ending + len(ending).to_bytes(4, "little") + b"PAR1")


def test_notes_are_seen_by_those_who_go_by_stored_schemas(tmp_path: Path) -> None:
    """pyarrow restores types by a schema in the metadata, and Spark reads the columns of one, no others."""
    source = tmp_path / "a.parquet"
    spark = '{"type":"struct","fields":[{"name":"text","type":"string","nullable":true,"metadata":{}}]}'
    table = pa.table({"text": pa.array(["a", "b"], pa.large_string())})
    table = table.replace_schema_metadata({"org.apache.spark.sql.parquet.row.metadata": spark, "mine": "stays"})
    pq.write_table(table, source)
    target = written(source, [True, True], tmp_path / "kept.parquet", notes=True)
    found = pq.read_table(target)
    assert found.schema.field("text").type == pa.large_string()
    assert found.schema.names == ["text", *NOTES.names]
    assert found.to_pylist() == [{"text": t, "noted": True, "score": 0.5} for t in "ab"]
    metadata = pq.ParquetFile(target).metadata.metadata
    assert metadata[b"mine"] == b"stays"
    stored = metadata[b"org.apache.spark.sql.parquet.row.metadata"]
    assert [(f["name"], f["type"]) for f in json.loads(stored)["fields"]] == [
        ("text", "string"),
        ("noted", "boolean"),
        ("score", "double"),
    ]


def test_statistics_are_kept_where_they_hold(tmp_path: Path) -> None:
    """Unsigned numbers and strings have theirs; decimals, half floats and INT96 are ordered otherwise than bytes."""
    table = pa.table(
        {
            "text": ["b", "ä"],
            "u": pa.array([1, 2**32 - 1], pa.uint32()),
            "v": pa.array([1, 2**64 - 1], pa.uint64()),
            "d": pa.array([-1, 1], pa.decimal128(20)),
            "h": pa.array([-1.0, 1.0], pa.float16()),
        }
    )
    pq.write_table(table, tmp_path / "a.parquet")
    target = written(tmp_path / "a.parquet", [True, True], tmp_path / "kept.parquet")
    group = pq.ParquetFile(target).metadata.row_group(0)
    told = [group.column(c).statistics for c in range(5)]
    assert [(s.min, s.max) if s else None for s in told] == [("b", "ä"), (1, 2**32 - 1), (1, 2**64 - 1), None, None]


@given(st.binary(max_size=60))
def test_thrift_that_is_damaged(data: bytes) -> None:
    try:
        told = decode(data)
    except ValueError:
        return
    assert decode(encode(told)) == told


def test_thrift_of_every_kind() -> None:
    told: Struct = {
        1: (TRUE, None),
        2: (FALSE, None),
        3: (BYTE, b"\x05"),
        40: (LIST, (I32, list(range(-20, 20)))),
        41: (LIST, (TRUE, [b"\x01", b"\x02"])),
        42: (11, (BINARY << 4 | I32, [(b"a", 1), (b"b", -(2**31))])),
        43: (11, (0, [])),
        44: (7, 0.5),
        45: (13, b"u" * 16),
        3000: (STRUCT, {}),
    }
    assert decode(encode(told)) == told
    with pytest.raises(ValueError, match="end too early"):
        decode(encode(told)[:-1])
