"""What is wrong with a line of JSON, said so that it can be mended.

A line that msgspec refuses is looked at again by the standard library, for two reasons: it reads what Python
itself writes and JSON does not know (NaN, Infinity, halves of surrogate pairs in fields that nobody asked for),
and what it refuses too is explained there.
"""

import json
from typing import Any

import msgspec

from neardup.sources.base import InputFile
from neardup.sources.problems import Problems


class Lookout:
    """Examines the lines of a block in which something is wrong, one by one."""

    def __init__(self, file: InputFile, row: type[msgspec.Struct], problems: Problems) -> None:
        self._file = file
        self._row = row
        self._decode = msgspec.json.Decoder(row).decode
        self._problems = problems

    def _report(self, position: int, kind: str, detail: str, advice: str = "") -> None:
        self._problems.report(self._file.name, position, kind, detail, advice)

    def too_long(self, position: int, length: int) -> None:
        """Report a line beyond the limit."""
        limit = self._problems.max_document_bytes
        self._report(
            position,
            "too long",
            f"the line has {length:,} bytes, more than {limit:,}",
            "Raise --max-document-bytes",
        )

    def row(self, line: bytes, position: int) -> msgspec.Struct | None:
        """What was decoded of a line; None if it is blank or was reported."""
        if len(line) > self._problems.max_document_bytes:
            self.too_long(position, len(line))
            return None
        if not line.strip():
            return None
        try:
            return self._decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return self._second_opinion(line, position)

    def _second_opinion(self, line: bytes, position: int) -> msgspec.Struct | None:
        try:
            value = json.loads(line.decode())
        except UnicodeDecodeError as error:
            detail = f"byte {line[error.start]:#04x} at column {error.start + 1}"
            self._report(position, "not UTF-8", detail, "Convert the file to UTF-8")
            return None
        except RecursionError:
            self._report(position, "not JSON", "nested too deeply")
            return None
        except ValueError as error:
            self._report(position, "not JSON", f"{error}; every line must be one JSON object")
            return None
        if not isinstance(value, dict):
            self._report(position, "not an object", f"the line is {_a(value)}, not an object with fields")
            return None
        wrong = self._wrong(value)
        if wrong:
            self._report(position, *wrong)
            return None
        named = zip(self._row.__struct_fields__, self._row.__struct_encode_fields__, strict=True)
        return self._row(**{field: value[name] for field, name in named if name in value})

    def _wrong(self, value: dict[str, Any]) -> tuple[str, str] | None:
        """What keeps an object from being a document: kind and detail."""
        text, id_ = self._file.fields.text, self._file.fields.id
        if text not in value:
            return "no text field", f"no field {text!r}; there are {_some(list(value))}"
        if not isinstance(value[text], str | None):
            return "text not a string", f"the field {text!r} is {_a(value[text])}"
        if id_ is not None:
            if value.get(id_) is None:
                found = "is null" if id_ in value else f"is missing; there are {_some(list(value))}"
                return "no id", f"the field {id_!r} {found}"
            if isinstance(value[id_], bool) or not isinstance(value[id_], str | int | float):
                return "no id", f"the field {id_!r} is {_a(value[id_])}, neither a string nor a number"
        for name in (text, id_):
            if name is not None and isinstance(value[name], str) and not encodable(value[name]):
                return (
                    "not UTF-8",
                    f"the field {name!r} has half of a surrogate pair (\\ud800 to \\udfff alone)",
                )
        return None


def encodable(text: str) -> bool:
    """Whether a string has a UTF-8 form."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _a(value: object) -> str:
    names = {
        bool: "a boolean",
        int: "a number",
        float: "a number",
        str: "a string",
        list: "an array",
        dict: "an object",
    }
    return names.get(type(value), "null")


def _some(names: list[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:10])
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return (shown + more) or "no fields at all"
