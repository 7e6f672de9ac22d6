"""Requests that wait are answered together, and each gets its own answer."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

from hypothesis import given
from hypothesis import strategies as st

from neardup.errors import MissingExtra, StoreError, UsageError
from neardup.service import batching
from neardup.service.batching import Batches, isolated
from neardup.service.lanes import Lane
from tests.service.serving import in_a_loop


def refusing(numbers: list[int]) -> list[int]:
    """All or nothing, as an index is."""
    for number in numbers:
        if number < 0:
            raise UsageError(f"{number} is refused")
    return [number * 2 for number in numbers]


@given(st.lists(st.integers(-3, 10), min_size=1, max_size=40))
def test_bad_ones_do_not_spoil_the_others(numbers):
    calls = []

    def call(part):
        calls.append(part)
        return refusing(part)

    for number, found in zip(numbers, isolated(call, numbers), strict=True):
        if number < 0:
            assert isinstance(found, UsageError)
            assert str(number) in str(found)
        else:
            assert found == number * 2
    bad = sum(number < 0 for number in numbers)
    assert len(calls) <= 1 + 2 * bad * len(numbers).bit_length()


def test_an_index_that_fails_fails_for_all():
    def call(part):
        raise StoreError("gone")

    assert [type(found) for found in isolated(call, [1, 2, 3])] == [StoreError] * 3


def test_what_was_done_before_a_failure_is_told():
    """One is refused, so halves are tried; the store fails at the second."""
    stored: list[int] = []

    def call(numbers: list[int]) -> list[int]:
        refusing(numbers)
        if stored:
            raise StoreError("gone")
        stored.extend(numbers)
        return numbers

    first, second, third, fourth = isolated(call, [1, 2, -3, 4])
    assert [first, second] == stored
    assert isinstance(third, UsageError)
    assert isinstance(fourth, StoreError)


def test_a_part_that_is_missing_is_missing_for_those_that_need_it():
    def call(kinds: list[str]) -> list[str]:
        if "html" in kinds:
            raise MissingExtra("HTML", "web")
        return kinds

    text, page, other = isolated(call, ["text", "html", "text"])
    assert (text, other) == ("text", "text")
    assert isinstance(page, MissingExtra)


def test_what_gathers_during_a_call_is_one_call():
    """And nobody waits for longer than the call in progress."""
    calls: list[list[int]] = []
    begun, go_on = threading.Event(), threading.Event()

    def call(numbers: list[int]) -> list[int]:
        calls.append(numbers)
        if len(calls) == 1:
            begun.set()
            assert go_on.wait(20)
        return refusing(numbers)

    async def run() -> list[int | BaseException]:
        lane = Lane(1, "test", nullcontext)
        with lane.executor, ThreadPoolExecutor(1) as other:
            batches: Batches[int, int] = Batches(call, lane)
            first = asyncio.create_task(batches.ask(1))
            await asyncio.get_running_loop().run_in_executor(other, begun.wait)
            rest = [asyncio.create_task(batches.ask(number)) for number in (2, -3, 4, 5)]
            given_up = asyncio.create_task(batches.ask(6))
            await asyncio.sleep(0)
            given_up.cancel()
            go_on.set()
            return await asyncio.gather(first, *rest, return_exceptions=True)

    found = in_a_loop(run())
    assert found[:2] == [2, 4]
    assert isinstance(found[2], UsageError)
    assert found[3:] == [8, 10]
    assert calls[:2] == [[1], [2, -3, 4, 5]]
    assert all(6 not in call for call in calls)


def test_calls_are_bounded(monkeypatch):
    monkeypatch.setattr(batching, "MOST", 3)
    sizes = []

    def call(numbers):
        sizes.append(len(numbers))
        return numbers

    async def run():
        lane = Lane(1, "test", nullcontext)
        with lane.executor:
            batches: Batches[int, int] = Batches(call, lane)
            return await asyncio.gather(*(batches.ask(number, size=1) for number in range(10)))

    assert in_a_loop(run()) == list(range(10))
    assert max(sizes) == 3
