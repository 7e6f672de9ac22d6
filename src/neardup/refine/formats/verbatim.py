"""JSON that comes out as it went in: numbers keep every digit, and 1.0 and 1e3 stay what they are.

Python reads 0.10 as 0.1 and 1e3 as 1000.0. For a filter between an engine and its caller that would be a change, so
numbers with a point or an exponent are not read at all: they stay text. Whole numbers are read, for they may be ids.
"""

import json
from typing import Any

import msgspec

from neardup.errors import InputError

_LONGEST = 4000
"""Digits; Python takes no whole numbers of more than 4,300."""


class Number:
    """A number as it was written."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def loads(data: bytes, where: str) -> Any:
    """What JSON says. where: what it is of, for the message."""
    try:
        return json.loads(data, parse_float=Number, parse_int=_whole, parse_constant=Number)
    except json.JSONDecodeError as error:
        what = error.msg.removesuffix(" at")  # some of these sentences end so already
        raise InputError(f"{where}: is no JSON: {what} at line {error.lineno}, column {error.colno}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{where}: is not UTF-8 (byte {error.start:,}).") from error
    except RecursionError as error:
        raise InputError(f"{where}: is nested too deeply.") from error


def dumps(value: Any) -> bytes:
    """As JSON in UTF-8, on one line."""
    try:
        return msgspec.json.encode(value, enc_hook=written)
    except UnicodeEncodeError:
        pass
    try:
        return msgspec.json.encode(_escaped(value), enc_hook=written)
    except RecursionError as error:
        raise InputError("the results are nested too deeply to be written.") from error


def _whole(text: str) -> int | Number:
    return Number(text) if text == "-0" or len(text) > _LONGEST else int(text)


def written(value: Any) -> Any:
    """What msgspec cannot write by itself: a number as it came."""
    if isinstance(value, Number):
        return msgspec.Raw(value.text.encode())
    raise TypeError(type(value).__name__)


def _escaped(value: Any) -> Any:
    """Halves of surrogate pairs, which a cut through a snippet leaves, have no UTF-8; JSON can escape them."""
    if isinstance(value, str):
        return value if _well_formed(value) else msgspec.Raw(json.dumps(value).encode())
    if isinstance(value, list):
        return [_escaped(item) for item in value]
    if isinstance(value, dict):
        if not all(map(_well_formed, value)):
            raise InputError("the name of a field has half of a surrogate pair, and cannot be written as UTF-8.")
        return {name: _escaped(item) for name, item in value.items()}
    return value


def _well_formed(text: str) -> bool:
    return not any("\ud800" <= c <= "\udfff" for c in text)
