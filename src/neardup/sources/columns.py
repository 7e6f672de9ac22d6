"""Columns of any Arrow type: some of their rows, one table of many, and forms that fewer types need.

filtered       the rows to keep of a batch, every column of the type that it had
unified        tables whose columns differ in type, as one
storable       a column in a form that pyarrow writes to Parquet
grouped        batches put together to what a row group of Parquet should hold
plain          a column without the layouts that few functions of Arrow take: views and run-ends, nested ones too
decoded        the plain values, without a dictionary or an extension around them
to_interval    Parquet's twelve bytes of an INTERVAL as Arrow's, and `from_interval` back; `int96_parts` of an INT96
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.errors import InputError

_VIEWS = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
_ENCODED = (pa.string(), pa.large_string(), pa.binary(), pa.large_binary())
_UNITS = ("us", "ms", "s")
_MANY = 3
_GROUP_BYTES = 32 << 20  # what is compressed while the next one is decoded

ROWS_AT_ONCE = 65536
"""At most these many rows are a batch, and about as many a row group."""


def with_leaves(column: pa.Array, change: Callable[[pa.Array], pa.Array]) -> pa.Array:
    """Change the arrays that a nested one is made of, from left to right, and put it together again.

    The type may change, the length may not. An extension is changed in its storage.
    """
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        storage = with_leaves(column.storage, change)
        return pa.ExtensionArray.from_storage(kind, storage) if storage.type == kind.storage_type else storage
    if pa.types.is_struct(kind):
        children = [with_leaves(column.field(n), change) for n in range(kind.num_fields)]
        fields = [field.with_type(child.type) for field, child in zip(kind, children, strict=True)]
        if not children:
            return column
        return pa.StructArray.from_arrays(children, fields=fields, mask=column.is_null())
    made = _list_type(kind)
    if made is None:
        return change(column)
    values = with_leaves(column.values, change)
    own = column.buffers()[: 1 if pa.types.is_fixed_size_list(kind) else 3 if _is_list_view(kind) else 2]
    rebuilt = made(kind.field(0).with_type(values.type))
    return pa.Array.from_buffers(rebuilt, len(column), own, column.null_count, column.offset, [values])


def leaves_of(column: pa.Array) -> list[pa.Array]:
    """List the arrays that a nested one is made of."""
    found: list[pa.Array] = []

    def note(leaf: pa.Array) -> pa.Array:
        found.append(leaf)
        return leaf

    with_leaves(column, note)
    return found


def _is_list_view(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind))


def _list_type(kind: pa.DataType) -> Callable[[pa.Field], pa.DataType] | None:
    """Return what makes a list type of this kind from another element type; None where it is no list."""
    if pa.types.is_fixed_size_list(kind):
        return lambda field: pa.list_(field, kind.list_size)
    if pa.types.is_map(kind):
        return lambda entry: pa.map_(entry.type.field(0), entry.type.field(1), keys_sorted=kind.keys_sorted)
    made: dict[int, Callable[[pa.Field], pa.DataType]] = {
        pa.list_(pa.null()).id: pa.list_,
        pa.large_list(pa.null()).id: pa.large_list,
        pa.list_view(pa.null()).id: pa.list_view,
        pa.large_list_view(pa.null()).id: pa.large_list_view,
    }
    return made.get(kind.id)


def plain(column: pa.Array) -> pa.Array:
    """Return the same values without views and run-ends, at whatever depth."""
    return with_leaves(column, _plain)


def _plain(leaf: pa.Array) -> pa.Array:
    if leaf.type in _VIEWS:
        return leaf.cast(_VIEWS[leaf.type])
    if pa.types.is_run_end_encoded(leaf.type):
        ends = leaf.run_ends.to_numpy()
        places = np.searchsorted(ends, np.arange(leaf.offset, leaf.offset + len(leaf)), side="right")
        return plain(leaf.values).take(pa.array(places))
    if pa.types.is_dictionary(leaf.type):
        return pa.DictionaryArray.from_arrays(leaf.indices, plain(leaf.dictionary), ordered=leaf.type.ordered)
    return leaf


def decoded(column: pa.Array) -> pa.Array:
    """Return the plain values of a column, without a dictionary or an extension around them, and strings as UTF-8:
    Parquet files may hold others."""
    column = plain(column)
    if isinstance(column.type, pa.BaseExtensionType):
        column = column.storage
    column = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return column
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        held = column.cast(pa.large_binary()).to_pylist()
        return pa.array([None if each is None else each.decode("utf-8", "replace") for each in held], column.type)
    return column


def filtered(rows: pa.RecordBatch, keep: NDArray[np.bool_]) -> pa.RecordBatch:
    """Return the rows to keep."""
    mask = pa.array(keep)
    return pa.RecordBatch.from_arrays([_filtered(column, keep, mask) for column in rows.columns], schema=rows.schema)


def _filtered(column: pa.Array, keep: NDArray[np.bool_], mask: pa.BooleanArray) -> pa.Array:
    try:
        return column.filter(mask)
    except pa.ArrowNotImplementedError:
        pass
    try:
        found = plain(column).filter(mask).cast(column.type)
        found.validate()  # pyarrow 26 makes lists of a fixed size too short where their type is null
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):  # pyarrow cannot cast back to this type
        edges = np.flatnonzero(np.diff(np.concatenate([[False], keep, [False]])))
        runs = [column.slice(start, stop - start) for start, stop in edges.reshape(-1, 2).tolist()]
        return pa.concat_arrays(runs) if runs else column.slice(0, 0)
    return found


def storable(column: pa.Array) -> pa.Array:
    """Return a column in a form that pyarrow writes to Parquet, of the same type where it writes that.

    Intervals become the twelve bytes of Parquet's; see `from_interval` for what that type does not hold.
    """
    return column if column.type in _VIEWS else with_leaves(column, _storable)


def _storable(leaf: pa.Array) -> pa.Array:
    if is_interval(leaf.type):
        return from_interval(leaf)
    leaf = _plain(leaf)
    if not pa.types.is_dictionary(leaf.type):
        return leaf
    if leaf.type.value_type not in _ENCODED:
        return leaf.dictionary_decode()
    return leaf.dictionary_decode().dictionary_encode().cast(leaf.type) if leaf.dictionary.null_count else leaf


def is_interval(kind: pa.DataType) -> bool:
    """Tell whether a type is Arrow's interval, which pyarrow does not write."""
    return bool(kind == pa.month_day_nano_interval())


def grouped(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.Table]:
    """Put batches together to as much as a row group should hold."""
    size = count = 0
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        size += batch.nbytes
        count += batch.num_rows
        if count >= ROWS_AT_ONCE or size >= _GROUP_BYTES:
            yield pa.Table.from_batches(waiting, schema)
            waiting, size, count = [], 0, 0
    if waiting:
        yield pa.Table.from_batches(waiting, schema)


def unified(parts: Sequence[tuple[str, pa.RecordBatch]]) -> pa.Table:
    """Make one table of batches, each with the name of the input that it is from.

    A column has the narrowest type that holds the values of all of them as they are, and is null where an input has no
    such column. Where there is no such type, an error names the column, the types and the inputs.
    """
    tables = [pa.Table.from_batches([batch]) for _, batch in parts]
    try:
        whole = pa.concat_tables(tables, promote_options="permissive")
    except pa.ArrowException:
        names = dict.fromkeys(name for table in tables for name in table.column_names)
        columns = {name: _unified_column(name, parts) for name in names}
        whole = pa.table(columns).replace_schema_metadata(tables[0].schema.metadata)
    return pa.table([_together(column) for column in whole.columns], schema=whole.schema)


def _together(column: pa.ChunkedArray) -> pa.ChunkedArray | pa.Array:
    """Make one chunk of a column where that is possible: not of more than 2 GB, nor of dictionaries with nulls."""
    try:
        return column.combine_chunks()
    except pa.ArrowException:
        return column


def _unified_column(name: str, parts: Sequence[tuple[str, pa.RecordBatch]]) -> pa.ChunkedArray:
    found = [batch.column(name) if name in batch.schema.names else pa.nulls(batch.num_rows) for _, batch in parts]
    for change in (_as_it_is, decoded, *map(_in_units, _UNITS)):
        try:
            tables = [pa.table({name: change(column)}) for column in found]
            return pa.concat_tables(tables, promote_options="permissive").column(name)
        except pa.ArrowException:
            continue
    kinds = {column.type: source for (source, _), column in zip(reversed(parts), reversed(found), strict=True)}
    told = [f"{kind} in {source}" for kind, source in reversed(kinds.items()) if not pa.types.is_null(kind)]
    raise InputError(
        f"the column {name!r} is {', '.join(told[:_MANY])}{', …' if len(told) > _MANY else ''}, and no one type holds "
        "all of its values as they are. Take the documents batch by batch (kept_batches), write them to files (write), "
        "or make the column one type in the input."
    )


def _as_it_is(column: pa.Array) -> pa.Array:
    return column


def _in_units(unit: str) -> Callable[[pa.Array], pa.Array]:
    """Timestamps in this unit; raises where one is finer."""

    def change(column: pa.Array) -> pa.Array:
        kind = column.type
        return column.cast(pa.timestamp(unit, kind.tz)) if pa.types.is_timestamp(kind) else column

    return change


def to_interval(column: pa.FixedSizeBinaryArray) -> pa.Array:
    """Read months, days and milliseconds, three unsigned integers of 32 bits, as intervals of Arrow."""
    stored = _fixed(column, np.dtype([("months", "<u4"), ("days", "<u4"), ("milliseconds", "<u4")]))
    made = np.zeros(len(column), _MONTH_DAY_NANO)
    for part in ("months", "days"):
        if (stored[part] >> 31).any():
            raise ValueError(f"an interval of {stored[part].max():,} {part}, more than Arrow's type holds")
        made[part] = stored[part]
    made["nanoseconds"] = stored["milliseconds"].astype(np.int64) * 1_000_000
    return _with_values(column, made, pa.month_day_nano_interval())


def from_interval(column: pa.Array) -> pa.FixedSizeBinaryArray:
    """Write Arrow's intervals as Parquet's. One that Parquet's type does not hold raises ValueError."""
    stored = _fixed(column, _MONTH_DAY_NANO)
    milliseconds, rest = np.divmod(stored["nanoseconds"], 1_000_000)
    if rest.any():
        raise ValueError("an interval that is finer than a millisecond")
    if (milliseconds >> 32).any() or (stored["months"] < 0).any() or (stored["days"] < 0).any():
        raise ValueError("an interval that is negative, or of more than 2**32 milliseconds")
    made = np.stack([stored["months"], stored["days"], milliseconds], axis=1).astype("<u4")
    return _with_values(column, made, pa.binary(12))


def int96_parts(column: pa.FixedSizeBinaryArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the days since 1970 and the nanoseconds in the day of Parquet's INT96, of those that are not null."""
    stored = _fixed(column.drop_null(), np.dtype([("nanoseconds", "<i8"), ("day", "<u4")]))
    return stored["day"].astype(np.int64) - _JULIAN_1970, stored["nanoseconds"]


_JULIAN_1970 = 2_440_588
_MONTH_DAY_NANO = np.dtype([("months", "<i4"), ("days", "<i4"), ("nanoseconds", "<i8")])


def _fixed(column: pa.Array, layout: np.dtype[Any]) -> NDArray[Any]:
    """The values of a column of fixed size; what stands under nulls is zero."""
    held = column.buffers()[1]
    if held is None or not len(column):
        return np.zeros(len(column), layout)
    values = np.frombuffer(held, layout, column.offset + len(column))[column.offset :].copy()
    values[column.is_null().to_numpy(zero_copy_only=False)] = 0
    return values


def _with_values(column: pa.Array, values: NDArray[Any], kind: pa.DataType) -> pa.Array:
    """A column with nulls where the other has them."""
    valid = pa.array(column.is_valid().to_numpy(zero_copy_only=False)).buffers()[1]
    return pa.Array.from_buffers(kind, len(column), [valid, pa.py_buffer(np.ascontiguousarray(values))])
