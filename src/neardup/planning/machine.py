"""The same collection on one machine: the local engine's memory, disk and time, and how far it goes."""

from dataclasses import dataclass

from neardup.planning.cluster import IDENTITY, NUMBER, Expected
from neardup.planning.constants import Constants

_COUNTERS = 1 << 29
"""Bytes of the bitmap that unique keys are counted away with, at the most (candidates.features): a byte per key."""

MOST_ENTRIES = 2**31 - 1
"""Keys that documents share, which the local engine numbers in 32 bits."""


@dataclass(frozen=True)
class OneMachine:
    """What a run takes there."""

    memory: float
    disk: float
    hours: float
    obstacles: tuple[str, ...]
    """Why it does not do; none where it does."""


def on_one(
    expected: Expected, known: Constants, *, cores: int, memory: float, patience: float, busy: float
) -> OneMachine:
    """With so many cores and bytes of memory, and somebody who waits so many hours."""
    needed = resident(expected, known)
    disk = expected.documents * (expected.prints.sketch + IDENTITY + 3 * NUMBER)
    disk += expected.standing * NUMBER * expected.prints.shingles if expected.sets else 0.0
    hours = core_seconds(expected, known) / (cores * busy) / 3600
    obstacles = []
    if needed > memory:
        obstacles.append("memory")
    if expected.entries > MOST_ENTRIES:
        obstacles.append("shared keys")
    if hours > patience:
        obstacles.append("time")
    return OneMachine(needed, disk, hours, tuple(obstacles))


def resident(expected: Expected, known: Constants) -> float:
    """Bytes: what is kept of every document, the bitmap of keys, and what candidates are compared by."""
    bitmap = min(expected.documents * expected.prints.keys, _COUNTERS)
    candidates = expected.standing * expected.prints.signature + expected.entries * NUMBER
    return known.local["base_bytes"] + expected.documents * known.local["bytes_per_document"] + bitmap + candidates


def core_seconds(expected: Expected, known: Constants) -> float:
    """Of all steps: by bytes of text, and by candidates."""
    again = known.local["again_nanoseconds"] if expected.again else 0.0
    each = known.local["read_nanoseconds"] + expected.prints.nanoseconds + again + known.local["write_nanoseconds"]
    keys = expected.documents * expected.prints.keys * known.local["key_nanoseconds"]
    return (expected.text * each + keys) / 1e9
