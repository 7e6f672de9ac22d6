"""Sketches and exact resemblance of texts at hand, without a collection around them."""

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from neardup.recipe import Recipe
from neardup.sketches.base import Sketches
from neardup.text.batches import text_batch
from neardup.verify.resemblance import overlap


@dataclass(frozen=True)
class Resemblance:
    """The exact overlap of two documents' shingle sets."""

    resemblance: float
    first_in_second: float
    second_in_first: float
    identical: bool
    """The same token sequence."""


def sketch(texts: pa.Array | list[str], recipe: Recipe | None = None) -> Sketches:
    """The sketches of texts: an Arrow array of strings or bytes, or a list of strings."""
    array = texts if isinstance(texts, pa.Array) else pa.array(texts, pa.large_string())
    recipe = recipe or Recipe()
    return replace(recipe.sketcher.sketch(text_batch(array)), recipe=recipe.id)


def resemblance(first: str, second: str, recipe: Recipe | None = None) -> Resemblance:
    """Exactly how similar two texts are: |A ∩ B| / |A ∪ B| of their shingle sets, and containment both ways.

    >>> resemblance("a rose is a rose is a rose", "A ROSE, is a rose — is a rose!").resemblance
    1.0
    """
    minhash = (recipe or Recipe()).sketcher
    batch = text_batch(pa.array([first, second], pa.large_string()))
    identities = minhash.sketch(batch).identities
    sets, sizes = minhash.shingle_sets(batch, np.arange(2))
    starts = np.array([0, sizes[0]], np.int64)
    found = overlap(sets, starts, sizes, np.array([[0, 1]], np.int64))
    return Resemblance(
        resemblance=float(found.resemblance[0]),
        first_in_second=float(found.first_in_second[0]),
        second_in_first=float(found.second_in_first[0]),
        identical=bool((identities[0] == identities[1]).all()),
    )
