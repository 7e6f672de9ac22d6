"""What the papers say of their systems, on sketches made by the recipes: facts, and curves within binomial error."""

import random
from math import log

import numpy as np
import pyarrow as pa
import pytest

import neardup
from neardup.analysis import filters
from neardup.analysis.estimators import _odd_variance, odd_error
from neardup.kernels import groups as kernel
from neardup.recipes import load_recipe
from neardup.text.batches import text_batch
from neardup.verify.signatures import Signatures

EQUAL_SETS = {0.99: (198, 1), 0.975: (156, 2), 0.95: (190, 5), 0.9: (180, 10), 0.85: (170, 15), 0.77: (154, 23)}
"""Resemblance → words that both documents have, and words that each has alone."""


def scores(texts: list[str], name: str, **changes) -> dict[tuple[str, str], float]:
    recipe = load_recipe(name).changed(**changes)
    rows = [{"id": f"{i}", "text": t} for i, t in enumerate(texts)]
    found = neardup.pairs(pa.Table.from_pylist(rows), recipe=recipe).table()
    firsts, seconds = (found.column(i).to_pylist() for i in (0, 1))
    return dict(zip(zip(firsts, seconds, strict=True), found["score"].to_pylist(), strict=True))


def word_sets(resemblance: float, pairs: int, seed: int) -> list[str]:
    """Document 2i and 2i + 1 have this resemblance for shingles of one word; no others share a word."""
    both, alone = EQUAL_SETS[resemblance]
    assert both / (both + 2 * alone) == pytest.approx(resemblance)
    rng = random.Random(seed)
    texts = []
    for _ in range(pairs):
        words = [f"w{rng.getrandbits(60):x}" for _ in range(both + 2 * alone)]
        for own in (words[both : both + alone], words[both + alone :]):
            texts.append(" ".join(rng.sample(words[:both] + own, both + alone)))
    return texts


# --- Henzinger, section 2: what B and C see ---


def test_the_order_of_words_matters_to_b_and_not_to_c():
    rng = random.Random(1)
    words = [f"w{i}" for i in range(300)]
    blocks = [words[i : i + 5] for i in range(0, 300, 5)]
    texts = [" ".join(words), " ".join(w for b in rng.sample(blocks, 60) for w in b)]
    assert scores(texts, "alg-c") == {("0", "1"): 384}
    assert scores(texts, "alg-b") == {}
    assert neardup.resemblance(*texts, load_recipe("alg-b")).resemblance == 0


def test_frequency_matters_to_c_and_not_to_b():
    """Two choruses, sung more or less often: the same shingles, in other numbers."""
    first, second = ([f"{voice}{i}" for i in range(20)] for voice in "ab")
    texts = [" ".join(first * n + second * m) for n, m in ((30, 2), (2, 30))]
    assert scores(texts, "alg-b") == {("0", "1"): 6}
    assert scores(texts, "alg-c") == {}
    assert scores(texts, "alg-c", sketch_weight="once") == {("0", "1"): 384}
    assert neardup.resemblance(*texts, load_recipe("alg-b")).resemblance == 1


@pytest.mark.parametrize("k", [8])
@pytest.mark.parametrize(("x", "y"), [(1, 0), (2, 0), (5, 0), (2, 1), (2, 7), (3, 4), (4, 21), (10, 30), (7, 42)])
def test_differing_tokens_make_x_plus_y_plus_k_minus_1_different_shingles(k, x, y):
    """Henzinger, section 3.1 in words: x differing tokens with y common ones in between, in runs shorter than k."""
    gaps = [y // (x - 1) + (i < y % (x - 1)) for i in range(x - 1)] if x > 1 else []
    assert all(gap < k for gap in gaps)
    places = [100 + sum(gaps[:i]) + i for i in range(x)]
    tokens = [f"t{i}" for i in range(300)]
    others = [f"u{i}" if i in places else t for i, t in enumerate(tokens)]
    a, b = shingle_sets([" ".join(tokens), " ".join(others)], k)
    assert len(a - b) == len(b - a) == x + y + k - 1


def test_a_run_of_k_common_tokens_is_a_shingle_in_common():
    """So the condition is needed: with a run of 8 there is one different shingle less."""
    tokens = [f"t{i}" for i in range(300)]
    others = ["u" if i in (100, 109) else t for i, t in enumerate(tokens)]
    a, b = shingle_sets([" ".join(tokens), " ".join(others)], 8)
    assert len(a - b) == 2 + 8 + 8 - 1 - 1


def shingle_sets(texts: list[str], k: int) -> list[set[int]]:
    sketcher = load_recipe("alg-b").changed(shingles_width=k).sketcher
    values, sizes = sketcher.shingle_sets(text_batch(pa.array(texts, pa.large_string())), np.arange(len(texts)))
    return [set(part.tolist()) for part in np.split(values, np.cumsum(sizes)[:-1])]


def test_a_mirror_with_its_own_images_is_the_same_page():
    """Section 2: of an image on the page's own host the file name alone is a term, else the whole URL."""
    text = " ".join(f"w{i}" for i in range(30))

    def page(images: str) -> str:
        return f"<html><body><h1>News</h1><img src='{images}/a/logo.gif'><p>{text}</p></body></html>"

    rows = [
        {"id": "original", "url": "http://www.one.com/news", "html": page("http://www.one.com")},
        {"id": "mirror", "url": "http://mirror.two.org/one/news", "html": page("http://mirror.two.org/one")},
        {"id": "relative", "url": "http://three.net/", "html": page("pictures")},
        {"id": "borrowed", "url": "http://four.net/", "html": page("http://www.one.com")},
    ]
    result = neardup.dedup(pa.Table.from_pylist(rows), recipe="alg-b")
    removed = {r["id"]: (r["kept_id"], r["relation"]) for r in result.removed.to_pylist()}
    assert removed.pop("borrowed", ("original", "near")) == ("original", "near")
    assert removed == {"mirror": ("original", "identical"), "relative": ("original", "identical")}


# --- Broder, sections 2 to 4: the filter and the estimate, within 4 standard deviations ---


@pytest.mark.parametrize("resemblance", EQUAL_SETS)
def test_the_filter_of_altavista_on_real_sketches(resemblance):
    """P[6,14,2], and the whole distribution that it is a tail of."""
    trials = 600
    recipe = load_recipe("altavista").changed(shingles_width=1)
    features = neardup.sketch(word_sets(resemblance, trials, seed=2), recipe).words
    shared = (features[0::2] == features[1::2]).sum(axis=1)
    for r in range(1, 7):
        p = filters.probability(resemblance, 6, 14, r)
        assert abs((shared >= r).mean() - p) <= 4 * (p * (1 - p) / trials) ** 0.5 + 1e-9, r


@pytest.mark.parametrize("resemblance", EQUAL_SETS)
def test_the_estimate_from_100_permutations(resemblance):
    """Unbiased, and binomial: the variance of one estimate is ρ(1 - ρ)/100."""
    trials = 300
    found = scores(word_sets(resemblance, trials, seed=3), "resemblance", shingles_width=1, verify_threshold=0.05)
    assert set(found) == {(f"{2 * i}", f"{2 * i + 1}") for i in range(trials)}
    estimates = np.array(list(found.values()))
    variance = resemblance * (1 - resemblance) / 100
    assert abs(estimates.mean() - resemblance) <= 4 * (variance / trials) ** 0.5
    # The fourth moment of a binomial share gives the error of its variance, skewness and all.
    fourth = 3 * variance**2 + variance * (1 - 6 * resemblance * (1 - resemblance)) / 100**2
    assert abs(estimates.var(ddof=1) - variance) <= 4 * ((fourth - variance**2) / trials) ** 0.5


SAMPLED = {"sketch_k": 6, "sketch_s": 4, "sketch_sampled": 96, "sketch_bits": 4, "verify_method": "sketch"}
"""Features and samples of 4 bits, as recipe `stream` had them in version 0.1."""


@pytest.mark.parametrize("resemblance", EQUAL_SETS)
def test_the_estimate_from_4_bits_of_96_minima(resemblance):
    """Li and König: unbiased once chance is taken off, and binomial: c + (1 - c)ρ of the samples agree, c = 1/16."""
    trials, n, chance = 600, 96, 1 / 16
    recipe = load_recipe("default").changed(shingles_width=1, **SAMPLED)
    made = neardup.sketch(word_sets(resemblance, trials, seed=5), recipe)
    pairs = np.arange(2 * trials).reshape(-1, 2)
    estimates = Signatures.of_sketches(recipe.sketcher, [made]).scores(pairs)
    agree = chance + (1 - chance) * resemblance
    variance = agree * (1 - agree) / n / (1 - chance) ** 2
    assert recipe.sketcher.error(resemblance) == pytest.approx(variance**0.5)
    assert abs(estimates.mean() - resemblance) <= 4 * (variance / trials) ** 0.5
    fourth = 3 * variance**2 + variance * (1 - 6 * agree * (1 - agree)) / (n * (1 - chance)) ** 2
    assert abs(estimates.var(ddof=1) - variance) <= 4 * ((fourth - variance**2) / trials) ** 0.5


@pytest.mark.parametrize("shingles", [20, 60, 270, 1000, 5000])
@pytest.mark.parametrize("resemblance", [0.75, 0.85])
def test_the_estimate_from_an_odd_sketch(resemblance, shingles):
    """Unbiased within a tenth of its error. The stated error is not below the real one and at most a quarter above it,
    and a deviation that one estimate in a thousand should have is not much more frequent."""
    trials = 3000 if shingles < 1000 else 300
    both = round(2 * shingles * resemblance / (1 + resemblance))
    rng, texts = random.Random(shingles), []
    for _ in range(trials):
        words = [f"{rng.getrandbits(60):x}" for _ in range(2 * shingles - both)]
        texts += [" ".join(words[:shingles]), " ".join(words[:both] + words[shingles:])]
    recipe = load_recipe("stream").changed(shingles_width=1)
    made = neardup.sketch(texts, recipe)
    pairs = np.arange(2 * trials).reshape(-1, 2)
    estimates = Signatures.of_sketches(recipe.sketcher, [made]).scores(pairs)
    true = both / (2 * shingles - both)
    bits, bins = 64 * recipe.sketch.odd - 16, recipe.sketch.bins
    stated, real = odd_error(true, bits, bins, shingles), estimates.std(ddof=1)
    sampling = 4 * real / (2 * trials) ** 0.5
    assert abs(estimates.mean() - true) <= 0.1 * real + 4 * real / trials**0.5
    assert real - sampling <= stated <= 1.25 * real + sampling
    assert stated <= 1.1 * odd_error(true, bits, bins), "that of long documents is told of all"
    assert (estimates > true + 3.09 * stated).mean() <= 0.001 + 4 * (0.001 / trials) ** 0.5


@pytest.mark.parametrize(("filled", "other"), [(40, 44), (300, 280), (760, 768), (768, 768)])
def test_kernel_and_analysis_state_the_same_error_of_an_odd_sketch(filled, other):
    shares = [max(1e-12, 1 - n / 768) for n in (filled, other)]
    empty = max(log(1e-9), log(shares[0] * shares[1]))
    for resemblance in (0.5, 0.75, 0.9):
        expected = _odd_variance(resemblance, 752, 768, empty, filled + other) ** 0.5
        assert kernel.odd_error(resemblance, filled, other, 752.0, 768.0) == pytest.approx(expected)


@pytest.mark.parametrize("bits", [8, 4])
@pytest.mark.parametrize(("words", "other"), [(1, 1), (1, 30), (30, 30), (1000, 1000), (30, 20_000), (20_000, 20_000)])
def test_unlike_documents_agree_in_one_sample_of_two_to_the_bits(bits, words, other):
    """Minima of long documents are small numbers: their mixed bits must be as even as those of short ones."""
    trials = 200 if words + other < 10_000 else 12
    rng = random.Random(words + other)
    texts = [
        " ".join(f"{rng.getrandbits(60):x}" for _ in range(size)) for _ in range(trials) for size in (words, other)
    ]
    recipe = load_recipe("default").changed(shingles_width=1, **SAMPLED | {"sketch_sampled": 400, "sketch_bits": bits})
    samples = neardup.sketch(texts, recipe).samples
    assert samples.max() < 2**bits
    agreed = (samples[0::2] == samples[1::2]).mean()
    chance = 2.0**-bits
    assert abs(agreed - chance) <= 4 * (chance * (1 - chance) / (400 * trials)) ** 0.5


@pytest.mark.parametrize("resemblance", EQUAL_SETS)
def test_the_filter_of_stream_on_real_sketches(resemblance):
    """P[6,4,1], with the permutations of rare keys behind those of the features."""
    trials = 600
    recipe = load_recipe("stream").changed(shingles_width=1)
    features = neardup.sketch(word_sets(resemblance, trials, seed=6), recipe).words[:, :6]
    found = (features[0::2] == features[1::2]).any(axis=1).mean()
    p = filters.probability(resemblance, 6, 4)
    assert abs(found - p) <= 4 * (p * (1 - p) / trials) ** 0.5 + 1e-9


@pytest.mark.parametrize(("name", "changes", "size"), [("bottom-m", {}, 100), ("mod-n", {"sketch_n": 4}, 0)])
@pytest.mark.parametrize("resemblance", [0.95, 0.9, 0.77])
def test_the_estimates_from_one_permutation(name, changes, size, resemblance):
    """Without replacement: the variance is that of m of the u values of the union (Radinsky's theorem)."""
    trials = 300
    both, alone = EQUAL_SETS[resemblance]
    union = both + 2 * alone
    texts = word_sets(resemblance, trials, seed=4)
    found = scores(texts, name, shingles_width=1, verify_threshold=0.05, **changes)
    assert set(found) == {(f"{2 * i}", f"{2 * i + 1}") for i in range(trials)}
    m = size or union / 4
    # A sample of mod n has a size by chance; twice the variance of its mean size is generous for that.
    variance = resemblance * (1 - resemblance) / m * (union - m) / (union - 1) * (1 if size else 2)
    assert abs(np.mean(list(found.values())) - resemblance) <= 4 * (variance / trials) ** 0.5
