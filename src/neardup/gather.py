"""From what the user named to sketched documents: the first half of the path, which every command on collections walks.

sources → text → shingles → sketches
"""

import os
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from glob import glob
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.atomic import local_place
from neardup.clusters.keep import keep_columns
from neardup.engines.local import LocalEngine
from neardup.engines.machine import cores
from neardup.engines.steps import Steps, Watcher
from neardup.engines.work import TemporaryWork, Work
from neardup.errors import InputError, UsageError
from neardup.kernels import equal as kernel
from neardup.kernels import text as text_kernel
from neardup.kernels import when_compiling
from neardup.recipe import Recipe
from neardup.recipes import Choose
from neardup.sketches.artefact import Collection
from neardup.sketches.base import Ragged, mixed
from neardup.sources import format_of
from neardup.sources import problems as noted
from neardup.sources.base import InputFile, Quoting, Split
from neardup.sources.discover import discover
from neardup.sources.fields import choose
from neardup.sources.problems import Problem, Problems
from neardup.sources.stdin import spool
from neardup.sources.table import from_object
from neardup.text.extract import require_extractor
from neardup.verify.measure import Meter, Shelf
from neardup.verify.places import Places
from neardup.verify.projected import Projected

_PAIRS = 1 << 20
"""Pairs whose documents are looked up at once."""

_AT_ONCE = 1 << 16
"""Documents whose ids are looked at together."""


@dataclass(frozen=True)
class Reading:
    """How inputs are read: what a recipe does not say."""

    text_field: str | None = None
    id_field: str | None = None
    url_field: str | None = None
    html: bool | None = None
    format: str | None = None
    on_error: Literal["stop", "skip"] = "stop"
    max_document_bytes: int = 64 << 20
    threads: int | None = None
    work: str | Path | None = None
    memory: int | None = None
    """Bytes that linking features may take; the rest of it is done from disk."""
    quoting: Quoting | None = None
    """Of CSV files; None: by what separates their values."""


@dataclass
class Gathered:
    """A sketched collection, and what can be done with it."""

    engine: LocalEngine
    collection: Collection
    compared: NDArray[np.bool_]
    """Which documents take part."""
    problems: pa.Table
    """What could not be read or compared (`model.SKIPPED`)."""
    rules: Problems
    said: list[str]

    @property
    def recipe(self) -> Recipe:
        """How it was sketched."""
        return self.engine.recipe

    def remark(self, sentence: str) -> None:
        """Something noticed on the way."""
        self.said.append(sentence)
        self.engine.steps.say(sentence)

    def keys(self) -> Iterator[tuple[int, Ragged]]:
        """The keys of all documents, batch by batch."""
        for start, words, ragged in self.collection.sketches():
            yield start, self.engine.sketcher.keys(words, ragged)

    def identities(self) -> NDArray[np.uint64]:
        """What names a document's tokens; and its site, where that matters."""
        found = self.collection.identities()
        if self.engine.sketcher.needs_urls:
            numbers: dict[str | None, int] = {None: 0}
            for start, urls in self.collection.urls():
                places = self.engine.sketcher.places(urls.to_pylist(), numbers)
                found[start : start + len(urls), 1] ^= mixed(places, 1)
        return found

    @cached_property
    def places(self) -> Places:
        """Where its documents are from."""
        return Places.of(self.collection, self._folders)

    def neighbours(self, pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which pairs of documents are two pages of one host; only these documents are looked up."""
        found = np.zeros(len(pairs), np.bool_)
        for start in range(0, len(pairs), _PAIRS):
            some = pairs[start : start + _PAIRS]
            documents, rows = np.unique(some, return_inverse=True)
            places = Places.among(self.collection, documents, self._folders)
            found[start : start + _PAIRS] = places.neighbours(rows.reshape(some.shape))
        return found

    @property
    def _folders(self) -> list[tuple[int, int, int]]:
        """From which document to which they are files of the folder of a number."""
        starts, splits = self.collection.starts.tolist(), self.engine.splits
        files = list(dict.fromkeys(s.file for s in splits))
        numbers = dict(zip(files, page_folders(files), strict=True))
        rows = [(starts[i], starts[i + 1], numbers[s.file]) for i, s in enumerate(splits)]
        return [(start, stop, number) for start, stop, number in rows if number is not None]

    def meter(self, possible: NDArray[np.int64], *, remember: bool) -> Meter:
        """What measures pairs exactly; `possible` are the documents that may be asked for, ascending."""
        collection, engine = self.collection, self.engine
        most = np.maximum(1, collection.numbers("tokens") - self.recipe.shingles.width + 1)
        shelf = Shelf(engine.work.shingles, np.full(len(collection), -1, np.int64), most)
        shelf.path.unlink(missing_ok=True)
        return Meter(
            shelf,
            lambda s, rows: engine.shelve(s, rows, collection.starts, self.rules),
            engine.work.measured if remember else None,
            engine.threads,
            possible,
        )

    def projected(self, possible: NDArray[np.int64]) -> Projected | None:
        """What compares candidates a second time, on the fly; None where the recipe does not."""
        later = self.engine.sketcher.on_the_fly
        if later is None:
            return None
        return Projected(
            later, possible, lambda rows: self.engine.words(later, rows, self.collection.starts, self.rules)
        )


@contextmanager
def gather(
    source: Any,
    recipe: Recipe | Choose,
    reading: Reading,
    watcher: Watcher | None,
    against: dict[str, Any] | None = None,
) -> Iterator[Gathered]:
    """Find the inputs, choose the recipe for them where it is left open, sketch what is not sketched yet.

    No other run gets into the work folder until the block ends.
    against: the state of an index that the run depends on; it is in the plan, as the inputs are.
    """
    folder = Work(local_place(reading.work)) if reading.work is not None else TemporaryWork()
    try:
        with folder.in_use(), folder.noting_failure():
            yield _gathered(source, recipe, reading, folder, watcher, against)
    finally:
        folder.abandon()


def _gathered(
    source: Any,
    recipe: Recipe | Choose,
    reading: Reading,
    folder: Work,
    watcher: Watcher | None,
    against: dict[str, Any] | None,
) -> Gathered:
    if reading.threads is not None and reading.threads < 1:
        raise UsageError(f"threads = {reading.threads}: at least 1.")
    if reading.memory is not None and reading.memory < 1:
        raise UsageError(f"memory = {reading.memory}: bytes, at least 1.")
    steps = Steps(watcher)
    rules = Problems(reading.on_error, reading.max_document_bytes)
    said: list[str] = []
    keep = (recipe if isinstance(recipe, Recipe) else recipe(False)).clusters.keep
    files = [with_fields(file, keep, reading, said) for file in _inputs(source, reading.format, folder, rules, said)]
    recipe = chosen_recipe(recipe, files, said)
    splits: list[Split] = [s for file in files for s in format_of(file).splits(file)]
    if any(f.fields.html or f.format == "html" for f in files):
        require_extractor()
    said += lacking(recipe, files)
    earlier = folder.claim(recipe, splits, rules, against)
    for sentence in dict.fromkeys(said):
        steps.say(sentence)
    if earlier:
        steps.say(earlier)
    when_compiling(lambda: steps.say("Compiling for this recipe, once on this machine: up to half a minute."))
    engine = LocalEngine(recipe, splits, folder, steps, reading.threads or cores(), reading.memory)
    collection, problems = engine.sketch(rules)
    problems = pa.concat_tables([noted.rows(rules.found), problems])
    if len(problems) and not len(collection):
        raise nothing_read(len(problems), Problem(**problems.slice(0, 1).to_pylist()[0]))
    with noted.spooled(folder.repeated_ids) as repeated:
        compared = _compared(collection, splits, Problems(rules.on_error, note=repeated.note))
    problems = pa.concat_tables([problems, noted.read([folder.repeated_ids])])
    gathered = Gathered(engine, collection, compared, problems, rules, list(dict.fromkeys(said)))
    if engine.pages_as_text:
        gathered.remark(pages_as_text(engine.pages_as_text))
    return gathered


def nothing_read(problems: int, first: Problem) -> InputError:
    """Make the error for inputs of which everything was skipped: an empty result would pass for a clean corpus."""
    return InputError(
        f"no document could be read: all that is there was skipped ({problems:,} "
        f"{'problem' if problems == 1 else 'problems'}). The first: {first}"
    )


def pages_as_text(name: str) -> str:
    """What is said of an input whose texts look like pages."""
    return (
        f"{name}: the texts look like HTML, and are compared with their tags. Give --html (html=True) for what a "
        "reader sees."
    )


def chosen_recipe(recipe: Recipe | Choose, files: list[InputFile], said: list[str]) -> Recipe:
    """Return the recipe for these files; where the files decide which, what was chosen and why is said.

    Web pages get the one for pages if they are most of the documents: by number where every file is a document, else by
    bytes, for nobody has counted the documents of tables yet.
    """
    if isinstance(recipe, Recipe):
        return recipe
    pages = [file for file in files if _of_pages(file)]
    in_files = all(file.members for file in files)

    def amount(some: list[InputFile]) -> int:
        return sum(len(file.members) if in_files else file.size for file in some)

    mostly = bool(pages) and (len(pages) == len(files) or 2 * amount(pages) > amount(files))
    chosen = recipe(mostly)
    if not pages or recipe(True) == recipe(False):
        return chosen
    share = f"{amount(pages):,} of {amount(files):,} documents"
    if not in_files:
        share = f"{amount(pages) / max(1, amount(files)):.0%} of the bytes"
    if len(pages) == len(files):
        said.append("These are web pages: recipe web, which compares their main content. See also: --recipe default.")
    elif mostly:
        said.append(
            f"{share} are web pages: recipe web, which compares their main content. The others are compared as a "
            "whole, from the same threshold on; texts beside pages like pages of one host. See also: --recipe default."
        )
    else:
        said.append(
            f"{share} are web pages, which is not most of them: recipe default, which compares all visible text of "
            "pages. See also: --recipe web."
        )
    return chosen


def page_folders(files: Sequence[InputFile]) -> list[int | None]:
    """Number the folders of web pages: return for every input of pages, and of texts beside pages, its folder's number.

    Texts beside pages, such as robots.txt, are of the same host as these.
    """
    folders: defaultdict[str, list[int]] = defaultdict(list)
    for number, file in enumerate(files):
        if file.format == "html":
            folders[file.path].append(number)
    beside = {path: numbers[0] for path, numbers in folders.items() if len(numbers) == 1}
    return [
        number if file.format == "html" else beside.get(file.path) if file.format == "text" else None
        for number, file in enumerate(files)
    ]


def _of_pages(file: InputFile) -> bool:
    """Whether its documents are web pages: the text that others extracted, as in WET files, is not."""
    extracted = re.search(r"\.wet(\.[a-z0-9]+)?$", file.name.lower())
    return file.fields.html or file.format == "html" or (file.format == "warc" and not extracted)


def lacking(recipe: Recipe, files: list[InputFile]) -> list[str]:
    """What is said where the recipe does not get from these files what it is made for."""
    said = []
    if recipe.sketcher.needs_urls and not any(f.fields.url or f.format == "warc" for f in files):
        said.append("No URLs were found, so all sites are unknown: give --url-field (url_field=), or use WARC files.")
    if recipe.verify.by_place and not any(f.fields.url or f.format in ("warc", "html") for f in files):
        said.append(
            "No URLs were found, so two pages of one site are judged like any others. More is asked of "
            "them with --url-field (url_field=)."
        )
    return said + _finding_less(recipe)


def _finding_less(recipe: Recipe) -> list[str]:
    """Where features find fewer of the pairs at the threshold than the recipe promises."""
    filter, verify = recipe.filter, recipe.verify
    if filter is None or not recipe.thresholded or recipe.sketcher.comparison.similar is not None:
        return []
    found = filter.probability(verify.threshold)
    if found >= verify.recall - 0.005:
        return []
    return [
        f"At the threshold {verify.threshold:g} the sketches of this recipe find {found:.0%} of the pairs, not "
        f"{verify.recall:.0%}. Without --recipe, or with `neardup tune --recipe-out`, they are chosen for it."
    ]


def with_fields(file: InputFile, keep: str, reading: Reading, said: list[str]) -> InputFile:
    """The file, read by the columns that are asked for or guessed; what was guessed is said."""
    chosen, sentences = choose(
        file,
        text=reading.text_field,
        id=reading.id_field,
        url=reading.url_field,
        columns=keep_columns(keep),
        quoting=reading.quoting,
    )
    said += sentences
    return file.with_fields(chosen if reading.html is None else replace(chosen, html=reading.html))


def _inputs(source: Any, format: str | None, work: Work, rules: Problems, said: list[str]) -> list[InputFile]:
    """Paths become files, everything else a table in memory."""
    paths = _paths(source)
    if paths is None:
        if not isinstance(work, TemporaryWork):
            raise UsageError("work= needs files: a table in memory cannot be recognised when the run is resumed.")
        return [from_object(source)]
    files: list[InputFile] = []
    if "-" in paths:
        files.append(spool(work.folder, format))
        paths = [p for p in paths if p != "-"]
    if paths:
        found = discover(paths, format=format, problems=rules)
        files += found.files
        said += found.remarks
    return files


def _paths(source: Any) -> list[str] | None:
    """A string or a path is one; a list is a list of paths if its members are paths, or strings that name files."""
    if isinstance(source, str | os.PathLike):
        return [os.fspath(source)]
    if not isinstance(source, list | tuple) or not source:
        return None
    if all(isinstance(s, os.PathLike) or (isinstance(s, str) and _names_files(s)) for s in source):
        return [os.fspath(s) for s in source]
    return None


def _names_files(value: str) -> bool:
    return value == "-" or "://" in value[:12] or ("\n" not in value[:4096] and bool(glob(value, recursive=True)))


def report_repeated(problems: Problems, id: str, source: str, position: int, earlier: str) -> None:
    """An id that occurs a second time. `earlier`: where it is too."""
    problems.report(
        source,
        position,
        "duplicate id",
        f"{id!r} is the id at {earlier} too",
        "Make ids unique, choose another column with --id-field (id_field=), number the documents with --id-field none",
    )


def _compared(collection: Collection, splits: list[Split], repeated: Problems) -> NDArray[np.bool_]:
    """Return which documents take part: those with tokens. An id that occurs twice is a problem, and both are in."""
    status = collection.numbers("status")
    compared = np.isin(status, (text_kernel.FINE, text_kernel.SHORT))
    hashes = collection.numbers("id_hash")
    numbers = np.empty(len(hashes), np.int32)
    kernel.number_equal(hashes, numbers)
    suspects = np.flatnonzero(numbers >= 0)
    seen: dict[str, tuple[str, int]] = {}
    for start in range(0, len(suspects), _AT_ONCE):
        some = suspects[start : start + _AT_ONCE]
        names = collection.values("id", some).to_pylist()
        positions = collection.values("position", some).to_pylist()
        files = np.searchsorted(collection.starts, some, side="right") - 1
        for number, name, position in zip(files.tolist(), names, positions, strict=True):
            file = splits[number].file.name
            if name in seen:
                report_repeated(repeated, name, file, position, "{}:{}".format(*seen[name]))
            else:
                seen[name] = (file, position)
    return compared
