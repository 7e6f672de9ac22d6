"""text-dedup: its own command `python -m text_dedup.minhash`, called in this process to read its clusters.

Settings and why:
    5-grams, --num_proc = workers  as asked for
    14 bands of 8 rows             92 % of the pairs at exactly 0.8; its own optimiser at threshold 0.8 and
                                   128 permutations gives 9 × 13, which finds 40 % of them
    --hash_func xxh3               documented as faster than the default SHA-1
    --hash_bits 64                 the default; 32 is no faster on this corpus
    --min_length 1                 the default of 5 words drops shorter documents without a word
It removes all but one document of every connected component of its candidates, without verifying them, and
saves the kept ones with `save_to_disk`. It splits at every non-word character, so that the space after a
comma begins an empty word; that is its own definition and is left alone. Caches go to the scratch folder.
"""

from __future__ import annotations

import os

import outcome


def main() -> None:
    """Run the command, read its union-find."""
    options = outcome.options(
        __doc__,
        ("--bands", {"type": int, "default": 14}),
        ("--rows", {"type": int, "default": 8}),
        ("--hash-bits", {"default": "64"}),
    )
    os.environ |= {"HF_HOME": str(options.scratch / "hf"), "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
    from text_dedup import minhash

    arguments = {
        "path": "parquet",
        "data_files": options.corpus,
        "split": "train",
        "cache_dir": options.scratch / "cache",
        "output": options.scratch / "kept",
        "column": "text",
        "num_proc": options.workers,
        "ngram": outcome.SHINGLE,
        "min_length": 1,
        "num_perm": options.bands * options.rows,
        "b": options.bands,
        "r": options.rows,
        "hash_func": "xxh3",
        "hash_bits": options.hash_bits,
    }
    minhash.main.main(
        [f"--{name}={value}" for name, value in arguments.items()], prog_name="minhash", standalone_mode=False
    )
    components: dict[int, list[int]] = {}
    for row in list(minhash.uf.parent):
        components.setdefault(minhash.uf.find(row), []).append(row)
    removed = [row for root, rows in components.items() for row in rows if row != root]
    settings = {"bands": options.bands, "rows": options.rows, "hash_bits": options.hash_bits}
    outcome.write_result(options.corpus, options.result, removed=removed, groups=components.values(), settings=settings)


if __name__ == "__main__":
    main()
