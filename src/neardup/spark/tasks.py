"""Python functions on executors, and their errors brought home.

`mapped` is `DataFrame.mapInArrow`. An error of ours that a task raises travels as one line of JSON inside whatever
Spark makes of it, and `unwrapped` finds it there.
"""

import json
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from neardup import errors
from neardup.errors import InputError, NeardupError, OutputError

Batches = Iterator[pa.RecordBatch]

_SIGN = "neardup-failure:"
_FAILURE = re.compile(rf"{_SIGN}(\{{.*\}})")
_STACK = re.compile(r"\n\s*(?:at |Driver stacktrace|JVM stacktrace|SQLSTATE|== )")
_LOST = "Checkpoint block rdd_"
_LONGEST = 600


class TaskFailure(Exception):
    """An error of ours on its way out of a task."""


def mapped(frame: DataFrame, function: Callable[[Batches], Batches], schema: pa.Schema | StructType | str) -> DataFrame:
    """`frame.mapInArrow(function, schema)`; the function must be importable or self-contained on the executors."""
    return as_it_is(frame, _Guarded(function), spark_schema(schema) if isinstance(schema, pa.Schema) else schema)


def as_it_is(frame: DataFrame, function: Callable[[Batches], Batches], schema: StructType | str) -> DataFrame:
    """The same without the guard: for workers that may not have neardup."""
    with warnings.catch_warnings():
        # pyspark asks for pandas, of which nothing is used here, and warns of its newest versions.
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        return frame.mapInArrow(function, schema)


def spark_schema(schema: pa.Schema) -> StructType:
    """The same columns in Spark's types. There are no unsigned integers among them."""
    return from_arrow_schema(schema, prefer_timestamp_ntz=True)


class _Guarded:
    """A function whose errors can be told from Spark's."""

    def __init__(self, function: Callable[[Batches], Batches]) -> None:
        self._function = function

    def __call__(self, batches: Batches) -> Batches:
        try:
            yield from self._function(batches)
        except NeardupError as error:
            said = json.dumps({"kind": type(error).__name__, "said": str(error)})
            raise TaskFailure(f"{_SIGN}{said}") from error


@contextmanager
def unwrapping() -> Iterator[None]:
    """What fails inside is raised as `unwrapped` says."""
    try:
        yield
    except NeardupError:
        raise
    except Exception as error:
        better = unwrapped(error)
        if better is error:
            raise
        raise better from None


def unwrapped(error: Exception) -> Exception:
    """What a task of ours said; what Spark says in few words; any other error as it is."""
    text = str(error)
    found = _FAILURE.search(text)
    if found is not None:
        return _ours(found[1]) or error
    if _LOST in text:
        return NeardupError(
            "a Spark executor was lost, with the only copy of what earlier steps had made. Run it again with work= a "
            "folder that all executors reach: what is done stays there."
        )
    if not isinstance(error, PySparkException) and type(error).__name__ != "Py4JJavaError":
        return error
    if "Traceback (most recent call last)" in text:  # a mistake in Python code: the whole of it is worth reading
        return error
    if "Mkdirs failed to create" in text or "Permission denied" in text:
        return OutputError(f"Spark cannot write: {_shortened(text).splitlines()[-1]}. Choose another folder.")
    condition = _condition(error)
    if condition in ("PATH_NOT_FOUND", "UNABLE_TO_INFER_SCHEMA", "CANNOT_MERGE_SCHEMAS") or "READ_FILE" in condition:
        return InputError(f"Spark cannot read the input: {_shortened(text)}")
    return NeardupError(f"Spark gave up: {_shortened(text)}")


def _condition(error: Any) -> str:
    ask = getattr(error, "getCondition", None)
    return (ask() if callable(ask) else None) or ""


def _shortened(text: str) -> str:
    """Without what Java says of where it was."""
    end = _STACK.search(text)
    plain = text[: end.start()] if end is not None else text
    return plain.strip() if len(plain) <= _LONGEST else f"{plain[:_LONGEST].strip()} …"


def _ours(sent: str) -> NeardupError | None:
    try:
        told = json.loads(sent)
    except ValueError:
        return None
    kind = getattr(errors, told["kind"], NeardupError)
    error: NeardupError = kind.__new__(kind)  # some take other arguments than their message
    Exception.__init__(error, told["said"])
    return error
