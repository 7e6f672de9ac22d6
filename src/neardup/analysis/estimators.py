"""How far an estimate from sketches may be off: standard errors and intervals.

wilson            an interval for a share that was counted
minhash_error     t independent permutations (Broder, section 2): binomial
sampled_estimate  the same from b bits of each minimum, with the accidental agreements taken off
sampled_error     and its error
odd_error         an odd sketch of minima in bins (Mitzenmacher, Pagh and Pham; Li, Owen and Zhang)
bottom_error      the m smallest of one permutation (Radinsky, option 1): drawn without replacement
mod_error         the images that are 0 mod n (Radinsky, option 2): a sample of random size
simhash_bits      agreeing bits of two projections at an angle: expectation and standard deviation
simhash_cosine    the cosine from the bits that agree, with its interval

Proven for random permutations and projections; that ours behave like them is measured in tests/statistics.
"""

from collections.abc import Iterator
from math import acos, cos, exp, inf, lgamma, log, log1p, pi, sqrt
from statistics import NormalDist

from neardup.errors import RecipeError


def wilson(successes: float, trials: float, *, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's interval for a probability of which `successes` of `trials` were seen; right at 0 and 1 too."""
    if not (trials > 0 and 0 <= successes <= trials):
        raise RecipeError(f"{successes} of {trials}: count at least one trial, and no more successes than trials.")
    if not 0.0 < confidence < 1.0:
        raise RecipeError(f"confidence = {confidence}: it lies between 0 and 1, both excluded; 0.95 is usual.")
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share = successes / trials
    centre = share + z * z / (2 * trials)
    half = z * sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    low = 0.0 if successes == 0 else max(0.0, (centre - half) / scale)
    high = 1.0 if successes == trials else min(1.0, (centre + half) / scale)
    return low, high


def minhash_error(resemblance: float, permutations: int) -> float:
    """sqrt(ρ(1-ρ)/t): every permutation agrees with probability ρ, independently (Broder, equation 1)."""
    _check_share("resemblance", resemblance)
    _check_count("permutations", permutations)
    return sqrt(resemblance * (1 - resemblance) / permutations)


def sampled_estimate(agreeing: int, permutations: int, *, bits: int = 8) -> float:
    """ρ from minima of which b bits are kept.

    Different minima agree in b bits with probability 2^-b, so the share c that agrees is ρ + (1-ρ)·2^-b, and
    ρ = (c - 2^-b) / (1 - 2^-b). Not cut off at 0: cut off, it would be biased.
    """
    _check_count("permutations", permutations)
    _check_count("bits", bits)
    chance = 2.0**-bits
    return (agreeing / permutations - chance) / (1 - chance)


def sampled_error(resemblance: float, permutations: int, *, bits: int = 8) -> float:
    """sqrt(c(1-c)/t) / (1 - 2^-b), with c the share of samples that agree: a little above that of whole minima."""
    _check_share("resemblance", resemblance)
    _check_count("permutations", permutations)
    _check_count("bits", bits)
    chance = 2.0**-bits
    agree = resemblance + (1 - resemblance) * chance
    return sqrt(agree * (1 - agree) / permutations) / (1 - chance)


def odd_error(resemblance: float, bits: int, bins: int, shingles: float = inf) -> float:
    """The standard error of an odd sketch of the minima in bins, for two documents of so many shingles each.

    Of U bins that are not empty in both documents ρ·U minima agree, and the others flip d of the n bits. The share of
    bits that differ is (1 - e^(-2d/n))/2, and d from it has variance n(e^x - 1 - x)/4 with x = 4d/n (Mitzenmacher,
    Pagh and Pham, section 3.2, with fixed d). The minima themselves are drawn from the union without replacement:
    ρ(1-ρ)(1/U - 1/u), u the size of the union times the number of throws. U is not counted but expected; ρ(1-ρ)/bins
    for the share of bins that are empty is more than what that adds (simulated in tests/statistics).
    """
    _check_share("resemblance", resemblance)
    _check_count("bits", bits)
    _check_count("bins", bins)
    empty = log(1e-9) if shingles == inf else max(log(1e-9), -4 * 2 * shingles / bins)
    filled = 2 * bins * (1 - exp(empty / 2))
    return sqrt(_odd_variance(resemblance, bits, bins, empty, filled))


def _odd_variance(resemblance: float, bits: int, bins: int, empty: float, filled: float) -> float:
    """empty: the logarithm of the product of both documents' shares of empty bins; filled: the sum of the others."""
    rest = exp(empty / (1 + resemblance))
    union = bins * (1 - rest)
    x = 4 * max(0.0, filled - 2 * resemblance * union) / bits
    slope = union + resemblance * bins * rest * empty / (1 + resemblance) ** 2
    drawn = max(0.0, 1 / union - (1 + resemblance) / (-empty * bins)) + rest / bins
    return bits * (exp(x) - 1 - x) / 16 / slope**2 + resemblance * (1 - resemblance) * drawn


def bottom_error(resemblance: float, m: int, union: int | None = None) -> float:
    """sqrt(ρ(1-ρ)/m · (u-m)/(u-1)) for u = |A ∪ B|: the m smallest are m drawn without replacement (hypergeometric).

    Without `union` the bound sqrt(ρ(1-ρ)/m), which holds for every u. With m ≥ u the sketch is the whole set, and
    the estimate is exact.
    """
    _check_share("resemblance", resemblance)
    _check_count("m", m)
    bound = sqrt(resemblance * (1 - resemblance) / m)
    if union is None:
        return bound
    _check_count("union", union)
    return 0.0 if m >= union else bound * sqrt((union - m) / (union - 1))


def mod_error(resemblance: float, union: int, n: int) -> float:
    """The standard error of the sample of the images that are 0 mod n, given that there is one at all.

    The sample size N is binomial(u, 1/n), u/n on average. Given N, the sample is drawn without replacement; so the
    variance is ρ(1-ρ) · E[(u-N) / (N(u-1)) | N ≥ 1], near ρ(1-ρ)·n/u for large samples.
    """
    _check_share("resemblance", resemblance)
    _check_count("union", union)
    _check_count("n", n)
    if n == 1 or union == 1:
        return 0.0
    weight = spread = 0.0
    for size, chance in _sizes(union, n):
        weight += chance
        spread += chance * (union - size) / (size * (union - 1))
    return sqrt(resemblance * (1 - resemblance) * spread / weight)


def _sizes(union: int, n: int) -> Iterator[tuple[int, float]]:
    """Sample sizes from 1 on and their chances, as far as they count: 12 standard deviations around the mean."""
    mean = union / n
    far = 12 * sqrt(mean) + 30
    for size in range(max(1, int(mean - far)), min(union, int(mean + far)) + 1):
        ways = lgamma(union + 1) - lgamma(size + 1) - lgamma(union - size + 1)
        yield size, exp(ways - size * log(n) + (union - size) * log1p(-1 / n))


def mod_empty(union: int, n: int) -> float:
    """(1 - 1/n)^u: that a sample is empty and nothing can be said; short documents suffer from it."""
    _check_count("union", union)
    _check_count("n", n)
    return float((1 - 1 / n) ** union)


def simhash_bits(cosine: float, bits: int) -> tuple[float, float]:
    """How many of b bits agree, and its standard deviation: each does with probability 1 - θ/π, θ the angle."""
    if not -1.0 <= cosine <= 1.0:
        raise RecipeError(f"cosine = {cosine}: it lies from -1 to 1.")
    _check_count("bits", bits)
    agree = 1 - acos(cosine) / pi
    return bits * agree, sqrt(bits * agree * (1 - agree))


def simhash_cosine(agreeing: int, bits: int, *, confidence: float = 0.95) -> tuple[float, float, float]:
    """cos(π(1 - a/b)) from a agreeing bits of b, and the ends of its interval (Wilson's, carried over)."""
    low, high = wilson(agreeing, bits, confidence=confidence)
    return cos(pi * (1 - agreeing / bits)), cos(pi * (1 - low)), cos(pi * (1 - high))


def _check_share(name: str, value: float) -> None:
    if not 0.0 <= value <= 1.0:
        raise RecipeError(f"{name} = {value}: it lies from 0 to 1.")


def _check_count(name: str, value: int) -> None:
    if value < 1:
        raise RecipeError(f"{name} = {value}: at least 1 is needed.")
