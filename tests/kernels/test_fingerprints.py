"""Tokens, shingles and sketches with Rabin's fingerprints; and the fingerprints of a batch, of either kind."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from neardup.kernels import text as kernel
from neardup.kernels import unicode_tables
from neardup.rabin import choose_polynomial, push_table, second_polynomial, shingle_tables
from neardup.sketches.base import name_sequences
from tests.naive import rabin as naive
from tests.naive import text as naive_text

SEED = np.uint64(7)
KINDS = ("words", "chars", "lines")
FIRST = choose_polynomial(64, 1)
SECOND = second_polynomial(FIRST)
THIRD = choose_polynomial(64, 2)

EXAMPLES = [
    "",
    "...",
    "rose",
    "a rose is a rose is a rose",
    "Größe, ÉCOLE é ﬁ½² Straße İı",
    "我们你好 abc 玫瑰\n玫瑰 ไทย 𠀀 𝔘",
    "one two\nthree\r\n\n  four-five\n",
    "internationalisation of characteristically incomprehensible words",
    "\u0301\u0327a α\u0345\u0301 " + "e" + "\u0301" * 40,
    "\ufdfa \ufdfa",
]
texts = st.one_of(
    st.text(st.sampled_from(list("aAbZ09 .-\n\ré ß ſ ﬁ ½ \u0301 \u0327 \u0345 \u00ad 我你がグ한ก 𝔘 𠀀")), max_size=50),
    st.text(max_size=30),
    st.lists(st.sampled_from(["a", "rose", "is", "Rose,", "玫瑰", "\n"]), max_size=40).map(" ".join),
)


def batch_of(data: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    offsets = np.concatenate([[0], np.cumsum([len(d) for d in data])]).astype(np.int64)
    return np.frombuffer(b"".join(data) or b"\0", np.uint8), offsets


def fingerprints_of(data, kind, w, repeats, rabin, room=2000):
    n = len(data)
    made = (np.zeros(n, np.uint8), np.zeros(n, np.int64), np.zeros((n, 2), np.int64), np.zeros(n, np.int64))
    out = np.zeros(room, np.uint64)
    total, form = kernel.fingerprint_documents(
        *batch_of(data), KINDS.index(kind), w, repeats, SEED, unicode_tables(), rabin, *made, out
    )
    status, tokens, spans, ends = made
    identities = np.zeros((n, 2), np.uint64)
    if total >= 0:
        name_sequences(form, spans, identities)
    starts = [0, *ends.tolist()][:n]
    rows = [out[a:b].tolist() for a, b in zip(starts, ends.tolist(), strict=True)]
    return total, rows, status.tolist(), tokens.tolist(), [tuple(map(int, i)) for i in identities]


def expected_of(text: str, kind: str, w: int, repeats: bool, *, rabin: bool) -> tuple[list[int], list[int]]:
    """The tokens' hashes, the fingerprints."""
    if rabin:
        hashes = naive.tokens(text, kind, FIRST)
        found = hashes if w == 1 else naive.shingles(text, kind, w, FIRST, SECOND)
        return hashes, naive.numbered(found) if repeats else found
    hashes = [naive_text.token_hash(t, int(SEED)) for t in naive_text.tokens(text, kind)]
    if w == 1:
        return hashes, naive.numbered(hashes) if repeats else hashes
    return hashes, naive_text.fingerprints(text, kind=kind, w=w, repeats=repeats, seed=int(SEED))


def check(data: list[bytes], kind: str, w: int, repeats: bool, rabin: bool) -> None:
    tables = shingle_tables(FIRST, w) if rabin else None
    total, rows, status, tokens, identities = fingerprints_of(data, kind, w, repeats, tables)
    assert total == sum(len(r) for r in rows)
    for i, d in enumerate(data):
        try:
            text = d.decode()
        except UnicodeDecodeError:
            assert (status[i], tokens[i], rows[i], identities[i]) == (kernel.INVALID, 0, [], (0, 0))
            continue
        hashes, found = expected_of(text, kind, w, repeats, rabin=rabin)
        assert tokens[i] == len(hashes)
        assert (sorted(rows[i]) == sorted(found)) if repeats else (rows[i] == found)
        if not hashes:
            assert (status[i], identities[i]) == (kernel.EMPTY, (0, 0))
            continue
        assert status[i] == (kernel.SHORT if len(hashes) < w else kernel.FINE)
        assert identities[i] == naive_text.identity(naive_text.tokens(text, kind))


@pytest.mark.parametrize("rabin", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("w", [1, 2, 4])
@pytest.mark.parametrize("repeats", [False, True])
def test_a_batch_of_examples(rabin, kind, w, repeats):
    data = [t.encode() for t in EXAMPLES]
    check([*data[:4], b"\xff\xfe", *data[4:], b"caf\xc3", b""], kind, w, repeats, rabin)


@settings(max_examples=60)
@given(
    texts=st.lists(texts, max_size=4),
    kind=st.sampled_from(KINDS),
    w=st.integers(1, 6),
    repeats=st.booleans(),
    rabin=st.booleans(),
)
@example(texts=["日本語abc123ไทย", "Ａ１ é é"], kind="lines", w=2, repeats=False, rabin=True)
def test_fingerprints_are_those_of_the_definition(texts, kind, w, repeats, rabin):
    check([t.encode("utf-8", "ignore") for t in texts], kind, w, repeats, rabin)


@pytest.mark.parametrize("rabin", [False, True])
@pytest.mark.parametrize("w", [1, 3])
def test_too_little_room_is_told(rabin, w):
    data = [b"a b c d e", b"f", b"", b"g h i"]
    tables = shingle_tables(FIRST, w) if rabin else None
    total = fingerprints_of(data, "words", w, False, tables)[0]
    assert total == (9 if w == 1 else 5)
    assert fingerprints_of(data, "words", w, False, tables, room=total)[0] == total
    assert fingerprints_of(data, "words", w, False, tables, room=total - 1)[0] == -1


@pytest.mark.parametrize("rabin", [False, True])
@pytest.mark.parametrize(
    ("text", "n"),
    [("a rose is a rose is a rose", 3), ("My name is Inigo Montoya. You killed my father. Prepare to die", 9)],
)
def test_the_papers_examples(text, n, rabin):
    """Broder, section 2; Radinsky's slides."""
    tables = shingle_tables(FIRST, 4) if rabin else None
    _, (row,), *_ = fingerprints_of([text.encode()], "words", 4, False, tables)
    assert len(set(row)) == n
    out, sizes = np.empty(100, np.uint64), np.zeros(1, np.int64)
    data, offsets = batch_of([text.encode()])
    total = kernel.shingle_sets(
        data, offsets, np.zeros(1, np.int64), 0, 4, False, SEED, unicode_tables(), tables, sizes, out
    )
    assert total == n
    assert out[:n].tolist() == sorted(set(row))


@pytest.mark.parametrize("w", [1, 2, 3])
@pytest.mark.parametrize("repeats", [False, True])
def test_shingle_sets_of_rabin(w, repeats):
    """With w = 1 a shingle is the fingerprint of the token's 8 bytes, as with every w."""
    data = [t.encode() for t in EXAMPLES]
    chosen = np.array([3, 0, 5, 9], np.int64)
    sizes, out = np.zeros(4, np.int64), np.zeros(500, np.uint64)
    total = kernel.shingle_sets(
        *batch_of(data), chosen, 0, w, repeats, SEED, unicode_tables(), shingle_tables(FIRST, w), sizes, out
    )
    expected = []
    for c, size in zip(chosen, sizes, strict=True):
        found = naive.shingles(EXAMPLES[c], "words", w, FIRST, SECOND)
        found = sorted(set(naive.numbered(found) if repeats else found))
        assert size == len(found)
        expected += found
    assert out[:total].tolist() == expected


@pytest.mark.parametrize(("columns", "bits"), [(0, 8), (6, 8), (9, 4)])
@pytest.mark.parametrize("repeats", [False, True])
@pytest.mark.parametrize("rabin", [False, True])
@pytest.mark.parametrize("rabin_features", [False, True])
def test_sketches(columns, bits, repeats, rabin, rabin_features):
    k, s, w = 3, 2, 3
    source = np.random.default_rng(3)
    size = max(columns, k * s)
    multiply = source.integers(0, 2**32, size, dtype=np.uint32) | np.uint32(1)
    add = source.integers(0, 2**32, size, dtype=np.uint32)
    n = len(EXAMPLES)
    status, tokens = np.zeros(n, np.uint8), np.zeros(n, np.int64)
    spans, keys, samples = (
        np.zeros((n, 2), np.int64),
        np.zeros((n, k), np.uint64),
        np.zeros((n, columns), np.uint8),
    )
    form = kernel.sketch_documents(
        *batch_of([t.encode() for t in EXAMPLES]), 0, w, repeats, SEED, unicode_tables(),
        shingle_tables(FIRST, w) if rabin else None, push_table(THIRD) if rabin_features else None,
        multiply, add, False, k, s, bits, 0, np.empty(0, np.uint64), 0, status, tokens, spans, keys, samples,
    )  # fmt: skip
    identities = np.zeros((n, 2), np.uint64)
    name_sequences(form, spans, identities)
    for i, text in enumerate(EXAMPLES):
        hashes, found = expected_of(text, "words", w, repeats, rabin=rabin)
        assert tokens[i] == len(hashes)
        if not hashes:
            assert status[i] == kernel.EMPTY
            continue
        if rabin:
            found = [naive_text.mix(f) for f in found]
        assert tuple(map(int, identities[i])) == naive_text.identity(naive_text.tokens(text))
        smallest = naive_text.minima(found, multiply.tolist(), add.tolist())
        if rabin_features:
            assert keys[i].tolist() == naive.features(smallest, k, s, THIRD)
        else:
            assert keys[i].tolist() == naive_text.features(smallest, k, s, int(SEED))
        assert samples[i].tolist() == naive_text.samples(smallest, bits)[:columns]


def test_groups_of_equal_minima_have_different_features():
    """The group's number is in front (Broder, section 3)."""
    keys = np.zeros(5, np.uint64)
    kernel.features_rabin(np.full(15, 0xFFFFFFFF, np.uint32), 5, 3, push_table(THIRD), keys)
    assert len(set(keys.tolist())) == 5
    assert keys.tolist() == naive.features([0xFFFFFFFF] * 15, 5, 3, THIRD)


def test_one_polynomial_for_words_and_shingles_would_collide_whatever_it_is():
    """A token is congruent to its word, so a long word flows into the token before it: the reason for the second."""
    pair = [b"x b12345678", b"y c12345678"]
    for seed in range(5):
        p = choose_polynomial(64, seed)
        same = [naive.shingles(d.decode(), "words", 2, p, p) for d in pair]
        assert same[0] == same[1]
        _, (one, other), *_ = fingerprints_of(pair, "words", 2, False, shingle_tables(p, 2))
        assert one != other


def test_lines_keep_the_borders_of_words_and_of_lines():
    pages = [b"a b\nc", b"a\nb c", b"ab\nc", b"a b c", b"b a\nc"]
    _, rows, *_ = fingerprints_of(pages, "lines", 2, False, shingle_tables(FIRST, 2))
    assert len({tuple(r) for r in rows}) == 5
