"""What `evaluate` returns: how right every recipe is, of all pairs and of parts of them.

    evaluation.recipes      one row per recipe: counts and measures of its pairs, and of its groups
    evaluation.splits       one row per recipe and part of the pairs
    evaluation.pairs        one row per pair that is correct or was found: verdict, what is known of it, who found it
    evaluation.exhibits     the papers' tables and figures for this collection
    evaluation.write(path)  all of it as files

The first three are Arrow tables. A measure has three columns: its value, and the ends of its interval, `_low` and
`_high`; null where there was nothing to measure.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from neardup._version import __version__
from neardup.evaluating.clusterings import ClusterMeasures
from neardup.evaluating.exhibit import Exhibit
from neardup.evaluating.intervals import Interval
from neardup.evaluating.measures import PairMeasures
from neardup.recipe import Recipe


@dataclass(frozen=True)
class RecipeResult:
    """Of one recipe."""

    name: str
    recipe: Recipe
    pairs: PairMeasures
    groups: ClusterMeasures
    seconds: float
    cut_short: int
    """Documents with more candidates than were compared."""
    left_out: int
    """An upper bound of the candidate pairs that were not compared because of that."""


@dataclass(frozen=True)
class SplitResult:
    """The measures of every recipe on the parts of one split; parts without pairs are left out."""

    key: str
    title: str
    note: str
    parts: tuple[tuple[str, str, PairMeasures], ...]
    """(part, recipe, measures)."""


@dataclass(frozen=True, kw_only=True)
class TruthSummary:
    """What the truth has to say about this collection."""

    name: str
    pairs: int
    correct: int
    incorrect: int
    undecided: int
    documents: int
    """That it mentions."""
    unlisted: str
    """What a pair is that it does not list."""

    @property
    def exhaustive(self) -> bool:
        """Whether it says something of all pairs of the documents whose groups are compared."""
        return self.unlisted != "unknown"


@dataclass(frozen=True, eq=False, kw_only=True)
class Evaluation:
    """Recipes against the truth, side by side."""

    documents: int
    truth: TruthSummary
    base: str
    level: float
    results: tuple[RecipeResult, ...]
    split_results: tuple[SplitResult, ...] = ()
    pairs: pa.Table
    exhibits: tuple[Exhibit, ...] = ()
    said: tuple[str, ...] = ()
    """What was guessed and noticed on the way."""
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __getitem__(self, recipe: str) -> RecipeResult:
        for result in self.results:
            if result.name == recipe:
                return result
        raise KeyError(f"{recipe!r} was not evaluated; there are {', '.join(r.name for r in self.results)}")

    def __repr__(self) -> str:
        best = max(self.results, key=lambda r: -1.0 if math.isnan(r.pairs.f1.value) else r.pairs.f1.value)
        return (
            f"<neardup.Evaluation: {len(self.results)} recipes, {self.documents:,} documents, "
            f"{self.truth.pairs:,} pairs of truth; best F1 {best.pairs.f1.value:.3f} by {best.name}>"
        )

    @property
    def recipes(self) -> pa.Table:
        """One row per recipe."""
        rows = [
            {
                "recipe": r.name,
                "recipe_id": r.recipe.id,
                **flat(r.pairs),
                **{f"group_{name}": value for name, value in flat(r.groups).items()},
                "cut_short": r.cut_short,
                "left_out": r.left_out,
                "seconds": round(r.seconds, 3),
            }
            for r in self.results
        ]
        return _table(rows)

    @property
    def splits(self) -> pa.Table:
        """One row per split, part and recipe."""
        return _table(
            [
                {"split": s.key, "part": part, "recipe": recipe, **flat(measures)}
                for s in self.split_results
                for part, recipe, measures in s.parts
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """All but the pairs and the specifications of pictures, as plain data."""
        return {
            "neardup": __version__,
            "documents": self.documents,
            "truth": vars(self.truth),
            "base": self.base,
            "level": self.level,
            "settings": dict(self.settings),
            "recipes": [
                {
                    "name": r.name,
                    "recipe": {"id": r.recipe.id, **r.recipe.to_dict()},
                    "pairs": nested(r.pairs),
                    "groups": nested(r.groups),
                    "cut_short": r.cut_short,
                    "left_out": r.left_out,
                    "seconds": round(r.seconds, 3),
                }
                for r in self.results
            ],
            "splits": [
                {
                    "key": s.key,
                    "title": s.title,
                    "note": s.note,
                    "parts": [{"part": part, "recipe": recipe, **nested(m)} for part, recipe, m in s.parts],
                }
                for s in self.split_results
            ],
            "exhibits": [
                {
                    "key": e.key, "title": e.title, "source": e.source, "caption": e.caption, "note": e.note,
                    "rows": [{name: _plain(value) for name, value in row.items()} for row in e.rows],
                }
                for e in self.exhibits
            ],
            "said": list(self.said),
        }  # fmt: skip

    def write(self, folder: str | Path) -> None:
        """evaluation.json and .html, the tables as CSV and Parquet, the exhibits as SVG, CSV and Vega-Lite."""
        from neardup.evaluating.write import write_evaluation

        write_evaluation(self, Path(folder))


def _plain(value: Any) -> Any:
    """What JSON has no number for is null."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def flat(measures: PairMeasures | ClusterMeasures) -> dict[str, Any]:
    """Columns: a measure as its value and both ends."""
    columns: dict[str, Any] = {}
    for name, value in measures._asdict().items():
        if isinstance(value, Interval):
            for end, number in zip(("", "_low", "_high"), value, strict=True):
                columns[name + end] = _plain(number)
        else:
            columns[name] = value
    return columns


def nested(measures: PairMeasures | ClusterMeasures) -> dict[str, Any]:
    """A measure as an object of its own."""
    return {
        name: {end: _plain(number) for end, number in value._asdict().items()} if isinstance(value, Interval) else value
        for name, value in measures._asdict().items()
    }


def _table(rows: list[dict[str, Any]]) -> pa.Table:
    """Columns of numbers stay such where all values are unknown."""
    if not rows:
        return pa.table({})
    kinds = {str: pa.string(), int: pa.int64()}
    return pa.table(
        {name: pa.array([row[name] for row in rows], kinds.get(type(rows[0][name]), pa.float64())) for name in rows[0]}
    )
