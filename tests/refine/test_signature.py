"""Signatures: byte for byte those of the definition; what they tell of two texts; what is refused."""

import hashlib
import json
import random
from base64 import b64decode, b64encode
from math import sqrt

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from neardup import sample
from neardup.errors import InputError, RecipeError, UsageError
from neardup.kernels import results as kernel
from neardup.refine import SIGNATURE_BYTES, sign, sign_many, signatures
from neardup.refine.signature import BITS, FORMAT, MOST, SETTINGS, Signed, decoded, read_pages
from neardup.text.settings import TextSettings
from neardup.text.workers import PageExtractor
from tests.corpus import WORDS
from tests.naive import refine as naive
from tests.refine.lists import edited, ranked, words

texts = st.one_of(
    st.text(max_size=80),
    st.lists(st.sampled_from(["one", "Two", "三", "четыре", "٥", "หก", "1.", "-", "«", "ﬁ", "\n", "﷽"])).map(" ".join),
    st.lists(st.sampled_from(["ab", "rest", " ", "\n", "a.1 "]), max_size=60).map("".join),
)


class TestTwin:
    @given(st.lists(texts, max_size=4))
    @example(["", " ", "...", "\ud800", "a", "\0", "a" * 3000])
    @settings(max_examples=60)
    def test_any_text(self, given_texts):
        made = signatures(given_texts)
        whole = [text.encode("utf-8", "replace").decode() for text in given_texts]
        assert [row.tobytes() for row in made] == [naive.signature(text) for text in whole]

    def test_every_language_of_the_sample(self):
        chosen = {document.language: document.text for document in sample.documents()}
        assert len(chosen) == 13
        made = signatures(list(chosen.values()))
        assert [row.tobytes() for row in made] == [naive.signature(text) for text in chosen.values()]

    def test_more_chunks_than_are_kept(self):
        text = " ".join(words(random.Random(3), 4000))
        made = signatures([text])[0]
        assert int.from_bytes(made[4:8].tobytes(), "little") > MOST
        assert made.tobytes() == naive.signature(text)

    def test_together_or_one_by_one(self):
        many = ranked(5, 40)
        assert sign_many(many) == [sign(text) for text in many]

    def test_batches_do_not_show(self, monkeypatch):
        many = ["", *ranked(6, 20), ""]
        whole = sign_many(many)
        monkeypatch.setattr("neardup.refine.signature._TOGETHER", 1000)
        assert sign_many(many) == whole


class TestMade:
    def test_the_format_stays(self):
        """Signatures are kept in other people's indexes: whoever changes these bytes raises FORMAT."""
        assert (FORMAT, SETTINGS.hex()) == (2, "19da31")
        made = sign_many(["A signature is kept for years.", "署名は何年も保存される。", "α" * 5000, "ᾳ" * 5000])
        assert hashlib.sha256("".join(made).encode()).hexdigest()[:16] == "72c4ca2adacc4d7f"

    def test_bytes_and_base64(self):
        text = "the same text, twice"
        assert b64decode(sign(text)) == signatures([text])[0].tobytes()
        assert len(sign(text)) == 344
        assert len(b64decode(sign(text))) == SIGNATURE_BYTES

    def test_bytes_are_utf_8(self):
        assert sign("naïve".encode()) == sign("naïve")
        assert sign(b"na\xefve text") == sign("na\ufffdve text")

    def test_lone_surrogates_are_replaced(self):
        assert sign("one\ud800 two") == sign("one? two")

    @pytest.mark.parametrize("text", ["", " \n", "...", "—!?", "\u200b", "1."])
    def test_without_words(self, text):
        made = b64decode(sign(text))
        assert made == bytes([FORMAT]) + SETTINGS + bytes(SIGNATURE_BYTES - 4)

    def test_case_and_space_do_not_count(self):
        assert sign("One  two\tthree") == sign("one two three")

    def test_pages(self):
        page = "<html><head><title>x</title></head><body><nav>menu</nav><main><p>What the page says, at length.</main>"
        assert sign(html=page) == sign(html=page.encode()) == sign("What the page says, at length.")

    def test_pages_in_processes(self):
        page = "<p>What the page says.</p>"
        extract = PageExtractor(TextSettings(extract="main"), workers=1)
        assert read_pages([page, page.encode()], extract) == read_pages([page, page.encode()])

    def test_what_is_no_text(self):
        with pytest.raises(UsageError, match="one of them"):
            sign()
        with pytest.raises(UsageError, match="one of them"):
            sign("a", html="b")
        with pytest.raises(UsageError, match="text 2 is int; give a string or bytes"):
            sign_many(["a", 5])
        with pytest.raises(UsageError, match="takes a list"):
            sign_many("a text")


class TestRefused:
    def test_another_version(self):
        row = bytearray(b64decode(sign("a text")))
        row[0] = 9
        with pytest.raises(RecipeError, match=r"result 2: its signature is of format 9, and this .* makes format 2"):
            decoded([sign("a"), b64encode(row).decode()])

    def test_other_settings(self):
        row = bytearray(b64decode(sign("a text")))
        row[1:4] = b"abc"
        with pytest.raises(RecipeError, match=r"result 8: .* settings 616263, .* Make it again with neardup.sign"):
            decoded([b64encode(row).decode()], [7])

    @pytest.mark.parametrize("length", [0, 1, 255, 257, 512])
    def test_another_length(self, length):
        with pytest.raises(InputError, match=rf"result 1: its signature has {length} bytes"):
            decoded([b64encode(bytes(length)).decode()])

    @pytest.mark.parametrize("wrong", ["no base64!", "é", "abc", "=", sign("a text")[:-1], sign("a text") + "\n"])
    def test_not_base64(self, wrong):
        with pytest.raises(InputError, match="result 1: its signature is not base64"):
            decoded([wrong])

    def test_another_type(self):
        with pytest.raises(InputError, match="result 1: its signature is int"):
            decoded([5])

    @pytest.mark.parametrize("change", [(4, 0), (16, 255)])
    def test_damaged(self, change):
        row = signatures(["a text of a few words"]).copy()
        row[0, change[0]] = change[1]
        with pytest.raises(InputError, match="result 1: its signature is damaged"):
            Signed.of(row)

    def test_raw_bytes_are_taken_too(self):
        both = decoded([sign("a text"), signatures(["a text"])[0].tobytes()])
        assert (both[0] == both[1]).all()


class TestScores:
    @pytest.mark.parametrize("seed", range(4))
    def test_twin(self, seed):
        many = ranked(seed, 24)
        rows = signatures(many)
        signed, told = Signed.of(rows), [naive.read(row.tobytes()) for row in rows]
        pairs = np.argwhere(np.ones((24, 24), bool))
        found = signed.scores(pairs)
        for (i, j), (match, containment) in zip(pairs.tolist(), found.tolist(), strict=True):
            expected, contained = naive.score(told[i], told[j])
            assert match == pytest.approx(expected)
            assert containment == pytest.approx(-1.0 if contained is None else contained)

    def test_few_passages_are_counted_exactly(self):
        """Without sampling the match of short texts is a number of passages over a number of passages."""
        rng = random.Random(8)
        for _ in range(50):
            one = words(rng, rng.randint(8, 40))
            two = edited(rng, one, 0.3)
            a, b = (naive.elements(" ".join(text)) for text in (one, two))
            exact = len(set(a) & set(b)) / max(len(a), len(b))
            match = Signed.of(signatures([" ".join(one), " ".join(two)])).scores(np.array([[0, 1]]))[0, 0]
            assert abs(match - exact) <= 1.5 / max(len(a), len(b))  # one chance collision at the most

    @pytest.mark.parametrize(("n", "share"), [(100, 0.7), (900, 0.5), (900, 0.9), (20_000, 0.7), (20_000, 0.9)])
    def test_error(self, n, share):
        """Sampling: share (1 - share) / kept. Chance collisions: (1 - share) / bits, and more in fuller filters. The
        two samples end at different hashes, which costs a little on average."""
        rng = np.random.default_rng(1)
        trials = 200
        common = round(n * share)
        rows, elements = [], []
        for _ in range(trials):
            both = rng.integers(0, 2**63, 2 * n - common, np.uint64)
            rows += [np.sort(both[:n]), np.sort(both[n - common :])]
            elements += [n, n]
        filters = np.zeros((2 * trials, BITS // 64), np.uint64)
        kernel.fill(np.concatenate(rows), np.cumsum(elements), MOST, 1, filters)
        ones = np.empty(2 * trials, np.int64)
        kernel.count(filters, ones)
        signed = Signed(filters, ones, np.array(elements), np.arange(2 * trials, dtype=np.uint64))
        found = signed.scores(np.arange(2 * trials).reshape(-1, 2))[:, 0]
        sampling = share * (1 - share) / MOST if n > MOST else 0.0
        fuller = np.exp(min(n, MOST) / BITS)
        error = sqrt(sampling + fuller * (1 - share) / BITS)
        assert found.std() < 1.25 * error  # 200 trials: the deviation of a deviation is 5 %
        assert abs(found.mean() - share) < 4 * error / sqrt(trials) + (0.01 if n > MOST else 0.0)

    def test_strangers_do_not_match(self):
        rng = random.Random(2)
        many = [" ".join(rng.choices([*WORDS, *map(str, range(10_000))], k=n)) for n in (8, 40, 200, 1500) * 25]
        found = Signed.of(signatures(many)).scores(np.argwhere(np.triu(np.ones((100, 100), bool), 1)))
        assert found[:, 0].max() < 0.5  # one chance collision of three passages
        assert found[:, 1].max() < 0.6

    def test_one_or_two_passages_are_compared_by_identity_alone(self):
        rng = random.Random(4)
        many = ["".join(rng.choices("abcdefghij", k=8)) for _ in range(1000)]
        signed = Signed.of(signatures(many))
        assert signed.elements.max() < 3
        assert len(np.unique(signed.filters, axis=0)) < 900  # there are chance collisions
        found = signed.scores(np.argwhere(np.triu(np.ones((1000, 1000), bool), 1)))
        assert set(found[:, 0].tolist()) == {0.0}

    def test_a_part_lies_in_the_whole(self):
        whole = words(random.Random(5), 900)
        part, stranger = whole[200:600], words(random.Random(6), 400)
        signed = Signed.of(signatures([" ".join(text) for text in (whole, part, stranger)]))
        (match, contained), (other, not_contained) = signed.scores(np.array([[0, 1], [0, 2]])).tolist()
        assert match == pytest.approx(0.44, abs=0.06)
        assert contained > 0.9
        assert other < 0.1
        assert not_contained < 0.3

    def test_a_small_part_cannot_be_told(self):
        whole = words(random.Random(5), 20_000)
        found = Signed.of(signatures([" ".join(whole), " ".join(whole[:200])])).scores(np.array([[0, 1]]))
        assert found[0, 1] == -1.0


def test_signatures_travel_as_json():
    made = sign_many(ranked(1, 3))
    assert json.loads(json.dumps(made)) == made
