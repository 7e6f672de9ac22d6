"""An index that a service has open, in the place of a path: http://HOST:PORT, or http://HOST:PORT/v1/indexes/NAME."""

import os
import ssl
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from neardup.errors import TokenError, Unreachable, UsageError

if TYPE_CHECKING:
    from neardup.client import Client

Command = TypeVar("Command", bound=Callable[..., Any])

_TOKEN = click.option(
    "--token-file",
    type=click.Path(path_type=Path),
    help="File with the token that a service asks for.  [default: NEARDUP_TOKEN]",
)
_CA = click.option(
    "--ca",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Certificates (PEM) of the authorities that a service's certificate is verified by.  [default: the system's]",
)


def service_options(command: Command) -> Command:
    """Add the options of commands that also take the address of a service."""
    return _TOKEN(_CA(command))


def is_service(path: str) -> bool:
    """Whether a path is the address of a service."""
    return path.startswith(("http://", "https://"))


def service_at(path: str, token_file: Path | None, ca: Path | None) -> "AbstractContextManager[Client] | None":
    """Return what opens a client of the service at an address; None where the path is no address of a service."""
    if is_service(path):
        return _asking(path, token_file, ca)
    for option, given in (("--token-file", token_file), ("--ca", ca)):
        if given is not None:
            raise UsageError(f"{option} is about a service, and {path} is none: http://HOST:PORT or https://….")
    return None


@contextmanager
def _asking(path: str, token_file: Path | None, ca: Path | None) -> Iterator["Client"]:
    """Yield a client, and let errors name the options of the command."""
    from neardup.client import Client
    from neardup.service.private import read_private

    address, _, name = path.partition("/v1/indexes/")
    token = os.environ.get("NEARDUP_TOKEN")
    if token_file is not None:
        token = read_private(token_file, "--token-file").decode("utf-8", "replace").strip()
    if ca is not None and not path.startswith("https://"):
        raise UsageError(f"--ca {ca}: is about https://, and the address is {path}")
    try:
        with Client(address, token=token, index=name.strip("/") or None, ca=ca) as client:
            yield client
    except TokenError as error:
        if not token:
            raise TokenError(
                f"{address}: the service asks for a token. Name a file with it (--token-file FILE), or set "
                "NEARDUP_TOKEN."
            ) from error
        source = "NEARDUP_TOKEN" if token_file is None else f"--token-file {token_file}"
        raise TokenError(
            f"{address}: the token of {source} is not of this service, or its time is over. Name a file with another "
            "one (--token-file FILE), or set NEARDUP_TOKEN."
        ) from error
    except Unreachable as error:
        if not isinstance(error.__cause__, ssl.SSLCertVerificationError):
            raise
        other = "another authority" if ca is not None else "an authority of your own"
        raise Unreachable(f"{error} Where {other} signed the certificate, name its file: --ca FILE.") from error
