"""Both engines give one answer, document for document: over every recipe, keep policy and way to cluster."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup
from neardup.recipes import recipe_names
from tests.spark.pages import some_pages

POLICIES = [
    "last",
    "longest",
    "shortest,last",
    "max:score",
    "min:score,longest",
    "max:name",
    "prefer:source=wiki,news,max:rank",
]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Copies, edited copies, templates, empty and short pages; with values that tie, are null, or not a number."""
    path = tmp_path_factory.mktemp("pages") / "pages.parquet"
    pq.write_table(some_pages(), path, row_group_size=40)
    return path


def told(result):
    """All that people take home, as plain rows."""
    tables = [result.removed, result.groups]
    rows = [(table if isinstance(table, pa.Table) else table.toArrow()).to_pylist() for table in tables]
    counts = {name: n for name, n in result.counts.items() if name not in ("pairs_measured",)}
    return *rows, counts


def same(spark, path, **settings):
    local = neardup.dedup(path, **settings)
    with neardup.dedup(path, engine="spark", **settings) as result:
        removed, groups, counts = told(result)
        kept = sorted(row.url for row in result.kept.select("url").collect())
    expected = told(local)
    assert removed == expected[0]
    assert groups == expected[1]
    assert counts == expected[2]
    assert kept == sorted(local.kept.column("url").to_pylist())
    return local


@pytest.mark.parametrize("name", recipe_names())
def test_recipes(spark, pages, name):
    result = same(spark, pages, recipe=name)
    assert result.counts["removed"] > 10


@pytest.mark.parametrize("name", ["default", "combined", "bloom"])
def test_components(spark, pages, name):
    result = same(spark, pages, recipe=name, cluster="components")
    assert result.counts["removed"] > 10


@pytest.mark.parametrize("keep", POLICIES)
def test_keep_policies(spark, pages, keep):
    result = same(spark, pages, recipe="stream", keep=keep)
    assert result.counts["removed"] > 10
