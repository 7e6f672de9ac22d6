"""The passages around a query's terms: those of the definition; queries of every kind; what they do to grouping."""

import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from neardup import sample
from neardup.comparing.tokens import tokens_of
from neardup.refine import group, sign
from neardup.refine.fragments import AROUND, _terms, passages, places
from neardup.refine.signature import batch_of
from tests.naive import refine as naive
from tests.refine.lists import words

vocabulary = [
    "one",
    "two",
    "three",
    "東",
    "京",
    "大",
    "ก",
    "é",
    "e\u0301",
    ",",
    ".",
    "-",
    "\n",
    "ﷺ",
    "\u0301",
    "\u00ad",
    " ",
]
texts = st.lists(st.sampled_from(vocabulary), max_size=300).map("".join)
queries = st.lists(st.sampled_from(vocabulary), max_size=5).map("".join)


def cut(text: str, query: str) -> str:
    return passages([text.encode()], query)[0].decode()


class TestTwin:
    @given(texts, queries)
    @example("", "one")
    @example("one", "")
    @settings(max_examples=100)
    def test_any_text(self, text, query):
        assert cut(text, query) == naive.passages(text, query)

    @given(st.integers(0, 1000), st.integers(1, 4))
    @settings(max_examples=40)
    def test_long_texts(self, seed, terms):
        rng = random.Random(seed)
        text = words(rng, 600)
        query = " ".join(rng.sample(text, terms))
        shown = " ".join(text)
        assert cut(shown, query) == naive.passages(shown, query)

    @given(st.lists(texts, max_size=5), queries)
    @settings(max_examples=30)
    def test_together_or_one_by_one(self, many, query):
        assert passages([text.encode() for text in many], query) == [cut(text, query).encode() for text in many]

    @given(st.one_of(texts, st.text(max_size=60)))
    @settings(max_examples=100)
    def test_places(self, text):
        """In bytes, and otherwise those of the tokens that people are shown."""
        text = text.encode("utf-8", "replace").decode()
        found = tokens_of(text)
        starts, ends = places(batch_of([text.encode()]), 0, len(found))
        for mine, theirs in zip((starts, ends), found.places, strict=True):
            assert mine.tolist() == [len(text[:at].encode()) for at in theirs.tolist()]

    def test_every_language_of_the_sample(self):
        texts = {document.language: document.text for document in sample.documents()}
        for text in texts.values():
            found = tokens_of(text)
            starts, ends = places(batch_of([text.encode()]), 0, len(found))
            words = [text.encode()[start:end].decode() for start, end in zip(starts, ends, strict=True)]
            assert words == [text[start:end] for start, end in zip(*found.places, strict=True)]


class TestQueries:
    def test_around(self):
        text = [f"w{i}" for i in range(200)]
        assert cut(" ".join(text), "w100") == " ".join(text[100 - AROUND : 100 + AROUND + 1])

    def test_passages_that_touch_are_one(self):
        text = [f"w{i}" for i in range(400)]
        whole = cut(" ".join(text), "w100 w170 w300")
        assert whole == " ".join(text[60:211]) + "\n" + " ".join(text[260:341])

    @pytest.mark.parametrize("query", ["absent", "", " ", "?!", "…", "\u200b", "\ud800", '"'])
    def test_without_a_hit_it_is_the_whole_text(self, query):
        text = "One text; of some words (and signs)."
        assert cut(text, query) == text

    def test_case_and_forms_do_not_count(self):
        text = [f"w{i}" for i in range(200)]
        text[100] = "Straße"
        assert cut(" ".join(text), "STRASSE!") == " ".join(text[60:141])

    def test_characters_that_stand_together_are_one_term(self):
        filling = "。".join("春夏秋冬山川草木" * 20)
        text = f"{filling}東{filling}東京都{filling}京{filling}"
        found = cut(text, "東京")
        assert "東京都" in found
        assert len(tokens_of(found)) == 2 * AROUND + 2

    def test_batches_do_not_show(self, monkeypatch):
        many = [" ".join(words(random.Random(seed), 30 * seed)).encode() for seed in range(12)]
        query = " ".join(words(random.Random(5), 3))
        whole = passages(many, query)
        assert whole != many
        monkeypatch.setattr("neardup.refine.signature._TOGETHER", 1000)
        assert passages(many, query) == whole

    def test_a_term_is_looked_for_once(self):
        assert len(_terms("a b A 東京 a 東京b 東京")) == 4

    def test_a_long_query_costs_no_more_than_its_first_words(self):
        text = [f"w{i}" for i in range(300)]
        query = " ".join(["nothing"] * 63 + ["w150", "w10"] + ["more"] * 50_000)
        assert cut(" ".join(text), query) == " ".join(text[110:191])


class TestGrouping:
    def pages(self) -> list[dict]:
        """Two long pages with one passage in common, and one without it."""
        rng = random.Random(1)
        passage = words(rng, 100)
        passage[50] = "zeppelin"
        return [
            {"id": "a", "text": " ".join([*words(rng, 500), *passage, *words(rng, 500)])},
            {"id": "b", "text": " ".join([*words(rng, 800), *passage])},
            {"id": "c", "text": " ".join([*words(rng, 400), "zeppelin", *words(rng, 400)])},
        ]

    def test_the_passage_that_was_asked_for(self):
        assert group(self.pages()).folded == 0
        grouped = group(self.pages(), query="Zeppelin?")
        assert grouped.passages
        assert [(one.anchor, [m.place for m in one.members]) for one in grouped.groups] == [(0, [1]), (2, [])]

    def test_of_pages(self):
        results = [{"id": r["id"], "html": f"<p>{r['text']}</p>"} for r in self.pages()]
        assert group(results, query="zeppelin").groups == group(self.pages(), query="zeppelin").groups

    def test_text_is_taken_where_there_is_a_signature_too(self):
        results = [{**r, "neardup_signature": sign(r["text"])} for r in self.pages()]
        assert group(results, query="zeppelin").groups == group(self.pages(), query="zeppelin").groups

    def test_whole_documents_where_one_has_a_signature_alone(self):
        results = self.pages()
        results[2] = {"id": "c", "neardup_signature": sign(results[2]["text"])}
        grouped = group(results, query="zeppelin")
        assert not grouped.passages
        assert grouped.groups == group(self.pages()).groups

    @pytest.mark.parametrize(("query", "judged"), [(None, False), ("", False), (" …", False), ("absent", True)])
    def test_a_query_without_words_asks_for_nothing(self, query, judged):
        assert group(self.pages(), query=query).passages is judged

    @pytest.mark.parametrize("query", [None, "", "!!", "absent"])
    def test_without_a_hit_nothing_changes(self, query):
        assert group(self.pages(), query=query).groups == group(self.pages()).groups
