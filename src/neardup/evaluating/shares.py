"""A share of pairs with its confidence interval, where pairs come in clusters.

Pairs of one cluster are not independent: a template that fools an algorithm once fools it for all pairs of its pages.
So connected components are drawn again, as for every other measure (`intervals`); there is no second kind of interval.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup.evaluating.intervals import LEVEL, Resampled


class Share(NamedTuple):
    """`hits` of `total` pairs, the share by the weights of these pairs, and its interval."""

    hits: int
    total: int
    value: float
    """Not a number, where there is nothing to have a share of."""
    low: float
    high: float

    def cells(self, name: str) -> dict[str, float | None]:
        """The share and its interval as columns of a row; nothing in them where there is nothing to have a share of."""
        found = (self.value, self.low, self.high) if self.total else (None, None, None)
        return dict(zip((name, f"{name} low", f"{name} high"), found, strict=True))


class Shares:
    """Shares among pairs whose components and weights are known."""

    def __init__(
        self,
        component: NDArray[np.int64],
        weight: NDArray[np.float64] | None = None,
        *,
        level: float = LEVEL,
        seed: int = 1,
    ) -> None:
        self.component = np.unique(component, return_inverse=True)[1].astype(np.int64)
        """Of each pair, numbered from 0 on."""
        self.level = level
        self._ones = np.ones(len(component))
        self._weight = self._ones if weight is None else weight
        self._seed = seed

    def of(self, hits: NDArray[np.bool_], among: NDArray[np.bool_]) -> Share:
        """The share of `hits` among these pairs, all of which count the same; masks over all pairs."""
        return self._share(hits, among, self._ones)

    def judged(self, hits: NDArray[np.bool_], among: NDArray[np.bool_]) -> Share:
        """The same of labelled pairs, each of which stands for as many as its weight says."""
        return self._share(hits, among, self._weight)

    def _share(self, hits: NDArray[np.bool_], among: NDArray[np.bool_], weight: NDArray[np.float64]) -> Share:
        component, hit, weight = self.component[among], hits[among], weight[among]
        if not len(component):
            return Share(0, 0, float("nan"), 0.0, 1.0)
        n = int(component.max()) + 1
        sums = np.stack([np.bincount(component[x], weight[x], n) for x in (hit, ~hit)], axis=1).astype(np.float64)
        drawn = Resampled.of(sums, level=self.level, seed=self._seed)
        found = drawn.ratio(np.array([1.0, 0.0]), np.array([1.0, 1.0]), squares=float((weight**2).sum()))
        return Share(int(hit.sum()), len(hit), *found)
