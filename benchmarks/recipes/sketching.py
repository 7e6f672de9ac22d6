"""`python -m benchmarks.recipes.sketching`: every recipe from text to sketch, on one core, in one run.

Made text: words of 2 to 9 letters by Zipf's law, documents of 3.2 kB. Henzinger's web terms are not part of it.
A megabyte is 10^6 bytes of text. Bytes are what is kept per document, the 128-bit identity not counted.
"""

import json
import time
from typing import Any

import neardup
from benchmarks.recipes.simhash import make_text
from neardup.text.batches import TextBatch

MEGABYTES = 20
DOCUMENT = 3_200
REPEAT = 5


def measure(megabytes: float = MEGABYTES) -> dict[str, dict[str, Any]]:
    """MB/s and bytes per document, by recipe."""
    data, offsets = make_text(int(megabytes * 1e6), DOCUMENT)
    batch = TextBatch(data, offsets)
    figures: dict[str, dict[str, Any]] = {}
    for name in neardup.recipe_names():
        sketcher = neardup.load_recipe(name).sketcher
        made = sketcher.sketch(batch)
        fastest = float("inf")
        for _ in range(REPEAT):
            begin = time.thread_time()
            sketcher.sketch(batch)
            fastest = min(fastest, time.thread_time() - begin)
        ragged = 8 * len(made.ragged.values) / len(made.status)
        figures[name] = {
            "MB/s": len(data) / 1e6 / fastest,
            "bytes": made.words.shape[1] * 8 + made.samples.shape[1] + round(ragged),
        }
    return figures


if __name__ == "__main__":
    print(json.dumps(measure(), indent=2, default=float))
