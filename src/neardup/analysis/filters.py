"""The r-of-k filter of Broder, "Identifying and Filtering Near-Duplicate Documents", sections 3 and 4.

A sketch of k·s minima is cut into k groups of s. Two documents of resemblance ρ agree in a group with probability
ρ^s, and in at least r of the k groups with probability P[k,s,r](ρ). Most tools call k bands and s rows, with r = 1.
"""

from dataclasses import dataclass
from math import comb, exp, isfinite, lgamma, log, log1p

from neardup.errors import RecipeError

PERMUTATIONS = 144
"""The largest sketch that is chosen unless the user allows more."""


def probability(resemblance: float, k: int, s: int, r: int = 1) -> float:
    """P[k,s,r](ρ): the chance that two documents of this resemblance share r or more of k features."""
    agree = resemblance**s
    if r == 1:
        return 1.0 - (1.0 - agree) ** k
    return sum(comb(k, i) * agree**i * (1.0 - agree) ** (k - i) for i in range(r, k + 1))


def area(k: int, s: int, below: float, steps: int = 200) -> float:
    """∫ P dρ from 0 to `below`: what the filter lets through that it should not, for uniform resemblances.

    Simpson's rule; the polynomial is smooth, so 200 steps are good for many digits.
    """
    h = below / steps
    inner = sum((4 if i % 2 else 2) * probability(i * h, k, s) for i in range(1, steps))
    return (probability(0.0, k, s) + inner + probability(below, k, s)) * h / 3


@dataclass(frozen=True)
class Filter:
    """k groups of s minima; a pair that agrees in one group is a candidate."""

    k: int
    s: int

    @property
    def permutations(self) -> int:
        """Length of the sketch."""
        return self.k * self.s

    def probability(self, resemblance: float) -> float:
        """That a pair of this resemblance becomes a candidate."""
        return probability(resemblance, self.k, self.s)

    def curve(self, points: int = 101) -> list[tuple[float, float]]:
        """(resemblance, probability), from 0 to 1."""
        return [(i / (points - 1), self.probability(i / (points - 1))) for i in range(points)]


def groups_needed(threshold: float, recall: float, s: int) -> int:
    """The least k with P[k,s,1](threshold) ≥ recall."""
    agree = threshold**s
    if agree == 1.0:
        return 1
    k = max(1, int(log(1.0 - recall) / log1p(-agree)))
    while probability(threshold, k, s) < recall:
        k += 1
    return k


def choose_filter(threshold: float, recall: float, permutations: int = PERMUTATIONS) -> Filter:
    """The sharpest filter of at most that many permutations which finds pairs at the threshold with this recall.

    Sharpest: the least area under P below the threshold. A larger s is sharper and needs more groups.
    """
    if not (isfinite(threshold) and 0.0 < threshold <= 1.0):
        raise RecipeError(f"threshold = {threshold}: a resemblance lies above 0 and is at most 1; 0.8 is usual.")
    if not (isfinite(recall) and 0.0 < recall < 1.0):
        raise RecipeError(f"recall = {recall}: it lies between 0 and 1, both excluded; 0.99 is the default.")
    if permutations < 1:
        raise RecipeError(f"permutations = {permutations}: at least 1 is needed.")
    fitting = []
    for s in range(1, permutations + 1):
        if threshold**s < 1e-9:
            break
        k = groups_needed(threshold, recall, s)
        if k * s <= permutations:
            fitting.append(Filter(k, s))
    if not fitting:
        k = groups_needed(threshold, recall, 1)
        raise RecipeError(
            f"recall {recall} at threshold {threshold} needs at least {k} permutations, and {permutations} are "
            f"allowed; allow {k} or more with --permutations, or ask for less recall."
        )
    return min(fitting, key=lambda f: (area(f.k, f.s, threshold), f.permutations))


def least_agreement(threshold: float, permutations: int, miss: float = 1e-4) -> int:
    """The largest c such that a pair at the threshold agrees in fewer than c places with probability at most `miss`.

    Agreements are binomial (Broder, equation 1). Candidates with fewer are not worth an exact measurement.
    """
    if threshold == 1.0:
        return permutations
    cumulative = 0.0
    for c in range(permutations + 1):
        ways = lgamma(permutations + 1) - lgamma(c + 1) - lgamma(permutations - c + 1)
        cumulative += exp(ways + c * log(threshold) + (permutations - c) * log1p(-threshold))
        if cumulative > miss:
            return c
    return permutations
