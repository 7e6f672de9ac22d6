"""A batch of documents → sketches, on every engine. What cannot be read or compared is reported, and is SKIPPED."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.kernels import text as kernel
from neardup.sketches.base import Sketcher, Sketches
from neardup.sources.base import Documents
from neardup.text.batches import TextBatch, readable, text_batch, without
from neardup.text.workers import PageExtractor

Report = Callable[[int, str, str, str], None]
"""Is told the row, what kind of problem it is, the detail, and what can be done about it."""


def sketched(
    documents: Documents,
    html: bool,
    urls: pa.Array | None,
    sketcher: Sketcher,
    extract: PageExtractor,
    largest: int,
    report: Report,
    seen: Callable[[TextBatch], None] | None = None,
) -> tuple[Sketches, NDArray[np.int64]]:
    """The sketches, and how many bytes of text each document has. `largest`: bytes from which on it is too long.

    seen: is told the text that was sketched.
    """
    sizes = text_batch(documents.text).sizes
    long = sizes > largest
    for i in np.flatnonzero(long).tolist():
        report(i, "too long", f"{sizes[i]:,} bytes, more than {largest:,}", "Raise --max-document-bytes")
    if long.any():
        documents = replace(documents, text=without(documents.text, long))
    text, failed = readable(documents, html, extract, urls)
    for i in np.flatnonzero(failed).tolist():
        report(i, "not HTML", "the parser gives up this page, or dies of it", "")
    if seen is not None:
        seen(text)
    made = sketcher.sketch(text)
    made.status[long | failed] = kernel.SKIPPED
    for i in np.flatnonzero(made.status == kernel.INVALID).tolist():
        report(i, "not UTF-8", f"{text.sizes[i]:,} bytes of text", "Convert it to UTF-8")
    return made, np.where(long, sizes, text.sizes)
