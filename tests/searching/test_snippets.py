"""The passage that is shown: it is in the text, it has the words, and they are marked."""

import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.searching.queries import parse
from neardup.searching.snippets import FIRST, FURTHER, snippets
from tests.naive.text import words

LONGEST = 600
"""Bytes that a snippet may have, generously."""


def shown(text: str, typed: str) -> list[tuple[str, bool]]:
    return snippets([np.frombuffer(text.encode(), np.uint8)], parse(typed).wanted)[0]


def plain(snippet) -> str:
    return "".join(part for part, _ in snippet)


def marked(snippet) -> list[str]:
    return [part for part, mark in snippet if mark]


def collapsed(text: str) -> str:
    return re.sub(r"[\s\x00-\x1f\x7f-\x9f\ufeff]+", " ", text).strip()


def test_the_words_are_marked_as_they_stand_there():
    assert shown("The Quick\n\nbrown fox.", "quick FOX") == [
        ("The ", False),
        ("Quick", True),
        (" brown ", False),
        ("fox", True),
        (".", False),
    ]


def test_a_phrase_is_marked_as_a_whole_and_its_words_alone_are_not():
    assert marked(shown("a b, a c. a b", '"a b"')) == ["a b", "a b"]
    assert marked(shown("大学は東京大学、京", "東京大学")) == ["東京大学"]
    assert marked(shown("x-ray, x ray and ray", "x-ray")) == ["x-ray", "x ray"]
    assert marked(shown("a b c d", '"a b" "b c"')) == ["a b c"]


def test_the_window_is_where_most_of_the_words_are():
    filler = "lorem ipsum dolor " * 100
    text = f"alpha {filler} beta alpha {filler} gamma beta alpha {filler} alpha alpha alpha {filler}"
    assert marked(shown(text, "alpha beta gamma")) == ["gamma", "beta", "alpha"]
    assert len(marked(shown(text, "alpha"))) == 3
    snippet = shown(text, "gamma")
    assert snippet[0] == ("… ", False)
    assert snippet[-1] == (" …", False)
    assert plain(snippet)[2:-2] in collapsed(text)


def test_a_word_far_down_is_found_too():
    filler = "lorem ipsum " * (FIRST // 12 + 10)
    assert marked(shown(filler + "needle", "needle")) == ["needle"]
    beginning = shown("lorem ipsum " * (FURTHER // 12 + 10) + "needle", "needle")
    assert plain(beginning).startswith("lorem ipsum")
    assert not marked(beginning)


def test_texts_that_are_no_prose():
    assert shown("", "a") == []
    assert shown(" \n\t ", "a") == []
    assert marked(shown("\x07red\0alert", "red")) == ["red"]
    for text in ("x" * 100_000, "日" * 50_000, "<b>" * 9000, "é" * 30_000, "\u0301" * 9000, "𐍈" * 9000, "﷽" * 500):
        snippet = shown(text, "needle")
        assert 0 < len(plain(snippet).encode()) < LONGEST
        assert "\ufffd" not in plain(snippet)
    assert marked(shown("日" * 9000 + "本語" + "日" * 9000, "日本語")) == ["日本語"]
    assert marked(shown("<script>alert(1)</script>", "script")) == ["script", "script"]
    assert plain(shown("<script>alert(1)</script>", "script")) == "<script>alert(1)</script>"


WORDS = st.sampled_from(
    ["alpha", "Beta", "γάμμα", "東", "京", "ไ", "दुनिया", "ﬁ", "é", "e\u0301", "x" * 70, "<i>", "﷽", "𐍈"]
)
GAPS = st.sampled_from([" ", "  ", "\n", ". ", "", "-", "\u3000", "\u00a0", ",", "\x00", "\t"])


@given(st.lists(st.lists(st.tuples(WORDS, GAPS), max_size=80), max_size=5), st.lists(WORDS, min_size=1, max_size=3))
def test_many_at_once_are_what_each_is_alone(documents, typed):
    texts = ["".join(word + gap for word, gap in document) for document in documents]
    runs = parse(" ".join(typed)).wanted
    together = snippets([np.frombuffer(text.encode(), np.uint8) for text in texts], runs)
    for text, snippet in zip(texts, together, strict=True):
        assert snippet == shown(text, " ".join(typed))
        assert plain(snippet).removeprefix("… ").removesuffix(" …") in collapsed(text)
        assert len(plain(snippet).encode()) < LONGEST
        assert all(part for part, _ in snippet)


@given(st.lists(st.sampled_from(["alpha", "Beta", "γάμμα", "東", "京", "दुनिया", "x"]), max_size=300), st.data())
def test_marks_are_the_words_and_a_text_with_them_has_marks(document, data):
    """Words between spaces, one of which is searched for: all that the window shows of it are marked, and no other."""
    text = " ".join(document)
    wanted = data.draw(st.sampled_from(["alpha", "beta", "γάμμα", "京", "दुनिया"]))
    snippet = shown(text, wanted)
    assert all(words(part) == words(wanted) for part in marked(snippet))
    assert not any(words(wanted)[0] in words(part) for part, mark in snippet if not mark)
    assert bool(marked(snippet)) == (words(wanted)[0] in words(text))
