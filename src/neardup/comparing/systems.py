"""Two documents by every published system: what its sketches say (measured), and what was to be expected (by formula).

A system has one or two scores. Each says what was measured on this pair's sketches, from where on that counts as
similar, which exact quantity of the pair it stands for, and what random permutations or projections would give on
average for that quantity:

    resemblance    ± the standard error at the exact resemblance (Broder, section 2; Radinsky)
    b-similarity   k·ρ^s features agree, P[k,s,r](ρ) of such pairs pass (Broder, section 3; Henzinger's Algorithm B)
    c-similarity   b (1 - θ/π) bits agree, θ the angle of the vectors of token counts (Henzinger's Algorithm C)
    lists          the probability to share a list after so many edits (Pugh)
    bloom          the bits that filters of so many common chunks share (Jain, Dahlin, Tewari)

Expected values are proven for random choices; that ours behave like them is measured in tests/statistics.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from neardup.analysis import binomial, bins, bloom, drops, estimators, filters
from neardup.analysis import lists as list_analysis
from neardup.comparing.documents import Readings
from neardup.kernels import groups
from neardup.kernels import lists as list_kernel
from neardup.recipe import Recipe
from neardup.sketches.base import Comparison, Ragged, Sketcher, Sketches, even
from neardup.sketches.bins import OnePermutationSettings
from neardup.sketches.bloom import BloomSettings
from neardup.sketches.both import BySiteSettings, CombinedSettings
from neardup.sketches.lists import ListSettings
from neardup.sketches.minhash import MinHashSettings
from neardup.sketches.odd import OddSettings
from neardup.sketches.samples import BottomSettings, ModSettings
from neardup.sketches.simhash import SimHashSettings
from neardup.text.sites import neighbours, site
from neardup.verify.resemblance import Overlap, overlap
from neardup.verify.signatures import Signatures

_PAIR = np.array([[0, 1]], np.int64)


@dataclass(frozen=True)
class Score:
    """One thing that a system looks at."""

    measure: str
    """resemblance, containment, b-similarity, c-similarity, lists or bloom."""
    value: float
    """Measured on the sketches; for a recipe that verifies exactly, on the shingle sets."""
    full: float
    """Of two equal documents."""
    similar_from: float
    exact: str
    """The exact quantity behind it."""
    exact_value: float
    """Measured on the whole documents, under the system's own tokens and shingles."""
    expected: float | None
    """Of the score, at that quantity."""
    deviation: float | None
    """The standard deviation of the score."""
    passes: float | None
    """The probability that a pair with that quantity gets `similar_from` or more; None where there is no formula."""

    @property
    def similar(self) -> bool:
        """Whether it is reached."""
        return self.value >= self.similar_from


@dataclass(frozen=True)
class System:
    """What a system says of the pair."""

    name: str
    title: str
    similar: bool
    """All scores are reached."""
    candidate: bool
    """The sketches share a key: in a collection, the system would look at the pair."""
    scores: tuple[Score, ...]
    note: str = ""


def judge(name: str, title: str, recipe: Recipe, documents: Readings) -> System:
    """What a recipe says of the two documents."""
    batch = documents.batch(recipe.text)
    sketcher = recipe.sketcher
    made = sketcher.sketch(batch)
    if not made.compared.all():
        return System(name, title, False, False, (), "a document has no tokens for this system")
    pair = _Pair(recipe, documents, sketcher, made)
    scores, note = pair.scores()
    return System(name, title, all(s.similar for s in scores), pair.candidate(), tuple(scores), note)


def exact_overlap(sketcher: Sketcher, documents: Readings) -> Overlap:
    """Of the two shingle sets; measured once for all recipes with the same tokens and shingles."""
    key = (sketcher.text, sketcher.shingles)
    if key not in documents.overlaps:
        sets, sizes = sketcher.shingle_sets(documents.batch(sketcher.text), np.arange(2))
        documents.overlaps[key] = overlap(sets, np.array([0, sizes[0]], np.int64), sizes, _PAIR)
    return documents.overlaps[key]


@dataclass(frozen=True)
class _Pair:
    recipe: Recipe
    documents: Readings
    sketcher: Sketcher
    made: Sketches

    def _keys(self) -> Ragged:
        return self.sketcher.keys(self.made.words, self.made.ragged)

    def candidate(self) -> bool:
        keys = self._keys()
        first, second = (keys.values[keys.offsets[i] : keys.offsets[i + 1]] for i in (0, 1))
        return bool(np.isin(first, second).any())

    def scores(self) -> tuple[list[Score], str]:
        settings = self.recipe.sketch
        if isinstance(settings, MinHashSettings):
            return self._minhash(settings)
        if isinstance(settings, CombinedSettings):
            bits = self.sketcher.on_the_fly
            assert bits is not None
            words = bits.sketch(self.documents.batch(self.recipe.text)).words
            return [self._features(settings), self._bits(settings.projection(), words, settings.similar)], ""
        if isinstance(settings, BySiteSettings):
            return self._by_site(settings)
        if isinstance(settings, SimHashSettings):
            return [self._bits(settings, self.made.words, settings.similar)], ""
        if isinstance(settings, ListSettings):
            return self._lists(settings)
        if isinstance(settings, BloomSettings):
            return self._bloom(settings)
        return self._sampled(settings)

    def _score(self) -> float:
        """By the sketcher's own comparison."""
        made, urls = self.made, [source.url for source in self.documents.sources]
        signatures = Signatures.of_columns(self.sketcher, made.samples, made.words, made.ragged, urls)
        return float(signatures.scores(_PAIR)[0])

    def _overlap(self) -> Overlap:
        return exact_overlap(self.sketcher, self.documents)

    def _shingled(self) -> str:
        return f"resemblance, w = {self.recipe.shingles.width}"

    def _minhash(self, settings: MinHashSettings) -> tuple[list[Score], str]:
        verify = self.recipe.verify
        rho = float(self._overlap().resemblance[0])
        features = self._features(settings)
        if self.sketcher.comparison.measure != "resemblance":
            if verify.method != "exact":
                return [features], ""
            return [features, self._exactly(rho)], ""
        t, estimate = self.sketcher.estimators, self._score()
        deviation = self._deviation(settings, rho)
        if verify.method == "exact":
            note = f"its sketches alone estimate {estimate:.4f}; the standard error is {deviation:.4f}"
            return [features, self._exactly(rho)], note
        if verify.method == "none":
            return [features], f"its sketches estimate a resemblance of {estimate:.4f}"
        if isinstance(settings, OddSettings):
            least = drops.bar(verify.threshold, self.sketcher.error, settings.drops, settings.k, 1)
            passes = _reaching(rho, least, self.sketcher.error)
        else:
            chance = 2.0**-settings.bits if settings.samples else 0.0
            agree, needed = (x + (1 - x) * chance for x in (rho, verify.threshold))
            passes = binomial.tail(t, int(np.ceil(needed * t - 1e-9)), agree)
        own = Score("resemblance", estimate, 1.0, verify.threshold, self._shingled(), rho, rho, deviation, passes)
        return [own] if settings.s == 1 else [features, own], ""

    def _deviation(self, settings: MinHashSettings, rho: float) -> float:
        """Of the estimate; from bins it depends on how many shingles there are."""
        if not isinstance(settings, OnePermutationSettings):
            return self.sketcher.error(rho)
        bits = settings.bits if settings.samples else None
        return bins.error(rho, self.sketcher.estimators, self._union(), bits=bits)

    def _union(self) -> int:
        both = self._overlap()
        return int(both.first[0] + both.second[0] - both.shared[0])

    def _exactly(self, rho: float) -> Score:
        """What is measured on the sets has no error. Two pages of one host may need more."""
        verify = self.recipe.verify
        first, second = (source.url for source in self.documents.sources)
        threshold = max(verify.threshold, verify.same_site) if neighbours(first, second) else verify.threshold
        return Score("resemblance", rho, 1.0, threshold, self._shingled(), rho, rho, 0.0, float(rho >= threshold))

    def _features(self, settings: MinHashSettings | CombinedSettings | BySiteSettings) -> Score:
        """Algorithm B: how many of k features agree."""
        k, s, r = settings.k, settings.s, settings.r
        rho = float(self._overlap().resemblance[0])
        agree = rho**s
        equal = _scored(Comparison(groups.EQUAL, (1.0,), "b-similarity", r, k), even(self.made.words[:, :k]))
        spread = sqrt(k * agree * (1 - agree))
        passes = filters.probability(rho, k, s, r)
        return Score("b-similarity", equal, k, r, self._shingled(), rho, k * agree, spread, passes)

    def _bits(self, settings: SimHashSettings, words: NDArray[np.uint64], similar: int) -> Score:
        """Algorithm C: how many of b bits agree."""
        bits = settings.bits
        equal = _scored(Comparison(groups.BITS, (float(bits),), "c-similarity", similar, bits), even(words))
        key = (self.recipe.text, self.recipe.shingles, settings.of, settings.weight)
        if key not in self.documents.cosines:
            self.documents.cosines[key] = self._cosine(settings)
        cosine = self.documents.cosines[key]
        expected, spread = estimators.simhash_bits(cosine, bits)
        passes = binomial.tail(bits, similar, expected / bits)
        of = "cosine of token counts" if settings.of == "tokens" else "cosine of shingle counts"
        return Score("c-similarity", equal, bits, similar, of, cosine, expected, spread, passes)

    def _cosine(self, settings: SimHashSettings) -> float:
        """Of the two vectors that are projected."""
        found, _ = self.sketcher.fingerprints(self.documents.batch(self.recipe.text), of_tokens=settings.of == "tokens")
        vectors = []
        for i in (0, 1):
            values, counts = np.unique(found.values[found.offsets[i] : found.offsets[i + 1]], return_counts=True)
            weights = counts.astype(np.float64)
            if settings.weight == "once":
                weights[:] = 1.0
            elif settings.weight == "log":
                weights = 1.0 + np.log2(weights)
            vectors.append((values, weights))
        (a, x), (b, y) = vectors
        _, in_a, in_b = np.intersect1d(a, b, assume_unique=True, return_indices=True)
        if len(in_a) == len(a) == len(b) and (x[in_a] == y[in_b]).all():
            return 1.0
        return min(1.0, float(x[in_a] @ y[in_b]) / sqrt(float(x @ x) * float(y @ y)))

    def _by_site(self, settings: BySiteSettings) -> tuple[list[Score], str]:
        """Henzinger, section 3.5: Algorithm C on two sites, the combined algorithm on one."""
        names = [site(source.url, rule=settings.sites) for source in self.documents.sources]
        words = self.made.words[:, settings.k :]
        if all(names) and names[0] != names[1]:
            note = f"two sites: {names[0]} and {names[1]}"
            return [self._bits(settings.projection(), words, settings.different)], note
        note = f"one site: {names[0]}" if all(names) else "sites unknown: the rule for one site"
        return [self._features(settings), self._bits(settings.projection(), words, settings.same)], note

    def _lists(self, settings: ListSettings) -> tuple[list[Score], str]:
        found, _ = self.sketcher.fingerprints(self.documents.batch(self.recipe.text))
        a, b = (found.values[found.offsets[i] : found.offsets[i + 1]] for i in (0, 1))
        edits = self.documents.edits.get((self.recipe.text, self.recipe.shingles.width))
        if edits is None or self.recipe.shingles.repeats:
            edits = int(list_kernel.edits(a, b))
        n, times, needed = settings.lists, settings.repetitions, settings.needed
        if edits <= list_analysis.MOST_EDITS:
            shared = list_analysis.shared(edits, n)
        else:  # the first term of inclusion and exclusion: an upper bound, and near 0
            shared = min(1.0, n * (1 - 1 / n) ** edits)
        spread = sqrt(times * shared * (1 - shared))
        passes = binomial.tail(times, needed, shared)
        note = "" if edits or np.array_equal(a, b) else "the same words in another order, which lists notice"
        own = Score("lists", self._score(), times, needed, "Pugh's edits", edits, times * shared, spread, passes)
        return [own], note

    def _sampled(self, settings: BottomSettings | ModSettings) -> tuple[list[Score], str]:
        """One permutation: its smallest values, or those that are 0 modulo n."""
        both = self._overlap()
        rho = float(both.resemblance[0])
        union = self._union()
        threshold, note = self.recipe.verify.threshold, ""
        exact, expected = self._shingled(), rho
        deviation: float | None
        if isinstance(settings, BottomSettings):
            deviation = estimators.bottom_error(rho, settings.m, union)
        elif settings.measure == "containment":
            exact, expected, deviation = (
                "containment",
                float(max(both.first_in_second[0], both.second_in_first[0])),
                None,
            )
        else:
            deviation = estimators.mod_error(rho, union, settings.n)
        if isinstance(settings, ModSettings) and not len(self._keys().values):
            empty = estimators.mod_empty(union, settings.n)
            note = f"no shingle was sampled: nothing can be said (this happens to {empty:.0%} of such pairs)"
        measure = self.sketcher.comparison.measure
        own = Score(measure, self._score(), 1.0, threshold, exact, expected, expected, deviation, None)
        return [own], note

    def _bloom(self, settings: BloomSettings) -> tuple[list[Score], str]:
        keys = self._keys()
        a, b = (np.unique(keys.values[keys.offsets[i] : keys.offsets[i + 1]]) for i in (0, 1))
        common, larger = len(np.intersect1d(a, b, assume_unique=True)), max(len(a), len(b))
        filters_ = self.sketcher.signatures(self.made.words, self.made.ragged, [None, None])
        bits = 64 * int(filters_.values[filters_.offsets[:-1]].min())
        fuller = max(1e-9, bits * bloom.fill_ratio(larger, bits, settings.hashes))
        expected, chance = (
            bloom.shared_bits(shared, len(a), len(b), bits, settings.hashes) / fuller for shared in (common, 0)
        )
        exact = f"chunks shared, of {larger:,}"
        note = f"filters of documents of this length that share nothing match by {chance:.2f}" if chance >= 0.1 else ""
        own = Score("bloom", self._score(), 1.0, settings.similar, exact, common / max(1, larger), expected, None, None)
        return [own], note


def _scored(comparison: Comparison, made: Ragged) -> float:
    return float(Signatures(comparison, words=made.values, offsets=made.offsets).scores(_PAIR)[0])


def _reaching(resemblance: float, least: float, error: Callable[[float], float]) -> float:
    """Return the probability that an estimate is `least` or more, where its error depends on the resemblance.

    On the scale on which the error is the same everywhere (the integral of 1/error) the estimate is nearly normal.
    """
    between = np.linspace(resemblance, least, 65)
    heights = np.array([1.0 / max(error(float(r)), 1e-12) for r in between])
    distance = float(((heights[1:] + heights[:-1]) / 2 * np.diff(between)).sum())
    return NormalDist().cdf(-distance)
