"""A store on top of another one, which stays as it is: what would be, were it written.

The numbers of documents above begin where those below cannot reach. Documents below that are removed are remembered as
gone. So whatever decides over a store decides here as it would below.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.index.store import FIRST, MOST, Change, Holders, Row, Store

_ABOVE = 1 << 62


class Overlay(Store):
    """What is written goes into `above`."""

    def __init__(self, below: Store, above: Store) -> None:
        self.below, self.above = below, above
        self.shown, self.settings = below.shown, below.settings
        self._gone: set[int] = set()

    def holders(self, keys: NDArray[np.uint64], gone: frozenset[int] = frozenset()) -> Holders:
        """Return the first and the latest of both stores."""
        below = self.below.holders(keys, frozenset(self._gone.union(n for n in gone if n < _ABOVE)))
        above = self.above.holders(keys, frozenset(n - _ABOVE for n in gone if n >= _ABOVE))
        there = self._there(below.numbers)
        places = np.concatenate([below.places[there], above.places])
        numbers = np.concatenate([below.numbers[there], above.numbers + _ABOVE])
        order = np.lexsort((numbers, places))
        sizes = np.bincount(places, minlength=len(keys))
        rank = np.arange(len(order)) - (np.cumsum(sizes) - sizes)[places[order]]
        chosen = order[(rank < FIRST) | (sizes[places[order]] - rank <= MOST)]
        return Holders(places[chosen], numbers[chosen])

    def numbers(self, ids: list[str]) -> NDArray[np.int64]:
        """Above, or else below."""
        below, above = self.below.numbers(ids), self.above.numbers(ids)
        return np.where(above >= 0, above + _ABOVE, np.where(self._there(below), below, -1))

    def records(self, numbers: NDArray[np.int64]) -> list[bytes | None]:
        """Of both."""
        return self._of_both(numbers, "records")

    def texts(self, numbers: NDArray[np.int64]) -> list[bytes | None]:
        """Of both."""
        return self._of_both(numbers, "texts")

    def moment(self) -> object:
        """Of both."""
        return self.below.moment(), self.above.moment()

    def state(self) -> str:
        """Return the states of both stores and what is gone from the one below."""
        return f"{self.below.state()} {self.above.state()} {sorted(self._gone)}"

    @contextmanager
    def writing(self, keys: NDArray[np.uint64], ids: list[str]) -> Iterator[None]:
        """Nobody is kept from writing below."""
        with self.above.writing(keys, ids):
            yield

    def commit(self, change: Change) -> None:
        """Above; what is removed below is gone from here on."""
        removed = [(number - _ABOVE, id) for number, id in change.removed if number >= _ABOVE]
        met = [number - _ABOVE for number in change.met if number >= _ABOVE]
        self.above.commit(replace(change, removed=removed, met=met))
        self._gone.update(number for number, _ in change.removed if number < _ABOVE)

    def __len__(self) -> int:
        return len(self.below) + len(self.above) - len(self._gone)

    def rows(self, *, texts: bool = False) -> Iterator[Row]:
        """Those below first."""
        below, above = self.below.rows(texts=texts), self.above.rows(texts=texts)
        gone = frozenset(self._gone)
        yield from (row for row in below if row.number not in gone)
        yield from (Row(row.number + _ABOVE, row.record, row.text) for row in above)

    def postings(self) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """A key may come twice."""
        yield from ((key, numbers[self._there(numbers)]) for key, numbers in self.below.postings())
        yield from ((key, numbers + _ABOVE) for key, numbers in self.above.postings())

    def days(self) -> list[tuple[int, int]]:
        """Return the days of the store below: nothing above it is old."""
        return self.below.days()

    def met(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what is known below."""
        return self.below.met(numbers)

    def met_before(self, day: int, most: int) -> NDArray[np.int64]:
        """Return those below."""
        found = self.below.met_before(day, most)
        return found[self._there(found)]

    def between(self, begin: int, end: int, most: int) -> NDArray[np.int64]:
        """Return those below."""
        found = self.below.between(begin, end, most)
        return found[self._there(found)]

    def compact(self) -> None:
        """What is above."""
        self.above.compact()

    def refresh(self) -> None:
        """See what was written below."""
        self.below.refresh()

    def facts(self) -> dict[str, Any]:
        """Those below."""
        return self.below.facts()

    def close(self) -> None:
        """Both."""
        self.above.close()
        self.below.close()

    def _there(self, numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
        if not self._gone:
            return np.ones(len(numbers), np.bool_)
        return ~np.isin(numbers, np.fromiter(self._gone, np.int64))

    def _of_both(self, numbers: NDArray[np.int64], what: str) -> list[bytes | None]:
        above = numbers >= _ABOVE
        found: list[bytes | None] = [None] * len(numbers)
        below = np.flatnonzero(~above & self._there(numbers))
        for store, places, begin in ((self.below, below, 0), (self.above, np.flatnonzero(above), _ABOVE)):
            if len(places):
                for place, content in zip(places.tolist(), getattr(store, what)(numbers[places] - begin), strict=True):
                    found[place] = content
        return found
