"""CPU time and memory of everything that a process has started, over time.

Spark tells the time of a task and the CPU time of its Java thread, but not that of the Python behind it; and where
others use the machine as well, the time of a task is theirs too. CPU seconds at any moment, read from the system five
times a second, can be given to whatever ran then.
"""

from __future__ import annotations

import os
import threading
import time
from bisect import bisect_left
from contextlib import suppress
from pathlib import Path

_TICK = os.sysconf("SC_CLK_TCK")
_EVERY = 0.2
_OFTEN, _SELDOM = 25, 5
"""So many looks see the memory too, for a process may be short; then one in so many, for much of it is dear to see."""


class Watch(threading.Thread):
    """`with Watch() as watch:` everything that this process starts meanwhile, and all that these start."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak = 0
        """The most memory that all of them had at one moment: proportional set sizes, which count shared pages once."""
        self._times: list[float] = []
        self._cpu: list[float] = []
        self._before = set(_descendants(os.getpid()))
        self._done = threading.Event()

    def __enter__(self) -> Watch:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._done.set()
        self.join()

    def run(self) -> None:
        while not self._done.wait(_EVERY):
            everyone = [process for process in _descendants(os.getpid()) if process not in self._before]
            now = sum(map(_cpu_seconds, everyone))
            self._times.append(time.time())
            self._cpu.append(max(now, self._cpu[-1] if self._cpu else 0.0))
            if len(self._times) < _OFTEN or len(self._times) % _SELDOM == 1:
                self.peak = max(self.peak, sum(map(_proportional_bytes, everyone)))

    @property
    def cpu_seconds(self) -> float:
        """In all, until the last look."""
        return self._cpu[-1] if self._cpu else 0.0

    def cpu_between(self, begin: float, end: float) -> float:
        """CPU seconds from one moment to another, as `time.time` tells them."""
        return self._at(end) - self._at(begin)

    def _at(self, moment: float) -> float:
        """Between two looks it is taken to have grown evenly."""
        after = bisect_left(self._times, moment)
        if after == 0 or not self._times:
            return 0.0
        if after == len(self._times):
            return self._cpu[-1]
        share = (moment - self._times[after - 1]) / (self._times[after] - self._times[after - 1])
        return self._cpu[after - 1] + share * (self._cpu[after] - self._cpu[after - 1])


def _descendants(process: int) -> list[int]:
    found: list[int] = []
    for children in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):
            for child in children.read_text().split():
                found += [int(child), *_descendants(int(child))]
    return found


def _cpu_seconds(process: int) -> float:
    """Its own, and that of children that it has waited for."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / _TICK


def _proportional_bytes(process: int) -> int:
    with suppress(OSError):
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0
