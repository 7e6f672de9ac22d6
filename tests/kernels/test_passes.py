"""Passes over whole buckets give the answer of `form`, when they are repeated until nothing changes."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup.clusters.form import form, latest
from neardup.clusters.settings import ClusterSettings
from neardup.kernels import groups as kernel
from tests.kernels.test_groups import bucketed, collections, rule, signatures, with_roles
from tests.naive import groups as naive

MOST = ClusterSettings().measured


def laid_out(buckets):
    """The rows of all buckets, one bucket behind the other, in order of priority; and where each bucket begins."""
    owners = np.repeat(np.arange(len(buckets.members)), np.diff(buckets.begins))
    order = np.lexsort([owners, buckets.entries])
    begins = np.concatenate([[0], np.cumsum(np.bincount(buckets.entries, minlength=buckets.count))])
    return owners[order], buckets.roles[order], begins


def chosen_of(owners, pairs, found):
    """Of every document: (-score, other), the best first, as many as are measured."""
    lists: dict[int, set[tuple[float, int]]] = {}
    for (i, j), score in zip(owners[pairs].tolist(), found.tolist(), strict=True):
        lists.setdefault(i, set()).add((-score, j))
    return {i: sorted(best)[:MOST] for i, best in lists.items()}


@settings(max_examples=300)
@given(
    collections(),
    st.integers(0, 3),
    st.sampled_from([1, 2, 1000]),
    st.booleans(),
    st.none() | st.integers(0, 2**32 - 1),
)
def test_stars(collection, least, crowd, presuming, seed):
    keys, similarity, samples = collection
    buckets, sites = with_roles(bucketed(keys), seed)
    members, wanted = buckets.members, rule(least, 4)
    similar = np.tril(similarity, -1)[np.ix_(members, members)] >= 0.8
    owners, roles, begins = laid_out(buckets)
    shown = signatures(samples[members][owners]).for_kernel
    places = np.empty(0, np.int32) if sites is None else sites[owners]
    kept = np.ones(len(members), bool)
    centre = np.arange(len(members))
    for turn in range(len(members) + 2):
        standing, cut = kept[owners], np.zeros(len(owners), bool)
        first = presuming and turn == 0
        pairs, found = kernel.star_pass(
            begins, np.zeros(len(begins) - 1, np.int64), standing, roles, places, first, shown, wanted.least, 0.7,
            crowd, MOST, np.empty(0), cut,
        )  # fmt: skip
        centre = np.arange(len(members))
        for i, best in chosen_of(owners, pairs, found).items():
            centre[i] = next((j for _, j in best if similar[i, j]), i)
        before, kept = kept, centre == np.arange(len(members))
        if (before == kept).all() and not first:
            break
    expected = form(
        buckets,
        signatures(samples[members]),
        wanted,
        ClusterSettings("star", crowd=crowd),
        lambda asked: np.where(similar[asked[:, 0], asked[:, 1]], 0.9, 0.1),
        (np.empty((0, 2), np.int32), np.empty(0)),
        sites=sites,
    )
    assert centre.tolist() == expected.centre.tolist()


@settings(max_examples=200)
@given(st.integers(1, 40), st.integers(1, 6), st.integers(0, 2**32 - 1), st.integers(1, 9), st.booleans())
def test_a_bucket_in_pieces_is_the_bucket(n, crowd, seed, piece, placed):
    """Rows that still stand are carried into the next piece: the latest, as many as are compared with; of every site
    where documents pass over those of their own."""
    rng = np.random.default_rng(seed)
    samples, standing = rng.integers(0, 2, (n, 4), np.uint8), rng.random(n) < 0.6
    roles = rng.choice([1, 2, 3, 5, 7], n).astype(np.uint8) if placed else np.full(n, 3, np.uint8)
    sites = rng.integers(-1, 3, n).astype(np.int32) if placed else np.empty(0, np.int32)

    def run(rows, carried):
        pairs, found = kernel.star_pass(
            np.array([0, len(rows)]), np.array([carried]), standing[rows], roles[rows],
            sites[rows] if placed else sites, False, signatures(samples[rows]).for_kernel,
            0.4, 0.7, crowd, MOST, np.empty(0), np.zeros(len(rows), bool),
        )  # fmt: skip
        return set(zip(rows[pairs[:, 0]].tolist(), rows[pairs[:, 1]].tolist(), found.tolist(), strict=True))

    whole = run(np.arange(n), 0)
    pieces, carry = set(), np.empty(0, np.int64)
    for start in range(0, n, piece):
        rows = np.concatenate([carry, np.arange(start, min(n, start + piece))])
        pieces |= run(rows, len(carry))
        carry = rows[
            latest(np.flatnonzero(standing[rows] & (roles[rows] & 2 > 0)), sites[rows] if placed else sites, crowd)
        ]
    assert pieces == whole


@settings(max_examples=300)
@given(collections(), st.integers(0, 3), st.booleans())
def test_components(collection, least, presuming):
    keys, similarity, samples = collection
    buckets = bucketed(keys)
    members, wanted = buckets.members, rule(least, 4)
    similar = np.tril(similarity, -1)[np.ix_(members, members)] >= 0.8
    owners, _, begins = laid_out(buckets)
    shown = signatures(samples[members][owners]).for_kernel
    labels = np.arange(len(members))
    seen: set[tuple[int, int]] = set()

    def measured(i: int, j: int) -> bool:
        return (i, j) in seen and bool(similar[i, j])

    for turn in range(len(members) + 2):
        cut = np.zeros(len(owners), bool)
        pairs, _ = kernel.component_pass(
            begins, labels[owners], presuming and turn == 0, shown, wanted.least, 0.8, 1000, MOST, cut
        )
        new = {tuple(pair) for pair in owners[pairs].tolist()} - seen
        if not new and turn:
            break
        seen.update(new)
        labels = np.array(naive.components(len(members), measured), np.int64)

    def connected(i: int, j: int) -> bool:
        together = any(keys[g, members[i]] == keys[g, members[j]] for g in range(len(keys)))
        agreed = int((samples[members[i]] == samples[members[j]]).sum())
        return together and agreed >= least and bool(similar[i, j])

    assert labels.tolist() == naive.components(len(members), connected)
