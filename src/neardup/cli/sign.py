"""neardup sign [FILES|-]…."""

import json
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import click

from neardup.cli.index.inputs import Counted, files_argument, found_files, places
from neardup.cli.index.pipe import quiet_when_nobody_listens
from neardup.cli.options import without_unneeded
from neardup.errors import UsageError

if TYPE_CHECKING:
    from neardup.cli.index.lines import Line
    from neardup.cli.show import Talk
    from neardup.index import Document


@click.command(no_args_is_help=False)
@files_argument
@click.option("--field", default="neardup_signature", show_default=True, metavar="NAME", help="Of the signature.")
@click.option("--overwrite", is_flag=True, help="Also where that field holds something that is no signature.")
@click.option("--text-field", metavar="NAME", help="Field with the text.  [default: guessed]")
@click.option("--html/--no-html", default=None, help="The text field holds HTML.  [default: guessed]")
@click.option(
    "--on-error",
    type=click.Choice(["stop", "skip", "pass"]),
    default="stop",
    show_default=True,
    help="What to do with lines that cannot be read: stop, leave them out, or pass them on untouched.",
)
@click.option("--max-document-bytes", default=64 << 20, show_default=True, help="Longer documents are errors.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors.")
def command(files: tuple[str, ...], field: str, overwrite: bool, quiet: bool, **given: Any) -> None:
    """Give every document a signature by which search results are grouped.

    FILES: JSONL, also compressed; standard input if there are none. Every line comes out as it is, with one field
    more: 256 bytes as base64, 344 characters, whatever the document's length. A signature that is there is made again,
    and its line written anew. Keep it in the search engine, stored and not indexed, and ask for it with the results;
    `neardup group` then needs no text.

    \b
    neardup sign pages.jsonl.gz | load-into-engine
    """
    without_unneeded()
    from neardup.cli.show import Talk, many
    from neardup.kernels import when_compiling

    if not field:
        raise UsageError("--field: a field has a name.")
    talk = Talk(quiet=quiet)
    counted, signed = Counted.of(given), 0
    output = sys.stdout.buffer
    named = places(files, talk)
    when_compiling(lambda: talk.say("Compiling, once on this machine: up to half a minute."))
    signing = _Signing(field, overwrite=overwrite, untouched=given["on_error"] == "pass")
    with quiet_when_nobody_listens(), signing:
        for batch in _lines(named, given, counted, talk):
            output.write(signing(batch))
            output.flush()
            signed += sum(line.document is not None for line in batch)
    _refuse_field(given["text_field"], counted, signed)
    said = f"{many(signed, 'document')} signed"
    if signing.unread:
        said += f"; {many(signing.unread, 'page')} could not be read, and will be similar to nothing"
    if counted.skipped:
        left = "passed on" if given["on_error"] == "pass" else "left out"
        said += f"; {many(counted.skipped, 'line')} could not be read, and {left}"
    talk.say(f"{said}.")


def _refuse_field(name: str | None, counted: Counted, signed: int) -> None:
    """Where no line has the field that was named: the name is wrong then, and not the lines."""
    if name is not None and not signed and counted.first is not None and counted.lacking == counted.skipped:
        raise UsageError(
            f"--text-field {name}: none of {counted.skipped:,} lines has it, so nothing was signed. {counted.first}."
        )


def _lines(named: tuple[str, ...], given: dict[str, Any], counted: Counted, talk: "Talk") -> Iterator[list["Line"]]:
    from neardup.cli.index.lines import LineReading, file_lines, live_lines
    from neardup.sources.fields import NONE

    held = LineReading.held(given["max_document_bytes"], given["on_error"])
    how = LineReading("jsonl", given["text_field"], NONE, NONE, given["html"], **held)
    if named == ("-",):
        yield from live_lines(how, counted.problems, talk.say, nullcontext)
        return
    files = found_files(named, None, counted.problems, talk)
    for file in files:
        if file.format != "jsonl":
            raise UsageError(f"{file.name}: a field is added to lines of JSON, and {file.format} has none. Give JSONL.")
    for file in files:
        yield from file_lines(file, how, counted.problems, talk.say)


class _Signing:
    """Lines in, lines with a signature out, on all cores."""

    def __init__(self, field: str, *, overwrite: bool, untouched: bool) -> None:
        """overwrite: whatever the field holds. untouched: lines without a document are passed on."""
        from neardup.engines.machine import cores
        from neardup.refine.signature import PAGES
        from neardup.text.workers import PageExtractor

        self._field, self._overwrite, self._untouched = field, overwrite, untouched
        self._name = json.dumps(field, ensure_ascii=False).encode("utf-8", "replace")
        self._cores = cores()
        self._pool = ThreadPoolExecutor(self._cores)
        self._extract = PageExtractor(PAGES, workers=self._cores)
        self.unread = 0
        """Pages that the parser gives up."""

    def __enter__(self) -> "_Signing":
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def __call__(self, batch: list["Line"]) -> bytes:
        """A batch as it is written."""
        documents = [line.document for line in batch if line.document is not None]
        step = -(-len(documents) // self._cores) or 1
        parts = [documents[at : at + step] for at in range(0, len(documents), step)]
        signed = list(self._pool.map(self._signed, parts))
        self.unread += sum(unread for _, unread in signed)
        signatures = (one.encode() for part, _ in signed for one in part)
        made: list[bytes] = []
        for line in batch:
            if line.document is not None:
                made.append(self._with(line, next(signatures)) + b"\n")
            elif self._untouched:
                made.append(line.raw + line.end)
        return b"".join(made)

    def _signed(self, documents: list["Document"]) -> tuple[list[str], int]:
        """Their signatures, and how many are pages that the parser gives up."""
        from neardup.refine.signature import read_pages, sign_many

        contents: list[Any] = [document.text or "" for document in documents]
        pages = [at for at, document in enumerate(documents) if document.html is not None]
        read = read_pages([documents[at].html or "" for at in pages], self._extract) if pages else []
        for at, text in zip(pages, read, strict=True):
            contents[at] = text or ""
        return sign_many(contents), read.count(None)

    def _with(self, line: "Line", signature: bytes) -> bytes:
        """The object of a line with its signature. All else stays byte for byte, unless there is one already: then the
        fields' values do."""
        import msgspec

        from neardup.refine.formats.verbatim import dumps, loads

        text = _text(line)
        if self._name in text:
            try:
                fields = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
            except msgspec.MsgspecError:  # what Python writes and JSON does not know: NaN, half of a surrogate pair
                fields = loads(text, "the line")
            if self._field in fields:
                self._may_go(fields[self._field], line)
            return dumps({**fields, self._field: signature.decode()})
        body = text.rstrip(b" \t\r")
        return b'%b,%b:"%b"}%b' % (body[:-1].rstrip(b" \t"), self._name, signature, text[len(body) :])

    def _may_go(self, value: Any, line: "Line") -> None:
        """Refuse to lose what is no signature."""
        import msgspec

        from neardup.refine.formats.verbatim import dumps
        from neardup.refine.signature import is_signature

        held = bytes(value) if isinstance(value, msgspec.Raw) else dumps(value)
        if self._overwrite or held in (b"null", b'""') or (held[:1] == b'"' and is_signature(json.loads(held))):
            return
        shown = held[:40].decode("utf-8", "replace") + ("…" if len(held) > 40 else "")
        raise UsageError(
            f"{line.source}, line {line.number}: its field {self._field!r} holds {shown}, which is no signature and "
            "would be lost. Give another --field, or --overwrite."
        )


def _text(line: "Line") -> bytes:
    """Without the mark that files of some editors begin with."""
    from neardup.cli.index.lines import BOM

    return line.raw.removeprefix(BOM) if line.number == 1 else line.raw
