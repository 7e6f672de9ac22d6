"""What is lost by limits on comparisons: the estimate, against a count of all that was missed."""

import numpy as np
import pytest

import neardup
from neardup.clusters.form import form
from neardup.clusters.loss import Loss, loss
from neardup.clusters.settings import ClusterSettings
from neardup.recipes import choose_recipe
from tests.kernels.test_groups import bucketed, rule, signatures
from tests.spark.crowds import crowded


@pytest.mark.parametrize("method", ["star", "components"])
def test_the_documents_that_are_missed_are_counted(method):
    """300 documents under one key, each compared with ten; the last hundred are copies of the first."""
    n, buckets = 300, bucketed(np.zeros((1, 300), np.uint64))
    shown, nothing = signatures(np.zeros((n, 8), np.uint8)), (np.empty((0, 2), np.int32), np.empty(0))

    def measure(pairs):
        return np.where(np.abs(pairs[:, 0] - pairs[:, 1]) == 200, 0.9, 0.1)

    formed = form(buckets, shown, rule(0, 8), ClusterSettings(method, crowd=10), measure, nothing)
    found = loss(buckets, shown, rule(0, 8), formed, measure, star=method == "star")
    cut = np.flatnonzero(formed.cut_short)
    missed = cut >= 200
    assert found.crowded == len(cut) > 200
    assert found.sampled == 100
    assert found.missed / found.sampled == pytest.approx(missed.mean(), abs=0.02)
    share, low, high = found.recall(found=50)
    assert low < share < high
    assert share == pytest.approx(missed.sum() / (50 + missed.sum()), abs=0.03)


def test_what_a_component_missed_counts_once():
    """A large component and one document that belongs to it: one more would be removed, whatever it is similar to."""
    table = crowded(200, 0.8)
    removed = {}
    for crowd in (2, 1000):
        result = neardup.dedup(table, recipe=choose_recipe("bloom").changed(clusters_crowd=crowd))
        removed[crowd] = len(result.removed), result.counts.get("recall_lost_in_crowds")
    (found, lost), (all_of_them, nothing) = removed[2], removed[1000]
    assert nothing is None
    assert found < all_of_them
    assert lost["share"] == pytest.approx(1 - found / all_of_them, abs=0.005)


def test_a_sample_of_all_has_no_interval():
    assert Loss(crowded=40, sampled=40, missed=10).recall(found=30) == pytest.approx((0.25, 0.25, 0.25))
    assert Loss().recall(found=7) == (0.0, 0.0, 0.0)
    share, low, high = Loss(crowded=4000, sampled=100, missed=0).recall(found=1000)
    assert share == low == 0.0
    assert 0.05 < high < 0.2  # Wilson: at most 3.7 % of 4,000, beside 1,000 that were found


def test_a_run_says_how_much_recall_its_limits_cost():
    """A recipe that judges by sketches, in a crowd: with a narrow limit much is lost, with a wide one nothing."""
    table = crowded(2000, 0.8)
    lost = {}
    for crowd in (2, 2000):
        recipe = choose_recipe("default").changed(verify_method="sketch", clusters_crowd=crowd, clusters_measured=2000)
        result = neardup.dedup(table, recipe=recipe)
        removed = len(result.removed)
        lost[crowd] = result.counts.get("recall_lost_in_crowds"), removed, result.counts["crowded"]
    (narrow, found, cut), (wide, all_of_them, uncut) = lost[2], lost[2000]
    assert cut > 100
    assert (uncut, wide) == (0, None)
    assert narrow["low"] <= narrow["share"] <= narrow["high"]
    assert narrow["share"] > 0.05
    assert found < all_of_them
