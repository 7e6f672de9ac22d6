from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels import sampling as kernel
from tests import scored
from tests.naive import sampling as naive

values = st.integers(0, 2**64 - 1) | st.integers(0, 30)
documents = st.lists(st.lists(values, max_size=60), max_size=5)
seeds = st.integers(0, 2**63 - 1) | st.integers(0, 3)


def flat(collection):
    ends = np.cumsum([len(d) for d in collection]).astype(np.int64)
    return np.array([x for d in collection for x in d], np.uint64), ends


def bottom(collection, m, seed):
    out = np.zeros((len(collection), m), np.uint64)
    counts = np.zeros(len(collection), np.int64)
    kernel.bottom(*flat(collection), m, seed, out, counts)
    return out, counts


def mod(collection, n, seed, room=None):
    fingerprints, ends = flat(collection)
    ends_out = np.zeros(len(collection), np.int64)
    out = np.zeros(len(fingerprints) if room is None else room, np.uint64)
    total = kernel.mod(fingerprints, ends, n, seed, ends_out, out)
    if total < 0:
        return None
    assert total == (ends_out[-1] if collection else 0)
    return [s.tolist() for s in np.split(out[:total], ends_out[:-1])] if collection else []


def array(numbers):
    return np.array(numbers, np.uint64)


@given(values, seeds)
def test_the_permutation_is_the_naive_one_and_has_an_inverse(x, seed):
    add, times = kernel.permutation(seed)
    image = int(kernel.permute(np.uint64(x), np.uint64(add), np.uint64(times)))
    assert image == naive.permute(x, seed)
    assert naive.unpermute(image, seed) == x


@given(documents, st.integers(1, 20), seeds)
def test_bottom(collection, m, seed):
    out, counts = bottom(collection, m, seed)
    for document, row, count in zip(collection, out, counts, strict=True):
        expected = naive.bottom(document, m, seed)
        assert row[:count].tolist() == expected
        assert (row[count:] == kernel.NONE).all()


@pytest.mark.parametrize("m", [1, 3, 40])
def test_bottom_of_long_documents_with_and_without_repeats(m):
    rng = np.random.default_rng(m)
    every = rng.integers(0, 2**64 - 1, 1500, np.uint64)
    few = rng.integers(0, m + 1, 1500)
    frequent = np.minimum(rng.zipf(1.3, 1500), 10**6)
    collection = [every.tolist(), few.tolist(), frequent.tolist(), [7] * 1500, [], [5]]
    out, counts = bottom(collection, m, 3)
    for document, row, count in zip(collection, out, counts, strict=True):
        assert row[:count].tolist() == naive.bottom(document, m, 3)


@pytest.mark.parametrize("spread", [1, 2**20, 2**52])
@pytest.mark.parametrize("order", ["rising", "falling", "shuffled"])
@pytest.mark.parametrize("outlier", [[], [2**60]])
def test_bottom_of_documents_whose_images_are_crowded(spread, order, outlier):
    """Chosen by the inverse permutation: all below the first bound, and with the outlier all in one bucket."""
    images = [spread * t for t in range(1, 700)]
    if order == "falling":
        images.reverse()
    if order == "shuffled":
        np.random.default_rng(6).shuffle(images)
    images = outlier + images
    out, counts = bottom([[naive.unpermute(y, 9) for y in images]], 50, 9)
    assert counts[0] == 50
    assert out[0].tolist() == sorted(images)[:50]


def test_a_value_just_below_the_last_one_kept_is_not_missed():
    """Enough larger ones to fill the room, so that the bound becomes the 50th of them; then one that replaces it."""
    images = [*range(1, 50), 1000, *range(2000, 2400), 500]
    out, _ = bottom([[naive.unpermute(y, 9) for y in images]], 50, 9)
    assert out[0].tolist() == [*range(1, 50), 500]


def test_the_image_that_pads_is_not_sampled():
    """Also where a value with the same last bits came before it."""
    images = [2**64 - 1 - 2**40, 2**64 - 1, 2**64 - 2]
    out, counts = bottom([[naive.unpermute(y, 1) for y in images]], 3, 1)
    assert counts[0] == 2
    assert out[0].tolist() == [2**64 - 1 - 2**40, 2**64 - 2, 2**64 - 1]


@given(documents, st.integers(1, 40), seeds)
def test_mod(collection, n, seed):
    assert mod(collection, n, seed) == [naive.mod(d, n, seed) for d in collection]


@given(st.integers(1, 2**63 - 1) | st.integers(0, 62).map(lambda z: 2**z), st.data())
def test_mod_knows_multiples_without_dividing(n, data):
    quotients = data.draw(st.lists(st.integers(0, (2**64 - 1) // n), min_size=1, max_size=5))
    offsets = data.draw(st.lists(st.integers(0, n - 1), min_size=5, max_size=5))
    images = [q * n for q in quotients] + [(q * n + o) % 2**64 for q, o in zip(quotients, offsets, strict=False)]
    assert mod([[naive.unpermute(y, 5) for y in images]], n, 5) == [sorted({y for y in images if y % n == 0})]


def test_mod_says_when_there_is_no_room():
    collection = [list(range(20)), list(range(10, 40))]
    assert mod(collection, 1, 1, room=49) is None
    assert mod(collection, 1, 1, room=50) == [naive.mod(d, 1, 1) for d in collection]
    assert mod([[]], 1, 1, room=0) == [[]]


sorted_sets = st.lists(st.integers(0, 40) | st.integers(0, 2**64 - 2), max_size=25).map(lambda x: sorted(set(x)))


@given(sorted_sets, sorted_sets, st.integers(1, 30))
def test_estimators(a, b, m):
    padded = [array((s + [2**64 - 1] * m)[: max(m, len(s))]) for s in (a, b)]
    assert scored.bottom_resemblance(*padded, m) == float(naive.bottom_resemblance(a, b, m))
    assert scored.bottom_resemblance(array(a), array(b), m) == float(naive.bottom_resemblance(a, b, m))
    assert scored.mod_resemblance(array(a), array(b)) == float(naive.mod_resemblance(a, b))
    assert scored.mod_containment(array(a), array(b)) == float(naive.mod_containment(a, b))


@given(st.lists(values, max_size=30), st.lists(values, max_size=30), seeds)
def test_the_estimate_is_exact_where_the_sample_holds_both_documents(a, b, seed):
    out, _ = bottom([a, b], 60, seed)
    assert scored.bottom_resemblance(out[0], out[1], 60) == float(naive.ratio(set(a) & set(b), set(a) | set(b)))


def test_empty_samples_share_nothing():
    nothing, one = array([]), array([3])
    assert scored.bottom_resemblance(nothing, nothing, 5) == 0.0
    assert scored.mod_resemblance(nothing, nothing) == 0.0
    assert scored.mod_containment(nothing, one) == 0.0
    assert scored.mod_containment(one, nothing) == 0.0


COLUMNS = {1: {1, 3, 4}, 2: {2, 5}, 3: {1, 2, 4}}
PERMUTATIONS = [(1, 2, 3, 4, 5), (5, 4, 3, 2, 1), (3, 4, 5, 1, 2)]
PAIRS = [(1, 2), (1, 3), (2, 3)]


def test_radinskys_signatures():
    table = [[naive.first_row(COLUMNS[c], p) for c in (1, 2, 3)] for p in PERMUTATIONS]
    assert table == [[1, 2, 1], [4, 5, 4], [3, 5, 4]]
    signatures = dict(zip((1, 2, 3), zip(*table, strict=True), strict=True))
    by_columns = [naive.ratio(COLUMNS[i] & COLUMNS[j], COLUMNS[i] | COLUMNS[j]) for i, j in PAIRS]
    assert by_columns == [0, Fraction(1, 2), Fraction(1, 4)]
    by_signatures = [naive.agreement(signatures[i], signatures[j]) for i, j in PAIRS]
    assert by_signatures == [0, Fraction(2, 3), 0]
    assert [round(float(s), 2) for s in by_signatures] == [0.00, 0.67, 0.00]


def test_radinskys_similarities_by_the_kernel():
    """A column's rows by their rank in a permutation: the smallest one is the min-hash, all five are the column."""

    def ranks(column, permutation):
        return array(sorted(permutation.index(row) for row in COLUMNS[column]))

    for (i, j), by_columns, by_signatures in zip(PAIRS, (0.0, 0.5, 0.25), (0.0, 2 / 3, 0.0), strict=True):
        agreed = [scored.bottom_resemblance(ranks(i, p), ranks(j, p), 1) for p in PERMUTATIONS]
        assert sum(agreed) / 3 == pytest.approx(by_signatures, abs=1e-12)
        for p in PERMUTATIONS:
            assert scored.bottom_resemblance(ranks(i, p), ranks(j, p), 5) == by_columns


def test_radinskys_slots_after_every_row():
    c1, c2 = {1, 3, 4}, {2, 3, 5}
    h, g = (lambda x: x % 5), (lambda x: (2 * x + 1) % 5)
    assert [h(x) for x in range(1, 6)] == [1, 2, 3, 4, 0]
    assert [g(x) for x in range(1, 6)] == [3, 0, 2, 4, 1]
    assert naive.slots([c1, c2], range(1, 6), [h, g]) == [
        [[1, 3], [None, None]],
        [[1, 3], [2, 0]],
        [[1, 2], [2, 0]],
        [[1, 2], [2, 0]],
        [[1, 2], [0, 0]],
    ]
    for k, f in enumerate((h, g)):
        images = [array(sorted(f(x) for x in c)) for c in (c1, c2)]
        assert [int(i[0]) for i in images] == [[1, 0], [2, 0]][k]
        assert scored.bottom_resemblance(*images, 1) == 0.0
        assert scored.bottom_resemblance(*images, 5) == 0.2
