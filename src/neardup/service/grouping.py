"""Near-duplicates in a ranked list of results: the best-ranked one of each group, and those to fold behind it.

Results are taken in the order of their rank. One that resembles the best of an earlier group joins the group of the
one it resembles most; another one begins a group. So whoever is shown is never a near-duplicate of another that is
shown, and a result is never hidden behind a worse one. Resemblance is exact.
"""

import numpy as np

from neardup.recipe import Recipe
from neardup.service import shapes
from neardup.service.measuring import texts
from neardup.verify.resemblance import overlap


def group(asked: shapes.Grouping, recipe: Recipe) -> shapes.Groups:
    """The groups of a ranked list, under the tokens and shingles of a recipe."""
    results = asked.results
    ids = [result.id for result in results]
    if not results:
        return shapes.Groups([])
    batch = texts(results, recipe.text)
    sets, sizes = recipe.sketcher.shingle_sets(batch, np.arange(len(results)))
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    best: list[int] = []
    groups: list[shapes.Group] = []
    for at, id_ in enumerate(ids):
        pairs = np.array([(other, at) for other in best], np.int64).reshape(-1, 2)
        found = overlap(sets, starts, sizes, pairs).resemblance
        nearest = int(found.argmax()) if len(found) and sizes[at] else -1
        if nearest >= 0 and found[nearest] >= asked.threshold:
            groups[nearest].others.append(shapes.Member(id_, at + 1, float(found[nearest])))
        else:
            best.append(at)
            groups.append(shapes.Group(id_, at + 1, []))
    return shapes.Groups(groups)
