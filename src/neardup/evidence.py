"""Pairs of candidates → evidence: by the sketches, on the fly, exactly, whatever the recipe says."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from neardup.candidates.crowds import Thresholds, crowded_rows, enriched, relieved, weighed
from neardup.candidates.features import Buckets
from neardup.gather import Gathered
from neardup.kernels import groups as kernel
from neardup.model import RELATIONS, Measured
from neardup.recipe import Recipe
from neardup.sketches.base import Sketcher
from neardup.verify.measure import Meter
from neardup.verify.places import Places
from neardup.verify.resemblance import Overlap
from neardup.verify.signatures import Rule, Signatures, rule

_NEAR, _CONTAINED, _CONTAINS = (RELATIONS.index(name) for name in ("near", "contained", "contains"))


@dataclass(frozen=True)
class Evidence:
    """What was found of pairs, row by row. NaN where the score is not a resemblance."""

    how: Measured
    score: NDArray[np.float64]
    full: float
    """The score of identical documents."""
    resemblance: NDArray[np.float64]
    first_in_second: NDArray[np.float64]
    second_in_first: NDArray[np.float64]
    contained_from: float = 1.0
    """The containment from which on a document is called contained in the other; NaN: it is not told."""

    @cached_property
    def relation(self) -> NDArray[np.uint8]:
        """Of the first document to the second, as its place in RELATIONS."""
        found = np.full(len(self.score), _NEAR, np.uint8)
        inside, around, enough = self.first_in_second, self.second_in_first, self.contained_from
        found[(inside >= enough) & (around < inside)] = _CONTAINED
        found[(around >= enough) & (inside < around)] = _CONTAINS
        return found


class Overlaps(Protocol):
    """What measures pairs of documents exactly."""

    def measure(self, pairs: NDArray[np.int64]) -> Overlap:
        """To decide about them."""

    def look_up(self, pairs: NDArray[np.int64]) -> Overlap:
        """To tell of them."""


class Bits(Protocol):
    """What compares documents a second time, by bits."""

    sketcher: Sketcher

    @property
    def threshold(self) -> float:
        """Equal bits from which on a pair is one."""

    def measure(self, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """Equal bits of pairs."""


class Verifier:
    """Verifies pairs among some documents. Pairs are pairs of rows of `members`."""

    def __init__(
        self,
        recipe: Recipe,
        members: NDArray[np.int64],
        signatures: Signatures,
        projected: Bits | None,
        meter: Overlaps | None,
        places: Places | None,
    ) -> None:
        """meter: None where there is no text: then a recipe that measures exactly judges by what the sketches show."""
        self.recipe, self.members = recipe, members
        self.signatures, self.projected, self.meter = signatures, projected, meter
        self.exact = recipe.verify.method == "exact" and meter is not None
        self.by_containment = recipe.sketcher.comparison.contained
        self.places = places if recipe.verify.by_place else None
        self.rule = self._rule()

    @classmethod
    def of(cls, gathered: Gathered, members: NDArray[np.int64], *, remember: bool) -> "Verifier":
        """Among documents of a collection. remember: write down what was measured, for a run that is resumed."""
        recipe = gathered.recipe
        possible = np.sort(members)
        return cls(
            recipe,
            members,
            Signatures.of(gathered.engine.sketcher, gathered.collection, members),
            gathered.projected(possible),
            gathered.meter(possible, remember=remember),
            gathered.places if recipe.verify.by_place else None,
        )

    def _rule(self) -> Rule:
        verify, sketcher = self.recipe.verify, self.recipe.sketcher
        if verify.method == "exact" and not self.exact and self.places is None:
            verify = replace(verify, method="sketch", same_site=0.0)
        given = rule(sketcher.comparison, verify, sketcher.estimators)
        if self.projected is None or given.measured:
            return given
        return Rule(given.least, given.presumed, self.projected.threshold, measured=True)

    @property
    def measures_resemblance(self) -> bool:
        """Tell whether the exact resemblance alone decides about candidates."""
        comparison = self.signatures.comparison
        return self.exact and not self.by_containment and self.projected is None and comparison.similar is None

    @property
    def sites(self) -> NDArray[np.int32] | None:
        """Return the site of every row; None where sites do not matter."""
        return None if self.places is None else self.places.hosts[self.members]

    def relieved(self, buckets: Buckets) -> Buckets:
        """Return buckets in which documents of one template meet by rare shingles, where resemblances are measured.

        buckets: of the rows of `members`.
        """
        meter, rows = self.meter, crowded_rows(buckets)
        if not len(rows) or not self.measures_resemblance or not isinstance(meter, Meter):
            return buckets
        rows = rows[meter.in_shelf_order(self.members[rows])]
        verify = self.recipe.verify
        documents = self.members[rows]
        crowd = weighed(rows, meter.shelf.sizes[documents], lambda: meter.sets(documents), verify.threshold)
        if self.recipe.clusters.method == "components":
            return enriched(buckets, crowd)
        if self.places is None:
            return relieved(buckets, crowd, Thresholds(verify.threshold, verify.threshold))
        pages = self.places.pages[self.members]
        return relieved(buckets, crowd, Thresholds(verify.threshold, verify.same_site), self.sites, pages)

    @property
    def _contained_from(self) -> float:
        """All of it, unless the recipe judges by containment."""
        if not self.by_containment:
            return 1.0
        similar = self.signatures.comparison.similar
        return self.recipe.verify.threshold if self.exact or similar is None else similar

    @property
    def known(self) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """What an earlier run measured."""
        if not self.exact or self.projected is not None or not isinstance(self.meter, Meter):
            return np.empty((0, 2), np.int32), np.empty(0)
        ours: NDArray[np.bool_] = np.asarray(np.isin(self.meter.pairs, self.members).all(axis=1))
        ascending = np.argsort(self.members)
        rows = ascending[np.searchsorted(self.members[ascending], self.meter.pairs[ours])].astype(np.int32)
        return rows.reshape(-1, 2), self._judged(self._value(self.meter.overlaps[ours]), self.meter.pairs[ours])

    def measure(self, asked: NDArray[np.int32]) -> NDArray[np.float64]:
        """What decides about pairs: equal bits, or the resemblance (0 where a first test fails)."""
        return self._measured(asked, remember=True)

    def look_up(self, asked: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return the same, and write nothing down."""
        return self._measured(asked, remember=False)

    def _measured(self, asked: NDArray[np.int32], *, remember: bool) -> NDArray[np.float64]:
        pairs = self.members[asked]
        if self.projected is None:
            if self.meter is None:
                return self._judged(self.signatures.scores(asked), pairs)
            found = self.meter.measure(pairs) if remember else self.meter.look_up(pairs)
            return self._judged(self._value(found), pairs)
        bits = self.projected.measure(pairs)
        if not self.exact or self.meter is None:
            return bits
        passed = bits >= self.projected.threshold
        values = np.zeros(len(pairs))
        values[passed] = self._judged(self._value(self.meter.look_up(pairs[passed])), pairs[passed])
        return values

    def _judged(self, value: NDArray[np.float64], pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """What is held against the threshold: less for two pages of one host, by as much as they need more."""
        if self.places is not None:
            verify = self.recipe.verify
            less = (verify.same_site - verify.threshold) * self.places.neighbours(pairs)
            value = np.maximum(0.0, value - less)
        return value

    def _value(self, found: Overlap) -> NDArray[np.float64]:
        if self.by_containment:
            return np.maximum(found.first_in_second, found.second_in_first)
        return found.resemblance

    def evidence(self, rows: NDArray[np.int64]) -> Evidence:
        """The numbers that go with pairs."""
        pairs = self.members[rows] if len(rows) else np.empty((0, 2), np.int64)
        if self.exact and self.meter is not None:
            found = self.meter.look_up(pairs)
            inside, around = found.first_in_second, found.second_in_first
            return Evidence("exact", self._value(found), 1.0, found.resemblance, inside, around, self._contained_from)
        comparison = self.signatures.comparison
        scores = self.signatures.scores(rows)
        nothing = np.full(len(rows), np.nan)
        inside, around = self.signatures.containments(rows).T
        if comparison.measure == "resemblance":
            return Evidence("estimate", scores, 1.0, scores, inside, around, np.nan)
        if self.projected is not None:
            return Evidence(
                "c-similarity",
                self.projected.measure(pairs),
                self.projected.sketcher.comparison.full,
                nothing,
                nothing,
                nothing,
            )
        if comparison.kind == kernel.SITES:  # equal bits, also where the rule for sites says no
            k, *_, bits = comparison.parameters
            anyway = replace(comparison, parameters=(k, 0.0, 0.0, 0.0, bits))
            scores = replace(self.signatures, comparison=anyway).scores(rows)
        return Evidence(comparison.measure, scores, comparison.full, nothing, inside, around, self._contained_from)
