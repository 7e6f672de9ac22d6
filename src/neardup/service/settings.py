"""How a service is set up: what it allows, and how much of it.

Limits     sizes, times and numbers beyond which a request is refused
Settings   limits, tokens, and whether anything may be written
"""

from dataclasses import dataclass, field
from pathlib import Path

from neardup.errors import UsageError
from neardup.service.forwarding import Proxies
from neardup.service.tls import Certificate
from neardup.service.tokens import Token, Tokens


@dataclass(frozen=True)
class Limits:
    """Every limit of a service. Bytes are as they come over the wire, but for `document`."""

    body: int = 16 << 20
    """Bytes of a request's JSON."""
    line: int = 16 << 20
    """Bytes of a line of a stream."""
    document: int = 16 << 20
    """Bytes of one document's text or HTML, in UTF-8."""
    documents: int = 1000
    """Documents in one request that is no stream."""
    held: int = 256 << 20
    """Bytes of all requests together that wait for an answer, and of what streams hold beyond 1.25 MB each."""
    seconds: float = 30.0
    """To send a request, and to be answered."""
    idle: float = 60.0
    """A stream may wait so long for a line, or for its client to take the answers."""
    header_seconds: float = 10.0
    """To send a request's head."""
    header_bytes: int = 64 << 10
    """Of a request's head."""
    concurrency: int = 512
    """Requests at the same time."""
    streams: int = 16
    """Streams at the same time."""
    connections: int = 2048
    """Connections at the same time, idle ones too."""

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            if getattr(self, name) <= 0:
                raise UsageError(f"{name} = {getattr(self, name)}: a limit lies above 0.")


@dataclass(frozen=True)
class Settings:
    """What `serve` and `app` need to know."""

    limits: Limits = field(default_factory=Limits)
    tokens: tuple[Token, ...] = ()
    """Those at the start; they may be exchanged while it runs."""
    read_only: bool = False
    tls: Certificate | None = None
    """Without it, plain HTTP."""
    proxies: Proxies = field(default_factory=Proxies)
    """Those whose word on clients' addresses is taken."""
    keep_days: int | None = None
    """Days after which a document that was not seen again is forgotten."""
    backup_folder: Path | None = None
    """Where backups go that clients ask for, by name."""

    def __post_init__(self) -> None:
        Tokens(self.tokens)
        if self.proxies and not self.guarded:
            raise UsageError(
                "--trusted-proxy: a service without tokens answers this machine alone, and nothing that a proxy passes "
                "on. Give tokens: --tokens FILE."
            )
        if self.keep_days is not None and self.read_only:
            raise UsageError("--keep-days forgets documents, and a service with --read-only writes nothing. Omit one.")

    @property
    def guarded(self) -> bool:
        """Whether a token is needed."""
        return bool(self.tokens)
