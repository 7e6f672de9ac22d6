"""What is long waits for what is short, one at a time, and never for ever."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from threading import Event

from hypothesis import given, settings
from hypothesis import strategies as st

from neardup.service import lanes
from neardup.service import turns as module
from neardup.service.lanes import Lane
from neardup.service.turns import Turns
from tests.service.serving import in_a_loop

MOST = 3


class Doing:
    """Record when steps begin, and keep them running until `ends` is set."""

    def __init__(self, turns: Turns) -> None:
        self.turns = turns
        self.began: list[int] = []
        self.ends: dict[int, asyncio.Event] = {}

    async def step(self, number: int) -> None:
        self.ends[number] = asyncio.Event()
        async with self.turns.long():
            self.began.append(number)
            await self.ends[number].wait()


@asynccontextmanager
async def steps(many: int) -> AsyncIterator[tuple[Doing, list[asyncio.Task[None]]]]:
    """That many, all of which want to begin; they are ended at the end."""
    doing = Doing(Turns(MOST))
    tasks = [asyncio.create_task(doing.step(number)) for number in range(many)]
    yield doing, tasks
    for end in doing.ends.values():
        end.set()
    await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 10)


async def passes(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.002)


def test_several_long_steps_run_at_a_time_when_nothing_is_short():
    async def run() -> list[int]:
        async with steps(5) as (doing, _):
            await asyncio.sleep(0.05)
            return list(doing.began)

    assert in_a_loop(run()) == [0, 1, 2]


def test_one_long_step_at_a_time_beside_short_work_and_never_none():
    async def run() -> None:
        async with steps(0) as (doing, _), doing.turns.short():
            waiting = [asyncio.create_task(doing.step(number)) for number in range(3)]
            for number in range(3):
                await passes(lambda number=number: len(doing.began) == number + 1)  # type: ignore[misc]
                await asyncio.sleep(3 * module.PATIENCE)
                assert doing.began == list(range(number + 1))
                doing.ends[number].set()
            await asyncio.gather(*waiting)

    in_a_loop(run())


def test_a_long_step_begins_when_the_short_work_is_done(monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 60.0)

    async def run() -> None:
        async with steps(1) as (doing, _):
            await passes(lambda: doing.began == [0])
            doing.ends[0].set()
            async with doing.turns.short():
                task = asyncio.create_task(doing.step(1))
                await asyncio.sleep(0.05)
                assert doing.began == [0]
            await passes(lambda: doing.began == [0, 1])
            doing.ends[1].set()
            await task

    in_a_loop(run())


def test_short_work_never_waits():
    async def run() -> bool:
        async with steps(5) as (doing, _):
            await asyncio.sleep(0.05)
            async with asyncio.timeout(1), doing.turns.short():
                return not doing.turns.quiet

    assert in_a_loop(run())


@settings(max_examples=50, deadline=None)
@given(st.sets(st.integers(0, 7)), st.sets(st.integers(0, 7)))
def test_who_gives_up_leaves_the_turn_to_others(before, after):
    """Before the step began, or while it goes on."""

    async def run() -> None:
        async with steps(8) as (doing, tasks):
            for number in before:
                tasks[number].cancel()
            await asyncio.sleep(0.01)
            for number in after:
                tasks[number].cancel()
            left = set(range(8)) - before - after
            for number in sorted(left):
                await passes(lambda number=number: number in doing.began)  # type: ignore[misc]
                doing.ends[number].set()
            await asyncio.gather(*tasks, return_exceptions=True)
            async with asyncio.timeout(5), doing.turns.long():
                pass

    in_a_loop(run())


@settings(max_examples=50, deadline=None)
@given(st.lists(st.booleans(), min_size=1, max_size=12), st.booleans())
def test_pieces_of_long_bodies_are_read_in_order_one_in_a_pass(cancelled, short):
    async def run() -> list[int]:
        turns, read = Turns(MOST), list[int]()

        async def piece(number: int) -> None:
            await turns.piece()
            read.append(number)

        async def all_of_them() -> None:
            tasks = [asyncio.create_task(piece(number)) for number in range(len(cancelled))]
            await asyncio.sleep(0)
            for task, gone in zip(tasks, cancelled, strict=True):
                if gone:
                    task.cancel()
            seen = 0
            while not all(task.done() for task in tasks):
                await asyncio.sleep(0)
                assert len(read) <= seen + 1
                seen = len(read)
            await asyncio.wait_for(turns.piece(), 5)

        if short:
            async with turns.short():
                await all_of_them()
        else:
            await all_of_them()
        return read

    assert in_a_loop(run()) == [number for number, gone in enumerate(cancelled) if not gone]


async def left(lane: Lane, runs: Event, end: Event) -> None:
    """Begin a call in a lane, which goes on until `end`, and give up when it runs."""
    task = asyncio.create_task(lane.begin(lambda: (runs.set(), end.wait(30))))
    await passes(runs.is_set)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


def test_a_step_whose_asker_left_keeps_its_turn_while_its_thread_runs():
    async def run() -> None:
        turns, runs, end, next_one = Turns(MOST), Event(), Event(), Event()
        lane, other = Lane(1, "a", turns.long), Lane(1, "b", turns.long)
        try:
            async with turns.short():
                await left(lane, runs, end)
                task = asyncio.create_task(other.begin(next_one.set))
                await asyncio.sleep(5 * module.PATIENCE)
                assert not next_one.is_set()
                end.set()
                await asyncio.wait_for(task, 5)
            await asyncio.wait_for(lane.begin(lambda: None), 5)
        finally:
            end.set()

    in_a_loop(run())


def test_a_thread_that_does_not_end_takes_the_turn_of_nobody_for_ever(monkeypatch):
    monkeypatch.setattr(lanes, "LEFT", 0.2)

    async def run() -> None:
        turns, runs, end = Turns(MOST), Event(), Event()
        lane, other = Lane(2, "a", turns.long), Lane(1, "b", turns.long)
        try:
            async with turns.short():
                await left(lane, runs, end)
                await asyncio.wait_for(other.begin(lambda: None), 5)
                await asyncio.wait_for(lane.begin(lambda: None), 5)  # in its other thread
        finally:
            end.set()

    in_a_loop(run())


def test_a_call_waits_for_its_turn_where_a_thread_is_free():
    """And not in one of a lane whose threads are taken: it would keep others from theirs."""

    async def run() -> None:
        turns, runs, end = Turns(MOST), Event(), Event()
        lane, other = Lane(1, "a", turns.short), Lane(1, "b", turns.long)
        try:
            await left(lane, runs, end)
            waiting = asyncio.create_task(lane.begin(lambda: None))
            await asyncio.sleep(0.02)
            assert not waiting.done()
            assert turns._short == 1
            await asyncio.wait_for(other.begin(lambda: None), 5)
            end.set()
            await asyncio.wait_for(waiting, 5)
            assert turns._short == 0
        finally:
            end.set()

    in_a_loop(run())
