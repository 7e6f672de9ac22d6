"""What takes longer than a request may: it goes on in a thread of its own, and a page says so until it is there.

begun         work in such a thread; a service that is told to end does not wait for it
coming_page   what is shown meanwhile; it asks again by itself
"""

from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import TypeVar

from neardup.service.pages.asking import Shown
from neardup.service.pages.layout import page

Made = TypeVar("Made")


def begun(work: Callable[[], Made]) -> "Future[Made]":
    """What will be made."""
    coming: Future[Made] = Future()

    def make() -> None:
        try:
            coming.set_result(work())
        except BaseException as error:  # it is told to those who ask
            coming.set_exception(error)

    Thread(target=make, name="neardup-coming", daemon=True).start()
    return coming


def coming_page(within: str, coming: str) -> Shown:
    """For a part of the collection: report or audit. `coming`: what is going on."""
    return page(
        within.capitalize(),
        "collection_coming.html",
        at="/collection",
        styles=["collection.css"],
        scripts=["collection_coming.js"],
        within=within,
        coming=coming,
    )
