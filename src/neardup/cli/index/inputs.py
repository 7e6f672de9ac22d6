"""Where documents for an index come from: every format that `dedup` reads, and lines on standard input."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from neardup.cli.options import QUOTING, Decorator, with_options
from neardup.errors import InputError, UsageError

if TYPE_CHECKING:
    from neardup.cli.index.lines import LineReading
    from neardup.cli.show import Talk
    from neardup.index import Document
    from neardup.sources import Documents, InputFile, Problems, Split
    from neardup.sources.problems import Problem

Waiting = Callable[[], AbstractContextManager[None]]

_WITHOUT_FIELD = ("no text field", "no id")
"""Kinds of problems."""

files_argument = click.argument("files", nargs=-1, metavar="[FILES|-]...")

_FIELDS: tuple[Decorator, ...] = (
    click.option("--text-field", metavar="NAME", help="Column with the text.  [default: guessed]"),
    click.option(
        "--id-field",
        metavar="NAME",
        help="Column with the id; none, or where there is none: the text's SHA-256.  [default: guessed]",
    ),
    click.option("--url-field", metavar="NAME", help="Column with the URL.  [default: guessed]"),
    click.option("--html/--no-html", default=None, help="The text column holds HTML.  [default: guessed]"),
)
_QUIET = click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors.")
_LONGEST = click.option(
    "--max-document-bytes", default=64 << 20, show_default=True, help="Longer documents are errors."
)


def document_options(command: Any) -> Any:
    """How files of any format are read."""
    formats = click.option(
        "--format",
        "format_",
        metavar="NAME",
        help="Of the input: parquet, jsonl, csv, lines, text, html, warc.  [default: by the file's name, else jsonl]",
    )
    errors = click.option(
        "--on-error",
        type=click.Choice(["stop", "skip"]),
        default="stop",
        show_default=True,
        help="What to do with what cannot be read.",
    )
    return with_options(command, *_FIELDS, formats, QUOTING, errors, _LONGEST, _QUIET)


def line_options(command: Any) -> Any:
    """How lines are read."""
    formats = click.option(
        "--format",
        "format_",
        type=click.Choice(["jsonl", "lines"]),
        help="jsonl: a line is an object; lines: a line is a text.  [default: jsonl]",
    )
    errors = click.option(
        "--on-error",
        type=click.Choice(["stop", "skip", "pass"]),
        default="stop",
        show_default=True,
        help="What to do with lines that cannot be read: stop, leave them out, or pass them on untouched.",
    )
    return with_options(command, *_FIELDS, formats, errors, _LONGEST, _QUIET)


@dataclass
class Counted:
    """What could not be read: reported at once, or counted."""

    problems: "Problems"
    field_named: bool = False

    @classmethod
    def of(cls, given: dict[str, Any]) -> "Counted":
        """By --on-error."""
        from neardup.sources.problems import Problems, only_counted

        named = bool(given["text_field"] or given.get("id_field"))
        on_error: Literal["stop", "skip"] = "stop" if given["on_error"] == "stop" else "skip"
        return cls(Problems(on_error, given["max_document_bytes"], only_counted), named)

    @property
    def skipped(self) -> int:
        """Return how many could not be read."""
        return self.problems.counts.total()

    @property
    def lacking(self) -> int:
        """Return how many lack a field that was asked for."""
        return sum(self.problems.counts[kind] for kind in _WITHOUT_FIELD)

    @property
    def first(self) -> "Problem | None":
        """Return the first one that lacks such a field."""
        return next((problem for kind, problem in self.problems.first.items() if kind in _WITHOUT_FIELD), None)

    def refuse_nothing(self, documents: int) -> None:
        """Where no document was read for want of a field that was named, or that all lack: the choice is wrong then,
        and not the documents."""
        if not documents and self.lacking and (self.field_named or self.lacking == self.skipped):
            lines = "the one line that came could not" if self.skipped == 1 else f"none of {self.skipped:,} lines could"
            raise InputError(f"{lines} be read. {self.first}. Choose fields with --text-field and --id-field.")


def line_reading(given: dict[str, Any]) -> "LineReading":
    """How lines are read, by the options."""
    from neardup.cli.index.lines import LineReading

    if given["format_"] not in (None, "jsonl", "lines"):
        raise UsageError(
            f"-: standard input is read line by line, and {given['format_']} has no lines. Name files, or give a "
            "document a line (--format jsonl, --format lines)."
        )
    held = LineReading.held(given["max_document_bytes"], given["on_error"])
    names = ("text_field", "id_field", "url_field", "html")
    return LineReading(given["format_"] or "jsonl", **{name: given[name] for name in names}, **held)


def progress(named: tuple[str, ...], talk: "Talk") -> AbstractContextManager[object]:
    """Bars for files. What comes in on standard input has no size that is known, and may be typed at this moment."""
    return nullcontext() if named == ("-",) else talk


def places(files: tuple[str, ...], talk: "Talk") -> tuple[str, ...]:
    """What was named; standard input where nothing was. An index is no input."""
    import sys

    from neardup.index import rocks

    for name in files:
        if "://" not in name and rocks.exists(Path(name)):
            raise UsageError(
                f"{name}: is an index, and documents are asked for. To add one index to another: neardup index export "
                f"{name} -o FILE, then neardup index add INDEX --export FILE."
            )
    if len(files) > 1 and "-" in files:
        raise UsageError("-: standard input, or files; not both at once.")
    if files in ((), ("-",)):
        if sys.stdin.isatty():
            talk.say("Reading standard input, a document a line; Ctrl-D ends it.")
        return ("-",)
    return files


def found_files(
    files: tuple[str, ...], format: str | None, problems: "Problems", talk: "Talk"
) -> tuple["InputFile", ...]:
    """The input files that were named."""
    from neardup.sources import Problems, discover
    from neardup.sources.discover import told_briefly

    unread = Problems(problems.on_error)
    found = discover(files, format=format, problems=unread)
    for sentence in [*found.remarks, *told_briefly(unread.found)]:
        talk.say(sentence)
    for problem in unread.found:
        problems.report(problem.source, problem.position, problem.kind, problem.detail)
    return found.files


def refuse_export(file: "InputFile") -> None:
    """An exported index is Parquet too, and holds no documents."""
    from neardup.index.moving import EXPORT
    from neardup.sources import format_of

    if file.format == "parquet" and list(format_of(file).columns(file)) == EXPORT.names:
        raise UsageError(
            f"{file.name}: is an exported index, and documents are asked for. Add it to an index of the same recipe "
            f"with: neardup index add INDEX --export {file.name}"
        )


def documents(
    files: tuple[str, ...], given: dict[str, Any], counted: Counted, talk: "Talk", waiting: Waiting = nullcontext
) -> Iterator[list["Document"]]:
    """Batches of documents of what was named."""
    if files == ("-",):
        from neardup.cli.index.lines import live_lines

        for batch in live_lines(line_reading(given), counted.problems, talk.say, waiting):
            if found := [line.document for line in batch if line.document is not None]:
                yield found
        return
    yield from _of_files(found_files(files, given["format_"], counted.problems, talk), given, counted, talk)


def _of_files(
    files: Iterable["InputFile"], given: dict[str, Any], counted: Counted, talk: "Talk"
) -> Iterator[list["Document"]]:
    from neardup.cli.index.lines import AT_ONCE, LOOKS_LIKE_HTML, looks_like_html
    from neardup.sources import format_of

    chosen = [_with_fields(file, given, talk) for file in files]
    splits = [split for file in chosen for split in format_of(file).splits(file)]
    batch: list[Document] = []
    talk.begin("sketch", sum(split.size for split in splits))
    for split in splits:
        fresh = split.part == 0 and given["html"] is None
        read = format_of(split.file).read(split, counted.problems)
        while True:
            try:
                some = next(read, None)
                made = [] if some is None else _documents(split, some, counted.problems)
            except InputError:  # what came before it counts
                if batch:
                    yield batch
                raise
            if some is None:
                break
            if fresh and made and looks_like_html(made[0].text):
                talk.say(LOOKS_LIKE_HTML.format(split.file.name))
            fresh = False
            for document in made:
                batch.append(document)
                if len(batch) >= AT_ONCE:
                    yield batch
                    batch = []
            if batch:
                yield batch
                batch = []
            talk.advance(min(split.size, some.text.nbytes), len(some), some.text.nbytes)
    talk.end()


def _with_fields(file: "InputFile", given: dict[str, Any], talk: "Talk") -> "InputFile":
    from neardup.cli.index.lines import by_content
    from neardup.sources import choose

    refuse_export(file)
    names = {role: given[f"{role}_field"] for role in ("text", "id", "url")}
    fields, sentences = choose(file, **names, quoting=given["quoting"])
    for sentence in sentences:
        talk.say(by_content(sentence, fields))
    return file.with_fields(fields if given["html"] is None else replace(fields, html=given["html"]))


def _documents(split: "Split", found: "Documents", problems: "Problems") -> list["Document"]:
    """Without those that are too long, or no text."""
    from neardup.cli.index.lines import named_by
    from neardup.index import Document
    from neardup.sources.files import is_remote
    from neardup.sources.folder import location
    from neardup.text.extract import decoded

    n, fields = len(found), split.file.fields
    ids = [None] * n if found.id is None else found.id.to_pylist()
    urls = [None] * n if fields.url is None else found.columns[fields.url].to_pylist()
    charsets = found.charset or [None] * n
    is_a_file = bool(split.file.members) and not is_remote(split.file.path)
    made: list[Document] = []
    for i, text in enumerate(found.text.to_pylist()):
        stored = text.encode() if isinstance(text, str) else text or b""
        place = str(ids[i]) if split.file.members else split.file.name
        position = None if split.file.members else int(found.positions[i])
        if len(stored) > problems.max_document_bytes:
            limit = f"{len(stored):,} bytes, more than {problems.max_document_bytes:,}"
            problems.report(place, position, "too long", limit, "Raise --max-document-bytes")
            continue
        id = named_by(stored) if ids[i] is None else str(ids[i])
        url = None if urls[i] is None else str(urls[i])
        member = split.file.members[int(found.positions[i]) - 1] if is_a_file else None
        reference = None if member is None else os.path.abspath(location(split.file, member))
        if fields.html if found.html is None else found.html[i]:
            page = stored if charsets[i] is None else decoded(stored, charset=charsets[i])
            made.append(Document(id, None, page, url, reference))
        elif _is_text(stored):
            made.append(Document(id, stored, None, url, reference))
        else:
            problems.report(place, position, "not UTF-8", f"{len(stored):,} bytes of text", "Convert it to UTF-8")
    return made


def _is_text(stored: bytes) -> bool:
    try:
        stored.decode()
    except UnicodeDecodeError:
        return False
    return True
