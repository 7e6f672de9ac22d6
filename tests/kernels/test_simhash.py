import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup.errors import RecipeError
from neardup.kernels import simhash as kernel
from tests.naive import simhash as naive

WIDTHS = (1, 63, 64, 65, 384, 1000)
KINDS = {"count": kernel.COUNT, "once": kernel.ONCE, "log": kernel.LOG}
words64 = st.integers(0, 2**64 - 1)
PINNED = 0xC8AA773398F47954


def as_integer(row) -> int:
    return sum(int(word) << (64 * j) for j, word in enumerate(row))


def as_rows(signatures, bits):
    words = kernel.signature_words(bits)
    return np.array([[(s >> (64 * j)) % 2**64 for j in range(words)] for s in signatures], np.uint64)


def flat(documents):
    ends = np.cumsum([len(d) for d in documents], dtype=np.int64)
    return np.array([t for d in documents for t in d], np.uint64), ends


def filled(documents, bits):
    """Where a kernel leaves something unwritten, it shows."""
    return np.full((len(documents), kernel.signature_words(bits)), 2**64 - 1, np.uint64)


def project(documents, bits, seed=0):
    out = filled(documents, bits)
    kernel.project(*flat(documents), bits, np.uint64(seed), out)
    return [as_integer(row) for row in out]


def project_weighted(documents, kind, bits, seed=0):
    out = filled(documents, bits)
    kernel.project_weighted(*flat(documents), KINDS[kind], bits, np.uint64(seed), out)
    return [as_integer(row) for row in out]


def random_documents(lengths, vocabulary, seed):
    rng = np.random.default_rng(seed)
    tokens = rng.integers(0, 2**64, vocabulary, dtype=np.uint64)
    return [[int(t) for t in rng.choice(tokens, n)] for n in lengths]


@pytest.mark.parametrize("bits", WIDTHS)
def test_signatures_are_those_of_the_definition(bits):
    documents = random_documents([*range(201), 5000], 60, bits)
    assert project(documents, bits, 7) == [naive.project(d, bits, 7) for d in documents]


@pytest.mark.parametrize("bits", WIDTHS)
@pytest.mark.parametrize("kind", KINDS)
def test_weighted_signatures_are_those_of_the_definition(kind, bits):
    documents = random_documents([*range(0, 201, 3), 5000], 60, bits) + random_documents([150], 10**6, bits)
    expected = [naive.project_weighted(d, kind, bits, 7) for d in documents]
    assert project_weighted(documents, kind, bits, 7) == expected


@given(st.lists(st.lists(words64 | st.integers(0, 3), max_size=40), max_size=6), st.integers(1, 200), words64)
@settings(deadline=None, max_examples=50)
def test_any_documents_width_and_seed(documents, bits, seed):
    assert project(documents, bits, seed) == [naive.project(d, bits, seed) for d in documents]
    for kind in KINDS:
        expected = [naive.project_weighted(d, kind, bits, seed) for d in documents]
        assert project_weighted(documents, kind, bits, seed) == expected


def test_the_two_ways_to_count_are_one():
    documents = random_documents([0, 5, 64, 300], 20, 3)
    assert project_weighted(documents, "count", 384) == project(documents, 384)


def test_the_projection_stays_what_it_is():
    """Signatures are stored: other values than these are another format."""
    assert project([[1, 2, 3]], 65) == [PINNED]
    assert project([[1, 2, 3]], 65, 1) != [PINNED]


@pytest.mark.parametrize("kind", KINDS)
def test_empty_documents_are_zero_also_between_others(kind):
    first, nothing, last, end = project_weighted([[5], [], [6, 6], []], kind, 100)
    assert nothing == end == 0
    assert first == naive.project([5], 100, 0)
    assert last == naive.project([6], 100, 0)


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_tokens_does_not_matter(kind):
    (document,) = random_documents([200], 50, 11)
    shuffled = [int(t) for t in np.random.default_rng(12).permutation(np.array(document, np.uint64))]
    assert shuffled != document
    first, second = project_weighted([document, shuffled], kind, 384)
    assert first == second


@pytest.mark.parametrize("seed", range(5))
def test_the_frequency_of_tokens_does(seed):
    """With "a a b" the sign is a's; with "a b" the sum is positive only where both are. They differ in every fourth
    bit on the average: all 384 agree with probability (3/4)^384."""
    a, b = 1001, 1002
    only_a, only_b, ab, aab = project([[a], [b], [a, b], [a, a, b]], 384, seed)
    assert aab == only_a
    assert ab == only_a & only_b
    assert aab != ab
    once = project_weighted([[a, b], [a, a, b]], "once", 384, seed)
    assert once == [ab, ab]
    assert project_weighted([[a, a, b]], "log", 384, seed) == [only_a]


def test_a_zero_sum_is_not_positive():
    """Two tokens with opposite signs everywhere would be 0 everywhere; "a b" is 0 wherever they differ."""
    a, b, ab = project([[1], [2], [1, 2]], 384)
    assert (a ^ b) & ab == 0
    assert a ^ b != 0


def test_a_narrow_signature_is_the_beginning_of_a_wide_one():
    (document,) = random_documents([100], 50, 13)
    (wide,) = project([document], 4096)
    for bits in (1, 63, 64, 65, 384, 1000, 4095):
        assert project([document], bits) == [wide % 2**bits]


def test_the_seed_changes_everything():
    """Of 384 bits half differ, within 4 sigma = 4 · sqrt(384 / 4) = 39."""
    (document,) = random_documents([101], 80, 14)
    made = [project([document], 384, seed)[0] for seed in range(8)]
    for i in range(8):
        for j in range(i):
            assert abs((made[i] ^ made[j]).bit_count() - 192) <= 39


def test_log_weights_are_exact():
    counts = [*range(1, 3000), *(2**k + d for k in range(12, 40) for d in (-1, 0, 1))]
    assert [kernel.log_weight(c) for c in counts] == [naive.log_weight(c) for c in counts]
    assert [kernel.log_weight(c) for c in (1, 2, 3, 4, 1024)] == [16, 32, 41, 48, 176]


@given(words64)
def test_popcount(x):
    assert int(kernel.popcount64(np.uint64(x))) == x.bit_count()


@pytest.mark.parametrize("bits", WIDTHS)
def test_agreements(bits):
    rng = np.random.default_rng(bits)
    signatures = [int.from_bytes(rng.bytes(125), "little") % 2**bits for _ in range(20)] + [0, 2**bits - 1]
    pairs = np.array([(i, j) for i in range(22) for j in range(22)], np.int64)
    out = np.full(len(pairs), -1, np.int32)
    kernel.agreements(as_rows(signatures, bits), pairs, bits, out)
    assert out.tolist() == [naive.agreement(signatures[i], signatures[j], bits) for i, j in pairs]
    assert out[20 * 22 + 21] == 0
    assert out[20 * 22 + 20] == bits


def test_the_dense_join_is_the_agreements_above_a_threshold():
    """Henzinger, section 3.3: C-similarity at least 372 of 384 is a difference of at most 12."""
    rng = np.random.default_rng(4)
    base = int.from_bytes(rng.bytes(48), "little")
    signatures = [base]
    for flips in (1, 6, 11, 12, 13, 14, 200):
        signatures.append(base ^ sum(1 << int(j) for j in rng.choice(384, flips, replace=False)))
    pairs = np.array([(i, j) for i in range(8) for j in range(i + 1, 8)], np.int64)
    out = np.zeros(len(pairs), np.int32)
    kernel.agreements(as_rows(signatures, 384), pairs, 384, out)
    found = [(int(i), int(j)) for (i, j), agreed in zip(pairs, out, strict=True) if agreed >= 372]
    assert found == naive.pairs_within(signatures, 12)
    assert [(i, j) for i, j in found if i == 0] == [(0, 1), (0, 2), (0, 3), (0, 4)]


@pytest.mark.parametrize(("bits", "words"), [(1, 1), (64, 1), (65, 2), (384, 6), (4096, 64)])
def test_words_of_a_signature(bits, words):
    assert kernel.signature_words(bits) == words


@pytest.mark.parametrize("bits", [0, -1, 4097])
def test_widths_that_are_none_are_refused(bits):
    with pytest.raises(RecipeError, match=f"bits = {bits} "):
        kernel.signature_words(bits)
