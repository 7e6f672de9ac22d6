"""What was typed → runs of words.

    words        each is wanted
    "a phrase"   the words one behind the other; a quote that is left open ends with the query
    -without     a word or phrase that must not be there

What was typed without a space in between is one run: well-known, 東京大学, example.org. Everything else is no word and
separates words, so whatever is typed is a query; one without words finds nothing.

Where no document has all of it, any of it will do. A run then is taken apart: at what separates its words and, in
scripts without spaces, into every two neighbouring characters.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

from neardup.comparing.tokens import Tokens
from neardup.searching.terms import hashes_of

Run = tuple[int, ...]
"""Hashes of words that stand one behind the other."""

LONGEST = 20_000
"""Characters that are looked at."""

MOST = 256
"""Words that are looked at."""

MOST_PHRASES = 32
"""Runs of two words and more that are looked at. The engine reads the positions of all their words: 85 phrases of three
common words took 1.5 s of CPU in 40,000 documents, 32 of them take 0.6 s, and three words 0.05 s."""

_QUOTES = str.maketrans(dict.fromkeys("“”„‟«»＂", '"'))
_PIECE = re.compile(r'(-?)"([^"]*)"?|(-?)([^\s"]+)')


@dataclass(frozen=True)
class Query:
    """What is wanted and what is not. Each run once, in the order typed."""

    wanted: tuple[Run, ...]
    without: tuple[Run, ...]
    parts: tuple[Run, ...]
    """What will do where nobody has all that is wanted."""


def parse(typed: str) -> Query:
    """Never fails."""
    text = typed[:LONGEST].encode("utf-8", "replace").decode().translate(_QUOTES)
    tokens = Tokens(text, "words", hashes_of(text))
    starts, ends = tokens.places
    wanted: dict[Run, None] = {}
    without: dict[Run, None] = {}
    parts: dict[Run, None] = {}
    for found in _PIECE.finditer(text):
        quoted = found.group(2) is not None
        low, high = np.searchsorted(starts, found.span(2 if quoted else 4))
        high = min(high, MOST)
        if low >= high:
            continue
        run = _run(tokens.hashes[low:high])
        if found.group(1) or found.group(3):
            without[run] = None
            continue
        wanted[run] = None
        touching = starts[low + 1 : high] == ends[low : high - 1]
        parts |= dict.fromkeys([run] if quoted else _parts(run, touching))
    return Query(_bounded(wanted), _bounded(without), _bounded(parts))


def _bounded(runs: Iterable[Run]) -> tuple[Run, ...]:
    """Return the runs without the phrases beyond the first MOST_PHRASES."""
    phrases = count(1)
    return tuple(run for run in runs if len(run) == 1 or next(phrases) <= MOST_PHRASES)


def _run(hashes: NDArray[np.uint64]) -> Run:
    return tuple(hashes.tolist())


def _parts(run: Run, touching: NDArray[np.bool_]) -> list[Run]:
    """The words of a run, in twos where they touch: a character of a script without spaces says little."""
    made: list[Run] = []
    for at in range(len(run)):
        before, after = at > 0 and touching[at - 1], at < len(run) - 1 and touching[at]
        if after:
            made.append(run[at : at + 2])
        elif not before:
            made.append(run[at : at + 1])
    return made
