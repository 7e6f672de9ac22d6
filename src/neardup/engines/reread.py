"""The text of pages between the first and the second reading.

Taking the text out of a page costs ten times what reading it back costs, and exact verification reads most candidates a
second time. So the text of a split of pages is kept beside its sketches, compressed by LZ4, until pairs are measured:
an Arrow file with one column and the batches of the first reading. Where there is none, pages are read again.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.atomic import appearing
from neardup.text.batches import TextBatch

_LAYOUT = pa.schema([("text", pa.large_binary())])


class TextWriter:
    """Takes batches of text in the order of the split."""

    def __init__(self, file: pa.ipc.RecordBatchFileWriter) -> None:
        self._file = file

    def add(self, text: TextBatch) -> None:
        """The next batch."""
        offsets = np.ascontiguousarray(text.offsets - text.offsets[0])
        data = text.data[text.offsets[0] : text.offsets[-1]]
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
        column = pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(offsets) - 1, buffers)
        self._file.write_batch(pa.record_batch([column], schema=_LAYOUT))


@contextmanager
def keeping(path: Path) -> Iterator[TextWriter]:
    """A file of texts that appears when all are in it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    with appearing(path) as draft, pa.ipc.new_file(draft, _LAYOUT, options=options) as file:
        yield TextWriter(file)


def kept(path: Path, rows: NDArray[np.int64]) -> Iterator[pa.Array]:
    """The texts of some documents of a split, ascending, batch by batch."""
    seen = 0
    with pa.memory_map(str(path)) as source, pa.ipc.open_file(source) as file:
        for number in range(file.num_record_batches):
            texts = file.get_batch(number).column(0)
            texts.validate(full=True)  # somebody else may have made the folder; of bytes, these are the offsets alone
            low, high = np.searchsorted(rows, [seen, seen + len(texts)])
            if low < high:
                yield texts.take(pa.array(rows[low:high] - seen))
            seen += len(texts)
            if high == len(rows):
                return
