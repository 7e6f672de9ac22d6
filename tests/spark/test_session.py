"""Sessions, what their machines must have, and errors that come home from tasks."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import neardup
from neardup.errors import InputError, MissingExtra, NeardupError, UsageError
from neardup.spark.session import _require_version, check_workers, require_java, session_for
from neardup.spark.tasks import mapped, unwrapped, unwrapping
from tests.spark.standalone import PATIENCE, Cluster


def test_an_active_session_is_used_and_left_alone(spark: SparkSession) -> None:
    with session_for() as found:
        assert found.range(3).count() == 3
        assert found is spark
    assert spark.range(5).count() == 5
    with session_for("local[2]") as found:
        assert found is spark
    with pytest.raises(UsageError, match=r"session on local\[2\] in this process, and spark://elsewhere:7077 is asked"):
        session_for("spark://elsewhere:7077").__enter__()


def test_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require_java()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(UsageError, match=r"Java 17 or newer, and there is no bin/java in JAVA_HOME=.*apt-get install"):
        require_java()
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    for version, major in (("11.0.2", 11), ("1.8.0_392", 8)):
        java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2019-01-15' >&2\n")
        java.chmod(0o755)
        with pytest.raises(UsageError, match=rf"is Java {major}\. Install it"):
            require_java()
    java.write_text("#!/bin/sh\necho 'openjdk version \"21\" 2023-09-19' >&2\n")
    require_java()
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="there is no java on the PATH"):
        require_java()


def test_an_old_version_of_spark() -> None:
    _require_version("4.0.1")
    with pytest.raises(UsageError, match=r"pyspark 3\.5\.6 is installed.*pip install -U 'neardup\[spark\]'"):
        _require_version("3.5.6")


def test_no_pyspark() -> None:
    code = "import sys; sys.modules['pyspark'] = None; import neardup.spark.session"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "MissingExtra: Spark needs an optional part; install it with: pip install 'neardup[spark]'" in done.stderr


@pytest.fixture
def workers(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Gives workers another neardup: a package of one file."""

    def given(content: str) -> None:
        package = tmp_path / "other" / "neardup"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(content)
        python = tmp_path / "python"
        python.write_text(f'#!/bin/sh\nPYTHONPATH="{package.parent}:$PYTHONPATH" exec {sys.executable} "$@"\n')
        python.chmod(0o755)
        monkeypatch.setattr(spark.sparkContext, "pythonExec", str(python))

    return given


def test_workers_that_have_everything(spark: SparkSession) -> None:
    check_workers(spark)


def test_workers_where_neardup_cannot_be_imported(spark: SparkSession, workers: Callable[[str], None]) -> None:
    workers("raise ImportError('numba is missing')")
    with pytest.raises(UsageError) as raised:
        check_workers(spark)
    said = str(raised.value)
    assert "neardup cannot be imported (ImportError: numba is missing)" in said
    assert f"pip install 'neardup=={neardup.__version__}'" in said
    assert "spark-submit --archives" in said


def test_workers_with_another_version(spark: SparkSession, workers: Callable[[str], None]) -> None:
    real = Path(neardup.__file__).parent
    workers(f"__path__.append({str(real)!r})\n__version__ = '0.0.1'\n")
    with pytest.raises(UsageError, match=rf"neardup is 0\.0\.1, and {neardup.__version__} here"):
        check_workers(spark)


def raising(kind: type[Exception], *said: str) -> Callable[[Any], Any]:
    def function(batches: Any) -> Any:
        yield from batches
        raise kind(*said)

    return function


@pytest.mark.parametrize(
    ("kind", "said"),
    [(InputError, ('pages.jsonl:3: not JSON: "ü"\nMend it, or pass over it.',)), (MissingExtra, ("HTML", "web"))],
)
def test_errors_of_ours_come_home(kind: type[NeardupError], said: tuple[str, ...], spark: SparkSession) -> None:
    error = kind(*said)
    frame = mapped(spark.range(0, 4, 1, 1), raising(kind, *said), "id bigint")
    with pytest.raises(type(error)) as raised, unwrapping():
        frame.collect()
    assert type(raised.value) is type(error)
    assert str(raised.value) == str(error)
    with pytest.raises(type(error)) as raised, unwrapping():
        frame.write.format("noop").mode("overwrite").save()
    assert str(raised.value) == str(error)


def test_mistakes_stay_as_they_are(spark: SparkSession) -> None:
    with pytest.raises(PySparkException, match="ZeroDivisionError: by nought") as raised, unwrapping():
        mapped(spark.range(4), raising(ZeroDivisionError, "by nought"), "id bigint").collect()
    assert unwrapped(raised.value) is raised.value
    other = KeyError("x")
    assert unwrapped(other) is other


def test_what_spark_says_is_said_in_few_words(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"Spark cannot read the input: \[PATH_NOT_FOUND\]"), unwrapping():
        spark.read.parquet(str(tmp_path / "none"))
    (tmp_path / "x.parquet").write_bytes(b"no Parquet")
    with pytest.raises(NeardupError) as raised, unwrapping():
        spark.read.schema("id bigint").parquet(str(tmp_path / "x.parquet")).collect()
    assert "x.parquet" in str(raised.value)
    assert len(str(raised.value)) < 1000
    assert "\tat " not in str(raised.value)


COUNTING = """
import os, sys, time
from pathlib import Path
from neardup.spark.session import check_workers, session_for
from neardup.spark.tasks import mapped

address, folder = sys.argv[1], Path(sys.argv[2])

def waiting(batches):
    (folder / f"at-{os.getppid()}").touch()
    while not (folder / "go").exists():
        time.sleep(0.05)
    yield from batches

with session_for(address) as spark:
    check_workers(spark)
    shuffled = spark.range(0, 40_000, 1, 8).selectExpr("id", "id % 100 AS key").repartition(8, "key")
    rows = mapped(shuffled, waiting, "id bigint, key bigint").groupBy("key").count().collect()
    print("counted", sorted((row.key, row["count"]) for row in rows) == [(key, 400) for key in range(100)])
"""


def test_a_job_survives_the_loss_of_a_worker(cluster: Cluster, tmp_path: Path) -> None:
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    log = tmp_path / "log"
    with log.open("wb") as out:
        driver = subprocess.Popen(
            [sys.executable, "-c", COUNTING, cluster.address, str(tmp_path)],
            env=environment,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    try:
        end = time.monotonic() + PATIENCE
        while len(list(tmp_path.glob("at-*"))) < 2:  # tasks of two executors are in the middle of their work
            assert driver.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.05)
        cluster.kill(0)
        (tmp_path / "go").touch()
        driver.wait(PATIENCE)
    finally:
        if driver.poll() is None:
            os.killpg(driver.pid, 9)
            driver.wait()
    assert "counted True" in log.read_text(), log.read_text()
