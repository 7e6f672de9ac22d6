"""Texts of every length, some of them versions of others: the sample, and those of the labelled collections (see
benchmarks/quality/data.py) that are at hand."""

from __future__ import annotations

import gzip
import json
import lzma
import random
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from benchmarks.quality.data import folder
from neardup import sample
from neardup.refine.signature import read_pages

FEW = 600
"""Documents of a collection at the most: all pairs are looked at."""


def corpora() -> dict[str, Callable[[], list[str]]]:
    """What reads or makes the texts of each one that is at hand, by name."""
    found: dict[str, Callable[[], list[str]]] = {
        "sample": lambda: [document.text for document in sample.documents()],
        "sample, 200 characters": lambda: [document.text[:200] for document in sample.documents()],
        "1 MB, paragraphs replaced": lambda: list(long_texts()),
    }
    for name, (file, texts) in _SHARED.items():
        path = folder() / name / file
        if path.exists():
            found[name] = lambda texts=texts, path=path: list(islice(texts(path), FEW))
    return found


def long_texts(bases: int = 8, versions: int = 4, size: int = 1_000_000) -> Iterator[str]:
    """Words of the sample in random order, in paragraphs of 60; versions have 5 to 60 % of them replaced."""
    rng = random.Random(1)
    words = [word for d in sample.documents() if d.language.startswith("en") for word in d.text.split()]
    paragraphs = size * len(words) // sum(len(word) + 1 for word in words) // 60

    def paragraph() -> str:
        return " ".join(rng.choices(words, k=60))

    for _ in range(bases):
        base = [paragraph() for _ in range(paragraphs)]
        for share in (0.0, *(rng.uniform(0.05, 0.6) for _ in range(versions - 1))):
            yield "\n".join(paragraph() if rng.random() < share else line for line in base)


def _lines(path: Path) -> Iterator[dict[str, str]]:
    opened = lzma.open if path.suffix == ".xz" else gzip.open
    with opened(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _texts(path: Path) -> Iterator[str]:
    return (line["text"] for line in _lines(path))


def _pages(path: Path) -> Iterator[str]:
    return (read_pages([line["html"]])[0] or "" for line in _lines(path))


def _answers(path: Path) -> Iterator[str]:
    return (file.read_text(errors="replace") for file in sorted(path.parent.glob("*_task*.txt")))


_SHARED: dict[str, tuple[str, Callable[[Path], Iterator[str]]]] = {
    "clough-stevenson": ("file_information.csv", _answers),
    "webis-s3-pairs": ("docs.jsonl.gz", _texts),
    "ota-text": ("docs.jsonl.xz", _texts),
    "ota-html-dating": ("docs.jsonl.xz", _pages),
    "debian-llvm-html": ("docs.jsonl.xz", _pages),
}
