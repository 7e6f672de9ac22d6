"""The labelled collections: where they are looked for, and how their labels are read.

They are not part of the project. The folder is the one that NEARDUP_DATA names, or ../shared/data beside the project;
each collection is a folder in it with the documents and the labels as its README describes.

    ota-html-contrib, ota-html-dating   pages of services' terms over time (Open Terms Archive); a pair is graded by the
                                        resemblance of the legal texts that others cut out of the pages
    debian-llvm-html                    LLVM's documentation in six releases, graded by the text of role="main"
    webis-s3-pairs                      pairs of GOV2 pages, judged by people (Fröbe et al., ECIR 2020)

    debian-installation-guide, openjdk-17-doc, rust-doc   manuals with frames and menus; `manuals` makes these

A pair is correct from grade 0.9 on and incorrect below 0.5 or where it is not listed; of webis-s3-pairs from 2 on and
at 0, and pairs that are not listed are unknown.

Labels that mislead. Some services put several legal texts on one page, and some share a page. Two snapshots of that
page, from which two different texts were cut, are labelled as different (the texts are), though they are one page.
`one_page` finds them from the texts that were cut out, whatever any recipe says: pairs labelled incorrect of which one
page holds at least 85 % of the 4-word shingles of the other one's text, which is how the collection tells that a page
holds its text, and the other at least half, for texts are edited.

Halves. What was chosen by looking at results (the rule for main content, the thresholds of recipe `web`) was chosen on
the documents whose service (or page) has an even hash; the others are the test.
"""

import csv
import gzip
import hashlib
import json
import lzma
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from neardup.comparing.tokens import tokens_of
from neardup.text.extract import decoded, visible_text

HOLDS = 0.85
"""Share of a text's shingles in a page from which on the page holds the text."""

MOSTLY = 0.5
"""The same where the text has been edited since."""


def folder() -> Path:
    """Where the collections are looked for."""
    given = os.environ.get("NEARDUP_DATA")
    return Path(given) if given else Path(__file__).parents[2].parent / "shared" / "data"


@dataclass(frozen=True)
class Labelled:
    """One collection."""

    name: str
    documents: str
    labels: str
    unlisted: str = "incorrect"
    correct_from: float = 0.9
    incorrect_below: float = 0.5

    @property
    def path(self) -> Path:
        """Its folder."""
        return folder() / self.name

    @property
    def there(self) -> bool:
        """Whether it is at hand."""
        return (self.path / self.documents).exists() and (self.path / self.labels).exists()

    def read(self) -> Iterator[dict[str, Any]]:
        """The documents as they are stored."""
        opened = lzma.open if self.documents.endswith(".xz") else gzip.open
        with opened(self.path / self.documents, "rt", encoding="utf-8") as lines:
            yield from map(json.loads, lines)

    def group(self, document: dict[str, Any]) -> str:
        """What is in one half as a whole: a service, or a page in all its releases."""
        page: str = document.get("page", document["id"])
        return page.partition("/")[0] if self.name.startswith("ota") else page

    def url(self, document: dict[str, Any]) -> str | None:
        """An address as the collection tells it: the service or the project, and the page."""
        if "page" not in document:
            return None
        if self.name.startswith("ota"):
            service, _, page = document["page"].partition("/")
            return f"https://{_slug(service)}.example/{_slug(page)}"
        if self.name == "debian-llvm-html":
            return f"https://llvm.example/{document['package']}/{document['page']}"
        return f"https://{self.name}.example/{document['id']}"


COLLECTIONS = (
    Labelled("ota-html-contrib", "docs.jsonl.xz", "pairs.tsv"),
    Labelled("ota-html-dating", "docs.jsonl.xz", "pairs.tsv"),
    Labelled("debian-llvm-html", "docs.jsonl.xz", "pairs.tsv"),
    Labelled("debian-installation-guide", "docs.jsonl.xz", "pairs.tsv"),
    Labelled("openjdk-17-doc", "docs.jsonl.xz", "pairs.tsv"),
    Labelled("rust-doc", "docs.jsonl.xz", "pairs.tsv"),
    Labelled("webis-s3-pairs", "docs.jsonl.gz", "pairs.jsonl", "unknown", 2.0, 1.0),
)


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "x"


def half(group: str) -> int:
    """0: for choosing; 1: for testing."""
    return int(hashlib.sha256(f"half:{group}".encode()).hexdigest(), 16) % 2


def one_page(collection: Labelled) -> set[tuple[str, str]]:
    """Pairs that are labelled as different and are one page with two texts in it; ids in order."""
    versions = collection.path / "versions.jsonl.xz"
    if not versions.exists():
        return set()
    with lzma.open(versions, "rt", encoding="utf-8") as lines:
        texts = {row["version"]: _shingles(row["markdown"]) for row in map(json.loads, lines)}
    with (collection.path / collection.labels).open(encoding="utf-8") as file:
        graded = {
            tuple(sorted((row["id_a"], row["id_b"]))): float(row["version_resemblance"])
            for row in csv.DictReader(file, delimiter="\t")
        }
    documents = [(d["id"], visible_text(decoded(d["html"].encode())), d["version"]) for d in collection.read()]
    names = [name for name, _, _ in documents]
    held = _held([texts[version] for _, _, version in documents], [_shingles(page) for _, page, _ in documents])
    one, other = np.maximum(held, held.T), np.minimum(held, held.T)
    both = np.argwhere(np.triu((one >= HOLDS) & (other >= MOSTLY), 1)).tolist()
    found = {(min(names[i], names[j]), max(names[i], names[j])) for i, j in both}
    return {pair for pair in found if graded.get(pair, 0.0) < collection.incorrect_below}


def _shingles(text: str, width: int = 4) -> np.ndarray:
    tokens = tokens_of(text).hashes
    mixed = np.zeros(max(0, len(tokens) - width + 1), np.uint64)
    with np.errstate(over="ignore"):
        for i in range(width):
            mixed = mixed * np.uint64(0x9E3779B97F4A7C15) ^ tokens[i : len(tokens) - width + 1 + i]
    return np.unique(mixed)


def _held(texts: list[np.ndarray], pages: list[np.ndarray]) -> np.ndarray:
    """Row i, column j: the share of text i that page j holds."""
    sets = [*texts, *pages]
    _, columns = np.unique(np.concatenate(sets), return_inverse=True)
    rows = np.repeat(np.arange(len(sets)), [len(s) for s in sets])
    matrix = sparse.csr_matrix((np.ones(len(rows), np.float32), (rows, columns)))
    shared = (matrix[: len(texts)] @ matrix[len(texts) :].T).toarray()
    return shared / np.maximum(1, [[len(t)] for t in texts])
