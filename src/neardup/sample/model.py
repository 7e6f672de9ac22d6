"""What the sample is made of: documents and labelled pairs of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["LabelledPair", "SampleDocument"]


@dataclass(frozen=True)
class SampleDocument:
    """A document of the sample with how it came about.

    `kind` is a word, or two parted by a slash where a change has grades or variants (`edited/light`,
    `reformatted/case`, `template/weather`). `original` is the id of the document that it was derived
    from, or its own id. `fetched` is an ISO 8601 date-time in UTC, `language` a BCP 47 tag.
    """

    id: str
    url: str
    site: str
    title: str
    text: str
    html: str
    language: str
    fetched: str
    original: str
    kind: str


@dataclass(frozen=True)
class LabelledPair:
    """Two documents (ids, a before b) and what a careful reader would say of them."""

    a: str
    b: str
    kind: str
    label: Literal["duplicate", "different"]
    why: str
