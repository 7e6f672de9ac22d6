"""Work of operators that takes longer than a request may: compaction, backups, verification, expiry, reloading.

Job    one of them: what, on what, how far, what came of it
Jobs   all of a service: one at a time on each index (or the collection), of which the latest MOST are remembered

Each runs in a thread of its own, so that none takes one away from checks.
"""

import secrets
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import monotonic
from typing import Any, Literal

from neardup.errors import NeardupError
from neardup.service import shapes
from neardup.service.logs import Log
from neardup.service.problems import Problem

MOST = 20
"""Jobs on one index that are remembered."""

State = Literal["running", "done", "failed"]
Stop = Callable[[], bool]


@dataclass
class Job:
    """One piece of work."""

    what: str
    target: str
    """The name of the index; nothing: the collection."""
    id: str = field(default_factory=lambda: secrets.token_hex(8))
    state: State = "running"
    result: dict[str, Any] | None = None
    failure: str | None = None
    began: datetime = field(default_factory=lambda: datetime.now(UTC))
    _clock: float = field(default_factory=monotonic)
    _seconds: float | None = None
    thread: threading.Thread | None = None

    def end(self, state: State) -> None:
        """Say how it ended."""
        self._seconds = monotonic() - self._clock
        self.state = state

    def out(self) -> shapes.JobOut:
        """Return what clients are told."""
        seconds = monotonic() - self._clock if self._seconds is None else self._seconds
        return shapes.JobOut(
            self.id,
            self.what,
            self.target or None,
            self.state,
            self.began.isoformat(timespec="seconds"),
            round(seconds, 3),
            self.result,
            self.failure,
        )


class Jobs:
    """Those that run, and the latest that ended."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._all: dict[str, Job] = {}
        self._running: dict[str, Job] = {}
        self._stopping = threading.Event()
        self._lock = threading.Lock()

    def start(self, what: str, target: str, work: Callable[[Stop], dict[str, Any]]) -> Job:
        """Begin, unless another job runs on the same. `work` is given what tells it to stop."""
        with self._lock:
            before = self._running.get(target)
            if before is not None:
                where = f"the index {target}" if target else "the collection"
                raise Problem("job-running", f"{before.what} runs on {where}: see /v1/jobs/{before.id}")
            if self._stopping.is_set():
                raise Problem("stopping")
            job = Job(what, target)
            job.thread = threading.Thread(target=self._run, args=(job, work), name=f"neardup-{what}", daemon=True)
            self._all[job.id] = self._running[target] = job
            for old in [each for each in self._all.values() if each.target == target][:-MOST]:
                del self._all[old.id]
        job.thread.start()
        return job

    def get(self, id_: str) -> Job:
        """Return one by its id."""
        with self._lock:
            found = self._all.get(id_)
        if found is None:
            raise Problem("no-job")
        return found

    def __iter__(self) -> Iterator[Job]:
        """The latest first."""
        with self._lock:
            return iter([*reversed(self._all.values())])

    def stop(self) -> None:
        """Ask those that run to stop where they can."""
        self._stopping.set()

    def close(self, end: float) -> bool:
        """Wait for those that run until `end`. False: some still do."""
        self.stop()
        with self._lock:
            threads = [job.thread for job in self._running.values() if job.thread is not None]
        for thread in threads:
            thread.join(max(0.0, end - monotonic()))
        return not any(thread.is_alive() for thread in threads)

    def _run(self, job: Job, work: Callable[[Stop], dict[str, Any]]) -> None:
        state: State = "failed"
        try:
            job.result = work(self._stopping.is_set)
            state = "done"
        except (NeardupError, Problem) as error:
            job.failure = str(error)
        except Exception as error:
            job.failure = "The service made an error; its log has more."
            self._log.failure(job.id, error)
        finally:
            job.end(state)
            with self._lock:
                del self._running[job.target]
            told = {"failed": job.failure} if job.failure else {}
            self._log.event(job=job.id, what=job.what, on=job.target, state=state, seconds=job.out().seconds, **told)
