"""Random projection behaves as the mathematics says, within the binomial error: 4 standard deviations at a fixed seed.

Where the worst of very many figures is held to a bound, the bound is wider, and says how often chance would exceed it.
"""

from math import acos, comb, pi, sqrt

import numpy as np
import pytest

from neardup.kernels import simhash

BITS = 384


def unpacked(signatures, bits):
    """A 0 or 1 per document and bit."""
    return np.unpackbits(signatures.view(np.uint8), axis=1, bitorder="little")[:, :bits]


def signatures(fingerprints, ends, bits, seed=1):
    out = np.zeros((len(ends), simhash.signature_words(bits)), np.uint64)
    simhash.project(fingerprints, np.asarray(ends, np.int64), bits, np.uint64(seed), out)
    return out


def differing(shared, counts, alone, trials, rng):
    """The fraction of differing bits of two documents, over fresh tokens and seeds, 4096 bits each time.

    They share `shared` distinct tokens, which occur counts[0] times in the first and counts[1] times in the second;
    alone[0] and alone[1] tokens occur once in one of them.
    """
    differ = 0
    for seed in range(trials):
        tokens = rng.integers(0, 2**64, shared + sum(alone), dtype=np.uint64)
        common, first, second = np.split(tokens, [shared, shared + alone[0]])
        a = np.concatenate([np.repeat(common, counts[0]), first])
        b = np.concatenate([np.repeat(common, counts[1]), second])
        made = signatures(np.concatenate([a, b]), [len(a), len(a) + len(b)], 4096, seed)
        agreed = np.zeros(1, np.int64)
        simhash.agreements(made, np.array([[0, 1]]), 4096, agreed)
        differ += 4096 - int(agreed[0])
    return differ / (4096 * trials)


@pytest.mark.parametrize(
    ("cosine", "shared", "counts", "alone"),
    [
        (0.0, 0, (1, 1), (1000, 1000)),
        (0.5, 500, (1, 1), (500, 500)),
        (0.9, 900, (1, 1), (100, 100)),
        (0.99, 9900, (1, 1), (100, 100)),
        (0.5, 1000, (2, 1), (4000, 1000)),
        (0.9, 810, (2, 1), (760, 0)),
        (0.99, 9801, (2, 1), (796, 0)),
    ],
)
def test_bits_differ_with_probability_angle_over_pi(cosine, shared, counts, alone):
    """204,800 bits: sigma is 0.0011, 0.0010, 0.0008 and 0.0005 for the four cosines. That ±1 values are not Gaussian
    makes less than 0.3 sigma of difference with this many tokens."""
    lengths = [counts[k] ** 2 * shared + alone[k] for k in (0, 1)]
    assert counts[0] * counts[1] * shared / sqrt(lengths[0] * lengths[1]) == pytest.approx(cosine, abs=1e-12)
    trials = 50
    p = acos(cosine) / pi
    measured = differing(shared, counts, alone, trials, np.random.default_rng(shared + alone[0]))
    assert abs(measured - p) <= 4 * sqrt(p * (1 - p) / (4096 * trials))


def exact(shared, counts, alone):
    """The probability that a bit differs, from all outcomes of ±1 (a sum of 0 gives 0)."""

    def positive(k, t):
        return sum(comb(k, c) for c in range(k + 1) if t + 2 * c - k > 0) / 2**k

    p = 0.0
    for c in range(shared + 1):
        s = 2 * c - shared
        a, b = positive(alone[0], counts[0] * s), positive(alone[1], counts[1] * s)
        p += comb(shared, c) / 2**shared * (a * (1 - b) + b * (1 - a))
    return p


@pytest.mark.parametrize(
    ("shared", "counts", "alone"),
    [(0, (1, 1), (1, 1)), (1, (2, 1), (1, 1)), (2, (1, 1), (1, 0)), (5, (1, 1), (2, 2)), (20, (3, 1), (10, 5))],
)
def test_short_documents_have_the_exact_probability(shared, counts, alone):
    """For few tokens angle / pi is not it, and ties count: "a b c" and "a b" differ in 1/4, and not in 0.196."""
    trials = 50
    p = exact(shared, counts, alone)
    measured = differing(shared, counts, alone, trials, np.random.default_rng(shared))
    assert abs(measured - p) <= 4 * sqrt(p * (1 - p) / (4096 * trials))


TOKENS = 20_000
KINDS_OF_FINGERPRINTS = {
    "random": lambda: np.random.default_rng(5).integers(0, 2**64, TOKENS, dtype=np.uint64),
    "0, 1, 2, ...": lambda: np.arange(TOKENS, dtype=np.uint64),
    "high bits only": lambda: np.arange(TOKENS, dtype=np.uint64) << np.uint64(48),
}


@pytest.fixture(scope="module", params=KINDS_OF_FINGERPRINTS)
def single_tokens(request):
    """The ±1 values of 20,000 tokens: documents of one token. Also fingerprints that are not mixed at all."""
    fingerprints = KINDS_OF_FINGERPRINTS[request.param]()
    made = signatures(fingerprints, np.arange(1, TOKENS + 1), BITS)
    return unpacked(made, BITS).astype(np.float64) * 2 - 1


def assert_standard_normal(z, worst):
    """All of these standard normals are within `worst`, and their squares add up to chi-squared's mean ± 4 sigma."""
    assert np.abs(z).max() <= worst
    assert abs((z**2).sum() - z.size) <= 4 * sqrt(2 * z.size)


def test_each_bit_is_balanced(single_tokens):
    """384 figures beyond 5 sigma: chance 2e-4."""
    assert_standard_normal(single_tokens.sum(axis=0) / sqrt(TOKENS), 5)


def test_each_token_is_balanced(single_tokens):
    """20,000 figures beyond 6 sigma: chance 4e-5. A sum of 384 signs has a kurtosis a little below the normal one."""
    assert_standard_normal(single_tokens.sum(axis=1) / sqrt(BITS), 6)


def test_bits_are_pairwise_uncorrelated(single_tokens):
    """73,536 pairs beyond 6 sigma: chance 1.5e-4."""
    correlation = single_tokens.T @ single_tokens / sqrt(TOKENS)
    assert_standard_normal(correlation[np.triu_indices(BITS, 1)], 6)


def test_tokens_are_pairwise_uncorrelated(single_tokens):
    """1,999,000 pairs of tokens beyond 6.5 sigma: chance 2e-4."""
    some = single_tokens[:2000]
    correlation = some @ some.T / sqrt(BITS)
    assert_standard_normal(correlation[np.triu_indices(2000, 1)], 6.5)


def test_bits_of_whole_documents_are_balanced_and_uncorrelated():
    """Documents of 51 tokens, an odd number: no sum is 0."""
    documents = 10_000
    fingerprints = np.random.default_rng(6).integers(0, 2**64, 51 * documents, dtype=np.uint64)
    made = unpacked(signatures(fingerprints, np.arange(1, documents + 1) * 51, BITS), BITS) * 2.0 - 1
    assert_standard_normal(made.sum(axis=0) / sqrt(documents), 5)
    assert_standard_normal((made.T @ made / sqrt(documents))[np.triu_indices(BITS, 1)], 6)


def test_seeds_are_uncorrelated():
    """The same tokens under seeds 0 to 9, bit by bit: 45 figures of 768,000 bits each."""
    fingerprints = np.random.default_rng(7).integers(0, 2**64, 2000, dtype=np.uint64)
    made = [unpacked(signatures(fingerprints, np.arange(1, 2001), BITS, seed), BITS) for seed in range(10)]
    for i in range(10):
        for j in range(i):
            differ = float((made[i] != made[j]).mean())
            assert abs(differ - 0.5) <= 4 * 0.5 / sqrt(2000 * BITS)


def test_zero_sums_make_even_documents_lean_to_zero():
    """With n tokens, n even, a sum is 0 with probability C(n, n / 2) / 2^n, and then the bit is 0."""
    n, documents = 10, 2000
    fingerprints = np.random.default_rng(8).integers(0, 2**64, n * documents, dtype=np.uint64)
    made = unpacked(signatures(fingerprints, np.arange(1, documents + 1) * n, BITS), BITS)
    p = (1 - comb(n, n // 2) / 2**n) / 2
    assert abs(float(made.mean()) - p) <= 4 * sqrt(p * (1 - p) / (documents * BITS))
