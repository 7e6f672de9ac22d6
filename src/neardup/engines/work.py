"""The work folder. What a split gave appears there by renaming, so that a killed run goes on where it was.

plan.json            whose work this is: the recipe, the inputs, the splits, the state of an index
inputs.json          the inputs and splits in full, so that a finished run can be opened again
stdin-….jsonl          what came on standard input
table-….parquet      what was a table in memory
sketches/00000.arrow the sketches of split 0, …
texts/00000.arrow    the text of its pages, where it will be read a second time; not needed afterwards
measured.arrow       the pairs measured so far
decision.arrow       what was decided about every document
failed.txt           why a run stopped that its inputs or options did not let finish; another run may take its place
written.json         the files of the output folder that the run wrote (outputs.folder)
kept/                which parts of the corpus are written
shingles.u64         the shingle sets of documents that are being measured; not needed afterwards
"""

import fcntl
import json
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path, PurePosixPath
from threading import Lock
from typing import Annotated, Any, ClassVar, TypeVar
from weakref import WeakValueDictionary

import msgspec

from neardup.atomic import appearing, make_fleeting, write_error
from neardup.errors import InputError, UsageError, WorkError
from neardup.recipe import Recipe
from neardup.sources.base import InputFile, Split
from neardup.sources.files import is_remote
from neardup.sources.formats import FORMATS
from neardup.sources.problems import Problems
from neardup.sources.stamps import BY_CONTENT, is_named_by_content, is_unchanged
from neardup.text.extract import extractor
from neardup.untrusted import open_regular, read_json, refuse_links, safe_name

T = TypeVar("T")

_SKETCHES = 4
"""Another number whenever files of sketches, or of problems beside them, have other columns: work of another one is
refused."""

_OPTIONS = {
    ("sketch", "kind"): "the kind of sketch (see --recipe)",
    ("verify", "threshold"): "--threshold",
    ("verify", "recall"): "--recall",
    ("verify", "method"): "--verify",
    ("clusters", "method"): "--cluster",
    ("clusters", "keep"): "--keep",
    ("clusters", "crowd"): "crowd",
    ("text", "tokens"): "--tokens",
    ("text", "extract"): "--extract",
    ("shingles", "width"): "--width",
    ("shingles", "repeats"): "--repeats",
    ("sketch", "seed"): "--seed",
    ("sketch", "k"): "k (see --permutations)",
    ("sketch", "s"): "s (see --permutations)",
}
"""Settings by the names that users know them by, in the order in which a difference is told."""


class _FolderLock:
    """The lock of a work folder, once per folder and process.

    Other processes are kept out by flock for as long as anybody holds this object, other threads of this process by
    `busy`. The locks of lockf would not do: they belong to the process, so its threads never exclude each other, and
    they go when the first of its descriptors is closed.
    """

    _here: ClassVar["WeakValueDictionary[tuple[int, int], _FolderLock]"] = WeakValueDictionary()
    _looking = Lock()

    def __init__(self, descriptor: int) -> None:
        self.busy = Lock()
        weakref.finalize(self, os.close, descriptor)

    @classmethod
    def of(cls, folder: Path) -> "_FolderLock":
        """Return the one that this process holds, or take the lock; another process's is a WorkError."""
        with cls._looking:
            descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
            found = os.fstat(descriptor)
            held = cls._here.get((found.st_dev, found.st_ino))
            if held is not None:
                os.close(descriptor)
                return held
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                os.close(descriptor)
                raise _in_use(folder) from error
            held = cls._here[found.st_dev, found.st_ino] = cls(descriptor)
            return held


def _in_use(folder: Path) -> WorkError:
    return WorkError(f"{folder}: another run is at work here. Wait for it, or choose another folder.")


class Work:
    """A work folder that belongs to one recipe over one set of inputs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._held: _FolderLock | None = None
        self._claimed = False
        self._made = [place for place in (folder, *folder.parents) if not place.exists()]
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise write_error(folder, error) from error
        refuse_links(folder)

    @property
    def place(self) -> Path:
        """The folder that a finished run is opened from."""
        return self.folder

    def abandon(self) -> None:
        """Remove the folders that were made for a run that did not begin."""
        if self.folder not in self._made or self._plan.exists():
            return
        shutil.rmtree(self.folder, ignore_errors=True)
        for place in self._made[1:]:
            with suppress(OSError):  # somebody put something into it
                place.rmdir()

    def claim(
        self, recipe: Recipe, splits: Sequence[Split], problems: Problems, against: dict[str, Any] | None = None
    ) -> str:
        """Make the folder this run's, and say whether it goes on with earlier work or replaces that of a failed run.

        The work of another run is refused.
        against: the index that documents are compared with, by its `state`.
        """
        files = [Path(s.file.path) for s in splits]
        # A table in memory cannot be opened again.
        inputs = None if any(s.file.format == "memory" for s in splits) else _inputs(splits, self.folder)
        return self._settle(_plan(recipe, splits, problems, against), inputs, files)

    def take_over(self, other: "Work") -> None:
        """Become a copy of another work folder, as far as a finished run needs it."""
        plan, inputs = (json.loads((other.place / name).read_text()) for name in ("plan.json", "inputs.json"))
        self._settle(plan, inputs, [])
        self.copy_sketches(other)
        for pattern in ("stdin-*", "table-*"):
            for spooled in other.place.glob(pattern):
                self._copy(spooled, spooled.name)

    def copy_sketches(self, other: "Work") -> None:
        """Copy the sketches of another work folder, and what was measured there."""
        for path in (*(other.place / "sketches").glob("*"), other.place / "measured.arrow"):
            if path.exists():
                self._copy(path, str(path.relative_to(other.place)))

    def _copy(self, path: Path, name: str) -> None:
        refuse_links(path)
        if not (self.folder / name).exists():
            with appearing(self.folder / name) as draft:
                shutil.copyfile(path, draft)

    def _settle(self, mine: dict[str, Any], inputs: dict[str, Any] | None, needed: Sequence[Path]) -> str:
        """Write the plan, or compare it with the one that is there. `needed` are files in the folder that stay."""
        said = ""
        if self._plan.exists():
            try:
                theirs = read_json(self._plan, dict[str, Any])
            except (ValueError, OSError) as error:
                raise WorkError(
                    f"{self._plan}: cannot be read ({error}). Delete {self.folder} to start over."
                ) from error
            if theirs == mine:
                self._failure.unlink(missing_ok=True)
                self._claimed = True
                return "Going on with the work of an earlier run."
            if not self._failure.exists():
                raise WorkError(
                    f"{self.folder} holds the work of another run: {_told_difference(theirs, mine)}. "
                    "Choose another output folder, or start over with --fresh."
                )
            said = f"Starting over: the run before this one failed ({_beginning(self._failure)})."
            self._clear(needed)
        self._failure.unlink(missing_ok=True)
        if inputs is not None:
            with appearing(self.folder / "inputs.json") as draft:
                draft.write_text(json.dumps(inputs))
        with appearing(self._plan) as draft:
            draft.write_text(json.dumps(mine, indent=1))
        self._claimed = True
        return said

    def _clear(self, needed: Sequence[Path]) -> None:
        """Delete the work of a run that failed; the plan goes last, so that a kill leaves no work without one."""
        for name in ("sketches", "texts"):
            shutil.rmtree(self.folder / name, ignore_errors=True)
        spooled = [path for path in self.folder.glob("stdin-*") if path not in needed]
        for path in (self.measured, self.shingles, *spooled, self.folder / "inputs.json", self._plan, self._failure):
            path.unlink(missing_ok=True)

    @contextmanager
    def noting_failure(self) -> Iterator[None]:
        """Note an error in the inputs or in how they are read, so that a corrected run may take this one's place.

        A finished run is never noted as failed, nor is one that was killed or found the disk full: it can go on.
        """
        try:
            yield
        except (InputError, UsageError) as error:
            if self._claimed and not self.decision.exists():
                with appearing(self._failure) as draft:
                    draft.write_text(str(error).partition("\n")[0])
            raise

    @property
    def _plan(self) -> Path:
        return self.folder / "plan.json"

    @property
    def _failure(self) -> Path:
        return self.folder / "failed.txt"

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Keep other runs out until the block ends, and other processes for as long as this object lives."""
        if self._held is None:
            self._held = _FolderLock.of(self.folder)
        if not self._held.busy.acquire(blocking=False):
            raise _in_use(self.folder)
        try:
            yield
        finally:
            self._held.busy.release()

    def sketches(self, split: int) -> Path:
        """Of a split."""
        return self.folder / "sketches" / f"{split:05d}.arrow"

    @property
    def repeated_ids(self) -> Path:
        """Ids that occur more than once."""
        return self.folder / "repeated-ids.arrow"

    def texts(self, split: int) -> Path:
        """Of a split of pages, until pairs are measured."""
        return self.folder / "texts" / f"{split:05d}.arrow"

    def pairs_are_measured(self) -> None:
        """Delete what only served that."""
        self.shingles.unlink(missing_ok=True)
        shutil.rmtree(self.folder / "texts", ignore_errors=True)

    @property
    def measured(self) -> Path:
        """The pairs measured so far."""
        return self.folder / "measured.arrow"

    @property
    def decision(self) -> Path:
        """What was decided."""
        return self.folder / "decision.arrow"

    @property
    def shingles(self) -> Path:
        """Shingle sets, as 64-bit integers one behind the other."""
        return self.folder / "shingles.u64"


class TemporaryWork(Work):
    """A work folder that goes when nobody holds it any more."""

    def __init__(self) -> None:
        super().__init__(Path(tempfile.mkdtemp(prefix="neardup-")))
        weakref.finalize(self, make_fleeting(self.folder))
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Do nothing: no other run knows the folder."""
        yield


class FinishedWork(TemporaryWork):
    """The work folder of a finished run, to be read. What is made on the way goes to a temporary one."""

    def __init__(self, finished: Path) -> None:
        super().__init__()
        self._finished = finished

    @property
    def place(self) -> Path:
        """The work folder of the run."""
        return self._finished

    def sketches(self, split: int) -> Path:
        """Those of the run."""
        return self._finished / "sketches" / f"{split:05d}.arrow"

    @property
    def decision(self) -> Path:
        """The run's."""
        return self._finished / "decision.arrow"

    def reopened(self) -> tuple[Recipe, list[Split], int]:
        """The recipe, the splits, and the largest size of a document."""
        plan = self._read("plan.json", _Plan)
        inputs = self._read("inputs.json", _Inputs)
        settings = dict(plan.recipe)
        recipe_id = settings.pop("id", None)
        try:
            recipe = Recipe.from_dict(settings, checked=True)
        except (UsageError, TypeError, ValueError, KeyError, AttributeError, OverflowError) as error:
            raise self._unreadable("plan.json", error) from error
        if recipe.id != recipe_id:
            raise WorkError(
                f"{self._finished} was made by recipe {recipe_id} of another version of neardup, which reads it as "
                f"{recipe.id}. Run `neardup dedup --fresh` again."
            )
        if plan.extractor not in (None, extractor()):
            raise WorkError(
                f"{self._finished}: its pages were read by {plan.extractor}, and {extractor() or 'nothing'} is "
                "installed now. Install that, or run `neardup dedup --fresh` again."
            )
        table = inputs.files[0].path if inputs.files else ""
        if table.startswith("table-") and not os.path.lexists(self._finished / table):  # others have absolute paths
            raise WorkError(
                f"{self._finished.parent} holds a run over a table in memory, which is not stored there: there is no "
                f"work/{table}. Some columns cannot be stored as Parquet (run.json names them). Write the documents "
                "without them to a file and run `neardup dedup` on it; or stay in Python, where "
                "neardup.audit.measure_recall(result) and Index.add_run(result) take the result itself."
            )
        try:
            return recipe, _splits(inputs, self._finished), plan.max_document_bytes
        except (ValueError, OSError) as error:
            raise self._unreadable("inputs.json", error) from error

    def _read(self, name: str, kind: type[T]) -> T:
        try:
            return read_json(self._finished / name, kind)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise WorkError(
                f"{self._finished} is gone, or not of a finished run: there is no {name} in it. "
                "Run `neardup dedup` again, and keep the work folder for what comes after."
            ) from error
        except (ValueError, OSError) as error:
            raise self._unreadable(name, error) from error

    def _unreadable(self, name: str, error: Exception) -> WorkError:
        return WorkError(f"{self._finished / name}: cannot be read ({error}). Run `neardup dedup --fresh` again.")


class _Plan(msgspec.Struct):
    """What a finished run needs of plan.json."""

    recipe: dict[str, Any]
    max_document_bytes: Annotated[int, msgspec.Meta(ge=1)]
    extractor: str | None


class _Inputs(msgspec.Struct):
    """What inputs.json holds; a split is the number of its file, and the rest of `Split`."""

    files: list[InputFile]
    splits: list[Annotated[list[Annotated[int, msgspec.Meta(ge=0)]], msgspec.Meta(min_length=4, max_length=6)]]


def _beginning(path: Path) -> str:
    """Return the first bytes of a short text."""
    try:
        with open_regular(path) as file:
            return file.read(4096).decode(errors="replace")
    except OSError as error:
        return str(error)


def _inputs(splits: Sequence[Split], work: Path) -> dict[str, Any]:
    """Paths are absolute, but for what is in the work folder itself."""

    def stored(path: str) -> str:
        if "://" in path:
            return path
        inside = Path(path).resolve()
        return str(inside.relative_to(work.resolve())) if work.resolve() in inside.parents else os.path.abspath(path)

    files = {file: number for number, file in enumerate(dict.fromkeys(s.file for s in splits))}
    return {
        "files": [{**asdict(f), "path": stored(f.path)} for f in files],
        "splits": [[files[s.file], s.start, s.stop, s.size, s.part, s.parts] for s in splits],
    }


def _splits(inputs: _Inputs, work: Path) -> list[Split]:
    """Return the splits that `_inputs` stored, checked: somebody else may have prepared the folder.

    Files in the work folder are named by their content, and so are the stamps of these alone. Other files are where the
    run found them, and have the stamps that say whether they are still the same.
    """
    files = [_placed(file, work) for file in inputs.files]
    for number, *_ in inputs.splits:
        if number >= len(files):
            raise ValueError(f"a split is of file {number}, and there are {len(files)}")
    return [Split(files[number], *rest) for number, *rest in inputs.splits]


def _placed(file: InputFile, work: Path) -> InputFile:
    """Return an input of a finished run with its path on this machine; ValueError where it cannot be of a run."""
    if file.format not in FORMATS:
        raise ValueError(f"{file.name!r} has the format {file.format!r}, which no file has")
    for name in (file.name, *file.members):  # what is kept is written under these names
        plain = PurePosixPath(name).as_posix()
        if plain != ".":
            safe_name(plain)
    if is_remote(file.path):
        return file
    if os.path.isabs(file.path):
        if file.stamp.startswith(BY_CONTENT):
            raise ValueError(f"{file.path!r} has a stamp that only files in the work folder have")
        return file
    inside = replace(file, path=str(work / safe_name(file.path)))
    if "/" in file.path or not is_named_by_content(inside):
        raise ValueError(f"{file.path!r} is no file that a run puts into its work folder")
    if not is_unchanged(inside):
        raise ValueError(f"{file.path} is not what was written")
    return inside


def _plan(
    recipe: Recipe, splits: Sequence[Split], problems: Problems, against: dict[str, Any] | None
) -> dict[str, Any]:
    files = list(dict.fromkeys(s.file for s in splits))
    plan = {
        "recipe": {"id": recipe.id, **recipe.to_dict()},
        "inputs": [
            {"path": f.path, "format": f.format, "size": f.size, "stamp": f.stamp, "fields": asdict(f.fields)}
            for f in files
        ],
        "splits": [[files.index(s.file), s.start, s.stop] for s in splits],
        "sketches": _SKETCHES,
        "max_document_bytes": problems.max_document_bytes,
        "against": against,
        "extractor": extractor() if any(f.fields.html or f.format in ("html", "warc") for f in files) else None,
    }
    return json.loads(json.dumps(plan))  # type: ignore[no-any-return]


def _told_difference(theirs: dict[str, Any], mine: dict[str, Any]) -> str:
    """Return the first thing that differs; the other plan may be of any version, or of nobody."""
    try:
        return difference(theirs, mine)
    except (AttributeError, TypeError, KeyError, ValueError, LookupError):
        return "its plan.json is not of this version of neardup"


def difference(theirs: dict[str, Any], mine: dict[str, Any]) -> str:
    """The first thing that differs, named."""
    if theirs.get("recipe") != mine["recipe"]:
        ours, other = mine["recipe"], theirs.get("recipe") or {}
        names = {
            **_OPTIONS,
            **{(p, k): f"{p}.{k}" for p in ours if p != "id" for k in ours[p] if (p, k) not in _OPTIONS},
        }
        for (part, key), option in names.items():
            before, now = (other.get(part) or {}).get(key), ours[part].get(key)
            if before != now:
                return f"{option} was {before}, and is {now} now"
        return f"its recipe is {other.get('id')}, this one is {ours['id']}"
    if theirs.get("inputs") != mine["inputs"]:
        before = {(f["path"], f["format"]): f for f in theirs.get("inputs", [])}
        now = {(f["path"], f["format"]): f for f in mine["inputs"]}
        for file in sorted(before.keys() | now.keys()):
            if file not in now:
                return f"its inputs have {file[0]}, which is not given now"
            if file not in before:
                return f"{file[0]} is not among its inputs"
            for key, what in (
                ("text", "text"),
                ("id", "ids"),
                ("url", "URLs"),
                ("columns", "columns"),
                ("html", "HTML"),
                ("quoting", "quoting"),
            ):
                old, new = (before[file].get("fields") or {}).get(key), now[file]["fields"].get(key)
                if old != new:
                    return f"{what} of {file[0]} came from {old!r}, and come from {new!r} now"
            for key in now[file]:
                if before[file].get(key) != now[file][key]:
                    return f"{file[0]} has changed since ({key} was {before[file].get(key)!r}, is {now[file][key]!r})"
        return "its inputs have another order"
    if theirs.get("against") != mine.get("against"):
        return _other_index(theirs.get("against"), mine.get("against"))
    keys = [k for k in mine if theirs.get(k) != mine[k]]
    return (
        f"its {keys[0].replace('_', '-')} was {theirs.get(keys[0])!r}, now {mine[keys[0]]!r}" if keys else "it differs"
    )


def _other_index(before: dict[str, Any] | None, now: dict[str, Any] | None) -> str:
    """Say how the index that a run is against differs from that of an earlier run."""
    if now is None:
        return f"it ran against the index {before and before['path']}, and this run is against none"
    if before is None:
        return f"it ran against no index, and this run is against {now['path']}"
    if before["again"] != now["again"]:
        return f"--again was {before['again']}, and is {now['again']} now"
    if before["made"] == now["made"] and before["state"] != now["state"]:
        return (
            f"the index {now['path']} has changed since (it had {before['documents']:,} documents and has "
            f"{now['documents']:,} now), so that other documents would be removed"
        )
    return f"it ran against the index {before['path']}, and this run is against another one, {now['path']}"
