"""Whole collections into an index, and an index out of it.

run_rows        the kept documents of a finished run, as they were sketched
run_numbers     which they are
write_export    a store as one Parquet file
read_export     and back
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import groupby, islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

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

_BYTES_AT_ONCE = 16 << 20
"""Bytes of texts that are held at once, about."""

_BLOCK = 200_000
"""Documents whose keys are held at once, unless there are more than _MOST_BLOCKS such blocks."""

_MOST_BLOCKS = 256
_KEYS_AT_ONCE = 10_000
_STANDING = np.dtype([("place", "<u4"), ("key", "<u8")])
"""A document stands under a key."""

_PACKED: dict[str, Any] = {"compression": "zstd", "use_dictionary": ["url"]}

KEPT = {"sketch": "sketches", "text": "sketches and texts", "reference": "sketches and references"}
"""What an index keeps, in words."""

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
    if layout.later:
        raise RecipeError(
            "this recipe compares candidates a second time by bits that a run makes on the fly and does not keep; add "
            "the documents themselves: neardup index add INDEX FILES"
        )
    wanted = run_numbers(result)
    for start in range(0, len(wanted), AT_ONCE):
        yield collected(result.gathered.collection, wanted[start : start + AT_ONCE])


def run_numbers(result: Result) -> NDArray[np.int64]:
    """Which documents of a run are its kept ones, without those that could not be read."""
    return np.flatnonzero(result.keep & (result.gathered.collection.numbers("status") != kernel.SKIPPED))


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
    """How many documents were written: those that are there at the beginning and at the end of the reading of keys.

    Held at once: all numbers, the keys of a block of documents, some texts.
    """
    about = {"neardup.recipe": recipe.id, "neardup.toml": recipe.to_toml(), "neardup.keep": keep}
    schema, written = EXPORT.with_metadata(about), 0
    numbers = np.fromiter((row.number for row in store.rows()), np.int64)
    with appearing(path) as draft, ExitStack() as until_done, pq.ParquetWriter(draft, schema, **_PACKED) as file:
        keys = _Keys(store, numbers, path.parent, until_done)
        placed = _placed(store.rows(texts=keep != "sketch"), numbers)
        for block, found in groupby(placed, lambda each: each[0] // keys.block):
            in_block = keys[block]
            for part in _parts(found):
                theirs = taken(in_block, np.array([place - block * keys.block for place, _ in part], np.int64))
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


class _Keys:
    """The keys that documents stand under. One pass over all keys writes them to files without a name, one for each
    block of documents, next to what is exported."""

    def __init__(self, store: Store, numbers: NDArray[np.int64], folder: Path, until_done: ExitStack) -> None:
        self.count, self.block = len(numbers), max(_BLOCK, -(-len(numbers) // _MOST_BLOCKS))
        self._files = [until_done.enter_context(_unnamed(folder)) for _ in range(0, len(numbers), self.block)]
        postings = store.postings()
        while some := list(islice(postings, _KEYS_AT_ONCE)):
            standing = np.concatenate([found for _, found in some])
            places = np.searchsorted(numbers, standing)
            there = np.flatnonzero(places < len(numbers))
            there = there[numbers[places[there]] == standing[there]]
            there = there[np.argsort(places[there], kind="stable")]
            found = np.empty(len(there), _STANDING)
            found["place"] = places[there]
            found["key"] = np.repeat(np.array([key for key, _ in some], np.uint64), [len(n) for _, n in some])[there]
            edges = np.searchsorted(found["place"], np.arange(len(self._files) + 1) * self.block)
            for file, begin, end in zip(self._files, edges, edges[1:], strict=False):
                file.write(found[begin:end].tobytes())

    def __getitem__(self, block: int) -> Ragged:
        """Of the documents of a block."""
        begin, file = block * self.block, self._files[block]
        file.seek(0)
        found = np.frombuffer(file.read(), _STANDING)
        places = found["place"] - np.uint32(begin)
        sizes = np.bincount(places, minlength=min(self.block, self.count - begin))
        values = found["key"][np.argsort(places, kind="stable")]
        return Ragged(values, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))


def _unnamed(folder: Path) -> IO[bytes]:
    return TemporaryFile(dir=folder)


def read_export(
    path: Path, layout: Layout, recipe: Recipe, keep: Keep
) -> Iterator[tuple[Rows, Ragged, list[bytes | None]]]:
    """What is to be added, batch by batch: documents, their keys, and what is kept of their texts."""
    try:
        file = pq.ParquetFile(path)
        about, names = file.schema_arrow.metadata or {}, file.schema_arrow.names
    except (OSError, pa.ArrowException) as error:
        why = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else error
        raise InputError(f"{path}: cannot be read as an exported index ({why}).") from error
    made, kept = (about.get(name, b"").decode() for name in (b"neardup.recipe", b"neardup.keep"))
    if not made or kept not in KEPT or names != EXPORT.names:
        raise InputError(f"{path}: is no exported index. Documents are added with: neardup index add INDEX FILES")
    if made != recipe.id:
        raise RecipeError(
            f"{path}: was made by recipe {made}, and this index by {recipe.id}; sketches do not compare. Every index "
            "draws a seed of its own: make one for it with the recipe and the seed of the index that was exported "
            "(neardup index info prints them): neardup index create INDEX --recipe NAME --seed N (and, where one keeps "
            "texts and the other does not, --set sketch.apart=false or true, as the exported one has it), or in Python "
            "Index.open(path, exported.recipe)"
        )
    if keep not in ("sketch", kept):
        raise InputError(
            f"{path}: was made by an index that keeps {KEPT[kept]}, and this one keeps {KEPT[keep]}. Add the "
            "documents themselves (neardup index add INDEX FILES), or add it to an index that keeps sketches."
        )
    for group in range(file.num_row_groups):
        for batch in file.iter_batches(AT_ONCE, [group], ["record", "keys", "text"]):
            lists, texts = batch.column("keys"), batch.column("text").to_pylist()
            offsets = np.concatenate([[0], np.cumsum(lists.value_lengths().to_numpy())])
            rows = layout.decode(batch.column("record").to_pylist())
            yield rows, Ragged(lists.flatten().to_numpy(), offsets), [None] * len(rows) if keep == "sketch" else texts
