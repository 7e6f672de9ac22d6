"""Finding the input files: files, folders, globs and URLs, in any mixture.

Tables are an input file each. Text files and HTML pages, which are a document each, are taken together: all
those of a folder are one input file with many members.

Names are relative to what was given: to the folder, or to the part of a glob before its first wildcard. Where
two inputs would get the same name, both are prefixed with the name of the folder they were found in. Names that are
not UTF-8 are shown as `files.printable` says; paths and members stay as they are stored.

Everything that is met in folders and globs is read, or counted and reported:

    files of formats that are not known, hidden names, folders with     counted by kind, and said (`Inputs.remarks`)
    results of earlier runs, further names of files that are read
    links to nothing, folders and files that cannot be opened           problems: they stop the run or are skipped
"""

import os
import posixpath
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from functools import cache
from glob import has_magic
from pathlib import Path
from typing import Any

from neardup.errors import InputError, UsageError
from neardup.sources.base import InputFile
from neardup.sources.compression import ENDINGS, compression_of
from neardup.sources.files import filesystem, is_remote, is_web, printable, reason
from neardup.sources.folder import Folder
from neardup.sources.formats import FORMATS, SUFFIXES, named, told_by
from neardup.sources.problems import Problem, Problems
from neardup.sources.results import refuse_results, runs_among
from neardup.sources.stamps import far_stamp, members_stamp, tells_changes
from neardup.sources.tree import Catalogue, FileEntry, catalogue_of, cut_pattern
from neardup.sources.warc import refuse_arc

EARLIER = "results of an earlier run"
"""What folders with such are counted as, among what was passed over."""

HIDDEN = "hidden"
"""What hidden files and folders are counted as."""

REPEATED = "read under another name"
"""What further names of files and folders are counted as."""

_SENTENCES = {
    EARLIER: "Passed over folders with results of an earlier run: {:,}.",
    HIDDEN: "Passed over hidden files and folders (names that begin with a dot, on Spark also with _): {:,}.",
    REPEATED: "Passed over names that lead to what is read under another name: {:,}.",
}

_TOLD = 5
"""How many problems are listed by name; the others are counted."""

WRITTEN = "_SUCCESS"
"""What Spark and Hadoop leave in a folder that is whole. Nobody misses it."""


@dataclass(frozen=True)
class Inputs:
    """What was found."""

    files: tuple[InputFile, ...]
    passed_over: dict[str, int] = field(default_factory=dict)
    """Files whose suffix no format knows: suffix ("" for none) → how many. `EARLIER`, `HIDDEN`, `REPEATED` → how many
    files and folders."""

    @property
    def remarks(self) -> list[str]:
        """Sentences for the user: what was passed over."""
        said = []
        unknown = {suffix: n for suffix, n in self.passed_over.items() if suffix not in _SENTENCES}
        if unknown:
            kinds = ", ".join(f"{n:,} {suffix or 'without an ending'}" for suffix, n in unknown.items())
            said.append(f"Passed over files that are of no known format: {kinds}.")
        said += [
            said_of.format(self.passed_over[kind]) for kind, said_of in _SENTENCES.items() if kind in self.passed_over
        ]
        return said


def discover(inputs: Sequence[str | Path], *, format: str | None = None, problems: Problems | None = None) -> Inputs:
    """Find the input files that these paths, globs and URLs name.

    Args:
        inputs: Paths of files and folders, globs, URLs.
        format: Is taken for all of them, whatever their names.
        problems: Collects links to nothing and what cannot be opened; without it the first one is raised.
    """
    if format is not None:
        named(format)
    if not inputs:
        raise UsageError("no input given: name files, folders, globs or URLs")
    found = Catalogue()
    for given in inputs:
        place = os.fspath(given).removeprefix("file://")
        met = _remote(place) if is_remote(place) else catalogue_of(place)
        refuse_nothing(place, met, is_pattern=has_magic(place))
        found.add(met)
    return as_inputs(found, inputs, format=format, problems=problems or Problems())


def refuse_nothing(place: str, found: Catalogue, *, is_pattern: bool) -> None:
    """Raise an error where a place that was given has nothing to read, and nothing that is reported instead."""
    if found.entries or found.unreadable:
        return
    if found.earlier:
        raise InputError(
            f"{place}: there is nothing but results of an earlier run ({_some(found.earlier)}), which are passed over. "
            "To read what was kept then, name the folder kept in it."
        )
    hidden = f" but {len(found.hidden):,} hidden; name those that are to be read" if found.hidden else ""
    raise InputError(f"{place}: {'no file fits' if is_pattern else 'there are no files in it'}{hidden}.")


def as_inputs(found: Catalogue, given: Sequence[str | Path], *, format: str | None, problems: Problems) -> Inputs:
    """Make input files of a catalogue."""
    passed_over: Counter[str] = Counter()
    known: list[tuple[FileEntry, str]] = []
    unknown: list[FileEntry] = []
    for file in found.entries:
        kind = _format(file, format)
        if kind is not None:
            known.append((file, kind))
        elif posixpath.basename(file.name) != WRITTEN:
            unknown.append(file)
    real = _real_places()
    read = _chosen((file for file, _ in known), real)
    passed_over.update(printable(_suffix(file.name)) for file in unknown if real(file) not in read)
    for path, why in sorted(found.unreadable.values()):
        if format is None and _suffix(path) and told_by(path)[0] is None and not os.path.isdir(path):
            passed_over[printable(_suffix(path))] += 1
        else:
            problems.report(printable(path), None, "unreadable", printable(why))
    if not known:
        raise InputError(
            f"{', '.join(printable(os.fspath(place)) for place in given)}: no input found among "
            f"{passed_over.total() + len(problems.found):,} files "
            f"({_counted(passed_over + Counter(problem.kind for problem in problems.found))}). {_known_suffixes()}"
        )
    once = [(file, kind) for file, kind in known if read[real(file)] is file]
    counted = {
        EARLIER: len(found.earlier),
        HIDDEN: len(found.hidden),
        REPEATED: found.repeated + len(known) - len(once),
    }
    return Inputs(
        tuple(_distinct(_assembled(once))),
        dict(passed_over.most_common()) | {kind: n for kind, n in counted.items() if n},
    )


def told_briefly(problems: Sequence[Problem]) -> list[str]:
    """Make sentences about what was found and cannot be read, where no file lists all of it."""
    said = [f"Passed over {problem}." for problem in problems[:_TOLD]]
    more = len(problems) - len(said)
    return [*said, f"Passed over {more:,} more that cannot be read."] if more else said


def _some(folders: set[str]) -> str:
    shown = [printable(folder) for folder in sorted(folders)]
    return ", ".join(shown[:3]) + (f" and {len(shown) - 3} more" if len(shown) > 3 else "")


def _remote(place: str) -> Catalogue:
    filesystem_, path = filesystem(place)
    far: Any = filesystem_
    try:
        far.invalidate_cache()  # listings are remembered, and would tell the past
        if has_magic(_without_query(path)):
            base = cut_pattern(path)[0]
            listed = far.glob(path, detail=True)
        elif told_by(_without_query(place))[0] is None and far.isdir(path):
            base = path.rstrip("/")
            listed = far.find(path, detail=True)
        else:
            base = posixpath.dirname(_without_query(path))
            return Catalogue([_far(far, far.info(path), path, base, asked_for=True)])
    except Exception as error:  # each protocol raises its own package's errors
        raise InputError(f"{place}: cannot be read ({reason(error)}).") from error
    files = {where: info for where, info in sorted(listed.items()) if info.get("type", "file") != "directory"}
    runs = [] if has_magic(_without_query(path)) else runs_among(files)
    if base in runs:
        raise refuse_results(place)
    found = Catalogue(earlier=set(runs))
    for where, info in files.items():
        if where.startswith(tuple(f"{run}/" for run in runs)):
            continue
        entry = _far(far, _told(far, where, info), where, base)
        if any(part.startswith(".") for part in entry.name.split("/")):
            found.hidden.add(where)
        elif info.get("type", "file") != "file":
            found.unreadable[entry.path] = entry.path, "neither a file nor a folder"
        else:
            found.entries.append(entry)
    return found


def _without_query(place: str) -> str:
    """A web address may carry a signature after its file's name; elsewhere "?" is a wildcard."""
    return place.partition("?")[0] if is_web(place) else place


def _far(far: Any, info: dict[str, Any], path: str, base: str, *, asked_for: bool = False) -> FileEntry:
    name = path[len(base) :].lstrip("/") if path.startswith(base) else posixpath.basename(path)
    name = name.partition("?")[0] if is_web(path) else name
    return FileEntry(
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


def _real_places() -> Callable[[FileEntry], str]:
    """Return a function that tells where an entry's file is, whatever links lead there."""
    real = cache(os.path.realpath)  # of folders, which have many files

    def place(file: FileEntry) -> str:
        if is_remote(file.path):
            return file.path
        folder, name = os.path.split(file.path)
        direct = os.path.join(real(folder), name)
        return os.path.realpath(direct) if os.path.islink(direct) else direct

    return place


def _chosen(files: Iterable[FileEntry], real: Callable[[FileEntry], str]) -> dict[str, FileEntry]:
    """Choose for every file one of the entries that lead to it: one without links below its base, else the first."""
    chosen: dict[str, FileEntry] = {}
    for file in files:
        place = real(file)
        before = chosen.setdefault(place, file)
        if before is not file and not _is_direct(before, place) and _is_direct(file, place):
            chosen[place] = file
    return chosen


def _is_direct(file: FileEntry, place: str) -> bool:
    return os.path.join(os.path.realpath(file.base), *file.name.split("/")) == place


def _format(file: FileEntry, asked: str | None) -> str | None:
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


def _assembled(known: list[tuple[FileEntry, str]]) -> list[tuple[InputFile, str]]:
    """Input files with the folder they were found in. Files that are one document each are put together."""
    together: defaultdict[tuple[str, str], list[FileEntry]] = defaultdict(list)
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
