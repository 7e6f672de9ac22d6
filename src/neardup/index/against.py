"""Which documents of a collection are similar to one that an index has: what incremental deduplication begins with."""

from collections.abc import Iterator
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from neardup.decide import KNOWN
from neardup.errors import RecipeError
from neardup.gather import Gathered
from neardup.index.arriving import NO_TEXT, Arrived
from neardup.index.index import Index
from neardup.index.judging import Finding
from neardup.index.moving import AT_ONCE, collected, sketched_alike
from neardup.recipe import Recipe
from neardup.recipes import as_in_index, recipe_names
from neardup.text.batches import TextBatch

Again = Literal["keep", "remove"]
"""What becomes of a document that the index has under the same id and with the same words: keep, because it is no
duplicate of itself, or remove, because the corpus behind the index has it."""


def as_index_has_it(index: Index | None, given: object, seed: int | None, chosen: Recipe) -> Recipe:
    """Return the recipe that a run was given by its name with the seed of the index, and with samples as the index has
    them; any other as it is."""
    if index is None or seed is not None or given not in recipe_names():
        return chosen
    return as_in_index(chosen, index.recipe)


def refuse_another_recipe(index: Index, recipe: Recipe) -> None:
    """Before anything is sketched that does not compare with what the index has."""
    if not sketched_alike(recipe, index.recipe):
        raise RecipeError(
            f"{index.path}: this index was made by another recipe ({index.recipe.id}) than this run ({recipe.id}), and "
            "their sketches do not compare. Leave away the recipe, and settings that change it (such as a threshold): "
            "then it is the index's."
        )


def known_to(index: Index, gathered: Gathered, again: Again = "keep") -> pa.Table:
    """Return one row per document that is similar to a stored one, in the order of the input.

    Documents that are stored themselves, under the same id and with the same words, are among them only where `again`
    is "remove". They are judged as `Index.check` judges. Where the index measures exactly, the text of those that share
    a key with a stored document is read once more.
    """
    refuse_another_recipe(index, gathered.recipe)
    engine, tables = gathered.engine, [KNOWN.empty_table()]
    wanted = np.flatnonzero(gathered.compared)
    with engine.steps.step("against", sum(split.size for split in engine.splits) if index.exact else 0):
        if not index.exact and not index.recipe.sketcher.on_the_fly:
            for numbers in _slices(wanted):
                tables.append(_judged(index, gathered, numbers, NO_TEXT))
        else:
            suspects = [numbers[index.suspects(collected(gathered.collection, numbers))] for numbers in _slices(wanted)]
            found: dict[int, pa.Table] = {}

            def judge(numbers: NDArray[np.int64], text: TextBatch) -> None:
                found[int(numbers[0])] = _judged(index, gathered, numbers, text)

            engine.on_texts(
                np.concatenate([np.empty(0, np.int64), *suspects]), gathered.collection.starts, gathered.rules, judge
            )
            tables += [found[first] for first in sorted(found)]
    known = pa.concat_tables(tables).combine_chunks()
    itself = pc.and_(pc.equal(known["id"], known["kept_id"]), pc.equal(known["relation"], "identical"))
    if again == "keep" and (stored := pc.sum(itself).as_py()):
        known = known.filter(pc.invert(itself)).combine_chunks()
        gathered.remark(
            f"{stored:,} documents are in {index.path} themselves, under the same id and with the same words. No "
            "document is a duplicate of itself: they are compared with the others of this batch alone; --again remove "
            '(again="remove") leaves them out.'
        )
    gathered.remark(
        f"{known.num_rows:,} documents are similar to documents that {index.path} has, and are removed for these; they "
        "are compared with nothing else."
    )
    return known


def _slices(numbers: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    return (numbers[start : start + AT_ONCE] for start in range(0, len(numbers), AT_ONCE))


def _judged(index: Index, gathered: Gathered, numbers: NDArray[np.int64], text: TextBatch) -> pa.Table:
    rows = collected(gathered.collection, numbers)
    later = index.recipe.sketcher.on_the_fly
    if later is not None:
        rows = rows.with_later(later.sketch(text).words)
    found = [(i, finding) for i, finding in enumerate(index.find(Arrived(rows, text))) if finding is not None]
    values = [(int(numbers[i]), rows.ids[i], *_told(finding), rows.urls[i], finding.match.url) for i, finding in found]
    return pa.Table.from_pylist([dict(zip(KNOWN.names, row, strict=True)) for row in values], schema=KNOWN)


def _told(finding: Finding) -> tuple[object, ...]:
    match = finding.match
    return (
        match.id,
        match.relation,
        match.resemblance,
        finding.inside,
        finding.around,
        match.measured,
        match.similarity,
    )
