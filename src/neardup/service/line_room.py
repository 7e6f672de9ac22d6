"""Memory for what streams hold: beyond a little each, it is part of `--max-held`, as the memory of requests is.

LineRoom     for all streams of a service together
StreamRoom   what one of them takes

A line that becomes long takes room for a longest line at once. If streams took it piece by piece, all could hold a part
of a line and wait for the rest for ever. A stream that finds no room waits behind those that wait already, and is
refused after `--timeout`.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from neardup.service.lanes import SHORT
from neardup.service.problems import Busy, Problem
from neardup.service.quotas import Caller, Places
from neardup.service.settings import Limits

FREE = (1 << 20) + SHORT
"""Bytes that a stream holds without asking for room: the lines of a call, and the beginning of the next one."""

_LOOK = 0.02
"""Seconds between two looks for room, of a stream that waits for it."""


class LineRoom:
    """The room of all streams, at most half of that for requests (or a longest line), and their turns at long lines."""

    def __init__(self, room: Places, limits: Limits) -> None:
        self.seconds = limits.seconds
        self.waiting: list[StreamRoom] = []
        self._room = room
        self.most = max(room.total // 2, min(limits.line, room.total))
        self._taken = 0
        self._longest, self._working = limits.line, 0
        self._turns: deque[tuple[int, asyncio.Future[None]]] = deque()

    def of(self, caller: Caller) -> "StreamRoom":
        """Return the room of a stream that begins."""
        return StreamRoom(self, caller)

    def take(self, stream: "StreamRoom", caller: Caller, number: int) -> None:
        """Take bytes, or raise the problem that there is no room, or that others wait for it."""
        if self._taken + number > self.most or (self.waiting and self.waiting[0] is not stream):
            raise Busy("held", f"Lines of streams have {self._taken:,} bytes already, and {self.most:,} are allowed.")
        self._room.take(caller, number)
        self._taken += number

    def give_back(self, caller: Caller, number: int) -> None:
        """Give back bytes that were taken."""
        self._room.give_back(caller, number)
        self._taken -= number

    @asynccontextmanager
    async def working(self, size: int) -> AsyncIterator[None]:
        """Work on lines of this many bytes in this block. Long ones wait until those in progress, with them, have no
        more bytes than a line may have: decoded, one takes four times its bytes, and the work on it as much again."""
        if size <= FREE:
            yield
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._turns.append((size, turn))
        self._admit()
        try:
            await turn
            yield
        finally:
            if turn.done() and not turn.cancelled():
                self._working -= size
            self._admit()

    def _admit(self) -> None:
        while self._turns:
            size, turn = self._turns[0]
            if not turn.done():
                if self._working and self._working + size > self._longest:
                    return
                self._working += size
                turn.set_result(None)
            self._turns.popleft()


class StreamRoom:
    """The room that one stream takes."""

    def __init__(self, all_: LineRoom, caller: Caller) -> None:
        self._all, self._caller = all_, caller
        self._taken = 0

    def hold(self, size: int) -> None:
        """Take room for all that the stream holds, or give back what it needs no longer; raise where there is none."""
        more = min(max(0, size - FREE), self._all.most) - self._taken
        if more > 0:
            self._all.take(self, self._caller, more)
        elif more < 0:
            self._all.give_back(self._caller, -more)
        self._taken += more

    @property
    def waits(self) -> bool:
        """Return whether the stream waits for room."""
        return self in self._all.waiting

    async def wait(self, size: int) -> None:
        """Hold as much when there is room, after those that have waited longer. Raise where there is none in time."""
        loop, until = asyncio.get_running_loop(), float("inf")
        self._all.waiting.append(self)
        try:
            while True:
                if self._all.waiting[0] is self:
                    until = min(until, loop.time() + self._all.seconds)
                    try:
                        return self.hold(size)
                    except Problem:
                        if loop.time() >= until:
                            raise
                await asyncio.sleep(_LOOK)
        finally:
            self._all.waiting.remove(self)
