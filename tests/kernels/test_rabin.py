"""Rabin's fingerprints: tables and rolling against division, the choice of polynomials, the theorem."""

import doctest
import random
from functools import reduce
from operator import xor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup.errors import RecipeError
from neardup.rabin import (
    Rabin,
    check_polynomial,
    choose_polynomial,
    is_irreducible,
    pop_table,
    push_table,
    second_polynomial,
    shingle_tables,
)
from tests.naive import rabin as naive

DEGREES = (1, 2, 3, 5, 7, 8, 9, 15, 31, 48, 63, 64)
STRINGS = [b"", b"\0", b"\0\0", b"a", b"\xff" * 9, b"My name is Inigo Montoya", bytes(range(256))]


def sum_without_carry(terms) -> int:
    return reduce(xor, terms)


def of_degree(degree: int) -> list[int]:
    return [p for p in range(1 << degree, 2 << degree) if is_irreducible(p)]


@pytest.mark.parametrize("degree", range(1, 13))
def test_irreducible_is_what_nothing_divides(degree):
    sample = range(1 << degree, 2 << degree)
    if degree > 10:
        sample = random.Random(degree).sample(sample, 300)
    for p in sample:
        assert is_irreducible(p) == naive.irreducible(p), bin(p)


def test_the_number_of_irreducible_polynomials():
    """The necklace formula: 1/d Σ μ(d/e) 2^e."""
    assert [len(of_degree(d)) for d in range(1, 11)] == [2, 1, 2, 3, 6, 9, 18, 30, 56, 99]


@pytest.mark.parametrize("constant", [-3, 0, 1])
def test_constants_are_not_irreducible(constant):
    assert not is_irreducible(constant)


@pytest.mark.parametrize(
    ("polynomial", "irreducible"),
    [
        (1 << 64 | 0x1B, True),  # of ISO 3309's CRC-64
        (1 << 8 | 0x1B, True),  # of AES
        (1 << 32 | 0x04C11DB7, True),  # of Ethernet's CRC
        (1 << 64 | 1, False),  # (x + 1)^64
    ],
)
def test_polynomials_of_standards(polynomial, irreducible):
    assert is_irreducible(polynomial) == irreducible


@pytest.mark.parametrize("degrees", [(32, 32), (31, 33), (1, 63), (21, 22, 21)])
def test_products_are_reducible(degrees):
    product = 1
    for seed, degree in enumerate(degrees):
        factor = choose_polynomial(degree, seed)
        product = sum_without_carry(product << i for i in range(degree + 1) if factor >> i & 1)
    assert not is_irreducible(product)
    with pytest.raises(RecipeError, match="degree 64 is reducible"):
        check_polynomial(product)


@pytest.mark.parametrize("degree", range(1, 65))
def test_chosen_polynomials_are_irreducible_and_of_the_degree(degree):
    for seed in range(3):
        p = choose_polynomial(degree, seed)
        assert p.bit_length() == degree + 1
        check_polynomial(p)


def test_a_seed_names_a_polynomial_for_ever():
    assert choose_polynomial() == choose_polynomial(64, 1) == 0x10C3ADD1A20700B2D
    assert second_polynomial(0x10C3ADD1A20700B2D) == 0x1FEA3109C4F587BEB
    assert choose_polynomial(32, 5) != choose_polynomial(32, 6)


def test_the_choice_is_uniform():
    """χ² over the 30 polynomials of degree 8: 29 degrees of freedom, mean 29, standard deviation √58."""
    draws = 1500
    counts = dict.fromkeys(of_degree(8), 0)
    for seed in range(draws):
        counts[choose_polynomial(8, seed)] += 1
    expected = draws / len(counts)
    assert sum((c - expected) ** 2 / expected for c in counts.values()) < 29 + 4 * 58**0.5


@pytest.mark.parametrize(
    ("polynomial", "words"),
    [
        (0, "degree 1 or more"),
        (1, "degree 1 or more"),
        (1 << 65 | 3, "degree 65 > 64"),
        (0b1001, "the factor 0x3"),
        (0b10101, "factor 0x7"),  # (x² + x + 1)²
        (0b1011 ^ 0b1011 << 2 ^ 0b1011 << 3, "factors of degree 3"),  # (x³ + x + 1)(x³ + x² + 1)
        (choose_polynomial(64, 1) ^ 2, "choose_polynomial(64)"),
    ],
)
def test_what_is_no_irreducible_polynomial_is_refused(polynomial, words):
    for refuse in (check_polynomial, push_table, Rabin, lambda p: pop_table(p, 48), lambda p: shingle_tables(p, 4)):
        with pytest.raises(RecipeError) as error:
            refuse(polynomial)
        assert words in str(error.value)


@pytest.mark.parametrize(
    "refused",
    [
        lambda: choose_polynomial(0),
        lambda: choose_polynomial(65),
        lambda: choose_polynomial(64, -1),
        lambda: pop_table(choose_polynomial(), 0),
        lambda: shingle_tables(choose_polynomial(), 0),
        lambda: shingle_tables(choose_polynomial(63), 4),
        lambda: shingle_tables(choose_polynomial(), 4, second=choose_polynomial(63)),
        lambda: shingle_tables(choose_polynomial(), 4, second=choose_polynomial()),
    ],
)
def test_choices_that_cannot_work_are_refused(refused):
    with pytest.raises(RecipeError, match=r"choose|shingle has 1"):
        refused()


@pytest.mark.parametrize("degree", range(1, 65))
def test_fingerprints_are_remainders(degree):
    p = choose_polynomial(degree, seed=degree)
    strings = STRINGS + [random.Random(degree).randbytes(n) for n in range(1, 20)]
    made = Rabin(p).fingerprints(strings)
    assert [int(f) for f in made] == [naive.fingerprint(s, p) for s in strings]
    assert Rabin(p).fingerprint(strings[-1]) == made[-1]


@pytest.mark.parametrize("degree", DEGREES)
def test_the_tables_do_what_their_docstrings_say(degree):
    p = choose_polynomial(degree, seed=3)
    push, pop, window = [int(v) for v in push_table(p)], [int(v) for v in pop_table(p, 6)], 6
    data = random.Random(degree).randbytes(40)
    h = 0
    for i, c in enumerate(data):
        if degree >= 8:
            h = ((h << 8) & (2**degree - 1)) ^ c ^ push[h >> (degree - 8)]
        else:
            h = push[(h << (8 - degree)) ^ (c >> degree)] ^ (c & (2**degree - 1))
        if i >= window:
            h ^= pop[data[i - window]]
        assert h == naive.remainder(int.from_bytes(data[max(i + 1 - window, 0) : i + 1], "big"), p)


@pytest.mark.parametrize("degree", DEGREES)
@pytest.mark.parametrize("window", [1, 2, 7, 48])
def test_rolling_is_from_scratch(degree, window):
    rabin = Rabin(choose_polynomial(degree, seed=2))
    for n in (0, window - 1, window, window + 30):
        data = random.Random(n).randbytes(n)
        rolled = rabin.roll(data, window)
        assert rolled.dtype == np.uint64
        assert rolled.tolist() == [
            naive.fingerprint(data[i : i + window], rabin.polynomial) for i in range(n - window + 1)
        ]


@settings(max_examples=50)
@given(st.sampled_from(DEGREES), st.binary(max_size=30), st.integers(0, 2**240 - 1))
def test_fingerprints_are_linear(degree, data, other):
    """f(a xor b) = f(a) xor f(b) xor f(0) for strings of one length."""
    n = len(data)
    a, b = data, (other % (1 << 8 * n)).to_bytes(n, "big")
    both = bytes(x ^ y for x, y in zip(a, b, strict=True))
    of = Rabin(choose_polynomial(degree, seed=4)).fingerprint
    assert of(both) == of(a) ^ of(b) ^ of(bytes(n))


def test_leading_zeros_count_and_short_strings_never_collide():
    of = Rabin(choose_polynomial()).fingerprint
    assert len({of(bytes(n)) for n in range(100)}) == 100
    assert of(b"") == 1
    assert of(b"rose") == int.from_bytes(b"\1rose", "big")


@pytest.mark.parametrize("degree", [6, 8, 10])
def test_the_theorem(degree):
    """Of all irreducible polynomials of degree d, at most m / d make two strings of m bits agree; as there are at least
    2^(d - 1) / d, that is a share of at most m / 2^(d - 1). At small degrees collisions are there to be seen."""
    polynomials = of_degree(degree)
    assert len(polynomials) >= 2 ** (degree - 1) / degree
    rabins = [Rabin(p) for p in polynomials]
    seen = 0
    for seed in range(20):
        source = random.Random(seed)
        a, b = source.randbytes(6), source.randbytes(source.choice((5, 6)))
        agree = sum(int(r.fingerprint(a) == r.fingerprint(b)) for r in rabins)
        assert agree <= 48 // degree
        assert agree / len(polynomials) <= 48 / 2 ** (degree - 1)
        seen += agree
    assert seen > 0


def test_the_page_shows_what_happens():
    page = Path(__file__).parents[2] / "docs" / "rabin.md"
    failures, examples = doctest.testfile(str(page), module_relative=False)
    assert failures == 0
    assert examples > 0
