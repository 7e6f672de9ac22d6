"""A collection, a recipe and a cluster → the plan: steps, sums, what fits one machine, and the advice."""

from dataclasses import asdict, dataclass, replace
from math import ceil, isfinite
from typing import Any

from neardup.errors import UsageError
from neardup.planning import cluster, machine
from neardup.planning.cluster import Expected, Step
from neardup.planning.constants import Constants, constants
from neardup.planning.machine import OneMachine
from neardup.planning.words import count, duration, size
from neardup.recipe import Recipe

_PARTITION = 128e6
"""Bytes of a shuffle that a task should get."""

_MOST_PARTITIONS = 50_000
"""More of them cost the driver more than they help; what is larger is spilled to disk."""

_BROADCAST = 8e9
"""Bytes that Spark can broadcast in one piece."""

_SPARE = 0.75
"""Share of memory that a run may count on."""


@dataclass(frozen=True)
class Collection:
    """What is to be deduplicated."""

    documents: float
    text: float
    """Bytes."""
    duplicates: float = 0.3
    """Share of the documents that have company: a copy, or a key in common with another one."""

    def __post_init__(self) -> None:
        _above_nothing("documents", self.documents, "the number of documents, such as 1.6e9")
        _above_nothing("bytes", self.text, "the bytes of their text, such as 20e12 or 20TB")
        if not 0.0 <= self.duplicates <= 1.0:
            raise UsageError(f"duplicates = {self.duplicates:g}: it is a share of the documents, from 0 to 1.")
        if self.text < self.documents:
            raise UsageError(
                f"bytes = {self.text:g} for documents = {self.documents:g}: that is less than a byte of text each. "
                "bytes are those of the whole collection."
            )


@dataclass(frozen=True)
class Assumed:
    """What nobody has measured: the user's cluster and what it costs."""

    cores: int = 1000
    cores_per_executor: int = 4
    memory_per_core: float = 4e9
    bandwidth: float = 50e6
    """Bytes a second and core, read from storage, or sent and received."""
    busy: float = 0.7
    """Share of the time in which a core computes."""
    price: float = 0.05
    """Of a core-hour."""
    machine_cores: int = 32
    patience: float = 24.0
    """Hours that a run on one machine may take."""

    def __post_init__(self) -> None:
        told = {
            "cores": "cores of the cluster",
            "cores_per_executor": "cores of an executor",
            "memory_per_core": "bytes of memory per core, such as 4GB",
            "bandwidth": "bytes a second and core, such as 50MB",
            "machine_cores": "cores of the one machine",
            "patience": "hours",
        }
        for name, meaning in told.items():
            _above_nothing(name, getattr(self, name), meaning)
        if not 0.0 < self.busy <= 1.0:
            raise UsageError(f"busy = {self.busy:g}: it is a share of the time, above 0 and up to 1.")
        if not (isfinite(self.price) and self.price >= 0):
            raise UsageError(f"price = {self.price:g}: it is what a core-hour costs, 0 or more.")


@dataclass(frozen=True)
class Plan:
    """Everything that `neardup plan` prints."""

    collection: Collection
    assumed: Assumed
    recipe: str
    expected: Expected
    steps: tuple[Step, ...]
    one: OneMachine
    suffices: float
    """Documents of this size up to which one machine does."""

    def hours(self, step: Step) -> float:
        """By whatever takes longer: computing, or moving bytes. What is shuffled is sent and received."""
        computing = step.core_seconds / (self.assumed.cores * self.assumed.busy)
        moving = (step.read + 2 * step.shuffled + step.kept) / (self.assumed.cores * self.assumed.bandwidth)
        return max(computing, moving) / 3600

    @property
    def total_hours(self) -> float:
        """Of all steps, one after the other."""
        return sum(map(self.hours, self.steps))

    @property
    def core_hours(self) -> float:
        """Those that are paid for: cores wait for bytes and for each other too."""
        return self.total_hours * self.assumed.cores

    @property
    def money(self) -> float:
        """At the assumed price."""
        return self.core_hours * self.assumed.price

    @property
    def executors(self) -> int:
        """Processes of the cluster."""
        return ceil(self.assumed.cores / self.assumed.cores_per_executor)

    @property
    def work_bytes(self) -> float:
        """Of the work folder, when the run is over."""
        return sum(step.kept for step in self.steps if step.name != "write")

    @property
    def driver_bytes(self) -> float:
        """What the driver holds at once: what it collects, and the copy that it sends."""
        return 2 * cluster.held_by_driver(self.expected)

    @property
    def executor_bytes(self) -> float:
        """What every executor holds of it."""
        return cluster.held_by_driver(self.expected)

    @property
    def partitions(self) -> int:
        """spark.sql.shuffle.partitions for the largest shuffle; Spark puts small ones together."""
        largest = max(step.shuffled for step in self.steps)
        return min(max(2 * self.assumed.cores, ceil(largest / _PARTITION)), _MOST_PARTITIONS)

    @property
    def advice(self) -> str:
        """In one sentence."""
        one, assumed = self.one, self.assumed
        if not one.obstacles:
            return (
                f"One machine of {assumed.machine_cores} cores does it in {duration(one.hours)}: take the local "
                "engine, `neardup dedup`, and no cluster."
            )
        reasons = {
            "memory": f"{size(one.memory)} of memory",
            "shared keys": f"more numbers than 2^31 for {count(self.expected.entries)} shared keys",
            "time": duration(one.hours),
        }
        *most, last = (reasons[name] for name in one.obstacles)
        needed = f"{', '.join(most)} and {last}" if most else last
        return (
            f"Take Spark, `neardup dedup --engine spark`: one machine of {assumed.machine_cores} cores would need "
            f"{needed}, and {assumed.cores:,} cores take {duration(self.total_hours)}."
        )

    @property
    def warnings(self) -> list[str]:
        """What the cluster as assumed cannot hold."""
        found = []
        bits, assumed = self.collection.documents / 8, self.assumed
        if bits > _BROADCAST:
            found.append(
                f"A bit per document is {size(bits)}, and Spark sends {size(_BROADCAST)} to everybody at the most: "
                f"deduplicate parts of {count(8 * _BROADCAST)} documents, and then what is kept of them."
            )
        held = assumed.cores_per_executor * assumed.memory_per_core
        if self.executor_bytes > held / 2:
            found.append(
                f"Every executor holds {size(self.executor_bytes)} of that, and has {size(held)}: give more "
                "--executor-cores or --memory-per-core."
            )
        driver = assumed.machine_cores * assumed.memory_per_core
        if self.driver_bytes > _SPARE * driver:
            found.append(f"The driver holds {size(self.driver_bytes)}: no machine of {size(driver)} does for it.")
        return found

    def to_dict(self) -> dict[str, Any]:
        """Plain values, in bytes, seconds and hours."""
        return {
            "collection": asdict(self.collection),
            "recipe": self.recipe,
            "assumed": asdict(self.assumed),
            "measured": constants().measured,
            "expected": asdict(self.expected),
            "steps": [{**asdict(step), "hours": self.hours(step)} for step in self.steps],
            "sum": {
                "read": sum(step.read for step in self.steps),
                "shuffled": sum(step.shuffled for step in self.steps),
                "kept": sum(step.kept for step in self.steps),
                "core_seconds": sum(step.core_seconds for step in self.steps),
                "hours": self.total_hours,
                "core_hours": self.core_hours,
                "money": self.money,
                "executors": self.executors,
                "work_bytes": self.work_bytes,
                "driver_bytes": self.driver_bytes,
                "executor_bytes": self.executor_bytes,
                "shuffle_partitions": self.partitions,
            },
            "one_machine": {**asdict(self.one), "fits": not self.one.obstacles, "suffices_for": self.suffices},
            "advice": self.advice,
            "warnings": self.warnings,
        }


def make_plan(
    collection: Collection, recipe: Recipe, assumed: Assumed | None = None, *, known: Constants | None = None
) -> Plan:
    """What a run will cost."""
    assumed, known = assumed or Assumed(), known or constants()
    expected = Expected.of(recipe, collection.documents, collection.text, collection.duplicates, known)
    one = _one(expected, assumed, known)
    suffices = _suffices(collection, recipe, assumed, known)
    steps = tuple(cluster.steps(expected, known))
    return Plan(collection, assumed, recipe.id, expected, steps, one, suffices)


def _one(expected: Expected, assumed: Assumed, known: Constants) -> OneMachine:
    cores = assumed.machine_cores
    return machine.on_one(
        expected,
        known,
        cores=cores,
        memory=_SPARE * cores * assumed.memory_per_core,
        patience=assumed.patience,
        busy=assumed.busy,
    )


def _suffices(collection: Collection, recipe: Recipe, assumed: Assumed, known: Constants) -> float:
    """Halved until it is known to a thousandth: all that is needed grows with the number of documents."""
    each = collection.text / collection.documents
    first = Expected.of(recipe, 1.0, each, collection.duplicates, known)

    def fits(n: float) -> bool:
        return not _one(_times(first, n), assumed, known).obstacles

    low, high = 0.0, 1.0
    while fits(high) and high < 1e18:
        low, high = high, high * 2
    while high - low > low / 1000 + 1:
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _times(one: Expected, n: float) -> Expected:
    counted = ("documents", "text", "company", "standing", "entries", "pairs", "removed")
    return replace(one, **{name: n * getattr(one, name) for name in counted})


def _above_nothing(name: str, value: float, meaning: str) -> None:
    if not (isfinite(value) and value > 0):
        raise UsageError(f"{name} = {value:g}: it must be above 0: {meaning}.")
