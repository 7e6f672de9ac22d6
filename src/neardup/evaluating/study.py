"""What the papers' tables and figures are made of: plain arrays, one entry per pair.

Study     the pairs that Algorithm B or Algorithm C returned (Henzinger 2006), with what is known of each
Matches   the pairs with their Bloom filter match, and the ranked lists (Jain, Dahlin, Tewari 2005)

Documents are named by their number in the collection. Arrays are read, never written.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from neardup.evaluating.forest import components

CORRECT: Final = 1
INCORRECT: Final = -1
UNDECIDED: Final = 0
UNLABELLED: Final = 2

SAME_SITE: Final = 1
DIFFERENT_SITES: Final = 0
SITE_UNKNOWN: Final = -1

NOT_MEASURED: Final = -1

CONTRADICTION: Final = "contradicting copies"
"""The reason why such pairs are undecided."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Study:
    """Every pair that alg-b or alg-c returned; both similarities are given for all of them, whoever returned it."""

    documents: int
    """Of the collection, with and without near-duplicates."""
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    b: NDArray[np.int64]
    """B-similarity: equal supershingles, 0 to `features`."""
    c: NDArray[np.int64]
    """C-similarity: equal bits, 0 to `bits`."""
    in_b: NDArray[np.bool_]
    """Whether alg-b returned it."""
    in_c: NDArray[np.bool_]
    """Whether alg-c returned it."""
    same_site: NDArray[np.int8]
    """1 same site, 0 different sites, -1 unknown (no URL)."""
    verdict: NDArray[np.int8]
    """1 correct, -1 incorrect, 0 undecided, 2 unlabelled."""
    weight: NDArray[np.float64]
    """How many pairs a labelled one stands for; 1 where the truth does not say."""
    term_difference: NDArray[np.int64]
    """Tokens that `diff` returns (section 3.2), -1 where it was not measured."""
    identical: NDArray[np.bool_]
    """Whether the two token sequences are equal (`measured` is "identity" in the pairs). See `distinct`."""
    kind: Sequence[str] | None = None
    """Kind of difference (tables 3 and 6), "" where it was not looked for."""
    reason: Sequence[str] | None = None
    """Why a pair is undecided (tables 4 and 7), "" where nobody said."""

    features: int = 6
    """k of the recipe alg-b."""
    least_b: int = 2
    """Equal supershingles of a B-similar pair: r of the recipe alg-b."""
    bits: int = 384
    """bits of the recipe alg-c."""
    least_c: int = 372
    """Equal bits of a C-similar pair: similar of the recipe alg-c."""
    contradictions: int = 0
    """Pairs that became undecided in `distinct`."""

    def __post_init__(self) -> None:
        n = len(self.first)
        for name in _PER_PAIR:
            values = getattr(self, name)
            assert values is None or len(values) == n, f"{name}: {len(values)} of {n} pairs"

    def __len__(self) -> int:
        return len(self.first)

    def take(self, which: NDArray[Any]) -> "Study":
        """Some of the pairs, by a mask or by their places."""
        places = np.arange(len(self))[which]
        chosen: dict[str, Any] = {}
        for name in _PER_PAIR:
            values = getattr(self, name)
            if isinstance(values, np.ndarray):
                chosen[name] = values[places]
            elif values is not None:
                chosen[name] = [values[i] for i in places.tolist()]
        return replace(self, **chosen)

    def distinct(self) -> "Study":
        """One page per identity set: the others and their pairs are left out, as before her experiments (section 3).

        The page with the lowest number stays; without that step, copies would fill B-similarity 6 and C-similarity 384.
        What was said of a pair of copies holds of the pages that stay, for the texts are the same: it moves there. Two
        verdicts that differ make a pair undecided.
        """
        if not self.identical.any():
            return self
        n = int(max(self.first.max(), self.second.max())) + 1
        stays = components(n, self.first[self.identical], self.second[self.identical])
        one, other = stays[self.first], stays[self.second]
        code = np.minimum(one, other) * n + np.maximum(one, other)
        own = (one == self.first) & (other == self.second)
        left = self.take(own)
        # A pair's own label goes before those of its copies.
        labelled = np.flatnonzero((self.verdict != UNLABELLED) & (one != other))
        labelled = labelled[np.argsort(~own[labelled], kind="stable")]
        names, firsts, place = np.unique(code[labelled], return_index=True, return_inverse=True)
        source = labelled[firsts]
        against = np.zeros(len(names), bool)
        against[place[self.verdict[labelled] != self.verdict[source[place]]]] = True
        at = {int(name): i for i, name in enumerate(names.tolist())}
        rows = np.array([at.get(c, -1) for c in code[own].tolist()], np.int64)
        told = np.flatnonzero(rows >= 0)
        verdict, weight = left.verdict.copy(), left.weight.copy()
        verdict[told] = np.where(against[rows[told]], UNDECIDED, self.verdict[source[rows[told]]])
        weight[told] = self.weight[source[rows[told]]]
        reason = left.reason
        if self.reason is not None and reason is not None:
            moved = {i: CONTRADICTION if against[rows[i]] else self.reason[source[rows[i]]] for i in told.tolist()}
            reason = [moved.get(i, word) for i, word in enumerate(reason)]
        return replace(
            left,
            documents=self.documents - int((stays != np.arange(n)).sum()),
            verdict=verdict,
            weight=weight,
            reason=reason,
            contradictions=int(against[rows[told]].sum()),
        )


_PER_PAIR = tuple(
    f.name
    for f in fields(Study)
    if f.name not in ("documents", "features", "least_b", "bits", "least_c", "contradictions")
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Matches:
    """Pairs by the share of Bloom filter bits that match: all from `lowest` on, near-duplicates or not."""

    documents: int
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    match: NDArray[np.float64]
    """Share of the bits, 0 to 1. Copies have 1."""
    lowest: float = 0.5
    """Pairs that match less than this were not looked for; thresholds below it are not shown."""
    similar: float = 0.7
    """From which match on two documents are near-duplicates: `similar` of the recipe bloom."""
    lists: Sequence[tuple[str, NDArray[np.int64]]] = ()
    """Ranked lists: the query, and its documents, best first. None: one list, the collection in its own order."""

    def __len__(self) -> int:
        return len(self.first)
