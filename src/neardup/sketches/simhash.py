"""Random projection: Henzinger's Algorithm C, after Charikar (Henzinger, sections 2 and 3.3).

Every token is projected to b values of -1 or 1, a document's vector is the sum over its tokens, and its signature has a
1 where the sum is positive. Two signatures agree in about b (1 - θ/π) bits, θ the angle between the documents'
vectors of token counts. Cut into p pieces, signatures that differ in fewer than p bits agree in a piece: so documents
are candidates if they share a piece, and the pairs with a difference below p are all found.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from neardup.errors import RecipeError
from neardup.kernels import groups
from neardup.kernels import simhash as kernel
from neardup.shingles import ShingleSettings
from neardup.sketches.base import Comparison, Ragged, Sketcher, Sketches, check_seed, even, mixed
from neardup.text.batches import TextBatch
from neardup.text.settings import TextSettings

WEIGHTS = ("count", "once", "log")


@dataclass(frozen=True)
class SimHashSettings:
    """Signatures of b bits; documents are similar from `similar` equal bits on."""

    bits: int = 384
    similar: int = 372
    pieces: int = 12
    of: Literal["tokens", "shingles"] = "tokens"
    weight: Literal["count", "once", "log"] = "count"
    """A token counts as often as it occurs, once, or 1 + log2 of how often."""
    seed: int = 1

    def __post_init__(self) -> None:
        check_bits(self.bits, self.similar)
        check_pieces(self.bits, self.pieces)
        if self.of not in ("tokens", "shingles"):
            raise RecipeError(f"of = {self.of!r}: choose tokens or shingles.")
        if self.weight not in WEIGHTS:
            raise RecipeError(f"weight = {self.weight!r}: choose {', '.join(WEIGHTS)}.")
        check_seed(self.seed)

    @property
    def complete_to(self) -> int:
        """The difference up to which all pairs are found."""
        return self.pieces - 1


def check_bits(bits: int, *similar: int) -> None:
    """Refuse what cannot be."""
    if not 1 <= bits <= 4096:
        raise RecipeError(f"bits = {bits}: a signature has 1 to 4096 bits; 384 is Henzinger's choice.")
    for least in similar:
        if not 1 <= least <= bits:
            raise RecipeError(f"similar = {least} of bits = {bits}: choose from 1 to {bits} equal bits.")


def check_pieces(bits: int, pieces: int) -> None:
    """Pieces divide the width, and one fits into 64 bits."""
    if pieces < 1 or bits % pieces or bits // pieces > 64:
        fitting = [p for p in range(1, bits + 1) if bits % p == 0 and 8 <= bits // p <= 64]
        near = sorted(sorted(fitting, key=lambda p: abs(p - pieces))[:4]) or [bits]
        raise RecipeError(
            f"pieces = {pieces} of bits = {bits}: pieces divide the width and have at most 64 bits; choose "
            f"{', '.join(map(str, near))}. All pairs that differ in fewer bits than there are pieces are found."
        )


class SimHash(Sketcher):
    """Sketches documents by random projection."""

    def __init__(self, text: TextSettings, shingles: ShingleSettings, settings: SimHashSettings) -> None:
        super().__init__(text, shingles, settings.seed)
        self.settings = settings
        self.words = -(-settings.bits // 64)
        self.comparison = Comparison(
            groups.BITS, (float(settings.bits),), "c-similarity", settings.similar, settings.bits
        )

    def sketch(self, batch: TextBatch) -> Sketches:
        """Fingerprints → bits."""
        settings = self.settings
        found, made = self.fingerprints(batch, of_tokens=settings.of == "tokens")
        kernel.project_weighted(
            found.values, found.offsets[1:], WEIGHTS.index(settings.weight), settings.bits, self.seed, made.words
        )
        return made

    def keys(self, words: NDArray[np.uint64], ragged: Ragged) -> Ragged:
        """The pieces."""
        return even(piece_keys(words, self.settings.bits, self.settings.pieces))


def piece_keys(words: NDArray[np.uint64], bits: int, pieces: int) -> NDArray[np.uint64]:
    """A key for every piece of bits / pieces bits, its number included."""
    width = bits // pieces
    mask = np.uint64(2**width - 1)
    keys = np.empty((len(words), pieces), np.uint64)
    for piece in range(pieces):
        word, shift = divmod(piece * width, 64)
        value = words[:, word] >> np.uint64(shift)
        if shift + width > 64:
            value |= words[:, word + 1] << np.uint64(64 - shift)
        keys[:, piece] = mixed(value & mask, piece + 1)
    return keys
