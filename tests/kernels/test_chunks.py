import os
import random
import time

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from neardup import rabin
from neardup.kernels import bloom, unicode_tables
from neardup.kernels import chunks as kernel
from tests.naive import chunks as naive

SEED = np.uint64(7)
POLYNOMIAL = 0x181F9C1F66C0F3459  # irreducible, of degree 64
COMPILED = not os.environ.get("NUMBA_DISABLE_JIT")

alphabet = st.sampled_from(
    list("aAbiIvVxX019 .:-'\"*()[]\n\r\t\0_,;é ß İ Σ ς 我ア½²①⑴⒈–—‘’“”„«»‹›•·・●▪：（）")
    + list("\u0301\u0327\u0345\u00ad\u200b\u00a0\u3000\u1680\u0085\u2028\u2011")
)
heads = ["a.1", "1.", "(b)", "ii)", "*", "•", "[3]", "2.3.1.", "1.)", "xiv.", "我.", "e.g.", "3.14", "2004", "1:", "-"]
texts = st.one_of(
    st.text(alphabet, max_size=60),
    st.text(max_size=40),
    st.lists(st.sampled_from([*heads, "word", "Word's", " ", "\n", "\r\n", "\u2029"]), max_size=30).map(" ".join),
    st.lists(st.sampled_from([*heads, "\n", "a", ".", ")", " "]), max_size=30).map("".join),
)


def rabin_tables(window: int = 48) -> tuple[np.ndarray, np.ndarray]:
    """A byte that leaves the 64 bits, and one that leaves the window behind the newest byte."""
    push = [naive.remainder(POLYNOMIAL, bytes([b]) + bytes(8)) for b in range(256)]
    pop = [naive.remainder(POLYNOMIAL, bytes([b]) + bytes(window)) for b in range(256)]
    return np.array(push, np.uint64), np.array(pop, np.uint64)


PUSH, POP = rabin_tables()


def batch(documents: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    offsets = np.concatenate([[0], np.cumsum([len(d) for d in documents])]).astype(np.int64)
    return np.frombuffer(b"".join(documents) or b"\0", np.uint8), offsets


def canonical(data: bytes, room: int | None = None) -> bytes | int:
    buffer = np.frombuffer(b"?" + data + b"?", np.uint8)
    out = np.empty(12 * len(data) + 200 if room is None else room, np.uint8)
    n = kernel.canonical(buffer, 1, 1 + len(data), unicode_tables(), out)
    return n if n < 0 else out[:n].tobytes()


def cut(data: bytes, *, window: int = 48, bits: int = 8, marker: int = 0x78, longest: int = 65536) -> list[int]:
    push, pop = (PUSH, POP) if window == 48 else rabin_tables(window)
    out = np.empty(len(data) + 1, np.uint64)
    buffer = np.frombuffer(b"??" + data, np.uint8)
    n = kernel.cut(buffer, 2, len(buffer), push, pop, window, bits, np.uint64(marker), longest, out)
    return [int(x) for x in out[:n]]


def chunk_documents(documents: list[bytes], *, bits: int = 8, longest: int = 65536, room: int | None = None):
    data, offsets = batch(documents)
    n = len(documents)
    status, sizes, ends = np.zeros(n, np.uint8), np.zeros(n, np.int64), np.zeros(n, np.int64)
    identities = np.ones((n, 2), np.uint64)
    out = np.empty(12 * len(data) + n if room is None else room, np.uint64)
    total = kernel.chunk_documents(
        data, offsets, unicode_tables(), PUSH, POP, 48, bits, np.uint64(0x78), longest, SEED,
        status, sizes, identities, ends, out,
    )  # fmt: skip
    return total, status, sizes, identities, ends, out


def make_filters(sets: list[list[int]], bits: list[int], k: int) -> tuple[np.ndarray, np.ndarray]:
    hashes = np.array([h for s in sets for h in s], np.uint64)
    ends = np.cumsum([len(s) for s in sets]).astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum([b // 64 for b in bits])]).astype(np.int64)
    out = np.full(offsets[-1], 2**64 - 1, np.uint64)
    bloom.fill(hashes, ends, np.array(bits, np.int64), k, out, offsets)
    return out, offsets


def places(words: np.ndarray) -> set[int]:
    return {64 * i + b for i, word in enumerate(words) for b in range(64) if int(word) >> b & 1}


def prose(rng: random.Random, size: int) -> bytes:
    words = ["".join(rng.choices("etaoinshrdlu", k=rng.randint(1, 9))) for _ in range(500)]
    return " ".join(rng.choices(words, k=size // 4 + 8)).encode()[:size].strip()


# --- the canonical form ---


@given(texts)
@example("Ａ：Ｂ—Ｃ")
@example("• Item\n•Item\n **  1. (a) both\n")
@example("a\u0301\u0327: \u0327\u0301 x\u0327\u0301-")
@example("\ufdfa\n\ufdfa")
@example("\u0301•\u0301 1. a")
@example("1.")
@example("a" + "\u0301\u0327" * 16)
def test_the_canonical_form_is_that_of_the_definition(text):
    data = text.encode("utf-8", "ignore")
    assert canonical(data) == naive.canonical(data.decode()).encode()


@given(st.binary(max_size=40))
@example(b"\xc0\x80")
@example(b"word \xed\xa0\x80")
@example(b"\xf4\x90\x80\x80")
@example(b"abc\xe2\x82")
@example(b"\xe0\x80\x80")
def test_bytes_are_refused_exactly_where_python_refuses_them(data):
    try:
        data.decode()
        valid = True
    except UnicodeDecodeError:
        valid = False
    assert (canonical(data) != -1) == valid


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  The  Quick\tBROWN\n\n fox ", "the quick brown fox"),
        ("Note: this - that, 'single' and \"double\"", "note this that, single and double"),
        ("it’s well–known — “so”", "it s well known so"),
        ("a.1 First\n1. Second\n(b) Third\nii) Fourth\n* Fifth", "first second third fourth fifth"),
        ("[12] Reference\n2.3.1. Section\n1.) German\nXIV. Chapter", "reference section german chapter"),
        ("• 1. Both", "both"),
        ("2004 was a year", "2004 was a year"),
        ("2004. It ended.", "2004. it ended."),
        ("3.14 is pi\n2.3 Section\n10.0.0.1 Host", "3.14 is pi 2.3 section 10.0.0.1 host"),
        ("i.e. this\ne.g. that\na.m. or p.m.", "i.e. this e.g. that a.m. or p.m."),
        ("mix. it\n(see) it\nlid) it", "mix. it (see) it lid) it"),
        ("one : two::three : : four", "one twothree four"),
        ("iiii. it\nviii. it\nxxxx. it\nvv. it\nix) it", "iiii. it it xxxx. it vv. it it"),
        ("A rose\nI am\n1 thing", "a rose i am 1 thing"),
        ("not at the head 1. of a line (b) here *", "not at the head 1. of a line (b) here *"),
        ("ÉCOLE Straße ΣΊΣΥΦΟΣ", "e\u0301cole strasse σι\u0301συφοσ"),
        ("МОСКВА：東京\u3000１２", "москва東京 12"),
        ("1.\n(a)\n*", ""),
        ("", ""),
    ],
)
def test_the_canonical_form_by_example(text, expected):
    assert canonical(text.encode()) == expected.encode()
    assert naive.canonical(text) == expected


@given(texts)
def test_a_room_that_is_too_small_is_said_and_never_overrun(text):
    data = text.encode("utf-8", "ignore")
    full = canonical(data)
    for room in range(0, len(full) + 3, 5):
        found = canonical(data, room)
        assert found == -2 or found == full


@given(st.text(st.sampled_from("aA1 .:-'*()\n"), max_size=40))
def test_the_canonical_form_of_a_canonical_form_is_itself(text):
    once = canonical(text.encode())
    assert canonical(once) == once


# --- chunks ---


@pytest.mark.parametrize("window", [1, 48, 64])
def test_the_tables_of_the_package_are_those_of_the_definition(window):
    push, pop = rabin_tables(window)
    assert rabin.push_table(POLYNOMIAL).tolist() == push.tolist()
    assert rabin.pop_table(POLYNOMIAL, window).tolist() == pop.tolist()


@settings(max_examples=40)
@given(
    data=st.binary(max_size=300) | st.text("ab", max_size=300).map(str.encode),
    window=st.sampled_from([1, 2, 8, 48, 64]),
    bits=st.integers(1, 9),
    marker=st.integers(0, 255),
    longest=st.sampled_from([1, 3, 20, 48, 64, 65536]),
)
@example(data=bytes(100), window=48, bits=3, marker=0, longest=65536)
@example(data=bytes(100), window=48, bits=3, marker=0, longest=48)
@example(data=b"a" * 48, window=48, bits=1, marker=1, longest=65536)
@example(data=b"a" * 47, window=48, bits=1, marker=1, longest=65536)
def test_chunks_end_where_the_definition_says(data, window, bits, marker, longest):
    found = cut(data, window=window, bits=bits, marker=marker, longest=longest)
    assert found == naive.cuts(data, POLYNOMIAL, window=window, bits=bits, marker=marker, longest=longest)


def test_chunks_end_where_the_definition_says_in_a_longer_text():
    data = prose(random.Random(5), 6000)
    found = cut(data)
    assert found == naive.cuts(data, POLYNOMIAL, window=48, bits=8, marker=0x78, longest=65536)
    assert len(found) > 10


@pytest.mark.parametrize("at", [0, 3000, 5999])
def test_an_insertion_changes_only_the_chunks_near_it(at):
    data = prose(random.Random(6), 6000)
    inserted = b"some words that were not here before"
    before = set(cut(data))
    after = set(cut(data[:at] + inserted + data[at:]))
    far = {e for e in before if e <= at}
    # a window that begins behind the insertion sees the old bytes
    far_behind = {e + len(inserted) for e in before if e >= at + 48}
    assert {e for e in after if e <= at} == far - {len(data)}
    assert {e for e in after if e >= at + len(inserted) + 48} == far_behind


def test_a_chunk_is_never_longer_than_the_longest():
    data = b"a" * (200_000 if COMPILED else 4_000)
    longest = 65536 if COMPILED else 1024
    low = naive.remainder(POLYNOMIAL, data[:48]) & 255
    found = cut(data, marker=low ^ 1, longest=longest)  # a marker that constant text does not have
    assert found == [*range(longest, len(data), longest), len(data)]
    assert cut(data, marker=low, longest=longest) == list(range(48, len(data) + 1))


@pytest.mark.parametrize("n", [0, 1, 47, 49, 2048, 2049, 3000])
@pytest.mark.parametrize("values", [1, 3, 1000, 2**63])
def test_sorting(n, values):
    array = np.random.default_rng(n).integers(0, values, n, dtype=np.uint64) << np.uint64(1)
    expected = sorted(array.tolist())
    kernel._sort(array, n)
    assert array.tolist() == expected


@given(st.lists(st.binary(max_size=60), max_size=6), st.integers(0, 8))
@example([b"12345678", b"12345678\0"], 0)
def test_chunk_hashes_and_identities(parts, start):
    data = b"".join(parts)[start:]
    buffer = np.frombuffer(b"x" * start + data + b"y", np.uint8)
    stop = start + len(data)
    assert int(kernel.chunk_hash(buffer, start, stop, SEED)) == naive.chunk_hash(data, int(SEED)) < 2**63
    assert tuple(map(int, kernel.identity(buffer, start, stop, SEED))) == naive.identity(data, int(SEED))


@settings(max_examples=40)
@given(
    st.lists(texts.map(lambda t: t.encode("utf-8", "ignore")) | st.sampled_from([b"\xff", b"", b" \n ", b"ab " * 60])),
    st.integers(1, 8),
    st.sampled_from([5, 65536]),
)
def test_documents(documents, bits, longest):
    total, status, sizes, identities, ends, out = chunk_documents(documents, bits=bits, longest=longest)
    begin = 0
    for i, d in enumerate(documents):
        try:
            form = naive.canonical(d.decode()).encode()
            expected = kernel.FINE if form else kernel.EMPTY
        except UnicodeDecodeError:
            form, expected = b"", kernel.INVALID
        assert status[i] == expected
        assert sizes[i] == len(form)
        assert tuple(map(int, identities[i])) == (naive.identity(form, int(SEED)) if form else (0, 0))
        where = naive.cuts(form, POLYNOMIAL, window=48, bits=bits, marker=0x78, longest=longest)
        assert [int(h) for h in out[begin : ends[i]]] == naive.elements(form, where, int(SEED))
        begin = ends[i]
    assert total == begin


def test_documents_without_room_are_said():
    documents = [prose(random.Random(1), 3000)]
    total, *_ = chunk_documents(documents)
    assert total > 4
    assert chunk_documents(documents, room=total)[0] == total
    assert chunk_documents(documents, room=total - 1)[0] == -1


def test_code_points_that_unfold_to_sentences_do_not_overrun_the_buffers():
    """U+FDFA takes three bytes and unfolds to 33."""
    _, status, sizes, *_ = chunk_documents([("\ufdfa" * 50).encode(), b"next"])
    assert status.tolist() == [kernel.FINE, kernel.FINE]
    assert sizes.tolist() == [len(naive.canonical("\ufdfa" * 50).encode()), 4]
    assert sizes[0] > 1000


def test_copies_of_a_chunk_are_elements_of_their_own():
    """Footnote 4: r copies give r elements, and the first r of them are shared with a document that has more."""
    out = {}
    for r in (1, 3, 70, 2500):
        found = np.full(r, 12345, np.uint64)
        kernel.number_copies(found, r)
        out[r] = set(map(int, found))
        assert len(out[r]) == r
        assert found.tolist() == sorted(found.tolist())
        assert max(out[r]) < 2**63
    assert out[1] == {12345}
    assert out[1] < out[3] < out[70] < out[2500]


links = st.binary(max_size=30) | st.sampled_from([b"http://a/\nhttp://b/", b"x\r\n x\t\n\nX\n", b""])


@given(st.lists(links, max_size=4))
def test_links(documents):
    data, offsets = batch(documents)
    ends, out = np.zeros(len(documents), np.int64), np.zeros(len(data) + 1, np.uint64)
    total = kernel.hash_lines(data, offsets, SEED, ends, out)
    begin = 0
    for i, d in enumerate(documents):
        assert [int(h) for h in out[begin : ends[i]]] == naive.line_hashes(d, int(SEED))
        begin = ends[i]
    assert total == begin
    if total:
        lines = sum(bool(line.strip()) for d in documents for line in d.replace(b"\r", b"\n").split(b"\n"))
        few = np.zeros(0, np.uint64)
        assert kernel.hash_lines(data, offsets, SEED, ends, few) == -1
        assert total <= lines


# --- Bloom filters ---

hashes = st.lists(st.integers(0, 2**64 - 1), max_size=30)
sizes_of_filters = st.sampled_from([64, 128, 512, 2048])


@given(st.lists(st.tuples(hashes, sizes_of_filters), max_size=4), st.integers(1, 9))
def test_a_filter_is_the_set_of_its_elements_positions(documents, k):
    out, offsets = make_filters([s for s, _ in documents], [m for _, m in documents], k)
    for i, (found, m) in enumerate(documents):
        assert places(out[offsets[i] : offsets[i + 1]]) == naive.bloom(found, m, k)


@given(st.integers(0, 2**64 - 1), st.integers(1, 12), sizes_of_filters)
def test_the_positions_of_an_element_are_distinct(element, k, m):
    out, _ = make_filters([[element]], [m], k)
    assert len(places(out)) == k


@given(hashes, st.integers(1, 8), st.sampled_from([64, 128, 256, 1024]))
def test_a_filter_folds_to_the_filter_of_half_the_size(found, k, m):
    large, _ = make_filters([found], [2 * m], k)
    small, _ = make_filters([found], [m], k)
    folded = np.zeros(m // 64, np.uint64)
    bloom.fold(large, folded)
    assert folded.tolist() == small.tolist()
    bloom.fold(small, folded)
    assert folded.tolist() == small.tolist()


@given(hashes, hashes, hashes, sizes_of_filters, sizes_of_filters)
def test_what_two_filters_share(common, a, b, m_a, m_b):
    out, offsets = make_filters([common + a, common + b], [m_a, m_b], 4)
    first, second = out[: offsets[1]], out[offsets[1] :]
    expected = naive.shared(places(first), places(second), m_a, m_b)
    assert bloom.shared_bits(first, second) == expected
    assert bloom.match(first, second) == (expected[2] / expected[0] if expected[0] else 0.0)
    table = np.zeros((3, 3), np.int64)
    bloom.matching(out, offsets, np.array([[0, 1], [1, 0], [0, 0]]), table)
    assert tuple(table[0]) == expected
    assert tuple(table[1]) == (expected[1], expected[0], expected[2])
    assert table[2, 0] == table[2, 1] == table[2, 2] == len(places(first))


@given(hashes, hashes, sizes_of_filters, sizes_of_filters)
def test_a_part_is_contained_whatever_the_sizes(part, more, m_a, m_b):
    out, offsets = make_filters([part, part + more], [m_a, m_b], 4)
    in_a, _, both = bloom.shared_bits(out[: offsets[1]], out[offsets[1] :])
    assert both == in_a


@given(
    st.lists(
        st.tuples(st.lists(st.integers(0, 9), max_size=8), st.sampled_from([128, 128, 256])), min_size=1, max_size=12
    ),
    st.sampled_from([0.3, 0.5, 0.7, 0.9, 1.0]),
)
def test_groups(documents, threshold):
    out, offsets = make_filters([s for s, _ in documents], [m for _, m in documents], 3)
    parent = np.zeros(len(documents), np.int64)
    bloom.group(out, offsets, threshold, parent)
    sets = [(places(out[offsets[i] : offsets[i + 1]]), m) for i, (_, m) in enumerate(documents)]
    assert parent.tolist() == naive.group(sets, threshold)


def test_a_contained_document_is_not_similar_and_a_chain_is_one_group():
    rng = random.Random(3)
    pool = [rng.getrandbits(63) for _ in range(200)]
    sets = [pool[:100], pool[:30], pool[15:115], pool[30:130], []]
    out, offsets = make_filters(sets, [4096] * 5, 4)
    parent = np.zeros(5, np.int64)
    bloom.group(out, offsets, 0.8, parent)
    assert parent.tolist() == [0, 1, 0, 0, 4]
    assert bloom.match(out[64:128], out[:64]) == 1.0


@pytest.mark.parametrize(
    ("chunks", "bits_per_chunk", "least", "bits"),
    [
        (256, 8, 2048, 2048),
        (257, 8, 2048, 4096),
        (32, 8, 64, 256),
        (1, 8, 64, 64),
        (0, 8, 2048, 2048),
        (10**9, 8, 64, 2**20),
    ],
)
def test_the_size_of_a_filter(chunks, bits_per_chunk, least, bits):
    assert bloom.filter_bits(chunks, bits_per_chunk, least) == bits
    assert bloom.filter_bits(256) == 2048


# --- cost ---


def seconds(document: bytes, marker: int) -> float:
    data, offsets = batch([document])
    out = np.empty(len(data) + 1, np.uint64)
    arrays = (np.zeros(1, np.uint8), np.zeros(1, np.int64), np.zeros((1, 2), np.uint64), np.zeros(1, np.int64))
    best = float("inf")
    for _ in range(2):
        began = time.thread_time()
        total = kernel.chunk_documents(
            data, offsets, unicode_tables(), PUSH, POP, 48, 8, np.uint64(marker), 65536, SEED, *arrays, out
        )
        best = min(best, time.thread_time() - began)
    assert total > 0
    return best


@pytest.mark.parametrize(
    ("what", "unit"),
    [
        ("prose", 3_200_000),
        ("one byte", 3_200_000),
        ("every byte a chunk", 100_000),
        ("breaks", 500_000),
        ("marks", 500_000),
        ("not closed", 500_000),
    ],
)
def test_cost_is_linear(what, unit):
    """Sixteen times the bytes, up to 51 MB, cost some sixteen times as much; quadratic would be 256 times."""
    pattern = {
        "prose": prose(random.Random(2), 50_000),
        "breaks": b"1.\n ",
        "marks": "\u0301\u0327".encode(),
        "not closed": b"2.1.",
    }.get(what, b"aaaa")
    unit = unit if COMPILED else 400
    low = naive.remainder(POLYNOMIAL, b"a" * 48) & 255
    marker = low if what == "every byte a chunk" else low ^ 1
    documents = [b"x " * (what == "breaks") + (pattern * (n // len(pattern) + 1))[:n] for n in (unit, 16 * unit)]
    small, large = (seconds(d, marker) for d in documents)
    assert large < 64 * small + (0.05 if COMPILED else 5)  # plain Python is here for its answers
