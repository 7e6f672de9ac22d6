"""Extracting pages in processes of their own: the parser holds Python's lock too often for threads to gain much.

A worker is this module, run as a program. It reads pickled batches of pages from its standard input and writes their
texts and links to its standard output, with the CPU seconds that it took, until its input ends. A page that kills the
parser kills a worker and not the run: the batch is then tried page by page, and the page that did it has no text.
"""

import pickle
import select
import subprocess
import sys
import time
import weakref
from queue import Empty, LifoQueue
from threading import Lock

from neardup.text.extract import read_page, require_extractor
from neardup.text.settings import Extract, TextSettings

Pages = list[tuple[bytes, str | None, str | None]]
"""Pages with the encoding that the protocol named, and with their URL."""

Read = tuple[str, list[str] | None]
"""A page's text, and its links where they are asked for."""

_Process = subprocess.Popen[bytes]

_RUNNING: "weakref.WeakSet[_Process]" = weakref.WeakSet()


class _Spent:
    """CPU seconds of all workers so far."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._lock = Lock()

    def add(self, seconds: float) -> None:
        """From any thread."""
        with self._lock:
            self.seconds += seconds


_SPENT = _Spent()


def cpu_seconds() -> float:
    """Of this process and of all workers, for what these have answered."""
    return time.process_time() + _SPENT.seconds


class PageExtractor:
    """Pages in, texts out. With `workers` at 0 it works in the calling thread; threads may share one.

    seconds: a page that takes a worker longer has no text. What becomes of a page then depends on the machine, so this
    is for those who are waited for, and not for collections.
    """

    def __init__(self, settings: TextSettings, *, workers: int = 0, seconds: float | None = None) -> None:
        self.settings, self.workers, self.seconds = settings, workers, seconds
        self._idle: LifoQueue[_Process] = LifoQueue()
        weakref.finalize(self, _end, self._idle)

    def __call__(self, pages: Pages) -> list[Read | None]:
        """The text and links of every page; None for one that the parser gives up or dies of."""
        extract, links = self.settings.extract, self.settings.links
        if not self.workers:
            return _read(pages, extract, links)
        require_extractor()
        try:
            worker = self._idle.get_nowait()
        except Empty:
            worker = _start()
        try:
            assert worker.stdin
            assert worker.stdout
            if self.seconds is not None:  # its start is not the pages' fault
                pickle.dump(([], extract, links), worker.stdin, pickle.HIGHEST_PROTOCOL)
                worker.stdin.flush()
                _SPENT.add(pickle.load(worker.stdout)[1])
            pickle.dump((pages, extract, links), worker.stdin, pickle.HIGHEST_PROTOCOL)
            worker.stdin.flush()
            if self.seconds is not None and not _answers(worker.stdout.fileno(), self.seconds):
                worker.kill()
            read: list[Read | None]
            read, spent = pickle.load(worker.stdout)
        except (OSError, EOFError, pickle.UnpicklingError):
            _stop(worker)
            alone = PageExtractor.__call__  # and not what another class makes of a call
            return [None] if len(pages) == 1 else [one for page in pages for one in alone(self, [page])]
        _SPENT.add(spent)
        self._idle.put(worker)
        return read


def kill_all() -> None:
    """End the workers of all extractors in the middle of their work, for a process that ends at once."""
    for worker in list(_RUNNING):
        worker.kill()


def _read(pages: Pages, extract: Extract, links: bool) -> list[Read | None]:
    read: list[Read | None] = []
    for page, charset, url in pages:
        try:
            read.append(read_page(page, charset=charset, url=url, extract=extract, links=links))
        except ValueError:  # what the parser says of a page that it gives up
            read.append(None)
    return read


def _answers(descriptor: int, seconds: float) -> bool:
    """Whether there is something to read, in so many seconds."""
    if not hasattr(select, "poll"):  # Windows, where pipes cannot be waited for
        return True
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    return bool(waiting.poll(seconds * 1000))


def _start() -> _Process:
    worker = subprocess.Popen([sys.executable, "-m", __name__], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    _RUNNING.add(worker)
    return worker


def _stop(worker: _Process) -> None:
    for pipe in (worker.stdin, worker.stdout):
        try:
            if pipe:
                pipe.close()
        except OSError:  # what was not sent to a dead worker
            pass
    worker.wait()


def _end(idle: "LifoQueue[_Process]") -> None:
    while not idle.empty():
        _stop(idle.get())


def _work() -> None:
    require_extractor()
    told = 0.0
    while True:
        try:
            pages, extract, links = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        read, spent = _read(pages, extract, links), time.process_time()
        pickle.dump((read, spent - told), sys.stdout.buffer, pickle.HIGHEST_PROTOCOL)
        told = spent
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    _work()
