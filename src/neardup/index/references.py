"""Where the text of a document is, for an index that keeps that instead of the text.

A reference is the path of a file that is the document, or PATH#START-STOP for bytes START to before STOP of a file. It
is read when a pair is measured. What it then says must be what was added, word for word: a file that is gone or has
changed is as if there were no text, and the pair is judged by its sketches.
"""

import os
import re
import stat
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.index.rows import Rows, addresses
from neardup.recipe import Recipe
from neardup.sources.base import Documents
from neardup.text.batches import readable, text_batch
from neardup.text.workers import shared

_RANGE = re.compile(r"(.+)#(\d+)-(\d+)", re.S)
_HTML, _TEXT = b"h", b"t"


def as_kept(reference: str, *, html: bool) -> bytes:
    """What is stored."""
    return (_HTML if html else _TEXT) + reference.encode("utf-8", "surrogateescape")


def as_given(kept: bytes) -> str:
    """The reference in what is stored."""
    return kept[1:].decode("utf-8", "surrogateescape")


def read(kept: Sequence[bytes | None], rows: Rows, recipe: Recipe) -> list[bytes | None]:
    """The texts that references lead to; None where they lead to nothing, or to other words than those of `rows`."""
    stored = [None if k is None else _content(as_given(k)) for k in kept]
    html = np.array([k is not None and k[:1] == _HTML for k in kept], np.bool_)
    urls = addresses(rows.urls) if html.any() else None
    documents = Documents(pa.array(stored, pa.large_binary()), np.arange(len(stored)), html=html)
    text, _ = readable(documents, False, shared(recipe.text), urls)
    same = _same(recipe, text.data, text.offsets, rows)
    return [
        text.data[text.offsets[i] : text.offsets[i + 1]].tobytes() if same[i] and stored[i] is not None else None
        for i in range(len(stored))
    ]


def _same(recipe: Recipe, data: NDArray[np.uint8], offsets: NDArray[np.int64], rows: Rows) -> NDArray[np.bool_]:
    pieces = [data[a:b].tobytes() for a, b in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)]
    made = recipe.sketcher.sketch(text_batch(pa.array(pieces, pa.large_binary())))
    return np.asarray((made.identities == rows.identities).all(axis=1))


def _content(reference: str) -> bytes | None:
    found = _RANGE.fullmatch(reference)
    try:  # digits without end are no number
        path, start, stop = (found[1], int(found[2]), int(found[3])) if found else (reference, 0, -1)
        if not stat.S_ISREG(os.stat(path).st_mode):  # a pipe or a device may have no end, or never begin
            return None
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            start, stop = min(start, size), min(stop, size)
            file.seek(start)
            return file.read(max(0, stop - start) if found else -1)
    except (OSError, ValueError):
        return None
