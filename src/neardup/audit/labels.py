"""What people say of pairs, as it is said: one JSON object a line, appended, and on disk before it is acknowledged.

    first, second   ids of the removed and of the kept document
    verdict         correct, incorrect, undecided; null takes the last one back
    reason, note    one of REASONS, or null; free words
    labeller, time  who, and when (UTC)

The last label of a pair counts; earlier ones stay in the file. A line that is cut off, because the machine went down
while it was written, was never acknowledged: it is passed over, and goes with the next label. A last line that is whole
but for its newline is a label. Several processes may write to one file: each holds a lock while it does. The file
alone says what was said: where it is moved away, replaced or edited, it is read again from its beginning.

Verdicts and most reasons are those of Henzinger, section 3.1. Correct: pages that differ by a session id, time stamp,
execution time, message id, visitor count, server name or URL, invisibly, or in several such ways. Incorrect: their
main items differ. Undecided: prefilled forms, a minor item, or a pair that cannot be evaluated.
"""

import fcntl
import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock

from neardup.atomic import sync_names, write_error
from neardup.errors import InputError, UsageError

VERDICTS = ("correct", "incorrect", "undecided")

REASONS: dict[str, dict[str, str]] = {
    "correct": {
        "same": "the same to a reader",
        "changing": "time stamp, counter or session id differs",
        "address": "only URL or server name differs",
        "edit": "small edit, the same content",
        "several": "several of these",
        "other": "another reason",
    },
    "incorrect": {
        "boilerplate": "only boilerplate is shared",
        "item": "another item of one template",
        "version": "another version of the text",
        "part": "one is only a part of the other",
        "other": "another reason",
    },
    "undecided": {
        "form": "prefilled form",
        "minor": "a minor item differs",
        "unclear": "cannot be evaluated",
        "other": "another reason",
    },
}
"""By verdict: the name in the file, and the words."""

LONGEST_NOTE, LONGEST_NAME = 2000, 100


@dataclass(frozen=True)
class Label:
    """One thing that one person said."""

    first: str
    second: str
    verdict: str | None
    reason: str | None = None
    note: str = ""
    labeller: str = ""
    time: str = ""

    def __post_init__(self) -> None:
        if self.verdict is not None and self.verdict not in VERDICTS:
            raise UsageError(f"verdict = {self.verdict!r}: choose {', '.join(VERDICTS)}.")
        if self.reason is not None and self.reason not in REASONS.get(self.verdict or "", {}):
            known = ", ".join(REASONS.get(self.verdict or "", {})) or "none"
            raise UsageError(f"reason = {self.reason!r}: for the verdict {self.verdict} choose one of {known}.")
        if len(self.note) > LONGEST_NOTE:
            raise UsageError(f"a note of {len(self.note):,} characters: {LONGEST_NOTE:,} are the most.")
        if len(self.labeller) > LONGEST_NAME:
            raise UsageError(f"a labeller of {len(self.labeller):,} characters: {LONGEST_NAME:,} are the most.")


class Labels:
    """The file, and what counts of it. Threads may share one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.history: list[Label] = []
        self.current: dict[tuple[str, str], Label] = {}
        """By both ids; pairs whose label was taken back are not in it."""
        self.cut = False
        """Whether the file ended in a line that is cut off."""
        self._read = 0
        self._lines = 0
        self._last = b""
        """The line before that place, as it stands in the file: how the file is known again."""
        self._lock = Lock()
        self.refresh()

    def refresh(self) -> None:
        """Take in what was written since, by whomever."""
        with self._lock:
            self._catch_up()

    def add(self, label: Label) -> Label:
        """Write a label down. When this returns, it is on disk."""
        dated = Label(**{**asdict(label), "time": datetime.now(UTC).isoformat(timespec="seconds")})
        line = (json.dumps(asdict(dated)) + "\n").encode()
        with self._lock:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                new = not self.path.exists()
                descriptor = self._locked()
                try:
                    self._catch_up()
                    if os.fstat(descriptor).st_size > self._read:  # a line that is cut off
                        os.ftruncate(descriptor, self._read)
                    _write_all(descriptor, b"\n" + line if self._unended else line)
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)
                if new:
                    sync_names(self.path.parent)  # a new file's name is on disk too
            except OSError as error:
                raise write_error(self.path, error) from error
            self._catch_up()
        return dated

    def _locked(self) -> int:
        """The file, open to append, under a lock; made where it is not there."""
        while True:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
            fcntl.flock(descriptor, fcntl.LOCK_EX)  # lockf's would go when _catch_up closes the file
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(descriptor), os.stat(self.path)):
                    return descriptor
            os.close(descriptor)  # moved away in the meantime

    @property
    def _unended(self) -> bool:
        """Whether the last line lacks its newline."""
        return bool(self._last) and not self._last.endswith(b"\n")

    def _catch_up(self) -> None:
        data = self._new()
        if self._unended and data:
            self._read, self._last, data = self._read + 1, self._last + b"\n", data[1:]
        *whole, rest = data.split(b"\n")
        for line in whole:
            self._take(line, line + b"\n")
        self.cut = not _whole(rest)
        if rest and not self.cut:
            self._take(rest, rest)

    def _new(self) -> bytes:
        """What stands behind the last line that was taken, or all of it where that line is not in its place."""
        try:
            with self.path.open("rb") as file:
                file.seek(self._read - len(self._last))
                data = file.read()
                known = data.startswith(self._last)
                data = data[len(self._last) :]
                if known and not (self._unended and data and not data.startswith(b"\n")):
                    return data
                file.seek(0)
                data = file.read()
        except FileNotFoundError:
            data = b""
        self._read, self._lines, self._last = 0, 0, b""
        self.history.clear()
        self.current.clear()
        return data

    def _take(self, line: bytes, as_it_stands: bytes) -> None:
        try:
            label = Label(**json.loads(line)) if line.strip() else None
        except (ValueError, TypeError, UsageError) as error:
            raise InputError(
                f"{self.path}:{self._lines + 1}: this is no label ({error}). Mend the line, or delete it."
            ) from error
        self._lines += 1
        self._read += len(as_it_stands)
        self._last = as_it_stands
        if label is None:
            return
        self.history.append(label)
        pair = (label.first, label.second)
        self.current.pop(pair, None)
        if label.verdict is not None:
            self.current[pair] = label


def _whole(line: bytes) -> bool:
    """Whether nothing is cut off: a JSON object without its end is not JSON."""
    with suppress(ValueError):
        if line.strip():
            json.loads(line)
        return True
    return False


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
