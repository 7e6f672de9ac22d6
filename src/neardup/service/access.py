"""Who may ask: tokens, and names under which the service is asked.

Without tokens it listens on this machine alone, and then only requests under this machine's own name are answered: a
foreign site could make a browser ask by rebinding its own name to 127.0.0.1. Requests that a proxy passes on are then
refused, for everybody behind the proxy would be this machine. Requests that a page of another origin makes are refused
in any case.

Pages are for browsers, which ask a person: there a token is also taken as the password of HTTP's Basic scheme, under
any name. It counts for pages alone, for a browser sends it along with whatever another site makes it ask; and so that
no other site can, a page is shown where a person goes to it, and forms are taken from our own pages.
"""

import re
from base64 import b64decode
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from ipaddress import ip_address
from typing import Literal

from neardup.service.http import Call
from neardup.service.problems import Problem
from neardup.service.quotas import Caller
from neardup.service.settings import Settings
from neardup.service.tokens import RIGHTS, Token, Tokens

Level = Literal["open", "read", "write", "admin"]

FORWARDED = (b"forwarded", b"x-forwarded-for", b"x-forwarded-host", b"x-real-ip", b"via")
"""Headers by which proxies say that they pass a request on."""

_HOST = re.compile(r"(\[[^\]]*\]|[^:]*)(?::[0-9]*)?")
_ASK = 'Bearer realm="neardup"'
_ASK_PEOPLE = 'Basic realm="neardup: the password is a token", charset="UTF-8"'
_TLS_AHEAD = (
    "The page was loaded over https, and this service is asked over http. Where a proxy speaks TLS in front of it, "
    "start it with --trusted-proxy ADDRESS, and let the proxy send X-Forwarded-Proto."
)
_REFUSED = {
    b"bearer": "The one that was sent is not of this service, or its time is over.",
    b"basic": "Passwords count for pages alone. Under /v1/ send the header Authorization: Bearer TOKEN.",
}
"""By the scheme of the header Authorization. Of a password nobody learns here whether it is right."""
_OTHER_SCHEME = "The header Authorization has another scheme. Send it as Authorization: Bearer TOKEN."


class Access:
    """Who may do what, by a service's settings and tokens."""

    def __init__(self, settings: Settings) -> None:
        self.read_only = settings.read_only
        self.guarded = settings.guarded
        self._tokens = Tokens(())
        self._callers: dict[bytes, Caller] = {}
        self.anybody = Caller()
        """Who asks what needs no token."""
        self.use(settings.tokens)

    @property
    def callers(self) -> Collection[Caller]:
        """Those among whom places are divided."""
        return self._callers.values() if self.guarded else (self.anybody,)

    def use(self, tokens: Iterable[Token]) -> list[Caller]:
        """Take these tokens from now on. Return the callers that may no longer do all that they could."""
        made = Tokens(tokens)
        before, self._callers, self._tokens = self._callers, {}, made
        lessened = []
        for token in made.all:
            caller = before.get(token.digest)
            if caller is None or caller.name != token.name:
                self._callers[token.digest] = Caller(token)
                continue
            if _lessened(caller.token, token):
                lessened.append(caller)
            caller.use(token)
            self._callers[token.digest] = before.pop(token.digest)
        for caller in before.values():
            caller.revoked = True
        return [*lessened, *before.values()]

    def expired(self) -> list[Caller]:
        """Return the callers whose time is over."""
        now = datetime.now(UTC)
        return [caller for caller in self._callers.values() if caller.token and caller.token.expired(now)]

    def check(self, level: Level, call: Call) -> None:
        """Find out who asks, and raise the problem if that may not be done, or not now."""
        self._check_asker(call)
        if level == "open" and self.guarded:
            return
        scheme, _, token = call.headers.get(b"authorization", b"").partition(b" ")
        self._find(call, token.strip() if scheme.lower() == b"bearer" else None)
        if level == "write" and self.read_only:
            raise Problem("forbidden", "The service is read-only.")
        if level == "open" or not self.guarded:
            return
        if call.caller.token is None:
            given = b"authorization" in call.headers
            ask = _ASK + ', error="invalid_token"' if scheme.lower() == b"bearer" else _ASK
            why = _REFUSED.get(scheme.lower(), _OTHER_SCHEME) if given else ""
            raise Problem("no-token", why, **{"www-authenticate": ask})
        call.know()
        _check_rights(level, call.caller.token)
        call.caller.admit()

    def check_page(self, level: Level, method: str, call: Call) -> None:
        """Do the same for a page, where the token may be a password too."""
        self._check_asker(call)
        _check_browser(method, call.headers)
        scheme, _, given = call.headers.get(b"authorization", b"").partition(b" ")
        token = {b"basic": lambda: _name_and_password(given)[1], b"bearer": given.strip}.get(scheme.lower())
        self._find(call, token() if token else None)
        if level == "write" and self.read_only:
            raise Problem("forbidden", "The service is read-only.")
        if not self.guarded:
            return
        if call.caller.token is None:
            raise Problem(
                "no-token",
                "Give a token of this service as the password; any user name will do.",
                **{"www-authenticate": _ASK_PEOPLE},
            )
        call.know()
        _check_rights(level, call.caller.token)
        call.caller.admit()

    def _find(self, call: Call, secret: bytes | None) -> None:
        token = None if secret is None else self._tokens.find(secret)
        call.caller = self.anybody if token is None else self._callers[token.digest]

    def _check_asker(self, call: Call) -> None:
        if not self.guarded:
            _check_direct(call.headers)
            _check_host(call.headers)
        _check_origin(call.scheme, call.headers)


def _check_rights(level: Level, token: Token) -> None:
    if level != "open" and not token.allows(level):
        needed = f"this needs {' or '.join(RIGHTS[RIGHTS.index(level) :])}"
        raise Problem("forbidden", f"The token {token.name} has the right to {token.rights}; {needed}.")


def _lessened(before: Token | None, now: Token) -> bool:
    """Whether a token may do less than before."""
    if before is None or RIGHTS.index(now.rights) < RIGHTS.index(before.rights):
        return True
    return now.indexes is not None and (before.indexes is None or not before.indexes <= now.indexes)


def _check_direct(headers: Mapping[bytes, bytes]) -> None:
    if any(name in headers for name in FORWARDED):
        raise Problem("forwarded")


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


def _check_host(headers: Mapping[bytes, bytes]) -> None:
    if not _is_own(headers.get(b"host", b"")):
        raise Problem("wrong-host")


def _check_origin(scheme: str, headers: Mapping[bytes, bytes]) -> None:
    """Raise the problem if a page of another origin asks. The scheme counts: anybody on the way can write a page of
    http://HOST, and nobody one of https://HOST."""
    origin, host = headers.get(b"origin"), headers.get(b"host", b"")
    if origin is None or origin == b"%b://%b" % (scheme.encode(), host):
        return
    if scheme == "http" and origin == b"https://%b" % host:
        raise Problem("foreign-origin", _TLS_AHEAD)
    raise Problem("foreign-origin")


def _check_browser(method: str, headers: Mapping[bytes, bytes]) -> None:
    """Raise the problem unless a form comes from our own pages, and a page is shown where a person goes to it.

    What a page of another site embeds is refused; where a link of it leads is shown, for a link changes nothing.
    """
    if method == "POST" and b"origin" not in headers:
        raise Problem("foreign-origin", "A form is sent from its own page; programs ask /v1/compare.")
    from_elsewhere = headers.get(b"sec-fetch-site", b"none") not in (b"same-origin", b"none")
    if from_elsewhere and method == "POST":
        raise Problem("foreign-origin", "A form is sent from its own page.")
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
