"""datatrove: the four stages of its MinHash pipeline on the local executor.

Settings and why:
    5-grams, 14 buckets of 8 hashes  its defaults, documented as 92 % of the pairs at exactly 0.8
    64-bit xxhash                    its default
    English word tokenizer           its default; spaCy's blank English pipeline
    --split-words                    replaces it by `str.split`, which gives almost the same words here,
                                     punctuation being gone; not an option of datatrove's, but one line
    tasks = workers, stages 1 and 4  the reader hands out whole files, so the corpus is first split into as
                                     many; that is part of the measured time, its seconds are a setting
    start_method = fork              its default, forkserver, took 4 s more in all on 2,000 documents
    lines_to_buffer = -1             stages 2 and 3 read files whole instead of five records at a time
It removes all but one document of every connected component of its candidates, without verifying them.
"""

from __future__ import annotations

import struct
import time
from pathlib import Path

import outcome
import pyarrow.parquet as pq
from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.dedup import MinhashDedupCluster, MinhashDedupFilter, MinhashDedupSignature
from datatrove.pipeline.dedup.minhash import MinhashConfig, MinhashDedupBuckets
from datatrove.pipeline.readers import ParquetReader
from datatrove.pipeline.writers import ParquetWriter


class SplitWords:
    """The part of a datatrove tokenizer that MinHash uses."""

    def word_tokenize(self, text: str) -> list[str]:
        """Words between white space."""
        return text.split()


def split(corpus: Path, shards: Path, parts: int) -> list[int]:
    """Cut the corpus into `parts` files and return the row each begins at."""
    shards.mkdir()
    table = pq.read_table(corpus)
    size = -(-len(table) // parts)
    for part in range(parts):
        pq.write_table(table.slice(part * size, size), shards / f"{part:05d}.parquet")
    return [part * size for part in range(parts)]


def stages(scratch: Path, config: MinhashConfig, workers: int, *, split_words: bool) -> list[LocalPipelineExecutor]:
    """Signatures, matches per bucket, clusters, filter."""

    def folder(name: str) -> str:
        return str(scratch / name)

    def stage(name: str, tasks: int, *steps: object) -> LocalPipelineExecutor:
        return LocalPipelineExecutor(
            pipeline=list(steps),
            tasks=tasks,
            workers=min(workers, tasks),
            start_method="fork",
            logging_dir=folder(f"logs-{name}"),
        )

    signatures = MinhashDedupSignature(output_folder=folder("signatures"), config=config)
    if split_words:
        signatures.word_tokenizer = SplitWords()
    return [
        stage("signatures", workers, ParquetReader(folder("shards")), signatures),
        stage(
            "buckets",
            config.num_buckets,
            MinhashDedupBuckets(folder("signatures"), folder("buckets"), config=config, lines_to_buffer=-1),
        ),
        stage(
            "clusters",
            1,
            MinhashDedupCluster(
                folder("buckets"), folder("removed"), config=config, save_cluster_id=True, lines_to_buffer=-1
            ),
        ),
        stage(
            "filter",
            workers,
            ParquetReader(folder("shards")),
            MinhashDedupFilter(folder("removed")),
            ParquetWriter(folder("kept")),
        ),
    ]


def integers(path: Path) -> tuple[int, ...]:
    """The 32-bit numbers of a file; none if it was not written."""
    content = path.read_bytes() if path.exists() else b""
    return struct.unpack(f"<{len(content) // 4}I", content)


def main() -> None:
    """Split, run the stages, read what they removed."""
    options = outcome.options(
        __doc__,
        ("--bands", {"type": int, "default": 14}),
        ("--rows", {"type": int, "default": 8}),
        ("--split-words", {"action": "store_true"}),
    )
    config = MinhashConfig(n_grams=outcome.SHINGLE, num_buckets=options.bands, hashes_per_bucket=options.rows)
    began = time.perf_counter()
    starts = split(options.corpus, options.scratch / "shards", options.workers)
    split_seconds = time.perf_counter() - began
    for stage in stages(options.scratch, config, options.workers, split_words=options.split_words):
        stage.run()

    removed: list[int] = []
    clusters: dict[int, list[int]] = {}
    for part, start in enumerate(starts):
        removed += [start + row for row in integers(options.scratch / "removed" / f"{part:06d}.remove")]
        pairs = integers(options.scratch / "removed" / f"{part:06d}.clusters")
        for row, cluster in zip(pairs[::2], pairs[1::2], strict=True):
            clusters.setdefault(cluster, []).append(start + row)
    settings = {
        "bands": options.bands,
        "rows": options.rows,
        "tokenizer": "str.split" if options.split_words else "spaCy English",
        "split_seconds": round(split_seconds, 2),
    }
    outcome.write_result(options.corpus, options.result, removed=removed, groups=clusters.values(), settings=settings)


if __name__ == "__main__":
    main()
