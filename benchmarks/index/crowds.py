"""`python -m benchmarks.index.crowds`: what an index without texts does to the pages of one template.

    --originals 500 2000 10000 50000      pages of one template, each with one near-duplicate
    --between 0.70 0.75 0.79              resemblance (Jaccard similarity of shingle sets) of any two pages
    --duplicate 0.85                      resemblance of a near-duplicate to its page
    --order "originals first" shuffled
    --recipe stream                       a name, or a TOML file: that is how the curve of bytes is drawn
    --batch 1000                          documents that arrive at once

dropped      of the pages that resemble every page before them by `between` at the most: the share that was refused.
found        of the near-duplicates whose page (or the other way round) was stored: the share that was refused for it.
bytes        of the store for each stored document, compacted.
µs           CPU time of check_and_add_batches for each document; all documents are made beforehand.
unrelated    the same for as many documents that share nothing.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchmarks.crowds.corpus import ORDERS, Crowd, Parameters, crowd, unrelated
from neardup import Index, Verdict, load_recipe


def offered(documents: pa.Table, recipe: str, batch: int) -> tuple[list[Verdict], dict[str, float]]:
    """Offer documents to a new index: the verdicts, and what it cost."""
    lines = documents.select(["id", "text"]).to_pylist()
    batches = [lines[at : at + batch] for at in range(0, len(lines), batch)]
    with tempfile.TemporaryDirectory() as folder, Index.open(Path(folder) / "index", load_recipe(recipe)) as index:
        index.check_many(lines[:1])  # the kernels are compiled or loaded
        began = time.process_time()
        verdicts = [verdict for told in index.check_and_add_batches(batches) for verdict in told]
        seconds = time.process_time() - began
        index.compact()
        stored = max(1, len(index))
        return verdicts, {"bytes": index.info()["bytes"] / stored, "µs": seconds / len(lines) * 1e6}


def judged(made: Crowd, verdicts: list[Verdict]) -> dict[str, float]:
    """Count what was wrong, by the crowd's truth."""
    partner = dict(zip(*(made.truth.column(side).to_pylist() for side in ("duplicate", "original")), strict=True))
    partner |= {original: duplicate for duplicate, original in partner.items()}
    stored: set[str] = set()
    distinct = dropped = pairs = found = 0
    for verdict in verdicts:
        if partner[verdict.id] in stored:
            pairs += 1
            found += verdict.match is not None and verdict.match.id == partner[verdict.id]
        else:
            distinct += 1
            dropped += verdict.match is not None
        if verdict.added:
            stored.add(verdict.id)
    return {"dropped": dropped / distinct, "found": found / max(1, pairs)}


def main(argv: list[str] | None = None) -> int:
    """Print a JSON line for each crowd."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.index.crowds", description=main.__doc__)
    parser.add_argument("--originals", type=int, nargs="+", default=[500, 2_000, 10_000, 50_000])
    parser.add_argument("--between", type=float, nargs="+", default=[0.70, 0.75, 0.79])
    parser.add_argument("--duplicate", type=float, default=0.85)
    parser.add_argument("--order", nargs="+", choices=ORDERS, default=list(ORDERS))
    parser.add_argument("--recipe", nargs="+", default=["stream"])
    parser.add_argument("--shingles", type=int, default=270)
    parser.add_argument("--batch", type=int, default=1_000)
    options = parser.parse_args(argv)
    for recipe in options.recipe:
        for n in options.originals:
            _, cost = offered(unrelated(2 * n, shingles=options.shingles), recipe, options.batch)
            tell(recipe=recipe, documents=2 * n, between=0.0, **cost)
            for between in options.between:
                for order in options.order:
                    made = crowd(Parameters(n, between, options.duplicate, order, shingles=options.shingles))
                    verdicts, cost = offered(made.documents, recipe, options.batch)
                    asked = {"between": between, "duplicate": options.duplicate, "order": order}
                    tell(recipe=recipe, documents=2 * n, **asked, **judged(made, verdicts), **cost)
    return 0


def tell(**facts: Any) -> None:
    """Print what was measured as a line."""
    rounded = {name: round(value, 4) if isinstance(value, float) else value for name, value in facts.items()}
    print(json.dumps(rounded, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    sys.exit(main())
