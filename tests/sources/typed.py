"""Columns of every Arrow type, for tests of what comes out as it went in."""

import datetime as dt
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

LEAVES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "null": (pa.null(), [None]),
    "bool": (pa.bool_(), [True, False]),
    "int8": (pa.int8(), [-128, 0, 127]),
    "int16": (pa.int16(), [-(2**15), 2**15 - 1]),
    "int32": (pa.int32(), [-(2**31), 2**31 - 1]),
    "int64": (pa.int64(), [-(2**63), 2**63 - 1, 2**53 + 1]),
    "uint8": (pa.uint8(), [0, 255]),
    "uint16": (pa.uint16(), [0, 2**16 - 1]),
    "uint32": (pa.uint32(), [0, 2**31, 2**32 - 1]),
    "uint64": (pa.uint64(), [0, 2**63, 2**64 - 1]),
    "half": (pa.float16(), [0.5, -65504.0, float("inf")]),
    "float": (pa.float32(), [0.5, -0.0, float("nan")]),
    "double": (pa.float64(), [0.1, -0.0, float("nan"), float("-inf")]),
    "string": (pa.string(), ["", "ä" * 20, "x"]),
    "large_string": (pa.large_string(), ["", "ä" * 20, "x"]),
    "string_view": (pa.string_view(), ["", "ä" * 20, "x"]),
    "binary": (pa.binary(), [b"", b"\xff" * 20]),
    "large_binary": (pa.large_binary(), [b"", b"\xff" * 20]),
    "binary_view": (pa.binary_view(), [b"", b"\xff" * 20]),
    "fixed": (pa.binary(3), [b"abc", b"\x00\xff\x80"]),
    "date32": (pa.date32(), [dt.date(1, 1, 1), dt.date(9999, 12, 31)]),
    "date64": (pa.date64(), [dt.date(1, 1, 1), dt.date(9999, 12, 31)]),
    "time32[s]": (pa.time32("s"), [dt.time(0), dt.time(23, 59, 59)]),
    "time32[ms]": (pa.time32("ms"), [dt.time(0), dt.time(23, 59, 59, 999000)]),
    "time64[us]": (pa.time64("us"), [dt.time(0), dt.time(23, 59, 59, 999999)]),
    "time64[ns]": (pa.time64("ns"), [1, 86_399_999_999_999]),
    "timestamp[s]": (pa.timestamp("s"), [-1, 253_402_214_400]),
    "timestamp[ms]": (pa.timestamp("ms"), [-1, 253_402_214_400_000]),
    "timestamp[us]": (pa.timestamp("us"), [-1, 253_402_214_400_000_001]),
    "timestamp[ns]": (pa.timestamp("ns"), [-1, 2**63 - 1]),
    "timestamp[us, UTC]": (pa.timestamp("us", "UTC"), [-1, 253_402_214_400_000_000]),
    "timestamp[ms, zone]": (pa.timestamp("ms", "Europe/Berlin"), [-1, 253_402_214_400_000]),
    "duration[s]": (pa.duration("s"), [-1, 2**40]),
    "duration[ns]": (pa.duration("ns"), [-1, 2**62]),
    "decimal32": (pa.decimal32(9, 2), [Decimal("-9999999.99"), Decimal("0.01")]),
    "decimal64": (pa.decimal64(18, 0), [Decimal(-1), Decimal(10**17)]),
    "decimal128 of 5": (pa.decimal128(5, 5), [Decimal("-0.00001"), Decimal("0.99999")]),
    "decimal128 of 38": (pa.decimal128(38, 10), [Decimal(-1), Decimal("1e27")]),
    "decimal256": (pa.decimal256(76, 0), [Decimal(-1), Decimal("1e75")]),
    "month_day_nano": (pa.month_day_nano_interval(), [pa.MonthDayNano([-1, 2, -3_000_000])]),
    "uuid": (pa.uuid(), [b"0123456789abcdef", b"\xff" * 16]),
    "json": (pa.json_(), ["{}", '{"a": [1, null]}']),
    "bool8": (pa.bool8(), [0, 1]),
    "opaque": (pa.opaque(pa.binary(), "kind", "vendor"), [b"", b"x"]),
    "tensor": (pa.fixed_shape_tensor(pa.int32(), (2,)), [[1, 2], [3, 4]]),
}
"""By name: a type, and some values of it, the extreme ones among them."""


@st.composite
def columns(draw: st.DrawFn, rows: int, leaves: list[str], depth: int = 2) -> pa.Array:
    """An array of any type that is made of these leaves, with nulls in it."""
    kind = draw(st.sampled_from(["leaf", *(NESTINGS if depth else [])]))
    if kind == "leaf":
        type_, values = LEAVES[draw(st.sampled_from(leaves))]
        chosen = draw(st.lists(st.sampled_from([None, *values]), min_size=rows, max_size=rows))
        return array_of(chosen, type_)
    if kind == "dictionary":
        values = draw(columns(3, [n for n in leaves if n in ENCODED], 0))
        places = draw(st.lists(st.sampled_from([0, 1, 2, None]), min_size=rows, max_size=rows))
        width = draw(st.sampled_from([pa.int8(), pa.int32(), pa.uint32()]))
        return pa.DictionaryArray.from_arrays(pa.array(places, width), values)
    nulls = draw(st.lists(st.booleans(), min_size=rows, max_size=rows))
    mask = pa.array(nulls, pa.bool_())
    if kind == "struct":
        fields = [draw(columns(rows, leaves, depth - 1)) for _ in range(draw(st.integers(1, 3)))]
        return pa.StructArray.from_arrays(fields, [f"f.{n}" for n in range(len(fields))], mask=mask)
    if kind == "fixed_size_list":
        return pa.FixedSizeListArray.from_arrays(draw(columns(2 * rows, leaves, depth - 1)), 2, mask=mask)
    sizes = draw(st.lists(st.integers(0, 3), min_size=rows, max_size=rows))
    sizes = [0 if null else size for size, null in zip(sizes, nulls, strict=True)]
    ends = [sum(sizes[:n]) for n in range(rows + 1)]
    inner = draw(columns(ends[-1], leaves, depth - 1))
    if kind == "map":
        keys = pa.array([f"k{n}" for n in range(ends[-1])], draw(st.sampled_from([pa.string(), pa.large_string()])))
        return pa.MapArray.from_arrays(pa.array(ends, pa.int32()), keys, inner, mask=mask)
    if kind in ("list_view", "large_list_view"):
        wide = pa.int64() if kind == "large_list_view" else pa.int32()
        made = pa.LargeListViewArray if kind == "large_list_view" else pa.ListViewArray
        return made.from_arrays(pa.array(ends[:-1], wide), pa.array(sizes, wide), inner, mask=mask)
    if kind == "large_list":
        return pa.LargeListArray.from_arrays(pa.array(ends, pa.int64()), inner, mask=mask)
    return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), inner, mask=mask)


NESTINGS = ["list", "large_list", "list_view", "large_list_view", "fixed_size_list", "struct", "map", "dictionary"]
ENCODED = ["string", "large_string", "string_view", "binary", "int32", "timestamp[us]", "date32", "double"]
"""What dictionaries hold in tests."""


def array_of(values: list[Any], type_: pa.DataType) -> pa.Array:
    """An array of a type, of its storage's values where it is an extension."""
    if isinstance(type_, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(type_, array_of(values, type_.storage_type))
    return pa.array(values, type_)
