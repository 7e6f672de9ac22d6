"""The names that travel between steps, and the Arrow schema of every artefact that people take home. Ids are text in
them, and have the inputs' own type where there is one (`with_id_type`).

REMOVED       OUT/removed.parquet: one row per removed document, with the evidence
PAIRS         what `pairs` writes: one row per similar pair, the earlier document first
GROUPS        OUT/groups.parquet: one row per document that has company
SKIPPED       OUT/skipped.parquet: what could not be read or compared
NOTES         the columns that --annotate adds
Explanation   what `Result.explain` answers
"""

from dataclasses import dataclass
from typing import Literal

import pyarrow as pa

Relation = Literal["identical", "near", "contained", "contains"]
"""Of a removed document to the kept one. identical: the same tokens; contained: all its shingles are in the kept one
(all bits of its filter; or enough of them, where a recipe judges by containment); contains: the other way round; near:
similar, and neither. Under the recipe by-site, copies on two sites are near."""

RELATIONS: tuple[Relation, ...] = ("identical", "near", "contained", "contains")

TOWARDS: dict[str, str] = {
    "identical": "identical to",
    "near": "similar to",
    "contained": "contained in",
    "contains": "contains",
}
"""How a sentence goes on after a removed document, before the kept one."""

Measure = Literal["resemblance", "containment", "b-similarity", "c-similarity", "lists", "bloom"]
"""What the sketches of two documents are compared by."""

Measured = Literal["identity", "exact", "estimate", "b-similarity", "c-similarity", "lists", "bloom", "containment"]
"""How the score was found: same 128-bit identity; the resemblance of the shingle sets themselves, or estimated from
sketches; equal features, equal bits, repetitions with an equal list, matching bits of Bloom filters, or the containment
estimated from sketches."""

MEASURED: tuple[Measured, ...] = (
    "identity", "exact", "estimate", "b-similarity", "c-similarity", "lists", "bloom", "containment"
)  # fmt: skip

REMOVED = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("kept_id", pa.string(), nullable=False),
        pa.field("relation", pa.string(), nullable=False),
        pa.field("resemblance", pa.float64()),
        pa.field("removed_in_kept", pa.float64()),
        pa.field("kept_in_removed", pa.float64()),
        pa.field("measured", pa.string(), nullable=False),
        pa.field("score", pa.float64(), nullable=False),
        pa.field("url", pa.string()),
        pa.field("kept_url", pa.string()),
        pa.field("kept_source", pa.string(), nullable=False),
    ]
)

KEPT_SOURCES = ("input", "index")
"""Where a kept document is: among the inputs of the run, or in the index that it was given."""

PAIRS = pa.schema(
    [
        pa.field("first", pa.string(), nullable=False),
        pa.field("second", pa.string(), nullable=False),
        pa.field("score", pa.float64(), nullable=False),
        pa.field("measured", pa.string(), nullable=False),
        pa.field("error", pa.float64()),
        pa.field("resemblance", pa.float64()),
        pa.field("first_in_second", pa.float64()),
        pa.field("second_in_first", pa.float64()),
        pa.field("first_url", pa.string()),
        pa.field("second_url", pa.string()),
    ]
)

GROUPS = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("group_id", pa.string(), nullable=False),
        pa.field("size", pa.int64(), nullable=False),
        pa.field("kept", pa.bool_(), nullable=False),
        pa.field("group", pa.string(), nullable=False),  # the old name of group_id, for one release
    ]
)

SKIPPED = pa.schema(
    [
        pa.field("source", pa.string(), nullable=False),
        pa.field("position", pa.int64()),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("detail", pa.string(), nullable=False),
    ]
)

NOTES = pa.schema(
    [
        pa.field("neardup_kept", pa.bool_(), nullable=False),
        pa.field("neardup_group", pa.string()),
        pa.field("neardup_kept_id", pa.string()),
        pa.field("neardup_relation", pa.string()),
        pa.field("neardup_resemblance", pa.float64()),
        pa.field("neardup_score", pa.float64()),
    ]
)

_IDS = ("id", "kept_id", "group_id", "group", "first", "second", "neardup_group", "neardup_kept_id")


def with_id_type(schema: pa.Schema, kind: pa.DataType, **others: pa.DataType) -> pa.Schema:
    """Return one of these schemas for ids of a type; `others` are types of single columns."""
    types = dict.fromkeys(_IDS, kind) | others
    return pa.schema([field.with_type(types.get(field.name, field.type)) for field in schema])


@dataclass(frozen=True)
class Explanation:
    """Why a document was kept or removed."""

    id: str
    kept: bool
    kept_id: str
    """The document that stands for it: itself where it was kept."""
    relation: Relation | None
    resemblance: float | None
    removed_in_kept: float | None
    kept_in_removed: float | None
    measured: Measured | None
    score: float | None
    group: tuple[str, ...]
    """The ids of all members of its group, the kept one first."""

    def __str__(self) -> str:
        if self.kept and len(self.group) == 1:
            return f"{self.id} was kept: no other document is similar."
        if self.kept:
            return f"{self.id} was kept and stands for {len(self.group) - 1} others: {', '.join(self.group[1:6])}" + (
                " …" if len(self.group) > 6 else ""
            )
        related = TOWARDS[self.relation or "near"]
        if self.resemblance is None:
            return f"{self.id} was removed: {related} {self.kept_id}, {self.measured} {self.score:g}."
        number = "estimated" if self.measured == "estimate" else "measured"
        why = f"{self.id} was removed: {related} {self.kept_id}, {number} resemblance {self.resemblance:.4f}"
        if self.removed_in_kept is None or self.kept_in_removed is None:
            return why + "."
        inside, around = f"{self.removed_in_kept:.1%}", f"{self.kept_in_removed:.1%}"
        return f"{why} ({inside} of it is in the kept one, {around} of the kept one in it)."
