"""Records of any engine → results: which field is the text, the HTML, the signature, by the usual names or as named."""

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from neardup.errors import InputError, UsageError
from neardup.refine.formats.page import SIGNATURE_FIELD, Fields, Id, Result
from neardup.sources.fields import HTML_NAMES, ID_NAMES, TEXT_NAMES, URL_NAMES

SNIPPET_NAMES = ("snippet", "summary", "excerpt", "abstract", "description", "highlight")
TITLE_NAMES = ("title", "name", "headline")

NAMES: dict[str, tuple[str, ...]] = {
    "id": ID_NAMES,
    "url": URL_NAMES,
    "title": TITLE_NAMES,
    "snippet": SNIPPET_NAMES,
    "text": tuple(name for name in TEXT_NAMES if name not in (*HTML_NAMES, *SNIPPET_NAMES)),
    "html": HTML_NAMES,
    "signature": (SIGNATURE_FIELD,),
}
"""The usual names of what a result may have, the likelier first."""

_LONGEST_NAME, _MOST_NAMES = 40, 100
"""Of a field that is proposed instead of a missing one: characters, and how many are compared."""


class MissingField(UsageError):
    """A field that the caller named and no result has. `role` is what it should be: text, html, signature or id."""

    def __init__(self, role: str, path: str, why: str) -> None:
        super().__init__(f"{role}_field = {path!r}: {why}")
        self.role, self.path, self.why = role, path, why


def results(
    records: Sequence[Any],
    fields: Fields,
    *,
    raws: Sequence[dict[str, Any]] | None = None,
    names: Mapping[str, tuple[str, ...]] = NAMES,
    snippet: Callable[[dict[str, Any]], str | None] | None = None,
) -> list[Result]:
    """A result of every record.

    raws      what goes back to the caller, where it is not the record itself
    snippet   of a raw record, where the format has a place of its own for it, which goes before the usual names. It is
              not looked at where a result has a text or a signature; HTML may turn out to have no text
    """
    if not all(isinstance(record, dict) for record in records):
        raise _no_object(records)
    raws = records if raws is None else raws
    present: set[str] = set().union(*records)
    chosen = {role: tuple(name for name in usual if name in present) for role, usual in names.items()}
    for role in ("text", "html", "signature", "id"):
        name = getattr(fields, role)
        if name is not None:
            chosen[role] = (name,)
            if name not in present:
                records = _reached(records, name, role, present)
    columns = [_column(records, chosen[role]) for role in ("url", "title", "snippet", "text", "html", "signature")]
    if snippet is not None:
        usual, texts, signatures = columns[2], columns[3], columns[5]
        columns[2] = [
            named if text or signature else snippet(raw) or named
            for named, raw, text, signature in zip(usual, raws, texts, signatures, strict=True)
        ]
    return list(map(Result, [_id(record, chosen["id"]) for record in records], *columns, raws))


def listed(found: Any, where: str) -> list[dict[str, Any]]:
    """The records at a place of a response, if they are a list of objects."""
    if not isinstance(found, list):
        raise InputError(f"{where}: is {type(found).__name__}; it is a list of results.")
    if not all(isinstance(record, dict) for record in found):
        raise _no_object(found)
    return found


def _no_object(records: Sequence[Any]) -> InputError:
    place, kind = next((at + 1, type(r).__name__) for at, r in enumerate(records) if not isinstance(r, dict))
    return InputError(
        f"result {place} is {kind}; a result is an object (dict) with an id or url and text, html, snippet or a "
        "stored signature."
    )


def _column(records: Sequence[dict[str, Any]], names: tuple[str, ...]) -> list[Any]:
    """Of every record the first of these fields that has text."""
    if not names:
        return [None] * len(records)
    usual = [record.get(names[0]) for record in records]
    if all(type(value) is str and value and not value.isspace() for value in usual):
        return usual
    return [_first(record, names) for record in records]


def _first(record: dict[str, Any], names: tuple[str, ...]) -> Any:
    """The first of these fields that has text."""
    for name in names:
        value = record.get(name)
        text = value if isinstance(value, str | bytes) else _joined(value)
        if text and not text.isspace():
            return text
    return None


def _joined(value: Any) -> str | None:
    """A field of several values is their lines; what is no text is nothing."""
    if isinstance(value, list | tuple) and all(isinstance(part, str) for part in value):
        return "\n".join(value)
    return None


def _id(record: dict[str, Any], names: tuple[str, ...]) -> Id | None:
    for name in names:
        value = record.get(name)
        if value is not None and value != "":
            return value if isinstance(value, str | int) else str(value)
    return None


def _reached(records: Sequence[dict[str, Any]], path: str, role: str, present: set[str]) -> list[dict[str, Any]]:
    """The records with what a path leads to under the path's own name."""
    found = [_follow(record, path.split(".")) for record in records]
    if records and all(value is None for value in found):
        known = sorted(map(str, present))
        near = _near(path, known)
        hint = f"did you mean {near!r}?" if near else f"they have {', '.join(known[:12]) or 'no fields'}."
        raise MissingField(role, path, f"none of the {len(records)} results has that field; {hint}")
    return [{**record, path: value} for record, value in zip(records, found, strict=True)]


def _near(path: str, known: list[str]) -> str | None:
    """Return the name that somebody may have meant. Names that people type are short, and comparing long ones takes
    cubic time: two requests of 240 kB kept a service busy for minutes."""
    if len(path) > _LONGEST_NAME:
        return None
    names = [name for name in known if len(name) <= _LONGEST_NAME][:_MOST_NAMES]
    return next(iter(get_close_matches(path, names, n=1)), None)


def _follow(record: Any, parts: list[str]) -> Any:
    """Return what a path leads to; through a list of objects, all that it leads to in them, lists among it spread."""
    found: list[Any] = []
    several, left = False, [(record, 0)]
    while left:
        place, depth = left.pop()
        if depth == len(parts):
            found += [] if place is None else [place]
        elif isinstance(place, list):
            several = True
            left += [(one, depth) for one in reversed(place)]
        elif isinstance(place, dict):
            left.append((place.get(parts[depth]), depth + 1))
    if not several:
        return found[0] if found else None
    return [text for value in found for text in (value if isinstance(value, list) else [value])] or None
