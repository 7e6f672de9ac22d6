"""Rounds of clustering and measuring, until no presumption is left in the answer.

star: in the order of the keep policy, a document that is similar to a kept one is removed, any other is kept: the
lexicographically first maximal independent set of the candidate graph. components: the papers' union-find.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.candidates.features import Buckets
from neardup.clusters.settings import ClusterSettings
from neardup.kernels import groups as kernel
from neardup.verify.signatures import Rule, Signatures

_FEW = 10_000
"""Pairs that the first round asks for, or one per document: early presumptions are often wrong, and cost little so."""

_REMEMBERED = 8
"""Candidates per document that a round leaves to the next, on average at the most: 12 bytes each."""

Measure = Callable[[NDArray[np.int32]], NDArray[np.float64]]
"""Pairs of rows (later, earlier) → what was measured of them."""


@dataclass(frozen=True)
class Formed:
    """centre[i] is the row whose document stands for row i; itself where it is kept."""

    centre: NDArray[np.int32]
    cut_short: NDArray[np.bool_]
    """Rows that are kept though they were compared with only some of their many candidates."""
    rounds: int
    measured: int

    @property
    def crowded(self) -> int:
        """Count the rows that were cut short."""
        return int(self.cut_short.sum())


def form(
    buckets: Buckets,
    signatures: Signatures,
    rule: Rule,
    clusters: ClusterSettings,
    measure: Measure,
    known: tuple[NDArray[np.int32], NDArray[np.float64]],
    *,
    sites: NDArray[np.int32] | None = None,
    fixed: int = 0,
    joining: bool = True,
) -> Formed:
    """Cluster documents whose rows are in the order of the keep policy. `known`: pairs measured in an earlier run.

    sites: the number of each row's site, -1 where it is unknown; for buckets in which sites matter.

    Stars only: the first `fixed` rows are kept whatever they are similar to; without `joining` the others are compared
    with those alone.
    """
    n = len(buckets.members)
    pairs, values = known
    centre = np.empty(n, np.int32)
    cut_short = np.zeros(n, np.bool_)
    sites = np.empty(0, np.int32) if sites is None else sites
    star = clusters.method == "star"
    if not star and rule.presumed < rule.threshold <= 1.0:  # a wrong presumption connects what does not belong together
        rule = replace(rule, presumed=rule.threshold)
    one_round: Callable[..., Any] = kernel.star_round if star else kernel.component_round
    memory = kernel.nothing_remembered()
    room = int(_REMEMBERED * n) if rule.measured else 0
    rounds = 0
    at_once = max(n, _FEW)
    while True:
        rounds += 1
        doubt = np.zeros(n, np.bool_)
        doubt[pairs[values < rule.threshold, 0]] = True
        asked, *left = one_round(
            buckets.entries,
            buckets.begins,
            buckets.count,
            signatures.for_kernel,
            rule.least,
            rule.presumed,
            rule.threshold,
            rule.measured,
            clusters.crowd,
            clusters.measured,
            at_once,
            doubt,
            kernel.pair_table(pairs),
            pairs,
            values,
            cut_short,
            centre,
            *((buckets.roles, sites, fixed, joining, memory, room, rule.strict) if star else ()),
        )
        memory = left[0] if star else memory
        if not len(asked):
            return Formed(centre, cut_short & (centre == np.arange(n)), rounds, len(pairs))
        at_once = min(at_once + max(n, _FEW), kernel.AT_ONCE)
        values = np.concatenate([values, measure(asked)])
        pairs = np.concatenate([pairs, asked])


def latest(rows: NDArray[np.int64], sites: NDArray[np.int32], most: int) -> NDArray[np.int64]:
    """Return the latest rows, at most `most`; where sites are given, the latest `most` of every site.

    They are what a bucket that is passed over in pieces hands on from one piece to the next.
    """
    if not len(sites):
        return rows[-most:]
    order = np.argsort(sites[rows], kind="stable")[::-1]
    of = sites[rows][order]
    firsts = np.flatnonzero(np.append(True, of[1:] != of[:-1])) if len(of) else np.empty(0, np.int64)
    nth = np.arange(len(of)) - np.repeat(firsts, np.diff(np.append(firsts, len(of))))
    return np.sort(rows[order[nth < most]])
