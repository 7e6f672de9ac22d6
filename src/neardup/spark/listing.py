"""Paths, folders and globs as Spark finds them → input files, named and ordered as the local engine does.

The driver's own file system is listed as the local engine does it, all others by Spark. A place is a pattern where
nothing has that very name. What differs from the local engine: files whose names begin with "_" are hidden as well, as
Spark passes over them; `**` is no wildcard, for a folder is taken with all that is below it; and `{a,b}` is one. Where
Spark lists, hidden names are not counted, for it does not tell them.
"""

import os
import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from glob import has_magic
from typing import Any
from urllib.parse import unquote

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from neardup.errors import InputError, UsageError
from neardup.sources.discover import WRITTEN, Inputs, as_inputs, refuse_nothing
from neardup.sources.formats import named
from neardup.sources.problems import Problems
from neardup.sources.results import refuse_results, runs_among
from neardup.sources.tree import Catalogue, FileEntry, catalogue_of

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


def listed(spark: SparkSession, places: Sequence[str], *, format: str | None, problems: Problems) -> Listing:
    """Find the input files that these paths, folders and globs name; what cannot be read is reported."""
    if format is not None:
        named(format)
    if not places:
        raise UsageError("no input given: name files, folders or globs that Spark reaches")
    found = Catalogue()
    stored: dict[str, Stored] = {}
    loadable: list[str] = []
    for place in places:
        if "**" in place:
            raise UsageError(f"{place}: Spark knows no **. Name the folder: it is taken with all that is below it.")
        met, files, loaded = _seen_here(spark, place) or _seen_by_spark(spark, place)
        refuse_nothing(place, met, is_pattern=_WILDCARD.search(place) is not None)
        found.add(met)
        stored |= files
        loadable += loaded
    return Listing(tuple(loadable), as_inputs(found, places, format=format, problems=problems), stored)


def _seen_here(spark: SparkSession, place: str) -> tuple[Catalogue, dict[str, Stored], list[str]] | None:
    """List a place of the driver's own file system as the local engine does; None where the place is elsewhere.

    Spark alone would follow a link that leads back up forty times, and pass over links to nothing without a word.
    """
    plain = re.sub(r"^file:(?://)?(?=/)", "", place)
    reached = hadoop(spark, plain)
    if reached is None or reached[0].getUri().getScheme() != "file" or "\\" in place:
        return None
    is_pattern = not os.path.lexists(plain)
    if is_pattern and not _WILDCARD.search(plain):
        return None
    met = Catalogue()
    for path in _alternatives(plain) if is_pattern else [plain]:
        if has_magic(path) or os.path.lexists(path):
            met.add(catalogue_of(path))
    entries = [replace(e, path=os.path.abspath(e.path), base=os.path.abspath(e.base)) for e in met.entries]
    if is_pattern:
        base = os.path.abspath("/".join(plain.split("/")[: -_depth(plain)]) or ("/" if plain[:1] == "/" else "."))
        named = [replace(e, base=base, name=os.path.relpath(e.path, base), asked_for=False) for e in entries]
        entries = sorted({e.path: e for e in named}.values(), key=lambda entry: _order(entry, _depth(plain)))
    visible = [entry for entry in entries if not _hidden(entry.name)]
    met.hidden |= {e.path for e in entries if _hidden(e.name) and os.path.basename(e.path) != WRITTEN}
    as_given = not (is_pattern or met.repeated or met.unreadable)
    loadable = [escaped(plain)] if as_given else [escaped(entry.path) for entry in visible]
    files = (_files(spark, loadable) if visible else None) or {}
    for entry in visible:
        if entry.path not in files:
            met.refuse(entry.path, "Spark does not find it")
    met.entries = [entry for entry in visible if entry.path in files]
    return met, {entry.path: files[entry.path] for entry in met.entries}, loadable if visible else []


def _seen_by_spark(spark: SparkSession, place: str) -> tuple[Catalogue, dict[str, Stored], list[str]]:
    """List a place of any file system that Spark reaches. Names that Spark hides are not told."""
    files, is_pattern = _looked_up(spark, place)
    if not files:
        return Catalogue(), {}, []
    base, is_file = _base(place, list(files), is_pattern)
    runs = [] if is_pattern or is_file else runs_among(files)
    if base in runs:
        raise refuse_results(place)
    inside = tuple(f"{run}/" for run in runs)
    met = [_entry(path, files[path], base, is_file) for path in files if not path.startswith(inside)]
    depth = _depth(place) if is_pattern else 0
    ordered = sorted(met, key=lambda file: _order(file, depth))
    return Catalogue(ordered, earlier=set(runs)), files, [place if is_pattern else escaped(place)]


def _alternatives(pattern: str) -> list[str]:
    """Write a pattern of Hadoop's as globs of Python's: {a,b} as two of them, [^a] as [!a]."""
    braces = re.search(r"\{([^{}]*)\}", pattern)
    if braces is None:
        return [pattern.replace("[^", "[!")]
    before, after = pattern[: braces.start()], pattern[braces.end() :]
    return [glob for part in braces[1].split(",") for glob in _alternatives(f"{before}{part}{after}")]


def _hidden(name: str) -> bool:
    """Whether Spark passes over a file of this name, relative to what was given."""
    return any(part[:1] == "_" and "=" not in part for part in name.split("/"))


def stamps(spark: SparkSession, places: Sequence[str]) -> dict[str, str]:
    """The files that there are now, and whether they are what they were, by path."""
    files = _files(spark, places)
    if files is None:  # some are gone: which ones are left?
        files = {path: file for place in places for path, file in (_files(spark, [place]) or {}).items()}
    return {path: file.stamp for path, file in files.items()}


def escaped(path: str) -> str:
    """A path that is one, and no pattern."""
    return _SPECIAL.sub(r"\\\1", path)


def _looked_up(spark: SparkSession, place: str) -> tuple[dict[str, Stored], bool]:
    """The files there, and whether the place is a pattern."""
    files = _files(spark, [escaped(place)])
    if files is not None:
        return files, False
    if not _WILDCARD.search(place):
        raise InputError(f"{place}: there is no such file or folder that Spark can see.")
    files = _files(spark, [place])
    if files is None:
        raise InputError(f"{place}: no file fits.")
    return files, True


def _files(spark: SparkSession, places: Sequence[str]) -> dict[str, Stored] | None:
    """By path. None where there is nothing of one of these names."""
    try:
        loaded = spark.read.format("binaryFile").option("recursiveFileLookup", True).load(list(places))
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


def hadoop(spark: SparkSession, path: str) -> tuple[Any, Any] | None:
    """The file system and the path in it; None where the session does not let us have them."""
    try:
        jvm: Any = spark._jvm
        place = jvm.org.apache.hadoop.fs.Path(path)
        return place.getFileSystem(spark._jsc.hadoopConfiguration()), place
    except Exception as error:
        if isinstance(error, AttributeError) or "Py4JSecurityException" in str(error):
            return None  # Spark Connect; clusters where users share a Java
        raise


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


def _entry(path: str, stored: Stored, base: str, is_file: bool) -> FileEntry:
    return FileEntry(path, base, path[len(base) :].lstrip("/"), stored.size, stored.stamp, is_file)


def _depth(pattern: str) -> int:
    """How many parts there are from the first one with a wildcard on."""
    parts = pattern.split("/")
    return len(parts) - next(at for at, part in enumerate(parts) if _WILDCARD.search(part))


def _order(file: FileEntry, depth: int) -> tuple[str, str]:
    """By name; what a pattern fits comes in the order of what it fits, and then what is below it."""
    return "/".join(file.name.split("/")[:depth]), file.name
