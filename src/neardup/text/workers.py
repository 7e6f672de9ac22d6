"""Extracting pages in processes of their own: the parser holds Python's lock too often for threads to gain much.

A worker is this module, run as a program. It reads pickled batches of pages from its standard input and writes their
texts to its standard output, until its input ends. A page that kills the parser kills a worker and not the run: the
batch is then tried page by page, and the page that did it has no text.
"""

import pickle
import subprocess
import sys
import weakref
from queue import Empty, LifoQueue

from neardup.text.extract import require_extractor, visible_text

Pages = list[tuple[bytes, str | None]]
"""Pages with the encoding that the protocol named."""

_Process = subprocess.Popen[bytes]


class PageExtractor:
    """Pages in, texts out. With `workers` at 0 it works in the calling thread; threads may share one."""

    def __init__(self, *, main: bool, workers: int = 0) -> None:
        self.main, self.workers = main, workers
        self._idle: LifoQueue[_Process] = LifoQueue()
        weakref.finalize(self, _end, self._idle)

    def __call__(self, pages: Pages) -> list[str | None]:
        """The text of every page; None for one that the parser gives up or dies of."""
        if not self.workers:
            return _texts(pages, self.main)
        require_extractor()
        try:
            worker = self._idle.get_nowait()
        except Empty:
            worker = _start()
        try:
            assert worker.stdin
            assert worker.stdout
            pickle.dump((pages, self.main), worker.stdin, pickle.HIGHEST_PROTOCOL)
            worker.stdin.flush()
            texts: list[str | None] = pickle.load(worker.stdout)
        except (OSError, EOFError, pickle.UnpicklingError):
            _stop(worker)
            return [None] if len(pages) == 1 else [text for page in pages for text in self([page])]
        self._idle.put(worker)
        return texts


def _texts(pages: Pages, main: bool) -> list[str | None]:
    texts: list[str | None] = []
    for page, charset in pages:
        try:
            texts.append(visible_text(page, charset=charset, main=main))
        except ValueError:  # what the parser says of a page that it gives up
            texts.append(None)
    return texts


def _start() -> _Process:
    return subprocess.Popen([sys.executable, "-m", __name__], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


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
    while True:
        try:
            pages, main = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        pickle.dump(_texts(pages, main), sys.stdout.buffer, pickle.HIGHEST_PROTOCOL)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    _work()
