"""rensa: RMinHash sketches in a pool of processes, then its RMinHashDeduplicator in a greedy pass.

rensa takes ready tokens, so the 5-word shingles are made in Python, by as many processes as there are
workers.

Settings and why:
    128 permutations            the library's documented number
    full-set RMinHash           its "rho" sketch is faster but samples token positions: their order counts
    LSH with 32 bands (4 rows)  proposes all but 1 in 10,000 of the pairs at exactly 0.8, for no more time
                                than 16 bands; the 8 bands of 16 rows of its benchmark propose 20 % of them
    RMinHashDeduplicator        holds candidates against the threshold by the sketches' estimate
"""

from __future__ import annotations

from multiprocessing import Pool

import outcome
from rensa import RMinHash, RMinHashDeduplicator

PERMUTATIONS = 128
SEED = 42


def sketch(texts: list[str]) -> list[RMinHash]:
    """The sketches of a batch of texts."""
    found: list[RMinHash] = RMinHash.from_token_sets(
        [outcome.shingles(text) for text in texts], num_perm=PERMUTATIONS, seed=SEED
    )
    return found


def main() -> None:
    """Sketch in parallel, decide in file order."""
    options = outcome.options(__doc__, ("--bands", {"type": int, "default": 32}))
    deduplicator = RMinHashDeduplicator(
        threshold=options.threshold, num_perm=PERMUTATIONS, use_lsh=True, num_bands=options.bands, seed=SEED
    )
    keeper: dict[int, int] = {}
    start = 0
    with Pool(options.workers) as pool:
        for sketches in pool.imap(sketch, outcome.text_batches(options.corpus)):
            rows = range(start, start + len(sketches))
            added = deduplicator.add_pairs([(str(row), each) for row, each in zip(rows, sketches, strict=True)])
            removed = [(row, each) for row, each, new in zip(rows, sketches, added, strict=True) if not new]
            partners = deduplicator.get_duplicate_sets([each for _, each in removed])
            for (row, _), kept in zip(removed, partners, strict=True):
                keeper[row] = min(map(int, kept))
            start += len(sketches)
    outcome.write_kept(options.corpus, keeper, options.scratch)
    settings = {"permutations": PERMUTATIONS, "bands": options.bands, "rows": PERMUTATIONS // options.bands}
    outcome.write_result(
        options.corpus, options.result, removed=keeper, groups=outcome.stars(keeper), settings=settings
    )


if __name__ == "__main__":
    main()
