"""What a process has used so far, as Linux counts it; and the machine it ran on."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks.speed import machine

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("neardup", "rocksdict", "psycopg", "uvicorn", "numba", "numpy")
_TICK = os.sysconf("SC_CLK_TCK")


def memory(process: int | str = "self") -> int:
    """Resident bytes now."""
    return _status(process, "VmRSS")


def peak(process: int | str = "self") -> int:
    """The most resident bytes there ever were."""
    return _status(process, "VmHWM")


def reset_peak() -> int:
    """Forget this process's peak so far (proc(5), clear_refs); resident bytes now."""
    Path("/proc/self/clear_refs").write_text("5")
    return memory()


def cpu(process: int | str = "self") -> float:
    """Seconds of CPU, of all its threads."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICK


def size(folder: Path) -> int:
    """Bytes that a folder has on disk."""
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())


def facts() -> dict[str, Any]:
    """Machine, versions, commit, time and load, as plain data."""
    found = machine.describe()
    found["versions"] |= {name: _version(name) for name in PACKAGES}
    return found


def table(rows: Sequence[dict[str, Any]], columns: dict[str, str], name: str, *, across: bool = False) -> str:
    """Rows as Markdown; `columns`: figure → its format. A row is a column of the table, or with `across` a line."""
    shown = [[str(row[name]), *(_cell(row.get(column), form) for column, form in columns.items())] for row in rows]
    lines = [["", *columns], *shown]
    if not across:
        lines = [list(line) for line in zip(*lines, strict=True)]
    ruled = [lines[0], ["---", *["---:"] * (len(lines[0]) - 1)], *lines[1:]]
    return "\n".join(f"| {' | '.join(line)} |" for line in ruled)


def _cell(value: Any, form: str) -> str:
    return "–" if value is None else form.format(value)


def _status(process: int | str, name: str) -> int:
    lines = Path(f"/proc/{process}/status").read_text()
    return int(lines.partition(f"{name}:")[2].split()[0]) << 10


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
