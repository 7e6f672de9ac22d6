"""Where compiled kernels are kept: in a folder that nobody else may write, for the files are pickles.

numba looks for a folder when a kernel is defined, and raises where it finds none: without a writable home nothing ran.
It takes any folder that it can write, also one that others can. So for the kernels of this package the folder is chosen
here, once in a process, the first of these that is private and can be written:

    NUMBA_CACHE_DIR         where it is set
    __pycache__             beside the kernels, as numba does it
    $XDG_CACHE_HOME/neardup/kernels, ~/.cache/neardup/kernels
    /tmp/neardup-UID        made for this user alone
    a new temporary folder  that is deleted at the end: kernels are compiled in every process

A folder is private if it, and every folder above it, belongs to this user or root and nobody else may write it; a group
that has this user alone does not count, nor do folders above in which only owners may rename (/tmp).
"""

import atexit
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from numba.core import caching as _caching
from numba.core import config as _config

_HERE = Path(__file__).resolve().parent
caching: Any = _caching
config: Any = _config
"""Without types: numba's are those of its own use."""


@cache
def folder() -> Path:
    """Return the folder of this process, and say it on stderr where it is not the usual one."""
    unsafe: list[str] = []
    for place in _places():
        if _is_ready(place, unsafe):
            break
    else:
        _say("no folder for compiled kernels can be used; they are compiled in every process, which takes seconds.")
        try:
            place = Path(tempfile.mkdtemp(prefix="neardup-kernels-"))
            atexit.register(shutil.rmtree, place, ignore_errors=True)
        except OSError:  # nothing can be written anywhere
            place = Path(os.devnull) / "kernels"
            _keep_nothing()
    for each in unsafe:
        _say(f"{each}: others may write here, and compiled kernels are code: not used. Now in {place}.")
    return place


def _places() -> Iterator[Path]:
    name = caching.UserProvidedCacheLocator.get_suitable_cache_subpath(str(_HERE / "text.py"))
    if config.CACHE_DIR:
        yield Path(config.CACHE_DIR) / name
    yield _HERE / "__pycache__"
    home = os.environ.get("XDG_CACHE_HOME", "")
    with suppress(RuntimeError):  # a user without a home
        yield (Path(home) if os.path.isabs(home) else Path.home() / ".cache") / "neardup" / "kernels" / name
    with suppress(OSError):  # nor a folder for temporary files
        yield Path(tempfile.gettempdir()) / f"neardup-{os.geteuid()}" / name


def _keep_nothing() -> None:
    """Have numba write no function of this process to disk, nor look for one."""
    none: Any = lambda *_: None  # noqa: E731
    caching.FunctionCache.save_overload = caching.FunctionCache.load_overload = none


def _is_ready(place: Path, unsafe: list[str]) -> bool:
    """Make the folder if need be; tell whether it can be used. `unsafe` gets what is refused because of others."""
    try:
        there = next(each for each in (place, *place.parents) if each.exists())
        if not is_private(there, above=there != place):
            if os.access(there, os.W_OK):
                unsafe.append(str(there))
            return False
        for each in reversed([each for each in (place, *place.parents) if not each.exists()]):
            each.mkdir(mode=0o700, exist_ok=True)
        if not is_private(place):  # somebody was faster
            unsafe.append(str(place))
            return False
        tempfile.TemporaryFile(dir=place).close()
        return True
    except OSError:
        return False


def is_private(place: Path, *, above: bool = False) -> bool:
    """Whether nobody but this user and root can change what is in a folder, or put another one in its place.

    above: another folder is to be made in it, so that it will do if only owners may rename there.
    """
    if any(each.lstat().st_uid not in (0, os.geteuid()) for each in (place, *place.parents) if each.is_symlink()):
        return False
    place = Path(os.path.realpath(place))
    return all(_is_ours(each.stat(), above or each != place) for each in (place, *place.parents))


def _is_ours(found: os.stat_result, above: bool) -> bool:
    if found.st_uid not in (0, os.geteuid()):
        return False
    if found.st_mode & stat.S_IWOTH or (found.st_mode & stat.S_IWGRP and not _is_alone(found)):
        return above and bool(found.st_mode & stat.S_ISVTX)
    return True


def _is_alone(found: os.stat_result) -> bool:
    """Whether the group of a folder has its owner alone, as many systems give every user one."""
    import grp
    import pwd

    try:
        group, owner = grp.getgrgid(found.st_gid), pwd.getpwuid(found.st_uid)
    except KeyError:
        return False
    return group.gr_gid == owner.pw_gid and group.gr_name == owner.pw_name and set(group.gr_mem) <= {owner.pw_name}


def _say(what: str) -> None:
    sys.stderr.write(f"neardup: {what} NUMBA_CACHE_DIR may name a folder of your own.\n")


class KernelCacheLocator(caching.InTreeCacheLocator):  # type: ignore[misc]
    """Tells numba where the kernels of this package are kept; functions of others are none of its business."""

    def __init__(self, py_func: Any, py_file: str) -> None:
        super().__init__(py_func, py_file)
        self._cache_path = str(folder())

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> "KernelCacheLocator | None":
        """Return one for functions of neardup alone: of kernels, and plain ones elsewhere that kernels compile."""
        return cls(py_func, py_file) if _HERE.parent in Path(py_file).parents else None

    def ensure_cache_path(self) -> None:
        """Nothing: it was looked at when it was chosen."""


caching.CacheImpl._locator_classes.insert(0, KernelCacheLocator)
