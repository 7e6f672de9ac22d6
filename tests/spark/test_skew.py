"""A feature that 30 % of the documents share does not hang it, and the answer is the local engine's."""

import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import neardup
from neardup.recipes import choose_recipe
from neardup.spark import passes
from neardup.spark.columns import binaries
from neardup.spark.passes import StarPass
from neardup.spark.sketching import Sent
from neardup.spark.stars import follow, settled
from neardup.spark.weighing import Scale
from neardup.text.batches import text_batch
from tests.spark.crowds import crowded

RECIPE = choose_recipe("default").changed(verify_method="sketch")

DOCUMENTS = 20_000


@pytest.fixture(scope="module")
def took(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[float, float]:
    """Seconds, by the share of documents that are of one template."""
    folder = tmp_path_factory.mktemp("crowds")
    seconds = {}
    for share in (0.0, 0.3):
        path = folder / f"{share}.parquet"
        pq.write_table(crowded(DOCUMENTS, share), path)
        begun = time.monotonic()
        with neardup.dedup(path, engine="spark", recipe="stream") as result:
            removed = result.removed.toArrow().to_pylist()
            seconds[share] = time.monotonic() - begun
            crowd = result.counts["crowded"]
        local = neardup.dedup(path, recipe="stream")
        assert removed == local.removed.to_pylist()
        assert crowd == local.counts["crowded"]
        assert (crowd > 0.2 * DOCUMENTS) == (share > 0)
    return seconds


def test_a_crowd_takes_a_bounded_time(took: dict[float, float]) -> None:
    assert took[0.3] < 10 * took[0.0] + 30


def _buckets(documents: int, *, one: bool) -> pa.Table:
    """Rows as passes get them: by key, in order. All in one bucket, or by their features."""
    texts = crowded(documents, 0.5)["text"].combine_chunks().cast(pa.large_binary())
    made = RECIPE.sketcher.sketch(text_batch(texts))
    found = RECIPE.sketcher.keys(made.words, made.ragged)
    keys = np.full(documents, 7) if one else found.values.view(np.int64)
    rows = np.arange(documents) if one else np.repeat(np.arange(documents), np.diff(found.offsets))
    order = np.lexsort([rows, keys])
    at = pa.array(rows[order])
    role, site = pa.array(np.full(len(at), 3, np.int32)), pa.nulls(len(at), pa.int64())
    shown = binaries(made.samples).take(at)
    return pa.table({"key": keys[order], "row": at, "role": role, "site": site, "signature": shown})


def _passed(rows: pa.Table, removed: bytes | None) -> tuple[list[tuple[int, int, float]], list[int]]:
    """Pairs, and who was cut short."""
    sent = Sent.of(RECIPE)
    rule = Scale(sent, None, False).rule  # type: ignore[arg-type]
    packs = passes._packing(iter(rows.to_batches(100)))
    found = pa.Table.from_batches(list(StarPass(sent, rule, removed)(packs))).to_pylist()
    pairs = sorted((row["i"], row["j"], row["score"]) for row in found if row["j"] is not None)
    return pairs, sorted(row["i"] for row in found if row["j"] is None)


def test_a_bucket_of_many_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Buckets are cut where batches end; what is carried on tells with whom to compare, and who was cut short."""
    rows = _buckets(1500, one=True)
    bits = np.packbits(np.arange(1504) % 5 == 0, bitorder="little").tobytes()
    whole = [_passed(rows, removed) for removed in (None, bits)]
    monkeypatch.setattr("neardup.spark.passes._ROWS", 100)
    assert [_passed(rows, removed) for removed in (None, bits)] == whole
    assert all(len(cut) > 100 for _, cut in whole)


def test_every_round_settles_more() -> None:
    """In buckets of thousands, of which only the latest 256 that are kept count."""
    n = 3000
    rows = _buckets(n, one=False)
    given, before, rounds = None, -1, 0
    while True:
        pairs, _ = _passed(rows, given)
        similar = pa.table({"i": [i for i, _, _ in pairs], "j": [j for _, j, _ in pairs]})
        gone = np.zeros(n // 8 * 8 + 8, np.bool_)
        gone[similar["i"].to_numpy()] = True
        found = np.packbits(gone, bitorder="little").tobytes()
        rounds += 1
        if found == given:
            break
        last = settled(given, found)
        assert last > before
        before = last
        given = follow(similar, found, last, n)
    assert 2 < rounds < 20
