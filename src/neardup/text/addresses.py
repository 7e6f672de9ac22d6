"""Where documents are from: hosts, sites and paths of URLs, on Arrow arrays.

A collection has few hosts and many documents. So a kernel cuts off what cannot be the host, and Python (`text.sites`)
looks at each distinct rest.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from neardup.kernels import addresses as kernel
from neardup.text.sites import host, site

_SAME_PAGE = r"(?:/index\.html?|/)\z"
"""Endings that do not make another page."""

SLICE = 1 << 16
"""Documents that are looked at together."""


class Places(NamedTuple):
    """Row by row; null where a document has no URL, or one without a host."""

    hosts: pa.Array
    sites: pa.Array


def cut(urls: pa.Array) -> tuple[pa.Array, pa.Array]:
    """What the host depends on, as a dictionary, and what follows, without the fragment, as `sites.PLACE_AND_PATH` has
    them. Null is the empty string."""
    text = pc.utf8_trim_whitespace(urls.fill_null("")).cast(pa.large_string())
    _, ends, held = text.buffers()
    offsets = np.frombuffer(ends, np.int64)[text.offset : text.offset + len(text) + 1]
    data = np.frombuffer(held if held is not None else b"", np.uint8)
    hosts, paths = np.empty(len(text), np.int64), np.empty(len(text), np.int64)
    kernel.cut(data, offsets, hosts, paths)
    return _pieces(data, offsets[:-1], hosts).dictionary_encode(), _pieces(data, hosts, paths)


def _pieces(data: NDArray[np.uint8], begins: NDArray[np.int64], ends: NDArray[np.int64]) -> pa.Array:
    offsets = np.concatenate([[0], np.cumsum(ends - begins)])
    out = np.empty(offsets[-1], np.uint8)
    kernel.gathered(data, begins, ends, offsets, out)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(out)]
    return pa.Array.from_buffers(pa.large_string(), len(begins), buffers).cast(pa.string())


def places(urls: pa.Array) -> Places:
    """Of each URL."""
    heads, _ = cut(urls)
    known = [_place(head) for head in heads.dictionary.to_pylist()]
    hosts, sites = (pa.array([place[i] for place in known], pa.string()) for i in (0, 1))
    return Places(hosts.take(heads.indices), sites.take(heads.indices))


@lru_cache(1 << 16)
def _place(head: str) -> tuple[str | None, str | None]:
    url = f"{head}/"  # white space before the path is a part of the host, and would be stripped at the end
    return host(url), site(url)


def paths(urls: pa.Array) -> pa.Array:
    """What follows the host: with the query; without the fragment, a slash at the end, the name of an index page."""
    _, rest = cut(urls)
    return pc.if_else(urls.is_valid(), pc.replace_substring_regex(rest, _SAME_PAGE, "", max_replacements=1), None)
