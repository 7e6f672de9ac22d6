"""Rounds of clustering and measuring, until no presumption is left in the answer.

star: in the order of the keep policy, a document that is similar to a kept one is removed, any other is kept: the
lexicographically first maximal independent set of the candidate graph. components: the papers' union-find.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup.candidates.features import Buckets
from neardup.clusters.settings import ClusterSettings
from neardup.kernels import groups as kernel
from neardup.verify.settings import VerifySettings

Measure = Callable[[NDArray[np.int32]], NDArray[np.float64]]
"""Pairs of rows (later, earlier) → their exact resemblance."""


@dataclass(frozen=True)
class Formed:
    """centre[i] is the row whose document stands for row i; itself where it is kept."""

    centre: NDArray[np.int32]
    crowded: int
    """How many documents were compared with only some of their many candidates."""
    rounds: int
    measured: int


def form(
    buckets: Buckets,
    samples: NDArray[np.uint8],
    least: int,
    verify: VerifySettings,
    clusters: ClusterSettings,
    measure: Measure,
    known: tuple[NDArray[np.int32], NDArray[np.float64]],
) -> Formed:
    """Cluster documents whose rows are in the order of the keep policy. `known`: pairs measured in an earlier run."""
    n = len(buckets.members)
    pairs, values = known
    centre = np.empty(n, np.int32)
    exact = verify.method == "exact"
    threshold = 0.0 if verify.method == "none" else verify.threshold
    least = least if exact else 0
    rounds = 0
    while True:
        rounds += 1
        doubt = np.zeros(n, np.bool_)
        doubt[pairs[values < threshold, 0]] = True
        table = kernel.pair_table(pairs)
        candidates = (buckets.numbers, buckets.count, samples, least, threshold, exact, clusters.crowd)
        measured = (doubt, table, pairs, values)
        if clusters.method == "star":
            asked, crowded = kernel.star_round(*candidates, *measured, centre)
        else:
            asked, crowded = kernel.component_round(*candidates, *measured, centre)
        if not len(asked):
            return Formed(centre, int(crowded), rounds, len(pairs))
        values = np.concatenate([values, measure(asked)])
        pairs = np.concatenate([pairs, asked])
