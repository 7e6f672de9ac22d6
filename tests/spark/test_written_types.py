"""What is kept of a Parquet file of Spark's is what Spark wrote: every type, physical type and value."""

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession

import neardup
from neardup.spark.result import SparkResult

ROWS = 40
FORM = "spark.sql.parquet.outputTimestampType"
FORMS = ["INT96", "TIMESTAMP_MICROS", "TIMESTAMP_MILLIS"]
SWITCHES = {"spark.sql.timeType.enabled": "true"}

MICROS = st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999)
"""From the first to the last microsecond of the years 1 to 9999."""


def decimals(digits: int, places: int) -> st.SearchStrategy[Decimal]:
    most = Decimal(10**digits - 1).scaleb(-places)
    return st.decimals(-most, most, places=places, allow_nan=False)


CARRIED: dict[str, tuple[str, st.SearchStrategy[Any]]] = {
    "byte": ("tinyint", st.integers(-(2**7), 2**7 - 1)),
    "short": ("smallint", st.integers(-(2**15), 2**15 - 1)),
    "int": ("int", st.integers(-(2**31), 2**31 - 1)),
    "long": ("bigint", st.integers(-(2**63), 2**63 - 1)),
    "float": ("float", st.floats(width=32)),
    "double": ("double", st.floats()),
    "decimal_4": ("decimal(9, 2)", decimals(9, 2)),
    "decimal_8": ("decimal(18, 18)", decimals(18, 18)),
    "decimal_16": ("decimal(38, 10)", decimals(27, 10)),
    "string": ("string", st.text(st.characters(exclude_categories=["Cs"]))),
    "binary": ("binary", st.binary().map(bytearray)),
    "boolean": ("boolean", st.booleans()),
    "days": ("int", st.sampled_from([-719_162, 2_932_896]) | st.integers(-719_162, 2_932_896)),
    "micros": ("bigint", st.sampled_from([-62_135_596_800_000_000, 253_402_214_400_000_000]) | MICROS),
    "months": ("int", st.integers(-(2**31), 2**31 - 1)),
    "size": ("int", st.integers(0, 3)),
}
"""What rows are made of, as Python hands it over to Spark: a type in SQL, and values."""

STORED = {
    **{name: name for name in CARRIED if name not in ("days", "micros", "months", "size")},
    "date": "date_from_unix_date(days)",
    "timestamp": "timestamp_micros(micros)",
    "timestamp_ntz": "cast(timestamp_micros(micros) as timestamp_ntz)",
    "time": "cast(timestamp_micros(micros) as time(6))",
    "year_month": "make_ym_interval(0, months)",
    "day_time": "timestamp_micros(micros) - timestamp_micros(0)",
    "nothing": "null",
    "collated": "collate(string, 'UTF8_LCASE')",
    "variant": "parse_json(to_json(named_struct('a', long, 'b', array(string))))",
    "geometry": "if(int > 0, st_geomfromwkb(X'0101000000000000000000F03F0000000000000040'), null)",
    "array": "if(boolean, array_repeat(timestamp_micros(micros), size), null)",
    "arrays": "array_repeat(array_repeat(decimal_4, size), size)",
    "struct": "if(boolean, named_struct('when', timestamp_micros(micros), 'a.b', named_struct('c', binary)), null)",
    "structs": "array_repeat(named_struct('day', date_from_unix_date(days), 'n', byte), size)",
    "map": "if(boolean, map_from_arrays(sequence(1, size + 1), array_repeat(decimal_16, size + 1)), null)",
    "maps": "map('k', map(named_struct('k', 1S), array(timestamp_micros(micros), null)))",
}
"""The columns of the file, of every type that Spark stores in Parquet."""

SHOWN = {"binary": "hex(binary)", "geometry": "hex(st_asbinary(geometry))"}
"""How a column is shown where that is not its cast to a string."""


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> Iterator[SparkSession]:
    """The session, with types that it leaves out by default; its settings are what they were afterwards."""
    before = {name: spark.conf.get(name) for name in (FORM, *SWITCHES)}
    for name, value in SWITCHES.items():
        spark.conf.set(name, value)
    yield spark
    for name, value in before.items():
        spark.conf.set(name, value)


def write(spark: SparkSession, values: dict[str, list[Any]], form: str, folder: Path) -> None:
    """Let Spark write rows, of which every second one has the text of the one before it."""
    spark.conf.set(FORM, form)
    texts = [" ".join(f"w{n // 2}x{i}" for i in range(20)) for n in range(ROWS)]
    types = ["id int", "text string", *(f"{name} {kind}" for name, (kind, _) in CARRIED.items())]
    rows = zip(range(ROWS), texts, *(values[name] for name in CARRIED), strict=True)
    columns = [f"{expression} as {name}" for name, expression in STORED.items()]
    carried = spark.createDataFrame(list(rows), ", ".join(types))
    carried.selectExpr("id", "text", *columns).coalesce(1).write.parquet(str(folder))


def read(spark: SparkSession, folder: Path) -> DataFrame:
    return spark.read.option("recursiveFileLookup", True).parquet(str(folder))


def shown(frame: DataFrame) -> dict[int, dict[str, str | None]]:
    """All values as Spark reads them, by the id of their row."""
    columns = [f"{SHOWN.get(name, f'cast({name} as string)')} as {name}" for name in STORED]
    return {row["id"]: row.asDict() for row in frame.selectExpr("id", *columns).collect()}


def stored(folder: Path) -> list[tuple[str, ...]]:
    """The physical and logical types of all columns, nested ones one by one, in all files of a folder."""
    schemas = [pq.ParquetFile(path).schema for path in folder.rglob("*.parquet")]
    columns = [schema.column(n) for schema in schemas for n in range(len(schema))]
    return sorted({(c.path, c.physical_type, str(c.logical_type), c.converted_type, str(c.length)) for c in columns})


def rows_of(values: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(values, min_size=ROWS, max_size=ROWS)


@settings(max_examples=2, phases=[Phase.generate])
@given(st.fixed_dictionaries({name: rows_of(values | st.none()) for name, (_, values) in CARRIED.items()}))
def test_every_type_that_spark_writes(session: SparkSession, values: dict[str, list[Any]]) -> None:
    for engine, form in [("local", form) for form in FORMS] + [("spark", "INT96")]:
        with TemporaryDirectory() as name:
            folder = Path(name)
            write(session, values, form, folder / "in")
            result = neardup.dedup(str(folder / "in"), engine=engine)
            result.write(folder / "out")
            if isinstance(result, SparkResult):
                result.close()
            before, after = read(session, folder / "in"), read(session, folder / "out/kept")
            assert after.schema == before.schema
            assert stored(folder / "out/kept") == stored(folder / "in")
            assert shown(after) == {n: row for n, row in shown(before).items() if n % 2 == 0}
