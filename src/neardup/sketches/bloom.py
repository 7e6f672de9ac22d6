"""Content-defined chunks in Bloom filters (Jain, Dahlin, Tewari, "Using Bloom Filters to Refine Web Search Results").

A document in canonical form is cut where a rolling Rabin fingerprint ends in a marker. The hashes of its chunks, and of
its links where asked for, are what is kept; the filters are filled from them when pairs are compared. Documents are
candidates if they share a chunk: filters of documents that share none match by chance alone.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from neardup.errors import RecipeError
from neardup.kernels import bloom, groups
from neardup.kernels import chunks as kernel
from neardup.rabin import choose_polynomial, pop_table, push_table
from neardup.shingles import ShingleSettings
from neardup.sketches.base import Comparison, Ragged, Sketcher, Sketches, check_seed, mixed, nothing
from neardup.text.batches import TextBatch
from neardup.text.settings import TextSettings

MARKER = 0x78
_LINK = np.uint64(1 << 63)


@dataclass(frozen=True)
class BloomSettings:
    """Chunks of so many bytes on average, filters of so many bits; `similar` of the set bits must match."""

    chunk: int = 256
    longest: int = 65536
    window: int = 48
    bits: int = 2048
    """Of the filter; the smallest one where filters grow."""
    grow: bool = True
    """Double the filter with the document: a filter that is full matches everything."""
    per_chunk: int = 8
    """Bits that a growing filter has for each chunk."""
    hashes: int = 6
    similar: float = 0.7
    measure: Literal["match", "containment"] = "match"
    """match: of the fuller filter's bits; containment: of the other one's, so that 1.0 is a subset."""
    links: float = 0.0
    """Weight of the filter over a page's links; the text has the rest."""
    seed: int = 1

    def __post_init__(self) -> None:
        if self.chunk < 16 or self.chunk > 1 << 20 or self.chunk & (self.chunk - 1):
            raise RecipeError(f"chunk = {self.chunk}: a power of two from 16 to 1048576 bytes; the paper has 256.")
        if self.longest < self.chunk:
            raise RecipeError(f"longest = {self.longest} is less than chunk = {self.chunk}; the paper has 65536.")
        if self.longest > 1 << 30:
            raise RecipeError(f"longest = {self.longest}: at most 1,073,741,824 bytes; the paper has 65536.")
        if not 1 <= self.window <= 1024:
            raise RecipeError(f"window = {self.window}: 1 to 1024 bytes; the paper has 48.")
        if self.bits < 64 or self.bits > 1 << 20 or self.bits & (self.bits - 1):
            raise RecipeError(f"bits = {self.bits}: a power of two from 64 to 1048576; the paper has 2048.")
        if not 1 <= self.hashes <= 32:
            raise RecipeError(f"hashes = {self.hashes}: 1 to 32; 8 bits per chunk are best used by 6.")
        if not 1 <= self.per_chunk <= 64:
            raise RecipeError(f"per_chunk = {self.per_chunk}: 1 to 64 bits; the paper has 8.")
        if not 0.0 < self.similar <= 1.0:
            raise RecipeError(
                f"similar = {self.similar}: a share of the bits, above 0 and at most 1; the paper has 0.7."
            )
        if not 0.0 <= self.links < 1.0:
            raise RecipeError(f"links = {self.links}: a weight from 0 to less than 1; the text has the rest.")
        if self.measure not in ("match", "containment"):
            raise RecipeError(f"measure = {self.measure!r}: choose match or containment.")
        if self.measure == "containment" and self.grow:
            raise RecipeError(
                "measure = 'containment' needs filters of one size: give grow = false, and 8 bits per chunk of the "
                "longest document, such as bits = 32768 for 1 MB."
            )
        check_seed(self.seed)


class Bloom(Sketcher):
    """Sketches documents by their chunks."""

    words = 0
    has_ragged = True

    def __init__(self, text: TextSettings, shingles: ShingleSettings, settings: BloomSettings) -> None:
        super().__init__(text, shingles, settings.seed)
        self.settings = settings
        rule = (settings.links, float(settings.measure == "containment"))
        contained = settings.measure == "containment"
        self.comparison = Comparison(groups.FILTER, rule, "bloom", settings.similar, 1.0, contained)
        polynomial = choose_polynomial(64, settings.seed)
        self._push, self._pop = push_table(polynomial), pop_table(polynomial, settings.window)

    def sketch(self, batch: TextBatch) -> Sketches:
        """Canonical form → chunks → their hashes, ascending; those of links behind them."""
        _, made = self.fingerprints(batch, of_tokens=True)
        settings = self.settings
        n = len(made.status)
        status, sizes, identities = np.zeros(n, np.uint8), np.zeros(n, np.int64), np.zeros((n, 2), np.uint64)
        ends = np.zeros(n, np.int64)
        room = int(batch.sizes.sum()) // 64 + n + 16
        total = -1
        while total < 0:
            out = np.empty(room, np.uint64)
            total = kernel.chunk_documents(
                batch.data,
                batch.offsets,
                self.tables,
                self._push,
                self._pop,
                settings.window,
                settings.chunk.bit_length() - 1,
                MARKER % settings.chunk,
                settings.longest,
                self.seed,
                status,
                sizes,
                identities,
                ends,
                out,
            )
            room *= 2
        elements = Ragged(out[:total], np.concatenate([[0], ends]))
        if batch.links is not None:
            elements = self._with_links(elements, batch.links, made.identities)
        return replace(made, ragged=elements)

    def _with_links(self, chunks: Ragged, links: TextBatch, identities: NDArray[np.uint64]) -> Ragged:
        """Chunks, then links; documents with other links have another identity."""
        ends = np.zeros(len(chunks.offsets) - 1, np.int64)
        out = np.empty(int(links.sizes.sum()) // 2 + len(ends) + 2, np.uint64)
        total = kernel.hash_lines(links.data, links.offsets, self.seed, ends, out)
        hashed = Ragged(out[:total], np.concatenate([[0], ends]))
        owners = np.repeat(np.arange(len(ends)), np.diff(hashed.offsets))
        np.bitwise_xor.at(identities[:, 1], owners, mixed(hashed.values, 1))
        offsets = chunks.offsets + hashed.offsets
        values = np.empty(offsets[-1], np.uint64)
        for part, before in ((chunks, hashed.offsets[:-1]), (hashed, chunks.offsets[1:])):
            rows = np.repeat(np.arange(len(ends)), np.diff(part.offsets))
            values[np.arange(len(part.values)) + before[rows]] = part.values
        return Ragged(values, offsets)

    def keys(self, words: NDArray[np.uint64], ragged: Ragged) -> Ragged:
        """Chunks, not links: pages of one site share those."""
        return _choose(ragged, ragged.values < _LINK)

    def signatures(self, words: NDArray[np.uint64], ragged: Ragged, urls: list[str | None]) -> Ragged:
        """The filters: how many words the first has, the first, the second."""
        texts = self._filters(_choose(ragged, ragged.values < _LINK))
        linked = self.settings.links > 0.0
        links = self._filters(_choose(ragged, ragged.values >= _LINK)) if linked else nothing(len(texts.offsets) - 1)
        offsets = texts.offsets + links.offsets + np.arange(len(texts.offsets))
        values = np.empty(offsets[-1], np.uint64)
        values[offsets[:-1]] = np.diff(texts.offsets).astype(np.uint64)
        for part, begin in ((texts, offsets[:-1] + 1), (links, offsets[:-1] + 1 + np.diff(texts.offsets))):
            rows = np.repeat(np.arange(len(begin)), np.diff(part.offsets))
            values[begin[rows] + np.arange(len(part.values)) - part.offsets[:-1][rows]] = part.values
        return Ragged(values, offsets)

    def _filters(self, elements: Ragged) -> Ragged:
        """A Bloom filter per document."""
        bits = np.full(len(elements.offsets) - 1, self.settings.bits, np.int64)
        if self.settings.grow:
            for row, chunks in enumerate(np.diff(elements.offsets).tolist()):
                bits[row] = bloom.filter_bits(chunks, self.settings.per_chunk, self.settings.bits)
        offsets = np.concatenate([[0], np.cumsum(bits // 64)]).astype(np.int64)
        out = np.zeros(offsets[-1], np.uint64)
        bloom.fill(elements.values, elements.offsets[1:], bits, self.settings.hashes, out, offsets)
        return Ragged(out, offsets)


def _choose(ragged: Ragged, which: NDArray[np.bool_]) -> Ragged:
    before = np.concatenate([[0], np.cumsum(which)])
    return Ragged(ragged.values[which], before[ragged.offsets].astype(np.int64))
