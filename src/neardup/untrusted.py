"""Folders that somebody else may have prepared: names that stay inside of them, links that are not followed, and files
that are what they should be.

The folders of runs travel: they are copied, unpacked from archives, kept on shared disks. What is written in them must
not make a command delete, write or read anything beside them.
"""

import errno
import json
import os
import stat
from collections.abc import Iterable
from io import BufferedReader
from pathlib import Path
from typing import TypeVar

import msgspec

from neardup.errors import WorkError

T = TypeVar("T")


def safe_name(name: str) -> str:
    """Return a relative name of a file; ValueError where it is absolute, or has empty parts, `.` or `..`."""
    if name.startswith("/"):
        raise ValueError(f"names {name!r}, which is absolute")
    for part in name.split("/"):
        if part in ("", ".", "..") or "\0" in part:
            raise ValueError(f"names {name!r}, which has the part {part!r}")
    return name


def safe_places(folder: Path, names: Iterable[str]) -> list[Path]:
    """Return where the named files are in a folder; ValueError where a name leads out of it, by its parts or by a link.

    All parents of a file below `folder` are real folders, or not there; the file itself may be a link, for deleting
    that does not follow it. Names below a file are left out.
    """
    known: dict[Path, bool] = {folder: True}

    def is_folder(place: Path) -> bool:
        if place not in known:
            if is_folder(place.parent):
                if place.is_symlink():
                    raise ValueError(f"names files below {place.relative_to(folder)}, which is a link")
                known[place] = place.is_dir()
            else:
                known[place] = False
        return known[place]

    places = [folder / safe_name(name) for name in names]
    return [place for place in places if is_folder(place.parent)]


def refuse_links(place: Path) -> None:
    """Raise an error if a file or folder that a run writes to, or anything in it, is a link, a pipe or a device."""
    if place.is_symlink():
        raise WorkError(
            f"{place}: is a link (to {os.readlink(place)}), and a run writes and deletes only in its own folder. "
            "Nothing was changed. Put a real one there, or choose another output folder (which may itself be a link)."
        )
    if place.is_dir():
        for each in sorted(os.scandir(place), key=lambda entry: entry.name):
            if each.is_symlink() or not each.is_file():
                refuse_links(Path(each.path))
    elif place.exists() and not place.is_file():
        raise WorkError(f"{place}: is no file and no folder. Nothing was changed. Delete it, or choose another folder.")


def open_regular(path: Path, *, follow: bool = True) -> BufferedReader:
    """Open a file to read it; OSError where it is a pipe, a device or a folder, which may never end, or a link that is
    not to be followed (ELOOP)."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is no file", str(path))
    return os.fdopen(descriptor, "rb")


def read_json(path: Path, kind: type[T]) -> T:
    """Return what a JSON file holds, checked against a type: a msgspec.Struct, list[str], …

    Raises:
        OSError: There is no such file, or it cannot be read.
        ValueError: It is no JSON, or not of that type, or nested without end.
    """
    with open_regular(path) as file:
        content = file.read()
    try:
        # json and not msgspec: names of files may have bytes that are no UTF-8, which are halves of surrogate pairs.
        return msgspec.convert(json.loads(content), kind)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    except msgspec.MsgspecError as error:
        raise ValueError(str(error)) from error
