"""`python -m benchmarks.recipes.fidelity [INPUT…]`: where recipes deviate from their papers, and what it changes.

    thresholds    pairs of our setting and of another reading of the paper, and those that both find
    terms         pairs by our terms and by those of Henzinger, section 2, to the letter; the mean of 10 seeds
    stars         all pairs, and the removals of `dedup`, each of which names one
    clusters      documents that stars remove, and those that chains do
    missed        pairs that comparing every two documents finds, and our candidates do not
    short         documents that are shorter than a shingle, and pairs of lists without words
    permutations  the share of agreeing minima and of found pairs, under permutations of 32 and of 64 bits

Without an input the documents are those of `neardup sample`. Others are files with one JSON document per line, plain
or packed: its id, its text or html, and its url where it has one. --part measures one of these parts, and --recipe one
recipe of it. Of the terms, "as written" keeps case, and "runs" folds it; in both, a run of letters of a script without
spaces is one term.
"""

import argparse
import json
import sys
import unicodedata
from collections.abc import Callable, Sequence
from itertools import combinations
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import neardup
from benchmarks.recipes.estimates import overlap_of
from benchmarks.speed import machine
from neardup import sample
from neardup.clusters.settings import ClusterMethod
from neardup.kernels import text as kernel
from neardup.recipe import Recipe
from neardup.text.web import plain_text, web_text
from neardup.verify.signatures import Signatures

RESULTS = Path(__file__).parent / "results" / "fidelity.json"
Rows = list[dict[str, Any]]
Pairs = set[tuple[str, str]]

OTHERWISE: tuple[tuple[str, dict[str, Any]], ...] = (
    ("alg-c", {"sketch_similar": 373}),
    ("by-site", {"sketch_different": 373}),
    ("altavista", {"sketch_r": 3}),
    ("altavista", {"shingles_width": 5}),
    ("resemblance", {"verify_threshold": 0.5 + 1e-9}),
    ("bottom-m", {"verify_threshold": 0.8 + 1e-9}),
    ("bottom-m", {"sketch_m": 200}),
    ("mod-n", {"verify_threshold": 0.8 + 1e-9}),
    ("bloom", {"sketch_grow": False}),
    ("bloom", {"sketch_grow": False, "sketch_measure": "containment"}),
    ("mod-n", {"sketch_n": 4}),
    ("default", {"verify_method": "sketch"}),
    ("default", {"shingles_fingerprint": "rabin"}),
    ("one-pass", {"verify_method": "sketch"}),
    ("web", {"verify_same_site": 0.0}),
    ("stream", {"verify_method": "exact"}),
)
"""Recipes, and settings of the paper, or of another reading of it, where ours are others."""

WEB = ("alg-b", "alg-c")
LISTED = ("alg-b", "alg-c", "combined", "by-site", "resemblance")


def found(rows: Rows, recipe: Recipe) -> tuple[Pairs, int]:
    """The pairs of documents by id, and how many documents were compared with too few others."""
    listed = neardup.pairs(pa.Table.from_pylist(rows), recipe=recipe, **options(rows))
    table = listed.table()
    both = zip(table["first"].to_pylist(), table["second"].to_pylist(), strict=True)
    return {(min(pair), max(pair)) for pair in both}, listed.cut_short


def options(rows: Rows) -> dict[str, Any]:
    fields = {"text_field": "html" if "html" in rows[0] else "text", "html": "html" in rows[0], "id_field": "id"}
    return {**fields, "url_field": "url"} if "url" in rows[0] else fields


def thresholds(rows: Rows, recipes: Sequence[str]) -> list[dict[str, Any]]:
    """Ours beside another reading of a threshold or a setting."""
    told = []
    for name, otherwise in (row for row in OTHERWISE if row[0] in recipes):
        recipe = neardup.load_recipe(name)
        ours, theirs = (found(rows, recipe.changed(**settings))[0] for settings in ({}, otherwise))
        counts = {"ours": len(ours), "theirs": len(theirs), "both": len(ours & theirs)}
        told.append({"recipe": name, "theirs are": otherwise, **counts})
    return told


def text_of(row: dict[str, Any]) -> str:
    """The text whose words are Henzinger's terms."""
    return web_text(row["html"], host=None) if "html" in row else plain_text(row["text"])


def as_terms(rows: Rows, terms_of: Callable[[str], list[str]]) -> Rows:
    """Documents whose words are these terms, whatever they are made of: each written in letters and digits."""
    return [
        {"id": row["id"], "text": " ".join(f"t{term.encode().hex()}" for term in terms_of(text_of(row)))}
        for row in rows
    ]


def as_written(text: str) -> list[str]:
    """Maximal sequences of letters, digits and the marks on them."""
    return "".join(c if unicodedata.category(c)[0] in "LNM" else " " for c in text).split()


def runs(text: str) -> list[str]:
    """The same of folded text."""
    return as_written(unicodedata.normalize("NFKC", text).casefold())


def without_spaces(text: str) -> bool:
    """Whether most of its letters are of scripts that are written without spaces."""
    letters = [c for c in text if c.isalpha()]
    alone = sum(unicodedata.name(c, "-").split()[0] in ("CJK", "HIRAGANA", "KATAKANA", "THAI") for c in letters)
    return 2 * alone > len(letters)


def terms(rows: Rows, recipes: Sequence[str], seeds: int = 10) -> list[dict[str, Any]]:
    """Pairs by Henzinger's terms to the letter, beside ours; those of scripts without spaces apart."""
    apart = {row["id"] for row in rows if without_spaces(text_of(row))}
    ways = {"ours": rows, "as written": as_terms(rows, as_written), "runs": as_terms(rows, runs)}
    told = []
    for name in (name for name in WEB if name in recipes):
        recipe = neardup.load_recipe(name)
        for way, documents in ways.items():
            listed = [found(documents, recipe.changed(sketch_seed=seed))[0] for seed in range(1, seeds + 1)]
            counts = [(len(pairs), sum(first in apart for first, _ in pairs)) for pairs in listed]
            every, some = np.mean(counts, axis=0).tolist()
            told.append({"recipe": name, "terms": way, "pairs": every, "of scripts without spaces": some})
    return [{"documents": len(rows), "of scripts without spaces": len(apart)}, *told]


def stars(rows: Rows, recipes: Sequence[str]) -> list[dict[str, Any]]:
    """All pairs, and the removals of `dedup`: each names one pair."""
    told = []
    for name in (name for name in LISTED if name in recipes):
        recipe = neardup.load_recipe(name)
        pairs, cut = found(rows, recipe)
        removed = neardup.dedup(pa.Table.from_pylist(rows), recipe=recipe, **options(rows)).removed
        degrees = np.unique(np.array(sorted(pairs)).reshape(-1), return_counts=True)[1] if pairs else np.zeros(1, int)
        counts = {"removed": removed.num_rows, "cut short": cut, "most pairs of a document": int(degrees.max())}
        told.append({"recipe": name, "pairs": len(pairs), **counts})
    return told


def clusters(rows: Rows, recipes: Sequence[str]) -> list[dict[str, Any]]:
    """Documents that stars remove, and those that components do."""
    table, told = pa.Table.from_pylist(rows), []
    for name in (name for name in ("default", "web", *LISTED) if name in recipes):
        ways: tuple[ClusterMethod, ...] = ("star", "components")
        results = {way: neardup.dedup(table, recipe=name, cluster=way, **options(rows)) for way in ways}
        told.append({"recipe": name, **{way: result.removed.num_rows for way, result in results.items()}})
    return told


def missed(rows: Rows, recipes: Sequence[str], most: int = 2000) -> list[dict[str, Any]]:
    """Pairs of all that score enough, and those of them that share no key."""
    told = []
    for name in (name for name in ("alg-c", "bloom") if name in recipes):
        recipe = neardup.load_recipe(name)
        some = as_terms(rows[:most], runs) if name == "alg-c" else rows[:most]
        if "text" not in some[0]:
            continue
        made = neardup.sketch([row["text"] for row in some], recipe)
        signatures = Signatures.of_sketches(recipe.sketcher, [made])
        every = np.array(list(combinations(np.flatnonzero(made.compared).tolist(), 2)))
        enough = every[signatures.scores(every) >= recipe.sketcher.comparison.similar]
        ids = [row["id"] for row in some]
        true = {(min(ids[i], ids[j]), max(ids[i], ids[j])) for i, j in enough.tolist()}
        ours, _ = found([{"id": row["id"], "text": row["text"]} for row in some], recipe)
        told.append({"recipe": name, "documents": len(some), "similar": len(true), "missed": len(true - ours)})
    return told


def short(rows: Rows, recipes: Sequence[str]) -> list[dict[str, Any]]:
    """Documents that are shorter than a shingle of alg-b; pairs that share a list of no words, and no other."""
    texts = [text_of(row) for row in rows]
    few = int((neardup.sketch(texts, "alg-b").status == kernel.SHORT).sum())
    words = neardup.sketch(texts, "lists").words
    empty = (words == 0) & ~(words == 0).all(axis=1, keepdims=True)
    pairs = sum(comb(int(n), 2) for n in empty.sum(axis=0))
    counts = {"with an empty list": int(empty.any(axis=1).sum()), "pairs by empty lists": pairs}
    return [{"shorter than 8 terms": few, **counts}]


Numbers = NDArray[np.uint64]


def wide_minima(values: Numbers, multiply: Numbers, add: Numbers) -> Numbers:
    """The minima of values under x → a·x + b mod 2^64."""
    return np.array([(values * a + b).min() for a, b in zip(multiply, add, strict=True)])


def permutations(shingles: int, resemblance: float, trials: int, widths: tuple[int, ...] = (32, 64)) -> dict[str, Any]:
    """The same pairs of sets under 84 permutations of each width: what agrees, and what [6, 14, 2] finds."""
    k, s, r = 6, 14, 2
    rng = np.random.default_rng(shingles)
    shared = overlap_of(shingles, resemblance)
    agreed = {bits: np.empty((trials, k * s), np.bool_) for bits in widths}
    for trial in range(trials):
        union = rng.integers(0, 2**64 - 1, 2 * shingles - shared, dtype=np.uint64)
        sides = union[:shingles], union[shingles - shared :]
        draw = rng.integers(0, 2**64 - 1, (2, k * s), dtype=np.uint64)
        multiply, add = draw[0] | np.uint64(1), draw[1]
        for bits, rows in agreed.items():
            if bits == 64:
                minima = [wide_minima(side, multiply, add) for side in sides]
            else:
                minima = [np.empty(k * s, np.uint32) for _ in sides]
                for side, out in zip(sides, minima, strict=True):
                    kernel.minima(side, shingles, multiply.astype(np.uint32), add.astype(np.uint32), out)
            rows[trial] = minima[0] == minima[1]
    told: dict[str, Any] = {"shingles": shingles, "resemblance": shared / (2 * shingles - shared), "pairs": trials}
    for bits, rows in agreed.items():
        features = rows.reshape(trials, k, s).all(axis=2).sum(axis=1)
        told[f"{bits} bits"] = {"agree": float(rows.mean()), "found": float((features >= r).mean())}
    return told


def both_widths(rows: Rows, recipes: Sequence[str]) -> list[dict[str, Any]]:
    """Pairs on the slope of the filter; and unrelated ones, which agree by chance alone."""
    near = [permutations(n, x, 4000 if n < 1000 else 2000) for n in (100, 1000) for x in (0.85, 0.9, 0.95)]
    return [*near, *(permutations(n, 0.0, 400, (32,)) for n in (1000, 1_000_000))]


def collection(paths: list[Path]) -> Rows:
    """Documents of files; without any, the sample's."""
    if not paths:
        return [{"id": d.id, "url": d.url, "text": d.text} for d in sample.documents()]
    import fsspec

    rows = []
    for path in paths:
        with fsspec.open(path, "rt", compression="infer") as file:
            rows += [json.loads(line) for line in file]
    return [{key: row[key] for key in ("id", "url", "text", "html") if key in row} for row in rows]


PARTS: dict[str, Callable[[Rows, Sequence[str]], list[dict[str, Any]]]] = {
    "thresholds": thresholds,
    "terms": terms,
    "stars": stars,
    "clusters": clusters,
    "missed": missed,
    "short": short,
    "permutations": both_widths,
}


def main(argv: list[str] | None = None) -> int:
    """Measure, print, write down."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recipes.fidelity", description=__doc__)
    parser.add_argument("inputs", nargs="*", type=Path)
    parser.add_argument("--part", action="append", choices=PARTS)
    parser.add_argument("--recipe", action="append", choices=neardup.recipe_names())
    parser.add_argument("--json", type=Path, default=RESULTS)
    options = parser.parse_args(argv)
    rows = collection(options.inputs)
    report: dict[str, Any] = {**machine.describe(), "documents": len(rows)}
    for part in options.part or PARTS:
        report[part] = PARTS[part](rows, options.recipe or neardup.recipe_names())
        print(part, *(json.dumps(row) for row in report[part]), sep="\n    ", flush=True)
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(report, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
