"""What the figures were measured on and with."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[2]
PACKAGES = ("neardup", "pyarrow", "numpy", "numba", "scipy")


def describe() -> dict[str, Any]:
    """Machine, versions, commit and time as plain data."""
    return {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit(PROJECT),
        "machine": {
            "cpu": _field(Path("/proc/cpuinfo"), "model name") or platform.processor(),
            "cores": len(os.sched_getaffinity(0)),
            "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
            "kernel": platform.release(),
            "load_average": os.getloadavg(),
        },
        "versions": {"python": platform.python_version(), **{name: _version(name) for name in PACKAGES}},
    }


def commit(project: Path) -> str | None:
    """The commit checked out, read from .git (uncommitted changes do not show); None if there is none."""
    git = project / ".git"
    pointer = (_text(git) or "") if git.is_file() else ""
    if pointer.startswith("gitdir: "):  # a worktree: its HEAD is there, and what it names is in the common folder
        git = project / pointer.removeprefix("gitdir: ")
    head = _text(git / "HEAD")
    if head is None or not head.startswith("ref: "):
        return head
    reference = head.removeprefix("ref: ")
    git = git / (_text(git / "commondir") or "")
    loose = _text(git / reference)
    if loose is not None:
        return loose
    packed = (_text(git / "packed-refs") or "").splitlines()
    return next((line.split()[0] for line in packed if line.endswith(" " + reference)), None)


def _text(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _field(path: Path, name: str) -> str | None:
    lines = (_text(path) or "").splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(name)), None)
