"""The figures of ``/metrics``: requests, seconds, batches, the queue, the process."""

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

    def __init__(self, queue_length: Callable[[], int]):
        """``queue_length`` returns the number of waiting questions."""
        registry = self.registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        PlatformCollector(registry=registry)
        self.requests = Counter(
            "kgscout_requests",
            "Requests that got a reply, by path and HTTP status.",
            ("path", "status"),
            registry=registry,
        )
        self.seconds = Histogram(
            "kgscout_request_seconds",
            "Seconds from the head of a request to the end of its reply.",
            ("path",),
            buckets=SECONDS,
            registry=registry,
        )
        self.under_way = Gauge(
            "kgscout_requests_under_way",
            "Requests without a reply yet.",
            registry=registry,
        )
        self.batch_size = Histogram(
            "kgscout_batch_size",
            "Questions that were scored together.",
            buckets=SIZES,
            registry=registry,
        )
        Gauge(
            "kgscout_queue_length",
            "Questions that wait for the next batch.",
            registry=registry,
        ).set_function(queue_length)

    def text(self) -> bytes:
        """All figures in Prometheus's text format."""
        return generate_latest(self.registry)
