"""The evidence as Arrow tables: what was removed and why, who belongs together, and the notes of --annotate."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.decide import Decision
from neardup.model import GROUPS, MEASURED, NOTES, RELATIONS, REMOVED
from neardup.sketches.artefact import Collection

_NO_ROWS = np.empty(0, np.int64)


def _names(codes: NDArray[np.uint8], names: tuple[str, ...]) -> pa.Array:
    return pa.array(names, pa.string()).take(pa.array(codes))


def removed_table(collection: Collection, decision: Decision) -> pa.Table:
    """One row per removed document, in the order of the input."""
    columns = [
        collection.any_order("id", decision.removed),
        collection.any_order("id", decision.kept_for),
        _names(decision.relation, RELATIONS),
        decision.resemblance,
        decision.removed_in_kept,
        decision.kept_in_removed,
        _names(decision.measured, MEASURED),
        collection.any_order("url", decision.removed),
        collection.any_order("url", decision.kept_for),
    ]
    return pa.table(dict(zip(REMOVED.names, columns, strict=True)), schema=REMOVED)


def group_members(decision: Decision) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Documents that have company: their numbers, the kept document of each, the size of each one's group."""
    kept, counts = np.unique(decision.kept_for, return_counts=True)
    documents = np.concatenate([decision.removed, kept])
    centres = np.concatenate([decision.kept_for, kept])
    order = np.argsort(documents, kind="stable")
    documents, centres = documents[order], centres[order]
    sizes = counts[np.searchsorted(kept, centres)] + 1 if len(kept) else _NO_ROWS
    return documents, centres, sizes


def groups_table(collection: Collection, decision: Decision) -> pa.Table:
    """One row per document of a group of two or more; a group is named by the id of its kept document."""
    documents, centres, sizes = group_members(decision)
    columns = [
        collection.any_order("id", documents),
        collection.any_order("id", centres),
        sizes,
        documents == centres,
    ]
    return pa.table(dict(zip(GROUPS.names, columns, strict=True)), schema=GROUPS)


def notes_table(collection: Collection, decision: Decision, start: int, stop: int) -> pa.Table:
    """The columns that --annotate adds to the documents from `start` to before `stop`."""
    low, high = np.searchsorted(decision.removed, [start, stop])
    removed = decision.removed[low:high] - start
    kept = np.ones(stop - start, bool)
    kept[removed] = False
    documents, centres, _ = group_members(decision)
    first, last = np.searchsorted(documents, [start, stop])
    rows = documents[first:last] - start

    def spread(at: NDArray[np.int64], values: pa.Array) -> pa.Array:
        """The values at their rows, null elsewhere."""
        index = np.full(stop - start, -1, np.int64)
        index[at] = np.arange(len(at))
        return values.take(pa.array(index, mask=index < 0))

    columns = [
        pa.array(kept),
        spread(rows, collection.any_order("id", centres[first:last])),
        spread(removed, collection.any_order("id", decision.kept_for[low:high])),
        spread(removed, _names(decision.relation[low:high], RELATIONS)),
        spread(removed, pa.array(decision.resemblance[low:high])),
    ]
    return pa.table(dict(zip(NOTES.names, columns, strict=True)), schema=NOTES)
