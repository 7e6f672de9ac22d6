"""What is done for each address: from a decoded request to what is sent back.

Every method belongs to a row of `routes`. Single requests on the index go through `batching`, in `lanes`: pages apart
from texts, long ones apart from short ones. Streams have threads of their own, and what computes for itself (comparing,
sketching, grouping) runs in few beside, so that neither ever holds up a check.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from functools import partial
from time import monotonic
from typing import Any, TypeVar
from urllib.parse import unquote_to_bytes

import msgspec

from neardup.engines.machine import cores
from neardup.errors import StoreError, UsageError
from neardup.index import Index
from neardup.index.answers import Document, Verdict
from neardup.recipe import Recipe
from neardup.recipes import name_of, published
from neardup.service import shapes
from neardup.service.batching import Batches, Documents
from neardup.service.lanes import SHORT, Lane
from neardup.service.metrics import IndexMetrics
from neardup.service.problems import Problem, problem_of
from neardup.service.quotas import Caller
from neardup.service.settings import Settings
from neardup.service.shapes import document_of, match_out, stored_out, verdict_out
from neardup.service.streams import Work
from neardup.service.turns import Turns

Found = TypeVar("Found")


NEW = "stream"
"""The recipe of an index for which none is named."""

KINDS = 4
"""Threads for single pages: one for each kind of call."""

ENDING = 0.5
"""Seconds that threads get when nobody waits for their answers any more."""


class Endpoints:
    """All of them, around one index, or without any."""

    def __init__(
        self, index: Index | None, settings: Settings, metrics: IndexMetrics, turns: Turns, name: str = ""
    ) -> None:
        self._index, self.settings, self.metrics = index, settings, metrics
        self.name = name
        self.caller = Caller()
        """For its places among those of other indexes."""
        threads = cores()
        self.threads = Lane(threads + 2, "index", turns.short)
        self.reading = Lane(1, "reading", turns.long)
        """For bodies that take long to decode."""
        self.streaming = Lane(threads + 2, "streams", turns.long)
        self._health = ThreadPoolExecutor(1, "neardup-health")
        self._reaching: asyncio.Future[dict[str, str]] | None = None
        """The look at the store that is going on, or was the last: all who ask meanwhile share it."""
        self._pages = Lane(KINDS, "pages", turns.short)
        self._long_texts = Lane(1, "long-texts", turns.long)
        self._long_pages = Lane(1, "long-pages", nullcontext)
        self._short, self._long = Lane(threads, "short", turns.short), Lane(threads, "long", turns.long)
        lanes = {
            "texts": self.threads,
            "long_texts": self._long_texts,
            "pages": self._pages,
            "long_pages": self._long_pages,
        }
        self._check: Documents[Verdict] = Documents(self._checked, **lanes)
        self._check_and_add: Documents[Verdict] = Documents(self._checked_and_added, **lanes)
        self._add: Documents[bool] = Documents(self._added, **lanes)
        self._update: Documents[bool] = Documents(self._updated, **lanes)
        self._remove: Batches[str, bool] = Batches(self._removed, self.threads)
        self.streams = {
            "check": self._work(shapes.QueryLine, self._checked, verdict_out),
            "check-and-add": self._work(shapes.Line, self._checked_and_added, verdict_out),
            "add": self._work(shapes.Line, self._added, shapes.Added, adding=True),
            "update": self._work(shapes.Line, self._updated, shapes.Replaced),
            "remove": Work(msgspec.json.Decoder(shapes.NamedLine), self._removed_lines),
        }

    @property
    def index(self) -> Index:
        """The one that is served."""
        if self._index is None:
            raise Problem("no-index")
        return self._index

    @property
    def served(self) -> Index | None:
        """The same, or None."""
        return self._index

    @property
    def _recipe(self) -> Recipe:
        """The index's, or the one that a new index would have."""
        return published(NEW).recipe if self._index is None else self._index.recipe

    # Calls on the index, in threads. They count what they did.

    def _checked(self, documents: list[Document]) -> list[Verdict]:
        return self._counted(self.index.check_many(documents))

    def _checked_and_added(self, documents: list[Document]) -> list[Verdict]:
        return self._counted(self.index.check_and_add_many(documents))

    def _counted(self, verdicts: list[Verdict]) -> list[Verdict]:
        counts = self.metrics.documents
        counts["checked"].inc(len(verdicts))
        counts["duplicate"].inc(sum(verdict.match is not None for verdict in verdicts))
        counts["added"].inc(sum(verdict.added for verdict in verdicts))
        return verdicts

    def _added(self, documents: list[Document]) -> list[bool]:
        added = self.index.add_many(documents)
        self.metrics.documents["added"].inc(sum(added))
        return added

    def _updated(self, documents: list[Document]) -> list[bool]:
        replaced = self.index.update_many(documents)
        self.metrics.documents["added"].inc(len(replaced) - sum(replaced))
        return replaced

    def _removed(self, ids: list[str]) -> list[bool]:
        removed = self.index.remove_many(ids)
        self.metrics.documents["removed"].inc(sum(removed))
        return removed

    def _removed_lines(self, lines: list[shapes.NamedLine]) -> list[shapes.Removed]:
        ids = [line.id for line in lines]
        return [shapes.Removed(id_, removed) for id_, removed in zip(ids, self._removed(ids), strict=True)]

    def _work(
        self, line: type, call: Callable[[list[Document]], Sequence[Any]], out: Callable[..., Any], adding: bool = False
    ) -> Work:
        def done(lines: list[Any]) -> list[Any]:
            documents = [document_of(each) for each in lines]
            results = call(documents)
            if out is verdict_out:
                return [verdict_out(verdict) for verdict in results]
            return [out(document.id, result) for document, result in zip(documents, results, strict=True)]

        return Work(msgspec.json.Decoder(line), done, adding)

    # Single requests.

    async def check(self, asked: shapes.Query, size: int) -> shapes.VerdictOut:
        """POST /v1/check."""
        return verdict_out(await self._check.ask(document_of(asked), size))

    async def check_and_add(self, asked: shapes.Document, size: int) -> shapes.VerdictOut:
        """POST /v1/check-and-add."""
        return verdict_out(await self._check_and_add.ask(document_of(asked), size))

    async def add(self, asked: shapes.Document, size: int) -> shapes.Added:
        """POST /v1/add."""
        try:
            return shapes.Added(asked.id, await self._add.ask(document_of(asked), size))
        except UsageError as error:
            raise problem_of(error, adding=True) from error

    async def update(self, asked: shapes.Document, size: int) -> shapes.Replaced:
        """POST /v1/update."""
        return shapes.Replaced(asked.id, await self._update.ask(document_of(asked), size))

    async def remove(self, asked: shapes.Named, size: int) -> shapes.Removed:
        """POST /v1/remove."""
        return shapes.Removed(asked.id, await self._remove.ask(asked.id, size))

    async def similar(self, asked: shapes.Similar, size: int) -> shapes.Matches:
        """POST /v1/similar."""
        find = partial(self.index.similar, asked.text, html=asked.html, url=asked.url, most=int(asked.most))
        short = asked.html is None and size <= SHORT
        matches = await (self._in_thread(find) if short else self.at_leisure(find, long=size > SHORT))
        return shapes.Matches([match_out(match) for match in matches])

    async def get(self, id_: str) -> shapes.StoredOut:
        """GET /v1/documents/{id}."""
        stored = await self._in_thread(lambda: self.index.get(id_))
        if stored is None:
            raise Problem("no-document")
        return stored_out(stored)

    async def delete(self, id_: str) -> shapes.Removed:
        """DELETE /v1/documents/{id}."""
        if not await self._remove.ask(id_):
            raise Problem("no-document")
        return shapes.Removed(id_, True)

    # What needs no index but its recipe.

    async def compare(self, asked: shapes.Comparing, size: int) -> shapes.Comparison:
        """POST /v1/compare."""
        from neardup.service.measuring import compare

        return await self.at_leisure(lambda: compare(asked, self._recipe), long=asked.systems or size > SHORT)

    async def sketch(self, asked: shapes.Sketching, size: int) -> shapes.SketchesOut:
        """POST /v1/sketch."""
        from neardup.service.measuring import sketch

        self._check_number(len(asked.documents))
        return await self.at_leisure(lambda: sketch(asked, self.index.recipe), long=size > SHORT)

    async def group(
        self, asked: shapes.Grouping, size: int, count: Callable[[int], None] = lambda number: None
    ) -> shapes.Groups:
        """POST /v1/group. count: called with the number of results once they are read, in the thread of the loop."""
        from neardup.service.grouping import group

        loop = asyncio.get_running_loop()

        def later(number: int) -> None:
            loop.call_soon_threadsafe(partial(count, number))

        return await self.at_leisure(lambda: group(asked, self.settings.limits, later), long=size > SHORT)

    async def info(self) -> dict[str, Any]:
        """GET /v1/index."""
        facts = await self._in_thread(self.index.info)
        return {name: value for name, value in facts.items() if name != "path"}  # which may hold a password

    async def about(self) -> tuple[int, str, str]:
        """Return what GET /v1/indexes tells of one: documents, recipe, what is kept of them."""
        index = self.index
        documents = await self._in_thread(lambda: len(index))
        return documents, name_of(index.recipe, any_seed=True) or index.recipe.id, index.keep

    async def reach(self) -> dict[str, str]:
        """GET /readyz: return what is wrong with the store, by kind, in sentences for operators."""
        if self._index is None:
            return {}
        if self._reaching is None or self._reaching.done():
            self._reaching = asyncio.get_running_loop().run_in_executor(self._health, self._ailments)
        return await asyncio.shield(self._reaching)

    def _ailments(self) -> dict[str, str]:
        try:
            self.index.contains_many(["ready?"])
            return self.index.health().problems
        except StoreError as error:
            return {"away": str(error)}

    async def measure(self) -> None:
        """GET /metrics: set what the store says of itself."""
        if self._index is not None:
            await self._in_thread(lambda: self._measure(self.index))

    def _measure(self, index: Index) -> None:
        with suppress(StoreError):
            self.metrics.size.set(len(index))
            self.metrics.oldest.set(index.oldest or 0)
        self.metrics.store(index.health())

    def _check_number(self, documents: int) -> None:
        most = self.settings.limits.documents
        if documents > most:
            raise Problem("too-large", f"The request has {documents:,} documents; {most:,} are allowed.")

    async def _in_thread(self, call: Callable[[], Found]) -> Found:
        return await self.threads.run(call)

    async def decoded(self, read: Callable[[], Found]) -> Found:
        """Return what a body says that takes long to decode."""
        return await self.reading.run(read)

    async def at_leisure(self, call: Callable[[], Found], *, long: bool) -> Found:
        """Return what a call returns, beside the index. `long`: among others that take long."""
        return await (self._long if long else self._short).run(call)

    def close(self, end: float) -> bool:
        """End the threads, and wait for them until `end`. False: some still work, and will not be waited for."""
        lanes = (
            self.threads, self.reading, self.streaming, self._pages, self._long_texts, self._long_pages, self._short,
            self._long,
        )  # fmt: skip
        pools = [self._health, *(lane.executor for lane in lanes)]
        for pool in pools:
            pool.shutdown(wait=False, cancel_futures=True)
        threads = [thread for pool in pools for thread in pool._threads]
        for thread in threads:
            thread.join(max(0.0, end - monotonic()))
        return not any(thread.is_alive() for thread in threads)


def id_of(raw: bytes) -> str:
    """The id at the end of an address, percent-decoded; slashes in it may be encoded or not."""
    try:
        id_ = unquote_to_bytes(raw).decode()
    except UnicodeDecodeError:
        raise Problem("bad-path") from None
    if shapes.has_more_bytes(id_, shapes.LONGEST_ID):
        raise Problem("no-document", f"An id has {shapes.LONGEST_ID:,} bytes at the most.")
    return id_
