"""What makes a pair a true one in an audit: the recipe's own rule, without its shortcuts.

digest_of        which run this is
check_inputs     that documents can be read again
Truth            the rule, in numbers
Judge            pairs → what decides about them, and whether they pass
share_a_key      pairs → whether they were candidates
score_ranges     the ranges, from the threshold up, by which pairs are told apart

Where the recipe measures, a true pair is one that it would have measured as similar. Where it judges by sketches
alone, the sketches' score is the rule. Where it does not verify at all, the threshold that its features were chosen
for is held against the exact resemblance, if the sketches can tell which pairs are worth measuring.
"""

from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.errors import InputError
from neardup.evidence import Verifier
from neardup.gather import Gathered
from neardup.kernels import groups as kernel
from neardup.recipe import Recipe
from neardup.result import Result
from neardup.sources.stamps import GONE, stamp_of
from neardup.verify.resemblance import overlap


def digest_of(result: Result) -> str:
    """Names what was decided: the recipe, and who was removed for whom."""
    decision = result.decision
    digest = sha256(result.recipe.id.encode())
    digest.update(decision.removed.astype(np.int64).tobytes())
    digest.update(decision.kept_for.astype(np.int64).tobytes())
    return digest.hexdigest()[:16]


def check_inputs(result: Result) -> None:
    """Refuse before anything is computed where the documents cannot be read again as they were."""
    for file in dict.fromkeys(split.file for split in result.gathered.engine.splits):
        stamp = stamp_of(file)
        if stamp == file.stamp:
            continue
        what = "is not there any more" if stamp == GONE else "has changed since"
        mend = "Put it back" if stamp == GONE else "Put the old one back"
        raise InputError(
            f"{file.path or file.name} {what}, and an audit reads documents of the run again. {mend}, or run "
            "`neardup dedup` again and audit that."
        )


@dataclass(frozen=True)
class Truth:
    """The rule in words and numbers."""

    unit: str
    """What decides: resemblance, containment, c-similarity, …"""
    exact: bool
    """Whether it is measured from the documents' shingles; otherwise sketches tell it."""
    threshold: float
    full: float
    """Of two equal documents."""
    same_site: float | None = None
    """What two pages of one host need, where that is more than the threshold."""
    by_features: bool = False
    """Whether it is measured of pairs alone that share a feature, because the sketches show no others."""

    @classmethod
    def of(cls, recipe: Recipe) -> "Truth":
        """By the recipe."""
        sketcher, verify = recipe.sketcher, recipe.verify
        comparison = sketcher.comparison
        if verify.method == "exact" or (verify.method == "none" and comparison.similar is None):
            return cls(
                "containment" if comparison.contained else "resemblance",
                True,
                verify.threshold,
                1.0,
                verify.same_site if verify.same_site > verify.threshold else None,
                comparison.similar is not None and comparison.kind in (kernel.EQUAL, kernel.LISTS),
            )
        if sketcher.on_the_fly is not None:
            bits = sketcher.on_the_fly.comparison
            assert bits.similar is not None
            return cls(bits.measure, False, bits.similar, bits.full)
        if comparison.kind == kernel.SITES:
            _, _, same, different, bits_ = comparison.parameters
            return cls(comparison.measure, False, min(same, different), bits_)
        similar = verify.threshold if comparison.similar is None else comparison.similar
        return cls(comparison.measure, False, similar, comparison.full)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


class Judge:
    """Judges pairs among some documents."""

    def __init__(self, gathered: Gathered, documents: NDArray[np.int64]) -> None:
        """documents: all that will be asked for, ascending; their text is read once."""
        self.gathered, self.documents = gathered, documents
        self.truth = Truth.of(gathered.recipe)
        self._verifier = Verifier.of(gathered, documents, remember=False)

    def judge(
        self, pairs: NDArray[np.int64], scores: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """What is known of pairs whose sketches passed with these scores, in the truth's unit; and which are true."""
        if self.truth.exact:
            values = self.exactly(pairs)
            return values, (values >= self._needed(pairs)) & self._bits_agree(pairs)
        values = scores
        if self._verifier.rule.measured and len(pairs):
            values = self._verifier.measure(np.searchsorted(self.documents, pairs).astype(np.int32))
        return values, values >= self.truth.threshold

    def _needed(self, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """What makes them true ones."""
        needed = np.full(len(pairs), self.truth.threshold)
        if self.truth.same_site is not None:
            needed[self.gathered.places.neighbours(pairs)] = self.truth.same_site
        return needed

    def _bits_agree(self, pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
        """The second test, of recipes that have one before they measure."""
        projected = self._verifier.projected
        if projected is None or self.gathered.recipe.verify.method != "exact" or not len(pairs):
            return np.ones(len(pairs), np.bool_)
        agree: NDArray[np.bool_] = projected.measure(pairs) >= projected.threshold
        return agree

    def exactly(self, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """The resemblance of the shingle sets; or the larger containment, where that is the recipe's measure."""
        assert self._verifier.meter is not None
        found = self._verifier.meter.look_up(pairs)
        if self.gathered.recipe.sketcher.comparison.contained:
            return np.maximum(found.first_in_second, found.second_in_first)
        return found.resemblance


def share_a_key(gathered: Gathered, pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether the documents of a pair have a key in common, so that the run could see them."""
    if not len(pairs):
        return np.empty(0, np.bool_)
    documents, rows = np.unique(pairs, return_inverse=True)
    collection = gathered.collection
    keys = gathered.engine.sketcher.keys(collection.matrix("words", documents), collection.ragged(documents))
    sizes = np.diff(keys.offsets)
    owners = np.repeat(np.arange(len(sizes)), sizes)
    ordered = keys.values[np.lexsort((keys.values, owners))]
    shared = overlap(ordered, keys.offsets[:-1].astype(np.int64), sizes, rows.reshape(-1, 2)).shared
    found: NDArray[np.bool_] = shared > 0
    return found


def score_ranges(truth: Truth, ranges: int = 4) -> list[tuple[float, float]]:
    """From the threshold to the score of equal documents, in so many steps; the last one has its end in it."""
    if truth.full <= truth.threshold:
        return [(truth.threshold, truth.full)]
    edges = np.linspace(truth.threshold, truth.full, ranges + 1)
    if truth.full > 1.0:
        edges = np.unique(np.round(edges))
    edges = np.round(edges, 6)
    return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))


def range_of(values: NDArray[np.float64], ranges: list[tuple[float, float]]) -> NDArray[np.int64]:
    """Which range values lie in; -1 below the first."""
    starts = np.array([low for low, _ in ranges])
    return np.searchsorted(starts, values, side="right") - 1
