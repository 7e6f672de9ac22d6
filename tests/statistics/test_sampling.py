"""Radinsky's theorem held against these permutations: both estimators are unbiased, with the variance of sampling.

min_m(A ∪ B) is a uniformly random m-subset of the union of size U, so the number of its shared elements is
hypergeometric: the estimate has variance r(1 - r)/m · (U - m)/(U - 1). A mod sample of the union has binomial(U, 1/n)
elements and, given their number u > 0, the same law with u for m. Tolerance: 4 standard errors, fixed seeds.
"""

from math import comb

import numpy as np
import pytest

from neardup.kernels import sampling as kernel
from tests import scored

TRIALS = 2000
CASES = [(30, 30), (120, 10), (5, 200), (300, 2), (0, 40)]


def documents(shared, alone, kind):
    """Consecutive numbers are the hardest input of a mixing function, fingerprints the usual one."""
    size = shared + 2 * alone
    universe = np.arange(size, dtype=np.uint64)
    if kind == "fingerprints":
        universe = np.random.default_rng(size).integers(0, 2**64 - 1, size, np.uint64)
    first = universe[: shared + alone]
    second = np.concatenate([universe[:shared], universe[shared + alone :]])
    return np.concatenate([first, second]), np.array([len(first), size + shared], np.int64)


def expected_inverse(size, n):
    """E[(size - u)/((size - 1) u) | u > 0] for u binomial(size, 1/n)."""
    p = 1 / n
    law = [comb(size, u) * p**u * (1 - p) ** (size - u) for u in range(size + 1)]
    return sum(law[u] * (size - u) / ((size - 1) * u) for u in range(1, size + 1)) / (1 - law[0])


@pytest.mark.parametrize("kind", ["consecutive", "fingerprints"])
@pytest.mark.parametrize(("shared", "alone"), CASES)
def test_bottom_resemblance_is_unbiased(shared, alone, kind):
    fingerprints, ends = documents(shared, alone, kind)
    size, m = shared + 2 * alone, 25
    r = shared / size
    out, counts = np.empty((2, m), np.uint64), np.empty(2, np.int64)
    estimates = np.empty(TRIALS)
    for seed in range(TRIALS):
        kernel.bottom(fingerprints, ends, m, seed, out, counts)
        estimates[seed] = scored.bottom_resemblance(out[0], out[1], m)
    variance = r * (1 - r) / m * (size - m) / (size - 1)
    assert abs(estimates.mean() - r) <= 4 * (variance / TRIALS) ** 0.5 + 1e-12
    if min(r, 1 - r) * m > 5:  # near enough to normal: a variance from T samples is off by sqrt(2/T), relatively
        assert abs(estimates.var() / variance - 1) <= 4 * (2 / TRIALS) ** 0.5


@pytest.mark.parametrize("n", [4, 7])
@pytest.mark.parametrize("kind", ["consecutive", "fingerprints"])
@pytest.mark.parametrize(("shared", "alone"), CASES)
def test_mod_estimates_are_unbiased(shared, alone, kind, n):
    fingerprints, ends = documents(shared, alone, kind)
    size, own = shared + 2 * alone, shared + alone
    ends_out, out = np.empty(2, np.int64), np.empty(len(fingerprints), np.uint64)
    resemblances, containments, sampled = [], [], 0
    for seed in range(TRIALS):
        total = kernel.mod(fingerprints, ends, n, seed, ends_out, out)
        a, b = out[: ends_out[0]], out[ends_out[0] : total]
        sampled += len(a)
        if total:
            resemblances.append(scored.mod_resemblance(a, b))
        if len(a):
            containments.append(scored.mod_containment(a, b))
    assert abs(sampled / (own * TRIALS) - 1 / n) <= 4 * ((1 / n) * (1 - 1 / n) / (own * TRIALS)) ** 0.5
    for estimates, true, union in ((resemblances, shared / size, size), (containments, shared / own, own)):
        error = (true * (1 - true) * expected_inverse(union, n) / len(estimates)) ** 0.5
        assert abs(np.mean(estimates) - true) <= 4 * error + 1e-12
