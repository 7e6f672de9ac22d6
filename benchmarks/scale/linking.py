"""One case: features made, linked, and checked, in a process of its own.

In memory: features are an array, and `peak_mb` is all that the process ever had resident (VmHWM), features, interpreter
and compiled code included. From disk: features are a mapped file, and link_features is given `memory`. Then
`peak_mb` is the most private memory (RssAnon, looked at every 10 ms) above what it was before; mapped pages of the
features are the system's to take back, and not counted. And the limit is enforced: RLIMIT_DATA lets the process have
`memory` bytes of private memory more, and 4 MB and the stacks of its threads; who asks for more gets a MemoryError.

Compilation is over before the clock starts. CPU seconds stand beside the wall's: far fewer than threads x wall mean
that others had the cores, or that the disk was waited for.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.scale.features import K, Plant, R

SLACK = 4 << 20
STACK = 1 << 20
REHEARSED = 20_000


def allowed(n: int, per_document: float = 10) -> int:
    """The memory that a case from disk is given, in bytes: what a document needs, and four megabytes."""
    return int(per_document * n) + 4_000_000


def measure(
    n: int, *, threads: int = 2, memory: int | None = None, seed: int = 1, folder: str | None = None
) -> dict[str, Any]:
    """Link n documents in this process, in memory or with no more than `memory` bytes."""
    from neardup.clusters.linked import link_features

    threading.stack_size(STACK)
    plant = Plant(n, seed=seed)
    small = Plant(REHEARSED)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        rehearsal = _features(small, Path(scratch) / "rehearsal", memory is not None, threads)
        small.wrong(link_features(rehearsal, R, threads=threads, memory=memory and allowed(REHEARSED)))
        began = time.perf_counter()
        features = _features(plant, Path(scratch) / "features", memory is not None, threads)
        making = time.perf_counter() - began
        before = _status("RssAnon")
        if memory is not None:
            limit = _status("VmData") + memory + SLACK + threads * STACK
            resource.setrlimit(resource.RLIMIT_DATA, (limit, resource.RLIM_INFINITY))
        began, began_cpu = time.perf_counter(), time.process_time()
        with _Watch() as watch:
            found = link_features(features, R, threads=threads, memory=memory, scratch=Path(scratch))
        seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - began_cpu
        peak = _status("VmHWM") if memory is None else watch.most - before
        resource.setrlimit(resource.RLIMIT_DATA, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        del features
    return {
        "documents": n,
        "threads": threads,
        "from": "memory" if memory is None else "disk",
        "memory_mb": None if memory is None else memory / 1e6,
        "seconds": round(seconds, 3),
        "cpu_seconds": round(cpu_seconds, 3),
        "peak_mb": round(peak / 1e6, 1),
        "bytes_per_document": round(peak / n, 1),
        "features_mb": n * K * 8 / 1e6,
        "making_seconds": round(making, 1),
        "linked": int((found != np.arange(n, dtype=np.int32)).sum()),
        "wrong": plant.wrong(found, threads=threads),
    }


def measure_apart(n: int, **how: Any) -> dict[str, Any]:
    """`measure` in a fresh process, whose peak memory is this case's alone."""
    code = f"import json; from {__name__} import measure; print(json.dumps(measure({n}, **{how!r})))"
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _features(plant: Plant, path: Path, mapped: bool, threads: int) -> Any:
    """An array in memory; or a file, written to the disk, forgotten by the system's cache, and mapped to be read."""
    shape = (plant.n, K)
    if not mapped:
        features = np.empty(shape, np.uint64)
        plant.fill(features, threads=threads)
        return features
    writing = np.memmap(path, np.uint64, "w+", shape=shape)
    plant.fill(writing, threads=threads)
    writing.flush()
    del writing
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return np.memmap(path, np.uint64, "r", shape=shape)


def _status(field: str) -> int:
    """A number of /proc/self/status, in bytes."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(field + ":"))
    return int(line.split()[1]) * 1024


class _Watch:
    """The most private memory that the process has while this is on."""

    def __enter__(self) -> _Watch:
        self.most, self._done = 0, threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _look(self) -> None:
        done = False
        while not done:
            done = self._done.wait(0.01)
            self.most = max(self.most, _status("RssAnon"))
