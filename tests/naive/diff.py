"""Diffs and shared passages from their definitions: dynamic programming, and every pair of places."""

from collections.abc import Sequence


def common_subsequence(a: Sequence, b: Sequence) -> int:
    """The length of a longest common subsequence, by the table of all prefixes."""
    row = [0] * (len(b) + 1)
    for x in a:
        above, row = row, [0]
        for j, y in enumerate(b):
            row.append(above[j] + 1 if x == y else max(above[j + 1], row[j]))
    return row[-1]


def term_difference(a: Sequence, b: Sequence) -> int:
    """Deleted and inserted tokens of a shortest diff."""
    return len(a) + len(b) - 2 * common_subsequence(a, b)


def applied(matches: Sequence[Sequence[int]], a: Sequence, b: Sequence) -> list:
    """What the diff makes of a: its matched runs stay, all else is taken from b. It is b if the matches are right."""
    made: list = []
    at_a = at_b = 0
    for start, other, length in matches:
        assert start >= at_a
        assert other >= at_b
        assert length > 0
        made += b[at_b:other]
        made += a[start : start + length]
        at_a, at_b = start + length, other + length
    assert at_a <= len(a)
    return made + list(b[at_b:])


def shared_run(a: Sequence, b: Sequence) -> int:
    """The length of the longest run of tokens that both have."""
    best = 0
    for i in range(len(a)):
        for j in range(len(b)):
            length = 0
            while i + length < len(a) and j + length < len(b) and a[i + length] == b[j + length]:
                length += 1
            best = max(best, length)
    return best
