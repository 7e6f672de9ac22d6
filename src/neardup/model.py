"""The names that travel between steps, and the Arrow schema of every artefact that people take home.

REMOVED       OUT/removed.parquet: one row per removed document, with the evidence
GROUPS        OUT/groups.parquet: one row per document that has company
SKIPPED       OUT/skipped.parquet: what could not be read or compared
NOTES         the columns that --annotate adds
Explanation   what `Result.explain` answers
"""

from dataclasses import dataclass
from typing import Literal

import pyarrow as pa

Relation = Literal["identical", "near", "contained", "contains"]
"""Of a removed document to the kept one. identical: the same tokens; contained: all its shingles are in the kept one;
contains: the other way round; near: similar, and neither."""

RELATIONS: tuple[Relation, ...] = ("identical", "near", "contained", "contains")

Measured = Literal["identity", "exact", "estimate"]
"""How the numbers were found: same 128-bit identity, the shingle sets themselves, or the sketches."""

MEASURED: tuple[Measured, ...] = ("identity", "exact", "estimate")

REMOVED = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("kept_id", pa.string(), nullable=False),
        pa.field("relation", pa.string(), nullable=False),
        pa.field("resemblance", pa.float64(), nullable=False),
        pa.field("removed_in_kept", pa.float64(), nullable=False),
        pa.field("kept_in_removed", pa.float64(), nullable=False),
        pa.field("measured", pa.string(), nullable=False),
        pa.field("url", pa.string()),
        pa.field("kept_url", pa.string()),
    ]
)

GROUPS = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("group", pa.string(), nullable=False),
        pa.field("size", pa.int64(), nullable=False),
        pa.field("kept", pa.bool_(), nullable=False),
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
    ]
)


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
    group: tuple[str, ...]
    """The ids of all members of its group, the kept one first."""

    def __str__(self) -> str:
        if self.kept and len(self.group) == 1:
            return f"{self.id} was kept: no other document is similar."
        if self.kept:
            return f"{self.id} was kept and stands for {len(self.group) - 1} others: {', '.join(self.group[1:6])}" + (
                " …" if len(self.group) > 6 else ""
            )
        number = "estimated" if self.measured == "estimate" else "measured"
        return (
            f"{self.id} was removed: {self.relation} to {self.kept_id}, {number} resemblance {self.resemblance:.4f} "
            f"({self.removed_in_kept:.1%} of it is in the kept one, {self.kept_in_removed:.1%} of the kept one in it)."
        )
