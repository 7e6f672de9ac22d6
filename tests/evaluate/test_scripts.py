"""Scripts against Unicode's names, and of the sample's 13 languages."""

import unicodedata

import numpy as np
import pyarrow as pa
import pytest

from neardup import sample
from neardup.evaluating.scripts import _BLOCKS, SCRIPTS, Scripts, _table, script_of
from neardup.text.batches import text_batch
from neardup.text.settings import TextSettings
from tests.naive import evaluation as naive

NAMES = [None, *(name for name, _ in _BLOCKS)]


def test_every_letter_of_a_block_is_of_its_script():
    """Modifier letters and ordinals have names without a script, and are taken as letters of their block."""
    for code in np.flatnonzero(_table()).tolist():
        character = chr(code)
        if unicodedata.category(character) in ("Cn", "Co"):
            continue
        name = naive.script(character)
        assert name in (NAMES[_table()[code]], "Modifier", "Feminine", "Masculine"), hex(code)


@pytest.mark.parametrize("name", [n for n in NAMES if n])
def test_every_script_has_its_letters(name):
    """At least nine in ten of the letters with this name in the first plane."""
    letters = [c for c in range(0x10000) if naive.script(chr(c)) == name]
    known = sum(NAMES[_table()[c]] == name for c in letters)
    assert known >= 0.9 * len(letters) > 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Straße 12, Ærø", "Latin"),
        ("Москва 2024", "Cyrillic"),
        ("العربية", "Arabic"),
        ("עברית", "Hebrew"),
        ("中华人民共和国", "Han"),
        ("日本語の文章", "Japanese"),
        ("カタカナ", "Japanese"),
        ("한국어", "Hangul"),
        ("हिन्दी", "Devanagari"),
        ("ภาษาไทย", "Thai"),
        ("မြန်မာ", "Myanmar"),
        ("Ελληνικά", "Greek"),
        ("1234 !? ٣٤", "none"),
        ("", "none"),
        ("слово word слово word", "mixed"),
        ("слово слово слово слово ok", "Cyrillic"),
        ("\ud800 x", "Latin"),
    ],
)
def test_texts(text, expected):
    assert script_of(text) == expected


LANGUAGES = {
    "en": "Latin", "de": "Latin", "fr": "Latin", "ru": "Cyrillic", "el": "Greek", "ar": "Arabic", "he": "Hebrew",
    "hi": "Devanagari", "zh": "Han", "ja": "Japanese", "ko": "Hangul", "th": "Thai", "my": "Myanmar",
}  # fmt: skip


def test_the_sample():
    documents = [d for d in sample.documents(scale=0.2) if d.text.strip()]
    made = Scripts(TextSettings()).sketch(text_batch(pa.array([d.text.encode() for d in documents], pa.large_binary())))
    for document, word in zip(documents, made.words[:, 0].tolist(), strict=True):
        assert script_of(document.text) == SCRIPTS[word] == LANGUAGES[document.language]
    assert {d.language for d in documents} == set(LANGUAGES)
