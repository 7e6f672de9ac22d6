"""The local engine: threads on this machine. Text streams; what stays in memory is a few dozen bytes per document.

A runner thread reads a split, a pool of threads does the computing on its batches, and the runner takes the results
in order: so one large file uses all cores just as many small ones do. Kernels, Arrow and the HTML parser let go of
Python's lock while they work.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from threading import Event, Semaphore
from typing import TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.atomic import write_error
from neardup.clusters.keep import keep_columns
from neardup.engines.reread import keeping, kept
from neardup.engines.sketching import sketched
from neardup.engines.steps import Steps
from neardup.engines.work import Work
from neardup.errors import InputError, WorkError
from neardup.recipe import Recipe
from neardup.sketches import artefact
from neardup.sketches.base import Sketcher
from neardup.sources import format_of, stamp_of
from neardup.sources import problems as noted
from neardup.sources.base import Documents, InputFile, Split
from neardup.sources.problems import Problems
from neardup.text.batches import TextBatch, looks_like_pages, readable, text_batch
from neardup.text.workers import PageExtractor
from neardup.verify.measure import Shelf

T = TypeVar("T")
R = TypeVar("R")


_WORTH_WORKERS = 4 << 20
"""Pages of more bytes than this are read in several processes."""


class Stopped(Exception):
    """Another thread failed; this one gives up."""


class LocalEngine:
    """Runs the steps that read or write documents."""

    def __init__(
        self,
        recipe: Recipe,
        splits: Sequence[Split],
        work: Work,
        steps: Steps,
        threads: int,
        memory: int | None = None,
    ) -> None:
        self.recipe, self.splits, self.work, self.steps = recipe, splits, work, steps
        self.threads, self.memory = threads, memory
        self.sketcher = recipe.sketcher
        pages = sum(s.size for s in splits if _of_pages(s))
        workers = threads if pages > _WORTH_WORKERS else 1
        self.extract = PageExtractor(recipe.text, workers=workers)
        self.pages_as_text = ""
        """An input whose texts look like HTML, and are not read as such."""
        self._stop = Event()
        self._slots = Semaphore(4 * threads)  # batches that are in memory at once

    @property
    def keeps_texts(self) -> bool:
        """Whether the text of pages is kept until pairs are measured: where it is read again, and is all that is."""
        again = self.recipe.verify.method == "exact" or self.sketcher.on_the_fly is not None
        return again and not self.recipe.text.links

    def sketch(self, rules: Problems) -> tuple[artefact.Collection, pa.Table]:
        """Sketch every split that has no sketches yet. Also return what could not be read (`model.SKIPPED`)."""
        layout = self._layout
        missing = [i for i in range(len(self.splits)) if not artefact.is_whole(self.work.sketches(i), self.recipe.id)]
        self._check_sketches(set(range(len(self.splits))) - set(missing))
        total = sum(s.size for s in self.splits)
        with self.steps.step("sketch", total):
            self.steps.advance(total - sum(self.splits[i].size for i in missing))
            self._each([partial(self._sketch_split, i, layout, rules) for i in missing])
        self.check_inputs()
        problems = noted.read(_problems(self.work.sketches(number)) for number in range(len(self.splits)))
        if len(problems) and rules.on_error == "stop":  # an earlier run passed over them
            rules.report(**problems.slice(0, 1).to_pylist()[0])
        return self.sketched(), problems

    @cached_property
    def _layout(self) -> pa.Schema:
        return artefact.schema(self.recipe.id, self.sketcher, keep_columns(self.recipe.clusters.keep))

    def _check_sketches(self, numbers: Iterable[int]) -> None:
        """Refuse damaged sketches of splits that an earlier run made."""
        for number in numbers:
            artefact.check_rows(self.work.sketches(number), self._layout)

    def sketched(self, *, by_others: bool = False) -> artefact.Collection:
        """Return what has been sketched; checked first, if somebody else may have made it."""
        paths = [self.work.sketches(i) for i in range(len(self.splits))]
        for path in paths:
            if not artefact.is_whole(path, self.recipe.id):
                raise WorkError(
                    f"{path}: is missing or cut short. Run `neardup dedup` again; it makes what is missing."
                )
        if by_others:
            self._check_sketches(range(len(self.splits)))
        return artefact.Collection(paths)

    def _sketch_split(self, number: int, layout: pa.Schema, rules: Problems) -> None:
        path = self.work.sketches(number)

        def noting() -> Iterator[pa.RecordBatch]:
            """The problems met on the way are on disk before the sketches appear."""
            with noted.spooled(_problems(path)) as spool:
                problems = Problems(rules.on_error, rules.max_document_bytes, spool.note)
                yield from self._sketches(number, layout, problems)

        artefact.write(path, layout, noting())

    def _sketches(self, number: int, layout: pa.Schema, problems: Problems) -> Iterator[pa.RecordBatch]:
        """The sketches of a split, batch by batch."""
        split = self.splits[number]
        fields = split.file.fields

        def sketch(documents: Documents) -> tuple[pa.RecordBatch, TextBatch]:
            texts: list[TextBatch] = []
            if not fields.html and documents.html is None and looks_like_pages(documents.text):
                self.pages_as_text = split.file.name
            made, sizes = sketched(
                documents,
                fields.html,
                _urls(split, documents),
                self.sketcher,
                self.extract,
                problems.max_document_bytes,
                lambda i, *what: problems.report(*_place(split, documents, i), *what),
                texts.append,
            )
            return artefact.batch(layout, split.file.name, documents, fields.url, made, sizes), texts[0]

        def kept_first(batches: Iterator[tuple[pa.RecordBatch, TextBatch]]) -> Iterator[pa.RecordBatch]:
            if not (self.keeps_texts and _of_pages(split)):
                yield from (rows for rows, _ in batches)
                return
            with keeping(self.work.texts(number)) as texts:
                for rows, text in batches:
                    texts.add(text)
                    yield rows

        def watched(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            advanced = 0
            for rows in batches:
                text = int(np.asarray(rows.column("bytes")).sum())
                step = min(text, split.size - advanced)
                advanced += step
                self.steps.advance(step, rows.num_rows, text)
                yield rows
            self.steps.advance(split.size - advanced)

        batches = self._ordered(format_of(split.file).read(split, problems), sketch)
        yield from watched(kept_first(batches))

    def shelve(self, shelf: Shelf, wanted: NDArray[np.int64], starts: NDArray[np.int64], rules: Problems) -> None:
        """Read the text of these documents (ascending numbers) again and put their shingle sets on the shelf."""
        regions: list[Callable[[], None]] = []
        edges = np.searchsorted(wanted, starts)
        descriptor = os.open(shelf.path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            for i in range(len(self.splits)):
                rows = wanted[edges[i] : edges[i + 1]]
                if len(rows):
                    begin = shelf.end
                    shelf.end += int(shelf.sizes[rows].sum())
                    regions.append(
                        partial(self._shelve_split, i, rows, int(starts[i]), begin, descriptor, shelf, rules)
                    )
            self._each(regions)
            self.check_inputs()
        except OSError as error:
            raise write_error(shelf.path, error) from error
        finally:
            os.close(descriptor)

    def _shelve_split(
        self, number: int, rows: NDArray[np.int64], base: int, at: int, descriptor: int, shelf: Shelf, rules: Problems
    ) -> None:
        """One split's region of the shelf. Before, `sizes` holds upper bounds; afterwards, the sizes."""
        split = self.splits[number]

        def sets(text: TextBatch) -> tuple[NDArray[np.uint64], NDArray[np.int64], int]:
            made, sizes = self.sketcher.shingle_sets(text, np.arange(len(text.sizes)))
            return made, sizes, int(text.sizes.sum())

        end = at + int(shelf.sizes[rows].sum())
        done = 0
        for made, sizes, text in self._again(number, rows - base, rules, sets):
            part = rows[done : done + len(sizes)]
            if (sizes > shelf.sizes[part]).any():
                raise changed(split.file)
            shelf.starts[part] = at + np.concatenate([[0], np.cumsum(sizes)[:-1]]) if len(sizes) else 0
            shelf.sizes[part] = sizes
            _write_all(descriptor, made, at * 8)
            at += int(sizes.sum())
            done += len(sizes)
            self.steps.advance(0, len(sizes), text)
        if done != len(rows) or at > end:
            raise changed(split.file)
        self.steps.advance(split.size)

    def words(
        self, sketcher: Sketcher, wanted: NDArray[np.int64], starts: NDArray[np.int64], rules: Problems
    ) -> NDArray[np.uint64]:
        """Read the text of these documents (ascending numbers) again and sketch it by another sketcher."""
        out = np.zeros((len(wanted), sketcher.words), np.uint64)
        edges = np.searchsorted(wanted, starts)

        def one(i: int) -> None:
            split, at = self.splits[i], int(edges[i])
            for words in self._again(
                i, wanted[at : edges[i + 1]] - starts[i], rules, lambda t: sketcher.sketch(t).words
            ):
                out[at : at + len(words)] = words
                at += len(words)
            if at != edges[i + 1]:
                raise changed(split.file)
            self.steps.advance(split.size)

        self._each([partial(one, i) for i in range(len(self.splits)) if edges[i] < edges[i + 1]])
        self.check_inputs()
        return out

    def on_texts(
        self,
        wanted: NDArray[np.int64],
        starts: NDArray[np.int64],
        rules: Problems,
        work: Callable[[NDArray[np.int64], TextBatch], None],
    ) -> None:
        """Read the text of these documents (ascending numbers) again, and work on their numbers and texts, batch by
        batch."""
        edges = np.searchsorted(wanted, starts)

        def one(i: int) -> None:
            split, at = self.splits[i], int(edges[i])
            for text in self._again(i, wanted[at : edges[i + 1]] - starts[i], rules, lambda text: text):
                work(wanted[at : at + len(text.sizes)], text)
                at += len(text.sizes)
            if at != edges[i + 1]:
                raise changed(split.file)
            self.steps.advance(split.size)

        self._each([partial(one, i) for i in range(len(self.splits)) if edges[i] < edges[i + 1]])
        self.check_inputs()

    def texts(
        self, wanted: NDArray[np.int64], starts: NDArray[np.int64], rules: Problems, *, extract: PageExtractor
    ) -> dict[int, str]:
        """Read the text of these documents (ascending numbers) again, as `extract` reads pages."""
        found: dict[int, str] = {}
        edges = np.searchsorted(wanted, starts)

        def one(i: int) -> None:
            split, rows = self.splits[i], wanted[edges[i] : edges[i + 1]]
            texts = [text for batch in self._again(i, rows - starts[i], rules, _decoded, extract) for text in batch]
            if len(texts) != len(rows):
                raise changed(split.file)
            found.update(zip(rows.tolist(), texts, strict=True))
            self.steps.advance(split.size)

        self._each([partial(one, i) for i in range(len(self.splits)) if edges[i] < edges[i + 1]])
        self.check_inputs()
        return found

    def _again(
        self,
        number: int,
        rows: NDArray[np.int64],
        rules: Problems,
        work: Callable[[TextBatch], R],
        extract: PageExtractor | None = None,
    ) -> Iterator[R]:
        """Read some documents of a split once more and work on their text; `rows` ascend."""
        split = self.splits[number]
        if extract is None and self.work.texts(number).exists():
            return self._ordered(kept(self.work.texts(number), rows), lambda texts: work(text_batch(texts)))

        def chosen() -> Iterator[tuple[Documents, NDArray[np.int64]]]:
            seen = 0
            for documents in format_of(split.file).read(split, rules.again()):
                low, high = np.searchsorted(rows, [seen, seen + len(documents)])
                if low < high:
                    yield documents, rows[low:high] - seen
                seen += len(documents)
                if high == len(rows):
                    return

        def on(batch: tuple[Documents, NDArray[np.int64]]) -> R:
            few = _take(*batch)
            text, _ = readable(few, split.file.fields.html, extract or self.extract, _urls(split, few))
            return work(text)

        return self._ordered(chosen(), on)

    def check_inputs(self) -> None:
        """Inputs that changed while they were read make every number about them worthless."""
        for file in dict.fromkeys(s.file for s in self.splits):
            if stamp_of(file) != file.stamp:
                raise changed(file)

    def each_split(self, job: Callable[[int], None]) -> None:
        """Run a job per split, on all threads."""
        self._each([partial(job, i) for i in range(len(self.splits))])

    def _ordered(self, batches: Iterable[T], work: Callable[[T], R]) -> Iterator[R]:
        """Work on batches in the pool and yield the results in order, with no more than a few batches in memory."""
        pending: deque[Future[R]] = deque()

        def oldest() -> R:
            self._slots.release()
            return pending.popleft().result()

        try:
            for item in batches:
                if self._stop.is_set():
                    raise Stopped
                while not self._slots.acquire(blocking=not pending):
                    yield oldest()
                pending.append(self._pool.submit(work, item))
            while pending:
                yield oldest()
        finally:
            for future in pending:
                future.cancel()
                self._slots.release()

    def _each(self, jobs: Sequence[Callable[[], None]]) -> None:
        """Run the jobs on as many threads as there are; the first failure stops the others and is raised."""
        self._stop.clear()
        with (
            ThreadPoolExecutor(self.threads, "neardup-compute") as self._pool,
            ThreadPoolExecutor(self.threads, "neardup-read") as runners,
        ):
            futures = [runners.submit(job) for job in jobs]
            try:
                wait(futures, return_when=FIRST_EXCEPTION)
            except BaseException:
                self._stop.set()
                for future in futures:
                    future.cancel()
                raise
            failed = [f for f in futures if f.done() and not f.cancelled() and f.exception()]
            if failed:
                self._stop.set()
                for future in futures:
                    future.cancel()
                wait(futures)
        errors = [e for f in futures if not f.cancelled() and (e := f.exception())]
        for error in sorted(errors, key=lambda e: isinstance(e, Stopped)):
            raise error


def changed(file: InputFile) -> InputError:
    """What to say of an input that is not what it was."""
    return InputError(f"{file.name} changed while it was being read. Run the command again when nobody writes to it.")


def _of_pages(split: Split) -> bool:
    """Whether a reader of its documents has to take the text out of pages."""
    return split.file.fields.html or split.file.format in ("html", "warc")


def _problems(sketches: Path) -> Path:
    """Return where the problems of a split are, beside its sketches."""
    return sketches.with_suffix(".problems.arrow")


def _place(split: Split, documents: Documents, row: int) -> tuple[str, int | None]:
    """Where a document of a batch is, for messages: file and line, or the file that it is."""
    if split.file.members and documents.id is not None:
        return str(documents.id[row].as_py()), None
    return split.file.name, int(documents.positions[row])


def _urls(split: Split, documents: Documents) -> pa.Array | None:
    """Where the documents are from, if the input says so."""
    name = split.file.fields.url
    return documents.columns[name].cast(pa.string()) if name else None


def _take(documents: Documents, rows: NDArray[np.int64]) -> Documents:
    if len(rows) == len(documents):
        return documents
    return Documents(
        text=documents.text.take(pa.array(rows)),
        positions=documents.positions[rows],
        html=None if documents.html is None else documents.html[rows],
        columns={name: values.take(pa.array(rows)) for name, values in documents.columns.items()},
        charset=None if documents.charset is None else [documents.charset[int(i)] for i in rows],
        decoded=documents.decoded,
    )


def _decoded(batch: TextBatch) -> list[str]:
    data, ends = batch.data.tobytes(), batch.offsets.tolist()
    return [data[a:b].decode("utf-8", "replace") for a, b in pairwise(ends)]


def _write_all(descriptor: int, values: NDArray[np.uint64], offset: int) -> None:
    view = memoryview(values.tobytes())
    while len(view):
        written = os.pwrite(descriptor, view, offset)
        view, offset = view[written:], offset + written
