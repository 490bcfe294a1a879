"""float16 to float32: NumPy's numbers, every one of them."""

from __future__ import annotations

import numpy as np

from kgscout_jax.utils.arrays import ROWS_PER_BLOCK, to_float32

EVERY = np.arange(1 << 16, dtype=np.uint16).view(np.float16)


def assert_numpy_converts(rows: np.ndarray) -> None:
    found, expected = to_float32(rows), rows.astype(np.float32)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


def test_every_float16_and_any_layout_convert_as_numpy_converts():
    # Two columns: most rows, and so most blocks, are without infinities and NaN.
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(3 * ROWS_PER_BLOCK + 1, 8)).astype(np.float16)
    locked = rows.copy()
    locked.flags.writeable = False
    layouts = (rows, rows[::2], rows.T, rows[:0], rows[:, :0], locked)
    for array in (EVERY.reshape(-1, 2), EVERY.reshape(-1, 64), *layouts):
        assert_numpy_converts(array)
    wide = np.ones((2, 3), np.float32)
    assert to_float32(wide) is wide
