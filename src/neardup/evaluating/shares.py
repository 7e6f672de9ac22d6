"""A share of pairs with its confidence interval, where pairs come in clusters.

Pairs of one cluster are not independent: a template that fools an algorithm once fools it for all pairs of its pages.
So the interval is Wilson's for as many independent pairs as these are worth. That number is n / deff, where deff
(Kish's design effect) is the variance of the share over the connected components, divided by p(1-p)/n; it is at least
1. Where all pairs or none have the property the variance says nothing, and every component counts as one observation.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup.evaluating.intervals import wilson


class Share(NamedTuple):
    """`hits` of `total`, and the interval of the share."""

    hits: int
    total: int
    low: float
    high: float

    @property
    def value(self) -> float:
        """Not a number, where there is nothing to have a share of."""
        return self.hits / self.total if self.total else float("nan")

    def cells(self, name: str) -> dict[str, float | None]:
        """The share and its interval as columns of a row; nothing in them where there is nothing to have a share of."""
        found = (self.value, self.low, self.high) if self.total else (None, None, None)
        return dict(zip((name, f"{name} low", f"{name} high"), found, strict=True))


class Shares:
    """Shares among pairs whose components are known."""

    def __init__(self, component: NDArray[np.int64], *, level: float = 0.95) -> None:
        self.component = np.unique(component, return_inverse=True)[1].astype(np.int64)
        """Of each pair, numbered from 0 on."""
        self._level = level

    def of(self, hits: NDArray[np.bool_], among: NDArray[np.bool_]) -> Share:
        """The share of `hits` among these pairs; masks over all pairs."""
        sizes = np.bincount(self.component[among])
        found = np.bincount(self.component[hits & among], minlength=len(sizes))[sizes > 0]
        sizes = sizes[sizes > 0]
        total, count = int(sizes.sum()), int(found.sum())
        if not total:
            return Share(0, 0, 0.0, 1.0)
        share, worth = count / total, _worth(sizes, found)
        low, high = wilson(share * worth, worth, self._level)
        return Share(count, total, low, high)


def _worth(sizes: NDArray[np.int64], found: NDArray[np.int64]) -> float:
    """How many independent pairs give the same variance."""
    total, clusters = int(sizes.sum()), len(sizes)
    share = int(found.sum()) / total
    if share in (0.0, 1.0) or clusters == 1:
        return float(clusters)
    variance = clusters / (clusters - 1) * float(((found - share * sizes) ** 2).sum()) / total**2
    effect = variance * total / (share * (1.0 - share))
    return total / min(max(effect, 1.0), float(total))
