"""What ``/metrics`` tells: requests, seconds, batches, the queue, the process."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.exposition import CONTENT_TYPE_LATEST

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128)


class Metrics:
    """The figures of one application, in a registry of its own."""

    content_type = CONTENT_TYPE_LATEST

    def __init__(self, waiting: Callable[[], int]):
        """Take what tells how many requests wait."""
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        self._requests = Counter(
            "kgscout_requests",
            "Requests that got a reply, by path and HTTP status.",
            ("path", "status"),
            registry=self.registry,
        )
        self._seconds = Histogram(
            "kgscout_request_seconds",
            "Seconds from the head of a request to the end of its reply.",
            ("path",),
            buckets=SECONDS,
            registry=self.registry,
        )
        self._under_way = Gauge(
            "kgscout_requests_under_way",
            "Requests without a reply yet.",
            registry=self.registry,
        )
        self._batches = Histogram(
            "kgscout_batch_size",
            "Questions that were scored together.",
            buckets=SIZES,
            registry=self.registry,
        )
        Gauge(
            "kgscout_queue_length",
            "Questions that wait for the next batch.",
            registry=self.registry,
        ).set_function(waiting)

    def begin(self) -> None:
        """A request has come."""
        self._under_way.inc()

    def end(self, path: str, status: int, seconds: float) -> None:
        """It has got its reply."""
        self._under_way.dec()
        self._requests.labels(path, str(status)).inc()
        self._seconds.labels(path).observe(seconds)

    def batch(self, size: int) -> None:
        """Questions are scored together."""
        self._batches.observe(size)

    def text(self) -> bytes:
        """All of it as Prometheus reads it."""
        return generate_latest(self.registry)
