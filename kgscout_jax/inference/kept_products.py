"""Products of a graph's embeddings with the network's first kernels, kept in memory.

They depend on neither the question nor its topics; the network takes a third less time.
Rows are computed when a question first has them as candidates, 1.5 kB a triplet with
the default sizes. Scores differ by rounding alone.
"""

from __future__ import annotations

import threading
import weakref
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import DTypeLike
from jaxtyping import Array, Bool, Float, Float16, Float32, Int

from kgscout_jax.errors import UserError
from kgscout_jax.export.load import Exported
from kgscout_jax.graph.embedding_table import Embeddings
from kgscout_jax.inference.inputs import Candidates, ProductRows
from kgscout_jax.policy.config import COMPUTE_DTYPES
from kgscout_jax.policy.layers import matmul
from kgscout_jax.policy.registry import first_kernels
from kgscout_jax.utils.buckets import bucket


class GraphProducts(NamedTuple):
    """The products of one graph."""

    triplets: KeptRows
    relations: KeptRows


class KeptProducts:
    """The products of every graph that is asked, as long as its embeddings live."""

    def __init__(self, exported: Exported) -> None:
        """
        Raises:
            UserError: the network's kernels depend on the question.
        """
        kernels = first_kernels(exported.weights, exported.config)
        if kernels is None:
            raise UserError(
                "products are not kept: the kernels of the "
                f"{exported.config.architecture} network depend on the question, "
                "expected a policy of kind thesis or mlp"
            )
        self._kernels = kernels
        self._dtype = COMPUTE_DTYPES[exported.config.compute_dtype]
        self._lock = threading.Lock()
        self._graphs: weakref.WeakKeyDictionary[Embeddings, GraphProducts] = (
            weakref.WeakKeyDictionary()
        )

    def zeros(self, n: int, u: int) -> ProductRows:
        """Products of n candidates with u relations that are all zeros."""
        widths = self._kernels.triplets.shape[1], self._kernels.relations.shape[1]
        return ProductRows(
            *(np.zeros(shape, np.float32) for shape in zip((n, u), widths, strict=True))
        )

    def of(
        self, embeddings: Embeddings, n_triplets: int, candidates: Candidates
    ) -> ProductRows:
        """The products of the candidates and of their unique relations.

        Args:
            embeddings: of the graph.
            n_triplets: of the graph.
            candidates: of a question about it.

        Raises:
            UserError: memory has no room for the products of all triplets.
        """
        with self._lock:
            kept = self._graphs.get(embeddings)
            if kept is None:
                kernels, dtype = self._kernels, self._dtype
                kept = self._graphs[embeddings] = GraphProducts(
                    KeptRows(n_triplets, kernels.triplets, dtype),
                    KeptRows(len(embeddings.relations), kernels.relations, dtype),
                )
            relations = candidates.relations
            return ProductRows(
                kept.triplets.rows(candidates.ids, candidates.triplets),
                kept.relations.rows(relations, embeddings.relations[relations]),
            )


class KeptRows:
    """The product of each row of a table, computed when it is first asked for."""

    def __init__(self, n: int, kernel: Float[Array, "d w"], dtype: DTypeLike) -> None:
        self._kernel, self._dtype = kernel, dtype
        shape = n, kernel.shape[1]
        try:
            # The system gives memory to rows when they are written.
            self._rows: Float32[np.ndarray, "m w"] = np.empty(shape, np.float32)
        except MemoryError:
            raise UserError(
                f"products of {n:,} triplets take up to {4 * n * shape[1] / 1e9:,.0f} "
                "GB of memory, which this machine lacks: leave out keep_products"
            ) from None
        self._is_known: Bool[np.ndarray, "m"] = np.zeros(n, bool)

    def rows(
        self, ids: Int[np.ndarray, "k"], embeddings: Float16[np.ndarray, "k d"]
    ) -> Float32[np.ndarray, "k w"]:
        """The products of the rows ``ids``, whose embeddings are given."""
        missing = np.flatnonzero(~self._is_known[ids])
        if len(missing):
            padded = np.zeros((bucket(len(missing)), embeddings.shape[1]), np.float16)
            padded[: len(missing)] = embeddings[missing]
            new = np.asarray(jitted_product(padded, self._kernel, self._dtype))
            self._rows[ids[missing]] = new[: len(missing)]
            self._is_known[ids[missing]] = True
        return self._rows[ids]


@partial(jax.jit, static_argnames="dtype")
def jitted_product(
    rows: Float[Array, "k d"], kernel: Float[Array, "d w"], dtype: DTypeLike
) -> Float[Array, "k w"]:
    """rows @ kernel as in the network; compiles once per bucket of rows."""
    return matmul(jnp.asarray(rows), kernel, dtype)
