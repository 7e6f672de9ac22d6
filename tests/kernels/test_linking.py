from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import combinations, pairwise
from math import comb
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.clusters import linked as linked_module
from neardup.clusters.linked import link_features
from neardup.errors import UsageError
from neardup.kernels import linking as kernel
from tests.naive import groups as naive

M1 = 0xFF51AFD7ED558CCD
P = 0x9E3779B97F4A7C15
MASK = 2**64 - 1


@pytest.fixture(autouse=True, scope="module")
def wrapping_integers_in_threads():
    """NumPy's error state belongs to a thread: as plain Python, kernels would overflow aloud in those of the pool."""
    quiet = partial(ThreadPoolExecutor, initializer=lambda: np.seterr(over="ignore"))
    with mock.patch.object(linked_module, "ThreadPoolExecutor", quiet):
        yield


@st.composite
def collections(draw):
    """Few different values, so that many share; and which documents take part."""
    n, k = draw(st.integers(0, 16)), draw(st.integers(1, 6))
    r = draw(st.integers(1, min(3, k)))
    most = draw(st.integers(1, 12))
    rows = draw(st.lists(st.lists(st.integers(0, most), min_size=k, max_size=k), min_size=n, max_size=n))
    members = draw(st.lists(st.booleans(), min_size=n, max_size=n) | st.just([True] * n))
    return np.array(rows, np.uint64).reshape(n, k), r, np.array(members, bool)


def expected(features, r, members):
    return naive.components(
        len(features),
        lambda i, j: bool(members[i] and members[j] and (features[i] == features[j]).sum() >= r),
    )


def linked(features, r, members, begin, end, parent=None, places=32):
    parent = np.arange(len(features), dtype=np.int32) if parent is None else parent
    kernel.link(features, members, r, begin, end, parent, np.full(places, 77, np.uint32))
    return parent


@given(collections(), st.integers(1, 3))
def test_linked_are_the_components_of_sharing_r_features(collection, threads):
    features, r, members = collection
    assert link_features(features, r, threads=threads, members=members).tolist() == expected(features, r, members)
    everyone = np.ones(len(features), bool)
    assert link_features(features, r, threads=threads).tolist() == expected(features, r, everyone)


@given(collections(), st.data())
def test_ranges_of_subsets_make_up_the_whole(collection, data):
    features, r, members = collection
    count = comb(features.shape[1], r)
    assert kernel.subsets(features.shape[1], r) == count
    cut = data.draw(st.integers(0, count))
    one = linked(features, r, members, 0, cut)
    two = linked(features, r, members, cut, count)
    on = linked(features, r, members, cut, count, parent=one.copy())
    kernel.merge(one, two)
    for parent in (one, on):
        kernel.flatten(parent)
        assert parent.tolist() == expected(features, r, members)


def test_subsets_are_numbered_in_lexicographic_order():
    k, r = 5, 3
    for number, subset in enumerate(combinations(range(k), r)):
        features = np.arange(2 * k, dtype=np.uint64).reshape(2, k)
        features[1, list(subset)] = features[0, list(subset)]
        members = np.ones(2, bool)
        for other in range(comb(k, r)):
            assert linked(features, r, members, other, other + 1).tolist() == ([0, 0] if other == number else [0, 1])


@given(st.lists(st.integers(0, 40), max_size=31))
def test_a_table_with_one_free_place_is_enough(values):
    features = np.array(values, np.uint64).reshape(-1, 1)
    parent = linked(features, 1, np.ones(len(values), bool), 0, 1)
    kernel.flatten(parent)
    assert parent.tolist() == [values.index(v) for v in values]


def test_documents_with_equal_hashes_and_different_features_are_not_linked():
    """The hash takes one feature after the other, so a second feature can make up for another first one."""

    def after_first(feature):
        h = (M1 ^ feature) * P & MASK
        return h ^ h >> 32

    rows = [[first, 1000 ^ after_first(first)] for first in (3, 4, 5, 6)]
    features = np.array([*rows, rows[2]], np.uint64)
    keys = np.empty(5, np.uint64)
    kernel._keys(features, 0, 5, np.arange(2), np.uint64(M1), keys)
    assert len(set(keys.tolist())) == 1, "the documents were to collide"
    assert link_features(features, 2).tolist() == [0, 1, 2, 3, 2]


def test_chains_across_blocks_and_threads():
    """More documents than a block: each shares two of six features with the one before, at changing places."""
    rng = np.random.default_rng(4)
    n = 700
    features = rng.integers(0, 2**64 - 1, (n, 6), np.uint64)
    order = rng.permutation(n)
    for before, after in pairwise(order[:301]):
        places = rng.choice(6, 2, replace=False)
        features[after, places] = features[before, places]
    lures, sources = order[301:500], order[500:699]
    features[lures, 0] = features[sources, 0]
    answer = np.arange(n)
    answer[order[:301]] = order[:301].min()
    for threads in (1, 2, 20):
        assert link_features(features, 2, threads=threads).tolist() == answer.tolist()


def test_wrong_arguments_are_refused_with_the_numbers():
    features = np.zeros((3, 6), np.uint64)
    with pytest.raises(UsageError, match=r"r = 7 of k = 6 .* choose r from 1 to 6"):
        link_features(features, 7)
    with pytest.raises(UsageError, match="r = 0 of k = 6"):
        link_features(features, 0)
    with pytest.raises(UsageError, match="threads = 0"):
        link_features(features, 2, threads=0)
    with pytest.raises(UsageError, match=r"\(4,\) for 3 documents"):
        link_features(features, 2, members=np.ones(4, bool))
