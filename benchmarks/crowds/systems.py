"""One collection through one system: what it removed, for what, and what that cost.

    local   `neardup dedup`, two threads
    spark   `neardup dedup --engine spark --master local[2]`
    index   an index that keeps texts, which is offered the documents in batches of 1,000 (`run_index`)
    text-dedup, datatrove
            peers in environments of their own, as in benchmarks.speed; they remove all but one document of every
            connected component, and do not say what a document was removed for

Every case is a process of its own. `seconds` and `cpu_seconds` are of the whole command; `work_seconds` and
`work_cpu_seconds` leave out start-up: they are of the steps in run.json, or of the calls of the index. Spark's steps do
not count the CPU of its workers, so its work has all of the command's; so have the peers.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from benchmarks.speed import measure
from benchmarks.speed import systems as peers

THREADS = 2
BATCH = 1_000
DRIVER_MEMORY = "3g"
OURS = ("local", "index", "spark")
PEERS = tuple(peer for peer in peers.PEERS if peer.name in ("text-dedup", "datatrove", "datatrove-split"))
SYSTEMS = (*OURS, *(peer.name for peer in PEERS))


@dataclass(frozen=True)
class Outcome:
    """What a system decided, and its cost."""

    removed: dict[str, str | None]
    """The id of every removed document → the one that it was removed for, where the system says so."""
    seconds: float
    cpu_seconds: float
    work_seconds: float
    work_cpu_seconds: float
    peak_bytes: int
    counts: dict[str, Any] = field(default_factory=dict)


def run(system: str, file: Path, recipe: str, work: Path, *, threshold: float = 0.8) -> Outcome:
    """Run one system on a Parquet file. `recipe` is neardup's, `threshold` the peers'."""
    if system not in OURS:
        return _peer(system, file, work, threshold)
    with peers.scratch(work, f"crowds-{system}") as folder:
        return (_index if system == "index" else _dedup)(system, file, recipe, work, folder)


def _dedup(system: str, file: Path, recipe: str, work: Path, folder: Path) -> Outcome:
    out = folder / "out"
    command = [sys.executable, "-m", "neardup", "dedup", file, "-o", out, "--recipe", recipe, "-q"]
    environment = {}
    if system == "local":
        command += ["--threads", str(THREADS), "--no-report"]
    else:
        command += ["--engine", "spark", "--master", f"local[{THREADS}]"]
        settings = "--conf spark.driver.host=127.0.0.1 --conf spark.driver.bindAddress=127.0.0.1"
        environment = {
            "PYSPARK_SUBMIT_ARGS": f"--driver-memory {DRIVER_MEMORY} {settings} pyspark-shell",
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_LOCAL_IP": "127.0.0.1",
        }
    cost = measure.run(command, log=work / "logs" / f"crowds-{system}.log", environment=environment)
    said = json.loads((out / "run.json").read_text())
    table = pq.read_table(out / "removed.parquet", columns=["id", "kept_id"])
    removed = dict(zip(table["id"].to_pylist(), table["kept_id"].to_pylist(), strict=True))
    work_seconds = sum(step["seconds"] for step in said["steps"])
    work_cpu = sum(step["cpu_seconds"] for step in said["steps"]) if system == "local" else cost.cpu
    counts = {"rounds": said.get("rounds"), **said["counts"]}
    return Outcome(removed, cost.wall, cost.cpu, work_seconds, work_cpu, cost.peak_tree, counts)


def _index(system: str, file: Path, recipe: str, work: Path, folder: Path) -> Outcome:
    result = folder / "result.json"
    command = [sys.executable, "-m", "benchmarks.crowds.run_index", file, folder / "index.ndx", result, recipe]
    project = str(Path(__file__).parents[2])
    paths = [project, *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {"PYTHONPATH": os.pathsep.join(paths)}
    cost = measure.run(command, log=work / "logs" / f"crowds-{system}.log", environment=environment)
    said = json.loads(result.read_text())
    spent = said["seconds"], said["cpu_seconds"]
    return Outcome(said["removed"], cost.wall, cost.cpu, *spent, cost.peak_tree, said["counts"])


def _peer(system: str, file: Path, work: Path, threshold: float) -> Outcome:
    peer = next(peer for peer in PEERS if peer.name == system)
    asked = peers.Run(system, file.name, 0, 0)
    peers.run_peer(peer, file, asked, work=work, threshold=threshold, threads=THREADS, repeat=1, timeout=7_200.0)
    if asked.failure or asked.outcome is None:
        raise measure.CommandFailedError(f"{system}: {asked.failure}")
    cost = asked.costs[0]
    removed = dict.fromkeys(asked.outcome.removed)
    return Outcome(removed, cost.wall, cost.cpu, cost.wall, cost.cpu, cost.peak_tree, {"settings": asked.settings})
