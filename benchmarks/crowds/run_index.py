"""python -m benchmarks.crowds.run_index FILE INDEX RESULT RECIPE: offer a Parquet file to a new index that keeps texts.

RESULT is JSON: for every document that was refused the stored one that it is similar to, and what the calls cost.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq

from benchmarks.crowds.systems import BATCH
from neardup import Index
from neardup.recipes import load_recipe


def main() -> None:
    file, folder, result, recipe = sys.argv[1:]
    removed: dict[str, str] = {}
    with Index.open(folder, load_recipe(recipe), keep="text") as index:  # with the seed of the other engines
        began, cpu_began = time.perf_counter(), time.process_time()
        batches = (batch.to_pylist() for batch in pq.ParquetFile(file).iter_batches(batch_size=BATCH))
        for verdicts in index.check_and_add_batches(batches):
            removed.update({verdict.id: verdict.match.id for verdict in verdicts if verdict.match is not None})
        seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - cpu_began
        said = index.info()
    counts = {name: value for name, value in said.items() if isinstance(value, int | float)}
    found = {"removed": removed, "seconds": seconds, "cpu_seconds": cpu_seconds, "counts": counts}
    Path(result).write_text(json.dumps(found))


if __name__ == "__main__":
    main()
