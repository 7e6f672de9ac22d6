"""Groupings against scikit-learn, where it has the measure, and against definitions."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.cluster import pair_confusion_matrix

from neardup.evaluating.clusterings import cluster_measures
from neardup.evaluating.forest import components
from tests.naive import evaluation as naive


def groupings(seed, n=90):
    random = np.random.default_rng(seed)
    true = random.integers(0, 40, n)
    found = np.where(random.random(n) < 0.7, true, random.integers(0, 60, n))
    return found, true


def measured(found, true):
    first, second = [], []
    for labels in (found, true):
        order = np.argsort(labels, kind="stable")
        same = labels[order][1:] == labels[order][:-1]
        first.append(order[1:][same])
        second.append(order[:-1][same])
    component = components(len(found), np.concatenate(first), np.concatenate(second))
    return cluster_measures(np.asarray(found), np.asarray(true), component, level=0.95, seed=1)


@pytest.mark.parametrize("seed", range(12))
def test_measures_are_those_of_scikit_learn_and_of_the_definitions(seed):
    found, true = groupings(seed)
    m = measured(found, true)
    (_, wrong), (missed, right) = pair_confusion_matrix(true, found)
    assert m.precision.value == pytest.approx(right / (right + wrong))
    assert m.recall.value == pytest.approx(right / (right + missed))
    assert m.f1.value == pytest.approx(2 * right / (2 * right + wrong + missed))
    assert m.adjusted_rand.value == pytest.approx(adjusted_rand_score(true, found))
    ours, theirs = found.tolist(), true.tolist()
    assert m.adjusted_rand.value == pytest.approx(naive.adjusted_rand(ours, theirs))
    assert m.exact_sets.value == pytest.approx(naive.exact_sets(ours, theirs))
    inside, around = naive.bcubed(ours, theirs)
    assert m.bcubed_precision.value == pytest.approx(inside)
    assert m.bcubed_recall.value == pytest.approx(around)
    assert m.bcubed_f1.value == pytest.approx(2 * inside * around / (inside + around))
    assert m.true_groups == sum(len(g) > 1 for g in naive.groups_of(theirs))
    assert m.groups == sum(len(g) > 1 for g in naive.groups_of(ours))
    for x in m[4:]:
        assert 0.0 <= x.low <= x.value <= x.high <= 1.0


def test_the_same_groups_are_perfect_and_not_certain():
    """Nothing varies in a bootstrap of what is right throughout; Wilson's interval of 40 components remains."""
    true = np.repeat(np.arange(40), 2)
    m = measured(true, true)
    for x in m[4:]:
        assert x.value == x.high == 1.0
    assert m.precision.low == pytest.approx(0.912, abs=0.001)
    assert m.adjusted_rand.low < 1.0


def test_documents_alone_count_in_b_cubed_and_in_the_rand_index_only():
    found, true = groupings(5)
    more = np.arange(1000, 1200)
    less, whole = measured(found, true), measured(np.concatenate([found, more]), np.concatenate([true, more]))
    assert whole.f1 == less.f1
    assert whole.exact_sets == less.exact_sets
    assert whole.components == less.components
    assert whole.bcubed_f1.value > less.bcubed_f1.value
    both = np.concatenate([found, more]).tolist(), np.concatenate([true, more]).tolist()
    assert whole.bcubed_precision.value == pytest.approx(naive.bcubed(*both)[0])
    assert whole.adjusted_rand.value == pytest.approx(adjusted_rand_score(*both[::-1]))


def test_no_groups_at_all():
    m = measured(np.arange(5), np.arange(5))
    assert np.isnan(m.f1.value)
    assert m.adjusted_rand.value == 1.0
    assert m.bcubed_f1.value == 1.0
    assert (m.groups, m.true_groups) == (0, 0)
