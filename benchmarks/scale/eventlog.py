"""What Spark says of a run in its event log, by the stages of the engine (neardup.spark.stages).

A query belongs to the folder that it writes: work/entries, work/round-0, kept, …; what writes nothing (counts, what the
driver collects) and the marks of stages belong to the stage before. Rounds are one stage, whatever their number.

Bytes are those of Spark's task metrics: written to be shuffled, written to files, and spilled. What a task reads
Spark counts in its own thread alone, and rows on their way to Python are read in another one; so `read_bytes` is the
size of the files that were opened, as Spark's scans have it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_WRITES = re.compile(r"Arguments: file:(\S+?),")
_SQL = "org.apache.spark.sql.execution.ui.SparkListener"
STEPS = {
    "start": "start",
    "plan": "start",
    "sketches": "sketch",
    "copies": "candidates",
    "entries": "candidates",
    "order": "candidates",
    "members": "candidates",
    "shelf": "verify",
    "round": "verify",
    "asked": "verify",
    "measured": "verify",
    "linked": "verify",
    "connected": "verify",
    "centres": "verify",
    "decided": "decide",
    "removed": "write",
    "groups": "write",
    "skipped": "write",
    "kept": "write",
}
"""The step of the engine that a stage is of."""


@dataclass
class Stage:
    """What the queries of one stage cost together."""

    name: str
    step: str
    queries: int = 0
    jobs: int = 0
    tasks: int = 0
    seconds: float = 0.0
    """From its queries' beginnings to their ends."""
    task_seconds: float = 0.0
    cpu_seconds: float = 0.0
    """Of all processes, while its queries ran."""
    shuffle_bytes: int = 0
    shuffle_rows: int = 0
    read_bytes: int = 0
    written_bytes: int = 0
    spilled_bytes: int = 0


@dataclass
class _Query:
    begin: float
    stage: str | None
    end: float = 0.0


def stages(log: Path, cpu_between: Callable[[float, float], float] = lambda begin, end: 0.0) -> list[Stage]:
    """In the order in which they first ran."""
    events = list(_events(log))
    queries = {event["executionId"]: _Query(event["time"] / 1000, _written(event)) for event in _of(events, "Start")}
    for event in _of(events, "End"):
        queries[event["executionId"]].end = event["time"] / 1000
    found: dict[str, Stage] = {}
    belongs: dict[int | None, Stage] = {}
    current = "start"
    for number, query in sorted(queries.items()):
        current = query.stage or current
        stage = found.setdefault(current, Stage(current, STEPS[current]))
        belongs[number] = stage
        stage.queries += 1
        stage.seconds += max(0.0, query.end - query.begin)
        stage.cpu_seconds += cpu_between(query.begin, query.end) if query.end else 0.0
    belongs[None] = found.setdefault("start", Stage("start", "start"))
    _add_tasks(events, belongs)
    _add_reading(events, belongs)
    return list(found.values())


def _events(log: Path) -> Iterator[dict[str, Any]]:
    with log.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def _of(events: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [event for event in events if event["Event"] == f"{_SQL}SQLExecution{kind}"]


def _written(query: dict[str, Any]) -> str | None:
    """The stage whose folder is written; None where none is, or the mark of one."""
    plan = query["physicalPlanDescription"]
    place = _WRITES.search(plan) if "InsertIntoHadoopFsRelationCommand" in plan else None
    if place is None:
        return None
    name = place[1].rstrip("/").rpartition("/")[2]
    if name.endswith(".done"):
        return None
    plain = re.sub(r"(-\d+)+$", "", name.removesuffix(".parquet"))
    return plain if plain in STEPS else None


def _add_tasks(events: list[dict[str, Any]], belongs: dict[int | None, Stage]) -> None:
    owner: dict[int, Stage] = {}
    for event in events:
        if event["Event"] == "SparkListenerJobStart":
            number = (event.get("Properties") or {}).get("spark.sql.execution.id")
            stage = belongs[int(number) if number is not None else None]
            stage.jobs += 1
            for one in event["Stage IDs"]:
                owner.setdefault(one, stage)
        elif event["Event"] == "SparkListenerTaskEnd" and event.get("Task Metrics"):
            metrics, stage = event["Task Metrics"], owner[event["Stage ID"]]
            stage.tasks += 1
            stage.task_seconds += metrics["Executor Run Time"] / 1000
            stage.shuffle_bytes += metrics["Shuffle Write Metrics"]["Shuffle Bytes Written"]
            stage.shuffle_rows += metrics["Shuffle Write Metrics"]["Shuffle Records Written"]
            stage.written_bytes += metrics["Output Metrics"]["Bytes Written"]
            stage.spilled_bytes += metrics["Disk Bytes Spilled"]


def _add_reading(events: list[dict[str, Any]], belongs: dict[int | None, Stage]) -> None:
    """The size of files read is told by the driver, when it plans a scan."""
    sizes: set[int] = set()
    for event in events:
        if "sparkPlanInfo" in event:
            sizes.update(_sizes_of_files(event["sparkPlanInfo"]))
    told: dict[tuple[int, int], int] = {}
    for event in events:
        if event["Event"] == f"{_SQL}DriverAccumUpdates":
            for one, value in event["accumUpdates"]:
                if one in sizes:
                    told[event["executionId"], one] = max(value, told.get((event["executionId"], one), 0))
    for (query, _), value in told.items():
        belongs[query].read_bytes += value


def _sizes_of_files(plan: dict[str, Any]) -> Iterator[int]:
    for metric in plan["metrics"]:
        if metric["name"] == "size of files read":
            yield metric["accumulatorId"]
    for child in plan["children"]:
        yield from _sizes_of_files(child)
