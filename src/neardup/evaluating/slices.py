"""The pairs in parts, so that every measure can be told of each part.

    site            same site, different sites, unknown (Henzinger's tables 2, 5 and 12)
    b_similarity    equal supershingles of alg-b, 0 to 6 (table 2)
    c_similarity    ranges of equal bits of alg-c (tables 5 and 10), and what lies below
    length          tokens of the shorter document
    script          of both documents
    difference      kind of difference (tables 3 and 6), of a sample of the pairs that have a verdict
    kind            the truth's own kinds; pairs that it does not list have none

A part's recall is that of its correct pairs, and its precision that of the pairs found in it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup.evaluating.algorithms import c_ranges
from neardup.evaluating.differences import DIFFERENCES
from neardup.evaluating.scripts import SCRIPTS
from neardup.evaluating.study import DIFFERENT_SITES, SAME_SITE

LENGTHS = (0, 50, 200, 1000, 5000)
"""Lower ends of the ranges of tokens."""

_BELOW = (0, 300, 340, 355)
"""Lower ends of the ranges of C-similarity below Algorithm C's threshold: 355 is the combined algorithm's."""


@dataclass(frozen=True, eq=False)
class Split:
    """`of` has for every pair the place of its part in `parts`; -1: it is in none."""

    key: str
    title: str
    parts: tuple[str, ...]
    of: NDArray[np.int64]
    note: str = ""


def by_site(same_site: NDArray[np.int8]) -> Split:
    """As `Facts.same_site` tells it."""
    parts = ("same site", "different sites", "unknown")
    of = np.full(len(same_site), 2, np.int64)
    of[same_site == SAME_SITE], of[same_site == DIFFERENT_SITES] = 0, 1
    note = "" if (of < 2).any() else "No URLs are known, so sites are not: give the column of URLs."
    return Split("site", "Same site or different sites", parts, of, note)


def by_b(scores: NDArray[np.float64], features: int) -> Split:
    """By the number of equal features; -1 where there is no sketch."""
    parts = (*(str(i) for i in range(features + 1)),)
    return Split("b_similarity", "B-similarity: equal supershingles of alg-b", parts, scores.astype(np.int64))


def by_c(scores: NDArray[np.float64], bits: int, similar: int) -> Split:
    """By ranges of the number of equal bits."""
    lows = [low for low in _BELOW if low < similar] + [low for low, _ in c_ranges(bits, similar)]
    parts = _ranges(lows, bits)
    of = np.where(scores < 0, -1, np.searchsorted(lows, scores, side="right") - 1)
    return Split("c_similarity", "C-similarity: equal bits of alg-c", parts, of)


def by_length(tokens: NDArray[np.int64]) -> Split:
    """By the tokens of the shorter document."""
    of = np.searchsorted(LENGTHS, tokens, side="right") - 1
    return Split("length", "Length: tokens of the shorter document", _ranges(list(LENGTHS), None), of)


def by_script(scripts: NDArray[np.int64]) -> Split:
    """By places in SCRIPTS."""
    return Split("script", "Script of both documents", SCRIPTS, scripts)


def by_difference(kinds: list[str], rows: NDArray[np.int64], pairs: int, labelled: int) -> Split:
    """By the kind of difference of a sample of the labelled pairs: these rows."""
    of = np.full(pairs, -1, np.int64)
    of[rows] = [DIFFERENCES.index(kind) for kind in kinds]
    note = "Of the pairs that have a verdict."
    if len(rows) < labelled:
        note = f"Of a random sample: {len(rows):,} of {labelled:,} pairs that are correct, or found with a verdict."
    return Split("difference", "Kind of difference", DIFFERENCES, of, note)


def by_kind(kinds: list[str | None], rows: NDArray[np.int64]) -> Split:
    """By the truth's own column; every pair's row in it, -1 for pairs that it does not list."""
    parts = (*sorted({k for k in kinds if k is not None}),)
    places = {kind: i for i, kind in enumerate(parts)}
    of = np.array([*(-1 if k is None else places[k] for k in kinds), -1], np.int64)[rows]
    return Split("kind", "Kind of pair, as the truth names it", parts, of)


def _ranges(lows: list[int], highest: int | None) -> tuple[str, ...]:
    """0–49, 50–199, …"""
    ends = [f"{low - 1:,}" for low in lows[1:]] + ["" if highest is None else f"{highest:,}"]
    return tuple(f"{low:,}–{end}" if end else f"{low:,} and more" for low, end in zip(lows, ends, strict=True))
