"""Pugh's list fingerprints ("Detecting duplicate and near-duplicate files").

Every word goes to one of n lists, by its hash; a fingerprint is taken of each list; two documents are similar if they
have a fingerprint in common. A change of one word (any number of its occurrences) changes one list.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup.errors import RecipeError
from neardup.kernels import groups
from neardup.kernels import lists as kernel
from neardup.shingles import ShingleSettings
from neardup.sketches.base import Comparison, Ragged, Sketcher, Sketches, check_seed
from neardup.text.batches import TextBatch
from neardup.text.settings import TextSettings


@dataclass(frozen=True)
class ListSettings:
    """n lists, the whole repeated with other hashes; a pair shares a list in `needed` repetitions."""

    lists: int = 4
    repetitions: int = 1
    needed: int = 1
    ordered: bool = True
    """Whether the order of the words in a list counts."""
    seed: int = 1

    def __post_init__(self) -> None:
        if self.lists < 1 or self.repetitions < 1 or self.lists * self.repetitions > 4096:
            raise RecipeError(
                f"lists × repetitions = {self.lists} × {self.repetitions}: both are at least 1 and their product at "
                "most 4096; 4 lists are Pugh's example."
            )
        if not 1 <= self.needed <= self.repetitions:
            raise RecipeError(f"needed = {self.needed} of repetitions = {self.repetitions}: at least 1, at most all.")
        check_seed(self.seed)


class Lists(Sketcher):
    """Sketches documents by lists of their words (or shingles, if their width is more than 1)."""

    def __init__(self, text: TextSettings, shingles: ShingleSettings, settings: ListSettings) -> None:
        super().__init__(text, shingles, settings.seed)
        self.settings = settings
        self.words = settings.lists * settings.repetitions
        self.comparison = Comparison(
            groups.LISTS, (float(settings.lists),), "lists", settings.needed, settings.repetitions
        )

    def sketch(self, batch: TextBatch) -> Sketches:
        """Fingerprints → lists → their fingerprints."""
        settings = self.settings
        found, made = self.fingerprints(batch)
        kernel.list_fingerprints(
            found.values,
            found.offsets[1:],
            settings.lists,
            settings.repetitions,
            settings.ordered,
            int(self.seed),
            made.words,
        )
        return made

    def keys(self, words: NDArray[np.uint64], ragged: Ragged) -> Ragged:
        """The fingerprints of lists that are not empty."""
        full = words != 0
        return Ragged(words[full], np.concatenate([[0], np.cumsum(full.sum(axis=1))]).astype(np.int64))
