"""How Parquet stores timestamps: read from the footers of the inputs, and asked of Spark when it writes.

Spark has one type of timestamps with a zone, and writes them in one form, whichever they were read in: INT96, or INT64
of microseconds or milliseconds. The form is a setting of the session and holds for all columns.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.types import ArrayType, DataType, MapType, StructType, TimestampType

from neardup.errors import UsageError

_SETTING = "spark.sql.parquet.outputTimestampType"
_FORMS = {
    "TIMESTAMP(MICROS,true)": "TIMESTAMP_MICROS",
    "TIMESTAMP(MILLIS,true)": "TIMESTAMP_MILLIS",
}
_AT_ONCE = 8


def timestamp_form(spark: SparkSession, schema: StructType, paths: Sequence[str]) -> str | None:
    """Return how the timestamps of these files are stored, in the words of Spark's setting.

    None where there are none, and where the session does not let us see (Spark Connect): then its own setting holds.
    Files that store them in two ways raise UsageError.
    """
    if not paths or not _has_timestamps(schema):
        return None
    try:
        java: Any = spark._jvm
        settings = spark._jsc.hadoopConfiguration()
    except Exception as error:
        if isinstance(error, AttributeError) or "Py4JSecurityException" in str(error):
            return None
        raise

    def stored(path: str) -> dict[str, str]:
        place = java.org.apache.parquet.hadoop.util.HadoopInputFile.fromPath(
            java.org.apache.hadoop.fs.Path(path), settings
        )
        reader = java.org.apache.parquet.hadoop.ParquetFileReader.open(place)
        try:
            columns = reader.getFooter().getFileMetaData().getSchema().getColumns()
            return {form: ".".join(column.getPath()) for column in columns if (form := _form(column)) is not None}
        finally:
            reader.close()

    found: dict[str, tuple[str, str]] = {}
    with ThreadPoolExecutor(_AT_ONCE) as readers:
        for path, forms in zip(paths, readers.map(stored, paths), strict=True):
            for form, column in forms.items():
                found.setdefault(form, (column, path))
    if len(found) > 1:
        told = ", ".join(f"{form} ({column!r} in {path})" for form, (column, path) in found.items())
        raise UsageError(
            f"the inputs store timestamps in several ways: {told}. Spark writes all of them in one. Use the local "
            f"engine, which writes each as it was; or write result.kept yourself, with {_SETTING} as you like."
        )
    return next(iter(found), None)


def _form(column: Any) -> str | None:
    kind = column.getPrimitiveType()
    if kind.getPrimitiveTypeName().toString() == "INT96":
        return "INT96"
    annotation = kind.getLogicalTypeAnnotation()
    return None if annotation is None else _FORMS.get(annotation.toString())


def _has_timestamps(kind: DataType) -> bool:
    if isinstance(kind, StructType):
        return any(_has_timestamps(field.dataType) for field in kind)
    if isinstance(kind, ArrayType):
        return _has_timestamps(kind.elementType)
    if isinstance(kind, MapType):
        return _has_timestamps(kind.keyType) or _has_timestamps(kind.valueType)
    return isinstance(kind, TimestampType)


@contextmanager
def writing_timestamps(spark: SparkSession, form: str | None) -> Iterator[None]:
    """Let Spark write timestamps in this form, and leave the session's setting as it was."""
    if form is None:
        yield
        return
    before = str(spark.conf.get(_SETTING))
    spark.conf.set(_SETTING, form)
    try:
        yield
    finally:
        spark.conf.set(_SETTING, before)
