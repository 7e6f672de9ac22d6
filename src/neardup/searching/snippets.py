"""The passage of each found document that shows why it was found, with the words that were searched for marked.

A text is cut into short pieces at white space, and the pieces' tokens are compared with the query's. The window of
SPAN pieces that has the most different runs, then the most occurrences, then comes first, is the snippet. Where words
stand in characters is asked of these windows alone: it costs more than finding them.

All texts of an answer go through each step together, as arrays.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from neardup.comparing.tokens import Tokens
from neardup.searching.answers import Snippet
from neardup.searching.queries import Run
from neardup.searching.terms import hashes, hashes_of
from neardup.searching.titles import without_gaps
from neardup.text.batches import TextBatch

PIECE, SPAN = 48, 6
"""Bytes of a piece, more or less, and pieces of a window."""

MOST_RUNS = 32
"""Runs of a query that are looked for."""

FIRST, FURTHER, TOGETHER = 32 << 10, 1 << 20, 8 << 20
"""Bytes of a text that are looked at; those where nothing is found there; and of all such texts together."""

_Bytes = NDArray[np.uint8]
_Numbers = NDArray[np.int64]


def snippets(texts: Sequence[_Bytes], runs: Sequence[Run]) -> list[Snippet]:
    """One for each text (UTF-8); its beginning, with nothing marked, where none of the runs is found."""
    runs = runs[:MOST_RUNS]
    windows, found = _windows([text[:FIRST] for text in texts], runs)
    left = TOGETHER
    again: list[int] = []
    for i, text in enumerate(texts):
        if not found[i] and len(text) > FIRST and left > 0:
            again.append(i)
            left -= min(len(text), FURTHER)
    if again:
        further, _ = _windows([texts[i][:FURTHER] for i in again], runs)
        windows[again] = further
    spans = [(int(start), int(stop)) for start, stop in windows]
    shown = [without_gaps(t[a:b].tobytes().decode("utf-8", "replace")) for t, (a, b) in zip(texts, spans, strict=True)]
    return [
        _framed(parts, begins=start > 0, ends=stop < len(text))
        for parts, (start, stop), text in zip(_marked(shown, runs), spans, texts, strict=True)
    ]


def _windows(texts: list[_Bytes], runs: Sequence[Run]) -> tuple[_Numbers, NDArray[np.bool_]]:
    """Where each text's window starts and stops, in bytes; and whether any of the runs is in it."""
    starts = np.cumsum([0, *map(len, texts)])
    data = np.concatenate([np.zeros(0, np.uint8), *texts])
    edges = _edges(data, starts)
    first = np.searchsorted(edges, starts[:-1], "right") - 1  # of pieces that start together, the last one is not empty
    owners = np.searchsorted(starts, edges[:-1], "right") - 1
    last = np.searchsorted(edges, starts[1:], "left")
    tokens, _ = hashes(TextBatch(data if len(data) else np.zeros(1, np.uint8), edges))
    pieces = np.repeat(np.arange(len(edges) - 1), np.diff(tokens.offsets))
    at, which = occurrences(tokens.values, owners[pieces], runs)
    begin = np.minimum(first, last)
    best = _best(pieces[at], which, owners, len(runs))
    found = np.zeros(len(texts), bool)
    found[owners[best]] = True
    begin[owners[best]] = np.maximum(first[owners[best]], best - 1)
    end = np.minimum(begin + SPAN, last)
    begin = np.maximum(np.minimum(begin, end - SPAN), np.minimum(first, last))
    return np.stack([edges[begin], edges[end]], axis=1) - starts[:-1, None], found


def _edges(data: _Bytes, starts: _Numbers) -> _Numbers:
    """Where pieces start, and the last one ends: at white space where it is near, else between two characters."""
    sizes = np.diff(starts)
    counts = np.maximum(sizes - 1, 0) // PIECE
    owners = np.repeat(np.arange(len(sizes)), counts)
    numbers = np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts, counts)
    targets = starts[owners] + (numbers + 1) * PIECE
    ends = starts[owners + 1]
    gaps = np.append(np.flatnonzero(data <= 32), len(data) + PIECE)
    gap = gaps[np.searchsorted(gaps, targets)]
    cuts = targets.copy()
    for _ in range(3):
        inside = (cuts < ends) & (data[np.minimum(cuts, len(data) - 1)] & 0xC0 == 0x80)
        cuts[inside] += 1
    near = (gap - targets < PIECE // 2) & (gap < ends)
    return np.sort(np.concatenate([starts, np.where(near, gap, cuts)])).astype(np.int64)


def _best(pieces: _Numbers, which: _Numbers, owners: _Numbers, runs: int) -> _Numbers:
    """For every text with an occurrence, the piece where the best window starts."""
    order = np.argsort(pieces, kind="stable")
    pieces, which = pieces[order], which[order]
    texts = owners[pieces]
    apart = pieces + texts * SPAN  # so that no window reaches into the next text
    ends = np.searchsorted(apart, apart + (SPAN - 1))
    here = np.arange(len(pieces))
    different = np.zeros(len(pieces), np.int64)
    for run in range(runs):
        places = np.append(np.flatnonzero(which == run), len(pieces))
        different += places[np.searchsorted(places, here)] < ends
    ranked = np.lexsort((here, here - ends, -different, texts))
    _, firsts = np.unique(texts[ranked], return_index=True)
    return pieces[ranked[firsts]]


def occurrences(
    values: NDArray[np.uint64], owners: NDArray[np.int64], runs: Sequence[Run]
) -> tuple[_Numbers, _Numbers]:
    """The tokens at which a run begins, and which one; a run lies in one owner's tokens."""
    wanted = [np.array(run, np.uint64) for run in runs]
    places: list[_Numbers] = [np.empty(0, np.int64)]
    numbers: list[_Numbers] = [np.empty(0, np.int64)]
    heads = np.array([run[0] for run in wanted], np.uint64)
    candidates = np.flatnonzero(np.isin(values, heads))
    begun = values[candidates]
    for number, run in enumerate(wanted):
        at = candidates[begun == run[0]]
        at = at[at + len(run) <= len(values)]
        at = at[owners[at] == owners[at + len(run) - 1]] if len(at) else at
        for further in range(1, len(run)):
            at = at[values[at + further] == run[further]]
        places.append(at)
        numbers.append(np.full(len(at), number))
    return np.concatenate(places), np.concatenate(numbers)


def _marked(shown: list[str], runs: Sequence[Run]) -> list[Snippet]:
    """The words of the runs marked in each of these texts."""
    whole = "\n".join(shown)
    lines = np.cumsum([0, *(len(text) + 1 for text in shown)])
    tokens = Tokens(whole, "words", hashes_of(whole))
    starts, ends = tokens.places
    at, which = occurrences(tokens.hashes, np.searchsorted(lines, starts, "right") - 1, runs)
    order = np.argsort(at, kind="stable")
    at, lengths = at[order], np.array([len(run) for run in runs], np.int64)[which[order]]
    begun, done = starts[at], ends[at + lengths - 1]
    edges = np.searchsorted(begun, lines)
    return [
        _parts(text, (begun[low:high] - line).tolist(), (done[low:high] - line).tolist())
        for text, line, (low, high) in zip(shown, lines.tolist(), pairwise(edges.tolist()), strict=False)
    ]


def _parts(text: str, starts: list[int], ends: list[int]) -> Snippet:
    """The text in pieces; marked ones that touch or overlap are one."""
    spans: list[list[int]] = []
    for start, end in zip(starts, ends, strict=True):
        if spans and start <= spans[-1][1]:
            spans[-1][1] = max(end, spans[-1][1])
        else:
            spans.append([start, end])
    made: Snippet = []
    done = 0
    for start, end in spans:
        made += [(text[done:start], False), (text[start:end], True)]
        done = end
    made.append((text[done:], False))
    return [part for part in made if part[0]]


def _framed(parts: Snippet, *, begins: bool, ends: bool) -> Snippet:
    """With dots where the text goes on."""
    return [("… ", False)] * begins + parts + [(" …", False)] * ends if parts else parts
