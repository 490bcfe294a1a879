"""Checksums of a checkpoint's arrays: Orbax does not notice a byte that changed.

A seal is the sum of an array's words, each times an odd weight of its place, modulo
2 ** 32: one word that changed always changes it, several do but once in 2 ** 32.
Sums of integers are exact in any order: it is computed where the arrays are, on
whatever number of devices, and stored beside them without the host waiting.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, UInt32

SEALS = "seals"
"""Name of the leaf that holds the seals of the others, in the order of their names."""


@jax.jit
def sealed(leaves: dict[str, Array]) -> UInt32[Array, "n"]:
    """The seal of each array, in the order of names."""
    return jnp.stack([_of_words(_words(leaves[name]), jnp) for name in sorted(leaves)])


def broken(leaves: dict[str, np.ndarray], seals: UInt32[np.ndarray, "n"]) -> list[str]:
    """Names of arrays that are not those that were sealed."""
    names = sorted(leaves)
    if len(seals) != len(names):
        return names
    found = [_of_words(_host_words(leaves[name]), np) for name in names]
    return [name for name, a, b in zip(names, found, seals, strict=True) if a != b]


def _of_words(words: Any, xp: Any) -> Any:
    weights = 2 * xp.arange(words.size, dtype=xp.uint32) + xp.uint32(1)
    return (words * weights).sum(dtype=xp.uint32)


def _words(leaf: Array) -> UInt32[Array, "m"]:
    """An array's elements as words; those of bool are 0 and 1."""
    if leaf.dtype == bool:
        return leaf.reshape(-1).astype(jnp.uint32)
    kind = jnp.dtype(f"uint{8 * leaf.dtype.itemsize}")
    bits = jax.lax.bitcast_convert_type(leaf, kind)
    return bits.reshape(-1).astype(jnp.uint32)


def _host_words(leaf: np.ndarray) -> UInt32[np.ndarray, "m"]:
    leaf = np.ascontiguousarray(leaf).reshape(-1)
    if leaf.dtype == bool:
        return leaf.astype(np.uint32)
    return leaf.view(f"uint{8 * leaf.dtype.itemsize}").astype(np.uint32)
