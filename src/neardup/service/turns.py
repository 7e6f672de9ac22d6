"""Turns at Python's one lock: short requests first, long ones a step at a time beside them.

Threads that compute share the lock that the event loop needs for every packet. Beside sixteen of them, of eight streams
and three texts of 15 MB, a check of a few words waited for the loop alone 100 ms and more. So what is long (a part of a
stream, a text, a body to decode) takes a turn here first, while what is short goes at once.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

PATIENCE = 0.02
"""Seconds after a long step from which the next one begins, though short work goes on all the time."""

QUIET = 0.25
"""Seconds without short work from which several long steps run at a time."""

_SPACE = 0.002
"""Seconds between two pieces of long bodies while short work is done: 128 MB a second."""

_LOOK = 0.005
"""Seconds between two looks while somebody waits."""


class Turns:
    """Who may compute. Belongs to an event loop."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._short = self._long = 0
        self._last_short = self._last_long = float("-inf")
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._look: asyncio.TimerHandle | None = None
        self._pieces: deque[asyncio.Future[None]] = deque()

    @property
    def quiet(self) -> bool:
        """Return whether no short work is going on, or was a moment ago."""
        return not self._short and asyncio.get_running_loop().time() - self._last_short >= QUIET

    @asynccontextmanager
    async def short(self) -> AsyncIterator[None]:
        """Do short work, at once; long steps that have not begun wait."""
        self._short += 1
        try:
            yield
        finally:
            self._short -= 1
            self._last_short = asyncio.get_running_loop().time()
            if self._waiting:
                self._admit()

    @asynccontextmanager
    async def long(self) -> AsyncIterator[None]:
        """Do a long step, when it is its turn."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self._admit()
        try:
            await turn
            yield
        finally:
            if turn.done() and not turn.cancelled():
                self._long -= 1
                self._last_long = asyncio.get_running_loop().time()
            self._admit()

    async def piece(self) -> None:
        """Return when the next piece of a long body may be read: one in each pass of the event loop, and fewer while
        short work is done. Ten clients that send 15 MB each would otherwise make every pass ten times as long."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._pieces.append(turn)
        if len(self._pieces) == 1:
            self._next_piece_soon()
        await turn

    def _next_piece_soon(self) -> None:
        loop = asyncio.get_running_loop()
        if self._short:
            loop.call_later(_SPACE, self._next_piece)
        else:
            loop.call_soon(self._next_piece)

    def _next_piece(self) -> None:
        turn = self._pieces.popleft()
        if not turn.done():
            turn.set_result(None)
        if self._pieces:
            self._next_piece_soon()

    def _admit(self) -> None:
        """Begin the steps whose turn it is, and look again soon where some still wait."""
        now = asyncio.get_running_loop().time()
        while self._waiting and (self._waiting[0].done() or self._may_begin(now)):
            turn = self._waiting.popleft()
            if not turn.done():
                self._long += 1
                turn.set_result(None)
        if self._waiting and self._look is None:
            self._look = asyncio.get_running_loop().call_later(_LOOK, self._look_again)

    def _look_again(self) -> None:
        self._look = None
        self._admit()

    def _may_begin(self, now: float) -> bool:
        if self._long:
            return self._long < self._most and self.quiet
        return not self._short or now - self._last_long >= PATIENCE
