"""dedup(df) in a session that is the user's: nothing of it is changed, stopped or left full."""

import gc
import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

import neardup
from neardup.errors import UsageError, WorkError
from neardup.spark import stages
from tests.spark.pages import some_pages


@pytest.fixture
def frame(spark: SparkSession, tmp_path: Path) -> DataFrame:
    pq.write_table(some_pages(), tmp_path / "pages.parquet")
    return spark.read.parquet(str(tmp_path / "pages.parquet"))


def _persistent(spark: SparkSession) -> set[int]:
    return set(spark.sparkContext._jsc.getPersistentRDDs().keySet())


def _settings(spark: SparkSession) -> dict[str, str]:
    return {row.key: row.value for row in spark.sql("SET").collect()}


def test_it_is_left_as_it_was(spark: SparkSession, frame: DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where users want Arrow's long types, and after an error in the middle."""
    spark.conf.set("spark.sql.execution.arrow.useLargeVarTypes", "true")
    spark.conf.set("spark.sql.session.timeZone", "Asia/Kathmandu")
    try:
        gc.collect()
        context, before, held = spark.sparkContext, _settings(spark), _persistent(spark)
        started = [thing for thing in gc.get_objects() if isinstance(thing, type(context))]
        with neardup.dedup(frame, recipe="stream") as result:
            assert result.removed.count() > 10
            assert _persistent(spark) > held
        assert _persistent(spark) == held
        with monkeypatch.context() as broken:
            broken.setattr("neardup.spark.run.decided", lambda *_: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                neardup.dedup(frame, recipe="stream")
        assert _persistent(spark) == held
        assert _settings(spark) == before
        assert [thing for thing in gc.get_objects() if isinstance(thing, type(context))] == started
        assert SparkSession.active() is spark
        assert spark.range(3).count() == 3
    finally:
        spark.conf.unset("spark.sql.execution.arrow.useLargeVarTypes")
        spark.conf.set("spark.sql.session.timeZone", "UTC")


def test_what_makes_no_sense_is_refused(spark: SparkSession, frame: DataFrame, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"a Spark session on local\[2\] in this process, and local\[7\] is asked for"):
        neardup.dedup(frame, master="local[7]")
    with pytest.raises(UsageError, match="threads = 3: how many there are is for Spark to say"):
        neardup.dedup(frame, threads=3)
    stages.Stages(spark, str(tmp_path / "work"), {"inputs": []})
    with pytest.raises(WorkError, match=r"one DataFrame cannot be told from another.* Give a new folder"):
        neardup.dedup(frame, work=str(tmp_path / "work"))


CONNECTED = """
import sys
import neardup
from pyspark.sql import SparkSession
here = {"spark.connect.grpc.binding.address": "127.0.0.1", "spark.sql.shuffle.partitions": "2"}
spark = SparkSession.builder.remote("local[2]").config(map=here).getOrCreate()
assert "connect" in type(spark).__module__
frame = spark.read.parquet(sys.argv[1])
with neardup.dedup(frame, keep="longest", id_field="url") as result:
    for row in result.removed.collect():
        print("removed", row.id, row.kept_id, row.relation, f"{row.resemblance:.6f}")
    result.write(sys.argv[2])
    result.write(sys.argv[2])
spark.stop()
"""


def test_spark_connect(tmp_path: Path) -> None:
    """A server in a process of its own, and a client that has no Java."""
    pq.write_table(some_pages(), tmp_path / "pages.parquet")
    command = [sys.executable, "-c", CONNECTED, str(tmp_path / "pages.parquet"), str(tmp_path / "out")]
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-4000:]
    local = neardup.dedup(tmp_path / "pages.parquet", keep="longest", id_field="url")
    expected = [
        f"removed {row['id']} {row['kept_id']} {row['relation']} {row['resemblance']:.6f}"
        for row in local.removed.to_pylist()
    ]
    assert [line for line in done.stdout.splitlines() if line.startswith("removed")] == expected
    kept = sorted(pq.read_table(tmp_path / "out" / "kept").column("url").to_pylist())
    assert kept == sorted(local.kept.column("url").to_pylist())


def test_a_session_that_nobody_closed_ends_quietly(tmp_path: Path) -> None:
    """Python takes its objects away in any order: by then nothing is left to stop the session with."""
    pq.write_table(some_pages(), tmp_path / "pages.parquet")
    code = "import sys, neardup; result = neardup.dedup(sys.argv[1], engine='spark', master='local[1]', id_field='url')"
    code += "; print(result.counts['documents'])"
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    command = [sys.executable, "-c", code, str(tmp_path / "pages.parquet")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, env=environment)
    assert (done.returncode, done.stdout) == (0, f"{some_pages().num_rows}\n"), done.stderr[-4000:]
    assert "Exception ignored" not in done.stderr
    assert "Traceback" not in done.stderr


def test_a_result_that_outlives_its_session_ends_quietly(tmp_path: Path) -> None:
    """Somebody stops their session and closes the result afterwards: there is nothing left to let go of."""
    pq.write_table(some_pages(), tmp_path / "pages.parquet")
    code = "import sys, neardup; from pyspark.sql import SparkSession"
    code += "; spark = SparkSession.builder.master('local[1]').config('spark.sql.shuffle.partitions', 2).getOrCreate()"
    code += "; result = neardup.dedup(spark.read.parquet(sys.argv[1]), id_field='url'); spark.stop(); result.close()"
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    command = [sys.executable, "-c", code, str(tmp_path / "pages.parquet")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-4000:]
    assert "Traceback" not in done.stderr
