"""neardup group [FILE|-]."""

import io
import sys
from collections import Counter
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import click

from neardup.cli.index.pipe import quiet_when_nobody_listens, reading_input
from neardup.cli.options import without_unneeded
from neardup.errors import InputError, UsageError

if TYPE_CHECKING:
    from neardup.refine import Grouped

_VIEWS = ("mark", "fold", "collapse", "drop")
_FORMATS = ("elastic", "solr", "meilisearch", "searxng", "plain")

MOST = 100_000
"""Results of one list. Each is compared with all that are shown before it; a collection has a better way."""

LARGEST = 64 << 20
"""Bytes of a response, unless more are allowed. As objects of Python they take up to twenty times that."""

_TAKES = "Give the response of a search engine as JSON, a list of objects, or JSONL; also compressed."


@click.command(no_args_is_help=False)
@click.argument("file", default="-", metavar="[FILE|-]")
@click.option(
    "--show",
    type=click.Choice(_VIEWS),
    default="mark",
    show_default=True,
    help="mark: all results, each with its group; fold: the best of each group, the others within it; collapse: the "
    "best, with the others' number and ids; drop: the best alone, as they came.",
)
@click.option(
    "-t",
    "--threshold",
    default=0.7,
    show_default=True,
    help="Share of passages in common from which on two results are near-duplicates.",
)
@click.option("--query", metavar="WORDS", help="Compare the passages around these words, and not whole texts.")
@click.option(
    "--contained/--no-contained", default=True, show_default=True, help="Also group a result with one it lies in."
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(_FORMATS),
    help="elastic is OpenSearch too; plain: a list of objects, or JSONL.  [default: by its shape]",
)
@click.option("--text-field", metavar="NAME", help="Field with the text; page.body leads inwards.  [default: guessed]")
@click.option("--html-field", metavar="NAME", help="Field with the HTML.  [default: guessed]")
@click.option("--signature-field", metavar="NAME", help="Field with the signature.  [default: neardup_signature]")
@click.option("--id-field", metavar="NAME", help="Field with the id.  [default: guessed]")
@click.option("--max-bytes", default=LARGEST, show_default=True, help="Longer responses, once unpacked, are errors.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors.")
def command(file: str, show: Any, format_: str | None, max_bytes: int, quiet: bool, **given: Any) -> None:
    """Group the near-duplicates of search results under the best-ranked one.

    FILE is the response of a search engine as JSON (Elasticsearch, OpenSearch, Solr, Meilisearch, SearXNG), a list of
    objects, or JSONL, the best result first; also compressed. The same shape comes out, and what is not about groups
    is left as it is.

    \b
    curl -s localhost:9200/pages/_search -H 'Content-Type: application/json' -d @query.json | neardup group --show fold
    neardup group results.jsonl --show drop > shown.jsonl
    """
    without_unneeded()
    from neardup.cli.show import Talk
    from neardup.kernels import when_compiling
    from neardup.refine import group
    from neardup.refine.formats import Fields, read
    from neardup.refine.formats.records import MissingField
    from neardup.refine.formats.verbatim import dumps

    talk = Talk(quiet=quiet)
    if file == "-" and sys.stdin.isatty():
        talk.say("Reading standard input: a response as JSON, or a result a line; Ctrl-D ends it.")
    names = {given[name] for name in ("text_field", "html_field", "signature_field", "id_field")} - {None}
    results, lines = _parsed(*_read(file, max_bytes), format_, names)
    fields = Fields(given["text_field"], given["html_field"], given["signature_field"], given["id_field"])
    try:
        page = read(results, format=format_, fields=fields)
    except MissingField as error:
        raise UsageError(f"--{error.role}-field {error.path}: {error.why}") from error
    except RecursionError as error:
        raise InputError(f"{file}: a value is nested too deeply for a search result.") from error
    _refuse_many(file, len(page.results))
    when_compiling(lambda: talk.say("Compiling, once on this machine: up to half a minute."))
    how = {name: given[name] for name in ("threshold", "query", "contained")}
    grouped = group(page, **how)
    shown = grouped.shown(show)
    with quiet_when_nobody_listens():
        written = b"".join(dumps(record) + b"\n" for record in shown) if lines else dumps(shown) + b"\n"
        sys.stdout.buffer.write(written)
        sys.stdout.buffer.flush()
    talk.say(_sentence(grouped, given["query"]))


def _read(file: str, limit: int) -> tuple[bytes, str]:
    """What is in it, and how it is called."""
    from neardup.sources.compression import compression_of, open_plain
    from neardup.sources.files import read_at_most

    advice = "Ask for fewer results, or allow more with --max-bytes. A collection is for: neardup dedup"
    if file == "-":
        with reading_input():
            return read_at_most(sys.stdin.buffer, limit, "stdin", advice), "stdin"
    with open_plain(file, compression_of(file)[0], file) as stream:
        return read_at_most(stream, limit, file, advice), file


def _parsed(data: bytes, name: str, format: str | None, names: set[str]) -> tuple[Any, bool]:
    """A response, or the results of JSONL; and whether it is the latter. names: fields that were named."""
    from neardup.refine.formats import FORMATS
    from neardup.refine.formats.records import NAMES
    from neardup.refine.formats.verbatim import loads

    data = data.removeprefix(b"\xef\xbb\xbf")
    lines = ((number, line) for number, line in enumerate(io.BytesIO(data), 1) if line.strip())
    first, second = next(lines, None), next(lines, None)
    if first is None:
        raise InputError(f"{name}: is empty. {_TAKES}")
    if second is not None and _is_object(first[1]):
        told = islice(chain([first, second], lines), MOST + 1)
        some = [loads(line, f"{name}, line {number}") for number, line in told]
        _refuse_many(name, len(some))
        return some, True
    if data.startswith(b"PAR1"):
        raise InputError(f"{name}: is Parquet. {_TAKES}")
    try:
        found = loads(data, name)
    except InputError as error:
        raise InputError(f"{error} {_TAKES}") from error
    if isinstance(found, dict) and not any(known.recognises(found) for known in FORMATS.values()):
        usual = {name for role, many in NAMES.items() if role != "id" for name in many}
        if format == "plain" or (format is None and (usual | names) & found.keys()):  # JSONL of one line
            return [found], True
    return found, False


def _refuse_many(name: str, results: int) -> None:
    if results > MOST:
        raise UsageError(
            f"{name}: has more than {MOST:,} results, which is a collection. Remove its near-duplicates with: neardup "
            "dedup"
        )


def _is_object(line: bytes) -> bool:
    from neardup.refine.formats.verbatim import loads

    try:
        return isinstance(loads(line, ""), dict)
    except InputError:
        return False


def _sentence(grouped: "Grouped", query: str | None) -> str:
    from neardup.cli.show import many

    count = grouped.counts
    said = f"{many(count['results'], 'result')}, {many(count['groups'], 'group')}, {count['folded']:,} folded"
    bases = Counter(grouped.bases)
    alone = bases.pop("nothing", 0)
    if bases:
        said += "; compared by " + ", ".join(
            basis if len(bases) == 1 else f"{basis} ({number:,})" for basis, number in bases.most_common()
        )
    if grouped.passages:
        said += " around the query"
    if alone:
        said += f"; {alone:,} without anything to compare"
    said += "."
    if query and not grouped.passages:
        said += " Whole documents: " + (
            "passages around the query need the text of all results, and some have a signature."
            if "signature" in grouped.bases
            else "there are no words in the query."
        )
    if alone == count["results"] and alone:
        said += " Name the field to compare: --text-field, --html-field or --signature-field."
    elif any(grouped.page.results[place].title for place in grouped.alone):
        said += " A title is not compared unless it is named: --text-field title."
    return said
