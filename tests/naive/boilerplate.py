"""Boilerplate from the definition: sets of shingles, pages of hosts, weights of 1 and 0.1."""

from collections import Counter
from fractions import Fraction


def boilerplate(documents, share, least):
    """documents: (host or None, page, set of shingles) → per host the shingles that count a tenth.

    One version of a page is counted: the first.
    """
    pages = {}
    for host, page, shingles in documents:
        if host is not None:
            pages.setdefault(host, {}).setdefault(page, shingles)
    found = {}
    for host, versions in pages.items():
        held = Counter(s for shingles in versions.values() for s in shingles)
        found[host] = {s for s, n in held.items() if n >= least and n >= share * len(versions)}
    return found


def resemblance(a, b, less):
    """By weight or not, whichever is smaller. `less`: what is boilerplate on the host of either."""
    if not a | b:
        return Fraction(0)
    plain = Fraction(len(a & b), len(a | b))
    mine, other = less

    def weight(s):
        common = s in a and s in b
        cheap = (s in mine or s in other) if common else (s in mine if s in a else s in other)
        return Fraction(1, 10) if cheap else Fraction(1)

    by_weight = sum(map(weight, a & b), Fraction(0)) / sum(map(weight, a | b), Fraction(0))
    return min(plain, by_weight)
