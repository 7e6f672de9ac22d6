"""Rows by a bit per document: what a join would give, whatever the numbers are."""

import numpy as np
import pytest

from neardup.spark.chosen import among, without
from neardup.spark.parts import FILE_BITS

NUMBERS = [0, 1, 63, 64, 65, 65_535, 65_536, 65_537, 1 << FILE_BITS, (1 << FILE_BITS) + 1, (3 << FILE_BITS) + 70_000]


def _rows(spark, numbers):
    frame = [(int(n), f"text {n}", None) for n in numbers]
    return spark.createDataFrame(frame, "number bigint, text string, block int")  # a column of the bits' own name


def _found(frame):
    assert frame.columns == ["number", "text", "block"]
    return sorted(row.number for row in frame.collect())


@pytest.mark.parametrize(
    "chosen",
    [[], [0], [63, 65], [65_535, 65_536], [2, 62, (1 << FILE_BITS) + 2], NUMBERS[::2], NUMBERS, [NUMBERS[-1]] * 3],
)
def test_as_a_join(spark, chosen):
    rows, wanted = _rows(spark, NUMBERS), spark.createDataFrame([(n,) for n in chosen], "i bigint")
    assert _found(among(rows, wanted)) == sorted(set(NUMBERS) & set(chosen))
    assert _found(without(rows, wanted)) == sorted(set(NUMBERS) - set(chosen))


def test_many_batches_of_a_block(spark):
    """Blocks come in several pieces; one of them has the bit, or none."""
    rng = np.random.default_rng(5)
    numbers = rng.choice(200_000, 30_000, replace=False) + (rng.integers(0, 3, 30_000) << FILE_BITS)
    chosen = rng.permutation(numbers)[:20_000]
    before = spark.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch")
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "1000")
    try:
        wanted = spark.createDataFrame([(int(n),) for n in chosen], "number bigint")
        assert _found(among(_rows(spark, numbers), wanted)) == sorted(map(int, chosen))
    finally:
        spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", before)


def test_rows_without_a_number_are_not_among_any(spark):
    rows = spark.createDataFrame([(None, "a", None), (5, "b", None)], "number bigint, text string, block int")
    wanted = spark.createDataFrame([(5,)], "number bigint")
    assert _found(among(rows, wanted)) == [5]
