"""neardup index verify|backup|restore PATH."""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from neardup.atomic import local_place
from neardup.cli.index.place import index_path, is_there, opened, shown
from neardup.cli.index.remote import service_at, service_options
from neardup.cli.options import without_unneeded
from neardup.errors import StoreError, Unreachable

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from neardup.client import Client
    from neardup.index.verifying import Verification

_QUIET = click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors.")


@click.command(no_args_is_help=True, short_help="Read everything, and say what is damaged.")
@index_path
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@service_options
@_QUIET
def verify(path: str, as_json: bool, token_file: Path | None, ca: Path | None, quiet: bool) -> None:
    """Read everything that an index holds, and say what is damaged; the exit code is 1 if anything is.

    All blocks are read and compared with their checksums, every record is decoded, and ids, documents, keys, texts and
    counts must agree. Another process may write to the index meanwhile.

    \b
    neardup index verify seen.ndx
    neardup index verify seen.ndx --json | jq .problems
    """
    without_unneeded()
    from neardup.cli.show import Talk, many

    service = service_at(path, token_file, ca)
    found = _verified(path) if service is None else _verified_there(service)
    if as_json:
        json.dump({"path": shown(path), "sound": found.sound, **asdict(found)}, sys.stdout, indent=1)
        sys.stdout.write("\n")
    for problem in found.problems if not as_json else ():
        click.echo(problem)
    if not found.sound:
        raise StoreError(
            f"{shown(path)}: the index is damaged. Restore a backup (neardup index restore BACKUP INDEX), or build it "
            "again; what can be read of it is written by: neardup index export"
        )
    counts = f"{many(found.documents, 'document')}, {found.keys:,} under keys"
    texts = f", {many(found.texts, 'text')}" if found.texts else ""
    Talk(quiet=quiet or as_json).say(f"{shown(path)}: {counts}{texts}; nothing is damaged")


def _verified_there(service: "AbstractContextManager[Client]") -> "Verification":
    """Return what a service finds."""
    from neardup.index.verifying import Verification

    with service as client:
        found = client.verify()
    return Verification(found["documents"], found["keys"], found["texts"], found["problems"])


def _verified(path: str) -> "Verification":
    from neardup.index.verifying import Verification

    if is_there(path):
        try:
            index = opened(path, read_only=True)
        except Unreachable:
            raise
        except StoreError as error:
            return Verification(problems=[str(error)])
    else:
        index = opened(path, read_only=True)  # says what is there instead
    with index:
        return index.verify()


@click.command(no_args_is_help=True, short_help="Write a backup, also while others write.")
@index_path
@click.argument("target", type=local_place, metavar="TARGET")
@service_options
@_QUIET
def backup(path: str, target: Path, token_file: Path | None, ca: Path | None, quiet: bool) -> None:
    """Write a backup of the index at PATH to TARGET, a folder that is not there yet.

    Other processes may write to the index meanwhile, a service too: everything that was acknowledged before is in the
    backup. On the same file system tables are shared (hard links), which takes seconds and no room; to survive a broken
    disk, TARGET has to be on another one. The backup is read in full before it gets its name.

    \b
    neardup index backup seen.ndx /backup/seen-2026-11-17
    neardup index backup http://127.0.0.1:8080 seen-2026-11-17 --token-file admin-token

    A service writes into its --backup-folder; TARGET is then the name of the backup.
    """
    without_unneeded()
    from neardup.cli.show import Talk, in_bytes, many

    service = service_at(path, token_file, ca)
    if service is not None:
        with service as client:
            found = client.backup(str(target))
        documents, size = found["documents"], found["bytes"]
    else:
        with opened(path, read_only=True) as index:
            done = index.backup(target)
        documents, size = done.documents, done.bytes
    Talk(quiet=quiet).say(f"{target}: {many(documents, 'document')}, {in_bytes(size)}; all of it was read")


@click.command(no_args_is_help=True, short_help="Make an index of a backup.")
@click.argument("backup", type=local_place, metavar="BACKUP")
@index_path
@_QUIET
def restore(backup: Path, path: str, quiet: bool) -> None:
    """Make an index at PATH, where there is none, of a BACKUP.

    Every file is compared with the digest that the backup has of it, and all of the new index is read before it gets
    its name. Nothing is overwritten.

    \b
    neardup index restore /backup/seen-2026-11-17 seen.ndx
    """
    without_unneeded()
    from neardup.cli.show import Talk, many
    from neardup.index import Index

    found = Index.restore(backup, path)
    Talk(quiet=quiet).say(f"{path}: {many(found.documents, 'document')}, as in {backup}; all of it was read")
