"""The time by which a request must be answered.

A timer for every request would cost about as much as reading it. So all of them are looked at every now and then, and
those that are overdue are cancelled: a little later than to the millisecond, which nobody minds of half a minute.
"""

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

Found = TypeVar("Found")


class Deadlines:
    """Of tasks of one event loop."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._until: dict[asyncio.Task[Any], float] = {}
        self._overdue: set[asyncio.Task[Any]] = set()

    async def keep(self, work: Awaitable[Found]) -> Found:
        """The work's result; TimeoutError if it takes too long."""
        task = asyncio.current_task()
        assert task is not None
        self._until[task] = asyncio.get_running_loop().time() + self.seconds
        try:
            return await work
        except asyncio.CancelledError:
            if task not in self._overdue:
                raise
            task.uncancel()
            raise TimeoutError from None
        finally:
            del self._until[task]
            self._overdue.discard(task)

    async def watch(self) -> None:
        """Cancel what is overdue, for as long as this runs."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(min(0.25, self.seconds / 8))
            now = loop.time()
            for task in [task for task, until in self._until.items() if until < now and task not in self._overdue]:
                self._overdue.add(task)
                task.cancel()
