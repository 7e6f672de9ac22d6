"""`python -m benchmarks.recipes.bloom`: chunks and Bloom filters from raw text, one core, in memory.

20 MB of English-like ASCII text in documents of 8 kB: sentences of words drawn by Zipf's law, with commas, quotes,
dashes, paragraphs and now and then a numbered line. Measured, each as the best of 5 passes after one pass to compile,
in processor time of the one thread:
    text to filter   canonical form, identity, chunks of 256 bytes, filters of 2,048 bits with k = 6 (also: per part)
    without form     chunks and filters of the bytes as they are
    match            two filters of 2,048 bits: neighbours in memory, and at random
    group            320 results of 8 kB, 40 pages with 7 near copies each, at 70 %: all pairs and union-find
A megabyte is 10^6 bytes of the text. Beside the speed stand what it bought: bytes a chunk, the share of bits that
unrelated documents share, and the groups found.
"""

import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.speed.vocabulary import vocabulary
from neardup import rabin
from neardup.kernels import bloom, chunks, groups, unicode_tables
from neardup.sketches.base import even

MEGABYTES = 20
DOCUMENT = 8_000
BITS, HASHES = 2048, 6
WINDOW, CHUNK_BITS, MARKER, LONGEST = 48, 8, 0x78, 65536
RESULTS, COPIES = 320, 8
REPEAT = 5
PAIRS = 1_000_000
SEED = np.uint64(1)


def make_document(words: list[str], drawn: Any, rng: np.random.Generator) -> bytes:
    """DOCUMENT bytes of sentences."""
    parts = []
    marks = rng.integers(0, 200, len(drawn)).tolist()
    begins = True
    for word, mark in zip(drawn.tolist(), marks, strict=True):
        spelled = words[word].capitalize() if begins else words[word]
        begins = mark < 14
        if mark < 2:
            spelled += f".\n\n{mark + 1}. " if mark else ".\n\n"
        elif mark < 14:
            spelled += ". "
        elif mark < 26:
            spelled += ", "
        elif mark < 29:
            spelled = f'"{spelled}" '
        elif mark < 32:
            spelled += " - "
        else:
            spelled += " "
        parts.append(spelled)
    return "".join(parts).encode()[:DOCUMENT]


def make_documents(count: int, *, copies: int = 1, seed: int = 1) -> list[bytes]:
    """`count` documents; each is followed by copies - 1 of it, with 100 bytes of it replaced."""
    words = vocabulary("ascii", seed=seed)
    spelled = list(words.words)
    rng = np.random.default_rng(seed)
    made: list[bytes] = []
    while len(made) < count:
        drawn = words.quantiles[rng.integers(0, len(words.quantiles), DOCUMENT // 3)]
        text = make_document(spelled, drawn, rng)
        made.append(text)
        for _ in range(copies - 1):
            at, other = rng.integers(0, DOCUMENT - 100, 2)
            made.append(text[:at] + text[other : other + 100] + text[at + 100 :])
    return made[:count]


def best(step: Callable[[], object]) -> float:
    """Seconds of the fastest of REPEAT passes, after one that compiles; of this thread, whatever runs beside it."""
    step()
    fastest = float("inf")
    for _ in range(REPEAT):
        begin = time.thread_time()
        step()
        fastest = min(fastest, time.thread_time() - begin)
    return fastest


class Batch:
    """Documents, and room for what is made of them."""

    def __init__(self, documents: list[bytes]) -> None:
        n = len(documents)
        self.data = np.frombuffer(b"".join(documents), np.uint8)
        self.offsets = np.concatenate([[0], np.cumsum([len(d) for d in documents])]).astype(np.int64)
        polynomial = rabin.choose_polynomial(64, 1)
        self.push, self.pop = rabin.push_table(polynomial), rabin.pop_table(polynomial, WINDOW)
        self.status, self.sizes = np.zeros(n, np.uint8), np.zeros(n, np.int64)
        self.identities, self.ends = np.zeros((n, 2), np.uint64), np.zeros(n, np.int64)
        self.hashes = np.empty(len(self.data) // 64 + 64 * n, np.uint64)
        self.bits = np.full(n, BITS, np.int64)
        self.places = np.arange(n + 1) * (BITS // 64)
        self.filters = np.zeros(n * (BITS // 64), np.uint64)

    def chunk(self) -> None:
        """Canonical form, identity and chunks."""
        total = chunks.chunk_documents(
            self.data, self.offsets, unicode_tables(), self.push, self.pop, WINDOW, CHUNK_BITS, np.uint64(MARKER),
            LONGEST, SEED, self.status, self.sizes, self.identities, self.ends, self.hashes,
        )  # fmt: skip
        assert total == self.ends[-1] > 0

    def chunk_as_is(self) -> None:
        """Chunks of the bytes as they are."""
        total = 0
        for i in range(len(self.ends)):
            total += chunks.chunk_bytes(
                self.data, self.offsets[i], self.offsets[i + 1], self.push, self.pop, WINDOW, CHUNK_BITS,
                np.uint64(MARKER), LONGEST, SEED, self.hashes[total:],
            )  # fmt: skip
            self.ends[i] = total

    def fill(self) -> None:
        """Bloom filters of the chunks."""
        bloom.fill(self.hashes, self.ends, self.bits, HASHES, self.filters, self.places)

    def canonical(self, out: Any) -> None:
        """The canonical form of all the text as one document."""
        assert chunks.canonical(self.data, 0, len(self.data), unicode_tables(), out) > 0

    def cut(self) -> None:
        """The ends of the chunks of all the text as one document."""
        arguments = (self.push, self.pop, WINDOW, CHUNK_BITS, np.uint64(MARKER), LONGEST, self.hashes)
        assert chunks.cut(self.data, 0, len(self.data), *arguments) > 0


def measure(megabytes: float = MEGABYTES) -> dict[str, float]:
    """The figures by name."""
    batch = Batch(make_documents(int(megabytes * 1e6 / DOCUMENT)))
    documents, size = len(batch.ends), len(batch.data) / 1e6
    room = np.empty(2 * len(batch.data) + 64, np.uint8)
    figures = {
        "megabytes": size,
        "documents": documents,
        "canonical form, MB/s": size / best(lambda: batch.canonical(room)),
        "cut, MB/s": size / best(batch.cut),
    }
    as_is = best(batch.chunk_as_is)
    figures["text to filter without form, MB/s"] = size / (as_is + best(batch.fill))
    chunking = best(batch.chunk)
    filling = best(batch.fill)
    figures["fill, ns/chunk"] = filling / int(batch.ends[-1]) * 1e9
    figures["text to filter, MB/s"] = size / (chunking + filling)
    figures["bytes per chunk"] = float(batch.sizes.sum() / batch.ends[-1])
    first = np.arange(PAIRS) % (documents - 1)
    at_random = np.random.default_rng(2).integers(0, documents, (PAIRS, 2))
    shared = np.empty((PAIRS, 3), np.int64)
    for name, pairs in (("neighbours", np.stack([first, first + 1], axis=1)), ("random", at_random)):
        taken = best(lambda pairs=pairs: bloom.matching(batch.filters, batch.places, pairs, shared))  # type: ignore[misc]
        figures[f"match {name}, ns"] = taken / PAIRS * 1e9
    counted = np.full((documents, 1), BITS // 64, np.uint64)
    rows = even(np.concatenate([counted, batch.filters.reshape(documents, -1)], axis=1))
    scored = np.empty(PAIRS)
    as_recipe = (groups.FILTER, np.empty((0, 0), np.uint8), rows.values, rows.offsets, np.array([0.0, 0.0]))
    neighbours = np.stack([first, first + 1], axis=1)
    taken = best(lambda: groups.scores(*as_recipe, neighbours, scored))
    figures["score as the recipe does, ns"] = taken / PAIRS * 1e9
    different = at_random[:, 0] != at_random[:, 1]
    figures["match of unrelated documents"] = float((shared[:, 2] / shared[:, 0])[different].mean())
    results = Batch(make_documents(RESULTS, copies=COPIES, seed=2))
    results.chunk()
    results.fill()
    parent = np.zeros(RESULTS, np.int64)
    figures["group 320, ms"] = best(lambda: bloom.group(results.filters, results.places, 0.7, parent)) * 1e3
    figures["groups of 40"] = len(np.unique(parent))
    return figures


def main() -> None:
    """Print the figures as JSON."""
    print(json.dumps({name: round(value, 2) for name, value in measure().items()}, indent=2))


if __name__ == "__main__":
    main()
