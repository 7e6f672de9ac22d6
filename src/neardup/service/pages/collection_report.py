"""/collection/report: the report of the run that is served, under the header of all pages.

Its data is taken from the report that `neardup dedup` wrote. Where there is none (or one of another version) it is made
in a thread of its own: of a large collection that takes longer than a request may, and the page says so until it is
there. It is kept in memory, and may have some megabytes: it carries texts.
"""

from concurrent.futures import Future
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING

from neardup.service.pages.asking import Asked, Shown, Site
from neardup.service.pages.collection_coming import begun, coming_page, waited_for
from neardup.service.pages.collection_run import folder_of, run_of
from neardup.service.pages.layout import above, asset

if TYPE_CHECKING:
    from neardup.result import Result

PATIENCE = 8.0
"""Seconds that a request waits for it."""

_ASKING = Lock()
"""Held while it is found out whether it is being made: of two that ask first, one makes it."""


def show(site: Site, asked: Asked) -> Shown:
    """GET /collection/report."""
    run = run_of(site)
    with _ASKING:
        coming = _coming(run)
    if not waited_for(coming, PATIENCE):
        return coming_page("report", "The report is being made")
    if coming.exception() is not None:
        _coming.cache_clear()  # whoever asks again, tries again
    return Shown(coming.result())


@lru_cache(1)
def _coming(run: "Result") -> "Future[bytes]":
    """The page, or what will be it. Whoever asks next gets the same. A service that is told to end does not wait."""
    return begun(lambda: _made(run))


def _made(run: "Result") -> bytes:
    from neardup.report.collect import drawn, in_parallel
    from neardup.report.page import page as report
    from neardup.report.page import read_data

    data = read_data(folder_of(run) / "report.html")
    data, pictures = in_parallel(run) if data is None else (data, drawn(data))
    looks = asset("layout.css") + asset("collection.css") + asset("collection_report.css")
    return report(data, pictures, above=above("/collection", "report"), style=looks).encode("utf-8", "replace")
