"""What is going on, how fast it goes, and what it cost: for the progress bar and for run.json."""

import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from threading import Lock
from typing import Any, Protocol

from neardup.text.workers import cpu_seconds


class Watcher(Protocol):
    """Someone who wants to see progress."""

    def begin(self, step: str, total: int) -> None:
        """A step of `total` bytes (0: unknown) begins."""

    def advance(self, done: int, documents: int, text: int) -> None:
        """So many bytes of the total are done, with so many documents and bytes of text."""

    def end(self) -> None:
        """The step is over."""

    def say(self, sentence: str) -> None:
        """Something that the user should know."""


class Silent:
    """Nobody watches."""

    def begin(self, step: str, total: int) -> None:
        """Nothing."""

    def advance(self, done: int, documents: int, text: int) -> None:
        """Nothing."""

    def end(self) -> None:
        """Nothing."""

    def say(self, sentence: str) -> None:
        """Nothing."""


@dataclass
class Step:
    """What one step cost."""

    name: str
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    """Of the processes that take the text out of pages too."""
    documents: int = 0
    text_bytes: int = 0
    peak_memory_bytes: int = 0


def peak_memory() -> int:
    """The largest resident size of this process so far, in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


class Steps:
    """Records every step and tells the watcher."""

    def __init__(self, watcher: Watcher | None = None, done: list[Step] | None = None) -> None:
        self.watcher = watcher or Silent()
        self.done: list[Step] = done or []
        self._current: Step | None = None
        self._lock = Lock()

    @contextmanager
    def step(self, name: str, total: int = 0) -> Iterator[None]:
        """Time a step."""
        current = self._current = Step(name)
        wall, cpu = time.perf_counter(), cpu_seconds()
        self.watcher.begin(name, total)
        try:
            yield
        finally:
            self.watcher.end()
            current.seconds = time.perf_counter() - wall
            current.cpu_seconds = cpu_seconds() - cpu
            current.peak_memory_bytes = peak_memory()
            self.done.append(current)
            self._current = None

    def advance(self, done: int = 0, documents: int = 0, text: int = 0) -> None:
        """From any thread."""
        with self._lock:
            if self._current is not None:
                self._current.documents += documents
                self._current.text_bytes += text
            self.watcher.advance(done, documents, text)

    def say(self, sentence: str) -> None:
        """Pass a sentence on."""
        self.watcher.say(sentence)

    def to_list(self) -> list[dict[str, Any]]:
        """For run.json."""
        return [{k: round(v, 3) if isinstance(v, float) else v for k, v in asdict(s).items()} for s in self.done]
