"""Where an arriving document meets stored ones: under its features, and in crowds under rarer keys.

All pages of a template share most of their minima, and with them their features. A feature leads to the latest of its
documents and the first few; the near-duplicate that is looked for may have come in between. So documents with a crowded
feature are filed, and looked up, under further keys:

    minima     where texts are not kept: single minima that few others have (`by_minima`). A near-duplicate shares some
               of them; another page of the template has the template's minima in their places.
    shingles   where resemblances are measured: the shingles that few others have (`by_shingles`)

Documents outside of crowds cost nothing: they are neither looked up nor filed under further keys.

**Shingles.** The list of documents that are filed under a shingle counts those that have it. Let T be
the shingles under which more than RARE are filed when document A is stored. A is filed under all of its shingles that
are not in T. In a later document B, |A ∩ B| is at most the number of A's shingles in T, and of B's, unless B has one of
those that A is filed under. So, as in candidates/crowds, a resemblance of t or more needs such a shingle, or one of the
two is light. T never shrinks while nothing is removed: a document that is light when it comes looks at all of its
features; one that was light when it came is filed as light under each of them, where everybody looks. The first
documents of a feature came before it was crowded, and are filed under nothing else: everybody looks at them too.
Of documents with more than WINDOW shingles those with the lowest hashes are taken, about WINDOW of them: they stand for
all, and what is called light is a little more than what is.
What may be lost: pairs whose few rare shingles have no low hash; where a light document looks, and where light ones
stand, the latest are compared alone; and after removals shingles may be rare again under which nobody was filed while
they were frequent.

Where two pages of one site need more than others, a crowded feature is divided: a page is filed under the feature
together with its site, too, where light is what the site's threshold calls so; and under its address, for versions of
one page are held to the general threshold.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup.candidates.crowds import Thresholds, light
from neardup.index.rows import beside
from neardup.index.store import FIRST, NOBODY, Holders, Store
from neardup.kernels.groups import ELSEWHERE, LOOKS, STANDS
from neardup.sketches.base import Ragged, Sketcher, mixed

CROWD = 4
"""From so many other documents under one of its features on, a document is in a crowd, where texts are not kept."""

RARE_MINIMUM = 8
"""A minimum that more documents have than this is one of the template."""

FILED = 8
"""Rare minima that a document is filed under at the most: those that the fewest others have."""

RARE = 16
"""A shingle that more documents have than this is one of the template."""

WINDOW = 512
"""Shingles of a document that are looked at, on average at the most."""

_SHINGLE, _LIGHT, _SITE, _PAGE = 0x51, 0x52, 0x53, 0x54
"""Salts, so that keys of one kind never agree with those of another."""

_NOTHING = np.uint8(0)


class Filed(NamedTuple):
    """Further keys that a document is to be stored under; each as long as `room` is left there."""

    keys: NDArray[np.uint64]
    room: NDArray[np.int64]


_ALWAYS = 1 << 62


def filed_keys(keys: Ragged, filed: Mapping[int, Filed], kept: Sequence[int]) -> Ragged:
    """Return the keys of documents with the further ones of those that are kept, in the order in which they came."""
    rows = [row for row in sorted(kept) if row in filed]
    if not rows:
        return keys
    values = np.concatenate([filed[row].keys for row in rows])
    room = np.concatenate([filed[row].room for row in rows])
    owners = np.repeat(rows, [len(filed[row].keys) for row in rows])
    fits = _ranks(np.unique(values, return_inverse=True)[1]) < room
    offsets = np.searchsorted(owners[fits], np.arange(len(keys.offsets))).astype(np.int64)
    return beside(keys, Ragged(values[fits], offsets))


def _ranks(places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each entry how many before it have the same place."""
    order = np.argsort(places, kind="stable")
    starts = np.flatnonzero(np.append(True, np.diff(places[order]) > 0))[: len(order)]
    found = np.empty(len(order), np.int64)
    found[order] = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
    return found


class Features(NamedTuple):
    """The features of arriving documents, and the stored documents that have them."""

    keys: NDArray[np.uint64]
    """Distinct ones."""
    owners: NDArray[np.int64]
    """For each feature of each document its row, ascending."""
    places: NDArray[np.int64]
    """For each of them its place in `keys`."""
    stored: Holders
    """By place in `keys`."""

    def populations(self, together: bool) -> NDArray[np.int64]:
        """Return how many documents have each of the keys: stored ones and one arriving, or all of them `together`."""
        arriving = np.bincount(self.places, minlength=len(self.keys)) if together else 1
        found: NDArray[np.int64] = np.bincount(self.stored.places, minlength=len(self.keys)) + arriving
        return found


@dataclass
class Meetings:
    """Documents in buckets; those in one bucket may be similar. Stored ones by number, arriving ones by row."""

    count: int = 0
    """Buckets."""
    filed: dict[int, Filed] = field(default_factory=dict)
    """By row."""
    _stored: list[Holders] = field(default_factory=list)
    _arriving: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8]]] = field(default_factory=list)

    def add(
        self,
        count: int,
        stored: Holders,
        owners: NDArray[np.int64],
        places: NDArray[np.int64],
        roles: NDArray[np.uint8] | np.uint8 = LOOKS | STANDS,
    ) -> None:
        """Add so many buckets, with their documents; places count from 0."""
        self._stored.append(Holders(stored.places + self.count, stored.numbers))
        self._arriving.append((owners, places + self.count, np.broadcast_to(roles, len(owners))))
        self.count += count

    @property
    def stored(self) -> Holders:
        """Return the numbers of stored documents and their buckets."""
        return Holders(*map(np.concatenate, zip(NOBODY, *self._stored, strict=True)))

    @property
    def arriving(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8]]:
        """Return rows, their buckets and what they do there."""
        nobody = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.uint8))
        rows, buckets, roles = map(np.concatenate, zip(nobody, *self._arriving, strict=True))
        return rows, buckets, roles


def by_minima(
    sketcher: Sketcher, store: Store, words: NDArray[np.uint64], features: Features, *, together: bool
) -> Meetings:
    """Let documents meet under their features and, in crowds, under rare minima.

    words: the sketches of the documents, row by row. together: they meet each other as well.
    """
    found = Meetings()
    found.add(len(features.keys), features.stored, features.owners, features.places)
    crowded = np.unique(features.owners[features.populations(together)[features.places] > CROWD])
    made = sketcher.rare_keys(words[crowded]) if len(crowded) else np.empty((0, 0), np.uint64)
    if not made.size:
        return found
    keys, number = np.unique(made, return_inverse=True)
    number = number.reshape(made.shape)
    stored = store.holders(keys)
    count = np.bincount(stored.places, minlength=len(keys))
    if together:
        count += np.bincount(number.reshape(-1), minlength=len(keys)) - 1
    rare = count <= RARE_MINIMUM
    there = rare[number]
    number = np.take_along_axis(number, np.argsort(count[number], axis=1, kind="stable"), axis=1)
    for i, row in enumerate(crowded.tolist()):
        chosen = keys[number[i][rare[number[i]]][:FILED]]
        found.filed[row] = Filed(chosen, np.full(len(chosen), _ALWAYS))
    theirs = rare[stored.places]
    owners = np.repeat(crowded, there.sum(axis=1))
    found.add(len(keys), stored.where(theirs), owners, number[rare[number]])
    return found


ShinglesOf = Callable[[NDArray[np.int64]], tuple[NDArray[np.uint64], NDArray[np.int64]]]
"""Rows → their shingle sets, one behind the other, and the sizes of these."""


@dataclass(frozen=True)
class Sites:
    """Hashes of the sites (0: unknown) and of the addresses of arriving documents."""

    hosts: NDArray[np.uint64]
    pages: NDArray[np.uint64]


def by_shingles(
    store: Store,
    shingles_of: ShinglesOf,
    features: Features,
    thresholds: Thresholds,
    sites: Sites | None = None,
    *,
    together: bool,
) -> Meetings:
    """Let documents meet under their features and, in crowds, under rare shingles.

    sites: where pages of one site are held to a threshold of their own. together: documents meet each other as well.
    """
    found = Meetings()
    crowded = features.populations(together) > FIRST
    inside = crowded[features.places]
    outside = ~crowded[features.stored.places]
    found.add(
        len(features.keys),
        features.stored.where(outside),
        features.owners[~inside],
        features.places[~inside],
    )
    if not inside.any():
        return found
    rows = np.unique(features.owners[inside])
    crowd = _Crowd(store, rows, *shingles_of(rows), thresholds.general, together)
    crowd.meet(found)
    filing = []
    many = Features(features.keys, features.owners[inside], features.places[inside], features.stored)
    if sites is None:
        filing.append(_divided(found, store, many, crowded, crowd.light(thresholds.general)))
    else:
        filing.append(_divided(found, store, many, crowded, crowd.light(thresholds.general), ELSEWHERE))
        known = sites.hosts[many.owners] != 0
        owners = many.owners[known]
        keys, places = np.unique(mixed(many.keys[many.places[known]] ^ sites.hosts[owners], _SITE), return_inverse=True)
        local = Features(keys, owners, places, store.holders(keys))
        full = local.populations(together) > FIRST
        within, there = full[places], ~full[local.stored.places]
        few = local.stored.where(there)
        found.add(len(keys), few, owners[~within], places[~within])
        filing.append((owners, keys[places]))
        at_home = Features(keys, owners[within], places[within], local.stored)
        filing.append(_divided(found, store, at_home, full, crowd.light(thresholds.same_site)))
        pages, version = np.unique(mixed(sites.pages[rows], _PAGE), return_inverse=True)
        of_site = sites.hosts[rows] != 0
        found.add(len(pages), store.holders(pages), rows[of_site], version[of_site])
        filing.append((rows[of_site], pages[version[of_site]]))
    _file(found, crowd, filing)
    return found


class _Crowd:
    """Documents of crowded features, with their shingles."""

    def __init__(
        self,
        store: Store,
        rows: NDArray[np.int64],
        shingles: NDArray[np.uint64],
        sizes: NDArray[np.int64],
        threshold: float,
        together: bool,
    ) -> None:
        self.rows, self.sizes, self.together = rows, sizes, together
        keys, owners = mixed(shingles, _SHINGLE), np.repeat(np.arange(len(rows)), sizes)
        place = keys / 2.0**64 * np.maximum(sizes, WINDOW)[owners]
        seen = place < WINDOW / threshold  # of a near-duplicate the window may be so much wider
        self.owners, self.inside = owners[seen], (place < WINDOW)[seen]
        self.keys, self.places = np.unique(keys[seen], return_inverse=True)
        self.stored = store.holders(self.keys)
        self.before = np.bincount(self.stored.places, minlength=len(self.keys))
        self.frequent = self.before + (np.bincount(self.places, minlength=len(self.keys)) if together else 1) > RARE

    def light(self, threshold: float) -> NDArray[np.int64]:
        """Return the rows that may be near-duplicates of others without being found under a shingle."""
        n = len(self.rows)
        taken = np.maximum(1, np.bincount(self.owners[self.inside], minlength=n))
        share = np.bincount(self.owners[self.inside & self.frequent[self.places]], minlength=n) / taken
        error = np.where(self.sizes > WINDOW, np.sqrt(share * (1.0 - share) / taken), 0.0)
        often = np.rint((share + 3.0 * error) * self.sizes)
        return self.rows[light(self.sizes, often, threshold)]

    def filing(self) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.int64]]:
        """Return rows, the keys of shingles that they may be filed under, and how many more each key takes."""
        room = (RARE + 1 - self.before)[self.places]
        filed = self.inside & (room > 0)
        return self.rows[self.owners[filed]], self.keys[self.places[filed]], room[filed]

    def meet(self, found: Meetings) -> None:
        """Add a bucket for every list of stored documents, which many shingles of a template have in common; and one
        for every shingle under which arriving documents meet each other."""
        edges = np.searchsorted(self.stored.places, np.arange(len(self.keys) + 1))
        sums = np.append(np.uint64(0), np.cumsum(mixed(self.stored.numbers.astype(np.uint64), _SHINGLE)))
        _, chosen, lists = np.unique(sums[edges[1:]] - sums[edges[:-1]], return_index=True, return_inverse=True)
        first = np.zeros(len(self.keys), np.bool_)
        first[chosen] = True
        theirs = first[self.stored.places]
        stored = Holders(lists[self.stored.places[theirs]], self.stored.numbers[theirs])
        looks = np.unique(self.owners * len(chosen) + lists[self.places])
        found.add(len(chosen), stored, self.rows[looks // len(chosen)], looks % len(chosen), LOOKS)
        if self.together:
            stands = self.before[self.places] + _ranks(self.places) <= RARE
            standing = np.bincount(self.places[stands], minlength=len(self.keys)) > 0
            met = (standing & (np.bincount(self.places, minlength=len(self.keys)) > 1))[self.places]
            roles = np.where(stands, LOOKS | STANDS, LOOKS).astype(np.uint8)
            found.add(len(self.keys), NOBODY, self.rows[self.owners[met]], self.places[met], roles[met])


def _divided(
    found: Meetings,
    store: Store,
    features: Features,
    crowded: NDArray[np.bool_],
    lights: NDArray[np.int64],
    passing: np.uint8 = _NOTHING,
) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Let documents of crowded features meet: everybody looks at the first ones and at light ones, these at all.

    features: whose owners have crowded ones alone. lights: rows. passing: ELSEWHERE where pages of the own site are
    passed over. Returns rows and the keys that they are to be filed under as light.
    """
    keys, owners, places = features.keys, features.owners, features.places
    is_light = np.isin(owners, lights)
    theirs = crowded[features.stored.places]
    standing = features.stored.where(theirs)
    starts = np.searchsorted(standing.places, np.arange(len(keys)))
    early = np.arange(len(standing.places)) - starts[standing.places] < FIRST
    found.add(len(keys), standing.where(early), owners, places, LOOKS)
    if is_light.any():
        wanted = np.zeros(len(keys), np.bool_)
        wanted[places[is_light]] = True
        met = wanted[standing.places] & ~early
        mine = wanted[places]
        roles = np.where(is_light, LOOKS | passing, STANDS).astype(np.uint8)
        others = standing.where(met)
        found.add(len(keys), others, owners[mine], places[mine], roles[mine])
    asked = np.flatnonzero(np.bincount(places, minlength=len(keys)))
    light_keys = mixed(keys, _LIGHT)
    stored = store.holders(light_keys[asked])
    roles = np.where(is_light, LOOKS | STANDS | passing, LOOKS | passing).astype(np.uint8)
    found.add(len(keys), Holders(asked[stored.places], stored.numbers), owners, places, roles)
    return owners[is_light], light_keys[places[is_light]]


def _file(found: Meetings, crowd: _Crowd, filing: list[tuple[NDArray[np.int64], NDArray[np.uint64]]]) -> None:
    """Note which keys each row is to be filed under."""
    rows, keys, room = crowd.filing()
    more_rows, more_keys = (np.concatenate(column) for column in zip(*filing, strict=True))
    rows, keys = np.concatenate([rows, more_rows]), np.concatenate([keys, more_keys])
    room = np.concatenate([room, np.full(len(more_rows), _ALWAYS)])
    order = np.argsort(rows, kind="stable")
    names, starts = np.unique(rows[order], return_index=True)
    for row, places in zip(names.tolist(), np.split(order, starts[1:]), strict=True):
        found.filed[row] = Filed(keys[places], room[places])
