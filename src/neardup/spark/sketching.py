"""Documents → sketches, by the kernels of every engine; and what of them makes candidates.

A row of SKETCHES is a document. Rows without a number are problems: of a document that could not be read or compared
there may be both.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from neardup.engines.sketching import sketched
from neardup.kernels import text as kernel
from neardup.recipe import Recipe
from neardup.sketches.artefact import hash_ids, id_types_of, keep_fields, keep_values
from neardup.sketches.base import Sketches
from neardup.sources.problems import Problem, Problems
from neardup.spark.columns import binaries, matrix, pieces, ragged, signed
from neardup.spark.reading import Batch
from neardup.spark.tasks import Batches, mapped
from neardup.text.batches import looks_like_pages, readable
from neardup.text.workers import PageExtractor, shared
from neardup.verify.places import addresses_in

PAGES = "looks like pages"
"""A problem that is none: the input's texts look like HTML and are not read as such."""

COMPARED = (int(kernel.FINE), int(kernel.SHORT))
"""The status of documents that take part."""

Parts = tuple[tuple[str, tuple[tuple[str, Any], ...]], ...]


@dataclass(frozen=True)
class Sent:
    """A recipe on its way to executors, where it is made again once per process: sketchers are large."""

    parts: Parts

    @classmethod
    def of(cls, recipe: Recipe) -> "Sent":
        """Plain values."""
        return cls(tuple((part, tuple(values.items())) for part, values in recipe.to_dict().items()))

    @property
    def recipe(self) -> Recipe:
        """The recipe."""
        return _arrived(self.parts)


@lru_cache(4)
def _arrived(parts: Parts) -> Recipe:
    return Recipe.from_dict({part: dict(values) for part, values in parts}, checked=True)


def layout(columns: tuple[str, ...]) -> pa.Schema:
    """Of SKETCHES; `columns` are the keep policy's."""
    return pa.schema(
        [
            ("number", pa.int64()),
            ("source", pa.string()),
            ("position", pa.int64()),
            ("kind", pa.string()),
            ("detail", pa.string()),
            ("id", pa.string()),
            ("id_hash", pa.int64()),
            ("id_type", pa.int32()),
            ("url", pa.string()),
            ("address", pa.string()),
            ("status", pa.int32()),
            ("tokens", pa.int64()),
            ("bytes", pa.int64()),
            ("identity", pa.binary()),
            ("words", pa.binary()),
            ("samples", pa.binary()),
            ("ragged", pa.binary()),
            *keep_fields(columns),
        ]
    )


@dataclass(frozen=True)
class Sketching:
    """Runs on executors: documents → rows of SKETCHES."""

    sent: Sent
    columns: tuple[str, ...]
    rules: tuple[str, int]
    """What to do about problems, and how long a document may be."""
    folders: tuple[int | None, ...]
    """Of the input files: see `gather.page_folders`."""

    def __call__(self, batches: Iterator[Batch]) -> Batches:
        """Batch by batch."""
        schema = layout(self.columns)
        extract = shared(self.sent.recipe.text)
        for batch in batches:
            problems = list(batch.problems)
            if len(batch.numbers):
                yield self._rows(batch, extract, problems, schema)
            if problems:
                names = ("source", "position", "kind", "detail")
                rows = [{name: getattr(problem, name) for name in names} for problem in problems]
                yield pa.RecordBatch.from_pylist(rows, schema)

    def _rows(self, batch: Batch, extract: PageExtractor, problems: list[Problem], schema: pa.Schema) -> pa.RecordBatch:
        on_error, largest = self.rules
        met = Problems("stop" if on_error == "stop" else "skip", largest)
        documents, fields, sketcher = batch.documents, batch.file.fields, self.sent.recipe.sketcher
        n = len(batch.numbers)

        def place(i: int) -> tuple[str, int | None]:
            """A file that is a document is named by its path."""
            if batch.file.format in ("text", "html") and documents.id is not None:
                return str(documents.id[i].as_py()), None
            return batch.file.name, int(documents.positions[i])

        if not fields.html and documents.html is None and looks_like_pages(documents.text):
            problems.append(Problem(batch.file.name, None, PAGES, ""))
        url = documents.columns[fields.url].cast(pa.string()) if fields.url else None
        made, sizes = sketched(
            documents, fields.html, url, sketcher, extract, largest, lambda i, *what: met.report(*place(i), *what)
        )
        problems += met.found
        urls = url if url is not None else pa.nulls(n, pa.string())
        positions = pa.array(documents.positions)
        ids = documents.id
        if ids is None:
            ids = pc.binary_join_element_wise(pa.scalar(batch.file.name), positions.cast(pa.string()), ":")
        nothing, folder = pa.nulls(n, pa.string()), self.folders[batch.index]
        values = {
            "number": pa.array(batch.numbers),
            "source": pa.array([batch.file.name] * n, pa.string()),
            "position": positions,
            "kind": nothing,
            "detail": nothing,
            "id": ids.cast(pa.string()),
            "id_hash": signed(hash_ids(ids)),
            "id_type": id_types_of(documents).cast(pa.int32()),
            "url": urls,
            "address": urls if folder is None else addresses_in(folder, ids),
            "status": pa.array(made.status.astype(np.int32)),
            "tokens": pa.array(made.tokens),
            "bytes": pa.array(sizes),
            "identity": self._identities(made, urls),
            "words": binaries(made.words),
            "samples": binaries(made.samples),
            "ragged": pieces(made.ragged.values, made.ragged.offsets),
        }
        for column in self.columns:
            values |= keep_values(documents, column)
        return pa.RecordBatch.from_arrays([values[field.name] for field in schema], schema=schema)

    def _identities(self, made: Sketches, urls: pa.Array) -> pa.Array:
        """What names a document's tokens; and its site, where that matters."""
        named = binaries(made.identities)
        sketcher = self.sent.recipe.sketcher
        if not sketcher.needs_urls:
            return named
        sites = pa.array([(name or "").encode() for name in sketcher.sites(urls.to_pylist())], pa.binary())
        return pc.binary_join_element_wise(named, sites, b"")


@dataclass(frozen=True)
class _Keys:
    """Runs on executors: sketches → a row per key, and no key twice of a document."""

    sent: Sent

    def __call__(self, batches: Batches) -> Batches:
        sketcher = self.sent.recipe.sketcher
        for rows in batches:
            words = matrix(rows.column("words"), np.uint64, sketcher.words)
            keys = sketcher.keys(words, ragged(rows.column("ragged")))
            owners = np.repeat(rows.column("number").to_numpy(), np.diff(keys.offsets))
            order = np.lexsort((keys.values, owners))
            values, owners = keys.values[order], owners[order]
            new = np.ones(len(values), np.bool_)
            new[1:] = (values[1:] != values[:-1]) | (owners[1:] != owners[:-1])
            yield pa.RecordBatch.from_arrays([signed(values[new]), pa.array(owners[new])], names=["key", "number"])


def keys(members: DataFrame, sent: Sent) -> DataFrame:
    """The keys of sketched documents, once per document."""
    columns = members.select("number", "words", "ragged")
    return mapped(columns, _Keys(sent), "key bigint, number bigint")


@dataclass(frozen=True)
class Shelving:
    """Runs on executors: documents → what candidates are measured by: shingle sets, and bits made on the fly."""

    sent: Sent
    exact: bool

    def __call__(self, batches: Iterator[Batch]) -> Batches:
        """Batch by batch."""
        recipe = self.sent.recipe
        sketcher, later = recipe.sketcher, recipe.sketcher.on_the_fly
        extract = shared(recipe.text)
        for batch in batches:
            documents, fields = batch.documents, batch.file.fields
            n = len(batch.numbers)
            if not n:
                continue
            url = documents.columns[fields.url].cast(pa.string()) if fields.url else None
            text, _ = readable(documents, fields.html, extract, url)
            if self.exact:
                values, sizes = sketcher.shingle_sets(text, np.arange(n), sketcher.seed)
                sets = pieces(values, np.concatenate([[0], np.cumsum(sizes)]))
            else:
                sets = pa.array([b""] * n, pa.binary())
            bits = binaries(later.sketch(text).words) if later is not None else pa.array([b""] * n, pa.binary())
            yield pa.RecordBatch.from_arrays([pa.array(batch.numbers), sets, bits], schema=SHELF)


SHELF = pa.schema([("number", pa.int64()), ("set", pa.binary()), ("bits", pa.binary())])


def compared(sketches: DataFrame) -> DataFrame:
    """Documents that take part: those with tokens."""
    return sketches.filter(F.col("number").isNotNull() & F.col("status").isin(*COMPARED))
