"""Make `src/neardup/kernels/unicode.npz`, the tables behind the tokenizer.

    python scripts/make_unicode_tables.py

The tables are data of the package, not computed at import, so that a recipe gives the same tokens under every
version of Python. Needs `unicodedata2` for a current Unicode version; the code points' case folding is Python's.
"""

from pathlib import Path

import numpy as np
import unicodedata2 as ud

SEPARATOR, WORD, SINGLE, MARK = 0, 1, 2, 3
PAGE = 256
IOTA_SUBSCRIPT = 0x345

# Default_Ignorable_Code_Point: soft hyphen, joiners, variation selectors, ... They are drawn as nothing.
IGNORABLE = [
    (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
    (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
]  # fmt: skip

# Blocks of scripts that are written without spaces between words: ideographs and their syllabaries, and the
# South-East Asian scripts that Unicode's line breaking calls "complex context" (UAX #14, class SA).
UNSPACED = [
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x1950, 0x19FF),  # Tai Le, New Tai Lue, Khmer symbols
    (0x1A20, 0x1AAF),  # Tai Tham
    (0x1B00, 0x1B7F),  # Balinese
    (0x2E80, 0x2FDF),  # CJK radicals
    (0x3005, 0x3007),  # ideographic iteration mark, zero
    (0x3021, 0x3029),
    (0x3031, 0x303C),
    (0x3040, 0x312F),  # Hiragana, Katakana, Bopomofo
    (0x31A0, 0x31BF),
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xA000, 0xA4CF),  # Yi
    (0xA980, 0xA9DF),  # Javanese
    (0xA9E0, 0xA9FF),
    (0xAA60, 0xAADF),  # Myanmar extended A, Tai Viet
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9F),
    (0x116D0, 0x116FF),  # Myanmar extended C
    (0x11700, 0x1174F),  # Ahom
    (0x16FE0, 0x18DFF),  # ideographic marks, Tangut, Khitan
    (0x1AFF0, 0x1B2FF),  # Kana extensions, Nushu
    (0x20000, 0x3FFFF),  # ideographic planes
]


def within(code: int, ranges: list[tuple[int, int]]) -> bool:
    return any(low <= code <= high for low, high in ranges)


def kind(code: int) -> int:
    if code == IOTA_SUBSCRIPT:  # a mark that folds to a letter: the kernels put it in order, then fold it
        return WORD
    category = ud.category(chr(code))
    if category[0] == "M":
        return MARK
    if category[0] in "LN":
        return SINGLE if category not in ("Nd", "No") and within(code, UNSPACED) else WORD
    return SEPARATOR


def fold(text: str) -> str:
    """Compatibility decomposition, full case folding, ignorable characters gone; the kernels fold iota subscript."""
    while True:
        decomposed = ud.normalize("NFKD", text)
        folded = "".join(c if ord(c) == IOTA_SUBSCRIPT else c.casefold() for c in decomposed)
        folded = "".join(c for c in folded if not within(ord(c), IGNORABLE))
        folded = ud.normalize("NFKD", folded)
        if folded == text:
            return text
        text = folded


def tables() -> dict[str, np.ndarray]:
    entries = np.zeros(0x110000, np.uint32)
    pool: list[int] = [0]  # index 0 is never used: an entry without a mapping has 0 there
    for code in range(0x110000):
        if 0xD800 <= code < 0xE000:
            continue
        character = chr(code)
        entry = kind(code) | ud.combining(character) << 2
        mapped = fold(character)
        if mapped != character:
            entry |= len(pool) << 10
            pool += [len(mapped), *map(ord, mapped)]
        entries[code] = entry
    assert len(pool) < 1 << 22
    pages, index = np.unique(entries.reshape(-1, PAGE), axis=0, return_inverse=True)
    return {
        "page": index.reshape(-1).astype(np.uint16),
        "entry": pages.reshape(-1),
        "pool": np.array(pool, np.uint32),
        "version": np.array(ud.unidata_version),
    }


if __name__ == "__main__":
    target = Path(__file__).parent.parent / "src/neardup/kernels/unicode.npz"
    made = tables()
    np.savez_compressed(target, **made)
    print(target, {k: v.size for k, v in made.items()}, target.stat().st_size, "bytes")
