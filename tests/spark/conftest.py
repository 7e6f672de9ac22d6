"""Real Spark: a session in this process, and a standalone cluster of real processes on 127.0.0.1."""

import os
import sys
from collections.abc import Iterator
from unittest.mock import patch

import pytest
from pyspark.sql import SparkSession

from neardup.spark.session import session_for
from tests.spark.standalone import Cluster

_SMALL = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.files.maxPartitionBytes": "20000",
    "spark.sql.files.openCostInBytes": "1000",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One process starts one Java; pytest -n keeps a group in one process (--dist loadgroup)."""
    for item in items:
        if item.path.parent.name == "spark":
            item.add_marker(pytest.mark.xdist_group("spark"))


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """As neardup starts it, on two cores; files are cut small, so that every one has many blocks."""
    with patch("neardup.spark.session._half_of_memory", return_value=2048), session_for("local[2]") as started:
        for name, value in _SMALL.items():
            started.conf.set(name, value)
        yield started


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """A master and two workers."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    started = Cluster(workers=2)
    yield started
    started.stop()
