"""A batch of documents in the layout of the kernels: one buffer of bytes, and where each document starts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from neardup.sources.base import Documents
from neardup.text.web import plain_text
from neardup.text.workers import PageExtractor


@dataclass(frozen=True)
class TextBatch:
    """Document i is data[offsets[i]:offsets[i + 1]]; one without text is empty."""

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    links: "TextBatch | None" = None
    """The documents' links, one per line, where they are asked for; only pages have any."""

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


def looks_like_pages(texts: pa.Array) -> bool:
    """Whether most of the first few documents begin as HTML does."""
    few = texts[:8].drop_null().cast(pa.large_binary())
    begun = pc.match_substring_regex(few, r"^\s*<(?:!doctype\s+html|html)\b", ignore_case=True)
    return 2 * (pc.sum(begun).as_py() or 0) > len(few)


def without(texts: pa.Array, which: NDArray[np.bool_]) -> pa.Array:
    """The same texts, some of them empty."""
    return pc.if_else(pa.array(which), pa.scalar(b"", texts.type), texts)


def readable(
    documents: Documents, html: bool, extract: PageExtractor, urls: pa.Array | None = None
) -> tuple[TextBatch, NDArray[np.bool_]]:
    """The documents' text, as stored or extracted where it is HTML; and which pages could not be extracted.

    `urls` are the documents' own, null where one is not known: they tell which images are a page's own, and what its
    links are relative to.
    """
    marked = documents.html if documents.html is not None else np.full(len(documents), html)
    failed = np.zeros(len(documents), bool)
    stored = documents.text
    if extract.settings.extract == "web" and not marked.all():
        stored = _broken_urls(stored, ~marked)
    links: list[bytes | None] = [None] * len(documents)
    if marked.any():
        charsets = documents.charset or ["utf-8" if documents.decoded else None] * len(documents)
        texts: list[bytes | None] = [_bytes(text.as_py()) for text in stored]
        places = [i for i in np.flatnonzero(marked).tolist() if texts[i] is not None]
        pages = [(texts[i] or b"", charsets[i], None if urls is None else urls[i].as_py()) for i in places]
        for i, read in zip(places, extract(pages), strict=True):
            failed[i] = read is None
            text, targets = read or ("", None)
            texts[i] = text.encode("utf-8", "replace")
            links[i] = _lines(targets or ())
        stored = pa.array(texts, pa.large_binary())
    batch = text_batch(stored)
    if extract.settings.links:
        batch = replace(batch, links=text_batch(pa.array(links, pa.large_binary())))
    return batch, failed


def _broken_urls(texts: pa.Array, which: NDArray[np.bool_]) -> pa.Array:
    """The same texts, the URLs in some of them broken into terms. Bytes that are not UTF-8 stay what they are."""
    if not pa.types.is_large_binary(texts.type):
        texts = texts.cast(pa.large_binary())
    # Without regard to case, for Arrow then searches by RE2, which is three times as fast as its own search.
    found = pc.or_(*(pc.match_substring(texts, sign, ignore_case=True) for sign in ("://", "www.")))
    mask = found.fill_null(False).to_numpy(zero_copy_only=False) & which
    if not mask.any():
        return texts
    broken = [
        plain_text(text.as_py().decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
        for text in texts.filter(pa.array(mask))
    ]
    return pc.replace_with_mask(texts, pa.array(mask), pa.array(broken, pa.large_binary()))


def _lines(links: Sequence[str]) -> bytes:
    return "\n".join(links).encode("utf-8", "replace")


def _bytes(text: str | bytes | None) -> bytes | None:
    return text.encode() if isinstance(text, str) else text
