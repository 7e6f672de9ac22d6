"""What very many pages of one site have says little about two of them.

Menus, headers and legal notices make pages of one site resemble each other: most false pairs of Algorithm B are of this
kind (Henzinger, section 3.2), and she proposes to detect boilerplate and to weigh shingles (section 4). Here a shingle
is boilerplate on a host if at least `share` of the host's candidate pages have it, and LEAST. It counts a tenth.

    Boilerplate   per site, the shingles that count less
    find          the shingles on the shelf → Boilerplate
    discounted    the overlap of pairs by weight

Pages are told apart by their URLs, so that ten versions of one page are one page; a document without a URL is of no
host. Pages that have a candidate are counted: their shingles are at hand, and it is among them that boilerplate does
harm. Of a large host, SAMPLE pages are looked at.

By weights of 1 and 0.1, the resemblance of two sets is the weight of what they share, of the weight of all that they
have: Broder's where all weights are equal. What is boilerplate on the site of either page counts a tenth for the pair,
so that equal pages have resemblance 1 wherever they are. The smaller resemblance, by weight or not, is what counts:
weights never make two pages more similar than they are, and what sketches promise about finding pairs stays true.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.atomic import appearing
from neardup.kernels import overlap as kernel
from neardup.verify.places import Places
from neardup.verify.resemblance import Overlap

WEIGHT = 10
"""How many times as much as boilerplate all else counts."""

LEAST = 10
"""Pages of a site that have a passage, below which it is no boilerplate whatever their share."""

SAMPLE = 1000
"""Pages of one site that are looked at."""


@dataclass(frozen=True)
class Boilerplate:
    """The shingles of host h that count less are values[offsets[h] : offsets[h + 1]], ascending."""

    places: Places
    values: NDArray[np.uint64]
    offsets: NDArray[np.int64]

    @classmethod
    def none(cls, places: Places) -> "Boilerplate":
        """Everything counts the same."""
        return cls(places, np.empty(0, np.uint64), np.zeros(places.count + 1, np.int64))

    def marks(
        self,
        documents: NDArray[np.int64],
        sets: NDArray[np.uint64],
        starts: NDArray[np.int64],
        sizes: NDArray[np.int64],
    ) -> NDArray[np.bool_]:
        """Which elements of the documents' sets are boilerplate."""
        marks = np.zeros(len(sets), bool)
        kernel.mark(sets, starts, sizes, self.places.hosts[documents], self.values, self.offsets, marks)
        return marks

    def write(self, path: Path) -> None:
        """For whoever measures pairs of this run later."""
        lists = pa.LargeListArray.from_arrays(self.offsets, self.values)
        table = pa.table({"shingles": lists})
        with appearing(path) as draft, pa.ipc.new_file(draft, table.schema) as file:
            file.write_table(table)

    @classmethod
    def read(cls, path: Path, places: Places) -> "Boilerplate":
        """The inverse."""
        with pa.memory_map(str(path)) as source:
            lists = pa.ipc.open_file(source).read_all().column("shingles").combine_chunks()
            if isinstance(lists, pa.ChunkedArray):
                lists = lists.chunk(0) if lists.num_chunks else pa.array([], pa.large_list(pa.uint64()))
            return cls(places, lists.values.to_numpy().copy(), lists.offsets.to_numpy().copy())


def find(
    places: Places,
    share: float,
    documents: NDArray[np.int64],
    sets_of: Callable[[NDArray[np.int64]], NDArray[np.uint64]],
) -> Boilerplate:
    """Among these documents; `sets_of` gives the sets of some, ascending, one behind the other."""
    offsets = np.zeros(places.count + 1, np.int64)
    found: list[NDArray[np.uint64]] = []
    known = documents[places.hosts[documents] >= 0]
    order = np.lexsort((known, places.pages[known], places.hosts[known]))
    known = known[order]
    hosts, pages = places.hosts[known], places.pages[known]
    first = np.ones(len(known), bool)  # of every page, one version
    first[1:] = (hosts[1:] != hosts[:-1]) | (pages[1:] != pages[:-1])
    known, hosts = known[first], hosts[first]
    names, begins, counts = np.unique(hosts, return_index=True, return_counts=True)
    for host, begin, count in zip(names.tolist(), begins.tolist(), counts.tolist(), strict=True):
        if count < LEAST:
            continue
        chosen = known[begin : begin + min(count, SAMPLE)]  # by the hash of the URL: at random
        values, holders = np.unique(sets_of(np.sort(chosen)), return_counts=True)
        common = values[holders >= max(LEAST, ceil(share * len(chosen)))]
        offsets[host + 1] = len(common)
        found.append(common)
    return Boilerplate(places, np.concatenate(found) if found else np.empty(0, np.uint64), np.cumsum(offsets))


def discounted(
    plain: Overlap,
    sets: NDArray[np.uint64],
    starts: NDArray[np.int64],
    sizes: NDArray[np.int64],
    marks: NDArray[np.bool_],
    pairs: NDArray[np.int64],
) -> Overlap:
    """By weights, in tenths, where that resemblance is the smaller one."""
    if not marks.any():
        return plain
    counts = np.zeros((len(pairs), 3), np.int64)
    kernel.unmarked(sets, starts, sizes, marks, pairs, counts)
    neither, first, second = counts.T
    before = np.concatenate([[0], np.cumsum(marks)])
    weights = WEIGHT * sizes - (WEIGHT - 1) * (before[starts + sizes] - before[starts])
    more = WEIGHT - 1  # what an element of full weight counts beyond one of boilerplate
    weighted = Overlap(
        weights[pairs[:, 0]] - more * (first - neither),
        weights[pairs[:, 1]] - more * (second - neither),
        plain.shared + more * neither,
    )
    lower = weighted.resemblance < plain.resemblance
    return Overlap(
        np.where(lower, weighted.first, plain.first),
        np.where(lower, weighted.second, plain.second),
        np.where(lower, weighted.shared, plain.shared),
    )
