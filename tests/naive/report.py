"""What the report counts, from the definitions: one document, one pair, one shingle at a time."""

import re
from collections import Counter, defaultdict
from itertools import pairwise
from math import ceil

from neardup.text.sites import host, site


def removal(names: list[str | None], gone: list[bool]) -> dict[str | None, tuple[int, int]]:
    """Documents and removed documents of each name."""
    counts: dict[str | None, list[int]] = defaultdict(lambda: [0, 0])
    for name, removed in zip(names, gone, strict=True):
        counts[name][0] += 1
        counts[name][1] += removed
    return {name: (n, removed) for name, (n, removed) in counts.items()}


def sites(urls: list[str | None]) -> list[str | None]:
    return [site(url) for url in urls]


def path(url: str) -> str:
    """What follows the host: with the query; without fragment, final slash and the name of an index page."""
    url = url.strip().split("#")[0]
    rest = re.sub(r"\A(?:[a-zA-Z][a-zA-Z0-9+.\-]*:)?(?://)?[^/?#]*", "", url)
    return re.sub(r"(?:/index\.html?|/)\Z", "", rest)


def mirrors(pairs: list[tuple[str | None, str | None]]) -> dict[frozenset[str], tuple[int, int]]:
    """For two hosts: pairs of documents across them, and those with the same path."""
    counts: dict[frozenset[str], list[int]] = defaultdict(lambda: [0, 0])
    for removed, kept in pairs:
        one, other = host(removed), host(kept)
        if one is None or other is None or one == other:
            continue
        assert removed
        assert kept
        counts[frozenset((one, other))][0] += 1
        counts[frozenset((one, other))][1] += path(removed) == path(kept)
    return {hosts: (n, same) for hosts, (n, same) in counts.items()}


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


Passage = tuple[tuple[str, ...], int]


def passages(texts: list[str], groups: list[int], *, width: int = 8, joined: float = 0.9) -> set[Passage]:
    """Words of each passage, and the documents that have its rarest shingle. Shingles occur once in a text here."""
    shingled = [[tuple(w[i : i + width]) for i in range(len(w) - width + 1)] for w in map(words, texts)]
    holders: dict[tuple[str, ...], set[int]] = defaultdict(set)
    after: Counter[tuple[tuple[str, ...], tuple[str, ...]]] = Counter()
    for number, shingles in enumerate(shingled):
        for shingle in shingles:
            holders[shingle].add(number)
        after.update(pairwise(shingles))
    least = max(5, ceil(0.01 * len(texts)))
    frequent = {s for s, who in holders.items() if len(who) >= least and len({groups[i] for i in who}) >= 3}
    follows = {
        a: b
        for (a, b), times in after.items()
        if a in frequent and b in frequent and times >= joined * max(len(holders[a]), len(holders[b]))
    }
    starts = frequent - set(follows.values())
    found = set()
    for start in starts:
        chain = [start]
        while chain[-1] in follows:
            chain.append(follows[chain[-1]])
        found.add(((*chain[0], *(s[-1] for s in chain[1:])), min(len(holders[s]) for s in chain)))
    return found


def shingle_set(text: str, width: int) -> set[tuple[str, ...]]:
    w = words(text)
    return {tuple(w[i : i + width]) for i in range(max(1, len(w) - width + 1))}


def further_removals(texts: list[str], threshold: float, below: float, width: int) -> float:
    """Σ n / (n + 1) over documents, n being their neighbours from `threshold` to before `below`."""
    sets = [shingle_set(text, width) for text in texts]
    total = 0.0
    for i, one in enumerate(sets):
        n = 0
        for j, other in enumerate(sets):
            resemblance = len(one & other) / len(one | other)
            n += i != j and threshold - 1e-9 <= resemblance < below
        total += n / (n + 1)
    return total
