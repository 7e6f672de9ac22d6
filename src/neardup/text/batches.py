"""A batch of documents in the layout of the kernels: one buffer of bytes, and where each document starts."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from neardup.sources.base import Documents
from neardup.text.workers import PageExtractor


@dataclass(frozen=True)
class TextBatch:
    """Document i is data[offsets[i]:offsets[i + 1]]; one without text is empty."""

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Bytes of text per document."""
        return np.diff(self.offsets)


def text_batch(texts: pa.Array) -> TextBatch:
    """Arrow's own buffers where the layout is the same already, a copy where it is not."""
    if not pa.types.is_large_binary(texts.type):
        texts = texts.cast(pa.large_binary())
    if texts.null_count:
        texts = texts.fill_null(b"")
    _, offsets, data = texts.buffers()
    bytes_ = np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(1, np.uint8)
    if offsets is None or len(texts) == 0:
        return TextBatch(bytes_, np.zeros(1, np.int64))
    starts = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    return TextBatch(bytes_, starts)


def without(texts: pa.Array, which: NDArray[np.bool_]) -> pa.Array:
    """The same texts, some of them empty."""
    return pc.if_else(pa.array(which), pa.scalar(b"", texts.type), texts)


def readable(documents: Documents, html: bool, extract: PageExtractor) -> tuple[TextBatch, NDArray[np.bool_]]:
    """The documents' text, as stored or extracted where it is HTML; and which pages could not be extracted."""
    marked = documents.html if documents.html is not None else np.full(len(documents), html)
    failed = np.zeros(len(documents), bool)
    if not marked.any():
        return text_batch(documents.text), failed
    charsets = documents.charset or [None] * len(documents)
    texts: list[bytes | None] = [_bytes(stored.as_py()) for stored in documents.text]
    places = [i for i in np.flatnonzero(marked).tolist() if texts[i] is not None]
    for i, text in zip(places, extract([(texts[i] or b"", charsets[i]) for i in places]), strict=True):
        failed[i] = text is None
        texts[i] = (text or "").encode("utf-8", "replace")
    return text_batch(pa.array(texts, pa.large_binary())), failed


def _bytes(text: str | bytes | None) -> bytes | None:
    return text.encode() if isinstance(text, str) else text
