"""One line per request on stderr: what was asked, how it ended, how long it took; nothing of any document.

Lines are written by a thread of their own, for whoever reads them may be slow. Beyond MOST waiting ones they are
dropped and counted: a log that nobody takes must not stop the service.
"""

import sys
import threading
import time
import traceback
from collections import deque
from functools import lru_cache
from typing import Any, Literal, TextIO

import msgspec

GATHER = 0.02
"""Seconds between two writes: a thread that woke up for every line would take its share of Python's lock."""

Format = Literal["json", "text", "none"]

MOST = 10_000
"""Lines that wait."""


def _now() -> str:
    """To the millisecond, in UTC."""
    seconds, part = divmod(time.time_ns() // 1_000_000, 1000)
    return f"{_second(seconds)}.{part:03d}Z"


@lru_cache(1)
def _second(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))


class Log:
    """Where lines go."""

    def __init__(self, format_: Format = "json", target: TextIO | None = None) -> None:
        self.format, self._target = format_, target or sys.stderr
        self._lines: deque[str] = deque()
        self._dropped = 0
        self._ended = False
        self._something = threading.Event()
        self._thread = threading.Thread(target=self._write, name="neardup-log", daemon=True)
        self._thread.start()

    def request(self, **facts: Any) -> None:
        """A request is over."""
        if self.format == "none":
            return
        now = _now()
        if self.format == "json":
            self._put(msgspec.json.encode({"time": now, **facts}).decode())
        else:
            self._put(f"{now} " + " ".join(f"{name}={value}" for name, value in facts.items()))

    def event(self, **facts: Any) -> None:
        """Say that something happened beside requests."""
        self.request(**facts)

    def failure(self, id_: str, error: BaseException) -> None:
        """Our own mistake: where, and of what type. Its message is left out, for it may quote a document."""
        where = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(error.__traceback__)]
        if self.format == "text":
            self._put(f"request {id_} failed: {type(error).__name__} at {' < '.join(reversed(where))}")
        else:
            self._put(msgspec.json.encode({"id": id_, "failed": type(error).__name__, "at": where}).decode())

    def close(self) -> None:
        """Write what waits, for two seconds at the most."""
        self._ended = True
        self._something.set()
        self._thread.join(2.0)

    def _put(self, line: str) -> None:
        if len(self._lines) >= MOST:
            self._dropped += 1
            return
        self._lines.append(line)
        if not self._something.is_set():
            self._something.set()

    def _write(self) -> None:
        while not (self._ended and not self._lines):
            self._something.wait()
            if not self._ended:
                time.sleep(GATHER)
            self._something.clear()
            while self._lines:
                lines = [self._lines.popleft() for _ in range(min(len(self._lines), 512))]
                if self._dropped:
                    lines.append(msgspec.json.encode({"dropped_log_lines": self._dropped}).decode())
                    self._dropped = 0
                try:
                    self._target.write("\n".join(lines) + "\n")
                    self._target.flush()
                except (OSError, ValueError):
                    return  # nobody listens any more
