"""What this process may use of the machine that it is on."""

import os
from contextlib import suppress
from pathlib import Path

_MEMINFO = Path("/proc/meminfo")
_CONTAINER = Path("/sys/fs/cgroup")


def cores() -> int:
    """How many cores: fewer than there are, in a container."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def free_memory() -> int | None:
    """Bytes that can be had without pushing anybody out, in a container within its bounds; None: it cannot be told."""
    known = [found for found in (_of_machine(), _of_container()) if found is not None]
    return min(known, default=None)


def _of_machine() -> int | None:
    with suppress(OSError, ValueError):
        for line in _MEMINFO.read_text().splitlines():
            name, _, value = line.partition(":")
            if name == "MemAvailable":
                return int(value.split()[0]) << 10
    return None


def _of_container() -> int | None:
    """Control groups, version 2. What files take of the bound is given back when it is asked for."""
    with suppress(OSError, ValueError, KeyError):
        most, used = (int((_CONTAINER / name).read_text()) for name in ("memory.max", "memory.current"))
        detail = dict(line.split() for line in (_CONTAINER / "memory.stat").read_text().splitlines())
        return max(0, most - used + int(detail["inactive_file"]))
    return None
