"""Documents on their way into an index: text → sketches, on all cores."""

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.abandoning import carried
from neardup.errors import UsageError
from neardup.index.answers import Document
from neardup.index.references import as_kept
from neardup.index.rows import Rows, addresses, joined
from neardup.kernels import text as kernel
from neardup.recipe import Recipe
from neardup.sketches.base import Sketches
from neardup.sources.base import Documents
from neardup.text.batches import TextBatch, readable
from neardup.text.extract import require_extractor
from neardup.text.settings import TextSettings
from neardup.text.workers import PageExtractor, Pages, Read

_WORTH_THREADS = 256 << 10
"""Bytes of text from which on it pays to sketch them on several threads."""

NO_TEXT = TextBatch(np.zeros(1, np.uint8), np.zeros(1, np.int64))
"""For documents that are sketched already, and whose text is not needed."""

_PAGES_TOGETHER = 8
"""Pages for which a process is asked at least, if there are as many."""


@dataclass(frozen=True)
class Arrived:
    """Sketched documents, with their text."""

    rows: Rows
    text: TextBatch
    references: list[bytes | None] = field(default_factory=list)
    """Where each text can be read again, as it is kept."""

    def __len__(self) -> int:
        return len(self.rows)

    def texts(self, chosen: Iterable[int]) -> list[bytes]:
        """What was compared of some of them."""
        data, offsets = self.text.data, self.text.offsets
        return [data[offsets[i] : offsets[i + 1]].tobytes() for i in chosen]


class Arrivals:
    """Sketches documents by a recipe. Threads may share one."""

    def __init__(self, recipe: Recipe, pool: Executor, threads: int) -> None:
        self.sketcher, self.extract = recipe.sketcher, _Pages(recipe.text, threads)
        self.pool, self.threads = pool, threads

    def __call__(self, documents: Any) -> Arrived:
        """documents: Documents, dicts or an Arrow table."""
        ids, contents, html, urls, references = _columns(documents)
        if html.any():
            require_extractor()
        decoded = ["utf-8" if isinstance(c, str) else None for c in contents]  # whatever a page says of itself
        stored = Documents(_binary(contents), np.arange(len(ids)), html=html, charset=decoded)
        text, failed = readable(stored, False, self.extract, addresses(urls) if html.any() else None)
        made = self._in_parts(self.sketcher.sketch, text)
        later = self.sketcher.on_the_fly
        bits = np.empty((len(ids), 0), np.uint64)
        if later is not None:
            bits = np.concatenate([part.words for part in self._in_parts(later.sketch, text)])
        rows = Rows(
            ids,
            urls,
            np.where(failed, np.uint8(kernel.INVALID), np.concatenate([part.status for part in made])),
            np.concatenate([part.tokens for part in made]),
            np.concatenate([part.identities for part in made]),
            np.concatenate([part.samples for part in made]),
            np.concatenate([part.words for part in made]),
            joined([part.ragged for part in made]),
            bits,
        )
        kept = [None if r is None else as_kept(str(r), html=bool(h)) for r, h in zip(references, html, strict=True)]
        return Arrived(rows, text, kept)

    def close(self) -> None:
        """Let go of the threads for pages."""
        self.extract.close()

    def _in_parts(self, sketch: Callable[[TextBatch], Sketches], text: TextBatch) -> list[Sketches]:
        n, total = len(text.offsets) - 1, int(text.offsets[-1] - text.offsets[0])
        if self.threads == 1 or n < 2 or total < _WORTH_THREADS:
            return [sketch(text)]
        cuts = np.searchsorted(text.offsets, text.offsets[0] + np.arange(1, self.threads) * total // self.threads)
        edges = np.unique([0, *cuts.tolist(), n]).tolist()
        return list(self.pool.map(sketch, [_part(text, a, b) for a, b in pairwise(edges)]))


class _Pages(PageExtractor):
    """Pages in processes of their own, a share of them in each: one that kills the parser does not kill us."""

    def __init__(self, settings: TextSettings, threads: int) -> None:
        super().__init__(settings, workers=threads)
        self._pool = ThreadPoolExecutor(threads, "neardup-pages")

    def __call__(self, pages: Pages) -> list[Read | None]:
        """Return the pages' texts in their order."""
        share = max(_PAGES_TOGETHER, -(-len(pages) // self.workers))
        shares = [pages[start : start + share] for start in range(0, len(pages), share)]
        read = super().__call__
        reading = [self._pool.submit(carried(read), share) for share in shares]
        return [one for some in reading for one in some.result()]

    def close(self) -> None:
        """Let go of the threads."""
        self._pool.shutdown(wait=False)


def _part(text: TextBatch, start: int, stop: int) -> TextBatch:
    links = None if text.links is None else _part(text.links, start, stop)
    return TextBatch(text.data, text.offsets[start : stop + 1], links)


def _columns(
    documents: Any,
) -> tuple[list[str], list[Any], NDArray[np.bool_], list[str | None], list[str | None]]:
    """Ids, contents, which of them are HTML, URLs, references."""
    if isinstance(documents, pa.Table | pa.RecordBatch):
        documents = documents.to_pylist()
    elif isinstance(documents, str | bytes | Mapping | Document):
        raise UsageError("documents come as a list; put one document into a list, or use the method for one.")
    given = [d if type(d) is Document else _document(d, place) for place, d in enumerate(documents)]
    ids = [d.id if type(d.id) is str else "" if d.id is None else str(d.id) for d in given]
    html = np.array([d.html is not None for d in given], np.bool_)
    contents = [d.text if d.html is None else d.html for d in given]
    if html.any():
        for d in given:
            if d.html is not None and d.text is not None:
                raise UsageError(f"document {d.id!r} has text and html; give one of them.")
    return ids, contents, html, [d.url for d in given], [d.reference for d in given]


def _document(given: Any, place: int) -> Document:
    try:
        get = given.get
        return Document(get("id"), get("text"), get("html"), get("url"), get("reference"))
    except AttributeError:
        raise UsageError(
            f"document {place} is {type(given).__name__}; give neardup.Document(id, text), or a dict with id and text "
            "or html."
        ) from None


def _binary(contents: list[Any]) -> pa.Array:
    """As one Arrow array. What cannot be UTF-8 stays what it is, and is found to be undecodable later."""
    try:
        return pa.array(contents, pa.large_binary())
    except UnicodeEncodeError:
        whole = [c.encode("utf-8", "surrogatepass") if isinstance(c, str) else c for c in contents]
        return pa.array(whole, pa.large_binary())
    except pa.ArrowTypeError as error:
        raise UsageError(f"a text is no string and no bytes ({error}).") from error
