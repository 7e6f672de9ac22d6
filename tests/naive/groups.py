"""Clustering from its definition: all candidate pairs, all of them measured."""

from collections.abc import Callable, Iterable


def kept(n: int, similar: Callable[[int, int], bool]) -> list[bool]:
    """Kept or not, documents in order of priority: one that is similar to a kept one is removed."""
    return [i == centre for i, centre in enumerate(star(n, lambda i: [0], lambda i, j: 0.0, 0.0, similar))]


def star(
    n: int,
    buckets: Callable[[int], Iterable[object]],
    score: Callable[[int, int], float],
    least: float,
    similar: Callable[[int, int], bool],
    crowd: int = 10**9,
    best: int = 10**9,
    role: Callable[[int, object], int] = lambda i, bucket: 3,
    site: Callable[[int], int] = lambda i: -1,
) -> list[int]:
    """The kept document that each one is removed for, or itself; documents in order of priority.

    One is compared with the kept ones in its buckets, of each bucket with the latest `crowd`. Of those that score
    `least` or more the `best` count, by score and then by priority, and the first that is similar is the kept one.

    Role 1: it looks in a bucket; 2: it stands there; 4: it passes over documents of its own site, unless that is -1.
    """
    standing: dict[object, list[int]] = {}
    answer = []

    def seen(i: int, bucket: object) -> list[int]:
        there = standing.get(bucket, []) if role(i, bucket) & 1 else []
        own = site(i) if role(i, bucket) & 4 else -1
        return [j for j in there if own < 0 or site(j) != own][-crowd:]

    for i in range(n):
        candidates = {j for bucket in buckets(i) for j in seen(i, bucket)}
        ordered = sorted((j for j in candidates if score(i, j) >= least), key=lambda j: (-score(i, j), j))
        centre = next((j for j in ordered[:best] if similar(i, j)), i)
        answer.append(centre)
        if centre == i:
            for bucket in buckets(i):
                if role(i, bucket) & 2:
                    standing.setdefault(bucket, []).append(i)
    return answer


def strict_star(
    n: int,
    keys: Callable[[int], Iterable[object]],
    score: Callable[[int, int], float],
    same: Callable[[int, int], bool],
    bar: Callable[[int, int, int], float],
) -> list[bool]:
    """Kept or not, where scores decide: bar(i, j, h) is asked for of a candidate that was found with h kept ones under
    a key. One that is the same as an earlier one shares its fate."""
    standing: dict[object, list[int]] = {}
    answer: list[bool] = []
    for i in range(n):
        removed = any(same(i, j) for j in range(i)) or any(
            score(i, j) >= bar(i, j, len(standing[key])) for key in keys(i) for j in standing.get(key, [])
        )
        answer.append(not removed)
        for key in [] if removed else keys(i):
            standing.setdefault(key, []).append(i)
    return answer


def components(n: int, similar: Callable[[int, int], bool]) -> list[int]:
    """The first member of each document's connected component."""
    label = list(range(n))
    changed = True
    while changed:
        changed = False
        for i in range(n):
            for j in range(i):
                if similar(i, j) and label[i] != label[j]:
                    label[i] = label[j] = min(label[i], label[j])
                    changed = True
    return label


def buckets(keys: list[int]) -> list[list[int]]:
    """Documents with equal keys, two or more."""
    together: dict[int, list[int]] = {}
    for i, key in enumerate(keys):
        together.setdefault(key, []).append(i)
    return [members for members in together.values() if len(members) > 1]


def bits_set(words: list[int]) -> set[int]:
    return {64 * w + b for w, word in enumerate(words) for b in range(64) if word >> b & 1}


def folded(words: list[int], size: int) -> set[int]:
    """The set bits of a filter, each position modulo the size."""
    return {b % (64 * size) for b in bits_set(words)}


def match(a: list[int], b: list[int], contained: bool = False) -> float | None:
    """Common bits of those of the fuller filter, or of the other one; nothing where both are empty."""
    size = min(len(a), len(b))
    x, y = folded(a, size), folded(b, size)
    if not x and not y:
        return None
    sizes = len(x), len(y)
    return len(x & y) / max(1, min(sizes) if contained else max(sizes))


def bottom(a: list[int], b: list[int], m: int) -> float:
    union = sorted(set(a) | set(b))[:m]
    return len(set(union) & set(a) & set(b)) / max(1, len(union))
