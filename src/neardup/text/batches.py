"""A batch of documents in the layout of the kernels: one buffer of bytes, and where each document starts."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from neardup.sources.base import Documents
from neardup.text.extract import visible_text
from neardup.text.settings import TextSettings


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


def readable(documents: Documents, settings: TextSettings, html: bool) -> TextBatch:
    """The documents' text: as stored, or extracted where it is HTML."""
    marked = documents.html if documents.html is not None else np.full(len(documents), html)
    if not marked.any():
        return text_batch(documents.text)
    main = settings.extract == "main"
    charsets = documents.charset or [None] * len(documents)
    texts: list[bytes | None] = []
    for stored, is_html, charset in zip(documents.text, marked, charsets, strict=True):
        page = stored.as_py()
        if page is None or not is_html:
            texts.append(page)
            continue
        page = page.encode() if isinstance(page, str) else page
        texts.append(visible_text(page, charset=charset, main=main).encode("utf-8", "replace"))
    return text_batch(pa.array(texts, pa.large_binary()))
