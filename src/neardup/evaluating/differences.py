"""In what two pages differ: Henzinger's kinds of differences, from the diff of their tokens.

    difference     two texts → Difference: how many terms differ, and of which kind the difference is
    DIFFERENCES    all kinds, in the order of tables

Henzinger, section 3.1: two pages are correct near-duplicates if their text differs only by a session id, a time stamp,
an execution time, a message id, a visitor count, a server name, or all or part of their URL; tables 3 and 6 count
which. There, a person looked; here, it is defined:

    A differing token has the kind of the expression that it stands in (`expressions`): whether all its characters are
    covered by expressions of that kind. A token that is a part of the document's own URL, as it stands in the text
    between white space with a dot or slash in it, is a URL's. In a line of up to 160 characters whose tokens all
    differ or stand in expressions, such as "You are visitor number 17" on one page, all have the line's kinds.

    identical      no token differs (case, width, marks' order and punctuation do not count)
    one kind       all differing tokens of both texts are of that kind
    combination    all are of some kind, and not all of the same
    other          some token is of none; or more than 200 places differ, or one has 100 tokens or 4,000 characters

What is compared is the text that a reader sees. Image URLs, which her token sequences have and which she calls mistakes
of the counting (section 3.4.3), are not in it, so term differences are smaller than hers where only images differ.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup.comparing.difference import Alignment, align
from neardup.comparing.tokens import Tokens, tokens_of
from neardup.evaluating.expressions import EXPRESSIONS, KINDS, URL, spans

IDENTICAL: Final = "identical"
COMBINATION: Final = "combination"
OTHER: Final = "other"
DIFFERENCES = (IDENTICAL, *KINDS, COMBINATION, OTHER)

EXACT = 20_000_000
"""Token pairs of an exact diff. Beyond, it is cut at runs that both texts have once: correct, perhaps not shortest."""
_MOST_PLACES, _LONGEST_PLACE, _LONGEST_TEXT = 200, 100, 4000
_AROUND = 200
"""Characters before and after a place that differs in which expressions are looked for."""
_LINE = 160


class Difference(NamedTuple):
    """Of two texts."""

    kind: str
    terms: int
    """Henzinger's term difference: tokens that a diff deletes and inserts."""


def difference(first: str, second: str, *, urls: tuple[str | None, str | None] = (None, None)) -> Difference:
    """Of two texts as a reader sees them; `urls` are where they are from."""
    one, other = tokens_of(first), tokens_of(second)
    alignment = align(one.hashes, other.hashes, exact=EXACT)
    terms = alignment.term_difference
    return Difference(IDENTICAL if not terms else _kind(one, other, alignment, urls), terms)


def _kind(one: Tokens, other: Tokens, alignment: Alignment, urls: tuple[str | None, str | None]) -> str:
    gaps = alignment.gaps
    widths = np.maximum(gaps[:, 1] - gaps[:, 0], gaps[:, 3] - gaps[:, 2])
    if len(gaps) > _MOST_PLACES or widths.max() > _LONGEST_PLACE:
        return OTHER
    both = _Side(one, urls[0]), _Side(other, urls[1])
    for a, b, c, d in gaps.tolist():
        for side, start, stop, alone in ((both[0], a, b, c == d), (both[1], c, d, a == b)):
            if start < stop:
                side.add(*(_slid(side.tokens, start, stop) if alone else (start, stop)))
    kinds: set[str] = set()
    for side in both:
        for kind in side.kinds():
            if kind is None:
                return OTHER
            kinds.add(kind)
    return kinds.pop() if len(kinds) == 1 else COMBINATION


def _slid(side: Tokens, start: int, stop: int) -> tuple[int, int]:
    """Tokens that only one text has may often be taken some tokens earlier or later: so that they begin a line."""
    hashes = side.hashes
    before = 0
    while start - before > 0 and before < _LONGEST_PLACE and hashes[start - before - 1] == hashes[stop - before - 1]:
        before += 1
    after = 0
    while stop + after < len(hashes) and after < _LONGEST_PLACE and hashes[start + after] == hashes[stop + after]:
        after += 1
    starts, ends = side.places
    for at in sorted(range(-before, after + 1), key=abs):
        begin = start + at
        if begin == 0 or "\n" in side.text[int(ends[begin - 1]) : int(starts[begin])]:
            return begin, stop + at
    return start, stop


class _Side:
    """A text, and which of its tokens the other does not have."""

    def __init__(self, tokens: Tokens, url: str | None) -> None:
        self.tokens, self.url = tokens, (url or "").lower()
        self.differs = np.zeros(len(tokens), bool)
        self.places: list[tuple[int, int]] = []

    def add(self, start: int, stop: int) -> None:
        """Tokens that differ."""
        self.differs[start:stop] = True
        self.places.append((start, stop))

    def kinds(self) -> Iterator[str | None]:
        """The kind of every token that differs, or several for those of whole lines; None: of none."""
        starts, ends = self.tokens.places
        for start, stop in self.places:
            begin, end = int(starts[start]), int(ends[stop - 1])
            if end - begin > _LONGEST_TEXT:
                yield None
            low = max(0, begin - _AROUND)
            piece = self.tokens.text[low : end + _AROUND]
            found = _covers(piece)
            for token in range(start, stop):
                a, b = int(starts[token]) - low, int(ends[token]) - low
                kind = next((k for k, covered in found if covered[a:b].all()), None)
                if kind is None and self.url and _own(piece, a, b, self.url):
                    kind = URL
                yield from [kind] if kind is not None else self._of_line(piece, low, a, b, found)

    def _of_line(
        self, piece: str, offset: int, a: int, b: int, found: list[tuple[str, NDArray[np.bool_]]]
    ) -> list[str] | list[None]:
        """The kinds of the line around piece[a:b], if nothing but expressions in it is in the other text too."""
        low, high = piece.rfind("\n", 0, a) + 1, piece.find("\n", b)
        high = len(piece) if high < 0 else high
        kinds = list(dict.fromkeys(kind for kind, covered in found if covered[low:high].any()))
        if high - low > _LINE or not kinds:
            return [None]
        starts, ends = self.tokens.places
        first, last = np.searchsorted(starts, [low + offset, high + offset])
        for token in range(int(first), int(last)):
            within = slice(int(starts[token]) - offset, int(ends[token]) - offset)
            if not self.differs[token] and not any(covered[within].all() for _, covered in found):
                return [None]
        return kinds


def _covers(piece: str) -> list[tuple[str, NDArray[np.bool_]]]:
    """For every kind that the piece has, which characters are covered; in the order of EXPRESSIONS."""
    found: dict[int, NDArray[np.bool_]] = {}
    for place, start, end in spans(piece):
        found.setdefault(place, np.zeros(len(piece), bool))[start:end] = True
    return [(EXPRESSIONS[place][0], covered) for place, covered in sorted(found.items())]


def _own(piece: str, a: int, b: int, url: str) -> bool:
    """Whether the word around these characters is a part of the document's own URL."""
    begin, end = a, b
    while begin > 0 and not piece[begin - 1].isspace():
        begin -= 1
    while end < len(piece) and not piece[end].isspace():
        end += 1
    word = piece[begin:end].strip(".,;:!?()[]<>\"'").lower()
    return len(word) > 3 and ("/" in word or "." in word) and word in url
