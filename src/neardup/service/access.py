"""Who may ask: tokens, and names under which the service is asked.

Without tokens it listens on this machine alone, and then only requests under this machine's own name are answered: a
foreign site could make a browser ask by rebinding its own name to 127.0.0.1. Requests that a page of another origin
makes are refused in any case.

Pages are for browsers, which ask a person: there a token is also taken as the password of HTTP's Basic scheme, under
any name. It counts for pages alone, for a browser sends it along with whatever another site makes it ask; and so that
no other site can, a page is shown where a person goes to it, and forms are taken from our own pages.
"""

import re
from base64 import b64decode
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
_ASK_PEOPLE = 'Basic realm="neardup: the password is a token", charset="UTF-8"'


class Access:
    """Who may do what, by a service's settings."""

    def __init__(self, settings: Settings) -> None:
        self.read_only = settings.read_only
        self.guarded = settings.guarded
        self._read = _digest(settings.read_token)
        self._write = _digest(settings.write_token)

    def check(self, level: Level, headers: Mapping[bytes, bytes]) -> None:
        """Raise the problem, if there is one."""
        self._check_asker(headers)
        if level == "write" and self.read_only:
            raise Problem("forbidden", "The service is read-only.")
        if level == "open" or not self.guarded:
            return
        given = headers.get(b"authorization", b"")
        scheme, _, token = given.partition(b" ")
        reads, writes = self._may(token.strip())
        if scheme.lower() != b"bearer" or not reads:
            ask = _ASK + ', error="invalid_token"' if given else _ASK
            sent = "The one that was sent is not of this service." if given else ""
            raise Problem("no-token", sent, **{"www-authenticate": ask})
        if level == "write" and not writes:
            raise Problem("forbidden", "This token may read; writing needs the write token.")

    def check_page(self, level: Level, method: str, headers: Mapping[bytes, bytes]) -> None:
        """The same for a page."""
        self._check_asker(headers)
        _check_browser(method, headers)
        if level == "write" and self.read_only:
            raise Problem("forbidden", "The service is read-only.")
        if not self.guarded:
            return
        scheme, _, given = headers.get(b"authorization", b"").partition(b" ")
        token = _name_and_password(given)[1] if scheme.lower() == b"basic" else given.strip()
        reads, writes = self._may(token)
        if scheme.lower() not in (b"basic", b"bearer") or not reads:
            raise Problem(
                "no-token",
                "Give the read token or the write token as the password; any user name will do.",
                **{"www-authenticate": _ASK_PEOPLE},
            )
        if level == "write" and not writes:
            raise Problem("forbidden", "This token may read; writing needs the write token.")

    def _check_asker(self, headers: Mapping[bytes, bytes]) -> None:
        if not self.guarded:
            _check_host(headers)
        _check_origin(headers)

    def _may(self, token: bytes) -> tuple[bool, bool]:
        """Read, and write."""
        digest = sha256(token).digest()
        # Both are compared, whatever the first one says, so that the time tells nothing.
        reads, writes = (known is not None and compare_digest(digest, known) for known in (self._read, self._write))
        return reads or writes, writes


def user_of(headers: Mapping[bytes, bytes]) -> str:
    """The name beside the token, where a browser's user gave one. It is no proof: any name will do."""
    scheme, _, given = headers.get(b"authorization", b"").partition(b" ")
    return _name_and_password(given)[0].decode("utf-8", "replace") if scheme.lower() == b"basic" else ""


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


def _check_browser(method: str, headers: Mapping[bytes, bytes]) -> None:
    """Forms come from our own pages. What a page of another site embeds is refused; where a link leads is shown."""
    if method == "POST" and b"origin" not in headers:
        raise Problem("foreign-origin", "A form is sent from its own page; programs ask /v1/compare.")
    from_elsewhere = headers.get(b"sec-fetch-site", b"none") not in (b"same-origin", b"none")
    goes = headers.get(b"sec-fetch-mode") == b"navigate" and headers.get(b"sec-fetch-dest") == b"document"
    if from_elsewhere and not goes:
        raise Problem("foreign-origin", "Pages are not shown within those of other sites.")


def _name_and_password(given: bytes) -> tuple[bytes, bytes]:
    """Of the Basic scheme; nothing where it cannot be read."""
    try:
        name, _, password = b64decode(given.strip(), validate=True).partition(b":")
    except ValueError:
        return b"", b""
    return name, password


@lru_cache(64)
def _is_own(host: bytes) -> bool:
    """Whether a Host header names this machine, with any port."""
    named = _HOST.fullmatch(host.decode("latin-1"))
    return named is not None and is_loopback(named[1])
