"""The kept documents, in the format of the input: a file per split, under the input's name."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.atomic import appearing, sync
from neardup.sources import format_of
from neardup.sources.base import InputFile, Split
from neardup.sources.problems import Problems
from neardup.sources.stamps import BY_CONTENT


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
    """Write the kept documents of a split. `done` is a mark that it was written; a split that has it is not redone."""
    path = target(folder, split)
    if done.exists() and path.exists():
        return
    problems = rules.again()
    if split.file.members:
        _write_members(path, split, keep, problems, folder.with_name(f".kept-{done.stem}"))
    else:
        with appearing(path) as draft:
            format_of(split.file).write(split, keep, draft, notes, problems)
    done.parent.mkdir(parents=True, exist_ok=True)
    done.touch()


def _write_members(folder: Path, split: Split, keep: NDArray[np.bool_], problems: Problems, staging: Path) -> None:
    """Splits of one folder share the target, so each of their files is moved into place by itself."""
    with appearing(staging) as draft:
        draft.mkdir(parents=True)
        format_of(split.file).write(split, keep, draft, None, problems)
    for root, _, names in os.walk(staging):
        for name in names:
            file = Path(root, name)
            place = folder / file.relative_to(staging)
            place.parent.mkdir(parents=True, exist_ok=True)
            os.replace(file, place)
    for root, _, _ in os.walk(staging, topdown=False):
        os.rmdir(root)
    sync(folder)
