"""Min-hash sketches from one hash of each shingle: one permutation hashing, with no bin left empty.

One permutation is cut into as many bins as there would be permutations, and each bin has its minimum (Li, Owen and
Zhang, "One Permutation Hashing", 2012). Bins that stay empty get the document's minimum under a permutation of their
own. That is "Fast Similarity Sketching" (Dahlgaard, Knudsen and Thorup, 2017) with one round over all bins where the
paper has many. A short document costs what it costs under all permutations, a long one a single step per shingle.

Minima agree with probability r, whatever the lengths: a bin agrees where the least of the union is in both documents.
They are drawn without replacement as far as bins are filled, so that the estimate is never worse than that of as many
permutations (`analysis.bins`). Features, samples and keys are those of `minhash`.
"""

from dataclasses import dataclass

from neardup.sketches.minhash import MinHash, MinHashSettings


@dataclass(frozen=True)
class OnePermutationSettings(MinHashSettings):
    """k groups of s bins, of which r must agree; what is said there of permutations holds for bins."""


class OnePermutation(MinHash):
    """Sketches documents by minima in bins."""

    once = True
