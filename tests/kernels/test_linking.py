from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
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

LAST = np.uint64(2**64 - 1)
EVERYONE = np.empty(0, bool)


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
    r = draw(st.integers(1, min(4, k)))
    most = draw(st.integers(1, 12))
    rows = draw(st.lists(st.lists(st.integers(0, most), min_size=k, max_size=k), min_size=n, max_size=n))
    members = draw(st.lists(st.booleans(), min_size=n, max_size=n) | st.just([True] * n))
    return np.array(rows, np.uint64).reshape(n, k), r, np.array(members, bool)


@st.composite
def plans(draw):
    """Chunks, tables and buffers of any size, down to those that hold a document or two."""
    chunk = draw(st.integers(1, 7))
    return linked_module._Plan(
        threads=draw(st.integers(1, 3)),
        chunk=chunk,
        places=2 ** draw(st.integers(1, 4)),
        bits=draw(st.integers(1, 4)),
        buffer=draw(st.integers(chunk, 20)),
        on_disk=draw(st.booleans()),
    )


def expected(features, r, members):
    return naive.components(
        len(features),
        lambda i, j: bool(members[i] and members[j] and (features[i] == features[j]).sum() >= r),
    )


@given(collections(), st.integers(1, 3))
def test_linked_are_the_components_of_sharing_r_features(collection, threads):
    features, r, members = collection
    assert link_features(features, r, threads=threads, members=members).tolist() == expected(features, r, members)
    everyone = np.ones(len(features), bool)
    assert link_features(features, r, threads=threads).tolist() == expected(features, r, everyone)


@given(collections(), plans())
def test_chunks_tables_and_rounds_make_no_difference(collection, plan):
    features, r, members = collection
    with mock.patch.object(linked_module, "_plan", return_value=plan):
        assert link_features(features, r, members=members).tolist() == expected(features, r, members)


def unmixed(key):
    """_mix step by step backwards, from the definition: x ^ x >> 33 is its own inverse."""
    mask = 2**64 - 1
    key ^= key >> 33
    key = key * pow(0xC4CEB9FE1A85EC53, -1, 2**64) & mask
    key ^= key >> 33
    key = key * pow(0xFF51AFD7ED558CCD, -1, 2**64) & mask
    return key ^ key >> 33


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=5), st.data())
def test_a_key_tells_its_feature(values, data):
    """So equal keys are equal features, whatever anybody chooses them to be."""
    features = np.array(values, np.uint64).reshape(-1, 1)
    low, high = sorted(data.draw(st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))))
    keys, documents = np.empty(5, np.uint64), np.empty(5, np.int32)
    held = kernel.feature_keys(features, 0, EVERYONE, 0, len(values), np.uint64(0), LAST, keys, documents)
    assert [unmixed(key) for key in keys[:held].tolist()] == values
    inside = [i for i, key in enumerate(keys[:held].tolist()) if low <= key <= high]
    held = kernel.feature_keys(features, 0, EVERYONE, 0, len(values), np.uint64(low), np.uint64(high), keys, documents)
    assert documents[:held].tolist() == inside


names = st.integers(0, 3) | st.integers(0, 2**31 - 1)


@given(st.lists(st.tuples(names, names), min_size=1, max_size=8))
def test_a_key_of_names_tells_both(pairs):
    one, other = np.array(pairs, np.int32).T.copy()
    keys, documents = np.empty(8, np.uint64), np.empty(8, np.int32)
    held = kernel.name_keys(one, other, 100, np.uint64(0), LAST, keys, documents)
    told = [(at - 100, divmod(unmixed(key), 2**32)) for at, key in zip(documents.tolist(), keys.tolist(), strict=True)]
    assert told[:held] == [(i, pair) for i, pair in enumerate(pairs) if all(pair)]


@given(st.lists(st.integers(0, 2**64 - 1), max_size=20), st.integers(0, 50))
def test_scattered_keys_stand_by_partition_in_their_order(values, start):
    keys = np.array(values, np.uint64)
    low, shift = min((value >> 61 for value in values), default=0), np.uint64(61)
    counts = np.zeros(8, np.int64)
    kernel.count(keys, shift, counts)
    assert counts.tolist() == [Counter(value >> 61 for value in values)[p] for p in range(8)]
    offsets = np.full(8 - low + 1, -7, np.int64)
    to_keys, to_documents = np.zeros(80, np.uint64), np.zeros(80, np.int32)
    kernel.scatter(keys, np.arange(len(values), dtype=np.int32), shift, low, start, offsets, to_keys, to_documents)
    order = sorted(range(len(values)), key=lambda i: values[i] >> 61)
    assert to_documents[start : start + len(values)].tolist() == order
    assert to_keys[start : start + len(values)].tolist() == [values[i] for i in order]
    assert np.diff(offsets).tolist() == counts[low:].tolist()
    assert offsets[0] == start


@pytest.mark.parametrize(("different", "is_full"), [(13, False), (14, True)])
def test_a_table_says_when_it_is_full(different, is_full):
    """16 places hold 13 keys; what is linked until then is right."""
    keys = np.repeat(np.arange(different, dtype=np.uint64), 2)
    documents = np.arange(2 * different, dtype=np.int32)
    full, linked, firsts = np.zeros(1, bool), np.empty(40, np.int32), np.empty(40, np.int32)
    held = kernel.collate(
        keys, documents, np.array([[0, len(keys)]]), 0, 1, 0, 1, True, np.empty(16, np.uint64),
        np.empty(16, np.int32), np.zeros(1, np.int64), full, linked, firsts,
    )  # fmt: skip
    assert full.tolist() == [is_full]
    assert linked[:held].tolist() == list(range(1, 26, 2))
    assert firsts[:held].tolist() == list(range(0, 26, 2))


def test_chains_across_chunks_and_threads():
    """Each shares two of six features with the one before, at changing places."""
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
    with mock.patch.object(linked_module, "_CHUNK", 64):
        for threads in (1, 2, 20):
            assert link_features(features, 2, threads=threads).tolist() == answer.tolist()


def test_a_feature_that_all_have_is_read_in_parts():
    """Its partition has more keys than the buffer; and another one more different keys than its table."""
    rng = np.random.default_rng(5)
    features = rng.integers(0, 2**64 - 1, (300, 2), np.uint64)
    features[:, 0] = 7
    features[150:, 1] = features[149::-1, 1]
    plan = linked_module._Plan(threads=2, chunk=32, places=16, bits=1, buffer=70, on_disk=True)
    with mock.patch.object(linked_module, "_plan", return_value=plan):
        assert link_features(features, 2).tolist() == [*range(150), *range(149, -1, -1)]
        assert set(link_features(features, 1).tolist()) == {0}


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
