"""Files that appear whole or not at all, also where the power fails."""

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from neardup.errors import OutputError

_fleeting: set[Path] = set()
"""Folders whose content nobody wants back after a crash."""


@contextmanager
def appearing(target: Path) -> Iterator[Path]:
    """Write to the path given; it becomes `target` when the block ends well and vanishes when it does not.

    Works for a file and for a folder. What has appeared is on disk, under its name: the content is synced before it is
    renamed, and the folder afterwards. A full disk is an OutputError that says how much is free.
    """
    draft = target.with_name(f".{target.name}.part")
    durable = _fleeting.isdisjoint(target.parents)
    try:
        _remove(draft)
        named_in = [target.parent, *(p.parent for p in target.parents if not p.exists())]
        target.parent.mkdir(parents=True, exist_ok=True)
        yield draft
        if durable:
            sync(draft)
        if draft.is_dir() and target.is_dir():
            _remove(target)
        os.replace(draft, target)
        for folder in named_in if durable else ():
            sync_names(folder)
    except OSError as error:
        _remove(draft)
        raise write_error(target, error) from error
    except BaseException:
        _remove(draft)
        raise


def make_fleeting(folder: Path) -> Callable[[], None]:
    """Take a folder for temporary: what appears in it is not synced. Returns what undoes this."""
    _fleeting.add(folder)
    return lambda: _fleeting.discard(folder)


def sync(path: Path) -> None:
    """Write a file, or everything in a folder, to the disk.

    A folder may have thousands of files. 20,000 of 3 kB took 35 s one by one, and 1.4 s with all other unwritten data
    of the machine (ext4, virtual disk).
    """
    if path.is_dir():
        os.sync()
    else:
        _fsync(path)


def sync_names(folder: Path) -> None:
    """Write the names in a folder to the disk, where its file system can."""
    try:
        _fsync(folder)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EACCES):
            raise


def _fsync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def check_writable(folder: Path) -> None:
    """Find out before the work, and not after it, that nothing can be written here."""
    probe = folder / ".neardup-probe"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise write_error(folder, error) from error


def write_error(target: Path, error: OSError) -> OutputError:
    """The reason why something could not be written, for people."""
    if error.errno == errno.ENOSPC or "No space left" in str(error):
        folder = target.parent if target.parent.exists() else Path.cwd()
        free = shutil.disk_usage(folder).free
        return OutputError(
            f"{target}: the disk is full ({free / 1e6:,.0f} MB free). Make room and run the same command again; it "
            "goes on where it stopped."
        )
    return OutputError(
        f"{target}: cannot be written ({error.strerror or error}). Choose another folder or mend this one."
    )


def _remove(path: Path) -> None:
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
