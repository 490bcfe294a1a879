"""float16 to float32: NumPy's numbers, every one of them."""

from __future__ import annotations

import numpy as np

from kgscout_jax.utils.arrays import ROWS_PER_BLOCK, to_float32

EVERY = np.arange(1 << 16, dtype=np.uint16).view(np.float16)


def same(rows: np.ndarray) -> None:
    found, expected = to_float32(rows), rows.astype(np.float32)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


def test_every_half():
    # Two columns: most rows, and so most parts, are without infinities and NaN.
    same(EVERY.reshape(-1, 2))
    same(EVERY.reshape(-1, 64))


def test_arrays_of_every_kind():
    rows = (
        np.random.default_rng(0)
        .normal(size=(3 * ROWS_PER_BLOCK + 1, 8))
        .astype(np.float16)
    )
    locked = rows.copy()
    locked.flags.writeable = False
    for array in (rows, rows[::2], rows.T, rows[:0], rows[:, :0], locked):
        same(array)
    wide = np.ones((2, 3), np.float32)
    assert to_float32(wide) is wide
