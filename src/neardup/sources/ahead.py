"""Reading ahead: an iterator that works in a thread of its own, a few items before they are asked for."""

from collections.abc import Iterable, Iterator
from queue import Queue
from threading import Event, Thread
from typing import TypeVar

T = TypeVar("T")


def ahead(items: Iterable[T], depth: int = 4, *, wait: bool = True) -> Iterator[T]:
    """The same items; what the other side raises is raised here. Stops reading when it is no longer asked.

    wait: then for the item at hand too, so that nothing goes on behind the caller's back; not where items come from
    somebody who may take forever.
    """
    queue: Queue[tuple[T | None, BaseException | None, bool]] = Queue(depth)
    stop = Event()

    def read() -> None:
        try:
            for item in items:
                queue.put((item, None, False))
                if stop.is_set():
                    return
            queue.put((None, None, True))
        except BaseException as error:
            queue.put((None, error, True))

    thread = Thread(target=read, name="neardup-ahead", daemon=True)
    thread.start()
    try:
        while True:
            item, error, last = queue.get()
            if error is not None:
                raise error
            if last:
                return
            yield item  # type: ignore[misc]
    finally:
        stop.set()
        while not queue.empty():  # at most one more is put, and now there is room for it
            queue.get_nowait()
        if wait:
            thread.join()
