"""Templates: passages that occur in very many documents.

Of a sample of documents, shingles of WIDTH words that occur in many (1 % of the sample, 5 at least, of 3 groups at
least) are frequent. A frequent shingle and the next one are joined where nearly all documents that have either have
both, one behind the other; what is joined to the end is a passage. (Genome assemblers call such chains unitigs.)
So a passage is as long as the documents agree on it, and every frequent shingle is in exactly one.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.analysis.estimators import wilson
from neardup.comparing.tokens import places
from neardup.shingles import ShingleSettings
from neardup.sketches.minhash import MinHash, MinHashSettings
from neardup.text.batches import text_batch
from neardup.text.settings import TextSettings

WIDTH = 8
LEAST_SHARE, LEAST_DOCUMENTS, LEAST_GROUPS = 0.01, 5, 3
JOINED = 0.9
"""Share of the documents with a shingle that must have the next one behind it."""

TOP = 24
"""Passages that are shown."""

_ROOM = 600
"""Characters of a passage that are shown."""

_LOOKED_AT = 50_000
"""Characters of a document that are looked at."""


@dataclass(frozen=True)
class Passage:
    """A passage and who has it."""

    text: str
    cut: bool
    """Whether the text goes on."""
    words: int
    documents: int
    """Of the sample: those that have most of its shingles in common, by the shingle that fewest have."""
    groups: int
    share: tuple[float, float, float]
    """Of documents in the collection: estimate and an interval of 95 %."""
    examples: tuple[int, ...]
    """Documents, by number."""


@dataclass(frozen=True)
class Found:
    """The passages of a sample, and how much of it they are."""

    passages: list[Passage]
    covered: float
    """Share of all words of the sample that stand in frequent shingles."""
    mostly: float
    """Share of documents of which more than half of the words do."""


def find_passages(texts: dict[int, str], groups: NDArray[np.int64]) -> Found:
    """The passages of these documents, those first that take the most room in all documents together.

    `groups` says for each text, in their order, which group its document is of.
    """
    numbers = list(texts)
    cut = [text[:_LOOKED_AT] for text in texts.values()]
    shingles = _shingles(cut)
    frequent = _frequent(shingles, groups, _least(len(numbers)))
    made = []
    for chain in _chains(shingles, frequent, groups):
        holder, at = chain.place
        start, end = _characters(cut[holder], at, len(chain.shingles))
        whole = cut[holder][start:end]
        low, high = wilson(chain.documents, len(numbers))
        made.append(
            Passage(
                text=whole[:_ROOM],
                cut=len(whole) > _ROOM,
                words=len(chain.shingles) + WIDTH - 1,
                documents=chain.documents,
                groups=chain.groups,
                share=(chain.documents / len(numbers), low, high),
                examples=tuple(numbers[i] for i in chain.examples),
            )
        )
    return Found(made, *_coverage(shingles, frequent))


def _least(documents: int) -> int:
    return max(LEAST_DOCUMENTS, int(np.ceil(LEAST_SHARE * documents)))


@dataclass(frozen=True)
class Shingles:
    """Of all texts, one behind the other."""

    names: NDArray[np.uint64]
    """The distinct ones."""
    number: NDArray[np.int64]
    """In order: which one of `names`."""
    owner: NDArray[np.int64]
    """The text of each."""
    words: NDArray[np.int64]
    """Of every text."""

    @property
    def position(self) -> NDArray[np.int64]:
        """Of each in its text."""
        return np.arange(len(self.number)) - np.searchsorted(self.owner, self.owner)


def _shingles(texts: list[str]) -> Shingles:
    """Texts of fewer than WIDTH words have none."""
    batch = text_batch(pa.array([t.encode("utf-8", "replace") for t in texts], pa.large_binary()))
    sketcher = MinHash(TextSettings(), ShingleSettings(WIDTH), MinHashSettings(1, 1, samples=False))
    found, made = sketcher.fingerprints(batch)
    owner = np.repeat(np.arange(len(texts)), np.diff(found.offsets))
    long = made.tokens[owner] >= WIDTH
    names, number = np.unique(found.values[long], return_inverse=True)
    return Shingles(names, number, owner[long], made.tokens)


@dataclass(frozen=True)
class Frequent:
    """For every distinct shingle: documents and groups that have it (groups only where documents are enough)."""

    documents: NDArray[np.int64]
    groups: NDArray[np.int64]
    is_frequent: NDArray[np.bool_]


def _frequent(shingles: Shingles, groups: NDArray[np.int64], least: int) -> Frequent:
    number, owner, size = shingles.number, shingles.owner, len(shingles.names)
    documents = _distinct(number, owner, size)
    often = (documents >= least)[number] if size else np.empty(0, bool)
    of_group = _distinct(number[often], groups[owner[often]], size)
    return Frequent(documents, of_group, (documents >= least) & (of_group >= LEAST_GROUPS))


def _coverage(shingles: Shingles, frequent: Frequent) -> tuple[float, float]:
    """The share of words that stand in frequent shingles, and of texts that do for more than half."""
    words = shingles.words
    if not words.sum():
        return 0.0, 0.0
    starts = np.cumsum(words) - words
    marks = np.zeros(int(words.sum()) + 1, np.int64)
    at = (starts[shingles.owner] + shingles.position)[frequent.is_frequent[shingles.number]]
    np.add.at(marks, at, 1)
    np.add.at(marks, at + WIDTH, -1)
    inside = np.cumsum(marks[:-1]) > 0
    per_text = np.bincount(np.repeat(np.arange(len(words)), words), weights=inside, minlength=len(words))
    return float(inside.mean()), float((2 * per_text > words).mean())


@dataclass(frozen=True)
class Chain:
    """Frequent shingles that stand one behind the other."""

    shingles: tuple[int, ...]
    documents: int
    groups: int
    place: tuple[int, int]
    """A text that has all of it, and the number of the shingle in it where it begins."""
    examples: tuple[int, ...]


def _chains(shingles: Shingles, frequent: Frequent, groups: NDArray[np.int64]) -> list[Chain]:
    """Join frequent shingles; the TOP chains by words × documents."""
    follows = _followers(shingles, frequent)
    first = frequent.is_frequent.copy()
    first[follows[follows >= 0]] = False
    chains = []
    for start in [*np.flatnonzero(first).tolist(), *_ring_starts(follows, frequent.is_frequent, first)]:
        joined = [start]
        while (after := int(follows[joined[-1]])) >= 0 and after != start:
            joined.append(after)
        chains.append(joined)
    room = [-int(frequent.documents[c].min()) * (len(c) + WIDTH - 1) for c in chains]
    order = sorted(range(len(chains)), key=lambda i: (room[i], int(shingles.names[chains[i][0]])))
    return [_chain(chains[i], shingles, frequent, groups) for i in order[:TOP]]


def _distinct(number: NDArray[np.int64], what: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """For every shingle the number of distinct values that it occurs with."""
    _, what = np.unique(what, return_inverse=True)
    kinds = int(what.max()) + 1 if len(what) else 1
    return np.bincount(np.unique(number * kinds + what) // kinds, minlength=size)


def _followers(shingles: Shingles, frequent: Frequent) -> NDArray[np.int64]:
    """For every shingle the one that it is joined to; -1 for none."""
    number, owner, is_frequent = shingles.number, shingles.owner, frequent.is_frequent
    beside = (owner[1:] == owner[:-1]) & is_frequent[number[1:]] & is_frequent[number[:-1]]
    pairs, pair = np.unique(number[:-1][beside] * len(shingles.names) + number[1:][beside], return_inverse=True)
    times = _distinct(pair, owner[1:][beside], len(pairs))
    together = np.stack(np.divmod(pairs, max(1, len(shingles.names))), axis=1)
    enough = times >= JOINED * np.maximum(frequent.documents[together[:, 0]], frequent.documents[together[:, 1]])
    chosen = together[enough & (together[:, 0] != together[:, 1])]
    # JOINED is more than half, so that a shingle has one neighbour on each side at most; unless it occurs twice in a
    # document, where the smaller number is taken.
    for side in (0, 1):
        chosen = chosen[np.unique(chosen[:, side], return_index=True)[1]]
    follows = np.full(len(shingles.names), -1, np.int64)
    follows[chosen[:, 0]] = chosen[:, 1]
    return follows


def _ring_starts(follows: NDArray[np.int64], frequent: NDArray[np.bool_], first: NDArray[np.bool_]) -> list[int]:
    """A passage that is repeated over and over joins its end to its beginning: one start for each such ring."""
    reached = np.zeros(len(follows), bool)
    for start in np.flatnonzero(first).tolist():
        at = start
        while at >= 0:
            reached[at] = True
            at = int(follows[at])
    starts = []
    for start in np.flatnonzero(frequent & ~reached).tolist():
        if not reached[start]:
            starts.append(start)
            at = start
            while not reached[at]:
                reached[at] = True
                at = int(follows[at])
    return starts


def _chain(joined: list[int], shingles: Shingles, frequent: Frequent, groups: NDArray[np.int64]) -> Chain:
    """Who has it, and the text that has the most of it in one piece."""
    number, owner = shingles.number, shingles.owner
    rarest = joined[int(np.argmin(frequent.documents[joined]))]
    holders = np.unique(owner[number == rarest])
    best, length = 0, 0
    for start in np.flatnonzero(number == joined[0]).tolist():
        run = (number[start : start + len(joined)] == joined[: len(number) - start]) & (
            owner[start : start + len(joined)] == owner[start]
        )
        same = int(np.argmin(np.append(run, False)))
        if same > length:
            best, length = start, same
        if length == len(joined):
            break
    _, distinct = np.unique(groups[holders], return_index=True)
    return Chain(
        shingles=tuple(joined[:length]),
        documents=int(frequent.documents[rarest]),
        groups=int(frequent.groups[rarest]),
        place=(int(owner[best]), int(shingles.position[best])),
        examples=tuple(holders[np.sort(distinct)][:3].tolist()),
    )


def _characters(text: str, shingle: int, count: int) -> tuple[int, int]:
    """From where to where these shingles stand in the text."""
    starts, ends = places(text)
    return int(starts[shingle]), int(ends[shingle + count + WIDTH - 2])
