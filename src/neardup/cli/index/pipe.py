"""One end of a pipe: bytes that are gone when they are written, and signals that wait for the end of a batch."""

import fcntl
import os
import signal
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType, TracebackType
from typing import Any

from neardup.errors import InputError, OutputError

BROKEN_PIPE = 128 + signal.SIGPIPE
"""The exit code of a program that nobody listens to any more."""


class Output:
    """Standard output. What is written has left this process; where it is a file, it is on disk."""

    def __init__(self) -> None:
        self._descriptor = sys.stdout.fileno()
        self._is_file = stat.S_ISREG(os.fstat(self._descriptor).st_mode)
        self._begun: bool | None = None
        """Whether the last line has no end; None: nobody has looked."""

    @property
    def begins_anew(self) -> bool:
        """Whether it is an empty file that is not appended to: a shell's `>` emptied it."""
        appending = fcntl.fcntl(self._descriptor, fcntl.F_GETFL) & os.O_APPEND
        return self._is_file and not appending and os.fstat(self._descriptor).st_size == 0

    def write(self, data: bytes) -> None:
        """All of it, or an error."""
        if not data:
            return
        if self._begun is None:
            self._begun = ends_in_half_a_line(self._descriptor)
        if self._begun:
            data = b"\n" + data  # nothing may be glued to half a line, which a kill left, or which came without an end
        self._begun = not data.endswith(b"\n")
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
            if self._is_file:
                os.fsync(self._descriptor)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputError(
                f"standard output: cannot be written ({error.strerror}). Mend that, and run the same command again."
            ) from error


def ends_in_half_a_line(descriptor: int) -> bool:
    """Whether a file ends in a line without an end."""
    with suppress(OSError):
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode) or not about.st_size:
            return False
        again = os.open(f"/dev/fd/{descriptor}", os.O_RDONLY)  # a shell opens it for writing alone
        try:
            return os.pread(again, 1, about.st_size - 1) != b"\n"
        finally:
            os.close(again)
    return False


@contextmanager
def reading_input() -> Iterator[None]:
    """Standard input that cannot be read: a failing disk behind it, or a terminal that is gone."""
    try:
        yield
    except OSError as error:
        raise InputError(f"stdin: cannot be read ({error.strerror}).") from error


@contextmanager
def quiet_when_nobody_listens() -> Iterator[None]:
    """`| head` is no error: end without a word, with the exit code that other filters have."""
    try:
        yield
    except BrokenPipeError:
        raise SystemExit(BROKEN_PIPE) from None


class Interruptible:
    """SIGINT and SIGTERM end the work when the batch at hand is done; at once while waiting, or when sent twice."""

    def __init__(self) -> None:
        self.received = 0
        self._waiting = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> "Interruptible":
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._receive)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        again = bool(self.received)
        self.received = number
        if again or self._waiting:
            raise KeyboardInterrupt

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """While nothing is being done."""
        self._waiting = True
        try:
            if self.received:
                raise KeyboardInterrupt
            yield
        finally:
            self._waiting = False
