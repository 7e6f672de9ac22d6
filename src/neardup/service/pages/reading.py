"""/document: the text of a document of the collection, as it was read."""

from neardup.service.pages.asking import Asked, Shown, Site
from neardup.service.pages.layout import page
from neardup.service.pages.showing import LONGEST_LINK, clipped, legible, linkable
from neardup.service.problems import Problem

ROOM = 200_000
"""Characters that are shown."""


def show(site: Site, asked: Asked) -> Shown:
    """GET /document?id=; with at= where several documents have the id."""
    if site.collection is None:
        raise Problem("no-document", "No collection is served here: start neardup serve with --collection PATH.")
    found = site.collection.get(asked.query.get("id", ""), asked.place("at"))
    if found is None:
        raise Problem("no-document", "The collection has no document with this id.")
    title = clipped(legible(found.title), 160) or "Without a title"
    return page(
        title,
        "document.html",
        at="/search",
        styles=["document.css"],
        heading=title,
        document=found,
        outside=linkable(found.url) and len(found.url or "") <= LONGEST_LINK,
        text=legible(found.text[:ROOM]),
        left_out=max(0, len(found.text) - ROOM),
    )
