"""Files that appear whole or not at all."""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from neardup.errors import OutputError


@contextmanager
def appearing(target: Path) -> Iterator[Path]:
    """Write to the path given; it becomes `target` when the block ends well and vanishes when it does not.

    Works for a file and for a folder. A full disk is an OutputError that says how much is free.
    """
    draft = target.with_name(f".{target.name}.part")
    try:
        _remove(draft)
        target.parent.mkdir(parents=True, exist_ok=True)
        yield draft
        if draft.is_dir() and target.is_dir():
            _remove(target)
        os.replace(draft, target)
    except OSError as error:
        _remove(draft)
        raise write_error(target, error) from error
    except BaseException:
        _remove(draft)
        raise


def sync(path: Path) -> None:
    """A file, or the names in a folder, to the disk."""
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
