"""What a searched collection answers."""

from dataclasses import dataclass

from neardup.searching.queries import Run

Snippet = list[tuple[str, bool]]
"""Pieces of text in order, and whether each is something that was searched for. Plain text, never markup."""


@dataclass(frozen=True)
class Hit:
    """A document that was found."""

    id: str
    url: str | None
    title: str
    """Never empty: a document without a title has its first line, one without words its id."""
    score: float
    """BM25; a match in the title counts more."""
    snippet: Snippet
    """The passage that shows why it was found; empty where none was asked for."""
    signature: bytes
    """What `neardup.refine` compares results by."""
    place: int
    """Its number in the collection, from 0, in the order in which it is read."""
    at: int | None = None
    """Its place again, where another document has the same id."""


@dataclass(frozen=True)
class Found:
    """The answer to a query."""

    hits: list[Hit]
    """The best first; those of equal score in the order of the collection."""
    total: int
    """How many documents match, shown or not."""
    seconds: float
    partial: bool = False
    """No document has all that was asked for; these have some of it."""
    runs: tuple[Run, ...] = ()
    """The runs of words that were looked for, as `neardup.searching.queries` has them."""


@dataclass(frozen=True)
class Full:
    """A whole document."""

    id: str
    url: str | None
    title: str
    text: str
    at: int | None = None
    """Its place, where another document has the same id."""


@dataclass(frozen=True)
class Called:
    """What a document is called: all of it that can be had without its text."""

    title: str
    at: int | None
    """Its place, where another document has the same id."""
