"""The full-text engine: tantivy, which is imported here and nowhere else.

Two fields of terms, with their positions: the given titles and the texts. A run of words is wanted in either. Scores
are BM25, those of titles weigh TITLE times as much. tantivy orders documents of equal score by where it happens to
keep them; here they are in the order of the collection.
"""

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from neardup.abandoning import checkpoint
from neardup.atomic import write_error
from neardup.errors import MissingExtra
from neardup.searching.queries import Run
from neardup.searching.terms import spelled_run

TITLE = 3.0
"""How much more a match in the title weighs."""

MOST_TIED = 10_000
"""Documents beyond those asked for that are put in order, where they have the score of the last one."""

_MEMORY = 64 << 20
"""Bytes that a thread collects before it writes."""


@cache
def library() -> Any:
    """tantivy."""
    try:
        import tantivy
    except ImportError as error:
        raise MissingExtra("Searching", "search") from error
    return tantivy


def version() -> str:
    """Of the library and of what it writes: another one may not read it."""
    return str(library().__version__)


class Writing:
    """Terms on their way into a folder."""

    def __init__(self, folder: Path, threads: int) -> None:
        tantivy = library()
        layout = tantivy.SchemaBuilder()
        for field in ("title", "text"):
            layout.add_text_field(field, tokenizer_name="whitespace", index_option="position")
        layout.add_unsigned_field("number", fast=True)
        folder.mkdir()
        self._folder = folder
        self._document = tantivy.Document
        self._writer = tantivy.Index(layout.build(), str(folder)).writer(_MEMORY * threads, threads)

    def add(self, number: int, title: str, text: str) -> None:
        """The terms of a document, with spaces between them."""
        document = self._document()
        document.add_unsigned("number", number)
        document.add_text("title", title)
        document.add_text("text", text)
        self._written(lambda: self._writer.add_document(document))

    def finish(self) -> None:
        """All of it on disk."""
        self._written(self._writer.commit)
        self._written(self._writer.wait_merging_threads)

    def _written(self, step: Callable[[], object]) -> None:
        try:
            step()
        except ValueError as error:  # the library's word for a full disk, and for a thread that died of one
            raise write_error(self._folder, OSError(str(error))) from error


class Engine:
    """The terms of a folder. Threads may share it."""

    def __init__(self, folder: Path) -> None:
        self._library = library()
        self._index = self._library.Index.open(str(folder))
        self._index.config_reader("manual")
        self._schema = self._index.schema
        self._searcher = self._index.searcher()

    def __len__(self) -> int:
        return int(self._searcher.num_docs)

    def search(
        self, runs: Sequence[Run], without: Sequence[Run], *, every: bool, start: int, most: int
    ) -> tuple[list[tuple[float, int]], int]:
        """Score and number of the documents that have every run, or any; and how many there are in all."""
        occur = self._library.Occur
        clauses = [(occur.Must if every else occur.Should, self._having(run)) for run in runs]
        clauses += [(occur.MustNot, self._having(run)) for run in without]
        return self._ranked(self._library.Query.boolean_query(clauses), start, most)

    def _having(self, run: Run) -> Any:
        """Documents with this run of words in the text or in the title."""
        query, should = self._library.Query, self._library.Occur.Should
        terms = spelled_run(run)

        def within(field: str) -> Any:
            if len(terms) == 1:
                return query.term_query(self._schema, field, terms[0], index_option="freq")
            return query.phrase_query(self._schema, field, terms)

        return query.boolean_query([(should, within("text")), (should, query.boost_query(within("title"), TITLE))])

    def _ranked(self, query: Any, start: int, most: int) -> tuple[list[tuple[float, int]], int]:
        """More are fetched than asked for, until the last of them has not the score of the last one asked for."""
        wanted = min(start + most, len(self))
        limit = wanted + 1
        while True:
            checkpoint()
            found = self._searcher.search(query, limit=limit, count=True)
            hits, total = found.hits, found.count
            tied = len(hits) == limit > wanted > 0 and hits[-1][0] == hits[wanted - 1][0]
            if not tied or limit >= wanted + MOST_TIED:
                break
            limit = min(4 * limit, wanted + MOST_TIED)
        numbers = self._searcher.fast_field_values("number", [address for _, address in hits])
        ranked = sorted(zip((score for score, _ in hits), numbers, strict=True), key=lambda hit: (-hit[0], hit[1]))
        return ranked[start:wanted], total
