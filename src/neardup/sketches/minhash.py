"""Min-hash sketches and their features (Broder, sections 2 and 3; Henzinger's Algorithm B).

A sketch is the minimum of a document's shingles under each of k·s permutations. k groups of s minima are fingerprinted
to features. Two documents are candidates if they share r features: r = 1 is what most tools call banding, r > 1 is
Broder's filter, for which every r-subset of the features is a key of its own, so that no list of pairs is needed.

A few bits of every minimum may be kept as well: from these samples the resemblance is estimated. To find takes few
permutations and to estimate takes many, so more may be sampled than the features are made of.
"""

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from neardup.analysis.estimators import sampled_error
from neardup.errors import RecipeError
from neardup.kernels import groups
from neardup.kernels import text as kernel
from neardup.rabin import push_table, second_polynomial
from neardup.shingles import ShingleSettings
from neardup.sketches.base import Comparison, Ragged, Sketcher, Sketches, check_seed, even, mixed, name_sequences
from neardup.text.batches import TextBatch
from neardup.text.settings import TextSettings

MOST_KEYS = 5000
"""r-subsets of a document's features."""


@dataclass(frozen=True)
class MinHashSettings:
    """k groups of s minima, of which r must agree."""

    k: int = 20
    s: int = 7
    seed: int = 1
    r: int = 1
    samples: bool = True
    """Keep some bits of each minimum too, from which the resemblance is estimated."""
    sampled: int = 0
    """How many permutations are sampled for the estimate; the first k·s of them make the features. 0: these alone."""
    bits: int = 8
    """Of each minimum that are kept, 8 or 4 (Li and König, "b-Bit Minwise Hashing")."""
    apart: bool = False
    """Sample other permutations than the features are made of: what was found by chance, or by design, because features
    agree is then judged by minima that had no part in it. An index that judges by estimates does."""

    def __post_init__(self) -> None:
        if self.k < 1 or self.s < 1 or self.k * self.s > 4096:
            raise RecipeError(
                f"k × s = {self.k} × {self.s} = {self.k * self.s}: both are at least 1 and their product at most 4096."
            )
        if not 1 <= self.r <= self.k:
            raise RecipeError(f"r = {self.r} of k = {self.k} features: r is at least 1 and at most k.")
        if comb(self.k, self.r) > MOST_KEYS:
            raise RecipeError(
                f"r = {self.r} of k = {self.k} features are {comb(self.k, self.r):,} subsets, each a key per document; "
                f"at most {MOST_KEYS:,} are possible. Choose fewer features, or a smaller r."
            )
        check_seed(self.seed)
        self._check_samples()

    def _check_samples(self) -> None:
        if self.bits not in (4, 8):
            raise RecipeError(f"bits = {self.bits}: 8 or 4 bits of a minimum are kept.")
        if not self.samples and (self.sampled or self.bits != 8):
            raise RecipeError(
                f"sampled = {self.sampled}, bits = {self.bits} with samples = false: nothing is kept to estimate from; "
                "give samples = true, or sampled = 0 and bits = 8."
            )
        if self.apart:
            if not self.samples:
                raise RecipeError("apart = true with samples = false: nothing is sampled. Omit one of them.")
            if self.permutations > 4096:
                raise RecipeError(
                    f"apart = true: permutations for features, k × s = {self.k * self.s}, and to sample are "
                    f"{self.permutations:,} together; 4096 are the most."
                )
        elif self.sampled and not self.k * self.s <= self.sampled <= 4096:
            raise RecipeError(
                f"sampled = {self.sampled} permutations, of which the first k × s = {self.k} × {self.s} = "
                f"{self.k * self.s} make the features: give {self.k * self.s} to 4096, or 0 for these alone."
            )

    @property
    def permutations(self) -> int:
        """Length of the sketch."""
        found = self.sampled or self.k * self.s
        return found + self.k * self.s if self.apart else found

    @property
    def estimates(self) -> bool:
        """Whether the resemblance can be told from what is kept."""
        return self.samples or self.s == 1


class MinHash(Sketcher):
    """Sketches documents by minima and features."""

    once = False
    """Whether a shingle goes to one bin, not under every permutation."""
    rare, bins, throws = 0, 0, np.empty(0, np.uint64)
    """Minima that are kept whole, and what an odd sketch is made with (`odd`)."""

    def __init__(self, text: TextSettings, shingles: ShingleSettings, settings: MinHashSettings) -> None:
        super().__init__(text, shingles, settings.seed)
        self.settings = settings
        k, s = settings.k, settings.s
        self.words = k
        self.samples = (settings.sampled or k * s) if settings.samples else 0
        # the features' permutations are drawn first: they are the same however many more are sampled
        counts = k * s, settings.permutations - k * s
        draw = np.hstack([self.random.integers(0, 2**32, (2, n), dtype=np.uint32) for n in counts])
        self._multiply, self._add = draw[0] | np.uint32(1), draw[1]
        self._features = None
        if self.polynomial is not None:  # the first is the words', the second the shingles', the third the features'
            self._features = push_table(second_polynomial(second_polynomial(self.polynomial)))
        if settings.samples:
            self.comparison = Comparison(groups.SAMPLES, (2.0**settings.bits,), "resemblance", None, 1.0)
        elif s == 1:
            self.comparison = Comparison(groups.EQUAL, (float(k),), "resemblance", None, 1.0)
        else:
            self.comparison = Comparison(groups.EQUAL, (1.0,), "b-similarity", settings.r, k)

    def sketch(self, batch: TextBatch) -> Sketches:
        """Minima → features, and samples where they are kept."""
        made = self.blank(len(batch.offsets) - 1)
        spans = np.zeros((len(made.status), 2), np.int64)
        form = kernel.sketch_documents(
            batch.data,
            batch.offsets,
            self.text.kind,
            self.shingles.width,
            self.shingles.repeats,
            self.seed,
            self.tables,
            self.rabin,
            self._features,
            self._multiply,
            self._add,
            self.once,
            self.settings.k,
            self.settings.s,
            self.settings.bits,
            self.rare,
            self.throws,
            self.bins,
            made.status,
            made.tokens,
            spans,
            made.words,
            made.samples,
        )
        name_sequences(form, spans, made.identities)
        return made

    @property
    def estimators(self) -> int:
        """The minima that are judged by, each a sample of the union."""
        return self.samples or self.settings.permutations

    def error(self, resemblance: float) -> float:
        """Binomial; from samples of a few bits it is a little larger."""
        if self.settings.samples:
            return sampled_error(resemblance, self.estimators, bits=self.settings.bits)
        return super().error(resemblance)

    def keys(self, words: NDArray[np.uint64], ragged: Ragged) -> Ragged:
        """The features, or a key for every r of them."""
        return even(super_features(words[:, : self.settings.k], self.settings.r))


def super_features(features: NDArray[np.uint64], r: int) -> NDArray[np.uint64]:
    """A key for every r-subset of the features: two documents share one if they share those r features."""
    if r == 1:
        return features
    n, k = features.shape
    keys = np.empty((n, comb(k, r)), np.uint64)
    for number, subset in enumerate(combinations(range(k), r)):
        key = mixed(features[:, subset[0]], number + 1)
        for g in subset[1:]:
            key = mixed(key ^ features[:, g], number + 1)
        keys[:, number] = key
    return keys
