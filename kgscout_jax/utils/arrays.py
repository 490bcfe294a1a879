"""Embeddings are stored as float16 and computed with as float32."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Float32

AT_ONCE = 256
"""Rows that are converted together: they stay in a core's cache."""
INFINITE = 0x7C00
"""From here on the bits of a half, but for the sign, are no finite number."""
KEPT = np.int32(0x8FFFE000 - (1 << 32))
"""Bits of a float32: the sign, and what a half has of exponent and fraction."""
BIAS = np.float32(2.0**112)
"""By which float32's exponents differ from a half's."""


def to_float32(rows: Float[np.ndarray, "n d"]) -> Float32[np.ndarray, "n d"]:
    """The same numbers as float32; ``rows`` themselves if they are that already.

    NumPy converts halves one by one. Here whole arrays of bits are moved to where
    float32 has them, which takes a quarter of the time and, unlike PyTorch's way, no
    other threads. The product with ``BIAS`` is exact, also for the smallest numbers,
    which have no leading bit.
    """
    if rows.dtype != np.float16:
        return rows.astype(np.float32, copy=False)
    out = np.empty(rows.shape, np.float32)
    for low in range(0, len(rows), AT_ONCE):
        part, here = rows[low : low + AT_ONCE], out[low : low + AT_ONCE]
        half = np.ascontiguousarray(part).view(np.int16)
        if (half & 0x7FFF).max(initial=0) >= INFINITE:
            here[:] = part
            continue
        bits = here.view(np.int32)
        bits[:] = half  # the sign fills the upper half
        bits <<= 13
        bits &= KEPT
        here *= BIAS
    return out
