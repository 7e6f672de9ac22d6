"""python -m benchmarks.quality [--collection NAME]… [--recipe NAME]… [--results FILE]

Prints a table per labelled collection: precision, recall and F1 of every recipe, with intervals; the same without the
labels that mislead; F1 on the half that choices were made on, and on the other one. A second table has the recipes that
look at URLs, with addresses. Collections that are not at hand are skipped, and named.
"""

import argparse
import json
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import neardup
from benchmarks.quality.data import COLLECTIONS, Labelled, folder, half, one_page
from neardup.evaluating import evaluate
from neardup.text.sites import host

BY_ADDRESS = ("web", "by-site", "default")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument("--collection", action="append", choices=[c.name for c in COLLECTIONS])
    parser.add_argument("--recipe", action="append", help="names or TOML files; all if not given")
    parser.add_argument("--results", type=Path, help="write the numbers to this file, as JSON")
    given = parser.parse_args()
    print(f"Labelled collections are looked for in {folder()} (or where NEARDUP_DATA says).", file=sys.stderr)
    rows: list[dict[str, Any]] = []
    for collection in COLLECTIONS:
        if given.collection and collection.name not in given.collection:
            continue
        if not collection.there:
            print(f"\n{collection.name}: skipped, there is no {collection.path / collection.documents}")
            continue
        misleading = one_page(collection)
        recipes = given.recipe or neardup.recipe_names()
        rows += _measured(collection, recipes, misleading, addresses=False)
        if collection.url(next(collection.read())):
            rows += _measured(collection, [r for r in BY_ADDRESS if r in recipes], misleading, addresses=True)
    if given.results:
        given.results.write_text(json.dumps({"machine": _machine(), "rows": rows}, indent=1) + "\n")


def _measured(
    collection: Labelled, recipes: list[str], misleading: set[tuple[str, str]], *, addresses: bool
) -> list[dict[str, Any]]:
    if not recipes:
        return []
    with tempfile.TemporaryDirectory(prefix="neardup-quality-") as work:
        pages = Path(work, "pages.jsonl")
        halves, hosts = _write(collection, pages, addresses)
        began = time.perf_counter()
        found = evaluate(
            pages,
            collection.path / collection.labels,
            recipes=recipes,
            unlisted=collection.unlisted,
            correct_from=collection.correct_from,
            incorrect_below=collection.incorrect_below,
            splits=False,
            papers=False,
        )
    first, second = (found.pairs.column(c).to_pylist() for c in ("first", "second"))
    verdict = np.array(found.pairs.column("verdict").to_pylist())
    misled = np.array([(min(p), max(p)) in misleading for p in zip(first, second, strict=True)])
    part = np.array([halves[a] + halves[b] for a, b in zip(first, second, strict=True)])
    same = np.array([hosts[a] is not None and hosts[a] == hosts[b] for a, b in zip(first, second, strict=True)])
    rows = []
    for result in found.results:
        held = found.pairs.column(f"found:{result.name}").to_numpy()
        rows.append(
            {
                "collection": collection.name,
                "addresses": addresses,
                "recipe": result.name,
                "pairs": result.pairs.pairs,
                "incorrect": result.pairs.incorrect,
                **{m: list(getattr(result.pairs, m)) for m in ("precision", "recall", "f1")},
                "same_site": _scores(verdict, held, same) if same.any() else None,
                "clean": _scores(verdict, held, ~misled),
                "chosen_on": _scores(verdict, held, part == 0),
                "tested_on": _scores(verdict, held, part == 2),
                "tested_on_clean": _scores(verdict, held, (part == 2) & ~misled),
            }
        )
    _show(collection, rows, int((misled & (verdict == "incorrect")).sum()), len(misleading), addresses)
    print(f"{found.documents:,} documents, {time.perf_counter() - began:.0f} s for {len(recipes)} recipes")
    return rows


def _write(collection: Labelled, path: Path, addresses: bool) -> tuple[dict[str, int], dict[str, str | None]]:
    """The documents as neardup reads them; the half and the host of each."""
    halves, hosts = {}, {}
    with path.open("w", encoding="utf-8") as file:
        for document in collection.read():
            halves[document["id"]] = half(collection.group(document))
            hosts[document["id"]] = host(collection.url(document))
            body = {"html": document["html"]} if "html" in document else {"text": document["text"]}
            row = {"id": document["id"], **({"url": collection.url(document)} if addresses else {}), **body}
            file.write(json.dumps(row) + "\n")
    return halves, hosts


def _scores(verdict: np.ndarray, found: np.ndarray, among: np.ndarray) -> list[float]:
    """Precision, recall and F1 of some of the pairs."""
    correct = float(((verdict == "correct") & found & among).sum())
    incorrect = float(((verdict == "incorrect") & found & among).sum())
    missed = float(((verdict == "correct") & ~found & among).sum())
    return [
        correct / max(1.0, correct + incorrect),
        correct / max(1.0, correct + missed),
        2 * correct / max(1.0, 2 * correct + incorrect + missed),
    ]


def _show(collection: Labelled, rows: list[dict[str, Any]], misled: int, misleading: int, addresses: bool) -> None:
    print(f"\n{collection.name}{', with addresses' if addresses else ''}")
    if misleading:
        print(
            f"clean: without the pairs that are one page with two texts in it ({misled:,} of those found by any recipe)"
        )
    headings = (
        *("recipe", "precision", "recall", "F1", "incorrect", "same site P", "clean P", "R", "F1"),
        *("F1 chosen on", "F1 tested on", "clean"),
    )
    print(f"{headings[0]:<12}" + "".join(f"{h:>22}" for h in headings[1:4]) + "".join(f"{h:>13}" for h in headings[4:]))
    for row in sorted(rows, key=lambda r: -r["f1"][0]):
        cells = [f"{v:.4f} [{low:.3f}, {high:.3f}]" for v, low, high in (row["precision"], row["recall"], row["f1"])]
        same = row["same_site"][0] if row["same_site"] else float("nan")
        more = [same, *row["clean"], row["chosen_on"][2], row["tested_on"][2], row["tested_on_clean"][2]]
        print(
            f"{row['recipe']:<12}"
            + "".join(f"{c:>22}" for c in cells)
            + f"{row['incorrect']:>13,}"
            + "".join(f"{x:>13.4f}" for x in more)
        )


def _machine() -> dict[str, str]:
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return {"commit": commit.stdout.strip(), "python": platform.python_version(), "neardup": neardup.__version__}


if __name__ == "__main__":
    main()
