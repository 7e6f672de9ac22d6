"""`python -m benchmarks.refine.quality`: how well 256 bytes tell what share of two texts is the same.

    filter      how many elements and hashes: the error of the share of two random sets, for 1,920 bits
    chunks      how long chunks and windows: how well the share of equal chunks follows that of equal 5-word shingles
    signatures  the settings that were chosen: against the chunks themselves, and against the resemblance
    labels      the same against the labels of the sample, which call pages of one template different, by threshold

Shares are of the longer one of two documents. All pairs of a collection are looked at; those that have nothing to do
with each other are by far the most, so errors are of the pairs that share a fifth of their shingles or more.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.index.processes import facts, table
from benchmarks.refine.corpora import corpora
from neardup import sample
from neardup.kernels import results as kernel
from neardup.recipe import Recipe
from neardup.refine import signature
from neardup.refine.signature import BITS, MOST, Signed, batch_of, chunks_of, signatures

RESULTS = Path(__file__).parent / "results"
RELATED = 0.2
FILTERS = [(240, 1), (240, 2), (240, 6), (480, 1), (480, 2), (480, 4), (960, 1), (960, 2), (1920, 1)]
SHARES = (0.0, 0.5, 0.7, 0.9)
CHUNKS = [
    (16, 12),
    (16, 16),
    (16, 24),
    (32, 16),
    (32, 24),
    (32, 48),
    (64, 16),
    (64, 24),
    (64, 48),
    (128, 24),
    (256, 48),
]


def filters(trials: int = 200) -> list[dict[str, Any]]:
    """Root mean squared error of the share of two sets of n elements."""
    return [
        {"kept, hashes": f"{most}, {hashes}"}
        | {
            f"n = {n:,}, share {share}": _error(n, share, most, hashes, trials)
            for n in (60, 900, 20_000)
            for share in SHARES
        }
        for most, hashes in FILTERS
    ]


def _error(n: int, share: float, most: int, hashes: int, trials: int) -> float:
    rng = np.random.default_rng(1)
    common = round(n * share)
    drawn = [rng.integers(0, 2**63, 2 * n - common, np.uint64) for _ in range(trials)]
    elements = [np.sort(part) for both in drawn for part in (both[:n], both[n - common :])]
    words, ones = np.zeros((2 * trials, BITS // 64), np.uint64), np.empty(2 * trials, np.int64)
    kernel.fill(np.concatenate(elements), np.cumsum([n] * 2 * trials), most, hashes, words)
    kernel.count(words, ones)
    sizes = np.empty(BITS + 1)
    kernel.estimates(BITS, hashes, sizes)
    found = np.empty((trials, 2))
    numbers = np.arange(2 * trials)
    kernel.scores(
        words, ones, np.full(2 * trials, n), numbers.astype(np.uint64), sizes, most, hashes,
        numbers.reshape(-1, 2), found,
    )  # fmt: skip
    return float(np.sqrt(((found[:, 0] - common / n) ** 2).mean()))


class Compared:
    """All pairs of a collection by their 5-word shingles."""

    def __init__(self, texts: list[str]) -> None:
        self.texts = [text for text in texts if text.split()]
        self.batch = batch_of([text.encode("utf-8", "replace") for text in self.texts])
        self.pairs = np.argwhere(np.triu(np.ones((len(self.texts),) * 2, bool), 1))
        sets, sizes = Recipe().sketcher.shingle_sets(self.batch, np.arange(len(self.texts)))
        common, longer, shorter = self._common(sets, sizes)
        self.share = common / np.maximum(1, longer)
        self.resemblance = common / np.maximum(1, longer + shorter - common)
        self.contained = common / np.maximum(1, shorter)
        self.related = self.share >= RELATED

    def chunk_share(self) -> np.ndarray:
        """The share of equal chunks, exactly."""
        elements, ends = chunks_of(self.batch)
        common, longer, _ = self._common(elements, np.diff(ends, prepend=0))
        return common / np.maximum(1, longer)

    def _common(self, values: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        _, columns = np.unique(values, return_inverse=True)
        rows = np.repeat(np.arange(len(sizes)), sizes)
        shape = (len(sizes), len(columns) and int(columns.max()) + 1)
        matrix = sparse.csr_matrix((np.ones(len(rows), np.float32), (rows, columns)), shape)
        shared = (matrix @ matrix.T).toarray()[self.pairs[:, 0], self.pairs[:, 1]]
        both = sizes[self.pairs]
        return shared, both.max(axis=1), both.min(axis=1)

    def judged(self, found: np.ndarray, from_: float) -> tuple[float, float]:
        """Precision and recall against a resemblance."""
        true = self.resemblance >= from_
        return float((found & true).sum() / max(1, found.sum())), float((found & true).sum() / max(1, true.sum()))


def chunks(name: str, compared: Compared) -> list[dict[str, Any]]:
    """Every length of chunks and windows."""
    rows = []
    chosen = signature.CHUNKS
    for chunk, window in CHUNKS:
        signature.CHUNKS = replace(chosen, chunk=chunk, window=window, longest=max(1024, chunk))
        signature._rabin.cache_clear()
        found = compared.chunk_share()
        error = (found - compared.share)[compared.related]
        precision, recall = compared.judged(found >= 0.7, 0.6)
        rows.append(
            {
                "collection": name,
                "chunk, window": f"{chunk}, {window}",
                "bias": float(error.mean()),
                "deviation": float(error.std()),
                "correlation": float(np.corrcoef(found[compared.related], compared.share[compared.related])[0, 1]),
                "best F1 at 0.6": max(_f1(*compared.judged(found >= t, 0.6)) for t in np.arange(0.3, 0.95, 0.02)),
                "precision at 0.7": precision,
                "recall at 0.7": recall,
            }
        )
    signature.CHUNKS = chosen
    signature._rabin.cache_clear()
    return rows


def _f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / max(1e-9, precision + recall)


def chosen(name: str, compared: Compared) -> dict[str, Any]:
    """The signatures as they are."""
    made = Signed.of(signatures(compared.texts))
    match, containment = made.scores(compared.pairs).T
    exact = compared.chunk_share()
    first, second = made.identities[compared.pairs].T
    error = (match - exact)[compared.related & (first != second)]
    against = (match - compared.share)[compared.related]
    row: dict[str, Any] = {
        "collection": name,
        "documents": len(compared.texts),
        "median bytes": int(np.median(compared.batch.sizes)),
        "more than are kept": float((made.elements > MOST).mean()),
        "related pairs": int(compared.related.sum()),
        "error to chunks": float(np.sqrt((error**2).mean())),
        "bias to shingles": float(against.mean()),
        "error to shingles": float(np.sqrt((against**2).mean())),
        "largest match below 0.05": float(match[compared.resemblance < 0.05].max(initial=0.0)),
    }
    for from_ in (0.5, 0.6, 0.7, 0.8):
        precision, recall = compared.judged(match >= 0.7, from_)
        row |= {f"precision {from_}": precision, f"recall {from_}": recall}
    within = (containment >= 0.9) & (match < 0.7)
    parts = (compared.contained >= 0.95) & (match < 0.7)
    row["contained, found"] = int(within.sum())
    row["of these less than 0.8"] = int((compared.contained[within] < 0.8).sum())
    row["contained, exactly"] = int(parts.sum())
    row["of these not told"] = int((containment[parts] < 0).sum())
    return row


def labelled() -> list[dict[str, Any]]:
    """Of the sample's labelled pairs the share that is found at a threshold: duplicates, pages of one template that a
    program filled in, and other pairs that are different."""
    documents = list(sample.documents())
    places = {document.id: place for place, document in enumerate(documents)}
    pairs = list(sample.pairs(documents))
    numbers = np.array([[places[pair.a], places[pair.b]] for pair in pairs])
    match = Signed.of(signatures([document.text for document in documents])).scores(numbers)[:, 0]
    duplicate = np.array([pair.label == "duplicate" for pair in pairs])
    template = np.array([pair.kind.startswith("template/") for pair in pairs])
    classes = {"duplicate": duplicate, "of one template": template, "otherwise different": ~duplicate & ~template}
    return [
        {"threshold": threshold}
        | {f"{name} ({which.sum()})": float((match[which] >= threshold).mean()) for name, which in classes.items()}
        for threshold in (0.6, 0.7, 0.75, 0.8, 0.85, 0.9)
    ]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, default=RESULTS / "quality.json")
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--only", nargs="*", help="names of collections")
    asked = parser.parse_args(arguments)
    found: dict[str, Any] = facts()
    found["filter"] = filters(asked.trials)
    names = {name: "{:.3f}" for name in found["filter"][0] if name != "kept, hashes"}
    print(table(found["filter"], names, "kept, hashes"), end="\n\n")
    found["chunks"], found["signatures"] = [], []
    for name, texts in corpora().items():
        if asked.only and name not in asked.only:
            continue
        compared = Compared(texts())
        rows = chunks(name, compared)
        found["chunks"] += rows
        found["signatures"].append(chosen(name, compared))
        print(f"{name}\n")
        print(table(rows, dict.fromkeys(list(rows[0])[2:], "{:.3f}"), "chunk, window", across=True), end="\n\n")
    forms = {key: "{:,}" if isinstance(value, int) else "{:.3f}" for key, value in found["signatures"][0].items()}
    del forms["collection"]
    print(table(found["signatures"], forms, "collection"))
    found["labels"] = labelled()
    print()
    names = {key: "{:.3f}" for key in found["labels"][0] if key != "threshold"}
    print(table(found["labels"], names, "threshold", across=True))
    asked.json.parent.mkdir(parents=True, exist_ok=True)
    asked.json.write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
