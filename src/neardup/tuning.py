"""Recipes for parameters that somebody tunes: `neardup tune` and the page /tune make theirs here, so that the same
parameters have the same recipe id."""

from neardup.analysis import bloom
from neardup.analysis.filters import Filter
from neardup.recipe import Recipe
from neardup.recipes import published

HIGHEST_RECALL = 0.999999
"""A recall lies below 1, and the probability that a filter finds a pair may be 1 to its last digit."""


def filter_recipe(chosen: Filter, threshold: float, *, recall: float | None = None, base: str = "default") -> Recipe:
    """Make the recipe of a filter: the published recipe `base` with these features, threshold and recall.

    Without a recall it is what the filter reaches at the threshold; where filter and threshold are those of `base`,
    the recipe is `base` itself. A recipe that measures nothing against a threshold keeps its own.
    """
    given = published(base).recipe
    made = given.changed(sketch_k=chosen.k, sketch_s=chosen.s, sketch_r=chosen.r)
    if not made.thresholded or (recall is None and (made, threshold) == (given, given.verify.threshold)):
        return made
    reached = chosen.probability(threshold) if recall is None else recall
    return made.changed(verify_threshold=threshold, verify_recall=min(round(reached, 6), HIGHEST_RECALL))


def bloom_recipe(
    size: bloom.Size, *, chunk: int, per_chunk: int, hashes: int | None = None, similar: float | None = None
) -> Recipe:
    """Make the recipe of Bloom filters of this size: recipe bloom with these chunks, bits and hashes.

    Without `hashes` as many as fill the filter best; without `similar` the paper's share of matching bits.
    """
    given = published("bloom").recipe
    sketch = given.to_dict()["sketch"]
    return given.changed(
        sketch_chunk=chunk,
        sketch_longest=max(chunk, sketch["longest"]),
        sketch_bits=size.bits,
        sketch_per_chunk=per_chunk,
        sketch_hashes=size.hashes if hashes is None else hashes,
        sketch_similar=sketch["similar"] if similar is None else similar,
    )
