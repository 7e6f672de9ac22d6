"""Where documents are from: the hosts of a collection's URLs, and which documents are versions of one page."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from neardup.sketches.artefact import Collection, hash_ids
from neardup.text.sites import PLACE_AND_PATH, place

_NONE = -1


@dataclass(frozen=True)
class Places:
    """Where every document is from: a number per host (-1: unknown), and a hash of the address."""

    hosts: NDArray[np.int32]
    pages: NDArray[np.uint64]
    count: int
    """Of hosts."""

    @classmethod
    def of(cls, collection: Collection) -> "Places":
        """From the URLs; hosts are numbered in the order of the collection."""
        hosts = np.full(len(collection), _NONE, np.int32)
        pages = np.zeros(len(collection), np.uint64)
        numbers: dict[str, int] = {}
        for start, urls in collection.urls():
            if urls.null_count == len(urls):
                continue
            stop = start + len(urls)
            parts = pc.extract_regex(urls.fill_null(""), PLACE_AND_PATH)
            found = pc.struct_field(parts, "host").dictionary_encode()
            names = [place(name) for name in found.dictionary.to_pylist()]
            codes = np.array([numbers.setdefault(n, len(numbers)) if n else _NONE for n in names], np.int32)
            hosts[start:stop] = codes[found.indices.to_numpy()]
            shown = pa.array([n or "" for n in names], pa.string()).take(found.indices)
            pages[start:stop] = hash_ids(pc.binary_join_element_wise(shown, pc.struct_field(parts, "path"), ""))
        return cls(hosts, pages, len(numbers))

    def neighbours(self, pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which pairs of documents are two pages of one host; versions of one page are not."""
        one, other = pairs.T
        same: NDArray[np.bool_] = (
            (self.hosts[one] == self.hosts[other]) & (self.hosts[one] != _NONE) & (self.pages[one] != self.pages[other])
        )
        return same
