from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup.candidates.features import bucket
from neardup.clusters.form import form
from neardup.clusters.settings import ClusterSettings
from neardup.kernels import equal
from neardup.kernels import groups as kernel
from neardup.sketches.base import Comparison, even
from neardup.verify.signatures import Rule, Signatures
from tests.naive import groups as naive


@given(st.lists(st.integers(0, 12), max_size=60))
def test_equal_keys_get_equal_numbers(keys):
    array = np.array(keys, np.uint64)
    numbers = np.empty(len(keys), np.int32)
    following = equal.number_equal(array, numbers)
    expected = naive.buckets(keys)
    assert following == len(expected)
    for members in expected:
        assert len({int(numbers[m]) for m in members}) == 1
    assert {int(x) for x in numbers if x >= 0} == set(range(following))
    alone = set(range(len(keys))) - {m for members in expected for m in members}
    assert all(numbers[i] == -1 for i in alone)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.booleans()), max_size=40))
def test_first_holders(documents):
    identities = np.array([[a, b] for a, b, _ in documents], np.uint64).reshape(-1, 2)
    compared = np.array([c for _, _, c in documents], bool)
    out = np.empty(len(documents), np.int32)
    equal.first_holders(identities, compared, out)
    for i, (a, b, c) in enumerate(documents):
        same = [j for j, other in enumerate(documents) if other == (a, b, True)]
        assert out[i] == (same[0] if c else i)


sets = st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 20), max_size=30).map(lambda x: sorted(set(x)))


@given(st.lists(sets, min_size=1, max_size=6))
def test_intersections(collection):
    sizes = np.array([len(s) for s in collection], np.int64)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    flat = np.array([x for s in collection for x in s] or [0], np.uint64)
    pairs = np.array([[i, j] for i in range(len(collection)) for j in range(len(collection))], np.int64)
    out = np.zeros(len(pairs), np.int64)
    kernel.intersections(flat, starts, sizes, pairs, out)
    assert out.tolist() == [len(set(collection[i]) & set(collection[j])) for i, j in pairs]


def bucketed(keys):
    """By a matrix of keys, a row per feature: keys of different features do not meet."""
    k, n = keys.shape
    salted = (keys * np.uint64(64) + np.arange(k, dtype=np.uint64)[:, None]).T
    return bucket(lambda: [(0, even(salted))], np.ones(n, bool))


def signatures(samples):
    samples = np.ascontiguousarray(samples)
    comparison = Comparison(kernel.SAMPLES, (256.0,), "resemblance", None, 1.0)
    return Signatures(comparison, samples, np.empty(0, np.uint64), np.zeros(1, np.int64))


def rule(least, width):
    """So many samples agree at least; pairs are measured, against 0.8."""
    return Rule((least / width - 1 / 256) / (1 - 1 / 256) - 1e-9, 0.7, 0.8, measured=True)


@st.composite
def collections(draw):
    """Features, samples and a similarity for every pair: arbitrary, also where no real collection would be."""
    n, k = draw(st.integers(0, 14)), draw(st.integers(1, 4))
    keys = np.array(draw(st.lists(st.integers(0, 4), min_size=n * k, max_size=n * k)), np.uint64).reshape(k, n)
    similarity = draw(st.lists(st.sampled_from([0.0, 0.5, 0.79, 0.8, 0.9, 1.0]), min_size=n * n, max_size=n * n))
    samples = np.array(draw(st.lists(st.integers(0, 1), min_size=n * 4, max_size=n * 4)), np.uint8).reshape(n, 4)
    return keys, np.array(similarity).reshape(n, n), samples


def with_roles(buckets, seed):
    """The same buckets with roles that are drawn, and sites; without a seed everybody looks and stands."""
    if seed is None:
        return buckets, None
    rng = np.random.default_rng(seed)
    roles = rng.choice([1, 2, 3, 3, 5, 7], len(buckets.entries)).astype(np.uint8)
    return replace(buckets, roles=roles), rng.integers(-1, 3, len(buckets.members)).astype(np.int32)


def role_of(buckets):
    """The role of a row in a bucket, for the naive star."""
    return lambda i, bucket: sum(
        int(buckets.roles[e]) for e in range(buckets.begins[i], buckets.begins[i + 1]) if buckets.entries[e] == bucket
    )


@settings(max_examples=300)
@given(
    collections(),
    st.sampled_from(["star", "components"]),
    st.integers(0, 3),
    st.sampled_from([1, 2, 1000]),
    st.booleans(),
    st.none() | st.integers(0, 2**32 - 1),
)
def test_clusters_are_those_of_measuring_every_candidate_pair(collection, method, least, crowd, hurried, seed):
    """hurried: a round asks for few pairs, so that there are many rounds. seed: of roles and sites."""
    keys, similarity, samples = collection
    k = len(keys)
    buckets, sites = with_roles(bucketed(keys), seed)
    members = buckets.members

    def similar(i: int, j: int) -> bool:
        a, b = members[i], members[j]
        candidates = any(keys[g, a] == keys[g, b] for g in range(k))
        agreed = int((samples[a] == samples[b]).sum())
        return candidates and agreed >= least and similarity[max(a, b), min(a, b)] >= 0.8

    asked: list[tuple[int, int]] = []

    def measure(pairs):
        asked.extend((int(i), int(j)) for i, j in pairs)
        return np.array([similarity[max(members[i], members[j]), min(members[i], members[j])] for i, j in pairs])

    nothing = np.empty((0, 2), np.int32), np.empty(0)
    clusters = ClusterSettings(method, crowd=crowd if method == "star" else 1000)
    with pytest.MonkeyPatch.context() as patch:
        if hurried:
            patch.setattr("neardup.clusters.form._FEW", 1)
        shown = signatures(samples[members])
        formed = form(buckets, shown, rule(least, 4), clusters, measure, nothing, sites=sites)
    m = len(members)
    assert len(asked) == len(set(asked)) == formed.measured
    if method == "components":
        assert formed.centre.tolist() == naive.components(m, similar)
        return

    def agreed(i: int, j: int) -> int:
        return int((samples[members[i]] == samples[members[j]]).sum())

    def shared(i: int) -> list[int]:
        return buckets.entries[buckets.begins[i] : buckets.begins[i + 1]].tolist()

    role, site = role_of(buckets), (lambda i: -1) if sites is None else (lambda i: int(sites[i]))
    best = clusters.measured
    assert formed.centre.tolist() == naive.star(m, shared, agreed, least, similar, crowd, best, role, site)


def test_a_thousand_copies_cost_a_thousand_comparisons():
    n = 1000
    keys = np.zeros((3, n), np.uint64)
    buckets = bucketed(keys)
    asked = []

    def measure(pairs):
        asked.append(len(pairs))
        return np.ones(len(pairs))

    for method in ("star", "components"):
        asked.clear()
        formed = form(
            buckets, signatures(np.zeros((n, 8), np.uint8)), rule(4, 8), ClusterSettings(method), measure,
            (np.empty((0, 2), np.int32), np.empty(0)),
        )  # fmt: skip
        assert sum(asked) == n - 1
        assert (formed.centre == 0).all()


@pytest.mark.parametrize("method", ["star", "components"])
@pytest.mark.parametrize("crowd", [10, 400])
def test_a_crowd_of_different_documents_is_bounded_and_counted(method, crowd):
    n = 300
    keys = np.zeros((1, n), np.uint64)
    buckets = bucketed(keys)
    asked = []

    def measure(pairs):
        asked.append(len(pairs))
        return np.zeros(len(pairs))

    nothing = np.empty((0, 2), np.int32), np.empty(0)
    samples = signatures(np.zeros((n, 8), np.uint8))
    formed = form(buckets, samples, rule(0, 8), ClusterSettings(method, crowd=crowd), measure, nothing)
    bound = min(crowd, ClusterSettings().measured)
    assert sum(asked) <= n * (bound + 8)
    assert formed.rounds <= 5
    assert formed.cut_short.sum() >= n - bound - 1
    assert (formed.centre == np.arange(n)).all()


def test_one_line_templates_at_the_threshold_do_not_take_a_round_each():
    """All pairs lie at the threshold, and half of the sketches say so: a presumption that is often wrong."""
    n, width = 400, 140
    rng = np.random.default_rng(5)
    template = rng.integers(0, 256, width)
    samples = np.where(rng.random((n, width)) < 0.9, template, rng.integers(0, 256, (n, width))).astype(np.uint8)
    keys = np.zeros((1, n), np.uint64)
    buckets = bucketed(keys)
    nothing = np.empty((0, 2), np.int32), np.empty(0)
    formed = form(
        buckets, signatures(samples), rule(93, width), ClusterSettings(), lambda p: np.full(len(p), 0.8), nothing
    )  # fmt: skip
    assert (formed.centre == 0).all()
    assert formed.rounds <= 4
    assert formed.measured < 20 * n


@pytest.mark.parametrize("method", ["star", "components"])
@pytest.mark.parametrize("measured", [True, False])
def test_in_a_crowd_the_nearest_are_found(method, measured):
    """200 pages of one template, and one copy of the first: the last that a walk through the bucket meets."""
    n, width = 201, 100
    rng = np.random.default_rng(3)
    samples = rng.integers(0, 256, (n, width), np.uint8)
    samples[:, :75] = samples[0, :75]
    samples[n - 1, :97] = samples[0, :97]
    keys = np.zeros((1, n), np.uint64)
    least = rule(60, width) if measured else Rule(0.85, 0.85, 0.85, measured=False)

    def measure(pairs):
        return np.where((pairs[:, 0] == n - 1) & (pairs[:, 1] == 0), 0.97, 0.7)

    nothing = np.empty((0, 2), np.int32), np.empty(0)
    formed = form(bucketed(keys), signatures(samples), least, ClusterSettings(method), measure, nothing)
    assert formed.centre.tolist() == [*range(n - 1), 0]


@settings(max_examples=60)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([1, 2, 5, 1000]),
    st.sampled_from([0.1, 1, 8]),
    st.booleans(),
    st.booleans(),
)
def test_what_rounds_remember_changes_nothing(seed, crowd, remembered, hurried, divided):
    """Neither the answer nor the pairs that are asked for, nor the documents that were cut short; whatever fits."""
    rng = np.random.default_rng(seed)
    n = 40
    keys = rng.integers(0, 6, (3, n)).astype(np.uint64)
    samples = rng.integers(0, 2, (n, 4)).astype(np.uint8)
    similarity = rng.choice([0.5, 0.79, 0.8, 0.9], (n, n), p=[0.6, 0.2, 0.1, 0.1])
    buckets, sites = with_roles(bucketed(keys), seed if divided else None)
    nothing = np.empty((0, 2), np.int32), np.empty(0)

    def formed(room):
        asked = []

        def measure(pairs):
            asked.append(pairs.tolist())
            return similarity[buckets.members[pairs[:, 0]], buckets.members[pairs[:, 1]]]

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("neardup.clusters.form._REMEMBERED", room)
            if hurried:
                patch.setattr("neardup.clusters.form._FEW", 1)
            made = form(
                buckets,
                signatures(samples[buckets.members]),
                rule(1, 4),
                ClusterSettings("star", crowd=crowd),
                measure,
                nothing,
                sites=sites,
            )
        return made.centre.tolist(), made.cut_short.tolist(), made.rounds, asked

    assert formed(remembered) == formed(0)
