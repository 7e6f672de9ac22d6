"""Who may ask: tokens, and names under which the service is asked.

Without tokens it listens on this machine alone, and then only requests under this machine's own name are answered: a
foreign site could make a browser ask by rebinding its own name to 127.0.0.1. Requests that a page of another origin
makes are refused in any case.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from hmac import compare_digest
from ipaddress import ip_address
from typing import Literal

from neardup.service.problems import Problem
from neardup.service.settings import Settings

Level = Literal["open", "read", "write"]

_HOST = re.compile(r"(\[[^\]]*\]|[^:]*)(?::[0-9]*)?")
_ASK = 'Bearer realm="neardup"'


class Access:
    """Who may do what, by a service's settings."""

    def __init__(self, settings: Settings) -> None:
        self.read_only = settings.read_only
        self.guarded = settings.guarded
        self._read = _digest(settings.read_token)
        self._write = _digest(settings.write_token)

    def check(self, level: Level, headers: Mapping[bytes, bytes]) -> None:
        """Raise the problem, if there is one."""
        if not self.guarded:
            _check_host(headers)
        _check_origin(headers)
        if level == "write" and self.read_only:
            raise Problem("forbidden", "The service is read-only.")
        if level == "open" or not self.guarded:
            return
        given = headers.get(b"authorization", b"")
        scheme, _, token = given.partition(b" ")
        digest = sha256(token.strip()).digest()
        # Both are compared, whatever the first one says, so that the time tells nothing.
        reads, writes = (known is not None and compare_digest(digest, known) for known in (self._read, self._write))
        if scheme.lower() != b"bearer" or not (reads or writes):
            ask = _ASK + ', error="invalid_token"' if given else _ASK
            sent = "The one that was sent is not of this service." if given else ""
            raise Problem("no-token", sent, **{"www-authenticate": ask})
        if level == "write" and not writes:
            raise Problem("forbidden", "This token may read; writing needs the write token.")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _digest(token: str | None) -> bytes | None:
    """Digests have one length, so that comparing them does not tell the token's."""
    return None if token is None else sha256(token.encode()).digest()


def _check_host(headers: Mapping[bytes, bytes]) -> None:
    if not _is_own(headers.get(b"host", b"")):
        raise Problem("wrong-host")


def _check_origin(headers: Mapping[bytes, bytes]) -> None:
    origin = headers.get(b"origin")
    if origin is not None and origin.partition(b"://")[2] != headers.get(b"host"):
        raise Problem("foreign-origin")


@lru_cache(64)
def _is_own(host: bytes) -> bool:
    """Whether a Host header names this machine, with any port."""
    named = _HOST.fullmatch(host.decode("latin-1"))
    return named is not None and is_loopback(named[1])
