"""Documents of one template on Spark: the local engine's answer, and the recall that is promised."""

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import neardup
from benchmarks.crowds.corpus import Parameters, crowd
from neardup.recipes import choose_recipe
from tests.laws.test_crowds import texts_of_templates


def answers(table: pa.Table, spark: SparkSession, **settings: object) -> tuple[list[dict], list[dict]]:
    local = neardup.dedup(table, **settings)
    with neardup.dedup(spark.createDataFrame(table), **settings) as result:
        return local.removed.to_pylist(), result.removed.toArrow().to_pylist()


@pytest.mark.parametrize(
    ("recipe", "between", "duplicate", "hosts"),
    [
        ("default", 0.79, 0.85, "own"),
        ("default", 0.60, 0.81, "own"),
        ("web", 0.64, 0.70, "own"),
        ("web", 0.80, 0.88, "one"),
    ],
)
def test_recall_in_a_crowd(spark, recipe, between, duplicate, hosts):
    made = crowd(Parameters(400, between, duplicate, order="shuffled", hosts=hosts))
    settings = {"recipe": recipe, "id_field": "id", "text_field": "text"}
    settings |= {"url_field": "url"} if recipe == "web" else {}
    local, found = answers(made.documents, spark, **settings)
    assert found == local
    assert len(found) >= 0.985 * 400


@pytest.mark.parametrize("recipe", ["default", "web"])
@pytest.mark.parametrize("cluster", ["star", "components"])
def test_templates_of_many_kinds(spark, recipe, cluster):
    """More pages than a bucket may have without being crowded: bare templates, variants, edited copies, three sites."""
    rows = pa.Table.from_pylist(texts_of_templates(3, n=600))
    settings = {"recipe": choose_recipe(recipe).changed(clusters_method=cluster), "id_field": "id"}
    settings |= {"url_field": "url"} if recipe == "web" else {}
    local, found = answers(rows, spark, **settings)
    assert len(local) > 50
    assert found == local
