"""The exponent of a degree distribution, in two ways, each with its error.

slope     the least-squares line through the points (log degree, log number of pages), as the papers' log-log plots are
          read. Every point counts alike, so the many high degrees that one page has pull the line flat: the slope is
          biased and its error too small (Clauset, Shalizi, Newman 2009, appendix A).
exponent  the discrete maximum-likelihood exponent after Clauset, Shalizi, Newman ("Power-law distributions in empirical
          data", section 3): p(x) = x^-a / zeta(a, xmin) for x ≥ xmin, where xmin has the least Kolmogorov-Smirnov
          distance between data and fit. The error is that of the likelihood's curvature, given xmin. Unlike theirs,
          the tail holds a tenth of the values: else the steep end of a distribution with a bound is the best fit.

A power law is written with a negative slope and a positive exponent; for a perfect one, slope = -exponent.
"""

from math import log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_LOWEST, _HIGHEST = 1.0 + 1e-6, 30.0
"""Between these the exponent is looked for: zeta(a) needs a > 1, and at 30 all values are xmin."""

_TAIL, _TENTH = 30, 0.1
"""Values from xmin on, at least, and their share of all: with fewer, the best fit is the one to almost nothing."""

_MOST_STARTS = 100
"""Candidates for xmin, spread evenly in log scale where there are more distinct values."""


class Slope(NamedTuple):
    """log y = intercept + slope · log x, natural logarithms."""

    slope: float
    error: float
    intercept: float


class Exponent(NamedTuple):
    """Of the tail from `xmin` on, where `tail` values are; `distance` is the Kolmogorov-Smirnov distance there."""

    exponent: float
    error: float
    xmin: int
    tail: int
    distance: float


def slope(values: NDArray[np.int64], counts: NDArray[np.int64]) -> Slope | None:
    """The line through the points of a log-log plot; None where there are fewer than three."""
    if len(values) < 3:
        return None
    x, y = np.log(values.astype(np.float64)), np.log(counts.astype(np.float64))
    x_mean, y_mean = x.mean(), y.mean()
    spread = float(((x - x_mean) ** 2).sum())
    rise = float(((x - x_mean) * (y - y_mean)).sum()) / spread
    start = float(y_mean - rise * x_mean)
    left = float(((y - start - rise * x) ** 2).sum())
    return Slope(rise, (left / (len(x) - 2) / spread) ** 0.5, start)


def exponent(values: NDArray[np.int64], counts: NDArray[np.int64], *, xmin: int | None = None) -> Exponent | None:
    """The maximum-likelihood exponent of distinct `values` (ascending, from 1 on) that occur `counts` times.

    None where no tail has 30 values and two distinct ones.
    """
    at_least = np.cumsum(counts[::-1])[::-1]
    enough = max(_TAIL, _TENTH * int(counts.sum()))
    starts = np.flatnonzero((at_least >= enough) & (np.arange(len(values)) < len(values) - 1))
    if xmin is not None:
        starts = np.flatnonzero(values >= xmin)[:1]
        if not len(starts) or starts[0] >= len(values) - 1:
            return None
    elif len(starts) > _MOST_STARTS:
        even = np.geomspace(values[starts[0]], values[starts[-1]], _MOST_STARTS)
        starts = np.unique(starts[np.searchsorted(values[starts], even).clip(0, len(starts) - 1)])
    found = [
        _fitted(values[start:], counts[start:], xmin=int(values[start]) if xmin is None else xmin)
        for start in starts.tolist()
    ]
    return min(found, key=lambda fit: fit.distance, default=None)


def _fitted(values: NDArray[np.int64], counts: NDArray[np.int64], *, xmin: int) -> Exponent:
    n = int(counts.sum())
    mean = float((np.log(values.astype(np.float64)) * counts).sum()) / n
    # The likelihood is concave in a: its slope -zeta'/zeta - mean falls, so halving finds where it is 0.
    low, high = _LOWEST, _HIGHEST
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _mean_log(middle, xmin) > mean else (low, middle)
    best = (low + high) / 2
    step = 1e-4 * best
    curvature = (_mean_log(best - step, xmin) - _mean_log(best + step, xmin)) / (2 * step)
    error = (n * curvature) ** -0.5 if curvature > 0 else float("nan")
    return Exponent(best, error, xmin, n, _distance(values, counts, best, xmin))


def _distance(values: NDArray[np.int64], counts: NDArray[np.int64], a: float, xmin: int) -> float:
    """The largest gap between the shares of values ≤ x in the data and in the law."""
    data = np.cumsum(counts) / counts.sum()
    law = 1.0 - hurwitz(a, values.astype(np.float64) + 1.0) / hurwitz(a, np.array([float(xmin)]))
    before = 1.0 - hurwitz(a, values.astype(np.float64)) / hurwitz(a, np.array([float(xmin)]))
    # Between two values the data's steps stay while the law's go on: both ends of a step count.
    return float(max(np.abs(data - law).max(), np.abs(np.concatenate([[0.0], data[:-1]]) - before).max()))


def _mean_log(a: float, xmin: int) -> float:
    """-zeta'(a, xmin) / zeta(a, xmin): the mean of log x under the law."""
    step = 1e-5 * (a - 1.0)
    at = np.array([float(xmin)])
    return -(log(hurwitz(a + step, at)[0]) - log(hurwitz(a - step, at)[0])) / (2 * step)


def hurwitz(a: float, start: NDArray[np.float64]) -> NDArray[np.float64]:
    """zeta(a, start): the sum of (start + i)^-a over all i ≥ 0, for a > 1, by Euler and Maclaurin after ten terms."""
    x = np.asarray(start, np.float64)
    total = np.zeros_like(x)
    for _ in range(10):
        total += x**-a
        x = x + 1.0
    total += x ** (1.0 - a) / (a - 1.0) + x**-a / 2
    # The Bernoulli numbers over (2j)!: 1/12, -1/720, 1/30240.
    total += a * x ** (-a - 1) / 12
    total -= a * (a + 1) * (a + 2) * x ** (-a - 3) / 720
    total += a * (a + 1) * (a + 2) * (a + 3) * (a + 4) * x ** (-a - 5) / 30240
    return total
