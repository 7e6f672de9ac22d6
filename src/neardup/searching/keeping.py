"""Where searchable collections are kept, and who builds one.

    FOLDER/WHOSE-WHICH/    a collection: WHOSE names the inputs and how they are read, WHICH the state they are in
        about.json         written last: the format, the number of documents, where each batch of them starts
        documents.arrow, ids.npy, terms/
    FOLDER/.WHOSE.lock     held by who builds it; others wait, and find it built

A folder appears by renaming, so there is no half of one. When it is there, those of earlier states of the same inputs
are deleted; a process that has one of them open keeps it.
"""

import fcntl
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from neardup.atomic import write_error
from neardup.errors import OutputError

Say = Callable[[str], None]


def usual_folder() -> Path:
    """The user's cache folder, as the system has it."""
    try:
        if sys.platform == "darwin":
            caches = Path.home() / "Library" / "Caches"
        else:
            caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError as error:
        raise OutputError("There is no home folder to keep the search index in. Name a folder (folder=).") from error
    return caches / "neardup" / "search"


@contextmanager
def building(folder: Path, whose: str, say: Say) -> Iterator[None]:
    """Keep others from building the same collection meanwhile; where somebody does, wait."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder / f".{whose}.lock", os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise write_error(folder, error) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Another process builds the same search index; waiting for it.")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def forget_earlier(folder: Path, whose: str, which: str) -> None:
    """Delete the collection as it was in other states of its inputs, and what killed builds left."""
    for found in [*folder.glob(f"{whose}-*"), *folder.glob(f".{whose}-*.part")]:
        if found.name != f"{whose}-{which}":
            shutil.rmtree(found, ignore_errors=True)
