"""Paths, folders and globs as Spark finds them → input files, named and ordered as the local engine does.

Whatever file system Spark reaches is listed by Spark itself. A place is a pattern where nothing has that very name.
What differs from the local engine: files whose names begin with "_" are passed over as well, as Spark passes over
them; `**` is no wildcard, for a folder is taken with all that is below it; and `{a,b}` is one.
"""

import os
import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from neardup.errors import InputError, UsageError
from neardup.sources.discover import Found, Inputs, as_inputs, runs_among
from neardup.sources.formats import named

_WILDCARD = re.compile(r"[*?\[{]")
_SPECIAL = re.compile(r"([\\*?\[\]{}])")


@dataclass(frozen=True)
class Stored:
    """A file as Spark names it."""

    path: str
    """What Spark can be asked to load."""
    key: str
    """What `_metadata.file_path` says of its rows."""
    size: int
    stamp: str
    """Another one where the content may be another one."""


@dataclass(frozen=True)
class Listing:
    """Input files, and how Spark names the files that they are made of."""

    places: tuple[str, ...]
    """What was given, as Spark is to load it."""
    inputs: Inputs
    stored: dict[str, Stored]
    """By path, as input files have it."""


def listed(spark: SparkSession, places: Sequence[str], *, format: str | None) -> Listing:
    """The input files that these paths, folders and globs name."""
    if format is not None:
        named(format)
    if not places:
        raise UsageError("no input given: name files, folders or globs that Spark reaches")
    found: list[Found] = []
    stored: dict[str, Stored] = {}
    loadable: list[str] = []
    earlier: set[str] = set()
    for place in places:
        if "**" in place:
            raise UsageError(f"{place}: Spark knows no **. Name the folder: it is taken with all that is below it.")
        files, is_pattern = _looked_up(spark, place)
        if not files:
            raise InputError(f"{place}: there are no files in it.")
        stored |= files
        base, is_file = _base(place, list(files), is_pattern)
        runs = [] if is_pattern or is_file else runs_among(files)
        if base in runs:
            raise InputError(f"{place}: holds the results of an earlier run; name its folder kept ({place}/kept).")
        inside = tuple(f"{run}/" for run in runs)
        met = [_found(path, files[path], base, is_file) for path in files if not path.startswith(inside)]
        if not met:
            raise InputError(f"{place}: there is nothing but results of an earlier run, which are passed over.")
        earlier.update(runs)
        depth = _depth(place) if is_pattern else 0
        found += sorted(met, key=lambda file: _order(file, depth))
        loadable.append(place if is_pattern else escaped(place))
    return Listing(tuple(loadable), as_inputs(found, places, format=format, earlier=len(earlier)), stored)


def stamps(spark: SparkSession, places: Sequence[str]) -> dict[str, str]:
    """The files that there are now, and whether they are what they were, by path."""
    return {path: file.stamp for place in places for path, file in (_files(spark, place) or {}).items()}


def escaped(path: str) -> str:
    """A path that is one, and no pattern."""
    return _SPECIAL.sub(r"\\\1", path)


def _looked_up(spark: SparkSession, place: str) -> tuple[dict[str, Stored], bool]:
    """The files there, and whether the place is a pattern."""
    files = _files(spark, escaped(place))
    if files is not None:
        return files, False
    if not _WILDCARD.search(place):
        raise InputError(f"{place}: there is no such file or folder that Spark can see.")
    files = _files(spark, place)
    if files is None:
        raise InputError(f"{place}: no file fits.")
    return files, True


def _files(spark: SparkSession, place: str) -> dict[str, Stored] | None:
    """By path. None where there is nothing of that name."""
    try:
        loaded = spark.read.format("binaryFile").option("recursiveFileLookup", True).load(place)
        told = loaded.select("path", "length", "modificationTime", "_metadata.file_path").collect()
    except AnalysisException as error:
        if error.getCondition() != "PATH_NOT_FOUND":
            raise
        return None
    files = {}
    for path, size, when, key in told:
        files[_shown(path)] = Stored(path, key, size, f"{size}-{when.timestamp()}")
    for key in loaded.inputFiles():  # what is empty has no rows
        path = unquote(key)
        files.setdefault(_shown(path), Stored(path, key, 0, "0"))
    return files


def _shown(path: str) -> str:
    """Local paths without their scheme, all others with it."""
    return re.sub(r"^file:(?://)?(?=/)", "", path)


def _base(place: str, paths: list[str], is_pattern: bool) -> tuple[str, bool]:
    """The folder that files are named relative to, and whether what was given is one file in it."""
    plain = _shown(place)
    if is_pattern:
        plain = "/".join([*plain.split("/")[: -_depth(plain)], ""])
    plain = plain if plain == "/" else plain.rstrip("/")
    asked = plain if "://" in plain else os.path.abspath(plain)
    if not all(_under(path, asked) for path in paths):  # relative to a home that only Spark knows
        asked = _above(paths, plain, place)
    return (posixpath.dirname(asked), True) if asked in paths else (asked, False)


def _under(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


def _above(paths: list[str], asked: str, place: str) -> str:
    """The folder above all paths that ends as asked, without scheme and host."""
    tail = "/" + re.sub(r"^\w+:(//[^/]*)?", "", asked).strip("/.")
    letters = os.path.commonprefix([f"{path}/" for path in paths])  # noqa: RUF071 - commonpath spoils "://"
    common = letters.rpartition("/")[0]
    while "/" in common:
        if common.endswith(tail) or tail == "/":
            return posixpath.dirname(common) if tail == "/" and common in paths else common
        common = posixpath.dirname(common)
    raise InputError(f"{place}: Spark finds {paths[0]} there, which does not lie below it. Give its whole path.")


def _found(path: str, stored: Stored, base: str, is_file: bool) -> Found:
    return Found(path, base, path[len(base) :].lstrip("/"), stored.size, stored.stamp, is_file)


def _depth(pattern: str) -> int:
    """How many parts there are from the first one with a wildcard on."""
    parts = pattern.split("/")
    return len(parts) - next(at for at, part in enumerate(parts) if _WILDCARD.search(part))


def _order(file: Found, depth: int) -> tuple[str, str]:
    """By name; what a pattern fits comes in the order of what it fits, and then what is below it."""
    return "/".join(file.name.split("/")[:depth]), file.name
