"""Sentence frames and the dice that fill them.

    Draw     a keyed stream of random choices, the same on every Python
    Topic    what can be said about one subject in one language: titles, sentences, list items, slots
    Teller   says it: expands frames for one document, so that names stay the same within a page

A frame is a sentence with holes: `{ship}` takes a value of the slot `ship` and never the same one
twice until the slot is used up; `{SHIP}` takes one value of `ship` and keeps it for the whole
document; `{3..40}` is a whole number and `{0.4..3.8}` a number with one decimal. Slot values may
contain holes themselves.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

__all__ = ["Draw", "Teller", "Topic", "kept_slots", "topic"]

T = TypeVar("T")

_HOLE = re.compile(r"\{([^{}]+)\}")
_RANGE = re.compile(r"([\d.]+?)\.\.([\d.]+)")


class Draw:
    """Random choices that depend on the key only.

    All methods go through `random.Random.random`, the one method whose sequence Python promises to
    keep from version to version, and a key made of strings is hashed the same way everywhere.
    """

    def __init__(self, *key: object) -> None:
        self._random = random.Random(":".join(map(str, key))).random

    def between(self, low: int, high: int) -> int:
        """A whole number from low to high, both included."""
        return low + int(self._random() * (high - low + 1))

    def pick(self, values: Sequence[T]) -> T:
        """One of the values."""
        return values[int(self._random() * len(values))]

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self._random() < probability

    def shuffled(self, values: Sequence[T]) -> list[T]:
        """Fisher and Yates: every order equally likely."""
        deck = list(values)
        for i in range(len(deck) - 1, 0, -1):
            j = int(self._random() * (i + 1))
            deck[i], deck[j] = deck[j], deck[i]
        return deck

    def hexadecimal(self, digits: int) -> str:
        """A number as session ids are printed."""
        return "".join(self.pick("0123456789abcdef") for _ in range(digits))


@dataclass(frozen=True)
class Topic:
    """What can be said about one subject in one language."""

    language: str
    name: str
    site_name: str
    titles: tuple[str, ...]
    sentences: tuple[str, ...]
    items: tuple[str, ...]
    slots: Mapping[str, tuple[str, ...]]


def topic(
    language: str,
    name: str,
    *,
    site: str,
    titles: str,
    sentences: str,
    items: str = "",
    slots: Mapping[str, str],
) -> Topic:
    """A topic from running text: frames one a line, slot values parted by ` | `."""
    values = {slot: tuple(part.strip() for part in text.split("|")) for slot, text in slots.items()}
    values.setdefault("minute", ("00", "05", "10", "15", "20", "25", "30", "35", "40", "45", "50", "55"))
    return Topic(language, name, site, _lines(titles), _lines(sentences), _lines(items), values)


def kept_slots(frame: str) -> list[str]:
    """The slots of a frame whose value is kept for the whole document, as `{SHIP}`."""
    return [hole for hole in _HOLE.findall(frame) if hole.isupper()]


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.splitlines() if line.strip())


class Teller:
    """Expands the frames of a topic for one document."""

    def __init__(self, subject: Topic, draw: Draw, *, kept: Mapping[str, str] | None = None) -> None:
        self.subject = subject
        self.draw = draw
        self._decks: dict[str, list[str]] = {}
        self._kept: dict[str, str] = dict(kept or {})

    def title(self) -> str:
        """A title of the topic."""
        return self.say(self.draw.pick(self.subject.titles))

    def sentence(self) -> str:
        """A sentence of the topic; no frame comes twice until all were used."""
        return self.say(self._next("", self.subject.sentences))

    def item(self) -> str:
        """A list item of the topic, in the same manner."""
        return self.say(self._next("-", self.subject.items))

    def say(self, frame: str) -> str:
        """The frame with its holes filled, first letter capital, in NFC."""
        said = unicodedata.normalize("NFC", self._fill(frame))
        return said[:1].upper() + said[1:]

    def _fill(self, frame: str) -> str:
        return _HOLE.sub(lambda hole: self._value(hole[1]), frame)

    def _value(self, hole: str) -> str:
        if match := _RANGE.fullmatch(hole):
            return self._number(match[1], match[2])
        if hole.isupper():
            if hole not in self._kept:
                self._kept[hole] = self._value(hole.lower())
            return self._kept[hole]
        return self._fill(self._next(hole, self.subject.slots[hole]))

    def _number(self, low: str, high: str) -> str:
        if "." not in low:
            return str(self.draw.between(int(low), int(high)))
        tenths = self.draw.between(round(float(low) * 10), round(float(high) * 10))
        return f"{tenths / 10:.1f}"

    def _next(self, name: str, values: Sequence[str]) -> str:
        deck = self._decks.get(name)
        if not deck:
            deck = self._decks[name] = self.draw.shuffled(values)
        return deck.pop()
