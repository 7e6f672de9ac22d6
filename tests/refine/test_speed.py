"""Grouping a page of results takes no time that a searcher would notice.

The least of several runs, in processor time of this thread alone, which others on the machine do not lengthen by much.
The limits are about three times what was measured on a busy machine; Python that looks at every pair takes longer.
"""

import os
import random
import time
from collections.abc import Callable
from typing import Any

import pytest

from neardup import group, sign
from tests.refine.lists import words

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="nothing is compiled")

RESULTS = 100


def least(work: Callable[[], Any], runs: int = 9) -> float:
    """Milliseconds of the fastest run. The first one is not counted: it may compile."""
    work()
    taken = []
    for _ in range(runs):
        begun = time.thread_time()
        work()
        taken.append(time.thread_time() - begun)
    return 1000 * min(taken)


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """Of 10 KB, each unlike the others: nothing is spared by a group that is found early."""
    rng = random.Random(10)
    made = [" ".join(words(rng, 2500))[:10_000] for _ in range(RESULTS)]
    assert {len(text.encode()) for text in made} == {10_000}
    return made


def test_of_signatures(texts):
    results = [{"id": place, "title": "a", "neardup_signature": sign(text)} for place, text in enumerate(texts)]
    assert len(group(results)) == RESULTS
    assert least(lambda: group(results).shown("fold")) < 3


def test_of_texts(texts):
    results = [{"id": place, "title": "a", "text": text} for place, text in enumerate(texts)]
    assert len(group(results)) == RESULTS
    assert least(lambda: group(results).shown("fold")) < 60
