"""What an index asks of the engine that keeps it: a contract that RocksDB and PostgreSQL fulfil alike.

    keys        64-bit key → the numbers of all documents that have it; a look-up returns the FIRST of them, and the
                latest MOST
    documents   number → record (`records`), and the text where it is kept
    ids         id → number
    days        day → the first number of the documents that were added then
    met         number → the day on which a stored document was last met again, where it ever was

Documents are numbered in the order of adding, from 0, and a number is never given twice. A removed document leaves its
number standing under its keys until the store is compacted: whoever looks up keys may meet numbers without a record. It
takes nobody's place there: where more than MOST documents have a key, older ones are read for those that are gone.

A document was last seen on the day on which it was last met again, or else added: numbers ascend, so that the first
number of each day dates all of them without a byte for each. Days are counted from 1970-01-01, in UTC.
"""

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup.errors import StoreError
from neardup.sketches.base import Ragged, nothing

FORMAT = 2
"""Of the store. Raised whenever an older neardup could not read what a newer one writes, or the other way round."""

MOST = 1024
"""Documents that a look-up returns of one key: four times as many as a document is compared with
(ClusterSettings.crowd). Lists themselves are never cut, so that a stored document is found again when those after it
are removed."""

FIRST = 16
"""Documents that a look-up returns besides of a key that more have: those that came before the key was crowded."""


def today() -> int:
    """Return the day, counted from 1970-01-01, in UTC."""
    return int(time.time() // 86400)


class Holders(NamedTuple):
    """numbers[i] has the key that was asked for at places[i]. Places ascend, and numbers within a place."""

    places: NDArray[np.int64]
    numbers: NDArray[np.int64]

    def where(self, chosen: NDArray[np.bool_]) -> "Holders":
        """Return some of the entries."""
        return Holders(self.places[chosen], self.numbers[chosen])


NOBODY = Holders(np.empty(0, np.int64), np.empty(0, np.int64))


@dataclass(frozen=True)
class Change:
    """What one commit does, all of it or nothing: removals first, then additions."""

    ids: list[str] = field(default_factory=list)
    """Of the added documents; row i of the next three belongs to ids[i]."""
    records: list[bytes] = field(default_factory=list)
    keys: Ragged = field(default_factory=lambda: nothing(0))
    texts: list[bytes | None] = field(default_factory=list)
    """None where the text is not kept."""
    removed: list[tuple[int, str]] = field(default_factory=list)
    """Number and id of documents that are there."""
    met: list[int] = field(default_factory=list)
    """Numbers of stored documents that were met again; a store remembers it once a day."""
    day: int = field(default_factory=lambda: today())
    """Of this change."""
    expired: bool = False
    """Whether the removed documents are counted as expired."""
    over: int = 0
    """All documents of days before this one are gone, or were met again: those days are forgotten."""


class Row(NamedTuple):
    """A stored document, as it is."""

    number: int
    record: bytes
    text: bytes | None


class Process:
    """The process that opened a store: in a fork of it every call is refused, and closing does nothing."""

    def __init__(self, shown: str) -> None:
        self.shown, self.number = shown, os.getpid()

    @property
    def is_this(self) -> bool:
        """Whether this is the process, and not a fork of it."""
        return self.number == os.getpid()

    def require(self) -> None:
        """Refuse to go on in a fork: what it wrote would be acknowledged and lost."""
        if self.number != os.getpid():
            raise StoreError(
                f"{self.shown}: this index was opened by process {self.number}, and this is a fork of it, process "
                f"{os.getpid()}. A fork has no use of it: open the index after the fork, or start processes by spawn."
            )


@dataclass(frozen=True)
class Health:
    """How a store is, as far as it is known without reading all of it."""

    problems: dict[str, str] = field(default_factory=dict)
    """By kind (full, moved, damaged, write), a sentence for operators; nothing where all is well."""
    free: int | None = None
    """Bytes that are free on its disk; None where nobody here knows."""
    errors: dict[str, int] = field(default_factory=dict)
    """Reads and writes that failed since it was opened, by kind."""


ERRORS = ("full", "moved", "write", "read", "away")
"""Kinds of failures: the disk is full, the folder is another one, RocksDB or PostgreSQL refuses to write or to read,
PostgreSQL cannot be reached."""


class Store(ABC):
    """An open store. Threads may share it; `writing` lets one of them in at a time (with the same keys, at least)."""

    shown: str
    """Where it is, for people: without a password."""
    settings: dict[str, Any]
    """What was given when it was created: JSON values. Never changes."""

    @abstractmethod
    def holders(self, keys: NDArray[np.uint64], gone: frozenset[int] = frozenset()) -> Holders:
        """Return who has these (distinct) keys: of each the latest MOST documents that are there and not in `gone`.

        Where a key has more, those of the FIRST that are not among them come before them. Numbers of removed documents,
        and those in `gone`, may be among the first, and among all where a key has at most MOST numbers.
        """

    @abstractmethod
    def numbers(self, ids: list[str]) -> NDArray[np.int64]:
        """The numbers of ids; -1 where there is no such document."""

    @abstractmethod
    def records(self, numbers: NDArray[np.int64]) -> list[bytes | None]:
        """The records of (distinct) numbers; None where a document is gone."""

    @abstractmethod
    def texts(self, numbers: NDArray[np.int64]) -> list[bytes | None]:
        """The texts of numbers; None where it is not kept."""

    def moment(self) -> object:
        """Equal to an earlier one only where nothing has changed in between, as this store sees it: what was read
        meanwhile belongs together. Never equal where nobody knows."""
        return object()

    @abstractmethod
    def state(self) -> str:
        """Return what is equal at two times, in any process, only where the store holds the same documents."""

    @abstractmethod
    def writing(self, keys: NDArray[np.uint64], ids: list[str]) -> AbstractContextManager[None]:
        """The section in which somebody looks up these keys and ids, decides, and commits: no other writer, in this
        process or another, changes what they lead to meanwhile. What is not committed inside is as if it never was."""

    @abstractmethod
    def commit(self, change: Change) -> None:
        """Do it, inside of `writing`. When this returns the change is on disk, and survives a kill and a power cut."""

    def again(self) -> "Store":
        """Return a store to read all of it by, beside this one: what this one holds in memory hides no damage."""
        return self

    @abstractmethod
    def __len__(self) -> int:
        """Documents that are there."""

    @abstractmethod
    def rows(self, *, texts: bool = False) -> Iterator[Row]:
        """All documents, numbers ascending, as they were when this was called."""

    @abstractmethod
    def postings(self) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """All keys with the numbers that stand under them, in no special order."""

    @abstractmethod
    def days(self) -> list[tuple[int, int]]:
        """Return the days on which documents were added, ascending, each with the first number of that day. Documents
        with lower numbers than the first of these were all met again."""

    @abstractmethod
    def met(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the days on which these documents were last met again; -1 where they never were."""

    @abstractmethod
    def met_before(self, day: int, most: int) -> NDArray[np.int64]:
        """Return up to `most` stored documents that were met again, and last before this day."""

    @abstractmethod
    def between(self, begin: int, end: int, most: int) -> NDArray[np.int64]:
        """Return the first stored documents with begin <= number < end, up to `most`, ascending."""

    @abstractmethod
    def compact(self) -> None:
        """Drop what removed documents left behind, and give the space back. Others read and write meanwhile."""

    def health(self) -> Health:
        """Return how it is, without reading much."""
        return Health()

    def problems(self) -> Iterator[str]:
        """Read what only this engine has, all of it, and yield what is damaged."""
        return iter(())

    @abstractmethod
    def refresh(self) -> None:
        """See what others wrote since. Nothing to do where that is always seen."""

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """For people: engine and its version, bytes on disk, whether it is read-only, how many documents expired."""

    @abstractmethod
    def close(self) -> None:
        """Let go of it. Closing twice is fine."""
