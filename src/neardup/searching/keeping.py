"""Where searchable collections are kept, and who builds one.

    FOLDER/WHOSE-WHICH/    a collection: WHOSE names the inputs and how they are read, WHICH the state they are in
        about.json         written last: the format, the number of documents, where each batch of them starts
        documents.arrow, ids.npy, terms/
    FOLDER/.WHOSE.lock     held by who builds it; others wait, and find it built

A folder appears by renaming, so there is no half of one. When it is there, those of earlier states of the same inputs
are deleted, and those that nobody opened for DAYS days; a process that has one of them open keeps it. To open one sets
the time of its about.json. All of it may be deleted at any time: it is built again.
"""

import fcntl
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from neardup.atomic import write_error
from neardup.errors import OutputError

Say = Callable[[str], None]

ABOUT = "about.json"

DAYS = 30
"""After which a collection that nobody opens is deleted, when another one is built."""

_NAME = re.compile(r"[0-9a-f]{16}-[0-9a-f]{16}|\.[0-9a-f]{16}-[0-9a-f]{16}\.part")


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


def used(place: Path) -> None:
    """It was opened now. Where nothing can be written, nobody deletes either."""
    with suppress(OSError):
        os.utime(place / ABOUT)


def forget_unused(folder: Path, say: Say) -> None:
    """Delete the collections that nobody opened for a long time, and what killed builds left that long ago."""
    long_ago = time.time() - DAYS * 86_400
    unused = [found for found in folder.iterdir() if _NAME.fullmatch(found.name) and _last_use(found) < long_ago]
    for found in unused:
        shutil.rmtree(found, ignore_errors=True)
    if unused:
        say(f"Deleted search indexes that nobody opened for {DAYS} days: {len(unused)}, in {folder}.")


def _last_use(place: Path) -> float:
    """In seconds since 1970; now, where somebody deletes it at this moment."""
    for path in (place / ABOUT, place):
        with suppress(OSError):
            return path.stat().st_mtime
    return time.time()
