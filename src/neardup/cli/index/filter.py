"""neardup index filter PATH [FILES|-]…."""

import json
import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from neardup.atomic import local_place
from neardup.cli.index.inputs import (
    Counted,
    files_argument,
    found_files,
    line_options,
    line_reading,
    places,
    refuse_export,
)
from neardup.cli.index.pipe import Interruptible, Output, ends_in_half_a_line, quiet_when_nobody_listens
from neardup.cli.index.place import index_path, is_there, opened, refuse_others, shown, take_back
from neardup.cli.options import without_unneeded
from neardup.errors import OutputError, UsageError

if TYPE_CHECKING:
    from neardup.cli.index.lines import Line
    from neardup.cli.show import Talk
    from neardup.index import Document, Verdict
    from neardup.sources import InputFile

    Deliver = Callable[[list[Verdict]], None]
    Judge = Callable[[list[Document], Deliver], list[Verdict]]


@click.command("filter", no_args_is_help=True, short_help="Pass on the lines of new documents, and remember them.")
@index_path
@files_argument
@click.option(
    "--rejected",
    type=local_place,
    metavar="FILE",
    help="Append what is not passed on to this file, as JSONL: the verdict, and the line as `document`; `again`: what "
    "it is similar to has its own id.",
)
@click.option("--dry-run", is_flag=True, help="Pass on and reject the same lines, but remember nothing.")
@line_options
def filter_(path: str, files: tuple[str, ...], **given: Any) -> None:
    """Pass on the lines of new documents, byte for byte, and remember them.

    FILES: JSONL, also compressed; standard input if there are none. Lines are judged in their order, by what is stored
    and by each other: of several copies the first is passed on. Lines are answered as they arrive, without waiting for
    more. Where there is no index one is made, by recipe `stream`.

    A line is written before it is remembered. So a kill, a full disk or a closed pipe loses none: run it again, and
    what was not remembered is passed on, some lines of the last batch maybe a second time (at least once). Append to a
    file with >>: a second run does not pass on again what the first one did, and > would empty the file before it.

    \b
    crawler | neardup index filter seen.ndx >> corpus.jsonl
    neardup index filter seen.ndx today.jsonl.gz --rejected copies.jsonl >> new.jsonl
    """
    without_unneeded()
    from neardup.cli.index.tally import Tally
    from neardup.cli.show import Talk

    talk = Talk(quiet=given["quiet"])
    counted, tally = Counted.of(given), Tally()
    named = places(files, talk)
    refuse_others(path)
    with quiet_when_nobody_listens(), ExitStack() as until_done:
        signals = until_done.enter_context(Interruptible())
        output = Output()
        judge = _dry(path, until_done) if given["dry_run"] else _wet(path, until_done, talk, output)
        rejected = until_done.enter_context(_Rejected(given["rejected"], as_json=given["format_"] != "lines"))
        passing = _Passing(output, rejected, untouched=given["on_error"] == "pass")
        tally.starts(talk)
        try:
            for batch in _lines(named, given, counted, talk, signals):
                documents = [line.document for line in batch if line.document is not None]
                if documents:
                    tally.count(judge(documents, partial(passing, batch)))
                else:
                    passing(batch, [])
                if signals.received:
                    break
        except KeyboardInterrupt:  # while it waited for lines
            pass
    passed_on = "passed on" if given["on_error"] == "pass" else "left out"
    talk.say(tally.sentence("passed on", skipped=counted.skipped, skipped_how=passed_on))
    if signals.received == signal.SIGTERM:
        raise SystemExit(128 + signal.SIGTERM)
    if signals.received:
        raise click.Abort
    counted.refuse_nothing(tally.counts["documents"])


def _lines(
    named: tuple[str, ...], given: dict[str, Any], counted: Counted, talk: "Talk", signals: Interruptible
) -> Iterator[list["Line"]]:
    from neardup.cli.index.lines import file_lines, live_lines

    how = line_reading(given)
    if named == ("-",):
        yield from live_lines(how, counted.problems, talk.say, signals.waiting)
        return
    files = found_files(named, given["format_"], counted.problems, talk)
    for file in files:
        if given["rejected"] is not None and os.path.realpath(given["rejected"]) == os.path.realpath(file.path):
            raise UsageError(f"--rejected {given['rejected']}: is an input too. Choose another file.")
        refuse_export(file)
        if file.format not in ("jsonl", "lines"):
            raise UsageError(
                f"{_place(file)}: lines are passed on as they are, and {file.format} has none. Give JSONL; or ask with "
                "neardup index check, or remove what is stored from a collection with neardup dedup --against."
            )
    for file in files:
        yield from file_lines(file, how, counted.problems, talk.say)


def _place(file: "InputFile") -> str:
    """Of files that are a document each, the first: together they have a name that nobody gave."""
    return os.path.join(file.path, file.members[0]) if file.members else file.path


def _wet(path: str, until_done: ExitStack, talk: "Talk", output: Output) -> "Judge":
    """Judge and remember."""
    index = until_done.enter_context(opened(path, create=True))
    if not index.made:
        if output.begins_anew and len(index):
            talk.say(_begun_anew(shown(path), len(index)))
        return index.check_and_add_many
    talk.say(f"{shown(path)}: there was no index; one is made, by recipe stream. Another recipe: neardup index create.")

    def not_in_vain(error: type[BaseException] | None, *_: object) -> None:
        if take_back(path, index) and error is not BrokenPipeError:
            talk.say(f"{path}: no document came to be remembered, so there is no index again.")

    until_done.push(not_in_vain)
    return index.check_and_add_many


def _begun_anew(path: str, number: int) -> str:
    from neardup.cli.show import many

    return (
        f"{path}: knows {many(number, 'document')} already, and standard output is an empty file: what was passed on "
        "before is not in it. To go on after an interruption, append with >> and not with >."
    )


def _dry(path: str, until_done: ExitStack) -> "Judge":
    """Judge by what is stored, and by what would be: that is remembered for as long as this runs."""
    from neardup.index import Index
    from neardup.index.overlay import Overlay

    stored = until_done.enter_context(opened(path, read_only=True)) if is_there(path) else None
    aside = until_done.enter_context(tempfile.TemporaryDirectory(prefix="neardup-dry-"))
    recipe, keep = (None, None) if stored is None else (stored.recipe, stored.keep)
    passed = until_done.enter_context(Index.open(Path(aside) / "passed.ndx", recipe, keep=keep))
    if stored is None:
        return passed.check_and_add_many
    would_be = until_done.enter_context(Index(Overlay(stored.store, passed.store)))

    def judge(documents: list["Document"], deliver: "Deliver") -> list["Verdict"]:
        would_be.refresh()
        return would_be.check_and_add_many(documents, deliver)

    return judge


class _Rejected:
    """The file for what is not passed on; nothing, if none is asked for."""

    def __init__(self, path: Path | None, *, as_json: bool) -> None:
        """as_json: a line is an object, and not a text."""
        self._path, self._as_json = path, as_json
        self._file: IO[bytes] | None = None
        self._begun = False

    def __enter__(self) -> "_Rejected":
        if self._path is not None:
            try:
                self._file = self._path.open("ab", buffering=0)
                self._begun = ends_in_half_a_line(self._file.fileno())
            except OSError as error:
                raise _unwritten(self._path, error) from error
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def write(self, rejected: list[tuple["Line", "Verdict"]]) -> None:
        """The verdict of each, and the line as it came."""
        if self._file is None or self._path is None or not rejected:
            return
        try:
            told = b"".join(_told(line, verdict, as_json=self._as_json) for line, verdict in rejected)
            rest = memoryview(b"\n" + told if self._begun else told)
            self._begun = False
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            raise _unwritten(self._path, error) from error


def _unwritten(path: Path, error: OSError) -> OutputError:
    return OutputError(f"--rejected {path}: cannot be written ({error.strerror}). Mend that, and run it again.")


def _told(line: "Line", verdict: "Verdict", *, as_json: bool) -> bytes:
    about = {**verdict.to_dict(), "source": line.source, "line": line.number}
    if verdict.match is not None and verdict.match.id == verdict.id:
        about["again"] = True
    document = _text(line).strip()
    if not as_json:
        document = json.dumps(document.decode(), ensure_ascii=False).encode()
    return json.dumps(about, ensure_ascii=False).encode()[:-1] + b', "document": ' + document + b"}\n"


def _text(line: "Line") -> bytes:
    """Without the mark that files of some editors begin with."""
    from neardup.cli.index.lines import BOM

    return line.raw.removeprefix(BOM) if line.number == 1 else line.raw


class _Passing:
    """Lines and their verdicts → standard output."""

    def __init__(self, output: Output, rejected: _Rejected, *, untouched: bool) -> None:
        """untouched: lines without a document are passed on too, and all of them to the last byte."""
        self._output, self._rejected, self._untouched = output, rejected, untouched

    def __call__(self, batch: list["Line"], verdicts: list["Verdict"]) -> None:
        """All that is new is written when this returns."""
        passed: list[bytes] = []
        rejected: list[tuple[Line, Verdict]] = []
        following = iter(verdicts)
        for line in batch:
            verdict = None if line.document is None else next(following)
            if verdict is not None and not verdict.new:
                rejected.append((line, verdict))
            elif self._untouched:
                passed.append(line.raw + line.end)
            elif verdict is not None:
                passed.append(_text(line) + b"\n")
        self._rejected.write(rejected)
        self._output.write(b"".join(passed))
