"""Pugh's lists ("Detecting duplicate and near-duplicate files"): fingerprints that survive edits.

The words of a document are dealt to n lists by a hash, and every list has a fingerprint. Two documents are similar if
any fingerprint is the same. An edit removes a word or adds one (a replacement is two edits), and changes one
fingerprint drawn at random. So after e edits all n have changed with the probability that e balls leave none of n
boxes empty. The test can be repeated R times, with another hash each, and a pair must pass `needed` of them.

all_changed   the probability, exactly (inclusion and exclusion over whole numbers)
shared        its complement in floats, by a sum of positive terms: stable for any number of lists and edits
Lists         lists, repetitions and needed: the curve over edits, the half point, the cost
choose_lists  the cheapest of them for what a user asks
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import comb

import numpy as np

from neardup.analysis import binomial
from neardup.errors import RecipeError

MOST_LISTS = 256
MOST_REPETITIONS = 64
"""How far `choose_lists` looks."""

MOST_EDITS = 2000
"""Documents further apart are not near; the chain of `shared` takes a step per edit."""


def all_changed(edits: int, lists: int) -> Fraction:
    """The share of the n^e ways to place e edits that leave no list untouched: surjections of edits onto lists."""
    if edits < 0 or lists < 1:
        raise RecipeError(f"edits = {edits}, lists = {lists}: edits are at least 0, lists at least 1.")
    onto = sum((-1) ** j * comb(lists, j) * (lists - j) ** edits for j in range(lists + 1))
    return Fraction(onto, lists**edits)


def shared(edits: int, lists: int) -> float:
    """The probability that after so many edits a fingerprint is still the same."""
    return _chain(edits, lists)[edits][0]


@lru_cache(maxsize=1024)
def _chain(edits: int, lists: int) -> tuple[tuple[float, float], ...]:
    """For 0, 1, … edits: that a fingerprint is the same, that none is.

    The number of changed lists is a chain: an edit hits one of the j changed ones with probability j/n, and a new one
    otherwise. Nothing is subtracted, so nothing cancels.
    """
    if edits < 0 or lists < 1:
        raise RecipeError(f"edits = {edits}, lists = {lists}: edits are at least 0, lists at least 1.")
    changed = np.zeros(lists + 1)
    changed[0] = 1.0
    stay = np.arange(lists + 1) / lists
    move = np.arange(lists, -1, -1) / lists
    both = [(1.0, 0.0)]
    for _ in range(edits):
        moved = changed[:-1] * move[:-1]
        changed *= stay
        changed[1:] += moved
        both.append((min(1.0, float(changed[:-1].sum())), float(changed[-1])))
    return tuple(both)


@dataclass(frozen=True)
class Lists:
    """n lists, R repetitions with another hash each; a pair that shares a fingerprint in `needed` of them is found."""

    lists: int
    repetitions: int = 1
    needed: int = 1

    def __post_init__(self) -> None:
        if not (1 <= self.lists <= MOST_LISTS and 1 <= self.repetitions <= MOST_REPETITIONS):
            raise RecipeError(
                f"lists = {self.lists}, repetitions = {self.repetitions}: lists are 1 to {MOST_LISTS}, repetitions 1 "
                f"to {MOST_REPETITIONS}; 8 lists and 1 repetition is a start."
            )
        if not 1 <= self.needed <= self.repetitions:
            raise RecipeError(
                f"needed = {self.needed} of {self.repetitions} repetitions: choose one from 1 to {self.repetitions}."
            )

    @property
    def fingerprints(self) -> int:
        """Per document: lists × repetitions, the cost."""
        return self.lists * self.repetitions

    def bytes_per_document(self, *, bits: int = 64) -> int:
        """Of the fingerprints."""
        return (self.fingerprints * bits + 7) // 8

    def probability(self, edits: int) -> float:
        """That two documents so many edits apart are found."""
        return self._passes(_chain(edits, self.lists)[edits])

    def missed(self, edits: int) -> float:
        """That they are not, to its own last digits."""
        once, never = _chain(edits, self.lists)[edits]
        return binomial.head(self.repetitions, self.needed, once, never)

    def _passes(self, chances: tuple[float, float]) -> float:
        return binomial.tail(self.repetitions, self.needed, *chances)

    def curve(self, edits: int) -> list[tuple[int, float]]:
        """(edits, probability), from 0 to `edits`."""
        return [(e, self._passes(chances)) for e, chances in enumerate(_chain(edits, self.lists))]

    @property
    def half_point(self) -> int:
        """The most edits at which a pair is still found with probability 1/2 or more."""
        if self.lists == 1:
            return 0
        edits = 8 * self.lists
        while self.probability(edits) >= 0.5:
            edits *= 2
        return max(e for e, p in self.curve(edits) if p >= 0.5)


def choose_lists(
    edits: int,
    recall: float,
    *,
    reject: tuple[int, float] | None = None,
    lists: int | None = None,
    repetitions: int | None = None,
) -> Lists:
    """The fewest fingerprints, then the fewest repetitions, with which a pair `edits` apart is found with probability
    `recall` or more and, with `reject` = (edits, probability), a pair that far apart with that one at most.

    `lists` and `repetitions` are taken as given where they are given.
    """
    _check_wish(edits, recall, reject, lists, repetitions)
    best, nearest = None, None
    for option in _options(lists, repetitions):
        if best is not None and option.fingerprints > best.fingerprints:
            continue
        needed = _most_needed(option, edits, recall)
        if needed is None:
            continue
        found = Lists(option.lists, option.repetitions, needed)
        if reject is not None:
            passing = found.probability(reject[0])
            if nearest is None or passing < nearest[0]:
                nearest = (passing, found)
            if passing > reject[1]:
                continue
        if best is None or (found.fingerprints, found.repetitions) < (best.fingerprints, best.repetitions):
            best = found
    if best is not None:
        return best
    fixed = "".join([f", {lists} lists" if lists else "", f", {repetitions} repetitions" if repetitions else ""])
    if nearest is None:
        raise _no_recall(edits, recall, lists, repetitions, fixed)
    assert reject is not None
    passing, found = nearest
    raise RecipeError(
        f"recall {recall:g} at {edits} edits{fixed}: no choice of up to {MOST_LISTS} lists and {MOST_REPETITIONS} "
        f"repetitions lets at most {reject[1]:g} pass at {reject[0]} edits; the least are {passing:.2g}, with "
        f"{found.lists} lists, {found.needed} of {found.repetitions} repetitions. Move the two numbers of edits apart."
    )


def _options(lists: int | None, repetitions: int | None) -> Iterator[Lists]:
    for n in [lists] if lists else range(1, MOST_LISTS + 1):
        for times in [repetitions] if repetitions else range(1, MOST_REPETITIONS + 1):
            yield Lists(n, times)


def _most_needed(option: Lists, edits: int, recall: float) -> int | None:
    """The more are needed the less passes, of what is wanted and of what is not: the most that keep the recall."""
    once = _chain(edits, option.lists)[edits]
    if binomial.tail(option.repetitions, 1, *once) < recall:
        return None
    low, high = 1, option.repetitions + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if binomial.tail(option.repetitions, middle, *once) >= recall else (low, middle)
    return low


def _check_wish(
    edits: int, recall: float, reject: tuple[int, float] | None, lists: int | None, repetitions: int | None
) -> None:
    if not 1 <= edits <= MOST_EDITS:
        raise RecipeError(f"edits = {edits}: choose from 1 to {MOST_EDITS}; without edits every fingerprint is shared.")
    if not 0.0 < recall < 1.0:
        raise RecipeError(f"recall = {recall}: it lies between 0 and 1, both excluded; 0.9 is a start.")
    Lists(1 if lists is None else lists, 1 if repetitions is None else repetitions)
    if reject is None:
        return
    if not (edits < reject[0] <= 4 * MOST_EDITS and float(reject[0]).is_integer()):
        raise RecipeError(
            f"reject: {reject[0]:g} edits must be a whole number above the {edits} at which pairs are wanted, and at "
            f"most {4 * MOST_EDITS}; {4 * edits} is a start."
        )
    if not 0.0 < reject[1] < 1.0:
        raise RecipeError(f"reject: probability {reject[1]} must lie between 0 and 1, both excluded; 0.01 is a start.")


def _no_recall(edits: int, recall: float, lists: int | None, repetitions: int | None, fixed: str) -> RecipeError:
    most = Lists(lists or MOST_LISTS, repetitions or MOST_REPETITIONS)
    return RecipeError(
        f"recall {recall:g} at {edits} edits cannot be had{fixed}: {most.lists} lists, 1 of {most.repetitions} "
        f"repetitions, give {most.probability(edits):.3g}; allow more lists, or ask for fewer edits."
    )
