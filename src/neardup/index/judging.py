"""Is this one similar to one that we have? The star clustering of `dedup`, in which stored documents are kept already.

Documents are looked up by their keys. Whatever is found, and the documents themselves in the order of arrival, go
through the same kernel, rule and evidence as a collection does: so a verdict is the one that `dedup` gives where it
keeps the first of every group (Broder, section 3: a document is compared with those that share features with it).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.candidates.crowds import Thresholds
from neardup.candidates.features import Buckets
from neardup.clusters.form import form
from neardup.evidence import Evidence, Verifier
from neardup.index import references
from neardup.index.answers import Keep, Match
from neardup.index.arriving import Arrived
from neardup.index.crowds import Features, Filed, Meetings, Sites, by_minima, by_shingles
from neardup.index.rows import Layout, Rows, addresses, taken
from neardup.index.store import NOBODY, Holders, Store
from neardup.kernels import equal as kernel
from neardup.kernels.groups import LOOKS, STANDS
from neardup.model import RELATIONS
from neardup.recipe import Recipe
from neardup.sketches.base import Ragged, mixed
from neardup.text.batches import text_batch
from neardup.verify.places import Places
from neardup.verify.projected import Projected
from neardup.verify.resemblance import Overlap, overlap
from neardup.verify.signatures import Signatures

_SCALE = 1 << 40
"""Shingles of a document whose number is not known."""


@dataclass(frozen=True)
class Finding:
    """About one document: nothing, or the match. `number` is the stored one; or `row`, one of the documents asked."""

    match: Match
    number: int = -1
    row: int = -1
    inside: float | None = None
    """How much of the document is in the stored one, and the other way round; None where that is not known."""
    around: float | None = None


@dataclass(frozen=True)
class _Gathered:
    """Stored documents, then those of the batch that are to be stored, then those asked about."""

    rows: Rows
    numbers: NDArray[np.int64]
    """Of the stored ones, ascending."""
    waiting: NDArray[np.int64]
    asked: NDArray[np.int64]
    """Places in the batch."""
    buckets: Buckets
    """Of all rows."""
    filed: dict[int, Filed]
    """By place among those waiting and asked about."""

    @property
    def fixed(self) -> int:
        """Rows that are kept, whatever they are similar to."""
        return len(self.numbers) + len(self.waiting)


class Judge:
    """Judges documents by a recipe, against a store."""

    def __init__(self, recipe: Recipe, layout: Layout, store: Store, keep: Keep) -> None:
        """keep: texts, or where they are, so that recipes that measure exactly can."""
        self.recipe, self.layout, self.store, self.keep = recipe, layout, store, keep
        self.exact = keep != "sketch" and recipe.verify.method == "exact"
        self.clusters = replace(recipe.clusters, method="star", keep="first")
        sketcher = recipe.sketcher
        plain = (
            not sketcher.comparison.contained and sketcher.on_the_fly is None and sketcher.comparison.similar is None
        )
        self.by_shingles = self.exact and plain

    def judge(
        self,
        arrived: Arrived,
        keys: Ragged,
        asked: NDArray[np.int64],
        *,
        joining: bool = False,
        waiting: NDArray[np.int64] | None = None,
        gone: frozenset[int] = frozenset(),
        filed: dict[int, Filed] | None = None,
    ) -> list[Finding | None]:
        """Of every document asked about (places in the batch), the match.

        joining: in this order, and those that match nothing count for those after them. waiting: places of documents
        that are to be stored already. gone: numbers of stored documents that are to be removed. filed: takes, by their
        places, the further keys that documents of crowds are to be stored under.
        """
        waiting = np.empty(0, np.int64) if waiting is None else waiting
        alone = not joining or len(asked) + len(waiting) == 1
        found = self._gather(arrived, keys, asked, waiting, gone, alone=alone)
        if found is None:
            return [None] * len(asked)
        if filed is not None:
            first = len(waiting)
            filed.update((int(asked[row - first]), keys) for row, keys in found.filed.items() if row >= first)
        compared = found.rows.compared
        holders = np.empty(len(found.rows), np.int32)
        kernel.first_holders(self._identities(found.rows), compared, holders)
        own, fixed = np.arange(len(holders)), found.fixed
        holders = np.where((own < fixed) | ((holders >= fixed) & (not joining)), own, holders)
        chosen = own[(own < fixed) | (compared & (holders == own))]
        centre, evidence = self._stars(arrived, found, chosen, joining)
        matches: list[Finding | None] = [None] * len(asked)
        there = (holders < fixed) | (compared & ((centre[holders] != holders) | (holders != own)))
        for i in np.flatnonzero(there[fixed:]).tolist():
            holder = int(holders[fixed + i])
            if holder in evidence:
                matches[i] = self._similar(found, int(centre[holder]), evidence[holder])
            else:
                matches[i] = self._identical(found, holder)
        return matches

    def similar(self, arrived: Arrived, keys: Ragged, most: int) -> list[Match]:
        """All stored documents that the first document of a batch is similar to, the most similar first."""
        found = self._gather(arrived, keys, np.zeros(1, np.int64), np.empty(0, np.int64), frozenset(), alone=True)
        if found is None or not found.rows.compared[-1]:
            return []
        last = len(found.rows) - 1
        identities = self._identities(found.rows)
        same = (identities[:last] == identities[last]).all(axis=1) & found.rows.compared[:last]
        verifier = self._verifier(arrived, found, np.arange(last + 1))
        pairs = np.stack([np.full(last, last), np.arange(last)], axis=1)
        scores = verifier.signatures.scores(pairs)
        pairs = pairs[~same & (scores >= verifier.rule.least)]
        values = (
            verifier.measure(pairs.astype(np.int32)) if verifier.rule.measured else verifier.signatures.scores(pairs)
        )
        pairs = pairs[values >= verifier.rule.threshold]
        told = _told(verifier, pairs)
        best = sorted(range(len(told)), key=lambda i: -float(told[i].evidence.score[i]))
        matches = [self._identical(found, int(i)).match for i in np.flatnonzero(same)[:most]]
        matches += [self._similar(found, int(pairs[i, 1]), told[i]).match for i in best]
        return matches[:most]

    def suspects(self, rows: Rows) -> NDArray[np.bool_]:
        """Which documents share a key with a stored one."""
        keys = self.layout.keys(rows)
        values, place = np.unique(keys.values, return_inverse=True)
        shared = np.zeros(len(values), np.bool_)
        shared[self.store.holders(values).places] = True
        owners = np.repeat(np.arange(len(rows)), np.diff(keys.offsets))
        return np.bincount(owners[shared[place]], minlength=len(rows)) > 0

    def _gather(
        self,
        arrived: Arrived,
        keys: Ragged,
        asked: NDArray[np.int64],
        waiting: NDArray[np.int64],
        gone: frozenset[int],
        *,
        alone: bool,
    ) -> _Gathered | None:
        """All that documents may be similar to. None: there is nothing, and they are not compared with each other."""
        ours = np.concatenate([waiting, asked])
        own = taken(keys, ours)
        identities, features = _parted(own)

        def meet(standing: Holders) -> Meetings:
            return self._meetings(arrived, ours, features._replace(stored=standing), together=not alone)

        met, numbers, records = self._looked_up(identities, features.keys, gone, meet)
        if alone and not len(numbers) and not met.filed:
            return None
        stored = self.layout.decode(records)
        rows = Rows.together([stored, self.layout.kept(arrived.rows).take(ours)])
        standing = met.stored
        row = np.searchsorted(numbers, standing.numbers)
        there = numbers[np.minimum(row, len(numbers) - 1)] == standing.numbers if len(numbers) else row < 0
        owners, buckets, roles = met.arriving
        owners = np.concatenate([row[there], owners + len(numbers)])
        order = np.argsort(owners, kind="stable")
        begins = np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=len(rows)))]).astype(np.int64)
        entries = np.concatenate([standing.places[there], buckets])[order].astype(np.int32)
        roles = np.concatenate([np.full(int(there.sum()), LOOKS | STANDS), roles])[order].astype(np.uint8)
        found = Buckets(np.arange(len(rows)), entries, begins, met.count, roles)
        return _Gathered(rows, numbers, waiting, asked, found, met.filed)

    def _meetings(self, arrived: Arrived, ours: NDArray[np.int64], features: Features, *, together: bool) -> Meetings:
        """Return where documents meet stored ones and each other: by shingles where resemblances are measured."""
        sketcher, verify = self.recipe.sketcher, self.recipe.verify
        if not self.by_shingles:
            return by_minima(sketcher, self.store, arrived.rows.words[ours], features, together=together)

        def shingles_of(rows: NDArray[np.int64]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
            return sketcher.shingle_sets(arrived.text, ours[rows], sketcher.seed)

        sites = None
        if verify.by_place:
            sites = Sites(*Places.named([addresses([arrived.rows.urls[i] for i in ours.tolist()])]))
        thresholds = Thresholds(verify.threshold, verify.same_site if verify.by_place else verify.threshold)
        return by_shingles(self.store, shingles_of, features, thresholds, sites, together=together)

    def further_keys(self, arrived: Arrived, keys: Ragged) -> dict[int, Filed]:
        """Return, by row, the further keys that documents of crowds are to be stored under, where nothing is judged."""
        _, features = _parted(keys)
        features = features._replace(stored=self.store.holders(features.keys))
        return self._meetings(arrived, np.arange(len(arrived)), features, together=True).filed

    def _looked_up(
        self,
        identities: NDArray[np.uint64],
        features: NDArray[np.uint64],
        gone: frozenset[int],
        meet: Callable[[Holders], Meetings],
    ) -> tuple[Meetings, NDArray[np.int64], list[bytes]]:
        """Who has these keys; and the numbers and records of those that are there. One without a record was removed
        before, or replaced since the keys were looked up: where that may be they are looked up again."""
        keys = np.concatenate([identities, features])

        def look_up() -> tuple[Meetings, NDArray[np.int64]]:
            standing = self.store.holders(keys, gone)
            first = int(np.searchsorted(standing.places, len(identities)))
            met = meet(Holders(standing.places[first:] - len(identities), standing.numbers[first:]))
            return met, np.unique(np.concatenate([standing.numbers[:first], met.stored.numbers]))

        moment, (met, numbers) = self.store.moment(), look_up()
        while True:
            if gone:
                numbers = numbers[~np.isin(numbers, list(gone))]
            found = self.store.records(numbers)
            there = np.array([record is not None for record in found], np.bool_)
            settled = there.all() or self.store.moment() == moment
            if not settled:
                moment, before, (met, again) = self.store.moment(), numbers, look_up()
                settled = np.array_equal(before, again[~np.isin(again, list(gone))] if gone else again)
                numbers = before if settled else again
            if settled:
                return met, numbers[there], [record for record in found if record is not None]

    def _identities(self, rows: Rows) -> NDArray[np.uint64]:
        """What names the tokens; and the site, where that matters."""
        sketcher = self.recipe.sketcher
        if not sketcher.needs_urls:
            return rows.identities
        found = rows.identities.copy()
        found[:, 1] ^= mixed(sketcher.places(rows.urls, {None: 0}), 1)
        return found

    def _stars(
        self, arrived: Arrived, found: _Gathered, chosen: NDArray[np.int64], joining: bool
    ) -> tuple[NDArray[np.int64], dict[int, "_Told"]]:
        """The centre of every row; and the evidence where that is another one."""
        centre = np.arange(len(found.rows))
        if len(chosen) == found.fixed:
            return centre, {}
        buckets = found.buckets.among(chosen)
        verifier = self._verifier(arrived, found, chosen)
        formed = form(
            buckets,
            verifier.signatures,
            verifier.rule,
            self.clusters,
            verifier.measure,
            verifier.known,
            sites=verifier.sites,
            fixed=found.fixed,
            joining=joining,
        )
        removed = np.flatnonzero(formed.centre != np.arange(len(chosen)))
        centre[chosen[removed]] = chosen[formed.centre[removed]]
        if not len(removed):
            return centre, {}
        told = _told(verifier, np.stack([removed, formed.centre[removed]], axis=1))
        return centre, dict(zip(chosen[removed].tolist(), told, strict=True))

    def _verifier(self, arrived: Arrived, found: _Gathered, chosen: NDArray[np.int64]) -> Verifier:
        recipe = self.recipe
        sketcher, rows = recipe.sketcher, found.rows if len(chosen) == len(found.rows) else found.rows.take(chosen)
        signatures = Signatures.of_columns(sketcher, rows.samples, rows.words, rows.ragged, rows.urls)
        later = sketcher.on_the_fly
        return Verifier(
            recipe,
            np.arange(len(chosen)),
            signatures,
            None if later is None else Projected(later, np.arange(len(chosen)), lambda _: rows.later),
            _TextMeter(self, arrived, found, chosen, signatures) if self.keep != "sketch" else None,
            Places.at(len(rows), [(0, addresses(rows.urls))]) if recipe.verify.by_place else None,
        )

    def _identical(self, found: _Gathered, row: int) -> Finding:
        full = 1.0 if self.exact else self._full
        match = Match(found.rows.ids[row], "identical", full, "identity", 1.0, None, found.rows.urls[row])
        return self._finding(found, row, match, 1.0, 1.0)

    @property
    def _full(self) -> float:
        sketcher = self.recipe.sketcher
        return (sketcher.on_the_fly or sketcher).comparison.full

    def _similar(self, found: _Gathered, row: int, told: "_Told") -> Finding:
        evidence, i = told.evidence, told.row
        how, score, resemblance = evidence.how, float(evidence.score[i]), float(evidence.resemblance[i])
        inside, around = evidence.first_in_second[i], evidence.second_in_first[i]
        if told.sketched is not None:  # a text could not be read again
            unit = self.recipe.sketcher.comparison.measure
            how, score = "estimate" if unit == "resemblance" else unit, told.sketched
            resemblance, inside, around = score if how == "estimate" else np.nan, np.nan, np.nan
        match = Match(
            found.rows.ids[row],
            RELATIONS[evidence.relation[i]] if told.sketched is None else "near",
            score,
            how,
            _known(resemblance),
            _known(self.recipe.sketcher.error(resemblance) if how == "estimate" else np.nan),
            found.rows.urls[row],
        )
        return self._finding(found, row, match, _known(inside), _known(around))

    def _finding(self, found: _Gathered, row: int, match: Match, inside: float | None, around: float | None) -> Finding:
        stored, fixed = len(found.numbers), found.fixed
        if row < stored:
            return Finding(match, int(found.numbers[row]), -1, inside, around)
        place = found.waiting[row - stored] if row < fixed else found.asked[row - fixed]
        return Finding(match, -1, int(place), inside, around)


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _parted(keys: Ragged) -> tuple[NDArray[np.uint64], Features]:
    """Part the keys of documents: the distinct identities, which come first, and the features; stored ones are left
    open."""
    sizes = np.diff(keys.offsets)
    identity = np.zeros(len(keys.values), np.bool_)
    identity[keys.offsets[:-1][sizes > 0]] = True
    owners = np.repeat(np.arange(len(sizes)), sizes)[~identity]
    values, places = np.unique(keys.values[~identity], return_inverse=True)
    return np.unique(keys.values[identity]), Features(values, owners, places, NOBODY)


class _Told(NamedTuple):
    """What is known of a pair: a row of evidence."""

    evidence: Evidence
    row: int
    sketched: float | None
    """The score of the sketches, where a text could not be read and the pair was judged by that."""


def _told(verifier: Verifier, pairs: NDArray[np.int64]) -> list[_Told]:
    evidence = verifier.evidence(pairs)
    without: NDArray[np.bool_] = np.zeros(len(pairs), np.bool_)
    if isinstance(verifier.meter, _TextMeter) and verifier.exact:
        without = np.asarray(verifier.meter.lost[pairs].any(axis=1))
    scores = verifier.signatures.scores(pairs)
    return [_Told(evidence, i, float(scores[i]) if without[i] else None) for i in range(len(pairs))]


class _TextMeter:
    """Overlaps of documents whose text is kept or at hand; shingle sets are made when they are first asked for."""

    def __init__(
        self, judge: Judge, arrived: Arrived, found: _Gathered, chosen: NDArray[np.int64], signatures: Signatures
    ) -> None:
        self.judge, self.arrived, self.found, self.chosen = judge, arrived, found, chosen
        self.signatures = signatures
        self.sets = np.empty(0, np.uint64)
        self.starts = np.full(len(chosen), -1, np.int64)
        self.sizes = np.zeros(len(chosen), np.int64)
        self.lost = np.zeros(len(chosen), np.bool_)
        """Rows whose text could not be read again."""

    def measure(self, pairs: NDArray[np.int64]) -> Overlap:
        """Pairs of rows. Where a text is lost, sizes that tell what the sketches do."""
        missing = np.unique(pairs[self.starts[pairs] < 0])
        if len(missing):
            texts = self._texts(self.chosen[missing])
            batch = text_batch(pa.array(texts, pa.large_binary()))
            sets, sizes = self.judge.recipe.sketcher.shingle_sets(batch, np.arange(len(missing)))
            self.starts[missing] = len(self.sets) + np.concatenate([[0], np.cumsum(sizes)[:-1]])
            self.sizes[missing] = sizes
            self.sets = np.concatenate([self.sets, sets])
            self.lost[missing] = [text is None for text in texts]
        found = overlap(self.sets, self.starts, self.sizes, pairs)
        without = self.lost[pairs].any(axis=1)
        if without.any():
            known = self.signatures.comparison.similar is None
            told = self.signatures.scores(pairs[without]) if known else np.ones(int(without.sum()))
            found.first[without] = found.second[without] = _SCALE
            found.shared[without] = np.rint(2 * _SCALE * told / (1 + told)).astype(np.int64)
        return found

    look_up = measure

    def _texts(self, rows: NDArray[np.int64]) -> list[bytes | None]:
        found, stored = self.found, len(self.found.numbers)
        places = np.concatenate([found.waiting, found.asked])
        theirs = rows[rows < stored]
        kept: list[bytes | None] = self.judge.store.texts(found.numbers[theirs])
        if self.judge.keep == "reference":
            kept = references.read(kept, found.rows.take(theirs), self.judge.recipe)
        return kept + list(self.arrived.texts(places[rows[rows >= stored] - stored].tolist()))
