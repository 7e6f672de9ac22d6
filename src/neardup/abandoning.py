"""Work that stops when nobody waits for it.

run_until    run a call on behalf of somebody who may give up
checkpoint   raise Abandoned once that has happened; long work calls this between its steps
abandoned    the same question, without the error
carried      the same call for another thread, which stops for the same reason

Whether anybody still waits is asked of a context variable, so that the steps in between (an index, a comparison, an
alignment) need not hand it down. Outside of a service nothing is set, and a checkpoint costs 50 ns.
"""

from collections.abc import Callable
from contextvars import ContextVar, copy_context
from typing import ParamSpec, TypeVar

from neardup.errors import Abandoned

P = ParamSpec("P")
Made = TypeVar("Made")

_GONE: ContextVar[Callable[[], bool] | None] = ContextVar("neardup_gone", default=None)


def run_until(gone: Callable[[], bool], call: Callable[[], Made]) -> Made:
    """Return what a call returns; its checkpoints raise Abandoned from when `gone` says so."""
    if gone():
        raise Abandoned("nobody waits for this any more.")
    before = _GONE.set(gone)
    try:
        return call()
    finally:
        _GONE.reset(before)


def checkpoint() -> None:
    """Raise Abandoned if nobody waits for the work of this context any more."""
    if abandoned():
        raise Abandoned("nobody waits for this any more.")


def abandoned() -> bool:
    """Return whether nobody waits for the work of this context any more."""
    gone = _GONE.get()
    return gone is not None and gone()


def carried(call: Callable[P, Made]) -> Callable[P, Made]:
    """Return the call with the context of this thread, to be run once by another one."""
    context = copy_context()
    return lambda *args, **options: context.run(call, *args, **options)
