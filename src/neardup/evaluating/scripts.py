"""The script that a text is written in: Latin, Cyrillic, Arabic, Han, …

    script_of   of a text, from its letters
    Scripts     of documents, as a sketch of one word each: so they are found in one pass over the collection

A script is told from Unicode's blocks. It is the one with the most letters, if it has three fifths of them or more,
and "mixed" otherwise; "none" without letters. Japanese is written in three scripts at once: where a twentieth or more
of the Han and Kana letters are Kana, all of them are "Japanese"; where there are fewer, "Han".
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from neardup.shingles import ShingleSettings
from neardup.sketches.base import Ragged, Sketcher, Sketches, nothing
from neardup.text.batches import TextBatch
from neardup.text.settings import TextSettings

_BLOCKS = (
    ("Latin", "0041-005a 0061-007a 00aa 00ba 00c0-02b8 1d00-1d25 1d2c-1d5c 1e00-1eff 2c60-2c7f a722-a7ff ab30-ab64 "
              "fb00-fb06 ff21-ff3a ff41-ff5a"),
    ("Greek", "0370-03e1 03f0-03ff 1f00-1fff"),
    ("Cyrillic", "0400-052f 1c80-1c8f 2de0-2dff a640-a69f"),
    ("Armenian", "0530-058f fb13-fb17"),
    ("Hebrew", "0590-05ff fb1d-fb4f"),
    ("Arabic", "0600-06ff 0750-077f 0870-08ff fb50-fdff fe70-fefc"),
    ("Syriac", "0700-074f 0860-086f"),
    ("Thaana", "0780-07bf"),
    ("Devanagari", "0900-097f a8e0-a8ff"),
    ("Bengali", "0980-09ff"),
    ("Gurmukhi", "0a00-0a7f"),
    ("Gujarati", "0a80-0aff"),
    ("Oriya", "0b00-0b7f"),
    ("Tamil", "0b80-0bff"),
    ("Telugu", "0c00-0c7f"),
    ("Kannada", "0c80-0cff"),
    ("Malayalam", "0d00-0d7f"),
    ("Sinhala", "0d80-0dff"),
    ("Thai", "0e01-0e3a 0e40-0e7f"),
    ("Lao", "0e80-0eff"),
    ("Tibetan", "0f00-0fff"),
    ("Myanmar", "1000-109f a9e0-a9ff aa60-aa7f"),
    ("Georgian", "10a0-10ff 1c90-1cbf 2d00-2d2f"),
    ("Hangul", "1100-11ff 3131-318e a960-a97f ac00-d7ff ffa0-ffdc"),
    ("Ethiopic", "1200-139f 2d80-2ddf ab00-ab2f"),
    ("Khmer", "1780-17ff"),
    ("Mongolian", "1800-18af"),
    ("Kana", "3041-309f 30a1-30fa 30fc-30ff 31f0-31ff ff66-ff9f"),
    ("Han", "3005-3007 3400-4dbf 4e00-9fff f900-faff 20000-3fffd"),
)  # fmt: skip

NONE, MIXED, JAPANESE = "none", "mixed", "Japanese"
SCRIPTS = (*(name for name, _ in _BLOCKS if name != "Kana"), JAPANESE, MIXED, NONE)
"""In the order of tables."""

_NAMES = [name for name, _ in _BLOCKS]
_KANA, _HAN = _NAMES.index("Kana"), _NAMES.index("Han")
_MOST, _SOME_KANA = 0.6, 0.05
_ENOUGH = 1 << 16
"""Characters of a text that are looked at."""


@cache
def _table() -> NDArray[np.uint8]:
    """For every code point of the first planes the number of its script plus one; 0 where it is no letter of any."""
    table = np.zeros(0x40000, np.uint8)
    for number, (_, ranges) in enumerate(_BLOCKS, 1):
        for part in ranges.split():
            low, _, high = part.partition("-")
            first, last = int(low, 16), int(high or low, 16)
            letters = np.ones(last - first + 1, bool)
            if last - first < 0x400:  # in the large blocks all are letters
                letters = np.array([chr(c).isalpha() for c in range(first, last + 1)])
            table[first : last + 1][letters] = number
    return table


def script_of(text: str) -> str:
    """The script of a text; of a long one, that of its beginning."""
    return SCRIPTS[_number(text[:_ENOUGH].encode("utf-32-le", "replace"))]


def _number(characters: bytes) -> int:
    table, codes = _table(), np.frombuffer(characters, np.uint32)
    counts = np.bincount(table[np.minimum(codes, len(table) - 1)], minlength=len(_NAMES) + 1)[1:]
    total = int(counts.sum())
    if not total:
        return SCRIPTS.index(NONE)
    together = counts[_KANA] + counts[_HAN]
    japanese = counts[_KANA] > 0 and counts[_KANA] >= _SOME_KANA * together
    counts[_HAN] = together
    counts[_KANA] = 0
    best = int(counts.argmax())
    if counts[best] < _MOST * total:
        return SCRIPTS.index(MIXED)
    return SCRIPTS.index(JAPANESE if best == _HAN and japanese else _NAMES[best])


class Scripts(Sketcher):
    """A sketch of one word: the place of the script in SCRIPTS."""

    words = 1

    def __init__(self, text: TextSettings) -> None:
        super().__init__(text, ShingleSettings(1), 1)

    def sketch(self, batch: TextBatch) -> Sketches:
        """Nothing but the script is filled in."""
        made = self.blank(len(batch.offsets) - 1)
        data, ends = batch.data, batch.offsets.tolist()
        for i in range(len(made.words)):
            some = data[ends[i] : min(ends[i + 1], ends[i] + 3 * _ENOUGH)].tobytes().decode("utf-8", "ignore")
            made.words[i, 0] = _number(some[:_ENOUGH].encode("utf-32-le"))
        return made

    def keys(self, words: NDArray[np.uint64], ragged: Ragged) -> Ragged:
        """None: a script makes no candidates."""
        return nothing(len(words))
