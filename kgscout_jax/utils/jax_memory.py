"""Memory that XLA's CPU backend frees is kept for the next step.

Each call of a compiled function allocates its temporary arrays anew, hundreds of
megabytes a training step. The C library gives blocks of that size back to the system
when they are freed, and the next step gets them zeroed, one page fault per 4 KiB: a
quarter of a training step's time. Kept, they cost nothing. On an accelerator XLA has an
allocator of its own and nothing here matters.
"""

from __future__ import annotations

import ctypes

# From malloc.h.
TRIM_THRESHOLD, MMAP_MAX, ARENA_MAX = -1, -4, -8


def keep_memory() -> bool:
    """Whether the process now keeps the memory it frees, for itself.

    For a process that trains: what it once held, it holds until it ends. To be called
    before JAX starts its threads. False where the C library is not glibc.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    # Large blocks come from the heap, the heap never shrinks, and all threads share
    # one: heaps of further threads could not hold such blocks.
    options = ((MMAP_MAX, 0), (TRIM_THRESHOLD, -1), (ARENA_MAX, 1))
    set_ones = [mallopt(option, value) for option, value in options]
    return all(set_ones)  # 1 each, 0 for one that was refused
