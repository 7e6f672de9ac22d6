"""Columns of bytes ↔ the arrays of the kernels. Spark has no unsigned integers and no binaries of a fixed size.

words, samples   the same number of bytes for every document
ragged           as many 64-bit words as a document happens to have
signature        what is made of these: what candidates are compared by
"""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.kernels import groups as kernel
from neardup.sketches.base import Ragged, Sketcher
from neardup.verify.signatures import Signatures

PAYLOAD = ("words", "samples", "ragged", "url")
"""What signatures are made of."""


def binaries(rows: NDArray[Any]) -> pa.Array:
    """The rows of a matrix, as bytes."""
    return pieces(rows.reshape(-1), np.arange(len(rows) + 1) * rows.shape[1])


def pieces(values: NDArray[Any], offsets: NDArray[np.int64]) -> pa.Array:
    """values[offsets[i] : offsets[i + 1]], as bytes."""
    ends = pa.py_buffer((offsets * values.itemsize).astype(np.int64))
    data = pa.py_buffer(np.ascontiguousarray(values))
    return pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(offsets) - 1, [None, ends, data]).cast(pa.binary())


def matrix(column: pa.Array, kind: Any, width: int) -> NDArray[Any]:
    """The rows of a column of which all have `width` values of this kind."""
    return ragged(column, kind).values.reshape(len(column), width)


def ragged(column: pa.Array, kind: Any = np.uint64) -> Ragged:
    """Values of this kind, as many as each row has."""
    wide = column.cast(pa.large_binary())
    if isinstance(wide, pa.ChunkedArray):
        wide = wide.combine_chunks()
    _, ends, data = wide.buffers()
    offsets = np.frombuffer(ends, np.int64)[wide.offset : wide.offset + len(wide) + 1]
    held = np.frombuffer(data, np.uint8)[offsets[0] : offsets[-1]] if data is not None else np.empty(0, np.uint8)
    size = np.dtype(kind).itemsize
    values = held.copy().view(kind) if len(held) else np.empty(0, kind)  # copied, for kernels want aligned memory
    return Ragged(values, (offsets - offsets[0]) // size)


def signed(values: NDArray[np.uint64]) -> pa.Array:
    """64 bits, as Spark holds them."""
    return pa.array(np.ascontiguousarray(values).view(np.int64))


def signature_bytes(sketcher: Sketcher, rows: pa.RecordBatch) -> pa.Array:
    """The signatures of rows that have the columns of PAYLOAD, as bytes."""
    words = matrix(rows.column("words"), np.uint64, sketcher.words)
    samples = matrix(rows.column("samples"), np.uint8, sketcher.samples)
    urls = rows.column("url").to_pylist() if sketcher.needs_urls else [None] * rows.num_rows
    made = Signatures.of_columns(sketcher, samples, words, ragged(rows.column("ragged")), urls)
    return binaries(made.samples) if made.comparison.kind == kernel.SAMPLES else pieces(made.words, made.offsets)


def signatures(sketcher: Sketcher, column: pa.Array) -> Signatures:
    """The inverse."""
    comparison = sketcher.comparison
    if comparison.kind == kernel.SAMPLES:
        return Signatures(comparison, matrix(column, np.uint8, sketcher.samples))
    words, offsets = ragged(column)
    return Signatures(comparison, words=words, offsets=offsets)
