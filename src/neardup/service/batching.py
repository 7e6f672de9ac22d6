"""Requests that arrive together are answered together.

isolated   a call on many documents, of which some may be refused
Batches    single requests → calls on all that wait; nobody waits but for the call in progress
Documents  one kind of call on the index: texts and pages, short and long ones, each in batches of its own

A durable commit costs milliseconds however much it holds, and a look-up of many keys little more than of one. So while
a call is in progress the next requests gather, and the next call takes them all. When nothing is in progress a request
goes at once.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from neardup.abandoning import run_until
from neardup.errors import InputError, MissingExtra, NeardupError, UsageError
from neardup.index.answers import Document
from neardup.service.lanes import SHORT, Lane

Item = TypeVar("Item")
Result = TypeVar("Result")
Error = TypeVar("Error", bound=Exception)

MOST = 256
"""Requests in a call."""

MOST_BYTES = 2 << 20
"""And bytes of their documents, unless one alone has more: about 20 ms on two cores."""


def isolated(call: Callable[[list[Item]], Sequence[Result]], items: list[Item]) -> list[Result | NeardupError]:
    """The result for each item, or why it is refused. A call that refuses one does nothing for all: then halves are
    tried in order, so that k bad ones of n cost about k log n calls. What fails for another reason than a document
    fails for those of its half, and what was done before stays done."""
    try:
        return list(call(items))
    except (UsageError, InputError, MissingExtra) as error:
        if len(items) == 1:
            return [error]
        half = len(items) // 2
        return [*isolated(call, items[:half]), *isolated(call, items[half:])]
    except NeardupError as error:  # of the index
        return [_twin(error) for _ in items]


class Batches(Generic[Item, Result]):
    """One kind of call. Belongs to an event loop; calls run in a lane, one at a time."""

    def __init__(self, call: Callable[[list[Item]], Sequence[Result]], lane: Lane) -> None:
        self._call, self._lane = call, lane
        self._waiting: deque[_Asked[Item, Result]] = deque()
        self._running: asyncio.Task[None] | None = None

    async def ask(self, item: Item, size: int = 0) -> Result:
        """Return the result for an item of `size` bytes. It is left out when its asker gives up before it is begun."""
        loop = asyncio.get_running_loop()
        asked: _Asked[Item, Result] = _Asked(item, size, loop.create_future())
        self._waiting.append(asked)
        if self._running is None:
            self._running = loop.create_task(self._run())
        outcome = await asked.outcome
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def _run(self) -> None:
        try:
            while batch := self._next():
                _tell(await self._lane.begin(_outcomes, self._call, batch))
                del batch  # nothing is held while nothing is asked
        finally:
            self._running = None

    def _next(self) -> "list[_Asked[Item, Result]]":
        """Take what goes into one call: always something, and beyond that no more than a call may hold."""
        batch: list[_Asked[Item, Result]] = []
        held = 0
        while self._waiting and len(batch) < MOST:
            asked = self._waiting[0]
            if asked.gone:
                self._waiting.popleft()
                continue
            if batch and held + asked.size > MOST_BYTES:
                break
            batch.append(self._waiting.popleft())
            held += asked.size
        return batch


class Documents(Generic[Result]):
    """One kind of call on documents."""

    def __init__(
        self,
        call: Callable[[list[Document]], Sequence[Result]],
        *,
        texts: Lane,
        long_texts: Lane,
        pages: Lane,
        long_pages: Lane,
    ) -> None:
        self._texts: Batches[Document, Result] = Batches(call, texts)
        self._long_texts: Batches[Document, Result] = Batches(call, long_texts)
        self._pages: Batches[Document, Result] = Batches(call, pages)
        self._long_pages: Batches[Document, Result] = Batches(call, long_pages)

    async def ask(self, document: Document, size: int) -> Result:
        """Return the result for a document that came in `size` bytes."""
        short, long = (self._texts, self._long_texts) if document.html is None else (self._pages, self._long_pages)
        return await (short if size <= SHORT else long).ask(document, size)


class _Asked(Generic[Item, Result]):
    """An item, and where its outcome goes: an error is an outcome like any other, so that no future holds frames."""

    __slots__ = ("item", "outcome", "size")

    def __init__(self, item: Item, size: int, outcome: "asyncio.Future[Result | Exception]") -> None:
        self.item, self.size, self.outcome = item, size, outcome

    @property
    def gone(self) -> bool:
        """Whether nobody waits for it any more. Threads may ask."""
        return self.outcome.done()


def _outcomes(
    call: Callable[[list[Item]], Sequence[Result]], batch: list[_Asked[Item, Result]]
) -> list[tuple[_Asked[Item, Result], Result | Exception]]:
    """In a thread: the outcomes for those who still wait when the thread begins."""
    wanted = [asked for asked in batch if not asked.gone]
    if not wanted:
        return []
    found: Sequence[Result | Exception]
    try:
        found = run_until(
            lambda: all(asked.gone for asked in wanted), lambda: isolated(call, [asked.item for asked in wanted])
        )
    except Exception as error:
        found = [_twin(error) for _ in wanted]
    return list(zip(wanted, found, strict=True))


def _tell(outcomes: list[tuple[_Asked[Item, Result], Result | Exception]]) -> None:
    for asked, outcome in outcomes:
        if not asked.gone:
            asked.outcome.set_result(outcome)


def _twin(error: Error) -> Error:
    """Return the same error once more. An error that several askers raise would collect all their frames."""
    made = type(error).__new__(type(error), *error.args)
    made.__dict__.update(error.__dict__)
    return made.with_traceback(error.__traceback__)
