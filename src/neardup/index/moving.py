"""Whole collections into an index, and an index out of it.

run_rows        the kept documents of a finished run, as they were sketched
write_export    a store as one Parquet file
read_export     and back
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from neardup.atomic import appearing
from neardup.errors import InputError, RecipeError
from neardup.index.rows import Layout, Rows
from neardup.index.store import Change, Store
from neardup.kernels import text as kernel
from neardup.recipe import Recipe
from neardup.result import Result
from neardup.sketches.artefact import Collection
from neardup.sketches.base import Ragged

AT_ONCE = 5_000
"""Documents of one commit."""

_INVERTED = 2_000_000
"""Documents whose keys are collected in one pass over all keys."""

EXPORT = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("url", pa.string()),
        pa.field("tokens", pa.int64(), nullable=False),
        pa.field("record", pa.binary(), nullable=False),
        pa.field("keys", pa.large_list(pa.uint64()), nullable=False),
        pa.field("text", pa.large_binary()),
    ]
)


def sketched_alike(recipe: Recipe, other: Recipe) -> bool:
    """Whether the sketches of two recipes compare, however each judges."""
    return (recipe.text, recipe.shingles, recipe.sketch) == (other.text, other.shingles, other.sketch)


def run_rows(result: Result, layout: Layout) -> Iterator[Rows]:
    """The kept documents of a run; those that could not be read are none."""
    collection = result.gathered.collection
    if layout.later:
        raise RecipeError(
            "this recipe compares candidates a second time by bits that a run makes on the fly and does not keep; add "
            "the documents themselves: neardup index add INDEX FILES"
        )
    wanted = np.flatnonzero(result.keep & (collection.numbers("status") != kernel.SKIPPED))
    for start in range(0, len(wanted), AT_ONCE):
        yield collected(collection, wanted[start : start + AT_ONCE])


def collected(collection: Collection, numbers: NDArray[np.int64]) -> Rows:
    """Documents of a collection, by ascending numbers."""
    return Rows(
        collection.any_order("id", numbers).to_pylist(),
        collection.any_order("url", numbers).to_pylist(),
        collection.any_order("status", numbers).to_numpy(),
        collection.any_order("tokens", numbers).to_numpy(),
        np.stack([collection.any_order(f"identity_{half}", numbers).to_numpy() for half in "ab"], axis=1),
        collection.matrix("samples", numbers),
        collection.matrix("words", numbers),
        collection.ragged(numbers),
        np.empty((len(numbers), 0), np.uint64),
    )


def write_export(store: Store, layout: Layout, recipe: Recipe, path: Path) -> int:
    """How many documents were written."""
    schema = EXPORT.with_metadata({"neardup.recipe": recipe.id, "neardup.toml": recipe.to_toml()})
    written = 0
    with appearing(path) as draft, pq.ParquetWriter(draft, schema, compression="zstd") as file:
        rows = store.rows(texts=True)
        while some := [row for row, _ in zip(rows, range(_INVERTED), strict=False)]:
            numbers = np.array([row.number for row in some], np.int64)
            keys = _keys_of(store, numbers)
            for start in range(0, len(some), AT_ONCE):
                part = some[start : start + AT_ONCE]
                told = layout.decode([row.record for row in part])
                begin, end = keys.offsets[start], keys.offsets[start + len(part)]
                lists = pa.LargeListArray.from_arrays(
                    keys.offsets[start : start + len(part) + 1] - begin, keys.values[begin:end]
                )
                columns = [
                    told.ids,
                    told.urls,
                    told.tokens,
                    [row.record for row in part],
                    lists,
                    [row.text for row in part],
                ]
                arrays = [pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)]
                file.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))
            written += len(some)
    return written


def _keys_of(store: Store, numbers: NDArray[np.int64]) -> Ragged:
    """The keys that documents stand under: a pass over all keys, of which these are kept."""
    owners, values = [np.empty(0, np.int64)], [np.empty(0, np.uint64)]
    for key, standing in store.postings():
        here = standing[(standing >= numbers[0]) & (standing <= numbers[-1])]
        if len(here):
            owners.append(here)
            values.append(np.full(len(here), key, np.uint64))
    owner = np.concatenate(owners)
    row = np.minimum(np.searchsorted(numbers, owner), len(numbers) - 1)
    there = numbers[row] == owner
    order = np.argsort(row[there], kind="stable")
    sizes = np.bincount(row[there], minlength=len(numbers))
    return Ragged(np.concatenate(values)[there][order], np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))


def read_export(path: Path, recipe: Recipe, *, texts: bool) -> Iterator[Change]:
    """What is to be added, batch by batch."""
    try:
        file = pq.ParquetFile(path)
        made = (file.schema_arrow.metadata or {}).get(b"neardup.recipe", b"").decode()
        names = file.schema_arrow.names
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{path}: cannot be read as an exported index ({error}).") from error
    if not made or names != EXPORT.names:
        raise InputError(f"{path}: is no exported index. Documents are added with: neardup index add INDEX FILES")
    if made != recipe.id:
        raise RecipeError(f"{path}: was made by recipe {made}, and this index by {recipe.id}; sketches do not compare.")
    for rows in file.iter_batches(AT_ONCE):
        kept = rows.column("text").to_pylist()
        if texts and any(text is None for text in kept):
            raise InputError(f"{path}: has no texts, and this index keeps them. Add the documents themselves.")
        lists = rows.column("keys")
        keys = Ragged(lists.flatten().to_numpy(), np.concatenate([[0], np.cumsum(lists.value_lengths().to_numpy())]))
        ids, records = rows.column("id").to_pylist(), rows.column("record").to_pylist()
        yield Change(ids, records, keys, kept if texts else [None] * len(kept))
