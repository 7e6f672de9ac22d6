"""What makes a pair a true one in an audit: the recipe's own rule, without its shortcuts.

check_inputs     that documents can be read again
Truth            the rule, in numbers
Judge            pairs → what decides about them, and whether they pass
share_a_key      pairs → whether they were candidates
score_ranges     the ranges, from the threshold up, by which pairs are told apart

Where the recipe measures, a true pair is one that it would have measured as similar. Where it judges by sketches
alone, the sketches' score is the rule. Where it does not verify at all, the threshold that its features were chosen
for is held against the exact resemblance, if the sketches can tell which pairs are worth measuring.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup.errors import InputError
from neardup.evidence import Verifier
from neardup.gather import Gathered
from neardup.kernels import groups as kernel
from neardup.recipe import Recipe
from neardup.result import Result
from neardup.verify.resemblance import Overlap, overlap


def check_inputs(result: Result) -> None:
    """Refuse before anything is computed where the documents cannot be read again as they were."""
    try:
        result.gathered.engine.check_inputs()
    except (InputError, OSError) as error:
        raise InputError(
            f"{error} An audit reads documents of the run again: begin it in the folder in which `neardup dedup` was "
            "started, with the same inputs, or run that again."
        ) from error


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

    @classmethod
    def of(cls, recipe: Recipe) -> "Truth":
        """By the recipe."""
        sketcher, verify = recipe.sketcher, recipe.verify
        comparison = sketcher.comparison
        if verify.method == "exact" or (verify.method == "none" and comparison.similar is None):
            return cls("containment" if comparison.contained else "resemblance", True, verify.threshold, 1.0)
        if sketcher.on_the_fly is not None:
            bits = sketcher.on_the_fly.comparison
            assert bits.similar is not None
            return cls(bits.measure, False, bits.similar, bits.full)
        if comparison.kind == kernel.SITES:
            _, _, same, different, bits_ = comparison.parameters
            return cls(comparison.measure, False, min(same, different), bits_)
        similar = verify.threshold if comparison.similar is None else comparison.similar
        return cls(comparison.measure, False, similar, comparison.full)

    def to_dict(self) -> dict[str, str | float | bool]:
        """Plain values."""
        return {"unit": self.unit, "exact": self.exact, "threshold": self.threshold, "full": self.full}


class Judge:
    """Judges pairs among some documents."""

    def __init__(self, gathered: Gathered, documents: NDArray[np.int64]) -> None:
        """documents: all that will be asked for, ascending; their text is read once."""
        self.recipe, self.documents = gathered.recipe, documents
        self.truth = Truth.of(gathered.recipe)
        self._verifier = Verifier(gathered, documents, remember=False)

    def values(self, pairs: NDArray[np.int64], scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """What decides about pairs of documents whose sketches passed with these scores; below the threshold where
        one of several tests fails."""
        if self.recipe.verify.method == "none" and self.truth.exact:
            return self.exactly(pairs).resemblance
        if not self._verifier.rule.measured:
            return scores
        if not len(pairs):
            return np.empty(0)
        return self._verifier.measure(np.searchsorted(self.documents, pairs).astype(np.int32))

    def exactly(self, pairs: NDArray[np.int64]) -> Overlap:
        """The overlap of the shingle sets."""
        return self._verifier.meter.look_up(pairs)


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
