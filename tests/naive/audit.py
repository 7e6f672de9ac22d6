"""An audit from its definition: all pairs of texts, one after the other."""

from collections.abc import Callable
from math import sqrt
from statistics import NormalDist


def recall(
    texts: list[int],
    blind: set[int],
    kept: set[int],
    true: Callable[[int, int], bool],
    candidate: Callable[[int, int], bool],
    before: Callable[[int, int], bool],
) -> tuple[int, int, set[int]]:
    """True pairs (both ways), those of them that are candidates, and the kept texts that should have gone. Of
    blind ones nothing is asked."""
    pairs = found = 0
    stay = set()
    for i in texts:
        for j in texts:
            if i == j or i in blind or not true(i, j):
                continue
            pairs += 1
            found += candidate(i, j)
            if i in kept and j in kept and before(j, i):
                stay.add(i)
    return pairs, found, stay


def allocate(sizes: list[int], total: int, least: int) -> list[int]:
    """Every seat has a claim; the strongest claims are met."""
    total = min(total, sum(sizes))
    claims = []
    for h, size in enumerate(sizes):
        for seat in range(size):
            first = (0, seat, -size) if seat < least else (1, -sqrt(size) / (seat + 1), 0)
            claims.append((*first, h))
    met = sorted(claims)[:total]
    return [sum(claim[-1] == h for claim in met) for h in range(len(sizes))]


def stratified(successes: list[int], trials: list[int], sizes: list[int], confidence: float) -> tuple[float, ...]:
    """The share and the ends of its interval, stratum by stratum."""
    seen = [(x, n, size) for x, n, size in zip(successes, trials, sizes, strict=True) if n]
    total = sum(size for _, _, size in seen)
    share = middle = variance = 0.0
    for x, n, size in seen:
        weight, careful = size / total, (x + 1) / (n + 2)
        share += weight * x / n
        middle += weight * careful
        variance += weight**2 * careful * (1 - careful) / n * (1 - n / size)
    if variance == 0:
        return share, share, share
    worth = middle * (1 - middle) / variance
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    centre = (share + z * z / (2 * worth)) / (1 + z * z / worth)
    half = z * sqrt(share * (1 - share) / worth + z * z / (4 * worth * worth)) / (1 + z * z / worth)
    return share, min(share, centre - half), max(share, centre + half)
