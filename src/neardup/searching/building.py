"""Documents → a searchable folder.

Reading is in order. Batches are worked on in threads (pages in processes), and written in order, with no more than a
few of them in memory; the engine has threads of its own, and a bound on what it collects.
"""

import json
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from neardup.engines.machine import cores
from neardup.errors import InputError
from neardup.kernels import when_compiling
from neardup.refine.signature import signatures_in
from neardup.searching import documents as stored
from neardup.searching import engine, terms
from neardup.searching.inputs import FORMAT, Inputs
from neardup.searching.keeping import ABOUT, Say
from neardup.searching.titles import LOOKED_AT, first_line, one_line, page_title, title_column
from neardup.sources import Documents, Problems, Split, format_of
from neardup.sources.problems import only_counted
from neardup.text.batches import TextBatch, looks_like_pages, readable, text_batch, without
from neardup.text.settings import TextSettings
from neardup.text.workers import PageExtractor

TERMS = "terms"

_EVERY = 3.0
"""Seconds between two sentences about progress."""
_MOST_WRITERS = 4
_LARGE = 16 << 20
"""Bytes of a batch that is worked on while there is no other: one with a very long document."""

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class _Prepared:
    """A batch, ready to be written."""

    rows: pa.RecordBatch
    titles: list[str]
    """Terms of the given titles; empty where a document has none."""
    texts: list[str]
    """Terms of the texts."""
    size: int
    """Bytes of the input, for progress."""


def build(inputs: Inputs, folder: Path, say: Say) -> None:
    """Write all of it into a new folder."""
    when_compiling(lambda: say("Compiling, once on this machine: up to half a minute."))
    inputs.check()
    folder.mkdir()
    problems = Problems("skip", inputs.largest, only_counted)
    threads = cores()
    extract = PageExtractor(TextSettings(extract=inputs.extract), workers=threads)
    progress = _Progress(sum(split.size for split in inputs.splits), say)
    number = 0
    words = engine.Writing(folder / TERMS, min(threads, _MOST_WRITERS))
    with stored.Writing(folder) as rows, ThreadPoolExecutor(threads, "neardup-search") as pool:
        work = _ordered(
            _read(inputs, problems, say),
            lambda batch: _prepared(batch, extract, problems),
            pool,
            most=threads + 1,
            alone=lambda batch: batch.documents.text.nbytes > _LARGE,
        )
        for batch in work:
            rows.add(batch.rows)
            for title, text in zip(batch.titles, batch.texts, strict=True):
                words.add(number, title, text)
                number += 1
            progress.advance(batch.size, number)
    if not number:
        raise InputError(f"{inputs.name}: there are no documents in it to search{_told(problems)}.")
    words.finish()
    inputs.check()
    if problems.counts:
        say(f"Not all could be read{_told(problems)}.")
    about = {"format": FORMAT, "engine": engine.version(), "documents": number, "starts": rows.starts}
    (folder / ABOUT).write_text(json.dumps(about))
    progress.done(number)


class _Progress:
    """Says now and then how far it is."""

    def __init__(self, total: int, say: Say) -> None:
        self._total, self._say = max(1, total), say
        self._size = 0
        self._began = self._said = time.monotonic()
        say(f"Building the search index of {total / 1e6:,.1f} MB, once.")

    def advance(self, size: int, documents: int) -> None:
        """So many bytes more, so many documents in all."""
        self._size += size
        if time.monotonic() - self._said >= _EVERY:
            self._said = time.monotonic()
            self._say(f"{documents:,} documents so far, {min(1.0, self._size / self._total):.0%} of the bytes.")

    def done(self, documents: int) -> None:
        """The last sentence."""
        some = "1 document" if documents == 1 else f"{documents:,} documents"
        self._say(f"{some} can be searched, after {time.monotonic() - self._began:,.1f} seconds.")


def _told(problems: Problems) -> str:
    """What could not be read, counted, with the first case."""
    if not problems.counts:
        return ""
    kinds = ", ".join(f"{n:,} {kind}" for kind, n in sorted(problems.counts.items()))
    return f" ({kinds}; the first: {next(iter(problems.first.values()))})"


class _Read(NamedTuple):
    """A batch as it was read."""

    split: Split
    title: str | None
    """The column with titles."""
    documents: Documents
    size: int
    """Its share of the split's bytes, for progress."""


def _read(inputs: Inputs, problems: Problems, say: Say) -> Iterator[_Read]:
    """Every batch, in order."""
    titled = {file: title_column(file) for file in inputs.files}
    for split in inputs.splits:
        column, fields = titled[split.file], split.file.fields
        if column is not None and column not in fields.columns:
            fields = replace(fields, columns=(*fields.columns, column))
        left = split.size
        fresh = split.part == 0 and not fields.html
        for batch in format_of(split.file).read(replace(split, file=split.file.with_fields(fields)), problems):
            if fresh and batch.html is None and looks_like_pages(batch.text):
                say(f"{split.file.name}: the texts look like HTML, and are searched with their tags (html=True helps).")
            fresh = False
            size = min(left, batch.text.nbytes)
            left -= size
            yield _Read(split, column, batch, size)


def _prepared(read: _Read, extract: PageExtractor, problems: Problems) -> _Prepared:
    split, fields = read.split, read.split.file.fields
    batch = _bounded(split, read.documents, problems)
    ids = batch.id.to_pylist() if batch.id is not None else [f"{split.file.name}:{n}" for n in batch.positions]
    urls = _strings(batch, fields.url)
    given = _given_titles(batch, fields.html, read.title)
    text, failed = readable(batch, fields.html, extract, pa.array(urls, pa.string()))
    for i in np.flatnonzero(failed).tolist():
        problems.report(str(ids[i]), None, "not HTML", "the parser gives up this page, or dies of it")
    tokens, invalid = terms.hashes(text)
    if invalid.any():
        text = _replaced(text)
        tokens, _ = terms.hashes(text)
    titles = [given[i] or first_line(_start(text, i)) or one_line(str(ids[i])) or "?" for i in range(len(ids))]
    title_tokens, _ = terms.hashes(text_batch(pa.array([t.encode() for t in given], pa.large_binary())))
    rows = pa.RecordBatch.from_arrays(
        [
            pa.array(ids, pa.large_string()),
            pa.array(urls, pa.large_string()),
            pa.array(titles, pa.large_string()),
            _array(text),
            pa.array([row.tobytes() for row in signatures_in(text)], stored.SCHEMA.field("signature").type),
        ],
        schema=stored.SCHEMA,
    )
    return _Prepared(rows, terms.spelled_rows(title_tokens), terms.spelled_rows(tokens), read.size)


def _bounded(split: Split, batch: Documents, problems: Problems) -> Documents:
    """Documents that are too long are there, without their text: so the others keep their numbers."""
    sizes = text_batch(batch.text).sizes
    long = sizes > problems.max_document_bytes
    for i in np.flatnonzero(long).tolist():
        limit = f"{sizes[i]:,} bytes, more than {problems.max_document_bytes:,}"
        problems.report(split.file.name, int(batch.positions[i]), "too long", limit)
    return replace(batch, text=without(batch.text, long)) if long.any() else batch


def _strings(batch: Documents, column: str | None) -> list[str | None]:
    """What is a string in a column, if there is one."""
    if column is None:
        return [None] * len(batch)
    values = batch.columns[column].to_pylist()
    if isinstance(batch.columns[column].type, pa.JsonType):  # of several types
        values = [None if text is None else json.loads(text) for text in values]
    return [value if isinstance(value, str) else None for value in values]


def _given_titles(batch: Documents, html: bool, column: str | None) -> list[str]:
    """Of the column, else of the page; empty where there is none."""
    made = [one_line(value or "") for value in _strings(batch, column)]
    pages = batch.html if batch.html is not None else np.full(len(batch), html)
    for i in np.flatnonzero(pages).tolist():
        if not made[i]:
            page = batch.text[i].as_py() or b""
            charset = batch.charset[i] if batch.charset else "utf-8" if batch.decoded else None
            made[i] = page_title(page.encode() if isinstance(page, str) else page, charset)
    return [title.encode("utf-8", "replace").decode() for title in made]


def _replaced(text: TextBatch) -> TextBatch:
    """The same texts, with U+FFFD where bytes are not UTF-8."""
    stored = (text.data[a:b].tobytes() for a, b in pairwise(text.offsets.tolist()))
    made = [one.decode("utf-8", "replace").encode() for one in stored]
    return text_batch(pa.array(made, pa.large_binary()))


def _start(text: TextBatch, number: int) -> bytes:
    """Of a document, as much as a title is looked for in."""
    begin, end = text.offsets[number], text.offsets[number + 1]
    return text.data[begin : min(end, begin + LOOKED_AT)].tobytes()


def _array(text: TextBatch) -> pa.Array:
    """Arrow's view of the same bytes."""
    buffers = [None, pa.py_buffer(np.ascontiguousarray(text.offsets)), pa.py_buffer(text.data)]
    return pa.Array.from_buffers(pa.large_binary(), len(text.sizes), buffers)


def _ordered(
    items: Iterable[T], work: Callable[[T], R], pool: ThreadPoolExecutor, most: int, alone: Callable[[T], bool]
) -> Iterator[R]:
    """Work on items in the pool and yield the results in order, with no more than `most` in memory, and with no other
    while one is there that is better `alone`."""
    pending: deque[Future[R]] = deque()
    before = False
    try:
        for item in items:
            by_itself = alone(item)
            while len(pending) >= (1 if by_itself or before else most):
                yield pending.popleft().result()
            pending.append(pool.submit(work, item))
            before = by_itself
        while pending:
            yield pending.popleft().result()
    finally:
        for future in pending:
            future.cancel()
