"""What limits on comparisons cost, estimated on Spark: the numbers of the local engine."""

import json
import re
from itertools import permutations
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import neardup
from benchmarks.crowds.corpus import Parameters, crowd
from neardup.recipes import choose_recipe
from tests.laws.test_crowds import texts_of_templates
from tests.naive.report import shingle_set
from tests.spark.crowds import crowded
from tests.spark.test_command import run


def told(counts: dict) -> dict:
    return {name: counts.get(name) for name in ("crowded", "recall_lost_in_crowds")}


def on_both(table: pa.Table, spark: SparkSession, **settings: object) -> tuple[dict, dict]:
    local = neardup.dedup(table, **settings)
    with neardup.dedup(spark.createDataFrame(table), **settings) as result:
        return told(local.counts), told(result.run()["counts"])


def test_a_sample_that_is_judged_by_sketches(spark, tmp_path):
    """In run.json and the summary; a run that goes on says it again."""
    path = tmp_path / "crowd.parquet"
    pq.write_table(crowded(200, 0.8), path)
    asked = ("dedup", path, "--recipe", "default", "--verify", "sketch", "--set", "clusters.crowd=2")
    local = run(*asked, "-o", tmp_path / "local", "--no-report")
    for _ in range(2):
        ended = run(*asked, "-o", tmp_path / "out", "--engine", "spark")
        assert ended.exit_code == 0, ended.output
        found = written(tmp_path / "out")
        assert found == written(tmp_path / "local")
        assert line(ended.output) == line(local.output) != ""
    assert found["crowded"] > 100
    lost = found["recall_lost_in_crowds"]
    assert 0.05 < lost["low"] < lost["share"] < lost["high"]


def written(out: Path) -> dict:
    return told(json.loads((out / "run.json").read_text())["counts"])


def line(summary: str) -> str:
    """Return what the summary says of crowds, however it is broken into lines."""
    found = re.search(r"crowded .* More: --set clusters.crowd=8", " ".join(summary.split()))
    return "" if found is None else found[0]


def test_pairs_that_are_measured_where_sites_matter(spark):
    """In the buckets that are made of crowded ones, documents do not look where they stand."""
    recipe = choose_recipe("web").changed(clusters_crowd=2, clusters_measured=1)
    table = pa.Table.from_pylist(texts_of_templates(3, n=200))
    local, found = on_both(table, spark, recipe=recipe, id_field="id", url_field="url")
    assert found == local
    assert found["recall_lost_in_crowds"]["share"] > 0.1


def test_components_against_all_pairs(spark):
    """Which documents are cut short depends on the order of work there, so that both engines may differ."""
    table = crowd(Parameters(32, 0.79, 0.85)).documents
    recipe = choose_recipe("default").changed(clusters_method="components", clusters_crowd=1, clusters_measured=1)
    with neardup.dedup(spark.createDataFrame(table), recipe=recipe, id_field="id", text_field="text") as result:
        first = {row["id"]: row["kept_id"] for row in result.removed.collect()}
        counts = result.counts
    rows = table.to_pylist()
    order = {row["id"]: place for place, row in enumerate(rows)}
    sets = {row["id"]: shingle_set(row["text"], recipe.shingles.width) for row in rows}
    missed = set()
    for a, b in permutations(sets, 2):
        earlier = a not in first and order[first.get(b, b)] < order[a]
        if earlier and len(sets[a] & sets[b]) >= 0.8 * len(sets[a] | sets[b]):
            missed.add(a)
    assert len(missed) > 5
    assert counts["crowded"] <= 100  # all of them are looked at again
    lost = counts["recall_lost_in_crowds"]["share"]
    assert lost == pytest.approx(len(missed) / (counts["removed"] + len(missed)))


def test_nothing_is_said_where_nothing_was_cut_short(spark):
    local, found = on_both(crowded(60, 0.2), spark, recipe="default")
    assert local == found == {"crowded": 0, "recall_lost_in_crowds": None}
