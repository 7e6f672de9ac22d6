"""When the documents of a RocksDB store were last seen, in entries of its default family:

    "added", day            → the first number of that day
    "met", number           → the day on which that document was last met again
    "last", day, number     → nothing: the same, in the order of days
    "expired"               → how many documents expired

Numbers and days are big endian in names, so that they are in order. A document that was never met again costs nothing;
one that was, about 12 bytes. Stores that were made before there were days get their first one at the first addition:
what is older counts as added then.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.index.rocks_folder import Folder
from neardup.index.store import Change

_ADDED, _MET, _LAST, _EXPIRED = b"added", b"met", b"last", b"expired"
_END = 2**32 - 1


def days(folder: Folder) -> list[tuple[int, int]]:
    """Return the days on which documents were added, each with its first number."""
    return [(_number(name[-4:]), _number(value)) for name, value in _entries(folder, _ADDED)]


def met(folder: Folder, numbers: Iterable[int]) -> NDArray[np.int64]:
    """Return the days on which documents were last met again; -1 where they never were."""
    names = [_MET + _bytes(number) for number in numbers]
    try:
        found = folder.default.get(names) if names else []
    except Exception as error:
        raise folder.refusal(error) from error
    return np.array([-1 if value is None else _number(value) for value in found], np.int64)


def met_before(folder: Folder, day: int, most: int) -> NDArray[np.int64]:
    """Return up to `most` documents that were last met again before a day."""
    found: list[int] = []
    for name, _ in _entries(folder, _LAST):
        if len(found) == most or _number(name[-8:-4]) >= day:
            break
        found.append(_number(name[-4:]))
    return np.array(found, np.int64)


def all_met(folder: Folder) -> NDArray[np.int64]:
    """Read all that is stored of days, and return the documents that were met again."""
    entries = dict(_entries(folder, b""))
    return np.unique(np.array([_number(name[-4:]) for name in entries if name.startswith((_MET, _LAST))], np.int64))


def between(folder: Folder, begin: int, end: int, most: int) -> NDArray[np.int64]:
    """Return the first stored documents of a range of numbers."""
    found: list[int] = []
    entries = folder.family["documents"].iter()
    entries.seek(_bytes(min(begin, _END)))
    while entries.valid() and len(found) < most and (number := _number(entries.key())) < end:
        found.append(number)
        entries.next()
    _check(folder, entries)
    return np.array(found, np.int64)


def expired(folder: Folder) -> int:
    """Return how many documents expired."""
    try:
        return _number(folder.default.get(_EXPIRED) or b"")
    except Exception as error:
        raise folder.refusal(error) from error


def put(batch: Any, folder: Folder, change: Change, following: int, known: list[tuple[int, int]]) -> bool:
    """Add to a batch what a change says of days. Return whether there is anything.

    following: the number of the first document that is added. known: `days`.
    """
    before = batch.len()
    handle = folder.default_handle
    last, first = known[-1] if known else (-1, 0)
    if change.ids and last < change.day:
        batch.put(_ADDED + _bytes(change.day), _bytes(following if known else 0), handle)
    removed = [number for number, _ in change.removed]
    for number, day in zip(removed, met(folder, removed).tolist(), strict=True):
        _forget(batch, handle, number, day)
    earlier = first if last >= change.day else following  # later ones were added today
    again = sorted({number for number in change.met if number < earlier}.difference(removed))
    for number, day in zip(again, met(folder, again).tolist(), strict=True):
        if day < change.day:
            _forget(batch, handle, number, day)
            batch.put(_MET + _bytes(number), _bytes(change.day), handle)
            batch.put(_LAST + _bytes(change.day) + _bytes(number), b"", handle)
    for day, _ in known:
        if day < change.over:
            batch.delete(_ADDED + _bytes(day), handle)
    if known and last < change.over:
        batch.put(_ADDED + _bytes(change.over), _bytes(following), handle)
    if change.expired:
        batch.put(_EXPIRED, (expired(folder) + len(removed)).to_bytes(8, "big"), handle)
    return bool(batch.len() > before)


def _forget(batch: Any, handle: Any, number: int, day: int) -> None:
    if day >= 0:
        batch.delete(_MET + _bytes(number), handle)
        batch.delete(_LAST + _bytes(day) + _bytes(number), handle)


def _entries(folder: Folder, kind: bytes) -> Iterator[tuple[bytes, bytes]]:
    entries = folder.default.iter()
    entries.seek(kind)
    while entries.valid() and (name := entries.key()).startswith(kind):
        yield name, entries.value()
        entries.next()
    _check(folder, entries)


def _check(folder: Folder, entries: Any) -> None:
    """Refuse to take a damaged block for the end."""
    try:
        entries.status()
    except Exception as error:
        raise folder.refusal(error) from error


def _bytes(number: int) -> bytes:
    return number.to_bytes(4, "big")


def _number(value: bytes) -> int:
    return int.from_bytes(value, "big")
