"""Files that appear whole or not at all, also where the power fails."""

import errno
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from neardup.errors import OutputError, UsageError

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:[:/]")
"""How an address of another file system begins: s3://, memory://, simplecache::s3://; `Path` takes one stroke away."""

_fleeting: set[Path] = set()
"""Folders whose content nobody wants back after a crash."""


@contextmanager
def appearing(target: Path) -> Iterator[Path]:
    """Write to the path given; it becomes `target` when the block ends well and vanishes when it does not.

    Works for a file and for a folder. What has appeared is on disk, under its name: the content is synced before it is
    renamed, and the folder afterwards. A full disk is an OutputError that says how much is free.
    """
    draft = draft_of(target)
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


def local_place(path: str | os.PathLike[str]) -> Path:
    """Return where on this machine something is to be written; refuse addresses, and - for standard output."""
    named = os.fspath(path)
    if named == "-":
        raise UsageError("-: this is not written to standard output. Name a place on this machine.")
    if _ADDRESS.match(named):
        raise UsageError(
            f"{named}: only places on this machine can be written to. Name one and copy what is written; "
            "`neardup dedup --engine spark` writes wherever Spark does."
        )
    return Path(named)


def draft_of(target: Path) -> Path:
    """Return where `appearing` writes a file before it has its name."""
    return target.with_name(f".{target.name}.part")


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
    """Find out before the work, and not after it, that nothing can be written here; leave nothing behind."""
    probe = folder / ".neardup-probe"
    made = [place for place in (folder, *folder.parents) if not place.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise write_error(folder, error) from error
    finally:
        for place in made:
            with suppress(OSError):
                place.rmdir()


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
