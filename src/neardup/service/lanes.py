"""Threads for what computes, short work apart from long.

Lane    threads, and whose turn it is to work in them (`turns`)
SHORT   what is short

Four words would otherwise wait for three texts of 15 MB, and a text for the parser of a page.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

from neardup.abandoning import run_until

Found = TypeVar("Found")

SHORT = 256 << 10
"""Bytes of a request up to which it is short: some milliseconds of work, and its JSON is decoded at once."""


class Lane:
    """Threads, and whose turn it is to work in them."""

    def __init__(self, threads: int, name: str, turn: Callable[[], AbstractAsyncContextManager[None]]) -> None:
        self.executor = ThreadPoolExecutor(threads, f"neardup-{name}")
        self._turn = turn
        self._places = asyncio.Semaphore(threads)

    async def begin(self, call: Callable[..., Found], *args: Any) -> Found:
        """Return what a call returns, in a thread, in its turn."""
        async with self._places, self._turn():
            return await asyncio.get_running_loop().run_in_executor(self.executor, call, *args)

    async def run(self, call: Callable[[], Found]) -> Found:
        """Return what a call returns that belongs to one asker. It ends at its next checkpoint when that one gives up;
        a call that has not begun by then never does."""
        gone = False
        try:
            return await self.begin(run_until, lambda: gone, call)
        finally:
            gone = True
