"""Clusters of documents that share r of k features: AltaVista's way, no pair is listed and none is measured.

Broder, "Identifying and Filtering Near-Duplicate Documents", sections 2 and 3: the components of "shares r features"
are the clusters. Every r-subset of the features is a pass of its own with one hash table. Passes are dealt to threads,
each with a table and a forest of its own; the forests are merged at the end.
"""

from concurrent.futures import ThreadPoolExecutor
from math import comb

import numpy as np
from numpy.typing import NDArray

from neardup.errors import UsageError
from neardup.kernels import linking as kernel


def link_features(
    features: NDArray[np.uint64], r: int, *, threads: int = 2, members: NDArray[np.bool_] | None = None
) -> NDArray[np.int32]:
    """The first document of each document's cluster, for features[n, k]; itself where it is alone or no member.

    Memory beside the features: per thread 4 bytes a document and a table of 8 to 16 bytes a document.
    """
    n, k = features.shape
    if not 1 <= r <= k:
        raise UsageError(f"r = {r} of k = {k} features cannot be shared; choose r from 1 to {k}")
    if threads < 1:
        raise UsageError(f"threads = {threads}; give 1 or more")
    if n >= 2**31:
        raise UsageError(f"{n} documents do not fit 31-bit numbers; split them below {2**31}")
    if members is None:
        members = np.ones(n, np.bool_)
    elif members.shape != (n,):
        raise UsageError(f"members has shape {members.shape} for {n} documents; give one value a document")
    features = np.ascontiguousarray(features, np.uint64)
    count = comb(k, r)
    remaining = iter(range(count))
    size = 1 << max(4, (2 * n - 1).bit_length())

    def work(_: int) -> NDArray[np.int32]:
        parent = np.arange(n, dtype=np.int32)
        table = np.empty(size, np.uint32)
        for subset in remaining:  # shared by the threads: a step of it is one step under the interpreter's lock
            kernel.link(features, members, r, subset, subset + 1, parent, table)
        return parent

    workers = min(threads, count)
    with ThreadPoolExecutor(workers) as pool:
        parent, *others = pool.map(work, range(workers))
    for other in others:
        kernel.merge(parent, other)
    kernel.flatten(parent)
    return parent
