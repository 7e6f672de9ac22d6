"""What "the same passage" means: w consecutive tokens, as a set or as a multiset (Broder, section 2)."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup.errors import RecipeError
from neardup.rabin import check_polynomial, choose_polynomial


class ShingleSets(NamedTuple):
    """The sorted shingle sets of some documents: values[starts[d] : starts[d] + sizes[d]]."""

    values: NDArray[np.uint64]
    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]


@dataclass(frozen=True)
class ShingleSettings:
    """A document shorter than `width` tokens is one shingle of its own."""

    width: int = 5
    repeats: bool = False
    """Count a shingle that occurs k times as k elements (occurrence numbers) rather than as one."""
    fingerprint: Literal["mixed", "rabin"] = "mixed"
    """mixed: a fast mixing hash; rabin: Rabin's fingerprints, with a proven bound on collisions."""
    polynomial: str = ""
    """For rabin: an irreducible polynomial of degree 64 in hexadecimal; "": chosen by the seed."""

    def __post_init__(self) -> None:
        if not 1 <= self.width <= 1000:
            raise RecipeError(f"width = {self.width}: a shingle has 1 to 1000 tokens; 5 is the default.")
        if self.fingerprint not in ("mixed", "rabin"):
            raise RecipeError(f"fingerprint = {self.fingerprint!r}: choose mixed or rabin.")
        if self.polynomial:
            if self.fingerprint != "rabin":
                raise RecipeError('polynomial is for fingerprint = "rabin"; leave it away, or choose rabin.')
            self._given()

    def _given(self) -> int:
        try:
            polynomial = int(self.polynomial, 16)
        except ValueError:
            raise RecipeError(
                f"polynomial = {self.polynomial!r}: give it in hexadecimal, bit i for x^i: 0x1000000000000001b."
            ) from None
        if polynomial.bit_length() != 65:
            raise RecipeError(
                f"polynomial = {self.polynomial}: its degree is {polynomial.bit_length() - 1}, and shingles need 64 "
                'bits; give one of degree 64, or leave it to the seed with polynomial = "".'
            )
        check_polynomial(polynomial)
        return polynomial

    def modulus(self, seed: int) -> int | None:
        """The polynomial; None for the mixing hash."""
        if self.fingerprint == "mixed":
            return None
        return self._given() if self.polynomial else choose_polynomial(64, seed)
