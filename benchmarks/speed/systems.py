"""The systems that are compared, and how each is started."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.speed import environments, measure
from benchmarks.speed.measure import Cost
from benchmarks.speed.quality import Outcome


@dataclass(frozen=True)
class Peer:
    """A script of peers/ in an environment of its own."""

    name: str
    environment: str | None
    """Which requirements file of peers/; None is the interpreter of the benchmark."""
    script: str
    arguments: tuple[str, ...] = ()
    looks_for_duplicates: bool = True


PEERS = (
    Peer("floor", None, "run_floor.py", looks_for_duplicates=False),
    Peer("text-dedup", "text_dedup", "run_text_dedup.py"),
    Peer("datatrove", "datatrove", "run_datatrove.py"),
    Peer("datatrove-split", "datatrove", "run_datatrove.py", ("--split-words",)),
    Peer("datasketch", "datasketch", "run_datasketch.py"),
    Peer("datasketch-16x8", "datasketch", "run_datasketch.py", ("--bands", "16", "--rows", "8", "--verify")),
    Peer("rensa", "rensa", "run_rensa.py"),
    Peer("rensa-1", "rensa", "run_rensa.py", ("--workers", "1")),
)


@dataclass
class Run:
    """What became of one system on one corpus."""

    system: str
    corpus: str
    documents: int
    text_bytes: int
    costs: list[Cost] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    outcome: Outcome | None = None
    failure: str | None = None


def interpreter(peer: Peer, work: Path) -> Path:
    """The Python a peer runs under; makes its environment if need be."""
    return environments.python_of(peer.environment, work) if peer.environment else Path(sys.executable)


def run_peer(
    peer: Peer,
    corpus: Path,
    run: Run,
    *,
    work: Path,
    threshold: float,
    threads: int,
    repeat: int,
    timeout: float,
) -> None:
    """Fill `run`: costs of every repetition, the outcome of the last; or the reason why not."""
    try:
        python = interpreter(peer, work)
        run.versions = environments.versions(python)
        for _ in range(repeat):
            with scratch(work, peer.name) as folder:
                result = folder / "result.json"
                command = [python, environments.PEERS / peer.script, corpus, result, folder / "files"]
                options = ["--threshold", str(threshold), "--workers", str(threads), *peer.arguments]
                (folder / "files").mkdir()
                log = work / "logs" / f"{peer.name}.log"
                run.costs.append(
                    measure.run([*command, *options], log=log, directory=folder / "files", timeout=timeout)
                )
                found = json.loads(result.read_text())
        run.settings = found["settings"]
        if peer.looks_for_duplicates:
            run.outcome = Outcome(found["removed"], found["groups"])
    except (
        environments.EnvironmentFailedError,
        measure.CommandFailedError,
        OSError,
        KeyError,
        ValueError,
    ) as error:
        run.failure = f"{error}"


@contextmanager
def scratch(work: Path, name: str) -> Iterator[Path]:
    """An empty folder for one run, gone afterwards, so that no run finds the files or caches of another."""
    folder = work / "scratch" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
