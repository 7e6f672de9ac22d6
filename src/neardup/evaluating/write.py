"""An evaluation as a folder.

evaluation.html             everything that people look at, in one file that opens offline
evaluation.json             everything as data; it appears last: where it is, everything else is whole
recipes.csv, .parquet       one row per recipe
splits.csv, .parquet        one row per split, part and recipe
pairs.parquet               one row per pair that is correct or was found
exhibits/KEY.csv, .vl.json, .svg   the papers' tables and figures: data, specification, picture
"""

import json
import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from neardup.atomic import appearing
from neardup.errors import MissingExtra
from neardup.evaluating.evaluation import Evaluation
from neardup.evaluating.exhibit import Exhibit
from neardup.evaluating.intervals import Interval
from neardup.evaluating.page import Table, write_page

_GUESSED = " Pairs that are not listed count as different here, unless correct pairs connect the two."


def write_evaluation(evaluation: Evaluation, folder: Path) -> None:
    """All files; what an earlier evaluation left under these names is written over."""
    (folder / "evaluation.json").unlink(missing_ok=True)
    for name, table in (("recipes", evaluation.recipes), ("splits", evaluation.splits)):
        if table.num_rows:
            _parquet(folder / f"{name}.parquet", table)
            _text(folder / f"{name}.csv", Exhibit(key=name, title=name, source="", rows=table.to_pylist()).csv())
    _parquet(folder / "pairs.parquet", evaluation.pairs)
    for exhibit in evaluation.exhibits:
        _exhibit(folder / "exhibits", exhibit)
    write_page(
        folder / "evaluation.html",
        title=f"Evaluation: {len(evaluation.results)} recipes, {evaluation.documents:,} documents",
        summary=summary(evaluation),
        exhibits=evaluation.exhibits,
        notes=[about(evaluation), *evaluation.said],
    )
    _text(
        folder / "evaluation.json",
        json.dumps(evaluation.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n",
    )


def _parquet(path: Path, table: pa.Table) -> None:
    with appearing(path) as draft:
        pq.write_table(table, draft, compression="zstd")


def _text(path: Path, text: str) -> None:
    with appearing(path) as draft:
        draft.write_text(text, encoding="utf-8")


def _exhibit(folder: Path, exhibit: Exhibit) -> None:
    if exhibit.rows:
        _text(folder / f"{exhibit.key}.csv", exhibit.csv())
    if exhibit.chart is not None:
        _text(folder / f"{exhibit.key}.vl.json", json.dumps(exhibit.chart, indent=1, ensure_ascii=False) + "\n")
        try:
            drawn = exhibit.svg()
        except MissingExtra:  # the page says what to install
            return
        _text(folder / f"{exhibit.key}.svg", drawn)


def about(evaluation: Evaluation) -> str:
    """The truth and the intervals, in a sentence each."""
    truth = evaluation.truth
    return (
        f"{truth.pairs:,} labelled pairs of {truth.documents:,} documents: {truth.correct:,} correct, "
        f"{truth.incorrect:,} incorrect, {truth.undecided:,} undecided; other pairs are {truth.unlisted}. "
        f"Intervals are at {evaluation.level:.4g}, by drawing connected components again. R is relative to "
        f"{evaluation.base}."
    )


def summary(evaluation: Evaluation) -> list[Table]:
    """What people look at first: pairs, groups, then every split."""
    results = evaluation.results
    pairs = Table(
        "Pairs",
        ("recipe", "precision", "recall", "F1", "R", "pairs", "correct", "incorrect", "undecided", "unknown"),
        [
            (
                r.name, *(shown(x) for x in (r.pairs.precision, r.pairs.recall, r.pairs.f1, r.pairs.r)),
                *(f"{n:,}" for n in r.pairs[:5]),
            )
            for r in results
        ],
        f"Precision: correct / (correct + incorrect). R: correct pairs relative to those of {evaluation.base} "
        "(Henzinger, section 3.5).",
    )  # fmt: skip
    groups = Table(
        "Groups",
        ("recipe", "precision", "recall", "F1", "adjusted Rand", "exact sets", "B-cubed F1", "groups", "true groups"),
        [
            (
                r.name,
                *(
                    shown(x)
                    for x in (
                        r.groups.precision, r.groups.recall, r.groups.f1, r.groups.adjusted_rand, r.groups.exact_sets,
                        r.groups.bcubed_f1,
                    )
                ),
                f"{r.groups.groups:,}", f"{r.groups.true_groups:,}",
            )
            for r in results
        ],
        f"Of {results[0].groups.documents:,} documents; precision, recall, F1 of pairs that are together."
        + ("" if evaluation.truth.exhaustive else _GUESSED),
    )  # fmt: skip
    shown_in_splits = (*dict.fromkeys((best(evaluation), evaluation.base)),)
    return [pairs, groups, *(split_table(evaluation, s.key, shown_in_splits) for s in evaluation.split_results)]


def best(evaluation: Evaluation) -> str:
    """The recipe with the highest F1; of equals, the first."""
    return max(evaluation.results, key=lambda r: -1.0 if math.isnan(r.pairs.f1.value) else r.pairs.f1.value).name


def split_table(evaluation: Evaluation, key: str, recipes: tuple[str, ...]) -> Table:
    """One split, of some recipes; the files have all."""
    [split] = [s for s in evaluation.split_results if s.key == key]
    return Table(
        split.title,
        ("part", "recipe", "precision", "recall", "F1", "R", "pairs", "correct", "incorrect", "undecided", "missed"),
        [
            (
                part, recipe,
                *(shown(x) for x in (m.precision, m.recall, m.f1, m.r)),
                *(f"{n:,}" for n in (m.pairs, m.correct, m.incorrect, m.undecided, m.missed)),
            )
            for part, recipe, m in split.parts
            if recipe in recipes
        ],
        split.note,
    )  # fmt: skip


def shown(measure: Interval, digits: int = 3) -> str:
    """0.951 [0.861–1.000]; a dash where there was nothing to measure."""
    if math.isnan(measure.value):
        return "–"
    value, low, high = (_number(x, digits) for x in measure)
    return value if measure.low == measure.high else f"{value} [{low}–{high}]"


def _number(value: Any, digits: int) -> str:
    return f"{value:.{digits}f}"
