"""What `dedup` returns: Arrow tables that Polars, pandas and DuckDB take as they are, and a way to write them all.

result.kept            the kept documents, all columns untouched
result.removed         id, kept_id, relation, resemblance, containment both ways
result.groups          id, group_id, size, kept
result.explain(id)     why this one
result.texts(numbers)  what was compared of documents, read again
result.write(path)     the folder that the command writes
Result.open(path)      a finished run, opened again
"""

import json
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import cached_property
from hashlib import sha256
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from neardup._version import __version__
from neardup.atomic import appearing, local_place
from neardup.decide import Decision, read_decision, write_decision
from neardup.engines.local import LocalEngine
from neardup.engines.machine import cores
from neardup.engines.steps import Step, Steps, Watcher
from neardup.engines.work import FinishedWork, Work
from neardup.errors import InputError, UsageError, WorkError
from neardup.gather import Gathered
from neardup.kernels import text as kernel
from neardup.model import MEASURED, RELATIONS, SKIPPED, Explanation
from neardup.outputs.corpus import corpus_files, write_split
from neardup.outputs.evidence import (
    Groups,
    groups_layout,
    groups_tables,
    notes_table,
    removed_layout,
    removed_tables,
)
from neardup.outputs.folder import OutputFolder
from neardup.recipe import Recipe
from neardup.sketches.artefact import hash_ids
from neardup.sources import format_of
from neardup.sources.columns import filtered, unified
from neardup.sources.files import printable
from neardup.sources.problems import COMPARED_ANYWAY, Problems
from neardup.sources.stored import store, stored_splits
from neardup.text.settings import TextSettings
from neardup.text.workers import PageExtractor, confinement
from neardup.untrusted import read_json


class _Run(msgspec.Struct):
    """What is needed of run.json when a run is opened again."""

    steps: list[Step]
    threads: Annotated[int, msgspec.Meta(ge=1)]
    said: list[str]


class Result:
    """The outcome of a deduplication. The documents themselves are read again when they are asked for."""

    def __init__(self, gathered: Gathered, decision: Decision) -> None:
        self.gathered, self.decision = gathered, decision
        self._engine, self._collection = gathered.engine, gathered.collection
        self._rules = gathered.rules
        gathered.compared[decision.known_numbers] = False
        self.folder: Path | None = None
        """The output folder that the run was written to last or opened from."""

    @classmethod
    def open(cls, path: str | Path, watcher: Watcher | None = None) -> "Result":
        """A finished run, from the folder that it was written to and its work folder."""
        out = Path(path)
        try:
            run: dict[str, Any] = read_json(out / "run.json", dict[str, Any])
        except (FileNotFoundError, NotADirectoryError) as error:
            raise InputError(f"{out} holds no finished run: there is no run.json in it.") from error
        except (ValueError, OSError) as error:
            raise InputError(f"{out / 'run.json'}: cannot be read ({error}). Run `neardup dedup` again.") from error
        if "engine" in run:
            raise InputError(
                f"{out} holds a run on Spark. Report, audit and Result.open know runs of the local engine alone: make "
                "one on a sample of the collection. `neardup explain` works here too."
            )
        try:
            told = msgspec.convert(run, _Run)
        except msgspec.MsgspecError as error:
            raise WorkError(f"{out / 'run.json'}: cannot be read ({error}). Run `neardup dedup` again.") from error
        work = FinishedWork(out / "work")
        recipe, splits, largest = work.reopened()
        engine = LocalEngine(recipe, splits, work, Steps(watcher, told.steps), min(told.threads, cores()))
        skipped = out / "skipped.parquet"
        problems = _skipped(skipped) if skipped.exists() else SKIPPED.empty_table()
        collection = engine.sketched(by_others=True)
        compared = np.isin(collection.numbers("status"), (kernel.FINE, kernel.SHORT))
        gathered = Gathered(engine, collection, compared, problems, Problems("skip", largest), told.said)
        result = cls(gathered, read_decision(work.decision, len(collection)))
        result.folder = out
        return result

    @property
    def said(self) -> list[str]:
        """What was guessed and noticed on the way, in sentences."""
        return self.gathered.said

    @property
    def recipe(self) -> Recipe:
        """How it was done."""
        return self._engine.recipe

    @property
    def steps(self) -> list[Step]:
        """What each step cost."""
        return self._engine.steps.done

    @cached_property
    def keep(self) -> NDArray[np.bool_]:
        """For every document, in the order of the input, whether it is kept."""
        mask = np.ones(len(self._collection), bool)
        mask[self.decision.removed] = False
        mask[self.decision.known_numbers] = False
        return mask

    def texts(self, numbers: Iterable[int]) -> dict[int, str]:
        """The texts of some documents, by their numbers. Of a page, what a reader sees, or its main content."""
        wanted = np.unique(np.fromiter(numbers, np.int64))
        settings = self.recipe.text
        shown = TextSettings(settings.tokens, "all" if settings.extract == "web" else settings.extract)
        extract = PageExtractor(shown, workers=self._engine.extract.workers)
        return self._engine.texts(wanted, self._collection.starts, self._rules, extract=extract)

    def kept_batches(self) -> Iterator[pa.RecordBatch]:
        """The kept documents, without holding all of them in memory. Types of columns may differ between batches."""
        for _, batch in self._kept_parts():
            yield batch

    def _kept_parts(self) -> Iterator[tuple[str, pa.RecordBatch]]:
        """The kept documents, each batch with the name of its input."""
        for number, split in enumerate(self._engine.splits):
            at = int(self._collection.starts[number])
            problems = self._rules.again()
            for batch in format_of(split.file).table(split, problems):
                yield split.file.name, filtered(batch, self.keep[at : at + batch.num_rows])
                at += batch.num_rows

    @cached_property
    def kept(self) -> pa.Table:
        """The kept documents with all their columns.

        Raises:
            InputError: a column has types in two inputs, or in two parts of one, that no one type holds.
        """
        parts = list(self._kept_parts())
        return unified(parts) if parts else pa.table({})

    @cached_property
    def removed(self) -> pa.Table:
        """The removed documents, each with the kept one and the measured numbers."""
        return pa.concat_tables(
            [
                removed_layout(self._collection, self.decision).empty_table(),
                *removed_tables(self._collection, self.decision),
            ]
        )

    @cached_property
    def groups(self) -> pa.Table:
        """The documents of groups of two or more."""
        return pa.concat_tables(
            [groups_layout(self._collection).empty_table(), *groups_tables(self._collection, self._groups)]
        )

    @cached_property
    def _groups(self) -> Groups:
        return Groups.of(self.decision)

    @property
    def skipped(self) -> pa.Table:
        """What could not be read or compared, with the reason."""
        return self.gathered.problems

    @cached_property
    def counts(self) -> dict[str, Any]:
        """Counts of everything."""
        status = self._collection.numbers("status")
        sizes = self._collection.numbers("bytes")
        known = self.decision.known
        removed = np.concatenate([self.decision.removed, self.decision.known_numbers])
        relations = {name: int((self.decision.relation == i).sum()) for i, name in enumerate(RELATIONS)}
        for found in known.column("relation").value_counts().to_pylist():
            relations[found["values"]] += found["counts"]
        members = self._groups.sizes
        kinds = self.skipped.column("kind").value_counts().to_pylist()
        skipped = {each["values"]: each["counts"] for each in sorted(kinds, key=itemgetter("values"))}
        return {
            "documents": len(status),
            "kept": int(self.keep.sum()),
            "removed": len(removed),
            "removed_by_relation": relations,
            "removed_against_index": known.num_rows,
            "groups": int((self._groups.documents == self._groups.centres).sum()),
            "largest_group": int(members.max()) if len(members) else 1,
            "text_bytes": int(sizes.sum()),
            "text_bytes_removed": int(sizes[removed].sum()),
            "empty": int((status == kernel.EMPTY).sum()),
            "short": int((status == kernel.SHORT).sum()),
            "undecodable": int((status == kernel.INVALID).sum()),
            "skipped": sum(many for kind, many in skipped.items() if kind not in COMPARED_ANYWAY),
            "skipped_by_kind": skipped,
            "candidates": self.decision.candidates,
            "pairs_measured": self.decision.pairs,
            **self.decision.lost_in_crowds,
        }

    @property
    def known_by(self) -> list[str]:
        """How documents that an index knows were compared with those of the index."""
        names: list[str] = self.decision.known.column("measured").to_pylist()
        return names

    @property
    def a_removed_one(self) -> str:
        """The id of the first, where there is any."""
        return str(self.removed.column("id")[0].as_py())

    def __repr__(self) -> str:
        documents, removed = len(self._collection), int((~self.keep).sum())
        return f"<neardup.Result: {documents:,} documents, {documents - removed:,} kept, {removed:,} removed>"

    def explain(self, id: object) -> Explanation:
        """Why a document was kept or removed. Ids are strings; numbers are turned into such."""
        id = str(id)
        wanted = hash_ids(pa.array([id], pa.string()))[0]
        places = np.flatnonzero(self._collection.numbers("id_hash") == wanted)
        found = [int(p) for p in places if self._collection.any_order("id", np.array([p]))[0].as_py() == id]
        if not found:
            raise UsageError(f"there is no document {id!r}; ids look like {self._examples()}.")
        place = found[0]
        decision = self.decision
        if place in decision.known_numbers:
            return self._explained_by_index(place)
        at = int(np.searchsorted(decision.removed, place))
        gone = at < len(decision.removed) and decision.removed[at] == place
        kept = int(decision.kept_for[at]) if gone else place
        members = np.concatenate([[kept], decision.removed[decision.kept_for == kept]]).astype(np.int64)
        names = tuple(self._collection.any_order("id", members).to_pylist())
        return Explanation(
            id=id,
            kept=not gone,
            kept_id=names[0],
            relation=RELATIONS[decision.relation[at]] if gone else None,
            resemblance=_known(decision.resemblance[at]) if gone else None,
            removed_in_kept=_known(decision.removed_in_kept[at]) if gone else None,
            kept_in_removed=_known(decision.kept_in_removed[at]) if gone else None,
            measured=MEASURED[decision.measured[at]] if gone else None,
            score=float(decision.score[at]) if gone else None,
            group=names,
        )

    def _explained_by_index(self, place: int) -> Explanation:
        row = self.decision.known.slice(int(np.searchsorted(self.decision.known_numbers, place)), 1).to_pylist()[0]
        told = {name: row[name] for name in ("kept_id", "relation", "resemblance", "measured", "score")}
        both = {name: row[name] for name in ("removed_in_kept", "kept_in_removed")}
        return Explanation(row["id"], kept=False, **told, **both, group=(row["kept_id"], row["id"]))

    def _examples(self) -> str:
        few = self._collection.values("id", np.arange(min(3, len(self._collection)), dtype=np.int64))
        return ", ".join(repr(x) for x in few.to_pylist()) or "nothing: there are no documents"

    def run(self) -> dict[str, Any]:
        """What run.json holds."""
        recipe = self.recipe
        files = dict.fromkeys(s.file for s in self._engine.splits)
        return {
            "neardup": __version__,
            "recipe": {"id": recipe.id, **recipe.to_dict()},
            "filter": filter_of(recipe),
            "counts": self.counts,
            "inputs": [
                {"path": printable(f.path), "format": f.format, "bytes": f.size, "fields": asdict(f.fields)}
                for f in files
            ],
            "said": self.said,
            "threads": self._engine.threads,
            "pages_confined_by": confinement(),
            "rounds": self.decision.rounds,
            "steps": self._engine.steps.to_list(),
        }

    def write(self, path: str | Path, *, annotate: bool = False, corpus: bool = True, report: bool = True) -> None:
        """Write the folder that `neardup dedup -o` writes.

        That is OUT/kept, removed.parquet, groups.parquet, skipped.parquet (where something was), run.json, report.html,
        and OUT/work, with which `Result.open`, `neardup report`, `neardup audit` and `neardup index create --run` work.
        A table in memory is stored there; files are not. run.json appears when everything but the page is whole.

        Files that this run did not write are never replaced.

        Args:
            path: The folder OUT, on this machine.
            annotate: Write every document to OUT/kept, with columns that say what was found.
            corpus: Write OUT/kept.
            report: Write OUT/report.html, for which some texts are read again. It takes a second or two, and about ten
                on large collections.

        Raises:
            OutputError: There are files in OUT, under the names above, that this run did not write.
            WorkError: OUT holds another run.
        """
        out = local_place(path)
        if corpus:
            self._check_corpus(annotate)
        OutputFolder(out).refuse_foreign()
        with self._engine.work.in_use(), self._work_in(out) as work:
            self._write(OutputFolder(out), work, annotate, corpus)
            self.folder = out
            if report:
                self._write_page(OutputFolder(out))

    def _write(self, folder: OutputFolder, work: Work, annotate: bool, corpus: bool) -> None:
        out = folder.path
        skipped = ["skipped.parquet"] if len(self.skipped) else []
        evidence = ("run.json", "removed.parquet", "groups.parquet", *skipped)
        folder.note([*evidence, *(corpus_files(self._engine.splits) if corpus else ())])
        folder.remove("run.json", "skipped.parquet", "report.html")
        removed, groups = removed_layout(self._collection, self.decision), groups_layout(self._collection)
        _write_slices(out / "removed.parquet", removed, removed_tables(self._collection, self.decision))
        _write_slices(out / "groups.parquet", groups, groups_tables(self._collection, self._groups))
        if not isinstance(work, FinishedWork):
            write_decision(work.decision, self.decision)
        if len(self.skipped):
            _write_slices(out / "skipped.parquet", SKIPPED, iter([self.skipped]))
        if corpus:
            self._write_corpus(folder, work.place / "kept", annotate)
        with appearing(out / "run.json") as draft:
            draft.write_text(json.dumps(self.run(), indent=1, ensure_ascii=False) + "\n")

    def _write_page(self, folder: OutputFolder) -> None:
        from neardup.report import write_report  # it is made of a Result, and the only one above that this one calls

        folder.note(["report.html"])
        with self._engine.steps.step("report", sum(split.size for split in self._engine.splits)):
            write_report(self, folder.path / "report.html")

    def _check_corpus(self, annotate: bool) -> None:
        """Refuse what cannot be written or annotated before anything is written."""
        for file in dict.fromkeys(s.file for s in self._engine.splits):
            if annotate and not format_of(file).tabular:
                raise UsageError(
                    f"{file.name}: --annotate adds columns, and the format {file.format!r} has none. "
                    "Leave it away: groups.parquet has the same facts by id."
                )
            format_of(file).refuse_unwritable(file)

    @contextmanager
    def _work_in(self, out: Path) -> Iterator[Work]:
        """Lend OUT/work, made a copy of this run's work folder where that is another one."""
        mine = self._engine.work
        if mine.place.resolve() == (out / "work").resolve():
            yield mine
            return
        work = Work(out / "work")
        try:
            with work.in_use():
                if any(split.file.format == "memory" for split in self._engine.splits):
                    self._store_table(work)
                else:
                    work.take_over(mine)
                yield work
        finally:
            work.abandon()

    def _store_table(self, work: Work) -> None:
        """Make a work folder that a run over a table in memory can be opened from."""
        splits = self._engine.splits
        stored = stored_splits(work.folder.resolve(), splits)
        work.claim(self.recipe, stored, self._rules)
        work.copy_sketches(self._engine.work)
        try:
            store(Path(stored[0].file.path), splits)
        except InputError as error:
            self.gathered.remark(
                f"The table cannot be stored as Parquet ({error}), so that `neardup report`, `neardup audit` and "
                f"`neardup index` cannot open {work.folder.parent}."
            )

    def _write_corpus(self, folder: OutputFolder, marks: Path, annotate: bool) -> None:
        """Write OUT/kept. `marks` is the folder that says which corpus it is, and which parts of it are written."""
        kept, stamp = folder.path / "kept", marks / "signature"
        signature = sha256(self.keep.tobytes() + bytes([annotate])).hexdigest()
        if not stamp.exists() or stamp.read_text() != signature or not kept.exists():
            shutil.rmtree(marks, ignore_errors=True)
            folder.remove("kept")
            with appearing(stamp) as draft:
                draft.write_text(signature)
        kept.mkdir(parents=True, exist_ok=True)
        starts = self._collection.starts
        splits = self._engine.splits

        def write(i: int) -> None:
            start, stop = int(starts[i]), int(starts[i + 1])
            notes = notes_table(self._collection, self.decision, self._groups, start, stop) if annotate else None
            keep = np.ones(stop - start, bool) if annotate else self.keep[start:stop]
            write_split(kept, splits[i], keep, notes, self._rules, marks / f"{i:05d}.done")
            self._engine.steps.advance(splits[i].size, int(keep.sum()), 0)

        with self._engine.steps.step("write", sum(s.size for s in splits)):
            self._engine.each_split(write)
            self._engine.check_inputs()


def filter_of(recipe: Recipe) -> dict[str, Any] | None:
    """The features' curve, where there are any."""
    if recipe.filter is None:
        return None
    return {
        "k": recipe.filter.k,
        "s": recipe.filter.s,
        "r": recipe.filter.r,
        "permutations": recipe.filter.permutations,
        "probability_at_threshold": recipe.filter.probability(recipe.verify.threshold) if recipe.thresholded else None,
        "curve": [[x, round(p, 6)] for x, p in recipe.filter.curve(41)],
    }


def _skipped(path: Path) -> pa.Table:
    """Return what a finished run could not read or compare."""
    try:
        table = pq.read_table(path, schema=SKIPPED)
        table.validate(full=True)
        return table
    except (pa.ArrowException, OSError) as error:
        raise WorkError(f"{path}: cannot be read ({error}). Run `neardup dedup` again.") from error


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _write_slices(path: Path, layout: pa.Schema, tables: Iterator[pa.Table]) -> None:
    with appearing(path) as draft, pq.ParquetWriter(draft, layout, compression="zstd") as writer:
        for table in tables:
            writer.write_table(table)
