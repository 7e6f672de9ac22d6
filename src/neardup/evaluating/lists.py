"""Ranked lists: which documents a query returned, best first (Jain, Dahlin, Tewari, sections 3.3 and 3.4).

    read_lists    a file or table with a row per query and document → Lists
    place_lists   their ids → document numbers

Columns: query (or q, qid, topic …), id (or doc_id, url …), and rank (or position) where the rows of a query are not in
its order. A document that a query returns twice has its better rank.
"""

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.errors import InputError
from neardup.evaluating.collection import numbers_of
from neardup.evaluating.labels import columns_of, trimmed
from neardup.evaluating.truth import IDS

_NAMES = {"query": ("query", "q", "query_id", "qid", "topic"), "id": IDS, "rank": ("rank", "position")}

Ranked = list[tuple[str, NDArray[np.int64]]]


class Lists(NamedTuple):
    """A row per query and document; the rows of a query are in its order."""

    name: str
    query: pa.Array
    id: pa.Array


def read_lists(source: Any) -> Lists:
    """From TSV, CSV, JSONL or Parquet, an Arrow table, or a list of dicts."""
    table = columns_of(source, "the lists")
    lower = {name.strip().lower(): name for name in reversed(table.names)}
    found = {role: next((lower[n] for n in names if n in lower), None) for role, names in _NAMES.items()}
    query, name, rank = found["query"], found["id"], found["rank"]
    if query is None or name is None:
        there = ", ".join(repr(n) for n in table.names[:12])
        raise InputError(f"{table.name}: ranked lists have the columns query, id and perhaps rank; there are {there}.")
    values = table.read([query, name, *([rank] if rank else [])])
    queries, ids = trimmed(values[query]), values[name]
    known = np.asarray(queries.is_valid()) & np.asarray(trimmed(ids).is_valid())
    rows = np.flatnonzero(known)
    if not len(rows):
        raise InputError(f"{table.name}: holds no query with a document.")
    if rank:
        try:
            ranks = np.asarray(trimmed(values[rank]).cast(pa.float64()).to_numpy(zero_copy_only=False))[rows]
        except pa.ArrowInvalid as error:
            raise InputError(f"{table.name}: the column {rank!r} must hold numbers ({error}).") from error
        if np.isnan(ranks).any():
            place = table.place(int(rows[np.isnan(ranks)][0]))
            raise InputError(f"{table.name}: {place} has no rank. Rank all rows, or leave the column {rank!r} out.")
        rows = rows[np.argsort(ranks, kind="stable")]
    return Lists(table.title, queries.take(pa.array(rows)), ids.take(pa.array(rows)))


def place_lists(lists: Lists, ids: pa.Array) -> tuple[Ranked, list[str]]:
    """The queries in the order of their best documents' rows, and what is to be said."""
    documents = numbers_of(lists.id, ids)
    there = documents >= 0
    if not there.any():
        raise InputError(
            f"{lists.name}: not one of its documents is in the collection. Its ids look like {lists.id[0].as_py()!r}, "
            f"those of the collection like {', '.join(repr(x) for x in ids[:3].to_pylist())}."
        )
    ranked: dict[str, dict[int, None]] = {}
    for query, document in zip(lists.query.to_pylist(), documents.tolist(), strict=True):
        if document >= 0:
            ranked.setdefault(query, {})[document] = None
    lost = int((~there).sum())
    said = [f"Lists: {lost:,} of {len(there):,} results are not in the collection, and were left out."] if lost else []
    return [(query, np.array([*found], np.int64)) for query, found in ranked.items()], said
