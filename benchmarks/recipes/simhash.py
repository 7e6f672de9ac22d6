"""`python -m benchmarks.recipes.simhash`: Algorithm C from raw text, one core, in memory.

20 MB of ASCII text in documents of about 3 kB: words of 2 to 9 letters, drawn by Zipf's law from 50,000. Measured, each
as the best of 5 passes after one pass to compile:
    tokens      bytes → token fingerprints (kernels.text.fingerprint_documents, w = 1, with the documents' identities)
    project     fingerprints → signatures of 384 bits, by the count, once, or logarithm of a token's frequency
    agreements  the C-similarity of pairs of signatures: neighbours in memory, and at random
A megabyte is 10^6 bytes of the text; "MB/s" is tokens and project together.
"""

import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from neardup.kernels import simhash, text, unicode_tables

MEGABYTES = 20
DOCUMENT = 3_000
BITS = 384
VOCABULARY = 50_000
REPEAT = 5
PAIRS = 1_000_000


def make_text(size: int, document: int, seed: int = 1) -> tuple[Any, Any]:
    """ASCII bytes, and the offsets of documents which begin at words."""
    rng = np.random.default_rng(seed)
    letters = np.frombuffer(b"etaoinshrdlcumwfgypbvk", np.uint8)
    lengths = np.clip(rng.poisson(4.0, VOCABULARY) + 1, 2, 9)
    words = [rng.choice(letters, n).tobytes() for n in lengths]
    weights = 1.0 / np.arange(1, VOCABULARY + 1)
    drawn = rng.choice(VOCABULARY, size // 4, p=weights / weights.sum())
    ends = np.cumsum(lengths[drawn] + 1)
    drawn = drawn[: int(np.searchsorted(ends, size))]
    data = np.frombuffer(b" ".join([words[i] for i in drawn]) + b" ", np.uint8)
    starts = np.concatenate([[0], ends[: len(drawn)]])
    cuts = np.searchsorted(starts, np.arange(0, len(data), document))
    return data, np.append(starts[cuts], len(data)).astype(np.int64)


def best(step: Callable[[], object]) -> float:
    """Seconds of the fastest of REPEAT passes, after one that compiles; in time of this thread, not of the machine."""
    step()
    fastest = float("inf")
    for _ in range(REPEAT):
        begin = time.thread_time()
        step()
        fastest = min(fastest, time.thread_time() - begin)
    return fastest


def measure(megabytes: float = MEGABYTES) -> dict[str, float]:
    """The figures by name."""
    data, offsets = make_text(int(megabytes * 1e6), DOCUMENT)
    documents = len(offsets) - 1
    seed = np.uint64(1)
    status, tokens = np.zeros(documents, np.uint8), np.zeros(documents, np.int64)
    identities = np.zeros((documents, 2), np.uint64)
    ends = np.zeros(documents, np.int64)
    fingerprints = np.empty(len(data) // 2 + documents, np.uint64)
    signatures = np.zeros((documents, simhash.signature_words(BITS)), np.uint64)
    total = 0

    def tokenize() -> None:
        nonlocal total
        total = text.fingerprint_documents(
            data,
            offsets,
            text.WORDS,
            1,
            False,
            seed,
            unicode_tables(),
            None,
            status,
            tokens,
            identities,
            ends,
            fingerprints,
        )

    def project(kind: int) -> None:
        simhash.project_weighted(fingerprints, ends, kind, BITS, seed, signatures)

    seconds = best(tokenize)
    assert total == ends[-1] > 0
    figures = {
        "megabytes": len(data) / 1e6,
        "documents": documents,
        "bytes per token": len(data) / total,
        "tokens, ns/token": seconds / total * 1e9,
    }
    for name, kind in (("count", simhash.COUNT), ("once", simhash.ONCE), ("log", simhash.LOG)):
        projecting = best(lambda kind=kind: project(kind))  # type: ignore[misc]
        figures[f"project {name}, ns/token"] = projecting / total * 1e9
        figures[f"{name}, MB/s"] = len(data) / 1e6 / (seconds + projecting)
    agreed = np.empty(PAIRS, np.int32)
    first = np.arange(PAIRS) % (documents - 1)
    at_random = np.random.default_rng(2).integers(0, documents, (PAIRS, 2))
    for name, pairs in (("neighbours", np.stack([first, first + 1], axis=1)), ("random", at_random)):
        taken = best(lambda pairs=pairs: simhash.agreements(signatures, pairs, BITS, agreed))  # type: ignore[misc]
        figures[f"agreements {name}, ns/pair"] = taken / PAIRS * 1e9
    return figures


def main() -> None:
    """Print the figures as JSON."""
    print(json.dumps({name: round(value, 2) for name, value in measure().items()}, indent=2))


if __name__ == "__main__":
    main()
