"""neardup serve [[NAME=]INDEX…] [--collection PATH]."""

import os
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli.options import finding_of, finding_options, without_unneeded
from neardup.cli.terminal import tell
from neardup.errors import UsageError

if TYPE_CHECKING:
    from neardup.index import Index
    from neardup.searching import Collection
    from neardup.service import Settings
    from neardup.service.tls import Certificate
    from neardup.service.tokens import Token

_MB = 1 << 20


@click.command
@click.argument("indexes", metavar="[[NAME=]INDEX]...", nargs=-1)
@click.option(
    "--collection",
    metavar="PATH",
    help="Documents to search in a browser: a file, folder or glob, or the folder of a finished run.",
)
@finding_options
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; others need a token.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8080, show_default=True, help="To listen on; 0: a free one."
)
@click.option(
    "--recipe", metavar="NAME", help="Of a new index: see `neardup recipes`, or a TOML file.  [default: stream]"
)
@click.option(
    "--keep",
    type=click.Choice(["sketch", "text"]),
    help="What a new index keeps of documents; with texts, recipes that measure exactly can.  [default: sketch]",
)
@click.option("--create/--no-create", default=True, show_default=True, help="Make the index where there is none.")
@click.option(
    "--keep-days",
    type=click.IntRange(1),
    help="Forget documents that were neither added nor met again for so many days; looked for every hour.",
)
@click.option(
    "--backup-folder",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Where backups go that are asked for by /v1/backup, in a folder for each index.",
)
@click.option("--read-only", is_flag=True, help="Answer questions and write nothing; another process may write.")
@click.option(
    "--tokens",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="TOML file of tokens with names, rights and limits; see `neardup token`. SIGHUP reads it again.",
)
@click.option(
    "--read-token-file",
    type=click.Path(path_type=Path),
    help="File with the token that readers need.  [default: NEARDUP_READ_TOKEN]",
)
@click.option(
    "--write-token-file",
    type=click.Path(path_type=Path),
    help="File with the token that writers need; it also reads.  [default: NEARDUP_WRITE_TOKEN]",
)
@click.option(
    "--tls-cert",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Certificate (PEM, with those between it and its authority): serve https://. SIGHUP reads it again.",
)
@click.option(
    "--tls-key", type=click.Path(path_type=Path), metavar="FILE", help="Its key (PEM).  [default: --tls-cert]"
)
@click.option(
    "--trusted-proxy",
    multiple=True,
    metavar="ADDRESS",
    help="Address or network of a proxy whose X-Forwarded-For is believed; may be repeated.",
)
@click.option("--max-body", type=click.IntRange(1), default=16 * _MB, show_default=True, help="Bytes of a request.")
@click.option(
    "--max-line", type=click.IntRange(1), default=16 * _MB, show_default=True, help="Bytes of a line of a stream."
)
@click.option(
    "--max-document", type=click.IntRange(1), default=16 * _MB, show_default=True, help="Bytes of a document's content."
)
@click.option(
    "--max-documents",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    help="Documents in a request that is no stream.",
)
@click.option(
    "--max-held",
    type=click.IntRange(1),
    default=256 * _MB,
    show_default=True,
    help="Bytes of all requests that wait for an answer, as they are in memory, and of long lines of streams.",
)
@click.option(
    "--concurrency", type=click.IntRange(1), default=512, show_default=True, help="Requests at the same time."
)
@click.option("--streams", type=click.IntRange(1), default=16, show_default=True, help="Streams at the same time.")
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    default=30.0,
    show_default=True,
    help="Seconds to send a request and be answered.",
)
@click.option(
    "--idle-timeout",
    type=click.FloatRange(0, min_open=True),
    default=60.0,
    show_default=True,
    help="Seconds a stream may wait for its client.",
)
@click.option(
    "--grace",
    type=click.FloatRange(0),
    default=30.0,
    show_default=True,
    help="Seconds that requests in flight get when it is stopped.",
)
@click.option(
    "--log-format",
    type=click.Choice(["json", "text", "none"]),
    default="json",
    show_default=True,
    help="Of the line per request on stderr.",
)
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors and the log.")
def command(indexes: tuple[str, ...], collection: str | None, **given: Any) -> None:
    """Serve indexes to programs, a collection to people, or both.

    INDEX is a folder (made where there is none), or postgresql://… for several machines: check documents as they
    arrive, add, compare, group. Several have names, and are asked under /v1/indexes/NAME/; the first, or the one that
    is called default, also under /v1/. A collection is searched in a browser, its repeats folded; what is built for
    that is kept in the user's cache folder.

    \b
    neardup serve seen.ndx
    neardup serve news=news.ndx shop='postgresql://crawl@db/pages?index=shop'

    The address is printed when the service can be asked; its /docs describes everything. SIGTERM or Ctrl-C stop it:
    requests in flight are answered, and what was acknowledged is on disk. SIGHUP reads tokens and certificate again,
    and opens the collection anew.

    Tokens come from files or the environment, never from the command line, where everybody could read them.
    """
    without_unneeded()
    from neardup.index.rocks_folder import share_cache
    from neardup.recipes import published
    from neardup.service import Log, address_of, listen, require, serve
    from neardup.service.endpoints import NEW
    from neardup.service.preparing import Preparing, the_rest
    from neardup.service.tokens import unknown_indexes
    from neardup.text.workers import try_worker

    require()
    named = _named(indexes)
    _check_choice(named, collection, given)
    settings = _settings(given)

    said: set[str] = set()

    def say(sentence: str) -> None:
        """Once: a collection and an index may both have something to compile."""
        if not given["quiet"] and sentence not in said:
            said.add(sentence)
            tell(sentence)

    with ExitStack() as stack:
        listening = stack.enter_context(listen(given["host"], given["port"], settings))
        searched = None if collection is None else stack.enter_context(_collection(collection, given, say))
        if len(named) > 1:
            share_cache()
        opened = {name: stack.enter_context(_index(path, given, say)) for name, path in named.items()}
        for sentence in unknown_indexes(settings.tokens, named).values():
            say(sentence)
        address = address_of(listening, settings)
        log = Log(given["log_format"])
        recipe = next((index.recipe for index in opened.values()), published(NEW).recipe)
        preparing = Preparing(the_rest(recipe), say)
        confined = try_worker()

        def ready() -> None:
            for sentence in _welcome(opened, searched, address, settings):
                say(sentence)
            if confined is not None:
                say(f"HTML pages are read in processes of their own, confined by {confined}.")
            click.echo(address)
            preparing.start()

        try:
            ended = serve(
                opened,
                listening,
                settings,
                log,
                collection=searched,
                reopen=None if collection is None else lambda: _collection(collection, given, say),
                grace=given["grace"],
                ready=ready,
                preparing=preparing,
                reread=lambda: _tokens(given),
            )
        finally:
            log.close()
        if not ended:
            _end_now(say, "Stopped. Some work took longer than --grace allows and was left.")
    if preparing.is_alive():
        _end_now(say, "Stopped.")
    say("Stopped.")


def _named(indexes: tuple[str, ...]) -> dict[str, str]:
    """Return the places of indexes by their names."""
    from neardup.service.indexes import DEFAULT, NAME

    found: dict[str, str] = {}
    for given in indexes:
        name, equals, place = given.partition("=")
        if not equals or not NAME.fullmatch(name) or Path(given).is_dir():
            name, place = DEFAULT, given
        if not place:
            raise UsageError(f"{given}: names no index. Give it as NAME=PATH or NAME=postgresql://…")
        if name in found:
            raise UsageError(
                f"{given}: {found[name]} is called {name} too. Give each a name of its own: "
                "neardup serve news=news.ndx shop=shop.ndx"
            )
        found[name] = place
    return found


def _check_choice(indexes: dict[str, str], collection: str | None, given: dict[str, Any]) -> None:
    if collection is None and any(value is not None for value in finding_of(given).values()):
        raise UsageError("columns, --format and --html are about a collection, and none is named: --collection PATH.")
    if indexes:
        return
    if collection is None:
        raise UsageError(
            "there is nothing to serve: give an INDEX, --collection PATH, or both. See neardup serve --help."
        )
    for name in ("recipe", "keep", "keep_days", "backup_folder"):
        if given[name]:
            raise UsageError(f"--{name.replace('_', '-')} is about an index, and none is named: neardup serve INDEX …")


def _index(path: str, given: dict[str, Any], say: Callable[[str], None]) -> "Index":
    from neardup.index import Index
    from neardup.kernels import when_compiling
    from neardup.service.preparing import prepare_index

    opened = Index.open(
        path,
        given["recipe"],
        keep=given["keep"],
        create=given["create"] and not given["read_only"],
        read_only=given["read_only"],
    )
    when_compiling(lambda: say("Compiling, once on this machine: up to half a minute."))
    prepare_index(opened)
    return opened


def _collection(path: str, given: dict[str, Any], say: Callable[[str], None]) -> "Collection":
    from neardup.gather import Reading
    from neardup.searching import Collection
    from neardup.service.pages import prepare

    opened = Collection.open(path, say=say, reading=Reading(**finding_of(given)))
    prepare(say)
    return opened


def _end_now(say: Callable[[str], None], sentence: str) -> None:
    """Without the work that nobody waits for. What was acknowledged is on disk, and extractors end too."""
    from neardup.text.workers import kill_all

    with suppress(OSError):  # nobody may listen any more
        say(sentence)
        sys.stdout.flush()
    kill_all()
    os._exit(0)


def _settings(given: dict[str, Any]) -> "Settings":
    from neardup.service import Limits, Settings
    from neardup.service.forwarding import Proxies

    limits = Limits(
        body=given["max_body"],
        line=given["max_line"],
        document=given["max_document"],
        documents=given["max_documents"],
        held=max(given["max_held"], given["max_body"], given["max_line"]),
        seconds=given["timeout"],
        idle=given["idle_timeout"],
        concurrency=given["concurrency"],
        streams=given["streams"],
    )
    return Settings(
        limits,
        _tokens(given),
        given["read_only"],
        _certificate(given),
        Proxies(given["trusted_proxy"]),
        keep_days=given["keep_days"],
        backup_folder=given["backup_folder"],
    )


def _certificate(given: dict[str, Any]) -> "Certificate | None":
    from neardup.service.tls import Certificate

    certificate, key = given["tls_cert"], given["tls_key"]
    if certificate is None:
        if key is not None:
            raise UsageError("--tls-key is about a certificate, and none is named: --tls-cert FILE.")
        return None
    return Certificate(certificate, key)


def _tokens(given: dict[str, Any]) -> "tuple[Token, ...]":
    """All tokens that options and environment name; read again on SIGHUP."""
    from neardup.service.tokens import Token, Tokens, read_token, read_tokens

    path: Path | None = given["tokens"]
    found = [] if path is None else [*read_tokens(path)]
    for right in ("read", "write"):
        path, name = given[f"{right}_token_file"], f"NEARDUP_{right.upper()}_TOKEN"
        secret = os.environ.get(name)
        if secret == "":
            raise UsageError(f"{name} is set and empty. Give it a token, or unset it.")
        if path is not None and secret is not None:
            raise UsageError(f"--{right}-token-file and {name} are both given; omit one of them.")
        if path is not None:
            found.append(read_token(path, f"--{right}-token-file", right, right))
        elif secret is not None:
            found.append(Token.of(right, secret, right))
    return Tokens(found).all


def _welcome(
    indexes: "dict[str, Index]", collection: "Collection | None", address: str, settings: "Settings"
) -> Iterator[str]:
    from neardup.cli.show import many

    for name, index in indexes.items():
        facts = index.info()
        engine = facts.get("engine", "")
        called = f"{name}: " if len(indexes) > 1 else ""
        yield (
            f"{called}{many(len(index), 'document')}, recipe {facts['recipe']}{f', {engine}' if engine else ''}"
            f"{', read-only' if settings.read_only else ''}."
            f"{'' if called else f' Ctrl-C stops it. Everything: {address}/docs'}"
        )
    if len(indexes) > 1:
        yield f"Ctrl-C stops it. Everything: {address}/docs"
    if indexes:
        asked = "/v1/check" if len(indexes) == 1 else f"/v1/indexes/{next(iter(indexes))}/check"
        token = ' -H "Authorization: Bearer $TOKEN"' if settings.guarded else ""
        yield (
            f"Try: curl {shlex.quote(address + asked)}{token} -H 'Content-Type: application/json' "
            '-d \'{"text": "a rose is a rose"}\''
        )
    if collection is not None:
        password = "; the password is a token" if settings.guarded else ""
        yield f"{many(collection.documents, 'document')} to search in a browser: {address}/{password}"
