"""Requests that a proxy passes on: who sent them, by the word of proxies that are trusted.

Anybody can write X-Forwarded-For. A proxy adds the address that it was asked from at the end, so the list is read from
there: as long as the one who wrote an entry is trusted, the entry is true.
"""

from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from neardup.errors import UsageError

Network = IPv4Network | IPv6Network


class Proxies:
    """Addresses of proxies that are trusted."""

    def __init__(self, networks: Iterable[str] = ()) -> None:
        """networks: such as 10.0.0.5 or 10.0.0.0/24."""
        self._networks = [_network(each) for each in networks]

    def __bool__(self) -> bool:
        return bool(self._networks)

    def trusts(self, address: str) -> bool:
        """Whether this address is a trusted proxy's."""
        try:
            found = ip_address(address)
        except ValueError:
            return False
        mapped = getattr(found, "ipv4_mapped", None) or found  # ::ffff:10.0.0.5, on a socket for both versions
        return any(mapped in network for network in self._networks if network.version == mapped.version)

    def client(self, peer: str, forwarded: Iterable[bytes]) -> str:
        """Return the address that a request was sent from.

        Args:
            peer: The other end of the connection.
            forwarded: The values of all headers X-Forwarded-For, in their order.
        """
        client = peer
        entries = [entry.strip() for value in forwarded for entry in value.decode("latin-1").split(",")]
        while entries and self.trusts(client):
            try:
                client = str(ip_address(entries.pop()))
            except ValueError:  # an entry that a trusted proxy wrote and nobody can read
                return client
        return client

    def scheme(self, peer: str, scheme: str, said: bytes) -> str:
        """Return http or https, as the client sees it; `said`: the header X-Forwarded-Proto."""
        return said.decode() if said in (b"http", b"https") and self.trusts(peer) else scheme


def _network(given: str) -> Network:
    try:
        return ip_network(given)
    except ValueError as error:
        raise UsageError(f"--trusted-proxy {given}: is no address or network, such as 10.0.0.5 ({error}).") from error
