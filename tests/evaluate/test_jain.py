"""Jain's fractions of near-duplicates: equal to clusters merged pair by pair, and to the figures of the paper."""

import numpy as np
import pytest

from neardup.evaluating import jain
from neardup.evaluating.exhibit import Exhibit
from neardup.evaluating.study import Matches
from tests.naive.henzinger import clusters


def some(seed: int, *, documents: int = 60, pairs: int = 90, lowest: float = 0.5, queries: int = 0) -> Matches:
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, documents, (pairs, 2))
    ends = ends[ends[:, 0] != ends[:, 1]]
    match = np.round(rng.uniform(lowest, 1.0, len(ends)), 2)
    lists = [(f"query {i}", rng.permutation(documents)[: 25 + 10 * i]) for i in range(queries)]
    return Matches(
        documents=documents, first=ends[:, 0], second=ends[:, 1], match=match, lowest=lowest, lists=lists
    )  # fmt: skip


def made(matches: Matches) -> dict[str, Exhibit]:
    return {exhibit.key: exhibit for exhibit in jain.exhibits(matches)}


def naive(matches: Matches, listed: list[int], degree: float) -> int:
    """Documents less clusters among those listed."""
    rows = zip(matches.first.tolist(), matches.second.tolist(), matches.match.tolist(), strict=True)
    near = [(a, b) for a, b, match in rows if match >= degree and a in listed and b in listed]
    return len(listed) - len(clusters(listed, near))


@pytest.mark.parametrize("seed", range(4))
def test_by_degree(seed: int) -> None:
    matches = some(seed)
    rows = made(matches)["jain-degree"].rows
    assert [row["degree of similarity"] for row in rows] == list(range(50, 101, 5))
    for row in rows:
        degree = int(row["degree of similarity"] or 0) / 100
        left = naive(matches, list(range(60)), degree)
        assert (row["near-duplicates"], row["clusters"]) == (left, 60 - left)
        assert row["fraction"] == pytest.approx(left / 60)
        near = matches.match >= degree
        assert row["documents with a near-duplicate"] == len({*matches.first[near], *matches.second[near]})


@pytest.mark.parametrize("seed", range(4))
def test_by_number_of_results(seed: int) -> None:
    matches = some(seed)
    rows = made(matches)["jain-figure-6"].rows
    assert {row["degree of similarity"] for row in rows} == {"50%", "60%", "70%", "80%", "90%"}
    for row in rows:
        size, degree = int(row["results"] or 0), int(str(row["degree of similarity"])[:-1]) / 100
        assert row["near-duplicates"] == naive(matches, list(range(size)), degree)


def test_every_query_has_its_own_ranks() -> None:
    matches = some(9, queries=3)
    rows = made(matches)["jain-figure-8"].rows
    for name, ranked in matches.lists:
        own = [row for row in rows if row["query"] == name]
        assert [row["results"] for row in own] == [*range(10, len(ranked), 10), len(ranked)]
        for row in own:
            listed = ranked[: int(row["results"] or 0)].tolist()
            assert row["near-duplicates"] == naive(matches, listed, 0.7)


def test_least_average_and_largest_over_the_queries() -> None:
    matches = some(10, queries=3)
    rows = made(matches)["jain-figure-13"].rows
    assert [(row["results"], row["queries"]) for row in rows] == [(10, 3), (20, 3), (30, 2), (40, 1), (45, 1)]
    for row in rows:
        size = int(row["results"] or 0)
        shares = [naive(matches, r[:size].tolist(), 0.7) / size for _, r in matches.lists if len(r) >= size]
        assert (row["least"], row["average"], row["largest"]) == pytest.approx(
            (min(shares), sum(shares) / len(shares), max(shares))
        )


def test_the_fractions_of_figure_6() -> None:
    """493 documents in 56, 220, 317, 328, 340 clusters at 50 to 90 %; from 88 % down to 31 % are duplicates."""
    published = {50: 56, 60: 220, 70: 317, 80: 328, 90: 340}
    # A star around document 0 has one pair less than documents: as many pairs of each degree as clusters are joined.
    match = np.concatenate(
        [np.full(340 - 328, 0.8), np.full(328 - 317, 0.7), np.full(317 - 220, 0.6), np.full(164, 0.5)]
    )
    match = np.concatenate([np.full(493 - 340, 0.9), match])
    first, second = np.zeros(len(match), np.int64), np.arange(1, len(match) + 1)
    rows = made(Matches(documents=493, first=first, second=second, match=match))["jain-degree"].rows
    found = {row["degree of similarity"]: row for row in rows}
    assert {degree: found[degree]["clusters"] for degree in published} == published
    assert int(100 * float(found[50]["fraction"] or 0)) == 88
    assert int(100 * float(found[90]["fraction"] or 0)) == 31


def test_degrees_below_those_looked_for_are_not_shown() -> None:
    exhibits = made(some(3, lowest=0.7))
    assert [row["degree of similarity"] for row in exhibits["jain-degree"].rows] == list(range(70, 101, 5))
    assert {row["degree of similarity"] for row in exhibits["jain-figure-6"].rows} == {"70%", "80%", "90%"}


@pytest.mark.parametrize("documents", [0, 1, 5])
def test_nothing_matches(documents: int) -> None:
    none = np.empty(0, np.int64)
    for exhibit in jain.exhibits(Matches(documents=documents, first=none, second=none, match=np.empty(0))):
        assert not exhibit.rows
        assert exhibit.chart is None
        assert exhibit.note.endswith(".")


def test_long_lists_have_a_hundred_points_at_the_most() -> None:
    n = 123_456
    matches = Matches(documents=n, first=np.arange(0, n - 1, 2), second=np.arange(1, n, 2), match=np.ones(n // 2))
    rows = made(matches)["jain-figure-6"].rows
    sizes = [row["results"] for row in rows if row["degree of similarity"] == "50%"]
    assert len(sizes) <= 101
    assert sizes[-1] == n
    assert rows[0]["results"] == 2000
    assert all(row["fraction"] == pytest.approx(0.5) for row in rows)
