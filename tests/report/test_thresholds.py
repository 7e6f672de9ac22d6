"""Scores, and what other thresholds would do: counted above, estimated below."""

from math import sqrt

import numpy as np
import pytest

import neardup
from neardup.report import below, collect, similarity
from neardup.report.collect import report_data
from neardup.report.facts import Facts
from tests.naive import report as naive
from tests.report.conftest import crawl


@pytest.fixture(scope="session")
def facts(crawled):
    return Facts(crawled, 1)


def test_every_removed_document_is_in_the_histogram_once(facts):
    found = similarity.histogram(facts)
    assert sum(n for *_, n in found["bins"]) + found["same_tokens"] == len(facts.decision.removed)
    for low, high, n in found["bins"]:
        scores = facts.decision.score[~facts.by_identity]
        inside = (scores >= low - 1e-9) & ((scores < high - 1e-9) | (high == 1.0))
        assert n == inside.sum()


def test_group_sizes(facts):
    sizes = dict(similarity.group_sizes(facts))
    kept = facts.decision.kept_for.tolist()
    assert sum(sizes.values()) == len(set(kept))
    assert sum(size * n for size, n in sizes.items()) == len(set(kept)) + len(kept)


def test_higher_thresholds_count_the_scores(facts):
    found = similarity.higher(facts)
    assert found[0] == [0.8, len(facts.decision.removed)]
    for threshold, n in found:
        assert n == (facts.decision.score >= threshold - 1e-9).sum()


def test_the_slider_tells_what_a_run_would_do(crawled, tmp_path):
    """Measured here: within 3 % of the collection, over the whole range; on the sample collection within 1 %."""
    data = report_data(crawled)["thresholds"]
    assert data["exact"]
    removed, documents = len(crawled.decision.removed), len(crawled.gathered.collection)
    told = {t: removed + more for t, more, *_ in data["lower"]} | dict(data["higher"])
    source = crawled.gathered.engine.splits[0].file.path
    for threshold in (0.55, 0.7, 0.9, 0.95):
        again = neardup.dedup(source, threshold=threshold)
        assert abs(len(again.decision.removed) - told[threshold]) <= 0.03 * documents, threshold


def test_neighbours_are_those_of_all_pairs(facts):
    """The sample is everything here, and all pairs are measured from the definition."""
    texts = facts.result.texts(range(len(facts)))
    found = below.find_neighbours(facts)
    assert not isinstance(found, str)
    assert len(found.sample) == found.kept
    exact = below.measured(facts, found, texts)
    assert exact.exact
    kept = [texts[n] for n in found.sample.tolist()]
    rows = below.lower(facts, exact)
    assert rows[0][0] == 0.79
    assert rows[-1][0] == pytest.approx(0.5)
    for threshold, more, low, high in rows[::5]:
        expected = naive.further_removals(kept, threshold, 0.8, 5)
        assert more == pytest.approx(expected, abs=0.6)  # both are rounded to whole documents
        assert low <= more <= high


def test_a_sample_estimates_the_whole(facts, monkeypatch):
    """Of 40 samples of 60 documents, the intervals of 95 % miss no more often than the binomial allows at 1 in 10⁴."""
    texts = facts.result.texts(range(len(facts)))
    everything = below.measured(facts, below.find_neighbours(facts), texts)
    [truth] = [more for t, more, *_ in below.lower(facts, everything) if t == 0.6]
    monkeypatch.setattr(below, "SAMPLE", 60)
    missed = 0
    for seed in range(40):
        again = Facts(facts.result, seed)
        found = below.measured(again, below.find_neighbours(again), texts)
        [(low, high)] = [(low, high) for t, _, low, high in below.lower(again, found) if t == 0.6]
        missed += not low <= truth <= high
    assert missed <= 40 * 0.05 + 3.7 * sqrt(40 * 0.05 * 0.95)


def test_without_texts_estimates_do(facts):
    found = below.find_neighbours(facts)
    again = below.measured(facts, found, {})
    assert not again.exact
    rows = below.lower(facts, again)
    assert [t for t, *_ in rows] == [t for t, *_ in below.lower(facts, below.measured(facts, found, {}))]
    assert all(more >= 0 for _, more, *_ in rows)


def test_bands_meet_as_the_definition_says():
    random = np.random.default_rng(3)
    mine, theirs = (random.integers(0, 4, (n, 9), dtype=np.uint8) for n in (20, 50))
    document, place = below._Bands(mine, 3).meeting(theirs)
    expected = {
        (d, p)
        for d in range(50)
        for p in range(20)
        if any((theirs[d, b : b + 3] == mine[p, b : b + 3]).all() for b in (0, 3, 6))
    }
    assert set(zip(document.tolist(), place.tolist(), strict=True)) == expected


def test_a_crowd_is_noticed_early(run):
    """A thousand pages of one template just below the threshold are half a million pairs: few of them are looked at."""
    from tests.corpus import WORDS

    shared = " ".join(WORDS[:60])
    own = np.random.default_rng(1).choice(WORDS, (1000, 16))
    facts = Facts(run([{"id": str(i), "text": f"{shared} {' '.join(words)}"} for i, words in enumerate(own)]), 1)
    found = below.find_neighbours(facts)
    assert not isinstance(found, str)
    assert found.kept == 1000
    assert (np.bincount(found.of, minlength=500) == below.NEIGHBOURS).all()
    [(_, more, *_)] = [row for row in below.lower(facts, found) if row[0] == 0.55]
    assert more > 900


@pytest.mark.parametrize(
    ("settings", "unit", "threshold"),
    [
        ({"recipe": "alg-c"}, "equal bits", 372),
        ({"recipe": "alg-b"}, "equal features", 2),
        ({"recipe": "by-site"}, "equal bits", 355),
        ({"recipe": "lists"}, "repetitions with an equal list", 1),
        ({"cluster": "components"}, "resemblance", 0.8),
        ({"verify": "none"}, "resemblance", 0),
    ],
)
def test_where_nothing_can_be_said_below(run, settings, unit, threshold):
    data = report_data(run(crawl(120), **settings))["thresholds"]
    assert (data["unit"], data["threshold"]) == (unit, threshold)
    assert data["lower"] == []
    assert data["why_not_lower"]
    assert [n for _, n in data["higher"]] == sorted((n for _, n in data["higher"]), reverse=True)


def test_wilson():
    """Newcombe 1998, table I: 81 of 263 gives 0.2553 to 0.3662; 0 of 20 gives 0 to 0.1611."""
    assert below.interval(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert below.interval(0, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)
    assert below.interval(0, 0) == (0.0, 1.0)


def test_pale_bars_stand_for_all_kept_documents(facts, monkeypatch):
    """Their areas add up to the kept documents that have a neighbour below the threshold."""
    for size in (10_000, 150):
        monkeypatch.setattr(below, "SAMPLE", size)
        found = below.find_neighbours(facts)
        best = below.nearest_kept(found)
        near = ((best >= found.floor) & (best < 0.8)).sum() * found.kept / len(found.sample)
        bars = collect._nearest(facts, found)
        assert sum(n * (b - a) / similarity.STEP for a, b, n in bars) == pytest.approx(near, rel=0.01)
        assert all(a >= found.floor - 1e-9 and b <= 0.8 for a, b, _ in bars)
