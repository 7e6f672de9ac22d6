"""Every pair of documents at or above a resemblance, found without sampling or hashing tricks.

Resemblance is the Jaccard coefficient of the sets of 5-word shingles (Broder 1997); words are the maximal
runs of letters and digits of the casefolded text. A document of fewer than five words has one shingle, all
its words.

The method is an inverted index: the 0/1 matrix of documents × shingles times its transpose counts the common
shingles of every pair that has any. Shingles of one document only cannot add to a count and are left out,
though not of the set sizes. Complete, and exact but for collisions of 64-bit shingle hashes (about 3 in a
million that there is one among ten million shingles).
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

SHINGLE = 5
FLOOR = 0.3
"""Pairs below this resemblance are not kept."""
ROWS_A_PRODUCT = 2_000
VERSION = 1

_WORD = re.compile(r"[^\W_]+")
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Truth:
    """Pairs of row numbers, left < right, with their exact resemblance."""

    ids: pa.Array
    left: npt.NDArray[np.int64]
    right: npt.NDArray[np.int64]
    resemblance: npt.NDArray[np.float64]

    def at_least(self, threshold: float) -> Truth:
        """The pairs of at least `threshold` resemblance."""
        if threshold < FLOOR:
            raise ValueError(f"the truth holds pairs from {FLOOR} on, asked for {threshold}")
        kept = self.resemblance >= threshold - 1e-12
        return Truth(self.ids, self.left[kept], self.right[kept], self.resemblance[kept])

    def __len__(self) -> int:
        return len(self.left)


def truth(corpus: Path, work: Path) -> Truth:
    """The truth of a Parquet corpus, from the cache in `work` if it is there."""
    ids = pq.read_table(corpus, columns=["id"]).column("id").combine_chunks()
    cached = work / "truth" / f"{corpus.stem}-floor{FLOOR}-v{VERSION}.parquet"
    if not cached.exists():
        print(f"comparing all pairs of {corpus.name} …", file=sys.stderr)
        began = time.perf_counter()
        batches = pq.ParquetFile(corpus).iter_batches(batch_size=2_000, columns=["text"])
        left, right, resemblance = all_pairs(text for batch in batches for text in batch.column(0).to_pylist())
        cached.parent.mkdir(parents=True, exist_ok=True)
        partial = cached.with_suffix(".partial")
        pq.write_table(pa.table({"left": left, "right": right, "resemblance": resemblance}), partial)
        partial.replace(cached)
        print(f"  {len(left):,} pairs ≥ {FLOOR} in {time.perf_counter() - began:.0f} s", file=sys.stderr)
    pairs = pq.read_table(cached)
    return Truth(ids, *(pairs.column(name).to_numpy() for name in ("left", "right", "resemblance")))


Pairs = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]


def all_pairs(texts: Iterable[str], *, floor: float = FLOOR) -> Pairs:
    """(left, right, resemblance) of every pair of at least `floor`, in row order."""
    from scipy import sparse

    sets = shingle_sets(texts)
    sizes = np.fromiter(map(len, sets), np.int64, len(sets))
    if not sizes.sum():
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
    distinct, column, uses = np.unique(np.concatenate(sets), return_inverse=True, return_counts=True)
    del sets
    common = uses > 1
    renumbered = np.cumsum(common) - 1
    row = np.repeat(np.arange(len(sizes)), sizes)
    shared = common[column]
    matrix = sparse.csr_matrix(
        (np.ones(int(shared.sum()), np.int32), (row[shared], renumbered[column[shared]])),
        shape=(len(sizes), int(common.sum())),
    )
    del distinct, column, row, shared
    transposed = matrix.T.tocsr()
    found: list[Pairs] = []
    for low in range(0, len(sizes), ROWS_A_PRODUCT):
        counts = (matrix[low : low + ROWS_A_PRODUCT] @ transposed).tocoo()
        left, right, inter = counts.row.astype(np.int64) + low, counts.col.astype(np.int64), counts.data
        later = right > left
        left, right, inter = left[later], right[later], inter[later]
        resemblance = inter / (sizes[left] + sizes[right] - inter)
        kept = resemblance >= floor - 1e-12
        found.append((left[kept], right[kept], resemblance[kept]))
    left, right, resemblance = (np.concatenate(part) for part in zip(*found, strict=True))
    order = np.lexsort((right, left))
    return left[order], right[order], resemblance[order]


def shingle_sets(texts: Iterable[str]) -> list[npt.NDArray[np.uint64]]:
    """The set of 64-bit shingle hashes of every text, sorted."""
    numbers: dict[str, int] = {}
    sets = []
    for text in texts:
        words = [numbers.setdefault(word, len(numbers) + 1) for word in _WORD.findall(text.casefold())]
        sets.append(np.unique(_shingles(np.array(words, np.uint64))))
    return sets


def _shingles(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """A hash of every 5 consecutive word numbers: h ← (mixed(h) + word) over the window."""
    if len(words) == 0:
        return words
    width = min(SHINGLE, len(words))
    windows = len(words) - width + 1
    hashed = np.full(windows, width, np.uint64)
    for step in range(width):
        hashed = (hashed ^ (hashed >> np.uint64(29))) * _MULTIPLIER + words[step : step + windows]
    return (hashed ^ (hashed >> np.uint64(32))) * _MULTIPLIER
