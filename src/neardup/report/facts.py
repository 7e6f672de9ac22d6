"""A finished run as the report looks at it: arrays over documents, groups by their kept one, words for settings."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from neardup.clusters.keep import parse_keep
from neardup.kernels import text as kernel
from neardup.kernels.groups import SITES
from neardup.model import MEASURED
from neardup.result import Result

UNITS = {
    "resemblance": "resemblance",
    "containment": "containment",
    "b-similarity": "equal features",
    "c-similarity": "equal bits",
    "lists": "repetitions with an equal list",
    "bloom": "share of equal bits",
}
"""What scores count, for axes and sentences."""


class Facts:
    """Columns are read when they are asked for, and stay: a few numbers per document."""

    def __init__(self, result: Result, seed: int) -> None:
        self.result, self.seed = result, seed
        self.recipe, self.decision = result.recipe, result.decision
        self.collection = result.gathered.collection

    def random(self, salt: int) -> np.random.Generator:
        """A generator of its own for every purpose, so that one sample does not depend on another's size."""
        return np.random.default_rng([self.seed, salt])

    def __len__(self) -> int:
        return len(self.collection)

    @cached_property
    def tokens(self) -> NDArray[np.int64]:
        """Of every document."""
        return self.collection.numbers("tokens").astype(np.int64)

    @cached_property
    def bytes(self) -> NDArray[np.int64]:
        """Of every document's text."""
        return self.collection.numbers("bytes").astype(np.int64)

    @cached_property
    def fine(self) -> NDArray[np.bool_]:
        """Which documents have shingles."""
        return np.asarray(self.collection.numbers("status") == kernel.FINE)

    @cached_property
    def gone(self) -> NDArray[np.bool_]:
        """Which documents were removed."""
        return ~self.result.keep

    @cached_property
    def centres(self) -> NDArray[np.int64]:
        """The kept documents that stand for others, ascending."""
        return np.unique(self.decision.kept_for)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Documents of each group, the kept one too; in the order of `centres`."""
        return np.bincount(np.searchsorted(self.centres, self.decision.kept_for), minlength=len(self.centres)) + 1

    @cached_property
    def _by_centre(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        order = np.argsort(self.decision.kept_for, kind="stable")
        return order, np.searchsorted(self.decision.kept_for[order], self.centres)

    def rows_of(self, group: int) -> NDArray[np.int64]:
        """The rows of the decision that are about a group's removed documents."""
        order, starts = self._by_centre
        at = int(starts[group])
        return order[at : at + int(self.sizes[group]) - 1]

    def group_of(self, documents: NDArray[np.int64]) -> NDArray[np.int64]:
        """The kept document of each document's group: itself where it was kept."""
        centre = np.arange(len(self), dtype=np.int64)
        centre[self.decision.removed] = self.decision.kept_for
        return centre[documents]

    @cached_property
    def by_identity(self) -> NDArray[np.bool_]:
        """Which removed documents have the same tokens as the kept one."""
        return np.asarray(self.decision.measured == MEASURED.index("identity"))

    @cached_property
    def needed(self) -> NDArray[np.float64]:
        """The score that each removed document had to reach: more for two pages of one host, where the recipe says.

        Documents with the same tokens are judged as one, by where the first of them is from. So one may be removed for
        a page of its own host that it does not resemble by as much.
        """
        needed = np.full(len(self.decision.removed), self.threshold)
        if self.stricter:
            pairs = np.stack([self.decision.removed, self.decision.kept_for], axis=1)
            more = self.recipe.verify.same_site
            needed[self.result.gathered.places.neighbours(pairs) & (self.decision.score >= more - 1e-9)] = more
        return needed

    @property
    def stricter(self) -> bool:
        """Whether two pages of one host need more than others."""
        verify = self.recipe.verify
        return verify.method == "exact" and verify.same_site > verify.threshold

    @cached_property
    def unit(self) -> str:
        """What scores are, in words."""
        recipe = self.recipe
        if recipe.verify.method == "exact":
            return "containment" if recipe.sketcher.comparison.contained else "resemblance"
        return UNITS[(recipe.sketcher.on_the_fly or recipe.sketcher).comparison.measure]

    @cached_property
    def threshold(self) -> float:
        """The score from which on a document is removed; 0 where nothing is verified."""
        recipe = self.recipe
        if recipe.verify.method == "none":
            return 0.0
        if recipe.thresholded:
            return recipe.verify.threshold
        comparison = (recipe.sketcher.on_the_fly or recipe.sketcher).comparison
        if comparison.kind == SITES:  # equal bits: so many within a site, so many between two
            _, _, same, different, _ = comparison.parameters
            return float(min(same, different))
        return 0.0 if comparison.similar is None else float(comparison.similar)

    @cached_property
    def full(self) -> float:
        """The score of equal documents."""
        if self.recipe.verify.method == "exact":
            return 1.0
        return float((self.recipe.sketcher.on_the_fly or self.recipe.sketcher).comparison.full)

    @property
    def counted(self) -> bool:
        """Whether scores are whole numbers."""
        return self.full > 1.0


_KEPT = {
    "first": "the one that comes first in the input",
    "last": "the one that comes last in the input",
    "longest": "the longest",
    "shortest": "the shortest",
    "max": "the one with the largest {}",
    "min": "the one with the smallest {}",
    "prefer": "the one whose {} comes first in {}",
}


def why_kept(policy: str) -> str:
    """The keep policy in words."""
    rules = parse_keep(policy)
    words = [_KEPT[rule.kind].format(rule.column, ", ".join(rule.values)) for rule in rules]
    tie = [] if rules[-1].kind in ("first", "last") else ["the one with the smallest id"]
    return "; where that ties, ".join([*words, *tie])
