"""Requests that arrive together are answered together.

isolated   a call on many documents, of which some may be refused
Batches    single requests → calls on all that wait; nobody waits but for the call in progress

A durable commit costs milliseconds however much it holds, and a look-up of many keys little more than of one. So while
a call is in progress the next requests gather, and the next call takes them all. When nothing is in progress a request
goes at once.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Generic, TypeVar

from neardup.errors import InputError, MissingExtra, NeardupError, UsageError

Item = TypeVar("Item")
Result = TypeVar("Result")

MOST = 256
"""Requests in a call."""

MOST_BYTES = 8 << 20
"""And bytes of their documents, about."""


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
        return [error] * len(items)


class Batches(Generic[Item, Result]):
    """One kind of call. Belongs to an event loop; calls run in threads of `executor`, one at a time."""

    def __init__(self, call: Callable[[list[Item]], Sequence[Result]], executor: Executor) -> None:
        self._call, self._executor = call, executor
        self._waiting: deque[tuple[Item, int, asyncio.Future[Result]]] = deque()
        self._running: asyncio.Task[None] | None = None

    async def ask(self, item: Item, size: int = 0) -> Result:
        """The result for this item. `size`: its bytes. Whoever gives up before its call begins is left out of it."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Result] = loop.create_future()
        self._waiting.append((item, size, future))
        if self._running is None:
            self._running = loop.create_task(self._run())
        return await future

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while batch := self._next():
                items = [item for item, _ in batch]
                try:
                    found: Sequence[Result | Exception] = await loop.run_in_executor(
                        self._executor, isolated, self._call, items
                    )
                except Exception as error:
                    found = [error] * len(items)
                for (_, future), result in zip(batch, found, strict=True):
                    if future.done():
                        continue
                    if isinstance(result, Exception):
                        future.set_exception(result)
                    else:
                        future.set_result(result)
        finally:
            self._running = None

    def _next(self) -> list[tuple[Item, asyncio.Future[Result]]]:
        batch: list[tuple[Item, asyncio.Future[Result]]] = []
        held = 0
        while self._waiting and len(batch) < MOST and held < MOST_BYTES:
            item, size, future = self._waiting.popleft()
            if not future.done():
                batch.append((item, future))
                held += size
        return batch
