"""The contract of a store, from its words: dictionaries."""

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.index.store import FIRST, MOST, Change, Holders, Row, Store


class NaiveStore(Store):
    def __init__(self, settings: dict[str, Any]) -> None:
        self.settings = settings
        self.following = 0
        self.documents: dict[int, tuple[bytes, bytes | None]] = {}
        self.ids: dict[str, int] = {}
        self.keys: dict[int, list[int]] = {}
        self.added: dict[int, int] = {}
        self.last: dict[int, int] = {}
        self.over = 0
        self.expired = 0

    def holders(self, keys: NDArray[np.uint64], gone: frozenset[int] = frozenset()) -> Holders:
        there = self.documents.keys() - gone
        found = [
            (place, n)
            for place, key in enumerate(keys.tolist())
            for n in _ends([n for n in self.keys.get(key, []) if n in there])
        ]
        pairs = np.array(found, np.int64).reshape(-1, 2)
        return Holders(pairs[:, 0], pairs[:, 1])

    def numbers(self, ids: list[str]) -> NDArray[np.int64]:
        return np.array([self.ids.get(id, -1) for id in ids], np.int64)

    def records(self, numbers: NDArray[np.int64]) -> list[bytes | None]:
        return [self.documents.get(n, (None, None))[0] for n in numbers.tolist()]

    def texts(self, numbers: NDArray[np.int64]) -> list[bytes | None]:
        return [self.documents.get(n, (None, None))[1] for n in numbers.tolist()]

    def state(self) -> str:
        return str(sorted(self.documents))

    @contextmanager
    def writing(self, keys: NDArray[np.uint64], ids: list[str]) -> Iterator[None]:
        yield

    def commit(self, change: Change) -> None:
        self.expired += len(change.removed) * change.expired
        self.over = max(self.over, change.over)
        for number in change.met:
            if self.added[number] < change.day:
                self.last[number] = change.day
        for number, id in change.removed:
            del self.documents[number], self.ids[id]
            self.last.pop(number, None)
        for i, id in enumerate(change.ids):
            assert id not in self.ids
            self.ids[id] = self.following
            self.documents[self.following] = change.records[i], change.texts[i]
            self.added[self.following] = change.day
            begin, end = change.keys.offsets[i : i + 2].tolist()
            for key in change.keys.values[begin:end].tolist():
                self.keys.setdefault(key, []).append(self.following)
            self.following += 1

    def __len__(self) -> int:
        return len(self.documents)

    def rows(self, *, texts: bool = False) -> Iterator[Row]:
        found = copy.copy(self.documents)
        return (Row(n, record, text if texts else None) for n, (record, text) in sorted(found.items()))

    def postings(self) -> Iterator[tuple[int, NDArray[np.int64]]]:
        return iter([(key, np.array(numbers, np.int64)) for key, numbers in self.keys.items()])

    def days(self) -> list[tuple[int, int]]:
        first: dict[int, int] = {}
        for number, day in self.added.items():
            first.setdefault(day, number)
        found = sorted((day, number) for day, number in first.items() if day >= self.over)
        return found or ([(self.over, self.following)] if first else [])

    def met(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.array([self.last.get(n, -1) for n in numbers.tolist()], np.int64)

    def met_before(self, day: int, most: int) -> NDArray[np.int64]:
        found = [number for number, last in sorted(self.last.items()) if last < day]
        return np.array(found[:most], np.int64)

    def between(self, begin: int, end: int, most: int) -> NDArray[np.int64]:
        found = [number for number in sorted(self.documents) if begin <= number < end]
        return np.array(found[:most], np.int64)

    def compact(self) -> None:
        alive = {key: [n for n in numbers if n in self.documents] for key, numbers in self.keys.items()}
        self.keys = {key: numbers for key, numbers in alive.items() if numbers}

    def refresh(self) -> None:
        pass

    def facts(self) -> dict[str, Any]:
        return {"expired": self.expired}

    def close(self) -> None:
        pass


def _ends(numbers: list[int]) -> list[int]:
    return [*numbers[:-MOST][:FIRST], *numbers[-MOST:]]
