from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.verify import boilerplate
from neardup.verify.boilerplate import Boilerplate, discounted, find
from neardup.verify.places import Places
from neardup.verify.resemblance import overlap
from tests.naive import boilerplate as naive

pages = st.tuples(
    st.sampled_from([None, "a.example", "b.example"]), st.integers(0, 5), st.sets(st.integers(0, 14), max_size=12)
)


def _laid_out(documents):
    sets = [np.array(sorted(s), np.uint64) for _, _, s in documents]
    sizes = np.array([len(s) for s in sets], np.int64)
    hosts = {"a.example": 0, "b.example": 1, None: -1}
    places = Places(
        np.array([hosts[h] for h, _, _ in documents], np.int32), np.array([p for _, p, _ in documents], np.uint64), 2
    )
    return sets, sizes, np.cumsum(sizes) - sizes, places


@given(st.lists(pages, min_size=1, max_size=14), st.sampled_from([0.25, 0.5, 1.0]))
def test_what_many_pages_have_counts_a_tenth(documents, share):
    sets, sizes, starts, places = _laid_out(documents)
    numbers = np.arange(len(documents))
    flat = np.concatenate(sets)
    least, boilerplate.LEAST = boilerplate.LEAST, 2
    try:
        found = find(places, share, numbers, lambda some: np.concatenate([sets[i] for i in some]))
    finally:
        boilerplate.LEAST = least
    expected = naive.boilerplate(documents, share, 2)
    for number, host in enumerate(["a.example", "b.example"]):
        listed = found.values[found.offsets[number] : found.offsets[number + 1]].tolist()
        assert listed == sorted(expected.get(host, set()))

    pairs = np.array([[i, j] for i in range(len(sets)) for j in range(i)], np.int64).reshape(-1, 2)
    plain = overlap(flat, starts, sizes, pairs)
    weighed = discounted(plain, flat, starts, sizes, found.marks(numbers, flat, starts, sizes), pairs)
    for (i, j), measured in zip(pairs.tolist(), weighed.resemblance.tolist(), strict=True):
        less = [expected.get(documents[d][0], set()) for d in (i, j)]
        exact = naive.resemblance(documents[i][2], documents[j][2], less)
        assert abs(Fraction(measured).limit_denominator(10**6) - exact) < Fraction(1, 10**9), (i, j)


def test_a_large_host_is_looked_at_by_sample():
    n = 3 * boilerplate.SAMPLE
    documents = [("a.example", page, {1, 2, 100 + page} | ({3} if page % 2 else set())) for page in range(n)]
    sets, _, _, places = _laid_out(documents)
    asked = []

    def some_sets(some):
        asked.append(len(some))
        return np.concatenate([sets[i] for i in some])

    found = find(places, 0.25, np.arange(n), some_sets)
    assert asked == [boilerplate.SAMPLE]
    assert found.values.tolist() == [1, 2, 3]


def test_boilerplate_is_read_as_it_was_written(tmp_path):
    places = Places(np.array([0, 1, -1], np.int32), np.array([5, 6, 7], np.uint64), 3)
    found = Boilerplate(places, np.array([4, 9, 2**64 - 1], np.uint64), np.array([0, 2, 2, 3], np.int64))
    found.write(tmp_path / "boilerplate.arrow")
    again = Boilerplate.read(tmp_path / "boilerplate.arrow", places)
    assert again.values.tolist() == found.values.tolist()
    assert again.offsets.tolist() == found.offsets.tolist()
    nothing = Boilerplate(Places(places.hosts[:0], places.pages[:0], 0), found.values[:0], np.zeros(1, np.int64))
    nothing.write(tmp_path / "nothing.arrow")
    assert Boilerplate.read(tmp_path / "nothing.arrow", places).offsets.tolist() == [0]
