"""What is known of pairs whatever the truth says: sites, lengths, scripts, in what they differ.

Everything is read from one sketched collection, the base recipe's: tokens are counted as that recipe counts them. Texts
are read again, and a bounded number of them is in memory at once.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup.evaluating.collection import members_of
from neardup.evaluating.differences import difference
from neardup.evaluating.scripts import SCRIPTS, Scripts
from neardup.evaluating.study import DIFFERENT_SITES, SAME_SITE, SITE_UNKNOWN
from neardup.gather import Gathered
from neardup.text.settings import TextSettings
from neardup.text.sites import SiteRule, site
from neardup.text.workers import PageExtractor

Ints = NDArray[np.int64]

_TEXT_AT_ONCE = 128 << 20
"""Bytes of text in memory at once, or those of one pair."""


@dataclass(frozen=True, eq=False)
class Facts:
    """About pairs of documents, given by their numbers."""

    gathered: Gathered
    sites: SiteRule = "henzinger"

    def same_site(self, first: Ints, second: Ints) -> NDArray[np.int8]:
        """1 same site, 0 different sites, -1 where a URL is not known."""
        members, rows = members_of(first, second, len(self.gathered.collection))
        numbers: dict[str, int] = {}
        places = np.full(len(members), -1, np.int64)
        for i, url in enumerate(self.gathered.collection.any_order("url", members).to_pylist()):
            name = site(url, self.sites)
            if name is not None:
                places[i] = numbers.setdefault(name, len(numbers))
        one, other = places[rows].T
        relation = np.where(one == other, SAME_SITE, DIFFERENT_SITES).astype(np.int8)
        relation[(one < 0) | (other < 0)] = SITE_UNKNOWN
        return relation

    def tokens(self, first: Ints, second: Ints) -> Ints:
        """Of the shorter document."""
        tokens = self.gathered.collection.numbers("tokens")
        shorter: Ints = np.minimum(tokens[first], tokens[second]).astype(np.int64)
        return shorter

    def scripts(self, first: Ints, second: Ints) -> Ints:
        """Places in SCRIPTS: that of both documents, or "mixed" where they have two."""
        members, rows = members_of(first, second, len(self.gathered.collection))
        engine, starts = self.gathered.engine, self.gathered.collection.starts
        with engine.steps.step("scripts", sum(s.size for s in engine.splits)):
            words = engine.words(Scripts(self.gathered.recipe.text), members, starts, self.gathered.rules)
        one, other = words[:, 0].astype(np.int64)[rows].T
        return np.where(one == other, one, SCRIPTS.index("mixed"))

    def differences(self, first: Ints, second: Ints) -> tuple[list[str], Ints]:
        """The kind of difference of every pair, and its term difference (see `differences`)."""
        kinds = [""] * len(first)
        terms = np.full(len(first), -1, np.int64)
        engine, collection = self.gathered.engine, self.gathered.collection
        tokens = self.gathered.recipe.text.tokens
        extract = PageExtractor(TextSettings(tokens, "all"), workers=engine.extract.workers)
        with engine.steps.step("differences", sum(s.size for s in engine.splits)):
            for rows in self._together(first, second):
                wanted = np.unique(np.concatenate([first[rows], second[rows]]))
                texts = engine.texts(wanted, collection.starts, self.gathered.rules, extract=extract)
                urls = dict(zip(wanted.tolist(), collection.any_order("url", wanted).to_pylist(), strict=True))
                for row in rows.tolist():
                    one, other = int(first[row]), int(second[row])
                    kinds[row], terms[row] = difference(texts[one], texts[other], urls=(urls[one], urls[other]))
        return kinds, terms

    def _together(self, first: Ints, second: Ints) -> Iterator[Ints]:
        """Rows whose texts fit into memory together, in the order of the documents."""
        sizes = self.gathered.collection.numbers("bytes")
        rows: list[int] = []
        held: set[int] = set()
        volume = 0
        for row in np.lexsort((second, first)).tolist():
            more = {int(first[row]), int(second[row])} - held
            volume += sum(int(sizes[d]) for d in more)
            if rows and volume > _TEXT_AT_ONCE:
                yield np.array(rows, np.int64)
                rows, held = [], set()
                more = {int(first[row]), int(second[row])}
                volume = sum(int(sizes[d]) for d in more)
            rows.append(row)
            held |= more
        if rows:
            yield np.array(rows, np.int64)
