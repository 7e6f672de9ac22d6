"""Which documents of the corpus repeat which, decided before a word is written.

Every document is described by a few numbers (a `Plan` row); its text is a pure function of them, so
any range of documents can be written without the others. A random number is `mix(key + position)`
(SplitMix64, Steele, Lea and Flood 2014): two documents with one content key say the same words.

About 30 % of the documents belong to planted clusters:
    exact     byte-identical copies
    near      the first member edited in bursts of 1 to 8 words (half substitutions, a quarter insertions, a
              quarter deletions); the number of bursts aims at a resemblance drawn uniformly from 0.3..1.0
    template  one frame, with slots at the same places filled by each member's own words
One document in ten ends in one of 64 boilerplate paragraphs, related or not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

U64 = npt.NDArray[np.uint64]

FRESH, EXACT, NEAR, TEMPLATE = range(4)
KINDS = ("fresh", "exact", "near", "template")
CLUSTERED = 0.30
KIND_SHARES = {EXACT: 0.3, NEAR: 0.5, TEMPLATE: 0.2}
"""Shares of the clustered documents."""
BOILERPLATE_SHARE = 0.10
BOILERPLATES = 64
SHORTEST = 30
"""Words of the shortest document."""
SHINGLE = 5
MEAN_BURST = 4.5
GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Plan:
    """One row per document, in file order."""

    kind: npt.NDArray[np.uint8]
    cluster: npt.NDArray[np.int64]
    """Number of the planted cluster, -1 outside."""
    content: U64
    """Key of the words that are not edited."""
    words: npt.NDArray[np.int64]
    """Length before edits, without boilerplate."""
    own: U64
    """Key of the words that only this document has."""
    places: U64
    """Key of the positions of the edits: its own, or its template's."""
    bursts: npt.NDArray[np.int64]
    boilerplate: npt.NDArray[np.int64]
    """Number of the paragraph, -1 for none."""

    def __len__(self) -> int:
        return len(self.kind)


def mix(x: U64) -> U64:
    """SplitMix64's finaliser."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def unit(x: U64) -> npt.NDArray[np.float64]:
    """Hashes as numbers in [0, 1)."""
    return (x >> np.uint64(11)).astype(np.float64) * 2.0**-53


def plan(documents: int, *, mean_words: float, seed: int) -> Plan:
    """Decide roles, lengths and edits of `documents` documents of `mean_words` words on average."""
    rng = np.random.default_rng([seed, documents])
    base = np.uint64(rng.integers(1 << 63))
    own = mix(base + np.arange(1, documents + 1, dtype=np.uint64) * GOLDEN)
    kind = np.full(documents, FRESH, np.uint8)
    cluster = np.full(documents, -1, np.int64)
    source = np.arange(documents)

    shuffled = rng.permutation(documents)
    taken = clusters = 0
    for code, share in KIND_SHARES.items():
        count = int(documents * CLUSTERED * share)
        sizes = _cluster_sizes(code, count, rng)
        members = shuffled[taken : taken + count]
        firsts = np.cumsum(sizes) - sizes
        kind[members] = code
        cluster[members] = clusters + np.repeat(np.arange(len(sizes)), sizes)
        source[members] = np.repeat(members[firsts], sizes)
        taken += count
        clusters += len(sizes)

    content = own[source]
    words = _lengths(content, mean_words)
    target = np.where(kind == NEAR, 0.3 + 0.7 * unit(mix(own + np.uint64(2))), 1.0)
    target[(source == np.arange(documents)) & (kind == NEAR)] = 1.0
    frames = kind == TEMPLATE
    target[frames] = (0.3 + 0.68 * unit(mix(content + np.uint64(3))))[frames]
    return Plan(
        kind=kind,
        cluster=cluster,
        content=content,
        words=words,
        own=own,
        places=np.where(frames, content, own),
        bursts=_bursts(words, target, substitutions_only=frames),
        boilerplate=np.where(
            unit(mix(content + np.uint64(4))) < BOILERPLATE_SHARE,
            (mix(content + np.uint64(5)) % np.uint64(BOILERPLATES)).astype(np.int64),
            -1,
        ),
    )


def _cluster_sizes(code: int, count: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Sizes of at least 2 that add up to `count`; template groups have a long tail."""
    if not count:
        return np.zeros(0, np.int64)
    most = count // 2 + 1
    if code == TEMPLATE:
        sizes = np.exp(rng.uniform(np.log(3), np.log(30), size=most)).astype(np.int64)
    else:
        sizes = 1 + rng.geometric(0.6 if code == EXACT else 0.45, size=most)
    sizes = sizes[: int(np.searchsorted(np.cumsum(sizes), count)) + 1]
    sizes[-1] -= int(sizes.sum()) - count
    return sizes[sizes > 0]


def _lengths(content: U64, mean_words: float) -> npt.NDArray[np.int64]:
    """Log-normal with sigma 0.6 (Box and Muller 1958), the same for every document of one content key."""
    u, v = unit(mix(content + np.uint64(6))), unit(mix(content + np.uint64(7)))
    normal = np.sqrt(-2.0 * np.log1p(-u)) * np.cos(2.0 * np.pi * v)
    words: npt.NDArray[np.int64] = np.exp(np.log(mean_words) - 0.18 + 0.6 * normal).astype(np.int64)
    return np.maximum(SHORTEST, words)


def _bursts(
    words: npt.NDArray[np.int64],
    target: npt.NDArray[np.float64],
    *,
    substitutions_only: npt.NDArray[np.bool_],
) -> npt.NDArray[np.int64]:
    """How many bursts bring a document of `words` words down to about `target` resemblance.

    If a share s of the shingles survives and as many are new as are lost, the resemblance is s / (2 - s).
    A burst of L words costs L + 4 shingles as a substitution; over the mix of edits, 3/4 L + 4 on each side.
    Bursts fall independently, so s = exp(-cost × bursts / words).
    """
    survives = 2.0 * target / (1.0 + target)
    cost = np.where(substitutions_only, MEAN_BURST, 0.75 * MEAN_BURST) + SHINGLE - 1
    bursts: npt.NDArray[np.int64] = np.round(-np.log(survives) * words / cost).astype(np.int64)
    return bursts
