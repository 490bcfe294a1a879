"""How many CPUs this process may use."""

from __future__ import annotations

import os


def cpus() -> int:
    """Those that it is bound to; where the system does not say, all of the machine."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
