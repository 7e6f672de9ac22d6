"""Finding the input files: files, folders, globs and URLs, in any mixture.

Tables are an input file each. Text files and HTML pages, which are a document each, are taken together: all
those of a folder are one input file with many members.

Names are relative to what was given: to the folder, or to the part of a glob before its first wildcard. Where
two inputs would get the same name, both are prefixed with the name of the folder they were found in. Names that are
not UTF-8 are shown as `files.printable` says; paths and members stay as they are stored.

The results of an earlier run that lie in an input folder are no input: what was kept would be found twice.
"""

import os
import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from functools import cache
from glob import has_magic, iglob
from pathlib import Path
from typing import Any

from neardup.errors import InputError, UsageError
from neardup.sources.base import InputFile
from neardup.sources.compression import ENDINGS, compression_of
from neardup.sources.files import filesystem, is_remote, is_web, printable
from neardup.sources.folder import Folder
from neardup.sources.formats import FORMATS, SUFFIXES, named, told_by
from neardup.sources.stamps import far_stamp, local_stamp, members_stamp, tells_changes
from neardup.sources.warc import refuse_arc

EARLIER = "results of an earlier run"
"""What folders with such are counted as, among what was passed over."""

_WRITTEN = "_SUCCESS"
"""What Spark and Hadoop leave in a folder that is whole. Nobody misses it."""

_RESULTS = frozenset({"run.json", "removed.parquet", "groups.parquet"})
_PLAN = re.compile(rb'\s*\{\s*"recipe"')


@dataclass(frozen=True)
class Inputs:
    """What was found."""

    files: tuple[InputFile, ...]
    passed_over: dict[str, int] = field(default_factory=dict)
    """Files in folders whose suffix no format knows: suffix ("" for none) → how many. `EARLIER` → how many folders."""

    @property
    def remarks(self) -> list[str]:
        """Sentences for the user: what was passed over."""
        said = []
        unknown = {suffix: n for suffix, n in self.passed_over.items() if suffix != EARLIER}
        if unknown:
            kinds = ", ".join(f"{n:,} {suffix or 'without an ending'}" for suffix, n in unknown.items())
            said.append(f"Passed over files that are of no known format: {kinds}.")
        if EARLIER in self.passed_over:
            said.append(f"Passed over folders with results of an earlier run: {self.passed_over[EARLIER]:,}.")
        return said


@dataclass(frozen=True)
class Found:
    """A file, before anything is decided about it."""

    path: str
    base: str
    """The folder that it was found in, or under."""
    name: str
    """Relative to `base`, with forward slashes."""
    size: int
    stamp: str
    asked_for: bool
    """Given by name, and not met in a folder or by a glob."""


def discover(inputs: Sequence[str | Path], *, format: str | None = None) -> Inputs:
    """The input files that these paths, globs and URLs name.

    `format` is taken for all of them, whatever their names.
    """
    if format is not None:
        named(format)
    if not inputs:
        raise UsageError("no input given: name files, folders, globs or URLs")
    found: list[Found] = []
    earlier: set[str] = set()
    for given in inputs:
        place = os.fspath(given)
        results: set[str] = set()
        met = _remote(place, results) if is_remote(place) else _local(place, results)
        if not met and results:
            raise InputError(
                f"{place}: there is nothing but results of an earlier run ({_some(results)}), which are passed over. "
                "To read what was kept then, name the folder kept in it."
            )
        if not met:
            raise InputError(f"{place}: {'no file fits' if has_magic(place) else 'there are no files in it'}.")
        found += met
        earlier |= results
    return as_inputs(found, inputs, format=format, earlier=len(earlier))


def as_inputs(found: Sequence[Found], given: Sequence[str | Path], *, format: str | None, earlier: int) -> Inputs:
    """Input files of the files that were found, whoever found them; `earlier` folders with results were passed over."""
    passed_over: Counter[str] = Counter()
    known: list[tuple[Found, str]] = []
    for file in found:
        kind = _format(file, format)
        if kind is None and posixpath.basename(file.name) != _WRITTEN:
            passed_over[printable(_suffix(file.name))] += 1
        if kind is None:
            continue
        known.append((file, kind))
    _refuse_twice(file for file, _ in known)
    if not known:
        raise InputError(
            f"{', '.join(map(str, given))}: no input found among {passed_over.total():,} files "
            f"({_counted(passed_over)}). {_known_suffixes()}"
        )
    counted = dict(passed_over.most_common())
    return Inputs(tuple(_distinct(_assembled(known))), counted | ({EARLIER: earlier} if earlier else {}))


def _some(folders: set[str]) -> str:
    shown = [printable(folder) for folder in sorted(folders)]
    return ", ".join(shown[:3]) + (f" and {len(shown) - 3} more" if len(shown) > 3 else "")


def _holds_results(folder: str) -> bool:
    """Whether a run wrote its results here, or began to: the files that each run leaves, or its plan."""
    if all(os.path.exists(os.path.join(folder, name)) for name in _RESULTS):  # of Spark's making, folders among them
        return True
    if os.path.isdir(os.path.join(folder, "work", "plan")) and os.path.isdir(os.path.join(folder, "kept")):
        return True
    plan = os.path.join(folder, "work", "plan.json")
    if not os.path.isfile(plan):
        return False
    if os.path.isdir(os.path.join(folder, "kept")):
        return True
    try:
        with open(plan, "rb") as file:
            return _PLAN.match(file.read(64)) is not None
    except OSError:
        return False


def _refuse_results(folder: str) -> InputError:
    kept = f"{folder.rstrip('/' + os.sep)}/kept"
    return InputError(f"{folder}: holds the results of an earlier run; name its folder kept ({kept}).")


def _local(place: str, earlier: set[str]) -> list[Found]:
    """The files there. Folders with results of earlier runs are passed over and noted in `earlier`."""
    if os.path.isdir(place):
        if _holds_results(place):
            raise _refuse_results(place)
        return _walk(place, place, earlier)
    if os.path.exists(place):
        return [_stat(place, os.path.dirname(place), asked_for=True)]
    if not has_magic(place):
        raise InputError(f"{place}: there is no such file or folder.{_near(place)}")
    base = _before_wildcards(place)
    asks_for_kept = "kept" in place.replace(os.sep, "/").split("/")
    results = cache(_holds_results)
    met: list[Found] = []
    for path in sorted(iglob(place, recursive=True)):
        run = next((folder for folder in _between(base, path) if results(folder)), None)
        if run is not None and not (asks_for_kept and _between(run, path)[1:2] == [os.path.join(run, "kept")]):
            earlier.add(os.path.realpath(run))
        elif os.path.isdir(path):
            # `**` itself walks through folders; other wildcards mean the folders that they fit.
            met += [] if "**" in place else _walk(path, base, earlier)
        else:
            met.append(_stat(path, base))
    return met


def _between(base: str, path: str) -> list[str]:
    """The folders from `base` down to `path`, which is one of them if it is a folder."""
    folders = [base]
    for part in os.path.relpath(path, base or ".").split(os.sep):
        folders.append(os.path.join(folders[-1], part))
    return folders


def _walk(folder: str, base: str, earlier: set[str]) -> list[Found]:
    met: list[Found] = []
    for parent, folders, names in os.walk(folder):
        if _holds_results(parent):
            earlier.add(os.path.realpath(parent))
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        met += [_stat(os.path.join(parent, name), base) for name in names if not name.startswith(".")]
    return sorted(met, key=lambda file: file.name)


def _stat(path: str, base: str, *, asked_for: bool = False) -> Found:
    try:
        stat = os.stat(path)
    except OSError as error:  # a dangling link
        raise InputError(f"{path}: cannot be read ({error.strerror}).") from error
    name = os.path.relpath(path, base or ".").replace(os.sep, "/")
    return Found(path, base, name, stat.st_size, local_stamp(stat), asked_for)


def _before_wildcards(place: str) -> str:
    parts = place.replace(os.sep, "/").split("/")
    fixed = next(at for at, part in enumerate(parts) if has_magic(part))
    return "/".join(parts[:fixed]) or ("/" if place.startswith("/") else "")


def _near(place: str) -> str:
    """The files beside it, if there are few."""
    folder = os.path.dirname(place) or "."
    if not os.path.isdir(folder):
        return f" There is no folder {folder} either."
    beside = sorted(name for name in os.listdir(folder) if not name.startswith("."))
    return f" In {folder} there are {', '.join(beside)}." if 0 < len(beside) <= 10 else ""


def _remote(place: str, earlier: set[str]) -> list[Found]:
    filesystem_, path = filesystem(place)
    far: Any = filesystem_
    try:
        far.invalidate_cache()  # listings are remembered, and would tell the past
        if has_magic(_without_query(path)):
            base = _before_wildcards(path)
            listed = far.glob(path, detail=True)
        elif told_by(_without_query(place))[0] is None and far.isdir(path):
            base = path.rstrip("/")
            listed = far.find(path, detail=True)
        else:
            return [_far(far, far.info(path), path, posixpath.dirname(_without_query(path)), asked_for=True)]
    except (OSError, ValueError) as error:
        raise InputError(f"{place}: cannot be read ({error or type(error).__name__}).") from error
    except Exception as error:  # each protocol raises its own package's errors
        raise InputError(f"{place}: cannot be read ({type(error).__name__}: {error}).") from error
    files = [(where, info) for where, info in sorted(listed.items()) if info.get("type", "file") == "file"]
    runs = () if has_magic(_without_query(path)) else runs_among(where for where, _ in files)
    if base in runs:
        raise _refuse_results(place)
    earlier.update(runs)
    files = [(where, info) for where, info in files if not where.startswith(tuple(f"{run}/" for run in runs))]
    met = [_far(far, _told(far, where, info), where, base) for where, info in files]
    return [file for file in met if not any(part.startswith(".") for part in file.name.split("/"))]


def runs_among(paths: Iterable[str]) -> list[str]:
    """The folders far away that have results of an earlier run in them, told by all that is there."""
    names: defaultdict[str, set[str]] = defaultdict(set)
    for path in paths:
        folder, name = posixpath.split(path)
        names[folder].add(name)
        above, inside = posixpath.split(folder)
        if inside in _RESULTS:  # a folder of Spark's making
            names[above].add(inside)
    return [folder for folder, there in names.items() if there >= _RESULTS]


def _without_query(place: str) -> str:
    """A web address may carry a signature after its file's name; elsewhere "?" is a wildcard."""
    return place.partition("?")[0] if is_web(place) else place


def _far(far: Any, info: dict[str, Any], path: str, base: str, *, asked_for: bool = False) -> Found:
    name = path[len(base) :].lstrip("/") if path.startswith(base) else posixpath.basename(path)
    name = name.partition("?")[0] if is_web(path) else name
    return Found(
        path=far.unstrip_protocol(path),
        base=far.unstrip_protocol(base),
        name=name,
        size=info.get("size") or 0,
        stamp=far_stamp(info),
        asked_for=asked_for,
    )


def _told(far: Any, path: str, listed: dict[str, Any]) -> dict[str, Any]:
    """What is known of a file: the listing, or more where that has names only, as those of web servers."""
    if tells_changes(listed):
        return listed
    try:
        asked: dict[str, Any] = far.info(path)
    except Exception:  # a dead link: reading it says so
        return listed
    return listed | asked


def _refuse_twice(found: Iterable[Found]) -> None:
    seen: set[str] = set()
    real = cache(os.path.realpath)  # of folders, which have many files
    for file in found:
        place = file.path
        if not is_remote(place):
            folder, name = os.path.split(place)
            place = os.path.join(real(folder), name)
            place = os.path.realpath(place) if os.path.islink(place) else place
        if place in seen:
            raise UsageError(f"{file.path}: is given twice; every document in it would be found to be a duplicate")
        seen.add(place)


def _format(file: Found, asked: str | None) -> str | None:
    """The format's name; None for a file in a folder that is passed over."""
    told, _ = told_by(file.name)
    if asked is not None:
        return asked
    if fnmatch(compression_of(file.name)[1].lower(), "*.arc") and file.asked_for:
        raise refuse_arc(file.name)
    if told is None and file.asked_for:
        raise InputError(f"{file.path}: its name does not tell its format. {_known_suffixes()}")
    return told


def _known_suffixes() -> str:
    return (
        f"Known are {' '.join(SUFFIXES)}, also with {' '.join(ENDINGS)}; "
        f"or say what they are with --format ({', '.join(FORMATS)})."
    )


def _suffix(name: str) -> str:
    return "".join(Path(name).suffixes[-2:]) if compression_of(name)[0] else Path(name).suffix


def _counted(suffixes: Counter[str]) -> str:
    return ", ".join(f"{count:,} {suffix or 'without an ending'}" for suffix, count in suffixes.most_common(5))


def _assembled(known: list[tuple[Found, str]]) -> list[tuple[InputFile, str]]:
    """Input files with the folder they were found in. Files that are one document each are put together."""
    together: defaultdict[tuple[str, str], list[Found]] = defaultdict(list)
    order: list[tuple[InputFile, str] | tuple[str, str]] = []
    for file, kind in known:
        if isinstance(FORMATS[kind], Folder):
            key = (file.base, kind)
            if key not in together:
                order.append(key)
            together[key].append(file)
        else:
            _, compression = told_by(file.name)
            if kind == "parquet":
                compression = None
            name = printable(file.name)
            order.append((InputFile(file.path, name, kind, compression, file.size, file.stamp), file.base))
    assembled: list[tuple[InputFile, str]] = []
    for entry in order:
        if isinstance(entry[0], InputFile):
            assembled.append((entry[0], entry[1]))
            continue
        base, kind = entry
        members = together[base, kind]
        whole = InputFile(
            path=base or ".",
            name=_folder_name(base),
            format=kind,
            size=sum(member.size for member in members),
            members=tuple(member.name for member in members),
        )
        assembled.append((whole, base))
    return [
        (_stamped(file, [member.stamp for member in together[base, file.format]]) if file.members else file, base)
        for file, base in _rerooted(assembled)
    ]


def _stamped(file: InputFile, stamps: list[str]) -> InputFile:
    return replace(file, stamp=members_stamp(zip(file.members, stamps, strict=True)))


def _folder_name(base: str) -> str:
    name = posixpath.basename(base.rstrip("/")) if is_remote(base) else os.path.basename(os.path.abspath(base or "."))
    return printable(name) or "root"


def _rerooted(assembled: list[tuple[InputFile, str]]) -> list[tuple[InputFile, str]]:
    """A document's id is its path in the folder.

    Where two folders share a path, paths start one folder higher.
    """
    paths = Counter(member for file, _ in assembled for member in file.members)
    shared = {member for member, count in paths.items() if count > 1}
    if not shared:
        return assembled
    return [
        (_one_higher(file), base) if any(member in shared for member in file.members) else (file, base)
        for file, base in assembled
    ]


def _one_higher(file: InputFile) -> InputFile:
    if is_remote(file.path):
        path = posixpath.dirname(file.path.rstrip("/"))
        folder = posixpath.basename(file.path.rstrip("/"))
    else:
        path, folder = os.path.split(os.path.abspath(file.path))
    return replace(file, path=path, members=tuple(f"{folder}/{member}" for member in file.members))


def _distinct(assembled: list[tuple[InputFile, str]]) -> list[InputFile]:
    """Names are made unique: with the folder's name, then the format, then a number."""
    files = [file for file, _ in assembled]
    bases = [base for _, base in assembled]
    for longer in (_with_folder, _with_format, _with_number):
        counts = Counter(file.name for file in files)
        files = [
            replace(file, name=longer(file, base, at)) if counts[file.name] > 1 else file
            for at, (file, base) in enumerate(zip(files, bases, strict=True))
        ]
    return files


def _with_folder(file: InputFile, base: str, at: int) -> str:
    return file.name if file.members else f"{_folder_name(base)}/{file.name}"


def _with_format(file: InputFile, base: str, at: int) -> str:
    return f"{file.name}-{file.format}" if file.members else file.name


def _with_number(file: InputFile, base: str, at: int) -> str:
    return f"{at + 1}/{file.name}"
