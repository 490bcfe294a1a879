"""Freed memory stays with the process: measured by page faults, in one of its own."""

from __future__ import annotations

import ctypes
import subprocess
import sys

import pytest

from kgscout_jax.utils import jax_memory

COUNT = """
import resource, sys
import numpy as np
from kgscout_jax.utils.jax_memory import keep_memory
if "keep" in sys.argv:
    assert keep_memory()
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
np.full(10_000_000, 1.0)  # 80 MB, written and freed
before = faults()
for _ in range(3):
    np.full(10_000_000, 1.0)
print(faults() - before)
"""
GLIBC = sys.platform == "linux" and hasattr(ctypes.CDLL(None), "gnu_get_libc_version")


def faults(*flags: str) -> int:
    """Page faults of three large arrays, made one after the other."""
    command = [sys.executable, "-c", COUNT, *flags]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(not GLIBC, reason="no glibc")
def test_large_arrays_fault_once_only():
    kept = faults("keep")
    # numpy asks for huge pages: fewer faults than one per 4 KiB, but some.
    assert kept < 20 < faults()


def test_without_glibc_memory_is_not_kept(monkeypatch):
    def other(_):
        raise OSError("no C library")

    monkeypatch.setattr(ctypes, "CDLL", other)
    assert jax_memory.keep_memory() is False
