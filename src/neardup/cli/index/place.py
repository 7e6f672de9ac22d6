"""Where an index is, and how it is called in print."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli.index.remote import is_service
from neardup.errors import UsageError

if TYPE_CHECKING:
    from neardup.index import Index

SHARED = ("postgresql://", "postgres://")

index_path = click.argument("path", metavar="PATH")


def is_there(path: str) -> bool:
    """Whether there is an index."""
    if path.startswith(SHARED):
        from neardup.index import postgres

        return postgres.exists(path)
    from neardup.index import rocks

    return rocks.exists(Path(path))


def opened(path: str, **how: Any) -> "Index":
    """An index that is there, or a new one with create=True."""
    from neardup.index import Index

    refuse_others(path)
    return Index.open(path, **{"create": False, **how})


def refuse_others(path: str) -> None:
    """Refuse a file, where somebody forgot to name the index or named it last, and the address of a service."""
    if is_service(path):
        address, _, name = path.partition("/v1/indexes/")
        about = f"{address.rstrip('/')}/v1/{f'indexes/{name}' if name else 'index'}"
        raise UsageError(
            f"{path}: is a service, and this command takes a folder or postgresql://…; verify, backup, compact and "
            f"expire take both. What the index of a service is: GET {about}. Documents are checked, added and removed "
            "by its API, or by neardup.Client."
        )
    if not path.startswith(SHARED) and Path(path).is_file():
        raise UsageError(f"{path}: is a file, and PATH is an index: a folder, or postgresql://…")


def take_back(path: str, index: "Index") -> bool:
    """Remove an index that this opening made, and that got no document. Not one in a database, which others may have
    found meanwhile; nor one that another process writes to, or wrote to, when this one lets go of it."""
    if path.startswith(SHARED) or not index.made or len(index):
        return False
    from neardup.index.rocks_folder import discard, last_writer

    with suppress(OSError):
        ours = last_writer(Path(path))
        index.close()
        return discard(Path(path), ours)
    return False


def shown(path: str) -> str:
    """Without a password."""
    if not path.startswith(SHARED):
        return path
    from neardup.index.connections import Address

    return Address.parse(path).shown
