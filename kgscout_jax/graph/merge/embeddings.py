"""Embeddings of a merged graph: those of its members, where they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float16, Float32, Int, Int32

from kgscout_jax.graph.embedding_table import Embeddings
from kgscout_jax.graph.merge.members import Members


@dataclass(eq=False)
class MergedEmbeddings:
    """Rows of the members' embeddings; a triplet of several has that of the first."""

    members: Members
    embedded: Sequence[Embeddings]
    """Of each member."""

    @property
    def relations(self) -> Float16[np.ndarray, "r d"]:
        return self._relations

    @property
    def relations_float32(self) -> Float32[np.ndarray, "r d"]:
        return self._relations_float32

    @cached_property
    def _relations(self) -> Float16[np.ndarray, "r d"]:
        tables = [each.relations for each in self.embedded]
        return _gathered(self.members.relations, [_rows_of(table) for table in tables])

    @cached_property
    def _relations_float32(self) -> Float32[np.ndarray, "r d"]:
        return self.relations.astype(np.float32)

    def rows(self, ids: Int[np.ndarray, "k"]) -> Float16[np.ndarray, "k d"]:
        """Embeddings of the triplets ``ids``."""
        return _gathered(
            self.members.triplets[ids], [each.rows for each in self.embedded]
        )

    def check_finite(self) -> None:
        """Raise UserError if some rows are not finite."""
        for each in self.embedded:
            each.check_finite()

    @property
    def whole(self) -> bool:
        """Whether all triplets of all members are embedded."""
        return all(each.whole for each in self.embedded)


def _gathered(
    places: Int32[np.ndarray, "k g"],
    tables: Sequence[Callable[[Int[np.ndarray, "j"]], Float16[np.ndarray, "j d"]]],
) -> Float16[np.ndarray, "k d"]:
    """Each row from the first member that has it."""
    first = (places >= 0).argmax(axis=1)
    out: Float16[np.ndarray, "k d"] | None = None
    for i, rows_of in enumerate(tables):
        at = np.flatnonzero(first == i)
        if len(at) or out is None:
            rows = rows_of(places[at, i])
            if out is None:
                out = np.empty((len(places), rows.shape[1]), np.float16)
            out[at] = rows
    assert out is not None
    return out


def _rows_of(
    table: Float16[np.ndarray, "r d"],
) -> Callable[[Int[np.ndarray, "j"]], Float16[np.ndarray, "j d"]]:
    return lambda ids: table[ids]
