"""A list of objects: what JSONL is read into, and what people make of their own results."""

from typing import Any

from neardup.refine.formats.page import Fields, Page
from neardup.refine.formats.records import listed, results


def recognises(response: Any) -> bool:
    """A list or tuple is plain, whatever is in it."""
    return isinstance(response, list | tuple)


def read(response: Any, fields: Fields) -> Page:
    """Every object is a result, in their order."""
    found = list(response) if recognises(response) else response
    return Page(results(listed(found, "results"), fields), lambda records, _: list(records))
