"""Where the benchmark keeps corpora, environments and results."""

from __future__ import annotations

import os
from pathlib import Path


def default_work() -> Path:
    """$NEARDUP_BENCH_WORK, else a folder of the user's cache."""
    if given := os.environ.get("NEARDUP_BENCH_WORK"):
        return Path(given)
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "neardup-benchmarks"
