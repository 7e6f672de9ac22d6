"""Pugh's fingerprints: words are dealt to a few lists, each list has one fingerprint, one in common is enough.

    list_fingerprints   documents → a fingerprint per list and repetition
    edits               two documents → Pugh's edit distance

Source: Pugh, "Detecting duplicate and near-duplicate files" (slides); Pugh and Henzinger, US patent 6,658,423. Every
occurrence of a word goes to the list that a hash of the word chooses. So an edit, which concerns one word, changes one
list, and two documents that differ in few words keep a list in common: with n lists, e edits of different words change
all of them with probability Σ_j (-1)^j C(n, j) (1 - j/n)^e (proven, occupancy; tests/statistics holds the kernel to
it). Repetitions deal the words anew. The measure is absolute: so many words, not a share of the document.

A document is flat: fingerprints[ends[i - 1]:ends[i]] are its words (or shingles) as 64-bit hashes, all occurrences.

A list's fingerprint knows its list and repetition, so equal content in different lists is different. An empty list
has fingerprint 0, and 0 is never shared: all short documents would be similar otherwise. No other list has 0.

What is measured only: fingerprints are 64 bits of a mixing hash. In an order-free one, a word that occurs 2^z times
adds 2^z times its value, which costs z bits of the 64.
"""

from typing import Any

import numpy as np
from numba import njit

_P = np.uint64(0x9E3779B97F4A7C15)
_M1 = np.uint64(0xFF51AFD7ED558CCD)
_M2 = np.uint64(0xC4CEB9FE1A85EC53)
_M3 = np.uint64(0xD6E8FEB86659FD93)
_S29, _S32, _S33 = np.uint64(29), np.uint64(32), np.uint64(33)
_ZERO, _ONE = np.uint64(0), np.uint64(1)


@njit(nogil=True, cache=True, inline="always")
def _mix(h: Any) -> Any:
    h ^= h >> _S33
    h *= _M1
    h ^= h >> _S33
    h *= _M2
    return h ^ (h >> _S33)


@njit(nogil=True, cache=True)
def list_fingerprints(
    fingerprints: Any, ends: Any, lists: int, repetitions: int, ordered: bool, seed: int, out: Any
) -> None:
    """out[i, q · lists + l] = the fingerprint of document i's list l in repetition q, 0 where it is empty.

    ordered: of the sequence; else of the multiset: the sum of the words' values, so that moved text changes nothing.
    The list is chosen by the high half of the hash times the number of lists (below 2^32), whose share of the hashes
    differs from one to the next by less than lists / 2^32.
    """
    columns = lists * repetitions
    adds = np.empty(repetitions, np.uint64)
    odds = np.empty(repetitions, np.uint64)
    tags = np.empty(columns, np.uint64)
    for q in range(repetitions):
        adds[q] = _mix(_mix((np.uint64(seed) + _ONE) * _P) + np.uint64(q) * _P)
        odds[q] = _mix(adds[q] ^ _M1) | _ONE
        for number in range(lists):
            tags[q * lists + number] = _mix((np.uint64(q) << _S32 | np.uint64(number)) + _P)
    states = np.empty(lists, np.uint64)
    filled = np.empty(lists, np.bool_)
    number_of_lists = np.uint64(lists)
    begin = 0
    for i in range(ends.shape[0]):
        end = ends[i]
        for q in range(repetitions):
            add = adds[q]
            times = odds[q]
            for number in range(lists):
                states[number] = tags[q * lists + number]
                filled[number] = False
            for t in range(begin, end):
                h = _mix((fingerprints[t] + add) * times)
                chosen = ((h >> _S32) * number_of_lists) >> _S32
                # the words of a list agree in the leading bits of h; another step spreads them again
                value = (h ^ (h >> _S29)) * _M3
                if ordered:
                    state = (states[chosen] ^ value) * _P
                    states[chosen] = state ^ (state >> _S32)
                else:
                    states[chosen] += value
                filled[chosen] = True
            for number in range(lists):
                out[i, q * lists + number] = max(_mix(states[number]), _ONE) if filled[number] else _ZERO
        begin = end


@njit(nogil=True, cache=True)
def edits(a: Any, b: Any) -> Any:
    """The least number of Pugh's edits that turn the words of one document into those of the other.

    An edit removes any or all occurrences of one word, or adds any number of occurrences of one word. The distance is
    the number of different words whose counts differ. No fewer will do: an edit changes the count of one word only,
    so each word whose counts differ needs an edit of its own. That many will do: one removal or one addition brings a
    word's count from any number to any other. A replacement of one word by another therefore counts two, however many
    occurrences it replaces, and the order of words does not count.
    """
    first = np.sort(a)
    second = np.sort(b)
    i = 0
    j = 0
    differing: Any = 0
    while i < first.shape[0] or j < second.shape[0]:
        if j == second.shape[0]:
            word = first[i]
        elif i == first.shape[0]:
            word = second[j]
        else:
            word = min(first[i], second[j])
        i_begin = i
        j_begin = j
        while i < first.shape[0] and first[i] == word:
            i += 1
        while j < second.shape[0] and second[j] == word:
            j += 1
        differing += np.int64(i - i_begin != j - j_begin)
    return differing
