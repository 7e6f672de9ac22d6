"""The r-of-k filter of Broder, "Identifying and Filtering Near-Duplicate Documents", sections 3 and 4.

A sketch of k·s minima is cut into k groups of s, and each group becomes a feature. Two documents of resemblance ρ
agree in a group with probability ρ^s, and in at least r of the k groups with probability P[k,s,r](ρ). Most tools
call k bands and s rows, with r = 1.

Filter           k, s and r: the curve and all that follows from it
choose           the parameters for what a user asks: a threshold, a recall, and what must not pass
choose_filter    the same with r = 1, as `dedup` uses it
largest_s        the sharpest filter of so many features
steepest_s       section 4: the s for which x^s is steepest at a resemblance
collision_bound  section 3: features that are equal by collision, and pairs of documents that share them
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import ceil, comb, exp, expm1, isfinite, lgamma, log, log1p, log2

import numpy as np

from neardup.analysis import binomial
from neardup.errors import RecipeError

PERMUTATIONS = 144
"""The largest sketch that is chosen unless the user allows more."""

LONGEST = 4096
"""The longest sketch that is looked at to say how much more a wish would cost."""

_PANELS = 40
_GAUSS: list[tuple[float, float]] = list(
    zip(*(values.tolist() for values in np.polynomial.legendre.leggauss(10)), strict=True)
)
"""Points and weights of Gauss's rule on [-1, 1]."""


def probability(resemblance: float, k: int, s: int, r: int = 1) -> float:
    """P[k,s,r](ρ): the chance that two documents of this resemblance share r or more of k features."""
    agree, differ = _group(resemblance, s)
    if r > 1:
        return binomial.tail(k, r, agree, differ)
    missed = differ**k
    return 1.0 - missed if missed <= 0.5 else -expm1(k * log1p(-agree))


def missed(resemblance: float, k: int, s: int, r: int = 1) -> float:
    """1 - P[k,s,r](ρ), to its own last digits: near ρ = 1 the difference from 1 would have none."""
    agree, differ = _group(resemblance, s)
    return binomial.head(k, r, agree, differ)


def _group(resemblance: float, s: int) -> tuple[float, float]:
    """ρ^s and 1 - ρ^s: that a group of s minima agrees, and that it does not."""
    if resemblance <= 0.0:
        return 0.0, 1.0
    return resemblance**s, -expm1(s * log(resemblance))


def area(k: int, s: int, below: float, r: int = 1) -> float:
    """∫ P dρ from 0 to `below`: what the filter lets through that it should not, for uniform resemblances.

    Below e^(-41/s) a group agrees with probability 10^-18 at the most, so the integral begins there. The curve bends
    over a width of about 1/s; that gets a panel of Gauss's rule with ten points, however large s is.
    """
    start = min(below, exp(-41.0 / s))
    half = (below - start) / (2 * _PANELS)
    middles = (start + (2 * i + 1) * half for i in range(_PANELS))
    return half * sum(w * probability(m + half * x, k, s, r) for m in middles for x, w in _GAUSS)


@dataclass(frozen=True)
class Collisions:
    """What fingerprints of `bits` bits do by accident, in a collection of documents that have nothing in common."""

    bits: int
    pair: float
    """The probability that two given documents share r features."""
    pairs: float
    """The expected number of such pairs in the collection."""
    bits_by_rule: int
    """2·log2(m) + 20, the length that section 2 proposes for m documents; with it one pair in two million collections
    shares a given feature."""


def collision_bound(documents: float, *, bits: int = 64, features: int = 1, r: int = 1) -> Collisions:
    """Two features are equal with probability ρ^s + p_f (section 3); here ρ = 0 and p_f = 2^-bits."""
    if not (isfinite(documents) and documents >= 1):
        raise RecipeError(f"documents = {documents}: a collection has at least 1; 200e6 is the paper's.")
    if not 1 <= bits <= 1024 or not 1 <= r <= features:
        raise RecipeError(f"bits = {bits}, r = {r} of {features} features: bits is 1 to 1024, r is 1 to {features}.")
    pair = binomial.tail(features, r, 2.0**-bits)
    return Collisions(bits, pair, documents * (documents - 1) / 2 * pair, ceil(2 * log2(documents) + 20))


def steepest_s(resemblance: float) -> float:
    """1 / ln(1/ρ): the s for which the slope of x^s at this resemblance is largest (section 4, equation 3)."""
    if not 0.0 < resemblance < 1.0:
        raise RecipeError(f"resemblance = {resemblance}: the slope is largest for an s only between 0 and 1.")
    return 1.0 / log(1.0 / resemblance)


@dataclass(frozen=True)
class Filter:
    """k groups of s minima; a pair that agrees in r groups is a candidate."""

    k: int
    s: int
    r: int = 1

    def __post_init__(self) -> None:
        if self.k < 1 or self.s < 1:
            raise RecipeError(f"k = {self.k}, s = {self.s}: both are at least 1; k = 20, s = 7 is the default.")
        if not 1 <= self.r <= self.k:
            raise RecipeError(f"r = {self.r} of k = {self.k} features: r is 1 to {self.k}; the paper uses 1 or 2.")

    @property
    def permutations(self) -> int:
        """Length of the sketch."""
        return self.k * self.s

    @property
    def super_features(self) -> int:
        """C(k, r): with every r features joined to one, sharing one of them is enough (section 3)."""
        return comb(self.k, self.r)

    def bytes_per_document(self, *, bits: int = 64, joined: bool = False) -> int:
        """Of the k features, or of the super-features when they are `joined`."""
        return ceil((self.super_features if joined else self.k) * bits / 8)

    def probability(self, resemblance: float) -> float:
        """That a pair of this resemblance becomes a candidate."""
        return probability(resemblance, self.k, self.s, self.r)

    def missed(self, resemblance: float) -> float:
        """That it does not, to its own last digits."""
        return missed(resemblance, self.k, self.s, self.r)

    def curve(self, points: int = 101) -> list[tuple[float, float]]:
        """(resemblance, probability), from 0 to 1."""
        return [(i / (points - 1), self.probability(i / (points - 1))) for i in range(points)]

    def area(self, below: float) -> float:
        """∫ P dρ from 0 to `below`."""
        return area(self.k, self.s, below, self.r)

    @property
    def half_point(self) -> float:
        """The resemblance with P = 1/2: as a threshold it has the least total error (section 4)."""
        low, high = 0.0, 1.0
        while high - low > 1e-15:
            middle = (low + high) / 2
            if middle in (low, high):
                break
            low, high = (middle, high) if self.probability(middle) < 0.5 else (low, middle)
        return (low + high) / 2

    @property
    def steepest(self) -> float:
        """The resemblance for which this s makes x^s steepest: exp(-1/s), the inverse of `steepest_s`."""
        return exp(-1.0 / self.s)

    def total_error(self, threshold: float) -> float:
        """What passes below the threshold and what is missed above it, for uniform resemblances (section 4).

        ∫₀ᵗ P + ∫ₜ¹ (1 - P) = 2 ∫₀ᵗ P + (1 - t) - ∫₀¹ P.
        """
        return 2 * self.area(threshold) + (1.0 - threshold) - self.area(1.0)

    def collision_bound(self, documents: float, *, bits: int = 64) -> Collisions:
        """Pairs that share r features by collision alone, in a collection of this many documents."""
        return collision_bound(documents, bits=bits, features=self.k, r=self.r)


def groups_needed(threshold: float, recall: float, s: int, r: int = 1) -> int:
    """The least k with P[k,s,r](threshold) ≥ recall. It never falls as s grows."""
    agree = threshold**s
    if agree == 1.0:
        return r
    if r == 1:
        k = max(1, int(log(1.0 - recall) / log1p(-agree)))
        while probability(threshold, k, s) < recall:
            k += 1
        return k
    low, high = r - 1, 2 * r
    while probability(threshold, high, s, r) < recall:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if probability(threshold, middle, s, r) < recall else (low, middle)
    return high


def largest_s(threshold: float, recall: float, k: int, permutations: int = PERMUTATIONS, *, r: int = 1) -> int:
    """The largest s with P[k,s,r](threshold) ≥ recall and k·s within the permutations. P never grows with s."""
    _check_wish(threshold, recall, permutations, [r], None, None)
    if k > permutations:
        raise RecipeError(f"k = {k} features > permutations = {permutations}; each takes one at least, so allow {k}.")
    if probability(threshold, k, 1, r) < recall:
        raise RecipeError(
            f"recall {recall:g} at threshold {threshold:g} needs at least {groups_needed(threshold, recall, 1, r)} "
            f"features, and there are k = {k}; raise the threshold, or take a recipe with more features."
        )
    s = 1
    while k * (s + 1) <= permutations and probability(threshold, k, s + 1, r) >= recall:
        s += 1
    return s


def choose_filter(threshold: float, recall: float, permutations: int = PERMUTATIONS) -> Filter:
    """The sharpest filter of at most that many permutations which finds pairs at the threshold with this recall.

    Sharpest: the least area under P below the threshold. A larger s is sharper and needs more groups.
    """
    return choose(threshold, recall, permutations=permutations, r=(1,))


def choose(
    threshold: float,
    recall: float,
    *,
    permutations: int = PERMUTATIONS,
    r: Iterable[int] = (1, 2, 3),
    reject: tuple[float, float] | None = None,
    bytes: int | None = None,
) -> Filter:
    """The cheapest filter for what is asked.

    A pair at the threshold is found with probability `recall` or more. With `reject` = (resemblance, probability), a
    pair of that lower resemblance passes with that probability at most; of the filters that do both, the one with the
    fewest permutations is taken, then the fewest bytes. Without `reject` the cheapest filter would let almost all
    pairs pass, so all permutations that are allowed may be spent: the sharpest filter is taken (least area under P
    below the threshold). `bytes` bounds the features of a document, 8 bytes each.
    """
    wanted = sorted(set(r))
    _check_wish(threshold, recall, permutations, wanted, reject, bytes)
    fitting = [f for r in wanted for f in _candidates(threshold, recall, r, permutations, bytes)]
    if not fitting:
        raise _no_recall(threshold, recall, permutations, wanted, bytes)
    if reject is None:
        return min(fitting, key=lambda f: (f.area(threshold), f.permutations, f.k))
    good = [f for f in fitting if f.probability(reject[0]) <= reject[1]]
    if not good:
        raise _no_reject(threshold, recall, permutations, wanted, reject, bytes, fitting)
    return min(good, key=lambda f: (f.permutations, f.bytes_per_document(), f.r))


def _candidates(threshold: float, recall: float, r: int, permutations: int, bytes: int | None) -> Iterator[Filter]:
    """For every s the least k that gives the recall; k·s and k grow with s, so the first that is too long ends it."""
    for s in range(1, permutations // r + 1):
        if threshold**s < 1e-9:
            return
        k = groups_needed(threshold, recall, s, r)
        if k * s > permutations or (bytes is not None and 8 * k > bytes):
            return
        yield Filter(k, s, r)


def _check_wish(
    threshold: float,
    recall: float,
    permutations: int,
    wanted: list[int],
    reject: tuple[float, float] | None,
    bytes: int | None,
) -> None:
    if not (isfinite(threshold) and 0.0 < threshold <= 1.0):
        raise RecipeError(f"threshold = {threshold}: a resemblance lies above 0 and is at most 1; 0.8 is usual.")
    if not (isfinite(recall) and 0.0 < recall < 1.0):
        raise RecipeError(f"recall = {recall}: it lies between 0 and 1, both excluded; 0.99 is the default.")
    if permutations < 1:
        raise RecipeError(f"permutations = {permutations}: at least 1 is needed.")
    if not wanted or wanted[0] < 1:
        raise RecipeError(f"r = {wanted}: a pair shares at least 1 feature; choose 1, 2 or 3.")
    if bytes is not None and bytes < 8:
        raise RecipeError(f"bytes = {bytes}: a feature has 8; 48 bytes hold the paper's 6 features.")
    if reject is None:
        return
    resemblance, passing = reject
    if not 0.0 < resemblance < threshold:
        raise RecipeError(
            f"reject: resemblance {resemblance} must lie above 0 and below the threshold {threshold}, where pairs are "
            f"wanted; {threshold * 0.75:.2g} is a start."
        )
    if not 0.0 < passing < 1.0:
        raise RecipeError(f"reject: probability {passing} must lie between 0 and 1, both excluded; 0.01 is a start.")


def _no_recall(threshold: float, recall: float, permutations: int, wanted: list[int], bytes: int | None) -> RecipeError:
    r = wanted[0]
    k = groups_needed(threshold, recall, 1, r)
    if k > permutations:
        return RecipeError(
            f"recall {recall} at threshold {threshold} needs at least {k} permutations, and {permutations} are "
            f"allowed; allow {k} or more with --permutations, or ask for less recall."
        )
    return RecipeError(
        f"recall {recall} at threshold {threshold} needs at least {k} features, {8 * k} bytes a document, and {bytes} "
        f"bytes are allowed; allow {8 * k}, or ask for less recall."
    )


def _no_reject(
    threshold: float,
    recall: float,
    permutations: int,
    wanted: list[int],
    reject: tuple[float, float],
    bytes: int | None,
    fitting: list[Filter],
) -> RecipeError:
    """Says the nearest that can be had, and what the wish would cost."""
    resemblance, passing = reject
    nearest = min(fitting, key=lambda f: (f.probability(resemblance), f.permutations))
    room = f"{permutations} permutations" + (f" and {bytes} bytes" if bytes is not None else "")
    said = (
        f"no filter of at most {room} finds {recall:g} of the pairs at {threshold:g} and lets at most {passing:g} pass "
        f"at {resemblance:g}; the least that pass there are {nearest.probability(resemblance):.2g}, with "
        f"{_name(nearest)}."
    )
    all_lengths = (f for r in wanted for f in _candidates(threshold, recall, r, LONGEST, None))
    longer = [f for f in all_lengths if f.probability(resemblance) <= passing]
    if not longer:
        return RecipeError(f"{said} {LONGEST} permutations would not do either; move the two resemblances apart.")
    cheapest = min(longer, key=lambda f: (f.permutations, f.k, f.r))
    more = f"allow --permutations {cheapest.permutations}" if cheapest.permutations > permutations else "allow"
    if bytes is not None and 8 * cheapest.k > bytes:
        more += f" {'and ' if cheapest.permutations > permutations else ''}--bytes {8 * cheapest.k}"
    return RecipeError(f"{said} {_name(cheapest)} would do: {more}, or ask for less.")


def _name(f: Filter) -> str:
    return f"k = {f.k}, s = {f.s}, r = {f.r} ({f.permutations} permutations)"


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
