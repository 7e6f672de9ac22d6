"""TLS: the certificate of a service, and the layer between a socket and the HTTP protocol.

Certificate   a context of the certificate's and the key's files, which can be read again
secured       a protocol class behind TLS

asyncio's own TLS makes a connection known to its protocol when the handshake is done. Here the protocol knows it at
once, so that all its limits (connections, the seconds for a head) hold for handshakes as well, which cost a client
nothing to begin and never to end.
"""

import asyncio
import ssl
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from neardup.errors import UsageError
from neardup.service.private import read_private

_RECORD = 64 << 10
"""Bytes that are read at once; a record of TLS has 16 kB at the most."""


_NO_KEY = "No --tls-key was given, so the key is looked for in the certificate's file."


class Certificate:
    """The certificate that a service shows."""

    def __init__(self, certificate: Path, key: Path | None = None) -> None:
        """certificate: PEM, the service's own first, then those between it and the authority. key: PEM; a file that
        nobody else may read. Without one the key is in the certificate's file."""
        self._certificate, self._key = certificate, key
        self.context = self._read()

    def reread(self) -> None:
        """Read both files again, for connections from now on. What cannot be read leaves everything as it was."""
        self.context = self._read()

    def _require_private(self, key: Path) -> None:
        if self._key is not None:
            read_private(key, "--tls-key")
            return
        try:
            read_private(key, "--tls-cert")
        except UsageError as error:
            raise UsageError(f"{error} {_NO_KEY}") from error

    def _read(self) -> ssl.SSLContext:
        key = self._certificate if self._key is None else self._key
        given = f"--tls-cert {self._certificate}, --tls-key {key}"
        mend = "Give a certificate and its own key, both as PEM, the key without a password."
        if self._key is None:
            given = f"--tls-cert {self._certificate}"
            mend = f"{_NO_KEY} {mend}"
        self._require_private(key)
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.options |= ssl.OP_NO_RENEGOTIATION
        context.set_alpn_protocols(["http/1.1"])
        try:
            # A key under a password would make OpenSSL ask for it on the terminal.
            context.load_cert_chain(self._certificate, key, password="")
        except (OSError, ValueError) as error:
            why = error.strerror or getattr(error, "reason", "") if isinstance(error, OSError) else error
            raise UsageError(f"{given}: cannot be used ({why or error}). {mend}") from error
        return context


def secured(plain: Callable[..., asyncio.Protocol], certificate: Certificate) -> Callable[..., asyncio.Protocol]:
    """Return what makes protocols like `plain` does, behind TLS."""

    def made(**given: Any) -> asyncio.Protocol:
        return _Layer(plain(**given), certificate.context)

    return made


class _Layer(asyncio.Protocol):
    """A protocol towards the socket, a transport towards the protocol above it."""

    def __init__(self, above: asyncio.Protocol, context: ssl.SSLContext) -> None:
        self._above, self._context = above, context
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._shaken = False
        self._transport: Any = None

    # Towards the socket.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Make the connection known above before the handshake."""
        self._transport = transport
        self._above.connection_made(self)  # type: ignore[arg-type]

    def connection_lost(self, exc: Exception | None) -> None:
        """Pass it on."""
        self._above.connection_lost(exc)

    def pause_writing(self) -> None:
        """Pass it on."""
        self._above.pause_writing()

    def resume_writing(self) -> None:
        """Pass it on."""
        self._above.resume_writing()

    def eof_received(self) -> None:
        """Close, as asyncio does over TLS: what comes after half of a connection cannot be trusted."""

    def data_received(self, data: bytes) -> None:
        """Go on with the handshake, or decrypt what came and pass it on."""
        self._incoming.write(data)
        try:
            if not self._shaken:
                self._tls.do_handshake()
                self._shaken = True
            content, ended = self._decrypted()
        except ssl.SSLWantReadError:
            content, ended = b"", False
        except ssl.SSLError:  # no TLS, too old a version, a damaged record
            content, ended = b"", True
        self._flush()
        if content and not self._transport.is_closing():
            self._above.data_received(content)
        if ended:
            self._transport.close()

    def _decrypted(self) -> tuple[bytes, bool]:
        """Return all that can be read, and whether the other side closed the connection."""
        pieces = []
        try:
            while piece := self._tls.read(_RECORD):
                pieces.append(piece)
        except ssl.SSLWantReadError:
            return b"".join(pieces), False
        return b"".join(pieces), True

    # Towards the protocol.

    def write(self, data: bytes) -> None:
        """Encrypt and send. Before the handshake nobody could read it, and nothing is sent."""
        if not self._shaken or not data:
            return
        rest = memoryview(data)
        while rest:
            rest = rest[self._tls.write(rest) :]
        self._flush()

    def close(self) -> None:
        """Send what waits, say that this is all, and close."""
        if self._shaken and not self._transport.is_closing():
            with suppress(ssl.SSLError):  # the other side's word for it is not waited for
                self._tls.unwrap()
            self._flush()
        self._transport.close()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """Say that this is TLS; the rest is the socket's."""
        return self._context if name == "sslcontext" else self._transport.get_extra_info(name, default)

    def _flush(self) -> None:
        if self._outgoing.pending and not self._transport.is_closing():
            self._transport.write(self._outgoing.read())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)
