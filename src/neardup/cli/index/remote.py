"""An index that a service has open, in the place of a path: http://HOST:PORT, or http://HOST:PORT/v1/indexes/NAME."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from neardup.client import Client

token_option = click.option(
    "--token-file",
    type=click.Path(path_type=Path),
    help="File with the token that a service asks for.  [default: NEARDUP_TOKEN]",
)


def is_service(path: str) -> bool:
    """Whether a path is the address of a service."""
    return path.startswith(("http://", "https://"))


def client_of(path: str, token_file: Path | None) -> "Client":
    """Return a client of the service at an address."""
    from neardup.client import Client
    from neardup.service.private import read_private

    address, _, name = path.partition("/v1/indexes/")
    token = os.environ.get("NEARDUP_TOKEN")
    if token_file is not None:
        token = read_private(token_file, "--token-file").decode("utf-8", "replace").strip()
    return Client(address, token=token, index=name.strip("/") or None)
