"""Connected components and the spanning forest of a list of pairs, in numpy, in O(pairs · log documents).

spanning_forest   the pairs that join two components when pairs are taken in their order (Kruskal's forest)
components        for every document the lowest number in its component

The forest answers at once what a union-find structure answers step by step (Jain, Dahlin, Tewari, section 3.2, cluster
with one): of any prefix of the pairs, the components are the documents less the forest's pairs in that prefix. So one
forest gives the number of clusters for all thresholds.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def spanning_forest(documents: int, first: NDArray[Any], second: NDArray[Any]) -> NDArray[np.int64]:
    """Places of the pairs that join two components, ascending. Pairs are taken in the order in which they are given."""
    return _boruvka(documents, first, second)[0]


def components(documents: int, first: NDArray[Any], second: NDArray[Any]) -> NDArray[np.int64]:
    """For every document the lowest number in its component: its own, where it has no pair."""
    return _boruvka(documents, first, second)[1]


def _boruvka(documents: int, first: NDArray[Any], second: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Borůvka's rounds: every component takes its earliest pair to another one; their number halves at least.

    Places are distinct weights, so the pairs taken in a round make no cycle but the one of two components that take
    the same pair.
    """
    label = np.arange(documents, dtype=np.int64)
    taken: list[NDArray[np.int64]] = []
    places = np.arange(len(first), dtype=np.int64)
    while True:
        one, other = label[first[places]], label[second[places]]
        crossing = one != other
        places, one, other = places[crossing], one[crossing], other[crossing]
        if not len(places):
            return np.sort(np.concatenate([*taken, places])), label
        # Written from the last place to the first, so that the earliest stays.
        earliest = np.full(documents, -1, np.int64)
        for ends in (one, other):
            np.maximum.at(earliest, ends, len(first) - 1 - places)
        chosen = len(first) - 1 - np.unique(earliest[earliest >= 0])
        taken.append(chosen)
        label = _joined(label, label[first[chosen]], label[second[chosen]])


def _joined(label: NDArray[np.int64], one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    """The labels after these components became one each: the lowest label of those that hang together."""
    parent = np.arange(len(label), dtype=np.int64)
    while True:
        low, high = np.minimum(parent[one], parent[other]), np.maximum(parent[one], parent[other])
        if np.array_equal(low, high):
            return parent[label]
        np.minimum.at(parent, high, low)
        while not np.array_equal(parent, parent[parent]):
            parent = parent[parent]
