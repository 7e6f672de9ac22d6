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
    collection, collection_run, collection_report, collection_audit, collection_coming
               /collection  a finished run: facts, groups and their members; its report; its labelling page
    templates/            Jinja2, styles, scripts

A page is a row of PAGES. Its function takes what is served and what is asked and returns what is sent; it runs in a
thread, and a Problem that it raises is shown as a page too. To add one: a module with such a function, its template
(which extends layout.html), and a row; the navigation names those that people should find.
"""

from collections.abc import Callable

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
from neardup.service.pages.collection_run import watched
from neardup.service.pages.layout import trouble
from neardup.service.preparing import SYSTEMS

PAGES = (
    Page("GET", "/", home.show),
    Page("GET", "/search", search.show),
    Page("GET", "/document", reading.show),
    Page("GET", "/compare", compare.show, needs=SYSTEMS, long=True),
    Page("POST", "/compare", compare.answer, needs=SYSTEMS, long=True),
    Page("GET", "/tune", tune.show),
    Page("GET", "/collection", watched(collection.show)),
    Page("GET", "/collection/group", watched(collection.show_group)),
    Page("GET", "/collection/report", watched(collection_report.show), long=True),
    Page("GET", "/collection/audit", watched(collection_audit.show)),
    Page("POST", "/collection/audit", watched(collection_audit.begin), level="write", long=True),
    *(asked._replace(show=watched(asked.show)) for asked in collection_audit.ASKED),
)

__all__ = ["PAGES", "Asked", "Page", "Shown", "Site", "fields", "prepare", "trouble"]


def prepare(say: Callable[[str], None]) -> None:
    """Compile or load what search computes with, before anybody waits for it."""
    from neardup.kernels import when_compiling

    when_compiling(lambda: say("Compiling, once on this machine: up to half a minute."))
    search.prepare()
