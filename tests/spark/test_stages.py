"""Stages are made once, whoever dies in between."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from neardup.errors import InputError, WorkError
from neardup.recipes import choose_recipe
from neardup.spark.stages import Stages
from neardup.spark.tasks import mapped
from tests.spark.standalone import PATIENCE


def plan(threshold: float) -> dict[str, Any]:
    recipe = choose_recipe(None, threshold=threshold)
    return {"recipe": {"id": recipe.id, **recipe.to_dict()}, "inputs": []}


PLAN = plan(0.8)


def not_again() -> DataFrame:
    raise AssertionError("this stage is done")


def squares(spark: SparkSession) -> DataFrame:
    return spark.range(0, 100, 1, 4).selectExpr("id", "id * id AS square", "CAST(NULL AS string) AS word")


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return f"file://{tmp_path}/work here/"


def test_a_stage_is_made_once(spark: SparkSession, folder: str) -> None:
    first = Stages(spark, folder, PLAN)
    assert not first.resumed
    made = first.keep("squares", squares(spark))
    assert not first.done("cubes")
    again = Stages(spark, folder, PLAN)
    assert again.resumed
    assert again.done("squares")
    found = again.keep("squares", not_again)
    assert again.rows("squares") == first.rows("squares") == 100
    assert sorted(found.collect()) == sorted(made.collect()) == sorted(squares(spark).collect())
    assert found.dtypes == [("id", "bigint"), ("square", "bigint"), ("word", "string")]
    again.drop()
    assert Stages(spark, folder, PLAN).done("squares")


def test_the_work_of_another_plan_is_refused(spark: SparkSession, folder: str) -> None:
    Stages(spark, folder, PLAN)
    with pytest.raises(WorkError, match=r"work of another run: --threshold was 0\.8, and is 0\.7 now.*--fresh"):
        Stages(spark, folder, plan(0.7))
    with pytest.raises(WorkError, match=r"its size was None, now 3"):
        Stages(spark, folder, {**PLAN, "size": 3})


def test_an_unfinished_stage_is_made_again(spark: SparkSession, folder: str, tmp_path: Path) -> None:
    def failing(batches: Any) -> Any:
        yield next(batches)
        raise InputError("the second batch is bad\nMend it")

    with pytest.raises(InputError, match="the second batch is bad\nMend it"):
        Stages(spark, folder, PLAN).keep("squares", mapped(squares(spark), failing, squares(spark).schema))
    again = Stages(spark, folder, PLAN)
    assert not again.done("squares")
    again.keep("squares", squares(spark))
    shutil.rmtree(tmp_path / "work here" / "squares.done")
    assert not Stages(spark, folder, PLAN).done("squares")
    assert Stages(spark, folder, PLAN).keep("squares", squares(spark).limit(7)).count() == 7


def test_a_stage_that_lost_rows_is_refused(spark: SparkSession, folder: str, tmp_path: Path) -> None:
    Stages(spark, folder, PLAN).keep("squares", squares(spark))
    part = sorted((tmp_path / "work here" / "squares").glob("part-*"))[0]
    part.unlink()
    with pytest.raises(WorkError, match=r"has 75 rows, and 100 were written"):
        Stages(spark, folder, PLAN).keep("squares", not_again)
    shutil.rmtree(tmp_path / "work here" / "squares")
    with pytest.raises(WorkError, match=r"is gone, though it was finished"):
        Stages(spark, folder, PLAN).keep("squares", not_again)


def _held(spark: SparkSession) -> dict[int, Any]:
    found = spark.sparkContext._jsc.getPersistentRDDs()
    return {number: found[number].getStorageLevel() for number in found}


def test_without_a_folder_stages_are_kept_for_the_run(spark: SparkSession) -> None:
    before = _held(spark)
    with Stages(spark, None, PLAN) as stages:
        frame = stages.keep("squares", squares(spark))
        assert stages.keep("squares", not_again) is frame
        assert stages.rows("squares") == frame.count() == 100
        [level] = [level for number, level in _held(spark).items() if number not in before]
        assert level.useDisk()
        assert not level.useMemory()
        assert "Range" not in frame._jdf.queryExecution().toString()  # cut off from what it was made of
    assert _held(spark).keys() == before.keys()


def test_what_would_be_another_one_is_not_made_again(spark: SparkSession) -> None:
    """Rows that differ each time they are made, and in an order that only luck repeats."""
    with Stages(spark, None, PLAN) as stages:
        unlike = spark.range(0, 200, 1, 4).selectExpr("uuid() AS name", "id").repartition(3)
        frame = stages.keep("rows", unlike.selectExpr("name", "id", "monotonically_increasing_id() AS place"))
        assert sorted(frame.collect()) == sorted(frame.collect())
        assert frame.select("place").distinct().count() == 200


DRIVER = """
import sys, time
from pathlib import Path
from neardup.spark.session import session_for
from neardup.spark.stages import Stages
from neardup.spark.tasks import mapped
from tests.spark.standalone import PATIENCE

folder, busy, plan = sys.argv[1], Path(sys.argv[2]), {"inputs": []}

def stuck(batches):
    for batch in batches:
        yield batch
        busy.touch()
        time.sleep(600)

with session_for("local[1]") as spark:
    stages = Stages(spark, folder, plan)
    stages.keep("one", spark.range(0, 10, 1, 2))
    stages.keep("two", mapped(spark.range(0, 30, 1, 3), stuck, "id bigint"))
"""


def test_a_killed_driver_goes_on_where_it_was(spark: SparkSession, folder: str, tmp_path: Path) -> None:
    busy = tmp_path / "busy"
    command = [sys.executable, "-c", DRIVER, folder, str(busy)]
    log = tmp_path / "log"
    with log.open("wb") as out:
        driver = subprocess.Popen(command, stdout=out, stderr=out, start_new_session=True)
    try:
        end = time.monotonic() + PATIENCE
        while not busy.exists():
            assert driver.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.05)
    finally:
        os.killpg(driver.pid, signal.SIGKILL)
        driver.wait()
    stages = Stages(spark, folder, {"inputs": []})
    assert stages.resumed
    assert sorted(row.id for row in stages.keep("one", not_again).collect()) == list(range(10))
    assert not stages.done("two")
    assert sorted(row.id for row in stages.keep("two", spark.range(0, 30, 1, 3)).collect()) == list(range(30))
