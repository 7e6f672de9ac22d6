"""Values of any type as bytes that sort as the values do, so that every engine compares a column by its own type.

kind    what a value is compared as, a place in KINDS; values of two kinds have no common order
order   the bytes; within a kind, they are in the order of the values
shown   the value as text, which is what `prefer` compares

All three are null where there is no value, or one that is not a number. A number, whatever its type, is the sum of
doubles, each the nearest to what those before it leave; they are written one after the other, and 0.0 after the last.
So integers of 64 bits, decimals and fractions are in one exact order.
"""

import json
import re
from collections.abc import Callable, Iterable
from decimal import Context, Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from neardup.errors import InputError

KINDS = (
    "text", "values of a CSV file", "numbers", "truth values", "points in time", "times without a zone", "dates",
    "times of day", "durations", "bytes",
)  # fmt: skip
TEXT, UNTYPED, NUMBER, TRUTH, INSTANT, LOCAL, DATE, CLOCK, DURATION, BYTES = range(10)

SORTABLE = {"kind": pa.int32(), "order": pa.binary(), "shown": pa.string()}
"""The columns that a value becomes."""

_PLAIN_NUMBER = re.compile(
    r"[+-]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?|[+-]?inf(?:inity)?|nan", re.IGNORECASE
)
"""A number as text. With a zero in front, as in 01234, it is a code."""

_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_PER_DAY = 86_400_000
_WIDE = Context(prec=1100)
_MOST_DOUBLES = 8

Columns = dict[str, pa.Array]


def sortable(values: pa.Array, column: str, *, untyped: bool = False) -> Columns:
    """Return kind, order and shown of the values of a column; `untyped` text comes from a format without types."""
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    kind = values.type
    if isinstance(kind, pa.JsonType):
        return _of_json(values, column)
    if pa.types.is_null(kind):
        return {name: pa.nulls(len(values), type) for name, type in SORTABLE.items()}
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        text = values.cast(pa.large_string()).cast(pa.string())
        text = pc.if_else(pc.equal(text, ""), None, text) if untyped else text
        return _columns(UNTYPED if untyped else TEXT, text.cast(pa.binary()), text)
    if pa.types.is_boolean(kind):
        return _columns(TRUTH, pc.if_else(values, b"\1", b"\0"), values.cast(pa.string()))
    if pa.types.is_floating(kind):
        values = values.cast(pa.float64())
        present = pc.if_else(pc.is_nan(values), None, values)
        return _columns(NUMBER, _doubles(present.fill_null(0).to_numpy()), present.cast(pa.string()))
    if pa.types.is_integer(kind):
        return _columns(NUMBER, _integers(values), values.cast(pa.string()))
    if pa.types.is_decimal(kind):
        return _columns(NUMBER, number_order(values.to_pylist()), values.cast(pa.string()))
    if pa.types.is_timestamp(kind):
        utc = values if kind.tz is None else values.cast(pa.timestamp(kind.unit, "UTC"))
        return _columns(LOCAL if kind.tz is None else INSTANT, _ticks(values, kind.unit), utc.cast(pa.string()))
    if pa.types.is_duration(kind):
        return _columns(DURATION, _ticks(values, kind.unit), values.cast(pa.int64()).cast(pa.string()))
    if pa.types.is_date(kind):
        days = values.cast(pa.date32()).cast(pa.int32()).fill_null(0).to_numpy().astype(np.int64)
        return _columns(DATE, _bytes(_biased(days)), values.cast(pa.string()))
    if pa.types.is_time(kind):
        ticks = values.cast(pa.int32() if pa.types.is_time32(kind) else pa.int64()).fill_null(0).to_numpy()
        nanoseconds = ticks.astype(np.int64) * (10**9 // _PER_SECOND[kind.unit])
        return _columns(CLOCK, _bytes(_biased(nanoseconds)), values.cast(pa.string()))
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind):
        data = values.cast(pa.binary())
        shown = [None if v is None else v.decode("utf-8", "replace") for v in data.to_pylist()]
        return _columns(BYTES, data, pa.array(shown, pa.string()))
    raise InputError(f"keep: column {column!r} holds {kind}, which has no order; choose a number, date or string.")


def _columns(kind: int, order: pa.Array, shown: pa.Array) -> Columns:
    present = pc.is_valid(shown)
    kinds = pa.array(np.full(len(shown), kind, np.int32))
    return {"kind": pc.if_else(present, kinds, None), "order": pc.if_else(present, order, None), "shown": shown}


def _of_json(values: pa.Array, column: str) -> Columns:
    """The values of several types that a field of JSON Lines has, each by its own."""
    found = [None if text is None else json.loads(text) for text in values.storage.to_pylist()]
    if any(isinstance(value, dict | list) for value in found):
        raise InputError(f"keep: column {column!r} holds lists or objects, which have no order.")
    made = [
        sortable(pa.array([value if type(value) is kind else None for value in found], stored), column)
        for kind, stored in ((str, pa.string()), (bool, pa.bool_()), (float, pa.float64()))
    ]
    whole = [value if type(value) is int else None for value in found]
    texts = pa.array([None if value is None else str(value) for value in whole], pa.string())
    made.append(_columns(NUMBER, number_order([None if v is None else Decimal(v) for v in whole]), texts))
    return {name: pc.coalesce(*(part[name] for part in made)) for name in SORTABLE}


def are_numbers(kinds: pa.Array, shown: pa.Array) -> bool:
    """Tell whether every value that comes from a CSV file is written as a number."""
    texts = pc.filter(shown, pc.equal(kinds, UNTYPED)).to_pylist()
    return all(_PLAIN_NUMBER.fullmatch(text) for text in texts)


def settled(
    kinds: pa.ChunkedArray, order: pa.ChunkedArray, shown: pa.ChunkedArray, column: str, numbers: Callable[[], bool]
) -> tuple[int, pa.ChunkedArray]:
    """Return the one kind that values are compared as, and what they are sorted by; refuse values of two kinds.

    `numbers` says whether all values that CSV files have in this column are numbers; otherwise they are text.
    """
    met = {kind for kind in pc.unique(kinds).to_pylist() if kind is not None}
    if UNTYPED in met:
        if met <= {UNTYPED, NUMBER} and numbers():
            decimals = [
                None if text is None or kind != UNTYPED else Decimal(text)
                for text, kind in zip(shown.to_pylist(), kinds.to_pylist(), strict=True)
            ]
            return NUMBER, pc.if_else(pc.equal(kinds, UNTYPED), number_order(decimals), order)
        met = {TEXT if kind == UNTYPED else kind for kind in met}
    return one_kind(met, column), order


def one_kind(met: Iterable[int], column: str) -> int:
    """Return the kind of all values, NUMBER where there are none; refuse several."""
    kinds = sorted(met)
    if len(kinds) > 1:
        named = " and ".join(KINDS[kind] for kind in kinds)
        raise InputError(f"keep: column {column!r} holds {named}, which have no common order; make it one of both.")
    return kinds[0] if kinds else NUMBER


def number_order(values: list[Any]) -> pa.Array:
    """Return what decimals of any length are sorted by; null for None and for what is not a number."""
    return pa.array([None if v is None or v.is_nan() else _expanded(v) for v in values], pa.binary())


def _expanded(value: Decimal) -> bytes:
    doubles = [float(value) if value.is_infinite() or abs(value.adjusted()) < 400 else _beyond(value)]
    while len(doubles) < _MOST_DOUBLES and np.isfinite(doubles[-1]):
        value = _WIDE.subtract(value, Decimal(doubles[-1]))
        if float(value) == 0:
            break
        doubles.append(float(value))
    return _sorting(np.array([*doubles, 0.0])).astype(">u8").tobytes()


def _beyond(value: Decimal) -> float:
    """The double nearest to a number that is larger or smaller than all of them."""
    return 0.0 if value.adjusted() < 0 else float("-inf") if value < 0 else float("inf")


def _sorting(doubles: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Doubles as words in the same order; there is one zero."""
    bits = (doubles + 0.0).view(np.uint64)
    negative = (bits >> np.uint64(63)).astype(np.bool_)
    return np.where(negative, ~bits, bits | np.uint64(1 << 63))


def _doubles(values: NDArray[np.float64]) -> pa.Array:
    zero = np.zeros(len(values))
    return _bytes(np.stack([_sorting(values), _sorting(zero)], axis=1))


def _integers(values: pa.Array) -> pa.Array:
    """An integer is the nearest double, and what is left."""
    unsigned = values.type == pa.uint64()
    whole = values.cast(pa.uint64() if unsigned else pa.int64()).fill_null(0).to_numpy()
    nearest = whole.astype(np.float64)
    upper = nearest >= 2.0**63  # too large for a signed integer
    lower = np.where(upper, nearest - 2.0**63, nearest)
    back = lower.astype(np.int64 if not unsigned else np.uint64).view(np.uint64)
    back = back + np.where(upper, np.uint64(1 << 63), np.uint64(0))
    rest = (whole.view(np.uint64) - back).view(np.int64).astype(np.float64)
    words = np.stack([_sorting(nearest), _sorting(rest), _sorting(np.zeros(len(rest)))], axis=1)
    if not rest.any():
        return _bytes(words[:, ::2])
    used = np.stack([np.ones(len(rest), np.bool_), rest != 0, np.ones(len(rest), np.bool_)], axis=1)
    offsets = np.concatenate([[0], np.cumsum(8 * used.sum(axis=1))]).astype(np.int32)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(words[used].astype(">u8"))]
    return pa.BinaryArray.from_buffers(pa.binary(), len(rest), buffers)


def _biased(values: NDArray[np.int64]) -> NDArray[Any]:
    return values.view(np.uint64) ^ np.uint64(1 << 63)


def _ticks(values: pa.Array, unit: str) -> pa.Array:
    """Seconds, then nanoseconds: units differ between files, and nanoseconds alone do not reach the year 9999."""
    ticks = values.cast(pa.int64()).fill_null(0).to_numpy()
    per_second = _PER_SECOND[unit]
    seconds, rest = np.floor_divide(ticks, per_second), np.mod(ticks, per_second) * (10**9 // per_second)
    return _bytes(np.stack([_biased(seconds), rest.astype(np.uint64)], axis=1))


def _bytes(words: NDArray[Any]) -> pa.Array:
    """The rows of an array as bytes, the highest first."""
    rows = np.ascontiguousarray(words, ">u8")
    width = rows.nbytes // max(1, len(rows)) or 8
    array = pa.FixedSizeBinaryArray.from_buffers(pa.binary(width), len(rows), [None, pa.py_buffer(rows)])
    return array.cast(pa.binary())
