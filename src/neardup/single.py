"""Sketches and exact resemblance of texts at hand, without a collection around them."""

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.errors import RecipeError, UsageError
from neardup.recipe import Recipe
from neardup.recipes import choose_recipe
from neardup.sketches.base import Sketches
from neardup.text.batches import text_batch
from neardup.verify.resemblance import overlap
from neardup.verify.signatures import Signatures


@dataclass(frozen=True)
class Resemblance:
    """The exact overlap of two documents' shingle sets."""

    resemblance: float
    first_in_second: float
    second_in_first: float
    identical: bool
    """The same token sequence."""


def sketch(texts: pa.Array | list[str], recipe: Recipe | str | None = None) -> Sketches:
    """The sketches of texts: an Arrow array of strings or bytes, or a list of strings."""
    if isinstance(texts, str | bytes):
        raise UsageError("sketch takes a list of texts; put one text into a list.")
    try:
        array = texts if isinstance(texts, pa.Array) else pa.array(texts, pa.large_string())
    except (pa.ArrowTypeError, pa.ArrowInvalid) as error:
        raise UsageError(f"sketch takes a list of strings, or an Arrow array of strings or bytes: {error}") from error
    recipe = choose_recipe(recipe) if recipe else Recipe()
    return replace(recipe.sketcher.sketch(text_batch(array)), recipe=recipe.id)


def scores(first: Sketches, second: Sketches, recipe: Recipe | str) -> NDArray[np.float64]:
    """What the sketches of two batches show of their pairs, row by row, in the unit of the recipe's measure; NaN where
    a document has no tokens.

    >>> one, other = sketch(["a rose is a rose"], "resemblance"), sketch(["A rose is a rose!"], "resemblance")
    >>> scores(one, other, "resemblance").tolist()
    [1.0]
    """
    recipe = choose_recipe(recipe)
    for made in (first, second):
        if made.recipe != recipe.id:
            raise RecipeError(
                f"these sketches were made by recipe {made.recipe or 'unknown'}, and this is recipe {recipe.id}; "
                "sketches of two recipes do not compare. Sketch both with the same one."
            )
    if len(first.status) != len(second.status):
        raise UsageError(f"{len(first.status)} sketches and {len(second.status)}: they are compared row by row.")
    n = len(first.status)
    rows = np.stack([np.arange(n), np.arange(n, 2 * n)], axis=1)
    found = Signatures.of_sketches(recipe.sketcher, [first, second]).scores(rows)
    found[~(first.compared & second.compared)] = np.nan
    return found


def resemblance(first: str, second: str, recipe: Recipe | str | None = None) -> Resemblance:
    """Exactly how similar two texts are: |A ∩ B| / |A ∪ B| of their shingle sets, and containment both ways.

    >>> resemblance("a rose is a rose is a rose", "A ROSE, is a rose — is a rose!").resemblance
    1.0
    """
    sketcher = (choose_recipe(recipe) if recipe else Recipe()).sketcher
    batch = text_batch(pa.array([first, second], pa.large_string()))
    identities = sketcher.sketch(batch).identities
    sets, sizes = sketcher.shingle_sets(batch, np.arange(2))
    starts = np.array([0, sizes[0]], np.int64)
    found = overlap(sets, starts, sizes, np.array([[0, 1]], np.int64))
    return Resemblance(
        resemblance=float(found.resemblance[0]),
        first_in_second=float(found.first_in_second[0]),
        second_in_first=float(found.second_in_first[0]),
        identical=bool((identities[0] == identities[1]).all()),
    )
