"""Streams of lines: a document each in, an answer each out, in order, for as long as a client likes.

Ending      what ends a stream before its client does
Arriving    what came and was not taken yet: whole lines, in bounded memory
Work        what is done with the lines of a stream: how one is read, and the call for many of them
converse    read, do, answer, until the client has sent all

A reader gathers lines while a thread works on those before, so both cores are busy. It stops reading at BLOCK bytes, or
where there is no room for more (`line_room`),
and the thread's answers are sent before the next lines are taken: a client that does not take its answers is not read
from any further. What a client sees answered is done; writes are answered after their commit.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec

from neardup.abandoning import run_until
from neardup.errors import Abandoned, NeardupError, Unreachable
from neardup.service.batching import isolated
from neardup.service.http import Call, Gone
from neardup.service.lanes import SHORT, Lane
from neardup.service.line_room import LineRoom, StreamRoom
from neardup.service.problems import Busy, Problem, let_go, plain, problem_of, validation_detail
from neardup.service.quotas import Caller
from neardup.service.settings import Limits
from neardup.service.shapes import LineProblem, too_long
from neardup.service.weighing import check_line

MOST, MOST_BYTES = 1000, 1 << 20
"""Lines in a call, and bytes, unless one line alone has more."""

BESIDE, BESIDE_BYTES = 200, 256 << 10
"""The same while others ask for something short: 10 ms of work."""

BLOCK = 4 << 20
"""Bytes; reading goes on until as many wait."""

GATHER = 0.002
"""Seconds. A client's next packets are waited for so long before a few lines are worked on: lines that are sent
together are then done together."""


class Arriving:
    """The lines of a stream that wait to be worked on. `None` among the blocks stands for a line that is too long."""

    def __init__(self, call: Call, longest: int, memory: StreamRoom) -> None:
        self._call, self._longest, self._memory = call, longest, memory
        self._blocks: deque[bytes | None] = deque()
        self._lines: deque[bytes | None] = deque()
        """Of the block that is being taken."""
        self._held = 0
        self._open: list[bytes] = []
        """The beginning of a line whose end has not come."""
        self._open_bytes = 0
        self._passing = False
        """The line that is coming is too long already."""
        self._in_work = 0
        """Bytes of the lines that were taken and are not done."""
        self._done = asyncio.Event()
        self.problem: Problem | None = None
        """Why no more is read."""
        self.ended = self.gone = False
        self.stir = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()

    async def read(self) -> None:
        """Until all has come, or the client goes away."""
        try:
            more = True
            while more:
                await self._room.wait()
                piece, more = await self._call.piece()
                await self._make_room(piece)
                self._take(piece)
                self._memory.hold(self._needed(b""))
            if self._open or self._passing:
                self._take(b"\n")
            self.ended = True
        except Gone:
            self.gone = True
        except Problem as problem:
            self.problem = problem
        finally:
            self.stir.set()

    async def _make_room(self, piece: bytes) -> None:
        """Take room for a piece more. While there is none, wait for the lines in hand, which give room back, or, of a
        line that has not ended, for other streams and requests."""
        while True:
            try:
                return self._memory.hold(self._needed(piece))
            except Problem:
                if not (self.some or self._in_work):
                    return await self._memory.wait(self._needed(piece))
            self._done.clear()
            await self._done.wait()

    def _needed(self, piece: bytes) -> int:
        """Return the bytes for which there must be room, with a piece more: of a long line that has not ended, as
        many as it may have."""
        whole = piece.rfind(b"\n") + 1
        open_ = len(piece) - whole + (0 if whole else self._open_bytes)
        ended = self._held + self._in_work + (whole + self._open_bytes if whole else 0)
        return ended + (open_ if open_ <= SHORT else max(open_, self._longest))

    @property
    def lacks_room(self) -> bool:
        """Return whether the line that is coming waits for room."""
        return self._memory.waits

    def _take(self, piece: bytes) -> None:
        last = piece.rfind(b"\n") + 1
        if last:
            if self._passing:
                self._passing = False
                first = piece.index(b"\n") + 1
                self._blocks.append(None)
                whole = piece[first:last]
            else:
                whole = b"".join((*self._open, piece[:last]))
            if whole:
                self._blocks.append(whole)
                self._held += len(whole)
            self._open, self._open_bytes = [], 0
            self.stir.set()
            if self._held >= BLOCK:
                self._room.clear()
        rest = piece[last:]
        if rest and not self._passing:
            self._open.append(rest)
            self._open_bytes += len(rest)
            if self._open_bytes > self._longest:
                self._passing, self._open, self._open_bytes = True, [], 0

    @property
    def few(self) -> bool:
        """Whether it is worth to wait for more."""
        return not self.ended and self._held < BLOCK // 8

    def take(self, most: int, most_bytes: int) -> list[bytes | None]:
        """Return the next lines that wait. Empty ones are among them."""
        lines: list[bytes | None] = []
        held = 0
        while self.some and len(lines) < most and held < most_bytes:
            if not self._lines:
                block = self._blocks.popleft()
                self._lines.extend([None] if block is None else block.split(b"\n"))
                if block is not None:
                    self._lines.pop()  # behind the last line end
                del block
            line = self._lines.popleft()
            lines.append(line)
            held += 0 if line is None else len(line) + 1
        self._held -= held
        self._in_work = held
        if self._held < BLOCK:
            self._room.set()
        return lines

    @property
    def in_work(self) -> int:
        """Bytes of the lines that were taken last."""
        return self._in_work

    def done(self) -> None:
        """Give back the room of the lines that were taken last."""
        self._in_work = 0
        with suppress(Problem):  # the end of a last line without one is a byte more
            self._memory.hold(self._needed(b""))
        self._done.set()

    @property
    def some(self) -> bool:
        """Whether lines wait."""
        return bool(self._lines or self._blocks)


class Ending:
    """What ends a stream before its client does: the service stops, or the token is revoked."""

    def __init__(self, caller: Caller) -> None:
        self.caller = caller
        self.problem: Problem | None = None
        self._event = asyncio.Event()

    def end(self, problem: Problem) -> None:
        """End it after the lines in hand; the line behind them gets the problem."""
        self.problem = self.problem or problem
        self._event.set()

    async def wait(self) -> None:
        """Return when it ends."""
        await self._event.wait()

    async def pause(self, seconds: float) -> None:
        """Wait so long, or until it ends."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._event.wait()


@dataclass(frozen=True)
class Work:
    """What a stream does."""

    decoder: msgspec.json.Decoder[Any]
    call: Callable[[list[Any]], Sequence[Any]]
    """Lines as they were decoded → what is answered, as it is sent. In a thread."""
    adding: bool = False


async def converse(
    call: Call,
    work: Work,
    limits: Limits,
    lane: Lane,
    room: LineRoom,
    *,
    ending: Ending,
    refused: Callable[[int], None],
    failed: Callable[[Exception], None],
    unreachable: Callable[[Unreachable], None],
) -> None:
    """Answer a stream.

    Args:
        refused: Is called with the number of lines that could not be taken.
        failed: Is called with a mistake of ours.
        unreachable: Is called, in a thread, with the error of an index that cannot be reached.
    """
    loop = asyncio.get_running_loop()
    memory = room.of(ending.caller)
    arriving = Arriving(call, limits.line, memory)
    await call.begin(limits.idle)
    reader = loop.create_task(arriving.read())
    stopped = loop.create_task(_stir_at(ending, arriving))
    number, broken = 1, False
    try:
        while True:
            why = await _lines_or_why_not(arriving, limits, ending)
            if why is not None:
                await call.lines(plain(LineProblem(number, why.out(call.id))) + b"\n", limits.idle)
                break
            if not arriving.some:
                break
            lines = arriving.take(*((MOST, MOST_BYTES) if call.turns.quiet else (BESIDE, BESIDE_BYTES)))
            answered = partial(_answered, work, lines, number, limits, call.id, unreachable)
            count = len(lines)
            del lines
            async with room.working(arriving.in_work):
                answers, done, bad = await lane.begin(run_until, lambda: arriving.gone, answered)
            del answered
            number += count
            arriving.done()
            call.documents += done
            if bad:
                refused(bad)
            if answers:
                await call.lines(answers, limits.idle)
            if arriving.gone:
                raise Gone
            if seconds := ending.caller.spend(done):
                await ending.pause(seconds)
    except Gone:
        raise
    except Abandoned:
        raise Gone from None
    except Exception as error:
        failed(error)
        broken = True
        let_go(error)
    finally:
        await _ended(reader, stopped)
        memory.hold(0)
    if broken:
        await call.lines(plain(LineProblem(number, Problem("failed").out(call.id))) + b"\n", limits.idle)
    await call.end(limits.idle)


async def _lines_or_why_not(arriving: Arriving, limits: Limits, ending: Ending) -> Problem | None:
    """Wait until there are lines, or none will come. The problem that ends the stream before."""
    try:
        async with asyncio.timeout(limits.idle):
            while not (arriving.some or arriving.ended or arriving.gone or arriving.problem or ending.problem):
                arriving.stir.clear()
                await arriving.stir.wait()
    except TimeoutError:
        if arriving.lacks_room:
            return Busy("held", f"There was no room for this line for {limits.idle:g} seconds.")
        return Problem("timeout", f"No line came for {limits.idle:g} seconds.")
    if arriving.gone:
        raise Gone
    if arriving.ended and not arriving.some:
        return None
    if ending.problem:
        return ending.problem
    if arriving.problem and not arriving.some:
        return arriving.problem
    if arriving.some and arriving.few:
        await asyncio.sleep(GATHER)
    return None


async def _stir_at(ending: Ending, arriving: Arriving) -> None:
    await ending.wait()
    arriving.stir.set()


async def _ended(*tasks: asyncio.Task[None]) -> None:
    for task in tasks:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def _answered(
    work: Work,
    lines: list[bytes | None],
    first: int,
    limits: Limits,
    id_: str,
    unreachable: Callable[[Unreachable], None],
) -> tuple[bytes, int, int]:
    """The answers to some lines, how many documents they were, and how many lines were refused."""
    answers: list[Any] = [None] * len(lines)
    places, documents = [], []
    for at, line in enumerate(lines):
        try:
            found = _decoded(work, line, limits)
        except Problem as problem:
            answers[at] = LineProblem(first + at, problem.out(id_))
            continue
        if found is not None:
            places.append(at)
            documents.append(found)
    refused = sum(answer is not None for answer in answers)
    results: Sequence[Any] = []
    if documents:
        results = isolated(work.call, documents)
    for at, result in zip(places, results, strict=True):
        if isinstance(result, NeardupError):
            refused += 1
            if isinstance(result, Unreachable):
                unreachable(result)
            result = LineProblem(first + at, problem_of(result, adding=work.adding).out(id_))
        answers[at] = result
    return msgspec.json.Encoder().encode_lines([a for a in answers if a is not None]), len(documents), refused


def _decoded(work: Work, line: bytes | None, limits: Limits) -> Any:
    """What a line says; None for an empty one."""
    if line is None or len(line) > limits.line:
        raise Problem("too-large", f"The line has more than {limits.line:,} bytes.")
    if not line or line.isspace():
        return None
    check_line(line)
    try:
        found = work.decoder.decode(line)
    except msgspec.ValidationError as error:
        raise Problem("invalid", validation_detail(error)) from None
    except (ValueError, RecursionError):
        raise Problem("not-json", "The line is no JSON object in UTF-8.") from None
    if hasattr(found, "text") and too_long(found, limits.document):
        raise Problem("too-large", f"The document has more than {limits.document:,} bytes.")
    return found
