"""Chunks and Bloom filters behave as the paper's mathematics says (Jain, Dahlin, Tewari, sections 2.3.1 and 3.1.1 and
the appendix), within 4 standard deviations at a fixed seed."""

import random
from itertools import pairwise
from math import log

import numpy as np
import pytest

from neardup import rabin
from neardup.analysis import bloom
from neardup.errors import RecipeError
from neardup.kernels import bloom as bloom_kernel
from neardup.kernels import chunks as kernel
from neardup.kernels import unicode_tables

SIX = [(1, 0.6973), (2, 0.4658), (4, 0.1929), (8, 0.0295), (10, 0.0113), (11, 0.0070)]
SEED = np.uint64(1)
POLYNOMIAL = rabin.choose_polynomial(64, 1)
PUSH, POP = rabin.push_table(POLYNOMIAL), rabin.pop_table(POLYNOMIAL, 48)


def elements(n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.integers(0, 2**63, n, dtype=np.uint64)


def filters(sets: np.ndarray, m: int, k: int) -> np.ndarray:
    """A filter a row, for sets of equal size."""
    n = len(sets)
    out = np.zeros((n, m // 64), np.uint64)
    ends = np.arange(1, n + 1) * sets.shape[1]
    bloom_kernel.fill(sets.reshape(-1), ends, np.full(n, m), k, out.reshape(-1), np.arange(n) * (m // 64))
    return out


def ones(words: np.ndarray) -> np.ndarray:
    return np.bitwise_count(words).sum(axis=-1).astype(np.int64)


def prose(rng: random.Random, size: int, words: int = 2000) -> bytes:
    vocabulary = ["".join(rng.choices("etaoinshrdlucmfwyp", k=rng.randint(1, 9))) for _ in range(words)]
    return " ".join(rng.choices(vocabulary, k=size // 4 + 8)).encode()[:size]


def chunk_sets(documents: list[bytes]) -> list[np.ndarray]:
    offsets = np.concatenate([[0], np.cumsum([len(d) for d in documents])]).astype(np.int64)
    data = np.frombuffer(b"".join(documents), np.uint8)
    n = len(documents)
    ends, out = np.zeros(n, np.int64), np.empty(len(data), np.uint64)
    total = kernel.chunk_documents(
        data, offsets, unicode_tables(), PUSH, POP, 48, 8, np.uint64(0x78), 65536, SEED,
        np.zeros(n, np.uint8), np.zeros(n, np.int64), np.zeros((n, 2), np.uint64), ends, out,
    )  # fmt: skip
    assert total == ends[-1]
    return np.split(out[:total], ends[:-1])


# --- the formulas ---


@pytest.mark.parametrize(("ratio", "expected"), SIX)
def test_the_six_ratios_of_the_paper(ratio, expected):
    assert bloom.false_ratio(ratio) == pytest.approx(expected, abs=5e-5)
    assert bloom.matched_ratio(0, 1000, ratio) == pytest.approx(bloom.false_ratio(ratio))


def test_the_formulas_meet_at_the_ends():
    assert pytest.approx(0.6185, abs=5e-5) == bloom.BASE
    assert bloom.matched_ratio(500, 500, 8) == pytest.approx(1)
    assert bloom.inferred_matches(500, 500, 8) == 500
    assert bloom.inferred_matches(100, 500, 8) == pytest.approx(100 + 400 * 0.6185**8, rel=1e-3)
    assert bloom.fill_ratio(256, 2048, bloom.optimal_hashes(8)) == pytest.approx(0.5, abs=1e-3)
    assert bloom.false_match_rate(8, bloom.optimal_hashes(8)) == pytest.approx(bloom.false_match_rate(8))
    shares = [bloom.matched_ratio(c, 100, 8) for c in range(101)]
    assert shares == sorted(shares)


@pytest.mark.parametrize("ratio", [2, 5, 8, 11, 16])
def test_the_optimal_number_of_hashes_is_optimal(ratio):
    best = bloom.optimal_hashes(ratio)
    assert best == ratio * log(2)
    for k in (0.7 * best, 0.95 * best, 1.05 * best, 1.5 * best):
        assert bloom.false_match_rate(ratio, k) > bloom.false_match_rate(ratio)


def test_sizes():
    assert bloom.bits_per_element_for(0.03) == (8, 6)
    assert bloom.bits_per_element_for(0.01) == (11, 8)
    assert bloom.bits_per_element_for(0.7) == (1, 1)
    assert bloom.size_for(64 * 1024) == bloom.Size(256, 2048, 6)
    assert bloom.size_for(8 * 1024) == bloom.Size(32, 256, 6)
    for chunks in (1, 31, 256, 257, 5000):
        size = bloom.size_for(chunks * 256, least=2048)
        assert (size.chunks, size.bits) == (chunks, bloom_kernel.filter_bits(chunks))
    assert bloom.MOST_BITS == bloom_kernel.MOST_BITS


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: bloom.bits_per_element_for(0), "error = 0"),
        (lambda: bloom.bits_per_element_for(float("nan")), "error = nan"),
        (lambda: bloom.size_for(0), "document_bytes = 0"),
        (lambda: bloom.size_for(1000, least=100), "least = 100"),
        (lambda: bloom.size_for(1 << 30), "choose chunks of 8192 bytes"),
    ],
)
def test_what_cannot_work_is_refused(call, says):
    with pytest.raises(RecipeError, match=says):
        call()
    assert bloom.size_for(1 << 30, chunk_bytes=8192).bits == bloom.MOST_BITS


# --- filters ---


@pytest.mark.parametrize(("n", "m", "k"), [(256, 2048, 6), (256, 2048, 1), (32, 2048, 6), (400, 512, 3)])
def test_the_number_of_set_bits_is_concentrated_around_its_mean(n, m, k):
    """The appendix: X is mp on average, and |X - mp| ≥ t has a probability of at most 2 exp(-2 t² / nk)."""
    trials = 3000
    found = ones(filters(elements(trials * n, np.random.default_rng(n + k)).reshape(trials, n), m, k))
    mean = m * bloom.fill_ratio(n, m, k)
    # the k positions of an element are distinct here, so a bit stays empty with (1 - k/m)^n, not (1 - 1/m)^(nk)
    exact = m * (1 - (1 - k / m) ** n)
    one, two = (1 - k / m) ** n, ((1 - k / m) * (1 - k / (m - 1))) ** n
    variance = m * one + m * (m - 1) * two - (m * one) ** 2
    assert abs(found.mean() - exact) <= 4 * (variance / trials) ** 0.5
    assert abs(exact - mean) < 2 + 0.01 * mean
    # the relative error of a variance from t samples is about sqrt(2 / t); y is odd, so positions are not quite free
    assert found.var() / variance < 1.1 + 4 * (2 / trials) ** 0.5
    for t in (5, 10, 15, 20, 30, 40):
        bound = bloom.concentration(t, n, k)
        beyond = float((abs(found - mean) >= t).mean())
        assert beyond <= bound + 4 * (bound * (1 - bound) / trials) ** 0.5


@pytest.mark.parametrize(("ratio", "paper"), SIX)
def test_false_matches_set_the_bits_that_the_paper_expects(ratio, paper):
    """Two sets without a common element: the bits of those elements of B that pass A's test, over the bits of A.

    The paper lets those bits fall anywhere, so its ratio is an upper bound; from m = 8n on it is exact to 0.001.
    """
    m, trials = 4096, 150
    n = round(m / ratio)
    k = bloom.whole_hashes(ratio)
    rng = np.random.default_rng(ratio)
    shares = []
    for _ in range(trials):
        a = filters(elements(n, rng).reshape(1, n), m, k)[0]
        b = filters(elements(n, rng).reshape(n, 1), m, k)
        passed = b[(b & a == b).all(axis=1)]
        shares.append(int(ones(np.bitwise_or.reduce(passed, axis=0))) / int(ones(a)) if len(passed) else 0.0)
    error = 4 * float(np.std(shares)) / trials**0.5
    share = float(np.mean(shares))
    assert abs(share - bloom.matched_ratio_within(n, m / n, k)) <= error
    assert share <= bloom.matched_ratio(0, n, m / n, k) + error
    if ratio >= 8:
        assert abs(share - paper) <= error + 0.001


@pytest.mark.parametrize(
    ("common", "n", "m", "k"), [(0, 256, 2048, 6), (180, 256, 2048, 6), (0, 32, 2048, 6), (24, 32, 2048, 8)]
)
def test_the_bitwise_and_has_the_expected_bits(common, n, m, k):
    """Half the bits of two full filters match though nothing is common: the AND is not the paper's ratio."""
    trials = 2000
    rng = np.random.default_rng(common + n)
    a = elements(trials * n, rng).reshape(trials, n)
    b = elements(trials * n, rng).reshape(trials, n)
    b[:, :common] = a[:, :common]
    both = ones(filters(a, m, k) & filters(b, m, k))
    expected = bloom.shared_bits(common, n, n, m, k)
    # k distinct positions an element set up to nk(k - 1) / 2m bits more than k free ones
    assert abs(both.mean() - expected) <= 4 * both.std() / trials**0.5 + n * k * (k - 1) / (2 * m)
    if common == 0 and n == 256:
        assert expected / (m * bloom.fill_ratio(n, m, k)) == pytest.approx(0.53, abs=0.01)


# --- chunks ---


@pytest.mark.parametrize("bits", [6, 8, 10])
@pytest.mark.parametrize("kind", ["random", "prose"])
def test_chunks_have_the_expected_length(kind, bits):
    """Every window ends a chunk with probability 2^-bits, so the number of chunks is binomial."""
    size = 2_000_000
    data = np.random.default_rng(bits).bytes(size) if kind == "random" else prose(random.Random(bits), size)
    out = np.empty(size, np.uint64)
    n = kernel.cut(np.frombuffer(data, np.uint8), 0, size, PUSH, POP, 48, bits, np.uint64(0x78), 65536, out)
    p = 2.0**-bits
    assert abs(n - size * p) <= 4 * (size * p * (1 - p)) ** 0.5
    # lengths are geometric: their standard deviation is nearly their mean
    lengths = np.diff(out[:n].astype(np.int64))
    assert lengths.std() / lengths.mean() == pytest.approx(1, abs=0.06)


def test_chunk_hashes_have_no_bit_that_leans():
    """Chunks that differ in a digit or two: every bit of 63 is set in half of them."""
    texts = [f"{i:06d} the quick brown fox jumps over the lazy dog {i * 7:06d}".encode() for i in range(20_000)]
    data = np.frombuffer(b"".join(texts), np.uint8)
    ends = np.cumsum([len(t) for t in texts])
    found = np.array(
        [kernel.chunk_hash(data, e - len(t), e, SEED) for t, e in zip(texts, ends, strict=True)], np.uint64
    )
    assert len(np.unique(found)) == len(texts)
    bits = (found[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
    assert bits[:, 63].sum() == 0
    # 63 bits, so 4.5 standard deviations
    assert abs(bits[:, :63].mean(axis=0) - 0.5).max() <= 4.5 * (0.25 / len(texts)) ** 0.5


def versions(seed: int) -> list[bytes]:
    """A file of 17 KB and 19 successive versions of it; about 400 bytes of each are not those of the one before."""
    rng = random.Random(seed)
    made = [prose(rng, 17_000)]
    for _ in range(19):
        old = made[-1]
        at = rng.randrange(len(old) - 400)
        made.append(old[:at] + prose(rng, rng.randint(350, 450)) + old[at + 400 :])
    return made


@pytest.mark.parametrize("seed", range(6))
def test_versions_match_the_original_in_falling_order(seed):
    """Section 2.3, figure 5. Bits of new chunks fall on bits of the original by chance, so a version may match better
    than the one before it: by less than the bits of one chunk, k of some 350. With seed 1 none does."""
    sets = chunk_sets(versions(seed))
    ends = np.cumsum([len(s) for s in sets])
    out = np.zeros((20, 32), np.uint64)
    bloom_kernel.fill(np.concatenate(sets), ends, np.full(20, 2048), 6, out.reshape(-1), np.arange(20) * 32)
    matches = [bloom_kernel.match(out[0], row) for row in out]
    assert matches[0] == 1.0
    assert max(matches[1:]) == matches[1] > 0.9
    assert min(matches) < 0.75
    tolerance = 6 / int(ones(out[0])) if seed != 1 else -1e-9
    assert all(later <= earlier + tolerance for earlier, later in pairwise(matches))


def test_a_part_matches_the_whole_and_not_the_other_way_round():
    """Section 2.3: inclusion. Only the chunks at the two edges of the part are its own."""
    rng = random.Random(9)
    part = prose(rng, 12_000)
    whole = prose(rng, 20_000) + b" " + part + b" " + prose(rng, 20_000)
    sets = chunk_sets([part, whole])
    out = np.zeros((2, 64), np.uint64)
    ends = np.cumsum([len(s) for s in sets])
    bloom_kernel.fill(np.concatenate(sets), ends, np.full(2, 4096), 6, out.reshape(-1), np.arange(2) * 64)
    assert bloom_kernel.match(out[0], out[1]) > 0.95
    assert bloom_kernel.match(out[1], out[0]) < 0.5
    parent = np.zeros(2, np.int64)
    bloom_kernel.group(out.reshape(-1), np.array([0, 64, 128]), 0.7, parent)
    assert parent.tolist() == [0, 1]
