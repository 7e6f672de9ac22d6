"""/: search where a collection is served; else what there is."""

from neardup.service.pages import search
from neardup.service.pages.asking import Asked, Shown, Site
from neardup.service.pages.layout import page


def show(site: Site, asked: Asked) -> Shown:
    """GET /."""
    if site.collection is not None:
        return search.show(site, asked)
    return page("Pages", "home.html", has_index=site.index is not None)
