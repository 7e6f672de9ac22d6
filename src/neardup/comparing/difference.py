"""What two token sequences have in common, and where they differ.

    matches     runs of equal tokens in the same order, longest altogether (a longest common subsequence)
    Alignment   the runs, the gaps between them, and Henzinger's term difference
    passages    runs of at least so many tokens that both have, wherever they stand

The diff is rapidfuzz's, whose bit-parallel matrix takes n·m/8 bytes after what both begin and end with is taken off.
Up to EXACT token pairs it is used as it is, and the result is a shortest one. Beyond, the sequences are first cut at
runs of tokens that both have exactly once, as many as stand in the same order in both (patience diff), and what lies
between is compared by itself; where nothing is left to cut at, pieces of equal rank are compared. Such a result is a
correct diff and perhaps not a shortest one, and `minimal` says so.
"""

from bisect import bisect_left
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Indel

from neardup.abandoning import checkpoint

Ints = NDArray[np.int64]
Hashes = NDArray[np.uint64]

EXACT = 2_000_000_000
"""Token pairs of one exact diff: 250 MB, and about one and a half seconds."""
_GAPS = 4
"""How many times as many all gaps of an anchored diff may take together."""
_CHEAP, _TINY = 4_000_000, 10_000
"""Token pairs of a gap that is aligned at once while the budget lasts, and of one that always is."""
_STEP = 2000
"""Tokens in a piece, where there is nothing to cut at."""
_ANCHORS = (12, 4, 1)
"""Tokens of the runs at which sequences are cut: the first is rarely there by chance."""
_NO_ROWS = np.empty((0, 3), np.int64)


@dataclass(frozen=True)
class Alignment:
    """Rows of `matches` are (start in the first, start in the second, length): ascending, disjoint, maximal."""

    matches: Ints
    first: int
    """Tokens of the first sequence."""
    second: int
    minimal: bool
    """Whether it is proven that no other alignment matches more tokens."""

    @property
    def matched(self) -> int:
        """Tokens of each that stay."""
        return int(self.matches[:, 2].sum())

    @property
    def deleted(self) -> int:
        """Tokens of the first that go."""
        return self.first - self.matched

    @property
    def inserted(self) -> int:
        """Tokens of the second that come."""
        return self.second - self.matched

    @property
    def term_difference(self) -> int:
        """How many tokens `diff` returns (Henzinger, section 3.2): deleted and inserted ones."""
        return self.deleted + self.inserted

    @property
    def gaps(self) -> Ints:
        """Rows (start and end in the first, start and end in the second) of the places that differ, in order."""
        ends = self.matches[:, :2] + self.matches[:, 2:]
        begins = np.concatenate([np.zeros((1, 2), np.int64), ends])
        stops = np.concatenate([self.matches[:, :2], np.array([[self.first, self.second]], np.int64)])
        rows = np.stack([begins[:, 0], stops[:, 0], begins[:, 1], stops[:, 1]], axis=1)
        return rows[(rows[:, 1] > rows[:, 0]) | (rows[:, 3] > rows[:, 2])]


def align(a: Hashes, b: Hashes, *, exact: int = EXACT) -> Alignment:
    """The diff of two sequences. With more than `exact` token pairs it may not be a shortest one."""
    work = _Work(a, b, exact, budget=_GAPS * exact)
    work.between(0, len(a), 0, len(b), 0)
    while work.later:  # the cheap ones first, so that the budget settles as many as it can
        work.later.sort(key=lambda gap: (gap[1] - gap[0]) * (gap[3] - gap[2]), reverse=True)
        waiting, work.later = work.later, []
        while waiting:
            work.settle(*waiting.pop())
    return Alignment(_joined(work.found), len(a), len(b), work.minimal)


@dataclass
class _Work:
    """An alignment in the making."""

    a: Hashes
    b: Hashes
    exact: int
    budget: int
    found: list[Ints] = field(default_factory=list)
    later: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    minimal: bool = True

    def between(self, a0: int, a1: int, b0: int, b1: int, level: int) -> None:
        """Align a[a0:a1] and b[b0:b1]: what they begin and end with at once, the rest now or later."""
        head = _same(self.a[a0:a1], self.b[b0:b1])
        if head:
            self.found.append(np.array([[a0, b0, head]], np.int64))
        a0, b0 = a0 + head, b0 + head
        tail = _same(self.a[a0:a1][::-1], self.b[b0:b1][::-1])
        a1, b1 = a1 - tail, b1 - tail
        if tail:
            self.found.append(np.array([[a1, b1, tail]], np.int64))
        if a0 == a1 or b0 == b1:
            return
        pairs = (a1 - a0) * (b1 - b0)
        if (level == 0 and pairs <= self.exact) or (level > 0 and pairs <= max(_TINY, min(_CHEAP, self.budget))):
            self.shortest(a0, a1, b0, b1)
        else:
            self.later.append((a0, a1, b0, b1, level))

    def shortest(self, a0: int, a1: int, b0: int, b1: int) -> None:
        """By rapidfuzz."""
        checkpoint()
        self.budget -= (a1 - a0) * (b1 - b0)
        rows = _longest(self.a[a0:a1], self.b[b0:b1])
        if len(rows):
            self.found.append(rows + np.array([a0, b0, 0]))

    def settle(self, a0: int, a1: int, b0: int, b1: int, level: int) -> None:
        """What is too large to be aligned without more ado: cut it, or walk through both in step."""
        pairs = (a1 - a0) * (b1 - b0)
        if level > 0 and pairs <= min(self.exact, self.budget):
            self.shortest(a0, a1, b0, b1)
            return
        self.minimal = False
        while level < len(_ANCHORS):
            cuts = _anchors(self.a[a0:a1], self.b[b0:b1], _ANCHORS[level])
            level += 1
            if len(cuts):
                self.found.append(_joined([np.insert(cuts + np.array([a0, b0]), 2, 1, axis=1)]))
                self.beside(self.found[-1], np.array([[a0, b0]]), np.array([[a1, b1]]), _ANCHORS[level - 1], level)
                return
        pieces = -(-max(a1 - a0, b1 - b0) // _STEP)
        along_a = np.linspace(a0, a1, pieces + 1).astype(np.int64).tolist()
        along_b = np.linspace(b0, b1, pieces + 1).astype(np.int64).tolist()
        for p in range(pieces):
            if along_a[p] < along_a[p + 1] and along_b[p] < along_b[p + 1]:
                self.shortest(along_a[p], along_a[p + 1], along_b[p], along_b[p + 1])

    def beside(self, rows: Ints, start: Ints, stop: Ints, width: int, level: int) -> None:
        """Align what lies before, between and after matched runs.

        A run at which sequences are cut goes on for up to width - 1 tokens behind its last anchor, and most of what is
        left then is one token against another: both for all gaps at once.
        """
        begins = np.concatenate([start, rows[:, :2] + rows[:, 2:]])
        ends = np.concatenate([rows[:, :2], stop])
        at = begins.copy()
        for _ in range(width - 1):
            open_ = (at[:, 0] < ends[:, 0]) & (at[:, 1] < ends[:, 1])
            here = np.where(open_[:, None], at, 0)
            equal: NDArray[np.bool_] = self.a[here[:, 0]] == self.b[here[:, 1]]
            at += (open_ & equal)[:, None]
        longer = at[:, 0] > begins[:, 0]
        self.found.append(np.concatenate([begins, at[:, :1] - begins[:, :1]], axis=1)[longer])
        sizes = ends - at
        ones = at[(sizes == 1).all(axis=1)]
        self.found.append(np.insert(ones[self.a[ones[:, 0]] == self.b[ones[:, 1]]], 2, 1, axis=1))
        left = (sizes >= 1).all(axis=1) & (sizes > 1).any(axis=1)
        for (i, j), (k, m) in zip(at[left].tolist(), ends[left].tolist(), strict=True):
            self.between(i, k, j, m, level)


def _same(a: Hashes, b: Hashes) -> int:
    """How many leading tokens agree."""
    n, at, step = min(len(a), len(b)), 0, 64
    while at < n:
        differs = a[at : min(n, at + step)] != b[at : min(n, at + step)]
        if differs.any():
            return at + int(differs.argmax())
        at, step = at + step, step * 4
    return n


def _longest(a: Hashes, b: Hashes) -> Ints:
    """Matching runs of a shortest diff. Tokens become characters: rapidfuzz is fastest on strings."""
    words = np.unique(a if len(a) <= len(b) else b)
    opcodes = Indel.opcodes(_string(a, words), _string(b, words))
    rows = [(o.src_start, o.dest_start, o.src_end - o.src_start) for o in opcodes if o.tag == "equal"]
    return np.array(rows, np.int64).reshape(-1, 3)


def _string(tokens: Hashes, words: Hashes) -> str:
    """A character per token; one and the same for all that are none of the words."""
    at = np.minimum(np.searchsorted(words, tokens), len(words) - 1)
    numbers = np.where(words[at] == tokens, at, len(words)).astype(np.uint32)
    numbers += np.uint32(0x800) * (numbers >= 0xD800)  # surrogates are no characters
    return numbers.astype("<u4").tobytes().decode("utf-32-le")


def _anchors(a: Hashes, b: Hashes, width: int) -> Ints:
    """Places (in a, in b) of runs that both have exactly once: the most that ascend in both."""
    if min(len(a), len(b)) < width:
        return np.empty((0, 2), np.int64)
    once_a, at_a = _once(rolling(a, width))
    once_b, at_b = _once(rolling(b, width))
    if not len(once_b):
        return np.empty((0, 2), np.int64)
    place = np.minimum(np.searchsorted(once_b, once_a), len(once_b) - 1)
    both = once_b[place] == once_a
    pairs = np.stack([at_a[both], at_b[place[both]]], axis=1)
    pairs = pairs[a[pairs[:, 0]] == b[pairs[:, 1]]]  # only the first token is taken as matched, and it is
    return _ascending(pairs[np.argsort(pairs[:, 0])])


def _once(hashes: Hashes) -> tuple[Hashes, Ints]:
    """The values that occur once, ascending, and where."""
    order = np.argsort(hashes)
    ordered = hashes[order]
    changes = np.concatenate([[True], ordered[1:] != ordered[:-1], [True]])
    alone = changes[1:] & changes[:-1]
    return ordered[alone], order[alone]


def _ascending(pairs: Ints) -> Ints:
    """A longest subsequence whose second places ascend (as in patience diff).

    Neighbours in both orders stand or fall together: they are one run with a weight, and the heaviest ascending
    sequence of runs is looked for. `ranks` ascends, and so do the weights of the best sequences that end there.
    """
    order = np.argsort(pairs[:, 1])
    rank = np.empty(len(pairs), np.int64)
    rank[order] = np.arange(len(pairs))
    starts = np.flatnonzero(np.concatenate([[True], np.diff(rank) != 1])) if len(pairs) else np.empty(0, np.int64)
    if len(starts) <= 1:
        return pairs
    lengths = np.diff(np.append(starts, len(pairs)))
    ranks: list[int] = []
    weights: list[int] = []
    last: list[int] = []
    below = np.empty(len(starts), np.int64)
    for run, (place, length) in enumerate(zip(rank[starts].tolist(), lengths.tolist(), strict=True)):
        at = bisect_left(ranks, place)
        weight = length + (weights[at - 1] if at else 0)
        below[run] = last[at - 1] if at else -1
        beaten = at
        while beaten < len(ranks) and weights[beaten] <= weight:
            beaten += 1
        ranks[at:beaten], weights[at:beaten], last[at:beaten] = [place], [weight], [run]
    chosen = np.zeros(len(starts), bool)
    run = last[-1]
    while run >= 0:
        chosen[run] = True
        run = int(below[run])
    kept: Ints = pairs[np.repeat(chosen, lengths)]
    return kept


def _joined(found: list[Ints]) -> Ints:
    """In order, neighbours as one run."""
    rows = np.concatenate([_NO_ROWS, *found])
    rows = rows[np.argsort(rows[:, 0], kind="stable")]
    if not len(rows):
        return rows
    ends = rows[:, :2] + rows[:, 2:]
    fresh = np.concatenate([[True], (rows[1:, :2] != ends[:-1]).any(axis=1)])
    return np.concatenate([rows[fresh, :2], np.add.reduceat(rows[:, 2], np.flatnonzero(fresh))[:, None]], axis=1)


def rolling(tokens: Hashes, width: int) -> Hashes:
    """A hash of every `width` consecutive tokens; none where there are fewer. Measured, not proven, to be distinct."""
    n = max(0, len(tokens) - width + 1)
    out = np.zeros(n, np.uint64)
    with np.errstate(over="ignore"):
        for t in range(width):
            out = out * np.uint64(0xD6E8FEB86659FD93) + tokens[t : t + n]
            out ^= out >> np.uint64(32)
    return out


def passages(alignment: Alignment, a: Hashes, b: Hashes, least: int) -> Ints:
    """Rows (start in the first, start in the second, tokens) of the runs of `least` or more tokens that both have.

    First the runs of the alignment; then, in what is left of the first, runs that stand anywhere in the second (of
    several such places the first one). There is one if and only if the sequences share `least` tokens in a row. In
    order of length, the longest first.
    """
    checkpoint()
    kept = alignment.matches[alignment.matches[:, 2] >= least]
    rows = np.concatenate([kept, _moved(kept, a, b, least)])
    ordered: Ints = rows[np.lexsort((rows[:, 0], -rows[:, 2]))]
    return ordered


def _moved(kept: Ints, a: Hashes, b: Hashes, least: int) -> Ints:
    """Runs in what the kept ones leave of the first sequence, wherever they stand in the second."""
    free = np.ones(max(0, len(a) - least + 1), bool)
    for start, _, length in kept.tolist():
        free[max(0, start - least + 1) : start + length] = False
    open_, in_b = np.flatnonzero(free), rolling(b, least)
    if not len(open_) or not len(in_b):
        return _NO_ROWS
    values, first_at = np.unique(in_b, return_index=True)
    asked, back = np.unique(rolling(a, least)[open_], return_inverse=True)  # in order, they are found faster
    at = np.minimum(np.searchsorted(values, asked), len(values) - 1)
    place = np.full(len(free), -1, np.int64)
    place[open_] = np.where(values[at] == asked, first_at[at], -1)[back]
    rows, done = [], 0
    for i in np.flatnonzero(place >= 0).tolist():
        if i < done:
            continue
        j = int(place[i])
        limit = int(np.searchsorted(kept[:, 0], i)) if len(kept) else 0
        room = (int(kept[limit, 0]) if limit < len(kept) else len(a)) - i
        length = _same(a[i : i + room], b[j:])
        if length >= least:
            rows.append((i, j, length))
            done = i + length
    return np.array(rows, np.int64).reshape(-1, 3)
