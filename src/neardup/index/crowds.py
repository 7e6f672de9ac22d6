"""Pages of one template in an index that keeps no text: keys that still tell them apart.

All pages of a template share most of their minima, and with them their features. A feature leads to the latest of its
documents alone, and the near-duplicate that is looked for may have come long before. So a document with a crowded
feature is looked up, and filed, under single minima as well: those that few others have. These are minima of its own
shingles. A near-duplicate shares some of them; another page of the template has the template's minima in their places.

Documents outside of crowds cost nothing: their single minima are neither looked up nor filed.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup.index.store import Holders, Store
from neardup.sketches.base import Ragged, Sketcher, nothing

CROWD = 4
"""From so many other documents under one of its features on, a document is in a crowd. Those that came before are not
filed under their minima, and are lost when a feature has led to a thousand others; so it is a small number."""

RARE = 8
"""A minimum that more documents have than this is one of the template."""


FILED = 8
"""Rare keys that a document is filed under at the most: those that the fewest others have."""


class RareKeys(NamedTuple):
    """Keys that few documents have, and who has them."""

    keys: NDArray[np.uint64]
    """Distinct ones."""
    holders: Holders
    """By place in `keys`."""
    rows: Ragged
    """Of every document that was asked about: places in `keys`, the rarest first."""

    def filed(self, row: int) -> NDArray[np.uint64]:
        """Return the keys that one document is to be filed under."""
        begin, end = self.rows.offsets[row : row + 2]
        return self.keys[self.rows.values[begin : min(end, begin + FILED)].astype(np.int64)]


def no_rare_keys(n: int) -> RareKeys:
    """Return the answer for n documents that are in no crowd."""
    nobody = np.empty(0, np.int64)
    return RareKeys(np.empty(0, np.uint64), Holders(nobody, nobody), nothing(n))


def rare_keys(
    sketcher: Sketcher,
    store: Store,
    words: NDArray[np.uint64],
    owners: NDArray[np.int64],
    places: NDArray[np.int64],
    stored: NDArray[np.int64],
    *,
    together: bool,
) -> RareKeys:
    """Look up the rare keys of those documents that are in crowds.

    Args:
        sketcher: Makes the keys.
        store: Has the stored documents.
        words: The sketches of the documents, row by row.
        owners: For each of their keys, but for identities, the row that has it.
        places: For each of their keys its number; equal keys have equal numbers.
        stored: How many stored documents have the key of each number.
        together: The documents meet each other as well.
    """
    others = stored[places]
    if together:
        others = others + np.bincount(places, minlength=len(stored))[places] - 1
    crowded = np.unique(owners[others >= CROWD])
    made = sketcher.rare_keys(words[crowded]) if len(crowded) else np.empty((0, 0), np.uint64)
    if not made.size:
        return no_rare_keys(len(words))
    keys, number = np.unique(made, return_inverse=True)
    number = number.reshape(made.shape)
    found = store.holders(keys)
    count = np.bincount(found.places, minlength=len(keys))
    if together:
        count += np.bincount(number.reshape(-1), minlength=len(keys)) - 1
    rare = count <= RARE
    place = np.cumsum(rare) - 1
    theirs = rare[found.places]
    sizes = np.zeros(len(words), np.int64)
    sizes[crowded] = rare[number].sum(axis=1)
    number = np.take_along_axis(number, np.argsort(count[number], axis=1, kind="stable"), axis=1)
    return RareKeys(
        keys[rare],
        Holders(place[found.places[theirs]], found.numbers[theirs]),
        Ragged(place[number[rare[number]]].astype(np.uint64), np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)),
    )
