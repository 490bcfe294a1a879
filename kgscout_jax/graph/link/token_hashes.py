"""Vectorised hashes of substrings of a text.

The hash of a substring c_0 c_1 ... is sum c_j p^j modulo 2^64, mixed. Sums over
prefixes give the value of any substring with one subtraction and one product by a power
of 1/p (p is odd, so it has an inverse), and of a substring without one of its
characters with two.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Int64, UInt64

BASE = 0x9E3779B97F4A7C15
INVERSE = pow(BASE, -1, 1 << 64)


class _Powers:
    """Powers of ``BASE`` and of its inverse, extended on demand."""

    def __init__(self) -> None:
        self.up = self.down = np.ones(1, np.uint64)

    def at_least(self, n: int) -> None:
        if len(self.up) < n:
            size = max(n, 4096)
            self.up = _cumulative(BASE, size)
            self.down = _cumulative(INVERSE, size)


def _cumulative(base: int, n: int) -> UInt64[np.ndarray, "n"]:
    """base^0 ... base^(n-1) modulo 2^64."""
    factors = np.full(n, base, np.uint64)
    factors[0] = 1
    return np.cumprod(factors, dtype=np.uint64)


_POWERS = _Powers()


def mix_bits(values: UInt64[np.ndarray, "..."]) -> UInt64[np.ndarray, "..."]:
    """The values with mixed bits (the finaliser of splitmix64)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


class SubstringHashes:
    """Hashes of substrings ``[start, stop)`` of a text."""

    def __init__(self, codes: UInt64[np.ndarray, "c"]) -> None:
        _POWERS.at_least(len(codes) + 1)
        self.sums = np.zeros(len(codes) + 1, np.uint64)
        np.cumsum((codes + np.uint64(1)) * _POWERS.up[: len(codes)], out=self.sums[1:])

    def raw(
        self, starts: Int64[np.ndarray, "k"], stops: Int64[np.ndarray, "k"]
    ) -> UInt64[np.ndarray, "k"]:
        """The sums of the substrings, not mixed."""
        return (self.sums[stops] - self.sums[starts]) * _POWERS.down[starts]

    def hashes(
        self, starts: Int64[np.ndarray, "k"], stops: Int64[np.ndarray, "k"]
    ) -> UInt64[np.ndarray, "k"]:
        """The hash of each substring."""
        return mix_bits(self.raw(starts, stops))

    def without_one(
        self, starts: Int64[np.ndarray, "k"], stops: Int64[np.ndarray, "k"]
    ) -> tuple[UInt64[np.ndarray, "j"], Int64[np.ndarray, "j"]]:
        """Hashes of substrings without one character, and the substring of each."""
        lengths = stops - starts
        owners = np.repeat(np.arange(len(starts)), lengths)
        before = np.cumsum(lengths) - lengths
        within = np.arange(len(owners)) - before[owners]
        left, right = starts[owners], stops[owners]
        cut = left + within
        tails = self.raw(cut + 1, right) * _POWERS.up[within]
        return mix_bits(self.raw(left, cut) + tails), owners

    def prefixes(self, start: int, stop: int, shortest: int) -> UInt64[np.ndarray, "k"]:
        """Hashes of a substring's proper prefixes, from ``shortest`` characters up."""
        stops = np.arange(start + shortest, stop)
        return self.hashes(np.full(len(stops), start), stops)
