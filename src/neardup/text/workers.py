"""Extracting pages in processes of their own: the parser holds Python's lock too often for threads to gain much.

A worker is the program in `reader`. It says that it is ready, and then answers batches of pages with their texts and
links and the CPU seconds that they took. A page that kills the parser kills a worker and not the run: the batch is then
tried page by page, and the page that did it has no text. A worker that dies before it is ready is no page's fault: it
ends the run with what it said (ReaderError). Every worker has read a page of its own before it says that it is ready.

Workers start without the current folder and PYTHONPATH on their path (`-I`), without .pth files (`-S`), and without the
environment, which may hold passwords. Their path is Python's own library, and after it the folders from which this
process has neardup and resiliparse: so an installation in a folder on PYTHONPATH works, and nothing in such a folder
can take the place of a module of Python's.
"""

import os
import select
import subprocess
import sys
import time
import weakref
from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from queue import Empty, LifoQueue
from threading import Lock

from neardup.abandoning import abandoned
from neardup.errors import Abandoned, ReaderError
from neardup.text import wire
from neardup.text.extract import COMMON, decoded, extractor, python_name, require_extractor
from neardup.text.reader import Page, answered, request
from neardup.text.reader import Read as Read
from neardup.text.settings import TextSettings

Pages = list[Page]

_Process = subprocess.Popen[bytes]

_RUNNING: "weakref.WeakSet[_Process]" = weakref.WeakSet()

_PROGRAM = "import sys; sys.path += sys.argv[1:]; from neardup.text.reader import main; main()"
_KEPT = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT")
"""Of the environment: where the system's libraries are."""

_PIECE = 1 << 20
_LEFT = 0.5
"""Seconds for which a worker goes on reading for nobody; then it is killed. Starting another one takes as long."""
_MOST, _MOST_MORE = 32, 4 << 20
"""A page's text and links have this many times the page's bytes at the most, and as many more. An image's term in
Henzinger's form has nine times the bytes of its URL."""


class _Spent:
    """CPU seconds of all workers so far."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._lock = Lock()

    def add(self, seconds: float) -> None:
        """Add to the sum, from any thread."""
        with self._lock:
            self.seconds += seconds


_SPENT = _Spent()
_CONFINED: set[str] = set()


def confinement() -> str | None:
    """Return what workers are confined by, and what the platform lacks; None as long as none has started."""
    return " | ".join(sorted(_CONFINED)) or None


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and of all workers, for what these have answered."""
    return time.process_time() + _SPENT.seconds


class PageExtractor:
    """Pages in, texts out. Threads may share one: each of them has a worker while it waits. `workers` is how many it
    pays to keep busy."""

    def __init__(self, settings: TextSettings, *, workers: int = 1) -> None:
        self.settings, self.workers = settings, workers
        self._idle: dict[int, LifoQueue[_Process]] = {}
        """By process: a fork that wrote to its parent's workers would get the parent's texts."""
        weakref.finalize(self, _end, self._idle)

    def __call__(self, pages: Pages) -> list[Read | None]:
        """Return the text and links of every page; None for one that the parser gives up or dies of.

        Args:
            pages: With the encoding that the protocol named, and with their URL.

        Raises:
            Abandoned: Nobody waits for them any more (`abandoning`), and the worker took long; it was killed.
            ReaderError: No worker can be started.
        """
        if not pages:
            return []
        require_extractor()
        return self._apart([_common(page) for page in pages])

    def _apart(self, pages: Pages) -> list[Read | None]:
        idle = self._idle.setdefault(os.getpid(), LifoQueue())
        try:
            worker = idle.get_nowait()
        except Empty:
            worker = _start()
        try:
            assert worker.stdin
            wire.send(worker.stdin, request(pages, self.settings.extract, self.settings.links))
            most = sum(_MOST * len(page) + _MOST_MORE for page, _, _ in pages)
            fields = wire.receive(_exactly(worker), fields=1 + 2 * len(pages), most=most)
            read, spent = answered(fields)
        except (OSError, EOFError, ValueError):  # it died, or what it says makes no sense
            worker.kill()
            _stop(worker)
            return [None] if len(pages) == 1 else [one for page in pages for one in self._apart([page])]
        except BaseException:
            worker.kill()
            _stop(worker)
            raise
        _SPENT.add(spent)
        idle.put(worker)
        return read


@lru_cache(8)
def shared(settings: TextSettings) -> PageExtractor:
    """Return the extractor of this process for pages that come now and then."""
    return PageExtractor(settings)


def try_worker() -> str | None:
    """Read a page in a worker. Return what that was confined by; None where no extractor is installed.

    What reading pages has to compile is compiled then, too.

    Raises:
        ReaderError: It does not start.
    """
    if extractor() is None:
        return None
    PageExtractor(TextSettings())([(b"<p>a rose", None, None)])
    return confinement()


def kill_all() -> None:
    """End the workers of all extractors in the middle of their work, for a process that ends at once."""
    for worker in list(_RUNNING):
        worker.kill()


def _common(page: Page) -> Page:
    """Return the page in UTF-8 where it is in an encoding that workers have not loaded."""
    content, charset, url = page
    if charset is None or (python_name(charset) or "utf-8") in COMMON:
        return page
    return decoded(content, charset=charset).encode("utf-8", "replace"), "utf-8", url


def _exactly(worker: _Process) -> Callable[[int], bytes]:
    """Return what reads a number of bytes of a worker's answer, as they come: a length alone takes no memory."""
    assert worker.stdout
    stream = worker.stdout.fileno()  # and not the buffer before it, of which the kernel tells nothing
    waiting = select.poll() if hasattr(select, "poll") else None  # not on Windows
    if waiting is not None:
        waiting.register(stream, select.POLLIN)
    left = 0.0

    def exactly(size: int) -> bytes:
        nonlocal left
        got = bytearray()
        while len(got) < size:
            while waiting is not None and not waiting.poll(50):
                if abandoned():
                    left = left or time.monotonic()
                    if time.monotonic() - left > _LEFT:
                        raise Abandoned("nobody waits for this page any more.")
            piece = os.read(stream, min(size - len(got), _PIECE))
            if not piece:
                raise EOFError
            got += piece
        return bytes(got)

    return exactly


def _start() -> _Process:
    """Start a worker and wait until it is ready."""
    worker = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _PROGRAM, *_folders()],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=os.path.abspath(os.sep),
        env={name: os.environ[name] for name in _KEPT if name in os.environ},
    )
    _RUNNING.add(worker)
    assert worker.stderr
    try:
        (held,) = wire.receive(_exactly(worker), fields=1, most=_PIECE)
    except (OSError, EOFError, ValueError):
        worker.kill()
        said = worker.stderr.read().decode("utf-8", "replace").strip()
        _stop(worker)
        raise ReaderError(
            f"the process that reads HTML pages does not start (exit code {worker.returncode}). It says: "
            f"{said[-2000:] or 'nothing'}\nNo page is to blame. If {sys.executable} -c 'import resiliparse' fails too, "
            "install it again: pip install --force-reinstall 'neardup[web]'"
        ) from None
    worker.stderr.close()
    _CONFINED.add((held or b"").decode("utf-8", "replace"))
    return worker


def _folders() -> list[str]:
    """Return the folders from which this process has the packages that a worker imports."""
    folders = []
    for name in ("neardup", "resiliparse"):
        spec = find_spec(name)
        assert spec is not None
        assert spec.submodule_search_locations
        folders.append(os.path.dirname(os.path.abspath(next(iter(spec.submodule_search_locations)))))
    return list(dict.fromkeys(folders))


def _stop(worker: _Process) -> None:
    for pipe in (worker.stdin, worker.stdout, worker.stderr):
        try:
            if pipe:
                pipe.close()
        except OSError:  # what was not sent to a dead worker
            pass
    worker.wait()


def _end(idle: "dict[int, LifoQueue[_Process]]") -> None:
    own = idle.pop(os.getpid(), None)
    while own is not None and not own.empty():
        _stop(own.get())
