"""How much a request with search results holds: they have as many fields as an engine likes, and any shape."""

import sys
from typing import Any

import numpy as np

from neardup.service.problems import Problem
from neardup.service.settings import Limits
from neardup.service.shapes import Grouping, has_more_bytes

MOST_VALUES = 250_000
"""Strings, numbers, lists and objects of a request: a thousand results of 250 fields."""


_FIELDS = 4
"""That a document has at the most: id, text, html, url."""


def check_fields(body: bytes, shape: Any, limits: Limits) -> None:
    """Refuse a body with more fields than any that is allowed has, before it is decoded.

    Decoding holds Python's lock: 300,000 results of 14 MB held up everybody for a second on a busy machine, and letting
    go of them for another third.
    """
    most = MOST_VALUES if shape is Grouping else _FIELDS * max(2, limits.documents) + _FIELDS
    if len(body) > 4 * most and _fields(body) > most:
        what = f"{MOST_VALUES:,} values" if shape is Grouping else f"{limits.documents:,} documents"
        raise Problem("too-large", f"The request has more than {what}, which are allowed. Send fewer.")


def _fields(body: bytes) -> int:
    """Count what looks like the end of a field's name: a quotation mark, not after a backslash, before a colon. It is
    the number of the fields or, where somebody writes them in an unusual way, less. NumPy counts without holding
    Python's lock; `bytes.count` would hold it for 20 ms."""
    text = np.frombuffer(body, np.uint8)
    found = 0
    for at in range(1, len(text) - 1, 1 << 20):
        marks = text[at : at + (1 << 20)]
        ends = (marks[: len(text) - 1 - at] == ord('"')) & (text[at + 1 : at + 1 + len(marks)] == ord(":"))
        ends &= text[at - 1 : at - 1 + len(ends)] != ord("\\")
        found += int(np.count_nonzero(ends))
    return found


def weigh(asked: Grouping, limits: Limits) -> tuple[int, int]:
    """The number of results, where that is known, and the bytes of all strings, names of fields too, in memory."""
    number = len(asked.results or ())
    if number > limits.documents:
        raise Problem("too-large", f"The request has {number:,} results; {limits.documents:,} are allowed.")
    held = values = 0
    waiting: list[Any] = [asked.results, asked.response]
    while waiting:
        value = waiting.pop()
        values += 1
        if isinstance(value, str):
            if has_more_bytes(value, limits.document):
                raise Problem("too-large", f"A field has more than {limits.document:,} bytes.")
            held += sys.getsizeof(value)
        elif isinstance(value, dict):
            held += sum(map(sys.getsizeof, value))
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
        if values + len(waiting) > MOST_VALUES:
            raise Problem("too-large", f"The request has more than {MOST_VALUES:,} values. Send fewer fields.")
    return number, held
