"""The evidence as Arrow tables: what was removed and why, who belongs together, and the notes of --annotate."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from neardup.decide import Decision
from neardup.model import GROUPS, KEPT_SOURCES, MEASURED, NOTES, RELATIONS, REMOVED, with_id_type
from neardup.sketches.artefact import Collection

_ROWS_AT_ONCE = 1 << 18


@dataclass(frozen=True)
class Groups:
    """Documents that have company, ascending: their numbers, the kept one of each, the size of each one's group."""

    documents: NDArray[np.int64]
    centres: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @classmethod
    def of(cls, decision: Decision) -> "Groups":
        """From the removed documents."""
        kept, counts = np.unique(decision.kept_for, return_counts=True)
        documents = np.concatenate([decision.removed, kept])
        centres = np.concatenate([decision.kept_for, kept])
        order = np.argsort(documents, kind="stable")
        documents, centres = documents[order], centres[order]
        sizes = counts[np.searchsorted(kept, centres)] + 1 if len(kept) else np.empty(0, np.int64)
        return cls(documents, centres, sizes)


def _names(codes: NDArray[np.uint8], names: tuple[str, ...]) -> pa.Array:
    return pa.array(names, pa.string()).take(pa.array(codes))


def _known(values: NDArray[np.float64]) -> pa.Array:
    """NaN stands for what is not known."""
    return pa.array(values, mask=np.isnan(values))


def removed_layout(collection: Collection, decision: Decision) -> pa.Schema:
    """Return the schema of removed documents; ids have the inputs' type, those of an index where it can hold them."""
    return with_id_type(REMOVED, collection.id_type, kept_id=_kept_type(collection, decision))


def _kept_type(collection: Collection, decision: Decision) -> pa.DataType:
    """The type of the ids of kept documents: an index has ids as text, which may be that of numbers."""
    stored = decision.known.column("kept_id")
    try:
        same = stored.cast(collection.id_type).cast(pa.string()).equals(stored)
    except pa.ArrowInvalid:
        same = False
    return collection.id_type if same else pa.string()


def groups_layout(collection: Collection) -> pa.Schema:
    """Return the schema of groups; ids have the inputs' type."""
    return with_id_type(GROUPS, collection.id_type)


def removed_tables(collection: Collection, decision: Decision) -> Iterator[pa.Table]:
    """One row per removed document, in the order of the input; in slices, so that memory is bounded."""
    layout = removed_layout(collection, decision)
    for table in _removed(collection, decision):
        yield table.cast(layout)


def _removed(collection: Collection, decision: Decision) -> Iterator[pa.Table]:
    known, at = decision.known_numbers, 0
    for rows in _slices(len(decision.removed)):
        removed, kept = decision.removed[rows], decision.kept_for[rows]
        columns = [
            collection.any_order("id", removed),
            collection.any_order("id", kept),
            _names(decision.relation[rows], RELATIONS),
            _known(decision.resemblance[rows]),
            _known(decision.removed_in_kept[rows]),
            _known(decision.kept_in_removed[rows]),
            _names(decision.measured[rows], MEASURED),
            decision.score[rows],
            collection.any_order("url", removed),
            collection.any_order("url", kept),
            pa.array([KEPT_SOURCES[0]] * len(removed), pa.string()),
        ]
        table = pa.table(dict(zip(REMOVED.names, columns, strict=True)), schema=REMOVED)
        until = int(np.searchsorted(known, removed[-1]))
        if until > at:
            here = decision.known.slice(at, until - at)
            numbers = pa.chunked_array([*here.column("number").chunks, pa.array(removed)])
            both = pa.concat_tables([_of_index(here), table])
            table, at = both.take(pc.sort_indices(numbers)), until
        yield table
    if at < len(known):
        yield _of_index(decision.known.slice(at))


def _of_index(known: pa.Table) -> pa.Table:
    """Documents that an index knows, in the columns of REMOVED."""
    source = pa.array([KEPT_SOURCES[1]] * known.num_rows, pa.string())
    return known.drop_columns("number").append_column(REMOVED.field("kept_source"), source)


def groups_tables(collection: Collection, groups: Groups) -> Iterator[pa.Table]:
    """One row per document of a group of two or more; a group is named by the id of its kept document."""
    for rows in _slices(len(groups.documents)):
        documents, centres = groups.documents[rows], groups.centres[rows]
        named = collection.any_order("id", centres)
        columns = [collection.any_order("id", documents), named, groups.sizes[rows], documents == centres, named]
        table = pa.table(dict(zip(GROUPS.names, columns, strict=True)), schema=GROUPS)
        yield table.cast(groups_layout(collection))


def _slices(n: int) -> Iterator[slice]:
    return (slice(at, min(n, at + _ROWS_AT_ONCE)) for at in range(0, n, _ROWS_AT_ONCE))


def notes_table(collection: Collection, decision: Decision, groups: Groups, start: int, stop: int) -> pa.Table:
    """The columns that --annotate adds to the documents from `start` to before `stop`."""
    low, high = np.searchsorted(decision.removed, [start, stop])
    begin, end = np.searchsorted(decision.known_numbers, [start, stop])
    known = decision.known.slice(begin, end - begin)
    removed = np.concatenate([decision.removed[low:high], decision.known_numbers[begin:end]]) - start
    kept = np.ones(stop - start, bool)
    kept[removed] = False
    first, last = np.searchsorted(groups.documents, [start, stop])
    rows = groups.documents[first:last] - start

    def spread(at: NDArray[np.int64], values: pa.Array) -> pa.Array:
        """The values at their rows, null elsewhere."""
        index = np.full(stop - start, -1, np.int64)
        index[at] = np.arange(len(at))
        return values.take(pa.array(index, mask=index < 0))

    def also(values: pa.Array, column: str) -> pa.Array:
        """And those of documents that an index knows."""
        return pa.concat_arrays([values, *known.column(column).chunks])

    columns = [
        pa.array(kept),
        spread(rows, collection.any_order("id", groups.centres[first:last])),
        spread(removed, also(collection.any_order("id", decision.kept_for[low:high]), "kept_id")),
        spread(removed, also(_names(decision.relation[low:high], RELATIONS), "relation")),
        spread(removed, also(_known(decision.resemblance[low:high]), "resemblance")),
        spread(removed, also(pa.array(decision.score[low:high]), "score")),
    ]
    layout = with_id_type(NOTES, collection.id_type, neardup_kept_id=_kept_type(collection, decision))
    return pa.table(dict(zip(NOTES.names, columns, strict=True)), schema=NOTES).cast(layout)
