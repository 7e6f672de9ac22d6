"""`python -m benchmarks.hostile --minutes 10`: what honest clients notice while others attack the service.

A service on a new index, without tokens, so that everybody is let in. Honest clients (`honest`) ask at a fixed rate:
alone, then beside hostile ones (`attackers`) for the time given, then alone again. At the end the service is killed
(SIGKILL) and started anew. It fails (exit code 1), if

    p99        of the honest requests beside attackers is more than 3 times that of those alone, before and after; a
               refused request counts as 30 s
    memory     of the service and the processes that it starts (resident bytes, summed; pages that they share count
               twice) is at any time above --max-held + 512 MB
    lost       a document that was acknowledged as added is not there after the kill
    wrong      an honest verdict is wrong, or the service ended by itself

Attackers run at the lowest priority, because on a machine of few cores they would otherwise take the service's time by
sending alone; what they ask for is done at the service's own priority.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.hostile.attackers import MANY
from benchmarks.index import processes
from benchmarks.index.serving import Service
from neardup import Index

RESULTS = Path(__file__).parent / "results"
KINDS = ("text", "html", "add")
RATIO = 3.0
BESIDE = 512 << 20
HELD = 256 << 20
_ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Load:
    """How long, and how much."""

    seconds: float = 600.0
    """Of the attack; honest clients are alone for a fifth of that, before and after."""
    rate: float = 50.0
    scale: float = 1.0
    """Of the number of hostile clients."""
    attackers: tuple[str, ...] = tuple(MANY)
    """Their kinds."""


@dataclass
class Report:
    """What was seen."""

    load: Load
    phases: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By name (before, beside, after): what honest clients saw."""
    attackers: dict[str, int] = field(default_factory=dict)
    service: list[int] = field(default_factory=list)
    """Resident bytes, a sample each half second."""
    workers: list[int] = field(default_factory=list)
    acknowledged: int = 0
    missing: int = 0
    ended: int | None = None
    """Exit code, where the service ended by itself."""

    def percentile(self, phases: tuple[str, ...], share: float, kinds: tuple[str, ...] = KINDS) -> float:
        """Seconds."""
        found = [each for phase in phases for kind in kinds for each in self.phases[phase]["latencies"][kind]]
        return float(np.percentile(found, share))

    def ratio(self, share: float = 99.0, kinds: tuple[str, ...] = KINDS) -> float:
        """Latency beside attackers by latency alone."""
        return self.percentile(("beside",), share, kinds) / self.percentile(("before", "after"), share, kinds)

    @property
    def peak(self) -> int:
        return max((a + b for a, b in zip(self.service, self.workers, strict=True)), default=0)

    def failures(self) -> list[str]:
        """A sentence for each."""
        found = []
        if self.ratio() > RATIO:
            found.append(f"p99 beside attackers is {self.ratio():.1f} times that alone; {RATIO:g} are allowed")
        if self.peak > HELD + BESIDE:
            found.append(f"memory reached {self.peak / 1e6:,.0f} MB; {(HELD + BESIDE) / 1e6:,.0f} are allowed")
        if self.missing:
            found.append(f"{self.missing:,} of {self.acknowledged:,} acknowledged documents are missing")
        if self.ended is not None:
            found.append(f"the service ended by itself with exit code {self.ended}")
        return found + sorted({each for phase in self.phases.values() for each in phase["wrong"]})

    def summary(self) -> dict[str, Any]:
        """Figures for people and for JSON."""
        told: dict[str, Any] = {"seconds of attack": self.load.seconds, "honest requests/s": self.load.rate}
        for phases in (("before",), ("beside",), ("after",)):
            for share in (50, 99):
                told[f"p{share} {phases[0]}, ms"] = self.percentile(phases, share) * 1e3
        told |= {"ratio of p50": self.ratio(50), "ratio of p99": self.ratio()}
        for kind in KINDS:
            told[f"ratio of p99, {kind}"] = self.ratio(kinds=(kind,))
        return told | {
            "service's memory at the end, MB": self.service[-1] / 1e6,
            "service's peak memory, MB": max(self.service) / 1e6,
            "workers' peak memory, MB": max(self.workers) / 1e6,
            "peak of both, MB": self.peak / 1e6,
            "allowed, MB": (HELD + BESIDE) / 1e6,
            "acknowledged": self.acknowledged,
            "acknowledged and missing": self.missing,
            "honest, by status": {phase: seen["statuses"] for phase, seen in self.phases.items()},
            "hostile, by status": dict(sorted(self.attackers.items())),
            "failures": self.failures(),
        }


class Watch(threading.Thread):
    """Samples of the memory of a service and its processes."""

    def __init__(self, process: int, report: Report) -> None:
        super().__init__(daemon=True)
        self.process, self.report, self.over = process, report, threading.Event()

    def run(self) -> None:
        while not self.over.wait(0.5):
            try:
                own = processes.memory(self.process)
                children = sum(map(_memory, _descendants(self.process)))
            except OSError:  # it has ended
                return
            self.report.service.append(own)
            self.report.workers.append(children)


def _descendants(process: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            children = [int(child) for child in task.read_text().split()]
        except OSError:  # a thread that has ended
            continue
        for child in children:
            found += [child, *_descendants(child)]
    return found


def _memory(process: int) -> int:
    try:
        return processes.memory(process)
    except (OSError, IndexError):  # it has ended
        return 0


def _module(name: str, service: Service, *options: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", f"benchmarks.hostile.{name}", service.host, service.port, *options]
    return subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True, cwd=_ROOT)


def _honest(service: Service, load: Load, seconds: float, first: int) -> subprocess.Popen[str]:
    return _module("honest", service, "--rate", load.rate, "--seconds", seconds, "--first", first)


def _answer(process: subprocess.Popen[str]) -> Any:
    told, _ = process.communicate()
    if process.returncode:
        raise RuntimeError(f"{process.args} ended with {process.returncode}")
    return json.loads(told)


def run(folder: Path, load: Load) -> Report:
    """Start a service on a new index in `folder`, and let the phases follow each other."""
    report = Report(load)
    index = folder / "seen.ndx"
    service = Service(index)
    watch = Watch(service.process.pid, report)
    watch.start()
    try:
        alone = load.seconds / 5
        _answer(_honest(service, load, min(5.0, alone), 1 << 32))  # warm: caches, connections, the extraction processes
        report.phases["before"] = _answer(_honest(service, load, alone, 0))
        attackers = _module(
            "attackers", service, "--seconds", load.seconds + 2, "--scale", load.scale, "--kinds", *load.attackers
        )
        assert attackers.stdout is not None
        attackers.stdout.readline()
        time.sleep(min(1.0, load.seconds / 10))
        report.phases["beside"] = _answer(_honest(service, load, load.seconds, 1 << 24))
        report.attackers = _answer(attackers)
        time.sleep(min(5.0, alone))
        report.phases["after"] = _answer(_honest(service, load, alone, 1 << 28))
        report.ended = service.process.poll()
    finally:
        watch.over.set()
        service.process.send_signal(signal.SIGKILL)
        service.process.communicate()
    watch.join()
    again = Service(index)  # as an operator would: it recovers, and can be asked
    again.documents()
    again.stop()
    added = [id_ for phase in report.phases.values() for id_ in phase["added"]]
    with Index.open(index, read_only=True) as opened:
        report.acknowledged, report.missing = len(added), opened.contains_many(added).count(False)
    return report


def _load(options: argparse.Namespace) -> Load:
    return Load(options.minutes * 60, options.rate, scale=options.scale, attackers=tuple(options.kinds))


def main(argv: list[str] | None = None) -> int:
    """Run, print, write down; 1 if it failed."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.hostile", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=10.0, help="of the attack")
    parser.add_argument("--rate", type=float, default=50.0, help="honest requests a second")
    parser.add_argument("--scale", type=float, default=1.0, help="of the number of hostile clients")
    parser.add_argument("--kinds", nargs="+", default=list(MANY), choices=MANY, help="of hostile clients")
    parser.add_argument("--folder", type=Path, help="where the index is made, and deleted  [default: a temporary one]")
    parser.add_argument("--json", type=Path, default=RESULTS / "hostile.json")
    options = parser.parse_args(argv)
    here = processes.facts()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        report = run(Path(folder), _load(options))
    told = report.summary()
    for name, value in told.items():
        print(f"{name}: {value:,.1f}" if isinstance(value, float) else f"{name}: {value}")
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps({**here, **told}, indent=1) + "\n")
    return 1 if report.failures() else 0


if __name__ == "__main__":
    sys.exit(main())
