"""Clustering from its definition: all candidate pairs, all of them measured."""

from collections.abc import Callable


def star(n: int, similar: Callable[[int, int], bool]) -> list[bool]:
    """Kept or not, documents in order of priority: one that is similar to a kept one is removed."""
    kept: list[int] = []
    answer = []
    for i in range(n):
        stays = not any(similar(i, j) for j in kept)
        answer.append(stays)
        if stays:
            kept.append(i)
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
