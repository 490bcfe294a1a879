"""``timeline.json`` of a run: what host and device did in its latest steps."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from kgscout_jax.utils.io import write_json

TIMELINE_FILE = "timeline.json"
SHOWN = 200
"""Spans that are written: those of about thirty steps."""


class Span(NamedTuple):
    """What host or device did for a while."""

    lane: str
    """host or device."""
    name: str
    start: float
    """Seconds, from any point in time."""
    end: float


def write_timeline(run: Path, step: int, spans: Iterable[Span]) -> None:
    """Write the latest spans, their times from the first one's start."""
    latest = sorted(spans, key=lambda span: span.start)[-SHOWN:]
    first = min((span.start for span in latest), default=0.0)
    rows = [
        [span.lane, span.name, round(span.start - first, 6), round(span.end - first, 6)]
        for span in latest
    ]
    write_json(run / TIMELINE_FILE, {"step": step, "spans": rows})
