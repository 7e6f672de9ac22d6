"""A synthetic vocabulary of natural-looking words with Zipf-distributed frequencies.

The words carry no meaning; what matters for near-duplicate detection is that their lengths, their
frequencies and the punctuation between them are those of text, so that tokenisers, compressors and
hash functions do the work they would do on real documents.

Three scripts:
    latin    Latin letters, some accented ones, some numbers
    ascii    the same without accents
    chinese  Han characters, one to four a word, no spaces: words are separated by punctuation only
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

Script = Literal["latin", "ascii", "chinese"]

SCRIPTS: tuple[Script, ...] = ("latin", "ascii", "chinese")
WORDS = 200_000
QUANTILE_BITS = 22
"""The frequencies are tabulated at 2^22 quantiles: the rarest of 200,000 words still owns one."""

SPACE, COMMA, STOP, PARAGRAPH, END = range(5)
"""What follows a word."""
SEPARATORS: dict[Script, tuple[str, ...]] = {
    "latin": (" ", ", ", ". ", ".\n\n", "."),
    "ascii": (" ", ", ", ". ", ".\n\n", "."),
    "chinese": ("", "，", "。", "。\n\n", "。"),
}
VARIANTS = 2 * len(SEPARATORS["latin"])

_CLUSTERS = ("bl", "br", "ch", "cl", "cr", "dr", "fl", "gr", "pl", "pr", "sh", "sl", "sp", "st", "th", "tr")
_ONSETS = (*"bcdfghjklmnprstvwyz", *_CLUSTERS, *[""] * 6)
_NUCLEI = (*"aeiouaeio", "ai", "ea", "ee", "ie", "oo", "ou")
_CODAS = (*"nrstlmdx", "ck", "nd", "ng", "nt", "rd", "st", *[""] * 12)
_ACCENTS = str.maketrans("aeiou", "áéîöü")


@dataclass(frozen=True)
class Vocabulary:
    """The words of one script, most frequent first, ready to be copied out as bytes."""

    script: Script
    words: tuple[str, ...]

    @cached_property
    def probabilities(self) -> npt.NDArray[np.float64]:
        """Zipf-Mandelbrot, 1 / (rank + 2.7)^1.05."""
        weights = np.power(np.arange(len(self.words), dtype=np.float64) + 2.7, -1.05)
        probabilities: npt.NDArray[np.float64] = np.divide(weights, weights.sum())
        return probabilities

    @cached_property
    def quantiles(self) -> npt.NDArray[np.int32]:
        """The word at each of 2^22 equally likely points: one uniform integer draws a word."""
        points = (np.arange(1 << QUANTILE_BITS) + 0.5) / (1 << QUANTILE_BITS)
        found = np.searchsorted(np.cumsum(self.probabilities), points)
        return np.minimum(found, len(self.words) - 1).astype(np.int32)

    @cached_property
    def pool(self) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """(bytes, start, length) of every variant; variant = word × 10 + capitalised × 5 + separator."""
        separators = SEPARATORS[self.script]
        spelled: list[bytes] = []
        for word in self.words:
            for form in (word, word.capitalize()):
                spelled.extend((form + separator).encode() for separator in separators)
        lengths = np.fromiter(map(len, spelled), np.int32, len(spelled))
        starts = np.zeros(len(spelled), np.int32)
        np.cumsum(lengths[:-1], out=starts[1:])
        return np.frombuffer(b"".join(spelled), np.uint8), starts, lengths

    @cached_property
    def mean_bytes(self) -> float:
        """Expected bytes of a word and the plain separator after it."""
        _, _, lengths = self.pool
        return float((self.probabilities * lengths[::VARIANTS]).sum())


def vocabulary(script: Script, *, seed: int) -> Vocabulary:
    """The vocabulary of `script`; equal arguments give equal words."""
    rng = np.random.default_rng([seed, SCRIPTS.index(script)])
    make = _han_words if script == "chinese" else _latin_words
    return Vocabulary(script, tuple(make(rng, accents=script == "latin")))


def _latin_words(rng: np.random.Generator, *, accents: bool) -> list[str]:
    words: dict[str, None] = {}
    while len(words) < WORDS:
        rank = len(words)
        syllables = 1 + (rank > 120) * (rng.random() < 0.75) + (rank > 4_000) + (rank > 60_000) * (rng.random() < 0.5)
        if rank > 300 and rng.random() < 0.01:
            word = str(rng.integers(0, 100_000))
        else:
            picks = rng.integers(0, 1 << 30, size=(int(syllables), 3))
            word = "".join(
                _ONSETS[a % len(_ONSETS)] + _NUCLEI[b % len(_NUCLEI)] + _CODAS[c % len(_CODAS)]
                for a, b, c in picks.tolist()
            )
            if accents and rank > 300 and rng.random() < 0.02:
                word = word.translate(_ACCENTS)
        words[word] = None
    return list(words)


def _han_words(rng: np.random.Generator, *, accents: bool) -> list[str]:
    del accents
    # Characters are Zipf-distributed too: 6,000 of the block, as many as ordinary print uses.
    characters = 0x4E00 + rng.permutation(0x9FA5 - 0x4E00)[:6_000]
    weights = (np.arange(6_000) + 30.0) ** -1.0
    weights /= weights.sum()
    words: dict[str, None] = {}
    while len(words) < WORDS:
        lengths = rng.choice([1, 2, 3, 4], size=50_000, p=[0.05, 0.65, 0.2, 0.1])
        drawn = rng.choice(characters, size=(50_000, 4), p=weights)
        for length, points in zip(lengths.tolist(), drawn.tolist(), strict=True):
            words["".join(map(chr, points[:length]))] = None
    return list(words)[:WORDS]
