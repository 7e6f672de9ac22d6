"""datasketch: MinHash sketches in a pool of processes, then one MinHashLSH in a greedy pass.

The library has no pipeline of its own; this is the one its documentation leads to:
sketch (`MinHash.update_batch`), query the index, insert what is not a near-duplicate of anything kept.

Settings and why:
    128 permutations, scheme affine32  the library's defaults
    threshold T, weights (0.4, 0.6)    the documented setting "if minimizing false negative (or maintaining
                                       high recall) is more important"; it gives 10 bands of 12 rows,
                                       which find 51 % of the pairs at exactly 0.8 (the default weights: 40 %)
    --bands 16 --rows 8                `params=(16, 8)`, the documented way around the optimiser; 95 % of the
                                       pairs at exactly 0.8, at the price of many below it, so that
    --verify                           candidates are held against the threshold by `MinHash.jaccard`
    xxhash for shingles                the manual advises a faster hash function than its default SHA-1
"""

from __future__ import annotations

from functools import partial
from multiprocessing import Pool

import numpy as np
import numpy.typing as npt
import outcome
import xxhash
from datasketch import MinHash, MinHashLSH

PERMUTATIONS = 128
WEIGHTS = (0.4, 0.6)


def sketch(texts: list[str], template: MinHash) -> npt.NDArray[np.uint32]:
    """The hash values of a batch of texts."""
    values = np.empty((len(texts), PERMUTATIONS), np.uint32)
    for row, text in enumerate(texts):
        minhash = template.copy()
        if found := outcome.shingles(text):
            minhash.update_batch([shingle.encode() for shingle in found])
        values[row] = minhash.hashvalues
    return values


def main() -> None:
    """Sketch in parallel, decide in file order."""
    options = outcome.options(
        __doc__,
        ("--bands", {"type": int, "default": None}),
        ("--rows", {"type": int, "default": None}),
        ("--verify", {"action": "store_true"}),
    )
    template = MinHash(num_perm=PERMUTATIONS, hashfunc=xxhash.xxh32_intdigest)
    if options.bands:
        lsh = MinHashLSH(num_perm=PERMUTATIONS, params=(options.bands, options.rows))
    else:
        lsh = MinHashLSH(threshold=options.threshold, num_perm=PERMUTATIONS, weights=WEIGHTS)
    keeper: dict[int, int] = {}
    kept: dict[int, MinHash] = {}
    row = 0
    with Pool(options.workers) as pool:
        for values in pool.imap(partial(sketch, template=template), outcome.text_batches(options.corpus)):
            for hashvalues in values:
                minhash = MinHash(
                    hashvalues=hashvalues,
                    permutations=template.permutations,
                    scheme=template.scheme,
                    seed=template.seed,
                )
                found = lsh.query(minhash)
                if options.verify:
                    found = [each for each in found if kept[each].jaccard(minhash) >= options.threshold]
                if found:
                    keeper[row] = min(found)
                else:
                    lsh.insert(row, minhash, check_duplication=False)
                    if options.verify:
                        kept[row] = minhash
                row += 1
    outcome.write_kept(options.corpus, keeper, options.scratch)
    settings = {"permutations": PERMUTATIONS, "bands": lsh.b, "rows": lsh.r, "verified": options.verify}
    outcome.write_result(
        options.corpus, options.result, removed=keeper, groups=outcome.stars(keeper), settings=settings
    )


if __name__ == "__main__":
    main()
