"""Precision, recall, F1 and R against their definitions, for random truths and findings."""

import numpy as np
import pytest

from neardup.evaluating.collection import Found, coded, judge, place
from neardup.evaluating.measures import Judged, pair_measures
from neardup.evaluating.study import CORRECT, INCORRECT, UNDECIDED, UNLABELLED
from neardup.evaluating.truth import read_truth
from tests.naive import evaluation as naive

N = 60
IDS = [f"d{i:02d}" for i in range(N)]
VERDICTS = ("correct", "incorrect", "undecided")


def random_pairs(random, count):
    pairs = random.integers(0, N, (count, 2))
    return {naive.Pair((IDS[a], IDS[b])) for a, b in pairs.tolist() if a != b}


def case(seed):
    """Verdicts by pair, and what two recipes found."""
    random = np.random.default_rng(seed)
    listed = random_pairs(random, 120)
    verdicts = {pair: VERDICTS[random.integers(0, 3)] for pair in sorted(listed, key=sorted)}
    founds = []
    for _ in range(2):
        some = {pair for pair in sorted(listed, key=sorted) if random.random() < 0.5}
        founds.append(some | random_pairs(random, 25))
    return verdicts, founds


def found_of(pairs):
    numbers = np.array([sorted(IDS.index(x) for x in pair) for pair in pairs], np.int64).reshape(-1, 2)
    codes = np.sort(coded(numbers[:, 0], numbers[:, 1], N))
    return Found(codes, np.zeros(len(codes), bool), np.zeros(len(codes)), np.arange(N), 0, 0)


def judged_of(verdicts, founds, unlisted=None):
    import pyarrow as pa

    rows = [{"first": a, "second": b, "verdict": v} for (a, b), v in ((tuple(p), v) for p, v in verdicts.items())]
    placed = place(read_truth(rows), pa.array(IDS), unlisted=unlisted)
    return judge(placed, [found_of(f) for f in founds])


def measured(judged, recipe, base=0):
    nothing = (np.empty(0, np.int64), np.empty(0, np.int64))
    component = judged.linked([recipe, base], nothing)
    return pair_measures(judged, recipe, base, component, level=0.95, seed=1)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("unlisted", ["incorrect", "unknown"])
def test_measures_are_those_of_the_definitions(seed, unlisted):
    verdicts, founds = case(seed)
    judged = judged_of(verdicts, founds, unlisted)
    for i, found in enumerate(founds):
        c = naive.counts(found, verdicts, exhaustive=unlisted == "incorrect")
        m = measured(judged, i)
        assert (m.correct, m.incorrect, m.undecided, m.unknown, m.missed) == tuple(
            c[x] for x in ("correct", "incorrect", "undecided", "unknown", "missed")
        )
        assert m.pairs == len(found)
        assert m.precision.value == pytest.approx(naive.precision(c))
        assert m.recall.value == pytest.approx(naive.recall(c))
        assert m.f1.value == pytest.approx(naive.f1(c))
        assert m.correct_share.value == pytest.approx(c["correct"] / (c["correct"] + c["incorrect"] + c["undecided"]))
        assert m.r.value == pytest.approx(naive.relative(found, founds[0], verdicts))
        assert m.of_base.value <= 1.0
        for x in (m.precision, m.recall, m.f1, m.correct_share, m.r):
            assert x.low <= x.value <= x.high


def test_the_parts_of_a_split_add_up():
    verdicts, founds = case(3)
    judged = judged_of(verdicts, founds)
    half = np.arange(len(judged)) % 2 == 0
    whole, one, other = (measured(judged.take(np.flatnonzero(x)), 1) for x in (half | True, half, ~half))
    for name in ("pairs", "correct", "incorrect", "undecided", "unknown", "missed"):
        assert getattr(whole, name) == getattr(one, name) + getattr(other, name)


def test_components_are_of_documents_that_correct_or_found_pairs_connect():
    verdicts, founds = case(4)
    judged = judged_of(verdicts, founds)
    edges = {p for p, v in verdicts.items() if v == "correct"} | founds[0]
    expected = naive.components(IDS, edges)
    label = judged.linked([0], (np.empty(0, np.int64), np.empty(0, np.int64)))
    for a in range(N):
        assert {IDS[b] for b in np.flatnonzero(label == label[a]).tolist()} == expected[IDS[a]]


def henzinger(rows, recipes):
    """Judged pairs that share no documents: (verdict, found by the first, by the second) with a number each."""
    verdict = np.concatenate([np.full(n, v, np.int8) for v, _, n in rows])
    found = np.concatenate([np.tile(np.array(f)[:, None], n) for _, f, n in rows], axis=1)
    n = len(verdict)
    return Judged(
        documents=2 * n, first=2 * np.arange(n), second=2 * np.arange(n) + 1, verdict=verdict, weight=np.ones(n),
        found=found[:recipes],
    )  # fmt: skip


def test_the_numbers_of_section_3_5():
    """Table 12: of 962 pairs of the testing set 363 are returned, 287 of them correct, 0.79; and R is 0.79.

    R = 0.79 says that Alg. B has 287 / 0.79 = 363 correct pairs in the testing set; 0.15 of 363 are incorrect.
    """
    rows = [
        (CORRECT, (True, True), 287),
        (INCORRECT, (True, True), 54),
        (UNDECIDED, (True, True), 22),
        (CORRECT, (True, False), 363 - 287),
        (INCORRECT, (True, False), 962 - 363 - (363 - 287)),
    ]
    judged = henzinger(rows, 2)
    combined, b = measured(judged, 1), measured(judged, 0)
    assert combined.pairs == 363
    assert b.pairs == 962
    assert round(combined.correct_share.value, 2) == 0.79
    assert round(combined.r.value, 2) == round(combined.of_base.value, 2) == 0.79
    assert b.r == (1.0, 1.0, 1.0)
    # 244 correct pairs of Alg. B with three equal supershingles are fewer than the 287 of the combined algorithm.
    assert combined.r.low > 244 / 363


def test_r_of_3_4_2_exceeds_one():
    """Same site: Alg. B has 597 correct pairs and Alg. C 500. She says 20 % higher recall; 597 / 500 is 1.194."""
    rows = [(CORRECT, (False, True), 297), (CORRECT, (True, False), 200), (CORRECT, (True, True), 300)]
    assert measured(henzinger(rows, 2), 1).r.value == pytest.approx(1.194)


def test_undecided_pairs_and_unknown_ones_are_in_no_precision():
    rows = [(CORRECT, (True,), 3), (INCORRECT, (True,), 1), (UNDECIDED, (True,), 50), (UNLABELLED, (True,), 70)]
    m = measured(henzinger(rows, 1), 0)
    assert m.precision.value == 0.75
    assert m.correct_share.value == pytest.approx(3 / 54)
    assert m.recall.value == 1.0


def test_weights_weigh():
    judged = henzinger([(CORRECT, (True,), 2), (INCORRECT, (True,), 2)], 1)
    weighted = Judged(**{**vars(judged), "weight": np.array([3.0, 3.0, 1.0, 1.0])})
    even, uneven = measured(judged, 0), measured(weighted, 0)
    assert even.precision.value == 0.5
    assert uneven.precision.value == 0.75
    assert uneven.correct == even.correct == 2


def test_nothing_to_measure_is_no_number():
    m = measured(henzinger([(UNLABELLED, (True, False), 4)], 2), 1)
    assert np.isnan([m.precision.value, m.recall.value, m.f1.value, m.r.value, m.of_base.value]).all()
    assert m.components == 0
