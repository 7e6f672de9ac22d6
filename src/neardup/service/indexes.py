"""The indexes that are served, each under a name, with threads and batches of its own.

NAME        what a name looks like
by_name     what is to be served, by name
Indexes     all of them

The default one answers the addresses that name none: the one called `default`, or else the first.
"""

import asyncio
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from time import monotonic

from neardup.errors import UsageError
from neardup.index import Index
from neardup.service import shapes
from neardup.service.endpoints import ENDING, Endpoints
from neardup.service.metrics import Metrics
from neardup.service.problems import Problem
from neardup.service.quotas import Caller, Places
from neardup.service.settings import Settings
from neardup.service.turns import Turns

NAME = re.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
DEFAULT = "default"

MOST = 100
"""Indexes of a service: each has threads, and up to 100 MB of what was written last."""


def by_name(served: Index | Mapping[str, Index] | None) -> Mapping[str, Index]:
    """Return the indexes that are to be served, by name; a single one is called default."""
    found = {} if served is None else {DEFAULT: served} if isinstance(served, Index) else served
    for name in found:
        if not NAME.fullmatch(name):
            raise UsageError(
                f"{name!r}: the name of an index has 1 to 64 of the characters a-z, A-Z, 0-9, '.', '_' and '-', and "
                "begins with a letter or a digit."
            )
    if len(found) > MOST:
        raise UsageError(f"there are {len(found):,} indexes to serve, and {MOST} is the most.")
    return found


class Indexes:
    """What is done for each address of each index."""

    def __init__(self, served: Mapping[str, Index], settings: Settings, metrics: Metrics, turns: Turns) -> None:
        self._metrics = metrics
        self._all = {
            name: Endpoints(index, settings, metrics.of_index(name), turns, name) for name, index in served.items()
        }
        self.default_name = DEFAULT if DEFAULT in served else next(iter(served), "")
        self.default = self._all.get(self.default_name) or Endpoints(None, settings, metrics.of_index(""), turns)
        """Where none is served, what needs no index."""
        limits = settings.limits
        self._places = {False: Places("requests", limits.concurrency), True: Places("streams", limits.streams)}
        for places in self._places.values():  # so that a slow index cannot take all of them
            places.divide([each.caller for each in self])

    @property
    def names(self) -> Collection[str]:
        """The names of all that are served."""
        return self._all.keys()

    def __iter__(self) -> Iterator[Endpoints]:
        return iter(self._all.values())

    def __bool__(self) -> bool:
        return bool(self._all)

    def named(self, name: str | None, caller: Caller) -> Endpoints:
        """Return the one with this name, the default one for None, if the caller may use it."""
        called = self.default_name if name is None else name
        if called not in self._all or not _may_use(caller, called):
            raise Problem("unknown-index")  # the same for both, so that nobody learns of names
        return self._all[called]

    @contextmanager
    def place(self, endpoints: Endpoints, *, stream: bool) -> Iterator[None]:
        """Hold a place for a request on an index, or say that there is none."""
        places = self._places[stream]
        places.take(endpoints.caller)
        try:
            yield
        finally:
            places.give_back(endpoints.caller)

    async def listed(self, caller: Caller) -> shapes.IndexList:
        """GET /v1/indexes: those that a caller may use."""
        wanted = [name for name in self._all if _may_use(caller, name)]
        found = await asyncio.gather(*(self._all[name].about() for name in wanted))
        return shapes.IndexList(
            [
                shapes.IndexOut(name, documents, recipe, keep, name == self.default_name)
                for name, (documents, recipe, keep) in zip(wanted, found, strict=True)
            ]
        )

    async def reach(self) -> dict[tuple[str, str], str]:
        """GET /readyz: return what is wrong with the stores, by name and kind, in sentences for operators."""
        found = await asyncio.gather(*(each.reach() for each in self))
        return {
            (name, kind): problem
            for name, problems in zip(self._all, found, strict=True)
            for kind, problem in problems.items()
        }

    async def scraped(self) -> tuple[bytes, str]:
        """GET /metrics: the counters, with what the stores say of themselves."""
        await asyncio.gather(*(each.measure() for each in self))
        return self._metrics.text()

    def close(self) -> bool:
        """End the threads. False: some still work, and will not be waited for."""
        for end in (0.0, monotonic() + ENDING):  # all are asked to end before any is waited for
            ended = [each.close(end) for each in {*self, self.default}]
        return all(ended)


def _may_use(caller: Caller, name: str) -> bool:
    return caller.token is None or caller.token.may_use(name)
