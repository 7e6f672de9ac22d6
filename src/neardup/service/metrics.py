"""What a service counts, for Prometheus."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from neardup.index.store import ERRORS, Health

if TYPE_CHECKING:
    import prometheus_client

WHAT = ("checked", "added", "duplicate", "removed", "expired", "refused")

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class IndexMetrics:
    """The counters of one index."""

    def __init__(self, metrics: "Metrics", name: str) -> None:
        self.documents = {what: metrics.documents.labels(what, name) for what in WHAT}
        """refused: lines of streams that could not be taken."""
        self.size, self.oldest = metrics.size.labels(name), metrics.oldest.labels(name)
        self.expiry_refused = metrics.expiry_refused.labels(name)
        self._free = metrics.free.labels(name)
        self._errors = {kind: metrics.errors.labels(kind, name) for kind in ERRORS}
        self._counted = dict.fromkeys(ERRORS, 0)

    def store(self, health: Health) -> None:
        """Take over what a store says of itself; a disk that is not this machine's is not known."""
        self._free.set(float("nan") if health.free is None else health.free)
        for kind, number in health.errors.items():
            self._errors[kind].inc(max(0, number - self._counted[kind]))
            self._counted[kind] = number


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
        self.documents = Counter(
            "neardup_documents", "Documents by what was done with them.", ["what", "index"], registry=made
        )
        self.bytes = Counter("neardup_received_bytes", "Bytes of requests' bodies.", registry=made)
        self.rejected = Counter(
            "neardup_rejected", "Requests that were refused for lack of room, by why.", ["why"], registry=made
        )
        self.in_flight = Gauge("neardup_in_flight", "Requests that are being answered.", ["kind"], registry=made)
        self.size = Gauge("neardup_index_documents", "Documents in the index.", ["index"], registry=made)
        self.oldest = Gauge(
            "neardup_index_oldest_timestamp_seconds", "Day before which no document of the index was last seen.",
            ["index"], registry=made
        )  # fmt: skip
        self.expiry_refused = Counter(
            "neardup_expiry_refused", "Times that --keep-days would have forgotten more than half of an index.",
            ["index"], registry=made
        )  # fmt: skip
        self.free = Gauge("neardup_store_free_bytes", "Bytes free on the disk of the index.", ["index"], registry=made)
        self.errors = Counter(
            "neardup_store_errors", "Reads and writes of the index that failed, by why.", ["kind", "index"],
            registry=made
        )  # fmt: skip
        self.held = Gauge("neardup_held_bytes", "Bytes of requests that wait for an answer.", registry=made)
        self._by_token = Counter(
            "neardup_token_requests", "Requests by the name of the token and status.", ["token", "status"],
            registry=made
        )  # fmt: skip
        self.reloads = Counter(
            "neardup_reloads",
            "Times that tokens or the certificate were read again or the collection opened anew, by what and result.",
            ["what", "result"], registry=made
        )  # fmt: skip
        self._of_token: dict[tuple[str, int], prometheus_client.Counter] = {}
        self._by_route: dict[tuple[str, str, int], prometheus_client.Counter] = {}
        self._time_of: dict[str, prometheus_client.Histogram] = {}

    def of_index(self, name: str) -> IndexMetrics:
        """Return the counters of an index."""
        return IndexMetrics(self, name)

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

    def text(self) -> tuple[bytes, str]:
        """For a scraper, and its content type."""
        from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

        return generate_latest(self.registry), CONTENT_TYPE_LATEST
