"""The pages that people look at: search, compare, tune, the collection.

    asking     what a page is asked, what it knows, what it answers
    layout     one look: header, navigation, templates
    showing    values as a page shows them
    home       /          search where a collection is served, else what there is
    search     /search    results, the repeats folded behind the best-ranked of them
    reading    /document  the text of a document
    compare    /compare   two documents beside each other
    passages   what two texts share, marked in both
    tune       /tune      what a filter finds and costs, while its parameters move
    tuning     parameters → curve, table, costs, recipe
    curves     a curve as a picture
    collection, collection_run, collection_report, collection_audit
               /collection  a finished run: facts, clusters and their members; its report; its labelling page
    templates/            Jinja2, styles, scripts

A page is a row of PAGES. Its function takes what is served and what is asked and returns what is sent; it runs in a
thread, and a Problem that it raises is shown as a page too. To add one: a module with such a function, its template
(which extends layout.html), and a row; the navigation names those that people should find.
"""

from collections.abc import Callable
from threading import Thread, Timer

from neardup.service.pages import (
    collection,
    collection_audit,
    collection_report,
    compare,
    home,
    reading,
    search,
    tune,
)
from neardup.service.pages.asking import Asked, Page, Shown, Site, fields
from neardup.service.pages.layout import trouble

PAGES = (
    Page("GET", "/", home.show),
    Page("GET", "/search", search.show),
    Page("GET", "/document", reading.show),
    Page("GET", "/compare", compare.show),
    Page("POST", "/compare", compare.answer),
    Page("GET", "/tune", tune.show),
    Page("GET", "/collection", collection.show),
    Page("GET", "/collection/cluster", collection.show_cluster),
    Page("GET", "/collection/report", collection_report.show),
    Page("GET", "/collection/audit", collection_audit.show),
    Page("POST", "/collection/audit", collection_audit.begin, level="write"),
    *collection_audit.ASKED,
)

__all__ = ["PAGES", "Asked", "Page", "Shown", "Site", "fields", "prepare", "prepare_further", "trouble"]

_LONG = 4.0
"""Seconds after which somebody who waits is told why."""


def prepare(say: Callable[[str], None]) -> None:
    """Compile or load what search computes with, before anybody waits for it."""
    _told(say, "The first start on a machine compiles, for half a minute.", search.prepare)


def prepare_further(say: Callable[[str], None]) -> Thread:
    """A thread, to be started, that compiles or loads what compare computes with: half of all, and not needed for the
    first page."""
    wait = "Compare is being compiled, once on this machine; for a minute its answers are late."
    return Thread(target=_told, args=(say, wait, compare.prepare), name="neardup-prepare", daemon=True)


def _told(say: Callable[[str], None], wait: str, work: Callable[[], None]) -> None:
    """Do something, and say what it is where it takes long."""
    timer = Timer(_LONG, say, [wait])
    timer.daemon = True
    timer.start()
    try:
        work()
    finally:
        timer.cancel()
