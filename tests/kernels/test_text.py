import os

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from neardup.kernels import text as kernel
from neardup.kernels import unicode_tables
from neardup.sketches.base import name_sequences
from tests.naive import text as naive

SEED = np.uint64(7)
KINDS = ("words", "chars", "lines")

# Plain text, words that repeat, and every corner of Unicode that the tables treat specially.
alphabet = st.sampled_from(
    list("aAbZ09 .,-_\n\r\t\0'é ß ſ ﬁ ½ ² Ａ ａ İ ı Σ ς \u0301 \u0327 \u0345 \u0308 \u00ad \u200b \u200d \ufe0f")
    + list("我们你好カﾞがグ한국어\u1112\u1161\u11abกำเขียนខ្មែរမြန်မာລາວनमस्ते 👍🏽 𝔘 𠀀 〇 १२")
)
texts = st.one_of(
    st.text(alphabet, max_size=60),
    st.text(max_size=40),
    st.lists(st.sampled_from(["a", "rose", "is", "Rose,", "玫瑰", "\n"]), max_size=60).map(" ".join),
)


def tokens_of(data: bytes, kind: str = "words") -> list[int] | None:
    buffer = np.frombuffer(data or b"\0", np.uint8)
    out = np.empty(len(data) * 3 + 8, np.uint64)
    n, _ = kernel.tokenize(buffer, 0, len(data), KINDS.index(kind), SEED, *unicode_tables(), out)
    return None if n < 0 else [int(t) for t in out[:n]]


@pytest.mark.parametrize("kind", KINDS)
@given(text=texts)
@example("Ａ１ é é ﬁ½²")
@example("α\u0345\u0301 α\u0301\u0345")
@example("日本語abc123ไทย")
@example("\u0301\u0327a")
def test_tokens_are_those_of_the_definition(kind, text):
    assert tokens_of(text.encode("utf-8", "ignore"), kind) == [
        naive.token_hash(t, int(SEED)) for t in naive.tokens(text.encode("utf-8", "ignore").decode(), kind)
    ]


@given(st.binary(max_size=40))
@example(b"\xc0\x80")
@example(b"\xed\xa0\x80")
@example(b"\xf4\x90\x80\x80")
@example(b"abc\xe2\x82")
@example(b"\xf8\x88\x80\x80\x80")
@example(b"\xe0\x80\x80")
def test_bytes_are_refused_exactly_where_python_refuses_them(data):
    try:
        data.decode()
        valid = True
    except UnicodeDecodeError:
        valid = False
    assert (tokens_of(data) is not None) == valid


@given(st.text(max_size=30))
def test_normal_forms_have_the_same_tokens(text):
    import unicodedata2

    forms = {
        tuple(tokens_of(unicodedata2.normalize(f, text).encode("utf-8", "ignore")))
        for f in ("NFC", "NFD", "NFKC", "NFKD")
    }
    assert len(forms) == 1


def caseless(text: str) -> str:
    """Unicode's compatibility caseless form (definition D146), without default ignorable code points."""
    import unicodedata2

    def decomposed(form: str, text: str) -> str:
        return unicodedata2.normalize(form, text)

    folded = decomposed("NFKD", decomposed("NFKD", decomposed("NFD", text).casefold()).casefold())
    return folded.translate(dict.fromkeys(code for low, high in naive.IGNORABLE for code in range(low, high + 1)))


COMPILED = not os.environ.get("NUMBA_DISABLE_JIT")
SCALARS = [
    chr(code)
    for code in range(0x110000)
    if not 0xD800 <= code < 0xE000 and (COMPILED or code % 97 == 0 or 0x300 <= code < 0x400 or 0x1F00 <= code < 0x2000)
]
"""All code points that text may have; without the compiler a hundredth of them, and Greek."""


@pytest.mark.parametrize("around", ["a b {} c", "a{}\u0301b", "a{}", "ก{}b"])
def test_every_code_point_is_folded_as_unicode_says(around):
    """One call for all of them: every line is one token, of its words, and begins with a word."""
    lines = "\n".join(f"x {around.format(c)}" for c in SCALARS if c not in "\r\n")
    assert np.array_equal(tokens_of(lines.encode(), "lines"), tokens_of(caseless(lines).encode(), "lines"))


def test_every_code_point_has_the_words_of_the_definition():
    """The folding above is compared through the same kernel; here words are counted and hashed by the naive twin."""
    chosen = [c for c in SCALARS if c not in "\r\n"]
    forms = caseless("\n".join(chosen)).split("\n")
    letters = [c for c, form in zip(chosen, forms, strict=True) if form != c or ord(c) < 0x3000]
    for kind in ("words", "chars"):
        text = "".join(f"\u03b1{c}\u0301 " for c in letters)
        expected = [naive.token_hash(t, int(SEED)) for t in naive.tokens(text, kind)]
        assert tokens_of(text.encode(), kind) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ᾳ", "αι"), ("ᾼ", "ΑΙ"), ("ᾼ", "ᾳ"), ("ᾴ", "άι"), ("ᾷ", "ᾶι"), ("\u0345", "ι"), ("α\u0345\u0301", "ά\u0345"),
        ("τῷ Ἅιδῃ", "ΤΩ͂Ι ἍΙΔΗΙ"),
    ],
)  # fmt: skip
def test_iota_subscript_is_an_iota(one, other):
    for kind in KINDS:
        assert tokens_of(one.encode(), kind) == tokens_of(other.encode(), kind)


@pytest.mark.parametrize("kind", ["words", "chars"])
def test_code_points_that_unfold_to_sentences_do_not_overrun_the_buffers(kind):
    """U+FDFA takes three bytes and unfolds to four words of fifteen letters."""
    from neardup import MinHashSettings, ShingleSettings, TextSettings
    from neardup.sketches.minhash import MinHash
    from neardup.text.batches import text_batch

    texts = ["\ufdfa " * 50, "\ufdfa" * 50]
    minhash = MinHash(TextSettings(kind), ShingleSettings(3), MinHashSettings(2, 2))
    batch = text_batch(pa.array(texts, pa.large_string()))
    expected = [len(naive.tokens(t, kind)) for t in texts]
    assert expected[0] == 50 * (4 if kind == "words" else 15)
    assert minhash.sketch(batch).tokens.tolist() == expected
    sets, sizes = minhash.shingle_sets(batch, np.arange(2))
    assert sizes.tolist() == [len(set(naive.shingles(naive.tokens(t, kind), 3))) for t in texts]
    assert sizes.sum() == len(sets)


def test_long_runs_of_marks_cost_linear_time():
    assert len(tokens_of(("a" + "\u0301\u0327" * 5000).encode())) == 1


@given(text=texts, w=st.integers(1, 7), repeats=st.booleans())
def test_shingle_sets(text, w, repeats):
    data = text.encode("utf-8", "ignore")
    buffer = np.frombuffer(data or b"\0", np.uint8)
    out, sizes = np.empty(3 * len(data) + 8, np.uint64), np.zeros(1, np.int64)
    offsets = np.array([0, len(data)], np.int64)
    total = kernel.shingle_sets(
        buffer, offsets, np.zeros(1, np.int64), 0, w, repeats, SEED, unicode_tables(), None, sizes, out
    )
    expected = sorted(set(naive.fingerprints(data.decode(), w=w, repeats=repeats, seed=int(SEED))))
    assert total == sizes[0] == len(expected)
    assert [int(x) for x in out[:total]] == expected


@settings(max_examples=50)
@given(
    texts=st.lists(texts, max_size=5),
    w=st.integers(1, 6),
    repeats=st.booleans(),
    k=st.integers(1, 4),
    s=st.integers(1, 3),
    more=st.sampled_from([0, 1, 5]),
    bits=st.sampled_from([8, 4]),
    once=st.booleans(),
)
def test_sketches(texts, w, repeats, k, s, more, bits, once):
    """The first k·s permutations make the features, all of them the samples."""
    data = [t.encode("utf-8", "ignore") for t in texts]
    offsets = np.concatenate([[0], np.cumsum([len(d) for d in data])]).astype(np.int64)
    buffer = np.frombuffer(b"".join(data) or b"\0", np.uint8)
    random = np.random.default_rng(3)
    size = k * s + more
    multiply = random.integers(0, 2**32, size, dtype=np.uint32) | np.uint32(1)
    add = random.integers(0, 2**32, size, dtype=np.uint32)
    n = len(texts)
    status, tokens = np.zeros(n, np.uint8), np.zeros(n, np.int64)
    spans, keys, samples = np.zeros((n, 2), np.int64), np.zeros((n, k), np.uint64), np.zeros((n, size), np.uint8)
    form = kernel.sketch_documents(
        buffer, offsets, 0, w, repeats, SEED, unicode_tables(), None, None, multiply, add, once, k, s, bits,
        0, np.empty(0, np.uint64), 0, status, tokens, spans, keys, samples,
    )  # fmt: skip
    identities = np.zeros((n, 2), np.uint64)
    name_sequences(form, spans, identities)
    for i, d in enumerate(data):
        hashes = [naive.token_hash(t, int(SEED)) for t in naive.tokens(d.decode())]
        assert tokens[i] == len(hashes)
        if not hashes:
            assert status[i] == kernel.EMPTY
            continue
        assert status[i] == (kernel.SHORT if len(hashes) < w else kernel.FINE)
        assert tuple(map(int, identities[i])) == naive.identity(naive.tokens(d.decode()))
        smallest = (naive.minima_in_bins if once else naive.minima)(
            naive.fingerprints(d.decode(), w=w, repeats=repeats, seed=int(SEED)), multiply.tolist(), add.tolist()
        )
        assert list(map(int, keys[i])) == naive.features(smallest, k, s, int(SEED))
        assert list(map(int, samples[i])) == naive.samples(smallest, bits)


@given(
    st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 3), min_size=1, max_size=60),
    st.sampled_from([1, 2, 7, 100]),
)
@example([2**64 - 1], 3)
@example([5 << 32 | 2**31], 3)
@example([(i * 0x9E3779B97F4A7C15) % 2**64 for i in range(300)], 100)  # a few empty bins: filled one by one
@example([(i * 0x9E3779B97F4A7C15) % 2**64 for i in range(90)], 100)  # many: all at once
def test_minima_in_bins(values, size):
    random = np.random.default_rng(size)
    multiply = random.integers(0, 2**32, size, dtype=np.uint32) | np.uint32(1)
    add = random.integers(0, 2**32, size, dtype=np.uint32)
    out, spare = np.empty(size, np.uint32), np.empty(size, np.uint32)
    kernel.minima_in_bins(np.array(values, np.uint64), len(values), multiply, add, out, spare)
    assert out.tolist() == naive.minima_in_bins(values, multiply.tolist(), add.tolist())


def test_a_document_that_is_not_utf8_is_marked_and_its_neighbours_are_not():
    data = [b"one two", b"\xff\xfe", b"three"]
    offsets = np.concatenate([[0], np.cumsum([len(d) for d in data])]).astype(np.int64)
    one = np.ones(1, np.uint32)
    out = (
        np.zeros(3, np.uint8),
        np.zeros(3, np.int64),
        np.zeros((3, 2), np.int64),
        np.zeros((3, 1), np.uint64),
        np.zeros((3, 1), np.uint8),
    )
    kernel.sketch_documents(
        np.frombuffer(b"".join(data), np.uint8),
        offsets,
        0,
        2,
        False,
        SEED,
        unicode_tables(),
        None,
        None,
        one,
        one,
        False,
        1,
        1,
        8,
        0,
        np.empty(0, np.uint64),
        0,
        *out,
    )
    assert out[0].tolist() == [kernel.FINE, kernel.INVALID, kernel.SHORT]


@given(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 3), max_size=200))
@example([5] * 300)
@example(list(range(300, 0, -1)))
@example([2**63 + i for i in range(300, 0, -1)])
def test_sorting(values):
    array = np.array(values, np.uint64)
    n = kernel.sort_distinct(array, len(values), np.empty(len(values) + 1, np.uint64))
    assert array[:n].tolist() == sorted(set(values))


@pytest.mark.parametrize(
    ("text", "w", "n"),
    [
        ("a rose is a rose is a rose", 4, 3),
        ("My name is Inigo Montoya. You killed my father. Prepare to die", 4, 9),
    ],
)
def test_the_papers_examples(text, w, n):
    """Broder, section 2; Radinsky's slides."""
    out, sizes = np.empty(100, np.uint64), np.zeros(1, np.int64)
    data = np.frombuffer(text.encode(), np.uint8)
    assert (
        kernel.shingle_sets(
            data, np.array([0, len(data)]), np.zeros(1, np.int64), 0, w, False, SEED, unicode_tables(), None, sizes, out
        )
        == n
    )
