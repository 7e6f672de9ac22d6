"""How often an estimate calls a document similar that is not: per document, not per pair.

A document that is compared with many others is lost if one of all their estimates is too high. So a filter that errs
in a thousandth of the pairs loses most pages of a template. The more others an estimate won against, the surer it must
be.

deviations    standard errors that are asked for, given how many others there are
bar           the least estimate of two similar documents
dropped       the share of documents that are called similar although they resemble every other by less
"""

from collections.abc import Callable
from math import expm1, log1p
from statistics import NormalDist

MARGIN = 0.05
"""How far below the threshold a resemblance lies that must not be taken for one above it, however often it is tried."""

Error = Callable[[float], float]
"""Resemblance → the standard error of its estimate."""


def deviations(drops: float, keys: int, others: int) -> float:
    """Return z with keys · others · P(N(0, 1) > z) = drops (Bonferroni's inequality).

    Args:
        drops: The share of documents that may be called similar wrongly.
        keys: Keys of a document, each of which leads to others.
        others: Documents under the key that a candidate was found by.
    """
    return -NormalDist().inv_cdf(drops / (keys * others))


def bar(threshold: float, error: Error, drops: float, keys: int, others: int) -> float:
    """Return the least estimate of a similar pair; the threshold, where `drops` is 0."""
    below = threshold - MARGIN
    return max(threshold, below + deviations(drops, keys, others) * error(below)) if drops else threshold


def dropped(resemblance: float, threshold: float, error: Error, drops: float, keys: int, others: int) -> float:
    """Return the share of documents that are called similar, if all others resemble them by `resemblance`.

    It is taken that all keys lead to others, as many each, and to different ones: an upper bound.
    """
    high = 1 - NormalDist().cdf((bar(threshold, error, drops, keys, others) - resemblance) / error(resemblance))
    return 1.0 if high >= 1.0 else -expm1(keys * others * log1p(-high))
