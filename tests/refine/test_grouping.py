"""Groups of a ranked list: those of the definition, and the laws that they keep."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup import sample
from neardup.errors import InputError, UsageError
from neardup.recipe import Recipe
from neardup.refine import Grouped, group, sign, sign_many, signatures
from neardup.refine.signature import Signed, batch_of
from neardup.text.settings import TextSettings
from neardup.text.workers import PageExtractor
from neardup.verify.resemblance import overlap
from tests.naive import refine as naive
from tests.refine.lists import edited, ranked, words

THRESHOLDS = (0.0, 0.3, 0.5, 0.7, 0.9, 1.0)

lists = st.tuples(st.integers(0, 10**6), st.integers(0, 24)).map(lambda drawn: ranked(*drawn))


def from_texts(texts: list[str], **options) -> Grouped:
    return group([{"id": f"d{i}", "text": text} for i, text in enumerate(texts)], **options)


def stars(grouped: Grouped) -> list[tuple[int, str | None]]:
    """Of every result its anchor and its relation to it."""
    found: dict[int, tuple[int, str | None]] = {}
    for one in grouped.groups:
        found[one.anchor] = (one.anchor, None)
        found |= {member.place: (one.anchor, member.relation) for member in one.members}
    return [found[place] for place in range(len(found))]


class TestTwin:
    @given(lists, st.sampled_from(THRESHOLDS), st.booleans())
    @settings(max_examples=30)
    def test_any_list(self, texts, threshold, contained):
        told = [naive.read(row.tobytes()) for row in signatures(texts)]
        grouped = from_texts(texts, threshold=threshold, contained=contained)
        assert stars(grouped) == naive.group(told, threshold, contained)
        for one in grouped.groups:
            for member in one.members:
                match, containment = naive.score(told[member.place], told[one.anchor])
                assert member.match == pytest.approx(match)
                assert member.containment == (None if containment is None else pytest.approx(containment))

    def test_all_relations_occur(self):
        found = {relation for seed in range(6) for _, relation in stars(from_texts(ranked(seed, 40)))}
        assert found == {None, "identical", "near", "contained", "contains"}

    @pytest.mark.parametrize("length", [30, 400, 8000])
    @pytest.mark.parametrize("threshold", [0.01, 0.1, 0.5, 0.7, 0.9, 1.0])
    def test_nothing_similar_is_skipped(self, length, threshold):
        """Against all scores of a list; the longest texts have more passages than are kept."""
        rows = signatures(ranked(length, 60, length=length))
        signed = Signed.of(rows)
        scores = signed.scores(np.argwhere(np.ones((60, 60), bool))).reshape(60, 60, 2)
        for contained in (True, False):
            anchors, expected = [], []
            for i in range(60):
                near = [
                    j
                    for j in anchors
                    if scores[i, j, 0] >= threshold or (contained and scores[i, j, 1] >= max(0.9, threshold))
                ]
                best = max(near, key=lambda j: (scores[i, j, 0], -j), default=i)
                expected.append(best)
                if best == i:
                    anchors.append(i)
            stored = [{"neardup_signature": row.tobytes()} for row in rows]
            grouped = group(stored, threshold=threshold, contained=contained)
            assert [anchor for anchor, _ in stars(grouped)] == expected
            assert len(anchors) < 60


class TestLaws:
    @given(lists, st.sampled_from(THRESHOLDS), st.booleans())
    @settings(max_examples=50)
    def test_stars(self, texts, threshold, contained):
        signed = Signed.of(signatures(texts))
        grouped = from_texts(texts, threshold=threshold, contained=contained)
        anchors = [one.anchor for one in grouped.groups]

        def similar(i: int, j: int) -> bool:
            match, containment = signed.scores(np.array([[i, j]]))[0].tolist()
            comparable = signed.elements[i] > 0 and signed.elements[j] > 0
            return comparable and (match >= threshold or (contained and containment >= max(0.9, threshold)))

        everyone = sorted(anchors + [member.place for one in grouped.groups for member in one.members])
        assert everyone == list(range(len(texts)))
        assert anchors == sorted(anchors)
        assert not any(similar(i, j) for i in anchors for j in anchors if i < j)
        for one in grouped.groups:
            places = [one.anchor, *(member.place for member in one.members)]
            assert places == sorted(places)
            assert all(similar(member.place, one.anchor) for member in one.members)

    @given(lists, st.sampled_from((0.5, 0.7)))
    @settings(max_examples=30)
    def test_stored_signatures_are_text(self, texts, threshold):
        stored = group([{"neardup_signature": made} for made in sign_many(texts)], threshold=threshold)
        assert stored.groups == from_texts(texts, threshold=threshold).groups

    def test_stored_signatures_are_html(self):
        pages = [document.html for document in sample.documents(scale=0.05)]
        stored = group([{"neardup_signature": sign(html=page)} for page in pages])
        read = group([{"html": page} for page in pages])
        assert stored.groups == read.groups
        assert 1 < len(read) < len(pages)

    @given(lists)
    @settings(max_examples=20)
    def test_what_is_below_does_not_matter(self, texts):
        """The groups of the first results are the same whatever follows."""
        half = len(texts) // 2
        assert stars(from_texts(texts))[:half] == stars(from_texts(texts[:half]))

    @given(lists)
    @settings(max_examples=20)
    def test_shown_alone_anchors_stay(self, texts):
        """Grouping what was shown groups nothing more."""
        grouped = from_texts(texts)
        again = group(grouped.shown("drop"))
        assert again.folded == 0

    def test_zero_is_one_group_of_all_that_can_be_compared(self):
        texts = ["one text of some words", "", "another one, and altogether different", "...", "third"]
        grouped = from_texts(texts, threshold=0.0)
        assert [(one.anchor, [m.place for m in one.members]) for one in grouped.groups] == [
            (0, [2, 4]),
            (1, []),
            (3, []),
        ]
        assert grouped.alone == [1, 3]

    def test_one_is_all_passages(self):
        text = words(random.Random(1), 300)
        texts = [" ".join(made) for made in (text, edited(random.Random(2), text, 0.02), text)]
        grouped = from_texts(texts, threshold=1.0)
        assert stars(grouped) == [(0, None), (1, None), (0, "identical")]
        assert stars(from_texts(texts, threshold=0.9)) == [(0, None), (0, "near"), (0, "identical")]

    def test_near_a_near_one_is_not_enough(self):
        """A chain: each is near the next, the ends are not."""
        rng = random.Random(3)
        chain = [words(rng, 300)]
        for step in range(5):
            chain.append([*chain[-1][: 60 * step], *words(rng, 60), *chain[-1][60 * step + 60 :]])
        grouped = from_texts([" ".join(text) for text in chain])
        assert stars(grouped) == [(0, None), (0, "near"), (2, None), (2, "near"), (4, None), (4, "near")]

    def test_the_anchor_that_it_matches_most(self):
        rng = random.Random(4)
        text = words(rng, 400)
        first, second = edited(rng, text, 0.45), edited(rng, text, 0.05)
        grouped = from_texts([" ".join(made) for made in (first, second, text)], threshold=0.5)
        assert stars(grouped)[2] == (1, "near")

    def test_contained_can_be_turned_off(self):
        whole = words(random.Random(5), 500)
        texts = [" ".join(whole), " ".join(whole[100:350])]
        assert stars(from_texts(texts)) == [(0, None), (0, "contained")]
        assert stars(from_texts(texts[::-1])) == [(0, None), (0, "contains")]
        assert stars(from_texts(texts, contained=False)) == [(0, None), (1, None)]


class TestLists:
    def test_empty(self):
        grouped = group([])
        assert (grouped.groups, grouped.folded, grouped.alone, grouped.shown("mark")) == ([], 0, [], [])

    def test_one(self):
        assert len(from_texts(["a text"])) == 1

    def test_a_thousand_equal(self):
        grouped = from_texts(["the same text again"] * 1000)
        assert [len(one.members) for one in grouped.groups] == [999]
        assert {member.relation for member in grouped.groups[0].members} == {"identical"}

    def test_a_thousand_different(self):
        rng = random.Random(1)
        grouped = from_texts([" ".join(words(rng, 60)) for _ in range(1000)])
        assert len(grouped) == 1000

    def test_nothing_to_compare(self):
        results = [
            {"id": 1},
            {"id": 2, "text": ""},
            {"id": 3, "text": None},
            {"id": 4, "text": "!"},
            {"id": 5, "text": 5},
        ]
        grouped = group([*results, *results])
        assert len(grouped) == 10
        assert grouped.alone == list(range(10))
        assert grouped.bases == ["nothing"] * 10

    def test_what_is_compared(self):
        text = "a text that several of these results have in common"
        results = [
            {"id": 1, "neardup_signature": sign(text), "text": "not looked at"},
            {"id": 2, "text": text, "snippet": "not looked at"},
            {"id": 3, "html": f"<p>{text}</p>", "snippet": "not looked at"},
            {"id": 4, "snippet": text, "title": "not looked at"},
            {"id": 5, "text": text.encode()},
        ]
        grouped = group(results)
        assert grouped.bases == ["signature", "text", "html", "snippet", "text"]
        assert stars(grouped) == [(0, None), *[(0, "identical")] * 4]

    def test_a_title_is_no_document(self):
        """Five pages called “Home” are five pages; who wants it otherwise names the title."""
        text = "Home page of the department of mathematics and physics"
        results = [{"id": at, "title": text} for at in range(5)]
        for listed in (results, [{"id": "a", "text": text}, *results], [{"id": "a", "snippet": text}, *results]):
            grouped = group(listed)
            assert grouped.folded == 0
            assert grouped.bases[-5:] == ["nothing"] * 5
            assert grouped.shown("drop") == listed
        assert stars(group(results, text_field="title")) == [(0, None), *[(0, "identical")] * 4]

    def test_a_page_without_text_is_none(self):
        """Its snippet is compared, as of results that have no page."""
        empty = "<html><head><title>Loading</title></head><body><script>go()</script> </body></html>"
        text = "a snippet that two of these results have in common"
        results = [
            {"html": f"<p>{text}</p>"},
            {"html": empty, "snippet": text},
            {"html": empty, "title": text},
            {"html": empty, "snippet": text, "neardup_signature": sign(text)},
        ]
        grouped = group(results)
        assert grouped.bases == ["html", "snippet", "nothing", "signature"]
        assert stars(grouped) == [(0, None), (0, "identical"), (2, None), (0, "identical")]
        around = group(results, query="results")
        assert around.bases == ["html", "snippet", "nothing", "snippet"]
        assert around.passages

    def test_highlights_stand_in_for_a_page_without_text(self):
        hits = [{"_source": {"html": "<p> </p>"}, "highlight": {"html": ["a <em>b</em> c"]}}] * 2
        grouped = group({"hits": {"hits": hits}})
        assert (grouped.bases, grouped.folded) == (["snippet", "snippet"], 1)

    def test_lone_surrogates(self):
        grouped = from_texts(["a broken \ud83d text", "a broken \ud83d text", "\udcff"])
        assert stars(grouped) == [(0, None), (0, "identical"), (2, None)]

    def test_named_fields(self):
        results = [{"n": 1, "body_en": "same words here"}, {"n": 2, "body_en": "same words here"}]
        grouped = group(results, text_field="body_en", id_field="n")
        assert grouped.shown("collapse")[0]["neardup"] == {"group": 1, "rank": 1, "similar": 1, "ids": [2]}

    def test_pages_read_elsewhere(self):
        extract = PageExtractor(TextSettings(extract="main"), workers=1)
        results = [{"html": "<p>same words here</p>"}, {"html": "<p>Same words, here</p>"}]
        assert group(results, extract=extract).groups == group(results).groups

    def test_signatures_of_another_kind_are_refused(self):
        with pytest.raises(InputError, match="result 3: its signature is not base64"):
            group([{"text": "a"}, {"text": "b"}, {"neardup_signature": "!"}])

    @pytest.mark.parametrize("threshold", [-0.1, 1.1, float("nan"), 70])
    def test_thresholds(self, threshold):
        with pytest.raises(UsageError, match="a share of the passages, a number from 0 to 1"):
            group([], threshold=threshold)


class TestSample:
    def test_match_follows_the_resemblance(self):
        """All pairs of the sample, against the exact resemblance of their shingle sets."""
        texts = [document.text for document in sample.documents(scale=0.5)]
        batch = batch_of([text.encode() for text in texts])
        sets, sizes = Recipe().sketcher.shingle_sets(batch, np.arange(len(texts)))
        pairs = np.argwhere(np.triu(np.ones((len(texts), len(texts)), bool), 1))
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        exact = overlap(sets, starts, sizes, pairs).resemblance
        near = Signed.of(signatures(texts)).scores(pairs)[:, 0] >= 0.7
        assert near.sum() > 200
        assert (exact[near] >= 0.5).mean() > 0.99
        assert near[exact >= 0.8].mean() > 0.97


@pytest.mark.parametrize("name", ["text_field", "html_field", "signature_field", "id_field", "query"])
def test_names_are_strings(name):
    with pytest.raises(UsageError, match=rf"{name} = 5: a string, or None"):
        group([{"id": "a", "text": "one two"}], **{name: 5})
