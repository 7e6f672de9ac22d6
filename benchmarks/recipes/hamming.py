"""`python -m benchmarks.recipes.hamming`: all pairs of signatures that differ in 11 bits or fewer.

1 M signatures of 384 bits: most at random, a fifth in planted families whose members differ from their first in 0 to
24 bits. Pairs are found as the recipe alg-c finds them: 12 pieces of 32 bits, unique pieces left out, documents that
share a piece compared. The answer is checked for 500 signatures, half of them from planted families: each is compared
with all others by brute force.
"""

import json
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.candidates.features import bucket
from neardup.kernels import groups, simhash
from neardup.shingles import ShingleSettings
from neardup.sketches.base import even, nothing
from neardup.sketches.simhash import SimHash, SimHashSettings
from neardup.text.settings import TextSettings

BITS, DISTANCE, PIECES = 384, 11, 12
BATCH = 65536
ROOM = 1 << 22
CHECKED = 500


def plant(n: int, seed: int = 1) -> NDArray[np.uint64]:
    """Signatures: four fifths at random, the rest families of 2 to 20."""
    rng = np.random.default_rng(seed)
    made = rng.integers(0, 2**64 - 1, (n, BITS // 64), np.uint64, endpoint=True)
    at = 4 * n // 5
    while at < n:
        size = int(rng.integers(2, 21))
        first = made[at].copy()
        for row in range(at + 1, min(n, at + size)):
            made[row] = first
            for bit in rng.choice(BITS, int(rng.integers(0, 25)), replace=False):
                made[row, bit // 64] ^= np.uint64(1) << np.uint64(bit % 64)
        at += size
    return rng.permutation(made)


def search(signatures: NDArray[np.uint64]) -> NDArray[np.int32]:
    """All pairs within DISTANCE."""
    sketcher = SimHash(TextSettings(), ShingleSettings(), SimHashSettings(BITS, BITS - DISTANCE, PIECES))
    n = len(signatures)
    buckets = bucket(
        lambda: ((at, sketcher.keys(signatures[at : at + BATCH], nothing(0))) for at in range(0, n, BATCH)),
        np.ones(n, bool),
    )
    owner, below, rank = (np.empty(len(buckets.entries), np.int32) for _ in range(3))
    groups.chain(buckets.entries, buckets.begins, buckets.count, owner, below, rank)
    mine = even(signatures[buckets.members])
    no_samples = np.empty((0, 0), np.uint8)
    given = (groups.BITS, no_samples, mine.values, mine.offsets, np.array([float(BITS)]))
    pairs = np.empty((ROOM, 2), np.int32)
    nobody = np.arange(len(buckets.members), dtype=np.int32)
    stamp = np.full(len(buckets.members), -1, np.int32)
    found, at = [], 0
    while at < len(buckets.members):
        count, at, cut, _ = groups.pair_round(
            buckets.begins, owner, below, rank, nobody, given, BITS - DISTANCE, ROOM, at, stamp, pairs
        )
        assert cut == 0
        found.append(buckets.members[pairs[:count]].astype(np.int32))
    return np.concatenate([np.empty((0, 2), np.int32), *found])


def missed(signatures: NDArray[np.uint64], pairs: NDArray[np.int32]) -> int:
    """Pairs of CHECKED signatures, found by comparing each with all others, that are not among the pairs."""
    known = {(min(a, b), max(a, b)) for a, b in pairs.tolist()}
    n = len(signatures)
    absent = 0
    chosen = np.random.default_rng(3).choice(n, CHECKED, replace=False)
    chosen[: CHECKED // 2] = pairs[np.random.default_rng(4).integers(0, len(pairs), CHECKED // 2), 0]
    agreed = np.empty(n, np.int32)
    for i in chosen.tolist():
        simhash.agreements(signatures, np.stack([np.full(n, i), np.arange(n)], axis=1), BITS, agreed)
        near = np.flatnonzero(agreed >= BITS - DISTANCE)
        absent += sum((min(i, j), max(i, j)) not in known for j in near.tolist() if j != i)
    return absent


def measure(n: int = 1_000_000, repeat: int = 2) -> dict[str, Any]:
    """The figures by name."""
    signatures = plant(n)
    search(plant(1000))
    seconds = []
    for _ in range(repeat):
        begin = time.perf_counter()
        pairs = search(signatures)
        seconds.append(time.perf_counter() - begin)
    return {
        "signatures": n,
        "seconds": min(seconds),
        "pairs": len(pairs),
        "missed": missed(signatures, pairs),
    }


if __name__ == "__main__":
    print(json.dumps(measure(), indent=2))
