"""The kept documents, in the format of the input: a file per split, under the input's name."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from stat import S_ISREG

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.atomic import appearing, sync
from neardup.sources import format_of
from neardup.sources.base import InputFile, Split
from neardup.sources.problems import Problems
from neardup.sources.stamps import BY_CONTENT, GONE, local_stamp, members_stamp
from neardup.untrusted import open_regular


def target(folder: Path, split: Split) -> Path:
    """Where the kept part of a split goes: name.jsonl.gz, or name-00003-of-00012.jsonl.gz."""
    name = PurePosixPath(split.file.name + (".parquet" if _is_table(split.file) else ""))
    if split.parts == 1 or split.file.members:
        return folder / name
    stem, dot, endings = name.name.partition(".")
    return folder / name.with_name(f"{stem}-{split.part:05d}-of-{split.parts:05d}{dot}{endings}")


def _is_table(file: InputFile) -> bool:
    """Tell whether the input was a table in memory, which has a name and no ending, also where the table is stored."""
    return file.format == "memory" or (file.stamp.startswith(BY_CONTENT) and "." not in file.name)


def corpus_files(splits: Sequence[Split]) -> Iterator[str]:
    """Return the names, relative to the output folder, of all files that the corpus of these splits can have."""
    for split in splits:
        place = target(Path("kept"), split)
        if split.file.members:
            yield from ((place / member).as_posix() for member in split.file.members[split.start : split.stop])
        else:
            yield place.as_posix()


def write_split(
    folder: Path, split: Split, keep: NDArray[np.bool_], notes: pa.Table | None, rules: Problems, done: Path
) -> None:
    """Write the kept documents of a split, unless `done`, the mark that it was written, says so of what is there now.

    The mark has sizes and times of the files: one that was cut or changed since is written again, and so is one whose
    mark is of an earlier version, and empty.
    """
    path = target(folder, split)
    if _is_marked(done, _state(path, split)):
        return
    problems = rules.again()
    if split.file.members:
        _write_members(path, split, keep, problems, folder.with_name(f".kept-{done.stem}"))
    else:
        with appearing(path) as draft:
            format_of(split.file).write(split, keep, draft, notes, problems)
    done.parent.mkdir(parents=True, exist_ok=True)
    done.write_text(_state(path, split))


def _state(path: Path, split: Split) -> str:
    """Return sizes and times of the files that hold the kept documents of a split, in short; "gone" for no file."""

    def of(place: Path) -> str:
        try:
            found = place.lstat()
        except (FileNotFoundError, NotADirectoryError):
            return GONE
        return local_stamp(found) if S_ISREG(found.st_mode) else GONE

    if not split.file.members:
        return of(path)
    return members_stamp((member, of(path / member)) for member in split.file.members[split.start : split.stop])


def _is_marked(done: Path, state: str) -> bool:
    try:
        with open_regular(done) as mark:
            return state != GONE and mark.read(100) == state.encode()
    except OSError:
        return False


def _write_members(folder: Path, split: Split, keep: NDArray[np.bool_], problems: Problems, staging: Path) -> None:
    """Splits of one folder share the target, so each of their files is moved into place by itself."""
    with appearing(staging) as draft:
        draft.mkdir(parents=True)
        format_of(split.file).write(split, keep, draft, None, problems)
    folder.mkdir(parents=True, exist_ok=True)  # also where nothing is kept
    for root, _, names in os.walk(staging):
        for name in names:
            file = Path(root, name)
            place = folder / file.relative_to(staging)
            place.parent.mkdir(parents=True, exist_ok=True)
            os.replace(file, place)
    for root, _, _ in os.walk(staging, topdown=False):
        os.rmdir(root)
    sync(folder)
