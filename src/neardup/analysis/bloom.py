"""The mathematics of Bloom filters as sketches: Jain, Dahlin, Tewari, "Using Bloom Filters to Refine Web Search
Results", sections 2.1, 2.3.1, 3.1.1 and the appendix.

A filter has m bits; n elements set k bits each.

    fill_ratio              p: the share of bits that are set
    optimal_hashes          k that makes false matches rarest
    false_match_rate        an element that is not in the set seems to be
    inferred_matches        elements of one set that seem to be in the other
    matched_ratio           the paper's ratio: bits of inferred matches to bits set
    false_ratio             the same for sets without a common element, at the optimal k
    shared_bits             bits set in both of two filters: what the bitwise AND counts
    concentration           the appendix's bound on how far the number of set bits is from its mean
    bits_per_element_for    the least m/n for a false ratio
    size_for                the filter for a document size and a chunk size

Two ratios, not one. The paper's ratio (0.0295 at m = 8n) counts the bits of those elements of B that pass the
membership test of A, all k bits of them. The AND of the two filters, by which sections 2.3 and 3 compare documents,
counts every bit that happens to be set in both: at the optimal k half the bits of a full filter are set, so half the
bits of any two full filters match though no element is common. `shared_bits` gives that figure. A threshold on the
AND has to lie well above the fill ratio: 0.7 does for full filters (0.5), and documents of 8 KB in filters made for
64 KB fill an eighth or less. The clusters of section 3.2 fit that: of 493 results there were 340, 328, 317 and 220 at
90, 80, 70 and 60 %, and 56 at 50 %.
"""

from dataclasses import dataclass
from math import exp, expm1, isfinite, log, log1p

from neardup.errors import RecipeError

LN2 = log(2.0)
BASE = 0.5**LN2
"""0.6185: the false match rate at the optimal k is this to the power m/n."""

MOST_BITS = 1 << 20
"""The largest filter."""


def fill_ratio(elements: float, bits: int, hashes: float) -> float:
    """p = 1 - (1 - 1/m)^(nk), equation 1: the probability that a given bit is set."""
    return -expm1(elements * hashes * log1p(-1.0 / bits))


def optimal_hashes(bits_per_element: float) -> float:
    """k = (m/n) ln 2, as a real number; half the bits are then set."""
    return bits_per_element * LN2


def whole_hashes(bits_per_element: float) -> int:
    """The optimal k as a whole number, at least 1."""
    return max(1, round(optimal_hashes(bits_per_element)))


def false_match_rate(bits_per_element: float, hashes: float | None = None) -> float:
    """p^k, asymptotically (1 - e^(-kn/m))^k; 0.6185^(m/n) at the optimal k, which is taken where none is given."""
    if hashes is None:
        return float(BASE**bits_per_element)
    return float((-expm1(-hashes / bits_per_element)) ** hashes)


def inferred_matches(common: float, elements: float, bits_per_element: float, hashes: float | None = None) -> float:
    """c + (n - c) p^k: how many of n elements seem to be in the other set, if c of them are."""
    return common + (elements - common) * false_match_rate(bits_per_element, hashes)


def matched_ratio(common: float, elements: float, bits_per_element: float, hashes: float | None = None) -> float:
    """The expected bits of inferred matches over the expected bits set, as the paper has it (section 2.3.1).

    1 where all elements are common. The paper lets the bits of false matches fall anywhere, while they fall among the
    set bits by definition and meet more often; so this is slightly above `matched_ratio_within`, which is what a
    simulation shows. At m = 8n the two differ by 0.0002, at m = n by 0.12 (both at the optimal k).
    """
    k = optimal_hashes(bits_per_element) if hashes is None else hashes
    matches = inferred_matches(common, elements, bits_per_element, k) / elements
    return expm1(-k / bits_per_element * matches) / expm1(-k / bits_per_element)


def matched_ratio_within(elements: float, bits_per_element: float, hashes: float) -> float:
    """The same ratio for no common element, with the bits of false matches falling among the set bits:
    1 - e^(-k M / (m p)) for M = n p^k false matches."""
    p = -expm1(-hashes / bits_per_element)
    return -expm1(-hashes * elements * p**hashes / (elements * bits_per_element * p))


def false_ratio(bits_per_element: float) -> float:
    """2 (1 - 0.5^(0.6185^(m/n))): the ratio for no common element at the optimal k."""
    return -2.0 * expm1(-LN2 * false_match_rate(bits_per_element))


def shared_bits(common: float, elements_a: float, elements_b: float, bits: int, hashes: float) -> float:
    """The expected number of bits set in both filters, the bitwise AND: m (1 - q_a - q_b + q_union), where q is the
    probability that a bit is not set. Over m·p_a it is the expected match."""
    empty_a = 1.0 - fill_ratio(elements_a, bits, hashes)
    empty_b = 1.0 - fill_ratio(elements_b, bits, hashes)
    empty_union = 1.0 - fill_ratio(elements_a + elements_b - common, bits, hashes)
    return bits * (1.0 - empty_a - empty_b + empty_union)


def concentration(distance: float, elements: float, hashes: float) -> float:
    """2 e^(-2 t² / (nk)), equation 2: at most this is the probability that the number of set bits is t or more from
    its mean mp. Above 1 it says nothing; it is cut off there."""
    return min(1.0, 2.0 * exp(-2.0 * distance * distance / (elements * hashes)))


def bits_per_element_for(error: float) -> tuple[int, int]:
    """The least whole m/n with a false ratio of at most `error`, and its whole k. 0.03 gives 8, 0.01 gives 11."""
    if not (isfinite(error) and 0.0 < error < 1.0):
        raise RecipeError(f"error = {error}: a false ratio lies between 0 and 1, both excluded; 0.03 is the paper's.")
    ratio = 1
    while false_ratio(ratio) > error:
        ratio += 1
    return ratio, whole_hashes(ratio)


@dataclass(frozen=True)
class Size:
    """A filter for documents of some size."""

    chunks: int
    """Chunks expected."""
    bits: int
    """A power of two."""
    hashes: int
    """The best k for that many chunks in that many bits."""


def size_for(document_bytes: int, *, chunk_bytes: int = 256, bits_per_chunk: int = 8, least: int = 64) -> Size:
    """The filter for a document size and an expected chunk size (section 3.1.1): 64 KB in chunks of 256 bytes are
    256 chunks and 2,048 bits; 8 KB are 32 chunks and 256 bits."""
    for name, value in (
        ("document_bytes", document_bytes),
        ("chunk_bytes", chunk_bytes),
        ("bits_per_chunk", bits_per_chunk),
    ):
        if value < 1:
            raise RecipeError(f"{name} = {value}: at least 1 is needed.")
    if least & (least - 1) or not 64 <= least <= MOST_BITS:
        raise RecipeError(f"least = {least}: a filter has a power of two of bits, from 64 to {MOST_BITS:,}; try 2048.")
    chunks = -(-document_bytes // chunk_bytes)
    bits = least
    while bits < chunks * bits_per_chunk:
        bits *= 2
    if bits > MOST_BITS:
        chunk = chunk_bytes
        while -(-document_bytes // chunk) * bits_per_chunk > MOST_BITS:
            chunk *= 2
        raise RecipeError(
            f"{chunks:,} chunks of {chunk_bytes} bytes at {bits_per_chunk} bits each need {bits:,} bits, and a filter "
            f"has at most {MOST_BITS:,}; choose chunks of {chunk} bytes, or fewer bits per chunk."
        )
    return Size(chunks, bits, whole_hashes(bits / chunks))
