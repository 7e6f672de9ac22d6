"""Where documents are from: the hosts of a collection's URLs, and which documents are versions of one page."""

from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from neardup.sketches.artefact import Collection, hash_ids

_BEFORE = r"^[a-z][a-z0-9+.-]*://(?:[^/?#@]*@)?(?:www\.)?"
_HOST = _BEFORE + r"(?P<host>[^/?#]+)"
_ADDRESS = _BEFORE + r"(?P<address>[^#]*)"
"""In lower case. Scheme, user information, a first part `www` and fragments do not count: a page that is fetched by
https today was the same page by http. What has no scheme has no host."""

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
            lower = pc.utf8_lower(urls)
            address = pc.struct_field(pc.extract_regex(lower, _ADDRESS), "address")
            pages[start:stop] = hash_ids(address.fill_null(""))
            found = pc.struct_field(pc.extract_regex(lower, _HOST), "host").dictionary_encode()
            names = [numbers.setdefault(name, len(numbers)) if name else _NONE for name in found.dictionary.to_pylist()]
            known = found.indices.fill_null(0).to_numpy(zero_copy_only=False)
            codes = np.array([*names, _NONE], np.int32)[known]
            codes[found.indices.is_null().to_numpy(zero_copy_only=False)] = _NONE
            hosts[start:stop] = codes
        return cls(hosts, pages, len(numbers))

    def neighbours(self, pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which pairs of documents are two pages of one host; versions of one page are not."""
        one, other = pairs.T
        same: NDArray[np.bool_] = (
            (self.hosts[one] == self.hosts[other]) & (self.hosts[one] != _NONE) & (self.pages[one] != self.pages[other])
        )
        return same
