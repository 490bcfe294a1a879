"""Retains memory that XLA's CPU backend frees, for the next step.

Each call of a compiled function allocates its temporary arrays, hundreds of megabytes
per training step. The C library returns freed blocks of that size to the system, and
the next step gets them zeroed, one page fault per 4 KiB: a quarter of a training step's
time. Retaining them avoids this. On an accelerator XLA has its own allocator, and these
options have no effect.
"""

from __future__ import annotations

import ctypes

# From malloc.h.
TRIM_THRESHOLD, MMAP_MAX, ARENA_MAX = -1, -4, -8


def keep_memory() -> bool:
    """Set the C library to retain freed memory; returns whether it succeeded.

    For training processes: memory is not returned before the process ends. Call it
    before JAX starts its threads. Returns False if the C library is not glibc.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    # Large blocks come from the heap, the heap never shrinks, and all threads share
    # it, because heaps of further threads are too small for such blocks.
    options = ((MMAP_MAX, 0), (TRIM_THRESHOLD, -1), (ARENA_MAX, 1))
    set_ones = [mallopt(option, value) for option, value in options]
    return all(set_ones)  # each is 1, or 0 if it was refused
