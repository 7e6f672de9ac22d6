"""A finished run as the pages of the collection look at it: its folder, its facts, its groups.

run_of      the run that is served, or the problem that there is none
watched     a page of it, which is refused where the run is not the one that was opened any more
folder_of   where it is
Clusters    which groups there are, filtered and put in order
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache, wraps
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from neardup.model import RELATIONS
from neardup.report.facts import Facts
from neardup.result import Result
from neardup.searching.inputs import state_of
from neardup.service.pages.asking import Asked as Question
from neardup.service.pages.asking import Shown, Site
from neardup.service.problems import Problem

ORDERS = ("largest", "weakest", "input")
KINDS = ("any", *RELATIONS)

_AT_ONCE = 1 << 18
"""Documents whose names are looked through together, so that memory is bounded."""


def run_of(site: Site) -> Result:
    """Of the collection."""
    if site.collection is None or site.collection.run is None:
        raise Problem("not-found", "No finished run is served here: see /collection for how to make one.")
    return site.collection.run


def watched(show: Callable[[Site, Question], Shown]) -> Callable[[Site, Question], Shown]:
    """A page of the run. Names are read from its folder when they are shown, and audits are written there: before and
    after, it must be the run that was opened."""

    @wraps(show)
    def shown(site: Site, asked: Question) -> Shown:
        _check(site)
        try:
            made = show(site, asked)
        except Exception:
            _check(site)
            raise
        _check(site)
        return made

    return shown


def _check(site: Site) -> None:
    if site.collection is None or site.collection.run is None:
        return
    folder = folder_of(site.collection.run)
    found = state_of(folder)
    if found is None:
        raise Problem("run", f"{folder} is gone, or being made again. Put it back, or reload the collection.")
    if found != site.collection.run_state:
        raise Problem("run", f"{folder}: the run was made again since it is served. Reload the collection to see it.")


def folder_of(run: Result) -> Path:
    """The folder that it was written to."""
    return run.gathered.engine.work.decision.parent.parent


@dataclass(frozen=True)
class Asked:
    """Which groups are wanted."""

    words: str = ""
    """In the id or the URL of a member, whatever their case."""
    kind: str = KINDS[0]
    order: str = ORDERS[0]


class Clusters:
    """The groups of a run, by their numbers: the kept documents that stand for others, ascending."""

    def __init__(self, run: Result) -> None:
        self.facts = Facts(run, seed=1)
        self.seconds = sum(step["seconds"] for step in json.loads((folder_of(run) / "run.json").read_text())["steps"])
        """That the run took; drawing pairs and making the report are steps too, and come on top in this process."""
        self._decision = run.decision
        self.find = lru_cache(16)(self._find)

    def __len__(self) -> int:
        return len(self.facts.centres)

    @cached_property
    def _group_of_row(self) -> NDArray[np.int64]:
        return np.searchsorted(self.facts.centres, self._decision.kept_for)

    @cached_property
    def kinds(self) -> NDArray[np.int64]:
        """How many members of each relation a group has: a row per group, a column per relation."""
        counts = np.zeros((len(self), len(RELATIONS)), np.int64)
        np.add.at(counts, (self._group_of_row, self._decision.relation), 1)
        return counts

    @cached_property
    def weakest(self) -> NDArray[np.float64]:
        """By how much the least similar member of each group is above what it needed."""
        margin = np.full(len(self), np.inf)
        above = np.where(self.facts.by_identity, np.inf, self._decision.score - self.facts.needed)
        np.minimum.at(margin, self._group_of_row, above)
        return margin

    def numbered(self, kept: int) -> int:
        """The group of a kept document; -1 where it stands for no other."""
        at = int(np.searchsorted(self.facts.centres, kept))
        return at if at < len(self) and int(self.facts.centres[at]) == kept else -1

    def _find(self, asked: Asked) -> NDArray[np.int64]:
        """The groups that are wanted, in their order."""
        wanted = np.ones(len(self), bool)
        if asked.kind in RELATIONS:
            wanted &= self.kinds[:, RELATIONS.index(asked.kind)] > 0
        if asked.words:
            wanted &= self._named(asked.words)
        groups = np.flatnonzero(wanted)
        if asked.order == "largest":
            return groups[np.argsort(-self.facts.sizes[groups], kind="stable")]
        if asked.order == "weakest":
            return groups[np.argsort(self.weakest[groups], kind="stable")]
        return groups

    def _named(self, words: str) -> NDArray[np.bool_]:
        """Groups with a document whose id or URL has these words in it."""
        found = np.zeros(len(self), bool)
        documents = np.concatenate([self.facts.centres, self._decision.removed])
        groups = np.concatenate([np.arange(len(self)), self._group_of_row])
        for at in range(0, len(documents), _AT_ONCE):
            some = documents[at : at + _AT_ONCE]
            for column in ("id", "url"):
                names = self.facts.collection.any_order(column, some).cast(pa.large_string())
                hit = pc.fill_null(pc.match_substring(names, words, ignore_case=True), False)
                found[groups[at : at + _AT_ONCE][hit.to_numpy(zero_copy_only=False)]] = True
        return found


@lru_cache(2)
def clusters_of(run: Result) -> Clusters:
    """Counted once."""
    return Clusters(run)
