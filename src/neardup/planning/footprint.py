"""A recipe → what a document of a given size leaves behind: bytes of its sketch, its keys, its shingle set."""

from dataclasses import dataclass

import numpy as np

from neardup.planning.constants import Constants
from neardup.recipe import Recipe
from neardup.sketches.base import Ragged
from neardup.sketches.bloom import BloomSettings
from neardup.sketches.kinds import kind_of
from neardup.sketches.minhash import MinHashSettings
from neardup.sketches.samples import ModSettings

WORD = 8
_LINE = 80
"""Bytes of a line of text: assumed."""


@dataclass(frozen=True)
class Footprint:
    """Of one document of mean size."""

    sketch: int
    """Bytes of words, samples, and of what varies from document to document."""
    signature: int
    """Bytes of it that candidates are compared by."""
    keys: int
    shingles: int
    """In its shingle set, 8 bytes each."""
    later: int
    """Bytes that are sketched of candidates alone."""
    nanoseconds: float
    """CPU time from text to sketch, per byte."""

    @classmethod
    def of(cls, recipe: Recipe, document_bytes: float, known: Constants) -> "Footprint":
        """For documents of this many bytes of text."""
        sketcher = recipe.sketcher
        shingles = max(1, round(_tokens(recipe, document_bytes, known)) - recipe.shingles.width + 1)
        elements = 0
        if isinstance(recipe.sketch, ModSettings):
            elements = max(1, round(shingles / recipe.sketch.n))
        elif isinstance(recipe.sketch, BloomSettings):
            elements = max(1, round(document_bytes / recipe.sketch.chunk))
        some = np.arange(1, 1 + max(sketcher.words, elements), dtype=np.uint64)  # as good as a sketch to count keys
        held = Ragged(some[:elements], np.array([0, elements], np.int64))
        keys = sketcher.keys(np.ascontiguousarray(some[None, : sketcher.words]), held)
        later = sketcher.on_the_fly
        words = WORD * (sketcher.words + elements)
        return cls(
            sketch=words + sketcher.samples,
            signature=sketcher.samples or words,
            keys=len(keys.values),
            shingles=shingles,
            later=0 if later is None else WORD * later.words,
            nanoseconds=_nanoseconds(recipe, known),
        )


def _tokens(recipe: Recipe, document_bytes: float, known: Constants) -> float:
    each = {"words": known.collection["bytes_per_word"], "chars": 1.0, "lines": float(_LINE)}
    return document_bytes / each[recipe.text.tokens]


def _nanoseconds(recipe: Recipe, known: Constants) -> float:
    """Min-hashes cost by their number, and more with Rabin's fingerprints; others as published."""
    kind = kind_of(recipe.sketch)
    if kind in ("minhash", "odd") and isinstance(recipe.sketch, MinHashSettings):
        odd = known.sketching.get("odd", 0.0) if kind == "odd" else 0.0
        rabin = known.sketching["rabin"] if recipe.sketcher.polynomial is not None else 0.0
        return known.sketching["minhash"] + known.sketching["permutation"] * recipe.sketch.permutations + rabin + odd
    return known.sketching[kind]
