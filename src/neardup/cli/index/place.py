"""Where an index is, and how it is called in print."""

import fcntl
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.errors import StoreError, UsageError

if TYPE_CHECKING:
    from neardup.index import Index

SHARED = ("postgresql://", "postgres://")

index_path = click.argument("path", metavar="PATH")


def is_there(path: str) -> bool:
    """Whether there is an index."""
    if path.startswith(SHARED):
        from neardup.index import postgres

        return postgres.exists(path)
    from neardup.index import rocks

    return rocks.exists(Path(path))


def opened(path: str, **how: Any) -> "Index":
    """An index that is there, or a new one with create=True."""
    from neardup.index import Index

    refuse_files(path)
    _refuse_locked(path)
    return Index.open(path, **{"create": False, **how})


def refuse_files(path: str) -> None:
    """Somebody forgot to name the index, or named it last."""
    if not path.startswith(SHARED) and Path(path).is_file():
        raise UsageError(f"{path}: is a file, and PATH is an index: a folder, or postgresql://…")


def take_back(path: str, index: "Index") -> bool:
    """Remove an index that this opening made, and that got no document. Not one in a database, which others may have
    found meanwhile; nor one that another process writes to, or wrote to, when this one lets go of it."""
    if path.startswith(SHARED) or not index.made or len(index):
        return False
    folder = Path(path)
    with suppress(OSError):
        ours = _last_writer(folder)
        index.close()
        with (folder / "LOCK").open("r+b") as lock:
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # RocksDB's own
            if _last_writer(folder) == ours:
                aside = folder.rename(folder.with_name(f".{folder.name}.{os.getpid()}.draft"))  # at once, for others
                shutil.rmtree(aside)
                return True
    return False


def _last_writer(folder: Path) -> list[bytes]:
    """Who opened an index for writing last, and what came of it."""
    return [(folder / name).read_bytes() for name in ("writer.pid", "acknowledged")]


def _refuse_locked(path: str) -> None:
    """RocksDB's binding writes its own settings into the folder at every opening, for reading too."""
    if not path.startswith(SHARED) and Path(path).is_dir() and not os.access(path, os.W_OK):
        raise StoreError(
            f"{path}: this user may not write into the folder, which is needed to open an index, also for reading. Ask "
            "its owner for the right, or work on a copy."
        )


def shown(path: str) -> str:
    """Without a password."""
    if not path.startswith(SHARED):
        return path
    from neardup.index.connections import Address

    return Address.parse(path).shown
