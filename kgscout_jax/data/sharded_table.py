"""A table whose rows are split over the devices of a mesh, and rows fetched from it.

Each device holds 1/n of the rows, in blocks assigned round-robin: questions tend to
share neighbouring rows, which so lie on different devices. A block is long enough to be
read from a memory map without its neighbours.

Fetching rows for a batch that is split over its questions takes an all-to-all of row
numbers and one of rows. The number of rows that a device requests from another varies,
and shapes are static: rows travel in rounds of fixed size, twice an even share. One
round usually suffices; skew costs rounds, never an error. Per device a round transfers
(n - 1) * ceil(2 w / n) rows, about twice the w requested; a sum over devices of masked
gathers would transfer 2 (n - 1) w.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxtyping import Array, Bool, Int

BLOCK = 64
"""Rows of a block: 48 KiB of float16 at 384 dimensions."""


@jax.tree_util.register_static
@dataclass(frozen=True)
class RowLayout:
    """The location of each row of a split table; a static part of the pytree."""

    mesh: Mesh

    @property
    def axis(self) -> str:
        return str(self.mesh.axis_names[0])

    def place(self, ids: Any) -> tuple[Any, Any]:
        """The device and the row there of each row of the table; numpy or JAX."""
        block = ids // BLOCK
        return block % self.mesh.size, block // self.mesh.size * BLOCK + ids % BLOCK

    def put(self, table: np.ndarray) -> Array:
        """``table`` on the devices; each process reads its rows of a memory map.

        Shapes:
            table: [c, ...].
            returns: [n * rows of a device, ...], padded with 0; see ``place``.
        """
        n = self.mesh.size
        turns = -(-len(table) // (BLOCK * n))
        rest = table.shape[1:]
        whole = len(table) // (BLOCK * n)

        def device_rows(index: Any) -> np.ndarray:
            device = (index[0].start or 0) // (turns * BLOCK)
            out = np.zeros((turns, BLOCK, *rest), table.dtype)
            blocks = table[: whole * BLOCK * n].reshape(whole, n, BLOCK, *rest)
            out[:whole] = blocks[:, device]
            if whole < turns:
                low = (whole * n + device) * BLOCK
                last = table[low : low + BLOCK]
                out[whole, : len(last)] = last
            return out.reshape(turns * BLOCK, *rest)

        sharding = NamedSharding(self.mesh, PartitionSpec(self.axis))
        shape = (n * turns * BLOCK, *rest)
        return jax.make_array_from_callback(shape, sharding, device_rows)

    def rows(
        self, tables: Any, ids: Int[Array, "b k"], mask: Bool[Array, "b k"] | None
    ) -> Any:
        """Rows ``ids`` of each table, split like ``ids``; for use under jit.

        Args:
            tables: a pytree of tables from ``put``.
            ids: row numbers of the original table; b is a multiple of n.
            mask: where False, nothing is fetched and the row is 0.
        """
        spec = PartitionSpec(self.axis)
        if mask is None:
            mask = jnp.ones(ids.shape, bool)
        # The loop carries values that differ by device: no static check applies.
        fetch = jax.shard_map(
            self._fetch, mesh=self.mesh, in_specs=spec, out_specs=spec, check_vma=False
        )
        return fetch(tables, ids, mask)

    def _fetch(
        self, tables: Any, ids: Int[Array, "b k"], mask: Bool[Array, "b k"]
    ) -> Any:
        """``rows`` on one device."""
        n, axis = self.mesh.size, self.axis
        send = partial(
            jax.lax.all_to_all, axis_name=axis, split_axis=0, concat_axis=0, tiled=True
        )
        shape, ids = ids.shape, ids.reshape(-1)
        n_ids = len(ids)
        capacity = min(-(-2 * n_ids // n), n_ids)
        owner, row = self.place(ids)
        owner = jnp.where(mask.reshape(-1), owner, n)
        # Sorted by owner: the requests to one device are contiguous.
        order = jnp.argsort(owner, stable=True)
        row_sorted, owner_sorted = row[order], owner[order]
        start = jnp.searchsorted(owner_sorted, jnp.arange(n))
        end = jnp.searchsorted(owner_sorted, jnp.arange(n), side="right")
        rounds = jax.lax.pmax((-(-(end - start) // capacity)).max(initial=0), axis)

        def one(state: tuple[Array, Any]) -> tuple[Array, Any]:
            turn, out = state
            within = jnp.arange(capacity)[None]
            place = start[:, None] + turn * capacity + within  # [n, c]
            real = place < end[:, None]
            place = jnp.minimum(place, n_ids - 1)
            requests = send(jnp.where(real, row_sorted[place], 0))
            target = jnp.where(real, order[place], n_ids).reshape(-1)

            def of(table: Array, into: Array) -> Array:
                replies = send(table[requests])
                return into.at[target].set(
                    replies.reshape(-1, *table.shape[1:]), mode="drop"
                )

            return turn + 1, jax.tree.map(of, tables, out)

        empty = jax.tree.map(
            lambda table: jnp.zeros((n_ids, *table.shape[1:]), table.dtype), tables
        )
        _, out = jax.lax.while_loop(
            lambda state: state[0] < rounds, one, (jnp.int32(0), empty)
        )
        return jax.tree.map(lambda rows: rows.reshape(*shape, *rows.shape[1:]), out)
