"""What a command costs: wall time, CPU time and memory of its whole process tree.

wall        from just before the process is started until it has been waited for
cpu         user + system time of the process and of every descendant, from os.wait4: a descendant that was
            waited for counts with its parent, one that outlives its parent is waited for by `launch.py`
peak_rss    the largest resident set any single process of that tree reached, from os.wait4: exact, but for a
            system of several processes less than what the machine had to give
peak_tree   the sum of the proportional set sizes of all its processes at one moment, sampled every 0.2 s:
            covers several processes, counts shared pages once, and can miss a short peak; never less than
            peak_rss
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

SAMPLE_SECONDS = 0.2
REASON_LINES = 4
LAUNCHER = Path(__file__).with_name("launch.py")


@dataclass(frozen=True)
class Cost:
    """Seconds and bytes of one run."""

    wall: float
    cpu: float
    peak_rss: int
    peak_tree: int


class CommandFailedError(RuntimeError):
    """A measured command ended with an error; the message is the end of what it said."""


def run(
    command: Sequence[str | Path],
    *,
    log: Path,
    environment: Mapping[str, str] | None = None,
    directory: Path | None = None,
    timeout: float = 7_200.0,
) -> Cost:
    """Run `command` to its end, its output into `log`, and return what it cost."""
    log.parent.mkdir(parents=True, exist_ok=True)
    report = log.with_suffix(".cost.json")
    report.unlink(missing_ok=True)
    with log.open("wb") as talk:
        launcher = subprocess.Popen(
            [sys.executable, "-I", "-S", str(LAUNCHER), str(report), *map(str, command)],
            stdin=subprocess.DEVNULL,
            stdout=talk,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(environment or {})},
            cwd=directory,
            start_new_session=True,
        )
        watch = _Watch(launcher.pid, timeout)
        watch.start()
        # Not waited for yet: the session's number stays taken until what is left of it has been ended.
        os.waitid(os.P_PID, launcher.pid, os.WEXITED | os.WNOWAIT)
        watch.stop()
        _end(launcher.pid)
        launcher.wait()
    if watch.timed_out:
        raise CommandFailedError(f"stopped after {timeout:.0f} s")
    if not report.exists():
        raise CommandFailedError(f"the launcher failed: {_last_lines(log)}")
    found = json.loads(report.read_text())
    if found["exit_code"] != 0:
        raise CommandFailedError(f"exit code {found['exit_code']}: {_last_lines(log)}")
    return Cost(found["wall"], found["cpu"], found["peak_rss"], max(watch.peak, found["peak_rss"]))


def best(costs: Sequence[Cost]) -> Cost:
    """The run of least wall time, with the largest memory of any run."""
    fastest = min(costs, key=lambda cost: cost.wall)
    return Cost(fastest.wall, fastest.cpu, max(cost.peak_rss for cost in costs), max(cost.peak_tree for cost in costs))


class _Watch(threading.Thread):
    """Samples the memory of a session of processes, and ends it when its time is over."""

    def __init__(self, session: int, timeout: float) -> None:
        super().__init__(daemon=True)
        self.session = session
        self.deadline = time.monotonic() + timeout
        self.peak = 0
        self.timed_out = False
        self._done = threading.Event()

    def run(self) -> None:
        while not self._done.wait(SAMPLE_SECONDS):
            self.peak = max(self.peak, sum(map(_proportional_bytes, _members(self.session))))
            if time.monotonic() > self.deadline:
                self.timed_out = True
                _end(self.session)
                return

    def stop(self) -> None:
        self._done.set()
        self.join()


def _end(session: int) -> None:
    """End the process group of a session that `run` started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(session, signal.SIGKILL)


def _members(session: int) -> list[Path]:
    """The processes of a session but its leader, the launcher."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != session:
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == session:
                found.append(entry)
    return found


def _proportional_bytes(process: Path) -> int:
    try:
        for line in (process / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def _last_lines(log: Path) -> str:
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return " / ".join(lines[-REASON_LINES:]) or "it said nothing"
