"""Threads for what computes, short work apart from long.

Lane    threads, and whose turn it is to work in them (`turns`)
SHORT   what is short

Four words would otherwise wait for three texts of 15 MB, and a text for the parser of a page.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from typing import Any, TypeVar

from neardup.abandoning import run_until

Found = TypeVar("Found")

SHORT = 256 << 10
"""Bytes of a request up to which it is short: some milliseconds of work, and its JSON is decoded at once."""

LEFT = 2.0
"""Seconds for which a call whose asker left keeps its turn at the most. It ends at its next checkpoint, mostly within
one; a thread that never ends must not keep others from their turns."""


class Lane:
    """Threads, and whose turn it is to work in them."""

    def __init__(self, threads: int, name: str, turn: Callable[[], AbstractAsyncContextManager[None]]) -> None:
        self.executor = ThreadPoolExecutor(threads, f"neardup-{name}")
        self._turn = turn
        self._places = asyncio.Semaphore(threads)
        self._ending: set[asyncio.Task[None]] = set()

    async def begin(self, call: Callable[..., Found], *args: Any) -> Found:
        """Return what a call returns, in a thread, in its turn. Thread and turn are taken for as long as the call runs,
        also where its asker leaves before."""
        async with AsyncExitStack() as taken:
            await taken.enter_async_context(self._places)
            turn = await taken.enter_async_context(AsyncExitStack())
            await turn.enter_async_context(self._turn())
            running = self.executor.submit(call, *args)
            try:
                return await asyncio.wrap_future(running)
            except asyncio.CancelledError:
                if not running.done():  # one that has not begun is cancelled, too
                    task = asyncio.create_task(self._let_end(running, taken.pop_all(), turn))
                    self._ending.add(task)
                    task.add_done_callback(self._ending.discard)
                raise

    async def _let_end(self, running: Future[Any], taken: AsyncExitStack, turn: AsyncExitStack) -> None:
        """Give back what an abandoned call has taken: the turn when it ends or after LEFT seconds, the thread when it
        ends."""
        loop, ended = asyncio.get_running_loop(), asyncio.Event()

        def tell(_: Future[Any]) -> None:
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(ended.set)

        running.add_done_callback(tell)
        async with taken:
            with suppress(TimeoutError):
                async with asyncio.timeout(LEFT):
                    await ended.wait()
            await turn.aclose()
            await ended.wait()

    async def run(self, call: Callable[[], Found]) -> Found:
        """Return what a call returns that belongs to one asker. It ends at its next checkpoint when that one gives up;
        a call that has not begun by then never does."""
        gone = False
        try:
            return await self.begin(run_until, lambda: gone, call)
        finally:
            gone = True
