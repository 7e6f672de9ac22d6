"""What is there, and what is to go, wherever Spark writes: by Hadoop's file systems where the session lets us have
them, and by what any session can do elsewhere (Spark Connect: no deleting, but writing nothing over something).

An output folder is new, of an earlier run, or refused: `write` replaces folders, and they might be somebody else's.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from neardup.errors import OutputError, UsageError
from neardup.outputs.folder import listed
from neardup.spark.listing import escaped, hadoop
from neardup.spark.tasks import unwrapped

OURS = ("run.json", "kept", "removed.parquet", "groups.parquet", "skipped.parquet", "work")
"""What a run writes. run.json is there when all others are whole, so it goes first."""


def prepare(spark: SparkSession, out: str, inputs: Sequence[str], *, fresh: bool) -> bool:
    """Make an output folder ready to begin or to go on in, and say whether it was made now.

    `fresh` deletes what an earlier run left there, and nothing else.
    """
    place = _absolute(out)
    for name in inputs:
        if _absolute(name).startswith(f"{place}/"):
            raise UsageError(f"{name} lies in the output folder {out}, which is written to; choose another one.")
    refuse_foreign(spark, out, ours=exists(spark, f"{out}/work/plan"))
    made = _make(spark, out)
    if fresh:
        for name in OURS:
            delete(spark, f"{out}/{name}")
    return made


def remove_empty(spark: SparkSession, folder: str) -> None:
    """Delete a folder in which there is nothing."""
    found = hadoop(spark, folder)
    if found is not None:
        files, place = found
        if not files.listStatus(place):
            files.delete(place, False)


def _make(spark: SparkSession, out: str) -> bool:
    """Make the folder, where that can be done: better now than when hours of work are to be written."""
    found = hadoop(spark, out)
    if found is None:
        return False
    files, place = found
    try:
        if files.exists(place):
            return False
        made = files.mkdirs(place)
    except Exception as error:
        raise OutputError(f"{out}: Spark cannot write there ({unwrapped(error)}). Choose another folder.") from error
    if not made:
        raise OutputError(f"{out}: Spark cannot make this folder. Choose another one, or mend this one.")
    return True


def rename_parts(spark: SparkSession, folder: str, old: str, new: str) -> None:
    """The files of a dataset get another ending, before that of a packing, where files can be renamed."""
    found = hadoop(spark, folder)
    if found is None:
        return
    files, place = found
    jvm: Any = spark._jvm
    for status in files.listStatus(place):
        name = status.getPath().getName()
        if name.startswith("part-") and old in name:
            renamed = jvm.org.apache.hadoop.fs.Path(place, name.replace(old, new))
            if not files.rename(status.getPath(), renamed):
                raise OutputError(f"{folder}/{name}: Spark cannot rename it to {renamed.getName()}.")


def refuse_foreign(spark: SparkSession, out: str, *, ours: bool) -> None:
    """Refuse what this run would replace and did not write: all that has the names of its results, or, where the
    folder is `ours`, what Spark did not write to its folder `kept`."""
    names = [name for name in OURS if name != "work"]
    foreign = _others_in(spark, f"{out}/kept") if ours else [name for name in names if exists(spark, f"{out}/{name}")]
    if foreign:
        raise OutputError(
            f"{out} holds files that are not of this run: {listed(foreign)}. Choose another folder, or move them away."
        )


def _others_in(spark: SparkSession, folder: str) -> list[str]:
    """Return the files of a dataset that Spark did not write, where they can be listed."""
    found = hadoop(spark, folder)
    if found is None or not found[0].exists(found[1]):
        return []
    files, place = found
    paths, listing = [], files.listFiles(place, True)
    while listing.hasNext():
        paths.append(listing.next().getPath())
    return sorted(f"kept/{path.getName()}" for path in paths if not path.getName().startswith(("part-", "_", ".")))


def exists(spark: SparkSession, path: str) -> bool:
    """Whether there is a file or a folder of this name."""
    found = hadoop(spark, path)
    if found is not None:
        files, place = found
        return bool(files.exists(place))
    try:
        spark.read.format("binaryFile").load(escaped(path)).schema  # noqa: B018 - what is not there is told now
    except AnalysisException as error:
        if error.getCondition() != "PATH_NOT_FOUND":
            raise
        return False
    return True


def delete(spark: SparkSession, path: str) -> None:
    """With all that is in it. Where nothing can be deleted, an empty folder stays."""
    found = hadoop(spark, path)
    if found is not None:
        files, place = found
        files.delete(place, True)
    elif exists(spark, path):
        spark.createDataFrame([], "value string").write.mode("overwrite").text(path)


def write_text(spark: SparkSession, path: str, text: str) -> None:
    """A file where that can be had, and a folder with one file elsewhere."""
    found = hadoop(spark, path)
    if found is None:
        spark.createDataFrame([(text,)], "value string").coalesce(1).write.mode("overwrite").text(path)
        return
    files, place = found
    stream = files.create(place, True)
    try:
        stream.write(bytearray(text.encode()))
    finally:
        stream.close()


def _absolute(place: str) -> str:
    """Local paths whole and without links, all others as they are."""
    plain = place.removeprefix("file://")
    return plain.rstrip("/") if "://" in plain else str(Path(os.path.abspath(plain)).resolve())
