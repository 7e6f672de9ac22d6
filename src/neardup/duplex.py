"""A TLS socket that one thread sends on while another receives.

OpenSSL allows one call on a connection at a time, and Python's SSLSocket leaves that to its users. Here both take
turns: calls do not wait for the network within their turn, and what would have to wait does so outside of it.
"""

import selectors
import socket
import ssl
import threading
from collections.abc import Callable
from time import monotonic
from typing import Any, TypeVar

Found = TypeVar("Found")

Selector: type[selectors.BaseSelector] = getattr(selectors, "PollSelector", selectors.SelectSelector)
"""select() takes no file beyond the 1,024th; Windows has nothing else, and counts otherwise."""


class DuplexSocket(ssl.SSLSocket):
    """For two threads, once `share` was called."""

    _seconds: float | None = None
    _turn: threading.Lock

    def share(self) -> None:
        """Let one thread send while another receives, each waiting as long as the socket's timeout says."""
        seconds = self.gettimeout()
        self._turn = threading.Lock()
        self.settimeout(0.0)
        self._seconds = float("inf") if seconds is None else seconds

    def read(self, *given: Any) -> Any:
        """Receive, as SSLSocket does."""
        return self._in_turn(lambda: super(DuplexSocket, self).read(*given))

    def send(self, data: Any, flags: int = 0) -> int:
        """Send, as SSLSocket does; sendall sends by this."""
        return self._in_turn(lambda: super(DuplexSocket, self).send(data, flags))

    def shutdown(self, how: int) -> None:
        """End the connection and stay encrypted: SSLSocket would let the other thread send in the open."""
        socket.socket.shutdown(self, how)

    def _in_turn(self, act: Callable[[], Found]) -> Found:
        if self._seconds is None:
            return act()
        end = monotonic() + self._seconds
        while True:
            with self._turn:
                try:
                    return act()
                except ssl.SSLWantReadError:
                    awaited = selectors.EVENT_READ
                except ssl.SSLWantWriteError:
                    awaited = selectors.EVENT_WRITE
            with Selector() as selector:
                selector.register(self, awaited)
                left = end - monotonic()
                if left <= 0 or not selector.select(None if left == float("inf") else left):
                    raise TimeoutError("timed out")
