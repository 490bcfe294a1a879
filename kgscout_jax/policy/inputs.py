"""The inputs of every policy network, and the standardisation of PageRank."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from kgscout_jax.policy.config import PprNetworkConfig
from kgscout_jax.policy.layers import gather_rows

NO_WORD = -1000
"""The distance of a word that is padding."""
PPR_FLOOR = 1e-8
"""Added to PPR before the logarithm: a node that the walk never reaches has PPR 0."""


class Products(NamedTuple):
    """Products of embeddings with the kernels that a network meets them with first.

    They do not depend on the question; see ``registry.first_kernels``.
    """

    triplets: Float[Array, "b n w"]
    relations: Float[Array, "b u x"]
    """Of the unique relations."""


class PolicyInputs(NamedTuple):
    """What a network reads of b questions; padded entries must be finite.

    Embeddings have unit length and may be float16, float32 or bfloat16.
    """

    question: Float[Array, "b d"]
    triplets: Float[Array, "b n d"]
    relations: Float[Array, "b u d"]
    """Embeddings of each question's unique relation phrases, in any order."""
    relation_index: Int[Array, "b n"] | None
    """Which of them each candidate has, 0 to u - 1; None: u = n, one each, aligned."""
    ppr: Float[Array, "b n 2"]
    """PageRank of head and of tail, before the logarithm."""
    mask: Bool[Array, "b n"]
    nodes: Int[Array, "b n 2"] | None = None
    """Local node ids of head and of tail, 0 to v - 1; the dual tower needs none."""
    topics: Bool[Array, "b v"] | None = None
    """Which of the v local nodes are topic entities; the dual tower needs none."""
    words: Float[Array, "b l d"] | None = None
    """Embeddings of the question's words, each by itself; zeros as padding."""
    word_places: Int[Array, "b l"] | None = None
    """Their distances from a topic's name, see ``text.words``; ``NO_WORD``: padding."""
    products: Products | None = None
    """Of ``triplets`` and ``relations``; None: the network computes them."""

    @classmethod
    def from_full(
        cls,
        question: Float[Array, "b d"],
        triplets: Float[Array, "b n d"],
        relations: Float[Array, "b n d"],
        ppr: Float[Array, "b n 2"],
        mask: Bool[Array, "b n"],
        nodes: Int[Array, "b n 2"] | None = None,
        topics: Bool[Array, "b v"] | None = None,
        words: Float[Array, "b l d"] | None = None,
        word_places: Int[Array, "b l"] | None = None,
    ) -> PolicyInputs:
        """Inputs in which each candidate brings its own relation embedding."""
        return cls(
            question,
            triplets,
            relations,
            None,
            ppr,
            mask,
            nodes,
            topics,
            words,
            word_places,
        )

    def relation_counts(self) -> Float[Array, "b u"]:
        """How many real candidates have each of the unique relations."""
        real = self.mask.astype(jnp.float32)
        if self.relation_index is None:
            return real
        zeros = jnp.zeros(self.relations.shape[1])
        return jax.vmap(lambda index, one: zeros.at[index].add(one))(
            self.relation_index, real
        )

    def by_candidate(self, rows: Float[Array, "b u w"]) -> Float[Array, "b n w"]:
        """For every candidate, its relation's row among those of unique relations."""
        if self.relation_index is None:
            return rows
        return gather_rows(rows, self.relation_index)

    def check_shapes(self, dimension: int) -> None:
        """Raises ValueError where the arrays do not fit together."""
        b, n, _ = self.triplets.shape
        u = n if self.relation_index is None else self.relations.shape[1]
        expected = {
            "question": (b, dimension),
            "triplets": (b, n, dimension),
            "relations": (b, u, dimension),
            "relation_index": (b, n),
            "ppr": (b, n, 2),
            "mask": (b, n),
            "nodes": (b, n, 2),
        }
        if self.words is not None:
            width = self.words.shape[1]
            expected |= {"words": (b, width, dimension), "word_places": (b, width)}
        for name, shape in expected.items():
            array = getattr(self, name)
            if array is not None and array.shape != shape:
                raise ValueError(f"{name}: shape {array.shape}, expected {shape}")


def ppr_features(
    ppr: Float[Array, "b n 2"], config: PprNetworkConfig
) -> Float[Array, "b n 2"]:
    """log(ppr + 1e-8) by the mean and standard deviation of the training split."""
    logs = jnp.log(ppr.astype(jnp.float32) + PPR_FLOOR)
    mean, std = jnp.array(config.ppr_mean), jnp.array(config.ppr_std)
    return (logs - mean[None, None]) / std[None, None]


def ppr_statistics(
    ppr: Float[np.ndarray, "b n 2"], mask: Bool[np.ndarray, "b n"]
) -> tuple[tuple[float, float], tuple[float, float]]:
    """``ppr_mean`` and ``ppr_std`` of a config, from the real candidates of a split.

    A constant or empty column gets standard deviation 1.
    """
    logs = np.log(np.asarray(ppr, np.float64)[np.asarray(mask)] + PPR_FLOOR)
    if not len(logs):
        return (0.0, 0.0), (1.0, 1.0)
    mean, std = logs.mean(axis=0), logs.std(axis=0)
    std = np.where(std > 1e-6, std, 1.0)
    return (float(mean[0]), float(mean[1])), (float(std[0]), float(std[1]))
