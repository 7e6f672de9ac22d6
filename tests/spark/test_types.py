"""Timestamps that Spark writes are stored as they were in the input."""

import datetime as dt
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import neardup
from neardup.errors import UsageError

SETTING = "spark.sql.parquet.outputTimestampType"
FORMS = {"INT96": "INT96", "TIMESTAMP_MICROS": "INT64", "TIMESTAMP_MILLIS": "INT64"}


def stored(folder: Path) -> set[tuple[str, str, str]]:
    """Name, physical type and annotation of every column in a folder of Parquet files."""
    schemas = [pq.ParquetFile(path).schema for path in folder.glob("part-*.parquet")]
    columns = [schema.column(c) for schema in schemas for c in range(len(schema))]
    return {(column.path, column.physical_type, column.converted_type) for column in columns}


def write(spark: SparkSession, form: str, folder: Path) -> None:
    spark.conf.set(SETTING, form)
    rows = spark.sql(
        "select concat('one text of some words ', id) as text, timestamp'9999-12-31 00:00:00' as late, "
        "array(struct(timestamp'2020-01-01 12:34:56.789' as t)) as nested, timestamp_ntz'2020-01-01 00:00:00' as ntz, "
        "cast(1.5 as decimal(9, 2)) as price from range(3)"
    )
    rows.coalesce(1).write.parquet(str(folder))


@pytest.mark.parametrize("form", FORMS)
def test_timestamps_are_stored_as_they_were(spark: SparkSession, form: str, tmp_path: Path) -> None:
    default = spark.conf.get(SETTING)
    try:
        write(spark, form, tmp_path / "in")
        other = "INT96" if form != "INT96" else "TIMESTAMP_MICROS"
        spark.conf.set(SETTING, other)
        for annotate in (False, True):
            with neardup.dedup(str(tmp_path / "in"), engine="spark") as result:
                result.write(tmp_path / f"out{annotate}", annotate=annotate)
            kept = stored(tmp_path / f"out{annotate}" / "kept")
            assert stored(tmp_path / "in") <= kept
            assert {kind for name, kind, _ in kept if name == "late"} == {FORMS[form]}
        assert spark.conf.get(SETTING) == other
        rows = spark.read.parquet(str(tmp_path / "outFalse" / "kept")).select("late").distinct().collect()
        assert [row.late for row in rows] == [dt.datetime(9999, 12, 31)]
    finally:
        spark.conf.set(SETTING, default)


def test_files_of_both_engines_are_read_by_the_other(spark: SparkSession, tmp_path: Path) -> None:
    """Spark reads what the local engine keeps of Spark's own files, with the same values."""
    default = spark.conf.get(SETTING)
    try:
        write(spark, "INT96", tmp_path / "in")
    finally:
        spark.conf.set(SETTING, default)
    neardup.dedup(str(tmp_path / "in")).write(tmp_path / "local", annotate=True)
    kept = tmp_path / "local" / "kept"
    assert stored(tmp_path / "in") <= {row for folder in (kept, kept / "in") for row in stored(folder)}
    before = spark.read.parquet(str(tmp_path / "in")).sort("text")
    after = spark.read.option("recursiveFileLookup", True).parquet(str(kept)).sort("text")
    assert after.select(before.columns).collect() == before.collect()
    assert "neardup_kept" in after.columns


def test_timestamps_in_two_forms_are_refused_by_name(spark: SparkSession, tmp_path: Path) -> None:
    times = pa.table({"text": ["one text of some words"], "when": pa.array([0], pa.timestamp("us", "UTC"))})
    (tmp_path / "in").mkdir()
    pq.write_table(times, tmp_path / "in" / "a.parquet", use_deprecated_int96_timestamps=True)
    pq.write_table(times, tmp_path / "in" / "b.parquet")
    with (
        neardup.dedup(str(tmp_path / "in"), engine="spark") as result,
        pytest.raises(
            UsageError, match=r"INT96 \('when' in .*a\.parquet\), TIMESTAMP_MICROS \('when' in .*b\.parquet\)"
        ),
    ):
        result.write(tmp_path / "out")
    assert not (tmp_path / "out").exists()
