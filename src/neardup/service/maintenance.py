"""What operators do with indexes and the collection while they are served, as jobs.

ServedCollection   the collection that pages show, which can be opened anew meanwhile
Maintenance        compaction, backups, verification, expiry, reloading
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from threading import Lock
from typing import TYPE_CHECKING, Any

from neardup.errors import NeardupError, OutputError, StoreError
from neardup.index.expiry import first_kept_day, overdue, shown_day
from neardup.index.store import today
from neardup.service import shapes
from neardup.service.endpoints import Endpoints
from neardup.service.jobs import Jobs, Stop
from neardup.service.logs import Log
from neardup.service.metrics import Metrics
from neardup.service.pages import Site
from neardup.service.problems import Problem
from neardup.service.quotas import Caller
from neardup.service.settings import Settings

if TYPE_CHECKING:
    from neardup.searching import Collection

Reopen = Callable[[], "Collection"]

FEW = 100
"""Documents of an index from which --keep-days may forget more than half at once."""

MOST_PROBLEMS = 100
"""Damages that a job lists; it counts them all."""


class ServedCollection:
    """The collection that pages show. One that is replaced is closed when the last page that shows it is made."""

    def __init__(self, site: Site, reopen: Reopen | None) -> None:
        self.site, self.reopen = site, reopen
        self._pages: dict[int, int] = {}
        self._lock = Lock()

    @contextmanager
    def showing(self) -> Iterator[Site]:
        """Keep what is served now until a page is made of it."""
        with self._lock:
            site = self.site
            self._pages[id(site)] = self._pages.get(id(site), 0) + 1
        try:
            yield site
        finally:
            with self._lock:
                self._pages[id(site)] -= 1
                self._close_unused(site)

    def reload(self) -> "Collection":
        """Open the collection anew, and show that one from now on. What fails leaves the one that is shown."""
        if self.reopen is None:
            raise Problem("no-collection")
        opened = self.reopen()
        with self._lock:
            before, self.site = self.site, replace(self.site, collection=opened)
            self._close_unused(before)
        return opened

    def _close_unused(self, site: Site) -> None:
        if not self._pages.get(id(site)):
            self._pages.pop(id(site), None)
            if site is not self.site and site.collection is not None:
                site.collection.close()

    def close(self) -> None:
        """Let go of the collection."""
        if self.site.collection is not None:
            self.site.collection.close()


class Maintenance:
    """Every method but the last two begins a job, and returns what is known of it at once."""

    def __init__(self, settings: Settings, log: Log, metrics: Metrics, collection: ServedCollection) -> None:
        self._settings, self._metrics, self._collection = settings, metrics, collection
        self.jobs = Jobs(log)

    def compact(self, on: Endpoints) -> shapes.JobOut:
        """POST /v1/compact."""

        def work(stop: Stop) -> dict[str, Any]:
            before = on.index.info()["bytes"]
            on.index.compact()
            return {"bytes_before": before, "bytes": on.index.info()["bytes"]}

        return self.jobs.start("compact", on.name, work).out()

    def verify(self, on: Endpoints) -> shapes.JobOut:
        """POST /v1/verify."""

        def work(stop: Stop) -> dict[str, Any]:
            found = on.index.verify()
            told = {**asdict(found), "problems": found.problems[:MOST_PROBLEMS]}
            return {"sound": found.sound, "damages": len(found.problems), **told}

        return self.jobs.start("verify", on.name, work).out()

    def backup(self, on: Endpoints, asked: shapes.BackingUp) -> shapes.JobOut:
        """POST /v1/backup. Clients give a name, and never a path."""
        folder = self._settings.backup_folder
        if folder is None:
            raise Problem("no-backup", "The service was started without --backup-folder DIR.")
        target = folder / on.name / asked.name
        if target.exists():
            raise Problem("no-backup", f"There is a backup called {asked.name} already. Choose another name.")

        def work(stop: Stop) -> dict[str, Any]:
            try:
                target.parent.mkdir(exist_ok=True)
            except OSError as error:
                raise OutputError(f"the folder of backups cannot be written ({error.strerror}).") from error
            done = on.index.backup(target)
            return {"name": asked.name, "documents": done.documents, "bytes": done.bytes}

        return self.jobs.start("backup", on.name, work).out()

    def expire(self, on: Endpoints, asked: shapes.Expiring, *, unasked: bool = False) -> shapes.JobOut:
        """POST /v1/expire, and what --keep-days does every hour (unasked), but not where most documents would go."""

        def work(stop: Stop) -> dict[str, Any]:
            if unasked:
                _check_share(on, int(asked.keep_days))
            expired = on.index.expire(days=int(asked.keep_days), stop=stop)
            on.metrics.documents["expired"].inc(expired)
            return {"expired": expired, "documents": len(on.index)}

        return self.jobs.start("expire", on.name, work).out()

    def reload(self) -> shapes.JobOut:
        """POST /v1/collection/reload, and SIGHUP."""
        if self._collection.reopen is None:
            raise Problem("no-collection")

        def work(stop: Stop) -> dict[str, Any]:
            try:
                opened = self._collection.reload()
            except NeardupError:
                self._metrics.reloads.labels("collection", "failed").inc()
                raise
            self._metrics.reloads.labels("collection", "done").inc()
            return {"documents": opened.documents}

        return self.jobs.start("reload", "", work).out()

    def job(self, id_: str, caller: Caller) -> shapes.JobOut:
        """GET /v1/jobs/{job}."""
        found = self.jobs.get(id_)
        if not _may_see(caller, found.target):
            raise Problem("no-job")
        return found.out()

    def listed(self, caller: Caller) -> shapes.JobList:
        """GET /v1/jobs."""
        return shapes.JobList([job.out() for job in self.jobs if _may_see(caller, job.target)])


def _may_see(caller: Caller, target: str) -> bool:
    """Return whether a caller may see jobs on an index or, without a target, on the collection of the service."""
    if caller.token is None:
        return True
    return caller.token.may_use(target) if target else caller.token.for_all


def _check_share(on: Endpoints, days: int) -> None:
    """Raise an error where more than half of the documents would expire at once: a clock may be ahead.

    So they do, rightly, where an index was not served for long, or was filled on one day.
    """
    documents = len(on.index)
    half = documents // 2
    if documents <= FEW or overdue(on.index.store, first_kept_day(None, days), half + 1) <= half:
        return
    on.metrics.expiry_refused.inc()
    raise StoreError(
        f"--keep-days {days}: more than half of the {documents:,} documents of the index {on.name} would be forgotten "
        f"at once, so none was. Today is {shown_day(today())} by the clock of this machine. If that is right, and they "
        f"are to go: neardup index expire http://HOST:PORT/v1/indexes/{on.name} --keep-days {days}"
    )
