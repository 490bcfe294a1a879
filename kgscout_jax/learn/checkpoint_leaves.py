"""The arrays of a checkpoint by name, and their checksums.

Orbax does not notice a changed byte. A checksum is the sum of an array's words, each
times an odd weight of its position, modulo 2 ** 32. One changed word always changes the
checksum; several leave it unchanged once in 2 ** 32. Sums of integers are exact in any
order, so the devices that hold the arrays compute it, whatever their number, and it is
stored beside them without a wait of the host.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, UInt32

from kgscout_jax.errors import UserError

CHECKSUMS = "seals"
"""Name of the leaf that holds the checksums of the others, in the order of names."""


def flatten(tree: Any) -> dict[str, Any]:
    """Leaves of a pytree by their path; independent of the version of the code."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {
        jax.tree_util.keystr(path, simple=True, separator="/"): x for path, x in leaves
    }


def unflatten(like: Any, leaves: dict[str, Any]) -> Any:
    """The pytree shaped as ``like`` with the leaves that ``flatten`` named."""
    return jax.tree.unflatten(
        jax.tree.structure(like), [leaves[name] for name in flatten(like)]
    )


def check_leaves(path: Path, saved: dict[str, Any], expected: dict[str, Any]) -> None:
    """Raise UserError unless a checkpoint has the expected names and shapes."""
    for name in sorted(saved.keys() | expected.keys()):
        if name not in saved or name not in expected:
            where = "the checkpoint" if name in saved else "this configuration"
            raise UserError(f"{path}: {name} is only in {where}")
        shape, expected_shape = np.shape(saved[name]), np.shape(expected[name])
        if shape != expected_shape:
            raise UserError(
                f"{path}: {name} has shape {shape}, expected {expected_shape}: another "
                "encoder or other sizes"
            )


@jax.jit
def checksums(leaves: dict[str, Array]) -> UInt32[Array, "n"]:
    """The checksum of each array, in the order of names."""
    return jnp.stack([_checksum(_words(leaves[name]), jnp) for name in sorted(leaves)])


def changed_leaves(
    leaves: dict[str, np.ndarray], expected: UInt32[np.ndarray, "n"]
) -> list[str]:
    """Names of the arrays whose checksum is not the expected one."""
    names = sorted(leaves)
    if len(expected) != len(names):
        return names
    pairs = zip(names, expected, strict=True)
    return [
        name for name, sum_ in pairs if _checksum(_host_words(leaves[name]), np) != sum_
    ]


def _checksum(words: Any, xp: Any) -> Any:
    weights = 2 * xp.arange(words.size, dtype=xp.uint32) + xp.uint32(1)
    return (words * weights).sum(dtype=xp.uint32)


def _words(leaf: Array) -> UInt32[Array, "m"]:
    """An array's elements as words; those of bool are 0 and 1."""
    if leaf.dtype == bool:
        return leaf.reshape(-1).astype(jnp.uint32)
    unsigned = jnp.dtype(f"uint{8 * leaf.dtype.itemsize}")
    bits = jax.lax.bitcast_convert_type(leaf, unsigned)
    return bits.reshape(-1).astype(jnp.uint32)


def _host_words(leaf: np.ndarray) -> UInt32[np.ndarray, "m"]:
    leaf = np.ascontiguousarray(leaf).reshape(-1)
    if leaf.dtype == bool:
        return leaf.astype(np.uint32)
    return leaf.view(f"uint{8 * leaf.dtype.itemsize}").astype(np.uint32)
