"""Recall and precision on a case worked by hand."""

import numpy as np
import pyarrow as pa
import pytest

from benchmarks.speed.quality import Outcome, UnknownDocumentError, judge
from benchmarks.speed.truth import Truth

# a-b 0.9, b-c 0.85, c-d 0.5, e-f 1.0
TRUTH = Truth(
    ids=pa.array(list("abcdef")),
    left=np.array([0, 1, 2, 4]),
    right=np.array([1, 2, 3, 5]),
    resemblance=np.array([0.9, 0.85, 0.5, 1.0]),
)


def test_by_hand():
    # b goes with a; c is only like b, which is gone; d was never like anything kept; e and f are missed.
    found = judge(Outcome(["b", "c", "d"], [["a", "b", "c", "d"]]), TRUTH, threshold=0.8)
    assert found.true_pairs == 3
    assert found.recall == found.recall_strict == pytest.approx(2 / 3)
    assert found.precision == pytest.approx(1 / 3)


def test_a_removal_without_a_group_counts_only_loosely():
    found = judge(Outcome(["b"], []), TRUTH, threshold=0.8)
    assert found.recall == pytest.approx(2 / 3)
    assert found.recall_strict == 0.0
    assert found.precision == 1.0


def test_nothing_removed_has_no_precision():
    assert judge(Outcome([], []), TRUTH, threshold=0.8).precision is None


def test_unknown_ids_are_refused():
    with pytest.raises(UnknownDocumentError, match="'z'"):
        judge(Outcome(["z"], []), TRUTH, threshold=0.8)
