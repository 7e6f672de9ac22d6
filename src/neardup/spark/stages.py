"""Frames that are made once. In a folder that Spark reaches they are Parquet, and a killed run goes on after the last
one; without a folder they are kept for as long as the run lasts, on the executors' disks, and by the driver where they
have few rows.

    plan/          whose work this is, as one row of JSON
    failed/        why a run stopped that its inputs or options did not let finish; another run may take its place
    NAME/          the rows of a stage
    NAME.done/     one row, written after them: the plan's fingerprint, the rows' number and their schema

A stage without its mark is made again. Marks are Parquet too: what Spark can write is all that is asked of a folder.

Without a folder, nothing is made a second time either. The rows of a user's DataFrame may come in another order when
Spark computes them again, for after a shuffle they come as the network brings them, and documents are numbered by it;
and a plan that holds the plans of all steps before it grows with a power of their number, until Spark's memory is full
of it. So a stage is cut off from what it was made of (`localCheckpoint`), and kept on two executors where there are
two: one may be lost. When both copies are lost the run fails, and says so.
"""

import hashlib
import json
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Any

from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.types import StructType
from pyspark.storagelevel import StorageLevel

from neardup.engines.work import difference
from neardup.errors import InputError, UsageError, WorkError
from neardup.spark.listing import escaped
from neardup.spark.storage import delete
from neardup.spark.tasks import unwrapping

_PLAN = "plan string"
_FAILED = "reason string"
_LAST = "decided"
"""The stage after which a run has its answer."""
_DONE = "plan string, rows bigint, schema string"
_ANY: dict[str, Any] = {"recipe": None, "inputs": []}
_WARNS = "org.apache.spark.rdd.MapPartitionsRDD"
_START_OVER = "Start over with --fresh, or delete the work folder."
_NOTHING_THERE = ("PATH_NOT_FOUND", "UNABLE_TO_INFER_SCHEMA")


class Stages:
    """The stages of one run. Belongs to a plan; another plan's folder is refused."""

    def __init__(
        self, spark: SparkSession, folder: str | None, plan: dict[str, Any], *, resumable: bool = True
    ) -> None:
        self._spark, self._resumable = spark, resumable
        self._folder = folder.rstrip("/") if folder is not None else None
        self._kept: dict[str, tuple[DataFrame, int]] = {}
        self._plan = json.dumps(plan, sort_keys=True)
        self._fingerprint = hashlib.sha256(self._plan.encode()).hexdigest()[:32]
        self.resumed = False
        """Whether earlier work was found."""
        if self._folder is not None:
            self.resumed = self.claim(self._folder)

    def __enter__(self) -> "Stages":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.drop()

    def keep(self, name: str, frame: DataFrame | Callable[[], DataFrame]) -> DataFrame:
        """The rows of this stage, made now or found. A function is called only where they must be made."""
        if name in self._kept:
            return self._kept[name][0]
        with unwrapping():
            kept = self._found(name)
            if kept is None:
                kept = self._made(name, frame() if callable(frame) else frame)
        self._kept[name] = kept
        return kept[0]

    def found(self, name: str) -> DataFrame:
        """The rows of a stage that is done."""

        def never() -> DataFrame:
            raise WorkError(f"{self._folder}/{name} is gone, though it was finished. {_START_OVER}")

        return self.keep(name, never)

    def done(self, name: str) -> bool:
        """Whether it need not be made any more."""
        return name in self._kept or self._mark(name) is not None

    def rows(self, name: str) -> int:
        """How many rows a stage has, that has been kept."""
        return self._kept[name][1]

    def drop(self, *, but: Container[str] = ()) -> None:
        """Let go of what is kept without a folder; what is in one stays."""
        for name in [name for name in self._kept if name not in but]:
            frame, _ = self._kept.pop(name)
            if self._folder is None:
                _let_go(frame)

    def claim(self, folder: str) -> bool:
        """Make a folder this run's, and say whether it was before; the folder of another run is refused."""
        found = self._read(f"{folder}/plan", _PLAN)
        failure = None if found is None else self._read(f"{folder}/failed", _FAILED)
        if found is not None and found.plan != self._plan:
            if failure is None:
                self._refuse(folder, found.plan)
            found = None
        if failure is not None:
            delete(self._spark, f"{folder}/failed")
        if found is None:
            self._write_row(f"{folder}/plan", (self._plan,), _PLAN)
        return found is not None

    def _refuse(self, folder: str, plan: str) -> None:
        if not self._resumable:
            raise WorkError(
                f"{folder} holds the work of a run, and one DataFrame cannot be told from another, so that nothing can "
                "go on. Give a new folder, or delete this one."
            )
        try:
            theirs = json.loads(plan)
        except ValueError as error:
            raise WorkError(f"{folder}/plan: cannot be read ({error}). Delete {folder} to start over.") from error
        raise WorkError(
            f"{folder} holds the work of another run: {difference(_ANY | theirs, _ANY | json.loads(self._plan))}. "
            "Choose another output folder, or start over with --fresh."
        )

    @contextmanager
    def noting_failure(self) -> Iterator[None]:
        """Note an error in the inputs or in how they are read, so that a corrected run may take this one's place."""
        try:
            yield
        except (InputError, UsageError) as error:
            if self._folder is not None and not self.done(_LAST):
                self._write_row(f"{self._folder}/failed", (str(error).partition("\n")[0],), _FAILED)
            raise

    def _made(self, name: str, frame: DataFrame) -> tuple[DataFrame, int]:
        if self._folder is None:
            kept = self._remembered(frame)
            return kept, kept.count()
        self._write(frame, name)
        back = self._spark.read.schema(frame.schema).parquet(escaped(f"{self._folder}/{name}"))
        rows = back.count()
        mark = (self._fingerprint, rows, frame.schema.json())
        self._write(self._spark.createDataFrame([mark], _DONE).coalesce(1), f"{name}.done")
        return back, rows

    def _remembered(self, frame: DataFrame) -> DataFrame:
        try:
            return frame.localCheckpoint(True, self._twice)
        except PySparkException as error:
            if "NOT_SUPPORTED" not in (error.getCondition() or ""):
                raise
            raise UsageError(
                f"this Spark session keeps no frames ({error.getCondition()}), so the steps of a run need a folder: "
                "give work= one that all executors reach."
            ) from error

    @property
    def _twice(self) -> StorageLevel:
        """On two executors; where all is in one process there is no second one."""
        here = (self._spark.conf.get("spark.master", None) or "").startswith("local")
        return StorageLevel.DISK_ONLY if here else StorageLevel.DISK_ONLY_2

    def _found(self, name: str) -> tuple[DataFrame, int] | None:
        mark = self._mark(name)
        if mark is None:
            return None
        place = f"{self._folder}/{name}"
        schema = StructType.fromJson(json.loads(mark.schema))
        try:
            back = self._spark.read.schema(schema).parquet(escaped(place))
            rows = back.count()
        except AnalysisException as error:
            raise WorkError(f"{place} is gone, though it was finished. {_START_OVER}") from error
        if rows != mark.rows:
            raise WorkError(f"{place} has {rows:,} rows, and {mark.rows:,} were written. {_START_OVER}")
        return back, rows

    def _mark(self, name: str) -> Row | None:
        if self._folder is None:
            return None
        mark = self._read(f"{self._folder}/{name}.done", _DONE)
        return mark if mark is not None and mark.plan == self._fingerprint else None  # else of a run that failed

    def _read(self, path: str, schema: str) -> Row | None:
        """The one row of a mark; None where it was never written, or not to its end."""
        try:
            rows = self._spark.read.schema(schema).parquet(escaped(path)).collect()
        except AnalysisException as error:
            if error.getCondition() in _NOTHING_THERE:
                return None
            raise
        return rows[0] if rows else None

    def _write(self, frame: DataFrame, name: str) -> None:
        frame.write.mode("overwrite").option("compression", "zstd").parquet(f"{self._folder}/{name}")

    def _write_row(self, path: str, row: tuple[str, ...], schema: str) -> None:
        self._spark.createDataFrame([row], schema).coalesce(1).write.mode("overwrite").parquet(path)


def _let_go(frame: DataFrame) -> None:
    """Of a checkpoint: at once where that can be said, and else when nothing refers to it any more.

    Spark warns, each time, that what is let go of cannot be made again; here that is meant.
    """
    with suppress(AttributeError):  # Spark Connect has no plans to look into, and lets go by itself
        if frame.sparkSession._jsc.sc().isStopped():  # with the session everything is gone
            return
        jvm: Any = frame.sparkSession._jvm
        log4j = jvm.org.apache.logging.log4j
        log4j.core.config.Configurator.setLevel(_WARNS, log4j.Level.ERROR)
        frame._jdf.queryExecution().logical().rdd().unpersist(False)
