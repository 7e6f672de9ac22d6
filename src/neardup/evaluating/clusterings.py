"""Groups against groups: how near a clustering is to the truth's.

For documents x with the found group G(x) and the true one T(x), nᵢⱼ the documents that found group i and true group j
have in common, aᵢ and bⱼ their sizes, n all documents:

    pairwise precision   S / A        of the pairs found together, those that are: S = Σ C(nᵢⱼ, 2), A = Σ C(aᵢ, 2)
    pairwise recall      S / B        of the pairs truly together, those that were found: B = Σ C(bⱼ, 2)
    pairwise F1          2S / (A + B)
    adjusted Rand index  (S - E) / ((A + B)/2 - E)  with E = A·B / C(n, 2), what chance gives (Hubert and Arabie 1985)
    exact sets           share of the true groups of two or more that were found with exactly these members
    B-cubed precision    mean over x of |G(x) ∩ T(x)| / |G(x)|    (Bagga and Baldwin 1998)
    B-cubed recall       mean over x of |G(x) ∩ T(x)| / |T(x)|
    B-cubed F1           their harmonic mean

Where there is no group on either side, pairwise numbers are unknown; the adjusted Rand index is 1 then. A document
alone on both sides counts in B-cubed (with 1) and in n: where most documents are alone, B-cubed is near 1 whatever was
found. Documents of one component of both groupings are drawn again together (`intervals`); documents that are alone on
both sides are not drawn, but counted as they are.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup.evaluating.intervals import UNKNOWN, Floats, Interval, Resampled, wilson, worth

_SUMS = ("documents", "both", "found", "true", "inside", "around", "exact", "sets")
_DOCUMENTS, _BOTH, _FOUND, _TRUE, _INSIDE, _AROUND, _EXACT, _SETS = range(len(_SUMS))


class ClusterMeasures(NamedTuple):
    """Of one recipe."""

    documents: int
    groups: int
    """Found, of two or more documents."""
    true_groups: int
    components: int
    precision: Interval
    recall: Interval
    f1: Interval
    adjusted_rand: Interval
    exact_sets: Interval
    bcubed_precision: Interval
    bcubed_recall: Interval
    bcubed_f1: Interval


def cluster_measures(
    found: NDArray[np.int64],
    true: NDArray[np.int64],
    component: NDArray[np.int64],
    *,
    level: float,
    seed: int,
) -> ClusterMeasures:
    """Of two groupings of the same documents, given as a number per document; components are unions of groups."""
    sums = component_sums(found, true, component)
    alone = sums[:, _DOCUMENTS] == 1
    drawn = Resampled.of(sums[~alone], level=level, seed=seed)
    rest = float(alone.sum())

    def unit(*names: int) -> Floats:
        return np.bincount(names, minlength=len(_SUMS)).astype(np.float64)

    together = drawn.ratio(unit(_BOTH), unit(_FOUND))
    recalled = drawn.ratio(unit(_BOTH), unit(_TRUE))
    either = drawn.sums[:, _FOUND] + drawn.sums[:, _TRUE]
    f1 = _f1(drawn, either)
    inside, around = (_mean(drawn, column, rest) for column in (_INSIDE, _AROUND))
    return ClusterMeasures(
        documents=len(found),
        groups=_groups(found),
        true_groups=_groups(true),
        components=len(drawn.sums),
        precision=together,
        recall=recalled,
        f1=f1,
        adjusted_rand=_rand(drawn, rest, either, f1),
        exact_sets=drawn.ratio(unit(_EXACT), unit(_SETS)),
        bcubed_precision=inside,
        bcubed_recall=around,
        bcubed_f1=_harmonic(drawn, rest, inside, around),
    )


def component_sums(found: NDArray[np.int64], true: NDArray[np.int64], component: NDArray[np.int64]) -> Floats:
    """A row of sums for every component."""
    n = len(found)
    names, place = np.unique(component, return_inverse=True)
    _, i, a = np.unique(found, return_inverse=True, return_counts=True)
    _, first, j, b = np.unique(true, return_index=True, return_inverse=True, return_counts=True)
    _, cell, cells = np.unique(i * (len(b) + 1) + j, return_inverse=True, return_counts=True)
    common = cells[cell]  # of every document: how many are with it on both sides

    def total(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.bincount(place, values, len(names)).astype(np.float64)

    # Half of a document's companions, summed over documents, is the number of pairs.
    sets = np.zeros(n)
    sets[first[b >= 2]] = 1.0
    exact = sets * (common == a[i]) * (common == b[j])
    columns = (
        np.ones(n), (common - 1) / 2, (a[i] - 1) / 2, (b[j] - 1) / 2, common / a[i], common / b[j], exact, sets,
    )  # fmt: skip
    return np.stack([total(np.asarray(c, np.float64)) for c in columns], axis=1)


def _groups(labels: NDArray[np.int64]) -> int:
    return int((np.unique(labels, return_counts=True)[1] >= 2).sum())


def _f1(drawn: Resampled, either: Floats) -> Interval:
    """By the share of pairs that both have in those that any has, S / (A + B - S), of which F1 is a function."""
    unit = np.zeros(len(_SUMS))
    unit[_BOTH] = 1.0
    union = np.zeros(len(_SUMS))
    union[[_FOUND, _TRUE, _BOTH]] = 1.0, 1.0, -1.0
    whole = drawn.ratio(unit, union)
    return Interval(*(2 * x / (1 + x) for x in whole))


def _rand(drawn: Resampled, rest: float, either: Floats, f1: Interval) -> Interval:
    """Pairwise F1 less what chance gives: its interval has at least the margins of F1."""

    def measure(sums: Floats) -> Floats:
        n = sums[:, _DOCUMENTS] + rest
        chance = sums[:, _FOUND] * sums[:, _TRUE] / np.maximum(1.0, n * (n - 1) / 2)
        most = (sums[:, _FOUND] + sums[:, _TRUE]) / 2
        out = np.ones(len(sums))
        np.divide(sums[:, _BOTH] - chance, most - chance, out=out, where=most - chance > 1e-12)
        return out

    if np.isnan(f1.value):
        return UNKNOWN if not rest else Interval(1.0, 1.0, 1.0)
    value = float(measure(drawn.total[None, :])[0])
    floor = (value - (f1.value - f1.low), min(1.0, value + (f1.high - f1.value)))
    return drawn.function(measure, either, floor)


def _mean(drawn: Resampled, column: int, rest: float) -> Interval:
    """B-cubed: a mean over documents, of which `rest` are alone on both sides."""
    n = float(drawn.total[_DOCUMENTS]) + rest
    if not n:
        return UNKNOWN

    def measure(sums: Floats) -> Floats:
        mean: Floats = (sums[:, column] + rest) / (sums[:, _DOCUMENTS] + rest)
        return mean

    value = float(measure(drawn.total[None, :])[0])
    return drawn.function(measure, drawn.sums[:, _DOCUMENTS], _floor(drawn, column, rest, value))


def _floor(drawn: Resampled, column: int, rest: float, value: float) -> tuple[float, float]:
    """Wilson's interval of a mean over documents."""
    n = float(drawn.total[_DOCUMENTS]) + rest
    trials = worth(drawn.sums[:, column], drawn.sums[:, _DOCUMENTS], n, level=drawn.level, alone=rest)
    return wilson(value * trials, trials, drawn.level)


def _harmonic(drawn: Resampled, rest: float, inside: Interval, around: Interval) -> Interval:
    if np.isnan(inside.value):
        return UNKNOWN

    def measure(sums: Floats) -> Floats:
        p, r = sums[:, _INSIDE] + rest, sums[:, _AROUND] + rest  # n is in both
        mean: Floats = 2 * p * r / ((p + r) * (sums[:, _DOCUMENTS] + rest))
        return mean

    floors = _floor(drawn, _INSIDE, rest, inside.value), _floor(drawn, _AROUND, rest, around.value)
    low, high = ([floor[end] for floor in floors] for end in (0, 1))
    floor = (2 * low[0] * low[1] / (low[0] + low[1]), 2 * high[0] * high[1] / (high[0] + high[1]))
    return drawn.function(measure, drawn.sums[:, _DOCUMENTS], floor)
