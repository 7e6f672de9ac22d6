"""Filters of sampled elements, their scores, groups and the places of tokens, against their twins."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup.comparing.tokens import places
from neardup.kernels import results as kernel
from neardup.kernels import unicode_tables
from neardup.model import RELATIONS
from neardup.refine.signature import BITS, MOST
from tests.naive import refine as naive

sets = st.lists(
    st.tuples(st.integers(0, 60), st.integers(1, 60), st.booleans()).map(
        lambda drawn: (list(range(drawn[0], drawn[0] + drawn[1])), drawn[2])
    ),
    max_size=8,
)


def element(number: int) -> int:
    return random.Random(number).getrandbits(63)


def filled(elements: list[list[int]], hashes: int = 1, most: int = MOST) -> np.ndarray:
    out = np.full((len(elements), BITS // 64), 2**64 - 1, np.uint64)
    ends = np.cumsum([len(s) for s in elements]).astype(np.int64)
    kernel.fill(np.array([h for s in elements for h in s], np.uint64), ends, most, hashes, out)
    return out


def positions(row: np.ndarray) -> set[int]:
    return {64 * w + bit for w, word in enumerate(row.tolist()) for bit in range(64) if word >> bit & 1}


@pytest.mark.parametrize("hashes", [1, 2, 3])
def test_fill_takes_the_smallest(hashes, monkeypatch):
    monkeypatch.setattr(naive, "HASHES", hashes)
    many = [sorted(element(i) for i in range(n)) for n in (0, 1, 30, 31, 200)]
    for row, elements in zip(filled(many, hashes, most=30), many, strict=True):
        assert positions(row) == {p for h in elements[:30] for p in naive.positions(h)}


def test_count():
    rows = filled([sorted(element(i) for i in range(n)) for n in (0, 1, 500)])
    ones = np.empty(3, np.int64)
    kernel.count(rows, ones)
    assert ones.tolist() == [len(positions(row)) for row in rows]


@pytest.mark.parametrize("hashes", [1, 3])
def test_estimates(hashes, monkeypatch):
    monkeypatch.setattr(naive, "HASHES", hashes)
    sizes = np.empty(BITS + 1, np.float64)
    kernel.estimates(BITS, hashes, sizes)
    assert sizes.tolist() == pytest.approx([naive.stands_for(x) for x in range(BITS + 1)])
    assert sizes[0] == 0.0
    assert np.isfinite(sizes[BITS])


@given(sets, st.sampled_from([0.0, 0.5, 0.7, 1.0]), st.booleans())
@settings(max_examples=30)
def test_group_and_scores(drawn, threshold, contained):
    """Runs of numbers as sets, some of them with the same identity where they are the same set."""
    elements = [sorted(element(i) for i in numbers) for numbers, _ in drawn]
    identities = [hash((numbers[0], len(numbers))) if same else at for at, (numbers, same) in enumerate(drawn)]
    rows = filled(elements)
    n = len(drawn)
    counts = np.array([len(s) for s in elements], np.int64)
    ones = np.empty(n, np.int64)
    kernel.count(rows, ones)
    sizes = np.empty(BITS + 1, np.float64)
    kernel.estimates(BITS, 1, sizes)
    named = np.array([i % 2**64 for i in identities], np.uint64)
    anchors, relations = np.empty(n, np.int64), np.empty(n, np.int64)
    matches, containments = np.empty(n), np.empty(n)
    limit = max(0.9, threshold) if contained else 2.0
    kernel.group(rows, ones, counts, named, sizes, MOST, 1, threshold, limit, anchors, relations, matches, containments)
    told = [
        naive.Seen(len(s), int(i), frozenset(positions(row)))
        for s, i, row in zip(elements, named.tolist(), rows, strict=True)
    ]
    found = [
        (anchor, None if relation == kernel.ALONE else RELATIONS[relation])
        for anchor, relation in zip(anchors.tolist(), relations.tolist(), strict=True)
    ]
    assert found == naive.group(told, threshold, contained)
    pairs = np.argwhere(np.ones((n, n), bool)).reshape(-1, 2)
    scores = np.empty((len(pairs), 2))
    kernel.scores(rows, ones, counts, named, sizes, MOST, 1, pairs, scores)
    for (i, j), (match, containment) in zip(pairs.tolist(), scores.tolist(), strict=True):
        expected, within = naive.score(told[i], told[j])
        assert match == pytest.approx(expected)
        assert containment == pytest.approx(-1.0 if within is None else within)


@given(st.text(st.sampled_from([*"aB1 ,-\n東京กéßﷺ½①\u0301\u0327\u00ad\u200b\U00010400"]), max_size=60))
@settings(max_examples=100)
def test_token_places(text):
    data = text.encode()
    starts, ends = places(text)
    buffer = np.frombuffer(b"??" + data + b"?", np.uint8)
    begins, stops = np.empty(len(starts), np.int64), np.empty(len(starts), np.int64)
    n = kernel.token_places(buffer, 2, 2 + len(data), unicode_tables(), begins, stops)
    assert n == len(starts)
    assert [at - 2 for at in begins.tolist()] == [len(text[:at].encode()) for at in starts.tolist()]
    assert [at - 2 for at in stops.tolist()] == [len(text[:at].encode()) for at in ends.tolist()]


def test_no_room_for_the_places():
    data = np.frombuffer(b"one two three", np.uint8)
    room = np.empty(2, np.int64)
    assert kernel.token_places(data, 0, len(data), unicode_tables(), room, room.copy()) == -1
