"""Tokens: who has one, what it allows, how much of it, and until when.

Token        one of them, without the secret: its name, its digest, its rights, its limits
Tokens       all of a service, to look one up
read_tokens  those of a TOML file, a table for each:

    [crawler]
    sha256 = "9f86d081…"           # of the token; or token = "…" itself
    rights = "write"               # read, write or admin
    indexes = ["news"]             # names of the indexes that it may use; all without this
    expires = 2027-01-01           # or with a time; without this, never
    requests_per_second = 50.0     # limits, all of them optional
    burst = 200
    documents_per_second = 1000.0
    requests = 64                  # at the same time
    streams = 2                    # at the same time
    held = 67108864                # bytes of its requests that wait for an answer

The name stands in the log, in the metrics and beside labels; the token stands nowhere.
"""

import os
import re
import tomllib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from hashlib import blake2b, sha256
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec

from neardup.errors import UsageError
from neardup.service.private import read_private

Right = Literal["read", "write", "admin"]
RIGHTS: tuple[Right, ...] = get_args(Right)
"""Each allows what those before it allow."""

SHORTEST_TOKEN = 16
"""Characters. Guessing one of 16 random ones at a thousand a second takes longer than the world is old."""

MOST = 1000
"""Tokens of a service: every one has counters of its own."""

_NAME = re.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_DIGEST = re.compile("[0-9A-Fa-f]{64}")
_MAKE = "Make one with: neardup token FILE NAME, or openssl rand -hex 32"


@dataclass(frozen=True)
class Quota:
    """Limits of one token; None: those of the service."""

    requests_per_second: float | None = None
    burst: int | None = None
    """Requests at once after a pause; without it as many as in two seconds."""
    documents_per_second: float | None = None
    requests: int | None = None
    streams: int | None = None
    held: int | None = None

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            given = getattr(self, name)
            if given is not None and not 0 < given < float("inf"):
                raise UsageError(f"{name} = {given}: a limit lies above 0.")
        if self.burst is not None and self.requests_per_second is None:
            raise UsageError("burst is about requests_per_second, which is not given.")


@dataclass(frozen=True)
class Token:
    """Who asks, as a service knows it."""

    name: str
    digest: bytes = field(repr=False)
    """SHA-256 of the token."""
    rights: Right = "read"
    indexes: frozenset[str] | None = None
    """Names of those that it may use; None: all."""
    expires: datetime | None = None
    quota: Quota = Quota()

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise UsageError("a token's name has 1 to 64 of the characters a-z, A-Z, 0-9, '.', '_' and '-'.")

    @classmethod
    def of(cls, name: str, secret: str, rights: Right) -> "Token":
        """Make one from the token itself."""
        return cls(name, digest_of(secret, f"the {name} token"), rights)

    def allows(self, right: Right) -> bool:
        """Whether its rights include this one."""
        return RIGHTS.index(self.rights) >= RIGHTS.index(right)

    def may_use(self, index: str) -> bool:
        """Whether it may use the index of this name."""
        return self.indexes is None or index in self.indexes

    @property
    def for_all(self) -> bool:
        """Return whether it may use all indexes, those that are added later too."""
        return self.indexes is None

    def expired(self, now: datetime) -> bool:
        """Whether its time is over."""
        return self.expires is not None and self.expires <= now


class Tokens:
    """The tokens of a service."""

    def __init__(self, tokens: Iterable[Token]) -> None:
        self.all = tuple(tokens)
        _check_different(self.all)
        # Looked up under a key that this process drew, so that the time it takes tells nothing of any digest, whatever
        # the number of tokens.
        self._key = os.urandom(32)
        self._by_place = {self._place(token.digest): token for token in self.all}

    def find(self, secret: bytes) -> Token | None:
        """Return the token, if it is one of these and not expired."""
        token = self._by_place.get(self._place(sha256(secret).digest()))
        return None if token is None or (token.expires and token.expired(datetime.now(UTC))) else token

    def _place(self, digest: bytes) -> bytes:
        return blake2b(digest, key=self._key, digest_size=16).digest()

    def __bool__(self) -> bool:
        return bool(self.all)


def digest_of(secret: str, what: str) -> bytes:
    """Return the digest of a token, if it is one that cannot be guessed. `what`: its name, for errors."""
    if not (secret.isascii() and secret.isprintable() and " " not in secret):
        raise UsageError(f"{what} is not of printable ASCII characters without spaces.")
    if len(secret) < SHORTEST_TOKEN:
        raise UsageError(f"{what} has {len(secret)} characters, and {SHORTEST_TOKEN} is the least. {_MAKE}")
    return sha256(secret.encode()).digest()


def read_token(path: Path, what: str, name: str, rights: Right) -> Token:
    """Return the token of a file that holds nothing else."""
    try:
        secret = read_private(path, what).decode().strip()
    except UnicodeDecodeError as error:
        raise UsageError(f"{what} {path}: cannot be read (it is not UTF-8).") from error
    if not secret:
        raise UsageError(f"{what} {path}: is empty. {_MAKE}")
    return Token.of(name, secret, rights)


def read_tokens(path: Path, what: str = "--tokens") -> tuple[Token, ...]:
    """Return the tokens of a TOML file."""
    content = read_private(path, what)
    try:
        tables = tomllib.loads(content.decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        where = re.search(r"\(at .*\)$", str(error))  # the message may quote a token
        raise UsageError(f"{what} {path}: is no TOML{f' {where[0]}' if where else ''}.") from None
    if not tables:
        raise UsageError(f"{what} {path}: names no token. {_MAKE}")
    try:
        tokens = tuple(_token(name, table) for name, table in tables.items())
        _check_different(tokens)
    except UsageError as error:
        raise UsageError(f"{what} {path}: {error}") from None
    return tokens


class _Table(msgspec.Struct, forbid_unknown_fields=True):
    token: str | None = None
    sha256: str | None = None
    rights: str = "read"
    indexes: list[str] | None = None
    expires: Any = None
    requests_per_second: float | None = None
    burst: int | None = None
    documents_per_second: float | None = None
    requests: int | None = None
    streams: int | None = None
    held: int | None = None


def _token(name: str, table: Any) -> Token:
    """Return the token of a table. Errors quote nothing of it that may be a secret in the wrong place."""
    if not isinstance(table, dict):
        raise UsageError("there is a value outside of a table; every token is a table: [NAME].")
    shown = name if _NAME.fullmatch(name) else "a token"
    try:
        if not table.keys() <= {*_Table.__struct_fields__}:
            raise UsageError(f"has a field that is none of {', '.join(_Table.__struct_fields__)}.")
        found = msgspec.convert(table, _Table)
        if (found.token is None) == (found.sha256 is None):
            raise UsageError('give token = "…" or sha256 = "…", one of them.')
        if found.sha256 is None:
            digest = digest_of(found.token or "", "the token")
        elif _DIGEST.fullmatch(found.sha256):
            digest = bytes.fromhex(found.sha256)
        else:
            raise UsageError("sha256 has 64 hexadecimal digits.")
        rights = next((right for right in RIGHTS if right == found.rights), None)
        if rights is None:
            raise UsageError(f"rights is {', '.join(RIGHTS[:-1])} or {RIGHTS[-1]}.")
        quota = Quota(**{name: getattr(found, name) for name in Quota.__dataclass_fields__})
        indexes = None if found.indexes is None else frozenset(found.indexes)
        return Token(name, digest, rights, indexes, _moment(found.expires), quota)
    except msgspec.ValidationError as error:
        raise UsageError(f"[{shown}]: {error}.") from None
    except UsageError as error:
        raise UsageError(f"[{shown}]: {error}") from None


def unknown_indexes(tokens: Iterable[Token], served: Collection[str]) -> dict[str, str]:
    """Return a sentence for each token that names indexes which a service has not, by the token's name.

    One file may be for several services, so such a token is no error; but a slip of the finger looks the same.
    """
    found = {}
    there = f"These are: {', '.join(served)}." if served else "None is."
    for token in tokens:
        unknown = sorted((token.indexes or frozenset()) - {*served})
        if unknown:
            what = "an index that is" if len(unknown) == 1 else "indexes that are"
            found[token.name] = f"The token {token.name} names {what} not served here: {', '.join(unknown)}. {there}"
    return found


def _moment(given: Any) -> datetime | None:
    """Return when a token ends: at the beginning of a day; times without a zone are UTC."""
    if given is None:
        return None
    if not isinstance(given, date):
        raise UsageError("expires is a day or a time, without quotation marks: 2027-01-01.")
    moment = given if isinstance(given, datetime) else datetime.combine(given, time())
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _check_different(tokens: Sequence[Token]) -> None:
    if len(tokens) > MOST:
        raise UsageError(f"there are {len(tokens):,} tokens, and {MOST:,} is the most.")
    names: dict[str, str] = {}
    digests: dict[bytes, str] = {}
    for token in tokens:
        if token.name in names:
            raise UsageError(f"two tokens have the name {token.name}; the log could not tell them apart.")
        if token.digest in digests:
            raise UsageError(f"the {digests[token.digest]} token and the {token.name} token are the same; omit one.")
        names[token.name] = digests[token.digest] = token.name
