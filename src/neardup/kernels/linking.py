"""Documents that share r of k features, linked without a list of pairs: every r features together are one feature.

    feature_keys   features of one column → keys
    name_keys      two columns of names → keys
    count          keys → how many there are of each partition
    scatter        keys → keys sorted by partition
    collate        a partition → its documents, each with the first one that has the same key
    name           these → a column of names
    unite          these → a union-find forest
    flatten        a forest → the first document of each tree

Source: Broder, "Identifying and Filtering Near-Duplicate Documents", section 3: the phase that counts the features of
every pair can be avoided by grouping every r features into a super-feature, of which there are C(k, r). Here the
super-features are not hashed but named, as Karp, Miller and Rosenberg name repeated substrings ("Rapid identification
of repeated patterns in strings, trees and arrays", 1972): the name of a value is the number, from 1 on, of the first
document that has it, in 32 bits, and 0 where no other document has it. The name of two features together is the name of
the pair of their names, which is 64 bits again, and so on. Documents without a name are left out of what follows.

Proven: a key is a bijection of the 64 bits that it stands for, so equal keys are equal features: no document is linked
to another by a hash alone, and the features are not looked at again. Two documents end in one tree just where a chain
of documents connects them, each sharing r features or more, at equal positions, with the next.

Keys are sorted into partitions by their high bits before they go into a table, so that the table of one partition
stays in the processor's cache. What is done twice with the same keys has the same effect as what is done once.
"""

from typing import Any

import numpy as np
from numba import njit

_M1 = np.uint64(0xFF51AFD7ED558CCD)
_M2 = np.uint64(0xC4CEB9FE1A85EC53)
_S33, _S32 = np.uint64(33), np.uint64(32)
_FREE = np.int32(-1)


@njit(nogil=True, cache=True, inline="always")
def _mix(h: Any) -> Any:
    """The finaliser of MurmurHash3: a bijection of 64 bits, each of whose steps can be undone."""
    h ^= h >> _S33
    h *= _M1
    h ^= h >> _S33
    h *= _M2
    return h ^ (h >> _S33)


@njit(nogil=True, cache=True)
def feature_keys(
    features: Any, column: int, members: Any, begin: int, end: int, low: Any, high: Any, keys: Any, documents: Any
) -> int:
    """Keys of the members among documents begin to end - 1, where low ≤ key ≤ high; how many. No members: all are."""
    everyone = members.shape[0] == 0
    count = 0
    for i in range(begin, end):
        key = _mix(features[i, column])
        keys[count] = key
        documents[count] = i
        count += (everyone or members[i]) and low <= key <= high
    return count


@njit(nogil=True, cache=True)
def name_keys(prefix: Any, names: Any, begin: int, low: Any, high: Any, keys: Any, documents: Any) -> int:
    """Keys of the documents from begin on that have both names, where low ≤ key ≤ high; how many."""
    count = 0
    for i in range(names.shape[0]):
        if min(prefix[i], names[i]) > 0:
            key = _mix(np.uint64(prefix[i]) << _S32 | np.uint64(names[i]))
            keys[count] = key
            documents[count] = begin + i
            count += low <= key <= high
    return count


@njit(nogil=True, cache=True)
def count(keys: Any, shift: Any, counts: Any) -> None:
    """counts[p] grows by the number of keys of partition p = key >> shift."""
    for i in range(keys.shape[0]):
        counts[np.int64(keys[i] >> shift)] += 1


@njit(nogil=True, cache=True)
def scatter(
    keys: Any, documents: Any, shift: Any, first: int, start: int, offsets: Any, to_keys: Any, to_documents: Any
) -> None:
    """Sort by partition, in order within each: those of partition first + p go to offsets[p] to offsets[p + 1] - 1.

    offsets has a place for every partition and one more; the first offset will be `start`.
    """
    partitions = offsets.shape[0] - 1
    offsets[:] = 0
    for i in range(keys.shape[0]):
        offsets[np.int64(keys[i] >> shift) - first] += 1
    before = start
    for p in range(partitions):
        offsets[p], before = before, before + offsets[p]
    for i in range(keys.shape[0]):
        partition = np.int64(keys[i] >> shift) - first
        at = offsets[partition]
        to_keys[at] = keys[i]
        to_documents[at] = documents[i]
        offsets[partition] = at + 1
    for p in range(partitions, 0, -1):
        offsets[p] = offsets[p - 1]
    offsets[0] = start


@njit(nogil=True, cache=True)
def collate(
    keys: Any, documents: Any, offsets: Any, row_from: int, row_to: int, begin: int, end: int, fresh: bool,
    table: Any, holders: Any, held: Any, full: Any, linked: Any, firsts: Any,
) -> int:  # fmt: skip
    """For the partitions begin to end - 1: (linked[x], firsts[x]) are a document and the first one with its key.

    Partition p has, in row c, the entries offsets[c, p] to offsets[c, p + 1] - 1. Returns how many were linked. table
    and holders are a hash table with a power of two of places; a partition that overfills it is marked in `full`,
    and what is linked of it is right and not all. Without `fresh`, the table is as the call before left it, with
    held[0] keys: a partition can come in several calls.
    """
    size = table.shape[0]
    assert size > 1 and size & (size - 1) == 0  # noqa: PT018
    mask = size - 1
    most = size - 1 - size // 8
    count = 0
    for p in range(begin, end):
        if full[p]:
            continue
        if fresh:
            holders[:] = _FREE
            held[0] = 0
        for row in range(row_from, row_to):
            for entry in range(offsets[row, p], offsets[row, p + 1]):
                key = keys[entry]
                place = np.int64(key & np.uint64(mask))
                while holders[place] >= 0 and table[place] != key:
                    place = (place + 1) & mask
                if holders[place] >= 0:
                    linked[count] = documents[entry]
                    firsts[count] = holders[place]
                    count += 1
                elif held[0] < most:
                    table[place] = key
                    holders[place] = documents[entry]
                    held[0] += 1
                else:
                    full[p] = True
                    break
            if full[p]:
                break
    return count


@njit(nogil=True, cache=True)
def name(names: Any, linked: Any, firsts: Any) -> None:
    """Documents and the first one of each get its number as their name, counted from 1."""
    for x in range(linked.shape[0]):
        names[linked[x]] = firsts[x] + 1
        names[firsts[x]] = firsts[x] + 1


@njit(nogil=True, cache=True, inline="always")
def _root(parent: Any, i: Any) -> Any:
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@njit(nogil=True, cache=True)
def unite(parent: Any, linked: Any, firsts: Any) -> None:
    """Unite the trees of linked[x] and firsts[x]: the smaller root becomes the root of both."""
    for x in range(linked.shape[0]):
        i, j = linked[x], firsts[x]
        if parent[i] == parent[j]:
            continue
        one = _root(parent, i)
        other = _root(parent, j)
        if one < other:
            parent[other] = one
        elif other < one:
            parent[one] = other


@njit(nogil=True, cache=True)
def flatten(parent: Any) -> None:
    """parent[i] = the first document of i's tree. Roots are smallest, so parents come before their children."""
    for i in range(parent.shape[0]):
        parent[i] = parent[parent[i]]
