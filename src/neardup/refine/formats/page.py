"""What every response format is read into: ranked results with what can be compared of them, and the way back.

Fields   which fields hold what, where the caller names them
Result   one result: the fields that grouping and people need, and the record as it came
Page     the results of a response, best first, and `write`, which puts records back where they were
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

SIGNATURE_FIELD = "neardup_signature"
"""Where a signature made at index time is looked for."""

NOTE_FIELD = "neardup"
"""What a result is given: its group, relation and match."""

Id = str | int
"""Of a result, as the engine has it."""

Counts = dict[str, int]
"""Of a grouping: results, groups, folded."""


@dataclass(frozen=True)
class Fields:
    """The names that the caller gave. None: guessed by the usual names. A name with dots is a path into nested objects
    where no field has the whole name."""

    text: str | None = None
    html: str | None = None
    signature: str | None = None
    id: str | None = None


class Result(NamedTuple):
    """One result. What it does not have is None, and so is what is empty, and a snippet that nobody needs
    where there is a text or a signature."""

    id: Id | None
    url: str | None
    title: str | None
    snippet: str | None
    text: str | bytes | None
    html: str | bytes | None
    signature: str | bytes | None
    raw: dict[str, Any]
    """The record itself, which is never changed."""


@dataclass(frozen=True)
class Page:
    """The results of one response, the best first."""

    results: list[Result]
    write: Callable[[list[dict[str, Any]], Counts | None], Any] = field(compare=False)
    """Records, in the order in which they are to be shown → the response with these in place of its results. All else
    is as it came, the engine's own counts too. The counts of the grouping are written beside them, as the response's
    own `neardup`, where there are any and the shape has room. The response that was read is not changed."""


def with_counts(response: dict[str, Any], counts: Counts | None) -> dict[str, Any]:
    """A response with the counts of its grouping, if there are any."""
    return response if counts is None else {**response, NOTE_FIELD: counts}
