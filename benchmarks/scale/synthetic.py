"""A synthetic collection of any size: short documents with planted near-duplicates, as a folder of Parquet files.

The documents are those of `benchmarks.speed.corpus` (30 % in planted clusters of exact, near and template copies),
shorter. The plan is made once; then processes write the files, since the text of a document follows from its row of
the plan alone.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.speed.corpus import Parameters, batches
from benchmarks.speed.planting import Plan
from benchmarks.speed.vocabulary import Vocabulary

MEAN_BYTES = 750
PER_FILE = 1 << 19
PER_GROUP = 1 << 16
"""Documents of a file and of a row group."""


def build(documents: int, work: Path, *, mean_bytes: int = MEAN_BYTES, processes: int = 2) -> tuple[Path, Any]:
    """The folder and what is in it; made once, and found there later."""
    parameters = Parameters(documents, mean_bytes=mean_bytes)
    folder = work / "synthetic" / parameters.name
    facts = folder.with_name(folder.name + ".json")
    if folder.exists() and facts.exists():
        return folder, json.loads(facts.read_text())
    print(f"writing {folder} …", file=sys.stderr)
    began = time.perf_counter()
    draft = folder.with_name(folder.name + ".partial")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    planned, words = parameters.planned()
    write = partial(_write, draft, planned, words)
    # Forked processes have the plan already: half a gigabyte for ten million documents.
    forked = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(processes, forked, initializer=_inherit, initargs=(write,)) as pool:
        text_bytes = sum(pool.map(_inherited, range(0, documents, PER_FILE)))
    shutil.rmtree(folder, ignore_errors=True)
    os.replace(draft, folder)
    found = {
        "documents": documents,
        "text_bytes": text_bytes,
        "file_bytes": sum(path.stat().st_size for path in folder.iterdir()),
        "files": len(list(folder.iterdir())),
        "planted_clusters": int(planned.cluster.max()) + 1,
        "seconds_to_write": round(time.perf_counter() - began, 1),
    }
    facts.write_text(json.dumps(found, indent=1) + "\n")
    return folder, found


_JOB: list[Any] = []


def _inherit(write: Any) -> None:
    _JOB[:] = [write]


def _inherited(begin: int) -> int:
    found: int = _JOB[0](begin)
    return found


def _write(folder: Path, planned: Plan, words: Vocabulary, begin: int) -> int:
    """One file; how many bytes of text are in it."""
    text_bytes, waiting = 0, []
    path = folder / f"part-{begin // PER_FILE:05d}.parquet"
    with pq.ParquetWriter(path, next(batches(planned, words, end=1)).schema) as writer:
        for batch in batches(planned, words, begin=begin, end=begin + PER_FILE):
            text_bytes += pc.sum(pc.binary_length(batch.column("text"))).as_py()
            waiting.append(batch)
            if sum(map(len, waiting)) >= PER_GROUP:
                writer.write_table(pa.Table.from_batches(waiting))
                waiting = []
        if waiting:
            writer.write_table(pa.Table.from_batches(waiting))
    return text_bytes
