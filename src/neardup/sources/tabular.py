"""What formats with named columns have in common: kinds, texts and ids of columns, and notes beside them."""

from collections.abc import Collection, Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from neardup.errors import InputError, UsageError
from neardup.sources.base import InputFile
from neardup.sources.columns import decoded
from neardup.sources.files import is_web, printable
from neardup.sources.problems import Problems
from neardup.sources.stamps import BY_CONTENT


def place(file: InputFile) -> str:
    """Where the user finds the file: its path as it was given, its name where it has none of the user's."""
    if not file.path or file.stamp.startswith(BY_CONTENT):
        return file.name
    return printable(file.path.partition("?")[0] if is_web(file.path) else file.path)


def column_kind(kind: pa.DataType) -> str:
    """An Arrow type as one of the four kinds that `Format.columns` knows."""
    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        kind = kind.value_type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return "text"
    if pa.types.is_null(kind):  # a column without any value could be one of texts
        return "text"
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind):
        return "bytes"
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "number"
    return "other"


def text_column(column: pa.Array, file: InputFile) -> pa.Array:
    """Return the same texts in the one layout that the kernels read: bytes with 64-bit offsets."""
    kind = column.type
    column = decoded(column)
    if not pa.types.is_large_binary(column.type):
        try:
            column = column.cast(pa.binary() if pa.types.is_fixed_size_binary(column.type) else column.type)
            column = column.cast(pa.large_binary())
        except pa.ArrowException as error:
            raise InputError(
                f"{place(file)}: the column {file.fields.text!r} holds {kind} and no text. Name another with "
                "--text-field (text_field=), or make it text."
            ) from error
    return column


def id_column(column: pa.Array, file: InputFile, first: int, problems: Problems) -> pa.Array:
    """Ids as strings, of rows from number `first` on.

    A null is reported. Where that does not end the run the row stays a document, as every row of a table is one,
    and has the id that it would have without an id column: name:row.
    """
    return ids_at(column, file, np.arange(first, first + len(column)), problems)


def ids_at(column: pa.Array, file: InputFile, rows: NDArray[np.int64], problems: Problems) -> pa.Array:
    """The same of rows with any numbers."""
    column = decoded(column)
    try:
        ids = column.cast(pa.string())
    except pa.ArrowException as error:  # bytes that are not UTF-8, lists, …
        raise InputError(f"{place(file)}: the column {file.fields.id!r} cannot be taken as ids ({error}).") from error
    if not ids.null_count:
        return ids
    for at in pc.indices_nonzero(ids.is_null()).to_pylist():
        problems.report(file.name, int(rows[at]), "null id", f"the column {file.fields.id!r} is null")
    return pc.coalesce(ids, pc.binary_join_element_wise(pa.scalar(file.name), pa.array(rows).cast(pa.string()), ":"))


def refuse_clash(file: InputFile, columns: Collection[str], notes: Iterable[str]) -> None:
    """Notes must not have the name of a column that is there."""
    for name in notes:
        if name in columns:
            raise clash(place(file), "column", name)


def clash(where: str, what: str, name: str) -> UsageError:
    """That a note has the name of a column or a field."""
    return UsageError(
        f"{where}: there is a {what} {name!r} already, and notes are to be written under that name. "
        f"Rename the {what}, or write without notes."
    )
