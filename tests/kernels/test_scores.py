"""What two signatures show, by kind, against the definition on sets; and all candidate pairs against all pairs."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup.candidates.features import bucket
from neardup.kernels import groups as kernel
from neardup.sketches.base import Ragged, even
from tests.naive import groups as naive

word = st.integers(0, 2**64 - 1) | st.integers(0, 3)
PAD = 2**64 - 1


def score(kind, a, b, *parameters):
    words = np.array([*a, *b, 0], np.uint64)
    offsets = np.array([0, len(a), len(a) + len(b)], np.int64)
    given_ = (np.empty((0, 0), np.uint8), words, offsets, np.array(parameters, np.float64))
    value = kernel.score(kind, *given_, 0, 1)
    assert kernel.score(kind, *given_, 1, 0) == value  # every score is symmetric
    out = np.empty(2)
    kernel.scores(kind, *given_, np.array([[0, 1], [1, 0]]), out)
    assert out.tolist() == [value, value]
    return value


def same_length(n=6):
    return st.integers(1, n).flatmap(lambda k: st.tuples(*[st.lists(word, min_size=k, max_size=k)] * 2))


@given(same_length())
def test_equal_words(pair):
    a, b = pair
    equal = sum(x == y for x, y in zip(a, b, strict=True))
    assert score(kernel.EQUAL, a, b, 1.0) == equal
    assert score(kernel.EQUAL, a, b, float(len(a))) == equal / len(a)


@pytest.mark.parametrize("bits", [8, 4])
@given(data=st.data(), size=st.integers(1, 200), alike=st.floats(0, 1))
def test_samples_without_the_agreements_by_chance(bits, data, size, alike):
    """In exact fractions: of the minima that differ, one in 2^bits agrees."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    samples = rng.integers(0, 2**bits, (2, size), np.uint8)
    samples[1] = np.where(rng.random(size) < alike, samples[0], samples[1])
    agreed = sum(x == y for x, y in zip(*samples.tolist(), strict=True))
    expected = max(Fraction(0), (Fraction(agreed, size) - Fraction(1, 2**bits)) / (1 - Fraction(1, 2**bits)))
    nothing = np.empty(0, np.uint64), np.zeros(1, np.int64)
    for pair in ((0, 1), (1, 0)):
        found = kernel.score(kernel.SAMPLES, samples, *nothing, np.array([2.0**bits]), *pair)
        assert found == pytest.approx(float(expected), abs=1e-12)
    assert kernel.score(kernel.SAMPLES, samples, *nothing, np.array([2.0**bits]), 0, 0) == 1.0


@given(same_length())
def test_equal_bits(pair):
    a, b = pair
    differing = naive.bits_set([x ^ y for x, y in zip(a, b, strict=True)])
    assert score(kernel.BITS, a, b, 64.0 * len(a)) == 64 * len(a) - len(differing)


@given(st.integers(1, 4), st.integers(1, 3), st.data())
def test_repetitions_that_share_a_list(lists, repetitions, data):
    n = lists * repetitions
    few = st.lists(st.integers(0, 2), min_size=n, max_size=n)
    a, b = data.draw(few), data.draw(few)
    rows = [range(q * lists, (q + 1) * lists) for q in range(repetitions)]
    expected = sum(any(a[p] == b[p] != 0 for p in row) for row in rows)
    assert score(kernel.LISTS, a, b, float(lists)) == expected


values = st.lists(st.integers(0, 40) | st.integers(0, PAD - 1), max_size=12).map(lambda x: sorted(set(x)))


@given(values, values, st.integers(1, 12))
def test_bottom_m_and_mod_n(a, b, m):
    low, high = a[:m], b[:m]
    padded = [row + [PAD] * (m - len(row)) for row in (low, high)]
    assert score(kernel.BOTTOM, *padded, float(m)) == naive.bottom(low, high, m)
    both = len(set(a) & set(b))
    assert score(kernel.MOD, a, b) == both / max(1, len(set(a) | set(b)))
    assert score(kernel.CONTAINMENT, a, b) == both / max(1, min(len(a), len(b)))
    out = np.empty((1, 2))
    flat, offsets = np.array([*a, *b, 0], np.uint64), np.array([0, len(a), len(a) + len(b)])
    kernel.containments(kernel.MOD, flat, offsets, np.array([[0, 1]]), out)
    assert out.tolist() == [[both / max(1, len(a)), both / max(1, len(b))]]


sparse = st.lists(st.integers(0, 63), max_size=4).map(lambda bits: sum(1 << b for b in set(bits)))
filters = st.sampled_from([1, 2, 4]).flatmap(lambda n: st.lists(sparse, min_size=n, max_size=n))


@given(filters, filters, filters, filters, st.sampled_from([0.0, 0.3]), st.booleans())
def test_filters_of_any_two_sizes(a, b, a_links, b_links, weight, contained):
    text = naive.match(a, b, contained) or 0.0
    links = naive.match(a_links, b_links, contained)
    expected = text if weight == 0.0 or links is None else (1 - weight) * text + weight * links
    rows = [len(a), *a, *a_links], [len(b), *b, *b_links]
    assert score(kernel.FILTER, *rows, weight, float(contained)) == pytest.approx(expected)
    size = min(len(a), len(b))
    x, y = naive.folded(a, size), naive.folded(b, size)
    out = np.empty((1, 2))
    flat, offsets = np.array([*rows[0], *rows[1]], np.uint64), np.array([0, len(rows[0]), len(rows[0]) + len(rows[1])])
    kernel.containments(kernel.FILTER, flat, offsets, np.array([[0, 1]]), out)
    if len(a) == len(b):
        assert out.tolist() == [[len(x & y) / max(1, len(x)), len(x & y) / max(1, len(y))]]
    else:
        assert np.isnan(out).all()


@given(st.data(), st.integers(0, 2), st.integers(0, 2))
def test_the_rule_for_sites(data, mine, other):
    features = [data.draw(st.lists(st.integers(0, 1), min_size=3, max_size=3)) for _ in range(2)]
    bits = [data.draw(st.lists(st.sampled_from([0, 1, 255]), min_size=2, max_size=2)) for _ in range(2)]
    r, same, different = 2.0, 118.0, 122.0
    shared = sum(x == y for x, y in zip(*features, strict=True))
    agreed = 128 - len(naive.bits_set([x ^ y for x, y in zip(*bits, strict=True)]))
    if mine != other and mine and other:
        expected = agreed if agreed >= different else 0
    else:
        expected = agreed if agreed >= same and shared >= r else 0
    rows = [[*features[0], *bits[0], mine], [*features[1], *bits[1], other]]
    assert score(kernel.SITES, *rows, 3.0, r, same, different, 128.0) == expected


@settings(max_examples=200)
@given(
    st.lists(st.lists(st.integers(0, 6), max_size=4, unique=True), max_size=12), st.integers(1, 12), st.integers(1, 30)
)
def test_pairs_are_all_candidate_pairs_or_counted(keys, most, room):
    """Documents with ragged keys; every pair that shares one, up to `most` earlier ones per document."""
    n = len(keys)
    ragged = Ragged(
        np.array([k for row in keys for k in row], np.uint64), np.concatenate([[0], np.cumsum([len(r) for r in keys])])
    )
    buckets = bucket(lambda: [(0, Ragged(ragged.values, ragged.offsets.astype(np.int64)))], np.ones(n, bool))
    members = buckets.members
    owner, below, rank = (np.empty(len(buckets.entries), np.int32) for _ in range(3))
    kernel.chain(buckets.entries, buckets.begins, buckets.count, owner, below, rank)
    signature = even(members.astype(np.uint64).reshape(-1, 1))
    given_ = (kernel.BITS, np.empty((0, 0), np.uint8), signature.values, signature.offsets, np.array([64.0]))
    room = max(room, min(most, len(members)))
    pairs = np.empty((room, 2), np.int32)
    nobody = np.arange(len(members), dtype=np.int32)
    stamp = np.full(len(members), -1, np.int32)
    at, found, cut, left_out = 0, [], 0, 0
    while at < len(members):
        count, at, more, left = kernel.pair_round(
            buckets.begins, owner, below, rank, nobody, given_, 0.0, most, at, stamp, pairs
        )
        found += [(int(members[i]), int(members[j])) for i, j in pairs[:count]]
        cut, left_out = cut + more, left_out + left
    expected = {(i, j) for i in range(n) for j in range(i) if set(keys[i]) & set(keys[j])}
    assert len(found) == len(set(found))
    assert set(found) <= expected
    crowds = {i: sum(x == i for x, _ in expected) for i in range(n)}
    assert len(found) == sum(min(most, c) for c in crowds.values())
    assert cut == sum(c > most for c in crowds.values())
    assert left_out >= len(expected) - len(found)
    if not cut:
        assert left_out == 0


@given(st.lists(st.integers(0, 255), min_size=2, max_size=8), st.integers(56, 64), st.data())
def test_pairs_score_enough_or_are_the_same(values, least, data):
    n = len(values)
    same = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), np.int32)
    entries, begins = np.zeros(n, np.int32), np.arange(n + 1)
    owner, below, rank = (np.empty(n, np.int32) for _ in range(3))
    kernel.chain(entries, begins, 1, owner, below, rank)
    signature = even(np.array(values, np.uint64).reshape(-1, 1))
    given_ = (kernel.BITS, np.empty((0, 0), np.uint8), signature.values, signature.offsets, np.array([64.0]))
    pairs = np.empty((n * n, 2), np.int32)
    count, at, cut, _ = kernel.pair_round(
        begins, owner, below, rank, same, given_, float(least), n, 0, np.full(n, -1, np.int32), pairs
    )
    assert (at, cut) == (n, 0)
    assert sorted(map(tuple, pairs[:count].tolist())) == [
        (i, j)
        for i in range(n)
        for j in range(i)
        if same[i] == same[j] or 64 - (values[i] ^ values[j]).bit_count() >= least
    ]
