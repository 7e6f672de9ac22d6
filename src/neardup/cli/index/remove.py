"""neardup index remove PATH [IDS|-]…."""

import json
import sys
from collections.abc import Iterator
from itertools import islice
from typing import Any

import click

from neardup.cli.index.pipe import reading_input
from neardup.cli.index.place import index_path, opened
from neardup.cli.options import without_unneeded
from neardup.errors import InputError

_AT_ONCE = 1000
_SHOWN = 20

LONGEST_LINE = 64 << 20
"""Bytes of a line: an id, or a whole document as JSON."""


@click.command(no_args_is_help=True)
@index_path
@click.argument("ids", nargs=-1, metavar="[IDS|-]...")
@click.option("--id-field", default="id", show_default=True, metavar="NAME", help="Field with the id, in JSON lines.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors.")
def remove(path: str, ids: tuple[str, ...], **given: Any) -> None:
    """Forget documents by their id.

    Without IDS they are read from standard input: one a line, or JSON objects with an id. Ids that are not there are
    told, and no error.

    \b
    neardup index remove seen.ndx https://example.org/gone
    jq -c 'select(.status == 404)' fetched.jsonl | neardup index remove seen.ndx
    """
    without_unneeded()
    from neardup.cli.show import Talk, many
    from neardup.comparing.documents import inert

    talk = Talk(quiet=given["quiet"])
    if ids in ((), ("-",)) and sys.stdin.isatty():
        talk.say("Reading ids from standard input, one a line; Ctrl-D ends it.")
    wanted = _read(given["id_field"]) if ids in ((), ("-",)) else iter(ids)
    removed = 0
    unknown: list[str] = []
    absent = 0
    with opened(path) as index:
        while some := list(islice(wanted, _AT_ONCE)):
            for id, gone in zip(some, index.remove_many(some), strict=True):
                removed += gone
                absent += not gone
                if not gone and len(unknown) < _SHOWN:
                    unknown.append(id)
        left = len(index)
    for id in unknown:
        talk.say(f"{inert(id)}: is not there")
    if absent > len(unknown):
        talk.say(f"… and {absent - len(unknown):,} more")
    talk.say(f"{many(removed, 'document')} removed, {absent:,} not there; {left:,} left")


def _lines() -> Iterator[bytes]:
    with reading_input():
        while line := sys.stdin.buffer.readline(LONGEST_LINE + 1):
            yield line


def _read(field: str) -> Iterator[str]:
    for number, raw in enumerate(_lines(), 1):
        if len(raw) > LONGEST_LINE:
            raise InputError(f"stdin:{number}: has more than {LONGEST_LINE:,} bytes. Give an id a line.")
        try:
            line = raw.decode().strip()
        except UnicodeDecodeError as error:
            place = f"byte {raw[error.start]:#04x} at column {error.start + 1}"
            raise InputError(f"stdin:{number}: not UTF-8: {place}. Convert it to UTF-8.") from error
        if not line:
            continue
        if not line.startswith("{"):
            yield line
            continue
        try:
            found = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"stdin:{number}: not JSON: {error}.") from error
        id = found.get(field)
        if not isinstance(id, str | int | float) or isinstance(id, bool):
            raise InputError(
                f"stdin:{number}: the field {field!r} is no id; there are {', '.join(map(repr, found)) or 'none'}. "
                "Choose it with --id-field."
            )
        yield str(id)
