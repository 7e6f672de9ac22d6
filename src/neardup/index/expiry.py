"""Documents that were not seen for long are removed: a few at a time, and others write in between.

What was removed is removed for good, whenever this is stopped or killed, and the next call goes on from there.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from neardup.errors import UsageError
from neardup.index.rows import Layout
from neardup.index.store import Change, Store, today

AT_ONCE = 500
"""Documents of one commit: other writers wait for about 10 ms."""

_END = 1 << 62
_COUNTED, _MOST_MET = 10_000, 1 << 20
"""Documents that are counted at a time; those that were met again come as one list, of at most so many."""
_NO_KEYS = np.empty(0, np.uint64)


def first_kept_day(before: datetime | None, days: int | None) -> int:
    """Return the first day whose documents stay."""
    if (before is None) == (days is None):
        raise UsageError("expire: give days= or before=, one of them.")
    if days is not None and days < 1:
        raise UsageError(f"days = {days}: at least 1 day is kept; documents are dated to the day.")
    if days is not None:
        return today() - days
    assert before is not None
    moment = before if before.tzinfo else before.replace(tzinfo=UTC)
    found = int(moment.timestamp() // 86400)
    if found > today():
        raise UsageError(f"before = {before.isoformat()}: lies in the future. Documents of today stay.")
    return found


def expire(store: Store, layout: Layout, before: int, stop: Callable[[], bool]) -> int:
    """Remove the documents that were last seen before a day. Return how many.

    stop: asked before every commit.
    """
    removed, days = 0, store.days()
    if days and days[0][0] < before:
        at = min(first for _, first in days)
        while len(numbers := store.between(at, _end(days, before), AT_ONCE)):
            if stop():
                return removed
            removed += _forget(store, layout, numbers, before)
            at = int(numbers[-1]) + 1
        with store.writing(_NO_KEYS, []):
            store.commit(Change(over=before))
    while len(numbers := store.met_before(before, AT_ONCE)) and not stop():
        gone = _forget(store, layout, numbers, before)
        if not gone:  # all of them were met meanwhile
            break
        removed += gone
    return removed


def overdue(store: Store, before: int, most: int) -> int:
    """Count the documents that `expire` would remove now, up to `most`. Nothing is locked: it is a number to judge by.

    Usually a day's documents and those that were met again are looked at; all, where very many of the latter are old.
    """
    days = store.days()
    end = _end(days, before)
    begin = min((first for _, first in days), default=end)
    met = len(store.met_before(before, min(most, _MOST_MET)))
    if met == _MOST_MET < most:
        begin = met = 0
    found = met
    while found < most and len(numbers := store.between(begin, end, _COUNTED)):
        last = store.met(numbers)
        found += int(np.count_nonzero(last < before if not met else last < 0))
        begin = int(numbers[-1]) + 1
    return min(found, most)


def _end(days: list[tuple[int, int]], before: int) -> int:
    """Return the first number that is not of a day before this one."""
    return min((first for day, first in days if day >= before), default=_END)


def _forget(store: Store, layout: Layout, numbers: NDArray[np.int64], before: int) -> int:
    """Remove those of some documents that are old, as it is known when nobody else changes them."""
    records = zip(numbers.tolist(), store.records(numbers), strict=True)
    known = [(number, record) for number, record in records if record is not None]
    ids = layout.decode([record for _, record in known]).ids if known else []
    with store.writing(_NO_KEYS, ids):
        there, last = store.numbers(ids).tolist(), store.met(np.array([n for n, _ in known], np.int64)).tolist()
        end = _end(store.days(), before)
        gone = [
            (number, id)
            for (number, _), id, now, day in zip(known, ids, there, last, strict=True)
            if number == now and number < end and day < before
        ]
        if gone:
            store.commit(Change(removed=gone, expired=True))
    return len(gone)


def shown_day(day: int) -> str:
    """Return a day as YYYY-MM-DD."""
    return datetime.fromtimestamp(86400 * day, UTC).date().isoformat()


def oldest(store: Store) -> int | None:
    """Return a day before which no stored document was last seen; None where nothing is known of days."""
    ranges = pairwise([*store.days(), (0, _END)])
    added = next(([day] for (day, first), (_, end) in ranges if len(store.between(first, end, 1))), [])
    met = store.met_before(_END, 1)
    return min([*added, *store.met(met).tolist()], default=None)
