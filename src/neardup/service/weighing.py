"""How much a request with search results holds: they have as many fields as an engine likes, and any shape."""

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.service.problems import Problem
from neardup.service.settings import Limits
from neardup.service.shapes import Grouping, has_more_bytes

Bytes = NDArray[np.uint8]
Places = NDArray[np.intp]

MOST_VALUES = 250_000
"""Strings, numbers, lists and objects of a request: a thousand results of 250 fields."""


_FIELDS = 4
"""That a document has at the most: id, text, html, url."""

_PIECE = 1 << 20
"""Bytes that are looked at together."""

_SPACE, _COMMA, _QUOTE, _BACKSLASH = b' ,"\\'
_OPEN, _CLOSE = b"{}"
"""With the bit _EITHER set, square brackets are curly ones."""
_EITHER = 0x20


def check_values(body: bytes, shape: Any, limits: Limits) -> None:
    """Refuse a body with more values than any that is allowed has, before it is decoded.

    Decoding holds Python's lock, and small values take thirty times their bytes: 5 million empty lists of 16 MB held up
    everybody for two to three seconds and took 430 MB.
    """
    grouping = shape is Grouping
    most = MOST_VALUES if grouping else (_FIELDS + 1) * (max(2, limits.documents) + 1)
    if has_more_values(body, most):
        what = f"{MOST_VALUES:,} values" if grouping else f"{limits.documents:,} documents"
        raise Problem("too-large", f"The request has more than {what}, which are allowed. Send fewer.")


def check_line(line: bytes) -> None:
    """Refuse a line of a stream with more values than a request may have, before it is decoded."""
    if has_more_values(line, MOST_VALUES):
        raise Problem("too-large", f"The line has more than {MOST_VALUES:,} values. Send fewer fields.")


def has_more_values(body: bytes, most: int, piece: int = _PIECE) -> bool:
    """Return whether JSON has more values than this: strings, numbers, lists, objects and words; names are none.

    There is one, one more for every comma outside of strings, and one for every list or object that is not empty. Of
    what is not JSON, all before the first mistake is counted so, and a decoder goes no further. NumPy looks for
    quotation marks without holding Python's lock, and passes over strings: 0.3 ms a MB of prose.

    Args:
        body: JSON in UTF-8.
        most: the number of values up to which it is False.
        piece: bytes that are looked at together.
    """
    if len(body) <= 2 * most:  # every value takes two bytes, but for the outermost
        return False
    everything = np.frombuffer(body, np.uint8)
    found, at, inside, opened = 1, 0, False, False
    while at < len(everything) and found <= most:
        part = everything[at : at + piece]
        quotes, whole = _quotes(part)
        if not whole and at + len(part) < len(everything):
            part = part[:-1]  # a backslash belongs to what follows
        at += len(part)
        marks = _outside(part, quotes, inside)
        inside ^= len(quotes) % 2 == 1
        if len(marks):
            either = marks | _EITHER
            opens = np.append(opened, either == _OPEN)
            found += int(np.count_nonzero(marks == _COMMA))
            found += int(np.count_nonzero(opens[:-1] & (either != _CLOSE)))
            opened = bool(opens[-1])
    return found > most


def _quotes(part: Bytes) -> tuple[Places, bool]:
    """Return where strings begin and end, and whether the part ends with no half of an escape."""
    marks, slashes = part == _QUOTE, part == _BACKSLASH
    if not slashes.any():
        return np.flatnonzero(marks), True
    if not (slashes[1:] & slashes[:-1]).any():
        marks[1:] &= ~slashes[:-1]
        return np.flatnonzero(marks), not slashes[-1]
    at = np.flatnonzero(slashes)
    last = np.append(np.flatnonzero(np.diff(at) != 1), len(at) - 1)  # of each run of backslashes
    escaped = at[last[np.diff(last, prepend=-1) % 2 == 1]] + 1  # what stands behind an odd number of them
    whole = not len(escaped) or escaped[-1] < len(part)
    marks[escaped if whole else escaped[:-1]] = False
    return np.flatnonzero(marks), bool(whole)


def _outside(part: Bytes, quotes: Places, inside: bool) -> Bytes:
    """Return the bytes outside of strings that are no white space; of each string, the mark at its end."""
    if len(quotes) > len(part) // 16:  # of many short strings this is quicker
        changes = np.zeros(len(part), np.uint8)
        changes[quotes] = 1
        changes[0] += inside
        found: Bytes = part[np.add.accumulate(changes, dtype=np.uint8) % 2 == 0]
        return found[found > _SPACE]
    if not len(quotes):
        found = part[:0] if inside else part
        return found[found > _SPACE]
    edges = np.concatenate(([] if inside else [0], quotes, [len(part)])).astype(np.intp)
    edges = edges[: len(edges) // 2 * 2]  # where the part ends within a string, its end is none
    begins, lengths = edges[::2], edges[1::2] - edges[::2]
    shifts = begins - np.cumsum(lengths) + lengths
    found = part[np.repeat(shifts, lengths) + np.arange(int(lengths.sum()))]
    return found[found > _SPACE]


def weigh(asked: Grouping, limits: Limits) -> tuple[int, int]:
    """Return the number of results, where that is known, and the bytes of all values in memory, names of fields too."""
    number = len(asked.results or ())
    if number > limits.documents:
        raise Problem("too-large", f"The request has {number:,} results; {limits.documents:,} are allowed.")
    held = values = 0
    waiting: list[Any] = [asked.results, asked.response]
    while waiting:
        value = waiting.pop()
        values += 1
        held += sys.getsizeof(value)
        if isinstance(value, str):
            if has_more_bytes(value, limits.document):
                raise Problem("too-large", f"A field has more than {limits.document:,} bytes.")
        elif isinstance(value, dict):
            held += sum(map(sys.getsizeof, value))
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
        if values + len(waiting) > MOST_VALUES:
            raise Problem("too-large", f"The request has more than {MOST_VALUES:,} values. Send fewer fields.")
    return number, held
