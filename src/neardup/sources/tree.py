"""Files below folders and globs of this machine. Whatever is met there is either an entry or counted.

    FileEntry    a file, before anything is decided about it
    Catalogue    all entries of the places that were given, and counts of what is not among them
    catalogue_of lists what a path or a glob names

Links to folders are followed. Every folder is read once: folders proper come first, then links in the order of their
names, so a link that leads back up or to a folder that was read is counted, and no loop is endless. Names that begin
with a dot are hidden, as in a shell: they are read where they are named, and counted where they are met.
"""

import errno
import os
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from glob import has_magic
from stat import S_ISDIR, S_ISREG

from neardup.errors import InputError
from neardup.sources.results import holds_results, refuse_results
from neardup.sources.stamps import local_stamp

_MISSING = (FileNotFoundError, NotADirectoryError)


@dataclass(frozen=True)
class FileEntry:
    """A file, before anything is decided about it."""

    path: str
    base: str
    """The folder that it was found in, or under."""
    name: str
    """Relative to `base`, with forward slashes."""
    size: int
    stamp: str
    asked_for: bool = False
    """Given by name, and not met in a folder or by a glob."""


@dataclass
class Catalogue:
    """The files of the places that were given, and what is met there and is no such file."""

    entries: list[FileEntry] = field(default_factory=list)
    earlier: set[str] = field(default_factory=set)
    """Folders with results of earlier runs."""
    hidden: set[str] = field(default_factory=set)
    """Where the files and folders are whose names hide them."""
    repeated: int = 0
    """Links to folders that are read under another name."""
    unreadable: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Folders that cannot be listed, links to nothing, files without permission: where it is → how it is named here,
    and the reason."""

    def add(self, other: "Catalogue") -> None:
        """Append what another one has."""
        self.entries += other.entries
        self.earlier |= other.earlier
        self.hidden |= other.hidden
        self.repeated += other.repeated
        self.unreadable = other.unreadable | self.unreadable

    def hide(self, path: str) -> None:
        """Enter something hidden, unless it is the checksum that Hadoop keeps beside a file: nobody misses that."""
        folder, name = os.path.split(path)
        if not (name.endswith(".crc") and os.path.lexists(os.path.join(folder, name[1:-4]))):
            self.hidden.add(_place(path))

    def refuse(self, path: str, reason: str | OSError) -> None:
        """Enter something that cannot be read, once, whatever links lead to it."""
        told = reason if isinstance(reason, str) else _reason(path, reason)
        self.unreadable.setdefault(_place(path), (path, told))


def catalogue_of(place: str) -> Catalogue:
    """List what a path or a glob names."""
    found = Catalogue()
    try:
        status = os.stat(place)
    except _MISSING as error:
        if os.path.islink(place):
            found.refuse(place, error)
        elif has_magic(place):
            _add_fitting(place, found)
        else:
            raise InputError(f"{place}: there is no such file or folder.{_near(place)}") from error
        return found
    except OSError as error:
        found.refuse(place, error)
        return found
    if not S_ISDIR(status.st_mode):
        _add_file(place, os.path.dirname(place), found, asked_for=True)
    elif holds_results(place):
        raise refuse_results(place)
    else:
        for path in sorted(_below(place, found, set())):
            _add_file(path, place, found)
    return found


def cut_pattern(pattern: str) -> tuple[str, list[str]]:
    """Cut a glob into the folder before its first wildcard and the parts from there on."""
    parts = pattern.replace(os.sep, "/").split("/")
    fixed = next(at for at, part in enumerate(parts) if has_magic(part))
    base = "/".join(parts[:fixed]) or ("/" if pattern.startswith("/") else "")
    return base, [part for part in parts[fixed:] if part]


def _add_file(path: str, base: str, found: Catalogue, *, asked_for: bool = False) -> None:
    try:
        status = os.stat(path)
    except OSError as error:
        found.refuse(path, error)
        return
    if not asked_for and not S_ISREG(status.st_mode):
        found.refuse(path, "neither a file nor a folder")
    elif not os.access(path, os.R_OK, effective_ids=os.access in os.supports_effective_ids):
        found.refuse(path, os.strerror(errno.EACCES))
    else:
        name = os.path.relpath(path, base or ".").replace(os.sep, "/")
        found.entries.append(FileEntry(path, base, name, status.st_size, local_stamp(status), asked_for))


def _place(path: str) -> str:
    """Where something is, whatever links lead to its folder."""
    folder, name = os.path.split(path)
    return os.path.join(os.path.realpath(folder), name)


def _reason(path: str, error: OSError) -> str:
    if os.path.islink(path) and isinstance(error, _MISSING):
        return f"a link to {os.readlink(path)}, which is not there"
    return error.strerror or str(error)


def _below(
    top: str, found: Catalogue, entered: set[tuple[int, int]], *, prune: bool = True, hidden: bool = False
) -> Iterator[str]:
    """Yield the paths of all files below a folder, also through links; each folder is entered once.

    prune: do not enter folders with results of earlier runs. hidden: enter and yield what is hidden too.
    """
    links = deque([top])
    while links:
        folders = [links.popleft()]
        while folders:
            folder = folders.pop()
            listed = _listed(folder, found)
            if listed is None:
                continue
            status = os.stat(folder or ".")
            if (status.st_dev, status.st_ino) in entered:
                found.repeated += 1
                continue
            entered.add((status.st_dev, status.st_ino))
            if prune and holds_results(folder):
                found.earlier.add(os.path.realpath(folder))
                continue
            for entry in listed:
                path = os.path.join(folder, entry.name)
                if entry.name.startswith(".") and not hidden:
                    found.hide(path)
                elif entry.is_dir(follow_symlinks=False):
                    folders.append(path)
                elif entry.is_symlink() and os.path.isdir(path):
                    links.append(path)
                else:
                    yield path


def _listed(folder: str, found: Catalogue) -> list[os.DirEntry[str]] | None:
    """The entries of a folder by name; None where there are none to be had."""
    try:
        with os.scandir(folder or ".") as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except _MISSING:
        return None
    except OSError as error:
        found.refuse(folder, error)
        return None


def _add_fitting(pattern: str, found: Catalogue) -> None:
    """Enter what a glob fits: files, and folders with all that is below them."""
    base, parts = cut_pattern(pattern)
    asks_for_kept = "kept" in pattern.replace(os.sep, "/").split("/")
    results = cache(holds_results)
    entered: set[tuple[int, int]] = set()
    for path in sorted(set(_fitting(base, parts, found))):
        run = next((folder for folder in _between(base, path) if results(folder)), None)
        if run is not None and not (asks_for_kept and _between(run, path)[1:2] == [os.path.join(run, "kept")]):
            found.earlier.add(os.path.realpath(run))
        elif not os.path.isdir(path):
            _add_file(path, base, found)
        elif "**" not in parts:  # which fits the files below it one by one
            for below in sorted(_below(path, found, entered)):
                _add_file(below, base, found)


def _fitting(folder: str, pattern: Sequence[str], found: Catalogue) -> Iterator[str]:
    """Yield the paths below a folder that fit the parts of a glob."""
    part, rest = pattern[0], pattern[1:]
    if part == "**":
        hidden = any(later.startswith(".") for later in rest)
        for path in _below(folder, found, set(), prune=False, hidden=hidden):
            if _fits(os.path.relpath(path, folder or ".").split(os.sep), pattern):
                yield path
        return
    if not has_magic(part):
        names = [part] if _is_there(os.path.join(folder, part), found) else []
    else:
        fitting = [entry.name for entry in _listed(folder, found) or () if fnmatchcase(entry.name, part)]
        names = [name for name in fitting if part.startswith(".") or not name.startswith(".")]
        for name in fitting:
            if name not in names:
                found.hide(os.path.join(folder, name))
    for name in names:
        path = os.path.join(folder, name)
        if rest:
            yield from _fitting(path, rest, found)
        else:
            yield path


def _is_there(path: str, found: Catalogue) -> bool:
    try:
        os.lstat(path)
    except _MISSING:
        return False
    except OSError as error:
        found.refuse(path, error)
        return False
    return True


def _fits(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Whether the parts of a path are what those of a glob fit; ** is any number of parts that are not hidden."""
    if not pattern or not parts:
        return not parts and all(part == "**" for part in pattern)
    name, part = parts[0], pattern[0]
    visible = not name.startswith(".")
    if part == "**":
        return _fits(parts, pattern[1:]) or (visible and _fits(parts[1:], pattern))
    return (visible or part.startswith(".")) and fnmatchcase(name, part) and _fits(parts[1:], pattern[1:])


def _between(base: str, path: str) -> list[str]:
    """The folders from `base` down to `path`, which is one of them if it is a folder."""
    folders = [base]
    for part in os.path.relpath(path, base or ".").split(os.sep):
        folders.append(os.path.join(folders[-1], part))
    return folders


def _near(place: str) -> str:
    """The files beside it, if there are few."""
    folder = os.path.dirname(place) or "."
    if not os.path.isdir(folder):
        return f" There is no folder {folder} either."
    try:
        beside = sorted(name for name in os.listdir(folder) if not name.startswith("."))
    except OSError:
        return ""
    return f" In {folder} there are {', '.join(beside)}." if 0 < len(beside) <= 10 else ""
