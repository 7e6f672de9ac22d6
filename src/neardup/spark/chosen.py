"""Rows whose number is among those of a frame, or is not. The rows stay where they are: texts are what a collection has
most of, and a join of two large frames would send all of them through the network.

The numbers travel instead, a bit each, to every executor: a block of 2^16 numbers is an array of 64-bit words, cut
after its last bit. A billion documents are 125 MB.
"""

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from neardup.spark.tasks import Batches, mapped

_BLOCK = 16
_WORDS = 1 << (_BLOCK - 6)
_BITS = "block bigint, bits array<bigint>"


def among(rows: DataFrame, chosen: DataFrame) -> DataFrame:
    """The rows whose `number` is in the one column of `chosen`."""
    return _held_against(rows, chosen, "left_semi")


def without(rows: DataFrame, chosen: DataFrame) -> DataFrame:
    """The rows whose `number` is not."""
    return _held_against(rows, chosen, "left_anti")


def _held_against(rows: DataFrame, chosen: DataFrame, how: str) -> DataFrame:
    blocks = chosen.select(_block(F.col(chosen.columns[0])), F.col(chosen.columns[0]).alias("number"))
    sorted_by_block = blocks.repartition("block").sortWithinPartitions("block")
    bits = mapped(sorted_by_block, _packed, _BITS).alias("chosen")
    here = rows.withColumn("chosen_block", _block(F.col("number"))).alias("here")
    within = F.col("here.number").bitwiseAND(F.lit((1 << _BLOCK) - 1))
    word = F.get(F.col("chosen.bits"), F.shiftright(within, 6).cast("int"))
    is_set = F.call_function("getbit", word, within.bitwiseAND(F.lit(63)).cast("int")) == 1
    held = here.join(F.broadcast(bits), (F.col("here.chosen_block") == F.col("chosen.block")) & is_set, how)
    return held.drop("chosen_block")


def _block(number: Column) -> Column:
    return F.shiftright(number, _BLOCK).alias("block")


def _packed(batches: Batches) -> Batches:
    """Runs on executors: block, number → the bits of blocks. A block that is in two batches has two rows."""
    for batch in batches:
        blocks, numbers = batch.column("block").to_numpy(), batch.column("number").to_numpy()
        found, packed = np.unique(blocks), []
        for block in found:
            inside = (numbers[blocks == block] & ((1 << _BLOCK) - 1)).astype(np.int64)
            words = np.zeros(_WORDS, np.uint64)
            np.bitwise_or.at(words, inside >> 6, np.left_shift(np.uint64(1), (inside & 63).astype(np.uint64)))
            packed.append(words[: int(inside.max() >> 6) + 1].view(np.int64))
        yield pa.RecordBatch.from_arrays([pa.array(found), pa.array(packed, pa.list_(pa.int64()))], ["block", "bits"])
