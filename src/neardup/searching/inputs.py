"""What is to be searched: paths that `dedup` reads too, or the folder of a finished run, which stands for its inputs.

The name of a searchable collection follows from here: from what is read, how it is read, and the inputs' stamps. Where
the name is the same, what was built before is what would be built now.
"""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from neardup.engines.local import changed
from neardup.errors import InputError, UsageError
from neardup.gather import Reading
from neardup.recipe import FORMAT as SKETCHES
from neardup.refine import signature
from neardup.result import Result
from neardup.searching import engine
from neardup.sources import choose, discover, format_of, stamp_of
from neardup.sources.base import InputFile, Split
from neardup.sources.discover import told_briefly
from neardup.sources.problems import Problems
from neardup.text.extract import extractor, require_extractor
from neardup.text.settings import Extract

FORMAT = 2
"""Raised when the same inputs would give other files."""

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

State = tuple[tuple[int, int], ...]
"""Time and size of what a run writes: another one, another run."""


@dataclass(frozen=True)
class Inputs:
    """What is to be read, and how."""

    name: str
    """How people call it."""
    splits: tuple[Split, ...]
    extract: Extract
    """Which text of a page counts."""
    largest: int
    """Bytes of a document; of longer ones there is no text."""
    said: tuple[str, ...] = ()
    """What was guessed and noticed, in sentences."""
    run: Result | None = None
    folder: str = ""
    """Of the run: it stays searchable as it was, whatever becomes of its inputs."""
    state: "State | None" = None
    """Of that folder, when the run was opened."""

    @property
    def files(self) -> list[InputFile]:
        """Each once."""
        return list(dict.fromkeys(split.file for split in self.splits))

    @property
    def whose(self) -> str:
        """Names the inputs and how they are read, whatever their state."""
        made = [FORMAT, SKETCHES, signature.FORMAT, signature.SETTINGS.hex(), engine.version(), extractor()]
        return _digest([made, self.extract, self.largest, self.folder, [_path(file) for file in self.files]])

    @property
    def which(self) -> str:
        """Names the state of the inputs."""
        numbers = {file: number for number, file in enumerate(self.files)}
        states = [[file.name, file.format, file.compression, file.stamp, asdict(file.fields)] for file in numbers]
        return _digest([states, [[numbers[split.file], split.start, split.stop] for split in self.splits]])

    def check(self) -> None:
        """The inputs must be what they were when they were found, or when the run read them."""
        for file in self.files:
            if stamp_of(file) != file.stamp:
                raise self._changed(file)

    def _changed(self, file: InputFile) -> InputError:
        if self.run is None:
            return changed(file)
        return InputError(
            f"{self.folder}: its input {file.path} is not what the run read: it was changed, moved or deleted since. "
            "Texts are not in a run's folder; they are read from there once, to be searched. Put the file back, or run "
            "`neardup dedup` again."
        )


def find(paths: Paths, reading: Reading) -> Inputs:
    """The inputs that were named."""
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    names = [os.fspath(path) for path in given]
    if "-" in names:
        raise UsageError("-: standard input cannot be searched, for it cannot be read again. Name files or folders.")
    if len(names) == 1 and (Path(names[0]) / "run.json").is_file():
        if reading != Reading():
            raise UsageError(
                f"{names[0]}: a finished run is searched as it was read; leave the columns, the format and HTML away, "
                "or name its inputs."
            )
        return _of_run(names[0])
    unread = Problems("skip")
    found = discover(names, format=reading.format, problems=unread)
    said = [*found.remarks, *told_briefly(unread.found)]
    files = [_with_fields(file, reading, said) for file in found.files]
    splits = [split for file in files for split in format_of(file).splits(file)]
    if any(file.fields.html or file.format == "html" for file in files):
        require_extractor()
    return Inputs(_called(names), tuple(splits), "main", reading.max_document_bytes, tuple(said))


def state_of(folder: str | os.PathLike[str]) -> State | None:
    """Of a finished run; None where it is gone, or being made again."""
    try:
        found = [os.stat(Path(folder, name)) for name in ("run.json", "work/plan.json", "work/decision.arrow")]
    except OSError:
        return None
    return tuple((each.st_mtime_ns, each.st_size) for each in found)


def _of_run(folder: str) -> Inputs:
    state = state_of(folder)  # before it is read: what is made again meanwhile is noticed
    run = Result.open(folder)
    extract = run.recipe.text.extract
    return Inputs(
        name=_called([folder]),
        splits=tuple(run.gathered.engine.splits),
        extract="all" if extract == "web" else extract,
        largest=run.gathered.rules.max_document_bytes,
        run=run,
        folder=os.path.realpath(folder),
        state=state,
    )


def _with_fields(file: InputFile, reading: Reading, said: list[str]) -> InputFile:
    fields, sentences = choose(
        file, text=reading.text_field, id=reading.id_field, url=reading.url_field, quoting=reading.quoting
    )
    said += sentences
    return file.with_fields(fields if reading.html is None else replace(fields, html=reading.html))


def _called(names: list[str]) -> str:
    """The last part of the first path, and how many more there are."""
    first = names[0] if "://" in names[0] else Path(os.path.abspath(names[0])).name or names[0]
    shown = first.encode("utf-8", "replace").decode()
    return f"{shown} and {len(names) - 1} more" if len(names) > 1 else shown


def _path(file: InputFile) -> str:
    return file.path if "://" in file.path else os.path.abspath(file.path)


def _digest(parts: list[Any]) -> str:
    return sha256(json.dumps(parts).encode()).hexdigest()[:16]
