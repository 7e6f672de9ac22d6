"""`python -m benchmarks.refine.paper`: Jain, Dahlin, Tewari, section 3.2, on pages that are at hand.

They had 493 results for "emacs manual" and 56, 220, 317, 328, 340 clusters at 50, 60, 70, 80, 90 %. Those pages are
gone. Here a list has 493 pages, drawn at random and in random order, of

    debian-llvm-html   LLVM's documentation in six releases: one manual on several servers, more or less up to date
    ota-html-dating    services' terms as they were fetched over time
    sample             the sample that comes with neardup, where the collections are not at hand

and is grouped by our stars, by the rule of `neardup.group` with and without containment, and by their filters and
union-find: recipe `bloom`, chunks of 256 bytes, the match of the fuller filter's bits, groups joined by any member.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.index.processes import facts, table
from benchmarks.quality.data import COLLECTIONS, folder
from benchmarks.refine.quality import RESULTS
from neardup import sample
from neardup.kernels import bloom
from neardup.recipes import load_recipe
from neardup.refine import group, sign_many
from neardup.refine.signature import batch_of, read_pages
from neardup.text.extract import decoded, visible_text

RANKED = 493
DEGREES = (0.5, 0.6, 0.7, 0.8, 0.9)
THEIRS = (56, 220, 317, 328, 340)
NAMES = ("debian-llvm-html", "ota-html-dating")


def lists() -> dict[str, list[str]]:
    """HTML pages, the best first."""
    found = {
        collection.name: [document["html"] for document in collection.read()]
        for collection in COLLECTIONS
        if collection.name in NAMES and collection.there
    }
    found["sample"] = [document.html for document in sample.documents()]
    return {name: random.Random(1).sample(pages, min(RANKED, len(pages))) for name, pages in found.items()}


def stars(pages: list[str], *, contained: bool) -> list[int]:
    """The number of our groups at each degree."""
    results = [{"neardup_signature": made} for made in sign_many([read or "" for read in read_pages(pages)])]
    return [len(group(results, threshold=degree, contained=contained)) for degree in DEGREES]


def clusters(pages: list[str]) -> list[int]:
    """The number of their clusters at each degree: all visible text, filters that grow, union-find."""
    sketcher = load_recipe("bloom").sketcher
    texts = [visible_text(decoded(page.encode("utf-8", "replace"), charset="utf-8")) for page in pages]
    made = sketcher.sketch(batch_of([text.encode("utf-8", "replace") for text in texts]))
    words = np.zeros((len(pages), 0), np.uint64)
    kept = sketcher.signatures(words, made.ragged, [None] * len(pages))
    # A signature is the length of the filter, and the filter.
    parts = [kept.values[a + 1 : b] for a, b in zip(kept.offsets, kept.offsets[1:], strict=False)]
    offsets = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
    parent = np.empty(len(pages), np.int64)
    numbers = []
    for degree in DEGREES:
        bloom.group(np.concatenate(parts), offsets, degree, parent)
        numbers.append(len(np.unique(parent)))
    return numbers


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, default=RESULTS / "paper.json")
    parser.add_argument("--most", type=int, default=RANKED, help="results of each list")
    asked = parser.parse_args(arguments)
    rows = [_row("the paper, emacs manual", RANKED, THEIRS)]
    for name in NAMES:
        if not (folder() / name).exists():
            print(f"{name} is not at hand; it is looked for in {folder()}.", file=sys.stderr)
    for name, pages in lists().items():
        few = pages[: asked.most]
        rows.append(_row(f"{name}, their filters and union-find", len(few), clusters(few)))
        rows.append(_row(f"{name}, stars", len(few), stars(few, contained=False)))
        rows.append(_row(f"{name}, stars and containment", len(few), stars(few, contained=True)))
    columns = {key: "{:,}" if key == "results" else "{}" for key in rows[0] if key != "list"}
    print(table(rows, columns, "list", across=True))
    asked.json.parent.mkdir(parents=True, exist_ok=True)
    asked.json.write_text(json.dumps({**facts(), "rows": rows}, indent=1) + "\n")
    return 0


def _row(name: str, results: int, groups: list[int] | tuple[int, ...]) -> dict[str, Any]:
    told = zip(DEGREES, groups, strict=True)
    return {"list": name, "results": results} | {
        f"{degree:.0%}": f"{number} ({1 - number / results:.0%})" for degree, number in told
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
