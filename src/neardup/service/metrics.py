"""What a service counts, for Prometheus."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from neardup.index.store import ERRORS, Health

if TYPE_CHECKING:
    import prometheus_client

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Metrics:
    """The counters of one service, in a registry of their own."""

    def __init__(self) -> None:
        from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics

        disable_created_metrics()  # type: ignore[no-untyped-call]  # a line with the time of its first count beside every counter
        self.registry = CollectorRegistry()
        made = self.registry
        self._requests = Counter(
            "neardup_requests", "Requests by route and status.", ["method", "route", "status"], registry=made
        )
        self._seconds = Histogram(
            "neardup_request_seconds", "Time to the end of the answer; streams not included.", ["route"],
            buckets=_SECONDS, registry=made
        )  # fmt: skip
        documents = Counter("neardup_documents", "Documents by what was done with them.", ["what"], registry=made)
        self.documents = {
            what: documents.labels(what) for what in ("checked", "added", "duplicate", "removed", "refused")
        }
        """refused: lines of streams that could not be taken."""
        self.bytes = Counter("neardup_received_bytes", "Bytes of requests' bodies.", registry=made)
        self.rejected = Counter(
            "neardup_rejected", "Requests that were refused for lack of room, by why.", ["why"], registry=made
        )
        self.in_flight = Gauge("neardup_in_flight", "Requests that are being answered.", ["kind"], registry=made)
        self.index = Gauge("neardup_index_documents", "Documents in the index.", registry=made)
        self._free = Gauge("neardup_store_free_bytes", "Bytes free on the disk of the index.", registry=made)
        self._errors = Counter(
            "neardup_store_errors", "Reads and writes of the index that failed, by why.", ["kind"], registry=made
        )
        self._counted = dict.fromkeys(ERRORS, 0)
        for kind in ERRORS:
            self._errors.labels(kind)
        self.held = Gauge("neardup_held_bytes", "Bytes of requests that wait for an answer.", registry=made)
        self._by_token = Counter(
            "neardup_token_requests", "Requests by the name of the token and status.", ["token", "status"],
            registry=made
        )  # fmt: skip
        self.reloads = Counter(
            "neardup_reloads", "Times that tokens or the certificate were read again, by what and how it ended.",
            ["what", "result"], registry=made
        )  # fmt: skip
        self._of_token: dict[tuple[str, int], prometheus_client.Counter] = {}
        self._by_route: dict[tuple[str, str, int], prometheus_client.Counter] = {}
        self._time_of: dict[str, prometheus_client.Histogram] = {}

    def request(self, method: str, route: str, status: int, seconds: float | None, received: int) -> None:
        """A request is over. `seconds` is None for a stream."""
        key = (method, route, status)
        counter = self._by_route.get(key)
        if counter is None:
            counter = self._by_route[key] = self._requests.labels(method, route, str(status))
        counter.inc()
        if received:
            self.bytes.inc(received)
        if seconds is not None:
            timer = self._time_of.get(route)
            if timer is None:
                timer = self._time_of[route] = self._seconds.labels(route)
            timer.observe(seconds)

    def request_by(self, token: str, status: int) -> None:
        """Count a request for the token of this name."""
        counter = self._of_token.get((token, status))
        if counter is None:
            counter = self._of_token[token, status] = self._by_token.labels(token, str(status))
        counter.inc()

    def forget_tokens(self, kept: Collection[str]) -> None:
        """Drop the counters of all tokens but these: there are never more than a service has tokens."""
        for token, status in [key for key in self._of_token if key[0] not in kept]:
            del self._of_token[token, status]
            self._by_token.remove(token, str(status))

    def store(self, health: Health) -> None:
        """Take over what a store says of itself; a disk that is not this machine's is not known."""
        self._free.set(float("nan") if health.free is None else health.free)
        for kind, number in health.errors.items():
            self._errors.labels(kind).inc(max(0, number - self._counted[kind]))
            self._counted[kind] = number

    def text(self) -> tuple[bytes, str]:
        """For a scraper, and its content type."""
        from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

        return generate_latest(self.registry), CONTENT_TYPE_LATEST
