"""dedup(): the path of a document, on one screen.

sources → text → shingles → sketches → candidates → verify → clusters → outputs
"""

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from glob import glob
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from neardup.analysis.filters import PERMUTATIONS
from neardup.clusters.keep import keep_columns
from neardup.clusters.settings import ClusterMethod, ClusterSettings
from neardup.decide import decide
from neardup.engines.local import LocalEngine
from neardup.engines.steps import Steps, Watcher
from neardup.engines.work import TemporaryWork, Work
from neardup.errors import UsageError
from neardup.kernels import compiled_before
from neardup.kernels import groups as kernel
from neardup.kernels import text as text_kernel
from neardup.recipe import Recipe
from neardup.result import Result
from neardup.shingles import ShingleSettings
from neardup.sketches.artefact import Collection
from neardup.sources import format_of
from neardup.sources.base import InputFile, Problem, Problems, Split
from neardup.sources.discover import EARLIER, discover
from neardup.sources.fields import choose
from neardup.sources.stdin import spool
from neardup.sources.table import from_object
from neardup.text.extract import require_extractor
from neardup.text.settings import TextSettings, TokenKind
from neardup.verify.measure import Meter, Shelf
from neardup.verify.settings import Method


def dedup(
    source: Any,
    *,
    threshold: float = 0.8,
    recall: float = 0.99,
    keep: str | Sequence[str] = "first",
    verify: Method = "exact",
    cluster: ClusterMethod = "star",
    tokens: TokenKind = "words",
    width: int = 5,
    repeats: bool = False,
    extract: Literal["all", "main"] = "all",
    permutations: int = PERMUTATIONS,
    seed: int = 1,
    recipe: Recipe | None = None,
    text_field: str | None = None,
    id_field: str | None = None,
    url_field: str | None = None,
    html: bool | None = None,
    format: str | None = None,
    on_error: Literal["stop", "skip"] = "stop",
    max_document_bytes: int = 64 << 20,
    threads: int | None = None,
    work: str | Path | None = None,
    watcher: Watcher | None = None,
) -> Result:
    """Find the near-duplicates of a collection, and which document of each group is kept.

    source: a path, a glob, a URL or a list of them; or documents in memory: anything with the Arrow C stream
    interface (Polars, pandas, DuckDB, pyarrow, Hugging Face datasets), a list of strings, a list of dicts.
    threshold: the exact resemblance of two shingle sets from which on they are near-duplicates.
    recall: the probability that a pair at the threshold is found; parameters follow from both.
    recipe: all settings at once, in place of the single ones.
    work: a folder that remembers what is done, so that a killed run goes on where it was.
    """
    recipe = recipe or Recipe.for_threshold(
        threshold,
        recall=recall,
        permutations=permutations,
        seed=seed,
        text=TextSettings(tokens, extract),
        shingles=ShingleSettings(width, repeats),
        verify=verify,
        clusters=ClusterSettings(cluster, keep if isinstance(keep, str) else ",".join(keep)),
    )
    if threads is not None and threads < 1:
        raise UsageError(f"threads = {threads}: at least 1.")
    steps = Steps(watcher)
    rules = Problems(on_error, max_document_bytes)
    said: list[str] = []
    folder = Work(Path(work)) if work is not None else TemporaryWork()
    folder.lock()

    found = _inputs(source, format, folder, said)
    files: list[InputFile] = []
    for file in found:
        chosen, sentences = choose(
            file,
            text=text_field,
            id=id_field,
            url=url_field,
            columns=keep_columns(recipe.clusters.keep),
        )
        said += sentences
        files.append(file.with_fields(chosen if html is None else replace(chosen, html=html)))
    splits: list[Split] = [s for file in files for s in format_of(file).splits(file)]
    if any(f.fields.html or f.format == "html" for f in files):
        require_extractor()
    resumed = folder.claim(recipe, splits, rules)
    for sentence in dict.fromkeys(said):
        steps.say(sentence)
    if resumed:
        steps.say("Going on with the work of an earlier run.")
    if not compiled_before():
        steps.say("Compiling the kernels, once on this machine: about 15 seconds.")

    engine = LocalEngine(recipe, splits, folder, steps, threads or _cores())
    collection, problems = engine.sketch(rules)
    compared = _compared(collection, splits, rules, problems)

    def meter(lengths: NDArray[np.int64], possible: NDArray[np.int64]) -> Meter:
        """Shingle sets have at most as many elements as there are shingles."""
        most = np.maximum(1, lengths - recipe.shingles.width + 1)
        shelf = Shelf(folder.shingles, np.full(len(collection), -1, np.int64), most)
        shelf.path.unlink(missing_ok=True)
        return Meter(
            shelf,
            lambda s, rows: engine.shelve(s, rows, collection.starts, rules),
            folder.measured,
            engine.threads,
            possible,
        )

    def remark(sentence: str) -> None:
        said.append(sentence)
        steps.say(sentence)

    with ExitStack() as running:

        def begin(step: str) -> None:
            running.close()
            running.enter_context(steps.step(step, sum(s.size for s in splits) if step == "verify" else 0))

        decision = decide(collection, compared, recipe, meter, begin, remark)
    folder.shingles.unlink(missing_ok=True)
    return Result(engine, collection, decision, problems, rules, list(dict.fromkeys(said)))


def _cores() -> int:
    """How many cores this process may use: fewer than there are, in a container."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _inputs(source: Any, format: str | None, work: Work, said: list[str]) -> list[InputFile]:
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
        found = discover(paths, format=format)
        files += found.files
        unknown = {suffix: n for suffix, n in found.passed_over.items() if suffix != EARLIER}
        if unknown:
            kinds = ", ".join(f"{n:,} {suffix or 'without an ending'}" for suffix, n in unknown.items())
            said.append(f"Passed over files that are of no known format: {kinds}.")
        if EARLIER in found.passed_over:
            said.append(f"Passed over folders with results of an earlier run: {found.passed_over[EARLIER]:,}.")
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


def _compared(
    collection: Collection, splits: list[Split], rules: Problems, problems: list[Problem]
) -> NDArray[np.bool_]:
    """Which documents take part: those with tokens. An id that occurs twice is a problem, and both are in."""
    status = collection.numbers("status")
    compared = np.isin(status, (text_kernel.FINE, text_kernel.SHORT))
    hashes = collection.numbers("id_hash")
    numbers = np.empty(len(hashes), np.int32)
    kernel.number_equal(hashes, np.arange(len(hashes)), 0, numbers)
    suspects = np.flatnonzero(numbers >= 0)
    seen: dict[str, str] = {}
    repeated = Problems(rules.on_error)
    names = collection.values("id", suspects).to_pylist()
    positions = collection.values("position", suspects).to_pylist()
    for place, name, position in zip(suspects.tolist(), names, positions, strict=True):
        file = splits[int(np.searchsorted(collection.starts, place, side="right")) - 1].file.name
        if name in seen:
            repeated.report(
                file,
                position,
                "duplicate id",
                f"{name!r} is the id at {seen[name]} too",
                "Make ids unique, choose another column with --id-field (id_field=), number the documents with "
                "--id-field none",
            )
        seen.setdefault(name, f"{file}:{position}")
    problems += repeated.found
    return compared
