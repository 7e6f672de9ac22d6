"""A source → documents with their numbers. `named` finds the inputs, `collected` makes them readable.

A document's number is its input file's, shifted left by 40 bits, and its line or row from 1. So numbers are in the
order in which the local engine counts, they do not depend on how Spark cuts files, and they have gaps.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any
from uuid import uuid4

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from neardup.clusters.keep import keep_columns
from neardup.engines.local import changed
from neardup.errors import InputError, UsageError
from neardup.gather import Reading
from neardup.sources.base import InputFile
from neardup.sources.compression import compression_of
from neardup.sources.files import printable
from neardup.sources.problems import Problem, Problems
from neardup.sources.table import InMemory
from neardup.spark import is_frame
from neardup.spark.chosen import among
from neardup.spark.listing import Listing, listed, stamps
from neardup.spark.parts import Parts, Whole, at_hand, paths_of
from neardup.spark.reading import PROBLEMS, Batch, Plain, Task, plain_schema, problem_rows, problems_of
from neardup.spark.stages import Stages
from neardup.spark.tasks import mapped, unwrapping

FORMATS = ("parquet", "jsonl", "text", "html")
"""What can be read from files."""

_COMPRESSIONS = (".gz", ".bz2", ".zst")
_MANY = 3


@dataclass(frozen=True)
class Named:
    """The inputs that were named, before anything of them is read."""

    files: tuple[InputFile, ...]
    said: tuple[str, ...]
    listing: Listing | None
    frame: DataFrame | None
    noted: tuple[Problem, ...] = ()
    """What was found and cannot be read."""

    def plan(self, reading: Reading) -> list[dict[str, Any]]:
        """What tells these inputs, read like this, from others. A frame cannot be told: it is always another one."""
        fields = {"text": reading.text_field, "id": reading.id_field, "url": reading.url_field}
        fields_asked: dict[str, Any] = {**fields, "columns": [], "html": reading.html}
        return [
            {"path": f.path or f.name, "format": f.format, "size": f.size, "stamp": f.stamp, "fields": fields_asked}
            for f in self.files
        ]


class Collected:
    """The documents of a source."""

    def __init__(self, named: Named, parts: Parts, keep: str) -> None:
        self._spark, self._listing, self._parts = parts.spark, named.listing, parts.made
        self._columns = keep_columns(keep)
        self.files = tuple(parts.files)
        """With the fields that are read; a document's `file` counts them from 0."""
        self.said = _folded(parts.said)
        """Sentences for the user: what was guessed and passed over."""
        self.noted = parts.noted
        """Problems that no task meets: what cannot be opened, files that are too long to be loaded."""

    def read(
        self,
        function: Callable[[Iterator[Batch]], Iterator[pa.RecordBatch]],
        schema: pa.Schema,
        *,
        only: DataFrame | None = None,
    ) -> DataFrame:
        """What the function makes of all documents, or of those whose number is in the one column of `only`."""
        made = []
        for part in self._parts:
            rows = part.rows if only is None else among(part.rows, only)
            made.append(mapped(rows, Task(part.reader, function), schema))
        return reduce(DataFrame.unionAll, made)

    @cached_property
    def frame(self) -> DataFrame:
        """Documents as rows: see `reading.plain_schema`."""
        return self.read(Plain(self._columns), plain_schema(self._columns))

    @property
    def whole(self) -> list[Whole]:
        """Everything the inputs hold, by format."""
        return [part.whole for part in self._parts]

    @property
    def parquet_paths(self) -> list[str]:
        """The Parquet files among the inputs, as Spark names them."""
        listing = self._listing
        return [listing.stored[f.path].path for f in self.files if f.format == "parquet"] if listing else []

    @property
    def problems(self) -> DataFrame:
        """What could not be read: source, position, kind, detail. Reads everything; `read` meets the same."""
        met = self.read(problems_of, PROBLEMS)
        return met.unionAll(at_hand(self._spark, problem_rows(self.noted))) if self.noted else met

    def check(self) -> None:
        """Inputs that changed while they were read make every number about them worthless."""
        listing = self._listing
        if listing is None:
            return
        now = stamps(self._spark, listing.places)
        for file in self.files:
            for path in paths_of(file):
                if now.get(path) != listing.stored[path].stamp:
                    raise changed(file)


def named(spark: SparkSession, source: Any, reading: Reading) -> Named:
    """The inputs that a DataFrame, a path, a glob or a list of them is."""
    if is_frame(source):
        _refuse_doubled(source)
        return Named((InputFile("", "table", InMemory.name, stamp=uuid4().hex),), (), None, source)
    places = [os.fspath(place) for place in (source if isinstance(source, list | tuple) else [source])]
    with unwrapping():
        problems = Problems(reading.on_error)
        listing = listed(spark, places, format=reading.format, problems=problems)
    for file in listing.inputs.files:
        _refuse_unreadable(file)
    return Named(listing.inputs.files, tuple(listing.inputs.remarks), listing, None, tuple(problems.found))


def collected(spark: SparkSession, named: Named, reading: Reading, keep: str, stages: Stages) -> Collected:
    """The documents of these inputs. `keep` is the keep policy, whose columns are read too."""
    parts = Parts(spark, list(named.files), reading, keep, stages, list(named.said), list(named.noted))
    with unwrapping():
        if named.frame is not None:
            parts.from_frame(named.frame)
        elif named.listing is not None:
            parts.from_listing(named.listing)
    return Collected(named, parts, keep)


def _folded(said: list[str]) -> list[str]:
    """What holds for many files is said once."""
    same: dict[str, list[str]] = {}
    for sentence in dict.fromkeys(said):
        name, _, rest = sentence.partition(": ")
        same.setdefault(rest or sentence, []).append(name)
    folded = []
    for rest, names in same.items():
        if names == [rest]:
            folded.append(rest)
        elif len(names) > _MANY:
            folded.append(f"{names[0]} and {len(names) - 1:,} more: {rest}")
        else:
            folded += [f"{name}: {rest}" for name in names]
    return folded


def _refuse_doubled(frame: DataFrame) -> None:
    names = frame.columns
    doubled = [name for name in names if names.count(name) > 1]
    if doubled:
        raise InputError(f"table: there are two columns named {doubled[0]!r}. Rename one of them.")


def _refuse_unreadable(file: InputFile) -> None:
    if file.format not in FORMATS:
        itself = (
            ", or load them with Spark itself, spark.read.csv, and give the DataFrame to neardup.dedup"
            if file.format in ("csv", "tsv")
            else ""
        )
        raise UsageError(
            f"{printable(file.path)}: {file.format} files are not read on Spark; {', '.join(FORMATS)} are. Use the "
            f"local engine{itself}."
        )
    if file.format == "jsonl" and compression_of(file.path)[0] and not file.path.lower().endswith(_COMPRESSIONS):
        raise UsageError(
            f"{printable(file.path)}: Spark cannot unpack this; it can {', '.join(_COMPRESSIONS)}. Pack it otherwise, "
            "or use the local engine."
        )
