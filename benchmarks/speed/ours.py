"""neardup as its users run it: the whole command, start-up, reading and writing included.

    neardup dedup FILE -o OUT --threshold T --threads N -q

Kernels are compiled before anything is timed, into a cache of the benchmark's own; the compile time is the
difference of the first start and the second on a small file, and is reported by itself.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq

from benchmarks.speed import corpus, environments, measure
from benchmarks.speed.quality import Outcome
from benchmarks.speed.systems import Run, scratch

COMMAND = "NEARDUP_BENCH_COMMAND"
"""Environment variable naming another executable than the `neardup` of the benchmark's own environment."""
WARM_UP_DOCUMENTS = 1_000


class MissingCommandError(RuntimeError):
    """The command `neardup` is not there to be measured."""


@dataclass(frozen=True)
class WarmUp:
    """Seconds of the first start, which compiles, and of the second, which does not."""

    first: float
    second: float

    @property
    def compile_seconds(self) -> float:
        return max(0.0, self.first - self.second)


def command(work: Path) -> Path:
    """The executable of an environment of its own, as the peers have theirs."""
    given = os.environ.get(COMMAND)
    found = Path(given) if given else environments.own(work).with_name("neardup")
    if not found.exists():
        raise MissingCommandError(f"there is no {found}; ${COMMAND} names an executable")
    return found


def environment(work: Path) -> dict[str, str]:
    """What the command runs with: a kernel cache that nothing else writes to."""
    return {"NUMBA_CACHE_DIR": str(work / "numba-cache")}


def dedup(
    file: Path, out: Path, *, work: Path, threshold: float, threads: int, timeout: float = 7_200.0
) -> measure.Cost:
    """One measured `neardup dedup`."""
    arguments: list[str | Path] = [
        "dedup",
        "--no-report",  # peers make none
        file,
        "-o",
        out,
        "--threshold",
        str(threshold),
        "--threads",
        str(threads),
        "-q",
    ]
    log = work / "logs" / "neardup.log"
    return measure.run([command(work), *arguments], log=log, environment=environment(work), timeout=timeout)


def warm_up(work: Path, *, threshold: float, threads: int) -> WarmUp:
    """Start twice on a small file, the first time with an empty kernel cache."""
    shutil.rmtree(environment(work)["NUMBA_CACHE_DIR"], ignore_errors=True)
    small = corpus.build(corpus.Parameters(WARM_UP_DOCUMENTS), work)
    seconds = []
    for _ in range(2):
        with scratch(work, "neardup") as folder:
            seconds.append(dedup(small.path, folder / "out", work=work, threshold=threshold, threads=threads).wall)
    return WarmUp(*seconds)


def run(file: Path, into: Run, *, work: Path, threshold: float, threads: int, repeat: int, timeout: float) -> None:
    """Fill `into`: costs of every repetition, the outcome of the last; or the reason why not."""
    try:
        for _ in range(repeat):
            with scratch(work, "neardup") as folder:
                out = folder / "out"
                into.costs.append(dedup(file, out, work=work, threshold=threshold, threads=threads, timeout=timeout))
                into.outcome = read_outcome(out)
    except (MissingCommandError, measure.CommandFailedError, OSError, KeyError, ValueError) as error:
        into.failure = f"{error}"


def read_outcome(out: Path) -> Outcome:
    """Removed ids from removed.parquet, groups from groups.parquet."""
    removed = pq.read_table(out / "removed.parquet", columns=["id"]).column("id").to_pylist()
    groups: dict[object, list[str]] = {}
    table = pq.read_table(out / "groups.parquet", columns=["id", "group_id"])
    for each, group in zip(table.column("id").to_pylist(), table.column("group_id").to_pylist(), strict=True):
        groups.setdefault(group, []).append(str(each))
    return Outcome([str(each) for each in removed], [group for group in groups.values() if len(group) > 1])
