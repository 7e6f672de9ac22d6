"""Henzinger's tables and figures: equal to the naive twin, and to what she published where that can be computed."""

import json
from collections import Counter

import numpy as np
import pytest

from neardup.evaluating import combined, henzinger
from neardup.evaluating.algorithms import Algorithm, algorithms, c_ranges, component_of
from neardup.evaluating.combined import choose, cut_offs, halves
from neardup.evaluating.exhibit import Exhibit
from neardup.evaluating.study import Study
from tests.evaluate.studies import as_pairs, plain, published, random_study
from tests.naive import henzinger as naive

SEEDS = (1, 2, 3)
KEYS = [
    "table-1", "figure-1", "table-2", "table-3", "table-4", "figure-2", "figure-3", "table-5", "table-6", "table-7",
    "figure-4", "graphs", "differences", "table-8", "table-9", "figure-5", "table-10", "figure-6", "figure-7",
    "table-11", "table-12", "compared",
]  # fmt: skip


def made(study: Study) -> dict[str, Exhibit]:
    return {exhibit.key: exhibit for exhibit in henzinger.exhibits(study)}


def returned(study: Study, letter: str) -> list[naive.Pair]:
    """The naive twin's pairs of one algorithm, copies removed."""
    return [p for p in naive.distinct(study.documents, as_pairs(study))[1] if p[f"in_{letter}"]]


def test_all_tables_and_figures_are_there_in_the_order_of_the_paper() -> None:
    assert [exhibit.key for exhibit in henzinger.exhibits(random_study(1))] == KEYS


@pytest.mark.parametrize("seed", SEEDS)
def test_copies_are_left_out(seed: int) -> None:
    study = random_study(seed)
    assert study.identical.any()
    documents, pairs = naive.distinct(study.documents, as_pairs(study))
    left = study.distinct()
    assert left.documents == documents
    assert as_pairs(left) == pairs


@pytest.mark.parametrize("seed", SEEDS)
def test_pairs_by_similarity(seed: int) -> None:
    study = random_study(seed, features=5)
    counts = Counter(p["b"] for p in returned(study, "b"))
    rows = made(study)["table-1"].rows
    assert {row["B-similarity"]: row["pairs"] for row in rows} == {b: counts[b] for b in range(2, 6)}
    assert sum(float(row["share"] or 0) for row in rows) == pytest.approx(1)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("key", "letter"), [("figure-1", "b"), ("figure-3", "c")])
def test_degrees(seed: int, key: str, letter: str) -> None:
    study = random_study(seed)
    found = {row["degree"]: row["pages"] for row in made(study)[key].rows}
    assert found == naive.degrees(returned(study, letter))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("key", "letter"), [("table-2", "b"), ("table-5", "c")])
def test_verdicts(seed: int, key: str, letter: str) -> None:
    study = random_study(seed)
    pairs = returned(study, letter)
    ranges = {"C-sim 372–375": (372, 375), "C-sim 376–378": (376, 378), "C-sim 379–381": (379, 381)}
    ranges["C-sim 382–384"] = (382, 384)
    groups = {"all": pairs, "same site": [p for p in pairs if p["site"] == 1]}
    groups["different sites"] = [p for p in pairs if p["site"] == 0]
    if letter == "b":
        groups |= {f"B-sim {b}": [p for p in pairs if p["b"] == b] for b in range(2, 7)}
    else:
        groups |= {name: [p for p in pairs if low <= p["c"] <= high] for name, (low, high) in ranges.items()}
    rows = {row["pairs of"]: row for row in made(study)[key].rows}
    assert set(rows) == {name for name, group in groups.items() if naive.shares(group)}
    for name, row in rows.items():
        expected = naive.shares(groups[str(name)])
        for verdict, code in (("correct", 1), ("incorrect", -1), ("undecided", 0)):
            assert row[verdict] == pytest.approx(float(expected[code]))
            assert float(row[f"{verdict} low"] or 0) <= float(expected[code]) <= float(row[f"{verdict} high"] or 0)


@pytest.mark.parametrize(("key", "letter"), [("table-3", "b"), ("table-6", "c")])
def test_kinds_of_correct_pairs(key: str, letter: str) -> None:
    study = random_study(4)
    correct = [p for p in returned(study, letter) if p["verdict"] == 1 and p["kind"]]
    rows = made(study)[key].rows
    assert {row["kind"]: row["pairs"] for row in rows} == Counter(p["kind"] for p in correct)
    on_site = Counter(p["kind"] for p in correct if p["site"] == 1)
    assert {row["kind"]: row["same site"] for row in rows} == on_site
    assert [row["pairs"] for row in rows] == sorted((row["pairs"] for row in rows), reverse=True)


@pytest.mark.parametrize("letter", ["b", "c"])
def test_term_differences(letter: str) -> None:
    study = random_study(5)
    exhibits = made(study)
    numbers = [p["difference"] for p in returned(study, letter) if p["difference"] >= 0]
    found = {row["term difference"]: row["pairs"] for row in exhibits["figure-2" if letter == "b" else "figure-4"].rows}
    assert found == Counter(numbers)
    row = next(row for row in exhibits["differences"].rows if row["algorithm"] == letter.upper())
    assert row["average"] == pytest.approx(float(naive.average(numbers)))
    assert row["90 % are below"] == naive.below_which_nine_in_ten(numbers)
    assert row["above 200"] == sum(n > 200 for n in numbers)
    large = Counter(p["verdict"] for p in returned(study, letter) if p["difference"] > 200)
    table = {row["verdict"]: row[f"Alg. {letter.upper()}"] for row in exhibits["table-8"].rows}
    assert table == {"incorrect": large[-1], "undecided": large[0], "correct": large[1]}


def test_similarities_given_each_other() -> None:
    study = random_study(6)
    exhibits = made(study)
    pairs = returned(study, "b")
    for row in exhibits["table-9"].rows:
        same = [p["c"] for p in pairs if p["b"] == row["B-similarity"]]
        assert row["C-similarity average"] == pytest.approx(float(naive.average(same)))
        assert row["C-similarity ≥ 372"] == pytest.approx(sum(c >= 372 for c in same) / len(same))
    for row in exhibits["figure-5"].rows:
        same = [p["c"] for p in pairs if p["b"] == row["B-similarity"]]
        assert row["pairs"] == same.count(int(row["C-similarity"] or 0))
        assert row["share"] == pytest.approx(same.count(int(row["C-similarity"] or 0)) / len(same))
    for row in exhibits["table-10"].rows:
        low, high = map(int, str(row["C-similarity"]).split("–"))
        values = [p["b"] for p in returned(study, "c") if low <= p["c"] <= high]
        assert row["B-similarity average"] == pytest.approx(float(naive.average(values)))
        assert row["B-similar"] == pytest.approx(sum(b >= 2 for b in values) / len(values))


@pytest.mark.parametrize("seed", SEEDS)
def test_every_cut_off(seed: int) -> None:
    """Between two rows the answer is that of the upper one; so all thresholds from 0 to the largest are compared."""
    study = random_study(seed)
    rows = made(study)["figure-6"].rows
    pairs = returned(study, "b")
    thresholds = [int(row["C-similarity threshold"] or 0) for row in rows]
    judged = [p["c"] for p in pairs if p["verdict"] != 2]
    assert thresholds[0] == 0
    for threshold in range(max(judged) + 1):
        row = rows[0 if threshold <= min(judged) else next(i for i, t in enumerate(thresholds) if t >= threshold)]
        precision, r = naive.combined(pairs, threshold)
        assert (row["precision"], row["R"]) == (pytest.approx(float(precision or 0)), pytest.approx(float(r or 0)))


@pytest.mark.parametrize("seed", SEEDS)
def test_halves_split_no_component_and_are_even(seed: int) -> None:
    b, _ = algorithms(random_study(seed).distinct())
    training, testing = halves(b, seed=seed)
    assert not (training & testing).any()
    assert ((training | testing) == b.judged).all()
    component = component_of(b.study)
    assert not set(component[training].tolist()) & set(component[testing].tolist())
    largest = np.unique(component[b.judged], return_counts=True)[1].max()
    assert abs(int(training.sum()) - int(testing.sum())) <= largest
    assert (halves(b, seed=seed)[0] == training).all()
    assert (halves(b, seed=seed + 100)[0] != training).any()


def test_the_choice_is_made_on_one_half_and_tested_on_the_other() -> None:
    study = random_study(7, clusters=150)
    exhibits = made(study)
    b, c = algorithms(study.distinct())
    training, testing = halves(b)
    found = [(x.threshold, x.precision.value, x.recalled.value) for x in cut_offs(b, training)]
    chosen = choose(found)
    assert [row["C-similarity threshold"] for row in exhibits["figure-7"].rows if row["chosen"]] == [chosen]
    assert chosen in [row["C-similarity threshold"] for row in exhibits["table-11"].rows]
    here = [p for p, is_test in zip(as_pairs(b.study), testing.tolist(), strict=True) if is_test]
    row = exhibits["table-12"].rows[0]
    precision, r = naive.combined(here, chosen)
    assert (row["correct"], row["R"]) == (pytest.approx(float(precision or 0)), pytest.approx(float(r or 0)))
    rows = {str(row["algorithm"]): row for row in exhibits["compared"].rows}
    assert rows["Algorithm B"]["R"] == 1.0
    assert rows[f"combined, cut-off {chosen}"]["R"] == pytest.approx(float(r or 0))
    _check_by_site(b, c, testing, chosen, rows["C on different sites, else combined"])


def _check_by_site(b: Algorithm, c: Algorithm, testing: np.ndarray, chosen: int, row: object) -> None:
    components = set(component_of(b.study)[testing].tolist())
    here = component_of(b.study).tolist()
    trained = set(component_of(b.study)[b.judged & ~testing].tolist())
    correct = pairs = 0
    for p, component in zip(as_pairs(b.study), here, strict=True):
        both = p["in_b"] and p["c"] >= chosen
        if p["verdict"] != 2 and component not in trained and (p["in_c"] if p["site"] == 0 else both):
            pairs += 1
            correct += p["verdict"] == 1
    assert components
    assert isinstance(row, dict)
    assert (row["pairs"], row["correct"]) == (pairs, correct)


# What she published.


def test_table_1_has_her_shares() -> None:
    millions = {2: 958_899_366, 3: 383_076_019, 4: 225_454_277, 5: 158_989_276, 6: 104_628_248}
    assert round(sum(millions.values()) / 1e6) == 1831
    b = np.repeat(list(millions), [round(n / 1e5) for n in millions.values()])
    rows = made(plain(len(b), b=b))["table-1"].rows
    assert [round(100 * float(row["share"] or 0), 1) for row in rows] == [52.4, 20.9, 12.3, 8.7, 5.7]


def test_table_2_has_her_precision() -> None:
    """From its own rows by B-similarity: 0.38 over all, 0.66 from four equal supershingles on."""
    table = [
        (2, 1032, 0.24, 0.68),
        (3, 389, 0.42, 0.48),
        (4, 240, 0.55, 0.36),
        (5, 143, 0.71, 0.23),
        (6, 106, 0.85, 0.05),
    ]
    rows = [(b, round(n * p), round(n * q), n - round(n * p) - round(n * q)) for b, n, p, q in table]
    study = published(rows)
    found = {row["pairs of"]: row for row in made(study)["table-2"].rows}
    assert found["all"]["pairs"] == 1910
    assert [round(float(found["all"][v] or 0), 2) for v in ("correct", "incorrect", "undecided")] == [0.38, 0.53, 0.08]
    high = [found[f"B-sim {b}"] for b in (4, 5, 6)]
    correct = sum(float(row["correct"] or 0) * int(row["pairs"] or 0) for row in high)
    assert round(correct / sum(int(row["pairs"] or 0) for row in high), 2) == 0.66


def test_her_average_degrees_follow_from_pairs_and_pages() -> None:
    """1,831M pairs on 27.4M pages: she says about 135; 1,630M on 35.5M: almost 92."""
    assert pytest.approx(135, rel=0.02) == 2 * 1831 / 27.4
    assert pytest.approx(92, rel=0.01) == 2 * 1630 / 35.5
    study = random_study(8)
    row = made(study)["graphs"].rows[0]
    pairs = returned(study, "b")
    assert row["average degree"] == pytest.approx(2 * len(pairs) / sum(naive.degrees(pairs).values()))


def test_tables_5_and_10_have_her_ranges() -> None:
    assert c_ranges(384, 372) == [(372, 375), (376, 378), (379, 381), (382, 384)]
    for bits, least in ((64, 61), (64, 64), (64, 63), (128, 100)):
        ranges = c_ranges(bits, least)
        assert [c for low, high in ranges for c in range(low, high + 1)] == list(range(least, bits + 1))


TABLE_11 = [
    (351, 0.754, 0.869), (352, 0.763, 0.858), (353, 0.768, 0.836), (354, 0.771, 0.825), (355, 0.770, 0.808),
    (356, 0.776, 0.789), (357, 0.784, 0.775), (358, 0.784, 0.747), (359, 0.789, 0.736),
]  # fmt: skip


def test_the_cut_off_of_table_11_is_355() -> None:
    assert choose(TABLE_11) == 355
    assert choose(TABLE_11, keep=0.83) == 353
    assert choose([(0, 0.38, 1.0), *TABLE_11]) == 355


def test_a_cut_off_that_gains_nothing_is_not_taken() -> None:
    assert choose([(0, 0.991, 1.0), (350, 0.993, 0.95), (380, 0.994, 0.82)]) == 0


def test_section_3_5_adds_up() -> None:
    """287 of 363 pairs are correct, of 363 that Algorithm B has among 962; and her last sum is 1,293M, not 1,335M."""
    assert round(287 / 363, 2) == 0.79
    assert round(287 / 0.79 / 962, 2) == 0.38
    different, same = round(1600 * 0.26), 1163
    correct = round(different * 0.9) + round(same * 0.79)
    assert (different, correct) == (416, 374 + 919)
    assert correct == 1293 != 1335
    assert round(correct / (different + same), 2) == 0.82


# What collections do not have.


@pytest.mark.parametrize("study", [plain(0), plain(3), plain(40, verdict=np.ones(40, np.int8))])
def test_what_is_not_there_is_said(study: Study) -> None:
    exhibits = made(study)
    assert list(exhibits) == KEYS
    for exhibit in exhibits.values():
        assert exhibit.rows or exhibit.note.endswith(".")
        assert exhibit.rows or exhibit.chart is None
        json.dumps([dict(row) for row in exhibit.rows], allow_nan=False)
        json.dumps(exhibit.chart, allow_nan=False)


def test_without_urls_nothing_is_told_apart_by_site() -> None:
    exhibit = made(plain(40, verdict=np.ones(40, np.int8)))["table-2"]
    assert [row["pairs of"] for row in exhibit.rows] == ["all", "B-sim 2"]
    assert "No URLs" in exhibit.note


def test_only_wrong_pairs_have_no_cut_off() -> None:
    exhibits = made(plain(40, verdict=np.full(40, -1, np.int8)))
    assert exhibits["figure-6"].rows
    assert "labelled correct" in exhibits["figure-7"].note
    assert "labelled correct" in exhibits["table-12"].note


def test_other_bits_and_features() -> None:
    study = random_study(9, features=12, bits=128, least_c=120)
    exhibits = made(study)
    assert [row["B-similarity"] for row in exhibits["table-1"].rows] == list(range(2, 13))
    assert [row["C-similarity"] for row in exhibits["table-10"].rows] == ["120–122", "123–124", "125–126", "127–128"]
    assert "120" in exhibits["table-9"].caption


# Weights, levels, copies, and why something is not there.


def test_weights_reach_every_share_of_labelled_pairs() -> None:
    """A correct pair of weight 1 beside an incorrect one of weight 9: a tenth is correct, wherever it is told."""
    n = 40
    verdict = np.where(np.arange(n) % 2, -1, 1).astype(np.int8)
    weight = np.where(verdict == 1, 1.0, 9.0)
    # Two pairs of every three pages, so that every component has one of each.
    first = np.arange(n) // 2 * 3 + np.arange(n) % 2
    values = {"documents": 60, "first": first, "second": first + 1, "verdict": verdict, "weight": weight}
    values |= {"in_c": np.ones(n, bool), "term_difference": np.full(n, 300)}
    exhibits = made(plain(n, **values))
    for key in ("table-2", "table-5", "table-12"):
        assert exhibits[key].rows[0]["correct"] == pytest.approx(0.1), key
    for key in ("figure-6", "figure-7", "table-11", "compared"):
        assert exhibits[key].rows[0]["precision"] == pytest.approx(0.1), key
        assert "weights of the truth" in exhibits[key].note
    large = {row["verdict"]: row for row in exhibits["table-8"].rows}
    assert (large["correct"]["Alg. B"], large["correct"]["share B"]) == (20, pytest.approx(0.1))
    assert "weights" not in exhibits["table-1"].note + exhibits["table-9"].note
    assert "weights" not in made(plain(n, verdict=verdict))["table-2"].note


@pytest.mark.parametrize(("key", "letter"), [("table-3", "b"), ("table-6", "c")])
def test_kinds_are_weighted(key: str, letter: str) -> None:
    study = random_study(4)
    correct = [p for p in returned(study, letter) if p["verdict"] == 1 and p["kind"]]
    for row in made(study)[key].rows:
        of_kind = [p for p in correct if p["kind"] == row["kind"]]
        assert row["share"] == pytest.approx(float(naive.weight(of_kind) / naive.weight(correct)))


def test_the_cut_off_is_chosen_by_weight() -> None:
    """Wrong pairs of 340 bits and right ones of 370: a cut-off helps only where the wrong ones weigh something."""
    n = 200
    wrong = np.arange(n) % 10 == 0
    values = {"verdict": np.where(wrong, -1, 1).astype(np.int8), "c": np.where(wrong, 340, 370)}
    for weight, chosen in ((1e-3, 0), (5.0, 370)):
        rows = made(plain(n, weight=np.where(wrong, weight, 1.0), **values))["figure-7"].rows
        assert [row["C-similarity threshold"] for row in rows if row["chosen"]] == [chosen]


def test_the_level_reaches_the_exhibits() -> None:
    study = random_study(3)
    wide, narrow = ({e.key: e for e in henzinger.exhibits(study, level=level)} for level in (0.99, 0.5))
    for key, name in (("table-2", "correct"), ("figure-6", "precision"), ("table-1", "share")):
        one, other = wide[key].rows[0], narrow[key].rows[0]
        assert one[name] == other[name]
        assert one[f"{name} high"] - one[f"{name} low"] > 1.5 * (other[f"{name} high"] - other[f"{name} low"])
    assert "99 % interval" in str(wide["figure-6"].chart)
    assert "50 % interval" in str(narrow["figure-6"].chart)
    assert "95 %" not in str(wide["figure-6"].chart)


def test_labels_of_copies_move_to_the_page_that_stays() -> None:
    """Pages 0 and 3 are copies, and 1 and 4; what is said of (3, 1), (0, 4) and (3, 2) is said of (0, 1) and (0, 2)."""
    first, second = np.array([0, 1, 0, 1, 0, 0, 2]), np.array([3, 4, 1, 3, 4, 2, 3])
    values = {"identical": np.arange(7) < 2, "documents": 5, "first": first, "second": second}
    weight, words = np.array([1, 1, 1, 3.0, 3.0, 1, 7.0]), ["", "", "", "yes", "yes", "", "no"]
    verdict = np.array([1, 1, 2, 1, 1, 2, -1], np.int8)
    left = plain(7, verdict=verdict, weight=weight, reason=words, **values).distinct()
    assert [*zip(left.first.tolist(), left.second.tolist(), left.verdict.tolist(), strict=True)] == [
        (0, 1, 1),
        (0, 2, -1),
    ]
    assert left.weight.tolist() == [3, 7]
    assert left.reason == ["yes", "no"]
    assert (left.documents, left.contradictions) == (3, 0)
    assert left.distinct() is left
    verdict = np.array([1, 1, 2, 1, -1, 2, -1], np.int8)
    against = plain(7, verdict=verdict, reason=words, **values)
    assert against.distinct().verdict.tolist() == [0, -1]
    assert "1 pair counts as undecided" in made(against)["table-2"].note


def test_prefilled_forms_stand_beside_the_verdicts() -> None:
    """Her parenthesis in tables 2 and 5: out of all pairs of the row."""
    verdict, words = np.array([0, 0, 0, 1, -1], np.int8), ["form", "Prefilled form", "cannot evaluate", "form", ""]
    [row, *_] = made(plain(5, verdict=verdict, reason=words))["table-2"].rows
    assert (row["undecided"], row["forms"]) == (pytest.approx(0.6), pytest.approx(0.4))
    assert "forms" not in made(plain(5, verdict=verdict))["table-2"].rows[0]


def test_why_there_is_no_second_half() -> None:
    chain = {"documents": 11, "first": np.arange(10), "second": np.arange(1, 11)}
    exhibits = made(plain(10, verdict=np.ones(10, np.int8), **chain))
    assert exhibits["figure-7"].rows
    for key in ("table-12", "compared"):
        assert "one connected component" in exhibits[key].note
        assert "S1 has 10 judged pairs, S2 0." in exhibits[key].note


def test_why_no_cut_off_is_chosen() -> None:
    """One component is correct and one is not: whichever half has the correct one, the other half has none."""
    seen = set()
    for verdict in ([1, -1], [-1, 1]):
        exhibits = made(plain(2, verdict=np.array(verdict, np.int8)))
        seen |= {exhibits["figure-7"].note, exhibits["compared"].note}
    sizes = "S1 has 1 judged pairs, S2 1."
    assert f"S1 has no correct pair, so no cut-off can be chosen on it. {sizes}" in seen
    assert f"Algorithm B has no correct pair in S2, so R is not defined there. {sizes}" in seen


def test_why_nothing_passes_the_cut_off() -> None:
    b, _ = algorithms(plain(4, verdict=np.ones(4, np.int8), c=np.array([380, 380, 340, 340])))
    exhibit = combined.tested(b, np.array([False, False, True, True]), 370, "")
    assert exhibit.note.startswith("None of the 2 judged pairs of S2 has C-similarity 370 or more")
