"""Workers that die, drivers that are killed, tasks that fail or are slow: no document twice, none missing.

On a real standalone cluster, a master and two workers with executors of their own. What the run is doing is told by the
stages in its work folder, or by a file that it touches, so that faults come in the middle.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import neardup
from tests.spark.pages import some_pages
from tests.spark.standalone import PATIENCE, Cluster


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pages") / "pages.parquet"
    pq.write_table(some_pages(), path, row_group_size=20)
    return path


@pytest.fixture(scope="module")
def expected(pages: Path) -> neardup.Result:
    return neardup.dedup(pages)


class Driver:
    """A process that runs something on Spark; its process group is ended with it."""

    def __init__(self, log: Path, *command: str, conf: dict[str, str] | None = None) -> None:
        small = {"spark.sql.shuffle.partitions": "3", "spark.sql.files.maxPartitionBytes": "20000", **(conf or {})}
        given = " ".join(f"--conf {name}={value}" for name, value in small.items())
        environment = {
            **os.environ,
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_PYTHON": sys.executable,
            "PYSPARK_SUBMIT_ARGS": f"{given} pyspark-shell",
        }
        self.log = log
        with log.open("ab") as out:
            self._process = subprocess.Popen(
                [sys.executable, *command], env=environment, stdout=out, stderr=out, start_new_session=True
            )

    def until(self, happened: Callable[[], bool]) -> None:
        self._wait(happened)
        assert self._process.poll() is None, self.log.read_text()

    def _wait(self, happened: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE
        while not happened():
            assert self._process.poll() is None or happened(), self.log.read_text()[-6000:]
            assert time.monotonic() < end, self.log.read_text()[-6000:]
            time.sleep(0.02)

    def finish(self) -> None:
        self._process.wait(PATIENCE)
        assert self._process.returncode == 0, self.log.read_text()[-6000:]

    def kill(self) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


def dedup(pages: Path, out: Path, master: str) -> Driver:
    command = ["-m", "neardup", "dedup", str(pages), "-o", str(out), "--engine", "spark", "--master", master]
    return Driver(out.with_suffix(".log"), *command)


def check(out: Path, expected: neardup.Result) -> None:
    """Every document is where the local engine has it, and once."""
    removed = pq.read_table(out / "removed.parquet")
    assert removed.to_pylist() == expected.removed.to_pylist()
    assert pq.read_table(out / "groups.parquet").to_pylist() == expected.groups.to_pylist()
    kept = sorted(pq.read_table(out / "kept").column("url").to_pylist())
    assert kept == sorted(expected.kept.column("url").to_pylist())
    everyone = some_pages().column("url").to_pylist()
    assert sorted([*kept, *removed.column("url").to_pylist()]) == sorted(everyone)
    counts = json.loads((out / "run.json").read_text())["counts"]
    assert {**counts, "pairs_measured": 0} == {**expected.counts, "pairs_measured": 0}


def test_workers_die_and_the_driver_is_killed(
    cluster: Cluster, pages: Path, expected: neardup.Result, tmp_path: Path
) -> None:
    """A worker while documents are sketched; the driver when candidates are known; a worker while they are scored."""
    out = tmp_path / "out"
    first = dedup(pages, out, cluster.address)
    try:
        first.until(lambda: (out / "work" / "sketches").exists())
        cluster.kill(0)
        cluster.add_worker("worker2")
        first.until(lambda: (out / "work" / "order.done" / "_SUCCESS").exists())
    finally:
        first.kill()
    assert not (out / "run.json").exists()
    second = dedup(pages, out, cluster.address)
    try:
        second.until(lambda: (out / "work" / "round-0").exists())
        cluster.kill(1)
        second.finish()
    finally:
        second.kill()
    assert "Going on with the work of an earlier run." in second.log.read_text().replace("\n", " ")
    check(out, expected)


UNRELIABLE = """
import sys, time
from pathlib import Path
from pyspark import TaskContext
from pyspark.sql import SparkSession
import neardup
from neardup.spark import tasks
from neardup.spark.stages import Stages

address, pages, out, folder = sys.argv[1], sys.argv[2], sys.argv[3], Path(sys.argv[4])
guarded, keep = tasks._Guarded, Stages.keep

class Unreliable:
    '''Its first tasks fail twice, after a part of their work, and its last are slow until they are tried again.'''

    def __init__(self, function):
        self.function = guarded(function)

    def __call__(self, batches):
        context = TaskContext.get()
        for batch in self.function(batches):
            yield batch
            if context.partitionId() == 0 and context.attemptNumber() < 2:
                (folder / "failed").touch()
                raise RuntimeError("on purpose")
            if context.partitionId() == 1 and context.attemptNumber() == 0:
                (folder / "slow").touch()
                time.sleep(1.5)

def told(self, name, frame):
    (folder / f"at-{name}").touch()
    return keep(self, name, frame)

tasks._Guarded, Stages.keep = Unreliable, told
spark = SparkSession.builder.master(address).appName("unreliable").getOrCreate()
frame = spark.read.parquet(pages).repartition(4, "text")
with neardup.dedup(frame, id_field="url", keep="longest") as result:
    result.write(out)
spark.stop()
"""


def test_tasks_fail_and_are_slow_and_a_worker_dies(cluster: Cluster, pages: Path, tmp_path: Path) -> None:
    """Of a DataFrame whose rows come in any order, without a folder: speculation is on, and everything goes wrong."""
    conf = {
        "spark.speculation": "true",
        "spark.speculation.interval": "50ms",
        "spark.speculation.multiplier": "1.1",
        "spark.speculation.quantile": "0.3",
        "spark.speculation.minTaskRuntime": "300ms",
    }
    out = tmp_path / "out"
    arguments = [cluster.address, str(pages), str(out), str(tmp_path)]
    driver = Driver(tmp_path / "log", "-c", UNRELIABLE, *arguments, conf=conf)
    try:
        driver.until(lambda: (tmp_path / "at-round-0").exists())
        time.sleep(0.3)
        cluster.kill(0)
        driver.finish()
    finally:
        driver.kill()
    assert (tmp_path / "failed").exists()
    assert (tmp_path / "slow").exists()
    # Ties are decided by the id, so that the order of the frame, which nobody knows, makes no difference.
    local = neardup.dedup(pages, id_field="url", keep="longest")
    by_id = lambda row: row["id"]  # noqa: E731
    removed: list[dict[str, Any]] = pq.read_table(out / "removed.parquet").to_pylist()
    assert sorted(removed, key=by_id) == sorted(local.removed.to_pylist(), key=by_id)
    kept = sorted(pq.read_table(out / "kept").column("url").to_pylist())
    assert kept == sorted(local.kept.column("url").to_pylist())
    assert len(kept) + len(removed) == local.counts["documents"]
