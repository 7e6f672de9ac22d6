"""What could not be read or compared: raised, collected, or written to disk.

Problem    one of them
Problems   where readers report them
Spool      very many, on disk: a file of 64 MB can have 32 million lines that are no JSON
rows       problems as a table (`model.SKIPPED`)
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from neardup.atomic import appearing
from neardup.errors import InputError
from neardup.model import SKIPPED

COMPARED_ANYWAY = ("duplicate id", "null id")
"""Kinds of problems that do not keep a document from being compared."""

_AT_ONCE = 16_384
"""Problems that are written at a time."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that could not be read or compared."""

    source: str
    position: int | None
    kind: str
    detail: str

    def __str__(self) -> str:
        at = "" if self.position is None else f":{self.position}"
        return f"{self.source}{at}: {self.kind}: {self.detail}"


class Problems:
    """Raises the first problem (on_error="stop"), or notes them all (on_error="skip"). Threads may share it.

    note: what is done with each of them; without it, they are collected in `found`.
    """

    def __init__(
        self,
        on_error: Literal["stop", "skip"] = "stop",
        max_document_bytes: int = 64 << 20,
        note: Callable[[Problem], None] | None = None,
    ) -> None:
        self.on_error = on_error
        self.max_document_bytes = max_document_bytes
        self.found: list[Problem] = []
        self.counts: Counter[str] = Counter()
        """How many of each kind."""
        self.first: dict[str, Problem] = {}
        """The first of each kind, in the order in which the kinds were met."""
        self._note = note or self.found.append
        self._lock = Lock()

    def report(self, source: str, position: int | None, kind: str, detail: str, advice: str = "") -> None:
        """Raise or note it. `kind` is a few fixed words that are counted ("not JSON"), `detail` is free."""
        problem = Problem(source, position, kind, detail)
        if self.on_error == "stop":
            advice = advice or ("Name another with --text-field" if kind == "no text field" else "Mend it")
            raise InputError(f'{problem}\n{advice}, or pass over it with --on-error skip (on_error="skip").')
        with self._lock:
            self.counts[kind] += 1
            self.first.setdefault(kind, problem)
            self._note(problem)

    def again(self) -> "Problems":
        """Return what to read with once more: what is passed over was noted the first time."""
        return Problems("skip", self.max_document_bytes, only_counted)


def only_counted(problem: Problem) -> None:
    """Note nothing, where the number of problems is enough, and their first."""


def rows(problems: Iterable[Problem]) -> pa.Table:
    """Return problems as a table."""
    columns = zip(*((p.source, p.position, p.kind, p.detail) for p in problems), strict=True)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, SKIPPED, strict=False)]
    return pa.table(arrays, schema=SKIPPED) if arrays else SKIPPED.empty_table()


class Spool:
    """Problems on their way to a file. Threads may share it through `Problems`, which lets one at a time note."""

    def __init__(self, writer: pa.ipc.RecordBatchStreamWriter) -> None:
        self._writer = writer
        self._waiting: list[Problem] = []
        self.many = 0

    def note(self, problem: Problem) -> None:
        """Add a problem, and write to disk when enough wait."""
        self._waiting.append(problem)
        self.many += 1
        if len(self._waiting) == _AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Write the problems that wait to disk."""
        self._writer.write_table(rows(self._waiting))
        self._waiting.clear()


@contextmanager
def spooled(target: Path) -> Iterator[Spool]:
    """Take problems in any order; when the block ends well, `target` has them in the order of their places, or there
    is no such file if there were none."""
    unsorted = target.with_name(f".{target.name}.unsorted")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        unsorted.unlink(missing_ok=True)
        with pa.OSFile(str(unsorted), "wb") as file, pa.ipc.new_stream(file, SKIPPED) as writer:
            spool = Spool(writer)
            yield spool
            spool.flush()
        if not spool.many:
            target.unlink(missing_ok=True)
            return
        found = _mapped(unsorted)
        places = found.set_column(1, "position", pc.fill_null(found.column("position"), 0))
        order = pc.sort_indices(places, sort_keys=[(name, "ascending") for name in SKIPPED.names])
        with appearing(target) as draft, pa.OSFile(str(draft), "wb") as file, pa.ipc.new_stream(file, SKIPPED) as out:
            for start in range(0, len(order), _AT_ONCE):
                out.write_table(found.take(order.slice(start, _AT_ONCE)))
    finally:
        unsorted.unlink(missing_ok=True)


def _mapped(path: Path) -> pa.Table:
    with pa.memory_map(str(path)) as file:
        table = pa.ipc.open_stream(file).read_all()
        table.validate(full=True)  # somebody else may have made the folder
        return table


def read(paths: Iterable[Path]) -> pa.Table:
    """Return the problems in files that `spooled` wrote. They stay on disk, and are read when they are looked at."""
    return pa.concat_tables([SKIPPED.empty_table(), *(_mapped(path) for path in paths if path.exists())])
