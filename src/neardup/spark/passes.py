"""Passes over the buckets: every task compares the documents of its buckets, by the kernels of the local engine.

    pairs    i, j, score    the rows of two documents, the later first; j null: i had more candidates than count

Who is kept travels to the executors as a bit per row. Buckets are passed over again and again, and Java hands rows to
Python one after the other: so hundreds of them are packed into one, as Arrow has them.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from neardup.clusters.form import latest
from neardup.kernels import groups as kernel
from neardup.spark.columns import signatures
from neardup.spark.sketching import Sent
from neardup.spark.tasks import Batches, mapped
from neardup.verify.signatures import Rule

PAIRS = "i bigint, j bigint, score double"

_ROWS, _BYTES = 1 << 16, 256 << 20
"""Rows that a kernel is given at once, or as many as have these bytes."""

_PACK = 96 << 10
"""Bytes of a pack. Spark hands over ten thousand at once, which must be less than 2 GB."""

_BLOCK = 20
"""Bits of a row's place in a block of bits."""


@dataclass(frozen=True)
class StarPass:
    """Runs on executors: buckets → the pairs that count, given who is removed. Where it is not, that is presumed."""

    sent: Sent
    rule: Rule
    removed: bytes | None
    """A bit per row."""

    def __call__(self, batches: Batches) -> Batches:
        """Buckets of any size: those that still stand are carried on, as many as are compared with."""
        recipe = self.sent.recipe
        crowd = recipe.clusters.crowd
        bits = None if self.removed is None else np.frombuffer(self.removed, np.uint8)
        carry: pa.Table | None = None
        for rows in together(batches):
            carried = 0
            if carry is not None and carry.num_rows and carry["key"][0] == rows["key"][0]:
                carried, rows = carry.num_rows, pa.concat_tables([carry, rows])
            begins = _begins(rows)
            places = rows["row"].to_numpy()
            standing = np.ones(len(places), np.bool_) if bits is None else ~has_bit(bits, places)
            roles, sites = rows["role"].to_numpy().astype(np.uint8), _sites(rows["site"])
            there = np.zeros(len(begins) - 1, np.int64)
            there[0] = carried
            cut = np.zeros(len(places), np.bool_)
            shown = signatures(recipe.sketcher, rows["signature"])
            pairs, scores = kernel.star_pass(
                begins,
                there,
                standing,
                roles,
                sites,
                bits is None,
                shown.for_kernel,
                self.rule.least,
                self.rule.presumed,
                crowd,
                recipe.clusters.measured,
                self.rule.strict,
                cut,
            )
            yield _pairs(places, pairs, scores, cut)
            last = np.arange(begins[-2], begins[-1])
            last = last[standing[last] & (roles[last] & kernel.STANDS > 0)]
            carry = rows.take(pa.array(latest(last, sites, crowd + 1)))  # one more tells that there were more


@dataclass(frozen=True)
class ComponentPass:
    """Runs on executors: buckets → pairs that may connect components. Without labels, that scores do is presumed."""

    sent: Sent
    rule: Rule
    labels: bytes | None
    """The component of every row, as 64-bit numbers."""

    def __call__(self, batches: Batches) -> Batches:
        """A bucket at a time must fit into memory."""
        recipe = self.sent.recipe
        known = None if self.labels is None else np.frombuffer(self.labels, np.int64)
        for rows in _whole(together(batches)):
            places = rows["row"].to_numpy()
            cut = np.zeros(len(places), np.bool_)
            shown = signatures(recipe.sketcher, rows["signature"])
            pairs, scores = kernel.component_pass(
                _begins(rows),
                np.ascontiguousarray(places if known is None else known[places]),
                known is None,
                shown.for_kernel,
                self.rule.least,
                self.rule.presumed,
                recipe.clusters.crowd,
                recipe.clusters.measured,
                cut,
            )
            yield _pairs(places, pairs, scores, cut)


def packed(buckets: DataFrame) -> DataFrame:
    """The rows of buckets, many in one; those of a partition stay in order."""
    return mapped(buckets, _packing, "pack binary")


def _packing(batches: Batches) -> Batches:
    """Runs on executors. Packs of a batch have as many rows each, so many that the mean one is not too long."""
    for batch in batches:
        packs, start = [], 0
        each = max(1, _PACK * batch.num_rows // max(1, batch.nbytes))
        while start < batch.num_rows:
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, batch.schema) as stream:
                stream.write_batch(batch.slice(start, each))
            packs.append(sink.getvalue().to_pybytes())
            start += each
        yield pa.RecordBatch.from_arrays([pa.array(packs, pa.binary())], names=["pack"])


def _unpacked(batches: Batches) -> Batches:
    for batch in batches:
        for pack in batch.column("pack"):
            yield from pa.ipc.open_stream(pack.as_buffer())


def together(batches: Batches) -> Iterator[pa.Table]:
    """Unpack batches, small ones in one table."""
    waiting: list[pa.RecordBatch] = []
    rows = held = 0
    for batch in _unpacked(batches):
        if batch.num_rows:
            waiting.append(batch)
        rows, held = rows + batch.num_rows, held + batch.nbytes
        if rows >= _ROWS or held >= _BYTES:
            yield pa.Table.from_batches(waiting)
            waiting, rows, held = [], 0, 0
    if waiting:
        yield pa.Table.from_batches(waiting)


def _whole(tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """The same rows, no bucket in two tables."""
    rest: pa.Table | None = None
    for rows in tables:
        rows = rows if rest is None else pa.concat_tables([rest, rows])
        last = int(_begins(rows)[-2])
        rest = rows.slice(last)
        if last:
            yield rows.slice(0, last)
    if rest is not None:
        yield rest


def _begins(rows: pa.Table) -> NDArray[np.int64]:
    """Where buckets begin, and the end."""
    keys = rows["key"].to_numpy()
    return np.concatenate([[0], np.flatnonzero(keys[1:] != keys[:-1]) + 1, [len(keys)]]).astype(np.int64)


def _sites(column: pa.ChunkedArray) -> NDArray[np.int32]:
    """Number the sites of rows from 0, -1 where it is unknown; of none where no row has one."""
    if column.null_count == len(column):
        return np.empty(0, np.int32)
    known = column.combine_chunks().dictionary_encode().indices
    return np.asarray(known.fill_null(-1).to_numpy(zero_copy_only=False)).astype(np.int32)


def has_bit(bits: NDArray[np.uint8], rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which rows are set in an array of a bit per row."""
    found: NDArray[np.bool_] = (bits[rows >> 3] >> (rows & 7).astype(np.uint8)) & 1 > 0
    return found


def _pairs(
    places: NDArray[np.int64], pairs: NDArray[np.int32], scores: NDArray[np.float64], cut: NDArray[np.bool_]
) -> pa.RecordBatch:
    crowded = places[cut]
    nothing = np.zeros(len(crowded))
    there = np.concatenate([np.zeros(len(pairs), np.bool_), np.ones(len(crowded), np.bool_)])
    columns = [
        pa.array(np.concatenate([places[pairs[:, 0]], crowded])),
        pa.array(np.concatenate([places[pairs[:, 1]], nothing.astype(np.int64)]), mask=there),
        pa.array(np.concatenate([scores, nothing]), mask=there),
    ]
    return pa.RecordBatch.from_arrays(columns, names=["i", "j", "score"])


def marked(rows: DataFrame, size: int) -> bytes:
    """A bit per row: set for the rows in the column i. They are packed where they are; what travels is the bits."""
    blocks = (
        rows.select((F.col("i") / (1 << _BLOCK)).cast("bigint").alias("block"), "i")
        .repartition("block")
        .sortWithinPartitions("block")
    )
    bits = np.zeros(size // 8 + 1, np.uint8)
    for block in mapped(blocks, _as_bits, "block bigint, bits binary").toLocalIterator():
        held = np.frombuffer(block["bits"], np.uint8)
        start = block["block"] << (_BLOCK - 3)
        bits[start : start + len(held)] |= held[: len(bits) - start]
    return bits.tobytes()


def _as_bits(batches: Batches) -> Batches:
    """Runs on executors: rows of a block, and of the next → their bits, batch by batch."""
    for batch in batches:
        blocks, rows = batch.column("block").to_numpy(), batch.column("i").to_numpy()
        numbers = np.unique(blocks)
        packed = []
        for number in numbers:
            held = np.zeros(1 << (_BLOCK - 3), np.uint8)
            inside = rows[blocks == number] - (number << _BLOCK)
            np.bitwise_or.at(held, inside >> 3, np.left_shift(1, inside & 7).astype(np.uint8))
            packed.append(held.tobytes())
        yield pa.RecordBatch.from_arrays([pa.array(numbers), pa.array(packed, pa.binary())], names=["block", "bits"])
