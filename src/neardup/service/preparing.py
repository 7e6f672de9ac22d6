"""What is compiled before anybody waits for it: once on a machine, later it is loaded.

    prepare_index   what documents are checked with, before the service can be asked
    the_rest        what it takes to group, to compare and sketch, and to judge by every system: each a step
    Preparing       these steps in a thread of their own, while the service is asked already; requests wait for theirs
    needed          the step that a request takes

All of it takes a minute on a machine that never did it. A check is answered after the first ten seconds; a request that
comes before its step is done waits for it, and is told why where that takes longer than a request may.
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Any

from neardup.errors import NeardupError
from neardup.index import Index
from neardup.index.answers import Keep
from neardup.recipe import Recipe
from neardup.service import shapes
from neardup.service.settings import Limits
from neardup.text.extract import extractor

GROUPING, MEASURING, SYSTEMS = "grouping", "measuring", "systems"

WAIT = "What groups, compares and sketches is being compiled, once on this machine; for a minute its answers are late."

_LOOK = 0.05
"""Seconds between two looks whether a step is done."""

_ROSES = " ".join(f"a rose is a rose is rose number {n} along the wall" for n in range(40))
_TULIPS = _ROSES.replace("number 20", "and tulip")


class Preparing:
    """Steps, by name, that are done one after the other in a thread. `say` is told where that means to compile."""

    def __init__(self, steps: Mapping[str, Callable[[], None]], say: Callable[[str], None] = lambda sentence: None):
        self._steps, self._say = steps, say
        self._done = {name: Event() for name in steps}
        self._thread = Thread(target=self._work, name="neardup-prepare", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def is_alive(self) -> bool:
        """Whether it has begun and not ended."""
        return self._thread.is_alive()

    async def done(self, step: str) -> None:
        """When a step is done; at once where it is none of these."""
        while step in self._done and not self._done[step].is_set():
            await asyncio.sleep(_LOOK)

    def _work(self) -> None:
        from neardup.kernels import when_compiling

        when_compiling(lambda: self._say(WAIT))
        try:
            for name, step in self._steps.items():
                with suppress(NeardupError):  # whoever asks for it is told
                    step()
                self._done[name].set()
        finally:
            for done in self._done.values():  # nobody waits for what will not be
                done.set()


def needed(asked: Any) -> str:
    """The step that a request takes; nothing where it is one on the index."""
    if isinstance(asked, shapes.Grouping):
        return GROUPING
    if isinstance(asked, shapes.Comparing):
        return MEASURING if asked.recipe is None and not asked.systems else SYSTEMS
    return MEASURING if isinstance(asked, shapes.Sketching) else ""


def prepare_index(index: Index) -> None:
    """Check something, here and in an index of the same kind that has a near-duplicate of it."""
    index.check("a rose is a rose")
    if extractor() is not None:
        index.check(html="<p>a rose is a rose")
    keep: Keep = "sketch" if index.keep == "sketch" else "text"
    with (
        suppress(NeardupError, OSError),
        TemporaryDirectory(prefix="neardup-") as folder,
        Index.open(Path(folder) / "prepare", index.recipe, keep=keep) as scratch,
    ):
        scratch.check_and_add("a", _ROSES)
        scratch.check(_ROSES)
        scratch.check(_TULIPS)
        scratch.similar(_TULIPS)


def the_rest(recipe: Recipe) -> dict[str, Callable[[], None]]:
    """What documents at hand are measured with, by the recipe of an index or of a new one."""
    return {GROUPING: _group, MEASURING: lambda: _measure(recipe), SYSTEMS: lambda: _judge(recipe)}


def _group() -> None:
    from neardup.service.grouping import group

    results: list[dict[str, Any]] = [{"id": "a", "text": _ROSES}, {"id": "b", "text": _TULIPS}]
    for query in (None, "tulip"):
        group(shapes.Grouping(results=results, query=query), Limits())


def _measure(recipe: Recipe) -> None:
    from neardup.service.measuring import compare, sketch

    compare(_both(), recipe)
    sketch(shapes.Sketching(documents=[shapes.Query(text=_ROSES)]), recipe)


def _judge(recipe: Recipe) -> None:
    from neardup.service.measuring import compare
    from neardup.service.pages.compare import prepare

    compare(_both(systems=True), recipe)
    prepare()


def _both(systems: bool = False) -> shapes.Comparing:
    return shapes.Comparing(first=shapes.Side(text=_ROSES), second=shapes.Side(text=_TULIPS), systems=systems)
