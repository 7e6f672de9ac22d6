"""Where documents are from: the hosts of a collection's URLs, and which documents are versions of one page."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from neardup.sketches.artefact import Collection, hash_ids
from neardup.text.addresses import cut
from neardup.text.sites import place

_NONE = -1
_CRAWLED = r"^(?:[^/.]+/)*([^/]+\.[A-Za-z]{2,})/(.*)$"
"""The path of a file in a folder that is named like a host."""


@dataclass(frozen=True)
class Places:
    """Where every document is from: a number per host (-1: unknown), and a hash of the address."""

    hosts: NDArray[np.int32]
    pages: NDArray[np.uint64]
    count: int
    """Of hosts."""

    @classmethod
    def of(cls, collection: Collection, folders: Sequence[tuple[int, int, int]] = ()) -> "Places":
        """Of a collection.

        folders: documents from here to there are files of the folder of that number, and have no URL. Crawlers name a
        folder by the host (host/path/page.html); where none has such a name, all files are of one place.
        """

        def addresses() -> Iterator[tuple[int, pa.Array]]:
            yield from collection.urls()
            for start, stop, folder in folders:
                if start < stop:
                    yield (
                        start,
                        addresses_in(folder, collection.any_order("id", np.arange(start, stop, dtype=np.int64))),
                    )

        return cls.at(len(collection), addresses())

    @classmethod
    def among(
        cls, collection: Collection, documents: NDArray[np.int64], folders: Sequence[tuple[int, int, int]] = ()
    ) -> "Places":
        """Of these documents alone, given by ascending numbers, row by row."""

        def addresses() -> Iterator[tuple[int, pa.Array]]:
            yield 0, collection.any_order("url", documents)
            bounds = np.array(folders, np.int64).reshape(-1, 3)
            first, last = (np.searchsorted(documents, bounds[:, side]) for side in (0, 1))
            for at in np.flatnonzero(first < last):
                ids = collection.any_order("id", documents[first[at] : last[at]])
                yield int(first[at]), addresses_in(int(bounds[at, 2]), ids)

        return cls.at(len(documents), addresses())

    @classmethod
    def at(cls, n: int, addresses: Iterable[tuple[int, pa.Array]]) -> "Places":
        """Of n documents, from batches of URLs and the number of the first document of each; hosts are numbered as they
        come."""
        hosts = np.full(n, _NONE, np.int32)
        pages = np.zeros(n, np.uint64)
        numbers: dict[str, int] = {}
        for start, urls in addresses:
            if urls.null_count == len(urls):
                continue
            stop = start + len(urls)
            found, paths = cut(urls)
            names = [place(name) for name in found.dictionary.to_pylist()]
            codes = np.array([numbers.setdefault(n, len(numbers)) if n else _NONE for n in names], np.int32)
            hosts[start:stop] = codes[found.indices.to_numpy()]
            shown = pa.array([n or "" for n in names], pa.string()).take(found.indices)
            pages[start:stop] = hash_ids(pc.binary_join_element_wise(shown, paths, ""))
        return cls(hosts, pages, len(numbers))

    @staticmethod
    def named(addresses: Iterable[pa.Array]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Return hashes of the hosts and of the addresses of documents; 0 where a host is unknown.

        They are the same wherever they are made, unlike the numbers of hosts.
        """
        hosts: list[NDArray[np.uint64]] = []
        pages: list[NDArray[np.uint64]] = []
        for urls in addresses:
            found, paths = cut(urls)
            names = [place(name) or "" for name in found.dictionary.to_pylist()]
            shown = pa.array(names, pa.string()).take(found.indices)
            known = np.asarray(pc.not_equal(shown, "").to_numpy(zero_copy_only=False))
            hosts.append(np.where(known, hash_ids(shown) | np.uint64(1), np.uint64(0)))
            pages.append(hash_ids(pc.binary_join_element_wise(shown, paths, "")))
        return np.concatenate(hosts), np.concatenate(pages)

    def neighbours(self, pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which pairs of documents are two pages of one host; versions of one page are not."""
        one, other = pairs.T
        same: NDArray[np.bool_] = (
            (self.hosts[one] == self.hosts[other]) & (self.hosts[one] != _NONE) & (self.pages[one] != self.pages[other])
        )
        return same


def addresses_in(folder: int, ids: pa.Array) -> pa.Array:
    """The addresses of files of the folder of that number, which have no URL, from their paths."""
    by_host = pc.replace_substring_regex(ids, pattern=_CRAWLED, replacement=r"//\1/\2")
    by_folder = pc.binary_join_element_wise(pa.scalar(f"//{folder}.folder"), ids, "/")
    return pc.if_else(pc.match_substring_regex(ids, _CRAWLED), by_host, by_folder)
