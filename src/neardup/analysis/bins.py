"""One permutation hashing with no bin left empty (`sketches.bins`): how well it estimates, and what its features find.

Of the u shingles that two documents have together, `shared` are in both. Each of t bins has one of the u: the least of
those that fall into it, or where none does, the least under a permutation of the bin's own. The documents agree in a
bin just where its shingle is one of the shared. N bins are filled. By symmetry their shingles are N of u drawn without
replacement, and those of the others are drawn independently; so

    P[bin agrees] = shared / u = ρ                                                     for every u and t
    Var[share that agrees] = ρ(1-ρ)/t · (1 - E[N(N-1)] / (t(u-1)))                     never above ρ(1-ρ)/t
    E[N(N-1)] = t(t-1) (1 - 2(1 - 1/t)^u + (1 - 2/t)^u)

error       the square root of that variance, also where a few bits of each minimum are kept
agreements  the whole distribution of the number of bins that agree
found       the probability that r of k features agree, which P[k,s,r] is the limit of for very long documents

Proven for random hashes and permutations; that ours behave like them is measured in tests/statistics.
"""

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from neardup.analysis.estimators import minhash_error, sampled_error
from neardup.errors import RecipeError


def error(resemblance: float, bins: int, union: int | None = None, *, bits: int | None = None) -> float:
    """The standard error of the estimate from t bins for documents with `union` shingles together.

    Without `union` the bound that holds for every length: the error of as many permutations. With `bits` of each
    minimum, bins that differ agree by accident; the variance that this adds is the same as for permutations.
    """
    whole = minhash_error(resemblance, bins)
    most = whole if bits is None else sampled_error(resemblance, bins, bits=bits)
    if union is None:
        return most
    if union < 1:
        raise RecipeError(f"union = {union}: two documents have at least 1 shingle together.")
    return sqrt(max(0.0, most**2 - whole**2 * _saved(bins, union)))


def _saved(bins: int, union: int) -> float:
    """The share of the variance that drawing without replacement takes away: E[N(N-1)] / (t(u-1))."""
    if union == 1:
        return 0.0
    both_filled = 1 - 2 * (1 - 1 / bins) ** union + (1 - 2 / bins) ** union
    return float((bins - 1) * both_filled / (union - 1))


def agreements(shared: int, union: int, bins: int) -> NDArray[np.float64]:
    """answer[a] = the probability that just a of t bins agree."""
    if not 0 <= shared <= union or union < 1 or bins < 1:
        raise RecipeError(
            f"shared = {shared} of union = {union} shingles, bins = {bins}: union and bins are at least 1, and shared "
            "from 0 to union."
        )
    factorials = _log_factorials(union + bins)
    answer = np.zeros(bins + 1)
    for filled, chance in enumerate(_filled(union, bins)):
        if chance > 0.0:
            drawn = _without_replacement(shared, union, filled, factorials)
            answer += chance * np.convolve(drawn, _independent(shared / union, bins - filled, factorials))
    return answer


def found(shared: int, union: int, k: int, s: int, r: int = 1, *, bins: int = 0) -> float:
    """The probability that r or more of k groups of s bins agree; of so many bins, k·s where that is not said.

    All bins are alike, so given that x differ, which ones is drawn at random. Group after group, the number that falls
    into it is hypergeometric; nothing is subtracted, so nothing cancels.
    """
    bins = bins or k * s
    if not (k >= 1 and s >= 1 and k * s <= bins and 1 <= r <= k):
        raise RecipeError(
            f"r = {r} of k × s = {k} × {s} groups of {bins} bins: r is 1 to k, and k × s at most the bins."
        )
    factorials = _log_factorials(bins)
    # state[x, g]: x of the bins that are left differ, and g groups agreed so far, no more than r counted
    state = np.zeros((bins + 1, r + 1))
    state[:, 0] = agreements(shared, union, bins)[::-1]
    for group in range(k):
        left = bins - group * s
        following = np.zeros_like(state)
        for x in np.flatnonzero(state.any(axis=1)).tolist():
            falls = _without_replacement(x, left, s, factorials)
            following[x, 1:] += falls[0] * state[x, :-1]
            following[x, -1] += falls[0] * state[x, -1]
            for into in range(1, min(x, s) + 1):
                following[x - into] += falls[into] * state[x]
        state = following
    return float(min(1.0, state[:, -1].sum()))


def _filled(union: int, bins: int) -> NDArray[np.float64]:
    """answer[n] = the probability that u shingles fill just n of t bins: a chain, one shingle after the other."""
    answer = np.zeros(bins + 1)
    answer[0] = 1.0
    old = np.arange(bins + 1) / bins
    new = np.arange(bins, 0, -1) / bins
    for _ in range(union):
        moved = answer[:-1] * new
        answer *= old
        answer[1:] += moved
        if answer[:-1].sum() < 1e-18:
            break
    return answer


def _without_replacement(marked: int, of: int, drawn: int, factorials: NDArray[np.float64]) -> NDArray[np.float64]:
    """answer[i] = the probability that i of the drawn are marked (hypergeometric)."""
    i = np.arange(max(0, drawn - (of - marked)), min(drawn, marked) + 1)
    answer = np.zeros(drawn + 1)
    answer[i] = np.exp(
        _ways(marked, i, factorials)
        + _ways(of - marked, drawn - i, factorials)
        - _ways(of, np.array([drawn]), factorials)
    )
    return answer


def _independent(chance: float, trials: int, factorials: NDArray[np.float64]) -> NDArray[np.float64]:
    """answer[i] = the probability that i of the trials succeed (binomial)."""
    i = np.arange(trials + 1)
    answer: NDArray[np.float64] = np.exp(_ways(trials, i, factorials)) * chance**i * (1 - chance) ** (trials - i)
    return answer


def _ways(of: int, chosen: NDArray[np.int64], factorials: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithms of binomial coefficients."""
    answer: NDArray[np.float64] = factorials[of] - factorials[chosen] - factorials[of - chosen]
    return answer


def _log_factorials(most: int) -> NDArray[np.float64]:
    return np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, most + 1)))])
