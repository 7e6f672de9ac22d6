"""Whole collections into an index, and an index out of it.

run_rows        the kept documents of a finished run, as they were sketched
write_export    a store as one Parquet file
read_export     and back
"""

from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from neardup.atomic import appearing
from neardup.errors import InputError, RecipeError
from neardup.index.answers import Keep
from neardup.index.rows import Layout, Rows, addresses, taken
from neardup.index.store import Row, Store
from neardup.kernels import text as kernel
from neardup.recipe import Recipe
from neardup.result import Result
from neardup.sketches.artefact import Collection
from neardup.sketches.base import Ragged

AT_ONCE = 5_000
"""Documents of one commit."""

_BYTES_AT_ONCE = 64 << 20
"""Bytes of texts that are held at once, about."""

_INVERTED = 1_000_000
"""Documents whose keys are collected in one pass over all keys."""

_KEYS_AT_ONCE = 10_000

_KEPT = {"sketch": "sketches", "text": "sketches and texts", "reference": "sketches and references"}

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


def write_export(store: Store, layout: Layout, recipe: Recipe, keep: Keep, path: Path) -> int:
    """How many documents were written. Held at once: all numbers, the keys of a block of documents, some texts."""
    about = {"neardup.recipe": recipe.id, "neardup.toml": recipe.to_toml(), "neardup.keep": keep}
    schema, written = EXPORT.with_metadata(about), 0
    numbers = np.fromiter((row.number for row in store.rows()), np.int64)
    placed = _placed(store.rows(texts=keep != "sketch"), numbers)
    with appearing(path) as draft, pq.ParquetWriter(draft, schema, compression="zstd") as file:
        for block, found in groupby(placed, lambda each: each[0] // _INVERTED):
            begin = block * _INVERTED
            keys = _keys_of(store, numbers[begin : begin + _INVERTED])
            for part in _parts(found):
                theirs = taken(keys, np.array([place - begin for place, _ in part], np.int64))
                file.write_batch(_exported(layout, schema, [row for _, row in part], theirs))
                written += len(part)
    return written


def _placed(rows: Iterable[Row], numbers: NDArray[np.int64]) -> Iterator[tuple[int, Row]]:
    """Rows with the places of their numbers; without those that came since the numbers were read."""
    place = 0
    for row in rows:
        while place < len(numbers) and numbers[place] < row.number:
            place += 1
        if place < len(numbers) and numbers[place] == row.number:
            yield place, row


def _parts(rows: Iterable[tuple[int, Row]]) -> Iterator[list[tuple[int, Row]]]:
    part: list[tuple[int, Row]] = []
    size = 0
    for place, row in rows:
        part.append((place, row))
        size += len(row.record) + len(row.text or b"")
        if len(part) == AT_ONCE or size >= _BYTES_AT_ONCE:
            yield part
            part, size = [], 0
    if part:
        yield part


def _exported(layout: Layout, schema: pa.Schema, part: list[Row], keys: Ragged) -> pa.RecordBatch:
    """For people to read: id, url, tokens. The record has them too, the id also where Arrow cannot have it."""
    told = layout.decode([row.record for row in part])
    return pa.RecordBatch.from_arrays(
        [
            addresses(told.ids),
            addresses(told.urls),
            pa.array(told.tokens, pa.int64()),
            pa.array([row.record for row in part], pa.binary()),
            pa.LargeListArray.from_arrays(keys.offsets, keys.values),
            pa.array([row.text for row in part], pa.large_binary()),
        ],
        schema=schema,
    )


def _keys_of(store: Store, numbers: NDArray[np.int64]) -> Ragged:
    """The keys that documents stand under: a pass over all keys, of which these are kept."""
    rows, values = [np.empty(0, np.int32)], [np.empty(0, np.uint64)]
    postings = store.postings()
    while some := list(islice(postings, _KEYS_AT_ONCE)):
        standing = np.concatenate([found for _, found in some])
        row = np.minimum(np.searchsorted(numbers, standing), len(numbers) - 1)
        there = numbers[row] == standing
        keys = np.repeat(np.array([key for key, _ in some], np.uint64), [len(found) for _, found in some])
        rows.append(row[there].astype(np.int32))
        values.append(keys[there])
    owner = np.concatenate(rows)
    sizes = np.bincount(owner, minlength=len(numbers))
    sorted_ = np.concatenate(values)[np.argsort(owner, kind="stable")]
    return Ragged(sorted_, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))


def read_export(
    path: Path, layout: Layout, recipe: Recipe, keep: Keep
) -> Iterator[tuple[Rows, Ragged, list[bytes | None]]]:
    """What is to be added, batch by batch: documents, their keys, and what is kept of their texts."""
    try:
        file = pq.ParquetFile(path)
        about, names = file.schema_arrow.metadata or {}, file.schema_arrow.names
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{path}: cannot be read as an exported index ({error}).") from error
    made, kept = (about.get(name, b"").decode() for name in (b"neardup.recipe", b"neardup.keep"))
    if not made or kept not in _KEPT or names != EXPORT.names:
        raise InputError(f"{path}: is no exported index. Documents are added with: neardup index add INDEX FILES")
    if made != recipe.id:
        raise RecipeError(f"{path}: was made by recipe {made}, and this index by {recipe.id}; sketches do not compare.")
    if keep not in ("sketch", kept):
        raise InputError(
            f"{path}: was made by an index that keeps {_KEPT[kept]}, and this one keeps {_KEPT[keep]}. Add the "
            "documents themselves (neardup index add INDEX FILES), or add it to an index that keeps sketches."
        )
    for group in range(file.num_row_groups):
        for batch in file.iter_batches(AT_ONCE, [group], ["record", "keys", "text"]):
            lists, texts = batch.column("keys"), batch.column("text").to_pylist()
            offsets = np.concatenate([[0], np.cumsum(lists.value_lengths().to_numpy())])
            rows = layout.decode(batch.column("record").to_pylist())
            yield rows, Ragged(lists.flatten().to_numpy(), offsets), [None] * len(rows) if keep == "sketch" else texts
