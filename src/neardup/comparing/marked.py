"""Two texts with their differences marked, for people to look at.

segments   two texts → what both have, what differs, and what is passed over in between
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from neardup.comparing.difference import align
from neardup.comparing.tokens import Tokens, tokens_of
from neardup.text.settings import TokenKind

ROOM = 20_000
"""Characters of both texts together that are shown."""

CONTEXT = 30
"""Tokens that are shown before and after a difference."""


class Segment(NamedTuple):
    """A stretch of both texts, as each has it; empty on one side where only the other has something."""

    kind: Literal["same", "differs", "passed"]
    """passed: not shown, because it is the same, or because the room is used up. Both texts are empty."""
    first: str
    second: str
    tokens: int
    """Of the longer side; 0 of a stretch that is cut, for the rest of it follows with all of them."""


def segments(
    first: str, second: str, *, tokens: TokenKind = "words", context: int = CONTEXT, room: int = ROOM
) -> list[Segment]:
    """The texts beside each other, in order, by a diff of their tokens (Henzinger, section 3.2).

    Of long runs that are the same, `context` tokens stay around differences; texts without any difference are shown
    from their beginning. A stretch that is too long for the room that is left is cut, and the rest of it passed.
    """
    one, other = tokens_of(first, tokens), tokens_of(second, tokens)
    shown: list[Segment] = []
    for kind, a, b, c, d in _stretches(one, other, context):
        size = max(b - a, d - c)
        left, right = ("", "") if kind == "passed" or room <= 0 else (_text(one, a, b), _text(other, c, d))
        if not left and not right:
            if shown and shown[-1].kind == "passed":
                size += shown.pop().tokens
            shown.append(Segment("passed", "", "", size))
            continue
        if len(left) + len(right) <= room:
            room -= len(left) + len(right)
            shown.append(Segment(kind, left, right, size))
            continue
        shown.append(Segment(kind, left[: room // 2], right[: room // 2], 0))
        shown.append(Segment("passed", "", "", size))  # what is left of it
        room = 0
    return shown


def _stretches(
    one: Tokens, other: Tokens, context: int
) -> Iterator[tuple[Literal["same", "differs", "passed"], int, int, int, int]]:
    """From and to in the first, from and to in the second."""
    runs = align(one.hashes, other.hashes).matches.tolist()
    at, beside = 0, 0
    for start, opposite, length in [*runs, [len(one), len(other), 0]]:
        differs = start > at or opposite > beside
        if differs:
            yield "differs", at, start, beside, opposite
        at, beside = start + length, opposite + length
        ends = at == len(one) and beside == len(other)
        if not length:
            continue
        head = context if start or opposite else 0
        tail = 0 if ends else context
        if (not head and not tail) or length <= head + tail + context:
            yield "same", start, at, opposite, beside
            continue
        if head:
            yield "same", start, start + head, opposite, opposite + head
        yield "passed", start + head, at - tail, opposite + head, beside - tail
        if tail:
            yield "same", at - tail, at, beside - tail, beside


def _text(sequence: Tokens, start: int, stop: int) -> str:
    """From the first of these tokens to before the next one, so that stretches join without a gap."""
    begin = sequence.characters(start, start + 1)[0] if 0 < start < len(sequence) else 0
    end = sequence.characters(stop, stop + 1)[0] if stop < len(sequence) else len(sequence.text)
    return sequence.text[begin:end] if stop > start else ""
