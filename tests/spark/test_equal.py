"""Both engines give one answer, document for document: over every recipe, keep policy, way to cluster and input."""

import gzip
import json
import random
from decimal import Decimal
from itertools import cycle
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import neardup
from neardup.errors import InputError
from neardup.recipes import choose_recipe, load_recipe, recipe_names
from tests.corpus import copies_on_hosts
from tests.spark.pages import some_pages

POLICIES = [
    "first",
    "last",
    "longest",
    "shortest,last",
    "max:score",
    "min:score,longest",
    "max:name",
    "prefer:source=wiki,news,max:rank",
]
OTHERWISE = ["default", "combined", "altavista", "bloom"]
"""Recipes that are run by the other way to cluster too: exact, on the fly, by features alone, by scores."""


def _cases() -> list[tuple[str, str, str]]:
    """Every recipe as it is, and some by the other way; every keep policy comes up twice."""
    own = [(name, choose_recipe(name).clusters.method) for name in recipe_names()]
    other = [(name, "star" if dict(own)[name] == "components" else "components") for name in OTHERWISE]
    return [(name, method, keep) for (name, method), keep in zip([*own, *other], cycle(POLICIES), strict=False)]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copies, edited copies, templates, empty and short pages; with values that tie, are null, or not a number."""
    path = tmp_path_factory.mktemp("pages") / "pages.parquet"
    pq.write_table(some_pages(), path, row_group_size=40)
    return path


def rows(table: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (table if isinstance(table, pa.Table) else table.toArrow()).to_pylist()
    return found


def same(local: neardup.Result, result: Any) -> dict[str, Any]:
    """All that people take home. How many pairs were measured on the way is each engine's own."""
    assert rows(result.removed) == rows(local.removed)
    assert rows(result.groups) == rows(local.groups)
    by_place = lambda row: (row["source"], row["position"] or 0, row["kind"], row["detail"])  # noqa: E731
    assert sorted(rows(result.skipped), key=by_place) == sorted(rows(local.skipped), key=by_place)
    told, expected = (
        {name: n for name, n in counts.items() if name != "pairs_measured"} for counts in (result.counts, local.counts)
    )
    assert told == expected
    assert result.said == local.said
    return expected


@pytest.mark.parametrize(("name", "method", "keep"), _cases())
def test_recipes_and_keep_policies(spark: SparkSession, pages: Path, name: str, method: str, keep: str) -> None:
    local = neardup.dedup(pages, recipe=name, cluster=method, keep=keep)
    with neardup.dedup(pages, engine="spark", recipe=name, cluster=method, keep=keep) as result:
        assert same(local, result)["removed"] > 10
        kept = sorted(row.url for row in result.kept.select("url").collect())
    assert kept == sorted(local.kept.column("url").to_pylist())


@pytest.mark.parametrize("kind", [pa.int32(), pa.int64(), pa.string()], ids=str)
def test_ids_keep_their_type(spark: SparkSession, tmp_path: Path, kind: pa.DataType) -> None:
    text = "the ferry to the island leaves at nine and at noon and at six in the evening"
    ids = pa.array([7, 3, 100]).cast(kind)
    pq.write_table(pa.table({"id": ids, "text": [text] * 3}), tmp_path / "in.parquet")
    local = neardup.dedup(tmp_path / "in.parquet")
    with neardup.dedup(tmp_path / "in.parquet", engine="spark") as result:
        for ours, theirs in ((local.removed, result.removed.toArrow()), (local.groups, result.groups.toArrow())):
            assert rows(ours) == rows(theirs)
            assert theirs.schema.field("id").type == kind
        result.write(tmp_path / "out", annotate=True)
    noted = pq.read_table(tmp_path / "out/kept")
    assert noted.schema.field("neardup_kept_id").type == kind
    assert sorted(noted["neardup_kept_id"].drop_null().to_pylist()) == [ids[0].as_py()] * 2


VALUES = {
    "whole": pa.array([2**53 + 1, 2**53, 2**53 + 2, None, 5, 5]),
    "decimal": pa.array([None, *(Decimal(f"0.100000000000000000{n}") for n in (3, 1, 2, 3, 1))], pa.decimal128(38, 19)),
    "moment": pa.array([3, 1, None, 2, 2, 1], pa.timestamp("us", "UTC")),
    "local": pa.array([3, 1, None, 2, 2, 1], pa.timestamp("us")),
    "day": pa.array([3, 1, None, 2, 2, 1], pa.date32()),
    "word": pa.array(["10", "9", "ä", None, "z", "é"]),
    "truth": pa.array([True, None, False, True, False, None]),
    "float": pa.array([0.5, float("nan"), None, -0.0, 1e300, -1e300]),
}


@pytest.mark.parametrize("column", VALUES)
def test_keep_columns_of_every_type(spark: SparkSession, tmp_path: Path, column: str) -> None:
    text = "the ferry to the island leaves at nine and at noon and at six in the evening"
    table = pa.table({"id": list("abcdef"), "text": [text] * 6, "value": VALUES[column]})
    pq.write_table(table, tmp_path / "in.parquet")
    for keep in ("max:value", "min:value"):
        local = neardup.dedup(tmp_path / "in.parquet", keep=keep)
        with neardup.dedup(tmp_path / "in.parquet", engine="spark", keep=keep) as result:
            assert rows(result.removed) == rows(local.removed)


def test_every_policy_is_among_the_cases() -> None:
    assert {keep for _, _, keep in _cases()} == set(POLICIES)
    assert {name for name, _, _ in _cases()} == set(recipe_names())


@pytest.mark.parametrize(("name", "keep"), [("web", "longest"), ("bloom", "max:score")])
def test_copies_on_several_hosts_in_any_order(spark: SparkSession, tmp_path: Path, name: str, keep: str) -> None:
    """The preferred copy stands for all of them: its host, for recipe web, and its bytes, for recipe bloom."""
    recipe = load_recipe(name)
    if name == "bloom":
        recipe = recipe.changed(sketch_chunk=32, sketch_window=12)
    documents, answers = copies_on_hosts(40, seed=1), []
    for order in range(2):
        path = tmp_path / f"{order}.parquet"
        pq.write_table(pa.Table.from_pylist(documents), path, row_group_size=15)
        local = neardup.dedup(path, recipe=recipe, keep=keep)
        with neardup.dedup(path, engine="spark", recipe=recipe, keep=keep) as result:
            assert same(local, result)["removed"] > 10
            answers.append({row["id"]: row for row in rows(result.removed)})
        random.Random(1).shuffle(documents)
    assert answers[0] == answers[1]


def _mixed(folder: Path) -> Path:
    """Parquet, JSON Lines packed and plain, text files; with everything that can be wrong with documents."""
    table = some_pages(seed=3).to_pylist()
    for at, page in enumerate(table):
        page["id"] = f"page {at}" if at != 7 else "page 5"
    (folder / "sub").mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(table[:50]), folder / "a.parquet", row_group_size=20)
    lines = [json.dumps(page, ensure_ascii=False).encode() for page in table[50:90]]
    broken = [b"{", b'{"id": "x", "text": "\xff\xfe bytes"}', b'{"id": "page 3", "text": "an id that is taken"}', b""]
    marked = b"\xef\xbb\xbf" + b"\r\n".join(lines[:30]) + b"\n"
    (folder / "sub" / "b.jsonl").write_bytes(marked + b"\n".join([*broken, *lines[30:]]))
    more = "".join(json.dumps(page) + "\n" for page in table[85:120])
    (folder / "c.jsonl.gz").write_bytes(gzip.compress(more.encode()))
    for at, page in enumerate(table[110:]):
        (folder / "sub" / f"{at}.txt").write_text(page["text"])
    (folder / "sub" / "bytes.txt").write_bytes(b"caf\xe9 au lait " * 10)
    return folder


def _kept_of(out: Path) -> list[str]:
    """What identifies the documents of OUT/kept, of any layout."""
    found = []
    for path in sorted(p for p in (out / "kept").rglob("*") if p.is_file() and p.name[0] not in "._"):
        if path.suffix == ".parquet":
            columns = pq.read_table(path).to_pylist()
            found += [str(row["id"]).rpartition("/")[2] for row in columns]
        elif path.suffix in (".jsonl", ".gz") or (path.suffix == ".txt" and path.name.startswith("part-")):
            data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            held = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace").split("\n")
            found += held if held[-1] else held[:-1]  # also what is broken and blank
        else:
            found.append(path.name)
    return sorted(found)


def test_several_formats_with_broken_documents(spark: SparkSession, tmp_path: Path) -> None:
    folder = _mixed(tmp_path / "in")
    settings: dict[str, Any] = {"on_error": "skip", "recipe": "default", "verify": "sketch"}
    local = neardup.dedup(folder, **settings)
    with neardup.dedup(folder, engine="spark", **settings) as result:
        counts = same(local, result)
        local.write(tmp_path / "local")
        result.write(tmp_path / "spark")
    assert counts["skipped_by_kind"] == {"duplicate id": 2 + 5, "not JSON": 1, "not UTF-8": 2}
    assert counts["removed"] > 10
    assert _kept_of(tmp_path / "spark") == _kept_of(tmp_path / "local")
    assert {path.name for path in (tmp_path / "spark" / "kept").iterdir()} == {"parquet", "jsonl", "text"}
    with pytest.raises(InputError) as stopped_on_spark:
        neardup.dedup([str(folder / "a.parquet")], engine="spark")
    with pytest.raises(InputError) as stopped:
        neardup.dedup([folder / "a.parquet"])
    assert str(stopped_on_spark.value) == str(stopped.value)
    assert "duplicate id: 'page 5' is the id at a.parquet:6 too" in str(stopped.value)


def test_pages(spark: SparkSession, tmp_path: Path) -> None:
    """A folder of HTML is read by recipe web, with nobody asking for it."""
    for at, page in enumerate(some_pages(seed=5).to_pylist()[:60]):
        place = tmp_path / "in" / "abc"[at % 3]
        place.mkdir(parents=True, exist_ok=True)
        body = f"<nav>Home</nav><main><h1>{at % 5}</h1><p>{page['text']}</p></main>"
        (place / f"{at}.html").write_text(f"<html><body>{body}</body></html>")
    local = neardup.dedup(tmp_path / "in")
    with neardup.dedup(tmp_path / "in", engine="spark") as result:
        assert same(local, result)["removed"] > 5
        assert result.recipe == local.recipe
        kept = sorted(row.id for row in result.kept.select("id").collect())
    assert kept == sorted(Path(name).as_posix() for name in local.kept.column("id").to_pylist())


def test_pages_and_texts_beside_them(spark: SparkSession, tmp_path: Path) -> None:
    """Texts of a folder of pages are of the pages' host on Spark too, and the recipe is chosen alike."""
    for name in "abcdef":
        words = " ".join([*(f"common{i}" for i in range(104)), *(f"{name}{i}" for i in range(15))])
        (tmp_path / f"{name}.html").write_text(f"<html><body><main>{words}</main></body></html>")
    (tmp_path / "t.txt").write_text(words.replace("f1", "t1"))
    local = neardup.dedup(tmp_path)
    with neardup.dedup(tmp_path, engine="spark") as result:
        assert same(local, result)["removed"] == 0
        assert result.recipe == local.recipe == neardup.load_recipe("web")
        assert result.said == local.said


def test_columns_and_lines_that_are_no_text(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("no JSON\n" * 3)
    pq.write_table(pa.table({"id": [1, 2], "words": [["a", "b"], ["c"]]}), tmp_path / "b.parquet")
    for name, settings in (("a.jsonl", {"on_error": "skip"}), ("b.parquet", {"text_field": "words"})):
        with pytest.raises(InputError) as on_spark:
            neardup.dedup(str(tmp_path / name), engine="spark", **settings)
        with pytest.raises(InputError) as locally:
            neardup.dedup(tmp_path / name, **settings)
        ending = str(locally.value).rpartition("/")[2]  # tasks know the names of files, not their folders
        assert str(on_spark.value).endswith(ending)


@pytest.mark.parametrize(("recipe", "settings"), [("altavista", {"verify": "exact"}), ("alg-c", {"verify": "exact"})])
def test_papers_and_exact_on_top(spark: SparkSession, pages: Path, recipe: str, settings: dict[str, Any]) -> None:
    local = neardup.dedup(pages, recipe=recipe, **settings)
    with neardup.dedup(pages, recipe=recipe, engine="spark", **settings) as result:
        assert same(local, result)["removed"] > 10


def test_a_frame(spark: SparkSession, pages: Path) -> None:
    """Of rows that have been shuffled, and come in an order that is nobody's but this frame's."""
    frame = spark.read.parquet(str(pages)).repartition(5, "url").sortWithinPartitions("text").cache()
    in_this_order = frame.toArrow()
    local = neardup.dedup(in_this_order, keep="longest")
    with neardup.dedup(frame, keep="longest") as result:
        same(local, result)
        kept = sorted(row.url for row in result.kept.collect())
    assert kept == sorted(local.kept.column("url").to_pylist())
    assert frame.storageLevel.useMemory
    frame.unpersist()
