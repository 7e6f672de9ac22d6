"""Precision, recall, F1 and R of pairs, from sums over components.

    Judged           every pair that the truth lists or a recipe found: verdict, weight, who found it
    pair_measures    the measures of one recipe, of all pairs or of some of them

With C the pairs that were found and are correct, I incorrect, U undecided, M the correct pairs of the truth that were
not found, and B the correct pairs that the base recipe found:

    precision       C / (C + I)            undecided pairs are left out, as are pairs that the truth does not know
    correct_share   C / (C + I + U)        the fraction of Henzinger's tables 2, 5 and 12, which she calls precision
    recall          C / (C + M)            of the correct pairs that the truth lists
    f1              2C / (2C + I + M)      the harmonic mean of precision and recall
    r               C / B                  R of Henzinger's section 3.5: correct pairs relative to those of the base
    of_base         |found ∩ B| / B        how many of the base's correct pairs it finds too

R is a ratio of two counts, and above 1 for a recipe that finds more than the base. In section 3.5 the combined
algorithm filters the pairs of the base, Algorithm B; there, R and `of_base` are the same number.

All counts are sums of weights where the truth has weights (1 for pairs that it does not list); `pairs`, `correct` and
the other columns of counts are numbers of pairs all the same.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup.evaluating.forest import components
from neardup.evaluating.intervals import UNKNOWN, Interval, Resampled
from neardup.evaluating.study import CORRECT, INCORRECT, UNDECIDED, UNLABELLED


@dataclass(frozen=True, eq=False, kw_only=True)
class Judged:
    """Pairs, ascending; the first document is the one with the lower number."""

    documents: int
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    verdict: NDArray[np.int8]
    """1 correct, -1 incorrect, 0 undecided, 2 unlabelled (`study`)."""
    weight: NDArray[np.float64]
    found: NDArray[np.bool_]
    """Row r is about recipe r."""

    def __len__(self) -> int:
        return len(self.first)

    @property
    def relevant(self) -> NDArray[np.bool_]:
        """Pairs that are in any measure: correct ones and found ones."""
        either: NDArray[np.bool_] = (self.verdict == CORRECT) | self.found.any(axis=0)
        return either

    def take(self, rows: NDArray[np.int64]) -> "Judged":
        """Some of the pairs."""
        return Judged(
            documents=self.documents,
            first=self.first[rows],
            second=self.second[rows],
            verdict=self.verdict[rows],
            weight=self.weight[rows],
            found=self.found[:, rows],
        )

    def linked(self, recipes: list[int], more: tuple[NDArray[np.int64], NDArray[np.int64]]) -> NDArray[np.int64]:
        """For every document its component: linked by correct pairs, by pairs of these recipes, and by more pairs."""
        edges = (self.verdict == CORRECT) | self.found[recipes].any(axis=0)
        first, second = (np.concatenate(x) for x in zip((self.first[edges], self.second[edges]), more, strict=True))
        return components(self.documents, first, second)


class PairMeasures(NamedTuple):
    """Of one recipe on some pairs."""

    pairs: int
    """Found."""
    correct: int
    incorrect: int
    undecided: int
    unknown: int
    missed: int
    """Correct and not found."""
    components: int
    """That have something to say."""
    precision: Interval
    correct_share: Interval
    recall: Interval
    f1: Interval
    r: Interval
    of_base: Interval


_SUMS = ("correct", "incorrect", "undecided", "missed", "base", "shared")


def _sum(*names: str) -> NDArray[np.float64]:
    """A linear function of the sums."""
    return np.array([names.count(n) for n in _SUMS], np.float64)


def pair_measures(
    judged: Judged,
    recipe: int,
    base: int,
    component: NDArray[np.int64],
    *,
    level: float,
    seed: int,
) -> PairMeasures:
    """Of the pairs of a recipe; `component` is of every document."""
    found, of_base = judged.found[recipe], judged.found[base]
    correct = judged.verdict == CORRECT
    parts = {
        "correct": found & correct,
        "incorrect": found & (judged.verdict == INCORRECT),
        "undecided": found & (judged.verdict == UNDECIDED),
        "missed": ~found & correct,
        "base": of_base & correct,
        "shared": of_base & found & correct,
    }
    drawn = Resampled.of(_by_component(judged, parts, component), level=level, seed=seed)

    def ratio(over: NDArray[np.float64], under: NDArray[np.float64]) -> Interval:
        return drawn.ratio(over, under, squares=_squares(judged, parts, under))

    shared = ratio(_sum("shared"), _sum("base"))
    return PairMeasures(
        pairs=int(found.sum()),
        correct=int(parts["correct"].sum()),
        incorrect=int(parts["incorrect"].sum()),
        undecided=int(parts["undecided"].sum()),
        unknown=int((found & (judged.verdict == UNLABELLED)).sum()),
        missed=int(parts["missed"].sum()),
        components=len(drawn.sums),
        precision=ratio(_sum("correct"), _sum("correct", "incorrect")),
        correct_share=ratio(_sum("correct"), _sum("correct", "incorrect", "undecided")),
        recall=ratio(_sum("correct"), _sum("correct", "missed")),
        f1=_f1(ratio),
        r=_relative(drawn, shared) if recipe != base else _itself(shared),
        of_base=shared if recipe != base else _itself(shared),
    )


def _by_component(
    judged: Judged, parts: dict[str, NDArray[np.bool_]], component: NDArray[np.int64]
) -> NDArray[np.float64]:
    """A row of sums for every component that has any."""
    place = component[judged.first]
    columns = [
        np.bincount(place[which], judged.weight[which], len(component)) for which in (parts[name] for name in _SUMS)
    ]
    some = np.flatnonzero(np.any(columns, axis=0))
    return np.stack([column[some] for column in columns], axis=1)


def _squares(judged: Judged, parts: dict[str, NDArray[np.bool_]], under: NDArray[np.float64]) -> float:
    """Of the weights of the trials."""
    return sum(
        float((judged.weight[parts[name]] ** 2).sum()) for name, times in zip(_SUMS, under, strict=True) if times
    )


def _f1(ratio: Callable[[NDArray[np.float64], NDArray[np.float64]], Interval]) -> Interval:
    """2J / (1 + J), with J the share of C in C + I + M: so the interval of that proportion becomes F1's."""
    whole = ratio(_sum("correct"), _sum("correct", "incorrect", "missed"))
    return Interval(*(2 * x / (1 + x) for x in whole))


def _relative(drawn: Resampled, shared: Interval) -> Interval:
    """R. It is `of_base` plus what the base does not find; its interval has at least the margins of that share."""
    if np.isnan(shared.value):
        return UNKNOWN
    base, correct = _SUMS.index("base"), _SUMS.index("correct")

    def measure(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        out = np.full(len(sums), np.nan)
        np.divide(sums[:, correct], sums[:, base], out=out, where=sums[:, base] > 0)
        return out

    value = float(measure(drawn.total[None, :])[0])
    floor = (max(0.0, value - (shared.value - shared.low)), value + (shared.high - shared.value))
    return drawn.function(measure, drawn.sums[:, base], floor)


def _itself(shared: Interval) -> Interval:
    """Relative to itself, it is 1 by definition, where there is something to compare."""
    return UNKNOWN if np.isnan(shared.value) else Interval(1.0, 1.0, 1.0)
