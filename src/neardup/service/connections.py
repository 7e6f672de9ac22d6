"""Who has a connection, and who gives way when there are too many.

A request is in progress here while it has a place among the service's requests or streams (`quotas`). A connection
without one gives way to a new one: those that never showed a token before those that did, and of these the one that has
waited longest. So connections that say nothing, send a head without end, or do not take an answer that needs no token,
keep nobody out; and a token keeps no more connections than it has places, also behind a proxy. One address has half of
all connections, unless it is a trusted proxy's; beyond, its own give way. Where every connection has a request in
progress, a few more are taken, on which nothing but the service's health can be asked.
"""

from collections import Counter
from typing import Literal, Protocol

from neardup.service.forwarding import Proxies

RESERVE = 16
"""Connections beyond the limit, for /healthz and /readyz."""

Place = Literal["free", "reserved", "none"]


class Connection(Protocol):
    """What gives way."""

    known: bool
    """Whether a token came over it."""

    def give_way(self) -> None:
        """Close it, for another one."""


class Connections:
    """All of a service, in one event loop."""

    def __init__(self, most: int, proxies: Proxies | None = None) -> None:
        """proxies: those that may have all places, for many clients are behind one address."""
        self.most, self.per_address = most, max(1, most // 2)
        self._proxies = proxies or Proxies()
        self._address: dict[Connection, str] = {}
        self._number: Counter[str] = Counter()
        self._strangers: dict[Connection, None] = {}
        """Without a request in progress and without a token, the one that waits longest first."""
        self._known: dict[Connection, None] = {}
        """The same, with a token."""

    def __len__(self) -> int:
        return len(self._address)

    def open(self, connection: Connection, address: str) -> Place:
        """Take a new connection, and say what may be asked on it."""
        free = True
        if self._number[address] >= self.per_address and not self._proxies.trusts(address):
            free = self._make_room(address)
        if free and len(self) >= self.most:
            free = self._make_room()
        if not free and len(self) >= self.most + RESERVE and not self._make_room():
            return "none"
        self._address[connection] = address
        self._number[address] += 1
        self.waits(connection)
        return "free" if free else "reserved"

    def waits(self, connection: Connection) -> None:
        """No request is in progress on it."""
        if connection in self._address:
            self.works(connection)
            (self._known if connection.known else self._strangers)[connection] = None

    def works(self, connection: Connection) -> None:
        """A request is in progress on it."""
        self._strangers.pop(connection, None)
        self._known.pop(connection, None)

    def close(self, connection: Connection) -> None:
        """It is not there any more."""
        self.works(connection)
        address = self._address.pop(connection, None)
        if address is not None:
            self._number[address] -= 1
            if not self._number[address]:
                del self._number[address]

    def _make_room(self, address: str | None = None) -> bool:
        """Close the connection that may go first, of this address or of any. False: none may."""
        for waiting in (self._strangers, self._known):
            found = next((c for c in waiting if address is None or self._address[c] == address), None)
            if found is not None:
                self.close(found)
                found.give_way()
                return True
        return False
