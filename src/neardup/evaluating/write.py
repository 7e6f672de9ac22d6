"""An evaluation as a folder.

evaluation.html             everything that people look at, in one file that opens offline
evaluation.json             everything as data; it appears last: where it is, everything else is whole
recipes.csv, .parquet       one row per recipe
recipes.svg, .vl.json       their precision and recall with the intervals: picture, specification
splits.csv, .parquet        one row per split, part and recipe
pairs.parquet               one row per pair that is correct or was found
exhibits/KEY.csv, .vl.json, .svg   the papers' tables and figures: data, specification, picture
"""

import json
import math
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from neardup.atomic import appearing
from neardup.comparing.documents import inert
from neardup.errors import MissingExtra
from neardup.evaluating import figures
from neardup.evaluating.evaluation import Evaluation
from neardup.evaluating.exhibit import Exhibit, Row
from neardup.evaluating.intervals import Interval
from neardup.evaluating.page import Table, write_page

_GUESSED = " Pairs that are not listed count as different here, unless correct pairs connect the two."


_OURS = re.compile(
    r"evaluation\.(html|json)|(recipes|splits)\.(csv|parquet)|recipes\.(svg|vl\.json)|pairs\.parquet"
    r"|exhibits/(table-\d+|figure-\d+|graphs|differences|compared|jain-degree|jain-figure-\d+)\.(csv|svg|vl\.json)"
)
"""What an evaluation writes."""
_FIRST = "recipes.parquet"
"""Is written first."""
_DRAFT = re.compile(r"(^|/)\.([^/]+)\.part$")
"""What an interrupted one leaves (`atomic`)."""


def files_in(folder: Path) -> tuple[list[Path], list[Path]]:
    """The files that an evaluation wrote here, whole or not; and all others, of which nothing is touched."""
    ours: list[Path] = []
    others: list[Path] = []
    exhibits = folder / "exhibits"
    inside = [*exhibits.iterdir()] if exhibits.is_dir() and not exhibits.is_symlink() else []
    for path in sorted([*(p for p in folder.iterdir() if p != exhibits or not p.is_dir() or p.is_symlink()), *inside]):
        name = _DRAFT.sub(r"\1\2", path.relative_to(folder).as_posix())
        (ours if _OURS.fullmatch(name) and path.is_file() else others).append(path)
    return ours, others


def is_ours(folder: Path) -> bool:
    """Whether a folder is empty or an evaluation's, finished or interrupted."""
    ours, others = files_in(folder)
    begun = any(path.name in (_FIRST, f".{_FIRST}.part") for path in ours)
    return (folder / "evaluation.json").is_file() or (not others and (begun or not ours))


def write_evaluation(evaluation: Evaluation, folder: Path) -> None:
    """All files. What an earlier evaluation wrote is removed, for this one may have fewer exhibits.

    evaluation.json goes first and comes last; recipes.parquet is always there in between, and tells that it is ours.
    """
    (folder / "evaluation.json").unlink(missing_ok=True)
    for path in files_in(folder)[0] if folder.is_dir() else ():
        if path.name != _FIRST:
            path.unlink()
    if (folder / "exhibits").is_dir() and not any((folder / "exhibits").iterdir()):
        (folder / "exhibits").rmdir()
    for name, table in (("recipes", evaluation.recipes), ("splits", evaluation.splits)):
        if table.num_rows:
            _parquet(folder / f"{name}.parquet", table)
            _text(folder / f"{name}.csv", Exhibit(key=name, title=name, source="", rows=table.to_pylist()).csv())
    _parquet(folder / "pairs.parquet", evaluation.pairs)
    beside = side_by_side(evaluation)
    _picture(folder, beside)
    for exhibit in evaluation.exhibits:
        if exhibit.rows:
            _text(folder / "exhibits" / f"{exhibit.key}.csv", exhibit.csv())
        _picture(folder / "exhibits", exhibit)
    write_page(
        folder / "evaluation.html",
        title=f"Evaluation: {len(evaluation.results)} recipes, {evaluation.documents:,} documents",
        summary=summary(evaluation),
        exhibits=[beside, *evaluation.exhibits],
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


def _picture(folder: Path, exhibit: Exhibit) -> None:
    if exhibit.chart is not None:
        _text(folder / f"{exhibit.key}.vl.json", json.dumps(exhibit.chart, indent=1, ensure_ascii=False) + "\n")
        try:
            drawn = exhibit.svg()
        except MissingExtra:  # the page says what to install
            return
        _text(folder / f"{exhibit.key}.svg", drawn)


def side_by_side(evaluation: Evaluation) -> Exhibit:
    """Precision and recall of every recipe, with their intervals, in one picture."""
    title = "Precision and recall of the recipes"
    measured: list[Row] = [
        {"recipe": inert(r.name), "measure": name, "share": m.value, "low": m.low, "high": m.high}
        for r in evaluation.results
        for name, m in (("precision", r.pairs.precision), ("recall", r.pairs.recall))
        if not math.isnan(m.value)
    ]
    if not measured:
        why = "No found pair has a verdict, and no pair is correct: there is no precision and no recall."
        return Exhibit(key="recipes", title=title, source="", note=why)
    level = f"{100 * evaluation.level:.4g} % intervals"
    return Exhibit(
        key="recipes",
        title=title,
        source="",
        caption=f"Of pairs; lines are the {level}.",
        rows=measured,
        chart=figures.intervals(
            measured, title=title, name="recipe", what="measure", value="share", subtitle=f"Dots with {level}"
        ),
    )


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
