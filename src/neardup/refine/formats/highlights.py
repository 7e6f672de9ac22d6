"""What an engine marks within a snippet, taken out: tags around words, entities, the dots between fragments."""

import re
from html import unescape
from typing import Any

_TAG = re.compile(r"</?[A-Za-z][^<>]{0,200}>")


def unmarked(found: Any) -> str | None:
    """The plain text of a snippet, of a list of fragments (a line each), or of all fields that have any; None where
    there is no text in it."""
    if isinstance(found, str):
        return unescape(_TAG.sub("", found)).strip() or None
    if isinstance(found, dict):
        found = list(found.values())
    if isinstance(found, list):
        return "\n".join(filter(None, map(unmarked, found))) or None
    return None
