"""The types of ids. Documents are named by text on the way, and by the inputs' own type where they are written down."""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.sources.columns import decoded

ID_TYPES = (
    pa.string(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(),
    pa.decimal128(20, 0),
)  # fmt: skip
"""The types that ids keep; all others are text. The last one is what Spark makes of integers without a sign."""

WHOLE = ID_TYPES.index(pa.int64())
_UNITED = range(1, ID_TYPES.index(pa.uint64()))


def id_types(column: pa.Array) -> NDArray[np.uint8]:
    """Return for every id of a column the place of its type in ID_TYPES; text where there is no id, for one is made."""
    plain = decoded(column)
    place = ID_TYPES.index(plain.type) if plain.type in ID_TYPES else 0
    return np.where(np.asarray(plain.is_valid()), place, 0).astype(np.uint8)


def common_id_type(places: Iterable[int]) -> pa.DataType:
    """Return the type that holds ids of all these types: their own, 64 bits for several kinds of integers, or text."""
    found = set(places)
    if len(found) == 1:
        return ID_TYPES[found.pop()]
    return pa.int64() if found and all(place in _UNITED for place in found) else pa.string()
