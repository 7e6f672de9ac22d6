"""Index: a store, a recipe, and what people ask them."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.engines.machine import cores
from neardup.errors import NeardupError, RecipeError, StoreError, TakenId, Unreachable, UsageError
from neardup.index import references, rocks
from neardup.index.answers import Document, Keep, Match, Status, Stored, Verdict
from neardup.index.arriving import NO_TEXT, Arrivals, Arrived
from neardup.index.backups import Backup, back_up, restore
from neardup.index.crowds import Filed, filed_keys
from neardup.index.expiry import expire, first_kept_day, oldest, shown_day
from neardup.index.judging import Finding, Judge
from neardup.index.moving import (
    KEPT,
    collected,
    read_export,
    run_numbers,
    run_rows,
    sketched_alike,
    write_export,
)
from neardup.index.references import as_given
from neardup.index.rows import Layout, Rows, joined, taken
from neardup.index.store import Change, Health, Process, Store
from neardup.index.verifying import Verification, made_by, verify
from neardup.kernels import text as kernel
from neardup.recipe import Recipe
from neardup.recipes import as_in_index, choose_recipe, name_of, recipe_names, with_own_seed
from neardup.result import Result
from neardup.sketches.base import Ragged
from neardup.sources.ahead import ahead
from neardup.text.batches import TextBatch, text_batch

Text = str | bytes | None


class Index:
    """Documents that were seen, and the question whether another one is like them. Threads may share one.

    What is kept of a document is its sketch and its id; its text too, or where that is, if `keep` says so.
    """

    made = False
    """Whether this opening made it: there was none before."""

    def __init__(self, store: Store) -> None:
        """Use `Index.open`."""
        self.store, self.path = store, store.shown
        self._process = Process(store.shown)
        self.recipe, self.keep = made_by(store)
        self._layout = Layout(self.recipe)
        self._judge = Judge(self.recipe, self._layout, store, self.keep)
        threads = cores()
        self._pool = ThreadPoolExecutor(threads, "neardup-index")
        self._arrive = Arrivals(self.recipe, self._pool, threads)
        self._closed = False

    @classmethod
    def open(
        cls,
        path: str | Path,
        recipe: Recipe | str | Path | None = None,
        *,
        keep: Keep | None = None,
        create: bool = True,
        read_only: bool = False,
    ) -> "Index":
        """Open the index at `path`, a folder or postgresql://…; make it where there is none, unless `create` is False.

        recipe: how a new index compares documents; `stream` if not given. One that is there has its own, and opens
        only if another one is not asked for. A recipe that is given by its name gets a seed that the index draws, and
        nobody knows: no document can be written to be taken for another. A Recipe, and one from a file, has its own.
        keep: "text" stores the texts too, so that a recipe that measures exactly can; "reference" stores where the
        texts can be read again, for the same; "sketch" if not given.
        read_only: for another process than the one that writes; `refresh` shows what was written since.
        """
        engine, place = _engine(path)
        named = recipe is None or (isinstance(recipe, str) and recipe in recipe_names())
        wanted = None if recipe is None else _living(choose_recipe(recipe))
        if not engine.exists(place):
            if read_only or not create:
                engine.open(place, read_only=True)  # says that there is none
            made = wanted or _living(choose_recipe("stream"))
            made = with_own_seed(made, keep or "sketch") if named else made
            try:
                settings = {
                    "recipe": made.to_dict(),
                    "recipe_id": made.id,
                    "keep": keep or "sketch",
                    "made": uuid4().hex,
                }
                opened = cls(engine.create(place, settings))
                opened.made = True
                return opened
            except NeardupError:
                if not engine.exists(place):  # else another process was faster
                    raise
        opened = cls(engine.open(place, read_only=read_only))
        try:
            if wanted is not None and named:
                wanted = as_in_index(wanted, opened.recipe)
            opened._refuse_others(wanted, keep)
        except RecipeError:
            opened.close()
            raise
        return opened

    def _refuse_others(self, recipe: Recipe | None, keep: Keep | None) -> None:
        if recipe is not None and recipe.id != self.recipe.id:
            raise RecipeError(
                f"{self.path}: this index was made by recipe {_called(self.recipe)}, and {_called(recipe)} is asked "
                f"for{_by_seed(recipe, self.recipe)}. Sketches of two recipes do not compare: leave the recipe away, "
                "or make another index."
            )
        if keep is not None and keep != self.keep:
            raise RecipeError(
                f"{self.path}: this index keeps {KEPT[self.keep]} of documents, and {KEPT[keep]} is asked for. "
                "That is chosen when an index is made: make another one."
            )

    # One document at a time.

    def add(
        self, id: str, text: Text = None, *, html: Text = None, url: str | None = None, reference: str | None = None
    ) -> bool:
        """Store a document, whatever it is similar to. False: it is there already. Another text under its id is
        refused: that is what `update` is for."""
        return self.add_many([_given(id, text, html, url, reference)])[0]

    def check(self, text: Text = None, *, html: Text = None, url: str | None = None, id: str = "") -> Verdict:
        """Is it similar to a stored one? Nothing is stored."""
        return self.check_many([_given(id, text, html, url)])[0]

    def check_and_add(
        self, id: str, text: Text = None, *, html: Text = None, url: str | None = None, reference: str | None = None
    ) -> Verdict:
        """Store it if it is similar to none, in one step: of two that do this with copies at once, one is told so."""
        return self.check_and_add_many([_given(id, text, html, url, reference)])[0]

    def update(
        self, id: str, text: Text = None, *, html: Text = None, url: str | None = None, reference: str | None = None
    ) -> bool:
        """Store a document in the place of the one with this id. True: there was one."""
        return self.update_many([_given(id, text, html, url, reference)])[0]

    def remove(self, id: str) -> bool:
        """Forget a document. False: there is none."""
        return self.remove_many([id])[0]

    def get(self, id: str) -> Stored | None:
        """What is stored of a document."""
        return self.get_many([id])[0]

    def similar(self, text: Text = None, *, html: Text = None, url: str | None = None, most: int = 10) -> list[Match]:
        """All stored documents that it is similar to, the most similar first."""
        arrived = self.arrive([_given("", text, html, url)])
        return self._judge.similar(arrived, self._layout.keys(arrived.rows), most)

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and self.contains_many([id])[0]

    def __len__(self) -> int:
        return len(self.store)

    # Many at once: one look-up, and one commit that is on disk when the call returns.

    def arrive(self, documents: Any) -> Arrived:
        """Documents with their sketches: what is to be known of them before they go on to `add_many` and the like.
        Those that have arrived stay as they are."""
        if isinstance(documents, Arrived):
            return documents
        self._process.require()  # the threads are not there in a fork
        try:
            return self._arrive(documents)
        except RuntimeError as error:  # there are no threads any more
            if not self._closed:
                raise
            raise StoreError(f"{self.path}: this index is closed. Open it again.") from error

    def check_many(self, documents: Any) -> list[Verdict]:
        """Each against what is stored, and not against each other."""
        arrived = self.arrive(documents)
        return [_verdict(arrived.rows, i, match, added=False) for i, match in enumerate(self.find(arrived))]

    def find(self, arrived: Arrived) -> list[Finding | None]:
        """The same of documents that are sketched already, with all that was found."""
        if not len(arrived):
            return []
        return self._judge.judge(arrived, self._layout.keys(arrived.rows), np.arange(len(arrived)))

    def suspects(self, rows: Rows) -> NDArray[np.bool_]:
        """Which sketched documents share a key with a stored one: all others are new."""
        return self._judge.suspects(rows)

    @property
    def exact(self) -> bool:
        """Whether resemblances are measured, and not estimated."""
        return self._judge.exact

    def check_and_add_many(
        self, documents: Any, deliver: Callable[[list[Verdict]], None] | None = None
    ) -> list[Verdict]:
        """In their order, also against each other: the first of several copies is new.

        A new document under an id that is there takes its place, unless it has no words: what was fetched in vain
        does not make forget what was fetched before.
        deliver: is called with the verdicts before anything is stored, and what it raises stores nothing. So new
        documents can be passed on first and remembered afterwards: a kill in between loses none of them.
        """
        return self._check_and_add(self.arrive(documents), deliver)

    def check_and_add_batches(self, batches: Iterable[Any]) -> Iterator[list[Verdict]]:
        """The same, batch after batch: faster, for the next one is sketched while one is stored. The verdicts of a
        batch are given out when it is on disk. `batches` is asked in a thread of its own, up to two ahead; whoever
        stops does not wait for the one that is being fetched, and it is dropped."""
        for arrived in ahead(map(self.arrive, batches), depth=1, wait=False):
            yield self._check_and_add(arrived)

    def _check_and_add(self, arrived: Arrived, deliver: Callable[[list[Verdict]], None] | None = None) -> list[Verdict]:
        if not len(arrived):
            return []
        keys = self._layout.keys(arrived.rows)
        with self.store.writing(keys.values, arrived.rows.ids):
            there = self.store.numbers(arrived.rows.ids)
            verdicts, kept, removed, filed, met = self._admit(arrived, keys, there)
            change = self._change(arrived, filed_keys(keys, filed, kept), kept, removed, met)
            if deliver is not None:
                deliver(verdicts)
            self._commit(change)
        return verdicts

    def _admit(
        self, arrived: Arrived, keys: Ragged, there: NDArray[np.int64]
    ) -> tuple[list[Verdict], list[int], list[tuple[int, str]], dict[int, Filed], list[int]]:
        """Verdicts; the documents to be stored; the stored ones whose place they take; further keys to file them under;
        and the stored ones that were met again."""
        rows, n = arrived.rows, len(arrived)
        compared = rows.compared.tolist()
        verdicts: list[Verdict] = []
        kept: dict[str, int] = {}
        gone: dict[int, str] = {}
        stale: set[int] = set()
        met: set[int] = set()
        filed: dict[int, Filed] = {}
        ahead = n
        while len(verdicts) < n:
            start = len(verdicts)
            found = self._judge.judge(
                arrived,
                keys,
                np.arange(start, min(n, start + ahead)),
                joining=True,
                waiting=np.array(sorted(kept.values()), np.int64),
                gone=frozenset(gone),
                filed=filed,
            )
            ahead *= 2
            for i, match in enumerate(found, start):
                if match is not None and (match.number in gone or match.row in stale):
                    ahead = 1  # what it was similar to has been replaced meanwhile: once more from here, few at a time
                    break
                id = rows.ids[i]
                added = match is None and (compared[i] or (bool(there[i] < 0) and id not in kept))
                verdicts.append(_verdict(rows, i, match, added=added))
                if match is not None and match.number >= 0:
                    met.add(match.number)
                if added:
                    if there[i] >= 0:
                        gone[int(there[i])] = id
                    if id in kept:
                        stale.add(kept[id])
                    kept[id] = i
        return verdicts, sorted(kept.values()), list(gone.items()), filed, sorted(met.difference(gone))

    def add_many(self, documents: Any) -> list[bool]:
        """All of them or, where one is refused, none."""
        arrived = self.arrive(documents)
        rows = arrived.rows
        keys = self._layout.keys(rows)
        with self.store.writing(keys.values, rows.ids):
            kept, met = self._unknown(rows)
            self._commit(self._change(arrived, self._filed(arrived, keys, kept), kept, [], met))
        added = set(kept)
        return [i in added for i in range(len(arrived))]

    def _unknown(self, rows: Rows) -> tuple[list[int], list[int]]:
        """Return which of them are not stored, and the numbers of the others; one that is stored with other words is
        refused."""
        there = self.store.numbers(rows.ids)
        known = np.flatnonzero(there >= 0).tolist()
        for i, same in zip(known, self._same(rows, known, there), strict=True):
            if not same:
                raise TakenId(_another(rows.ids[i], "stored"))
        kept: dict[str, int] = {}
        for i in np.flatnonzero(there < 0).tolist():
            first = kept.setdefault(rows.ids[i], i)
            if not (rows.identities[first] == rows.identities[i]).all():
                raise TakenId(_another(rows.ids[i], "given twice"))
        return list(kept.values()), there[known].tolist()

    def update_many(self, documents: Any) -> list[bool]:
        """Of several under one id the last counts."""
        arrived = self.arrive(documents)
        keys = self._layout.keys(arrived.rows)
        with self.store.writing(keys.values, arrived.rows.ids):
            there = self.store.numbers(arrived.rows.ids)
            last = {id: i for i, id in enumerate(arrived.rows.ids)}
            removed = [(int(there[i]), id) for id, i in last.items() if there[i] >= 0]
            kept = sorted(last.values())
            self._commit(self._change(arrived, self._filed(arrived, keys, kept), kept, removed))
        return [bool(number >= 0) for number in there.tolist()]

    def remove_many(self, ids: Iterable[str]) -> list[bool]:
        """Which of them were there."""
        names = [_id(id) for id in ids]
        with self.store.writing(np.empty(0, np.uint64), names):
            found = dict(zip(names, self.store.numbers(names).tolist(), strict=True))
            removed = [(number, id) for id, number in found.items() if number >= 0]
            if removed:
                self.store.commit(Change(removed=removed))
        first = {id: i for i, id in reversed(list(enumerate(names)))}
        return [found[id] >= 0 and first[id] == i for i, id in enumerate(names)]

    def get_many(self, ids: Iterable[str]) -> list[Stored | None]:
        """In their order; None where there is none."""
        names = [_id(id) for id in ids]
        before, numbers = None, self.store.numbers(names)
        while True:
            distinct = np.unique(numbers[numbers >= 0])
            texts = self.store.texts(distinct) if self.keep != "sketch" else [None] * len(distinct)
            records = self.store.records(distinct)
            if None not in records or numbers.tolist() == before:
                break
            before, numbers = numbers.tolist(), self.store.numbers(names)  # one was replaced since it was looked up
        found: dict[int, Stored] = {}
        for number, record, text in zip(distinct.tolist(), records, texts, strict=True):
            if record is not None:
                row = self._layout.decode([record])
                shown = text.decode("utf-8", "replace") if text is not None and self.keep == "text" else None
                where = as_given(text) if text is not None and self.keep == "reference" else None
                found[number] = Stored(row.ids[0], int(row.tokens[0]), row.urls[0], shown, where)
        return [found.get(number) for number in numbers.tolist()]

    def contains_many(self, ids: Iterable[str]) -> list[bool]:
        """Which of them are there."""
        return [number >= 0 for number in self.store.numbers([_id(id) for id in ids]).tolist()]

    def _same(self, rows: Rows, chosen: list[int], there: NDArray[np.int64]) -> list[bool]:
        """Whether the document that is stored under the id of each has the same words."""
        numbers, place = np.unique(there[chosen], return_inverse=True)
        records = [record for record in self.store.records(numbers) if record is not None]
        if len(records) != len(numbers):
            raise StoreError(f"{self.path}: a record is missing whose id is there. Restore a copy, or build it again.")
        stored = self._layout.decode(records).identities[place]
        return [bool(same) for same in (stored == rows.identities[chosen]).all(axis=1)]

    def _change(
        self,
        arrived: Arrived,
        keys: Ragged,
        kept: list[int],
        removed: list[tuple[int, str]],
        met: list[int] | None = None,
    ) -> Change:
        """What is to be stored of documents; refused here is what cannot be."""
        rows = arrived.rows
        for i in kept:
            if not rows.ids[i]:
                raise UsageError(f"document {i} of the batch has no id, and what is stored needs one.")
        texts: list[bytes | None] = [None] * len(kept)
        if self.keep == "text":
            texts = list(arrived.texts(kept))
        elif self.keep == "reference":
            texts = [arrived.references[i] for i in kept]
            if None in texts:
                raise UsageError(
                    f"{rows.ids[kept[texts.index(None)]]!r}: this index keeps where texts are, and no reference is "
                    "given: the path of a file, or PATH#START-STOP for bytes of one."
                )
        return replace(self._of_rows(rows, keys, kept, removed, texts), met=met or [])

    def _of_rows(
        self, rows: Rows, keys: Ragged, kept: list[int], removed: list[tuple[int, str]], texts: list[bytes | None]
    ) -> Change:
        if not kept:
            return Change(removed=removed)
        chosen = np.array(kept, np.int64)
        added = rows.take(chosen)
        return Change(added.ids, self._layout.encode(added), taken(keys, chosen), texts, removed)

    def _filed(self, arrived: Arrived, keys: Ragged, kept: list[int]) -> Ragged:
        """The keys of documents that are added whatever they are similar to, with those of crowds."""
        return filed_keys(keys, self._judge.further_keys(arrived, keys), kept)

    def _commit(self, change: Change) -> None:
        if change.ids or change.removed or change.met:
            self.store.commit(change)

    # Collections, and the index as a whole.

    def add_run(self, run: Result | str | Path) -> int:
        """Add the kept documents of a finished run (`dedup`, or the folder that it wrote); how many were not there yet.

        Their text is read again where this index keeps texts, and only there.
        """
        result = run if isinstance(run, Result) else Result.open(run)
        if not sketched_alike(result.recipe, self.recipe):
            raise RecipeError(
                f"the run was made by recipe {_called(result.recipe)}, and this index by {_called(self.recipe)}"
                f"{_by_seed(result.recipe, self.recipe)}; their sketches do not compare. Run it --against this index, "
                "which gives it the index's recipe, or make an index of the run with: neardup index create INDEX --run "
                "OUT"
            )
        if self.keep == "reference":
            raise UsageError(
                f"this index keeps {KEPT[self.keep]}, which a run does not have; add the documents themselves."
            )
        if self.keep == "text":
            return self._add_texts_of(result)
        return sum(
            self._add(Arrived(rows, NO_TEXT), self._layout.keys(rows), None, _REPEATED, filing=True)
            for rows in run_rows(result, self._layout)
        )

    def _add_texts_of(self, result: Result) -> int:
        """Add the kept documents of a run with their texts, which are read again, in the order of the input."""
        gathered = result.gathered
        starts, numbers = gathered.collection.starts, run_numbers(result)
        added = 0

        def add(some: NDArray[np.int64], text: TextBatch) -> None:
            nonlocal added
            arrived = Arrived(collected(gathered.collection, some), text)
            keys = self._layout.keys(arrived.rows)
            added += self._add(arrived, keys, [*arrived.texts(range(len(some)))], _REPEATED, filing=True)

        for part in np.split(numbers, np.searchsorted(numbers, starts[1:-1])):
            gathered.engine.on_texts(part, starts, gathered.rules, add)
        return added

    def export(self, path: str | Path) -> int:
        """Write all of it to a Parquet file: id, url, tokens, record, keys, text. How many documents."""
        return write_export(self.store, self._layout, self.recipe, self.keep, Path(path))

    def add_export(self, path: str | Path) -> int:
        """Add what another index of the same recipe exported; how many were not there yet. It kept what this one
        keeps, or this one keeps sketches."""
        found = read_export(Path(path), self._layout, self.recipe, self.keep)
        return sum(self._import(rows, keys, texts) for rows, keys, texts in found)

    def _import(self, rows: Rows, keys: Ragged, texts: list[bytes | None]) -> int:
        """Add exported documents. Where pages of a crowd are found by shingles, sketch and file them again: the first
        of a crowd in the exported index may be one of many in this one."""
        if not self._judge.by_shingles:
            return self._add(Arrived(rows, NO_TEXT), keys, texts, _REMOVE)
        read = references.read(texts, rows, self.recipe) if self.keep == "reference" else texts
        text = text_batch(pa.array([content or b"" for content in read], pa.large_binary()))
        sketched = self.recipe.sketcher.sketch(text)
        made = self._layout.keys(replace(rows, words=sketched.words, ragged=sketched.ragged))
        lost = np.array([text is None for text in read], np.bool_)
        if lost.any():
            made = joined([taken(keys if gone else made, np.array([i])) for i, gone in enumerate(lost.tolist())])
        return self._add(Arrived(rows, text), made, texts, _REMOVE, filing=True)

    def _add(
        self,
        arrived: Arrived,
        keys: Ragged,
        texts: list[bytes | None] | None,
        otherwise: str,
        *,
        filing: bool = False,
    ) -> int:
        """Add sketched documents, those that are not there. otherwise: the way out where an id is taken. filing: those
        of crowds get further keys, else they have them among `keys`."""
        rows = arrived.rows
        with self.store.writing(keys.values, rows.ids):
            try:
                kept, met = self._unknown(rows)
            except TakenId as error:
                raise TakenId(error.what, otherwise) from error
            keys = self._filed(arrived, keys, kept) if filing else keys
            chosen = [None if texts is None else texts[i] for i in kept]
            self._commit(replace(self._of_rows(rows, keys, kept, [], chosen), met=met))
        return len(kept)

    def expire(
        self,
        *,
        days: int | None = None,
        before: datetime | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> int:
        """Remove the documents that were not seen for long; how many they were.

        A document is seen when it is added or replaced, when `add` gets it once more, and when `check_and_add` finds a
        duplicate of it; not when `check` does, which stores nothing. That is dated to the day, in UTC. Others write
        meanwhile: few documents are removed at a time. Whenever it is ended, the next call goes on.

        Args:
            days: Keep the documents that were seen within so many days, at least 1; they stay up to a day longer.
            before: Remove the documents that were last seen before the day of this moment (UTC where it has no zone).
            stop: Is asked between two commits; True ends the call.

        Example:
            >>> index.expire(days=30)  # doctest: +SKIP
            1204
        """
        return expire(self.store, self._layout, first_kept_day(before, days), stop)

    def compact(self) -> None:
        """Drop what removed documents left behind, and give the space back. Other threads read and write meanwhile."""
        self.store.compact()

    def health(self) -> Health:
        """Return how the store is, without reading much: whether it can be written, what is free, what went wrong."""
        return self.store.health()

    def verify(self) -> Verification:
        """Read everything that is stored, and return what is damaged. Others read and write meanwhile."""
        return verify(self.store, self._layout, self.keep)

    def backup(self, target: str | Path) -> Backup:
        """Write a backup of this index to the folder `target`, which is not there yet. Others read and write meanwhile.

        What was acknowledged before the call is in it, and of what comes meanwhile a prefix. It is read in full before
        it gets its name. `Index.restore` makes an index of it.
        """
        if not isinstance(self.store, rocks.RocksStore):
            raise UsageError(
                f"{self.path}: an index in PostgreSQL is saved with the database's own tools (pg_dump --format=custom "
                "--schema=NAME DATABASE, pg_restore), or moved with: neardup index export"
            )
        moved = self.health().problems.get("moved")
        if moved:
            raise Unreachable(moved)
        return back_up(self.store.path, Path(target))

    @staticmethod
    def restore(backup: str | Path, path: str | Path) -> Verification:
        """Make an index at `path`, where there is none, of a backup. All of it is read before it gets its name."""
        engine, place = _engine(path)
        if engine is not rocks:
            raise UsageError(
                "a backup is restored to a folder. Move it from there with: neardup index export, and add --export to "
                "an index in PostgreSQL."
            )
        return restore(Path(backup), place)

    def refresh(self) -> None:
        """See what another process wrote since."""
        self.store.refresh()

    def state(self) -> dict[str, Any]:
        """Return which index this is and what it holds, for the plan of a run that depends on it."""
        return {
            "path": self.path,
            "made": self.store.settings.get("made"),
            "state": self.store.state(),
            "documents": len(self),
        }

    def info(self) -> dict[str, Any]:
        """What it is: recipe, documents, bytes, engine."""
        facts = self.store.facts()
        documents = len(self)
        since = oldest(self.store) if documents else None
        return {
            "path": self.path,
            "documents": documents,
            "recipe": name_of(self.recipe, any_seed=True) or self.recipe.id,
            "recipe_id": self.recipe.id,
            "threshold": self.recipe.verify.threshold if self.recipe.thresholded else None,
            "judged_by": self._judged_by(),
            "keep": self.keep,
            "oldest": None if since is None else shown_day(since),
            "bytes_per_document": round(facts["bytes"] / documents, 1) if documents else None,
            **facts,
        }

    @property
    def oldest(self) -> int | None:
        """The day before which no document was last seen, in seconds since 1970; None where that is not known."""
        found = oldest(self.store)
        return None if found is None else 86400 * found

    def _judged_by(self) -> str:
        verify, comparison = self.recipe.verify, self.recipe.sketcher.comparison
        if self.exact:
            return "exact"
        if verify.method == "none":
            return "shared features"
        later = self.recipe.sketcher.on_the_fly
        return (later.comparison.measure if later else comparison.measure).replace("resemblance", "estimate")

    def close(self) -> None:
        """Let go of it. What was added is on disk already. A fork of the process that opened it leaves it alone."""
        if not self._process.is_this:
            return
        self._closed = True
        self._pool.shutdown()
        self._arrive.close()
        self.store.close()

    def __enter__(self) -> "Index":
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def __repr__(self) -> str:
        try:
            documents = "1 document" if len(self) == 1 else f"{len(self):,} documents"
        except StoreError:
            documents = "closed"
        return f"<neardup.Index {self.path}: {documents}, recipe {_called(self.recipe)}>"


def _engine(path: str | Path) -> tuple[Any, Any]:
    """Module and place, by the kind of path."""
    if isinstance(path, str) and path.startswith(("postgresql://", "postgres://")):
        from neardup.index import postgres

        return postgres, path
    return rocks, Path(path)


def _living(recipe: Recipe) -> Recipe:
    """As an index uses it: a document belongs to a kept one, the first stays, whatever a collection would do."""
    return recipe.changed(clusters_method="star", clusters_keep="first")


def _called(recipe: Recipe) -> str:
    name = name_of(recipe, any_seed=True)
    return f"{name} ({recipe.id})" if name else recipe.id


def _by_seed(recipe: Recipe, other: Recipe) -> str:
    """Say that two recipes differ in their seed alone, where they do."""
    alike = as_in_index(recipe, other).id == other.id
    return " (they differ in the seed alone: an index draws its own)" if alike else ""


def _given(id: str, text: Text, html: Text, url: str | None, reference: str | None = None) -> Document:
    if text is None and html is None:
        raise UsageError(f"document {id!r}: there is neither text nor html.")
    return Document(id, text, html, url, reference)


def _another(id: str, where: str) -> str:
    return f"{id!r} is {where} with another text."


_REPEATED = (
    "Rows that have no id are numbered, in every run from 1 (table:1): run it again with ids that do not repeat "
    "(id_field=, --id-field), or remove the stored document first."
)
_REMOVE = "Remove the stored document first, or leave it as it is and add the others by themselves."


def _id(id: object) -> str:
    return id if isinstance(id, str) else str(id)


_STATUS: dict[int, Status] = {kernel.EMPTY: "empty", kernel.INVALID: "undecodable"}


def _verdict(rows: Rows, i: int, found: Finding | None, *, added: bool) -> Verdict:
    if found is not None:
        return Verdict(rows.ids[i], "duplicate", found.match, added)
    return Verdict(rows.ids[i], _STATUS.get(int(rows.status[i]), "new"), None, added)
