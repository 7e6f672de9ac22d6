"""What two texts share, marked in both: each text in pieces, and which piece of one is the twin of which of the other.

A passage stands once in the first text. In the second it may overlap others (a sentence of the first's, twice in it,
may stand once in the second): there every token belongs to one passage, those in their order before those that moved,
and a passage that owns nothing leads to the one that stands where it does.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup.comparing.tokens import places

if TYPE_CHECKING:
    from neardup.comparing.report import PairReport, Passage, Place, Side
    from neardup.text.settings import TokenKind

ROOM = 150_000
"""Characters of each text that are shown."""


class Piece(NamedTuple):
    """A stretch of a text."""

    text: str
    passage: int | None
    """The number of the passage that it is of, from 1 in the order of the first text."""
    opens: bool
    """The passage begins here."""
    twin: int | None
    """The number under which it is marked in the other text; None where that is not shown."""


class Pane(NamedTuple):
    """A text with its passages."""

    pieces: list[Piece]
    left_out: int
    """Characters that are not shown."""


def panes(report: "PairReport", room: int = ROOM) -> tuple[Pane, Pane]:
    """Both texts."""
    found = sorted(report.passages, key=lambda passage: passage.first.start)
    first = _Marked(report.first, report.tokens, found, [passage.first for passage in found], room)
    second = _Marked(report.second, report.tokens, found, [passage.second for passage in found], room)
    return first.pane(second), second.pane(first)


class _Marked:
    """A text in which every token belongs to one passage, or to none (-1)."""

    def __init__(self, side: "Side", kind: "TokenKind", found: "list[Passage]", at: "list[Place]", room: int) -> None:
        self.text, self.room, self._at = side.text, room, at
        self.starts, self.ends = places(side.text, kind)
        self.owner: NDArray[np.int64] = np.full(len(self.starts), -1, np.int64)
        for number in sorted(range(len(found)), key=lambda n: (found[n].moved, -found[n].tokens)):
            stretch = self.owner[at[number].token_start : at[number].token_end]
            stretch[stretch < 0] = number
        self.seen = {int(number) for number in self.owner[self.starts < room] if number >= 0}
        """Passages that are shown, if not whole."""

    def leads_to(self, number: int) -> int | None:
        """Where the passage is marked here."""
        owner = int(self.owner[self._at[number].token_start])
        marked = number if number in self.seen else owner
        return marked + 1 if marked in self.seen else None

    def pane(self, other: "_Marked") -> Pane:
        """The text in pieces."""
        pieces: list[Piece] = []
        opened: set[int] = set()
        done = 0
        changes = np.flatnonzero(np.diff(self.owner)) + 1
        runs = np.concatenate([[0], changes, [len(self.owner)]]).astype(np.int64)
        for begin, end in zip(runs[:-1].tolist(), runs[1:].tolist(), strict=True):
            number = int(self.owner[begin]) if begin < end else -1
            if number < 0:
                continue
            start, stop = int(self.starts[begin]), int(self.ends[end - 1])
            if start >= self.room:
                break
            if start > done:
                pieces.append(Piece(self.text[done:start], None, False, None))
            text = self.text[start : min(stop, self.room)]
            pieces.append(Piece(text, number + 1, number not in opened, other.leads_to(number)))
            opened.add(number)
            done = min(stop, self.room)
        if done < min(len(self.text), self.room):
            pieces.append(Piece(self.text[done : self.room], None, False, None))
        return Pane(pieces, max(0, len(self.text) - self.room))
