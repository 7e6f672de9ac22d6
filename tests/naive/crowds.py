"""Crowds from their definition: sets of shingles, all pairs."""


def resemblance(a: set[int], b: set[int]) -> float:
    return len(a & b) / len(a | b) if a | b else 0.0


def frequent(sets: list[set[int]], many: int) -> set[int]:
    """The shingles that more than `many` sets have."""
    every = [x for s in sets for x in s]
    return {x for x in set(every) if every.count(x) > many}


def light(a: set[int], template: set[int], threshold: float) -> bool:
    return len(a & template) * (1 + threshold) >= 2 * threshold * len(a)


def meet(one: dict[int, int], other: dict[int, int], own_site: bool) -> bool:
    """Whether a later document is compared with an earlier one that is kept: buckets → roles of the later one, and of
    the earlier one. own_site: both are of one known site."""
    return any(role & 1 and other.get(b, 0) & 2 and not (role & 4 and own_site) for b, role in one.items())
