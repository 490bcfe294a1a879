"""The embedding tables of shards on the device, of one folder or of several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Int8

from kgscout_jax.data.shards import Shards
from kgscout_jax.utils.buckets import bucket

if TYPE_CHECKING:
    from kgscout_jax.data.sharded_table import RowLayout

ROWS = 2**18
"""Rows of 384 dimensions and two bytes take 192 MiB."""


class Tables(NamedTuple):
    """The embedding tables, on the device."""

    triplets: Float[Array, "c d"] | Int8[Array, "c d"]
    relations: Float[Array, "r d"]
    triplet_scales: Float[Array, "c"] | None = None
    """The scale of each row of int8."""
    words: Float[Array, "w d"] | None = None
    """Of questions' words, see ``text.words``; None where shards hold none."""
    layout: RowLayout | None = None
    """The layout of triplet rows over devices, if they are split."""

    @staticmethod
    def of(*shards: Shards) -> Tables:
        """The tables of folders of shards, one below the other, on the default device.

        ``table_offsets`` says where those of each folder begin. The folders hold
        embeddings of one dtype. Rows of zeros follow, so that functions compiled for
        one data set serve others of similar size.
        """

        def below(tables: list[np.ndarray]) -> Array:
            parts = [jnp.asarray(not_empty(table)) for table in tables]
            n = sum(map(len, parts))
            if missing := table_rows(n) - n:
                parts.append(jnp.zeros((missing, *parts[0].shape[1:]), parts[0].dtype))
            return jnp.concatenate(parts) if len(parts) > 1 else parts[0]

        words = [e.word_embeddings for e in shards if e.word_embeddings is not None]
        scales = [e.triplet_scales for e in shards if e.triplet_scales is not None]
        return Tables(
            below([each.triplet_embeddings for each in shards]),
            below([each.relation_embeddings for each in shards]),
            below(scales) if scales else None,
            below(words) if len(words) == len(shards) else None,
        )

    def triplet_rows(
        self, ids: Int[Array, "b n"], mask: Bool[Array, "b n"] | None = None
    ) -> Float[Array, "b n d"]:
        """Embeddings of triplets: rows gathered, then scaled if they are int8.

        Where ``mask`` is False, rows on other devices are not fetched.
        """
        stored = self.triplets, self.triplet_scales
        if self.layout is None:
            rows, scales = jax.tree.map(lambda table: table[ids], stored)
        else:
            rows, scales = self.layout.rows(stored, ids, mask)
        if scales is None:
            return rows
        return rows.astype(jnp.float16) * scales[..., None]


class TableOffsets(NamedTuple):
    """Where the rows of a folder of shards begin in tables of several."""

    triplets: int = 0
    relations: int = 0
    words: int = 0


FIRST = TableOffsets()
"""Tables of one folder."""


def table_offsets(shards: Sequence[Shards]) -> list[TableOffsets]:
    """The offsets of each folder in ``Tables.of`` them all."""
    out, offsets = [], FIRST
    for each in shards:
        out.append(offsets)
        offsets = TableOffsets(
            offsets.triplets + len(not_empty(each.triplet_embeddings)),
            offsets.relations + len(not_empty(each.relation_embeddings)),
            offsets.words + max(len(each.words or ()), 1),
        )
    return out


def table_rows(n: int) -> int:
    """``n`` rows, rounded up: to a power of two, above ``ROWS`` to a multiple of it."""
    return -(-n // ROWS) * ROWS if n > ROWS else bucket(n)


def not_empty(table: np.ndarray) -> np.ndarray:
    """``table``, or one row of zeros for padding to point at if it is empty."""
    return table if len(table) else np.zeros((1, *table.shape[1:]), table.dtype)
