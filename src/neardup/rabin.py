"""Rabin fingerprints: the remainder of a string, read as a polynomial over GF(2), modulo an irreducible one.

    is_irreducible      Rabin's test
    choose_polynomial   a random irreducible polynomial of a degree, from a seed
    check_polynomial    refuse what is not one
    push_table          what a byte step adds
    pop_table           what the byte that leaves a window adds, so that it can be taken away
    shingle_tables      the tables of `kernels.text`: words → tokens → shingles
    second_polynomial   the polynomial of the shingles where only that of the words is given
    Rabin               fingerprints of strings and of all windows of a string

A polynomial is a Python integer: bit i is the coefficient of x^i, the leading term included; addition is xor. A string
is read from its first bit down, with a 1 in front: n bytes b are x^(8n) + Σ b[i] · x^(8(n - 1 - i)). Without that 1
leading zero bytes would not count. `fingerprint(b"")` is 1, and a string shorter than the degree is its own
fingerprint: short words never collide.

What is proven (Rabin, "Fingerprinting by random polynomials"; Broder, "Some applications of Rabin's fingerprinting
method"): let the polynomial be uniform among the irreducible ones of degree d, independent of the strings. Two
different strings of at most m bits agree with a probability of at most m / 2^(d - 1): their difference has a degree of
at most m, so at most m / d irreducible factors of degree d, and there are at least 2^(d - 1) / d to choose from. Among
n strings any two agree with a probability below n² · m / 2^d. Strings that depend on the polynomial, such as its own
fingerprints, are outside the theorem: each level of fingerprints needs a polynomial of its own (`shingle_tables`).

What is not: the polynomial comes from a seed, so the theorem holds for texts that were not written against that seed.
"""

import hashlib
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from neardup.errors import RecipeError

Table = NDArray[np.uint64]


def _degree(polynomial: int) -> int:
    return polynomial.bit_length() - 1


def _remainder(a: int, polynomial: int) -> int:
    d = _degree(polynomial)
    while (excess := _degree(a) - d) >= 0:
        a ^= polynomial << excess
    return a


def _square(a: int, polynomial: int) -> int:
    """(Σ xⁱ)² = Σ x²ⁱ over GF(2): a zero between the bits, which is what reading binary digits in base 4 does."""
    return _remainder(int(f"{a:b}", 4), polynomial)


def _power_of_x(exponent: int, polynomial: int) -> int:
    result = _remainder(1, polynomial)
    for bit in f"{exponent:b}":
        result = _square(result, polynomial)
        if bit == "1":
            result = _remainder(result << 1, polynomial)
    return result


def _gcd(a: int, b: int) -> int:
    while b:
        a, b = b, _remainder(a, b)
    return a


def _frobenius(times: int, polynomial: int) -> int:
    """x^(2^times) - x mod the polynomial: the product of all irreducible ones whose degree divides `times`."""
    power = x = _remainder(2, polynomial)
    for _ in range(times):
        power = _square(power, polynomial)
    return power ^ x


@lru_cache(maxsize=1024)
def is_irreducible(polynomial: int) -> bool:
    """Rabin's test: f of degree d divides x^(2^d) - x, and has nothing in common with x^(2^(d/p)) - x for the prime
    divisors p of d. Constants are not irreducible."""
    d = _degree(polynomial)
    if polynomial < 2:
        return False
    if d > 1 and (polynomial & 1 == 0 or polynomial.bit_count() % 2 == 0):
        return False  # divisible by x, by x + 1: the cheap half of the test
    primes = [p for p in range(2, d + 1) if d % p == 0 and all(p % q for q in range(2, p))]
    return _frobenius(d, polynomial) == 0 and all(_gcd(polynomial, _frobenius(d // p, polynomial)) == 1 for p in primes)


def _check_degree(degree: int) -> None:
    if not 1 <= degree <= 64:
        raise RecipeError(f"degree = {degree}: a fingerprint has 1 to 64 bits; choose 64 unless space is short.")


def check_polynomial(polynomial: int) -> None:
    """Refuse what is no irreducible polynomial of a degree from 1 to 64."""
    if polynomial < 2:
        raise RecipeError(
            f"polynomial = {polynomial}: bit i is the coefficient of x^i, so a polynomial of degree 1 or more is at "
            "least 2; choose_polynomial(64) gives one."
        )
    d = _degree(polynomial)
    if d > 64:
        raise RecipeError(
            f"polynomial = {polynomial:#x} has degree {d} > 64 and its fingerprints do not fit 64 bits; "
            "choose_polynomial(64) gives one that does."
        )
    if is_irreducible(polynomial):
        return
    for degree in range(1, d // 2 + 1):
        common = _gcd(polynomial, _frobenius(degree, polynomial))
        if common != 1:
            factors = f"factors of degree {degree}" if common == polynomial else f"the factor {common:#x}"
            raise RecipeError(
                f"polynomial = {polynomial:#x} of degree {d} is reducible: it has {factors}; "
                f"choose_polynomial({d}) gives an irreducible one."
            )
    raise AssertionError("a reducible polynomial has a factor of at most half its degree")


def _draw(degree: int, name: str) -> int:
    """The first irreducible polynomial in a stream of uniform ones: the BLAKE2b hashes of a name and a counter, read
    as big-endian numbers, cut to `degree` bits. The same on every machine and with every version of NumPy."""
    attempt = 0
    while True:
        digest = hashlib.blake2b(f"rabin {degree} {name} {attempt}".encode(), digest_size=8).digest()
        candidate = 1 << degree | int.from_bytes(digest, "big") >> (64 - degree)
        if is_irreducible(candidate):
            return candidate
        attempt += 1


@lru_cache(maxsize=256)
def choose_polynomial(degree: int = 64, seed: int = 1) -> int:
    """An irreducible polynomial, uniform among those of the degree (rejection; about `degree` attempts).

    The seed's stream is BLAKE2b, so a seed names the same polynomial everywhere.
    """
    _check_degree(degree)
    if not 0 <= seed < 2**63:
        raise RecipeError(f"seed = {seed}: choose one from 0 to 2^63 - 1.")
    return _draw(degree, f"seed {seed}")


@lru_cache(maxsize=256)
def second_polynomial(polynomial: int) -> int:
    """An irreducible polynomial of degree 64 that has nothing to do with the first: its stream is named after it."""
    return _draw(64, f"second {polynomial:#x}")


def _multiples(exponent: int, polynomial: int) -> Table:
    """table[b] = b · x^exponent mod the polynomial, for every byte b."""
    table = np.zeros(256, np.uint64)
    power = _power_of_x(exponent, polynomial)
    for bit in range(8):
        table[1 << bit : 2 << bit] = table[: 1 << bit] ^ np.uint64(power)
        power = _remainder(power << 1, polynomial)
    return table


def push_table(polynomial: int) -> Table:
    """push[b] = b · x^d mod the polynomial, d its degree. A step by the byte c, h → h · x^8 + c, is

        d >= 8:  h = ((h << 8) & (2^d - 1)) ^ c ^ push[h >> (d - 8)]
        d < 8:   h = push[(h << (8 - d)) ^ (c >> d)] ^ (c & (2^d - 1))

    Both are one rule: of the d + 8 bits of (h << 8 | c) the upper 8 are looked up and added to the lower d.
    """
    check_polynomial(polynomial)
    return _multiples(_degree(polynomial), polynomial)


def pop_table(polynomial: int, window: int) -> Table:
    """pop[b] = b · x^(8 window) mod the polynomial: what a byte adds to h when `window` further bytes were pushed.

    Take it away AFTER the push: the step of `push_table` by data[i], then h ^= pop[data[i - window]]. (The two are
    sums, so they may stand in one expression.) Begin with h = 0, not 1: windows have one length, so the leading 1 adds
    the same number to all of them, x^(8 window) mod the polynomial, which `Rabin.roll` adds at the end. pop[0] = 0: a
    window that begins as zero bytes needs no case of its own.
    """
    check_polynomial(polynomial)
    _check_window(window)
    return _multiples(8 * window, polynomial)


def _check_window(window: int) -> None:
    if window < 1:
        raise RecipeError(f"window = {window}: choose 1 byte or more, 48 as is usual for chunks.")


def shingle_tables(polynomial: int, w: int, *, second: int | None = None) -> tuple[Table, Table, Table]:
    """The `rabin` argument of kernels.text for shingles of w tokens: (push, shift, gone).

    push    (256)     the push table of `polynomial`: words → tokens
    shift   (8, 256)  shift[j, b] = b · x^(64 + 8j) mod `second`: f → f · x^64, byte j of f at a time
    gone    (8, 256)  gone[j, b] = b · x^(64w + 8j) mod `second`: the token that leaves, AFTER the next was pushed.
                      gone[0] also holds (x^64 + 1) · x^(64w): it takes the leading 1 away with the token and puts it
                      back one token later

    Tokens are fingerprints under `polynomial`, shingles are fingerprints of tokens under `second`, by default
    `second_polynomial(polynomial)`. With one polynomial for both, tokens of 8 bytes and more would flow into their
    neighbours: ("x", "b12345678") and ("y", "c12345678") agree then, whatever the polynomial.
    """
    if second is None:
        second = second_polynomial(polynomial)
    for p in (polynomial, second):
        check_polynomial(p)
        if _degree(p) != 64:
            raise RecipeError(
                f"polynomial = {p:#x} has degree {_degree(p)}: tokens and shingles have 64 bits; "
                "choose_polynomial(64) gives one."
            )
    if polynomial == second:
        raise RecipeError(
            f"polynomial = second = {second:#x}: shingles need another polynomial than words; "
            "leave second out or choose another seed."
        )
    if w < 1:
        raise RecipeError(f"w = {w}: a shingle has 1 token or more.")
    shift = np.stack([_multiples(64 + 8 * j, second) for j in range(8)])
    gone = np.stack([_multiples(64 * w + 8 * j, second) for j in range(8)])
    gone[0] ^= np.uint64(_power_of_x(64 * (w + 1), second) ^ _power_of_x(64 * w, second))
    return _multiples(64, polynomial), shift, gone


class Rabin:
    """Fingerprints under one polynomial. Two different strings of at most m bits agree with a probability of at most
    m / 2^(d - 1) over the choice of the polynomial, d its degree."""

    def __init__(self, polynomial: int) -> None:
        self.push = push_table(polynomial)
        self.polynomial = polynomial
        self.degree = _degree(polynomial)

    def fingerprint(self, data: bytes) -> int:
        """The fingerprint of a string, a number below 2^degree."""
        return int(self.fingerprints([data])[0])

    def fingerprints(self, strings: list[bytes]) -> Table:
        """The fingerprints of many strings."""
        from neardup.kernels import rabin as kernel  # numba takes a third of a second, and choosing needs none of it

        offsets = np.zeros(len(strings) + 1, np.int64)
        np.cumsum([len(s) for s in strings], out=offsets[1:])
        made = np.empty(len(strings), np.uint64)
        kernel.fingerprint_strings(np.frombuffer(b"".join(strings), np.uint8), offsets, self.push, self.degree, made)
        return made

    def roll(self, data: bytes, window: int) -> Table:
        """roll(data, window)[i] = fingerprint(data[i : i + window]); empty where the data are shorter."""
        from neardup.kernels import rabin as kernel

        pop = pop_table(self.polynomial, window)
        leading = np.uint64(_power_of_x(8 * window, self.polynomial))
        made = np.empty(max(len(data) - window + 1, 0), np.uint64)
        kernel.fingerprint_windows(np.frombuffer(data, np.uint8), window, self.push, pop, leading, self.degree, made)
        return made
