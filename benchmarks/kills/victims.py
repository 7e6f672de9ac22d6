"""What is killed: each says on a pipe what was acknowledged, as soon as it was, in lines of JSON."""

import json
import os
import random
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from neardup.index import Document, Index, rocks_folder

BATCH = 20
_SYLLABLES = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in "lmnrstx"]


def document(number: int) -> Document:
    """Return a document that is like no other."""
    return Document(f"d{number}", " ".join(random.Random(number).choices(_SYLLABLES, k=40)))


def documents(first: int, last: int) -> list[Document]:
    """Return some of them."""
    return [document(number) for number in range(first, last)]


def warm() -> None:
    """Import and compile what victims need, without opening an index."""
    import httpx  # noqa: F401
    import pyarrow as pa

    import neardup.cli.index.filter
    import neardup.cli.serve
    import neardup.index.backups
    import neardup.index.postgres
    import neardup.service.app  # noqa: F401
    from neardup.recipes import load_recipe
    from neardup.text.batches import text_batch

    load_recipe("stream").sketcher.sketch(text_batch(pa.array([b"compiled before the fork"], pa.large_binary())))


def forked(job: Callable[..., None], *arguments: Any) -> tuple[int, IO[str]]:
    """Start a victim. Return its process id and what it says."""
    read, write = os.pipe()
    child = os.fork()
    if child:
        os.close(write)
        return child, os.fdopen(read)
    os.close(read)
    try:
        job(write, *arguments)
        os._exit(0)
    except SystemExit as ended:
        os._exit(int(ended.code or 0))
    except BaseException:
        os.write(write, (json.dumps({"raised": traceback.format_exc()}) + "\n").encode())
        os._exit(3)


def tell(pipe: int, **facts: Any) -> None:
    """Say a line, in one write."""
    os.write(pipe, (json.dumps(facts) + "\n").encode())


def heard(lines: IO[str]) -> Iterator[dict[str, Any]]:
    """What a victim said, to its end; half a line at the end is none."""
    for line in lines:
        if line.endswith("\n"):
            yield json.loads(line)


def finished(job: Callable[..., None], *arguments: Any) -> list[dict[str, Any]]:
    """Run a job to its end and return what it said; an error of it is one here."""
    child, lines = forked(job, *arguments)
    said = list(heard(lines))
    lines.close()
    os.waitpid(child, 0)
    for each in said:
        if "raised" in each:
            raise RuntimeError(each["raised"])
    return said


# Jobs. The first argument is the pipe.


def filtering(pipe: int, path: str, given: str, out: str) -> None:
    """`neardup index filter PATH < given >> out`."""
    os.dup2(os.open(given, os.O_RDONLY), 0)
    os.dup2(os.open(out, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644), 1)
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout = os.fdopen(1, "w", closefd=False)
    from neardup.cli import main

    main(["index", "filter", path, "-q", "--id-field", "id", "--text-field", "text"])


def serving(pipe: int, path: str) -> None:
    """`neardup serve PATH`; its address comes on the pipe."""
    os.dup2(pipe, 1)
    sys.stdout = os.fdopen(1, "w", closefd=False)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    from neardup.cli import main

    main(["serve", path, "--port", "0", "--log-format", "none"])


def adding(pipe: int, path: str, first: int, buffer: int = 0) -> None:
    """Add documents, replace and remove some; each call is told when it has returned."""
    if buffer:
        rocks_folder._BUFFER = buffer
    with Index.open(path, "stream", keep="text") as index:
        _add(pipe, index, first)


def _add(pipe: int, index: Index, first: int, until: Callable[[], bool] = lambda: False) -> None:
    at = first
    while not until():
        index.add_many(documents(at, at + BATCH))
        tell(pipe, added=[at, at + BATCH])
        tell(pipe, removing=at)
        index.remove(f"d{at}")
        tell(pipe, removed=at)
        at += BATCH


def compacting(pipe: int, path: str, first: int, buffer: int) -> None:
    """The same, and a second thread compacts all the time."""
    rocks_folder._BUFFER = buffer
    with Index.open(path, "stream", keep="text") as index:

        def compact() -> None:
            number = 0
            while True:
                index.compact()
                tell(pipe, compacted=(number := number + 1))

        threading.Thread(target=compact, daemon=True).start()
        _add(pipe, index, first)


def saving(pipe: int, path: str, first: int, buffer: int, folder: str) -> None:
    """The same, and a second thread makes backups all the time."""
    rocks_folder._BUFFER = buffer
    with Index.open(path, "stream", keep="text") as index:

        def save() -> None:
            number = 0
            while True:
                tell(pipe, saving=number)
                index.backup(Path(folder) / f"{first}-{number}")
                tell(pipe, saved=number)
                number += 1

        threading.Thread(target=save, daemon=True).start()
        _add(pipe, index, first)


def looking(pipe: int, path: str, there: list[list[int]], gone: list[int], read_all: bool = True) -> None:
    """Look up every acknowledged document, by id and by its words."""
    lost, kept = [], 0
    with Index.open(path, create=False) as index:
        for first, last in there:
            wanted = [each for each in documents(first, last) if int(each.id[1:]) not in gone]
            stored, verdicts = index.get_many([each.id for each in wanted]), index.check_many(wanted)
            for each, found, verdict in zip(wanted, stored, verdicts, strict=True):
                if found is None or (found.text or each.text) != each.text or verdict.match is None:
                    lost.append(each.id)
            kept += len(wanted)
        back = [number for number, found in zip(gone, index.get_many([f"d{n}" for n in gone]), strict=True) if found]
        problems = index.verify().problems if read_all else []
    tell(pipe, lost=lost, looked=kept, back=back, problems=problems)


def restoring(pipe: int, backup: str, path: str, there: list[list[int]], gone: list[int]) -> None:
    """Restore a backup, and look for what was acknowledged before it began."""
    Index.restore(backup, path)
    looking(pipe, path, there, gone, read_all=False)
