"""Both ends of the binomial distribution, each to its own last digits.

A filter's promise is told by the small side: that one pair in 5,000 is missed at 0.99, that one in 17 million passes
at 0.5. `1 - tail` has no digits left for that, so either side is a sum of positive terms of its own.
"""

from math import comb, exp, log


def tail(trials: int, at_least: int, chance: float, miss: float | None = None) -> float:
    """P[X ≥ at_least]. `miss` is 1 - chance, for callers who know it to more digits than the difference has."""
    miss = 1.0 - chance if miss is None else miss
    below = head(trials, at_least, chance, miss)
    if below <= 0.5:
        return 1.0 - below
    total = 0.0
    for i in range(at_least, trials + 1):
        term = _term(trials, i, chance, miss)
        total += term
        if i > trials * chance and term <= total * 1e-18:
            break
    return total


def head(trials: int, below: int, chance: float, miss: float | None = None) -> float:
    """P[X < below]."""
    miss = 1.0 - chance if miss is None else miss
    return min(1.0, sum(_term(trials, i, chance, miss) for i in range(min(below, trials + 1))))


def _term(trials: int, i: int, chance: float, miss: float) -> float:
    ways = comb(trials, i)
    if ways < 2**53 or chance == 0.0 or miss == 0.0:
        return float(chance**i * miss ** (trials - i) * min(ways, 2**53))
    return exp(log(ways) + i * log(chance) + (trials - i) * log(miss))
