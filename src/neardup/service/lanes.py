"""Threads for what computes, short work apart from long.

Lane        threads for calls that belong to one asker each; such a call stops when its asker gives up
Documents   one kind of call on the index: texts and pages, short and long ones, each in batches of its own

Four words would otherwise wait for three texts of 15 MB, and a text for the parser of a page.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Generic, TypeVar

from neardup.abandoning import run_until
from neardup.index.answers import Document
from neardup.service.batching import Batches

Found = TypeVar("Found")

SHORT = 256 << 10
"""Bytes of a request up to which it is short: some milliseconds of work, and its JSON is decoded at once."""


class Lane:
    """Threads for calls that belong to one asker each."""

    def __init__(self, threads: int, name: str) -> None:
        self.executor = ThreadPoolExecutor(threads, name)
        self._turn = asyncio.Semaphore(threads)

    async def run(self, call: Callable[[], Found]) -> Found:
        """Return what a call returns, in a thread. It ends at its next checkpoint when the asker gives up; one that
        has not begun by then never does."""
        gone = False
        async with self._turn:
            try:
                loop = asyncio.get_running_loop()
                return await loop.run_in_executor(self.executor, run_until, lambda: gone, call)
            finally:
                gone = True


class Documents(Generic[Found]):
    """One kind of call on documents."""

    def __init__(
        self,
        call: Callable[[list[Document]], Sequence[Found]],
        *,
        texts: Executor,
        long_texts: Executor,
        pages: Executor,
        long_pages: Executor,
    ) -> None:
        self._texts: Batches[Document, Found] = Batches(call, texts)
        self._long_texts: Batches[Document, Found] = Batches(call, long_texts)
        self._pages: Batches[Document, Found] = Batches(call, pages)
        self._long_pages: Batches[Document, Found] = Batches(call, long_pages)

    async def ask(self, document: Document, size: int) -> Found:
        """Return the result for a document that came in `size` bytes."""
        short, long = (self._texts, self._long_texts) if document.html is None else (self._pages, self._long_pages)
        return await (short if size <= SHORT else long).ask(document, size)
