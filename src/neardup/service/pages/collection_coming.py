"""What takes longer than a request may: it goes on in a thread of its own, and a page says so until it is there.

begun         work in such a thread; a service that is told to end does not wait for it
waited_for    whether it is there, in some seconds
coming_page   what is shown meanwhile; it asks again by itself
"""

from collections.abc import Callable
from concurrent.futures import Future, wait
from threading import Thread
from time import monotonic
from typing import TypeVar

from neardup.abandoning import checkpoint
from neardup.service.pages.asking import Shown
from neardup.service.pages.layout import page

Made = TypeVar("Made")

_LOOK = 0.2
"""Seconds between two looks whether its asker still waits."""


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


def waited_for(coming: "Future[Made]", seconds: float) -> bool:
    """Return whether work is done within some seconds. An asker who gives up is not waited for any longer."""
    end = monotonic() + seconds
    while not coming.done() and monotonic() < end:
        checkpoint()
        wait([coming], _LOOK)
    return coming.done()


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
