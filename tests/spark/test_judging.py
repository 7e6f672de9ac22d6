"""The driver and the executors judge alike, and as the definition says."""

import random
from math import isnan, nan

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import neardup
from neardup.spark import judging
from neardup.spark.judging import Known, judge, judged
from neardup.verify.signatures import Rule
from tests.naive import judging as naive
from tests.spark.pages import some_pages

RULE = Rule(least=0.2, presumed=0.6, threshold=0.7, measured=True)
SIZE = 500


def _some(seed: int) -> dict[int, list[tuple[int, float, float]]]:
    """i → (j, score, value) of its candidates, the best score first; some have none."""
    rng = random.Random(seed)
    found: dict[int, list[tuple[int, float, float]]] = {}
    for i in rng.sample(range(1, SIZE), 200):
        scores = sorted((round(rng.uniform(0.2, 1.0), 1) for _ in range(rng.choice([0, 1, 2, 9]))), reverse=True)
        known = rng.choice([0.0, 0.3, 1.0])
        values = [rng.choice([0.1, 0.69, 0.7, 0.9]) if rng.random() < known else nan for _ in scores]
        found[i] = list(zip(rng.sample(range(10_000), len(scores)), scores, values, strict=True))
    return found


def _told(candidates: dict[int, list[tuple[int, float, float]]]) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    similar, asked = set(), set()
    for i, mine in candidates.items():
        first, wanted = naive.judged(
            [(score, value) for _, score, value in mine], threshold=0.7, presumed=0.6, at_once=4
        )
        similar |= {(i, mine[first][0])} if first is not None else set()
        asked |= {(i, mine[c][0]) for c in wanted}
    return similar, asked


@pytest.mark.parametrize("seed", range(5))
def test_as_the_definition_says(seed: int) -> None:
    candidates = _some(seed)
    rows = [(i, c, *one) for i in sorted(candidates) for c, one in enumerate(candidates[i])]
    columns = dict(zip(("i", "c", "j", "score", "value"), zip(*rows, strict=True), strict=True))
    found = judge(pa.table({**columns, "c": pa.array(columns["c"], pa.int32())}), RULE).to_pylist()
    similar, asked = _told(candidates)
    assert {(row["i"], row["j"]) for row in found if row["similar"]} == similar
    assert {(row["i"], row["j"]) for row in found if row["asked"]} == asked
    assert len(similar) > 20
    assert len(asked) > 100


def test_nobody_has_candidates() -> None:
    empty = pa.schema([("i", pa.int64()), ("c", pa.int32()), ("j", pa.int64()), ("score", pa.float64())])
    rows = empty.append(pa.field("value", pa.float64())).empty_table()
    assert judge(rows, RULE).num_rows == 0


@pytest.mark.parametrize("few", [0, SIZE])
def test_on_both_sides(spark: SparkSession, monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    monkeypatch.setattr(judging, "FEW", few)
    candidates = _some(9)
    chosen = spark.createDataFrame(
        [(i, [(-score, j) for j, score, _ in mine]) for i, mine in candidates.items()],
        "i bigint, best array<struct<away double, j bigint>>",
    ).repartition(5)
    values = [(i, j, value) for i, mine in candidates.items() for j, _, value in mine if not isnan(value)]
    known = Known()
    for part in (values[::2], values[1::2]):
        known.add(spark.createDataFrame(part, "i bigint, j bigint, value double"), len(part))
    similar, asked = _told(candidates)
    verdict = judged(chosen, len(candidates), known, RULE)
    pairs = verdict.asked()
    assert isinstance(pairs, pa.Table) == (few > 0)
    held = pairs if isinstance(pairs, pa.Table) else pairs.toArrow()
    assert {(row["i"], row["j"]) for row in held.to_pylist()} == asked
    assert {tuple(row) for row in verdict.centres().collect()} == similar
    removed = int.from_bytes(verdict.removed(SIZE), "little")
    assert {row for row in range(SIZE) if removed >> row & 1} == {i for i, _ in similar}
    alike, end = verdict.alike(100, SIZE)
    assert end == SIZE
    over = {(i, j) for i, mine in candidates.items() for j, _, value in mine if value >= 0.7 and i > 100}
    assert {(row["i"], row["j"]) for row in alike.to_pylist()} == over
    verdict.forget()


def test_executors_judge_a_whole_run(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is few: every round is judged, and every pair weighed, by joins."""
    monkeypatch.setattr(judging, "FEW", 0)
    frame = spark.createDataFrame(some_pages(seed=8)).coalesce(1)
    local = neardup.dedup(some_pages(seed=8))
    with neardup.dedup(frame) as result:
        assert result.removed.toArrow().to_pylist() == local.removed.to_pylist()
    assert local.counts["removed"] > 10
